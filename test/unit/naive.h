/*-------------------------------------------------------------------------
 *
 * naive.h
 *		The specification of the format a second time, as plainly as it can be
 *		put, for the unit tests to compare the core with.
 *
 * Nothing here includes or calls the core: positions come from division and
 * 128-bit multiplication, bucket codes from four nested loops, bits are read
 * and written byte by byte.  NaiveModel is what a filter should hold: how many
 * copies, 0 to 2, of each class of elements that look the same.  A class is one
 * pair of base buckets and one fingerprint of f0 bits.  It is the same at every
 * growth level.
 *
 *-------------------------------------------------------------------------
 */
#ifndef NAIVE_H
#define NAIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define NAIVE_CODES 3876

/* floor(hash * m / 2^64) for m < 2^32 */
static inline uint64_t
naive_scale(uint64_t hash, uint64_t m)
{
	uint64_t	half = UINT64_C(1) << 32;

	return (hash / half * m + hash % half * m / half) / half;
}

/* floor(j * 2^64 / m) for j < m < 2^32; the hash after it belongs to j */
static inline uint64_t
naive_unscale(uint64_t j, uint64_t m)
{
	uint64_t	half = UINT64_C(1) << 32;

	return j * half / m * half + j * half % m * half / m;
}

static uint8_t naive_quads[NAIVE_CODES][4];
static uint16_t naive_code_of[16][16][16][16];

/* Sorted quadruples of nibbles in lexicographic order. */
static inline int
naive_init(void)
{
	int			n = 0;

	for (int a = 0; a < 16; a++)
		for (int b = a; b < 16; b++)
			for (int c = b; c < 16; c++)
				for (int d = c; d < 16; d++)
				{
					naive_quads[n][0] = (uint8_t) a;
					naive_quads[n][1] = (uint8_t) b;
					naive_quads[n][2] = (uint8_t) c;
					naive_quads[n][3] = (uint8_t) d;
					naive_code_of[a][b][c][d] = (uint16_t) n++;
				}
	return n;
}

/* Reads up to 57 bits. */
static inline uint64_t
naive_read(const uint8_t *bytes, uint64_t bit, int width)
{
	uint64_t	skipped = bit % 8;
	uint64_t	v = 0;

	for (uint64_t i = (skipped + (uint64_t) width + 7) / 8; i > 0; i--)
		v = v * 256 + bytes[bit / 8 + i - 1];
	return (v >> skipped) % (UINT64_C(1) << width);
}

static inline void
naive_write(uint8_t *bytes, uint64_t bit, int width, uint64_t v)
{
	uint64_t	mask = ((UINT64_C(1) << width) - 1) << bit % 8;

	v <<= bit % 8;
	for (bytes += bit / 8; mask != 0; bytes++)
	{
		*bytes = (uint8_t) ((*bytes & ~mask) | (v & mask));
		mask >>= 8;
		v >>= 8;
	}
}

/* By low nibble, then by value. */
static inline void
naive_sort(uint32_t s[4])
{
	for (int i = 0; i < 4; i++)
		for (int k = i + 1; k < 4; k++)
			if (s[k] % 16 < s[i] % 16 ||
				(s[k] % 16 == s[i] % 16 && s[k] < s[i]))
			{
				uint32_t	t = s[i];

				s[i] = s[k];
				s[k] = t;
			}
}

static inline void
naive_put(uint8_t *buckets, uint64_t pos, int f, const uint32_t slots[4])
{
	uint64_t	bit = pos * (uint64_t) (4 * f - 4);
	uint32_t	s[4] = {slots[0], slots[1], slots[2], slots[3]};

	naive_sort(s);
	naive_write(buckets, bit, 12,
				naive_code_of[s[0] % 16][s[1] % 16][s[2] % 16][s[3] % 16]);
	for (int i = 0; i < 4; i++)
		naive_write(buckets, bit + 12 + (uint64_t) (i * (f - 4)), f - 4,
					s[i] / 16);
}

static inline void
naive_get(const uint8_t *buckets, uint64_t pos, int f, uint32_t slots[4])
{
	uint64_t	bit = pos * (uint64_t) (4 * f - 4);
	uint64_t	code = naive_read(buckets, bit, 12);

	for (int i = 0; i < 4; i++)
		slots[i] = (uint32_t) naive_read(buckets, bit + 12 +
										 (uint64_t) (i * (f - 4)), f - 4) * 16 +
			(code < NAIVE_CODES ? naive_quads[code][i] : 0);
}

static inline uint64_t
naive_hash(uint64_t z)
{
	z ^= z >> 30;
	z *= UINT64_C(0xbf58476d1ce4e5b9);
	z ^= z >> 27;
	z *= UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z;
}

static inline bool
naive_near(bool windows, uint64_t fixed)
{
	return windows && fixed % 4 != 0;
}

/* The other base bucket. */
static inline uint64_t
naive_other(uint64_t m0, bool windows, uint64_t fixed, uint64_t j)
{
	uint64_t	hash = naive_hash(fixed);
	uint64_t	s;

	if (naive_near(windows, fixed) && m0 >= 256)
		return j ^ (1 + hash % 127);
	s = hash % (UINT64_C(1) << 32) * (m0 / 2) / (UINT64_C(1) << 32) * 2 + 1;
	return (s + m0 - j) % m0;
}

static inline uint64_t
naive_segment_step(bool windows, uint64_t fixed, int g)
{
	if (naive_near(windows, fixed))
		return 0;
	return naive_hash(fixed) / (UINT64_C(1) << 32) % (UINT64_C(1) << g);
}

typedef struct NaivePair
{
	uint32_t	fp;
	uint64_t	j[2];
	uint64_t	pos[2];
} NaivePair;

static inline NaivePair
naive_pair(uint64_t m0, bool windows, int f0, int g, uint64_t hash)
{
	NaivePair	p;
	uint64_t	fixed = hash % 256;
	uint64_t	ext = hash / 256 % (UINT64_C(1) << (f0 - 8));
	uint64_t	e = ext % (UINT64_C(1) << g);
	uint64_t	step;

	if (fixed == 0)
		fixed = 1;
	p.fp = (uint32_t) (fixed + ext / (UINT64_C(1) << g) * 256);
	p.j[0] = naive_scale(hash, m0);
	p.j[1] = naive_other(m0, windows, fixed, p.j[0]);
	step = naive_segment_step(windows, fixed, g);
	for (int i = 0; i < 2; i++)
		p.pos[i] = (p.j[i] < p.j[1 - i] ? e : e ^ step) * m0 + p.j[i];
	return p;
}

typedef struct NaiveClass
{
	uint32_t	low;			/* the pair of base buckets, smaller first */
	uint32_t	high;
	uint32_t	fp;				/* f0 bits */
} NaiveClass;

static inline NaiveClass
naive_class(uint64_t m0, bool windows, int f0, uint64_t hash)
{
	NaivePair	p = naive_pair(m0, windows, f0, 0, hash);
	NaiveClass	c;

	c.low = (uint32_t) (p.j[0] < p.j[1] ? p.j[0] : p.j[1]);
	c.high = (uint32_t) (p.j[0] < p.j[1] ? p.j[1] : p.j[0]);
	c.fp = p.fp;
	return c;
}

/* The class of what is stored at `pos` of a filter at level g. */
static inline NaiveClass
naive_stored_class(uint64_t m0, bool windows, int g, uint64_t pos, uint32_t fp)
{
	uint64_t	fixed = fp % 256;
	uint64_t	e = pos / m0;
	uint64_t	j = pos % m0;
	uint64_t	other = naive_other(m0, windows, fixed, j);
	NaiveClass	c;

	if (j > other)
		e ^= naive_segment_step(windows, fixed, g);
	c.low = (uint32_t) (j < other ? j : other);
	c.high = (uint32_t) (j < other ? other : j);
	c.fp = (uint32_t) (fixed + ((fp / 256) * (UINT64_C(1) << g) + e) * 256);
	return c;
}

/* Copies by class: open addressing, never shrinks. */
typedef struct NaiveEntry
{
	NaiveClass	class;
	int32_t		count;			/* -1 in an unused place */
} NaiveEntry;

typedef struct NaiveModel
{
	NaiveEntry *entries;
	uint64_t	size;			/* power of two */
	uint64_t	used;
	uint64_t	sum;
} NaiveModel;

static inline NaiveEntry *
naive_find(const NaiveModel *m, NaiveClass c)
{
	uint64_t	i = naive_hash(((uint64_t) c.low << 32 | c.fp) ^
							   naive_hash((uint64_t) c.high + 1));

	for (;; i++)
	{
		NaiveEntry *e = &m->entries[i & (m->size - 1)];

		if (e->count < 0 || (e->class.low == c.low && e->class.high == c.high &&
							 e->class.fp == c.fp))
			return e;
	}
}

static inline void
naive_model_init(NaiveModel *m, uint64_t size)
{
	m->size = 16;
	while (m->size < size * 2)
		m->size *= 2;
	m->used = 0;
	m->sum = 0;
	m->entries = malloc(m->size * sizeof(NaiveEntry));
	if (m->entries == NULL)
		abort();
	for (uint64_t i = 0; i < m->size; i++)
		m->entries[i].count = -1;
}

static inline void
naive_model_free(NaiveModel *m)
{
	free(m->entries);
}

static inline int
naive_count(const NaiveModel *m, NaiveClass c)
{
	int			count = naive_find(m, c)->count;

	return count < 0 ? 0 : count;
}

static inline void
naive_set(NaiveModel *m, NaiveClass c, int count)
{
	NaiveEntry *e;

	if (m->used * 2 >= m->size)
	{
		NaiveModel	larger;

		naive_model_init(&larger, m->size);
		for (uint64_t i = 0; i < m->size; i++)
			if (m->entries[i].count >= 0)
			{
				*naive_find(&larger, m->entries[i].class) = m->entries[i];
				larger.used++;
			}
		larger.sum = m->sum;
		free(m->entries);
		*m = larger;
	}
	e = naive_find(m, c);
	if (e->count < 0)
	{
		e->class = c;
		e->count = 0;
		m->used++;
	}
	m->sum += (uint64_t) (int64_t) (count - e->count);
	e->count = count;
}

#endif							/* NAIVE_H */
