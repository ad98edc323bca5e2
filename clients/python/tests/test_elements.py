"""The bytes of values by the table of FORMAT.md, and the values that are refused."""

import ipaddress
import math
import random
import socket
import struct
import unittest
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import model
from pg_cuckoofilter import CuckooFilter, ElementError, Interval
from pg_cuckoofilter.elements import FAMILIES

FAMILY = {family.name: family for family in FAMILIES}


def numeric_by_fractions(value):
    """The canonical bytes of a finite numeric, by another formula."""
    number, exponent = abs(Fraction(value)), 0
    if number == 0:
        return b"0"
    while number.denominator > 1:
        number, exponent = number * 10, exponent - 1
    while number % 10 == 0:
        number, exponent = number / 10, exponent + 1
    return (b"-" if value < 0 else b"+") + exponent.to_bytes(4, "little", signed=True) + str(number).encode()


class Elements(unittest.TestCase):
    """A value of another type is an error, in an empty filter as well."""

    VALUES = {
        "integer": 1,
        "text": "a",
        "bytea": b"a",
        "uuid": UUID(int=1),
        "boolean": True,
        "date": date(2026, 6, 1),
        "timestamp": datetime(2026, 6, 1),
        "timestamptz": datetime.fromisoformat("2026-06-01T00:00:00+00:00"),
        "float": 1.5,
        "inet": ipaddress.ip_address("10.0.0.1"),
        "numeric": Decimal(1),
        "time": time(1),
        "interval": timedelta(1),
    }

    def test_other_families(self):
        for family in FAMILIES[1:]:
            for name, value in [*self.VALUES.items(), ("null", None)]:
                with self.subTest(family=family.name, value=value):
                    if family.name == name:
                        self.assertIsInstance(family.canonical(value), bytes)
                    else:
                        with self.assertRaisesRegex(ElementError, f"family {family.name} does not contain"):
                            family.canonical(value)

    # by the table of FORMAT.md
    BYTES = {
        "inet": [
            (ipaddress.ip_address("10.0.0.1"), "04 20 0a000001"),
            (ipaddress.ip_interface("10.0.0.1"), "04 20 0a000001"),
            (ipaddress.ip_interface("10.0.0.1/24"), "04 18 0a000001"),
            (ipaddress.ip_interface("10.0.0.0/24"), "04 18 0a000000"),
            (ipaddress.ip_network("10.0.0.0/24"), "04 18 0a000000"),
            (ipaddress.ip_network("0.0.0.0/0"), "04 00 00000000"),
            (ipaddress.ip_address("::"), "06 80" + 16 * "00"),
            (ipaddress.ip_address("2001:db8::ff"), "06 80 20010db8 00000000 00000000 000000ff"),
            (ipaddress.ip_interface("2001:db8::ff/32"), "06 20 20010db8 00000000 00000000 000000ff"),
            (ipaddress.ip_network("2001:db8::/32"), "06 20 20010db8 00000000 00000000 00000000"),
            (ipaddress.ip_address("::ffff:1.2.3.4"), "06 80 00000000 00000000 0000ffff 01020304"),
        ],
        "macaddr": [
            ("08:00:2b:01:02:03", "08002b010203"),
            ("08-00-2B-01-02-03", "08002b010203"),
            ("08002b:010203", "08002b010203"),
            ("08002b-010203", "08002b010203"),
            ("0800.2b01.0203", "08002b010203"),
            ("0800-2b01-0203", "08002b010203"),
            ("08002b010203", "08002b010203"),
            (b"\x08\0+\1\2\3", "08002b010203"),
            (memoryview(b"\x08\0+\1\2\3"), "08002b010203"),
        ],
        "macaddr8": [
            ("08:00:2b:01:02:03:04:05", "08002b0102030405"),
            ("08-00-2b-01-02-03-04-05", "08002b0102030405"),
            ("08002b:0102030405", "08002b0102030405"),
            ("08002b-0102030405", "08002b0102030405"),
            ("0800.2b01.0203.0405", "08002b0102030405"),
            ("0800-2b01-0203-0405", "08002b0102030405"),
            ("08002b01:02030405", "08002b0102030405"),
            ("08002B0102030405", "08002b0102030405"),
            ("08:00:2b:01:02:03", "08002bfffe010203"),
            (bytes(range(8)), "0001020304050607"),
        ],
        "numeric": [
            (Decimal("0"), "30"),
            (Decimal("-0.00"), "30"),
            (Decimal("0e999999"), "30"),
            (Decimal("NaN"), "4e"),
            (Decimal("-NaN7"), "4e"),
            (Decimal("Infinity"), "49"),
            (Decimal("-Infinity"), "69"),
            (Decimal("1"), "2b 00000000 31"),
            (Decimal("1.00"), "2b 00000000 31"),
            (Decimal("-0.025"), "2d fdffffff 3235"),
            (Decimal("1200"), "2b 02000000 3132"),
            (Decimal("1.2e3"), "2b 02000000 3132"),
            (Decimal("1200.0100"), "2b feffffff 313230303031"),
            (Decimal("1e-16383"), "2b 01c0ffff 31"),
            (Decimal("-1e131071"), "2d ffff0100 31"),
            (Decimal("123456789012345678901234567890.5"), "2b ffffffff" + b"1234567890123456789012345678905".hex()),
        ],
        "time": [
            (time(0), "0000000000000000"),
            (time(0, 0, 0, 1), "0100000000000000"),
            (time(23, 59, 59, 999999), "ff5fd71d14000000"),
            ("24:00", "0060d71d14000000"),
            ("24:00:00", "0060d71d14000000"),
        ],
        "interval": [
            (timedelta(0), 16 * "00"),
            (timedelta(microseconds=-1), 16 * "ff"),
            (timedelta(days=1), "0060d71d14000000" + 8 * "00"),
            (timedelta(30), "00403d7f5b020000" + 8 * "00"),
            (Interval(months=1), "00403d7f5b020000" + 8 * "00"),
            (Interval(days=30), "00403d7f5b020000" + 8 * "00"),
            (Interval(2, -60, 1), "01" + 15 * "00"),
            (Interval(2**31 - 1, 2**31 - 1, 2**63 - 1), "ff5feb62904d8a4e3801000000000000"),
            (math.inf, "ff5feb62904d8a4e3801000000000000"),
            (-math.inf, "0000000000b075b1c7feffffffffffff"),
        ],
    }

    REFUSED = {
        "text": ["\ud800", "a\udc00b", b"a", bytearray(b"\xff")],
        "inet": ["10.0.0.1", 1, ipaddress.ip_address("fe80::1%eth0"), ipaddress.ip_interface("fe80::1%eth0/64")],
        "macaddr": ["08:00:2b:01:02", "08:00:2b:01:02:3", "8:0:2b:1:2:3", "08:00-2b:01:02:03", "08:00:2b:01:02:0g"]
        + ["08:00:2b:01:02:03\n", " 08:00:2b:01:02:03", "08.00.2b.01.02.03", "0800:2b01:0203", "\u0660" * 12]
        + ["08:00:2b:01:02:03:04:05", bytes(5), bytes(8), 0x08002B010203],
        "macaddr8": ["08:00:2b:01:02:03:04", "0800:2b01:0203:0405", bytes(6), bytes(7), 1],
        "numeric": [1, "1", 1.0, True, Fraction(1, 2), Decimal("1e-16384"), Decimal("1e131072"), Decimal("11e131071")]
        + [Decimal("1e-999999")],
        "time": ["12:00", "24:00:01", time(tzinfo=timezone.utc), timedelta(0), 0, math.inf],
        "interval": [(1, 2, 3), 1, "1 day", math.nan, time(1), Interval(2**31), Interval(days=-(2**31) - 1)]
        + [Interval(microseconds=2**63), Interval(1.5), Interval(days=None)],
    }

    def test_bytes(self):
        for family, cases in self.BYTES.items():
            for value, expected in cases:
                with self.subTest(family=family, value=value):
                    self.assertEqual(FAMILY[family].canonical(value).hex(), expected.replace(" ", ""))

    def test_refused(self):
        for family, values in self.REFUSED.items():
            for value in values:
                with self.subTest(family=family, value=value):
                    with self.assertRaisesRegex(ElementError, f"family {family} does not contain .*: it takes"):
                        FAMILY[family].canonical(value)

    def test_random_numeric(self):
        for _ in range(3000):
            digits = "".join(random.choice("0001234567899") for _ in range(random.randint(1, 40)))
            value = Decimal(f"{random.choice('+-')}{digits}e{random.randint(-60, 60)}")
            with self.subTest(value=value):
                self.assertEqual(FAMILY["numeric"].canonical(value), numeric_by_fractions(value))
                # the same with other zeros at the end, which a context of 28 digits would round
                for same in (f"{value:f}" + ("0" if "." in f"{value:f}" else ".0"), f"{value:e}"):
                    self.assertEqual(FAMILY["numeric"].canonical(Decimal(same)), numeric_by_fractions(value))

    def test_random_inet(self):
        for _ in range(3000):
            version, bits = random.choice(((4, 32), (6, 128)))
            number = random.getrandbits(bits) & -1 << random.choice((0, 8, bits // 2))
            address = (ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address)(number)
            packed = socket.inet_pton(socket.AF_INET if version == 4 else socket.AF_INET6, str(address))
            mask = random.randint(0, bits)
            interface = ipaddress.ip_interface(f"{address}/{mask}")
            lowest = number & ~((1 << bits - mask) - 1)
            for value, tail in (
                (address, bytes([version, bits]) + packed),
                (interface, bytes([version, mask]) + packed),
                (interface.network, bytes([version, mask]) + lowest.to_bytes(bits // 8, "big")),
            ):
                with self.subTest(value=value):
                    self.assertEqual(FAMILY["inet"].canonical(value), tail)

    def test_random_interval(self):
        for _ in range(3000):
            fields = [random.randint(-(2 ** (n - 1)), 2 ** (n - 1) - 1) >> random.randrange(n) for n in (32, 32, 64)]
            with self.subTest(fields=fields):
                value = int.from_bytes(FAMILY["interval"].canonical(Interval(*fields)), "little", signed=True)
                self.assertEqual(value, (fields[0] * 30 + fields[1]) * 24 * 3600 * 10**6 + fields[2])
            span = timedelta(microseconds=fields[2])
            self.assertEqual(
                FAMILY["interval"].canonical(span), FAMILY["interval"].canonical(Interval(0, 0, fields[2]))
            )

    def test_arrays(self):
        """numpy takes none of these values apart."""
        for family, cases in self.BYTES.items():
            header = struct.pack("<2s6BIHHQQ", b"CF", 1, FAMILIES.index(FAMILY[family]), 9, 8, 0, 0, 2, 0, 0, 0, 0)
            f = CuckooFilter(model.sealed(header + bytes(8)))
            values = [value for value, _ in cases]
            with self.subTest(family=family):
                self.assertEqual(f.contains_array(values).tolist(), [False] * len(values))
                with self.assertRaises(ElementError):
                    f.contains_array([*values, None])


if __name__ == "__main__":
    unittest.main()
