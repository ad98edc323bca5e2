"""The canonical bytes of elements: FORMAT.md, "Element to hash".

A value of another type than the family's is an error.  It is never a "no":
the filter may contain the value in the type of its family.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from numbers import Integral, Rational, Real
from typing import Any, Callable
from uuid import UUID

EPOCH = datetime(2000, 1, 1)
EPOCH_DAY = 10957  # from 1970-01-01
# PostgreSQL's range in days since EPOCH: 4714-11-24 BC to 5874897-12-31
FIRST_DAY, LAST_DAY = -2451545, 2145031948
EPOCH_UTC = EPOCH.replace(tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
DAY = 86400000000  # microseconds
INT32 = struct.Struct("<i")
INT64 = struct.Struct("<q")
FLOAT64 = struct.Struct("<d")
INTERVAL = struct.Struct("<iiq")
NAN = bytes.fromhex("000000000000f87f")
# the powers of ten of numeric's lowest and highest digit
NUMERIC_LEAST, NUMERIC_LAST = -16383, 131071
# how macaddr and macaddr8 are written, with 0 for any digit
MACADDR = {
    "00:00:00:00:00:00",
    "00-00-00-00-00-00",
    "000000:000000",
    "000000-000000",
    "0000.0000.0000",
    "0000-0000-0000",
    "000000000000",
}
MACADDR8 = {
    "00:00:00:00:00:00:00:00",
    "00-00-00-00-00-00-00-00",
    "000000:0000000000",
    "000000-0000000000",
    "0000.0000.0000.0000",
    "0000-0000-0000-0000",
    "00000000:00000000",
    "0000000000000000",
}


class ElementError(TypeError):
    """The filter cannot contain elements of this type or range."""


@dataclass(frozen=True)
class Interval:
    """An interval by PostgreSQL's fields, since a timedelta has no months.

    Like PostgreSQL, a filter takes intervals for equal if they are so with
    months of 30 days and days of 24 hours.
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0


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
            raise self.refusal(value)
        return encoded

    def refusal(self, value: object) -> ElementError:
        return ElementError(
            f"cuckoofilter of the family {self.name} does not contain {value!r}: it takes {self.takes}"
        )


def whole(value: Any) -> int | None:
    """An int, also one of numpy's.  Neither a bool, nor an array with one element."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    try:
        return operator.index(value)
    except TypeError:  # numpy's timedelta64 is an Integral
        return None


def _integer(value: Any) -> bytes | None:
    number = value if type(value) is int else whole(value)
    try:
        return None if number is None else INT64.pack(number)
    except struct.error:  # out of range
        return None


def _text(value: Any) -> bytes | None:
    try:
        # PostgreSQL's text cannot contain a zero byte
        return value.encode() if isinstance(value, str) and "\0" not in value else None
    except UnicodeEncodeError:  # a lone surrogate
        return None


def _bytea(value: Any) -> bytes | None:
    # numpy's bytes have lost zeros at their end
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) and not hasattr(value, "dtype") else None


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


def _microseconds(span: timedelta) -> int | None:
    """None for one with nanoseconds, which pandas has."""
    number, rest = divmod(span, MICROSECOND)
    return None if rest else number


def _timestamp(value: Any) -> bytes | None:
    # pandas' NaT is a datetime that is not equal to itself
    if not isinstance(value, datetime) or value != value or value.tzinfo is not None:
        return _infinity(value, INT64)
    number = _microseconds(value - EPOCH)
    return None if number is None else INT64.pack(number)


def _timestamptz(value: Any) -> bytes | None:
    if not isinstance(value, datetime) or value != value or value.utcoffset() is None:
        return _infinity(value, INT64)
    number = _microseconds(value - EPOCH_UTC)
    return None if number is None else INT64.pack(number)


def _float(value: Any) -> bytes | None:
    if not isinstance(value, float) and (not isinstance(value, Real) or isinstance(value, Rational)):
        return None  # Real: numpy's float32
    number = float(value)
    if math.isnan(number):
        return NAN
    # numpy's longdouble may have more digits
    return FLOAT64.pack(number + 0.0) if number == value else None  # -0.0 + 0.0 is 0.0


def _inet(value: Any) -> bytes | None:
    if isinstance(value, (IPv4Network, IPv6Network)):
        address, bits = value.network_address, value.prefixlen
    elif isinstance(value, (IPv4Interface, IPv6Interface)):  # these are addresses, too
        address, bits = value, value.network.prefixlen
    elif isinstance(value, (IPv4Address, IPv6Address)):
        address, bits = value, value.max_prefixlen
    else:
        return None
    if getattr(address, "scope_id", None) is not None:
        return None
    return bytes([address.version, bits]) + address.packed


def _written(value: str, forms: set[str]) -> bytes | None:
    """The bytes of a MAC address in one of the forms."""
    return bytes.fromhex(re.sub("[:.-]", "", value)) if re.sub("[0-9A-Fa-f]", "0", value) in forms else None


def _macaddr(value: Any) -> bytes | None:
    octets = _written(value, MACADDR) if isinstance(value, str) else _bytea(value)
    return octets if octets is not None and len(octets) == 6 else None


def _macaddr8(value: Any) -> bytes | None:
    if not isinstance(value, str):
        octets = _bytea(value)
        return octets if octets is not None and len(octets) == 8 else None
    octets = _written(value, MACADDR)
    return octets[:3] + b"\xff\xfe" + octets[3:] if octets else _written(value, MACADDR8)


def _numeric(value: Any) -> bytes | None:
    if not isinstance(value, Decimal):
        return None
    if value.is_nan():
        return b"N"
    if value.is_infinite():
        return b"I" if value > 0 else b"i"
    if not value:
        return b"0"
    # not normalize(), which rounds
    sign, digits, exponent = value.as_tuple()
    coefficient = bytes(digits).rstrip(b"\0")
    lowest = int(exponent) + len(digits) - len(coefficient)
    if lowest < NUMERIC_LEAST or value.adjusted() > NUMERIC_LAST:
        return None
    return b"+-"[sign : sign + 1] + INT32.pack(lowest) + bytes(digit | 0x30 for digit in coefficient)


def _time(value: Any) -> bytes | None:
    if isinstance(value, str) and value in ("24:00", "24:00:00"):  # which no time is
        return INT64.pack(DAY)
    if not isinstance(value, time) or value.tzinfo is not None:
        return None
    return INT64.pack(((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond)


def _interval(value: Any) -> bytes | None:
    if isinstance(value, timedelta):
        number = _microseconds(value)
    else:
        if isinstance(value, float) and math.isinf(value):  # as PostgreSQL 17 stores it
            packed = b"".join(_infinity(value, field) or b"" for field in (INT32, INT32, INT64))
        elif isinstance(value, Interval):
            try:
                packed = INTERVAL.pack(*map(whole, (value.months, value.days, value.microseconds)))
            except struct.error:  # not integers, or out of range
                return None
        else:
            return None
        months, days, microseconds = INTERVAL.unpack(packed)
        number = (months * 30 + days) * DAY + microseconds
    return None if number is None else number.to_bytes(16, "little", signed=True)


def _anything(value: Any) -> bytes | None:
    return b""  # such a filter is empty


def _nothing(value: Any) -> bytes | None:
    return None


FAMILIES = [
    Family("none", "anything", _anything),
    Family("integer", "int from -2**63 to 2**63 - 1", _integer),
    Family("text", "str without lone surrogates and zero bytes", _text),
    Family("bytea", "bytes", _bytea),
    Family("uuid", "uuid.UUID", _uuid),
    Family("boolean", "bool", _boolean),
    Family("date", "datetime.date, or an infinite float", _date),
    Family("timestamp", "datetime without a time zone, or an infinite float", _timestamp),
    Family("timestamptz", "datetime with a time zone, or an infinite float", _timestamptz),
    Family("float", "float", _float),
    Family("other", "only hashes from the server: contains_hash() with cf_hash(v, seed)", _nothing),
    Family("inet", "the addresses, interfaces and networks of ipaddress, without a scope", _inet),
    Family("macaddr", "str like 08:00:2b:01:02:03, or 6 bytes", _macaddr),
    Family("macaddr8", "str like 08:00:2b:01:02:03:04:05, or 8 bytes", _macaddr8),
    Family("numeric", "Decimal of at most 131072 digits before the point and 16383 after it", _numeric),
    Family("time", "datetime.time without a time zone, or 24:00:00 as str", _time),
    Family("interval", "timedelta, Interval(months, days, microseconds), or an infinite float", _interval),
]
