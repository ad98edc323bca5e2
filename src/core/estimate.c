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
 * The expected number of distinct keys of n elements.  The low bytes 0 and 1 of
 * hashes both become 1, so a key of this fixed byte is twice as likely as a key
 * of another fixed byte.  There are 254 others.
 */
static double
expected_keys(const CuckooHeader *h, double n)
{
	double		keys_of_byte = ldexp(h->base, h->base_bits - 9);
	double		mean = n / (256 * keys_of_byte);	/* elements with one key */

	return -keys_of_byte * (254 * expm1(-mean) + expm1(-2 * mean));
}

/*
 * The inverse of expected_keys().  At most one key in 16 occurs, because two
 * filters have 8 slots for every 128 keys.  So each step adds a digit.
 */
static double
elements_of_keys(const CuckooHeader *h, double keys)
{
	double		n = keys;

	for (int i = 0; i < 16; i++)
		n += keys - expected_keys(h, n);
	return n;
}

/*
 * Let n_a, n_b and n_union be the results of elements_of_keys() for the
 * numbers of keys in a, in b, and in either.  Then
 *
 *	common = n_a + n_b - n_union
 *
 * Two elements have the same key as often as if there were `all` keys, equally
 * likely.  Then a key is in a with probability in_a = 1 - exp(-n_a / all), and
 * expected_keys() has the slope 1 - in_a at n_a.  A key changes the estimate by
 *
 *	only_a		1 / (1 - in_a) - 1 / (1 - in_union)
 *	only_b		1 / (1 - in_b) - 1 / (1 - in_union)
 *	both		1 / (1 - in_a) + 1 / (1 - in_b) - 1 / (1 - in_union)
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
	double		all = ldexp(h->base, h->base_bits - 1) * 256 / 258;
	double		in_a = -expm1(-n_a / all);
	double		in_b = -expm1(-n_b / all);
	double		in_union = -expm1(-(n_a + n_b - possible) / all);
	double		in_both = in_a + in_b - in_union;
	double		only_a = 1 / (1 - in_a) - 1 / (1 - in_union);
	double		only_b = 1 / (1 - in_b) - 1 / (1 - in_union);
	double		both = only_a + 1 / (1 - in_b);
	double		mean = (in_union - in_b) * only_a +
		(in_union - in_a) * only_b + in_both * both;
	double		square = (in_union - in_b) * only_a * only_a +
		(in_union - in_a) * only_b * only_b + in_both * both * both;

	overlap->a = n_a;
	overlap->b = n_b;
	overlap->common = common;
	overlap->standard_error = sqrt(fmax(all * (square - mean * mean) - possible,
										0));
}
