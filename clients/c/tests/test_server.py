"""Against a live server with the extension, which PGHOST and the like name."""

import random
import struct
import unittest

import psycopg

from library import FAMILIES, Filter, Refused, empty

# by type: the value of a number i, which is random, or one of those that are special
TYPES = {
    "smallint": ("(i % 32768)::smallint", "-32768, 32767"),
    "integer": ("(i % 2147483648)::integer", "-2147483648, 2147483647"),
    "bigint": ("i", "-9223372036854775808, 9223372036854775807"),
    "text": ("i || ' €'", "'', ' ', 'é'"),
    "bytea": ("int8send(i)", "'', '\\x00'"),
    "uuid": ("md5(i::text)::uuid", "'00000000-0000-0000-0000-000000000000'"),
    "boolean": ("i % 2 = 0", "true"),
    "date": ("date '2000-01-01' + (i % 1000000)::integer", "'4713-01-01 BC', '5874897-12-31', 'infinity', '-infinity'"),
    "timestamp": (
        "timestamp '2000-01-01' + (i % 100000000000000000) * interval '1 microsecond'",
        "'4713-01-01 BC', '294246-12-31 23:59:59.999999', 'infinity', '-infinity'",
    ),
    "timestamptz": (
        "timestamptz '2000-01-01+00' + (i % 100000000000000000) * interval '1 microsecond'",
        "'4713-01-02 BC', '294246-12-31 23:59:59.999999', 'infinity', '-infinity'",
    ),
    "float8": ("i / 7e9", "0, -0.0, 'NaN', 'Infinity', '-Infinity', 5e-324, 1.7976931348623157e308"),
    "inet": (
        "set_masklen('0.0.0.0'::inet + (i & 4294967295), (i & 31)::integer)",
        "'::', '::ffff:1.2.3.4/100', '2001:db8::1', 'ff00:0:1::/64', '1:2:3:4:5:6:7:8'",
    ),
    "macaddr": ("right(md5(i::text), 12)::macaddr", "'00:00:00:00:00:00'"),
    "macaddr8": ("right(md5(i::text), 16)::macaddr8", "'08:00:2b:01:02:03'"),
    "numeric": (
        "trunc(i * (10.0 ^ (i % 50)), (i & 15)::integer)",
        "0, 0.00, 1e-1000, 1e131071, -1.50, 'NaN', 1200, repeat('9', 2000)::numeric",
    ),
    "time": ("time '00:00' + (i & 8796093022207) * interval '1 microsecond'", "'24:00:00', '23:59:59.999999'"),
    "interval": (
        "make_interval(0, (i & 65535)::integer - 30000, 0, (i & 4095)::integer - 2000) + (i >> 8) * interval '1 us'",
        "'0', '1 mon', '30 days', '-1 mons +1 day -00:00:00.000001', '178000000 years'",
    ),
}


def moment(microseconds):
    return microseconds + (946684800000000 if abs(microseconds) < 2**63 - 1 else 0)


# by family without literals: its binary format, and the arguments of the library's function
BINARY = {
    "timestamp": ("timestamp_send", lambda data: map(moment, struct.unpack(">q", data))),
    "timestamptz": ("timestamptz_send", lambda data: map(moment, struct.unpack(">q", data))),
    "float": ("float8send", lambda data: struct.unpack(">d", data)),
    "inet": ("inet_send", lambda data: (data[4:], data[1])),
    "macaddr": ("macaddr_send", lambda data: (data,)),
    "macaddr8": ("macaddr8_send", lambda data: (data,)),
    "time": ("time_send", lambda data: struct.unpack(">q", data)),
    "interval": ("interval_send", lambda data: struct.unpack(">qii", data)[::-1]),
}
FUNCTION = {"float": "float64"}
FAMILY_OF = {"smallint": "integer", "bigint": "integer", "float8": "float"}
# what is printed in the time zone of the session
ZONES = ("UTC", "Asia/Kolkata", "Europe/Amsterdam", "America/St_Johns")


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.connection = psycopg.connect(autocommit=True)

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()

    def fetch(self, query):
        return self.connection.execute(query, binary=True).fetchall()

    def test_elements(self):
        """The server's values, as text and in binary, have its hashes, and are found where it finds them."""
        for number, (type_, (value, special)) in enumerate(TYPES.items()):
            family = FAMILY_OF.get(type_, type_)
            with self.subTest(type=type_):
                empty(family)
                rng = random.Random()
                numbers = ",".join(str(rng.getrandbits(rng.randint(2, 62)) * rng.choice((1, -1))) for _ in range(4000))
                self.connection.execute(f"SET TimeZone = '{ZONES[number % len(ZONES)]}'")
                self.connection.execute(
                    f"CREATE TEMP TABLE v_{number} AS"
                    f" SELECT row_number() OVER () AS n, v FROM"
                    f" (SELECT ({value})::{type_} FROM unnest('{{{numbers}}}'::bigint[]) i"
                    f" UNION ALL SELECT unnest(ARRAY[{special}]::{type_}[])) t (v)"
                )
                seed = random.getrandbits(64) - 2**63
                ((image,),) = self.fetch(
                    f"SELECT cf_agg(v, 5000, 0.01, {seed})::bytea FROM v_{number} WHERE n % 2 = 0 OR n > 4000"
                )
                f = Filter(image)
                self.assertEqual((FAMILIES[f.family()], f.seed()), (family, seed))
                send = f"{BINARY[family][0]}(v)" if family in BINARY else "NULL"
                rows = self.fetch(
                    f"SELECT v::text, {send}, cf_hash(v, {seed}), cf_contains(f, v), n % 2 = 0 OR n > 4000"
                    f" FROM v_{number}, (SELECT '\\x{image.hex()}'::bytea::cuckoofilter AS f OFFSET 0) t"
                )
                for text, data, h, found, member in rows:
                    self.assertEqual(f.contains_hash(h % 2**64), found, text)
                    if family in BINARY:
                        name, arguments = FUNCTION.get(family, family), BINARY[family][1](data)
                        self.assertEqual(getattr(f, f"hash_{name}")(*arguments), h % 2**64, text)
                    elif family != "numeric":
                        self.assertEqual(f.hash_literal(text), h % 2**64, text)
                    self.assertLessEqual(member, found)

    def test_other(self):
        """Filters of the family other are asked by hash."""
        ((image,),) = self.fetch("SELECT cf_agg(i::oid, 100, 0.01, 5)::bytea FROM generate_series(1, 50) i")
        f = Filter(image)
        for i, h in self.fetch("SELECT i, cf_hash(i::oid, 5) FROM generate_series(1, 50) i"):
            self.assertEqual(f.contains_hash(h % 2**64), 1)
            with self.assertRaises(Refused):
                f.contains_literal(str(i))


if __name__ == "__main__":
    unittest.main()
