"""One filter, read from its image.  The names are those of FORMAT.md."""

from __future__ import annotations

import base64
import re
import struct
from array import array
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_intdigest

from .elements import FAMILIES, Family

try:
    from . import arrays
except ImportError:  # there is no numpy
    arrays = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import ArrayLike, NDArray

HEADER = struct.Struct("<2s6BIHHQQ")
TAIL = bytes(8)
LARGEST = 512 << 20
QUADS = list(combinations_with_replacement(range(16), 4))
MASK = 2**64 - 1


def splitmix64(z: int) -> int:
    """The finaliser: H of a core."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


CORES = [1, *range(1, 256)]  # by the low 8 bits of the hash
MIXED = [splitmix64(core) for core in CORES]


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
    raise InvalidImage("invalid cuckoofilter text: not valid base64")


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
                check(fingerprint & 0xFF != 0 or fingerprint == 0, "fingerprint with a core of zero")
                check(
                    nibble != before & 0xF or fingerprint >= before,
                    "fingerprints of a bucket out of order",
                )
                slots.append(fingerprint)
                before = fingerprint
    return slots


class CuckooFilter:
    """A filter that is read only.

    It is made of an image (bytes) or of PostgreSQL's text form (str).  An image
    that is not valid raises InvalidImage.  In memory a bucket takes 16 bytes.
    """

    def __init__(self, image: bytes | bytearray | memoryview | str) -> None:
        self._image = image = decode_text(image) if isinstance(image, str) else bytes(image)

        check(len(image) >= HEADER.size, "shorter than a header")
        magic, version, family, f0, ft, g, flags, m0, tag, reserved, items, seed = HEADER.unpack_from(image)
        check(magic == b"CF", 'first two bytes are not "CF"')
        check(version == 1, "unknown format version")
        check(family < len(FAMILIES), "unknown element family")
        check(8 <= ft <= f0 <= 32 and g <= f0 - 8, "fingerprint bits or growth level out of range")
        check(flags == 0 or (flags == 1 and (m0 % 128 == 0 or 128 <= m0 < 256)), "unknown or wrong flags")
        check(m0 > 0 and m0 % 2 == 0, "number of base buckets is zero or odd")
        check(tag == 0 or FAMILIES[family].name == "other", "type tag in a family that has none")
        check(reserved == 0, "reserved bytes are not zero")
        f = f0 - g
        size = HEADER.size + (m0 << g) * (f - 1) // 2 + len(TAIL)
        check(len(image) == size <= LARGEST, "length does not agree with the header")
        check(image.endswith(TAIL), "last eight bytes are not zero")

        self._slots = (arrays.unpack if arrays else unpack)(image[HEADER.size : -len(TAIL)], f)
        check(items == len(self._slots) - self._slots.count(0), "item count differs from the occupied slots")
        check(items == 0 or family > 0, "unknown element family")

        self._family: Family = FAMILIES[family]
        self.items: int = items
        self.seed: int = seed
        self.m0: int = m0
        self.f0: int = f0
        self.g: int = g
        self.windows = flags == 1

    @property
    def family(self) -> str:
        """The family of the elements, "none" if it is not known yet."""
        return self._family.name

    @property
    def fpp(self) -> float:
        """The probability that an absent element is a false positive."""
        return 2 * self.items / (self.m0 << self.f0)

    def hash(self, value: object) -> int:
        """The hash of an element, as cf_hash(value, seed)."""
        return xxh3_64_intdigest(self._family.canonical(value), self.seed)

    def _place(self, h: int) -> tuple[int, int, int]:
        """The fingerprint and the two positions of a hash."""
        m0, g = self.m0, self.g
        core, mixed = CORES[h & 0xFF], MIXED[h & 0xFF]
        ext = (h & (1 << self.f0) - 1) >> 8
        near = self.windows and core % 4 != 0

        j1 = h * m0 >> 64
        if near and m0 >= 256:
            j2 = j1 ^ 1 + mixed % 127
        else:
            j2 = (2 * ((mixed & 0xFFFFFFFF) * (m0 // 2) >> 32) + 1 - j1) % m0

        segment = ext & (1 << g) - 1  # of the smaller base bucket
        other = segment if near else segment ^ mixed >> 32 & (1 << g) - 1
        if j1 > j2:
            segment, other = other, segment
        return core | ext >> g << 8, segment * m0 + j1, other * m0 + j2

    def contains_hash(self, h: int) -> bool:
        """Does the filter contain the element with this cf_hash?"""
        fingerprint, first, second = self._place(h & MASK)
        slots = self._slots
        return fingerprint in slots[4 * first : 4 * first + 4] or fingerprint in slots[4 * second : 4 * second + 4]

    def count_hash(self, h: int) -> int:
        """The copies of the element with this cf_hash, at most 2."""
        fingerprint, first, second = self._place(h & MASK)
        slots = self._slots
        found = slots[4 * first : 4 * first + 4] + slots[4 * second : 4 * second + 4]
        return min(found.count(fingerprint), 2)

    def __contains__(self, value: object) -> bool:
        """False: certainly not in the filter.  True: in it, or a false positive."""
        return self.contains_hash(self.hash(value))

    def count(self, value: object) -> int:
        """The copies of the value: 0, 1, or 2 for two or more."""
        return self.count_hash(self.hash(value))

    def contains_array(self, values: ArrayLike) -> NDArray[bool_]:
        """For each value, is it in the filter?  This needs numpy."""
        if arrays is None:
            raise ImportError("contains_array() needs numpy")
        return arrays.contains(self, self._slots, values)

    def __len__(self) -> int:
        return self.items

    def __bytes__(self) -> bytes:
        return self._image

    def __str__(self) -> str:
        """The text form of PostgreSQL."""
        return base64.b64encode(self._image).decode()

    def __repr__(self) -> str:
        return f"<CuckooFilter of {self.items} items, family {self.family}, fpp {self.fpp:.2g}>"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CuckooFilter) and self._image == other._image

    def __hash__(self) -> int:
        return hash(self._image)
