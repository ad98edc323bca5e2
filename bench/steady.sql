-- The lives of a table for bench/steady.sh, and the statements of a round. Times are
-- processor times.
--
--	:factor		of the rows
CREATE EXTENSION IF NOT EXISTS cuckoo;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, public;

-- A life begins with `rows` rows by `fill`, and an index. A round is `change`; `write`,
-- which writes `changes` rows; and lookups of `keys`. TABLE, ROUND, ROWS and CHANGES
-- are replaced. Updates are not HOT if n has an index, too. "Hot" values have chains.
CREATE TABLE lives (n serial, title text, type text, rows int, changes int, fill text, change text, write text, keys text,
	n_indexed boolean DEFAULT false, vacuumed boolean DEFAULT true);
INSERT INTO lives (title, type, rows, changes, fill, change, write, keys) VALUES
	('random keys, a fifth replaced', 'uuid', 300000, 63000,
	'INSERT INTO TABLE SELECT id(0, i) FROM generate_series(1, ROWS) i',
	'DELETE FROM TABLE WHERE uuid_hash_extended(k, ROUND) & 1023 < 215',
	'INSERT INTO TABLE SELECT id(ROUND, i) FROM generate_series(1, CHANGES) i',
	'SELECT id(ROUND, i) FROM generate_series(1, 10000) i'),
	('keys that only grow', 'bigint', 100000, 5000,
	'INSERT INTO TABLE SELECT i FROM generate_series(1, ROWS) i',
	NULL,
	'INSERT INTO TABLE SELECT ROWS + CHANGES * (ROUND - 1) + i FROM generate_series(1, CHANGES) i',
	'SELECT 1 + i * 7919 % ROWS FROM generate_series(1, 10000) i'),
	('queue', 'bigint', 30000, 10000,
	'INSERT INTO TABLE SELECT i - ROWS FROM generate_series(1, ROWS) i',
	'DELETE FROM TABLE WHERE k <= CHANGES * ROUND - ROWS',
	'INSERT INTO TABLE SELECT CHANGES * (ROUND - 1) + i FROM generate_series(1, CHANGES) i',
	'SELECT CHANGES * (ROUND - 1) + i FROM generate_series(1, 10000) i'),
	('hot values that stay', 'int', 150000, 18750,
	'INSERT INTO TABLE SELECT i % 5, i FROM generate_series(1, ROWS) i',
	'DELETE FROM TABLE WHERE hashint4extended(n, ROUND) & 7 = 0',
	'INSERT INTO TABLE SELECT i % 5, ROUND * 1000000 + i FROM generate_series(1, CHANGES) i',
	'SELECT generate_series(0, 4)'),
	('hot values that come and go', 'int', 84000, 28000,
	'INSERT INTO TABLE SELECT (i - ROWS) / 700, i FROM generate_series(0, ROWS - 1) i',
	'DELETE FROM TABLE WHERE k < (CHANGES * ROUND - ROWS) / 700',
	'INSERT INTO TABLE SELECT (CHANGES * (ROUND - 1) + i) / 700, i FROM generate_series(0, CHANGES - 1) i',
	'SELECT CHANGES * (ROUND - 1) / 700 + i FROM generate_series(1, CHANGES / 700 - 1) i'),
	('nightly reload', 'uuid', 100000, 100000,
	'COPY (SELECT id(0, i) FROM generate_series(1, ROWS) i) TO PROGRAM ''cat >steady.copy''; COPY TABLE (k) FROM PROGRAM ''cat steady.copy''',
	'DELETE FROM TABLE',
	'COPY TABLE (k) FROM PROGRAM ''cat steady.copy''',
	'SELECT id(0, i) FROM generate_series(1, 10000) i');
INSERT INTO lives (title, type, rows, changes, fill, write, keys, n_indexed, vacuumed) VALUES
	('a tenth updated, not HOT', 'uuid', 100000, 10000,
	'INSERT INTO TABLE SELECT id(0, i) FROM generate_series(1, ROWS) i',
	'UPDATE TABLE SET n = n + 1 WHERE uuid_hash_extended(k, ROUND) & 1023 < 102',
	'SELECT id(0, i) FROM generate_series(1, 10000) i', true, true),
	('counters by upsert, HOT', 'int', 10000, 6000,
	'INSERT INTO TABLE SELECT generate_series(1, ROWS)', 'CALL upsert_TABLE(ROWS, CHANGES)', 'SELECT generate_series(1, ROWS)', false, true),
	('counters by upsert, not HOT', 'int', 10000, 6000,
	'INSERT INTO TABLE SELECT generate_series(1, ROWS)', 'CALL upsert_TABLE(ROWS, CHANGES)', 'SELECT generate_series(1, ROWS)', true, true),
	('one counter before VACUUM comes, not HOT', 'int', 1, 200,
	'INSERT INTO TABLE SELECT 1', 'CALL upsert_TABLE(ROWS, CHANGES)', 'SELECT 1 FROM generate_series(1, 200)', true, false);
UPDATE lives SET rows = ceil(rows * :factor), changes = CASE WHEN vacuumed THEN changes * :factor ELSE changes END;

CREATE TABLE figures (life int, method text, round int, figure text, value float8);
CREATE FUNCTION id(round int, i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS 'SELECT md5(round || '' '' || i)::uuid';
-- of the session, in seconds; the clock is set when the process sleeps, or else every few milliseconds
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
	'SELECT pg_sleep(0.001); SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION statement(template text, life int, method text, round int) RETURNS text LANGUAGE sql AS $$
	SELECT replace(replace(replace(replace(template, 'TABLE', 't_' || method), 'ROUND', round::text), 'ROWS', rows::text),
		'CHANGES', changes::text) FROM lives WHERE n = life $$;

-- whether ON CONFLICT has an index
CREATE FUNCTION is_unique(life int, method text) RETURNS boolean LANGUAGE sql AS $$
	SELECT write ~ 'upsert' AND pg_indexam_has_property(pg_am.oid, 'can_unique') AND current_setting('server_version_num')::int >= 180000
	FROM lives, pg_am WHERE n = life AND amname = method $$;
CREATE FUNCTION create_index(life int, method text) RETURNS text LANGUAGE sql AS $$
	SELECT format('CREATE %s INDEX t_%s_k ON t_%2$s USING %2$s (k)', CASE WHEN is_unique(life, method) THEN 'UNIQUE' END, method) $$;
CREATE FUNCTION prepare(life int, method text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT unnest(ARRAY['DROP TABLE IF EXISTS keys, t_' || method, format('CREATE TABLE keys (k %s)', type),
		format('CREATE TABLE t_%s (k %s, n int DEFAULT 0, pad text DEFAULT repeat(''x'', 60)) WITH (fillfactor = 80)', method, type),
		statement(fill, n, method, 0), create_index(life, method),
		CASE WHEN n_indexed THEN format('CREATE INDEX ON t_%s (n)', method) END, 'VACUUM ANALYZE t_' || method,
		format('CREATE OR REPLACE PROCEDURE upsert_t_%1$s(rows int, times int) LANGUAGE plpgsql AS $p$
			BEGIN
				-- the first counters are the hottest
				FOR i IN 1..times LOOP
					DECLARE
						key int := 1 + floor(rows * random() ^ 3);
					BEGIN
						%2$s
					END;
					COMMIT;
				END LOOP;
			END $p$', method, format(CASE WHEN is_unique(life, method) THEN 'INSERT INTO t_%1$s AS t VALUES (key) ON CONFLICT (k) DO UPDATE SET n = t.n + 1;'
				ELSE 'UPDATE t_%1$s SET n = n + 1 WHERE k = key; IF NOT FOUND THEN INSERT INTO t_%1$s VALUES (key); END IF;' END, method))])
	FROM lives WHERE n = life $$;

CREATE FUNCTION look_up(method text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	EXECUTE format('SELECT count(found) FROM keys, LATERAL (SELECT n AS found FROM t_%s t WHERE t.k = keys.k OFFSET 0) x', method)
		INTO found;
	RETURN found;
END $$;
-- pages of the index that a lookup reads, by a plan that counts the table's pages apart
CREATE FUNCTION reads(method text) RETURNS float8 LANGUAGE plpgsql SET enable_indexscan = off SET enable_bitmapscan = on AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)
		SELECT count(found) FROM keys, LATERAL (SELECT n AS found FROM t_%s t WHERE t.k = keys.k OFFSET 0) x', method) INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Node Type" == "Bitmap Index Scan")');
	RETURN ((plan ->> 'Shared Hit Blocks')::float8 + (plan ->> 'Shared Read Blocks')::float8) / (plan ->> 'Actual Loops')::float8;
END $$;
CREATE FUNCTION pages(method text) RETURNS float8 LANGUAGE sql AS
	'SELECT pg_relation_size(''t_'' || method || ''_k'')::float8 / current_setting(''block_size'')::int';
-- the same of a new index, in a subtransaction that is undone
CREATE FUNCTION of_new_index(life int, method text, OUT pages float8, OUT reads float8) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP INDEX t_%s_k', method);
	EXECUTE create_index(life, method);
	pages := pages(method);
	reads := reads(method);
	RAISE 'undo' USING ERRCODE = 'UNDO1';
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
END $$;

-- whether autovacuum would begin
CREATE FUNCTION is_due(life int, method text) RETURNS boolean LANGUAGE sql AS $$
	SELECT vacuumed AND (pg_stat_get_dead_tuples(oid) > 50 + 0.2 * reltuples
		OR pg_stat_get_ins_since_vacuum(oid) > 1000 + 0.2 * reltuples)
	FROM lives, pg_class WHERE n = life AND oid = ('t_' || method)::regclass $$;
