-- Where a lookup of an element looks, what it finds there, and what each of the
-- lookups says: one row. See "chase a wrong answer" in CONTRIBUTING.md.
--
-- path			'stored' (slices, or the cache) or 'memory'
-- kind			of the filter, by which a lookup is chosen (CuckooKind)
-- hash			of the element, with the filter's seed
-- fingerprint	as stored
-- buckets		the element's two, from 0
-- partners		is each bucket the other's partner?
-- contents		the fingerprints in their slots, 0 to 3 and 4 to 7
-- slots		those of them that hold the element's
-- contained	what cf_contains says of a filter in memory
-- batch		what the scan and cf_contains_each say
-- sliced		copies that a lookup by slices finds
-- copies		copies that cf_count finds
CREATE FUNCTION cuckoo_where(f cuckoofilter, v anyelement,
	OUT path text, OUT kind text, OUT hash text, OUT fingerprint text, OUT buckets int[], OUT partners boolean,
	OUT contents text[], OUT slots int[], OUT contained boolean, OUT batch boolean, OUT sliced int, OUT copies int)
AS 'cuckoo_test' LANGUAGE C STRICT;
