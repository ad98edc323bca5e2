-- Compares the scan with a sequential one by queries of many shapes, with
-- cuckoo.enable_scan on and off in turn. The ratio is the median of seven.
-- Times are processor time of the backend and its workers, so that others on
-- the machine matter little. The script needs a superuser on Linux, and an
-- empty database.
\pset pager off
SELECT pg_stat_file('/proc/self/schedstat', true) IS NULL AS no_clock \gset
\if :no_clock
\echo 'No figures: /proc/self/schedstat, which has the processor time, is missing.'
\quit
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
SET jit = off;
SET work_mem = '64MB';
SET max_parallel_workers_per_gather = 0;

-- Milliseconds of the processor that this session and its ended workers have
-- used. Those of the workers are those of all ended children of the
-- postmaster, of which there are few others. The session sleeps before,
-- because the kernel has the exact figure of a process that has just slept.
CREATE FUNCTION processor_ms() RETURNS float8 LANGUAGE sql VOLATILE AS $$
	SELECT pg_sleep(0.0001);
	SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1)::float8 / 1e6 +
		(stat[16]::float8 + stat[17]::float8) * 10
	FROM string_to_array(pg_read_file('/proc/' || split_part(pg_read_file('postmaster.pid'), E'\n', 1) || '/stat', 0, 1000), ' ') stat
$$;

-- ---- tables and filters ----

-- the key, `columns` - 2 texts, and the key again
CREATE PROCEDURE make_wide(columns int, rows int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE wide_%s AS SELECT i AS early%s FROM generate_series(1, %s) i', columns,
		(SELECT string_agg(CASE c WHEN columns THEN ', i AS late' ELSE format(', ''text '' || i %% %s AS c%s', 90 + c, c) END, '' ORDER BY c)
			FROM generate_series(2, columns) c), rows);
END $$;
CALL make_wide(1, 300000);
CALL make_wide(10, 150000);
CALL make_wide(20, 100000);
CALL make_wide(40, 60000);
CALL make_wide(60, 40000);
CREATE TABLE urls AS SELECT i, 'https://www.site-' || i % 9973 || '.example/archive/' || md5(i::text) || '/' || i AS url
	FROM generate_series(1, 150000) i;
CREATE TABLE stored_texts (i int, t text);
ALTER TABLE stored_texts ALTER t SET STORAGE EXTERNAL;
INSERT INTO stored_texts SELECT i, i || repeat('x', 4000) FROM generate_series(1, 8000) i;
CREATE TABLE one_a_page (i int, pad text);
ALTER TABLE one_a_page ALTER pad SET STORAGE PLAIN;
INSERT INTO one_a_page SELECT i, repeat('x', 5000) FROM generate_series(1, 8000) i;
CREATE TABLE outer_2000 AS SELECT generate_series(1, 2000) AS o;
CREATE TABLE inner_1000 AS SELECT generate_series(1, 1000) AS i;
CREATE TABLE small_1100 AS SELECT generate_series(1, 1100) AS i;
CREATE TABLE small_3000 AS SELECT generate_series(1, 3000) AS i;
CREATE TABLE small_10000 AS SELECT generate_series(1, 10000) AS i;
CREATE TABLE whole AS SELECT i, i % 100 AS p FROM generate_series(1, 300000) i;
CREATE TABLE parted (i int, p int) PARTITION BY LIST (p);
DO $$
BEGIN
	FOR p IN 0..99 LOOP
		EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)', p, p);
	END LOOP;
END $$;
INSERT INTO parted SELECT * FROM whole;

CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO filters SELECT 'empty', cf_new();
INSERT INTO filters SELECT 'none', cf_agg(-i) FROM generate_series(1, 100000) i;
INSERT INTO filters SELECT 'few', cf_agg(i * 1000, 0.00001) FROM generate_series(1, 300) i;
INSERT INTO filters SELECT 'half', cf_agg(i * 2) FROM generate_series(1, 150000) i;
INSERT INTO filters SELECT 'all', cf_agg(i) FROM generate_series(1, 300000) i;
INSERT INTO filters SELECT '4.6 MB', cf_agg(i * 2) FROM generate_series(1, 2900000) i;
INSERT INTO filters SELECT '8 MB', cf_agg(i * 2) FROM generate_series(1, 5000000) i;
INSERT INTO filters SELECT 'urls 1e4', cf_agg(url) FROM urls WHERE i <= 10000;
INSERT INTO filters SELECT 'urls 1e6', cf_agg(url)
	FROM (SELECT url FROM urls WHERE i % 2 = 0 UNION ALL SELECT 'https://www.example/' || i FROM generate_series(1, 925000) i) s;
INSERT INTO filters SELECT 'urls 1e7', cf_agg(url)
	FROM (SELECT url FROM urls WHERE i % 2 = 0 UNION ALL SELECT 'https://www.example/' || i FROM generate_series(1, 9925000) i) s;
INSERT INTO filters SELECT 'texts', cf_agg(t) FROM stored_texts WHERE i % 2 = 0;
CREATE TABLE daily AS SELECT d, cf_agg(d * 25000 + i) AS f FROM generate_series(0, 5) d, generate_series(1, 25000) i GROUP BY d;
CREATE TABLE visits AS SELECT i * 6 AS v FROM generate_series(1, 50000) i;
VACUUM (ANALYZE, FREEZE);

CREATE FUNCTION stored(name text) RETURNS text LANGUAGE sql AS $$SELECT format('(SELECT f FROM filters WHERE name = %L)', name)$$;
CREATE FUNCTION test(name text, element text) RETURNS text LANGUAGE sql AS $$SELECT format('cf_contains(%s, %s)', stored(name), element)$$;

-- ---- functions that want the first row ----

CREATE FUNCTION first_row(name text) RETURNS int LANGUAGE sql AS
	$$SELECT early FROM wide_1 WHERE cf_contains((SELECT f FROM filters WHERE filters.name = $1), early)$$;
CREATE FUNCTION select_into(name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	SELECT early INTO result FROM wide_1 WHERE cf_contains((SELECT f FROM filters WHERE filters.name = $1), early);
	RETURN result;
END $$;
CREATE FUNCTION for_exit(name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	FOR result IN SELECT early FROM wide_1 WHERE cf_contains((SELECT f FROM filters WHERE filters.name = $1), early) LOOP
		RETURN result;
	END LOOP;
	RETURN NULL;
END $$;
CREATE FUNCTION fetch_one(name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
	c CURSOR FOR SELECT early FROM wide_1 WHERE cf_contains((SELECT f FROM filters WHERE filters.name = $1), early);
BEGIN
	OPEN c;
	FETCH c INTO result;
	CLOSE c;
	RETURN result;
END $$;

-- ---- the shapes ----

CREATE TABLE shapes (n serial, name text, query text, settings text[] DEFAULT '{}', at_least_ms float8 DEFAULT 40, scan boolean,
	ms float8, reference_ms float8, ratio float8);

INSERT INTO shapes (name, query)
SELECT columns || CASE columns WHEN 1 THEN ' column' ELSE ' columns, test on the ' || position || ' one' END || ': half pass, ' || what,
	'SELECT ' || what || ' FROM wide_' || columns || ' WHERE ' || test('half', position)
FROM unnest(ARRAY[1, 10, 20, 40, 60]) columns, unnest(ARRAY['early', 'late']) position, (VALUES ('count(*)'), ('max(c9)')) w (what)
WHERE NOT (columns = 1 AND (position = 'late' OR what = 'max(c9)')) AND NOT (columns IN (10, 40) AND what = 'max(c9)')
ORDER BY columns, position, what;
INSERT INTO shapes (name, query)
SELECT negation || 'cf_contains, 20 columns, ' || share || ' in the filter',
	'SELECT count(*), max(c3) FROM wide_20 WHERE ' || negation || test(filter, 'late')
FROM (VALUES ('none', 'none'), ('0.1%', 'few'), ('all', 'all')) f (share, filter), (VALUES (''), ('NOT ')) w (negation);
INSERT INTO shapes (name, query) VALUES
	('empty filter, integers', 'SELECT count(*) FROM wide_1 WHERE ' || test('empty', 'early')),
	('empty filter, NOT, integers', 'SELECT count(*) FROM wide_1 WHERE NOT ' || test('empty', 'early')),
	('empty filter, text', 'SELECT count(*) FROM urls WHERE ' || test('empty', 'url')),
	('stored texts of 4 kB, half pass', 'SELECT count(*) FROM stored_texts WHERE ' || test('texts', 't')),
	('stored texts of 4 kB, empty filter', 'SELECT count(*) FROM stored_texts WHERE ' || test('empty', 't')),
	('filter of 1e4 texts, stored', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e4', 'url')),
	('filter of 1e6 texts, stored', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e6', 'url')),
	('filter of 1e7 texts, stored', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e7', 'url')),
	('filter of 75,000 texts, built in the query', 'SELECT count(*) FROM urls WHERE cf_contains((SELECT cf_agg(url) FROM urls WHERE i % 2 = 0), url)'),
	('filter of 5e6 integers, stored', 'SELECT count(*) FROM wide_1 WHERE ' || test('8 MB', 'early')),
	('filter of 15,000 integers, built in the query', 'SELECT count(*) FROM wide_1 WHERE cf_contains((SELECT cf_agg(i * 2) FROM generate_series(1, 15000) i), early)'),
	('filter of 1e6 texts, joined', 'SELECT count(*) FROM filters JOIN urls ON cf_contains(f, url) WHERE name = ''urls 1e6'''),
	('element lower(url)', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e6', 'lower(url)')),
	('a cheap condition first, a tenth passes it', 'SELECT count(*) FROM urls WHERE i % 10 = 0 AND ' || test('urls 1e6', 'url')),
	('a dear condition after', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e6', 'url') || ' AND length(url) % 2 >= 0'),
	('three tests', 'SELECT count(*) FROM wide_1 WHERE ' || test('all', 'early') || ' AND ' || test('half', 'early') || ' AND NOT ' || test('none', 'early')),
	('five tests, all pass', 'SELECT count(*) FROM wide_1 WHERE ' || test('all', 'early') || ' AND NOT ' || test('none', 'early')
		|| ' AND NOT ' || test('none', 'early + 0') || ' AND ' || test('all', 'early + 0') || ' AND NOT ' || test('empty', 'early')),
	('one row a page', 'SELECT count(*) FROM one_a_page WHERE ' || test('half', 'i')),
	('a table of 1,000 rows', 'SELECT count(*) FROM inner_1000 WHERE ' || test('half', 'i')),
	('a table of 1,100 rows, few pass', 'SELECT count(*) FROM small_1100 WHERE ' || test('few', 'i')),
	('a table of 3,000 rows', 'SELECT count(*) FROM small_3000 WHERE ' || test('half', 'i')),
	('a table of 3,000 rows, filter of 8 MB', 'SELECT count(*) FROM small_3000 WHERE ' || test('8 MB', 'i')),
	('a table of 10,000 rows', 'SELECT count(*) FROM small_10000 WHERE ' || test('half', 'i')),
	('a table of 10,000 rows, filter of 8 MB', 'SELECT count(*) FROM small_10000 WHERE ' || test('8 MB', 'i')),
	('LIMIT 1', 'SELECT early FROM wide_1 WHERE ' || test('half', 'early') || ' LIMIT 1'),
	('LIMIT 1, filter of 8 MB', 'SELECT early FROM wide_1 WHERE ' || test('8 MB', 'early') || ' LIMIT 1'),
	('LIMIT 100, filter of 8 MB', 'SELECT early FROM wide_1 WHERE ' || test('8 MB', 'early') || ' LIMIT 100'),
	('LIMIT 1000, filter of 8 MB', 'SELECT early FROM wide_1 WHERE ' || test('8 MB', 'early') || ' LIMIT 1000'),
	('LIMIT 10, few pass', 'SELECT early FROM wide_1 WHERE ' || test('few', 'early') || ' LIMIT 10'),
	('LIMIT 1, 60 columns', 'SELECT * FROM wide_60 WHERE ' || test('half', 'late') || ' LIMIT 1'),
	('EXISTS', 'SELECT EXISTS (SELECT FROM wide_1 WHERE ' || test('half', 'early') || ')'),
	('materialized CTE under LIMIT 1, filter of 8 MB', 'WITH c AS MATERIALIZED (SELECT early FROM wide_1 WHERE ' || test('8 MB', 'early') || ') SELECT * FROM c LIMIT 1'),
	('SQL function, first row', 'SELECT first_row(''half'')'),
	('SQL function, first row, filter of 8 MB', 'SELECT first_row(''8 MB'')'),
	('PL/pgSQL SELECT INTO, filter of 8 MB', 'SELECT select_into(''8 MB'')'),
	('PL/pgSQL FOR ... EXIT, filter of 8 MB', 'SELECT for_exit(''8 MB'')'),
	('cursor, FETCH 1', 'SELECT fetch_one(''half'')'),
	('cursor, FETCH 1, filter of 8 MB', 'SELECT fetch_one(''8 MB'')'),
	('100 partitions', 'SELECT count(*) FROM parted WHERE ' || test('half', 'i')),
	('100 partitions, filter of 4.6 MB', 'SELECT count(*) FROM parted WHERE ' || test('4.6 MB', 'i'));
INSERT INTO shapes (name, query, settings) VALUES
	('rescans, 2,000 of 1,000 rows, all pass', 'SELECT count(*) FROM outer_2000 LEFT JOIN inner_1000 ON ' || test('all', 'i'), '{enable_material,off}'),
	('rescans, 2,000 of 1,000 rows, few pass', 'SELECT count(*) FROM outer_2000 LEFT JOIN inner_1000 ON ' || test('few', 'i'), '{enable_material,off}'),
	('rescans, one row of each is wanted', 'SELECT count(*) FROM outer_2000 WHERE (SELECT i >= o FROM inner_1000 WHERE ' || test('all', 'i') || ' AND i >= o LIMIT 1)', '{}');
-- the time of workers is known by 10 ms
INSERT INTO shapes (name, query, settings, at_least_ms)
SELECT 'two workers, ' || what, query, '{max_parallel_workers_per_gather,2,min_parallel_table_scan_size,0,parallel_setup_cost,0}', 300
FROM (VALUES ('integers', 'SELECT count(*) FROM wide_1 WHERE ' || test('half', 'early')),
	('filter of 1e6 texts', 'SELECT count(*) FROM urls WHERE ' || test('urls 1e6', 'url'))) w (what, query);
SET jit = on;
SELECT pg_jit_available() AS jit \gset
SET jit = off;
\if :jit
INSERT INTO shapes (name, query, settings) VALUES
	('100 partitions, JIT', 'SELECT count(*) FROM parted WHERE ' || test('half', 'i'), '{jit,on,jit_above_cost,0}'),
	('20 columns, late, JIT', 'SELECT count(*) FROM wide_20 WHERE ' || test('half', 'late'), '{jit,on,jit_above_cost,0}');
\else
\echo 'No shapes with JIT: this PostgreSQL has none (llvmjit).'
\endif

-- ---- measuring ----

-- Milliseconds for an execution of a statement, the mean of n.
CREATE FUNCTION run_ms(query text, n int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start float8 := processor_ms();
BEGIN
	FOR i IN 1..n LOOP
		EXECUTE query;
	END LOOP;
	RETURN (processor_ms() - start) / n;
END $$;

-- Runs two statements in turn, each long enough for the clock; with a setting,
-- the first has it on and the second off.
CREATE FUNCTION in_turn(first text, second text, setting text DEFAULT NULL, at_least_ms float8 DEFAULT 40, rounds int DEFAULT 7,
	OUT ms float8, OUT reference_ms float8, OUT ratio float8) LANGUAGE plpgsql AS $$
DECLARE
	a float8[] := '{}';
	b float8[] := '{}';
	t float8;
	is_first boolean;
	n int := 1;
BEGIN
	FOR round IN 0..rounds LOOP
		-- which is first is turned round each time
		FOR i IN 1..2 LOOP
			is_first := (i + round) % 2 = 0;
			IF setting IS NOT NULL THEN
				PERFORM set_config(setting, CASE WHEN is_first THEN 'on' ELSE 'off' END, true);
				-- of functions
				DISCARD PLANS;
			END IF;
			t := run_ms(CASE WHEN is_first THEN first ELSE second END, n);
			IF is_first THEN
				a[round] := t;
			ELSE
				b[round] := t;
			END IF;
		END LOOP;
		IF round = 0 THEN
			n := least(greatest(ceil(at_least_ms / least(a[0], b[0])), 1), 1000);
		END IF;
	END LOOP;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a[i]), percentile_cont(0.5) WITHIN GROUP (ORDER BY b[i]),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY a[i] / b[i])
	INTO ms, reference_ms, ratio FROM generate_series(1, rounds) i;
END $$;

CREATE PROCEDURE measure(first int DEFAULT 1, last int DEFAULT 1000) LANGUAGE plpgsql AS $$
DECLARE
	shape shapes;
	plan json;
BEGIN
	FOR shape IN SELECT * FROM shapes WHERE n BETWEEN first AND last ORDER BY n LOOP
		FOR i IN 1..cardinality(shape.settings) BY 2 LOOP
			PERFORM set_config(shape.settings[i], shape.settings[i + 1], true);
		END LOOP;
		EXECUTE 'EXPLAIN (FORMAT json) ' || shape.query INTO plan;
		UPDATE shapes s SET scan = CASE WHEN shape.query !~ 'FROM' THEN NULL ELSE plan::text ~ 'CuckooScan' END,
			(ms, reference_ms, ratio) = (SELECT * FROM in_turn(shape.query, shape.query, 'cuckoo.enable_scan', shape.at_least_ms))
			WHERE s.n = shape.n;
		COMMIT;					-- ends the settings
	END LOOP;
END $$;
CALL measure();
\pset null ''
SELECT name AS "shape", scan, round(ms::numeric, 2) AS ms, round(reference_ms::numeric, 2) AS "sequential",
	round(ratio::numeric, 2) AS ratio
FROM shapes ORDER BY n;
SELECT count(*) AS shapes, count(*) FILTER (WHERE ratio > 1.05) AS "above 1.05", round(max(ratio)::numeric, 2) AS worst,
	(array_agg(name ORDER BY ratio DESC))[1] AS "worst case", round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio)::numeric, 2) AS median
FROM shapes;

-- ---- one filter for many partitions, and any of many filters ----

-- what the session holds while it runs
CREATE FUNCTION session_kb() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT (sum(total_bytes) / 1024)::bigint FROM pg_backend_memory_contexts';
CREATE FUNCTION query_kb(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := session_kb();
	during bigint;
	counted bigint;
BEGIN
	EXECUTE query INTO counted, during;
	RETURN during - before;
END $$;
CREATE FUNCTION query_buffers(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
CREATE TABLE pairs (n serial, name text, query text, reference text);
INSERT INTO pairs (name, query, reference) VALUES
	('100 partitions : one table, filter of 4.6 MB', 'SELECT count(*), session_kb() FROM parted WHERE ' || test('4.6 MB', 'i'),
		'SELECT count(*), session_kb() FROM whole WHERE ' || test('4.6 MB', 'i')),
	('ANY (SELECT f ...) : ANY (ARRAY(SELECT f ...)), 6 filters', 'SELECT count(*), session_kb() FROM visits WHERE v <@ ANY (SELECT f FROM daily)',
		'SELECT count(*), session_kb() FROM visits WHERE v <@ ANY (ARRAY(SELECT f FROM daily))');
SELECT name, round(ms::numeric, 1) AS ms, round(reference_ms::numeric, 1) AS reference, round(ratio::numeric, 2) AS ratio,
	query_kb(query) AS kb, query_kb(reference) AS reference, query_buffers(query) AS buffers, query_buffers(reference) AS reference
FROM pairs, in_turn(query, reference) ORDER BY n;
