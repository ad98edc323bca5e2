"""The golden vectors by the library and by cuckoo-probe, and what is refused."""

import base64
import json
import random
import re
import struct
import subprocess
import tempfile
import unittest
from ctypes import byref, c_uint64
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from ipaddress import ip_interface
from pathlib import Path
from uuid import UUID

from library import (
    BUILD,
    ELEMENTS,
    FAMILIES,
    FAMILY_OF,
    INVALID_VALUE,
    OTHER_FAMILY,
    VECTORS,
    Filter,
    Refused,
    empty,
    functions,
)

EPOCH = datetime(1970, 1, 1)


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def literal(case, value):
    """The literal, as the value would be printed if it were of the family's widest type."""
    if case["type"].startswith("char"):
        return value.rstrip(" ")
    if case["type"] == "float4":
        return repr(struct.unpack("<f", struct.pack("<f", float(value)))[0])
    return value


def accepts(image):
    try:
        Filter(image)
    except Refused:
        return False
    return True


def infinite(value, bits):
    return {"infinity": 2 ** (bits - 1) - 1, "-infinity": -(2 ** (bits - 1))}.get(value)


def microseconds(value):
    """What Python before 3.11 reads: six digits of a second, a zone of hours and minutes."""
    if "infinity" in value:
        return infinite(value, 64)
    zone = value[-3:] + ":00" if value[-3] in "+-" and ":" in value else ""
    time, _, fraction = (value[:-3] if zone else value).partition(".")
    moment = datetime.fromisoformat(f"{time}.{fraction:0<6}{zone}")
    return (moment - (EPOCH.replace(tzinfo=timezone.utc) if zone else EPOCH)) // timedelta(microseconds=1)


def inet(value):
    address = ip_interface(value)
    return address.packed, address.network.prefixlen


def octets(value):
    return [bytes.fromhex(value.replace(":", ""))]


def clock(hours, minutes, seconds):
    return (int(hours) * 60 + int(minutes)) * 60 * 10**6 + int(Decimal(seconds) * 10**6)


def interval(value):
    """The fields of words, and of a time as on a clock."""
    fields = [0, 0, 0]
    for amount, unit in re.findall(r"([+-]?\d+) (year|mon|day)", value):
        fields[unit == "day"] += int(amount) * (12 if unit == "year" else 1)
    for sign, *time in re.findall(r"([+-]?)(\d+):(\d+):([\d.]+)", value):
        fields[2] = int(f"{sign}1") * clock(*time)
    return fields


def numeric(value):
    """The canonical bytes, for which the library has no function."""
    value = Decimal(value)
    if not value.is_finite():
        return b"N" if value.is_nan() else b"I" if value > 0 else b"i"
    sign, numbers, exponent = value.as_tuple()
    digits = "".join(map(str, numbers)).lstrip("0")
    short = digits.rstrip("0")
    head = b"+-"[sign : sign + 1] + struct.pack("<i", exponent + len(digits) - len(short))
    return head + short.encode() if value else b"0"


# by family: the call for such elements, and its arguments by the literal
TYPED = {
    "integer": ("int64", lambda value: [int(value)]),
    "text": ("text", lambda value: [value]),
    "bytea": ("bytea", lambda value: [bytes.fromhex(value[2:])]),
    "uuid": ("uuid", lambda value: [UUID(value).bytes]),
    "boolean": ("boolean", lambda value: [value == "true"]),
    "date": ("date", lambda value: [infinite(value, 32) or (date.fromisoformat(value) - EPOCH.date()).days]),
    "timestamp": ("timestamp", lambda value: [microseconds(value)]),
    "timestamptz": ("timestamptz", lambda value: [microseconds(value)]),
    "float": ("float64", lambda value: [float(value)]),
    "inet": ("inet", inet),
    "macaddr": ("macaddr", octets),
    "macaddr8": ("macaddr8", octets),
    "time": ("time", lambda value: [clock(*value.split(":"))]),
    "interval": ("interval", interval),
}


# the families that have literals
WRITTEN = ("integer", "text", "bytea", "uuid", "boolean", "date")


def hash_of(f, value):
    family = FAMILIES[f.family()]
    if family == "none":
        return 0
    if family == "numeric":
        return empty("bytea", f.seed() % 2**64).hash_bytea(numeric(value))
    name, arguments = TYPED[family]
    return getattr(f, f"hash_{name}")(*arguments(value))


class Vectors(unittest.TestCase):
    def test_elements(self):
        file = vectors("elements")
        for case in file["elements"]:
            value = literal(case, case["value"])
            for seed, expected in zip(file["seeds"], case["hashes"]):
                with self.subTest(type=case["type"], value=value, seed=seed):
                    f = empty(case["family"], int(seed, 16))
                    self.assertEqual(f"{hash_of(f, value):016x}", expected)
                    if case["family"] in WRITTEN:
                        self.assertEqual(f"{f.hash_literal(value):016x}", expected)
                    bytea = empty("bytea", int(seed, 16))
                    self.assertEqual(f"{bytea.hash_bytea(bytes.fromhex(case['bytes'])):016x}", expected)

    def test_images(self):
        for case in vectors("images")["images"]:
            image = base64.b64decode(case["image"])
            text = "\r\n".join(case["image"][i : i + 76] for i in range(0, len(case["image"]), 76)) + " \t"
            values = [literal(case, value) for value in case["probes"]]
            counts = [int(digit) for digit in case["counts"]]
            for how, content in (("open", image), ("open_borrowed", image), ("open_text", text)):
                with self.subTest(image=case["name"], how=how):
                    f = Filter(content, how)
                    self.assertEqual(FAMILIES[f.family()], case["family"])
                    self.assertEqual(f.items(), case["items"])
                    self.assertEqual(f.seed() % 2**64, int(case["seed"], 16))
                    self.assertEqual(f.size(), len(image))
                    self.assertAlmostEqual(f.fpp(), 2 * case["items"] / (case["m0"] << case["f0"]))
                    self.assertLessEqual(case["items"] > 0, f.capacity() > 0)
                    if case["family"] in (*WRITTEN, "none"):
                        found = [f.contains_literal(value) for value in values]
                        self.assertEqual(found, [int(n > 0) for n in counts])
                    hashes = [hash_of(f, value) for value in values]
                    self.assertEqual([f.count_hash(h) for h in hashes], counts)
                    self.assertEqual([f.contains_hash(h) for h in hashes], [int(n > 0) for n in counts])
                    self.assertEqual(f.contains_hashes(hashes), [n > 0 for n in counts])
                    if case["family"] in TYPED:
                        name, arguments = TYPED[case["family"]]
                        contains = getattr(f, f"contains_{name}")
                        self.assertEqual([contains(*arguments(v)) for v in values], [int(n > 0) for n in counts])

    def test_refused(self):
        for case in vectors("refused")["images"]:
            image = base64.b64decode(case["image"])
            for how, content in (("open", image), ("open_borrowed", image), ("open_text", case["image"])):
                with self.subTest(image=case["name"], how=how):
                    with self.assertRaises(Refused) as raised:
                        Filter(content, how)
                    self.assertEqual(str(raised.exception), case["reason"])
                    self.assertLess(raised.exception.status, -100)
        for text in vectors("refused")["texts"]:
            with self.subTest(text=text), self.assertRaisesRegex(Refused, "not valid base64"):
                Filter(text, "open_text")
        for spaced, text in vectors("images")["texts"]:
            self.assertEqual(Filter(spaced, "open_text").capacity(), Filter(base64.b64decode(text), "open").capacity())

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

    def test_no_status(self):
        for status in (-5, -99, -100, -500, -(2**31), 1, 2**31 - 1):
            with self.subTest(status=status):
                self.assertEqual(str(Refused(status)), "unknown status")


class Elements(unittest.TestCase):
    VALUES = {
        "int64": [1],
        "text": ["a"],
        "bytea": [b"a"],
        "uuid": [bytes(16)],
        "boolean": [1],
        "date": [1],
        "timestamp": [1],
        "timestamptz": [1],
        "float64": [1.5],
        "inet": [bytes(4), 32],
        "macaddr": [bytes(6)],
        "macaddr8": [bytes(8)],
        "time": [1],
        "interval": [1, 2, 3],
    }

    def test_other_families(self):
        """A value of another family is refused, and a filter of no family contains nothing."""
        self.assertEqual({*self.VALUES, "literal"}, set(ELEMENTS))
        for family in FAMILIES:
            for name, values in self.VALUES.items():
                with self.subTest(family=family, element=name):
                    f = empty(family)
                    if family in ("none", FAMILY_OF.get(name, name)):
                        self.assertEqual(getattr(f, f"contains_{name}")(*values), 0)
                        self.assertIsInstance(getattr(f, f"hash_{name}")(*values), int)
                    else:
                        for kind in ("contains", "hash"):
                            with self.assertRaises(Refused) as raised:
                                getattr(f, f"{kind}_{name}")(*values)
                            self.assertEqual(raised.exception.status, OTHER_FAMILY)
        for family in set(FAMILIES) - {"none", *WRITTEN}:
            with self.assertRaisesRegex(Refused, "another family"):
                empty(family).contains_literal("1")
        self.assertEqual(empty("none").contains_literal("anything"), 0)

    def test_utf8(self):
        f = empty("text")
        rng = random.Random(1)
        cases = [bytes(rng.choice((0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
            0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF)) for _ in range(rng.randint(1, 12)))
            for _ in range(3000)]
        cases += [chr(c).encode("utf-8", "surrogatepass") for c in range(1, 0x110000, 251)]
        cases += [b"12345678" * n + tail for n in (1, 2) for tail in (b"\xc3\xa9", b"\xc3", b"\xe2\x82", b"\x80")]
        valid = 0
        for text in cases:
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                with self.subTest(text=text), self.assertRaises(Refused) as raised:
                    f.hash_text(text)
                self.assertEqual(raised.exception.status, INVALID_VALUE)
            else:
                valid += 1
                self.assertEqual(f.contains_text(text), 0)
        self.assertGreater(valid, 4000)

    def test_out_of_range(self):
        for family, name, good, bad in (
            ("date", "date", [[2145042905], [-2440588]], [[2145042906], [2**31 - 2], [-2440589], [-(2**31) + 1]]),
            ("text", "text", [["a"], [""]], [["\0"], ["a\0"], ["\0a"], ["12345678\0"]]),
            *(
                (family, family, [[2**63 - 2], [-210866803200000000]], [[-210866803200000001], [-(2**63) + 1]])
                for family in ("timestamp", "timestamptz")
            ),
            ("time", "time", [[0], [86400000000]], [[-1], [86400000001]]),
            ("inet", "inet", [[bytes(4), 0], [bytes(16), 128]], [[bytes(4), 33], [bytes(4), -1], [bytes(16), 129]]),
            ("inet", "inet", [], [[bytes(5), 8], [bytes(0), 0], [bytes(17), 128]]),
        ):
            for values, status in [(v, 0) for v in good] + [(v, INVALID_VALUE) for v in bad]:
                with self.subTest(family=family, values=values):
                    f = empty(family)
                    if status == 0:
                        self.assertEqual(getattr(f, f"contains_{name}")(*values), 0)
                    else:
                        with self.assertRaises(Refused) as raised:
                            getattr(f, f"contains_{name}")(*values)
                        self.assertEqual(raised.exception.status, status)


def fields(months=0, days=0, microseconds=0):
    return ((months * 30 + days) * 86400000000 + microseconds).to_bytes(16, "little", signed=True)


def days(year, month, day):
    return struct.pack("<i", date(year, month, day).toordinal() - date(2000, 1, 1).toordinal())


INT64 = struct.Struct("<q").pack

# by family: literals and their canonical bytes
LITERALS = {
    "integer": {"+7": INT64(7), "007": INT64(7), "-0": INT64(0), "-9223372036854775808": INT64(-(2**63))},
    "text": {"": b"", "tomorrow": b"tomorrow", " 1": b" 1"},
    "bytea": {"\\x": b"", "\\x00fF": b"\0\xff"},
    "uuid": {
        "00112233-4455-6677-8899-aabbccddeeff": bytes(i * 17 for i in range(16)),
        "00112233445566778899AABBCCDDEEFF": bytes(i * 17 for i in range(16)),
        "0011-2233-4455-6677-8899-aabb-ccdd-eeff": bytes(i * 17 for i in range(16)),
    },
    "boolean": {"t": b"\1", "true": b"\1", "TRUE": b"\1", "f": b"\0", "false": b"\0"},
    "date": {
        "1600-02-29": days(1600, 2, 29),
        "2023-12-31": days(2023, 12, 31),
        "0001-01-01 BC": struct.pack("<i", -730485),
        "4714-11-24 BC": struct.pack("<i", -2451545),
        "5874897-12-31": struct.pack("<i", 2145031948),
        "infinity": struct.pack("<i", 2**31 - 1),
    },
}

# by family: what is no literal, or one that only PostgreSQL knows
NO_LITERALS = {
    "integer": ["", "-", "1.0", " 1", "1 ", "1e3", "0x1", "9223372036854775808", "-9223372036854775809",
        "99999999999999999999", "--1", "+-1", "1\0"],
    "text": [b"\xff", "\0", "a\0"],
    "bytea": ["", "x00", "\\x0", "\\x0g", "\\x 00", "abc", "\\X00"],
    "uuid": ["", "0011223344556677-8899-aabb-ccdd-eeff0", "00112233-4455-6677-8899-aabbccddeef",
        "0-0112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}",
        "00112233--4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff-", "g" * 32],
    "boolean": ["", "1", "yes", "tr", "truee", "t "],
    "date": ["", "2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-01", "2023-01-00", "0000-01-01",
        "23-01-01", "2023-1-1", "2023-01-01 00:00:00", "01/02/2023", "today", "9999999-01-01", "infinity BC",
        "2023-01-01 BC BC", "2023-01-01BC", "2023-01-01x", "5881580-07-11", "5877642-06-23 BC"],
}


class Literals(unittest.TestCase):
    def test_bytes(self):
        for family, cases in LITERALS.items():
            for text, data in cases.items():
                with self.subTest(family=family, literal=text[:100]):
                    for seed in (0, 2**63 + 1):
                        expected = empty("bytea", seed).hash_bytea(data)
                        self.assertEqual(empty(family, seed).hash_literal(text), expected)

    def test_refused(self):
        self.assertEqual({*NO_LITERALS}, {*WRITTEN})
        self.assertEqual({*LITERALS}, {*WRITTEN})
        for family, cases in NO_LITERALS.items():
            for text in cases:
                with self.subTest(family=family, literal=text[:100]):
                    f = empty(family)
                    with self.assertRaises(Refused) as raised:
                        f.contains_literal(text)
                    self.assertEqual(raised.exception.status, INVALID_VALUE)

    def test_prefixes(self):
        """A literal ends where its length says, whatever bytes follow."""
        for family, cases in LITERALS.items():
            f = empty(family)
            for text in cases:
                for length in range(min(len(text), 60)):
                    h = c_uint64()
                    status = functions["hash_literal"](f.pointer, text.encode(), length, byref(h))
                    with self.subTest(family=family, literal=text[:length]):
                        if status == 0:
                            self.assertEqual(f.hash_literal(text[:length]), h.value)
                        else:
                            with self.assertRaises(Refused):
                                f.hash_literal(text[:length])

    def test_typed(self):
        """The calls with numbers give the same hashes as literals."""
        seed = 7
        for family, cases in LITERALS.items():
            for text, data in cases.items():
                f = empty(family, seed)
                expected = f.hash_literal(text)
                with self.subTest(family=family, literal=text[:100]):
                    if family == "uuid":
                        self.assertEqual(f.hash_uuid(data), expected)
                    elif family == "integer":
                        self.assertEqual(f.hash_int64(struct.unpack("<q", data)[0]), expected)
                    elif family == "date":
                        value = struct.unpack("<i", data)[0]
                        self.assertEqual(f.hash_date(value if abs(value) >= 2**31 - 1 else value + 10957), expected)

    def test_interval(self):
        rng = random.Random(2)
        f, bytea = empty("interval", 3), empty("bytea", 3)
        for _ in range(2000):
            numbers = [rng.choice((rng.getrandbits(bits) - 2 ** (bits - 1), rng.randint(-40, 40), 2 ** (bits - 1) - 1,
                -(2 ** (bits - 1)))) for bits in (32, 32, 64)]
            self.assertEqual(f.hash_interval(*numbers), bytea.hash_bytea(fields(*numbers)), numbers)

def signed(h):
    """As cf_hash() returns it."""
    return str(h - 2**64 if h >= 2**63 else h)


class Probe(unittest.TestCase):
    """cuckoo-probe"""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.images = {case["name"]: case for case in vectors("images")["images"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def file(self, content):
        file = Path(self.folder.name) / "filter"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(file)

    def run_probe(self, *arguments, stdin=b""):
        done = subprocess.run([BUILD / "cuckoo-probe", *arguments], input=stdin, capture_output=True)
        return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")

    def test_images(self):
        """Each image in each form, with -v and without. How elements are given takes turns, as processes cost time."""
        for turn, (name, case) in enumerate(self.images.items()):
            values = [literal(case, value) for value in case["probes"]]
            options = ["--"]
            if case["family"] not in (*WRITTEN, "none"):
                options = ["--hash", "--"]
                values = [signed(hash_of(Filter(case["image"], "open_text"), value)) for value in values]
            lines = "".join(f"{value}\n" for value in values)
            for content in (case["image"], case["image"] + "\n", base64.b64decode(case["image"])):
                turn += 1
                for invert in (False, True):
                    expected = [value for value, n in zip(values, case["counts"]) if (n == "0") == invert]
                    result = (0 if expected else 1, "".join(f"{value}\n" for value in expected), "")
                    option = ["-v", *options] if invert else options
                    with self.subTest(image=name, invert=invert):
                        file = self.file(content)
                        arguments, stdin = [
                            ([*option, file], lines.encode()),
                            ([*option[:-1], file, "--", *values], b""),
                            ([*option, "-", *values], Path(file).read_bytes()),
                        ][(turn + invert) % 3]
                        self.assertEqual(self.run_probe(*arguments, stdin=stdin), result)

    def test_refused(self):
        for case in vectors("refused")["images"]:
            image = base64.b64decode(case["image"])
            # bytes without the magic are taken for text
            reason = case["reason"] if image[:2] == b"CF" else "not valid base64"
            for content, expected in ((case["image"], case["reason"]), (image, reason)):
                with self.subTest(image=case["name"], content=content):
                    file = self.file(content)
                    expected = expected if content else "shorter than a header"
                    self.assertEqual(self.run_probe(file, "1"), (2, "", f"cuckoo-probe: {file}: {expected}\n"))

    def test_errors(self):
        file = self.file(self.images["first example of FORMAT.md"]["image"])
        for arguments, code, output, error in (
            ([file, "1", "x", "57"], 2, "1\n", "cuckoo-probe: x: not a value of this type\n"),
            ([file, "x", "1"], 2, "1\n", "cuckoo-probe: x: not a value of this type\n"),
            ([file + ".none", "1"], 2, "", "No such file"),
            ([self.folder.name, "1"], 2, "", "directory"),
            ([], 2, "", "usage"),
            (["-x", file, "1"], 2, "", "usage"),
            (["--info"], 2, "", "usage"),
            (["--info", file, "1"], 2, "", "usage"),
            (["--help"], 0, "usage", ""),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_probe(*arguments)
                self.assertEqual(result[0], code)
                self.assertIn(output, result[1])
                self.assertIn(error, result[2])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BUILD / "cuckoo-probe", file, "1"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)

    def test_lines(self):
        """A line ends with LF or CR LF, which the last one need not have."""
        case = self.images["text"]
        file = self.file(case["image"])
        member = case["probes"][case["counts"].index("1")]
        for end in ("\n", "\r\n"):
            lines = f"{member}{end}{end} {member}{end}{member}".encode()
            self.assertEqual(self.run_probe(file, stdin=lines), (0, f"{member}\n{member}\n", ""))
        self.assertEqual(self.run_probe(file, stdin=b""), (1, "", ""))
        self.assertEqual(self.run_probe(file, stdin=b"\xff\n")[0], 2)

    def test_hash(self):
        case = self.images["int4"]
        f = Filter(case["image"], "open_text")
        hashes = [f.hash_literal(value) for value in case["probes"]]
        written = [signed(h) for h in hashes]
        expected = "".join(f"{h}\n" for h, n in zip(written, case["counts"]) if n != "0")
        self.assertEqual(self.run_probe("--hash", self.file(case["image"]), *written), (0, expected, ""))
        for bad in ("", "x", "1x", "9223372036854775808", "1.5"):
            self.assertEqual(self.run_probe("--hash", self.file(case["image"]), bad)[0], 2)

    def test_other_families(self):
        """Elements that have no literal are one error, not one for each element."""
        case = self.images["inet"]
        error = "cuckoo-probe: inet: elements of this family are given by --hash\n"
        for arguments, lines in ((["10.0.0.1", "10.0.0.2"], b""), ([], b"10.0.0.1\n10.0.0.2\n")):
            self.assertEqual(self.run_probe(self.file(case["image"]), *arguments, stdin=lines), (2, "", error))

    def test_operands(self):
        """All arguments after FILE are elements, except a first --."""
        case = self.images["first example of FORMAT.md"]
        file = self.file(case["image"])
        for arguments, output in (
            ([file, "--", "1"], "1\n"),
            (["--", file, "1"], "1\n"),
            (["-v", file, "--", "-1"], "-1\n"),
            (["-v", file, "-1"], "-1\n"),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_probe(*arguments), (0, output, ""))
        file = self.file(self.images["text"]["image"])
        for arguments in ([file, "--", "--"], ["--", file, "--"], [file, "-v"]):
            with self.subTest(arguments=arguments):
                output = arguments[-1] + "\n"
                self.assertEqual(self.run_probe(*arguments), (1, "", ""))
                self.assertEqual(self.run_probe("-v", *arguments), (0, output, ""))

    def test_info(self):
        case = self.images["text, secret seed"]
        code, output, _ = self.run_probe("--info", self.file(case["image"]))
        info = dict(line.split() for line in output.splitlines())
        self.assertEqual(code, 0)
        self.assertEqual((info["family"], info["items"]), (case["family"], str(case["items"])))
        self.assertEqual(int(info["seed"]) % 2**64, int(case["seed"], 16))


if __name__ == "__main__":
    unittest.main()
