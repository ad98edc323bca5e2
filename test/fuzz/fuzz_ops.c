/*-------------------------------------------------------------------------
 *
 * fuzz_ops.c
 *		A sequence of operations against the model.
 *
 *-------------------------------------------------------------------------
 */
#define POOL		16
#define STRANGERS	4

#include "fuzz.h"
#include "sequence.h"

static void
fuzz(void)
{
	Sequence	s = {0};
	CuckooHeader h = fuzz_header();

	unit_filter_init(&s.f, &h);
	naive_model_init(&s.model, 16);
	s.most_buckets = 4 * h.buckets;
	while (unit_left > 0)
	{
		uint64_t	r = unit_below(64);
		uint64_t	hash = some_hash(&s);

		if (r < 38)
			add(&s, hash, 1 + (int) r % 2);
		else if (r < 56)
			del(&s, hash);
		else if (r < 60)
			grow(&s);
		else if (r < 63)
			shrink(&s);
		else
			check_all(&s);
		check_element(&s, hash);
	}
	if (fuzz_share(0, 2))
		check_all(&s);
	unit_filter_free(&s.f);
	naive_model_free(&s.model);
	free(s.before);
}
