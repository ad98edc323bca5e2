/*-------------------------------------------------------------------------
 *
 * core/estimate.c
 *		The estimated number of common elements of two filters.
 *
 * Linear counting (Whang, Vander-Zanden and Taylor, A Linear-Time
 * Probabilistic Counting Algorithm, TODS 1990) of each filter and of their
 * union.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"

#include <math.h>

/*
 * Two classes of keys, by their fixed byte.  The low bytes 0 and 1 of hashes
 * both become 1, so these keys are twice as likely as those of the 254 other
 * fixed bytes.  A fixed byte has m0 / 2 * 2^(f0 - 8) keys.  An element has a
 * given key with probability weight / (256 * keys of a fixed byte).
 */
typedef struct KeyClass
{
	double		fixed_bytes;	/* how many */
	double		weight;
} KeyClass;

static const KeyClass classes[] = {{254, 1}, {1, 2}};

#define CLASSES		2

/* The expected number of elements, of n, with a given key. */
static double
elements_of_key(const CuckooHeader *h, int class, double n)
{
	return classes[class].weight * n / ldexp(h->base, h->base_bits - 1);
}

/*
 * The expected number of distinct keys of n elements, and its derivative.
 *
 *	expected(n) = sum over classes of fixed_bytes * keys of a fixed byte *
 *				  (1 - exp(-elements_of_key(n)))
 */
static double
expected_keys(const CuckooHeader *h, double n, double *slope)
{
	double		keys_of_byte = ldexp(h->base, h->base_bits - 9);
	double		keys = 0;

	*slope = 0;
	for (int i = 0; i < CLASSES; i++)
	{
		double		mean = elements_of_key(h, i, n);

		keys -= classes[i].fixed_bytes * keys_of_byte * expm1(-mean);
		*slope += classes[i].fixed_bytes * classes[i].weight / 256 *
			exp(-mean);
	}
	return keys;
}

/*
 * The inverse of expected_keys(), by Newton's method.  A few steps give all
 * digits, because at most one key in 16 occurs: two filters have 8 slots for
 * every 128 keys.
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
 * Let n_a, n_b and n_union be the results of elements_of_keys() for the
 * numbers of keys in a, in b, and in either.  Then
 *
 *	common = n_a + n_b - n_union
 *
 * With the slopes s_a, s_b and s_union of expected_keys() there, a key changes
 * this estimate by
 *
 *	only in a		1 / s_a - 1 / s_union
 *	only in b		1 / s_b - 1 / s_union
 *	in both			1 / s_a + 1 / s_b - 1 / s_union
 *
 * If the numbers of elements were Poisson variables, keys would be
 * independent, and the variance of the estimate would be the sum of the
 * variances of these changes.  But the number of common elements is fixed.  Its
 * variance as a Poisson variable, which equals the number, is subtracted.
 */
void
cuckoo_overlap(const CuckooHeader *h, uint64_t a_keys, uint64_t b_keys,
			   uint64_t common_keys, CuckooOverlap *overlap)
{
	double		n_a = elements_of_keys(h, (double) a_keys);
	double		n_b = elements_of_keys(h, (double) b_keys);
	double		n_union = elements_of_keys(h, (double) (a_keys + b_keys -
														common_keys));
	double		common = n_a + n_b - n_union;
	double		possible = fmin(fmax(common, 0), fmin(n_a, n_b));
	double		variance = -possible;
	double		s_a,
				s_b,
				s_union;

	overlap->a = n_a;
	overlap->b = n_b;
	overlap->common = common;

	n_union = n_a + n_b - possible;
	expected_keys(h, n_a, &s_a);
	expected_keys(h, n_b, &s_b);
	expected_keys(h, n_union, &s_union);
	for (int i = 0; i < CLASSES; i++)
	{
		double		in_a = -expm1(-elements_of_key(h, i, n_a));
		double		in_b = -expm1(-elements_of_key(h, i, n_b));
		double		in_union = -expm1(-elements_of_key(h, i, n_union));
		double		in_both = in_a + in_b - in_union;
		double		only_a = 1 / s_a - 1 / s_union;
		double		only_b = 1 / s_b - 1 / s_union;
		double		both = only_a + 1 / s_b;
		double		mean = (in_union - in_b) * only_a +
			(in_union - in_a) * only_b + in_both * both;
		double		square = (in_union - in_b) * only_a * only_a +
			(in_union - in_a) * only_b * only_b + in_both * both * both;

		variance += classes[i].fixed_bytes * ldexp(h->base, h->base_bits - 9) *
			(square - mean * mean);
	}
	overlap->standard_error = sqrt(fmax(variance, 0));
}
