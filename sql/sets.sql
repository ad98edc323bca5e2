-- Filters as sets: union, sum, intersection and overlap of two filters, and their aggregates.
-- Results stand beside what they must be: seen() shows a filter.
-- the canonical filter of some integers
CREATE FUNCTION range_of(first int, last int, capacity int, fpp float8 DEFAULT 0.03) RETURNS cuckoofilter
	LANGUAGE sql AS $$
	SELECT cf_canonical(cf_add_all(cf_new(capacity, fpp), ARRAY(SELECT generate_series(first, last))))
$$;
-- what cf_agg returns without values: the empty filter of any geometry, seed and family
CREATE VIEW unsized AS SELECT cf_agg(i) AS n FROM generate_series(1, 0) i;

-- ---- the canonical form ----

-- the order of elements, the layout, and elements that come and go do not matter
CREATE TABLE parts AS SELECT i % 4 AS part, cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 40000) i GROUP BY 1;
INSERT INTO parts VALUES (NULL, NULL);
CREATE TABLE whole AS SELECT cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 40000) i;
SELECT how, seen(cf_canonical(value)) AS value, seen(f) AS truth
FROM whole, LATERAL (SELECT ARRAY(SELECT generate_series(-300, -1)) AS others) o, LATERAL (VALUES
	('built in parts', (SELECT cf_union_all_agg(p.f) FROM parts p)),
	('filled one by one', cf_add_all(cf_new(100000), ARRAY(SELECT generate_series(40000, 1, -1)))),
	('itself', f),
	('grown', grown(grown(f))),
	('others deleted', cf_delete_all(cf_add_all(f, others), others))) v(how, value);
-- filters that were filled up to their end have one, too
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
SELECT count(*) AS filters, sum(cf_count(cf_canonical(f))) AS items, sum(cf_count(f)) AS truth,
	count(*) FILTER (WHERE f | f = cf_canonical(f)) AS with_itself
FROM generate_series(1, 70) seed, full_filter(seed, 0.001, seed) f;
DROP FUNCTION full_filter;
-- an image with more than two equal entries, which only others write: they count as two
CREATE TABLE image AS SELECT bytes::cuckoofilter AS f FROM CAST(
	'\x4346010109080000020000000000000008000000000000000000000000000000
	1f2fa5941f2fa594f470a1a2446a830a' AS bytea) bytes;
SELECT cf_count(f), cf_count(f, 1) AS copies FROM image;
SELECT how, seen(value) AS value, seen(cf_add(cf_add(cf_new(1, 0.03), 1), 1)) AS truth
FROM image, LATERAL (VALUES ('canonical', cf_canonical(f)), ('twice', cf_canonical(cf_canonical(f))), ('union', f | f),
	('sum', cf_union_all(f, f)), ('intersection', f & f), ('aggregate', (SELECT cf_union_agg(i.f) FROM image i))
) v(how, value);
DROP TABLE image;

-- ---- laws ----

CREATE VIEW filters AS SELECT cf_agg(i, 5000, 0.01) FILTER (WHERE i <= 4000) AS a,
	cf_agg(i, 5000, 0.01) FILTER (WHERE i BETWEEN 2000 AND 9000) AS b,
	cf_agg(i, 5000, 0.01) FILTER (WHERE i % 3 = 0) AS c, cf_new(5000, 0.01) AS empty
FROM generate_series(1, 20000) i;
SELECT law, seen(value) AS value, seen(truth) AS truth FROM filters, LATERAL (VALUES
	('a | b = b | a', a | b, b | a),
	('(a | b) | c = a | (b | c)', (a | b) | c, a | (b | c)),
	('a | a = a', a | a, a),
	('a | empty = a', a | empty, a),
	('empty | empty = empty', empty | empty, empty),
	('(a & b) & c = a & (b & c)', (a & b) & c, a & (b & c)),
	('a & empty = empty', a & empty, cf_clear(a)),
	('a & (a | b) = a', a & (a | b), a),
	('a | (a & b) = a', a | (a & b), a)) v(law, value, truth);
SELECT law, seen(value) AS value, seen(truth) AS truth FROM filters, LATERAL (VALUES
	('a + b = b + a', cf_union_all(a, b), cf_union_all(b, a)),
	('(a + b) + c = a + (b + c)', cf_union_all(cf_union_all(a, b), c), cf_union_all(a, cf_union_all(b, c))),
	('a + empty = a', cf_union_all(a, empty), a),
	('a + (a + a) = a + a', cf_union_all(a, cf_union_all(a, a)), cf_union_all(a, a))) v(law, value, truth);
-- null for null
SELECT name, seen(value)
FROM filters, LATERAL (VALUES ('a | null', a | NULL), ('null | a', NULL | a), ('a & null', a & NULL),
	('canonical', cf_canonical(NULL))) v(name, value);
SELECT cf_overlap(NULL, a), cf_compatible(a, NULL) FROM filters;

-- ---- elements ----

-- what is in either, and in both, is in the result, and little else
CREATE TABLE both_of AS SELECT a | b AS either, a & b AS common FROM filters;
SELECT count(*) FILTER (WHERE cf_contains(either, i)) AS either, 9000 AS truth
FROM both_of, generate_series(1, 9000) i;
SELECT count(*) FILTER (WHERE cf_contains(common, i)) AS common, 2001 AS truth
FROM both_of, generate_series(2000, 4000) i;
SELECT count(*) FILTER (WHERE cf_contains(either, i)) AS either,
	count(*) FILTER (WHERE cf_contains(common, i)) AS common, 0 AS truth
FROM both_of, generate_series(20001, 40000) i;
DROP TABLE both_of;
-- copies: the larger number, their sum up to two, the smaller
SELECT v, cf_count(a, v) AS a, cf_count(b, v) AS b, cf_count(a | b, v) AS "union",
	cf_count(cf_union_all(a, b), v) AS sum,
	cf_count(a & b, v) AS "both"
FROM cf_add_all(cf_new(), '{one,one,both,left}'::text[]) a, cf_add_all(cf_new(), '{both,one}'::text[]) b,
	unnest('{one,both,left,none}'::text[]) v;
-- after a sum of disjoint parts, deleting one part leaves the other; a union loses elements that look the same
CREATE TABLE halves AS SELECT cf_agg(i, 80000, 0.03) FILTER (WHERE i <= 40000) AS a,
	cf_agg(i, 80000, 0.03) FILTER (WHERE i > 40000) AS b, array_agg(i) FILTER (WHERE i > 40000) AS of_b
	FROM generate_series(1, 80000) i;
CREATE TABLE rests AS SELECT cf_delete_all(cf_union_all(a, b), of_b) AS of_sum, cf_delete_all(a | b, of_b) AS of_union
	FROM halves;
SELECT count(*) FILTER (WHERE cf_contains(of_sum, i)) AS of_sum,
	count(*) FILTER (WHERE cf_contains(of_union, i)) AS of_union, 40000 AS truth
FROM rests, generate_series(1, 40000) i;
DROP TABLE halves, rests;
-- the count of a union of many is too low, unless it is corrected
SELECT cf_count(f), round(cf_count(f) / (1 - (cf_info(f)).fpp_now / 2)) AS corrected, 60000 AS truth
FROM (SELECT cf_union_agg(range_of(1000 * i, 1000 * i + 999, 30000)) AS f FROM generate_series(1, 60) i) u;

-- ---- overlap ----

-- within four standard errors
SELECT fpp, round(cf_overlap(a, b)::numeric) AS overlap, round(cf_overlap(b, a)::numeric) AS swapped, common AS truth,
	round(4 * sqrt(greatest(cf_count(b) * (cf_info(a)).fpp_now, 1))) AS within
FROM unnest('{0.01,0.001}'::float8[]) fpp, unnest('{0,100,10000,30000}'::int[]) common,
	range_of(1, 30000, 50000, fpp) a, range_of(30001 - common, 60000 - common, 50000, fpp) b;
SELECT round(cf_overlap(a, a)) AS with_itself, 4000 AS truth, cf_overlap(empty, a), cf_overlap(empty, empty)
FROM filters;
-- the exact figures of the formula: equal, unequal and no sizes; copies do not count; neither clamped nor rounded
CREATE TABLE pairs (name text, a cuckoofilter, b cuckoofilter);
INSERT INTO pairs VALUES
	('equal', range_of(1, 30000, 16500), range_of(20001, 50000, 16500)),
	('disjoint', range_of(1, 30000, 16500), range_of(30001, 60000, 16500)),
	('unequal', range_of(1, 30000, 16500), range_of(29901, 30200, 16500)),
	('the other way round', range_of(29901, 30200, 16500), range_of(1, 30000, 16500)),
	('few', range_of(1, 10, 16500), range_of(11, 30, 16500)),
	('one by chance', range_of(1, 100, 150), range_of(1001, 1010, 150)),
	('once', range_of(1, 30000, 33000), range_of(20001, 50000, 33000)),
	('copies', cf_union_all(range_of(1, 30000, 33000), range_of(1, 30000, 33000)), range_of(20001, 50000, 33000)),
	('none of a', cf_new(16500, 0.03), range_of(1, 300, 16500)),
	('unsized', (SELECT n FROM unsized), range_of(1, 300, 16500)),
	('none', cf_new(16500, 0.03), cf_new(16500, 0.03));
SELECT name, round(common::numeric, 3) AS common, round(standard_error::numeric, 3) AS standard_error,
	round(only_a::numeric, 3) AS only_a, round(only_b::numeric, 3) AS only_b,
	round(union_count::numeric, 3) AS union_count, round(jaccard::numeric, 6) AS jaccard,
	round(containment::numeric, 6) AS containment
FROM pairs, cf_overlap_info(a, b);
SELECT count(*) AS differ FROM pairs, cf_overlap_info(a, b) WHERE common IS DISTINCT FROM cf_overlap(a, b);
DROP TABLE pairs;
-- over many disjoint pairs errors cancel out, and are as large as they say
SELECT round(sum(common)) AS sum, 0 AS truth, round(sqrt(sum(standard_error ^ 2))) AS standard_error,
	round(sqrt(sum(common ^ 2))) AS error, count(*) FILTER (WHERE common < 0) AS below_0
FROM generate_series(1, 60) i,
	cf_overlap_info(range_of(4000 * i, 4000 * i + 1999, 1000), range_of(4000 * i + 2000, 4000 * i + 3999, 1000));

-- ---- unsized filters ----

-- the other filter decides, on either side
CREATE TABLE others AS SELECT name, f, n FROM unsized, (VALUES
	('of text', (SELECT cf_agg('a'::text, 5000, 0.01, 7))), ('many', range_of(1, 4000, 5000, 1e-8)),
	('grown', grown(range_of(1, 4000, 5000, 1e-8))), ('exact', (SELECT cf_agg(1))), ('numeric', (SELECT cf_agg(1.5))),
	('empty', cf_new(999, 0.2, 5)), ('empty of a family', cf_new(element => 'date'))) v(name, f);
SELECT name, seen(f | n) AS "union", seen(n | f) AS swapped, seen(cf_canonical(f)) AS truth FROM others ORDER BY name;
SELECT name, seen(cf_union_all(f, n)) AS sum, seen(cf_union_all(n, f)) AS swapped, seen(cf_canonical(f)) AS truth
FROM others ORDER BY name;
SELECT name, seen(f & n) AS "both", seen(n & f) AS swapped, seen(cf_canonical(cf_clear(f))) AS truth
FROM others ORDER BY name;
SELECT name, cf_overlap(f, n), cf_overlap(n, f), cf_compatible(f, n), cf_compatible(n, f) FROM others ORDER BY name;
SELECT name, seen(cf_union_agg(g)) AS "union", seen(cf_union_all_agg(g)) AS sum,
	seen(cf_at_least_agg(g, 1)) AS at_least_1,
	seen(cf_canonical(f)) AS truth FROM others, unnest(ARRAY[n, f, n]) g GROUP BY name, f ORDER BY name;
SELECT name, seen(cf_intersect_agg(g)) AS "both", seen(cf_at_least_agg(g, 2)) AS at_least_2,
	seen(cf_canonical(cf_clear(f))) AS truth
FROM others, unnest(ARRAY[n, f, n]) g GROUP BY name, f ORDER BY name;
DROP TABLE others;
-- with itself
SELECT name, seen(value) AS value, seen(n) AS truth
FROM unsized, LATERAL (VALUES ('n | n', n | n), ('n + n', cf_union_all(n, n)),
	('n & n', n & n), ('canonical', cf_canonical(n)), ('the same bytes', cf_new(7, 0.001))) v(name, value);
SELECT cf_overlap(n, n) FROM unsized;
-- an empty filter of another geometry, seed or family is not unsized
SELECT cf_compatible(cf_new(7), cf_new(9999, 0.1)) AS unsized, cf_compatible(cf_new(8), cf_new(9999)) AS capacity,
	cf_compatible(cf_new(7, 0.01), cf_new(9999)) AS fpp, cf_compatible(cf_new(7, seed => 1), cf_new(9999)) AS seed,
	cf_compatible(cf_new(7, element => 'int'), cf_new(9999)) AS family;
-- at any place among many rows
SELECT place, seen(cf_union_agg(g ORDER BY i)) AS "union", seen(cf_union_all_agg(g ORDER BY i)) AS sum,
	seen(cf_at_least_agg(g, 1 ORDER BY i)) AS at_least_1, seen(range_of(1, 4500, 9000, 1e-8)) AS truth,
	cf_count(cf_intersect_agg(g ORDER BY i)) AS "both"
FROM unsized, generate_series(0, 4) place, generate_series(0, 4) i,
	LATERAL (SELECT 1125 * (i - (i > place)::int) AS after) a,
	LATERAL (SELECT CASE WHEN i = place THEN n ELSE range_of(after + 1, after + 1125, 9000, 1e-8) END) p(g)
GROUP BY place ORDER BY place;
-- a state keeps the geometry that it got
SELECT cf_count(f), 5 AS truth FROM unsized, cf_union(n, range_of(1, 5, 10)) f;

-- ---- what can be combined ----

-- an empty filter takes the family of the other, on either side
SELECT (cf_info(e | f)).element_family AS empty_first, (cf_info(f | e)).element_family AS empty_second,
	(SELECT (cf_info(cf_union_agg(g))).element_family FROM unnest(ARRAY[e, f]) g) AS aggregate
FROM cf_new() e, cf_add(cf_new(), 'a'::text) f;
-- and its tag
SELECT cf_contains(e | f, '{1}'::int[]) AS empty_first, cf_contains(f | e, '{1}'::int[]) AS empty_second
FROM cf_new() e, cf_add(cf_new(), '{1}'::int[]) f;
SELECT cf_compatible(cf_new(), cf_agg(1, 1000000, 0.001)) AS empty, cf_compatible(cf_new(), cf_new(999)) AS capacity,
	cf_compatible(cf_new(), cf_new(seed => 1)) AS seed,
	cf_compatible(cf_new(10000, 0.03), cf_new(10000, 0.015)) AS fpp,
	cf_compatible(cf_new(element => 'text'), cf_new(element => 'int')) AS family,
	cf_compatible(cf_new(element => 'pg_lsn'), cf_new(element => 'timetz')) AS type,
	cf_compatible(cf_new(2000000), sealed(set_byte(cf_new(2000000)::bytea, 7, 0))::cuckoofilter) AS windows;
CREATE FUNCTION error_of(query text) RETURNS TABLE (state text, message text, detail text, hint text)
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	state := 'none';
	RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	RETURN NEXT;
END $$;
\x on
SELECT query, e.* FROM unnest(ARRAY[
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
	'SELECT cf_agg(i, 1000 * i, 0.01) FROM generate_series(1, 2) i',
	'SELECT cf_union(cf_agg(1, 0.03), cf_add(cf_new(5, 0.03), 1))',
	'SELECT cf_union(cf_new(7, 0.5), cf_agg(1, 0.5))'
]) query, error_of(query) e;
\x off
DROP FUNCTION error_of;

-- ---- aggregates of unions and sums ----

-- any order gives the same bytes, and so do groups of groups
CREATE TABLE days AS SELECT day, cf_agg(day * 700 + i, 300000, 0.001) AS f
	FROM generate_series(1, 120) day, generate_series(1, 2000) i GROUP BY day;
ALTER TABLE days SET (parallel_workers = 2);
ANALYZE days;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) AS s FROM days;
SELECT how, seen(value) AS value, seen(u) AS truth FROM serial, LATERAL (VALUES
	('ascending', (SELECT cf_union_agg(f ORDER BY day) FROM days)),
	('descending', (SELECT cf_union_agg(f ORDER BY day DESC) FROM days)),
	('random', (SELECT cf_union_agg(f ORDER BY md5(day::text)) FROM days)),
	('canonical', cf_canonical(u)),
	('unions of unions', (SELECT cf_union_agg(f) FROM (SELECT cf_union_agg(f) FROM days GROUP BY day % 7) g(f)))
) v(how, value);
SELECT how, seen(value) AS value, seen(s) AS truth FROM serial, LATERAL (VALUES
	('descending', (SELECT cf_union_all_agg(f ORDER BY day DESC) FROM days)),
	('sums of sums', (SELECT cf_union_all_agg(f) FROM (SELECT cf_union_all_agg(f) FROM days GROUP BY day % 7) g(f)))
) v(how, value);
SELECT count(*) FILTER (WHERE cf_contains(u, i)) AS "union", count(*) FILTER (WHERE cf_contains(s, i)) AS sum,
	count(*) AS truth
FROM serial, generate_series(701, 86000) i;
-- nulls are left out
SELECT cf_union_agg(f), cf_union_all_agg(f) FROM parts WHERE f IS NULL;
SELECT seen(cf_union_agg(f)) AS one, seen(cf_canonical(f)) AS truth FROM parts WHERE part = 1 GROUP BY f;
-- few elements, and none
SELECT seen(cf_union_agg(cf_add(cf_new(1000, 0.001), i))) AS one_by_one, seen(cf_agg(i, 1000, 0.001)) AS truth
FROM generate_series(1, 300) i;
SELECT seen(cf_union_agg(cf_new(1000, 0.001))) AS empty, seen(cf_new(1000, 0.001)) AS truth
FROM generate_series(1, 300) i;

-- workers that share a group would take longer, but their states combine to the same bytes
RESET max_parallel_workers_per_gather;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
CREATE AGGREGATE parallel_union(cuckoofilter) (
	SFUNC = cf_union, STYPE = cuckoofilter, COMBINEFUNC = cf_union, FINALFUNC = cf_canonical, PARALLEL = SAFE);
CREATE AGGREGATE parallel_sum(cuckoofilter) (
	SFUNC = cf_union_all, STYPE = cuckoofilter, COMBINEFUNC = cf_union_all, FINALFUNC = cf_canonical, PARALLEL = SAFE);
SELECT plan_of('SELECT parallel_union(f) FROM days') ->> 'Partial Mode' AS parallel,
	plan_of('SELECT cf_union_agg(f) FROM days') ->> 'Partial Mode' AS serial;
SELECT seen((SELECT parallel_union(f) FROM days)) AS "union", seen(u) AS truth FROM serial;
SELECT seen((SELECT parallel_sum(f) FROM days)) AS sum, seen(s) AS truth FROM serial;
-- without a combine function they compute whole groups, those of partitions
CREATE AGGREGATE union_of_partition(cuckoofilter) (
	SFUNC = cf_union, STYPE = cuckoofilter, FINALFUNC = cf_canonical, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
CREATE TABLE weekly (week int, day int, f cuckoofilter) PARTITION BY LIST (week);
CREATE TABLE week1 PARTITION OF weekly FOR VALUES IN (1);
CREATE TABLE week2 PARTITION OF weekly FOR VALUES IN (2);
CREATE TABLE week3 PARTITION OF weekly FOR VALUES IN (3);
INSERT INTO weekly SELECT (day + 6) / 7, day, f FROM days WHERE day <= 21;
ANALYZE weekly;
SET enable_partitionwise_aggregate = on;
CREATE FUNCTION partial_modes(query text) RETURNS text LANGUAGE sql AS $$
	SELECT plan ->> 'Node Type' || ': ' || string_agg(node ->> 'Partial Mode', ', ')
	FROM CAST(plan_of(query) AS jsonb) plan, jsonb_path_query(plan, 'strict $.** ? (exists (@."Partial Mode"))') node
	GROUP BY plan
$$;
SELECT partial_modes('SELECT week, union_of_partition(f) FROM weekly GROUP BY week') AS groups,
	partial_modes('SELECT union_of_partition(f) FROM weekly') AS whole;
CREATE TABLE by_workers AS SELECT week, union_of_partition(f) AS u FROM weekly GROUP BY week;
SELECT week, seen(u) AS by_workers, seen(cf_union_agg(f)) AS truth FROM days JOIN by_workers ON week = (day + 6) / 7
GROUP BY week, u ORDER BY week;
RESET enable_partitionwise_aggregate;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
DROP TABLE weekly, by_workers;

-- ---- windows ----

-- the last seven days, for each day, and all days so far
SELECT count(*), count(*) FILTER (WHERE week =
	(SELECT cf_union_agg(f) FROM days p WHERE p.day BETWEEN w.day - 6 AND w.day)) AS truth
FROM (SELECT day, cf_union_agg(f) OVER (ORDER BY day ROWS 6 PRECEDING) AS week FROM days) w;
SELECT count(*), count(*) FILTER (WHERE so_far = (SELECT cf_union_agg(f) FROM days p WHERE p.day <= w.day)) AS truth
FROM (SELECT day, cf_union_agg(f) OVER (ORDER BY day) AS so_far FROM days WHERE day <= 40) w;
-- the filters in each frame, whatever comes and goes
CREATE TABLE mixed (day int, what text, f cuckoofilter);
INSERT INTO mixed SELECT day, 'copies', CASE WHEN day % 3 = 0 THEN cf_union_all(f, f) ELSE f END
	FROM days WHERE day <= 30;
INSERT INTO mixed SELECT day, 'nulls', CASE WHEN day % 7 < 2 THEN f END FROM days WHERE day <= 30;
INSERT INTO mixed SELECT day, 'none, of a family or not, and unsized',
	CASE day % 7 WHEN 0 THEN cf_clear(f) WHEN 2 THEN cf_new(300000, 0.001) WHEN 4 THEN n ELSE f END
	FROM days, unsized WHERE day <= 30;
INSERT INTO mixed SELECT day, 'small', cf_agg(i, 1000, 0.01)
	FROM generate_series(1, 30) day, generate_series(day, day + 5) i GROUP BY day;
SELECT what, count(*),
	count(*) FILTER (WHERE u IS NOT DISTINCT FROM (SELECT cf_union_agg(x) FROM unnest(frame) x)) AS truth,
	count(u) AS not_null
FROM (SELECT what, cf_union_agg(f) OVER w AS u, array_agg(f) OVER w AS frame FROM mixed
	WINDOW w AS (PARTITION BY what ORDER BY day ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)) s
GROUP BY what ORDER BY what COLLATE "C";
DROP TABLE mixed;
-- after an unsized filter another geometry may follow, as long as both are in no frame
SELECT i, seen(cf_union_agg(f) OVER w) AS "union", seen(CASE WHEN f = n THEN lag(f) OVER w ELSE f END) AS truth
FROM unsized, generate_series(4, 9) i,
	LATERAL (SELECT CASE WHEN i % 2 = 1 THEN n ELSE range_of(1, i, i * 100) END) v(f)
WINDOW w AS (ORDER BY i ROWS 1 PRECEDING);
SELECT cf_union_agg(f) OVER (ORDER BY n ROWS 1 PRECEDING) IS NULL
FROM (VALUES (1, cf_new(1000)), (2, cf_new(2000))) v(n, f);

-- ---- intersections ----

CREATE FUNCTION up_to(n int) RETURNS cuckoofilter IMMUTABLE
	LANGUAGE sql AS 'SELECT cf_agg(i, 9000, 0.001) FROM generate_series(1, n) i';
CREATE TABLE thirds AS SELECT part, cf_agg(i, 9000, 0.001) AS f,
	cf_union_all(cf_agg(i, 9000, 0.001), cf_agg(i, 9000, 0.001)) AS twice
	FROM generate_series(0, 2) part, generate_series(1, 6000) i WHERE i / 1000 <> part * 2 GROUP BY part;
-- aggregates that users may make: bare, lax with nulls, and with an initial condition
CREATE AGGREGATE both_agg(cuckoofilter) (SFUNC = cf_intersect, STYPE = cuckoofilter);
CREATE FUNCTION both_or_one(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS
	'SELECT CASE WHEN a IS NULL THEN b WHEN b IS NULL THEN a ELSE cf_intersect(a, b) END';
CREATE AGGREGATE lax_agg(cuckoofilter) (SFUNC = both_or_one, STYPE = cuckoofilter);
DO $do$ BEGIN EXECUTE format($$CREATE AGGREGATE from_all_agg(cuckoofilter) (SFUNC = cf_intersect, STYPE = cuckoofilter,
	FINALFUNC = cf_canonical, INITCOND = %L)$$, (SELECT cf_union_agg(f) FROM thirds)); END $do$;
SELECT seen(cf_intersect_agg(f)) AS ours, seen(both_agg(f)) AS bare, seen(lax_agg(f)) AS lax,
	seen(up_to(2000)) AS truth
FROM generate_series(1, 3) i, up_to(2000) f;
SELECT seen(cf_intersect_agg(f)) AS ours, seen(both_agg(f)) AS bare, seen(from_all_agg(f)) AS from_all,
	(SELECT seen((a.f & b.f) & c.f) FROM thirds a, thirds b, thirds c WHERE (a.part, b.part, c.part) = (0, 1, 2))
FROM thirds;
SELECT cf_count(cf_intersect_agg(f)), 3000 AS truth FROM thirds;
SELECT seen(cf_intersect_agg(twice)) AS copies, seen(cf_union_all(cf_intersect_agg(f), cf_intersect_agg(f))) AS truth
FROM thirds;
SELECT cf_count(both_agg(f)) AS disjoint, 0 AS truth
FROM (SELECT cf_agg(i, 9000, 0.001) AS f FROM generate_series(1, 6000) i GROUP BY i % 2) s;
-- a final function may not change the state: the next row of the window goes on with it
CREATE FUNCTION with_more(cuckoofilter) RETURNS cuckoofilter LANGUAGE sql STABLE STRICT AS
	'SELECT cf_union($1, (SELECT cf_agg(cf_count($1) * 1000 + i, 9000, 0.001) FROM generate_series(1, 500) i))';
CREATE AGGREGATE more_agg(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter, FINALFUNC = with_more,
	FINALFUNC_MODIFY = READ_ONLY);
SELECT part, cf_count(more_agg(f) OVER w) - cf_count(cf_union_agg(f) OVER w) AS more FROM thirds
WINDOW w AS (ORDER BY part) ORDER BY part;
DROP AGGREGATE more_agg(cuckoofilter);
DROP FUNCTION with_more;
-- one filter, and none
SELECT cf_count(both_agg(f)) AS bare, cf_count(cf_intersect_agg(f)) AS ours, max(cf_count(f)) AS truth
FROM thirds WHERE part = 0;
SELECT seen(both_agg(f)) AS bare, seen(cf_intersect_agg(f)) AS ours, seen(from_all_agg(f)) AS from_all,
	(SELECT seen(cf_union_agg(f)) FROM thirds) AS "all" FROM thirds WHERE part > 2;
-- in windows that grow, and that move
SELECT part, seen(both_agg(f) OVER w) AS growing,
	(SELECT seen(cf_intersect_agg(f)) FROM thirds p WHERE p.part <= t.part) AS truth
FROM thirds t WINDOW w AS (ORDER BY part) ORDER BY part;
SELECT part, seen(cf_intersect_agg(f) OVER w) AS moving,
	(SELECT seen(cf_intersect_agg(f)) FROM thirds p WHERE p.part BETWEEN t.part - 1 AND t.part) AS truth
FROM thirds t WINDOW w AS (ORDER BY part ROWS 1 PRECEDING) ORDER BY part;

-- ---- at least k of n ----

-- one is the union, all is the intersection; copies do not count, and the result has one of each
SELECT k, seen(cf_at_least_agg(f, k)) AS at_least, seen(cf_at_least_agg(f, k ORDER BY part DESC)) AS descending,
	seen(cf_at_least_agg(twice, k)) AS of_copies
FROM thirds, generate_series(1, 4) k GROUP BY k ORDER BY k;
SELECT seen(cf_union_agg(f)) AS one, seen(cf_intersect_agg(f)) AS three FROM thirds;
-- elements, by the number of filters that have them
CREATE TABLE counted AS SELECT i, count(*) FILTER (WHERE i <= 6000 AND i / 1000 <> part * 2) AS n
	FROM thirds, generate_series(1, 7000) i WHERE i <= 6000 OR i > 6990 GROUP BY i;
SELECT k, count(*) FILTER (WHERE n >= k AND cf_contains(g, i)) AS found, count(*) FILTER (WHERE n >= k) AS truth,
	count(*) FILTER (WHERE n < k AND cf_contains(g, i)) AS in_vain
FROM (SELECT k, cf_at_least_agg(f, k) AS g FROM thirds, generate_series(1, 3) k GROUP BY k) s, counted
	GROUP BY k ORDER BY k;
DROP TABLE counted;
-- against counting, from the first day on that has elements in k filters: a window that grows, and one that moves
CREATE TABLE drawn AS SELECT day, cf_agg(i, 2000, 1e-8) AS f, array_agg(i) AS a
	FROM generate_series(1, 12) day, generate_series(1, 1500) i
	WHERE (i * 7919 + day * 104729) * day % 1009 < 90 * (day % 4 + 1) GROUP BY day;
SELECT day, seen(growing) AS growing, (SELECT seen(cf_agg(e, 2000, 1e-8)) FROM (SELECT e
	FROM drawn p, unnest(a) e WHERE p.day <= w.day GROUP BY e HAVING count(*) >= 3) s) AS truth
FROM (SELECT day, cf_at_least_agg(f, 3) OVER (ORDER BY day) AS growing FROM drawn) w WHERE day > 3 ORDER BY day;
SELECT day, seen(moving) AS moving, (SELECT seen(cf_agg(e, 2000, 1e-8)) FROM (SELECT e
	FROM drawn p, unnest(a) e WHERE p.day BETWEEN w.day - 3 AND w.day GROUP BY e HAVING count(*) >= 2) s) AS truth
FROM (SELECT day, cf_at_least_agg(f, 2) OVER (ORDER BY day ROWS 3 PRECEDING) AS moving FROM drawn) w WHERE day > 2
ORDER BY day;
DROP TABLE drawn;
-- nulls are skipped, and no rows give null; but k is that of all rows
SELECT seen(cf_at_least_agg(g, 2)) AS with_null, seen(cf_at_least_agg(g, 2) FILTER (WHERE g IS NOT NULL)) AS truth
FROM (SELECT f FROM thirds UNION ALL SELECT NULL) u(g);
SELECT cf_at_least_agg(f, 1) AS none, cf_at_least_agg(NULL, 1) AS nulls FROM thirds WHERE part > 2;
SELECT cf_count(cf_at_least_agg(f, k ORDER BY k)) AS first, cf_count(cf_at_least_agg(f, k ORDER BY k DESC)) AS last
FROM (VALUES (range_of(1, 1, 10), 1), (NULL, 2)) v(f, k);

-- ---- states of aggregates ----

-- functions of two states, which from PostgreSQL 16 on an aggregate without a final function returns as they are
CREATE AGGREGATE bare_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
CREATE AGGREGATE bare_sum(cuckoofilter) (SFUNC = cf_union_all, STYPE = cuckoofilter);
CREATE VIEW states AS SELECT bare_union(f) FILTER (WHERE day <= 70) AS a, bare_union(f) FILTER (WHERE day > 50) AS b,
	bare_sum(f) FILTER (WHERE day <= 60) AS s, bare_sum(f) FILTER (WHERE day > 60) AS t FROM days OFFSET 0;
SELECT seen(cf_union(a, b)) AS "union", seen(u) AS truth FROM states, serial;
SELECT seen(cf_union_all(states.s, t)) AS sum, seen(serial.s) AS truth FROM states, serial;
SELECT how, seen(value) AS value, seen(truth) AS truth
FROM states, LATERAL (SELECT cf_canonical(a), cf_canonical(b)) c(x, y), LATERAL (VALUES
	('sum of unions', cf_union_all(a, b), cf_union_all(x, y)),
	('intersection', a & b, x & y),
	('the first argument afterwards', x, (SELECT cf_union_agg(f) FROM days WHERE day <= 70)),
	('the second', y, (SELECT cf_union_agg(f) FROM days WHERE day > 50)),
	('of a sum', cf_canonical(s), (SELECT cf_union_all_agg(f) FROM days WHERE day <= 60))) v(how, value, truth);
SELECT cf_overlap(a, b) AS overlap, cf_overlap(cf_canonical(a), cf_canonical(b)) AS truth FROM states;
-- a state keeps its family when it gets runs, and when two states are combined
SELECT (cf_info(cf_union_agg(f))).element_family FROM (VALUES (cf_new(2000)), (range_of(1, 1900, 2000, 0.001))) v(f);
SELECT (cf_info(cf_union_agg(f))).element_family, cf_count(cf_union_agg(f)), 1900 AS truth
FROM (SELECT cf_new(2000) AS f UNION ALL SELECT cf_agg(i::text, 2000, 0.001) FROM generate_series(1, 1900) i) s;
-- it gives back what it does not need: the room of keys that two runs share, and the filter that a window has seen
SELECT seen(cf_union_agg(u)) AS "union", seen(u) AS truth,
	max(contexts('cuckoofilter union', 'sum(total_bytes)')) < 1000000 AS little
FROM serial, generate_series(1, 5) GROUP BY u;
SELECT count(f) AS windows, max(bytes) < 1000000 AS little
FROM (SELECT cf_union_agg(f) OVER (ORDER BY day) AS f,
	contexts('cuckoofilter union', 'sum(total_bytes)') AS bytes FROM days) d;
-- one of many filters takes memory for the distinct elements
SELECT seen(cf_at_least_agg(u, 30)) AS at_least_30, seen(u) AS truth,
	max(contexts('ExprContext', 'sum(total_bytes)')) < 3000000 AS little
FROM serial, generate_series(1, 30) GROUP BY u;
-- the planner expects states of 16 kB, and sorts the rows of many groups
CREATE TABLE groups AS SELECT i AS g, cf_agg(i) AS f FROM generate_series(1, 2000) i GROUP BY i;
ANALYZE groups;
SELECT query, plan_of('SELECT ' || query || ' FROM groups GROUP BY g') ->> 'Strategy' AS strategy
FROM unnest('{count(f),cf_union_agg(f),cf_union_all_agg(f),cf_intersect_agg(f)}'::text[]) query;
DROP TABLE groups;
-- filters of falling size: each run is more than half of the run before
SELECT seen(cf_union_agg(f ORDER BY n DESC)) AS "union", seen(max(f::text)
	FILTER (WHERE n = 4000)::cuckoofilter) AS truth
FROM (SELECT n, cf_agg(i, 10000, 0.001) AS f
	FROM generate_series(4000, 2040, -40) n, generate_series(1, n) i GROUP BY n) s;
-- each less than half of the one before: so many runs are not merged until the end
SELECT seen(cf_union_agg(f ORDER BY n DESC)) AS "union", seen(cf_canonical(max(f::text)
	FILTER (WHERE n = 100000)::cuckoofilter)) AS truth
FROM (SELECT n, cf_agg(i, 100000, 1e-8) AS f
	FROM unnest('{100000, 49000, 24000, 11900, 5900, 2900, 1400, 690, 340, 165, 80, 39, 19, 9, 4, 1}'::int[]) n,
		generate_series(1, n) i GROUP BY n) s;

-- ---- hashes as values ----

SELECT cf_hash(1), cf_hash(1::smallint) AS smallint, cf_hash(1::bigint) AS bigint, cf_hash(1, 1) AS seed_1,
	cf_hash(NULL::int) AS null;
SELECT cf_hash('a'), cf_hash('a'::text) AS text;

-- ---- estimates ----

-- filters united during planning; of a union of others, and of a table, nothing is known
CREATE TABLE numbers AS SELECT i AS v, i % 10 AS part FROM generate_series(1, 10000) i;
ANALYZE numbers;
CREATE FUNCTION rows_in(filter text) RETURNS numeric LANGUAGE sql AS $$
	SELECT round((plan_of('SELECT FROM numbers WHERE cf_contains(' || filter || ', v)') ->> 'Plan Rows')::numeric, -3)
$$;
SELECT rows_in('up_to(1000) | up_to(4000)'), 4000 AS truth;
SELECT rows_in('up_to(1000) & up_to(4000)'), 1000 AS truth;
SELECT rows_in('(SELECT cf_union_agg(f) FROM (SELECT cf_agg(v, 9000, 1e-3) FROM numbers GROUP BY part) s(f))') AS half;
SELECT rows_in('(SELECT cf_union_agg(f) FROM parts)') AS half;
