-- Exclusion constraints

\set VERBOSITY terse

-- ---- one column: INSERT, UPDATE, COPY, MERGE, ON CONFLICT, savepoints ----

CREATE TABLE urls (id int, url text, n int DEFAULT 0, CONSTRAINT urls_url EXCLUDE USING cuckoo (url WITH =));
INSERT INTO urls SELECT i, 'url ' || i FROM generate_series(1, 3000) i;
\set VERBOSITY default
INSERT INTO urls VALUES (0, 'url 7');
\set VERBOSITY terse
INSERT INTO urls VALUES (0, 'a'), (0, 'b'), (0, 'a');
COPY urls (id, url) FROM stdin;
0	c
0	url 8
\.
UPDATE urls SET url = 'url 8' WHERE id = 7;
UPDATE urls SET url = replace(url, ' ', '!') WHERE id > 2000;
UPDATE urls SET url = replace(url, '!', ' ');
-- a constraint that is not deferrable looks at each row, in between
UPDATE urls SET url = 'url ' || id + 1 WHERE id < 10;
INSERT INTO urls SELECT 0, NULL FROM generate_series(1, 3);
INSERT INTO urls VALUES (1, 'url 1'), (-1, 'new') ON CONFLICT DO NOTHING RETURNING id, url;
INSERT INTO urls VALUES (1, 'url 1'), (-2, 'newer'), (-3, 'newer') ON CONFLICT ON CONSTRAINT urls_url DO NOTHING
	RETURNING id, url;
MERGE INTO urls USING (VALUES ('url 1'), ('merged')) v (url) ON urls.url = v.url
	WHEN MATCHED THEN UPDATE SET n = -1 WHEN NOT MATCHED THEN INSERT VALUES (-4, v.url);
MERGE INTO urls USING (VALUES ('url 1'), ('more')) v (url) ON false WHEN NOT MATCHED THEN INSERT VALUES (-5, v.url);
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
SELECT count(*), 3000 + 3 + 1 + 1 + 1 + 1 AS truth, count(DISTINCT url), 3004 AS truth FROM urls;
VACUUM (INDEX_CLEANUP on) urls;
REINDEX INDEX urls_url;
SELECT cf_index_check('urls_url') AS checked, count(url) AS truth FROM urls;
INSERT INTO urls VALUES (0, 'url 12');
-- what PostgreSQL allows for unique indexes alone
INSERT INTO urls VALUES (1, 'url 1') ON CONFLICT (url) DO NOTHING;
INSERT INTO urls VALUES (1, 'url 1') ON CONFLICT ON CONSTRAINT urls_url DO UPDATE SET n = 1;
CREATE TABLE refers (url text REFERENCES urls (url));
DROP TABLE urls;

-- ---- rows from before the constraint ----

CREATE TABLE twice AS SELECT i % 2000 AS i, (i % 1990)::text AS t FROM generate_series(1, 2000) i;
ALTER TABLE twice ADD EXCLUDE USING cuckoo (t WITH =);
ALTER TABLE twice ADD EXCLUDE USING cuckoo (i WITH =);
INSERT INTO twice VALUES (1999);
-- an operator that is no equality
ALTER TABLE twice ADD EXCLUDE USING cuckoo (i WITH <>);
DROP TABLE twice;

-- ---- several columns, expressions, predicates, unlogged and temporary tables ----

CREATE UNLOGGED TABLE many (a int, b text, c int,
	CONSTRAINT many_ab EXCLUDE USING cuckoo (a WITH =, b WITH =),
	CONSTRAINT many_lower EXCLUDE USING cuckoo (lower(b) WITH =) WHERE (c > 0));
INSERT INTO many VALUES (1, 'x', 0), (1, 'y', 0), (2, 'x', 0), (1, NULL, 1), (1, NULL, 1), (3, 'X', 1);
\set VERBOSITY default
INSERT INTO many VALUES (1, 'x', 0);
INSERT INTO many VALUES (4, 'x', 1);
\set VERBOSITY terse
UPDATE many SET c = 1 WHERE a = 2;
UPDATE many SET c = 2 WHERE b = 'y';
UPDATE many SET a = a + 1 WHERE a < 2 AND b = 'x';
INSERT INTO many VALUES (1, 'x', 0), (8, 'z', 1), (9, 'Z', 1) ON CONFLICT DO NOTHING RETURNING *;
SELECT count(*), 7 AS truth FROM many;
DROP TABLE many;
CREATE TEMP TABLE passing (i int, EXCLUDE USING cuckoo (i WITH =));
INSERT INTO passing SELECT i % 5 FROM generate_series(1, 20) i ON CONFLICT DO NOTHING;
UPDATE passing SET i = i;
INSERT INTO passing VALUES (3);
SELECT count(*), 5 AS truth FROM passing;
DROP TABLE passing;

-- ---- deferred constraints ----

CREATE TABLE later (i int, CONSTRAINT later_i EXCLUDE USING cuckoo (i WITH =) DEFERRABLE);
INSERT INTO later SELECT generate_series(1, 100);
UPDATE later SET i = i + 1;
INSERT INTO later VALUES (50);
BEGIN;
SET CONSTRAINTS later_i DEFERRED;
INSERT INTO later VALUES (50);
UPDATE later SET i = 1 WHERE i = 60;
DELETE FROM later WHERE i = 50 AND ctid <> (SELECT max(ctid) FROM later WHERE i = 50);
COMMIT;
BEGIN;
SET CONSTRAINTS later_i DEFERRED;
INSERT INTO later VALUES (70);
COMMIT;
SELECT count(*), 100 AS truth, count(DISTINCT i), 100 AS truth FROM later;
DROP TABLE later;

-- ---- the same statements beside a B-tree ----

\set exclude 'ALTER TABLE tried ADD EXCLUDE USING cuckoo (v WITH =)'
SELECT beside(:'exclude', 'int', '$');
SELECT beside(:'exclude', 'text', 'repeat(md5(''$''), 20)');
SELECT beside(:'exclude', 'numeric', 'mod($, 200) + CASE mod($, 3) WHEN 0 THEN 0.000 ELSE 0 END');
SELECT beside(:'exclude', 'uuid', 'md5(''$'')::uuid');
SELECT beside(:'exclude', 'int[]', 'ARRAY[$, 1]');
