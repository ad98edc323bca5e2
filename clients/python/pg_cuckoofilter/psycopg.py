"""psycopg 3: columns and parameters of the type cuckoofilter.

    info = TypeInfo.fetch(connection, "cuckoofilter")
    register_cuckoofilter(info, connection)
"""

from __future__ import annotations

from typing import Any

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper, Loader
from psycopg.errors import ProgrammingError
from psycopg.pq import Format
from psycopg.types import TypeInfo

from .filter import CuckooFilter


class TextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Any) -> CuckooFilter:
        return CuckooFilter(bytes(data).decode())


class BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> CuckooFilter:
        return CuckooFilter(bytes(data))


class TextDumper(Dumper):
    format = Format.TEXT

    def dump(self, obj: CuckooFilter) -> bytes:
        return str(obj).encode()


class BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: CuckooFilter) -> bytes:
        return bytes(obj)


def register_cuckoofilter(info: TypeInfo | None, context: AdaptContext | None = None) -> None:
    """Filters are sent and received as CuckooFilter: on a connection, on a
    cursor, or, without a context, everywhere."""
    if info is None:
        raise ProgrammingError("there is no type cuckoofilter: CREATE EXTENSION cuckoo")
    info.register(context)
    if context is None:
        from psycopg import adapters
    else:
        adapters = context.adapters
    for dumper in (TextDumper, BinaryDumper):
        adapters.register_dumper(CuckooFilter, type(dumper.__name__, (dumper,), {"oid": info.oid}))
    adapters.register_loader(info.oid, TextLoader)
    adapters.register_loader(info.oid, BinaryLoader)
