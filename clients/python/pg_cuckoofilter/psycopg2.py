"""psycopg 2: columns and parameters of the type cuckoofilter.

    register_cuckoofilter(connection)
"""

from __future__ import annotations

from typing import Any

from psycopg2 import ProgrammingError
from psycopg2.extensions import AsIs, new_array_type, new_type, register_adapter, register_type

from .filter import CuckooFilter


def register_cuckoofilter(connection: Any, globally: bool = False) -> None:
    """Filters are received as CuckooFilter, on this connection or on all, and
    are parameters on all."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT oid, typarray FROM pg_type WHERE oid = to_regtype('cuckoofilter')")
        row = cursor.fetchone()
    if row is None:
        raise ProgrammingError("there is no type cuckoofilter: CREATE EXTENSION cuckoo")
    scope = None if globally else connection
    loader = new_type((row[0],), "cuckoofilter", lambda value, cursor: value and CuckooFilter(value))
    register_type(loader, scope)
    register_type(new_array_type((row[1],), "cuckoofilter[]", loader), scope)
    register_adapter(CuckooFilter, lambda value: AsIs(f"'{value}'::cuckoofilter"))
