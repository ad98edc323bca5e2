"""One filter, and what may be asked of it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from .elements import ElementError, whole
from .image import FIXED, MASK, MIXED, Header, InvalidImage, buckets, check, decode_text, hash_one, signed, unpack

try:
    from . import arrays
except ImportError:  # there is no numpy
    arrays = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CuckooFilter", "InvalidImage"]


def image_of(value: object) -> bytes:
    """The image of a filter, for adapters also of a CuckooFilter."""
    if isinstance(value, str):
        return decode_text(value)
    if isinstance(value, (CuckooFilter, bytes, bytearray, memoryview)):
        image = bytes(value)
        # the text of an image, as psql writes it to a file
        return decode_text(image.decode("latin-1")) if image.lstrip(b" \t\r\n").startswith(b"Q0Y") else image
    raise TypeError(f"a CuckooFilter, or its bytes or text, is expected here, not {value!r}")


def word_of(h: object) -> int:
    """A hash without its sign.  With other numbers the answer would be a wrong "no"."""
    number = whole(h)
    if number is None or not -(2**63) <= number < 2**64:
        raise ElementError(f"a hash is an int from -2**63 to 2**64 - 1, as cf_hash() returns it, not {h!r}")
    return number & MASK


def text_of(value: object) -> str:
    """PostgreSQL's text form of the same."""
    return base64.b64encode(image_of(value)).decode()


class CuckooFilter(Header):
    """A filter that is read only.

    It is made of an image, or of PostgreSQL's text form as str or bytes.  What
    is not valid raises InvalidImage.  In memory a bucket takes 16 bytes.
    """

    def __init__(self, image: bytes | bytearray | memoryview | str) -> None:
        self._image = image = image_of(image)
        super().__init__(image)
        self._slots = (arrays.unpack if arrays else unpack)(buckets(image), self.f0 - self.g)
        check(self.items == len(self._slots) - self._slots.count(0), "item count differs from the occupied slots")

    @property
    def fpp(self) -> float:
        """The probability that an absent element is a false positive."""
        return 2 * self.items / (self.m0 << self.f0)

    def _place(self, h: int) -> tuple[int, int, int]:
        """The fingerprint and the two positions of a hash."""
        m0, g = self.m0, self.g
        fixed, mixed = FIXED[h & 0xFF], MIXED[h & 0xFF]
        ext = (h & (1 << self.f0) - 1) >> 8
        near = self.windows and fixed % 4 != 0

        j1 = h * m0 >> 64
        if near and m0 >= 256:
            j2 = j1 ^ 1 + mixed % 127
        else:
            j2 = (2 * ((mixed & 0xFFFFFFFF) * (m0 // 2) >> 32) + 1 - j1) % m0

        segment = ext & (1 << g) - 1  # of the smaller base bucket
        other = segment if near else segment ^ mixed >> 32 & (1 << g) - 1
        if j1 > j2:
            segment, other = other, segment
        return fixed | ext >> g << 8, segment * m0 + j1, other * m0 + j2

    _hash = arrays.hash_one if arrays else hash_one

    def hash(self, value: object) -> int:
        """The hash of an element, as cf_hash(value, seed)."""
        return signed(self._hash(value))

    def _contains(self, word: int) -> bool:
        fingerprint, first, second = self._place(word)
        slots = self._slots
        return fingerprint in slots[4 * first : 4 * first + 4] or fingerprint in slots[4 * second : 4 * second + 4]

    def _count(self, word: int) -> int:
        fingerprint, first, second = self._place(word)
        slots = self._slots
        found = slots[4 * first : 4 * first + 4] + slots[4 * second : 4 * second + 4]
        return min(found.count(fingerprint), 2)

    def contains_hash(self, h: int) -> bool:
        """Does the filter contain the element with this cf_hash?"""
        return self._contains(word_of(h))

    def count_hash(self, h: int) -> int:
        """The copies of the element with this cf_hash, at most 2."""
        return self._count(word_of(h))

    def __contains__(self, value: object) -> bool:
        """False: certainly not in the filter.  True: in it, or a false positive."""
        return self._contains(self._hash(value))

    def count(self, value: object) -> int:
        """The copies of the value: 0, 1, or 2 for two or more."""
        return self._count(self._hash(value))

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
        return text_of(self)

    def __repr__(self) -> str:
        return f"<CuckooFilter of {self.items} items, family {self.family}, fpp {self.fpp:.2g}>"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CuckooFilter) and self._image == other._image

    def __hash__(self) -> int:
        return hash(self._image)
