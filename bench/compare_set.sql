-- For bench/compare.sql: measures each of the methods for a set of :n elements
SELECT 2 * :rows AS range \gset
\setenv RANGE :range
CREATE TABLE elements AS SELECT url(i * (2 * :rows / :n)) FROM generate_series(1, :n) i;
VACUUM (ANALYZE, FREEZE) elements;

-- ---- the table alone ----

INSERT INTO results (elements, method, bytes, scan_ms, wal)
SELECT :n, '`IN`, hashed', pg_table_size('elements'), scan_ms('(url IN (SELECT url FROM elements)) IS TRUE', 'hashed SubPlan'),
	wal(:'insert');
INSERT INTO results (elements, method, bytes, scan_ms, wal)
SELECT :n, '`EXISTS`, hash semi join', pg_table_size('elements'),
	scan_ms(:'scan', 'Hash.* Join'), wal(:'insert');

-- ---- an index; the scan has a tenth of the rows, and is no hash join ----

SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT ms('CREATE INDEX element ON elements (url)') AS built \gset
\setenv QUERY :look
\set points `bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, scan_ms, points, wal)
SELECT :n, '`EXISTS`, B-tree', pg_total_relation_size('elements'), :built,
	scan_ms(:'scan', 'Index.* using element', 'tenth') * 10, :points, wal(:'insert');
DROP INDEX element;
SELECT ms('CREATE INDEX element ON elements USING hash (url)') AS built \gset
\set points `bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, scan_ms, points, wal)
SELECT :n, '`EXISTS`, hash index', pg_total_relation_size('elements'), :built,
	scan_ms(:'scan', 'Index.* using element', 'tenth') * 10, :points, wal(:'insert');
DROP INDEX element;
SELECT ms('CREATE INDEX element ON elements USING cuckoo (url)') AS built \gset
\set points `bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, scan_ms, points, wal)
SELECT :n, '`EXISTS`, index `USING cuckoo`', pg_total_relation_size('elements'), :built,
	scan_ms(:'scan', 'Index.* using element', 'tenth') * 10, :points, wal(:'insert');
DROP INDEX element;
-- each lookup reads the whole index, so there is no scan
SELECT ms('CREATE INDEX element ON elements USING bloom (url) WITH (col1 = 4)') AS built \gset
\set points `PGOPTIONS='-c enable_seqscan=off' bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, points, wal)
SELECT :n, '`EXISTS`, `contrib/bloom`', pg_total_relation_size('elements'), :built, :points, wal(:'insert');
RESET enable_hashjoin;
RESET enable_mergejoin;
DROP INDEX element;

-- ---- hashes ----

SELECT ms('CREATE TABLE hashes AS SELECT hashtextextended(url, 0) AS h FROM elements') +
	ms('CREATE INDEX hash ON hashes (h)') AS built \gset
VACUUM (ANALYZE, FREEZE) hashes;
\setenv QUERY 'SELECT EXISTS (SELECT FROM hashes WHERE h = hashtextextended(url(:i), 0))'
\set points `bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, scan_ms, points, wal)
SELECT :n, 'a table of 64-bit hashes, B-tree', pg_total_relation_size('hashes'), :built,
	scan_ms('EXISTS (SELECT FROM hashes WHERE h = hashtextextended(v.url, 0))', 'Join'), :points,
	wal('INSERT INTO hashes VALUES (hashtextextended(url(%s), 0))');

-- ---- the filter ----

SELECT ms(format('INSERT INTO filters SELECT %s, cf_agg(url) FROM elements', :n)) AS built \gset
VACUUM (ANALYZE, FREEZE) filters;
\set filter '(SELECT f FROM filters WHERE elements = ' :n ')'
\set query 'SELECT cf_contains(' :filter ', url(:i))'
\setenv QUERY :query
\set points `bench/points.sh "$RANGE" "$QUERY"`
INSERT INTO results (elements, method, bytes, build_ms, scan_ms, points, wal)
SELECT :n, '`cf_contains`, stored filter', length(f::bytea), :built,
	scan_ms('cf_contains(' || :'filter' || ', url)', 'CuckooScan'), :points,
	wal('UPDATE filters SET f = cf_add(f, url(%s)) WHERE elements = ' || :n)
FROM filters WHERE filters.elements = :n;
DROP TABLE elements, hashes;
