"""Each public method with each kind of argument: an answer or an error, never a wrong "no".

A value of VALUES names the families that take it, and for each the plain value whose element it is.  All other
families raise ElementError.  So do contains_array() and the methods of hashes with what is not theirs.
"""

import base64
import datetime as dt
import math
import struct
import unittest
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_interface, ip_network
from uuid import UUID

import model
import numpy as np
from pg_cuckoofilter import CuckooFilter, ElementError, Interval, InvalidImage
from pg_cuckoofilter.elements import FAMILIES

try:
    import pandas as pd
except ImportError:
    pd = None

IMAGE = base64.b64decode("Q0YBAQkIAAACAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAOAACQAAAAAEWMimfA1Chg")  # has the integer 1


def empty(family, seed=2**63 + 5):
    names = [known.name for known in FAMILIES]
    header = struct.pack("<2s6BIHHQQ", b"CF", 1, names.index(family), 9, 8, 0, 0, 2, 0, 0, 0, seed)
    return CuckooFilter(model.sealed(header + bytes(8)))


FILTERS = {family.name: empty(family.name) for family in FAMILIES}
UTC = dt.timezone.utc
NOON = dt.datetime(2026, 6, 1, 12)
MIDNIGHT = dt.datetime(2026, 6, 1)
DAY = dt.date(2026, 6, 1)
MAC, MAC8 = "08:00:2b:01:02:03", "08:00:2b:ff:fe:01:02:03"


class Index:
    """What struct takes for an int."""

    def __index__(self):
        return 1


class Nowhere(dt.tzinfo):
    """A time zone without an offset, so a datetime in it is naive."""

    def utcoffset(self, _):
        return None


VALUES = [
    # nothing, truth, numbers
    (None, {}),
    (NotImplemented, {}),
    (True, {"boolean": True}),
    (False, {"boolean": False}),
    (0, {"integer": 0}),
    (-0, {"integer": 0}),
    (2**53 + 1, {"integer": 2**53 + 1}),
    (2**63 - 1, {"integer": 2**63 - 1}),
    (-(2**63), {"integer": -(2**63)}),
    (2**63, {}),
    (-(2**63) - 1, {}),
    (2**64, {}),
    (10**30, {}),
    (Index(), {}),
    (0.0, {"float": 0.0}),
    (-0.0, {"float": 0.0}),
    (1.0, {"float": 1.0}),
    (math.nan, {"float": math.nan}),
    (-math.nan, {"float": math.nan}),
    *((sign * math.inf, dict.fromkeys(("float", "date", "timestamp", "timestamptz", "interval"), sign * math.inf))
      for sign in (1, -1)),
    (1j, {}),
    (Fraction(1, 2), {}),
    (Fraction(1), {}),
    (Decimal(1), {"numeric": Decimal(1)}),
    (Decimal("1.00"), {"numeric": Decimal(1)}),
    (Decimal("sNaN"), {"numeric": Decimal("NaN")}),
    (Decimal("1e131072"), {}),
    # text and bytes
    ("", {"text": ""}),
    ("1", {"text": "1"}),
    (" 1 ", {"text": " 1 "}),
    ("\0", {}),
    ("a\0", {}),
    ("\ud800", {}),
    (MAC, {"text": MAC, "macaddr": MAC, "macaddr8": MAC8}),
    ("24:00", {"text": "24:00", "time": "24:00:00"}),
    ("2026-06-01", {"text": "2026-06-01"}),
    ("true", {"text": "true"}),
    ("infinity", {"text": "infinity"}),
    (b"", {"bytea": b""}),
    (b"1", {"bytea": b"1"}),
    (b"a\0", {"bytea": b"a\0"}),
    (bytearray(b"a\0"), {"bytea": b"a\0"}),
    (memoryview(b"a\0"), {"bytea": b"a\0"}),
    (bytes(6), {"bytea": bytes(6), "macaddr": bytes(6)}),
    (bytes(8), {"bytea": bytes(8), "macaddr8": bytes(8)}),
    # the types of the library
    (UUID(int=1), {"uuid": UUID(int=1)}),
    (DAY, {"date": DAY}),
    (NOON, {"timestamp": NOON}),
    (NOON.replace(tzinfo=UTC), {"timestamptz": NOON.replace(tzinfo=UTC)}),
    (NOON.replace(tzinfo=Nowhere()), {}),
    (dt.time(12), {"time": dt.time(12)}),
    (dt.time(12, tzinfo=UTC), {}),
    (dt.timedelta(1), {"interval": dt.timedelta(1)}),
    (Interval(1), {"interval": dt.timedelta(30)}),
    (Interval(np.int32(1)), {"interval": dt.timedelta(30)}),
    (Interval(True), {}),
    (Interval(1.0), {}),
    (Interval(2**31), {}),
    (ip_address("10.0.0.1"), {"inet": ip_address("10.0.0.1")}),
    (ip_interface("10.0.0.1/8"), {"inet": ip_interface("10.0.0.1/8")}),
    (ip_network("10.0.0.0/8"), {"inet": ip_interface("10.0.0.0/8")}),
    # collections are no elements
    ([], {}),
    ([1], {}),
    ((1,), {}),
    ({1}, {}),
    ({}, {}),
    (range(1), {}),
    (iter([1]), {}),
    (object(), {}),
    # numpy's scalars
    *((np.dtype(name).type(1), {"integer": 1}) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()),
    (np.uint64(2**63), {}),
    (np.True_, {"boolean": True}),
    (np.False_, {"boolean": False}),
    (np.float16(0.1), {"float": float(np.float16(0.1))}),
    (np.float32(0.1), {"float": float(np.float32(0.1))}),
    (np.float64(0.1), {"float": 0.1}),
    (np.float64("nan"), {"float": math.nan}),
    (np.longdouble(0.1), {"float": 0.1}),
    (np.complex128(1), {}),
    (np.str_("a"), {"text": "a"}),
    (np.bytes_(b"a"), {}),  # may have lost zeros
    (np.void(b"a\0"), {"bytea": b"a\0"}),
    *((np.datetime64(f"2026-06-01T12:00:00{fraction}"), {"timestamp": NOON})
      for fraction in ("", ".000", ".000000", ".000000000")),
    *((np.datetime64(10**power, unit), {"timestamp": dt.datetime(1970, 1, 1, 0, 0, 1)})
      for power, unit in ((12, "ps"), (15, "fs"), (18, "as"))),
    *((np.datetime64("2026-06-01", unit), {"date": DAY, "timestamp": MIDNIGHT}) for unit in "D h m s ms us ns".split()),
    (np.datetime64("2026-06"), {"date": DAY, "timestamp": MIDNIGHT}),
    (np.datetime64("2026"), {"date": dt.date(2026, 1, 1), "timestamp": dt.datetime(2026, 1, 1)}),
    (np.datetime64("2026-06-01T12:00:00.000000001"), {}),
    *((np.datetime64(1, unit), {}) for unit in ("ns", "ps", "fs", "as")),
    (np.datetime64("-4713-11-23"), {}),  # before PostgreSQL's first day
    (np.datetime64("400000-01-01"), {"date": None}),  # not a timestamp, and not in microseconds
    (np.datetime64("5874898-01-01"), {}),
    (np.datetime64(2**31 - 1, "D"), {}),  # which would be infinity
    (np.datetime64("NaT"), {}),
    (np.datetime64("NaT", "ns"), {}),
    *((np.timedelta64(86400 * 1000**power, unit), {"interval": dt.timedelta(1)})
      for power, unit in enumerate("s ms us ns".split())),
    *((np.timedelta64(1, unit), {"interval": dt.timedelta(days)}) for unit, days in (("D", 1), ("W", 7))),
    (np.timedelta64(-1, "us"), {"interval": dt.timedelta(microseconds=-1)}),
    *((np.timedelta64(n, "us"), {"interval": Interval(microseconds=n)}) for n in (2**62, 2**63 - 1, 1 - 2**63)),
    *((np.timedelta64(1, unit), {}) for unit in "ns ps fs as M Y".split()),
    (np.timedelta64(1), {}),  # without a unit
    (np.timedelta64(2**62, "s"), {}),
    (np.timedelta64("NaT"), {}),
    # arrays are for contains_array()
    (np.array(1), {}),
    (np.array([1]), {}),
    (np.array("a"), {}),
    (np.ma.masked, {}),
    (np.ma.array(1, mask=True), {}),
]
if np.finfo(np.longdouble).nmant > 52:
    VALUES.append((np.longdouble(1) / 3, {}))  # no float has so many digits
if pd:
    VALUES += [
        (pd.NaT, {}),
        (pd.NA, {}),
        (pd.Timestamp(NOON), {"timestamp": NOON}),
        (pd.Timestamp(NOON, tz=UTC), {"timestamptz": NOON.replace(tzinfo=UTC)}),
        (pd.Timestamp("2026-06-01 12:00:00.000000001"), {}),
        (pd.Timestamp("2026-06-01 12:00:00.000000001", tz=UTC), {}),
        (pd.Timedelta(1, "D"), {"interval": dt.timedelta(1)}),
        (pd.Timedelta(1, "ns"), {}),
    ]

# arguments of contains_array(): by family the same elements in plain lists
ARRAYS = [
    (None, {}),
    (1, {"integer": 1}),
    ("a", {"text": "a"}),
    (b"a", {"bytea": b"a"}),
    ({1}, {}),
    (iter([1]), {}),
    ([1, True], {}),
    ([1, 1.0], {}),
    ([1, None], {}),
    ([True, False], {"boolean": [True, False]}),
    ([[1, 2], [3, 4]], {"integer": [[1, 2], [3, 4]]}),
    ((1, 2), {"integer": [1, 2]}),
    ([2**63 - 1, -(2**63)], {"integer": [2**63 - 1, -(2**63)]}),
    ([2**63], {}),
    ([1, "a"], {}),
    (["a", "a\0"], {}),
    *((np.array([1, 2], name), {"integer": [1, 2]}) for name in ("int8", ">i8", "uint8", "uint64", object)),
    (np.array([[1, 2]]), {"integer": [[1, 2]]}),
    (np.array(1), {"integer": 1}),
    (np.array([2**63], np.uint64), {}),
    *((np.array([0.5, math.nan], name), {"float": [0.5, math.nan]}) for name in "f2 f4 f8 >f8 longdouble".split()),
    (np.array([1.0, 2.0]), {"float": [1.0, 2.0]}),
    (np.array([1j]), {}),
    (np.array([True, False]), {"boolean": [True, False]}),
    (np.array(["a", "b"]), {"text": ["a", "b"]}),
    (np.array([b"a", b"b"]), "S"),
    (np.array([b"a", b"b"], object), {"bytea": [b"a", b"b"]}),
    (np.array([b"a\0", b"b\0"], "V2"), {"bytea": [b"a\0", b"b\0"]}),
    (np.array([(1, 2)], "i4,i4"), {}),
    *(
        (np.array(["2026-06-01T12", "2026-06-01T12"], f"{order}M8[{unit}]"), {"timestamp": [NOON, NOON]})
        for order in "<>"
        for unit in ("h", "ms", "us", "ns", "25s")
    ),
    *(
        (np.array(["2026-06-01"], f"M8[{unit}]"), {"timestamp": [MIDNIGHT], "date": [DAY]})
        for unit in ("D", "us", "ns")
    ),
    (np.array(["2026-06-01", "2026-06-01T12"], "M8[ns]"), {"timestamp": [MIDNIGHT, NOON]}),
    (np.array(["2026-06-01T12:00:00.000000001"], "M8[ns]"), {}),
    (np.array(["2026-06-01", "NaT"], "M8[ns]"), {}),
    (np.array([86400], "m8[s]"), {"interval": [dt.timedelta(1)]}),
    (np.array([-1000], ">m8[ns]"), {"interval": [dt.timedelta(microseconds=-1)]}),
    (np.array([1], "m8[ns]"), {}),
    (np.array([1], "m8[M]"), {}),
    (np.array([1, "NaT"], "m8[s]"), {}),
    (np.array([np.timedelta64(1, "D"), 1], object), {}),
    (np.array([np.datetime64("2026-06-01", "ns")], object), {"timestamp": [MIDNIGHT], "date": [DAY]}),
    (np.ma.array([1, 2], mask=[False, False]), {"integer": [1, 2]}),
    (np.ma.array([1, 2]), {"integer": [1, 2]}),
    (np.ma.array([1, 2], mask=[True, False]), "masked"),
    ([np.ma.array([1, 2], mask=[True, False])], "masked"),
    ([1, np.ma.masked], {}),
]
if pd:
    stamps = pd.Series([NOON, NOON])
    ARRAYS += [
        (stamps, {"timestamp": [NOON, NOON]}),
        (stamps.dt.tz_localize(UTC), {"timestamptz": [NOON.replace(tzinfo=UTC)] * 2}),
        (pd.Series([1, 2], dtype="Int64"), {"integer": [1, 2]}),
        (pd.Series([1, None], dtype="Int64"), {}),
        (pd.Series([1, None]), {"float": [1.0, math.nan]}),
        (pd.Series(["a", "b"]), {"text": ["a", "b"]}),
        (pd.Series(["a", "b"], dtype="category"), {"text": ["a", "b"]}),
        (pd.Series([dt.timedelta(1)]), {"interval": [dt.timedelta(1)]}),
        (pd.Series([pd.NaT, NOON]), {}),
    ]

HASHES = [
    *((h, h) for h in (0, 1, -1, 2**63 - 1, -(2**63))),
    (2**63, -(2**63)),  # as other programs print it, without a sign
    (2**64 - 1, -1),
    (np.int64(-1), -1),
    (np.uint64(2**64 - 1), -1),
]
NO_HASHES = [None, True, False, 1.0, math.nan, Decimal(1), "1", "", b"1", [], [1], (1,), {}, Index(), UUID(int=1)]
NO_HASHES += [2**64, -(2**63) - 1, 10**30]
NO_HASHES += [np.True_, np.float64(1), np.timedelta64(1), np.datetime64(1, "s"), np.array(1), np.ma.masked]


class Arguments(unittest.TestCase):
    def test_values(self):
        for value, families in VALUES:
            for name, f in FILTERS.items():
                with self.subTest(family=name, value=value, type=type(value).__name__):
                    if name == "none":  # which is empty
                        self.assertNotIn(value, f)
                        self.assertEqual(f.count(value), 0)
                    elif name in families:
                        if families[name] is not None:
                            self.assertEqual(f.hash(value), f.hash(families[name]))
                        self.assertNotIn(value, f)
                        self.assertEqual(f.count(value), 0)
                        self.assertEqual(f.contains_array(np.array([value, None], object)[:1]).tolist(), [False])
                    else:
                        for ask in (f.__contains__, f.count, f.hash):
                            with self.assertRaisesRegex(ElementError, f"of the family {name} does not contain"):
                                ask(value)

    def test_arrays(self):
        for values, families in ARRAYS:
            for name, f in FILTERS.items():
                with self.subTest(family=name, values=values, type=type(values).__name__):
                    if families == "S":
                        with self.assertRaisesRegex(ElementError, "fixed-length bytes has lost trailing zeros"):
                            f.contains_array(values)
                    elif families == "masked":
                        with self.assertRaisesRegex(ElementError, "a masked element has no value"):
                            f.contains_array(values)
                    elif name in families:
                        with_them = self.filter_of(f, families[name])
                        plain = f.contains_array(families[name])
                        self.assertEqual(f.contains_array(values).tolist(), plain.tolist())
                        self.assertFalse(plain.any())
                        self.assertTrue(with_them.contains_array(values).all())
                    elif name != "none":
                        with self.assertRaisesRegex(ElementError, f"of the family {name} does not contain"):
                            f.contains_array(values)

    def filter_of(self, f, values):
        """A filter that contains these elements: two buckets, of which each is where they may be."""
        flat = np.array(values, object).ravel().tolist()
        fingerprints = {f._place(f.hash(value) % 2**64)[0] for value in flat}
        self.assertLessEqual(len(fingerprints), 4)
        full = empty(f.family)
        for position in range(2):
            full._slots[4 * position : 4 * position + len(fingerprints)] = type(full._slots)("I", fingerprints)
        self.assertTrue(all(value in full for value in flat))
        return full

    def test_hashes(self):
        f = CuckooFilter(IMAGE)
        member = f.hash(1)
        for h in (member, member % 2**64, np.int64(member), np.uint64(member % 2**64)):
            self.assertIs(f.contains_hash(h), True)
            self.assertEqual(f.count_hash(h), 1)
        for h, same in HASHES:
            with self.subTest(h=h):
                self.assertIs(f.contains_hash(h), f.contains_hash(same))
                self.assertEqual(f.count_hash(h), f.count_hash(same))
        for h in [*NO_HASHES, member + 2**64, member - 2**64, float(member), str(member)]:
            for ask in (f.contains_hash, f.count_hash):
                with self.subTest(h=h), self.assertRaisesRegex(ElementError, "a hash is an int from"):
                    ask(h)

    def test_signs(self):
        """The seed and hashes are what cf_info() and cf_hash() return."""
        for seed, signed in ((0, 0), (1, 1), (2**63 - 1, 2**63 - 1), (2**63, -(2**63)), (2**64 - 1, -1)):
            f = empty("integer", seed)
            self.assertEqual(f.seed, signed)
            hashes = [f.hash(i) for i in range(100)]
            self.assertTrue(all(-(2**63) <= h < 2**63 for h in hashes))
            self.assertTrue(min(hashes) < 0 < max(hashes))

    def test_images(self):
        text = base64.b64encode(IMAGE).decode()
        lines = "\r\n".join(text[i : i + 20] for i in range(0, len(text), 20))
        f = CuckooFilter(IMAGE)
        for source in (IMAGE, text, f"{text}\n", f"{text}\r\n", f" {lines}\r\n"):
            for same in (source, source.encode()) if isinstance(source, str) else (source,):
                with self.subTest(source=same):
                    self.assertEqual(CuckooFilter(same), f)
                    if isinstance(same, bytes):
                        self.assertEqual(CuckooFilter(bytearray(same)), f)
                        self.assertEqual(CuckooFilter(memoryview(same)), f)
        for source, reason in (
            (b"", "shorter than a header"),
            ("", "shorter than a header"),
            (b"CF", "shorter than a header"),
            (b"https://bad.example/ is no filter at all", 'not "CF"'),
            ("https://bad.example/", "not valid base64"),
            (text[:-1].encode(), "not valid base64"),
            (text[:-4].encode(), "length does not agree"),
            (text.encode() + b"\xff", "not valid base64"),
            (text.encode("utf-16"), 'not "CF"'),
            (base64.b64encode(b"no filter"), "shorter than a header"),
        ):
            with self.subTest(source=source), self.assertRaisesRegex(InvalidImage, reason):
                CuckooFilter(source)
        for source in (None, True, 1, 1.0, [], [67, 70], {}, np.frombuffer(IMAGE, np.uint8), object()):
            with self.subTest(source=source), self.assertRaisesRegex(TypeError, "is expected here"):
                CuckooFilter(source)


if __name__ == "__main__":
    unittest.main()
