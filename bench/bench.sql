-- SQL benchmarks, as ratios of two queries that take turns in one session.
-- Variable: rows.
\pset pager off
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
SET jit = off;
SET work_mem = '256MB';
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

CREATE TABLE figures (n serial, what text, query_ms float8, reference_ms float8,
	ratio float8, wanted text);

-- Runs both in turn, five times after a warm-up; `setting` holds for the query
-- only. The ratio is the median of (query - allowance ms) / reference.
CREATE PROCEDURE compare(what text, query text, reference text, wanted text,
	allowance float8 DEFAULT 0, workers int DEFAULT 0)
LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	q float8[] := '{}';
	r float8[] := '{}';
BEGIN
	FOR i IN 0..5 LOOP
		EXECUTE format('SET LOCAL max_parallel_workers_per_gather = %s', workers);
		start := clock_timestamp();
		EXECUTE query;
		q[i] := extract(epoch FROM clock_timestamp() - start) * 1000;
		SET LOCAL max_parallel_workers_per_gather = 0;
		start := clock_timestamp();
		EXECUTE reference;
		r[i] := extract(epoch FROM clock_timestamp() - start) * 1000;
	END LOOP;
	INSERT INTO figures (what, query_ms, reference_ms, ratio, wanted)
	SELECT compare.what, percentile_cont(0.5) WITHIN GROUP (ORDER BY q[i]),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY r[i]),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY (q[i] - allowance) / r[i]), compare.wanted
	FROM generate_series(1, 5) i;
END $$;

CALL compare('cf_agg(url), less 100 ns a row : count(hashtextextended(url, 0))',
	'SELECT cf_agg(url) FROM visits', 'SELECT count(hashtextextended(url, 0)) FROM visits',
	'<= 1.5', :rows * 100e-6);
CALL compare('cf_agg(url) : count(url)',
	'SELECT cf_agg(url) FROM visits', 'SELECT count(url) FROM visits', '');
CALL compare('cf_agg(url), two workers : serial',
	'SELECT cf_agg(url) FROM visits', 'SELECT cf_agg(url) FROM visits', '<= 0.75', 0, 2);
CALL compare('cf_agg(i) : count(hashint4extended(i, 0))',
	'SELECT cf_agg(i) FROM visits', 'SELECT count(hashint4extended(i, 0)) FROM visits', '');
CALL compare('cf_agg(url) over repeated values : count(hashtextextended(url, 0))',
	'SELECT cf_agg(url) FROM (SELECT url FROM visits WHERE i <= 100000) s, generate_series(1, 20)',
	'SELECT count(hashtextextended(url, 0)) FROM (SELECT url FROM visits WHERE i <= 100000) s, generate_series(1, 20)', '');
CALL compare('cf_agg(i) by groups of ten : array_agg(i) by groups of ten',
	'SELECT count(f) FROM (SELECT cf_agg(i) AS f FROM visits GROUP BY i / 10) s',
	'SELECT count(f) FROM (SELECT array_agg(i) AS f FROM visits GROUP BY i / 10) s', '');
CREATE TABLE members AS SELECT url FROM visits WHERE i % 5 = 0;
VACUUM (ANALYZE, FREEZE) members;
CALL compare('WHERE cf_contains((SELECT cf_agg(url) FROM members), url) : WHERE hashtextextended(url, 0) <> 0',
	'SELECT count(*) FROM visits WHERE cf_contains((SELECT cf_agg(url) FROM members), url)',
	'SELECT count(*) FROM visits WHERE hashtextextended(url, 0) <> 0', '');
CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO filters SELECT 'members', cf_agg(url) FROM members;
CALL compare('the same, the filter built beforehand',
	'SELECT count(*) FROM visits WHERE cf_contains((SELECT f FROM filters), url)',
	'SELECT count(*) FROM visits WHERE hashtextextended(url, 0) <> 0', '<= 1.3');
CALL compare('the filter joined, not sub-selected : sub-selected',
	'SELECT count(*) FROM visits JOIN filters ON cf_contains(f, url)',
	'SELECT count(*) FROM visits WHERE cf_contains((SELECT f FROM filters), url)', '<= 1.1');
CALL compare('WHERE cf_contains((SELECT f FROM filters), url) : WHERE url IN (SELECT url FROM members)',
	'SELECT count(*) FROM visits WHERE cf_contains((SELECT f FROM filters), url)',
	'SELECT count(*) FROM visits WHERE url IN (SELECT url FROM members)', '<= 0.25');

-- a stored filter of 8 million items probed from a cold call site each time
CREATE TABLE large (id int PRIMARY KEY, f cuckoofilter, bytes bytea);
ALTER TABLE large ALTER bytes SET STORAGE external;
INSERT INTO large SELECT 1, f, f::bytea FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 8000000) i) s;
VACUUM ANALYZE large;
PREPARE probe(int) AS SELECT cf_contains(f, $1) FROM large WHERE id = 1;
PREPARE slice(int) AS SELECT length(substring(bytes FROM $1 FOR 768)) FROM large WHERE id = 1;
CREATE PROCEDURE each(statement text, n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		EXECUTE format('EXECUTE %s(%s)', statement, (i * 7919::bigint) % 12000000);
	END LOOP;
END $$;
CALL compare('100,000 point probes of a stored filter of 12.6 MB : as many substrings of 768 bytes',
	'CALL each(''probe'', 100000)', 'CALL each(''slice'', 100000)', '<= 2.2');

SELECT what, round(query_ms) AS ms, round(reference_ms) AS reference,
	round(ratio::numeric, 2) AS ratio, wanted
FROM figures ORDER BY n;

SELECT i.items, i.bytes, round(i.bits_per_item::numeric, 2) AS bits_per_item,
	pg_size_pretty(i.bytes) AS filter,
	(SELECT pg_size_pretty(sum(length(url))) FROM members) AS "values"
FROM filters, cf_info(f) i;
