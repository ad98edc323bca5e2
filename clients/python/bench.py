"""Probes a second of processor time, which other processes hardly change.

bench.py [ITEMS].  Needs a server that PGHOST and the like name.
"""

import sys
import time

import numpy as np
import psycopg
from pg_cuckoofilter import CuckooFilter

items = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000


def measure(what, count, function):
    best = min(timed(function) for _ in range(3))
    print(f"{what:45s} {count / best:14,.0f} a second")


def timed(function):
    start = time.process_time()
    function()
    return time.process_time() - start


with psycopg.connect() as connection:
    for expression, value in (("i", int), ("'https://example.com/' || i", lambda i: f"https://example.com/{i}")):
        query = f"SELECT cf_agg({expression}, 0.001)::bytea FROM generate_series(1, {items}) i"
        (image,) = connection.execute(query, binary=True).fetchone()
        f = CuckooFilter(image)
        print(f"{f!r}, {len(image)} bytes")
        values = [value(i) for i in range(items // 2, items // 2 + 100000)]
        array = np.arange(items // 2, items // 2 + 1000000) if value is int else np.array(values, object)
        measure("load, items", items, lambda: CuckooFilter(image))
        measure("value in f", len(values), lambda: [v in f for v in values])
        measure("f.contains_array(values)", len(array), lambda: f.contains_array(array))
