-- Filters as sets.
-- filters filled one by one, built, grown, with deleted elements: layout and order do not matter
CREATE TABLE shards (shard int, f cuckoofilter);
INSERT INTO shards SELECT i % 4, cf_agg(i, 100000, 0.001) FROM generate_series(1, 40000) i GROUP BY 1;
INSERT INTO shards VALUES (NULL, NULL);
CREATE TABLE whole AS SELECT cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 40000) i;
SELECT cf_union_all_agg(s.f) = w.f AS built, cf_canonical(cf_add_all(cf_new(100000), ARRAY(SELECT generate_series(40000, 1, -1)))) = w.f AS filled,
	cf_canonical(w.f) = w.f AS canonical, cf_canonical(grown(grown(w.f))) = w.f AS grown,
	cf_canonical(cf_delete_all(cf_add_all(w.f, ARRAY(SELECT generate_series(-300, -1))), ARRAY(SELECT generate_series(-300, -1)))) = w.f AS deleted
FROM shards s, whole w GROUP BY w.f;
-- the laws
CREATE VIEW filters AS SELECT cf_agg(i, 5000, 0.01) FILTER (WHERE i <= 4000) AS a, cf_agg(i, 5000, 0.01) FILTER (WHERE i BETWEEN 2000 AND 9000) AS b,
	cf_agg(i, 5000, 0.01) FILTER (WHERE i % 3 = 0) AS c, cf_new(5000, 0.01) AS empty FROM generate_series(1, 20000) i;
SELECT a | b = b | a AS commutative, (a | b) | c = a | (b | c) AS associative, a | a = a AS idempotent, a | empty = a AS neutral,
	(a & b) & c = a & (b & c) AS both, a & (a | b) = a AS absorbed, a | (a & b) = a AS too, cf_union(empty, empty) = empty AS nothing, (a & empty) = cf_clear(a) AS none FROM filters;
SELECT cf_union_all(a, b) = cf_union_all(b, a) AS commutative, cf_union_all(cf_union_all(a, b), c) = cf_union_all(a, cf_union_all(b, c)) AS associative,
	cf_union_all(a, empty) = a AS neutral, cf_count(cf_union_all(a, a), 1) AS twice, cf_union_all(a, cf_union_all(a, a)) = cf_union_all(a, a) AS at_most FROM filters;
-- what is in either, and in both, is in the result, and little else
WITH sets AS MATERIALIZED (SELECT a | b AS either, a & b AS common FROM filters)
SELECT count(*) FILTER (WHERE i <= 9000 AND NOT cf_contains(either, i)) AS lost, count(*) FILTER (WHERE i BETWEEN 2000 AND 4000 AND NOT cf_contains(common, i)) AS lost_common,
	count(*) FILTER (WHERE i > 20000 AND cf_contains(either, i)) < 600 AS few, count(*) FILTER (WHERE i > 20000 AND cf_contains(common, i)) < 100 AS fewer FROM sets, generate_series(1, 40000) i;
-- copies: the larger number, their sum up to two, the smaller
SELECT v, cf_count(a | b, v) AS "union", cf_count(cf_union_all(a, b), v) AS sum, cf_count(a & b, v) AS "both"
FROM (SELECT cf_add_all(cf_new(), '{one,one,both,left}'::text[]) AS a, cf_add_all(cf_new(), '{both,one}'::text[]) AS b) s, unnest('{one,both,left,none}'::text[]) v;
-- after a sum of disjoint parts, deleting one part leaves the other; a union loses elements that look the same
WITH parts AS MATERIALIZED (SELECT cf_agg(i, 80000, 0.03) FILTER (WHERE i <= 40000) AS a, cf_agg(i, 80000, 0.03) FILTER (WHERE i > 40000) AS b FROM generate_series(1, 80000) i),
	rest AS MATERIALIZED (SELECT cf_delete_all(cf_union_all(a, b), ARRAY(SELECT generate_series(40001, 80000))) AS f, cf_delete_all(a | b, ARRAY(SELECT generate_series(40001, 80000))) AS g FROM parts)
SELECT count(*) FILTER (WHERE NOT cf_contains(f, i)) AS lost, count(*) FILTER (WHERE NOT cf_contains(g, i)) > 0 AS lost_of_union FROM rest, generate_series(1, 40000) i;
-- overlap: against the truth, within four standard errors
SELECT fpp, common, abs(cf_overlap(a, b) - common) <= 4 * sqrt(greatest(cf_count(b) * (cf_info(a)).fpp_now, 1)) AS near, cf_overlap(a, b) = cf_overlap(b, a) AS commutative
FROM unnest('{0.01,0.001}'::float8[]) fpp, unnest('{0,100,10000,30000}'::int[]) common,
	LATERAL (SELECT cf_agg(i, 50000, fpp) FILTER (WHERE i <= 30000) AS a, cf_agg(i, 50000, fpp) FILTER (WHERE i > 30000 - common AND i <= 60000 - common) AS b FROM generate_series(1, 60000) i) s;
SELECT cf_overlap(empty, a), cf_overlap(empty, empty), abs(cf_overlap(a, a) - cf_count(a)) < 12 AS self FROM filters;
-- the exact figures of the formula: sizes equal, unequal and none; copies, which do not count; neither clamped nor rounded
CREATE FUNCTION parts_of(n int, first int, last int, fpp float8 DEFAULT 0.03) RETURNS cuckoofilter LANGUAGE sql AS
	'SELECT cf_canonical(cf_add_all(cf_new(n, fpp), ARRAY(SELECT generate_series(first, last))))';
SELECT name, round(common::numeric, 3) AS common, round(standard_error::numeric, 3) AS standard_error, round(only_a::numeric, 3) AS only_a, round(only_b::numeric, 3) AS only_b,
	round(union_count::numeric, 3) AS union_count, round(jaccard::numeric, 6) AS jaccard, round(containment::numeric, 6) AS containment, common = cf_overlap(a, b) AS same
FROM (VALUES ('equal', parts_of(16500, 1, 30000), parts_of(16500, 20001, 50000)), ('disjoint', parts_of(16500, 1, 30000), parts_of(16500, 30001, 60000)),
	('unequal', parts_of(16500, 1, 30000), parts_of(16500, 29901, 30200)), ('the other way round', parts_of(16500, 29901, 30200), parts_of(16500, 1, 30000)),
	('few', parts_of(16500, 1, 10), parts_of(16500, 11, 30)), ('one by chance', parts_of(150, 1, 100), parts_of(150, 1001, 1010)),
	('once', parts_of(33000, 1, 30000), parts_of(33000, 20001, 50000)),
	('copies', cf_union_all(parts_of(33000, 1, 30000), parts_of(33000, 1, 30000)), parts_of(33000, 20001, 50000)),
	('none of a', cf_new(16500, 0.03), parts_of(16500, 1, 300)), ('unsized', (SELECT cf_agg(1) WHERE false), parts_of(16500, 1, 300)), ('none', cf_new(16500, 0.03), cf_new(16500, 0.03))) v(name, a, b), cf_overlap_info(a, b);
-- over many disjoint pairs the errors cancel out
SELECT abs(sum(common)) < 3 * sqrt(sum(standard_error ^ 2)) AS no_bias, bool_or(common < 0) AS below, sqrt(sum(common ^ 2)) BETWEEN 0.8 * sqrt(sum(standard_error ^ 2)) AND 1.25 * sqrt(sum(standard_error ^ 2)) AS error
FROM generate_series(1, 60) i, cf_overlap_info(parts_of(1000, 4000 * i, 4000 * i + 1999), parts_of(1000, 4000 * i + 2000, 4000 * i + 3999));
-- the count of a union of many is too low, unless it is corrected
SELECT cf_count(f) < 59200 AS low, abs(cf_count(f) / (1 - (cf_info(f)).fpp_now / 2) - 60000) < 60 AS corrected
FROM (SELECT cf_union_agg(parts_of(30000, 1000 * i, 1000 * i + 999)) AS f FROM generate_series(1, 60) i) u;
-- null for null; nothing from nothing
SELECT cf_union(a, NULL) IS NULL AND (NULL | a) IS NULL AND cf_intersect(a, NULL) IS NULL AND cf_overlap(NULL, a) IS NULL AND cf_canonical(NULL) IS NULL AND cf_compatible(a, NULL) IS NULL AS nulls FROM filters;
SELECT cf_union_agg(f) AS none, cf_union_all_agg(f) AS sum FROM shards WHERE f IS NULL;
SELECT cf_union_agg(f) = cf_canonical(f) AS one FROM shards WHERE shard = 1 GROUP BY f;
-- what cf_agg returns without values is unsized: it stands for the empty filter of any geometry, seed and family, on either side
CREATE VIEW unsized AS SELECT cf_agg(i) AS n FROM generate_series(1, 0) i;
SELECT name, f | n = cf_canonical(f) AND n | f = cf_canonical(f) AS "union", cf_union_all(n, f) = cf_canonical(f) AND cf_union_all(f, n) = cf_canonical(f) AS sum,
	f & n = cf_canonical(cf_clear(f)) AND n & f = cf_clear(f) AS "both", cf_overlap(n, f) = 0 AND cf_overlap(f, n) = 0 AS overlap, cf_compatible(n, f) AND cf_compatible(f, n) AS compatible,
	cf_union_agg(g) = cf_canonical(f) AND cf_union_all_agg(g) = cf_canonical(f) AND cf_intersect_agg(g) = cf_clear(f) AND cf_at_least_agg(g, 1) = cf_canonical(f) AND cf_at_least_agg(g, 2) = cf_clear(f) AS aggregates
FROM unsized, (VALUES ('of text', (SELECT cf_agg('a'::text, 5000, 0.01, 7))), ('many', parts_of(5000, 1, 4000, 1e-8)), ('grown', grown(parts_of(5000, 1, 4000, 1e-8))), ('exact', (SELECT cf_agg(1))), ('numeric', (SELECT cf_agg(1.5))),
	('empty', cf_new(999, 0.2, 5)), ('empty of a family', cf_new(element => 'date'))) v(name, f), LATERAL unnest(ARRAY[n, f, n]) g GROUP BY name, f, n ORDER BY name;
-- with itself; a filter with the same bytes is the same; an empty one of a geometry, seed or family is none
SELECT n | n = n AND cf_union_all(n, n) = n AND n & n = n AND cf_canonical(n) = n AS itself, cf_overlap(n, n), cf_new(7, 0.001) = n AS same_bytes,
	cf_compatible(cf_new(7), cf_new(9999, 0.1)) AS same, cf_compatible(cf_new(8), cf_new(9999)) AS capacity, cf_compatible(cf_new(7, 0.01), cf_new(9999)) AS fpp,
	cf_compatible(cf_new(7, seed => 1), cf_new(9999)) AS seed, cf_compatible(cf_new(7, element => 'int'), cf_new(9999)) AS family FROM unsized;
-- from any place among many rows, also when it is first, and in states with runs
SELECT bool_and(cf_union_agg = f AND cf_union_all_agg = f) AS "union", bool_and(cf_intersect_agg = cf_clear(f)) AS "both", bool_and(at_least = f) AS at_least
FROM (SELECT parts_of(9000, 1, 4500, 1e-8) AS f) s, LATERAL (SELECT place, cf_union_agg(g ORDER BY i), cf_union_all_agg(g ORDER BY i), cf_intersect_agg(g ORDER BY i), cf_at_least_agg(g, 1 ORDER BY i) AS at_least
	FROM generate_series(0, 4) place, unsized, LATERAL (SELECT i, CASE WHEN i = place THEN n ELSE parts_of(9000, (i - (i > place)::int) * 1125 + 1, (i - (i > place)::int) * 1125 + 1125, 1e-8) END AS g FROM generate_series(0, 4) i) p GROUP BY place) a;
-- a state keeps the geometry that it got: what does not fit is still an error
SELECT cf_count(f) FROM unsized, cf_union(n, parts_of(10, 1, 5)) f;
-- an empty filter takes the family of the other, whichever side it is on
SELECT (cf_info(cf_new() | f)).element_family, (cf_info(f | cf_new())).element_family, (cf_info(cf_union_agg(g))).element_family
FROM cf_add(cf_new(), 'a'::text) f, unnest(ARRAY[cf_new(), f]) g GROUP BY f;
-- what cannot be combined
SELECT cf_compatible(cf_new(), cf_agg(1, 1000000, 0.001)) AS empty, cf_compatible(cf_new(), cf_new(999)) AS capacity, cf_compatible(cf_new(), cf_new(seed => 1)) AS seed,
	cf_compatible(cf_new(element => 'text'), cf_new(element => 'int')) AS family, cf_compatible(cf_new(element => 'pg_lsn'), cf_new(element => 'timetz')) AS type,
	cf_compatible(cf_new(2000000), sealed(set_byte(cf_new(2000000)::bytea, 7, 0))::cuckoofilter) AS windows, cf_compatible(cf_new(10000, 0.03), cf_new(10000, 0.015)) AS only_fpp;
CREATE FUNCTION error_of(query text) RETURNS TABLE (state text, message text, detail text, hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	state := 'none';
	RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN NEXT;
END $$;
\x on
SELECT e.* FROM unnest(ARRAY[
	'SELECT cf_new(1000) | cf_new(1000000)',
	'SELECT cf_new(10000, 0.03) | cf_new(10000, 0.015)',
	'SELECT cf_agg(1, 100, 0.001) | cf_agg(1, 1000, 0.001)',
	'SELECT cf_new(2000000) | sealed(set_byte(cf_new(2000000)::bytea, 7, 0))::cuckoofilter',
	'SELECT cf_overlap_info(cf_new(1000, 0.03), cf_new(2000))',
	'SELECT cf_intersect_agg(f) FROM (VALUES (cf_new()), (cf_new(1000))) v(f)',
	'SELECT cf_at_least_agg(f, 1) FROM (VALUES (cf_new()), (cf_new(1000))) v(f)',
	'SELECT cf_at_least_agg(f, 1) FROM (VALUES (cf_new(1, 0.01, 3, ''int'')), (cf_new(1, 0.01, 3, ''date''))) v(f)',
	'SELECT cf_at_least_agg(cf_new(), NULL)',
	'SELECT cf_at_least_agg(NULL, NULL)',
	'SELECT cf_at_least_agg(cf_new(), 0)',
	'SELECT cf_at_least_agg(cf_new(), i) FROM generate_series(2, 3) i',
	'SELECT cf_at_least_agg(CASE i WHEN 2 THEN cf_new() END, i) FROM generate_series(2, 3) i',
	'SELECT cf_union_agg(f) FROM unsized, LATERAL (VALUES (n), (cf_new(1000)), (cf_new())) v(f)',
	'SELECT cf_new(1000000, 0.01) & cf_new(1000000)',
	'SELECT cf_union(cf_agg(1), cf_new())',
	'SELECT cf_union_all(cf_new(seed => -1), cf_new())',
	'SELECT cf_overlap(cf_new(element => ''text''), cf_new(element => ''int''))',
	'SELECT cf_intersect(cf_new(element => ''pg_lsn''), cf_new(element => ''timetz''))',
	'SELECT cf_union_agg(f) FROM (VALUES (cf_new()), (cf_new(1000))) v(f)',
	'SELECT cf_agg(i, 1000 * i, 0.01) FROM generate_series(1, 2) i'
]) query, error_of(query) e;
\x off
DROP FUNCTION error_of;

-- aggregates: any order, groups, windows, parallel, the same bytes
CREATE TABLE days AS SELECT day, cf_agg(day * 700 + i, 300000, 0.001) AS f FROM generate_series(1, 120) day, generate_series(1, 2000) i GROUP BY day;
ALTER TABLE days SET (parallel_workers = 2);
ANALYZE days;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) AS s FROM days;
SELECT ascending = u AS ascending, descending = u AS descending, random = u AS random, sum = s AS sum, cf_canonical(u) = u AS canonical, u <> s AS differ
FROM serial, (SELECT cf_union_agg(f ORDER BY day) AS ascending, cf_union_agg(f ORDER BY day DESC) AS descending, cf_union_agg(f ORDER BY md5(day::text)) AS random,
	cf_union_all_agg(f ORDER BY day DESC) AS sum FROM days) d;
SELECT cf_union_agg(f) = u AS nested, cf_union_all_agg(g) = s AS sums FROM serial, (SELECT cf_union_agg(f) AS f, cf_union_all_agg(f) AS g FROM days GROUP BY day % 7) d GROUP BY u, s;
SELECT (SELECT count(*) FROM generate_series(701, 86000) i WHERE NOT cf_contains(u, i)) AS lost, (SELECT count(*) FROM generate_series(701, 86000) i WHERE NOT cf_contains(s, i)) AS lost_of_sum FROM serial;
RESET max_parallel_workers_per_gather;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
-- workers that share a group would take longer, but their states combine to the same bytes
CREATE AGGREGATE parallel_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter, COMBINEFUNC = cf_union, FINALFUNC = cf_canonical, PARALLEL = SAFE);
CREATE AGGREGATE parallel_sum(cuckoofilter) (SFUNC = cf_union_all, STYPE = cuckoofilter, COMBINEFUNC = cf_union_all, FINALFUNC = cf_canonical, PARALLEL = SAFE);
SELECT plan_of('SELECT parallel_union(f) FROM days') ->> 'Partial Mode' AS parallel, plan_of('SELECT cf_union_agg(f) FROM days') ->> 'Partial Mode' AS serial;
SELECT (SELECT parallel_union(f) FROM days) = u AS "union", (SELECT parallel_sum(f) FROM days) = s AS sum FROM serial;
-- without a combine function they compute whole groups, those of partitions
CREATE AGGREGATE union_of_partition(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter, FINALFUNC = cf_canonical, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
CREATE TABLE weekly (week int, day int, f cuckoofilter) PARTITION BY LIST (week);
CREATE TABLE week1 PARTITION OF weekly FOR VALUES IN (1);
CREATE TABLE week2 PARTITION OF weekly FOR VALUES IN (2);
CREATE TABLE week3 PARTITION OF weekly FOR VALUES IN (3);
INSERT INTO weekly SELECT (day + 6) / 7, day, f FROM days WHERE day <= 21;
ANALYZE weekly;
SET enable_partitionwise_aggregate = on;
CREATE FUNCTION partial_modes(query text) RETURNS text LANGUAGE sql AS $$
	SELECT plan ->> 'Node Type' || ': ' || (SELECT string_agg(node ->> 'Partial Mode', ', ') FROM jsonb_path_query(plan, 'strict $.** ? (exists (@."Partial Mode"))') node)
	FROM CAST(plan_of(query) AS jsonb) plan
$$;
SELECT partial_modes('SELECT week, union_of_partition(f) FROM weekly GROUP BY week') AS groups, partial_modes('SELECT union_of_partition(f) FROM weekly') AS whole;
CREATE TABLE by_workers AS SELECT week, union_of_partition(f) AS u FROM weekly GROUP BY week;
SELECT week, cf_union_agg(f) = u AS "union", cf_count(u) FROM days JOIN by_workers ON week = (day + 6) / 7 GROUP BY week, u ORDER BY week;
RESET enable_partitionwise_aggregate;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
-- the last seven days, for each day
SELECT count(*), count(*) FILTER (WHERE week = (SELECT cf_union_agg(f) FROM days p WHERE p.day BETWEEN d.day - 6 AND d.day)) AS same
FROM (SELECT day, cf_union_agg(f) OVER (ORDER BY day ROWS 6 PRECEDING) AS week FROM days) d;
SELECT bool_and(u = (SELECT cf_union_agg(f) FROM days p WHERE p.day <= d.day)) AS growing FROM (SELECT day, cf_union_agg(f) OVER (ORDER BY day) AS u FROM days WHERE day <= 40) d;
-- a window whose start moves: the union of the filters in each frame, whatever comes and goes
CREATE TABLE mixed (day int, what text, f cuckoofilter);
INSERT INTO mixed SELECT day, 'copies', CASE WHEN day % 3 = 0 THEN cf_union_all(f, f) ELSE f END FROM days WHERE day <= 30;
INSERT INTO mixed SELECT day, 'nulls', CASE WHEN day % 7 < 2 THEN f END FROM days WHERE day <= 30;
INSERT INTO mixed SELECT day, 'none, of a family or not, and unsized', CASE day % 7 WHEN 0 THEN cf_clear(f) WHEN 2 THEN cf_new(300000, 0.001) WHEN 4 THEN n ELSE f END FROM days, unsized WHERE day <= 30;
INSERT INTO mixed SELECT day, 'small', cf_agg(i, 1000, 0.01) FROM generate_series(1, 30) day, generate_series(day, day + 5) i GROUP BY day;
SELECT what, count(*), count(u) AS unions, bool_and(u IS NOT DISTINCT FROM (SELECT cf_union_agg(x) FROM unnest(frame) x)) AS same
FROM (SELECT what, cf_union_agg(f) OVER w AS u, array_agg(f) OVER w AS frame FROM mixed WINDOW w AS (PARTITION BY what ORDER BY day ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)) s
GROUP BY what ORDER BY what COLLATE "C";
-- after an unsized filter another geometry may follow, as long as both are in no frame
SELECT count(*), bool_and(u = CASE WHEN f = n THEN b ELSE f END) AS unsized
FROM (SELECT v.f, n, lag(v.f) OVER w AS b, cf_union_agg(v.f) OVER w AS u FROM unsized, generate_series(4, 15) i, LATERAL (SELECT CASE WHEN i % 2 = 1 THEN n ELSE parts_of(i * 100, 1, i) END) v(f) WINDOW w AS (ORDER BY i ROWS 1 PRECEDING)) s;
SELECT cf_union_agg(f) OVER (ORDER BY n ROWS 1 PRECEDING) IS NULL FROM (VALUES (1, cf_new(1000)), (2, cf_new(2000))) v(n, f);
DROP TABLE mixed;
-- a state gives back what it does not need: the room of keys that two runs share, and the filter that a window has seen
SELECT cf_union_agg(u) = u AS same, max(contexts('cuckoofilter union', 'sum(total_bytes)')) < 1000000 AS little FROM serial, generate_series(1, 5) GROUP BY u;
SELECT count(f) AS windows, max(bytes) < 1000000 AS little
FROM (SELECT cf_union_agg(f) OVER (ORDER BY day) AS f, contexts('cuckoofilter union', 'sum(total_bytes)') AS bytes FROM days) d;
-- small ones, rewritten for each row, and those of no elements
SELECT cf_union_agg(cf_add(cf_new(1000, 0.001), i)) = cf_agg(i, 1000, 0.001) AS one_by_one, cf_union_agg(cf_new(1000, 0.001)) = cf_new(1000, 0.001) AS empty FROM generate_series(1, 300) i;

CREATE FUNCTION up_to(n int) RETURNS cuckoofilter IMMUTABLE LANGUAGE sql AS 'SELECT cf_agg(i, 9000, 0.001) FROM generate_series(1, n) i';
-- an intersection of many, and what is in at least k of them
CREATE TABLE thirds AS SELECT part, cf_agg(i, 9000, 0.001) AS f, cf_union_all(cf_agg(i, 9000, 0.001), cf_agg(i, 9000, 0.001)) AS twice
FROM generate_series(0, 2) part, generate_series(1, 6000) i WHERE i / 1000 <> part * 2 GROUP BY part;
CREATE AGGREGATE both_agg(cuckoofilter) (SFUNC = cf_intersect, STYPE = cuckoofilter);
CREATE FUNCTION both_or_one(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT CASE WHEN a IS NULL THEN b WHEN b IS NULL THEN a ELSE cf_intersect(a, b) END';
CREATE AGGREGATE lax_agg(cuckoofilter) (SFUNC = both_or_one, STYPE = cuckoofilter);
SELECT count(*), cf_count(both_agg(f)) AS items, bool_and(f = whole) AND both_agg(f) = whole AS same, cf_intersect_agg(f) = whole AS ours, lax_agg(f) = whole AS lax, both_agg(f) FILTER (WHERE i = 1) = whole AS one, both_agg(f) FILTER (WHERE i = 0) IS NULL AS none
FROM (SELECT i, up_to(2000) AS f FROM generate_series(1, 3) i) s, up_to(2000) whole GROUP BY whole;
DO $do$ BEGIN EXECUTE format($$CREATE AGGREGATE from_all_agg(cuckoofilter) (SFUNC = cf_intersect, STYPE = cuckoofilter, FINALFUNC = cf_canonical, INITCOND = %L)$$,
	(SELECT cf_union_agg(f) FROM thirds)); END $do$;
SELECT from_all_agg(f) = cf_intersect_agg(f) AS initcond, cf_intersect_agg(f) = (SELECT (a.f & b.f) & c.f FROM thirds a, thirds b, thirds c WHERE (a.part, b.part, c.part) = (0, 1, 2)) AS two_by_two,
	both_agg(f) = cf_intersect_agg(f) AS bare, cf_count(cf_intersect_agg(f)) BETWEEN 3000 AND 3010 AS items, cf_intersect_agg(twice) = cf_union_all(cf_intersect_agg(f), cf_intersect_agg(f)) AS copies,
	cf_count(both_agg(f) FILTER (WHERE part < 1)) = max(cf_count(f)) FILTER (WHERE part < 1) AS one, (SELECT from_all_agg(f) = cf_union_agg(f) FROM thirds WHERE false) AS of_none FROM thirds;
SELECT cf_count(both_agg(f)) < 10 AS disjoint FROM (SELECT cf_agg(i, 9000, 0.001) AS f FROM generate_series(1, 6000) i GROUP BY i % 2) s;
SELECT part, both_agg(f) OVER w = (SELECT cf_intersect_agg(f) FROM thirds p WHERE p.part <= t.part) AS growing, cf_intersect_agg(f) OVER m = (SELECT cf_intersect_agg(f) FROM thirds p WHERE p.part BETWEEN t.part - 1 AND t.part) AS moving
FROM thirds t WINDOW w AS (ORDER BY part), m AS (ORDER BY part ROWS 1 PRECEDING) ORDER BY part;
-- k of n: one is the union, all is the intersection; copies do not count, and the result has one of each
SELECT k, cf_at_least_agg(f, k) = cf_at_least_agg(f, k ORDER BY part DESC) AS any_order, cf_at_least_agg(f, k) = cf_at_least_agg(twice, k) AS copies, cf_count(cf_at_least_agg(f, k)) AS items
FROM thirds, generate_series(1, 4) k GROUP BY k ORDER BY k;
SELECT k, bool_and(cf_contains(g, i)) FILTER (WHERE n >= k) AS complete, count(*) FILTER (WHERE n < k AND cf_contains(g, i)) AS more
FROM (SELECT k, cf_at_least_agg(f, k) AS g FROM generate_series(1, 3) k, thirds GROUP BY k) s, LATERAL (SELECT i, count(*) FILTER (WHERE i <= 6000 AND i / 1000 <> part * 2) AS n FROM generate_series(1, 7000) i, thirds WHERE i <= 6000 OR i > 6990 GROUP BY i) e GROUP BY k ORDER BY k;
-- against counting, with a window that grows, and one that moves; nulls are skipped, no rows give null
CREATE TABLE drawn AS SELECT day, cf_agg(i, 2000, 1e-8) AS f, array_agg(i) AS a FROM generate_series(1, 12) day, generate_series(1, 1500) i WHERE (i * 7919 + day * 104729) * day % 1009 < 90 * (day % 4 + 1) GROUP BY day;
SELECT bool_and(growing = (SELECT cf_agg(e, 2000, 1e-8) FROM (SELECT e FROM drawn p, unnest(a) e WHERE p.day <= w.day GROUP BY e HAVING count(*) >= 3) s)) AS growing,
	bool_and(moving = (SELECT cf_agg(e, 2000, 1e-8) FROM (SELECT e FROM drawn p, unnest(a) e WHERE p.day BETWEEN w.day - 3 AND w.day GROUP BY e HAVING count(*) >= 2) s)) AS moving, count(DISTINCT growing::text), sum(cf_count(moving)) > 1000 AS items
FROM (SELECT day, cf_at_least_agg(f, 3) OVER (ORDER BY day) AS growing, cf_at_least_agg(f, 2) OVER (ORDER BY day ROWS 3 PRECEDING) AS moving FROM drawn) w;
SELECT cf_at_least_agg(f, 1) IS NULL AS none, cf_at_least_agg(NULL, 1) IS NULL AS nulls, (SELECT cf_at_least_agg(g, 2) = a FROM (SELECT f FROM thirds UNION ALL SELECT NULL) u(g), (SELECT cf_at_least_agg(f, 2) AS a FROM thirds) v GROUP BY a) AS skipped FROM thirds WHERE false;
-- a state of many filters takes memory for the distinct elements
SELECT cf_at_least_agg(u, 30) = u AS same, max(contexts('ExprContext', 'sum(total_bytes)')) < 3000000 AS little FROM serial, generate_series(1, 30) GROUP BY u;
-- functions of two states, which from PostgreSQL 16 on an aggregate without a final function returns as they are; no argument changes
CREATE AGGREGATE bare_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
CREATE AGGREGATE bare_sum(cuckoofilter) (SFUNC = cf_union_all, STYPE = cuckoofilter);
SELECT cf_union(a, b) = u AS "union", cf_union_all(s, t) = v AS sum, cf_union_all(a, b) = cf_union_all(cf_canonical(a), cf_canonical(b)) AS other, a & b = cf_canonical(a) & cf_canonical(b) AS "both", cf_overlap(a, b) = cf_overlap(cf_canonical(a), cf_canonical(b)) AS overlap,
	cf_canonical(a) = (SELECT cf_union_agg(f) FROM days WHERE day <= 70) AND cf_canonical(b) = (SELECT cf_union_agg(f) FROM days WHERE day > 50) AND cf_canonical(s) = (SELECT cf_union_all_agg(f) FROM days WHERE day <= 60) AS unchanged
FROM (SELECT bare_union(f) FILTER (WHERE day <= 70) AS a, bare_union(f) FILTER (WHERE day > 50) AS b, bare_sum(f) FILTER (WHERE day <= 60) AS s, bare_sum(f) FILTER (WHERE day > 60) AS t FROM days OFFSET 0) d, serial e(u, v);
-- a state keeps its family when it gets runs, and when two states are combined
SELECT (cf_info(cf_union_agg(f))).element_family FROM (VALUES (cf_new(2000)), (parts_of(2000, 1, 1900, 0.001))) v(f);
SELECT (cf_info(cf_union_agg(f))).element_family, cf_count(cf_union_agg(f)) > 1890 AS items FROM (SELECT cf_new(2000) AS f UNION ALL SELECT cf_agg(i::text, 2000, 0.001) FROM generate_series(1, 1900) i) s;
-- an image with more than two equal entries, which only others write: they count as two, and the canonical form does not depend on them
SELECT cf_count(f) AS entries, cf_count(f, 1) AS copies, cf_count(cf_canonical(f)), cf_canonical(f) = cf_canonical(cf_canonical(f)) AS idempotent, (cf_info(cf_canonical(f))).growth_level,
	cf_canonical(f) = cf_canonical(cf_add(cf_add(cf_new(1, 0.03), 1), 1)) AS two, f | f = cf_canonical(f) AS "union", cf_union_all(f, f) = cf_canonical(f) AS sum, f & f = cf_canonical(f) AS "both", cf_union_agg(f) = cf_canonical(f) AS agg
FROM cuckoofilter('\x43460101090800000200000000000000080000000000000000000000000000001f2fa5941f2fa594f470a1a2446a830a'::bytea) f GROUP BY f;

-- hashes as values
SELECT cf_hash(1), cf_hash(1::smallint) = cf_hash(1::bigint) AS family, cf_hash(1, 1) <> cf_hash(1) AS seed, cf_hash('a') = cf_hash('a'::text) AS text, cf_hash(NULL::int) AS null;

-- the planner's estimates: filters united during planning; of a union of others, and of a table, nothing is known
CREATE TABLE numbers AS SELECT i AS v, i % 10 AS part FROM generate_series(1, 10000) i;
ANALYZE numbers;
SELECT filter, round((plan_of(format('SELECT FROM numbers WHERE cf_contains(%s, v)', filter)) ->> 'Plan Rows')::numeric, -3) AS rows FROM unnest(ARRAY[
	'up_to(1000) | up_to(4000)',
	'up_to(1000) & up_to(4000)',
	'(SELECT cf_union_agg(f) FROM (SELECT cf_agg(v, 9000, 0.001) AS f FROM numbers WHERE part < 2 GROUP BY part) s)',
	'(SELECT cf_union_agg(f) FROM shards)'
]) filter;
-- a filter that was filled up to its end still has a canonical form, and so has its union with itself
CREATE FUNCTION full_filter(capacity bigint, fpp float8, seed bigint) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(capacity, fpp, seed);
BEGIN
	FOR i IN 1..40000 LOOP
		f := cf_add(f, i);
	END LOOP;
	RAISE 'not full';
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN f;
END $$;
SELECT count(*) AS filters, bool_and(cf_count(cf_canonical(f)) = cf_count(f)) AS compact, bool_and(f | f = cf_canonical(f)) AS union
FROM generate_series(1, 70) seed, full_filter(seed, 0.001, seed) f;
DROP FUNCTION full_filter;
-- geometries that differ only in the bits of their fingerprints, and k of null filters
\set VERBOSITY default
SELECT cf_union(cf_agg(1, 0.03), cf_add(cf_new(5, 0.03), 1));
SELECT cf_union(cf_new(7, 0.5), cf_agg(1, 0.5));
SELECT cf_count(cf_at_least_agg(f, k ORDER BY k)) AS first, cf_count(cf_at_least_agg(f, k ORDER BY k DESC)) AS last FROM (VALUES ((SELECT cf_agg(1)), 1), (NULL, 2)) v(f, k);
