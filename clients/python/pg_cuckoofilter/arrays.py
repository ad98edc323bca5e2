"""The same with numpy: many buckets, or many elements, at once."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xxhash import xxh3_64_intdigest

from .elements import DAY, EPOCH_DAY, FIRST_DAY, LAST_DAY, ElementError
from .image import FIXED, MIXED, QUADS, Header, check

Words = NDArray[np.uint64]
CHUNK = 1 << 14  # so much at a time stays in the cache
# these are hashed as arrays are
SCALARS = np.bool_, np.datetime64, np.timedelta64, np.void


def unpack(buckets: bytes, f: int) -> array[int]:
    """See unpack() in image.py."""
    quads = np.array(QUADS)
    slots = array("I")
    pairs = np.frombuffer(buckets, np.uint8).reshape(-1, f - 1)
    for at in range(0, len(pairs), CHUNK):
        bits = np.unpackbits(pairs[at : at + CHUNK], axis=1, bitorder="little").reshape(-1, 4 * f - 4)
        codes = bits[:, :12] @ (1 << np.arange(12))
        check(bool((codes < len(quads)).all()), "bucket code out of range")
        nibbles = quads[codes]
        lanes = bits[:, 12:].reshape(-1, 4, f - 4) @ (1 << np.arange(f - 4))
        found = lanes << 4 | nibbles
        check(bool(((found & 0xFF != 0) | (found == 0)).all()), "fingerprint with a fixed byte of zero")
        ordered = (nibbles[:, 1:] != nibbles[:, :-1]) | (lanes[:, 1:] >= lanes[:, :-1])
        check(bool(ordered.all()), "fingerprints of a bucket out of order")
        slots.frombytes(found.astype(np.uintc).tobytes())
    return slots


def rotated(x: Words, by: int) -> Words:
    return x << np.uint64(by) | x >> np.uint64(64 - by)


def xxh3_of_8_bytes(words: Words, seed: int) -> Words:
    """XXH3_64bits_withSeed() of each word: the case of 4 to 8 bytes."""
    seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
    flip = ((0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE) - seed) % 2**64
    x = rotated(words, 32) ^ np.uint64(flip)
    x = x ^ rotated(x, 49) ^ rotated(x, 24)
    x = x * np.uint64(0x9FB21C651E98DF25)
    x = x ^ (x >> np.uint64(35)) + np.uint64(8)
    x = x * np.uint64(0x9FB21C651E98DF25)
    return x ^ x >> np.uint64(28)


def in_unit(f: Header, values: NDArray[Any], unit: str, least: int, most: int) -> NDArray[np.int64]:
    """Datetimes or timedeltas in another unit, none of which may change.  NaT is not equal to itself."""
    try:
        converted = values.astype(unit)
        numbers: NDArray[np.int64] = converted.astype(np.int64)
        wrong = (converted.astype(values.dtype) != values) | (numbers < least) | (numbers > most)
    except OverflowError:  # a day has too many femtoseconds
        raise f._family.refusal(values[0]) from None
    if wrong.any():
        raise f._family.refusal(values[wrong][0])
    return numbers


def hashes_of_times(f: Header, values: NDArray[Any]) -> Words:
    """Those of datetime64 and timedelta64, in any unit in which they are exact."""
    kind, (unit, _) = values.dtype.kind, np.datetime_data(values.dtype)
    if f.family == "timestamp" and kind == "M":
        numbers = in_unit(f, values, "M8[us]", (FIRST_DAY + EPOCH_DAY) * DAY, 2**63 - 1) - EPOCH_DAY * DAY
        return xxh3_of_8_bytes(numbers.view(np.uint64), f._seed)
    if f.family == "date" and kind == "M":
        numbers = in_unit(f, values, "M8[D]", FIRST_DAY + EPOCH_DAY, LAST_DAY + EPOCH_DAY) - EPOCH_DAY
        data, size = numbers.astype("<i4").tobytes(), 4
    elif f.family == "interval" and kind == "m" and unit not in ("Y", "M", "generic"):
        numbers = in_unit(f, values, "m8[us]", -(2**63), 2**63 - 1)
        data, size = np.stack([numbers, numbers >> 63], axis=1).astype("<i8").tobytes(), 16
    else:
        raise f._family.refusal(values[0])
    rows = (data[i : i + size] for i in range(0, len(data), size))
    return np.fromiter((xxh3_64_intdigest(row, f._seed) for row in rows), np.uint64, len(values))


def hashes(f: Header, values: NDArray[Any]) -> Words:
    """The hash of each value; those of integers and floats take no loop."""
    if f.family == "integer" and values.dtype.kind == "i":
        return xxh3_of_8_bytes(values.astype(np.int64).view(np.uint64), f._seed)
    if f.family == "float" and values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        floats = values.astype(np.float64) + 0.0  # not -0.0
        floats[np.isnan(floats)] = np.nan
        return xxh3_of_8_bytes(floats.view(np.uint64), f._seed)
    if f.family != "none" and values.dtype.kind in "Mm":  # tolist() would make numbers of some
        return hashes_of_times(f, values)
    return np.fromiter((hash_one(f, value) for value in values.tolist()), np.uint64, len(values))


def hash_one(f: Header, value: Any) -> int:
    """Like hash_one() of image.py.  For SCALARS an array has the rules."""
    try:
        return xxh3_64_intdigest(f._family.canonical(value), f._seed)
    except ElementError:
        if not isinstance(value, SCALARS):
            raise
    return int(hashes(f, np.array([value]))[0])


def is_masked(values: Any, depth: int) -> bool:
    """Has an array, or one in a list of arrays, a masked element?"""
    if isinstance(values, np.ma.MaskedArray):
        return bool(values.mask.any())
    return depth > 1 and isinstance(values, (list, tuple)) and any(is_masked(part, depth - 1) for part in values)


def has_missing(values: Any) -> bool:
    """Has an array of pandas a missing element, which would become NaN?"""
    return hasattr(getattr(values, "dtype", None), "na_value") and bool(values.isna().any())


def contains(f: Header, slots: array[int], values: ArrayLike) -> NDArray[np.bool_]:
    """Is each value in the filter?"""
    # as it is: a list of numbers would become floats, bytes would lose zeros
    if hasattr(values, "__array__"):
        shaped = np.asarray(values, object if has_missing(values) else None)
    else:
        shaped = np.array(values, object)
    if is_masked(values, shaped.ndim):
        raise ElementError("a masked element has no value: use compressed() or filled()")
    if shaped.dtype.kind == "S":
        raise ElementError("an array of fixed-length bytes has lost trailing zeros: use dtype=object")
    flat = shaped.ravel()
    found = np.zeros(len(flat), np.bool_)
    buckets = np.frombuffer(slots, np.uintc).reshape(-1, 4)
    for at in range(0, len(flat), CHUNK):
        found[at : at + CHUNK] = contains_hashes(f, buckets, hashes(f, flat[at : at + CHUNK]))
    return found.reshape(shaped.shape)


def contains_hashes(f: Header, buckets: NDArray[np.uintc], h: Words) -> NDArray[np.bool_]:
    """See CuckooFilter._place() for what happens here."""
    low = (h & np.uint64(0xFFFFFFFF)).astype(np.int64)
    high = (h >> np.uint64(32)).astype(np.int64)
    fixed = np.array(FIXED)[low & 0xFF]
    mixed = np.array(MIXED, np.uint64)[low & 0xFF]
    ext = (low & (1 << f.f0) - 1) >> 8
    near = f.windows & (fixed % 4 != 0)

    # m0 is less than 2^28, because of the limit of 512 MiB
    j1 = high * f.m0 + (low * f.m0 >> 32) >> 32
    j2 = (2 * ((mixed & np.uint64(0xFFFFFFFF)).astype(np.int64) * (f.m0 // 2) >> 32) + 1 - j1) % f.m0
    if f.m0 >= 256:
        j2 = np.where(near, j1 ^ 1 + (mixed % np.uint64(127)).astype(np.int64), j2)

    segments = (1 << f.g) - 1
    segment = ext & segments
    far = segment ^ (mixed >> np.uint64(32)).astype(np.int64) & segments
    other = np.where(near, segment, far)
    first = np.where(j1 < j2, segment, other) * f.m0 + j1
    second = np.where(j1 < j2, other, segment) * f.m0 + j2

    fingerprint = (fixed | ext >> f.g << 8)[:, np.newaxis]
    found: NDArray[np.bool_] = ((buckets[first] == fingerprint) | (buckets[second] == fingerprint)).any(1)
    return found
