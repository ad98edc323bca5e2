"""The canonical bytes of elements: FORMAT.md, "Element to hash".

A value of another type than the family's is an error.  It is never a "no":
the filter may contain the value in the type of its family.
"""

from __future__ import annotations

import math
import struct
from datetime import date, datetime, timedelta, timezone
from numbers import Rational, Real
from typing import Any, Callable
from uuid import UUID

EPOCH = datetime(2000, 1, 1)
EPOCH_UTC = EPOCH.replace(tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
INT32 = struct.Struct("<i")
INT64 = struct.Struct("<q")
FLOAT64 = struct.Struct("<d")
NAN = bytes.fromhex("000000000000f87f")


class ElementError(TypeError):
    """The filter cannot contain elements of this type or range."""


class Family:
    """The elements of a filter: how they are called, and their bytes."""

    def __init__(self, name: str, takes: str, encode: Callable[[Any], bytes | None]) -> None:
        self.name = name
        self.takes = takes
        self._encode = encode

    def canonical(self, value: object) -> bytes:
        """The bytes that are hashed."""
        encoded = self._encode(value)
        if encoded is None:
            raise ElementError(
                f"cuckoofilter of the family {self.name} does not contain {value!r}: it takes {self.takes}"
            )
        return encoded


def _integer(value: Any) -> bytes | None:
    try:
        return None if isinstance(value, bool) else INT64.pack(value)
    except struct.error:  # not an integer, or out of range
        return None


def _text(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None


def _bytea(value: Any) -> bytes | None:
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None


def _uuid(value: Any) -> bytes | None:
    return value.bytes if isinstance(value, UUID) else None


def _boolean(value: Any) -> bytes | None:
    return bytes([value]) if isinstance(value, bool) else None


def _infinity(value: Any, number: struct.Struct) -> bytes | None:
    """The greatest or least number of so many bytes."""
    if not isinstance(value, float) or not math.isinf(value):
        return None
    return b"\xff" * (number.size - 1) + b"\x7f" if value > 0 else b"\0" * (number.size - 1) + b"\x80"


def _date(value: Any) -> bytes | None:
    if not isinstance(value, date) or isinstance(value, datetime):
        return _infinity(value, INT32)
    return INT32.pack(value.toordinal() - EPOCH.toordinal())


def _timestamp(value: Any) -> bytes | None:
    if not isinstance(value, datetime) or value.tzinfo is not None:
        return _infinity(value, INT64)
    return INT64.pack((value - EPOCH) // MICROSECOND)


def _timestamptz(value: Any) -> bytes | None:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        return _infinity(value, INT64)
    return INT64.pack((value - EPOCH_UTC) // MICROSECOND)


def _float(value: Any) -> bytes | None:
    if not isinstance(value, float) and (not isinstance(value, Real) or isinstance(value, Rational)):
        return None  # Real: numpy's float32
    number = float(value)
    return NAN if math.isnan(number) else FLOAT64.pack(number + 0.0)  # -0.0 + 0.0 is 0.0


def _anything(value: Any) -> bytes | None:
    return b""  # such a filter is empty


def _nothing(value: Any) -> bytes | None:
    return None


FAMILIES = [
    Family("none", "anything", _anything),
    Family("integer", "int from -2**63 to 2**63 - 1", _integer),
    Family("text", "str", _text),
    Family("bytea", "bytes", _bytea),
    Family("uuid", "uuid.UUID", _uuid),
    Family("boolean", "bool", _boolean),
    Family("date", "datetime.date, or an infinite float", _date),
    Family("timestamp", "datetime without a time zone, or an infinite float", _timestamp),
    Family("timestamptz", "datetime with a time zone, or an infinite float", _timestamptz),
    Family("float", "float", _float),
    Family("other", "only hashes from the server: contains_hash() with cf_hash(v, seed)", _nothing),
]
