"""Against a live server with the extension, which PGHOST and the like name."""

import random
import unittest
from datetime import date, datetime, timedelta, timezone
from uuid import UUID

import psycopg
from pg_cuckoofilter import CuckooFilter, Interval
from pg_cuckoofilter.psycopg import register_cuckoofilter
from psycopg.types import TypeInfo

VALUES = {  # by type: the value of a number
    "smallint": lambda i: i - 30000,
    "bigint": lambda i: i * 2**40 - 2**62,
    "text": lambda i: f"{i} €",
    "bytea": lambda i: i.to_bytes(3, "big"),
    "uuid": lambda i: UUID(int=i * 2**100 + i),
    "date": lambda i: date(1900, 1, 1) + timedelta(i),
    "timestamp": lambda i: datetime(1970, 1, 1) + timedelta(microseconds=i * 10**9 + i),
    "timestamptz": lambda i: datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=2))) + timedelta(seconds=i),
    "float8": lambda i: i / 7,
}


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.connection = psycopg.connect(autocommit=True)
        register_cuckoofilter(TypeInfo.fetch(cls.connection, "cuckoofilter"), cls.connection)

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()

    def fetch(self, query, *parameters, binary=False):
        return self.connection.execute(query, parameters, binary=binary).fetchone()[0]

    def test_same_answers(self):
        """Members are found, and strangers are just where the server finds them."""
        for type_, value in VALUES.items():
            for capacity, fpp in ((None, 0.01), (100, 0.0001), (2000, 0.2), (1500000, 0.3)):
                with self.subTest(type=type_, capacity=capacity, fpp=fpp):
                    seed = random.randrange(-(2**63), 2**63)
                    f = self.fetch(
                        f"SELECT cf_agg(v, %s, %s, %s) FROM unnest(%s::{type_}[]) v"
                        if capacity
                        else f"SELECT cf_agg(v, %s) FROM unnest(%s::{type_}[]) v",
                        *((capacity, fpp, seed) if capacity else (fpp,)),
                        [value(i) for i in range(1000)],
                    )
                    probes = [value(i) for i in range(10000)]
                    expected = self.fetch(f"SELECT cf_contains_each(%s, %s::{type_}[])", f, probes)
                    self.assertEqual([v in f for v in probes], expected)
                    self.assertEqual(f.contains_array(probes).tolist(), expected)
                    self.assertTrue(all(expected[:1000]))

    def test_hash(self):
        f = self.fetch("SELECT cf_agg(i::oid) FROM generate_series(1, 100) i")
        for i in range(200):
            h = self.fetch("SELECT cf_hash(%s::oid, cf_info.seed) FROM cf_info(%s)", i, f)
            self.assertEqual(f.contains_hash(h), self.fetch("SELECT cf_contains(%s, %s::oid)", f, i))

    def test_seeds(self):
        """Seeds and hashes of either sign are those of the server."""
        for seed in (0, 1, -1, 2**63 - 1, -(2**63), random.getrandbits(64) - 2**63):
            f = self.fetch("SELECT cf_agg(i::bigint, 1000, 0.01, %s) FROM generate_series(1, 100) i", seed)
            self.assertEqual(f.seed, seed)
            expected = self.fetch("SELECT array_agg(cf_hash(i::bigint, %s)) FROM generate_series(1, 100) i", f.seed)
            self.assertEqual([f.hash(i) for i in range(1, 101)], expected)
            self.assertTrue(all(map(f.contains_hash, expected)))

    def test_intervals(self):
        """PostgreSQL's equality of months and days, which psycopg does not know for years."""
        self.assertEqual(self.fetch("SELECT interval '1 year'"), timedelta(365))
        f = self.fetch("SELECT cf_agg(i::interval, 0.0001) FROM unnest(ARRAY['1 year', '1 mon 2 days']) i")
        if f.family == "other":
            self.skipTest("this server has fewer families")
        for value in (Interval(months=12), timedelta(360), timedelta(32), Interval(1, 1, 24 * 3600 * 10**6)):
            self.assertIn(value, f)
        self.assertNotIn(timedelta(365), f)

    def test_both_formats(self):
        for binary in (False, True):
            for placeholder in ("%t", "%b", "%s"):
                with self.subTest(binary=binary, placeholder=placeholder):
                    f = self.fetch("SELECT cf_agg(i) FROM generate_series(1, 100) i", binary=binary)
                    self.assertIsInstance(f, CuckooFilter)
                    self.assertEqual(self.fetch(f"SELECT {placeholder}", f, binary=binary), f)
                    self.assertEqual(self.fetch(f"SELECT {placeholder}", [f, None], binary=binary), [f, None])
                    self.assertEqual(self.fetch(f"SELECT cf_count({placeholder})", f), 100)

    def test_copy(self):
        f = self.fetch("SELECT cf_agg(i) FROM generate_series(1, 100) i")
        with self.connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE copied (f cuckoofilter)")
            for options in ("", " (FORMAT binary)"):
                with cursor.copy(f"COPY copied FROM STDIN{options}") as copy:
                    if options:
                        copy.set_types(["cuckoofilter"])
                    copy.write_row([f])
            cursor.execute("SELECT f FROM copied")
            self.assertEqual(cursor.fetchall(), [(f,), (f,)])

    def test_without_type(self):
        with self.assertRaisesRegex(psycopg.ProgrammingError, "CREATE EXTENSION cuckoo"):
            register_cuckoofilter(TypeInfo.fetch(self.connection, "no_such_type"))


if __name__ == "__main__":
    unittest.main()
