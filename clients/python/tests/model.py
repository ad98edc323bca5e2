"""Filters built from the text of FORMAT.md, with no code of the clients.

    model.py [SEED] > model.json

writes random filters in the form of test/vectors/images.json, for the tests of
the clients (MODEL).  Everything is done in the plainest way: an entry keeps
both of its positions, so that nothing has to be computed back.  Only keys_of()
computes back, from the bytes of any image.
"""

import base64
import collections
import itertools
import json
import random
import struct
import sys

from xxhash import xxh3_64_intdigest

CODES = {
    quad: code for code, quad in enumerate(sorted({tuple(sorted(q)) for q in itertools.product(range(16), repeat=4)}))
}


def finalized(fixed):
    z = fixed
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 % 2**64
    z ^= z >> 27
    z = z * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def place(h, m0, f0, g, windows):
    """The fingerprint and the two positions of a hash."""
    fixed = h % 256 or 1
    ext = h // 256 % 2 ** (f0 - 8)
    j1 = h * m0 // 2**64
    H = finalized(fixed)
    e = ext % 2**g
    P = H // 2**32 % 2**g
    if windows and fixed % 4 != 0 and m0 >= 256:
        j2 = j1 ^ 1 + H % 127
        P = 0
    else:
        s = 2 * (H % 2**32 * (m0 // 2) // 2**32) + 1
        j2 = (s - j1) % m0
        if windows and fixed % 4 != 0:
            P = 0
    segments = (e, e ^ P) if j1 < j2 else (e ^ P, e)
    return fixed + 256 * (ext // 2**g), segments[0] * m0 + j1, segments[1] * m0 + j2


def add(rng, buckets, entry):
    """Adds an entry, or returns False: then nothing has changed."""
    evicted = []
    for _ in range(500):
        for position in entry[1:]:
            if len(buckets[position]) < 4:
                buckets[position].append(entry)
                return True
        position = rng.choice(entry[1:])
        victim = rng.randrange(4)
        evicted.append((position, victim))
        buckets[position][victim], entry = entry, buckets[position][victim]
    for position, victim in reversed(evicted):
        buckets[position][victim], entry = entry, buckets[position][victim]
    return False


def packed(buckets, f):
    """The bits of the buckets, as one number."""
    number = 0
    for i, bucket in enumerate(buckets):
        slots = sorted([0] * (4 - len(bucket)) + [entry[0] for entry in bucket], key=lambda fp: (fp % 16, fp))
        bits = CODES[tuple(fp % 16 for fp in slots)]
        for k, fp in enumerate(slots):
            bits |= fp // 16 << 12 + k * (f - 4)
        number |= bits << i * (4 * f - 4)
    return number


def sealed(content):
    """The image: the header and the buckets, and their checksum."""
    return content + struct.pack("<Q", xxh3_64_intdigest(content))


def keys_of(data):
    """The keys in order, each at most twice, of a valid image."""
    f0, g, flags, m0 = struct.unpack_from("<BxBBI", data, 4)
    f = f0 - g
    quads = sorted(CODES, key=CODES.get)
    number = int.from_bytes(data[32:-8], "little")
    keys = []
    for position in range(m0 << g):
        bits = number >> position * (4 * f - 4)
        quad = quads[bits % 4096]
        s, b = divmod(position, m0)
        for k in range(4):
            fp = (bits >> 12 + k * (f - 4)) % 2 ** (f - 4) << 4 | quad[k]
            if fp == 0:
                continue
            # computed with b in place of j1: of this hash b is the first base bucket
            h = -(-b * 2**64 // m0) // 256 * 256 + 256 + fp % 256
            _, j1, other = place(h, m0, 8, 0, flags == 1)
            assert j1 == b
            far = flags == 0 or fp % 4 == 0
            e = s ^ finalized(fp % 256) // 2**32 % 2**g if far and other < b else s
            keys.append((min(b, other), fp % 256 + 256 * (fp // 256 * 2**g + e)))
    keys.sort()
    return [key for i, key in enumerate(keys) if i < 2 or keys[i - 2] != key]


def described(keys):
    """As in images.json."""
    fields = {
        "key_count": len(keys),
        "key_hash": f"{xxh3_64_intdigest(b''.join(struct.pack('<II', fp, j) for j, fp in keys)):016x}",
    }
    if len(keys) <= 40:
        fields["keys"] = [[j, f"{fp:x}"] for j, fp in keys]
    return fields


def image(seed, m0, f0, g, windows, load):
    """A filter of random integers, and the copies of these and of others."""
    rng = random.Random(seed)
    hash_seed = rng.getrandbits(64)
    buckets = [[] for _ in range(m0 * 2**g)]
    values = [rng.randrange(-(2**63), 2**63) for _ in range(int(load * 4 * len(buckets)))]
    places = {
        value: place(xxh3_64_intdigest(struct.pack("<q", value), seed=hash_seed), m0, f0, g, windows)
        for value in values + [rng.randrange(-(2**63), 2**63) for _ in range(1000)]
    }
    copies_of = collections.Counter()
    for value in values:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if add(rng, buckets, places[value]):
                h = xxh3_64_intdigest(struct.pack("<q", value), seed=hash_seed)
                fingerprint, j1, j2 = place(h, m0, f0, 0, windows)
                copies_of[min(j1, j2), fingerprint] += 1

    def copies(fingerprint, first, second):
        return min(2, sum(entry[0] == fingerprint for entry in buckets[first] + buckets[second]))

    f = f0 - g
    items = sum(map(len, buckets))
    header = struct.pack("<2s6BIHHQQ", b"CF", 1, 1, f0, 8, g, windows, m0, 0, 0, items, hash_seed)
    content = packed(buckets, f).to_bytes(len(buckets) * (f - 1) // 2, "little")
    return {
        "name": f"model, seed {seed}",
        "family": "integer",
        "type": "int8",
        "f0": f0,
        "ft": 8,
        "g": g,
        "windows": windows,
        "m0": m0,
        "items": items,
        "seed": f"{hash_seed:016x}",
        "image": base64.b64encode(sealed(header + content)).decode(),
        "probes": [str(value) for value in places],
        "counts": "".join(str(copies(*place)) for place in places.values()),
        **described(sorted(key for key, n in copies_of.items() for _ in range(min(n, 2)))),
    }


def images(seed):
    rng = random.Random(seed)
    for number in range(40):
        f0 = rng.randint(8, 32)
        g = rng.randint(0, min(3, f0 - 8))
        windows = number % 2 == 0
        m0 = rng.choice((128, 130, 254, 256, 384, 1024)) if windows else 2 * rng.randint(1, 200)
        if number in (2, 3):  # the most base buckets
            m0, g = rng.choice((1920, 2048)) if windows else 2 * rng.randint(200, 1000), 0
        yield image(seed * 100 + number, m0, f0, g, windows, rng.uniform(0.05, 0.55))


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(2**32)
    json.dump({"images": list(images(seed))}, sys.stdout, indent=1)
