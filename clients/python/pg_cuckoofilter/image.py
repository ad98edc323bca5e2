"""The bytes of a filter, taken apart and checked.  The names are those of FORMAT.md."""

from __future__ import annotations

import base64
import re
import struct
from array import array
from itertools import combinations_with_replacement

from xxhash import xxh3_64_intdigest

from .elements import FAMILIES, Family

HEADER = struct.Struct("<2s6BIHHQQ")
CHECKSUM = 8  # bytes, after the buckets
LARGEST = 512 << 20
QUADS = list(combinations_with_replacement(range(16), 4))
MASK = 2**64 - 1
WINDOWS = 1  # the only flag


def splitmix64(z: int) -> int:
    """The finaliser: H of a fixed byte."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


FIXED = [1, *range(1, 256)]  # by the low 8 bits of the hash
MIXED = [splitmix64(fixed) for fixed in FIXED]


def signed(word: int) -> int:
    """As PostgreSQL's bigint."""
    return word - 2**64 if word >> 63 else word


class InvalidImage(ValueError):
    """These are not the complete, unaltered bytes of a filter."""


def check(valid: bool, reason: str) -> None:
    if not valid:
        raise InvalidImage(f"invalid cuckoofilter image: {reason}")


def decode_text(text: str) -> bytes:
    """The image of PostgreSQL's text form."""
    text = re.sub("[ \t\r\n]", "", text)
    try:
        image = base64.b64decode(text, validate=True)
        if base64.b64encode(image).decode() == text:
            return image
    except ValueError:
        pass
    raise InvalidImage("invalid cuckoofilter text: not valid base64, perhaps an element in place of a filter")


def unpack(buckets: bytes, f: int) -> array[int]:
    """The four slots of each bucket, each bucket checked."""
    slots = array("I")
    bits, lane, lanes = 4 * f - 4, f - 4, (1 << f - 4) - 1
    for at in range(0, len(buckets), f - 1):  # two buckets are whole bytes
        pair = int.from_bytes(buckets[at : at + f - 1], "little")
        for bucket in (pair & (1 << bits) - 1, pair >> bits):
            code = bucket & 0xFFF
            check(code < len(QUADS), "bucket code out of range")
            before = 0
            for i, nibble in enumerate(QUADS[code]):
                fingerprint = (bucket >> 12 + i * lane & lanes) << 4 | nibble
                check(fingerprint & 0xFF != 0 or fingerprint == 0, "fingerprint with a fixed byte of zero")
                check(
                    nibble != before & 0xF or fingerprint >= before,
                    "fingerprints of a bucket out of order",
                )
                slots.append(fingerprint)
                before = fingerprint
    return slots


class Header:
    """What the header of an image says."""

    def __init__(self, image: bytes) -> None:
        check(len(image) >= HEADER.size, "shorter than a header")
        magic, version, family, f0, ft, g, flags, m0, tag, reserved, items, seed = HEADER.unpack_from(image)
        check(magic == b"CF", 'first two bytes are not "CF"')
        check(version == 1, "unknown format version")
        check(family < len(FAMILIES), "unknown element family")
        check(8 <= ft <= f0 <= 32 and g <= f0 - 8, "fingerprint bits or growth level out of range")
        check(
            flags == 0 or (flags == WINDOWS and (m0 % 128 == 0 or 128 <= m0 < 256)),
            "unknown or wrong flags",
        )
        check(m0 > 0 and m0 % 2 == 0, "number of base buckets is zero or odd")
        check(tag == 0 or FAMILIES[family].name == "other", "type tag in a family that has none")
        check(reserved == 0, "reserved bytes are not zero")
        f = f0 - g
        size = HEADER.size + (m0 << g) * (f - 1) // 2 + CHECKSUM
        check(len(image) == size <= LARGEST, "length does not agree with the header")
        checksum = xxh3_64_intdigest(memoryview(image)[:-CHECKSUM])
        check(image.endswith(checksum.to_bytes(CHECKSUM, "little")), "checksum does not match")
        check(items == 0 or family > 0, "unknown element family")

        self._family: Family = FAMILIES[family]
        self.items: int = items
        self.seed: int = signed(seed)
        self._seed: int = seed
        self.m0: int = m0
        self.f0: int = f0
        self.g: int = g
        self.windows = flags == WINDOWS

    @property
    def family(self) -> str:
        """The family of the elements, "none" if it is not known yet."""
        return self._family.name


def hash_one(header: Header, value: object) -> int:
    """The hash of an element, without a sign."""
    return xxh3_64_intdigest(header._family.canonical(value), header._seed)


def buckets(image: bytes) -> bytes:
    return image[HEADER.size : -CHECKSUM]
