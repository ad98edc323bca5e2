-- Where a lookup of an element looks, what it finds there, and what each of the
-- lookups says: one row. See "chase a wrong answer" in doc/hacking.md.
--
-- path			'stored' (probed by slices or in the cache) or 'memory'
-- kind			the kind of the filter, which chooses the lookup (CuckooKind)
-- hash			the hash of the element, with the filter's seed
-- fingerprint	the fingerprint of the element, as stored
-- buckets		the two buckets of the element, counted from 0
-- partners		is each bucket the other's partner?
-- contents		the fingerprints in the slots of both, 0 to 3 and 4 to 7
-- slots		the slots that hold the fingerprint of the element
-- contained	the answer of cf_contains for a filter in memory
-- batch		the answer of the scan and of cf_contains_each
-- sliced		the copies that a lookup by slices finds
-- copies		the copies that cf_count finds
CREATE FUNCTION cuckoo_where(f cuckoofilter, v anyelement,
	OUT path text, OUT kind text, OUT hash text, OUT fingerprint text, OUT buckets int[], OUT partners boolean,
	OUT contents text[], OUT slots int[], OUT contained boolean, OUT batch boolean, OUT sliced int, OUT copies int)
AS 'cuckoo_test' LANGUAGE C STRICT;
