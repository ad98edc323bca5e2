-- cf_agg in its variants: the same set gives the same bytes, in any order, by workers, in windows and groups.
CREATE TABLE numbers AS SELECT i, i % 1000 AS k, 'value ' || i AS t
	FROM generate_series(1, 50000) i;
ANALYZE numbers;

-- ---- exact fit ----

-- all elements are found
SELECT count(*) FILTER (WHERE cf_contains(f, t)) AS found, count(*) AS truth
FROM (SELECT cf_agg(t) AS f FROM numbers) s, numbers;
SELECT 49990 AS at_least, items, 50000 AS at_most, growth_level, fingerprint_bits, element_family
FROM (SELECT cf_agg(t) AS f FROM numbers) s, cf_info(f);
-- the rate is kept
SELECT asked, count(*) FILTER (WHERE cf_contains(f, 'absent ' || i)) AS found, 1.1 * asked * 200000 + 10 AS at_most
FROM (SELECT asked, cf_agg(t, asked) AS f
	FROM numbers, unnest(ARRAY[0.03, 0.01, 0.001, 0.0001]) asked GROUP BY asked) s,
	generate_series(1, 200000) i
GROUP BY asked ORDER BY asked;
-- the filter is small for any number of elements
SELECT n, bits_per_item, 12.75 AS at_most
FROM unnest(ARRAY[20000, 22118, 26542, 31130, 31131, 44237, 50000]) n,
	LATERAL (SELECT cf_agg(i) AS f FROM numbers WHERE i <= n) s, cf_info(f);
SELECT bits_per_item, 12.75 AS at_most FROM (SELECT cf_agg(t) AS f FROM numbers) s, cf_info(f);
-- values that share a fingerprint: two copies; the items are those that the filter contains
SELECT 40000 AS more_than, items, 50000 AS less_than FROM (SELECT cf_agg(i, 0.5) AS f FROM numbers) s, cf_info(f);

-- ---- parameters ----

-- with a capacity the filter has the geometry of the capacity, not of the elements
SELECT fingerprint_bits, growth_level, capacity, seed, items
FROM (SELECT cf_agg(i, 100000, 0.01) AS f FROM numbers) s, cf_info(f);
SELECT fingerprint_bits, growth_level, capacity, seed, items
FROM (SELECT cf_agg(i, 100000, 0.01, 42) AS f FROM numbers) s, cf_info(f);
-- cf_new has the same geometry: a cleared filter is equal
SELECT seen(cf_clear(cf_agg(i, 100000, 0.01, 42))) AS cleared, seen(cf_new(100000, 0.01, 42, 'int')) AS truth
FROM numbers;
-- more elements than the capacity, and more than there are bits for
SELECT growth_level, fingerprint_bits, items, count(*) FILTER (WHERE cf_contains(f, i)) AS found, 50000 AS truth
FROM (SELECT cf_agg(i, 1000, 0.0001) AS f FROM numbers) s, cf_info(f), numbers
GROUP BY items, growth_level, fingerprint_bits;
SELECT cf_agg(i, 1000, 0.01) FROM numbers;
-- a capacity may be any number, as in cf_new
SELECT seen(cf_agg(i, 1e5, 0.01, 42)) AS literal, seen(cf_agg(i, 100000, 0.01, 42)) AS truth FROM numbers;
SELECT seen(cf_agg(i, 99999.5, 0.01)) AS fraction, seen(cf_agg(i, 100000, 0.01)) AS truth FROM numbers;
SELECT cf_agg(i, 'NaN', 0.01) FROM numbers;
-- at the highest rate there is a bit to grow by, up to the capacity at least
SELECT n, count(*) AS filters, min(cf_count(f)) AS least_items, n * 0.9 AS more_than
FROM (SELECT n, cf_agg(i, n, 0.03, seed) AS f
	FROM unnest(ARRAY[15, 76, 228]) n, generate_series(1, 100) seed, numbers WHERE i <= n GROUP BY n, seed) s
GROUP BY n ORDER BY n;

-- ---- the same set, the same bytes ----

-- any order, DISTINCT, FILTER, duplicates and nulls
SELECT seen(cf_agg(t)) AS of_text, seen(cf_agg(i::numeric)) AS of_numeric, seen(cf_agg(i::float8)) AS of_float,
	seen(cf_agg(t, 100000, 0.01)) AS sized
FROM numbers \gset
SELECT seen(cf_agg(t ORDER BY i DESC)) AS descending, seen(cf_agg(t ORDER BY md5(t))) AS shuffled,
	seen(cf_agg(DISTINCT t)) AS "distinct", seen(cf_agg(t) FILTER (WHERE i > 0)) AS filter, :'of_text' AS truth
FROM numbers;
SELECT seen(cf_agg(i::numeric ORDER BY i DESC)) AS descending, seen(cf_agg(DISTINCT i::numeric)) AS "distinct",
	seen(cf_agg(i::numeric + 0) FILTER (WHERE i > 0)) AS filter, :'of_numeric' AS truth
FROM numbers;
SELECT seen(cf_agg(i::float8 ORDER BY k)) AS by_k, :'of_float' AS truth FROM numbers;
SELECT seen(cf_agg(t)) AS duplicates, :'of_text' AS truth
FROM (SELECT t FROM numbers UNION ALL SELECT t FROM numbers ORDER BY 1) s;
SELECT seen(cf_agg(t)) AS nulls_skipped, :'of_text' AS truth FROM (SELECT t FROM numbers UNION ALL SELECT NULL) s;
-- groups, by a sort and by a hash table
SET enable_hashagg = off;
SELECT g, seen(cf_agg(t)) AS sorted, :'of_text' AS truth FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
SELECT g, seen(cf_agg(i::numeric)) AS sorted, :'of_numeric' AS truth
FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
RESET enable_hashagg;
SELECT g, seen(cf_agg(t)) AS hashed, :'of_text' AS truth FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g ORDER BY g;
SELECT g, seen(cf_agg(i::numeric)) AS hashed, :'of_numeric' AS truth
FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g ORDER BY g;
-- types of one family
SELECT seen(cf_agg(i::int2)) AS int2, seen(cf_agg(i)) AS int4, seen(cf_agg(i::int8)) AS truth
FROM numbers WHERE i < 30000;
SELECT seen(cf_agg(t::varchar)) AS varchar, seen(cf_agg(t::char(20))) AS "char(n)", :'of_text' AS truth FROM numbers;
-- a type that shares its equality with another one has the same elements
SELECT seen(cf_agg(c::regclass)) AS regclass, seen(cf_agg(c::oid)) AS truth
FROM unnest('{pg_class,pg_proc}'::regclass[]) c;
SELECT cf_contains(cf_agg(c), 'pg_class'::regclass) AS by_regclass,
	cf_contains(cf_agg(c), 'pg_class'::regclass::oid) AS by_oid
FROM unnest('{pg_class,pg_proc}'::regclass[]) c;
-- hashes that are equal in their upper halves, which are sorted first: four pairs of them
CREATE TABLE alike AS SELECT i AS at, i AS v FROM numbers WHERE i <= 12000
	UNION ALL VALUES (2500, 76778), (2500, 183835), (5000, 110473), (5000, 175936), (7500, 36717), (7500, 183907),
		(9900, 12582), (9900, 54897);
SELECT count(DISTINCT cf_hash(v)) AS hashes, count(DISTINCT cf_hash(v) >> 32) + 4 AS truth FROM alike;
SELECT seen(cf_agg(v ORDER BY at, v)) AS ascending, seen(cf_agg(v ORDER BY at, v DESC)) AS truth FROM alike;
DROP TABLE alike;

-- ---- in parallel ----

-- workers give the same bytes
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT seen(cf_agg(t)) FROM numbers;
SELECT seen(cf_agg(t)) AS parallel, :'of_text' AS truth FROM numbers;
SELECT seen(cf_agg(i::numeric)) AS parallel, :'of_numeric' AS truth FROM numbers;
SELECT seen(cf_agg(i::float8)) AS parallel, :'of_float' AS truth FROM numbers;
SELECT seen(cf_agg(t, 100000, 0.01)) AS parallel, :'sized' AS truth FROM numbers;
SELECT k, cf_count(cf_agg(i)) AS items, 50 AS truth FROM numbers GROUP BY k ORDER BY k LIMIT 3;
SELECT cf_count(cf_agg(t)) AS items, 0 AS truth FROM numbers WHERE i < 0;
RESET ALL;

-- ---- groups and windows ----

-- many groups, each with its own elements
SELECT count(*) FILTER (WHERE cf_contains(f, k + 1000)) AS with_own,
	count(*) FILTER (WHERE NOT cf_contains(f, -k - 1)) AS without_another, 200 AS truth, sum(cf_count(f)) AS items
FROM (SELECT k, cf_agg(i) AS f FROM numbers WHERE k < 200 GROUP BY k) s;
-- every size about where a state changes its shape
SELECT count(*) FILTER (WHERE cf_count(f) = n) AS of_n_items, count(*) FILTER (WHERE found = n) AS with_all,
	300 AS truth
FROM (SELECT n, cf_agg(i) AS f FROM numbers, generate_series(1, 300) n WHERE i <= n GROUP BY n) s,
	LATERAL (SELECT count(*) AS found FROM generate_series(1, n) i WHERE cf_contains(f, i)) c;
-- windows that grow, and that move
SELECT i, cf_count(cf_agg(i) OVER (ORDER BY i)) AS running,
	cf_count(cf_agg(i) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)) AS sliding
FROM numbers WHERE i <= 5 ORDER BY i;
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS with_current, count(*) AS truth, sum(cf_count(f)) AS items,
	sum(i) AS truth
FROM (SELECT i, cf_agg(i) OVER (ORDER BY i) AS f FROM numbers WHERE i <= 400) s;
SELECT count(*) FILTER (WHERE f
	= (SELECT cf_agg(j::numeric) FROM generate_series(greatest(i - 130, 1), i) j)) AS sliding, 300 AS truth
FROM (SELECT i, cf_agg(i::numeric) OVER (ORDER BY i ROWS BETWEEN 130 PRECEDING AND CURRENT ROW) AS f
	FROM numbers WHERE i <= 300) s;
SELECT count(*) FILTER (WHERE f = (SELECT cf_agg(j::float8) FROM generate_series(1, i) j)) AS running, 300 AS truth
FROM (SELECT i, cf_agg(i::float8) OVER (ORDER BY i) AS f FROM numbers WHERE i <= 300) s;

-- ---- states ----

-- two aggregates over one state
SELECT seen(cf_agg(i)) AS first, seen(cf_agg(i)) AS second, seen(cf_agg(i + 0)) AS truth FROM numbers;
-- a large state is changed in place
SELECT cf_count(cf_agg(i)) AS items, 4000 AS truth, max(CASE i WHEN 3000 THEN contexts('cuckoostate') END) AS states,
	1 AS truth
FROM numbers WHERE i <= 4000;
SELECT cf_count(cf_agg(i::numeric)) AS items, 4000 AS truth,
	max(CASE i WHEN 3000 THEN contexts('cuckoostate') END) AS states, 1 AS truth
FROM numbers WHERE i <= 4000;
-- a sort makes states flat, where memory cannot be freed (in PostgreSQL 17 and later)
CREATE AGGREGATE bare_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
SELECT cf_count(f) AS items
FROM (SELECT g % 2 AS h, bare_union(f) AS f
	FROM (SELECT i % 7 AS g, cf_agg(i, 100000, 0.001) AS f FROM numbers GROUP BY 1) days
	GROUP BY 1 ORDER BY count(*), 1 OFFSET 0) unions;
DROP AGGREGATE bare_union(cuckoofilter);

-- ---- no values ----

-- no values give the unsized filter, with any parameters
SELECT cf_agg(t) AS unsized FROM numbers WHERE false;
SELECT cf_count(cf_agg(t)) AS items, 0 AS truth FROM numbers WHERE false;
SELECT cf_contains(cf_agg(t), 'x') AS found FROM numbers WHERE false;
SELECT seen(cf_agg(t)) AS unsized FROM numbers WHERE false \gset
SELECT seen(cf_agg(i, 0.1)) AS fpp, seen(cf_agg(i, 5000, 0.01)) AS capacity,
	seen(cf_agg(i::numeric, 5000, 0.01, 3)) AS seed, seen(cf_agg(i, i, 2.0, i)) AS of_rows,
	seen(cf_agg(i, (SELECT 5000), 0.01 ORDER BY t)) AS sub_select, :'unsized' AS truth
FROM numbers WHERE false;
SELECT seen(cf_agg(n, 0.1)) AS fpp, seen(cf_agg(n, 5000, 0.01)) AS capacity,
	seen(cf_agg(n::numeric, 5000, 0.01, 3)) AS seed, :'unsized' AS truth
FROM (SELECT NULL::int AS n FROM numbers) nulls;
-- the frame of 1 has no rows
SELECT i, seen(cf_agg(i, 5000, 0.01) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)) AS frame,
	CASE i WHEN 1 THEN :'unsized' ELSE seen((SELECT cf_agg(j, 5000, 0.01) FROM generate_series(1, i - 1) j)) END
	AS truth
FROM numbers WHERE i < 4;
SELECT k, cf_count(cf_agg(i)) FROM numbers WHERE false GROUP BY k;
-- parameters are checked in each row, also of nulls
SELECT cf_agg(NULL::int, i * 99.0) FROM numbers WHERE i < 3;
SELECT cf_count(cf_agg(i, CASE WHEN 5 IN (SELECT i FROM numbers) THEN 5000 ELSE 1 END, 0.01)) AS sub_plan, 8 AS truth
FROM numbers WHERE i < 9;

-- ---- the filter ----

-- a delete keeps all other elements
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS found, 49998 AS truth
FROM (SELECT cf_delete(cf_delete(cf_agg(i), 1), 2) AS f FROM numbers) s, numbers WHERE i > 2;
-- bare literals
SELECT cf_contains(cf_agg('x'), 'x') AS found;

-- ---- errors ----

SELECT cf_agg(i, 0) FROM numbers;
SELECT cf_agg(i, 0, 0.01) FROM numbers;
SELECT cf_agg(i, NULL::float8) FROM numbers;
SELECT cf_agg(i, NULL, 0.01) FROM numbers;
SELECT cf_agg(i, 100, 0.01, NULL) FROM numbers;
-- null in a later row, where the value of the row before is left behind
SELECT cf_agg(i, 100::bigint + nullif(i, 3) - i, 0.01) FROM numbers WHERE i <= 9;
SELECT cf_agg(i, 100, 0.01::float8 + nullif(i, 3) * 0) FROM numbers WHERE i <= 9;
SELECT cf_agg(i, 100, 0.01, 7::bigint + nullif(i, 3) - i) FROM numbers WHERE i <= 9;
-- those of a null count, too
SELECT cf_agg(nullif(i, 2), 100 + (i = 2)::int, 0.01) FROM numbers WHERE i <= 2;
SELECT cf_agg(nullif(i, 2)::numeric, CASE WHEN i <> 2 THEN 0.01 END) FROM numbers WHERE i <= 2;
SELECT cf_agg(i, 1000) FROM numbers;
SELECT cf_agg(i, 0.01 / i) FROM numbers WHERE i <= 2;
SELECT cf_agg(i, 100, 0.01, i) FROM numbers;
SELECT cf_agg(i, 100 + i, 0.01) FROM numbers;
SELECT cf_agg(i, CASE WHEN i = 1 THEN 100 ELSE 100.5 END, 0.01) FROM numbers WHERE i <= 2;
SELECT cf_agg(i::numeric, 100 + i, 0.01) FROM numbers;
SELECT cf_agg(i, 4000000000, 0.01) FROM numbers;
SELECT cf_agg(to_json(t)) FROM numbers;

DROP TABLE numbers;
