-- A small filter beside a large one of the same geometry: bench/run.sh,
-- ONLY=dedup.  Medians of five.
--
--	:rows	elements of the large filter (5,000,000)
SET client_min_messages = warning;
CREATE EXTENSION cuckoo;
CREATE TABLE parts (part text PRIMARY KEY, f cuckoofilter NOT NULL);
INSERT INTO parts SELECT 'all', cf_agg(i, 2 * :rows, 0.001) FROM generate_series(1, :rows) i;
INSERT INTO parts SELECT 'new', cf_clear(f) FROM parts;
CREATE TABLE measured (what text, ms float8, wal numeric);
CREATE PROCEDURE measure(what text, command text) LANGUAGE plpgsql AS $$
DECLARE
	lsn pg_lsn;
	began timestamptz;
BEGIN
	FOR round IN 1..5 LOOP
		UPDATE parts SET f = cf_add_all(cf_clear(f), ARRAY(SELECT -i * round FROM generate_series(1, 1000) i)) WHERE part = 'new' AND what NOT LIKE '1%';
		UPDATE parts SET f = cf_clear(f) WHERE part = 'new' AND what LIKE '1%';
		COMMIT;
		lsn := pg_current_wal_insert_lsn();
		began := clock_timestamp();
		IF what LIKE '1%' THEN
			FOR i IN 1..1000 LOOP
				EXECUTE command USING -i;
				COMMIT;
			END LOOP;
		ELSE
			EXECUTE command USING -round;
			COMMIT;
		END IF;
		INSERT INTO measured VALUES (what, 1000 * extract(epoch FROM clock_timestamp() - began), pg_current_wal_insert_lsn() - lsn);
	END LOOP;
END $$;
CALL measure('a cf_add to the large filter', 'UPDATE parts SET f = cf_add(f, $1) WHERE part = ''all''');
CALL measure('1,000 cf_add to the small one', 'UPDATE parts SET f = cf_add(f, $1) WHERE part = ''new''');
\set merge 'UPDATE parts SET f = CASE part WHEN ''new'' THEN cf_clear(parts.f) ELSE %s(parts.f, new.f) END FROM (SELECT f FROM parts WHERE part = ''new'') new'
CALL measure('a merge by cf_add_filter', format(:'merge', 'cf_add_filter'));
CALL measure('a merge by cf_union_all', format(:'merge', 'cf_union_all'));
SELECT what, round((percentile_disc(0.5) WITHIN GROUP (ORDER BY ms))::numeric, 1) AS ms,
	round((percentile_disc(0.5) WITHIN GROUP (ORDER BY wal)) / 1048576, 1) AS wal_mb FROM measured GROUP BY what ORDER BY what;
