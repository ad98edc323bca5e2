-- Compares a filter with other methods to find which URLs of a table are in a
-- set, and prints a table for bench/README.md.
--
-- There are sets of three sizes, and half of their elements are in the table.
-- `rows` is the number of URLs. The script needs a superuser, an empty
-- database and bench/points.sh.
\pset pager off
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE EXTENSION cuckoo;
CREATE EXTENSION bloom;
SET jit = off;
SET work_mem = '1GB';
SET maintenance_work_mem = '1GB';
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
-- the WAL of a change must not depend on when the last checkpoint was
ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf() \gset

CREATE FUNCTION url(i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$SELECT 'https://www.site-' || i % 9973 || '.example/archive/' || md5(i::text) || '/' || i$$;
CREATE TABLE visits AS SELECT url(i) FROM generate_series(1, :rows) i;
CREATE TABLE filters (elements int PRIMARY KEY, f cuckoofilter);
CREATE TABLE tenth AS SELECT url FROM visits TABLESAMPLE BERNOULLI (10) REPEATABLE (1);
VACUUM (ANALYZE, FREEZE) visits, tenth;

CREATE TABLE results (n serial, elements int, method text, bytes bigint, build_ms float8, scan_ms float8, points float8,
	wal float8);

CREATE FUNCTION ms(command text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE command;
	RETURN extract(epoch FROM clock_timestamp() - start) * 1000;
END $$;

-- Median of three scans for a condition on url; the plan must have the node.
CREATE FUNCTION scan_ms(condition text, node text, rows regclass DEFAULT 'visits') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*) FROM %s v WHERE %s', rows, condition);
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan !~ node THEN
		RAISE 'not the plan that is to be measured: %', plan;
	END IF;
	RETURN percentile_cont(0.5) WITHIN GROUP (ORDER BY ms(query)) FROM generate_series(1, 3);
END $$;

-- Bytes of WAL that a command for one element writes, mean of ten; %s is its
-- number.
CREATE FUNCTION wal(command text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start pg_lsn := pg_current_wal_insert_lsn();
BEGIN
	FOR i IN 1..10 LOOP
		EXECUTE replace(command, '%s', (-i)::text);
	END LOOP;
	RETURN (pg_current_wal_insert_lsn() - start) / 10;
END $$;

\set look 'SELECT EXISTS (SELECT FROM elements e WHERE e.url = url(:i))'
\set scan 'EXISTS (SELECT FROM elements e WHERE e.url = v.url)'
\set insert 'INSERT INTO elements VALUES (url(%s))'
SELECT :rows / 500 AS n \gset
\ir compare_set.sql
SELECT :rows / 10 AS n \gset
\ir compare_set.sql
\set n :rows
\ir compare_set.sql

ALTER SYSTEM RESET full_page_writes;
SELECT pg_reload_conf() \gset
SELECT '| elements | by | MB | build, s | scan, s | points/s | WAL of an insert |';
SELECT '| --- | --- | --- | --- | --- | --- | --- |';
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', to_char(elements, 'FM9,999,999'), method,
	round(bytes / 1e6, 2), coalesce(round(build_ms::numeric / 1000, 2)::text, ''),
	coalesce(round(scan_ms::numeric / 1000, 2)::text, ''), coalesce(to_char(points, 'FM9,999,999'), ''),
	to_char(wal, 'FM99,999,999'))
FROM results ORDER BY n;
