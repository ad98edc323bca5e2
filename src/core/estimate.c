/*-------------------------------------------------------------------------
 *
 * core/estimate.c
 *		How many elements two filters have in common.
 *
 * This is linear counting (Whang, Vander-Zanden and Taylor, A Linear-Time
 * Probabilistic Counting Algorithm, TODS 1990) of each filter and of their
 * union, from which the number of common elements follows.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"

#include <math.h>

/*
 * There are two kinds of keys, because the core of an element is 0 or 1, both
 * of which become 1, or one of 254 other values.  The m0 / 2 * 2^(f0 - 8) keys
 * of one core are as likely as each other: an element has a given one with
 * probability weight / (256 * keys of a core).
 */
typedef struct KeyKind
{
	double		cores;
	double		weight;
} KeyKind;

static const KeyKind kinds_of_keys[] = {{254, 1}, {1, 2}};

#define KINDS_OF_KEYS	2

/* The mean number of elements that have a given key, if there are n. */
static double
elements_of_key(const CuckooHeader *h, int kind, double n)
{
	return kinds_of_keys[kind].weight * n / ldexp(h->base, h->base_bits - 1);
}

/* How many keys n elements are expected to have, and the derivative of this. */
static double
expected_keys(const CuckooHeader *h, double n, double *slope)
{
	double		keys_of_core = ldexp(h->base, h->base_bits - 9);
	double		keys = 0;

	*slope = 0;
	for (int i = 0; i < KINDS_OF_KEYS; i++)
	{
		double		mean = elements_of_key(h, i, n);

		keys -= kinds_of_keys[i].cores * keys_of_core * expm1(-mean);
		*slope += kinds_of_keys[i].cores * kinds_of_keys[i].weight / 256 *
			exp(-mean);
	}
	return keys;
}

/*
 * The number of elements for which so many keys are expected.  At most one key
 * in 16 is there (two filters have 8 slots for every 128 keys), so Newton's
 * method gets all digits in a few steps.
 */
static double
elements_of_keys(const CuckooHeader *h, double keys)
{
	double		n = keys;

	for (int i = 0; i < 8; i++)
	{
		double		slope;
		double		missing = keys - expected_keys(h, n, &slope);

		n += missing / slope;
	}
	return n;
}

/*
 * A key in a adds 1/slope_a to the estimate, one in b adds 1/slope_b, and one
 * in either subtracts 1/slope_either.  Keys are independent if the numbers of
 * elements are taken for Poisson variables.  The variance of the sum is then
 * that of the error, plus that of the number of common elements, which is this
 * number and is therefore subtracted.
 */
void
cuckoo_overlap(const CuckooHeader *h, uint64_t a_keys, uint64_t b_keys,
			   uint64_t common_keys, CuckooOverlap *overlap)
{
	double		a = elements_of_keys(h, (double) a_keys);
	double		b = elements_of_keys(h, (double) b_keys);
	double		either = elements_of_keys(h, (double) (a_keys + b_keys -
													   common_keys));
	double		common = a + b - either;
	double		possible = fmin(fmax(common, 0), fmin(a, b));
	double		variance = -possible;
	double		slope_a,
				slope_b,
				slope_either;

	overlap->a = a;
	overlap->b = b;
	overlap->common = common;

	either = a + b - possible;
	expected_keys(h, a, &slope_a);
	expected_keys(h, b, &slope_b);
	expected_keys(h, either, &slope_either);
	for (int i = 0; i < KINDS_OF_KEYS; i++)
	{
		double		in_a = -expm1(-elements_of_key(h, i, a));
		double		in_b = -expm1(-elements_of_key(h, i, b));
		double		in_either = -expm1(-elements_of_key(h, i, either));
		double		in_both = in_a + in_b - in_either;
		double		only_a = 1 / slope_a - 1 / slope_either;
		double		only_b = 1 / slope_b - 1 / slope_either;
		double		both = only_a + 1 / slope_b;
		double		mean = (in_either - in_b) * only_a +
			(in_either - in_a) * only_b + in_both * both;
		double		square = (in_either - in_b) * only_a * only_a +
			(in_either - in_a) * only_b * only_b + in_both * both * both;

		variance += kinds_of_keys[i].cores * ldexp(h->base, h->base_bits - 9) *
			(square - mean * mean);
	}
	overlap->standard_error = sqrt(fmax(variance, 0));
}
