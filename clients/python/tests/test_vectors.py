"""The golden vectors, with numpy and without."""

import json
import os
import struct
import unittest
from datetime import date, datetime
from pathlib import Path
from unittest import mock
from uuid import UUID

import pg_cuckoofilter.filter
from pg_cuckoofilter import CuckooFilter, ElementError, InvalidImage
from pg_cuckoofilter.elements import FAMILIES
from xxhash import xxh3_64_intdigest

VECTORS = Path(os.environ.get("VECTORS", Path(__file__).parents[3] / "test/vectors"))


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def timestamp(literal):
    """What Python before 3.11 reads: six digits of a second, a zone of hours and minutes."""
    if "infinity" in literal:
        return float(literal)
    zone = literal[-3:] + ":00" if literal[-3] in "+-" and ":" in literal else ""
    time, _, fraction = (literal[:-3] if zone else literal).partition(".")
    return datetime.fromisoformat(f"{time}.{fraction:0<6}{zone}")


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
}


def parse(case, literal):
    if case["type"].startswith("char"):
        return literal.rstrip(" ")
    if case["type"] == "float4":
        return struct.unpack("<f", struct.pack("<f", float(literal)))[0]
    return PARSE[case["family"]](literal)


class Vectors(unittest.TestCase):
    def test_elements(self):
        families = {family.name: family for family in FAMILIES}
        file = vectors("elements")
        for case in file["elements"]:
            with self.subTest(type=case["type"], value=case["value"]):
                value = parse(case, case["value"])
                data = families[case["family"]].canonical(value)
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
        for case in vectors("images")["images"]:
            with self.subTest(image=case["name"]):
                f = CuckooFilter(case["image"])
                self.assertEqual(str(f), case["image"])
                for key in ("family", "items", "m0", "f0", "g", "windows"):
                    self.assertEqual(getattr(f, key), case[key], key)
                self.assertEqual(f.seed, int(case["seed"], 16))
                values = [parse(case, literal) for literal in case["probes"]]
                counts = [int(digit) for digit in case["counts"]]
                self.assertEqual([f.count(value) for value in values], counts)
                self.assertEqual([value in f for value in values], [count > 0 for count in counts])
                self.probe_array(f, values, counts)

    def probe_array(self, f, values, counts):
        self.assertEqual(f.contains_array(values).tolist(), [count > 0 for count in counts])

    def test_refused(self):
        for case in vectors("refused")["images"]:
            with self.subTest(image=case["name"]):
                with self.assertRaises(InvalidImage) as raised:
                    CuckooFilter(case["image"])
                self.assertEqual(str(raised.exception), f"invalid cuckoofilter image: {case['reason']}")
        for text in vectors("refused")["texts"]:
            with self.subTest(text=text), self.assertRaisesRegex(InvalidImage, "not valid base64"):
                CuckooFilter(text)


class WithoutNumpy(Vectors):
    def setUp(self):
        patch = mock.patch.object(pg_cuckoofilter.filter, "arrays", None)
        patch.start()
        self.addCleanup(patch.stop)

    def probe_array(self, f, values, counts):
        with self.assertRaisesRegex(ImportError, "needs numpy"):
            f.contains_array(values)


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

    def test_range(self):
        image = next(case["image"] for case in vectors("images")["images"] if case["name"] == "int4")
        for value in (2**63, -(2**63) - 1):
            with self.assertRaises(ElementError):
                value in CuckooFilter(image)

    def test_nan(self):
        """Each NaN is the one of FORMAT.md, with numpy as well."""
        import numpy as np
        from pg_cuckoofilter import arrays

        f = next(CuckooFilter(case["image"]) for case in vectors("images")["images"] if case["name"] == "float8")
        expected = f.hash(float("nan"))
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
