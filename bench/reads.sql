-- Blocks that indexes read if they do not fit in memory: bench/run.sh, ONLY=reads,
-- with SETTINGS='shared_buffers = 32MB'.
--
--	:rows	rows of the table (5,000,000)
--
-- The keys are random.  Each index is alone on a table of its own, and has seen
-- as many probes as are measured before.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_bitmapscan = off;
SET jit = off;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TABLE results (method text, megabytes numeric, absent float8, present float8, added float8);

-- blocks that the statement reads, for each of so many rows
CREATE FUNCTION reads(statement text, n int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	e jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ' || statement INTO e;
	RETURN (e #>> '{0,Plan,Shared Read Blocks}')::float8 / n;
END $$;

CREATE PROCEDURE measure(method text, rows int) LANGUAGE plpgsql AS $$
DECLARE
	r results;
	n int := 50000;
	probe text := CASE method WHEN 'cuckoo' THEN 'cf_index_contains(''t_i'', v)' ELSE 'EXISTS (SELECT FROM t WHERE id = v)' END;
	probes text := 'SELECT count(*) FROM (SELECT hashint8extended(i * %s::bigint, 0) AS v FROM generate_series(%s, %s::bigint) i OFFSET 0) s WHERE ' || probe;
BEGIN
	r.method := method;
	EXECUTE format('CREATE TABLE t AS SELECT hashint8extended(i, 0) AS id FROM generate_series(1, %s::bigint) i', rows);
	EXECUTE format('CREATE INDEX t_i ON t USING %s (id)', method);
	ANALYZE t;
	COMMIT;
	CHECKPOINT;
	r.megabytes := pg_relation_size('t_i') / 1048576;
	PERFORM reads(format(probes, -1, 1, n), n);
	r.absent := reads(format(probes, -1, n + 1, 2 * n), n);
	r.present := reads(format(probes, rows / 4 / n, 1, n), n);
	r.added := reads(format('INSERT INTO t SELECT hashint8extended(i, 0) FROM generate_series(%s, %s::bigint) i', rows + 1, rows + n), n);
	INSERT INTO results VALUES (r.*);
	DROP TABLE t;
	COMMIT;
END $$;
CALL measure('cuckoo', :rows);
CALL measure('hash', :rows);
CALL measure('btree', :rows);
SELECT method, megabytes, round(absent::numeric, 2) AS "absent value", round(present::numeric, 2) AS "present value", round(added::numeric, 2) AS "row inserted"
FROM results;
