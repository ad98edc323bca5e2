-- The parts of bench/index.sh: an index USING cuckoo beside hash and B-tree, each on
-- a table of its own with the same rows. Times are those of the processor.
--
--	:type		of the keys
--	:expression	the key of the bigint v
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE EXTENSION IF NOT EXISTS pgstattuple;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, public;
SELECT format('CREATE FUNCTION key(v bigint) RETURNS %s LANGUAGE sql IMMUTABLE AS ''SELECT %s''',
	:'type', replace(:'expression', '''', '''''')) \gexec
CREATE TABLE figures (n serial, method text, figure text, value float8);
CREATE TABLE methods AS SELECT * FROM (VALUES (1, 'cuckoo'), (2, 'hash'), (3, 'btree'), (4, 'none')) v(n, method);
CREATE TABLE keys (n int, present boolean, id text);
SELECT format('ALTER TABLE keys ALTER id TYPE %s USING NULL', :'type') \gexec
SELECT format('CREATE TABLE t_%s (id %s, n int, filler text)', method, :'type') FROM methods \gexec
-- a prepared statement, and nothing else of the table
SELECT format('CREATE FUNCTION probe_%1$s(present boolean) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
	k record;
	found text;
	hits bigint := 0;
BEGIN
	FOR k IN SELECT id FROM keys WHERE keys.present = $1 LOOP
		SELECT filler INTO found FROM t_%1$s WHERE id = k.id;
		hits := hits + (found IS NOT NULL)::int;
	END LOOP;
	RETURN hits;
END $f$', method) FROM methods WHERE method <> 'none' \gexec

-- of the session, in seconds and bytes
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
	'SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION wal() RETURNS float8 LANGUAGE sql AS 'SELECT (pg_current_wal_insert_lsn() - ''0/0''::pg_lsn)::float8';
CREATE FUNCTION size(method text) RETURNS float8 LANGUAGE sql AS 'SELECT pg_relation_size((''t_'' || $1 || ''_id'')::regclass)::float8';
CREATE PROCEDURE note(method text, figure text, value float8) LANGUAGE sql AS
	'INSERT INTO figures (method, figure, value) VALUES ($1, $2, $3)';
CREATE FUNCTION entries(method text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE method WHEN 'cuckoo' THEN (cf_index_info('t_cuckoo_id')).entries
		WHEN 'hash' THEN (SELECT live_items + dead_items FROM pgstathashindex('t_hash_id')) END;
END $$;

-- rows into a table that has its index, in 20 statements, by turns
CREATE PROCEDURE grow(rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	m text;
	part bigint := rows / 20;
	began float8;
	wal_began float8;
BEGIN
	FOR m IN SELECT method FROM methods WHERE method <> 'none' ORDER BY n LOOP
		EXECUTE format('CREATE INDEX t_%1$s_id ON t_%1$s USING %1$s (id)', m);
	END LOOP;
	FOR i IN 0..19 LOOP
		FOR m IN SELECT method FROM methods ORDER BY n LOOP
			began := cpu();
			wal_began := wal();
			EXECUTE format('INSERT INTO t_%s SELECT key(v), v %% 1000, repeat(''x'', 100) FROM generate_series(%s, %s) v',
				m, part * i + 1, part * (i + 1));
			CALL note(m, 'insert', (cpu() - began) * 1e6 / part);
			CALL note(m, 'wal', (wal() - wal_began) / part);
			COMMIT;
		END LOOP;
	END LOOP;
	FOR m IN SELECT method FROM methods WHERE method <> 'none' LOOP
		CALL note(m, 'grown', size(m) / rows);
	END LOOP;
END $$;

CREATE PROCEDURE build(rows bigint, rounds int) LANGUAGE plpgsql AS $$
DECLARE
	m text;
	began float8;
BEGIN
	FOR round IN 1..rounds LOOP
		FOR m IN SELECT method FROM methods WHERE method <> 'none' ORDER BY n LOOP
			began := cpu();
			EXECUTE format('REINDEX INDEX t_%s_id', m);
			CALL note(m, 'build', cpu() - began);
			COMMIT;
		END LOOP;
	END LOOP;
	FOR m IN SELECT method FROM methods WHERE method <> 'none' LOOP
		CALL note(m, 'built', size(m) / rows);
	END LOOP;
END $$;

CREATE PROCEDURE choose_keys(rows bigint, lookups int) LANGUAGE sql AS $$
	TRUNCATE keys;
	INSERT INTO keys SELECT n, present, key(CASE WHEN present THEN 1 ELSE 5000000001 END + (random() * (rows - 1))::bigint)
	FROM generate_series(1, lookups) n, unnest(ARRAY[true, false]) present;
	ANALYZE keys;
$$;

-- prepared statements and a nested loop; in shared buffers what was read before
CREATE PROCEDURE look_up(rows bigint, lookups int, rounds int) LANGUAGE plpgsql AS $$
DECLARE
	m text;
	present boolean;
	began float8;
	hits bigint;
BEGIN
	FOR round IN 1..rounds LOOP
		CALL choose_keys(rows, lookups);
		FOR m, present IN SELECT method, p FROM methods, unnest(ARRAY[true, false]) p WHERE method <> 'none' ORDER BY n LOOP
			began := cpu();
			EXECUTE format('SELECT probe_%s($1)', m) USING present INTO hits;
			IF hits <> lookups * present::int THEN
				RAISE '% of %', hits, lookups * present::int;
			END IF;
			CALL note(m, 'prepared ' || present, (cpu() - began) * 1e6 / lookups);
			began := cpu();
			EXECUTE format('SELECT count(filler) FROM keys, LATERAL (SELECT filler FROM t_%s t WHERE t.id = keys.id OFFSET 0) x
				WHERE present = $1', m) USING present INTO hits;
			CALL note(m, 'loop ' || present, (cpu() - began) * 1e6 / lookups);
		END LOOP;
		COMMIT;
	END LOOP;
END $$;

-- blocks read for a lookup, of the index and the table
CREATE PROCEDURE read_cold(rows bigint, lookups int) LANGUAGE plpgsql AS $$
DECLARE
	m text;
	present boolean;
	plan json;
BEGIN
	FOR warm IN 0..1 LOOP
		FOR m, present IN SELECT method, p FROM methods, unnest(ARRAY[true, false]) p WHERE method <> 'none' ORDER BY n LOOP
			CALL choose_keys(rows, lookups);
			-- once before, so that the buffers have what they may
			FOR i IN 1..2 LOOP
				EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT count(filler) FROM keys,
					LATERAL (SELECT filler FROM t_%s t WHERE t.id = keys.id OFFSET 0) x WHERE present = %L', m, present) INTO plan;
				CALL choose_keys(rows, lookups);
			END LOOP;
			IF warm = 1 THEN
				CALL note(m, 'read ' || present, (plan #>> '{0,Plan,Shared Read Blocks}')::float8 / lookups);
			END IF;
			COMMIT;
		END LOOP;
	END LOOP;
END $$;

-- one of VACUUM's rounds: bench/index.sh runs it, because a procedure may not
CREATE VIEW sizes AS SELECT method, size(method) / 1e6 AS mb, entries(method) AS entries FROM methods WHERE method <> 'none';
CREATE FUNCTION hits(m text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT count(filler) FROM keys,
		LATERAL (SELECT filler FROM t_%s t WHERE t.id = keys.id OFFSET 0) x WHERE present', m) INTO plan;
	RETURN ((plan #>> '{0,Plan,Shared Read Blocks}')::float8 + (plan #>> '{0,Plan,Shared Hit Blocks}')::float8)
		/ (SELECT count(*) FROM keys WHERE present);
END $$;

-- more rows of random uuids into each table, and the blocks that lookups of absent ones read
CREATE TABLE steps (rows bigint, method text, mb float8, reads float8, in_vain float8);
CREATE PROCEDURE grow_by(part bigint) LANGUAGE plpgsql AS $$
DECLARE
	m text;
	plan json;
BEGIN
	FOR m IN SELECT method FROM methods WHERE method <> 'none' ORDER BY n LOOP
		EXECUTE format('INSERT INTO g_%s SELECT gen_random_uuid() FROM generate_series(1, %s)', m, part);
		FOR warm IN 0..1 LOOP
			EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT count(found)
				FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 20000) OFFSET 0) k,
				LATERAL (SELECT 1 AS found FROM g_%s t WHERE t.id = k.id OFFSET 0) x', m) INTO plan;
		END LOOP;
		INSERT INTO steps SELECT part + coalesce(max(rows), 0), m, pg_relation_size(format('g_%s_id', m)) / 1e6,
			(plan #>> '{0,Plan,Shared Read Blocks}')::float8 / 20000,
			CASE m WHEN 'cuckoo' THEN (cf_index_info('g_cuckoo_id')).rows_in_vain END
		FROM steps WHERE method = m;
		COMMIT;
	END LOOP;
END $$;
