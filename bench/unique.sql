-- Unique ids across partitions, ONLY=unique make bench: inserts into the last of
-- several partitions, without a check, with cf_unique_trigger, and with a table
-- of keys.  Times are CPU times, the least of five parts.
--
--	:rows		of all partitions
--	:parts		partitions
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, public;
SET enable_seqscan = off;

CREATE TABLE results (way text, us float8, wal float8, reads float8);
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql AS 'SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 1e9';
CREATE FUNCTION wal() RETURNS numeric LANGUAGE sql AS 'SELECT pg_current_wal_insert_lsn() - ''0/0''::pg_lsn';
CREATE FUNCTION reads() RETURNS bigint LANGUAGE sql AS 'SELECT blks_read FROM pg_stat_database WHERE datname = current_database()';

CREATE TABLE t (part int, id uuid, filler text) PARTITION BY LIST (part);
SELECT format('CREATE TABLE t_%s PARTITION OF t FOR VALUES IN (%1$s)', part) FROM generate_series(1, :parts) part \gexec
INSERT INTO t SELECT 1 + i * :parts / (:rows + 1), md5(i::text)::uuid, repeat('x', 100) FROM generate_series(1, :rows::bigint) i;
CREATE INDEX t_id ON t USING cuckoo (id);
CREATE TRIGGER t_unique AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('t_id');
CREATE TABLE keys AS SELECT id FROM t;
ALTER TABLE keys ADD PRIMARY KEY (id);
CREATE FUNCTION keep_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO bench.keys SELECT id FROM new;
	RETURN NULL;
END $$;
CREATE TRIGGER t_keys AFTER INSERT ON t REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION keep_keys();
VACUUM ANALYZE;

CREATE PROCEDURE measure(way text, parts int, first bigint) LANGUAGE plpgsql AS $$
DECLARE
	r results;
	began float8;
BEGIN
	ALTER TABLE t DISABLE TRIGGER USER;
	IF way <> 'none' THEN
		EXECUTE format('ALTER TABLE t ENABLE TRIGGER t_%s', way);
	END IF;
	COMMIT;
	CHECKPOINT;
	r.way := way;
	FOR part IN 0..5 LOOP
		IF part = 1 THEN
			r.wal := wal();
		END IF;
		began := cpu();
		FOR batch IN 0..9 LOOP
			INSERT INTO t SELECT parts, md5('n' || first + part * 10000 + batch * 1000 + i)::uuid, repeat('x', 100)
			FROM generate_series(1, 1000) i;
			COMMIT;
		END LOOP;
		IF part > 0 THEN
			r.us := least(r.us, (cpu() - began) * 1e6 / 10000);
		END IF;
	END LOOP;
	r.wal := (wal() - r.wal) / 50000;
	UPDATE results SET us = r.us, wal = r.wal WHERE results.way = r.way;
END $$;
-- the server counts reads when a statement ends
SELECT flush, format('INSERT INTO results (way, reads) VALUES (%L, -reads())', way),
	format('CALL measure(%L, %s, %s)', way, :parts, n * 1000000), flush,
	format('UPDATE results SET reads = (reads + reads()) / 60000 WHERE way = %L', way)
FROM unnest(ARRAY['none', 'unique', 'keys']) WITH ORDINALITY w (way, n),
	(VALUES ('DO ''BEGIN PERFORM pg_stat_force_next_flush(); END''')) f (flush) \gexec
SELECT way, round(us::numeric, 1) AS "us an insert", round(wal::numeric) AS "WAL bytes", round(reads::numeric, 3) AS "blocks read",
	round(CASE way WHEN 'unique' THEN (SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('t_id') WHERE isleaf) / (SELECT count(*) FROM t)
		WHEN 'keys' THEN pg_total_relation_size('keys')::numeric / (SELECT count(*) FROM keys) ELSE 0 END, 1) AS "bytes a row"
FROM results;
DROP SCHEMA bench CASCADE;
