-- SQL benchmarks, as ratios of two queries that take turns in one session.
-- bench/run.sh sets these variables:
--
--	rows		rows of the table of URLs
--	large		items of the filters that are probed at points
--	beyond		items of the largest filter of the scans
--	days		filters of a year
--	figures		the file to which the ratios go, for bench/plot.sh
--
\pset pager off
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
SET jit = off;
SET work_mem = '1GB';
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

CREATE TABLE visits AS
	SELECT 'https://www.site-' || i % 9973 || '.example/archive/' || md5(i::text) || '/' || i AS url, i
	FROM generate_series(1, :rows) i;
VACUUM (ANALYZE, FREEZE) visits;
SELECT count(*) AS rows, round(avg(length(url)), 1) AS bytes_a_url,
	pg_size_pretty(pg_table_size('visits')) AS "table" FROM visits;

CREATE TABLE figures (n serial, family text, what text, query_ms float8, reference_ms float8,
	ratio float8, wanted float8);

-- Runs a query and its reference in turn, `rounds` times after a warm-up.
-- `setting` has `value` for the query only. The ratio is the median of
-- (query - allowance) / reference, in ms, and should be at most `wanted`.
CREATE PROCEDURE compare(family text, what text, query text, reference text, wanted float8 DEFAULT NULL,
	allowance float8 DEFAULT 0, setting text DEFAULT 'max_parallel_workers_per_gather', value text DEFAULT '0', rounds int DEFAULT 5)
LANGUAGE plpgsql AS $$
DECLARE
	default_value text := current_setting(setting);
	start timestamptz;
	q float8[] := '{}';
	r float8[] := '{}';
BEGIN
	FOR i IN 0..rounds LOOP
		PERFORM set_config(setting, value, true);
		start := clock_timestamp();
		EXECUTE query;
		q[i] := extract(epoch FROM clock_timestamp() - start) * 1000;
		PERFORM set_config(setting, default_value, true);
		start := clock_timestamp();
		EXECUTE reference;
		r[i] := extract(epoch FROM clock_timestamp() - start) * 1000;
	END LOOP;
	INSERT INTO figures (family, what, query_ms, reference_ms, ratio, wanted)
	SELECT compare.family, compare.what, percentile_cont(0.5) WITHIN GROUP (ORDER BY q[i]),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY r[i]),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY (q[i] - allowance) / r[i]), compare.wanted
	FROM generate_series(1, rounds) i;
END $$;

-- ---- building ----

CALL compare('build', 'cf_agg(url) less 100 ns a row : count(hashtextextended(url, 0))',
	'SELECT cf_agg(url) FROM visits', 'SELECT count(hashtextextended(url, 0)) FROM visits',
	1.5, :rows * 100e-6);
CALL compare('build', 'cf_agg(url) : count(url)',
	'SELECT cf_agg(url) FROM visits', 'SELECT count(url) FROM visits');
CALL compare('build', 'cf_agg(url), two workers : no workers',
	'SELECT cf_agg(url) FROM visits', 'SELECT cf_agg(url) FROM visits', 0.75, setting => 'max_parallel_workers_per_gather', value => '2');
CALL compare('build', 'cf_agg(i) : count(hashint4extended(i, 0))',
	'SELECT cf_agg(i) FROM visits', 'SELECT count(hashint4extended(i, 0)) FROM visits');
CALL compare('build', 'cf_agg(url), every value 20 times : count(hashtextextended(url, 0))',
	'SELECT cf_agg(url) FROM (SELECT url FROM visits WHERE i <= 100000) s, generate_series(1, 20)',
	'SELECT count(hashtextextended(url, 0)) FROM (SELECT url FROM visits WHERE i <= 100000) s, generate_series(1, 20)');
CALL compare('build', 'cf_agg(i), groups of ten : array_agg(i)',
	'SELECT count(f) FROM (SELECT cf_agg(i) AS f FROM visits GROUP BY i / 10) s',
	'SELECT count(f) FROM (SELECT array_agg(i) AS f FROM visits GROUP BY i / 10) s');

-- ---- sets: filters of disjoint parts, against their elements ----

-- Makes a table `name` of filters, with the capacity of all parts, and a table
-- name_items of their elements.
CREATE PROCEDURE make_parts(name text, parts int, items int, capacity bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s_items AS SELECT generate_series(1, %s) AS i', name, parts * items);
	EXECUTE format('CREATE TABLE %s AS SELECT (SELECT cf_agg(i, %s, 0.001) FROM generate_series(part * %3$s + 1, part * %3$s + %3$s) i) AS f
		FROM generate_series(0, %s) part', name, capacity, items, parts - 1);
	EXECUTE format('ALTER TABLE %s SET (parallel_workers = 2)', name);
END $$;
CALL make_parts('year', :days, 82000, 30000000);
CALL make_parts('week', 7, 82000, 30000000);
CALL make_parts('sources', 1000, 1000, 1000000);
VACUUM (ANALYZE, FREEZE) year, year_items, week, week_items, sources, sources_items;
SELECT name, count(*) AS filters, sum(i.items) AS items, pg_size_pretty(sum(i.bytes)) AS bytes, round(8.0 * sum(i.bytes) / sum(i.items), 1) AS bits_per_item
FROM (SELECT 'year' AS name, f FROM year UNION ALL SELECT 'week', f FROM week UNION ALL SELECT 'sources', f FROM sources) p, cf_info(f) i
GROUP BY name ORDER BY items DESC;
CALL compare('sets', 'cf_union_agg of ' || :days || ' filters of 82,000 items : cf_agg(i, capacity, fpp)',
	'SELECT cf_union_agg(f) FROM year', 'SELECT cf_agg(i, 30000000, 0.001) FROM year_items', rounds => 3);
CALL compare('sets', 'cf_union_all_agg of the same : cf_agg(i, capacity, fpp)',
	'SELECT cf_union_all_agg(f) FROM year', 'SELECT cf_agg(i, 30000000, 0.001) FROM year_items', rounds => 3);
CALL compare('sets', 'cf_union_agg of 7 of them : cf_agg(i, capacity, fpp)',
	'SELECT cf_union_agg(f) FROM week', 'SELECT cf_agg(i, 30000000, 0.001) FROM week_items');
CALL compare('sets', 'cf_union_agg of 1,000 filters of 1,000 items : cf_agg(i, capacity, fpp)',
	'SELECT cf_union_agg(f) FROM sources', 'SELECT cf_agg(i, 1000000, 0.001) FROM sources_items');

-- the twelve months of the year, each a partition
CREATE TABLE months (month int, f cuckoofilter) PARTITION BY LIST (month);
SELECT format('CREATE TABLE month%s PARTITION OF months FOR VALUES IN (%1$s)', month) FROM generate_series(1, 12) month \gexec
INSERT INTO months SELECT ntile(12) OVER (), f FROM year;
VACUUM (ANALYZE, FREEZE) months;
CREATE AGGREGATE union_of_partition(cuckoofilter) (
	SFUNC = cf_union, STYPE = cuckoofilter, FINALFUNC = cf_canonical, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
SET enable_partitionwise_aggregate = on;
SET parallel_leader_participation = off;
CALL compare('sets', 'union_of_partition for each of 12 months, two workers : no workers',
	'SELECT month, union_of_partition(f) FROM months GROUP BY month', 'SELECT month, union_of_partition(f) FROM months GROUP BY month',
	0.75, setting => 'max_parallel_workers_per_gather', value => '2', rounds => 3);
RESET enable_partitionwise_aggregate;
RESET parallel_leader_participation;
DROP TABLE months;
DROP AGGREGATE union_of_partition(cuckoofilter);

-- The peak of the session's memory during a query, in bytes, less what it had
-- before. Null unless the system is Linux.
CREATE FUNCTION memory(what text) RETURNS bigint LANGUAGE sql AS
	$$SELECT 1024 * substring(pg_read_file('/proc/self/status', 0, 100000) FROM what || ':\s*(\d+)')::bigint$$;
CREATE FUNCTION peak_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	IF (pg_stat_file('/proc/self/clear_refs', true)).size IS NULL THEN
		RETURN NULL;
	END IF;
	-- once before, because the shared buffers that it reads count from then on
	EXECUTE query;
	COPY (SELECT 5) TO '/proc/self/clear_refs';
	before := memory('VmHWM');
	EXECUTE query;
	RETURN memory('VmHWM') - before;
END $$;
SELECT query AS "peak memory", pg_size_pretty(peak) AS bytes, round(peak / (:days * 82000.0), 1) AS "an item"
FROM (VALUES ('SELECT cf_union_agg(f) FROM year'), ('SELECT cf_agg(i, 30000000, 0.001) FROM year_items')) q (query), peak_of(query) peak;
DROP TABLE year, year_items, week, week_items, sources, sources_items;

-- two filters of a million, and of ten million at their capacity and twice; HyperLogLog has 2^14 registers, each of its three
-- estimates a standard error of 0.81%
SELECT fpp, n, in_both AS "in common", round(common) AS estimate, round(common - in_both) AS error,
	round(standard_error::numeric, 1) AS "standard error",
	round(0.0081 * sqrt(2.0 * n ^ 2 + (2.0 * n - in_both) ^ 2)) AS "HyperLogLog"
FROM (SELECT fpp, 1000000 AS n, 1000000 AS capacity, in_both FROM unnest(ARRAY[0.01, 0.001]) fpp, unnest(ARRAY[0, 1000, 100000, 1000000]) in_both
	UNION ALL SELECT 0.03, 10000000, unnest(ARRAY[10000000, 5000000]), 100000) cases,
	LATERAL (SELECT cf_agg(i, capacity, fpp) AS a FROM generate_series(1, n) i) a,
	LATERAL (SELECT cf_agg(i, capacity, fpp) AS b FROM generate_series(n + 1 - in_both, 2 * n - in_both) i) b,
	cf_overlap_info(a, b) ORDER BY n, 1 DESC, capacity, 3;

-- the elements of one set that are lost when another set is deleted from their union
WITH sets AS MATERIALIZED (
	SELECT fpp, cf_agg(i, 200000, fpp) FILTER (WHERE i <= 100000) AS a, cf_agg(i, 200000, fpp) FILTER (WHERE i > 100000) AS b
	FROM unnest(ARRAY[0.03, 0.01, 0.001]) fpp, generate_series(1, 200000) i GROUP BY fpp
), deleted AS MATERIALIZED (
	SELECT fpp, cf_delete_all(cf_union(a, b), others) AS of_union, cf_delete_all(cf_union_all(a, b), others) AS of_sum
	FROM sets, (SELECT array_agg(i) AS others FROM generate_series(100001, 200000) i) s
)
SELECT fpp, count(*) FILTER (WHERE NOT cf_contains(of_union, i)) AS "lost from their union",
	count(*) FILTER (WHERE NOT cf_contains(of_sum, i)) AS "from their sum"
FROM deleted, generate_series(1, 100000) i GROUP BY fpp ORDER BY fpp DESC;

-- ---- scans ----

CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO filters SELECT 'fifth', cf_agg(url) FROM visits WHERE i % 5 = 0;
INSERT INTO filters SELECT 'tenth', cf_agg(url) FROM visits WHERE i % 10 = 0;
INSERT INTO filters SELECT '1e4', cf_agg(url) FROM visits WHERE i % 500 = 0;
INSERT INTO filters SELECT '1e7', cf_agg('https://www.example/' || i) FROM generate_series(1, 10000000) i;
INSERT INTO filters SELECT 'beyond', cf_agg('https://www.example/' || i) FROM generate_series(1, :beyond) i;
CREATE TABLE tenth AS SELECT url FROM visits WHERE i % 10 = 0;
CREATE TABLE articles AS SELECT url, i % 50 AS category FROM visits WHERE i % 2 = 0;
INSERT INTO filters SELECT 'category 0', cf_agg(url) FROM articles WHERE category = 0;
VACUUM (ANALYZE, FREEZE) filters, tenth, articles;

CREATE FUNCTION scan(name text) RETURNS text LANGUAGE sql AS
	$$SELECT format('SELECT count(*) FROM visits WHERE cf_contains((SELECT f FROM filters WHERE name = %L), url)', name)$$;
\set hashed 'SELECT count(*) FROM visits WHERE hashtextextended(url, 0) <> 0'
CALL compare('scan', 'filter of 1e4 items : hashing the URLs', scan('1e4'), :'hashed', 1.2);
CALL compare('scan', 'filter of a fifth of the rows : hashing the URLs', scan('fifth'), :'hashed', 1.2);
CALL compare('scan', 'filter of 1e7 items : hashing the URLs', scan('1e7'), :'hashed', 1.2);
CALL compare('scan', 'filter of ' || :beyond / 1e6::int || 'e6 items : hashing the URLs', scan('beyond'), :'hashed', 1.2);
CALL compare('scan', 'filter of 1e7 items, cuckoo.enable_scan = off : hashing the URLs', scan('1e7'), :'hashed',
	setting => 'cuckoo.enable_scan', value => 'off');
CALL compare('scan', 'filter of a fifth, built in the query : hashing the URLs',
	'SELECT count(*) FROM visits WHERE cf_contains((SELECT cf_agg(url) FROM visits WHERE i % 5 = 0), url)', :'hashed');
CALL compare('scan', 'filter of a fifth, joined : in a sub-select',
	'SELECT count(*) FROM filters JOIN visits ON cf_contains(f, url) WHERE name = ''fifth''', scan('fifth'), 1.1);
CALL compare('scan', 'filter of a tenth : url IN (SELECT url ...)', scan('tenth'),
	'SELECT count(*) FROM visits WHERE url IN (SELECT url FROM tenth)', 0.25);
\set join 'SELECT count(*) FROM visits v JOIN articles a USING (url) WHERE category = 0'
CALL compare('scan', 'hash join, stored filter pushed below it : no filter',
	:'join' || ' AND cf_contains((SELECT f FROM filters WHERE name = ''category 0''), v.url)', :'join', 0.667);
CALL compare('scan', 'hash join, filter built in the query : no filter',
	:'join' || ' AND cf_contains((SELECT cf_agg(url) FROM articles WHERE category = 0), v.url)', :'join');
DROP TABLE tenth, articles;

-- ---- a star: four tables, of which conditions leave a tenth, and filters that repeat them ----

CREATE TABLE star AS
	SELECT i % 10 + 10 * (i * 3 / 7 % 5000) AS k1, i / 10 % 10 + 10 * (i * 5 / 7 % 5000) AS k2,
		i / 100 % 10 + 10 * (i * 11 / 7 % 5000) AS k3, i / 1000 % 10 + 10 * (i * 13 / 7 % 5000) AS k4, i AS v
	FROM generate_series(0, 2999999) i;
CREATE TABLE point AS SELECT k, k % 10 AS tenth, hashint4(k) % 2 = 0 AS half FROM generate_series(0, 49999) k;
INSERT INTO filters SELECT 'points', cf_agg(k) FROM point WHERE tenth = 1;
INSERT INTO filters SELECT 'half of the points', cf_agg(k) FROM point WHERE half;
VACUUM (ANALYZE, FREEZE) star, point;
SELECT 'SELECT count(*), sum(v) FROM star' || string_agg(format(' JOIN point p%1$s ON p%1$s.k = k%1$s', i), '') || ' WHERE '
		|| string_agg(format('p%s.tenth = 1', i), ' AND ') AS star,
	string_agg(format(' AND cf_contains((SELECT f FROM filters WHERE name = ''points''), k%s)', i), '') AS stored,
	string_agg(format(' AND cf_contains((SELECT cf_agg(k) FROM point WHERE tenth = 1), k%s)', i), '') AS built,
	string_agg(format(' AND cf_contains((SELECT f FROM filters WHERE name = ''half of the points''), k%s)', i), '') AS unrelated
FROM generate_series(1, 4) i \gset
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) :star :built;
CALL compare('scan', 'star of four tables, filters built in the query : no filter', :'star' || :'built', :'star', 0.95);
CALL compare('scan', 'star of four tables, stored filters : no filter', :'star' || :'stored', :'star', 0.95);
-- the estimate is too high then, but no higher than without the filters
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) :star :unrelated;
CALL compare('scan', 'star of four tables, filters of other keys : no filter', :'star' || :'unrelated', :'star');
DROP TABLE star, point;

-- ---- estimates ----

CREATE TABLE skewed AS
	SELECT CASE WHEN i % 10 < 7 THEN i % 20 ELSE i END AS v, i AS u FROM generate_series(1, 1000000) i;
ANALYZE skewed;
CREATE FUNCTION rows_of(query text, OUT estimated float8, OUT actual float8) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING OFF) ' || query INTO plan;
	estimated := plan -> 0 -> 'Plan' ->> 'Plan Rows';
	actual := plan -> 0 -> 'Plan' ->> 'Actual Rows';
END $$;
CREATE FUNCTION literal(members text, OUT f text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT quote_literal(cf_agg(m)) || ''::cuckoofilter'' FROM generate_series(' || members || ') m' INTO f;
END $$;
SELECT condition AS "condition (v: skewed, u: unique)", members, estimated, actual, round((estimated / actual)::numeric, 2) AS factor
FROM (VALUES ('1, 5'), ('10, 300000'), ('1, 1000000, 7')) m (members),
	(VALUES ('f @> v'), ('f @> u'), ('cf_contains(f, v)'), ('cf_contains(f, u)'), ('NOT cf_contains(f, u)')) c (condition),
	literal(members), rows_of('SELECT FROM skewed WHERE ' || regexp_replace(condition, '\mf\M', f)) ORDER BY condition, members;
DROP TABLE skewed;

-- ---- point probes of stored filters, each from a cold call site ----

CREATE TABLE large (id int PRIMARY KEY, f cuckoofilter, bytes bytea);
ALTER TABLE large ALTER bytes SET STORAGE external;
INSERT INTO large SELECT 1, f FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 1000000) i) s;
INSERT INTO large SELECT id, f, f::bytea
	FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 8000000) i) s, unnest(ARRAY[10, 11]) id;
INSERT INTO large SELECT id, f, f::bytea
	FROM (SELECT cf_agg(i) AS f FROM generate_series(1, :large) i) s, unnest(ARRAY[20, 21]) id;
VACUUM ANALYZE large;
SELECT id, cf_count(f) AS items, pg_size_pretty((cf_info(f)).bytes) AS bytes FROM large ORDER BY id;
PREPARE probe(int, int) AS SELECT cf_contains(f, $2) FROM large WHERE id = $1;
PREPARE slice(int, int) AS SELECT length(substring(bytes FROM $2 FOR 768)) FROM large WHERE id = $1;
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE probe(10, 7919);
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE slice(10, 7919);
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE probe(20, 7919);
-- random: a place in the bytes, or an element, of which two in three are in
-- the filter
CREATE FUNCTION place(i int, size int) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT (hashint4(i) & 2147483647) % (size - 767) + 1$$;
CREATE PROCEDURE each(statement text, id int, n int) LANGUAGE plpgsql AS $$
DECLARE
	size int := (SELECT length(bytes) FROM large l WHERE l.id = each.id);
BEGIN
	FOR i IN 1..n LOOP
		EXECUTE format('EXECUTE %s(%s, %s)', statement, id, place(i, size));
	END LOOP;
END $$;
CALL compare('probe', '100,000 probes of one, 8e6 items : substrings of 768 bytes',
	'CALL each(''probe'', 10, 100000)', 'CALL each(''slice'', 10, 100000)', 2.2);
CALL compare('probe', '100,000 probes of one, ' || :large / 1000000 || 'e6 items : substrings of 768 bytes',
	'CALL each(''probe'', 20, 100000)', 'CALL each(''slice'', 20, 100000)', 2.2);
-- two filters in turn, so that none is kept
CREATE FUNCTION lateral_(expression text, id int) RETURNS text LANGUAGE sql AS
	$$SELECT format('SELECT count(x) FROM (SELECT i, place(i, %s) AS place FROM generate_series(1, 100000) i) i,
		LATERAL (SELECT %s AS x FROM large WHERE id = %s + i %% 2) s',
		(SELECT length(bytes) FROM large l WHERE l.id = lateral_.id), expression, id)$$;
CALL compare('probe', '100,000 lateral probes of two, 8e6 items : substrings of 768 bytes',
	lateral_('cf_contains(f, place)', 10), lateral_('length(substring(bytes FROM place FOR 768))', 10), 2.2);
CALL compare('probe', '100,000 lateral probes of two, ' || :large / 1000000 || 'e6 items : substrings of 768 bytes',
	lateral_('cf_contains(f, place)', 20), lateral_('length(substring(bytes FROM place FOR 768))', 20), 2.2);

-- ---- arrays, and changes of a variable ----

CREATE TABLE arrays AS SELECT array_agg(i * 37 % 2000000) AS a FROM generate_series(1, 1000) i;
CREATE PROCEDURE repeat(statement text, n int, OUT bytes bigint) LANGUAGE plpgsql AS $$
DECLARE
	-- what the session holds
	before bigint;
	f cuckoofilter;
	a int[];
	found boolean[];
BEGIN
	SELECT CASE statement WHEN 'grow' THEN cf_new() ELSE cf_add(large.f, -1) END, arrays.a INTO f, a
	FROM large, arrays WHERE large.id = 1;
	SELECT sum(used_bytes) INTO before FROM pg_backend_memory_contexts;
	CASE statement
		WHEN 'each' THEN
			FOR i IN 1..n LOOP
				found := cf_contains_each(f, a);
			END LOOP;
		WHEN 'unnest' THEN
			FOR i IN 1..n LOOP
				PERFORM cf_contains(f, x) FROM unnest(a) x;
			END LOOP;
		WHEN 'grow' THEN
			FOR i IN 1..n LOOP
				f := cf_add(f, i);
			END LOOP;
		WHEN 'add' THEN
			FOR i IN 1..n LOOP
				f := cf_add(f, -i);
			END LOOP;
		WHEN 'copy' THEN
			-- an expression, which is never changed in place
			FOR i IN 1..n LOOP
				f := cf_add((SELECT f), -i);
			END LOOP;
	END CASE;
	SELECT sum(used_bytes) - before INTO bytes FROM pg_backend_memory_contexts;
END $$;
CALL compare('change', 'cf_contains_each of 1,000 elements : cf_contains over unnest',
	'CALL repeat(''each'', 500, NULL)', 'CALL repeat(''unnest'', 500, NULL)', 0.2);
CALL compare('change', 'cf_add_all of 100,000 : f := cf_add(f, i) 100,000 times',
	'SELECT cf_add_all(cf_new(), array_agg(i)) FROM generate_series(1, 100000) i', 'CALL repeat(''grow'', 100000, NULL)');
SELECT (cf_info(cf_add_all(cf_new(), array_agg(i)))).bytes AS bytes FROM generate_series(1, 100000) i \gset
\echo 'Bytes that 100,000 adds to a variable take; the filter itself is ':bytes':'
CALL repeat('grow', 100000, NULL);
SELECT current_setting('server_version_num')::int >= 180000 AS in_place \gset
\if :in_place
CALL compare('change', 'f := cf_add(f, i) with a million items, in place : copying',
	'CALL repeat(''add'', 20000, NULL)', 'CALL repeat(''copy'', 20000, NULL)', 0.02, rounds => 2);
\else
CALL compare('change', 'f := cf_add(f, i) with a million items : copying',
	'CALL repeat(''add'', 2000, NULL)', 'CALL repeat(''copy'', 2000, NULL)', rounds => 2);
\endif

\pset null ''
SELECT family, what, round(query_ms) AS ms, round(reference_ms) AS reference,
	round(ratio::numeric, 3) AS ratio, wanted AS "at most"
FROM figures ORDER BY n;
\o :figures
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
SELECT family, what, ratio FROM figures ORDER BY n;
\o
\pset format aligned
\pset tuples_only off

SELECT name, i.items, i.bytes, round(i.bits_per_item::numeric, 2) AS bits_per_item
FROM filters, cf_info(f) i;
