-- Filters as sets.
-- filters filled one by one, built, grown, with deleted elements: layout and order do not matter
CREATE TABLE shards (shard int, f cuckoofilter);
INSERT INTO shards SELECT i % 4, cf_agg(i, 100000, 0.001) FROM generate_series(1, 40000) i GROUP BY 1;
INSERT INTO shards VALUES (NULL, NULL);
CREATE TABLE whole AS SELECT cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 40000) i;
SELECT cf_union_all_agg(s.f) = w.f AS built, cf_compact(cf_add_all(cf_new(100000), ARRAY(SELECT generate_series(40000, 1, -1)))) = w.f AS filled,
	cf_compact(w.f) = w.f AS canonical, cf_compact(cf_grow(cf_grow(w.f))) = w.f AS grown,
	cf_compact(cf_delete_all(cf_add_all(w.f, ARRAY(SELECT generate_series(-300, -1))), ARRAY(SELECT generate_series(-300, -1)))) = w.f AS deleted
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
SELECT cf_overlap(empty, a), cf_overlap(empty, empty), cf_overlap(a, a) = cf_count(a) AS self FROM filters;
-- null for null; nothing from nothing
SELECT cf_union(a, NULL) IS NULL AND (NULL | a) IS NULL AND cf_intersect(a, NULL) IS NULL AND cf_overlap(NULL, a) IS NULL AND cf_compact(NULL) IS NULL AND cf_grow(NULL) IS NULL AND cf_compatible(a, NULL) IS NULL AS nulls FROM filters;
SELECT cf_union_agg(f) AS none, cf_union_all_agg(f) AS sum FROM shards WHERE f IS NULL;
SELECT cf_union_agg(f) = cf_compact(f) AS one FROM shards WHERE shard = 1 GROUP BY f;
-- an empty filter takes the family of the other, whichever side it is on
SELECT (cf_info(cf_new() | f)).element_family, (cf_info(f | cf_new())).element_family, (cf_info(cf_union_agg(g))).element_family
FROM cf_add(cf_new(), 'a'::text) f, unnest(ARRAY[cf_new(), f]) g GROUP BY f;
-- what cannot be combined
SELECT cf_compatible(cf_new(), cf_agg(1, 1000000, 0.001)) AS empty, cf_compatible(cf_new(), cf_new(999)) AS capacity, cf_compatible(cf_new(), cf_new(seed => 1)) AS seed,
	cf_compatible(cf_new(element => 'text'), cf_new(element => 'int')) AS family, cf_compatible(cf_new(element => 'inet'), cf_new(element => 'numeric')) AS type,
	cf_compatible(cf_new(2000000), set_byte(cf_new(2000000)::bytea, 7, 0)::cuckoofilter) AS windows;
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
	'SELECT cf_new(1000000, 0.01) & cf_new(1000000)',
	'SELECT cf_union(cf_agg(1), cf_new())',
	'SELECT cf_union_all(cf_new(seed => -1), cf_new())',
	'SELECT cf_overlap(cf_new(element => ''text''), cf_new(element => ''int''))',
	'SELECT cf_intersect(cf_new(element => ''inet''), cf_new(element => ''numeric''))',
	'SELECT cf_union_agg(f) FROM (VALUES (cf_new()), (cf_new(1000))) v(f)',
	'SELECT cf_grow(cf_agg(1, 0.03))',
	'SELECT cf_merge_agg(s) FROM (SELECT cf_state_agg(1) UNION ALL SELECT cf_state_agg(1, 0.01)) v(s)',
	'SELECT cf_merge_agg(s) FROM (SELECT cf_state_agg(1) UNION ALL SELECT cf_state_agg(''a'')) v(s)'
]) query, error_of(query) e;
\x off
DROP FUNCTION error_of;

-- aggregates: any order, groups, windows, parallel, the same bytes
CREATE TABLE days AS SELECT day, cf_agg(day * 700 + i, 300000, 0.001) AS f FROM generate_series(1, 120) day, generate_series(1, 2000) i GROUP BY day;
ALTER TABLE days SET (parallel_workers = 2);
ANALYZE days;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT cf_union_agg(f) AS u, cf_union_all_agg(f) AS s FROM days;
SELECT ascending = u AS ascending, descending = u AS descending, random = u AS random, sum = s AS sum, cf_compact(u) = u AS canonical, u <> s AS differ
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
CREATE AGGREGATE parallel_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter, COMBINEFUNC = cf_union, FINALFUNC = cf_compact, PARALLEL = SAFE);
CREATE AGGREGATE parallel_sum(cuckoofilter) (SFUNC = cf_union_all, STYPE = cuckoofilter, COMBINEFUNC = cf_union_all, FINALFUNC = cf_compact, PARALLEL = SAFE);
SELECT plan_of('SELECT parallel_union(f) FROM days') ->> 'Partial Mode' AS parallel, plan_of('SELECT cf_union_agg(f) FROM days') ->> 'Partial Mode' AS serial;
SELECT (SELECT parallel_union(f) FROM days) = u AS "union", (SELECT parallel_sum(f) FROM days) = s AS sum FROM serial;
-- without a combine function they compute whole groups, those of partitions
CREATE AGGREGATE union_of_partition(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter, FINALFUNC = cf_compact, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
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
-- a state gives back what it does not need: the room of keys that two runs share, and the filter that a window has seen
SELECT cf_union_agg(u) = u AS same, max(contexts('cuckoofilter union', 0, 'sum(total_bytes)')) < 1000000 AS little FROM serial, generate_series(1, 5) GROUP BY u;
SELECT count(f) AS windows, max(bytes) < 1000000 AS little
FROM (SELECT cf_union_agg(f) OVER (ORDER BY day) AS f, contexts('cuckoofilter union', 0, 'sum(total_bytes)') AS bytes FROM days) d;
-- small ones, rewritten for each row, and those of no elements
SELECT cf_union_agg(cf_add(cf_new(1000, 0.001), i)) = cf_agg(i, 1000, 0.001) AS one_by_one, cf_union_agg(cf_new(1000, 0.001)) = cf_new(1000, 0.001) AS empty FROM generate_series(1, 300) i;

-- hashes as values, and states: the filter of the elements, without loss
SELECT cf_hash(1), cf_hash(1::smallint) = cf_hash(1::bigint) AS family, cf_hash(1, 1) <> cf_hash(1) AS seed, cf_hash('a') = cf_hash('a'::text) AS text, cf_hash(NULL::int) AS null;
CREATE TABLE states AS SELECT i % 3 AS part, cf_state_agg(i) AS exact, cf_state_agg(i, 0.05) AS fpp, cf_state_agg(i, 9000, 0.01) AS sized, cf_state_agg(i::text, 9000, 0.01, 7) AS seeded
FROM generate_series(1, 9000) i GROUP BY 1;
INSERT INTO states DEFAULT VALUES;
SELECT cf_merge_agg(exact) = cf_agg(i) AS exact, cf_merge_agg(fpp) = cf_agg(i, 0.05) AS fpp, cf_merge_agg(sized) = cf_agg(i, 9000, 0.01) AS sized, cf_merge_agg(seeded) = cf_agg(i::text, 9000, 0.01, 7) AS seeded
FROM generate_series(1, 9000) i LEFT JOIN states ON part = i - 1;
SELECT cf_state_agg(i) IS NULL AS none, cf_merge_agg(s) IS NULL AS no_state FROM generate_series(1, 0) i, (SELECT exact FROM states) s(s);
SELECT cf_merge_agg(cf_state_agg) = cf_agg('a') AS literal FROM (SELECT cf_state_agg('a')) s;
SELECT part, length(cuckoostate_send(exact)) FROM states WHERE part IS NOT NULL ORDER BY part;

-- the planner's estimates: filters united during planning, filters of elements below a union, unknown filters
CREATE TABLE numbers AS SELECT i AS v, i % 10 AS part FROM generate_series(1, 10000) i;
ANALYZE numbers;
CREATE FUNCTION up_to(n int) RETURNS cuckoofilter IMMUTABLE LANGUAGE sql AS 'SELECT cf_agg(i, 9000, 0.001) FROM generate_series(1, n) i';
SELECT filter, round((plan_of(format('SELECT FROM numbers WHERE cf_contains(%s, v)', filter)) ->> 'Plan Rows')::numeric, -3) AS rows FROM unnest(ARRAY[
	'up_to(1000) | up_to(4000)',
	'up_to(1000) & up_to(4000)',
	'(SELECT cf_union_agg(f) FROM (SELECT cf_agg(v, 9000, 0.001) AS f FROM numbers WHERE part < 2 GROUP BY part) s)',
	'(SELECT cf_union_all_agg(f) FROM (SELECT cf_agg(v, 9000, 0.001) AS f FROM numbers WHERE part < 3 GROUP BY v % 100) s)',
	'(SELECT cf_union_agg(f) FROM shards)',
	'(SELECT cf_merge_agg(exact) FROM states)'
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
SELECT count(*) AS filters, bool_and(cf_count(cf_compact(f)) = cf_count(f)) AS compact, bool_and(f | f = cf_compact(f)) AS union
FROM generate_series(1, 70) seed, full_filter(seed, 0.001, seed) f;
DROP FUNCTION full_filter;
