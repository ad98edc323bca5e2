-- cf_agg in its variants; same set, same bytes; window, DISTINCT, FILTER, groups.
CREATE TABLE numbers AS SELECT i, i % 1000 AS k, 'value ' || i AS t
	FROM generate_series(1, 50000) i;
ANALYZE numbers;

-- all are found, exact fit is tight, the rate is kept
SELECT count(*) FILTER (WHERE cf_contains(f, t)) AS found FROM (SELECT cf_agg(t) AS f FROM numbers) s, numbers;
SELECT items BETWEEN 49990 AND 50000 AS items, bits_per_item <= 12.75 AS tight,
	growth_level, fingerprint_bits, element_family
FROM (SELECT cf_agg(t) AS f FROM numbers) s, cf_info(f);
SELECT asked, count(*) FILTER (WHERE cf_contains(f, 'absent ' || i)) <= 1.1 * asked * 200000 + 10 AS kept
FROM (SELECT asked, cf_agg(t, asked) AS f
	FROM numbers, unnest(ARRAY[0.03, 0.01, 0.001, 0.0001]) asked GROUP BY asked) s,
	generate_series(1, 200000) i
GROUP BY asked ORDER BY asked;
SELECT bits_per_item <= 12.75 AS tight, n
FROM unnest(ARRAY[20000, 22118, 26542, 31130, 31131, 44237, 50000]) n,
	LATERAL (SELECT cf_agg(i) AS f FROM numbers WHERE i <= n) s, cf_info(f);

-- the variants with parameters
SELECT fingerprint_bits, growth_level, capacity, seed, items
FROM (SELECT cf_agg(i, 100000, 0.01) AS f FROM numbers) s, cf_info(f);
SELECT fingerprint_bits, growth_level, capacity, seed, items
FROM (SELECT cf_agg(i, 100000, 0.01, 42) AS f FROM numbers) s, cf_info(f);
-- of one geometry with cf_new: clearing both leaves the same
SELECT cf_clear(cf_agg(i, 100000, 0.01, 42)) = cf_new(100000, 0.01, 42, 'int') AS same_geometry FROM numbers;
-- more than the capacity, and more than there are bits for
SELECT items, growth_level, fingerprint_bits, count(*) FILTER (WHERE cf_contains(f, i)) AS found
FROM (SELECT cf_agg(i, 1000, 0.0001) AS f FROM numbers) s, cf_info(f), numbers
GROUP BY items, growth_level, fingerprint_bits;
SELECT cf_agg(i, 1000, 0.01) FROM numbers;
-- a capacity may be any number, as in cf_new
SELECT cf_agg(i, 1e5, 0.01, 42) = cf_agg(i, 100000, 0.01, 42) AS literal,
	cf_agg(i, 99999.5, 0.01) = cf_agg(i, 100000, 0.01) AS fraction FROM numbers;
SELECT cf_agg(i, 'NaN', 0.01) FROM numbers;

-- same set, same bytes
SELECT cf_agg(t) AS expected FROM numbers \gset
SELECT cf_agg(t ORDER BY i DESC) = :'expected' AS descending,
	cf_agg(t ORDER BY md5(t)) = :'expected' AS shuffled,
	cf_agg(DISTINCT t) = :'expected' AS "distinct",
	cf_agg(t) FILTER (WHERE i > 0) = :'expected' AS filter
FROM numbers;
SELECT cf_agg(t) = :'expected' AS duplicates
FROM (SELECT t FROM numbers UNION ALL SELECT t FROM numbers ORDER BY 1) s;
SELECT cf_agg(t) = :'expected' AS nulls_skipped
FROM (SELECT t FROM numbers UNION ALL SELECT NULL) s;
SET enable_hashagg = off;
SELECT bool_and(cf_agg(t) = :'expected') OVER () AS grouped FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
RESET enable_hashagg;
SELECT bool_and(cf_agg(t) = :'expected') OVER () AS hashed FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
-- other types
SELECT cf_agg(i::numeric) AS numeric, cf_agg(i::float8) AS float FROM numbers \gset
SELECT cf_agg(i::numeric ORDER BY i DESC) = :'numeric' AS descending,
	cf_agg(DISTINCT i::numeric) = :'numeric' AS "distinct",
	cf_agg(i::numeric + 0) FILTER (WHERE i > 0) = :'numeric' AS filter, cf_agg(i::float8 ORDER BY k) = :'float' AS float
FROM numbers;
SET enable_hashagg = off;
SELECT bool_and(cf_agg(i::numeric) = :'numeric') OVER () AS grouped FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
RESET enable_hashagg;
SELECT bool_and(cf_agg(i::numeric) = :'numeric') OVER () AS hashed FROM numbers, (VALUES (1), (2)) v(g) GROUP BY g;
SELECT cf_agg(i::int2) = cf_agg(i::int8) AS int2_int8, cf_agg(i) = cf_agg(i::int8) AS int4_int8
FROM numbers WHERE i < 30000;
SELECT cf_agg(t) = cf_agg(t::varchar) AS varchar, cf_agg(t) = cf_agg(t::char(20)) AS "char(n)"
FROM numbers;

-- in parallel
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT cf_agg(t) FROM numbers;
SELECT cf_agg(t) = :'expected' AS parallel FROM numbers;
SELECT cf_agg(i::numeric) = :'numeric' AS parallel, cf_agg(i::float8) = :'float' AS float FROM numbers;
SELECT cf_agg(t, 100000, 0.01) = (SELECT cf_agg(t, 100000, 0.01 ORDER BY i) FROM numbers) AS sized FROM numbers;
SELECT k, cf_count(cf_agg(i)) FROM numbers GROUP BY k ORDER BY k LIMIT 3;
SELECT cf_count(cf_agg(t)) FROM numbers WHERE i < 0;
RESET ALL;

-- many groups, each right
SELECT count(*) AS groups, sum(cf_count(f)) AS items,
	bool_and(cf_contains(f, k + 1000) AND NOT cf_contains(f, -k - 1)) AS right_ones
FROM (SELECT k, cf_agg(i) AS f FROM numbers WHERE k < 200 GROUP BY k) s;
-- every size about where a state changes its shape
SELECT count(*) FILTER (WHERE cf_count(f) = n AND found = n) AS right_ones
FROM (SELECT n, cf_agg(i) AS f FROM numbers, generate_series(1, 300) n WHERE i <= n GROUP BY n) s,
	LATERAL (SELECT count(*) AS found FROM generate_series(1, n) i WHERE cf_contains(f, i)) c;

-- as a window aggregate
SELECT i, cf_count(cf_agg(i) OVER (ORDER BY i)) AS running,
	cf_count(cf_agg(i) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)) AS sliding
FROM numbers WHERE i <= 5 ORDER BY i;
SELECT sum(cf_count(f)) AS running, bool_and(cf_contains(f, i)) AS found
FROM (SELECT i, cf_agg(i) OVER (ORDER BY i) AS f FROM numbers WHERE i <= 400) s;
SELECT count(*) AS frames,
	bool_and(f = (SELECT cf_agg(j::numeric) FROM generate_series(greatest(i - 130, 1), i) j)) AS same
FROM (SELECT i, cf_agg(i::numeric) OVER (ORDER BY i ROWS BETWEEN 130 PRECEDING AND CURRENT ROW) AS f
	FROM numbers WHERE i <= 300) s;
SELECT count(*) AS frames, bool_and(f = (SELECT cf_agg(j::float8) FROM generate_series(1, i) j)) AS same
FROM (SELECT i, cf_agg(i::float8) OVER (ORDER BY i) AS f FROM numbers WHERE i <= 300) s;
-- two aggregates over one state
SELECT cf_agg(i) = cf_agg(i) AS same, cf_count(cf_agg(i)) = cf_count(cf_agg(i + 0)) AS count FROM numbers;

-- a large state is changed in place
SELECT cf_count(cf_agg(i)) AS items, max(CASE i WHEN 3000 THEN contexts('cuckoostate') END) AS states
FROM numbers WHERE i <= 4000;
SELECT cf_count(cf_agg(i::numeric)) AS items, max(CASE i WHEN 3000 THEN contexts('cuckoostate') END) AS states
FROM numbers WHERE i <= 4000;
-- hashes that are equal in their upper halves, which are sorted first: four pairs of them
SELECT count(DISTINCT cf_hash(v) >> 32) AS halves, count(DISTINCT cf_hash(v)) AS hashes,
	cf_agg(v ORDER BY at, v) = cf_agg(v ORDER BY at, v DESC) AS same
FROM (SELECT i, i FROM numbers WHERE i <= 12000
	UNION ALL VALUES (2500, 76778), (2500, 183835), (5000, 110473), (5000, 175936), (7500, 36717), (7500, 183907),
		(9900, 12582), (9900, 54897)) s(at, v);

-- a type that shares its equality with another one has the same elements
SELECT cf_agg(c::regclass) = cf_agg(c::oid) AS same, cf_contains(cf_agg(c::regclass), 'pg_class'::regclass) AS found,
	cf_contains(cf_agg(c::regclass), 'pg_class'::regclass::oid) AS by_oid
FROM unnest('{pg_class,pg_proc}'::regclass[]) c;

-- no values: the unsized empty filter, whatever the parameters; NOT cf_contains() stays right
SELECT cf_count(cf_agg(t)), NOT cf_contains(cf_agg(t), 'x') AS not_contained, cf_agg(t) AS unsized
FROM numbers WHERE false;
SELECT cf_agg(t) AS unsized FROM numbers WHERE false \gset
SELECT cf_agg(i, 0.1) = :'unsized' AS fpp, cf_agg(i, 5000, 0.01) = :'unsized' AS capacity,
	cf_agg(i::numeric, 5000, 0.01, 3) = :'unsized' AS seed,
	cf_agg(i, i, 2.0, i) = :'unsized' AS of_rows, cf_agg(i, (SELECT 5000), 0.01 ORDER BY t) = :'unsized' AS sub_select
FROM numbers WHERE false;
SELECT cf_agg(n, 0.1) = :'unsized' AS fpp, cf_agg(n, 5000, 0.01) = :'unsized' AS capacity,
	cf_agg(n::numeric, 5000, 0.01, 3) = :'unsized' AS seed
FROM (SELECT NULL::int AS n FROM numbers) nulls;
SELECT i, cf_agg(i, 5000, 0.01) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) = :'unsized' AS empty_frame
FROM numbers WHERE i < 4;
SELECT k, cf_count(cf_agg(i)) FROM numbers WHERE false GROUP BY k;
-- parameters are checked in each row, also of nulls
SELECT cf_agg(NULL::int, i * 99.0) FROM numbers WHERE i < 3;
SELECT cf_count(cf_agg(i, CASE WHEN 5 IN (SELECT i FROM numbers) THEN 5000 ELSE 1 END, 0.01)) AS sub_plan
FROM numbers WHERE i < 9;

-- a sort makes states flat, where memory cannot be freed (from PostgreSQL 17 on)
CREATE AGGREGATE bare_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
SELECT cf_count(f)
FROM (SELECT g % 2 AS h, bare_union(f) AS f
	FROM (SELECT i % 7 AS g, cf_agg(i, 100000, 0.001) AS f FROM numbers GROUP BY 1) days
	GROUP BY 1 ORDER BY count(*), 1 OFFSET 0) unions;
DROP AGGREGATE bare_union(cuckoofilter);

-- at the highest rate there is a bit to grow by, up to the capacity at least
SELECT n, count(*) AS filters, bool_and(cf_count(f) > n * 0.9) AS filled
FROM (SELECT n, cf_agg(i, n, 0.03, seed) AS f
	FROM unnest(ARRAY[15, 76, 228]) n, generate_series(1, 100) seed, numbers WHERE i <= n GROUP BY n, seed) s
GROUP BY n ORDER BY n;

-- values that share a fingerprint: two copies; the items are what is held
SELECT items < 50000 AS some_share, items > 40000 AS not_many
FROM (SELECT cf_agg(i, 0.5) AS f FROM numbers) s, cf_info(f);

-- deletes from an aggregated filter keep all others
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS left_over
FROM (SELECT cf_delete(cf_delete(cf_agg(i), 1), 2) AS f FROM numbers) s, numbers WHERE i > 2;

-- bare literals
SELECT cf_contains(cf_agg('x'), 'x');

-- errors
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
SELECT cf_agg(i::numeric, 100 + i, 0.01) FROM numbers;
SELECT cf_agg(i, 4000000000, 0.01) FROM numbers;
SELECT cf_agg(to_json(t)) FROM numbers;

DROP TABLE numbers;
