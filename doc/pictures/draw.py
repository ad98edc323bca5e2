#!/usr/bin/env python3
"""Draws the pictures of the guides: make pictures

The figures are computed by the rules of FORMAT.md, or read from the tables of
bench/README.md. The buckets of lookup, eviction and growth are placed by these
rules, too: nothing is drawn by hand. Each picture has its own light background,
so that it can be read on any page, and its lines differ by more than color.
"""
import math
import random
import re
from html import escape
from pathlib import Path

here = Path(__file__).resolve().parent
top = here.parent.parent

INK, SOFT, LINE, PANEL = '#1c2430', '#44505f', '#c3ccd6', '#f1f4f8'
BLUE, RED, GREEN, PURPLE = '#1f5fa8', '#b3261e', '#17693a', '#7a2a8c'
HIT = '#ffe08a'

# ---- the format --------------------------------------------------------------

M64 = (1 << 64) - 1


def mixed(fixed):
    """H, the splitmix64 finaliser of the fixed byte"""
    z = fixed
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & M64
    z = (z ^ z >> 27) * 0x94d049bb133111eb & M64
    return z ^ z >> 31


def other_bucket(j, fingerprint, m0):
    """the other base bucket of an entry that is far"""
    s = 2 * ((mixed(fingerprint & 255) & 0xffffffff) * (m0 // 2) >> 32) + 1
    return (s - j) % m0


def grown(bucket, fingerprint, m0, g):
    """where growth from level g moves an entry that is far"""
    segment, j = divmod(bucket, m0)
    b = fingerprint >> 8 & 1
    if j > other_bucket(j, fingerprint, m0) and mixed(fingerprint & 255) >> 32 + g & 1:
        b ^= 1
    return (segment + (b << g)) * m0 + j, fingerprint & 255 | fingerprint >> 9 << 8


def even(n):
    return 2 * math.ceil(n / 2)


def requested_bits(fpp):
    """ft, the least number of bits that gives the rate"""
    return next(f for f in range(8, 33) if 8 * 0.95 / 2 ** f <= fpp)


def image_bytes(buckets, bits):
    return 32 + math.ceil(buckets * (4 * bits - 4) / 8) + 8


def exact_fit(n, fpp):
    m = even(math.ceil(n / 3.8))
    return image_bytes(m if m < 16384 else 128 * math.ceil(m / 128), requested_bits(fpp))


class Capacity:
    """a filter by capacity, of at most a million"""

    def __init__(self, capacity, fpp):
        m = math.ceil(capacity / 3.8)
        bits = max(requested_bits(fpp), 9)
        halved = max(g for g in range(33) if m / 2 ** g >= 32 and bits + g <= 32)
        self.f0, self.m0 = bits + halved, even(math.ceil(m / 2 ** halved))
        self.capacity = capacity

    def level(self, n):
        """of the canonical form; the last one is filled up to its last slot"""
        last = self.f0 - 8
        return next((g for g in range(last) if (self.m0 << g) >= n / 3.92), last)

    def rate(self, n):
        return 2 * n / (self.m0 * 2 ** self.f0)

    def bytes(self, n):
        g = self.level(n)
        return image_bytes(self.m0 << g, self.f0 - g)

    def load(self, n):
        return n / (4 * (self.m0 << self.level(n)))

    def most(self):
        """max_items"""
        return math.floor(3.8 * (self.m0 << self.f0 - 8))


# ---- SVG ---------------------------------------------------------------------


class Picture:
    def __init__(self, name, title, description, width, height):
        self.name, self.parts = name, []
        self.head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                     f'height="{height}" role="img" aria-labelledby="t d" font-family="sans-serif" font-size="14">\n'
                     f'<title id="t">{escape(title)}</title>\n<desc id="d">{escape(description)}</desc>\n'
                     '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                     f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>\n')
        self.rect(0, 0, width, height, '#ffffff', rx=8)
        self.text(20, 28, title, size=17, weight='bold')

    def rect(self, x, y, w, h, fill, stroke='none', rx=0, width=1):
        self.parts.append(f'<rect x="{x:.4g}" y="{y:.4g}" width="{w:.4g}" height="{h:.4g}" fill="{fill}" '
                          f'stroke="{stroke}" stroke-width="{width}" rx="{rx}"/>')

    def text(self, x, y, text, anchor='start', size=14, fill=INK, weight='normal', mono=False, turn=None):
        extra = ' font-family="monospace"' if mono else ''
        if turn:
            extra += f' transform="rotate({turn} {x:.4g} {y:.4g})"'
        self.parts.append(f'<text x="{x:.4g}" y="{y:.4g}" text-anchor="{anchor}" font-size="{size}" fill="{fill}" '
                          f'font-weight="{weight}"{extra}>{escape(text)}</text>')

    def path(self, points, stroke=INK, width=2, dash='', arrow=False, curve=None):
        d = f'M{points[0][0]:.5g} {points[0][1]:.5g}'
        if curve:
            d += f'Q{curve[0]:.5g} {curve[1]:.5g} {points[1][0]:.5g} {points[1][1]:.5g}'
        else:
            d += ''.join(f'L{x:.5g} {y:.5g}' for x, y in points[1:])
        extra = (f' stroke-dasharray="{dash}"' if dash else '') + (' marker-end="url(#a)"' if arrow else '')
        self.parts.append(f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{width}" '
                          f'stroke-linejoin="round"{extra}/>')

    def dot(self, x, y, fill):
        self.parts.append(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="4" fill="{fill}"/>')

    def buckets(self, x, y, rows, hits=(), marked=(), first=0, cell=62, height=30):
        """a table of four slots a row; hits are (row, slot), marked rows have an outline"""
        for i, slots in enumerate(rows):
            self.text(x - 10, y + i * height + 20, str(first + i), 'end', fill=SOFT)
            for k in range(4):
                fp = slots[k] if k < len(slots) else None
                self.rect(x + k * cell, y + i * height, cell, height - 4,
                          HIT if (i, k) in hits else PANEL, LINE)
                if fp is not None:
                    self.text(x + (k + 0.5) * cell, y + i * height + 18, f'{fp:03x}', 'middle', mono=True)
            if i in marked:
                self.rect(x - 2, y + i * height - 2, 4 * cell + 4, height, 'none', BLUE, rx=3, width=2)

    def save(self):
        (here / f'{self.name}.svg').write_text(self.head + '\n'.join(self.parts) + '\n</svg>\n')


def short(v):
    for unit, name in ((1e6, 'M'), (1e3, 'k')):
        if v >= unit:
            return f'{v / unit:g} {name}'
    return f'{v:g}'


class Chart:
    """axes in a picture; log is a pair of booleans for x and y"""

    def __init__(self, picture, box, x_range, y_range, log, x_ticks, y_ticks, x_title, y_title, y_format=short):
        self.p, self.box, self.ranges, self.log = picture, box, (x_range, y_range), log
        left, upper, width, height = box
        for v in y_ticks:
            y = self.y(v)
            picture.path([(left, y), (left + width, y)], LINE, 1)
            picture.text(left - 8, y + 5, y_format(v), 'end', 13, SOFT)
        for v in x_ticks:
            x = self.x(v)
            picture.path([(x, upper + height), (x, upper + height + 5)], SOFT, 1)
            picture.text(x, upper + height + 21, short(v), 'middle', 13, SOFT)
        picture.path([(left, upper), (left, upper + height), (left + width, upper + height)], SOFT, 1.5)
        picture.text(left + width / 2, upper + height + 42, x_title, 'middle')
        picture.text(left - 58, upper + height / 2, y_title, 'middle', turn=-90)

    def place(self, axis, v):
        low, high = self.ranges[axis]
        if self.log[axis]:
            low, high, v = math.log(low), math.log(high), math.log(v)
        return (v - low) / (high - low)

    def x(self, v):
        return self.box[0] + self.place(0, v) * self.box[2]

    def y(self, v):
        return self.box[1] + (1 - self.place(1, v)) * self.box[3]

    def line(self, points, color, dash='', dots=False):
        shown = [(self.x(x), self.y(min(y, self.ranges[1][1]))) for x, y in points]
        self.p.path(shown, color, 2.5, dash)
        if dots:
            for x, y in shown:
                self.p.dot(x, y, color)

    def label(self, x, y, text, color, anchor='start', dx=0, dy=0):
        self.p.text(self.x(x) + dx, self.y(y) + dy, text, anchor, 13, color, 'bold')


def spread(low, high, n):
    """n whole numbers, evenly on a logarithmic axis"""
    return sorted({round(low * (high / low) ** (i / n)) for i in range(n + 1)})


# ---- how it works --------------------------------------------------------------


def some_entries(count, m0, seed, bits=12):
    """placed in the one or the other bucket, wherever there is room"""
    chance, rows = random.Random(seed), [[] for _ in range(m0)]
    while sum(map(len, rows)) < count:
        fp, j = chance.randrange(1 << bits - 8) << 8 | chance.randrange(1, 256), chance.randrange(m0)
        j = min((j, other_bucket(j, fp, m0)), key=lambda b: len(rows[b]))
        if len(rows[j]) < 4:
            rows[j].append(fp)
    return rows


def lookup():
    p = Picture('lookup', 'A lookup reads two buckets', 'The hash of an element gives a fingerprint and a first bucket. '
                'The fingerprint leads to the second bucket. The element is absent if neither holds the fingerprint.',
                780, 400)
    h, m0 = 0x2fbc593564db792e, 8
    fp, j1 = (h & 255) | (h >> 8 & 15) << 8, h * m0 >> 64
    j2 = other_bucket(j1, fp, m0)
    rows = some_entries(18, m0, 5)
    rows[j2] = rows[j2][:3] + [fp]
    steps = [('the element', '1 (integer)'), ('its bytes', '01 00 00 00 00 00 00 00'), ('XXH3, 64 bits', f'{h:016x}'),
             ('fingerprint: low 12 bits', f'{fp:03x}'), ('first bucket: h · 8 / 2⁶⁴', f'{j1}'),
             ('second: fingerprint and first', f'{j2}')]
    for i, (what, value) in enumerate(steps):
        y = 72 + i * 42
        p.text(20, y, what, fill=SOFT, size=13)
        p.text(20, y + 18, value, mono=True, weight='bold')
    p.text(614, 62, '8 buckets of 4 slots', 'middle', fill=SOFT)
    p.buckets(490, 74, rows, {(j2, rows[j2].index(fp))}, {j1, j2})
    for j, y, bend in ((j1, 72 + 4 * 42 + 8, 60), (j2, 72 + 5 * 42 + 8, 90)):
        end = (464, 74 + j * 30 + 13)
        p.path([(250, y), end], INK, 1.8, arrow=True, curve=((250 + end[0]) / 2 + bend, y))
    p.text(20, 346, f'The fingerprint is in bucket {j2}, so the filter says “maybe”. Another element may have the same.')
    p.text(20, 370, 'If neither bucket had it, the answer would be “no”, for certain.')
    p.save()


def eviction():
    p = Picture('eviction', 'An insert evicts until there is room', 'Both buckets of a new element are full. A '
                'fingerprint moves to its own other bucket, and where that is full, another one moves on.', 780, 430)
    m0 = 8
    for seed in range(100000):
        chance, rows = random.Random(seed), some_entries(27, m0, seed)
        new, j1 = chance.randrange(1, 16) << 8 | chance.randrange(1, 256), chance.randrange(m0)
        j2 = other_bucket(j1, new, m0)
        if j1 == j2 or len(rows[j1]) < 4 or len(rows[j2]) < 4 or len(set(sum(rows, []))) < 27:
            continue
        first = rows[j1][1]
        k = other_bucket(j1, first, m0)
        if k in (j1, j2) or len(rows[k]) < 4:
            continue
        second = rows[k][2]
        end = other_bucket(k, second, m0)
        if end not in (j1, j2, k) and len(rows[end]) < 4:
            break
    after = [list(row) for row in rows]
    after[j1][1], after[k][2] = new, first
    after[end].append(second)
    last = (end, len(after[end]) - 1)
    p.text(190, 62, 'before', 'middle', fill=SOFT)
    p.buckets(66, 74, rows, {(j1, 1), (k, 2)}, {j1, j2})
    p.text(584, 62, 'after', 'middle', fill=SOFT)
    p.buckets(460, 74, after, {(j1, 1), (k, 2), last}, {j1, j2})
    p.path([(330, 190), (420, 190)], arrow=True)
    for i, line in enumerate((
            f'1.  {new:03x} may be in bucket {j1} or {j2} (outlined), which are both full. It takes the place of {first:03x}.',
            f'2.  {first:03x} may also be in bucket {k}, which is full. It takes the place of {second:03x}.',
            f'3.  {second:03x} may also be in bucket {end}, which has room.',
            'Every fingerprint is still in one of its two buckets. Nothing moves before room is found.')):
        p.text(20, 346 + i * 24, line)
    p.save()


def growth():
    p = Picture('growth', 'Growth moves one bit of each fingerprint into its position', 'Twice as many buckets, each '
                'fingerprint one bit shorter. A bit of the fingerprint says which half it is in, so the elements are '
                'not needed.', 780, 440)
    m0 = 4
    rows = some_entries(15, m0, 11)
    moved = [[] for _ in range(2 * m0)]
    for j, row in enumerate(rows):
        for fp in row:
            to, less = grown(j, fp, m0, 0)
            moved[to].append((less, fp))
    before = {(j, k) for j, row in enumerate(rows) for k, fp in enumerate(row) if grown(j, fp, m0, 0)[0] >= m0}
    after = {(j, k) for j, row in enumerate(moved) for k in range(len(row)) if j >= m0}
    p.text(190, 62, 'level 0: 4 buckets, 12 bits', 'middle', fill=SOFT)
    p.buckets(66, 74, rows, before)
    p.text(584, 62, 'level 1: 8 buckets, 11 bits', 'middle', fill=SOFT)
    p.buckets(460, 74, [[less for less, _ in row] for row in moved], after)
    p.path([(330, 130), (420, 130)], arrow=True)
    to, less, fp = next((j, *row[0]) for j, row in enumerate(moved) if j >= m0 and row)
    for i, line in enumerate((
            f'Fingerprint {fp:03x} is {fp:012b} in binary. Its bit 8 moves it from bucket {to - m0} to bucket {to} =',
            f'{to - m0} + {m0}, and the rest is {less:03x}. Colored entries move to the new half, the others keep their bucket.',
            'What the fingerprint loses, the position gains. So the false-positive rate stays the same.')):
        p.text(20, 350 + i * 26, line)
    p.save()


def index():
    p = Picture('index', 'A page of an index that is full is split', 'The hash of a value chooses the page. Both buckets of '
                'an entry are in one page. A page that is full moves the entries whose lowest ext bit is 1 to a new '
                'page.', 780, 520)
    n, w, chance = 3, 4, random.Random(8)
    pages = [[[] for _ in range(w)] for _ in range(n)]
    while sum(map(len, pages[1])) < 14:
        h = chance.randrange(1 << 64)
        page, r = divmod(h * n, 1 << 64)
        i, fp = r * w >> 64, (h & 255 or 1) | (h >> 8 & 15) << 8
        i = min((i, other_bucket(i, fp, w)), key=lambda b: len(pages[page][b]))
        if len(pages[page][i]) < 4:
            pages[page][i].append(fp)
    halves = [[[fp & 255 | fp >> 9 << 8 for fp in row if fp >> 8 & 1 == half] for row in pages[1]] for half in (0, 1)]
    moved = {(i, k) for i, row in enumerate(pages[1]) for k, fp in enumerate(row) if fp >> 8 & 1}

    def draw(x, y, title, rows, hits=()):
        p.text(x, y - 6, title, fill=SOFT, size=13)
        p.buckets(x, y, rows, hits, cell=56, height=24)

    for number in range(n):
        draw(40, 88 + number * 126, f'block {1 + number}: page {number}, level 0, 12 bits', pages[number],
             moved if number == 1 else ())
    p.path([(290, 262), (420, 134)], arrow=True)
    p.path([(290, 262), (420, 388)], arrow=True)
    p.text(306, 267, 'splits')
    draw(450, 88, 'block 2: page 1, segment 0, level 1, 11 bits', halves[0])
    draw(450, 340, 'block 4: page 1, segment 1, level 1, 11 bits', halves[1],
         {(i, k) for i, row in enumerate(halves[1]) for k in range(len(row))})
    p.text(450, 262, 'Pages 0 and 2 stay as they are.', fill=SOFT)
    for i, line in enumerate((
            'Block 0 lists the pages. A hash h belongs to page h · 3 / 2⁶⁴, here 0 to 2, and an entry has both of its',
            'buckets in this page. So a lookup or an insert reads one page. A split moves the entries whose lowest',
            'ext bit is 1 (colored), and removes this bit from all entries.')):
        p.text(20, 464 + i * 22, line)
    p.save()


# ---- figures -------------------------------------------------------------------


def rate():
    f = Capacity(1000, 0.01)
    most, first = f.most(), 20
    p = Picture('rate', 'False-positive rate and fill of cf_new(1000, 0.01)', 'The rate is in proportion to the items, '
                'also across growth. It is the requested one at the capacity. The fill falls by half at each growth.',
                780, 630)
    ns = spread(first, most, 120)
    x_ticks = [20, 50, 100, 200, 500, 1000, 2000, 4000]
    percent = lambda v: f'{100 * v:g}%'
    c = Chart(p, (90, 56, 640, 220), (first, most), (0.0001, 0.05), (True, True), x_ticks,
              [0.0001, 0.001, 0.01, 0.03], 'items', 'false-positive rate', percent)
    c.line([(n, f.rate(n)) for n in ns], BLUE)
    c.p.path([(c.x(1000), c.y(0.0001)), (c.x(1000), c.y(0.05))], RED, 1.5, '6 4')
    c.label(1000, 0.0002, 'capacity', RED, 'end', -8)
    c.label(most, f.rate(most), 'max_items', BLUE, 'end', -6, -10)
    steps = [n for n in range(first + 1, most) if f.level(n) != f.level(n - 1)]
    for n in steps:
        p.dot(c.x(n), c.y(f.rate(n)), BLUE)
    c.label(steps[0], f.rate(steps[0]), 'dots: growth', BLUE, 'end', -10, -8)
    c = Chart(p, (90, 350, 640, 200), (first, most), (0, 1), (True, False), x_ticks,
              [0, 0.25, 0.5, 0.75, 1], 'items', 'share of slots in use', percent)
    parts = [first] + steps + [most + 1]
    for i, (low, high) in enumerate(zip(parts, parts[1:])):
        c.line([(n, f.load(n)) for n in spread(low, high - 1, 40)], BLUE)
        g = f.level(low)
        middle = math.sqrt(low * high)
        lines = [f'{f.m0 << g} buckets', f'{f.f0 - g} bits']
        for k, text in enumerate(lines if high / low > 1.5 else []):
            p.text(c.x(middle), c.y(0.22) + 16 * k, text, 'middle', 12, SOFT)
    p.text(20, 614, f'Growth does not change the rate: 2 · items / ({f.m0} · 2^{f.f0}) at every level. Past the capacity '
           'it rises on.', size=13, fill=SOFT)
    p.save()


def bits():
    p = Picture('bits', 'Bits per item at a false-positive rate of 0.001', 'An exact fit takes 12.6 bits at any number of '
                'items, a Bloom filter 14.4, a cuckoo filter of a power of two of buckets 13.7 to 27.4.', 780, 500)
    c = Chart(p, (90, 56, 640, 320), (100, 1e7), (0, 50), (True, False), [100, 1e3, 1e4, 1e5, 1e6, 1e7],
              range(0, 51, 10), 'items', 'bits per item')
    width, f = requested_bits(0.001), Capacity(10 ** 6, 0.001)
    ns = spread(100, 10 ** 7, 150)
    # with the two ends of each jump
    powers = sorted({*ns, *(int(3.8 * 2 ** k) + i for k in range(5, 22) for i in (0, 1))})
    grown_at = sorted({*ns, *(math.floor(3.92 * (f.m0 << g)) + i for g in range(16) for i in (0, 1))})
    for i, (name, color, dash, points) in enumerate((
            ('cf_agg(v): exact fit, 12.6', BLUE, '', [(n, 8 * exact_fit(n, 0.001) / n) for n in ns]),
            ('cf_new(1000000, 0.001), grows to a million', GREEN, '9 4',
             [(n, 8 * f.bytes(n) / n) for n in grown_at if 100 <= n <= 10 ** 6]),
            ('Bloom filter: 1.44 · log2(1 / rate) = 14.4', PURPLE, '2 5',
             [(n, 1.4427 * math.log2(1000)) for n in (100, 10 ** 7)]),
            ('cuckoo filter with a power of two of buckets', RED, '12 3 2 3',
             [(n, width * 4 * 2 ** math.ceil(math.log2(n / 3.8)) / n) for n in powers if 100 <= n <= 10 ** 7]))):
        c.line(points, color, dash)
        x, y = 40 + i % 2 * 330, 448 + i // 2 * 26
        p.path([(x, y - 5), (x + 44, y - 5)], color, 2.5, dash)
        p.text(x + 52, y, name, size=13)
    p.save()


def table(heads):
    """the rows of the table of bench/README.md that has these heads, as numbers"""
    lines = iter((top / 'bench/README.md').read_text().splitlines())
    cells = lambda line: [cell.strip() for cell in line.strip('|').split('|')]
    for line in lines:
        if line.startswith('|') and cells(line)[:len(heads)] == heads:
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith('|'):
            return rows
        rows.append([float(re.sub(',', '', cell)) for cell in cells(line)])


def probe():
    rows = table(['items', 'bits per item', 'measured fpp', 'reads', 'absent', 'present', 'batched'])
    p = Picture('probe', 'A probe costs one or two cache misses', 'Nanoseconds for a lookup by the size of the filter. '
                'In large filters: 0.9 to 2.4 times as long as two random reads.', 780, 470)
    size = [items * per_item / 8 for items, per_item, *_ in rows]
    c = Chart(p, (90, 56, 560, 320), (size[0] / 1.3, size[-1] * 1.3), (0, 50), (True, False),
              [2e5, 1e6, 5e6, 2e7, 5e7], range(0, 51, 10), 'bytes of the filter', 'nanoseconds per lookup')
    for k, (name, color, dash, dy) in {3: ('two random reads', SOFT, '2 5', -4), 4: ('absent', BLUE, '', 6),
                                       5: ('present', GREEN, '9 4', 6), 6: ('absent, batched', PURPLE, '12 3 2 3', 12)}.items():
        c.line([(s, row[k]) for s, row in zip(size, rows)], color, dash, dots=True)
        c.label(size[-1], rows[-1][k], name, color, 'start', 10, dy)
    p.text(20, 450, 'In C, many lookups under way at once, fpp 0.001. bench/README.md describes the machine and the spread.',
           size=13, fill=SOFT)
    p.save()


for draw in (lookup, eviction, growth, index, rate, bits, probe):
    draw()
