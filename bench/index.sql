-- The parts of bench/index.sh.  All indexes of a round are on one table, t.  To
-- measure one of them, a subtransaction drops the others.  Times are those of the
-- processor, the least of several parts.
--
--	:type		of the keys
--	:expression	the key of the bigint v
--	:rows		of the table
--	:each		rows of a value
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE EXTENSION IF NOT EXISTS bloom;
CREATE EXTENSION IF NOT EXISTS pg_prewarm;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, public;

CREATE TABLE t (id :type, filler text);
SELECT format('CREATE FUNCTION key(v bigint) RETURNS %s LANGUAGE sql AS ''SELECT %s''', :'type', replace(:'expression', '''', '''''')) \gexec
-- the key of row i; the rows of a value are 1,000 rows apart
SELECT format('CREATE FUNCTION key_of(i bigint) RETURNS %s LANGUAGE sql AS
	''SELECT bench.key(i / (1000 * %s) * 1000 + i %% 1000)''', :'type', :each) \gexec
CREATE FUNCTION fill(first bigint, n bigint) RETURNS text LANGUAGE sql AS
	$$SELECT format('INSERT INTO t SELECT key_of(i), repeat(''x'', 100) FROM generate_series(%s::bigint, %s) i', first, first + n - 1)$$;
-- contrib/bloom has operator classes for integer and text
CREATE FUNCTION for_bloom(id text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT id';
CREATE FUNCTION for_bloom(id uuid) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT uuid_hash(id)';
CREATE FUNCTION for_bloom(id bigint) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT hashint8(id)';

CREATE TABLE methods (method text, definition text, condition text, lookups int);
INSERT INTO methods VALUES ('none', NULL, NULL, 0), ('btree', 'btree (id)', 't.id = k.id', 20000), ('hash', 'hash (id)', 't.id = k.id', 20000),
	('cuckoo', 'cuckoo (id)', 't.id = k.id', 20000),
	('with room', format('cuckoo (id) WITH (capacity = %s)', :rows * 13 / 10), 't.id = k.id', 20000),
	('filter', 'cuckoo (id) WITH (locate = off)', NULL, 20000),
	('brin', format('brin (id %s_bloom_ops)', CASE :'type' WHEN 'bigint' THEN 'int8' ELSE :'type' END), 't.id = k.id', 5),
	('bloom', 'bloom (for_bloom(id)) WITH (col1 = 4)', 'for_bloom(t.id) = for_bloom(k.id)', 5);
CREATE TABLE builds (method text, s float8, wal float8, bytes float8);
CREATE TABLE lookups (n serial, method text, present bool, buffers text, reads float8, us float8);
CREATE TABLE inserts (method text, us float8, first_wal float8, wal float8, reads float8);

-- of the session
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS 'SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION wal() RETURNS numeric LANGUAGE sql AS 'SELECT pg_current_wal_insert_lsn() - ''0/0''::pg_lsn';
CREATE FUNCTION reads_of(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ' || statement INTO plan;
	RETURN plan #>> '{0,Plan,Shared Read Blocks}';
END $$;

CREATE PROCEDURE build(rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	m methods;
	b builds;
BEGIN
	FOR m IN SELECT * FROM methods WHERE method <> 'none' LOOP
		b := (m.method, cpu(), wal(), NULL);
		EXECUTE format('CREATE INDEX %I ON t USING %s', 't ' || m.method, m.definition);
		INSERT INTO builds VALUES (b.method, cpu() - b.s, (wal() - b.wal) / rows);
		COMMIT;
	END LOOP;
END $$;

CREATE PROCEDURE drop_others(method text) LANGUAGE plpgsql AS $$
DECLARE
	other regclass;
BEGIN
	FOR other IN SELECT indexrelid FROM pg_index WHERE indrelid = 't'::regclass LOOP
		IF other IS DISTINCT FROM to_regclass(format('%I', 't ' || method)) THEN
			EXECUTE 'DROP INDEX ' || other;
		END IF;
	END LOOP;
END $$;

CREATE PROCEDURE look_up(rows bigint, each int, buffers text) LANGUAGE plpgsql AS $$
DECLARE
	m record;
	l lookups;
	n int;
	query text;
	began float8;
BEGIN
	l.buffers := buffers;
	CREATE TEMPORARY TABLE keys (part text, ids text);
	EXECUTE format('ALTER TABLE keys ALTER ids TYPE %s[] USING NULL', pg_typeof(key(1)));
	FOR m IN SELECT x.*, present FROM methods x, unnest(ARRAY[false, true]) present WHERE method <> 'none' LOOP
		l.present := m.present;
		l.method := m.method;
		n := greatest(m.lookups / each, least(m.lookups, 200));
		TRUNCATE keys;
		INSERT INTO keys SELECT part, array_agg(key_of(CASE WHEN l.present THEN 1 ELSE -1 END * (1 + random() * (rows - 1))::bigint))
		FROM (VALUES ('warm', CASE WHEN n > 5 THEN 4 ELSE 1 END), ('timed', 1), ('counted', 1)) p (part, times), generate_series(1, n * times) GROUP BY part;
		query := 'unnest((SELECT ids FROM keys WHERE part = ''warm'')) k (id)';
		query := CASE m.method WHEN 'filter' THEN format('SELECT count(*) FROM %s WHERE cf_index_contains(''"t filter"'', id)', query)
			ELSE format('SELECT count(filler) FROM %s, LATERAL (SELECT filler FROM t WHERE %s OFFSET 0) t', query, m.condition) END;
		BEGIN
			CALL drop_others(m.method);
			IF buffers = 'cached' THEN
				PERFORM pg_prewarm('t'), pg_prewarm(format('%I', 't ' || m.method));
			END IF;
			EXECUTE query;
			l.us := NULL;
			FOR i IN 1..3 LOOP
				began := cpu();
				EXECUTE replace(query, 'warm', 'timed');
				l.us := least(l.us, (cpu() - began) * 1e6 / n);
			END LOOP;
			l.reads := reads_of(replace(query, 'warm', 'counted')) / n;
			RAISE EXCEPTION USING ERRCODE = 'UNDO1';
		EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
		END;
		INSERT INTO lookups VALUES (DEFAULT, l.method, l.present, l.buffers, l.reads, l.us);
		COMMIT;
	END LOOP;
END $$;

CREATE PROCEDURE insert_more(rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	i inserts;
	began float8;
	n bigint := rows / 10;
BEGIN
	FOR i.method IN SELECT method FROM methods LOOP
		BEGIN
			CALL drop_others(i.method);
			CHECKPOINT;
			i.first_wal := wal();
			EXECUTE fill(rows, n);
			i.first_wal := (wal() - i.first_wal) / n;
			i.wal := wal();
			i.reads := 0;
			i.us := NULL;
			FOR part IN 0..4 LOOP
				began := cpu();
				i.reads := i.reads + reads_of(fill(rows + n + n / 5 * part, n / 5)) / n;
				i.us := least(i.us, (cpu() - began) * 1e6 / (n / 5));
			END LOOP;
			i.wal := (wal() - i.wal) / n;
			RAISE EXCEPTION USING ERRCODE = 'UNDO1';
		EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
		END;
		INSERT INTO inserts VALUES (i.*);
		COMMIT;
	END LOOP;
END $$;
