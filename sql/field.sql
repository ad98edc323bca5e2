-- Failures of other filters and extensions that this one could have had: a case each, by the name of the report.
-- What other tests show is only listed, with their names.
CREATE FUNCTION state_of(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

-- RedisBloom CVE-2024-25115, CVE-2024-25116 and division by zero for a bucket count of 0; pg_roaringbitmap 41, 45, 50,
-- 68.
-- They trust lengths and parameters of the input. See io.sql, "what is refused" and "sizes that would overflow".

-- RedisBloom CVE-2026-25589 (RESTORE trusts the counts of a dump): memory for the items that a damaged page claims.
CREATE FUNCTION corrupt(bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE damaged AS SELECT corrupt(set_byte(f::bytea, 23, 32)) AS f, f AS good
FROM (SELECT cf_agg(i, 10000, 0.01) AS f FROM generate_series(1, 10000) i) s;
SELECT call, state_of(format('SELECT %s FROM damaged', call))
FROM unnest(ARRAY['cf_union(f, f)', 'cf_union_all(good, f)', 'cf_intersect(f, good)', 'cf_overlap(f, f)',
	'cf_overlap_info(good, f)',
	'cf_canonical(f)', 'cf_union_agg(f)', 'cf_union_all_agg(f)', 'cf_intersect_agg(f)', 'cf_at_least_agg(f, 1)',
	'cf_count(f)', 'cf_contains(f, 1)', 'cf_add(f, 1)', 'cf_info(f)']) call;
-- one too many is too many
SELECT items,
	state_of(format('SELECT cf_union(f, f)
		FROM (SELECT corrupt(set_byte(set_byte(cf_new(1, 0.03, 0, ''int'')::bytea, 16, %s), 3, 1)) AS f) s', items))
FROM unnest(ARRAY[0, 8, 9]) items;
DROP TABLE damaged;
DROP FUNCTION corrupt;
-- the same of states: 003_other_extensions.pl, "bad"

-- TimescaleDB PR 8761, 9579, 9581 (the hash depends on the build): hashes by another implementation, the xxhash library
SELECT family, hash AS value, truth FROM (VALUES
	('integer', cf_hash(-7), -3607984339107086412), ('integer', cf_hash((-7)::int2, 5), -4601063431782661285),
	('text', cf_hash('abc'::varchar), 8696274497037089104),
	('text', cf_hash(''), 3244421341483603138), ('bytea', cf_hash('\x00ff'::bytea), -6225377411875435533),
	('uuid', cf_hash('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid), 6187780171734267751),
	('boolean', cf_hash(true), -2220562881957146901), ('date', cf_hash('2001-01-01'::date), 6512619930275042614),
	('timestamp', cf_hash('1999-12-31 23:59:59.999999'::timestamp), 5841669975847748627),
	('timestamptz', cf_hash('1999-12-31 23:59:59.999999+00'::timestamptz), 5841669975847748627),
	('float', cf_hash(1.5::float4), 2693614958850487384)) v(family, hash, truth);
-- TimescaleDB 10153 (int2 against int8), 10263, 10586 (nondeterministic collations): elements.sql, "every pair is
-- equal" and "cases".

-- hll 45, 74, 115 (enums follow OIDs, which change on restore): the same labels in another type, in another order
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TEMP TABLE moods AS SELECT cf_agg(m) AS f FROM unnest('{sad}'::mood[]) m;
DROP TYPE mood;
CREATE TYPE mood AS ENUM ('sad', 'other', 'happy');
SELECT m, cf_contains(f, m) AS found, m = 'sad' AS truth FROM moods, unnest(enum_range('sad'::mood)) m;
SELECT cf_hash('sad'::mood) AS by_label, 5006967871129503182 AS truth;
DROP TABLE moods;
DROP TYPE mood;
-- datasketches, pipelinedb (a pointer is hashed: toasted and inline values differ): elements.sql, "values of any
-- length and storage"

-- RedisBloom 533 (92 thousand items took 8 GB: duplicates times expansion)
SELECT cf_count(f) AS items, 200 AS truth, growth_level, bytes
FROM (SELECT cf_add_all(cf_add_all(cf_new(100), array_agg(i % 100)), array_agg(i % 100)) AS f
	FROM generate_series(1, 92000) i) s, cf_info(f);
-- nine copies fill both buckets, and then every other key is refused
SELECT count(*) FILTER (WHERE cf_contains(f, -i)) AS others, 1000 AS truth, cf_count(f, 1) AS copies, 2 AS truth
FROM (SELECT cf_add_all(cf_add_all(cf_new(1000), array_fill(1, ARRAY[1000])), array_agg(-i)) AS f
	FROM generate_series(1, 1000) i) s, generate_series(1, 1000) i GROUP BY f;
-- RedisBloom 259 (compaction loses items), also by deletes from grown filters: sets.sql, "the canonical form".
-- RedisBloom 599, 263, 481 ("filter is full"): functions.sql, "a full filter at its last level is an error".
-- An insert that fails drops the fingerprint evicted last: all are there that were taken
DO $$
DECLARE
	f cuckoofilter := cf_new(100, 0.03);
	n int := 0;
BEGIN
	BEGIN
		LOOP
			f := cf_add(f, n + 1);
			n := n + 1;
		END LOOP;
	EXCEPTION WHEN program_limit_exceeded THEN
	END;
	RAISE NOTICE 'elements for a capacity of 100: %, lost: %', n,
		(SELECT count(*) FROM generate_series(1, n) i WHERE NOT cf_contains(f, i));
END $$;
-- a delete of what was never added removes another item: only a look-alike with one copy, and never one of two
SELECT cf_count(f) - cf_count(g) AS lost_copies, 40 AS less_than, count(*) FILTER (WHERE cf_contains(g, i)) AS found,
	5000 AS truth
FROM (SELECT f, cf_delete_all(f, array_agg(-i)) AS g
	FROM (SELECT cf_add_all(cf_add_all(cf_new(10000, 0.001), array_agg(i)), array_agg(i)) AS f
		FROM generate_series(1, 5000) i) s, generate_series(1, 10000) i GROUP BY f) s,
	generate_series(1, 5000) i GROUP BY f, g;

-- pg_roaringbitmap 5 (double free as a window aggregate), hll 19: cf_agg in agg.sql, "groups and windows";
-- cf_union_agg in sets.sql, "windows"; the others here
CREATE TEMP TABLE days AS SELECT d, cf_agg(i, 5000, 0.01) AS f
FROM generate_series(1, 8) d, generate_series(d * 100, d * 100 + 400) i GROUP BY d;
SELECT d, cf_count(cf_union_all_agg(f) OVER (ORDER BY d)) AS items FROM days ORDER BY d;
SELECT d, seen(sum) AS sum,
	(SELECT seen(cf_union_all_agg(f)) FROM days p WHERE p.d BETWEEN w.d - 2 AND w.d + 1) AS truth
FROM (SELECT d, cf_union_all_agg(f) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS sum FROM days) w;
DROP TABLE days;
-- pg_roaringbitmap 6 (wrong parallel results), hll 64, 73, 120: agg.sql, "in parallel"; 005_parallel.pl

-- "could not determine polymorphic type because input has type unknown"; hll 145 (crash on cstring); intarray (the
-- type of a planner's constant is trusted)
CREATE TABLE common AS SELECT 7 AS v FROM generate_series(1, 100);
ANALYZE common;
SELECT v, state_of(format('SELECT cf_contains(cf_new(), %s)', v)) AS contains,
	state_of(format('SELECT cf_add(cf_new(), %s)', v)) AS add,
	state_of(format('SELECT cf_agg(%s)', v)) AS agg, state_of(format('SELECT cf_hash(%s)', v)) AS hash,
	state_of(format('EXPLAIN SELECT FROM pg_class WHERE cf_contains(cf_new(), %s)', v)) AS plan
FROM unnest(ARRAY[$$'x'$$, 'NULL', $$'x'::cstring$$, $$'x'::unknown$$, $$set_config('a.b', '', true)::cstring$$,
	'pg_sleep(0)', $$(SELECT most_common_vals FROM pg_stats WHERE tablename = 'common')$$,
	'(SELECT NULL::cuckoofilter)', $$'{}'::json$$, $$array_in('{1}', 23, -1)$$, 'ARRAY[NULL]']) v;
DROP TABLE common;
SELECT query, state_of('SELECT ' || query) FROM unnest(ARRAY[
	$$cf_contains_any(cf_new(), '{x}')$$, 'cf_add_all(cf_new(), NULL)', $$cf_new() @> 'x'$$, $$'x' <@ cf_new()$$,
	$$cf_contains('x', 1)$$, $$cf_new(element => 'record')$$, $$cf_new(element => 'unknown')$$,
	$$cf_new(element => 'cstring')$$, $$cf_new(element => 'internal')$$]) query;

-- pgvector 288, 904 (schemas, search_path): nothing inside depends on it, also where the server restricts it
CREATE TABLE listed (v int PRIMARY KEY, f cuckoofilter DEFAULT cf_add(cf_new(), 1), CHECK (cf_contains(f, 1)));
CREATE MATERIALIZED VIEW listed_of AS SELECT cf_agg(v) AS f, cf_union_agg(f) AS u FROM listed;
CREATE INDEX ON listed (cf_contains(f, v));
SET search_path = '';
INSERT INTO public.listed SELECT pg_catalog.generate_series(1, 2000);
REFRESH MATERIALIZED VIEW public.listed_of;
REINDEX TABLE public.listed;
ANALYZE public.listed;
SELECT count(*) FILTER (WHERE public.cf_contains(o.f, v)) AS found,
	count(*) FILTER (WHERE o.f OPERATOR(public.@>) v) AS by_operator, 2000 AS truth
FROM public.listed l, public.listed_of o WHERE public.cf_contains(o.f, l.v);
RESET search_path;
DROP MATERIALIZED VIEW listed_of;
DROP TABLE listed;
-- the install script in a hostile schema, another schema: objects.sql; trusted and dumped: 001_dump_restore.pl
-- Citus (hll 55, 56): 011_distributed.pl

-- Adversary: who knows the seed finds elements of one pair of buckets. The place of a hash by FORMAT.md, for few base
-- buckets; xor and product of 64 bits
CREATE FUNCTION product(a bigint, b numeric) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$
	SELECT (CASE WHEN p >= 9223372036854775808 THEN p - 18446744073709551616 ELSE p END)::bigint
	FROM (SELECT mod((CASE WHEN a < 0 THEN a + 18446744073709551616 ELSE a END) * b, 18446744073709551616) AS p) s
$$;
CREATE FUNCTION shifted(a bigint, n int) RETURNS bigint IMMUTABLE LANGUAGE sql
	AS 'SELECT a >> n & ((1::bigint << (64 - n)) - 1)';
CREATE TEMP TABLE bytes AS SELECT fixed, (z # shifted(z, 31)) & 4294967295 AS h FROM generate_series(0, 255) fixed,
	LATERAL (SELECT greatest(fixed, 1)::bigint AS z) a(x),
	LATERAL (SELECT product(x # shifted(x, 30), 13787848793156543929) AS y) b,
	LATERAL (SELECT product(y # shifted(y, 27), 10723151780598845931) AS z) c;
CREATE TEMP TABLE found AS
	SELECT i, least(j1, j2) AS low, greatest(j1, j2) AS high, hash >> 8 & 31 AS ext
	FROM (SELECT i, cf_hash(i) AS hash FROM generate_series(1, 1000000) i) s,
		LATERAL (SELECT shifted(hash, 32) * 28 >> 32 AS j1) a,
		bytes, LATERAL (SELECT ((h * 14 >> 32) * 2 + 1 - j1 + 28) % 28 AS j2) b WHERE fixed = (hash & 255);
SELECT buckets AS base_buckets FROM cf_info(cf_new(100, 1e-5));
SELECT low, high, count(*) AS elements FROM found GROUP BY 1, 2 ORDER BY count(*) DESC, 1 LIMIT 1 \gset
SELECT :elements AS of_one_pair, 2000 AS more_than;
-- elements are added until they are refused: never below an eighth of the slots unless there are 64 buckets or fewer;
-- all taken are there
CREATE FUNCTION attacked(f cuckoofilter, elements int[], OUT taken bigint, OUT refused text, OUT least_load float8,
	OUT lost bigint, OUT others bigint) LANGUAGE plpgsql AS $$
DECLARE
	e int;
BEGIN
	taken := 0;
	BEGIN
		FOREACH e IN ARRAY elements LOOP
			f := cf_add(f, e);
			taken := taken + 1;
			least_load := least(least_load, (SELECT load_factor FROM cf_info(f) WHERE buckets > 128));
		END LOOP;
	EXCEPTION WHEN program_limit_exceeded THEN
		refused := SQLERRM;
	END;
	lost := (SELECT count(*) FROM unnest(elements[:taken]) i WHERE NOT cf_contains(f, i));
	-- the filter still takes honest elements
	others := (SELECT count(*) FROM cf_add_all(f, ARRAY(SELECT -generate_series(1, 20))) g, generate_series(1, 20) i
		WHERE cf_contains(g, -i));
END $$;
-- an addition that grows the filter leaves half of an eighth
SELECT what, refused, at_least, taken, at_most, lost, others, least_load, 0.0625 AS at_least
FROM (VALUES ('one pair', 0, 8, 400, NULL::int), ('one pair at every level', 0, 8, 40, 1),
	('secret seed', 97531, 2001, 9999, NULL)) v(what, seed, at_least, at_most, ext),
	LATERAL (SELECT array_agg(i ORDER BY i) AS elements FROM found
		WHERE low = :low AND high = :high AND (found.ext = v.ext OR v.ext IS NULL)) e,
	LATERAL attacked(cf_new(100, 1e-5, seed), elements);
-- built at once, by capacity and exactly
SELECT seed, by_capacity
FROM unnest(ARRAY[0, 97531]) seed,
	state_of(format('SELECT cf_agg(i, 100, 1e-5, %s) FROM found WHERE low = %s AND high = %s', seed, :low,
		:high)) AS by_capacity;
SELECT state_of(format('SELECT cf_agg(i) FROM found WHERE low = %s AND high = %s', :low, :high)) AS other_buckets_fit;
DROP FUNCTION attacked, product, shifted, state_of;
