-- Part of bench/constraints.sh: inserts of unique values, in several ways, each
-- into a table of its own that begins empty.  Times are those of the processor.
--
--	:type, :expression	of the value number v
--	:key				of the B-tree
--	:rows				inserted in 20 statements
CREATE EXTENSION IF NOT EXISTS cuckoo;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, public;
CREATE TABLE ways AS SELECT * FROM (VALUES
	(1, 'none', NULL),
	(2, 'B-tree', 'CREATE UNIQUE INDEX %1$s_id ON %1$s (' || :'key' || ')'),
	(3, 'EXCLUDE hash', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_id EXCLUDE USING hash (id WITH =)'),
	(4, 'EXCLUDE cuckoo', 'ALTER TABLE %1$s ADD CONSTRAINT %1$s_id EXCLUDE USING cuckoo (id WITH =)'),
	(5, 'UNIQUE cuckoo', 'CREATE UNIQUE INDEX %1$s_id ON %1$s USING cuckoo (id)')) v (n, way, command)
WHERE n < 5 OR current_setting('server_version_num')::int >= 180000;
CREATE TABLE figures (n int, figure text, value float8);
SELECT format('CREATE TABLE t%s (id %s, n int, filler text)', n, :'type'),
	format('ALTER TABLE t%s ALTER %s SET STORAGE EXTERNAL', n, CASE :'type' WHEN 'uuid' THEN 'filler' ELSE 'id' END),
	format(command, 't' || n) FROM ways \gexec
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS
	'SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION wal() RETURNS float8 LANGUAGE sql AS 'SELECT (pg_current_wal_insert_lsn() - ''0/0''::pg_lsn)::float8';
-- blocks that a statement read
CREATE FUNCTION reads_of(query text, OUT blocks float8) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ' || query INTO plan;
	blocks := (plan #>> '{0,Plan,Shared Read Blocks}')::float8;
END $$;

CREATE PROCEDURE insert_values(title text, first bigint, last bigint, expression text, parts int, conflict text)
	LANGUAGE plpgsql AS $$
DECLARE
	size float8 := (last - first + 1) / parts;
	way int;
	began float8;
	wal_began float8;
	blocks float8;
BEGIN
	FOR part IN 0 .. parts - 1 LOOP
		FOR way IN SELECT n FROM ways WHERE conflict = '' OR n > 1 ORDER BY n LOOP
			began := cpu();
			wal_began := wal();
			blocks := reads_of(format('INSERT INTO t%s SELECT %s, 1, repeat(''x'', 100) FROM generate_series(%s, %s) v %s',
				way, expression, first + size * part, first + size * (part + 1) - 1, conflict));
			INSERT INTO figures VALUES (way, title || 'CPU, us', (cpu() - began) * 1e6 / size),
				(way, title || 'WAL, bytes', (wal() - wal_began) / size), (way, title || 'blocks read', blocks / size);
			COMMIT;
		END LOOP;
	END LOOP;
END $$;
CALL insert_values('insert: ', 1, :rows, :'expression', 20, '');
CHECKPOINT;
CALL insert_values('half present: ', :rows - 100000, :rows + 99999, :'expression', 20, 'ON CONFLICT DO NOTHING');
INSERT INTO figures SELECT n, 'index, bytes a row', pg_relation_size(('t' || n || '_id')::regclass) / (:rows + 100000.0)
FROM ways WHERE n > 1;
SELECT figure, round(min(value) FILTER (WHERE n = 1)::numeric, 2) AS none, round(min(value) FILTER (WHERE n = 2)::numeric, 2) AS "B-tree",
	round(min(value) FILTER (WHERE n = 3)::numeric, 2) AS "EXCLUDE hash", round(min(value) FILTER (WHERE n = 4)::numeric, 2) AS "EXCLUDE cuckoo",
	round(min(value) FILTER (WHERE n = 5)::numeric, 2) AS "UNIQUE cuckoo"
FROM (SELECT n, figure, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS value FROM figures GROUP BY 1, 2) f
GROUP BY figure ORDER BY figure;
