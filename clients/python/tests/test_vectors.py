"""The golden vectors, with numpy and without.

MODEL names a file of further images that model.py has written.
"""

import base64
import ipaddress
import json
import os
import random
import re
import struct
import unittest
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from unittest import mock
from uuid import UUID

import model
import pg_cuckoofilter.filter
from pg_cuckoofilter import CuckooFilter, ElementError, Interval, InvalidImage
from pg_cuckoofilter.elements import FAMILIES
from pg_cuckoofilter.image import Header
from xxhash import xxh3_64_intdigest

FAMILY = {family.name: family for family in FAMILIES}
VECTORS = Path(os.environ.get("VECTORS", Path(__file__).parents[3] / "test/vectors"))


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def images():
    """Those of the vectors, and of the model."""
    model = os.environ.get("MODEL")
    return vectors("images")["images"] + (json.loads(Path(model).read_text())["images"] if model else [])


def accepts(image):
    try:
        CuckooFilter(image)
    except InvalidImage:
        return False
    return True


def timestamp(literal):
    """What Python before 3.11 reads: six digits of a second, a zone of hours and minutes."""
    if "infinity" in literal:
        return float(literal)
    zone = literal[-3:] + ":00" if literal[-3] in "+-" and ":" in literal else ""
    clock, _, fraction = (literal[:-3] if zone else literal).partition(".")
    return datetime.fromisoformat(f"{clock}.{fraction:0<6}{zone}")


def inet(literal):
    return ipaddress.ip_interface(literal) if "/" in literal else ipaddress.ip_address(literal)


def time_of_day(literal):
    if literal.startswith("24"):
        return "24:00:00"
    clock, _, fraction = literal.partition(".")
    return time.fromisoformat(f"{clock}.{fraction:0<6}" if fraction else clock)


def microseconds(second):
    return int(Decimal(second) * 10**6)


UNITS = {  # months, days, microseconds
    "year": (12, 0, 0),
    "mon": (1, 0, 0),
    "week": (0, 7, 0),
    "day": (0, 1, 0),
    "hour": (0, 0, 3600 * 10**6),
    "min": (0, 0, 60 * 10**6),
    "sec": (0, 0, 10**6),
}


def interval(literal):
    """An interval in words, and with or without a clock."""
    fields = [0, 0, 0]
    for number, unit in re.findall(r"([+-]?[\d.]+) (year|mon|week|day|hour|min|sec)", literal):
        fields = [field + int(Decimal(number) * factor) for field, factor in zip(fields, UNITS[unit])]
    for sign, hour, minute, second in re.findall(r"([+-]?)(\d+):(\d\d):([\d.]+)", literal):
        fields[2] += int(sign + "1") * ((int(hour) * 60 + int(minute)) * 60 * 10**6 + microseconds(second))
    return timedelta(0, 0, fields[2]) if fields[:2] == [0, 0] else Interval(*fields)


PARSE = {
    "none": int,
    "integer": int,
    "text": str,
    "bytea": lambda literal: bytes.fromhex(literal[2:]),
    "uuid": UUID,
    "boolean": lambda literal: literal == "true",
    "date": lambda literal: float(literal) if "infinity" in literal else date.fromisoformat(literal),
    "timestamp": timestamp,
    "timestamptz": timestamp,
    "float": float,
    "inet": inet,
    "macaddr": str,
    "macaddr8": str,
    "numeric": Decimal,
    "time": time_of_day,
    "interval": interval,
}


def parse(case, literal):
    if case["type"].startswith("char"):
        return literal.rstrip(" ")
    if case["type"] == "float4":
        return struct.unpack("<f", struct.pack("<f", float(literal)))[0]
    if case["type"] == "cidr":
        return ipaddress.ip_network(literal)
    return PARSE[case["family"]](literal)


class Vectors(unittest.TestCase):
    def test_elements(self):
        file = vectors("elements")
        for case in file["elements"]:
            with self.subTest(type=case["type"], value=case["value"]):
                value = parse(case, case["value"])
                data = FAMILY[case["family"]].canonical(value)
                self.assertEqual(data.hex(), case["bytes"])
                for seed, expected in zip(file["seeds"], case["hashes"]):
                    self.assertEqual(f"{xxh3_64_intdigest(data, int(seed, 16)):016x}", expected)

    def test_places(self):
        file = vectors("elements")
        f = CuckooFilter(vectors("images")["images"][0]["image"])
        for case in file["elements"]:
            h = int(case["hashes"][0], 16)
            for geometry, place in zip(file["geometries"], case["places"]):
                with self.subTest(value=case["value"], geometry=geometry):
                    f.m0, f.windows, f.f0, f.g = (geometry[key] for key in ("m0", "windows", "f0", "g"))
                    fingerprint, first, second = f._place(h)
                    self.assertEqual([f"{fingerprint:x}", first, second], place[2:])
                    f.g = 0
                    fingerprint, first, second = f._place(h)
                    self.assertEqual([min(first, second), f"{fingerprint:x}"], place[:2])

    def test_images(self):
        for case in images():
            with self.subTest(image=case["name"]):
                f = CuckooFilter(case["image"])
                self.assertEqual(str(f), case["image"])
                for key in ("family", "items", "m0", "f0", "g", "windows"):
                    self.assertEqual(getattr(f, key), case[key], key)
                self.assertEqual(f.seed % 2**64, int(case["seed"], 16))
                self.assertAlmostEqual(f.fpp, 2 * case["items"] / (case["m0"] << case["f0"]))
                values = [parse(case, literal) for literal in case["probes"]]
                counts = [int(digit) for digit in case["counts"]]
                self.assertSame(values, [f.count(value) for value in values], counts)
                self.assertSame(values, [value in f for value in values], [count > 0 for count in counts])
                self.probe_array(f, values, counts)

    def probe_array(self, f, values, counts):
        self.assertSame(values, f.contains_array(values).tolist(), [count > 0 for count in counts])

    def assertSame(self, values, answers, expected):
        """Like assertEqual, which for lists of thousands takes minutes to tell the difference."""
        self.assertEqual((len(values), len(answers)), (len(expected), len(expected)))
        self.assertEqual([v for v, answer, right in zip(values, answers, expected) if answer != right], [])

    def test_refused(self):
        for case in vectors("refused")["images"]:
            with self.subTest(image=case["name"]):
                with self.assertRaises(InvalidImage) as raised:
                    CuckooFilter(case["image"])
                self.assertEqual(str(raised.exception), f"invalid cuckoofilter image: {case['reason']}")
        for text in vectors("refused")["texts"]:
            with self.subTest(text=text), self.assertRaisesRegex(InvalidImage, "not valid base64"):
                CuckooFilter(text)
        for spaced, text in vectors("images")["texts"]:
            self.assertEqual(str(CuckooFilter(spaced)), text)

    def test_keys(self):
        """Not of the client, which only reads, but of a model of a program that also writes."""
        for case in images():
            with self.subTest(image=case["name"]):
                described = model.described(model.keys_of(base64.b64decode(case["image"])))
                self.assertEqual(described, {name: value for name, value in case.items() if name.startswith("key")})

    def test_flags_refused(self):
        def image(flags, m0, reserved):
            header = struct.pack("<2s6BIHHQQ", b"CF", 1, 0, 9, 8, 0, flags, m0, 0, reserved, 0, 0)
            return model.sealed(header + bytes(m0 * 4))

        self.assertTrue(CuckooFilter(image(1, 256, 0)).windows)
        for flags, m0, reserved, reason in (
            (1, 12, 0, "unknown or wrong flags"),
            (1, 126, 0, "unknown or wrong flags"),
            (1, 258, 0, "unknown or wrong flags"),
            (1, 0, 0, "number of base buckets is zero or odd"),
            (0, 12, 4, "reserved bytes are not zero"),
            (1, 256, 128, "reserved bytes are not zero"),
            (0, 12, 0x8000, "reserved bytes are not zero"),
            *((1 << bit, 256, 0, "unknown or wrong flags") for bit in range(1, 8)),
            *((1 << bit | 1, 256, 128, "unknown or wrong flags") for bit in range(1, 8)),
        ):
            with self.subTest(flags=flags, m0=m0, reserved=reserved):
                with self.assertRaisesRegex(InvalidImage, reason):
                    CuckooFilter(image(flags, m0, reserved))

    def test_largest(self):
        class Large(bytes):
            """A header, with the length of the image that it describes."""

            def __len__(self):
                return 40 + 4 * struct.unpack_from("<I", self, 8)[0]

        for m0, reason in (
            (134217718, "checksum does not match"),  # 512 MiB
            (134217720, "length does not agree with the header"),
        ):
            with self.assertRaisesRegex(InvalidImage, reason):
                Header(Large(struct.pack("<2s6BIHHQQ", b"CF", 1, 0, 9, 8, 0, 0, m0, 0, 0, 0, 0)))

    def test_damage(self):
        """Every flip of a bit of 5 kB, random bytes over others, and other lengths."""
        rng = random.Random(1)
        case = next(case for case in vectors("images")["images"] if case["name"] == "windows of 128, three of them")
        image = bytearray(base64.b64decode(case["image"]))
        self.assertTrue(accepts(image))
        for bit in range(len(image) * 8):
            image[bit // 8] ^= 1 << bit % 8
            self.assertFalse(accepts(image), f"bit {bit}")
            image[bit // 8] ^= 1 << bit % 8
        for _ in range(1000):
            at, n = rng.randrange(len(image)), rng.randint(1, 20)
            overwritten = image[:at] + bytes(rng.choices(range(256), k=n)) + image[at + n :]
            for wrong in (overwritten, image[:at], image + image[: at + 1], image[at:]):
                self.assertFalse(wrong != image and accepts(wrong), f"{n} bytes at {at}")

    def test_base64_refused(self):
        text = vectors("images")["images"][0]["image"]
        image = CuckooFilter(text)
        self.assertFalse(text.endswith("="))  # no padding
        for wrong in (*"A=-\f\ud800", "AA", "AAA", "==", "====", "AA=", "AA=Z", "AA===", "AA==AAAA", "AB==", "AAB="):
            with self.subTest(text=wrong), self.assertRaisesRegex(InvalidImage, "not valid base64"):
                CuckooFilter(text + wrong)
        # complete base64, but a byte too much
        for wrong in ("AA==", "AA = =\t", "AAA=", "AAA=\r\n"):
            with self.subTest(text=wrong), self.assertRaisesRegex(InvalidImage, "length does not agree"):
                CuckooFilter(text + wrong)
        self.assertEqual(CuckooFilter(text + "\n"), image)


class WithoutNumpy(Vectors):
    def setUp(self):
        patch = mock.patch.object(pg_cuckoofilter.filter, "arrays", None)
        patch.start()
        self.addCleanup(patch.stop)

    def probe_array(self, f, values, counts):
        with self.assertRaisesRegex(ImportError, "needs numpy"):
            f.contains_array(values)


class Values(unittest.TestCase):
    """Values of other kinds, also in arrays."""

    def test_range(self):
        image = next(case["image"] for case in vectors("images")["images"] if case["name"] == "int4")
        for value in (2**63, -(2**63) - 1):
            with self.assertRaises(ElementError):
                value in CuckooFilter(image)

    def test_least_hashes(self):
        """The least hash of each bucket: all of its 64 bits count, for one hash and for arrays."""
        import numpy as np
        from pg_cuckoofilter.arrays import contains_hashes

        m0 = 1000
        header = struct.pack("<2s6BIHHQQ", b"CF", 1, 1, 9, 8, 0, 0, m0, 0, 0, 0, 0)
        f = CuckooFilter(model.sealed(header + bytes(m0 * 4)))
        hashes = [-(-(bucket << 64) // m0) for bucket in range(m0)]
        places = [f._place(h) for h in hashes]
        self.assertEqual([first for _, first, _ in places], list(range(m0)))
        buckets = np.array([[fingerprint, 0, 0, 0] for fingerprint, _, _ in places], np.uintc)
        self.assertTrue(contains_hashes(f, buckets, np.array(hashes, np.uint64)).all())

    def test_nan(self):
        """Each NaN is the one of FORMAT.md, with numpy as well."""
        import numpy as np
        from pg_cuckoofilter import arrays

        f = next(CuckooFilter(case["image"]) for case in vectors("images")["images"] if case["name"] == "float8")
        expected = f.hash(float("nan")) % 2**64
        self.assertEqual(f.hash(-float("nan")), expected)
        self.assertEqual(arrays.hashes(f, np.array([-np.nan])).tolist(), [expected])

    def test_numpy(self):
        import numpy as np

        images = {case["name"]: CuckooFilter(case["image"]) for case in vectors("images")["images"]}
        f = images["int4"]
        member = next(i for i in range(100) if i in f)
        for dtype in (np.int8, np.int16, np.int64, np.uint8, np.uint64, object):
            self.assertEqual(f.contains_array(np.array([member, 100], dtype)).tolist(), [True, 100 in f])
        self.assertEqual(f.contains_array([[member], [member]]).tolist(), [[True], [True]])
        self.assertEqual(f.contains_array([]).tolist(), [])
        with self.assertRaises(ElementError):
            f.contains_array(np.array([1.0]))
        with self.assertRaises(ElementError):
            f.contains_array(np.array([2**63], np.uint64))
        with self.assertRaises(ElementError):
            images["bytea"].contains_array(np.array([b"\0"]))
        with self.assertRaises(ElementError):
            f.contains_array([member, 1.5])
        self.assertIn(np.int64(member), f)
        floats = images["float8"]
        self.assertIn(np.float32(0.25), floats)
        self.assertTrue(floats.contains_array(np.array([0.25, -0.0], np.float32)).all())

    def test_white_space_in_text(self):
        text = vectors("images")["images"][0]["image"]
        self.assertEqual(CuckooFilter(f" {text[:9]}\r\n\t{text[9:]} \n"), CuckooFilter(text))


if __name__ == "__main__":
    unittest.main()
