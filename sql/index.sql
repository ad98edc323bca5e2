-- The access method: plans, rows that are found, changes, several columns, chains,
-- constraints, errors

\set VERBOSITY terse
SET enable_seqscan = off;

-- ---- plans ----

CREATE TABLE t AS SELECT i, 'url ' || i AS url, i % 10 AS ten, i % 100 AS hundred, repeat('f', 50) AS filler
FROM generate_series(1, 20000) i;
CREATE INDEX t_url ON t USING cuckoo (url);
CREATE INDEX t_i ON t USING cuckoo (i);
CREATE INDEX t_two ON t USING cuckoo (ten, hundred);
CREATE INDEX t_lower ON t USING cuckoo (lower(url));
ANALYZE t;
CREATE INDEX t_some ON t USING cuckoo (filler) WHERE i < 100;
SELECT i.reltuples, 99 AS truth, t.reltuples, 20000 AS truth FROM pg_class i, pg_class t
WHERE i.relname = 't_some' AND t.relname = 't';
EXPLAIN (COSTS off) SELECT * FROM t WHERE url = 'url 7';
EXPLAIN (COSTS off) SELECT * FROM t WHERE i = ANY ('{1,2,3}');
EXPLAIN (COSTS off) SELECT * FROM t WHERE ten = 1 AND hundred = 11 AND i > 5;
EXPLAIN (COSTS off) SELECT * FROM t WHERE lower(url) = 'url 7' OR i = 7;
EXPLAIN (COSTS off) SELECT * FROM t WHERE i = 7::bigint LIMIT 1;
EXPLAIN (COSTS off) SELECT count(*) FROM generate_series(1, 3) g JOIN t ON t.i = g;
-- never without a condition on each column
RESET enable_seqscan;
EXPLAIN (COSTS off) SELECT * FROM t WHERE ten = 1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT indexes_of('SELECT FROM t WHERE ten = 1') IS NULL AS no_index;
RESET enable_bitmapscan;
SELECT count(*), 2000 AS truth FROM t WHERE ten = 1;
SELECT count(*), 200 AS truth FROM t WHERE ten = 1 AND hundred = 11;
SELECT count(*), 0 AS truth FROM t WHERE ten = 1 AND hundred = 12;
SELECT count(*), 0 AS truth FROM t WHERE ten = 1 AND hundred = NULL;
SELECT count(*), 1 AS truth FROM t WHERE i = 7 AND i = 7::bigint;
SELECT count(*), 0 AS truth FROM t WHERE i = 7 AND i = 8;
SELECT count(*), 3 AS truth FROM t WHERE i IN (7, 8, -1, 9, NULL);
-- each value, by index scans and by bitmap scans
SELECT * FROM compared('t_url', 'SELECT ''none '' || generate_series(1, 1000)');
SELECT * FROM compared('t_i', 'SELECT generate_series(-1000, 0)');
SELECT * FROM compared('t_some');
SELECT * FROM compared('t_lower');
-- a cursor, forwards and backwards, and a scan that is repeated
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i FROM t WHERE ten = 1 AND hundred = 11;
MOVE 199 IN c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
ROLLBACK;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*), 2000 AS truth FROM generate_series(1, 2000) g JOIN t ON t.i = g;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- several conditions on a column, of a type for which PostgreSQL does not compare them
CREATE TABLE ids AS SELECT i::text::xid AS x, (i + 1000000)::text::xid AS b, i < 100 AS p
FROM generate_series(1, 3000) i;
CREATE INDEX ids_xb ON ids USING cuckoo (x, b);
ANALYZE ids;
\set ids 'SELECT FROM ids WHERE x = ''7'' AND x = (SELECT ''7''::xid) AND b = ''1000007'''
SELECT indexes_of(:'ids'), count(*), 1 AS truth FROM (:ids) s;
DROP INDEX ids_xb;
CREATE INDEX ids_xb ON ids USING cuckoo (x, b) WHERE p;
SELECT count(*), 0 AS truth FROM ids WHERE x = '7' AND x = '8' AND p;
DROP TABLE ids;
-- beside a B-tree, its costs are lower only for equality
CREATE INDEX t_tree ON t (i);
RESET enable_seqscan;
SELECT indexes_of('SELECT FROM t WHERE i = 7') AS equality, indexes_of('SELECT FROM t WHERE i < 7') AS range;
DROP INDEX t_tree;
SET enable_seqscan = off;
-- the costs are those of access method hash: for one value, one row, many values, and as the inner side of a join
CREATE TABLE costs AS SELECT i % 500 AS v, i AS w, repeat('f', 50) AS filler FROM generate_series(1, 20000) i;
CREATE TABLE costs_hash AS TABLE costs;
CREATE INDEX costs_v ON costs USING cuckoo (v);
CREATE INDEX ON costs_hash USING hash (v);
CREATE INDEX costs_w ON costs USING cuckoo (w);
CREATE INDEX ON costs_hash USING hash (w);
VACUUM ANALYZE costs, costs_hash;
CREATE FUNCTION cost(query text, of text, bitmap text) RETURNS float8 LANGUAGE plpgsql SET enable_hashjoin = off
	SET enable_mergejoin = off SET enable_material = off SET enable_indexscan = off SET enable_bitmapscan = off AS $$
BEGIN
	PERFORM set_config(CASE bitmap WHEN '' THEN 'enable_indexscan' ELSE 'enable_bitmapscan' END, 'on', true);
	RETURN plan_of(replace(query, 'costs', of)) -> 'Total Cost';
END $$;
SELECT query, bitmap, within(cost(query, 'costs', bitmap) / cost(query, 'costs_hash', bitmap), 0.7, 1.3) AS costs
FROM (VALUES ('SELECT FROM costs WHERE v = 7'), ('SELECT FROM costs WHERE v = 7 LIMIT 1'),
	('SELECT FROM costs WHERE w = 7'), ('SELECT FROM costs WHERE w = ANY (ARRAY(SELECT 1))'),
	('SELECT FROM generate_series(1, 1000) g JOIN costs ON v = g')) q(query), unnest('{"", bitmap}'::text[]) bitmap;
DROP TABLE costs, costs_hash;
DROP FUNCTION cost;
-- for pg_stat_user_indexes: an index scan, and a bitmap scan; both lock their page for serializable transactions
SELECT pg_stat_force_next_flush();
BEGIN ISOLATION LEVEL SERIALIZABLE;
SET LOCAL enable_bitmapscan = off;
SELECT FROM t WHERE i = 7;
SET LOCAL enable_bitmapscan = on;
SET LOCAL enable_indexscan = off;
SELECT FROM t WHERE i = 7;
SELECT pg_stat_get_xact_numscans('t_i'::regclass) AS scans, 2 AS truth,
	pg_stat_get_xact_tuples_returned('t_i'::regclass) AS entries, 2 AS truth;
SELECT locktype FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 't_i'::regclass AND pid = pg_backend_pid();
COMMIT;
-- what it can do, as it tells the planner
SELECT string_agg(p, ' ') FILTER (WHERE pg_indexam_has_property(a.oid, p)) AS method,
	string_agg(p, ' ') FILTER (WHERE pg_index_has_property('t_i', p)) AS index,
	string_agg(p, ' ') FILTER (WHERE pg_index_column_has_property('t_i', 1, p)) AS "column"
FROM pg_am a, unnest('{can_order, can_multi_col, can_exclude, can_include, clusterable, index_scan, bitmap_scan,
	backward_scan, asc, desc, nulls_first, nulls_last, orderable, distance_orderable, returnable, search_array,
	search_nulls}'::text[]) p
WHERE amname = 'cuckoo';

-- ---- entries and rows ----

SELECT cf_index_check('t_url') AS url, cf_index_check('t_i') AS i, cf_index_check('t_two') AS two,
	cf_index_check('t_some') AS some, cf_index_check('t_lower') AS lower;
SELECT entries, 20000 AS truth, pages, chain_pages, free_pages, bytes = pg_relation_size('t_i') AS bytes,
	within(bytes_per_entry, 7, 9) AS bytes_per_entry, within(load_factor, 0.65, 0.7) AS load_factor,
	within(rows_in_vain, 1e-12, 1e-5) AS rows_in_vain
FROM cf_index_info('t_i');
UPDATE t SET url = 'new ' || i, i = -i WHERE i % 3 = 0;
DELETE FROM t WHERE i % 5 = 0;
SELECT * FROM compared('t_url', 'SELECT ''url '' || generate_series(1, 20000)');
VACUUM t;
SELECT cf_index_check('t_url') AS url, cf_index_check('t_i') AS i, cf_index_check('t_two') AS two, count(*) AS truth
FROM t;
SELECT * FROM compared('t_i', 'SELECT generate_series(1, 20000)');
SELECT reltuples, 16000 AS truth, relpages = pg_relation_size(oid) / current_setting('block_size')::int AS relpages
FROM pg_class WHERE relname = 't_two';
-- no entries are left of rows that are gone
DELETE FROM t WHERE i < 100 OR i > 200;
VACUUM t;
SELECT cf_index_check('t_url') AS url, cf_index_check('t_i') AS i, cf_index_check('t_two') AS two, count(*) AS truth
FROM t;
REINDEX TABLE t;
SELECT cf_index_check('t_url') AS url, cf_index_check('t_i') AS i, cf_index_check('t_two') AS two, count(*) AS truth
FROM t;
DROP TABLE t;

-- ---- an index that grows from nothing ----

CREATE TABLE grown (i bigint, j int);
CREATE INDEX grown_i ON grown USING cuckoo (i);
CREATE INDEX grown_2 ON grown USING cuckoo (j, i);
SELECT entries, pages, bytes / current_setting('block_size')::int AS blocks FROM cf_index_info('grown_i');
INSERT INTO grown SELECT i, i % 7 FROM generate_series(1, 40000) i;
SELECT * FROM compared('grown_i', 'SELECT generate_series(-1000, 0)');
SELECT entries, within(pages, 30, 45) AS pages, within(bytes_per_entry, 6.5, 9.5) AS bytes_per_entry,
	within(rows_in_vain, 6e-7, 2.4e-6) AS rows_in_vain
FROM cf_index_info('grown_i');
SELECT cf_index_check('grown_i') AS i, cf_index_check('grown_2') AS two, 40000 AS truth;
-- an index with other shares of pages, of a small table that grows
TRUNCATE grown;
INSERT INTO grown SELECT i, i % 7 FROM generate_series(1, 7000) i;
REINDEX TABLE grown;
INSERT INTO grown SELECT i, i % 7 FROM generate_series(7001, 40000) i;
SELECT cf_index_check('grown_i') AS i, cf_index_check('grown_2') AS two, 40000 AS truth;
-- more rows than the sample that chooses the number of pages: no page is split
INSERT INTO grown SELECT i FROM generate_series(40001, 150000) i;
REINDEX INDEX grown_i;
SELECT entries, within(load_factor, 0.68, 0.72) AS load_factor FROM cf_index_info('grown_i');
-- the fillfactor
ALTER INDEX grown_i SET (fillfactor = 45);
REINDEX INDEX grown_i;
SELECT within(load_factor, 0.4, 0.46) AS load_factor FROM cf_index_info('grown_i');
ALTER INDEX grown_i SET (fillfactor = 9);
CREATE INDEX ON grown USING cuckoo (i) WITH (fpp = 0.1);
DROP TABLE grown;

-- ---- values in very many rows ----

CREATE TABLE common (v int, pad text) WITH (fillfactor = 50);
CREATE INDEX common_v ON common USING cuckoo (v);
-- every number of rows up to 2000: entries in the page, then a chain
DO $$
DECLARE
	found int;
BEGIN
	FOR n IN 1..2000 LOOP
		INSERT INTO common VALUES (7, '');
		SELECT count(*) INTO found FROM common WHERE v = 7;
		IF found <> n THEN
			RAISE '% of % rows', found, n;
		END IF;
	END LOOP;
END $$;
INSERT INTO common SELECT 7 + i % 3 FROM generate_series(1, 30000) i;
SELECT * FROM compared('common_v', 'SELECT generate_series(-10, 6)');
SELECT entries, chain_pages FROM cf_index_info('common_v');
SELECT cf_index_check('common_v'), 32000 AS truth;
-- workers do not share an index scan, but the pages of a bitmap
ANALYZE common;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET enable_bitmapscan = off;
\set many 'SELECT count(*), 12000 AS truth FROM common WHERE v = 7'
SELECT plan_of(:'many')::text ~ '"Parallel Aware": true' AS parallel;
:many;
RESET enable_bitmapscan;
SET enable_indexscan = off;
SELECT plan_of(:'many')::text ~ '"Parallel Aware": true' AS parallel;
:many;
RESET enable_indexscan;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_index_scan_size;
RESET min_parallel_table_scan_size;
-- a scan that ends before its chain, and begins again
SET enable_bitmapscan = off;
SELECT count(*), 1 + 12000 AS truth FROM generate_series(0, 1) g,
	LATERAL (SELECT FROM common WHERE v = 7 + 0 * g LIMIT CASE g WHEN 0 THEN 1 ELSE 30000 END) s;
RESET enable_bitmapscan;
-- VACUUM frees pages of a chain, and other chains use them
DELETE FROM common WHERE v = 8;
VACUUM common;
SELECT entries, chain_pages, free_pages FROM cf_index_info('common_v');
INSERT INTO common SELECT 10 FROM generate_series(1, 12000) i;
SELECT entries, chain_pages, free_pages, bytes / current_setting('block_size')::int AS blocks
FROM cf_index_info('common_v');
SELECT * FROM compared('common_v', 'SELECT 8');
-- a cursor in a chain, beside VACUUM and rows that come
BEGIN;
DECLARE c CURSOR FOR SELECT v FROM common WHERE v = 9;
MOVE 3000 IN c;
INSERT INTO common SELECT 9 FROM generate_series(1, 5000);
MOVE ALL IN c;
SELECT count(*) FROM common WHERE v = 9;
COMMIT;
-- built with chains
REINDEX INDEX common_v;
SELECT entries, chain_pages, free_pages FROM cf_index_info('common_v');
SELECT * FROM compared('common_v', 'SELECT 8');
INSERT INTO common SELECT 7 + i % 3 FROM generate_series(1, 3000) i;
VACUUM common;
SELECT cf_index_check('common_v'), count(*) AS truth FROM common;
DELETE FROM common;
VACUUM common;
SELECT entries, chain_pages FROM cf_index_info('common_v');
SELECT count(*), 0 AS truth FROM common WHERE v = 7;
DROP TABLE common;

-- lookups remove all entries of dead rows of a chain; VACUUM then frees its pages, although it finds no such entry
CREATE TABLE dead (v int, n int);
CREATE INDEX dead_v ON dead USING cuckoo (v);
-- full pages of the table, because PostgreSQL prunes no others
INSERT INTO dead SELECT 7 FROM generate_series(1, 11978);
DELETE FROM dead WHERE ctid > '(0,10)';
SET enable_bitmapscan = off;
SELECT count(*) FROM dead WHERE v = 7;
RESET enable_bitmapscan;
SELECT entries, chain_pages FROM cf_index_info('dead_v');
VACUUM (INDEX_CLEANUP on) dead;
SELECT entries, chain_pages FROM cf_index_info('dead_v');
-- what VACUUM tells the planner, also if it has nothing to remove
VACUUM (INDEX_CLEANUP on) dead;
SELECT reltuples, 10 AS truth FROM pg_class WHERE relname = 'dead_v';
-- the line pointer of an updated row leads to its versions; until PostgreSQL prunes them, a standby may see one
UPDATE dead SET n = 1;
VACUUM dead;
DELETE FROM dead;
SET enable_bitmapscan = off;
SELECT count(*) FROM dead WHERE v = 7;
RESET enable_bitmapscan;
SELECT entries, 10 AS truth FROM cf_index_info('dead_v');
DROP TABLE dead;

-- a link to a chain in a higher block than any row
CREATE TABLE links (v int);
CREATE INDEX links_v ON links USING cuckoo (v);
\set ECHO none
SELECT 'INSERT INTO links SELECT ' || v || ' FROM generate_series(1, 1700)', 'DELETE FROM links', 'VACUUM links'
FROM generate_series(1, 40) v \gexec
\set ECHO all
-- and pages with chains that are split
INSERT INTO links SELECT generate_series(1, 40);
INSERT INTO links SELECT generate_series(1000, 9000);
SELECT * FROM compared('links_v');
DROP TABLE links;

-- ---- nulls, temporary and unlogged tables, other commands ----

CREATE TEMP TABLE n (a int, b text);
CREATE INDEX n_ab ON n USING cuckoo (a, b);
INSERT INTO n VALUES (1, NULL), (NULL, 'x'), (NULL, NULL), (1, 'x');
SELECT cf_index_check('n_ab'), 1 AS truth;
SELECT count(*), 2 AS truth FROM n WHERE a = 1;
SELECT count(*), 1 AS truth FROM n WHERE a = 1 AND b = 'x';
SELECT count(*), 1 AS truth FROM n WHERE a = 1 AND b IS NULL;
CREATE UNLOGGED TABLE u AS SELECT i FROM generate_series(1, 3000) i;
CREATE INDEX u_i ON u USING cuckoo (i);
SELECT * FROM compared('u_i');
CREATE INDEX CONCURRENTLY u_later ON u USING cuckoo ((i + 1));
REINDEX INDEX CONCURRENTLY u_i;
SELECT cf_index_check('u_i') AS u_i, cf_index_check('u_later') AS u_later, 3000 AS truth;
VACUUM FULL u;
ALTER TABLE u ALTER i TYPE bigint;
SELECT * FROM compared('u_i');
ALTER TABLE u SET LOGGED;
SELECT cf_index_check('u_i') AS u_i, cf_index_check('u_later') AS u_later, 3000 AS truth;
CREATE TABLE parts (p int, v int) PARTITION BY LIST (p);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
CREATE INDEX parts_v ON parts USING cuckoo (v);
INSERT INTO parts SELECT 1 + i % 2, i FROM generate_series(1, 1000) i;
SELECT count(*), 1 AS truth FROM parts WHERE v = 7;
DROP TABLE n, u;

-- ---- memory ----

-- a build and a check of many rows, whose ranges the hash function unpacks
CREATE TABLE ranges AS SELECT i, int8range(i, i + 1) AS r FROM generate_series(1, 5000) i;
CREATE FUNCTION memory_at(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF i = 5000 THEN
		RAISE NOTICE 'little memory: %', (SELECT sum(total_bytes) < 20000
			FROM pg_backend_memory_contexts WHERE name IN ('cuckoo build', 'cuckoo check'));
	END IF;
	RETURN i;
END $$;
CREATE INDEX ranges_r ON ranges USING cuckoo (r, memory_at(i));
SELECT cf_index_check('ranges_r');
DROP TABLE ranges;
DROP FUNCTION memory_at;

-- ---- a row that changes its place, and a rolled back one ----

CREATE TABLE moved (k int, n int) WITH (fillfactor = 20);
CREATE INDEX moved_k ON moved USING cuckoo (k);
INSERT INTO moved SELECT i, 0 FROM generate_series(1, 500) i;
BEGIN;
INSERT INTO moved SELECT i, 1 FROM generate_series(1, 500) i;
ROLLBACK;
UPDATE moved SET n = n + 1;
UPDATE moved SET k = k + 500;
SELECT * FROM compared('moved_k', 'SELECT generate_series(1, 500)');
VACUUM moved;
SELECT cf_index_check('moved_k'), 500 AS truth;
DROP TABLE moved;

-- ---- what is refused ----

CREATE TABLE r (i int, j json, x xml);
CREATE INDEX ON r USING cuckoo (j);
CREATE INDEX ON r USING cuckoo (i) INCLUDE (j);
CREATE INDEX r_i ON r USING cuckoo (i);
CLUSTER r USING r_i;
CREATE INDEX r_tree ON r (i);
\set VERBOSITY default
SELECT cf_index_info('r_tree');
SELECT cf_index_check('r');
SELECT cf_index_info('parts_v');
SELECT cf_index_info(1::regclass);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'r_i'::regclass;
SELECT cf_index_info('r_i');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'r_i'::regclass;
-- what cf_index_check finds, if the table changes and the index does not; with this class, 1 and 9 have one page
CREATE FUNCTION chosen_hash(int, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN $1::bigint # $2;
CREATE OPERATOR CLASS chosen_ops FOR TYPE int USING cuckoo AS OPERATOR 1 =, FUNCTION 1 chosen_hash(int, bigint);
CREATE TABLE twice (k int PRIMARY KEY);
CREATE INDEX twice_k ON twice USING cuckoo (k chosen_ops);
INSERT INTO twice VALUES (1), (2);
CREATE PROCEDURE ready(ready boolean) LANGUAGE sql AS
	'UPDATE pg_index SET indisready = ready WHERE indexrelid = ''twice_k''::regclass';
-- a row without an entry
CALL ready(false);
INSERT INTO twice VALUES (3);
CALL ready(true);
SELECT cf_index_check('twice_k');
-- an entry whose row is gone
CALL ready(false);
DELETE FROM twice WHERE k <> 2;
VACUUM twice;
CALL ready(true);
SELECT cf_index_check('twice_k');
-- with another row in its place
CALL ready(false);
INSERT INTO twice VALUES (9) RETURNING ctid;
CALL ready(true);
SELECT cf_index_check('twice_k');
-- that has an entry, too
CALL ready(false);
DELETE FROM twice WHERE k <> 2;
VACUUM twice;
CALL ready(true);
INSERT INTO twice VALUES (9) RETURNING ctid;
SELECT cf_index_check('twice_k');
DROP PROCEDURE ready;
DROP TABLE twice;
DROP OPERATOR FAMILY chosen_ops USING cuckoo;
DROP FUNCTION chosen_hash;
CREATE ROLE regress_reader;
GRANT SELECT (i) ON r TO regress_reader;
SET ROLE regress_reader;
SELECT cf_index_info('r_i');
SELECT cf_index_check('r_i');
RESET ROLE;
GRANT SELECT ON r TO regress_reader;
SET ROLE regress_reader;
SELECT entries FROM cf_index_info('r_i');
SELECT cf_index_check('r_i');
RESET ROLE;
-- the owner's expression runs as the owner
CREATE ROLE regress_owner;
CREATE FUNCTION who(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN RAISE NOTICE ''as %'', current_user; RETURN $1; END';
ALTER TABLE r OWNER TO regress_owner;
INSERT INTO r VALUES (1);
CREATE INDEX r_who ON r USING cuckoo (who(i));
SELECT cf_index_check('r_who');
-- so do a constant in it, which a new session computes first, a predicate, and a support function; from PostgreSQL 17
-- on with a restricted search path; and they leave nothing behind in the session
CREATE FUNCTION leave() RETURNS void LANGUAGE plpgsql AS 'BEGIN CREATE TEMP TABLE left_behind (i int); END';
CREATE FUNCTION owned(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'regress_owner' OR (current_setting('search_path') <> 'pg_catalog, pg_temp'
			AND current_setting('server_version_num')::int >= 170000) THEN
		RAISE 'as % with search path %', current_user, current_setting('search_path');
	END IF;
	PERFORM public.leave() WHERE current_setting('regress.leave', true) = 'on';
	RETURN i;
END $$;
CREATE FUNCTION owned_hash(i int, seed bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN RETURN public.owned(i) # seed; END';
CREATE OPERATOR CLASS owned_ops FOR TYPE int USING cuckoo AS OPERATOR 1 =, FUNCTION 1 owned_hash(int, bigint);
CREATE INDEX r_owned ON r USING cuckoo ((i + owned(1)) owned_ops) WHERE i >= owned(1);
\c -
SELECT cf_index_check('r_owned'), current_user = session_user AS same_user, current_setting('search_path') AS path;
SET regress.leave = on;
\set VERBOSITY terse
SELECT cf_index_check('r_owned');
CREATE TEMP TABLE left_behind (i int);
DROP TABLE r, parts;
DROP OPERATOR FAMILY owned_ops USING cuckoo;
DROP FUNCTION who, owned, owned_hash, leave;
DROP ROLE regress_reader, regress_owner;
