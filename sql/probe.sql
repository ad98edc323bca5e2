-- Probing filters where they are stored: every storage form, by slices, kept
-- by the call site, never stale.

-- ---- every form ----

CREATE TABLE shelf (id int PRIMARY KEY, f cuckoofilter);
-- short header, plain, TOASTed in few and in many chunks; with and without
-- windows, grown ones with buckets far apart or in one segment, wide fingerprints
INSERT INTO shelf
	SELECT n, cf_agg(i) FROM unnest(ARRAY[10, 1000, 20000, 60000, 300000]) n, generate_series(1, n) i GROUP BY n;
INSERT INTO shelf SELECT 1, cf_agg(i, 1000000, 0.001) FROM generate_series(1, 200000) i;
INSERT INTO shelf SELECT 2, cf_agg(i, 10000000, 0.001) FROM generate_series(1, 200000) i;
INSERT INTO shelf SELECT 3, cf_agg(i, 1e-8) FROM generate_series(1, 100000) i;
INSERT INTO shelf VALUES (4, cf_new(1000000, 1e-8));

CREATE FUNCTION probe(form text, OUT id int, OUT hits bigint, OUT counted bigint, OUT absent bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOR id IN SELECT s.id FROM shelf s ORDER BY 1 LOOP
		-- one call site for a hundred probes: by slices, or whole
		EXECUTE 'SELECT count(*) FILTER (WHERE cf_contains(f, i)), count(*) FILTER (WHERE cf_count(f, i) > 0),
				count(*) FILTER (WHERE cf_contains(f, -i))
			FROM (SELECT f FROM shelf WHERE id = $1 OFFSET 0) s, generate_series(1, 100) i'
			INTO hits, counted, absent USING probe.id;
		-- a cold one for each
		FOR i IN 1..10 LOOP
			EXECUTE 'SELECT $3 + cf_contains(f, $2)::int FROM shelf WHERE id = $1' INTO absent USING probe.id, -i,
				absent;
			EXECUTE 'SELECT $3 + cf_contains(f, $2)::int FROM shelf WHERE id = $1' INTO hits USING probe.id, i, hits;
		END LOOP;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM probe('external');
-- cf_contains_hash gives the same answers, in slices and whole, with any seed, for a text
SELECT id, count(*) FILTER (WHERE cf_contains_hash(f, cf_hash(i))) AS hits,
	count(*) FILTER (WHERE cf_contains_hash(f, cf_hash(-i)) <> cf_contains(f, -i)) AS different
FROM (SELECT id, f FROM shelf OFFSET 0) s, generate_series(1, 100) i GROUP BY id ORDER BY id;
SELECT id, cf_contains_hash(f, cf_hash(7)) AS has_7, cf_contains_hash(f, cf_hash(-7)) AS has_minus_7
FROM shelf ORDER BY id;
SELECT v, cf_contains_hash(f, cf_hash(v, 42)) AS of_the_seed, cf_contains_hash(f, cf_hash(v)) AS of_seed_0
FROM (SELECT cf_agg(v, 1000, 1e-8, 42) AS f FROM unnest('{a,b,c}'::text[]) v) s, unnest('{a,b,c}'::text[]) v;
-- false for an empty filter, null for null
SELECT name, coalesce(value::text, 'null') AS value FROM (VALUES ('empty filter', cf_contains_hash(cf_new(), 1)),
	('no filter', cf_contains_hash(NULL, 1)), ('no hash', cf_contains_hash(cf_new(), NULL))) v(name, value);
-- every other form gives the same sums of probe()
CREATE FUNCTION probe_as(storage text, OUT hits bigint, OUT counted bigint, OUT absent bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'ALTER TABLE shelf ALTER f SET STORAGE ' || storage;
	-- written again as bytes, so that the new form is used
	UPDATE shelf s SET f = (s.f::bytea || '')::cuckoofilter WHERE s.id <> 300000 OR storage <> 'plain';
	SELECT sum(p.hits), sum(p.counted), sum(p.absent) INTO hits, counted, absent FROM probe(storage) p;
END $$;
SELECT * FROM probe_as('extended');
SELECT * FROM probe_as('main');
SELECT * FROM probe_as('external');
-- compressible, so that it is stored compressed and out of line
UPDATE shelf SET f = cf_new(1000000, 1e-8) WHERE id = 4;
SELECT * FROM probe_as('extended');
SELECT within(pg_column_size(f), 1, (cf_info(f)).bytes / 2) AS bytes FROM shelf WHERE id = 4;
-- the same by lz4, where the server has it
DO $$
BEGIN
	EXECUTE 'ALTER TABLE shelf ALTER f SET COMPRESSION lz4';
EXCEPTION WHEN syntax_error OR feature_not_supported THEN
END $$;
SELECT * FROM probe_as('extended');
SELECT within(pg_column_size(f), 1, (cf_info(f)).bytes / 2) AS bytes FROM shelf WHERE id = 4;
DELETE FROM shelf WHERE id > 10;
DELETE FROM shelf WHERE id < 10;
SELECT * FROM probe_as('plain');

-- ---- pages read ----

-- few pages for a cold probe of a filter in many chunks
ALTER TABLE shelf ALTER f SET STORAGE external;
INSERT INTO shelf SELECT 300000, cf_agg(i) FROM generate_series(1, 300000) i;
SELECT within(pages_read('SELECT cf_contains(f, 7) FROM shelf WHERE id = 300000'), 1, 29) AS pages;
SELECT within(pages_read('SELECT cf_count(f) FROM shelf WHERE id = 300000'), 1, 14) AS pages;
-- a query keeps many filters: ten that are probed in turn
CREATE TABLE ten AS SELECT n, cf_agg(i) AS f FROM generate_series(1, 10) n, generate_series(n, n + 20000) i GROUP BY n;
SELECT within(pages_read('SELECT FROM generate_series(1, 1000) i,
	LATERAL (SELECT cf_contains(f, i) AS found FROM ten OFFSET 0) s WHERE found'), 1000, 4000) AS pages;
DROP TABLE ten;
-- three probes in four of a large capacity read one slice, whatever the size of its segments
CREATE TABLE sized AS SELECT n, cf_agg(i, n, 0.001) AS f
FROM unnest(ARRAY[1000000, 1000001, 1500000, 1990000, 2000000, 3000000, 3980000]) n, generate_series(1, 250000) i
GROUP BY n;
WITH pages AS (SELECT n, sum(pages_read(format('SELECT cf_contains(f, %s) FROM sized WHERE n = %s', i, n))) AS pages
	FROM sized, generate_series(1, 50) i GROUP BY n)
SELECT n, within(100.0 * pages / (SELECT pages FROM pages WHERE n = 1000000), 0, 81.9) AS percent FROM pages ORDER BY n;
DROP TABLE sized;

-- cold probes find every element, even if a bucket ends with the last byte of a slice: fingerprints of 16 and 17 bits
CREATE TABLE widths AS SELECT e, cf_agg(i, 0.9 / 2 ^ e) AS f
FROM generate_series(12, 13) e, generate_series(1, 200000) i GROUP BY e;
CREATE FUNCTION cold(width int, i int) RETURNS boolean LANGUAGE plpgsql
	AS 'BEGIN RETURN cf_contains(f, i) FROM widths WHERE e = width; END';
SELECT count(*) FILTER (WHERE cold(e, i)) AS found, count(*) AS truth
FROM generate_series(12, 13) e, generate_series(1, 200000, 2000) i;
DROP FUNCTION cold;
DROP TABLE widths;

-- a call site that goes on probing fetches the filter once: in a join, in SQL
-- and PL/pgSQL functions, for a column or an array
CREATE FUNCTION has(f cuckoofilter, i int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT f @> i';
CREATE FUNCTION has_plpgsql(f cuckoofilter, i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
	AS 'BEGIN RETURN cf_contains(f, i); END';
CREATE FUNCTION has_definer(f cuckoofilter, i int) RETURNS boolean LANGUAGE sql IMMUTABLE SECURITY DEFINER
	AS 'SELECT f @> i';
SELECT test, within(pages_read('SELECT count(*) FROM shelf, generate_series(1, 3000) i WHERE id = 300000 AND ' || test),
	1, 1499) AS pages
FROM unnest(ARRAY['cf_contains(f, i)', 'cf_count(f, i) > 0', 'i <@ f', 'has(f, i)', 'has_plpgsql(f, i)',
	'cf_contains_any(f, ARRAY[i, -i])']) test;
SELECT count(*) FILTER (WHERE has(f, i)) AS has, count(*) FILTER (WHERE has_plpgsql(f, i)) AS plpgsql,
	count(*) FILTER (WHERE has_definer(f, i)) AS definer, 300 AS truth
FROM shelf, generate_series(1, 300) i WHERE id = 300000;
DROP FUNCTION has, has_plpgsql, has_definer;

-- ---- never stale ----

-- one call site sees each change of its row
CREATE FUNCTION is_seen(n int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	stored cuckoofilter;
BEGIN
	SELECT f INTO stored FROM shelf WHERE id = 300000;
	RETURN cf_contains(stored, n);
END $$;
BEGIN;
SELECT is_seen(1000001) AS before;
UPDATE shelf SET f = cf_add(f, 1000001) WHERE id = 300000;
SELECT is_seen(1000001) AS added;
SAVEPOINT s;
UPDATE shelf SET f = cf_delete(f, 1000001) WHERE id = 300000;
SELECT is_seen(1000001) AS deleted;
ROLLBACK TO s;
SELECT is_seen(1000001) AS rolled_back;
ROLLBACK;
SELECT is_seen(1000001) AS none;
DO $$
DECLARE
	wrong int := 0;
BEGIN
	FOR i IN 1..50 LOOP
		UPDATE shelf SET f = cf_add(f, 2000000 + i) WHERE id = 300000;
		FOR k IN 1..100 LOOP
			-- the call site keeps the filter after so many probes
			wrong := wrong + (NOT is_seen(2000000 + i))::int;
		END LOOP;
		UPDATE shelf SET f = cf_delete(f, 2000000 + i) WHERE id = 300000;
		wrong := wrong + is_seen(2000000 + i)::int;
	END LOOP;
	RAISE NOTICE 'wrong answers: %', wrong;
END $$;
-- an open cursor goes on seeing what it began with
BEGIN;
DECLARE c CURSOR FOR SELECT cf_contains(f, 3000001) FROM shelf, generate_series(1, 200) WHERE id = 300000;
FETCH 1 FROM c;
UPDATE shelf SET f = cf_add(f, 3000001) WHERE id = 300000;
FETCH 1 FROM c;
MOVE 190 FROM c;
FETCH 1 FROM c;
COMMIT;
-- filters taking turns at one call site
INSERT INTO shelf SELECT 300001, cf_agg(i) FROM generate_series(300001, 600000) i;
SELECT id, count(*) FILTER (WHERE cf_contains(f, i)) AS found, 100 AS truth
FROM generate_series(299901, 300100) i, shelf WHERE id >= 300000 GROUP BY id ORDER BY id;
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS found, 100 AS truth
FROM generate_series(299901, 300100) i, LATERAL (SELECT f FROM shelf WHERE id = 300000 + i % 2) s;

-- what was dropped makes room: after a thousand filters, two are at hand where there is room for two
CREATE TABLE many (id int PRIMARY KEY, f cuckoofilter);
ALTER TABLE many ALTER f SET STORAGE external;
-- few chunks, so that a filter is fetched for its first probe; an empty one would not be
INSERT INTO many SELECT i, f
FROM (SELECT cf_agg(x, 1e-8) FROM generate_series(-1, 2800) x) s(f), generate_series(1, 1000) i;
VACUUM ANALYZE many;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT within(pages_read(format(query, 'cf_contains(f, i)')) - pages_read(format(query, 'f IS NULL')), 1, 7999) AS pages
FROM (VALUES ('SELECT count(*) FROM generate_series(1, 3000) i
	WHERE (SELECT %s FROM many WHERE id = CASE WHEN i < 1000 THEN i ELSE i %% 2 + 1 END)')) v(query);
-- and not more than there is room for
SELECT found, 1000 AS truth, within(contexts('ExecutorState', 'max(total_bytes)'), 1, 499999) AS bytes
FROM (SELECT count(*) AS found FROM generate_series(1, 1000) i
	WHERE (SELECT cf_contains(f, -1) FROM many WHERE id = i)) s;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE many;

-- filters of two geometries at one call site: a few slices of each filter, too few to fetch it
INSERT INTO shelf SELECT 300002, cf_agg(i, 1000000, 0.01, 7) FROM generate_series(1, 300000) i;
SELECT id, count(*) FILTER (WHERE cf_contains(f, i)) AS found, count(*) FILTER (WHERE cf_count(f, i) = 1) AS counted,
	count(*) FILTER (WHERE cf_contains(f, -i)) AS absent
FROM generate_series(1, 24) i, LATERAL (SELECT id, f FROM shelf WHERE id = 300000 + i % 2 * 2) s
GROUP BY id ORDER BY id;
SELECT count(*) FILTER (WHERE cf_contains_all(f, ARRAY[i, i + 1])) AS found, 24 AS truth
FROM generate_series(1, 24) i, LATERAL (SELECT f FROM shelf WHERE id = 300000 + i % 2 * 2) s;
-- and in memory: of one size and number of items, but with several seeds
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS found, count(*) FILTER (WHERE cf_count(f, i) > 0) AS counted,
	count(*) FILTER (WHERE cf_contains_any(f, ARRAY[i, NULL])) AS "any", 200 AS truth,
	count(DISTINCT (items, bytes)) AS sizes, count(DISTINCT seed) AS seeds
FROM generate_series(1, 40) i,
	(SELECT f, (cf_info(f)).*
		FROM generate_series(1, 5) n, LATERAL (SELECT cf_agg(i, 100, 0.001, n) AS f FROM generate_series(1, 40) i) a) s;

-- null elements of an array: by slices, as a whole, in memory
INSERT INTO shelf SELECT 300003, cf_agg('k' || i) FROM generate_series(1, 60000) i;
SELECT name, value, truth FROM shelf, LATERAL (VALUES
	('each', cf_contains_each(f, ARRAY['k1', NULL, 'zz'])::text, '{t,NULL,f}'),
	('any', cf_contains_any(f, ARRAY[NULL, 'zz'])::text, 'false'),
	('all', cf_contains_all(f, ARRAY['k1', NULL])::text, 'true')) v(name, value, truth) WHERE id = 300003;
SELECT (cf_contains_each(f, a))[:3] AS whole
FROM shelf, (SELECT ARRAY['k1', NULL, 'zz'] || array_fill(NULL::text, ARRAY[1000]) AS a) s WHERE id = 300003;
SELECT cf_contains_each(cf_add(cf_new(), 'k1'), ARRAY['k1', NULL, 'zz']) AS memory;

-- ---- hash functions ----

-- a hash function may probe filters itself, and have no room for them beside that of the call
CREATE TYPE own AS (v int);
CREATE FUNCTION own_eq(own, own) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'record_eq';
CREATE OPERATOR = (LEFTARG = own, RIGHTARG = own, FUNCTION = own_eq);
CREATE FUNCTION own_hash(own) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1.v';
CREATE FUNCTION own_hash(o own, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	other cuckoofilter;
BEGIN
	FOR other IN SELECT f FROM others LOOP
		ASSERT cf_contains(other, 1);
	END LOOP;
	RETURN o.v;
END $$;
CREATE OPERATOR CLASS own_ops DEFAULT FOR TYPE own USING hash AS OPERATOR 1 =, FUNCTION 1 own_hash(own),
	FUNCTION 2 own_hash(own, bigint);
CREATE TABLE others (f cuckoofilter);
ALTER TABLE others ALTER f SET STORAGE external;
CREATE TABLE owned AS SELECT cf_agg(row(i)::own) AS f FROM generate_series(1, 20000) i;
INSERT INTO others SELECT cf_agg(i) FROM generate_series(1, 5) n, generate_series(1, 50000) i GROUP BY n;
CREATE FUNCTION missed() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
	missed int := 0;
BEGIN
	SELECT o.f INTO f FROM owned o;
	FOR i IN 1..30 LOOP
		missed := missed + (NOT cf_contains(f, row(i)::own))::int;
		missed := missed + (NOT cf_contains_all(f, ARRAY[row(i), row(i + 1)]::own[]))::int;
	END LOOP;
	RETURN missed;
END $$;
SET work_mem = '64kB';
SELECT missed(), 0 AS truth;
RESET work_mem;
-- nor may it take over a value about which several filters are asked: PL/pgSQL would change and free a row that
-- another function made
CREATE OR REPLACE FUNCTION own_hash(o own, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	v int := o.v;
BEGIN
	o.v := 0;
	RETURN v;
END $$;
CREATE FUNCTION made(i int) RETURNS own LANGUAGE plpgsql AS $$
DECLARE
	o own;
BEGIN
	o.v := i;
	RETURN o;
END $$;
-- DISTINCT looks up the equality of rows, which is not that of the hash function
SELECT count(DISTINCT made(i)), 3 AS truth FROM generate_series(1, 3) i;
SELECT count(*) FILTER (WHERE made(i) <@ ANY (fs)) AS found, 100 AS truth
FROM generate_series(1, 200) i,
	(SELECT ARRAY(SELECT cf_agg(row(j)::own, 100, 1e-8, j % 3) FROM generate_series(1, 100) j GROUP BY j % 3) AS fs
		OFFSET 0) s;
DROP FUNCTION missed, made;
DROP TABLE others, owned;
SET client_min_messages = warning;
DROP TYPE own CASCADE;
RESET client_min_messages;

-- ---- errors ----

-- a family mismatch and a corrupt header are errors in every form, and every time
SELECT cf_contains(f, 'text') FROM shelf WHERE id = 300000;
CREATE FUNCTION corrupt(bytea, bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION refused(n int, i int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	f cuckoofilter;
BEGIN
	BEGIN
		CASE n
			WHEN 1 THEN PERFORM cf_contains(s.f, 1) FROM shelf s WHERE id = i;
			WHEN 2 THEN PERFORM cf_count(s.f, 1) FROM shelf s WHERE id = i;
			WHEN 3 THEN PERFORM count(*) FILTER (WHERE cf_contains(s.f, k))
				FROM shelf s, generate_series(1, 200) k WHERE id = i;
			WHEN 4 THEN PERFORM cf_contains_any(s.f, ARRAY[1, 2]) FROM shelf s WHERE id = i;
			WHEN 5 THEN PERFORM cf_contains_each(s.f, array_fill(1, ARRAY[1000])) FROM shelf s WHERE id = i;
			WHEN 6 THEN PERFORM count(*) FROM generate_series(1, 300) k
				WHERE cf_contains((SELECT s.f FROM shelf s WHERE id = i), k);
			WHEN 7 THEN PERFORM cf_contains(s.f, 1)
				FROM (SELECT corrupt(s.f::bytea, '') AS f FROM shelf s WHERE id = i OFFSET 0) s;
			ELSE
				SELECT s.f INTO f FROM shelf s WHERE id = i;
				RETURN cf_contains(f, 1);
		END CASE;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN SQLSTATE || ' ' || detail;
	END;
	RETURN 'none';
END $$;
-- also after a filter whose header is the same, for one call site
SELECT cf_contains(corrupt(image, ''), 1)
FROM (VALUES (1, cf_new()::bytea), (2, substring(cf_new()::bytea FROM 1 FOR octet_length(cf_new()::bytea) - 1))) v(n,
	image) ORDER BY n;
SELECT cf_contains_any(corrupt(image, ''), '{1}')
FROM (VALUES (1, cf_new()::bytea), (2, cf_new()::bytea || '\x00')) v(n, image) ORDER BY n;
-- stored in few and in many chunks, and compressed
INSERT INTO shelf SELECT id + 10, corrupt(set_byte(f::bytea, 2, 9), '') FROM shelf WHERE id = 300000;
INSERT INTO shelf SELECT 300011, corrupt(set_byte(cf_agg(i)::bytea, 2, 9), '') FROM generate_series(1, 3000) i;
ALTER TABLE shelf ALTER f SET STORAGE extended;
INSERT INTO shelf VALUES (300012, corrupt(set_byte(cf_new(1000000, 1e-8)::bytea, 2, 9), ''));
INSERT INTO shelf
VALUES (300013, corrupt(substring(cf_new()::bytea FOR 20), '')), (300014, corrupt(cf_new()::bytea, '\x00'));
SELECT refused, count(*)
FROM generate_series(300010, 300014) id, generate_series(1, 8) n, generate_series(1, 3), refused(n, id)
GROUP BY refused ORDER BY refused;
DROP FUNCTION probe, probe_as, is_seen, corrupt, refused;
DROP TABLE shelf;
