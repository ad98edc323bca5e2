"""The library by ctypes, for the tests.  BUILD is the folder in which it was built."""

import ctypes
import functools
import json
import os
import struct
import unittest
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", Path(__file__).parents[1] / "build"))
VECTORS = Path(os.environ.get("VECTORS", Path(__file__).parents[3] / "test/vectors"))

FAMILIES = (
    "none integer text bytea uuid boolean date timestamp timestamptz float other "
    "inet macaddr macaddr8 numeric time interval"
).split()
OTHER_FAMILY = -3
INVALID_VALUE = -4

# the functions of cuckoofilter.h that take elements: their arguments
ELEMENTS = {
    "int64": [c_int64],
    "text": [c_char_p, c_size_t],
    "bytea": [c_char_p, c_size_t],
    "uuid": [c_char_p],
    "boolean": [c_int],
    "date": [c_int32],
    "timestamp": [c_int64],
    "timestamptz": [c_int64],
    "float64": [c_double],
    "inet": [c_char_p, c_size_t, c_int],
    "macaddr": [c_char_p],
    "macaddr8": [c_char_p],
    "time": [c_int64],
    "interval": [c_int32, c_int32, c_int64],
    "literal": [c_char_p, c_size_t],
}
# the family of the elements, where it has another name
FAMILY_OF = {"int64": "integer", "float64": "float"}
OTHERS = {
    "open": (c_int, [c_char_p, c_size_t, POINTER(c_void_p)]),
    "open_borrowed": (c_int, [c_char_p, c_size_t, POINTER(c_void_p)]),
    "open_text": (c_int, [c_char_p, c_size_t, POINTER(c_void_p)]),
    "close": (None, [c_void_p]),
    "status_text": (c_char_p, [c_int]),
    "family": (c_int, [c_void_p]),
    "family_name": (c_char_p, [c_int]),
    "items": (c_uint64, [c_void_p]),
    "capacity": (c_uint64, [c_void_p]),
    "fpp": (c_double, [c_void_p]),
    "seed": (c_int64, [c_void_p]),
    "size": (c_size_t, [c_void_p]),
    "contains_hash": (c_int, [c_void_p, c_uint64]),
    "count_hash": (c_int, [c_void_p, c_uint64]),
    "contains_hashes": (None, [c_void_p, POINTER(c_uint64), c_size_t, POINTER(c_bool)]),
}

functions = {}
library = ctypes.CDLL(str(BUILD / "libcuckoofilter.so"))
for name, (result, arguments) in OTHERS.items():
    functions[name] = getattr(library, f"cuckoofilter_{name}")
    functions[name].restype, functions[name].argtypes = result, arguments
for name, arguments in ELEMENTS.items():
    for kind, more in (("contains", []), ("hash", [POINTER(c_uint64)])):
        functions[f"{kind}_{name}"] = function = getattr(library, f"cuckoofilter_{kind}_{name}")
        function.restype, function.argtypes = c_int, [c_void_p, *arguments, *more]


class Refused(Exception):
    """A negative status, and its text."""

    def __init__(self, status):
        super().__init__(functions["status_text"](status).decode())
        self.status = status


class Filter:
    def __init__(self, content, how="open"):
        content = content.encode() if isinstance(content, str) else bytes(content)
        self.content = content  # kept, as it may be borrowed
        self.pointer = c_void_p(1)
        status = functions[how](content, len(content), byref(self.pointer))
        if status != 0:
            assert self.pointer.value is None
            raise Refused(status)

    def __del__(self):
        functions["close"](self.pointer)

    def __getattr__(self, name):
        """cuckoofilter_NAME() of this filter; where bytes are wanted with their length, it is added."""

        def call(*values):
            kind, _, element = name.partition("_")
            values = [value.encode() if isinstance(value, str) else value for value in values]
            if element in ELEMENTS and ELEMENTS[element][:2] == [c_char_p, c_size_t]:
                values.insert(1, len(values[0]))
            if kind == "hash":
                h = c_uint64()
                status = functions[name](self.pointer, *values, byref(h))
                if status != 0:
                    raise Refused(status)
                return h.value
            answer = functions[name](self.pointer, *values)
            if kind == "contains" and answer < 0:
                raise Refused(answer)
            return answer

        return call

    def contains_hashes(self, hashes):
        found = (c_bool * len(hashes))()
        functions["contains_hashes"](self.pointer, (c_uint64 * len(hashes))(*hashes), len(hashes), found)
        return list(found)


@functools.cache
def hasher():
    """A filter of no family, which hashes values of all families, and has the seed 0."""
    images = json.loads((VECTORS / "images.json").read_text(encoding="utf-8"))["images"]
    return Filter(next(image["image"] for image in images if image["family"] == "none"), "open_text")


def empty(family, seed=0):
    """A filter of the family without elements."""
    header = struct.pack("<2s6BIHHQQ", b"CF", 1, FAMILIES.index(family), 9, 8, 0, 0, 2, 0, 0, 0, seed)
    checksum = hasher().hash_bytea(header + bytes(8))
    try:
        return Filter(header + bytes(8) + struct.pack("<Q", checksum))
    except Refused as refused:
        if str(refused) == "unknown element family":
            raise unittest.SkipTest(f"the core does not know the family {family}") from None
        raise
