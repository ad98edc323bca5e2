-- Indexes that are filters beside others: bench/run.sh, ONLY=index.
--
--	:rows	rows of the table (5,000,000)
--	:growth	the file to which the steps of growth go, for bench/plot.sh
--
-- Each index is alone on a table of its own.  What the table itself takes is
-- measured without an index, and taken off.  Rows are inserted twice: right
-- after a checkpoint, when pages are logged as a whole, and again.  Probes are
-- for keys that are not there, each a statement of its own in PL/pgSQL.  Times
-- are those of the processor, except where clients work at the same time.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '256MB';
SET enable_seqscan = off;
SET jit = off;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE EXTENSION IF NOT EXISTS bloom;

CREATE TABLE results (of text, method text, size_mb float8, build_s float8, build_wal_mb float8, first_us float8, first_wal float8,
	insert_us float8, insert_wal float8, again_us float8, probe_us float8);

-- seconds of the processor that the session has had
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS 'SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION wal() RETURNS numeric LANGUAGE sql AS 'SELECT pg_current_wal_insert_lsn() - ''0/0''::pg_lsn';

-- `value` is an expression of i; an absent one begins with it
CREATE PROCEDURE measure(of text, value text, method text, definition text, rows int, probe text) LANGUAGE plpgsql AS $$
DECLARE
	r results;
	began float8;
	before numeric;
	n int := rows / 25;
	probes int := CASE WHEN method LIKE '%bloom' THEN 20 ELSE 100000 END;
BEGIN
	r.of := of;
	r.method := method;
	EXECUTE format('CREATE TABLE t AS SELECT %s AS id FROM generate_series(1, %s::bigint) i', value, rows);
	COMMIT;
	PERFORM count(*) FROM t;
	before := wal();
	began := cpu();
	IF definition <> '' THEN
		EXECUTE 'CREATE INDEX t_i ON t USING ' || definition;
	END IF;
	r.build_s := cpu() - began;
	r.build_wal_mb := (wal() - before) / 1048576;
	r.size_mb := pg_relation_size(to_regclass('t_i')) / 1048576.0;
	COMMIT;
	CHECKPOINT;
	FOR round IN 1..3 LOOP
		before := wal();
		began := cpu();
		EXECUTE format('INSERT INTO t SELECT %s FROM generate_series(%s::bigint, %s) i', value,
			rows + (least(round, 2) - 1) * n + 1, rows + least(round, 2) * n);
		IF round = 1 THEN
			r.first_us := (cpu() - began) * 1e6 / n;
			r.first_wal := (wal() - before) / n;
		ELSIF round = 2 THEN
			r.insert_us := (cpu() - began) * 1e6 / n;
			r.insert_wal := (wal() - before) / n;
		ELSE
			r.again_us := (cpu() - began) * 1e6 / n;
		END IF;
		COMMIT;
	END LOOP;
	IF probe <> '' THEN
		EXECUTE format($f$
			CREATE OR REPLACE FUNCTION probes(n int) RETURNS void LANGUAGE plpgsql AS $p$
			BEGIN FOR i IN -n..-1 LOOP %s; END LOOP; END $p$ $f$, replace(probe, 'value', value));
		PERFORM probes(10);
		began := cpu();
		PERFORM probes(probes);
		r.probe_us := (cpu() - began) * 1e6 / probes;
	END IF;
	INSERT INTO results VALUES (r.*);
	DROP TABLE t;
	COMMIT;
END $$;

CREATE PROCEDURE measure_all(of text, value text, rows int, brin text, bloom text) LANGUAGE plpgsql AS $$
DECLARE
	probe text := 'PERFORM 1 FROM t WHERE id = value';
BEGIN
	CALL measure(of, value, 'none', '', rows, '');
	CALL measure(of, value, 'cuckoo', 'cuckoo (id)', rows, 'PERFORM cf_index_contains(''t_i'', value)');
	CALL measure(of, value, 'cuckoo, with room', format('cuckoo (id) WITH (capacity = %s)', rows + rows / 5), rows,
		'PERFORM cf_index_contains(''t_i'', value)');
	CALL measure(of, value, 'hash', 'hash (id)', rows, probe);
	CALL measure(of, value, 'btree', 'btree (id)', rows, probe);
	CALL measure(of, value, 'brin bloom', format('brin (id %s)', brin), rows, probe);
	CALL measure(of, value, 'bloom', format('bloom (%s) WITH (col1 = 4)', replace(bloom, 'value', 'id')), rows,
		format('PERFORM 1 FROM t WHERE %s = %s', replace(bloom, 'value', 'id'), bloom));
END $$;
-- bloom has no operator class for bigint
CALL measure_all('bigint', 'i * 7919::bigint', :rows, 'int8_bloom_ops', 'hashint8(value)');
CALL measure_all('URL', $$format('https://www.site-%s.example/articles/%s/view', i % 5000, i)$$, :rows, 'text_bloom_ops', 'value');

\echo
\echo Size and WAL in MiB, bits a row; microseconds and bytes of WAL a row over those of the table
SELECT r.of, r.method, round(r.size_mb::numeric, 1) AS size, round((r.size_mb * 8388608 / :rows)::numeric, 1) AS bits, round(r.build_s::numeric, 2) AS build_s,
	round(r.build_wal_mb::numeric) AS build_wal, round((r.first_wal - none.first_wal)::numeric) AS first_wal,
	round((r.insert_us - none.insert_us)::numeric, 2) AS insert_us, round((r.insert_wal - none.insert_wal)::numeric) AS insert_wal,
	round((r.again_us - none.again_us)::numeric, 2) AS again_us, round(r.probe_us::numeric, 2) AS probe_us
FROM results r JOIN results none USING (of) WHERE none.method = 'none' AND r.method <> 'none';

\echo
\echo Rows a second that clients insert, each in a transaction of 100, and 500 partitions
\! bench/inserts.sh
CREATE TABLE parts (day int, id bigint, payload text) PARTITION BY LIST (day);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES IN (%1$s)', i) FROM generate_series(1, 500) i \gexec
INSERT INTO parts SELECT i % 500 + 1, i, 'event ' || i FROM generate_series(1, 2000000::bigint) i;
CREATE INDEX parts_i ON parts USING cuckoo (id) WITH (fpp = 1e-5);
ANALYZE parts;
SET enable_seqscan = on;
CREATE FUNCTION find(v bigint) RETURNS SETOF parts LANGUAGE plpgsql STABLE AS $$
DECLARE
	part regclass;
BEGIN
	FOREACH part IN ARRAY cf_index_partitions('parts_i', v) LOOP
		RETURN QUERY EXECUTE format('SELECT * FROM %s WHERE id = $1', part) USING v;
	END LOOP;
END $$;
SELECT count(*) AS warm FROM find(-1) \g /dev/null
\set find 'SELECT * FROM find(1234567)'
\set ask 'SELECT cf_index_partitions(''parts_i'', 1234567)'
\set query 'SELECT * FROM parts WHERE id = 1234567'
CREATE FUNCTION explained(query text) RETURNS TABLE (planning numeric, execution numeric, buffers int) LANGUAGE plpgsql AS $$
DECLARE
	e jsonb;
BEGIN
	FOR i IN 1..5 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO e;
		planning := least(planning, (e -> 0 ->> 'Planning Time')::numeric);
		execution := least(execution, (e -> 0 ->> 'Execution Time')::numeric);
		buffers := e #> '{0,Plan}' ->> 'Shared Hit Blocks';
	END LOOP;
	RETURN NEXT;
END $$;
SELECT 'partitions that may have it' AS what, e.* FROM explained(:'ask') e
UNION ALL SELECT 'asking, then querying them', e.* FROM explained(:'find') e
UNION ALL SELECT 'a query of all, with gates', e.* FROM explained(:'query') e;
DROP INDEX parts_i;
SELECT 'without the index' AS what, e.* FROM explained(:'query') e;
CREATE INDEX parts_i ON parts (id);
SELECT 'with a B-tree' AS what, e.* FROM explained(:'query') e;
DROP TABLE parts CASCADE;
SET enable_seqscan = off;

\echo
\echo One index: arrays, its filter, and growth from an empty table
CREATE TABLE t AS SELECT i * 7919 AS id FROM generate_series(1, :rows::bigint) i;
CREATE INDEX t_i ON t USING cuckoo (id);
CREATE TABLE arrays AS SELECT array_agg(i * 7919 + 1) AS a FROM generate_series(1, 1000000::bigint) i;
CREATE TABLE times (what text, ms float8);
CREATE PROCEDURE timed(what text, command text) LANGUAGE plpgsql AS $$
DECLARE
	began float8;
	best float8;
BEGIN
	FOR i IN 1..5 LOOP
		began := cpu();
		EXECUTE command;
		best := least(best, (cpu() - began) * 1000);
	END LOOP;
	INSERT INTO times VALUES (what, best);
END $$;
CALL timed('cf_agg of all rows', 'SELECT cf_agg(id) FROM t');
CALL timed('cf_index_contains_each of a million', 'SELECT cf_index_contains_each(''t_i'', a) FROM arrays');
CALL timed('cf_index_filter', 'SELECT cf_count(cf_index_filter(''t_i''))');
CALL timed('REINDEX', 'REINDEX INDEX t_i');
SELECT what, round(ms::numeric, 1) AS ms FROM times;

\echo
\echo An index of an empty table that is filled, and what may make it small
CREATE TABLE growth (way text, million float8, bits float8, fpp_now float8, us float8, wal float8);
CREATE PROCEDURE fill(way text, rows int, step int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	lsn pg_lsn;
	info cuckoo_index_info;
BEGIN
	TRUNCATE t;
	COMMIT;
	FOR i IN 1 .. rows / step LOOP
		lsn := pg_current_wal_insert_lsn();
		began := clock_timestamp();
		IF way = 'bulk' THEN
			INSERT INTO t SELECT k * 7919 FROM generate_series((i - 1) * step + 1::bigint, i * step) k;
		ELSE
			FOR k IN (i - 1) * step + 1 .. i * step LOOP
				INSERT INTO t VALUES (k * 7919::bigint);
			END LOOP;
		END IF;
		COMMIT;
		info := cf_index_info('t_i');
		INSERT INTO growth SELECT way, i * step / 1e6, info.bits_per_item, info.fpp_now,
			extract(epoch FROM clock_timestamp() - began) * 1e6 / step, (pg_current_wal_insert_lsn() - lsn) / step;
	END LOOP;
END $$;
CALL fill('single', 2 * :rows, :rows / 20);
CALL fill('bulk', 2 * :rows, :rows / 20);
SELECT way, million AS "million rows", round(bits::numeric, 1) AS bits, round(fpp_now::numeric, 6) AS fpp_now,
	round(us::numeric, 2) AS us, round(wal::numeric) AS wal
FROM growth WHERE (million * 1000000)::bigint IN (:rows / 20, :rows / 2, :rows, 2 * :rows) ORDER BY way, million;
\pset format unaligned
\pset fieldsep '\t'
\pset tuples_only on
SELECT * FROM growth ORDER BY way, million \g :growth
\pset format aligned
\pset tuples_only off
DELETE FROM t WHERE id % 10 <> 0;
SELECT 'after deleting 90%' AS what, items, pg_size_pretty(pg_relation_size('t_i')) AS size FROM cf_index_info('t_i');
SELECT pg_current_wal_insert_lsn() AS lsn, clock_timestamp() AS began \gset
REINDEX INDEX CONCURRENTLY t_i;
SELECT 'after REINDEX CONCURRENTLY' AS what, items, pg_size_pretty(pg_relation_size('t_i')) AS size,
	round(bits_per_item::numeric, 1) AS bits, round(fpp_now::numeric, 6) AS fpp_now,
	round(1000 * extract(epoch FROM clock_timestamp() - :'began')) AS ms,
	pg_size_pretty(pg_current_wal_insert_lsn() - :'lsn') AS wal
FROM cf_index_info('t_i');
CREATE INDEX t_part ON t USING cuckoo (id) WHERE id % 1000 = 0;
CREATE INDEX t_few ON t USING cuckoo ((id % 100));
CREATE TEMPORARY TABLE temporary AS SELECT id FROM t;
CREATE INDEX temporary_i ON temporary USING cuckoo (id);
SELECT what, items, pg_size_pretty(pg_relation_size(i)) AS size
FROM (VALUES ('partial, a hundredth', 't_part'::regclass), ('of 10 values', 't_few'), ('of a temporary table', 'temporary_i')) v (what, i),
	cf_index_info(i);
