-- Unique indexes, from PostgreSQL 18 on

CREATE TABLE urls (id int, url text, n int DEFAULT 0);
INSERT INTO urls SELECT i, 'url ' || i FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX urls_url ON urls USING cuckoo (url);
SELECT current_setting('server_version_num')::int < 180000 AS refused \gset
\if :refused
DROP TABLE urls;
\quit
\endif
\set VERBOSITY terse

-- ---- building ----

CREATE TABLE twice (i int, t text);
INSERT INTO twice SELECT i, i::text FROM generate_series(1, 2000) i;
INSERT INTO twice VALUES (77, 'again'), (NULL, 'a'), (NULL, 'b');
\set VERBOSITY default
CREATE UNIQUE INDEX twice_i ON twice USING cuckoo (i);
CREATE UNIQUE INDEX twice_i ON twice USING cuckoo (i) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX twice_i ON twice USING cuckoo (i) INCLUDE (t);
CREATE UNIQUE INDEX CONCURRENTLY twice_i ON twice USING cuckoo (i);
\set VERBOSITY terse
DROP INDEX twice_i;
DELETE FROM twice WHERE t = '77';
CREATE UNIQUE INDEX CONCURRENTLY twice_i ON twice USING cuckoo (i);
-- versions of a row, live and dead, of this transaction
BEGIN;
UPDATE twice SET t = 'x' WHERE i < 100;
UPDATE twice SET i = i + 10000 WHERE i = 2000;
CREATE UNIQUE INDEX twice_t ON twice USING cuckoo (i);
INSERT INTO twice VALUES (12000);
ROLLBACK;
-- more dead versions than go to a page of entries, before and after a live one
BEGIN;
CREATE TABLE versions AS SELECT 7 AS i, n FROM generate_series(1, 1000) n;
DELETE FROM versions WHERE n <> 500;
CREATE UNIQUE INDEX versions_one ON versions USING cuckoo (i);
DROP INDEX versions_one;
INSERT INTO versions VALUES (7);
CREATE UNIQUE INDEX versions_two ON versions USING cuckoo (i);
ROLLBACK;
-- many rows with one value
INSERT INTO twice SELECT -i, 'same' FROM generate_series(1, 2000) i;
CREATE UNIQUE INDEX twice_t ON twice USING cuckoo (t);
UPDATE twice SET t = i WHERE t = 'same';
CREATE UNIQUE INDEX twice_t ON twice USING cuckoo (t);
REINDEX INDEX CONCURRENTLY twice_t;
SELECT cf_index_check('twice_t') AS checked, count(*) AS truth FROM twice;
-- different keys with one hash
CREATE FUNCTION one_hash(int, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 1;
CREATE OPERATOR CLASS one_ops FOR TYPE int USING cuckoo AS OPERATOR 1 =, FUNCTION 1 one_hash(int, bigint);
CREATE TABLE alike AS SELECT unnest('{1,2,2}'::int[]) AS i;
CREATE UNIQUE INDEX alike_i ON alike USING cuckoo (i one_ops);
DROP TABLE alike;

-- ---- inserts and updates ----

\set VERBOSITY default
INSERT INTO urls VALUES (0, 'url 7');
\set VERBOSITY terse
INSERT INTO urls VALUES (0, 'a'), (0, 'b'), (0, 'a');
COPY urls (id, url) FROM stdin;
0	c
0	url 8
\.
UPDATE urls SET url = 'url 8' WHERE id = 7;
UPDATE urls SET url = url || '!' WHERE id > 2000;
UPDATE urls SET url = replace(url, '!', '');
UPDATE urls SET n = 1;
INSERT INTO urls SELECT 0, NULL FROM generate_series(1, 3);
DELETE FROM urls WHERE id = 9;
INSERT INTO urls VALUES (9, 'url 9');
BEGIN;
DELETE FROM urls WHERE id = 10;
SAVEPOINT s;
INSERT INTO urls VALUES (0, 'url 10');
ROLLBACK TO s;
INSERT INTO urls VALUES (10, 'url 10');
COMMIT;
BEGIN;
DELETE FROM urls WHERE id = 11;
ROLLBACK;
INSERT INTO urls VALUES (0, 'url 11');
INSERT INTO urls VALUES (0, repeat(md5('x'), 10000));
INSERT INTO urls VALUES (0, repeat(md5('x'), 10000));
SELECT count(*), 3000 + 3 + 1 AS truth, count(DISTINCT url), 3001 AS truth FROM urls;

-- a row with very many versions, none of them HOT: its tag has a chain
CREATE INDEX urls_n ON urls (n);
DO $$
BEGIN
	FOR i IN 1..1500 LOOP
		UPDATE urls SET id = -id, n = n + 1, url = url WHERE url = 'url 12';
		IF i % 2 = 0 THEN
			DELETE FROM urls WHERE url = 'url 12';
			INSERT INTO urls VALUES (12, 'url 12', i);
		END IF;
	END LOOP;
END $$;
SELECT chain_pages > 0 AS chain, cf_index_check('urls_url') > 4000 AS checked FROM cf_index_info('urls_url');
INSERT INTO urls VALUES (0, 'url 12');
SELECT count(*), 1 AS truth FROM urls WHERE url = 'url 12';
VACUUM (INDEX_CLEANUP on) urls;
SELECT cf_index_check('urls_url') AS checked, count(url) AS truth FROM urls;

-- ---- ON CONFLICT, MERGE ----

INSERT INTO urls VALUES (1, 'url 1'), (-1, 'new') ON CONFLICT DO NOTHING RETURNING id, url;
INSERT INTO urls VALUES (1, 'url 1'), (-2, 'newer') ON CONFLICT (url) DO NOTHING RETURNING id, url;
INSERT INTO urls VALUES (1, 'url 1', 5), (-3, 'newest', 6)
	ON CONFLICT (url) DO UPDATE SET n = urls.n + excluded.n RETURNING id, url, n;
INSERT INTO urls VALUES (1, 'url 1', 5), (1, 'url 1', 6) ON CONFLICT (url) DO UPDATE SET n = 0;
MERGE INTO urls USING (VALUES ('url 1'), ('merged')) v (url) ON urls.url = v.url
	WHEN MATCHED THEN UPDATE SET n = -1 WHEN NOT MATCHED THEN INSERT VALUES (-4, v.url);
SELECT id, url, n FROM urls WHERE id < 2 AND length(url) < 10 AND id <> 0 ORDER BY id;

-- ---- several columns, expressions, predicates, unlogged and temporary tables ----

CREATE UNLOGGED TABLE many (a int, b text, c int);
CREATE UNIQUE INDEX many_ab ON many USING cuckoo (a, b);
CREATE UNIQUE INDEX many_lower ON many USING cuckoo (lower(b)) WHERE c > 0;
INSERT INTO many VALUES (1, 'x', 0), (1, 'y', 0), (2, 'x', 0), (1, NULL, 1), (1, NULL, 1), (3, 'X', 1);
\set VERBOSITY default
INSERT INTO many VALUES (1, 'x', 0);
INSERT INTO many VALUES (4, 'x', 1);
\set VERBOSITY terse
UPDATE many SET c = 1 WHERE a = 2;
UPDATE many SET c = 2;
UPDATE many SET a = a + 1 WHERE a < 3 AND b = 'x';
INSERT INTO many VALUES (1, 'x', 0) ON CONFLICT (a, b) DO UPDATE SET c = 3 RETURNING *;
INSERT INTO many VALUES (9, 'Z', 1) ON CONFLICT (lower(b)) WHERE c > 0 DO NOTHING RETURNING *;
INSERT INTO many VALUES (8, 'z', 1) ON CONFLICT (lower(b)) WHERE c > 0 DO NOTHING RETURNING *;
SELECT count(*), 7 AS truth FROM many;
CREATE TEMP TABLE passing (i int);
CREATE UNIQUE INDEX passing_i ON passing USING cuckoo (i);
INSERT INTO passing SELECT i % 5 FROM generate_series(1, 20) i ON CONFLICT DO NOTHING;
UPDATE passing SET i = i;
INSERT INTO passing VALUES (3);
SELECT count(*), 5 AS truth FROM passing;
-- a commit empties the table, and must not call functions of the index
CREATE FUNCTION looks_up(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN PERFORM count(*) FROM pg_class; RETURN $1; END';
CREATE TEMP TABLE emptied (i int) ON COMMIT DELETE ROWS;
CREATE UNIQUE INDEX emptied_i ON emptied USING cuckoo ((i + looks_up(0))) WHERE i > looks_up(0);
ALTER TABLE emptied ADD n int;
BEGIN;
INSERT INTO emptied VALUES (1), (2);
SAVEPOINT s;
INSERT INTO emptied VALUES (1);
ROLLBACK TO s;
SELECT count(*), 2 AS truth FROM emptied;
COMMIT;
INSERT INTO emptied VALUES (1);
SELECT count(*), 0 AS truth FROM emptied;
DROP TABLE emptied;
DROP FUNCTION looks_up;

-- ---- foreign keys, replica identity, REFRESH CONCURRENTLY ----

ALTER TABLE twice ALTER i SET NOT NULL;
DELETE FROM twice WHERE i IS NULL;
ALTER TABLE twice ALTER i SET NOT NULL;
CREATE TABLE refers (i int REFERENCES twice (i) ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO refers VALUES (1), (2), (2);
INSERT INTO refers VALUES (12345);
UPDATE twice SET i = 5001 WHERE i = 1;
DELETE FROM twice WHERE i = 2;
SELECT i, 5001 AS truth FROM refers;
ALTER TABLE twice REPLICA IDENTITY USING INDEX twice_i;
CREATE MATERIALIZED VIEW seen AS SELECT i, t FROM twice WHERE i < 100;
CREATE UNIQUE INDEX seen_i ON seen USING cuckoo (i);
UPDATE twice SET t = 'changed' WHERE i = 50;
REFRESH MATERIALIZED VIEW CONCURRENTLY seen;
SELECT t, 'changed' AS truth FROM seen WHERE i = 50;
-- what PostgreSQL allows for B-trees alone
ALTER TABLE twice ADD UNIQUE USING INDEX twice_i;
ALTER TABLE twice ADD PRIMARY KEY USING INDEX twice_i;
DROP TABLE refers;
DROP MATERIALIZED VIEW seen;
-- a key of a type with its own equality: not by the operator class of text
CREATE EXTENSION citext;
CREATE TABLE folded (c citext NOT NULL);
CREATE UNIQUE INDEX folded_c ON folded USING cuckoo (c);
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING cuckoo
AS OPERATOR 1 =, FUNCTION 1 citext_hash_extended(citext, bigint);
CREATE UNIQUE INDEX folded_c ON folded USING cuckoo (c);
INSERT INTO folded VALUES ('A'), ('b');
INSERT INTO folded VALUES ('a');
CREATE TABLE refers (c text REFERENCES folded (c));
CREATE TABLE refers (c citext REFERENCES folded (c));
INSERT INTO refers VALUES ('B');
INSERT INTO refers VALUES ('c');
DROP TABLE folded, refers;
DROP EXTENSION citext CASCADE;

-- the collation of a column decides which keys are equal
DO $$
DECLARE
	refused text = '';
BEGIN
	IF NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
		RETURN;
	END IF;
	CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE cased (a text COLLATE any_case, b text);
	INSERT INTO cased VALUES ('a', 'a'), ('A', 'A');
	CREATE UNIQUE INDEX ON cased USING cuckoo (b);
	BEGIN
		CREATE UNIQUE INDEX ON cased USING cuckoo (a);
	EXCEPTION WHEN unique_violation THEN
		refused = 'build';
	END;
	DELETE FROM cased;
	CREATE UNIQUE INDEX ON cased USING cuckoo (a);
	INSERT INTO cased VALUES ('a');
	BEGIN
		INSERT INTO cased VALUES ('A');
	EXCEPTION WHEN unique_violation THEN
		refused = refused || ', insert';
	END;
	IF refused <> 'build, insert' THEN
		RAISE 'refused: %', refused;
	END IF;
	DROP TABLE cased;
	DROP COLLATION any_case;
END $$;

-- ---- partitioned tables ----

CREATE TABLE divided (day int, id int) PARTITION BY LIST (day);
CREATE TABLE divided_1 PARTITION OF divided FOR VALUES IN (1);
-- its message differs between versions
\set VERBOSITY sqlstate
CREATE UNIQUE INDEX divided_id ON divided USING cuckoo (id);
\set VERBOSITY terse
CREATE UNIQUE INDEX divided_id ON divided USING cuckoo (id, day);
CREATE TABLE divided_2 PARTITION OF divided FOR VALUES IN (2);
INSERT INTO divided VALUES (1, 1), (2, 1), (2, 2);
INSERT INTO divided VALUES (2, 1);
INSERT INTO divided VALUES (2, 1), (2, 3) ON CONFLICT (id, day) DO NOTHING;
SELECT count(*), 4 AS truth FROM divided;
DROP TABLE divided;

-- ---- the same statements beside a B-tree ----

\set unique 'CREATE UNIQUE INDEX ON tried USING cuckoo (v)'
\set updates '(v) DO UPDATE SET day = t.day + 1'
SELECT beside(:'unique', 'int', '$', :'updates');
SELECT beside(:'unique', 'text', 'repeat(md5(''$''), 20)', :'updates');
SELECT beside(:'unique', 'numeric', 'mod($, 200) + CASE mod($, 3) WHEN 0 THEN 0.000 ELSE 0 END', :'updates');
SELECT beside(:'unique', 'uuid', 'md5(''$'')::uuid', :'updates');
SELECT beside(:'unique', 'int[]', 'ARRAY[$, 1]', :'updates');
DROP TABLE urls, twice, many;
