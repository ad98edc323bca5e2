-- The access method: an index that finds rows.  index_filter.sql has that with
-- locate = off.  compared() looks up all values by bitmap scans (helpers.sql).

-- ---- growth ----

-- a table that is empty at first: an index has one block then
CREATE TABLE visits (id bigint, url text);
CREATE INDEX visits_id ON visits USING cuckoo (id) WITH (seed = 1);
CREATE INDEX visits_url ON visits USING cuckoo (url) WITH (seed = 1, capacity = 1000);
SELECT blocks_of('visits_id'), 1 AS truth;
SELECT * FROM compared('visits_id', 'SELECT generate_series(1, 100)');
SELECT items, pages, growth_level, saturated, load_factor FROM cf_index_info('visits_id');
-- rows in the first pages
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(1, 2000) i;
SELECT * FROM compared('visits_id', 'SELECT generate_series(-100, 0)');
SELECT * FROM compared('visits_url', 'SELECT ''v'' || generate_series(1, 100)');
SELECT items, locates, fpp, growth_level, saturated, element_family, stale FROM cf_index_info('visits_id');
-- values of pages that do not exist yet, after one that is found
CREATE TABLE first (i int);
CREATE INDEX first_i ON first USING cuckoo (i) WITH (seed = 1);
INSERT INTO first VALUES (1);
SELECT cf_index_contains_each('first_i', '{1,2,3,4,5}'::int[]) AS each, '{t,f,f,f,f}' AS truth;
SELECT cf_index_contains_any('first_i', '{5,1}'::int[]) AS "any", true AS truth;
DROP TABLE first;
-- without a capacity it has room for 250,000 rows in its first pages; otherwise pages are split
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(2001, 20000) i;
SELECT * FROM compared('visits_id', 'SELECT generate_series(-1000, 0)');
SELECT * FROM compared('visits_url', 'SELECT ''v'' || generate_series(1, 1000)');
SELECT items, pages, growth_level FROM cf_index_info('visits_id');
SELECT items, within(pages, 9) AS pages, within(growth_level, 4, 24) AS growth_level FROM cf_index_info('visits_url');
SELECT bytes - pg_relation_size('visits_url') AS beside_pages, 0 AS truth FROM cf_index_info('visits_url');
SELECT index, cf_index_check(index, true), 20000 AS truth FROM unnest('{visits_id,visits_url}'::regclass[]) index;
-- false blocks: few as built, four times as many after each doubling
SELECT within(false_blocks, 0, 1e-5) AS now, within(false_blocks_built, 0, 1e-5) AS built,
	within(fpp_now, 0, 1e-5) AS fpp_now FROM cf_index_info('visits_id');
SELECT within(false_blocks, 0, 0.05) AS now, within(false_blocks_built, 0, 1e-5) AS built,
	within(growth_bits, 4, 24) AS growth_bits FROM cf_index_info('visits_url');
-- a value of a block is one entry
INSERT INTO visits SELECT 70000, 'same' FROM generate_series(1, 500);
SELECT within(items, 20001, 20009) AS items FROM cf_index_info('visits_id');
-- rows that are updated, also in place, deleted, and inserted where deleted rows were
UPDATE visits SET id = -id WHERE id <= 1000;
UPDATE visits SET url = 'w' || id WHERE id BETWEEN 1001 AND 2000;
ALTER TABLE visits ADD n int;
UPDATE visits SET n = 1 WHERE id % 7 = 0;
DELETE FROM visits WHERE id % 3 > 0;
VACUUM visits;
INSERT INTO visits SELECT i, 'x' || i FROM generate_series(100001, 105000) i;
SELECT * FROM compared('visits_id', 'SELECT generate_series(1, 2000)');
SELECT * FROM compared('visits_url', 'SELECT ''u'' || generate_series(1, 2000)');
-- what was rolled back is not found
BEGIN;
INSERT INTO visits SELECT i, 'y' || i FROM generate_series(200001, 200100) i;
SAVEPOINT before;
INSERT INTO visits SELECT i, 'y' || i FROM generate_series(200101, 200200) i;
ROLLBACK TO before;
SELECT count(*), min(id), max(id) FROM visits WHERE id = ANY (ARRAY(SELECT generate_series(200001, 200200)));
ROLLBACK;
SELECT count(*), 0 AS truth FROM visits WHERE id = ANY (ARRAY(SELECT generate_series(200001, 200200)));
-- REINDEX drops the entries of deleted rows
SELECT within(items, 25001) AS items FROM cf_index_info('visits_url');
REINDEX INDEX visits_url;
SELECT within(items, 1, 12333) AS items, growth_level FROM cf_index_info('visits_url');
SELECT * FROM compared('visits_url', 'SELECT ''u'' || generate_series(1, 2000)');
REINDEX INDEX CONCURRENTLY visits_id;
SELECT * FROM compared('visits_id', 'SELECT generate_series(1, 2000)');

-- a table that shrinks, and grows again over entries of rows that are gone
DELETE FROM visits WHERE ctid >= '(30,0)';
SELECT 'VACUUM visits' FROM generate_series(1, 3) \gexec
SELECT blocks_of('visits'), 30 AS truth;
SELECT heap_blocks('SELECT FROM visits WHERE id = 19998') AS beyond_the_end, 0 AS truth;
SELECT * FROM compared('visits_id', 'SELECT generate_series(10000, 22000)');
INSERT INTO visits SELECT i, 'z' || i FROM generate_series(300001, 315000) i;
SELECT heap_blocks('SELECT FROM visits WHERE id = 19998') AS of_stale_entry, 1 AS truth;
SELECT count(*), 0 AS truth FROM visits WHERE id = 19998;
SELECT * FROM compared('visits_id', 'SELECT generate_series(10000, 22000)');
SELECT cf_index_check('visits_id', true), count(*) AS truth FROM visits;
-- emptied, and filled again
TRUNCATE visits;
SELECT blocks_of('visits_id'), 1 AS truth;
SELECT * FROM compared('visits_id', 'SELECT generate_series(1, 100)');
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(1, 3000) i;
SELECT * FROM compared('visits_id', 'SELECT generate_series(-100, 0)');
SELECT * FROM compared('visits_url');
-- pages are allocated in extents, and the last one of a generation ends with it
CREATE TABLE extents (i int);
CREATE INDEX extents_i ON extents USING cuckoo (i) WITH (seed = 1, capacity = 102000);
INSERT INTO extents SELECT generate_series(1, 3000);
SELECT blocks_of('extents_i'), pages + 1 AS truth, pages, growth_level FROM cf_index_info('extents_i');
DROP TABLE extents;
-- VACUUM says when a lookup reads more than one block in vain: here in an index that was made for few rows
CREATE TABLE outgrown (id int, filler text);
CREATE INDEX outgrown_id ON outgrown USING cuckoo (id) WITH (seed = 1, capacity = 1, growth_bits = 0, fpp = 0.5);
CREATE INDEX outgrown_filter ON outgrown USING cuckoo (id)
	WITH (locate = off, capacity = 1, growth_bits = 0, fpp = 0.5);
INSERT INTO outgrown SELECT i, repeat('f', 100) FROM generate_series(1, 90000) i;
SET client_min_messages = log;
ANALYZE outgrown;
VACUUM outgrown;
REINDEX INDEX outgrown_id;
VACUUM outgrown;
RESET client_min_messages;
DROP TABLE outgrown;

-- ---- plans ----

CREATE TABLE seen AS SELECT i AS id, 'u' || i AS url, i % 3 AS kind, i % 500 AS a FROM generate_series(1, 10000) i;
CREATE INDEX seen_id ON seen USING cuckoo (id) WITH (seed = 1);
CREATE INDEX seen_url ON seen USING cuckoo (url) WHERE kind = 1;
CREATE INDEX seen_upper ON seen USING cuckoo (upper(url));
CREATE INDEX seen_a ON seen USING cuckoo (a);
ANALYZE seen;
SELECT index, c.* FROM unnest('{seen_id,seen_url,seen_a}'::text[]) index, compared(index::regclass) c;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7;
EXPLAIN (COSTS OFF) UPDATE seen SET kind = 5 WHERE url = 'u7' AND kind = 1;
-- conditions: the indexes that they use, their rows, and how many rows differ from those of a sequential scan
CREATE FUNCTION used(condition text, OUT indexes text, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT ctid FROM seen WHERE ' || condition;
	by_index tid[];
	by_scan tid[];
BEGIN
	indexes := indexes_of(query);
	EXECUTE format('SELECT array_agg(ctid ORDER BY ctid) FROM (%s) q', query) INTO by_index;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('SELECT array_agg(ctid ORDER BY ctid) FROM (%s) q', query) INTO by_scan;
	SET LOCAL enable_bitmapscan = on;
	rows := coalesce(cardinality(by_scan), 0);
	wrong := count(*) FROM unnest(by_index, by_scan) found(row, truth) WHERE row IS DISTINCT FROM truth;
END $$;
SELECT condition, u.* FROM unnest(ARRAY[
	'id = 7', '7 = id', 'id = -7', 'id = 7::bigint', 'id = 7::smallint', 'id = 30000000000',
	'id = ANY (''{1,2,-3}'')', 'id = ANY (ARRAY[1, NULL, 10000])', 'id = ANY (''{}'')', 'id IN (5, 6, 5)',
	'id = ANY (ARRAY(SELECT i FROM generate_series(1, 200000, 997) i))', 'id = (SELECT 77)', 'id = (SELECT NULL::int)',
	'id = 7 OR id = 8::bigint', 'id = 7 OR url = ''u8'' AND kind = 1 OR upper(url) = ''U9''', 'id = 7 OR a < 2',
	'id = ANY (''{6,7}'') AND id = ANY (''{7,8}'')', 'id = ANY (''{6,7}'') AND id > 6',
	'url = ''u7''', 'url = ''u7'' AND kind = 1', 'url = ''u7''::name AND kind = 1', 'url = ''u8'' AND kind = 1',
	'url = ''u7''::varchar AND kind = 1', 'upper(url) = ''U7''', 'upper(url) = lower(''U7'')',
	'url = ''U7'' COLLATE "C" AND kind = 1',
	'id > 7', 'id <> 7', 'id IS NULL', 'id = 7 IS NOT FALSE', 'id IS NOT DISTINCT FROM 7',
	'id BETWEEN 7 AND 7']) condition, used(condition) u;
-- joins: nested loops that look up each row
CREATE TABLE wanted AS SELECT i * 37 AS id, 'U' || i * 37 AS url FROM generate_series(1, 10) i;
INSERT INTO wanted VALUES (-1, 'none'), (NULL, NULL);
ANALYZE wanted;
SELECT type, indexes_of(format('SELECT FROM wanted w %s JOIN seen s ON s.id = w.id', type))
FROM unnest('{INNER,LEFT}'::text[]) type;
SELECT count(*), 10 AS truth, sum(s.id), sum(w.id) AS truth FROM wanted w JOIN seen s ON s.id = w.id;
SELECT count(*), 12 AS truth, count(s.id), 10 AS truth FROM wanted w LEFT JOIN seen s ON s.id = w.id;
SELECT count(*), 10 AS truth, sum(w.id), 37 * 55 AS truth
FROM wanted w WHERE EXISTS (SELECT FROM seen s WHERE upper(s.url) = w.url);
SELECT w.id FROM wanted w WHERE NOT EXISTS (SELECT FROM seen s WHERE s.id = w.id) ORDER BY 1;
SELECT w.id, n FROM wanted w, LATERAL (SELECT count(*) AS n FROM seen s WHERE s.a = w.id) s WHERE w.id < 200
	ORDER BY 1;
-- prepared statements, with values that come later
SET plan_cache_mode = force_generic_plan;
PREPARE by_id(int, int) AS SELECT count(*), $2 AS truth FROM seen WHERE id = $1;
SELECT indexes_of('EXECUTE by_id(7, 1)');
EXECUTE by_id(7, 1);
EXECUTE by_id(70000, 0);
EXECUTE by_id(NULL, 0);
INSERT INTO seen VALUES (70000, 'u70000', 0, 0);
EXECUTE by_id(70000, 1);
PREPARE by_ids(int[], int) AS SELECT count(*), $2 AS truth FROM seen WHERE id = ANY ($1);
SELECT indexes_of('EXECUTE by_ids(NULL, 0)');
EXECUTE by_ids('{1,2,-3,NULL,1}', 2);
EXECUTE by_ids('{}', 0);
EXECUTE by_ids(NULL, 0);
PREPARE by_both(int, bigint, int) AS SELECT count(*), $3 AS truth FROM seen WHERE id = $1 AND id = $2;
SELECT indexes_of('EXECUTE by_both(5, 6, 0)');
EXECUTE by_both(5, 6, 0);
EXECUTE by_both(5, 5, 1);
EXECUTE by_both(5, NULL, 0);
EXECUTE by_both(NULL, 5, 0);
RESET plan_cache_mode;
DEALLOCATE ALL;
-- a cursor does not see what its transaction inserts after it was opened, in new blocks either
BEGIN;
DECLARE early CURSOR FOR SELECT id, url FROM seen WHERE id = ANY ('{7,80000}');
INSERT INTO seen SELECT 80000, 'new', 0, 0 FROM generate_series(1, 1000);
FETCH ALL FROM early;
SELECT count(*), 1001 AS truth FROM seen WHERE id = ANY ('{7,80000}');
ROLLBACK;
-- rows are locked, updated and deleted where the scan finds them
SELECT id FROM seen WHERE id = 7 FOR UPDATE;
UPDATE seen SET id = id + 100000 WHERE id = 9;
SELECT count(*), 0 AS truth FROM seen WHERE id = 9;
DELETE FROM seen WHERE id = 100009 RETURNING url;
INSERT INTO seen SELECT 9, 'u9', 0, 9 WHERE NOT EXISTS (SELECT FROM seen WHERE id = 9);
INSERT INTO seen SELECT 9, 'u9', 0, 9 WHERE NOT EXISTS (SELECT FROM seen WHERE id = 9);
SELECT * FROM compared('seen_id', 'VALUES (70000), (100009)');
-- two indexes: the blocks that both name
CREATE TABLE crossed AS SELECT i AS id, i % 40 AS a, i % 41 AS b, repeat('f', 900) AS filler
	FROM generate_series(1, 4000) i;
CREATE INDEX crossed_a ON crossed USING cuckoo (a);
CREATE INDEX crossed_b ON crossed USING cuckoo (b);
ANALYZE crossed;
EXPLAIN (COSTS OFF) SELECT * FROM crossed WHERE a = 3 AND b = 4;
SELECT within(heap_blocks('SELECT FROM crossed WHERE a = 3 AND b = 4'), 2, 29) AS blocks;
SELECT id FROM crossed WHERE a = 3 AND b = 4 ORDER BY 1;
SELECT heap_blocks('SELECT FROM crossed WHERE a = (SELECT NULL::int)') AS of_null, 0 AS truth;
SELECT count(*), 4 AS truth FROM crossed WHERE a = 3 AND (b = 4 OR b = 5 AND a > 2);
-- workers share the blocks of a bitmap
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SELECT node ->> 'Node Type' AS node, node -> 'Parallel Aware' AS parallel, node ->> 'Index Name' AS index
FROM jsonb_path_query(plan_of('SELECT count(*), sum(id) FROM crossed
	WHERE a = ANY (ARRAY(SELECT generate_series(1, 30)))')::jsonb, 'strict $.** ? (exists (@."Node Type"))') node
WHERE node ->> 'Node Type' ~ 'Gather|Bitmap';
SELECT count(*), sum(id) FROM crossed WHERE a = ANY (ARRAY(SELECT generate_series(1, 30)));
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET enable_seqscan;
SELECT count(*), sum(id) FROM crossed WHERE a BETWEEN 1 AND 30;

-- costs: an exact index beside it wins
CREATE VIEW preferred AS SELECT query, indexes_of(query) FROM unnest(ARRAY['SELECT FROM seen WHERE id = 7',
	'SELECT FROM seen WHERE id = ANY (''{1,2,3,4,5}'')', 'SELECT FROM wanted w JOIN seen s ON s.id = w.id']) query;
CREATE INDEX seen_btree ON seen (id);
TABLE preferred;
DROP INDEX seen_btree;
CREATE INDEX seen_hash ON seen USING hash (id);
TABLE preferred;
DROP INDEX seen_hash;
DROP VIEW preferred;
-- and a sequential scan for many rows
SELECT rows, indexes_of('SELECT FROM seen ' || query) FROM (VALUES
	('few', 'WHERE a = 3'),
	('of an unknown array', 'WHERE id = ANY (ARRAY(SELECT generate_series(1, 5000)))'),
	('of 5000 values', format('WHERE id = ANY (%L)', ARRAY(SELECT generate_series(1, 5000)))),
	('of a large join', 'JOIN seen b USING (id)')) v(rows, query);
-- two arrays are lookups of each pair; a join finds pages in memory; a partial index has a part of the rows, at 2.5
-- times the cost of a lookup, which depends on the version
CREATE FUNCTION index_node(query text) RETURNS jsonb LANGUAGE sql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
	SELECT jsonb_path_query(plan_of(query)::jsonb, 'strict $.** ? (exists (@."Index Name"))')
$$;
CREATE INDEX seen_part ON seen USING cuckoo (a) WHERE kind = 1;
SELECT condition, node ->> 'Index Name' AS index, node -> 'Plan Rows' AS rows,
	2 * round((node ->> 'Total Cost')::numeric / (one ->> 'Total Cost')::numeric / 2) AS cost
FROM index_node('SELECT FROM seen WHERE id = 7') one,
	unnest(ARRAY['id = ANY (''{1,2,3,4}'')', 'id = ANY (''{1,2,3,4}'') AND id = ANY (''{4,5,6,7,8}'')',
	'a = 3 AND kind = 1']) condition,
	index_node('SELECT FROM seen WHERE ' || condition) node;
SELECT within((joined ->> 'Total Cost')::float8 / (one ->> 'Total Cost')::float8, 0, 0.99) AS share_in_a_join
FROM index_node('SELECT FROM seen WHERE id = 7') one,
	index_node('SELECT FROM seen a JOIN seen b ON a.id = b.id + 1') joined;
DROP INDEX seen_part;
DROP FUNCTION index_node;
CREATE TABLE small AS SELECT i FROM generate_series(1, 100) i;
CREATE INDEX small_i ON small USING cuckoo (i);
ANALYZE small;
SELECT indexes_of('SELECT FROM small WHERE i = 7') AS of_small_table;
SELECT * FROM compared('small_i');
-- it cannot give an order, nor all rows, nor rows without the table
SET enable_seqscan = off;
SELECT query, indexes_of(query) FROM unnest(ARRAY['SELECT id FROM seen ORDER BY id LIMIT 1', 'SELECT id FROM seen',
	'SELECT FROM seen WHERE kind = 1']) query;
SELECT plan_of('SELECT id FROM seen WHERE id = 7') ->> 'Node Type' AS of_one_column;
RESET enable_seqscan;

-- WITH (locate = off) is for functions: no plan has it
CREATE TABLE kept AS SELECT i AS id FROM generate_series(1, 3000) i;
CREATE INDEX kept_id ON kept USING cuckoo (id) WITH (locate = off);
ANALYZE kept;
-- 18 and later let no plan avoid an index if all else is disabled
CREATE FUNCTION used_for_kept() RETURNS text LANGUAGE plpgsql SET seq_page_cost = 1e10 AS $$
BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		SET LOCAL enable_seqscan = off;
	END IF;
	RETURN min(indexes_of(query)) FROM unnest(ARRAY['SELECT FROM kept WHERE id = 7',
		'SELECT FROM kept WHERE id = ANY (''{1,2}'')', 'SELECT FROM kept WHERE id = 1 OR id = 2::bigint',
		'SELECT FROM wanted JOIN kept USING (id)']) query;
END $$;
SELECT locates, used_for_kept() FROM cf_index_info('kept_id');
-- the option counts when the index is built
ALTER INDEX kept_id SET (locate = on);
SELECT locates, used_for_kept() FROM cf_index_info('kept_id');
INSERT INTO kept SELECT i FROM generate_series(3001, 4000) i;
REINDEX INDEX kept_id;
SELECT locates, used_for_kept() FROM cf_index_info('kept_id');
ALTER INDEX kept_id SET (locate = off);
SELECT locates, used_for_kept() FROM cf_index_info('kept_id');
INSERT INTO kept SELECT i FROM generate_series(4001, 5000) i;
SELECT * FROM compared('kept_id', 'SELECT generate_series(5001, 6000)');
SELECT cf_index_check('kept_id', true), 5000 AS truth;
SELECT cf_index_contains('kept_id', 5000), true AS truth;
SELECT cf_index_filter('kept_id');
REINDEX INDEX CONCURRENTLY kept_id;
SELECT locates, used_for_kept() FROM cf_index_info('kept_id');
SELECT cf_index_check('kept_id', true), 5000 AS truth;
SELECT cf_count(cf_index_filter('kept_id')), 5000 AS truth;
DROP FUNCTION used_for_kept();

-- ---- values in many rows ----

-- half of the rows have one of four values, each in 1,250 blocks
CREATE FUNCTION rows_of(n int) RETURNS TABLE (v int, filler text) LANGUAGE sql AS $$
	SELECT CASE WHEN i % 2 = 0 THEN i % 8 ELSE i END, repeat('f', 900) FROM generate_series(1, n) i
$$;
CREATE TABLE halves (v int, filler text);
INSERT INTO halves SELECT * FROM rows_of(10000);
CREATE INDEX halves_built ON halves USING cuckoo (v) WITH (seed = 1, capacity = 5000);
SELECT items, pages, saturated FROM cf_index_info('halves_built');
SELECT * FROM compared('halves_built', 'SELECT generate_series(2, 4000, 2)');
ANALYZE halves;
SELECT value, indexes_of('SELECT FROM halves WHERE v = ' || v) FROM (VALUES ('frequent', 0), ('other', 7)) w(value, v);
SELECT heap_blocks('SELECT FROM halves WHERE v = 7'), 1 AS truth;
DROP INDEX halves_built;
-- the same values, inserted
CREATE TABLE grown (LIKE halves);
CREATE INDEX grown_v ON grown USING cuckoo (v) WITH (seed = 1, capacity = 5000);
INSERT INTO grown SELECT * FROM rows_of(10000);
SELECT items, pages, saturated FROM cf_index_info('grown_v');
SELECT * FROM compared('grown_v', 'SELECT generate_series(2, 4000, 2)');
SELECT v, cf_index_contains('grown_v', v), truth FROM (VALUES (0, true), (9998, false), (9999, true)) w(v, truth);

-- The page and the ext bits of a value, as src/core/locate.h has them: here of
-- an index of one page and a table that was empty.  Values with the same ext
-- bits share a mark.
CREATE FUNCTION mixed(x bigint, shift int, factor numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT (CASE WHEN product >= 2::numeric ^ 63 THEN product - 2::numeric ^ 64 ELSE product END)::bigint
	FROM (SELECT mod((CASE WHEN y < 0 THEN y + 2::numeric ^ 64 ELSE y END) * factor, 2::numeric ^ 64) AS product
		FROM (SELECT (x::bit(64) # (x::bit(64) >> shift))::bigint::numeric AS y) s) s
$$;
CREATE FUNCTION ext_of(value int, bits int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT (mixed(mixed(mixed(cf_hash(value, 1) & -65536, 30, 13787848793156543929), 27, 10723151780598845931), 31, 1)
		& ((1 << bits) - 1))::int
$$;
CREATE TABLE twins AS SELECT row_number() OVER (ORDER BY i) AS n, i AS v FROM generate_series(1, 10000) i
	WHERE ext_of(i, 10) = 5;
-- with 9 bits in common
INSERT INTO twins SELECT 0, min(i) FROM generate_series(1, 10000) i WHERE ext_of(i, 10) = 512 + 5;
CREATE FUNCTION twin(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT v FROM twins WHERE n = $1';
-- of six twins, two have few rows, and the mark comes between these; a lookup before it has all entries of a page
CREATE TABLE marked (v int, filler text);
CREATE INDEX marked_v ON marked USING cuckoo (v) WITH (seed = 1, capacity = 1000, growth_bits = 0, fpp = 0.5);
INSERT INTO marked SELECT twin(5), '' FROM generate_series(1, 5);
INSERT INTO marked SELECT twin(k), repeat('f', 1800) FROM generate_series(1, 940) i, generate_series(1, 4) k
	ORDER BY i, k;
SELECT items FROM cf_index_info('marked_v');
SELECT k, heap_blocks('SELECT FROM marked WHERE v = ' || twin(k)), truth FROM (VALUES (5, 21), (6, 629)) v(k, truth);
INSERT INTO marked SELECT twin(k), repeat('f', 1800) FROM generate_series(1, 60) i, generate_series(1, 4) k
	ORDER BY i, k;
SELECT items, pages FROM cf_index_info('marked_v');
SELECT k, heap_blocks('SELECT FROM marked WHERE v = ' || twin(k)), blocks_of('marked') AS truth
FROM generate_series(5, 6) k;
INSERT INTO marked SELECT twin(6), '' FROM generate_series(1, 5);
SELECT items FROM cf_index_info('marked_v');
SELECT * FROM compared('marked_v', 'SELECT generate_series(1, 3000)');
SELECT k, cf_index_contains('marked_v', twin(k)), truth FROM (VALUES (6, true), (7, true), (0, false)) v(k, truth);
-- the mark goes with its values when the page is split
INSERT INTO marked SELECT i, '' FROM generate_series(10001, 20000) i;
SELECT items - 10000 AS others, within(pages, 3) AS pages FROM cf_index_info('marked_v');
SELECT k, heap_blocks('SELECT FROM marked WHERE v = ' || twin(k)), blocks_of('marked') AS truth
FROM unnest('{5,7}'::int[]) k;
SELECT within(heap_blocks('SELECT FROM marked WHERE v = 15000'), 1, 8) AS of_another;
SELECT * FROM compared('marked_v', 'SELECT generate_series(1, 3000)');
SELECT cf_index_check('marked_v', true), count(*) AS truth FROM marked;
REINDEX INDEX marked_v;
SELECT * FROM compared('marked_v', 'SELECT generate_series(1, 3000)');

-- values with 10 ext bits in common are told apart, even with the most growth bits
CREATE TABLE parted (v int, filler text);
CREATE INDEX parted_v ON parted USING cuckoo (v) WITH (seed = 1, capacity = 1000, growth_bits = 24);
INSERT INTO parted SELECT twin(k), repeat('f', 1500) FROM generate_series(1, 430) i, generate_series(1, 5) k
	ORDER BY i, k;
SELECT items, pages, growth_level FROM cf_index_info('parted_v');
SELECT heap_blocks('SELECT FROM parted WHERE v = ' || twin(6)) AS absent, 0 AS truth;
SELECT * FROM compared('parted_v', 'SELECT v FROM twins');
DROP TABLE parted;

-- a page that is full at the last level, where all entries have the same ext bits, becomes a mark
CREATE TABLE leveled (v int, filler text);
ALTER TABLE leveled ALTER filler SET STORAGE plain;
CREATE INDEX leveled_v ON leveled USING cuckoo (v) WITH (seed = 1, capacity = 1000, growth_bits = 0, fpp = 0.5);
INSERT INTO leveled SELECT twin(k), repeat('f', 1800) FROM generate_series(1, 720) i, generate_series(1, 4) k
	ORDER BY i, k;
SELECT items, growth_level FROM cf_index_info('leveled_v');
INSERT INTO leveled SELECT twin(0), repeat('f', 4500) FROM generate_series(1, 940);
SELECT items, growth_level, pages FROM cf_index_info('leveled_v');
SELECT * FROM compared('leveled_v', 'SELECT v FROM twins');
INSERT INTO leveled SELECT twin(k), repeat('f', 1800) FROM generate_series(1, 300) i, generate_series(1, 4) k
	ORDER BY i, k;
SELECT items, growth_level, pages, saturated FROM cf_index_info('leveled_v');
INSERT INTO leveled SELECT twin(5), '';
SELECT * FROM compared('leveled_v', 'SELECT v FROM twins');
SELECT cf_index_check('leveled_v', true), count(*) AS truth FROM leveled;
-- with one ext bit left, half of a page is no reason for a mark: the page is split
CREATE TABLE halved (v int, filler text);
ALTER TABLE halved ALTER filler SET STORAGE plain;
CREATE INDEX halved_v ON halved USING cuckoo (v) WITH (seed = 1, capacity = 1000, growth_bits = 0, fpp = 0.5);
INSERT INTO halved SELECT twin(k), repeat('f', 1500) FROM generate_series(1, 600) i, generate_series(0, 4) k
	ORDER BY i, k;
INSERT INTO halved SELECT v, repeat('f', 3500) FROM generate_series(1, 400) i, (SELECT min(v) AS v
	FROM generate_series(1, 1000) v WHERE ext_of(v, 10) IN (256 + 5, 768 + 5) GROUP BY ext_of(v, 10)) others ORDER BY i;
SELECT items, growth_level, pages FROM cf_index_info('halved_v');
INSERT INTO halved SELECT twin(k), repeat('f', 1800) FROM generate_series(1, 220) i, generate_series(1, 4) k
	ORDER BY i, k;
SELECT items, growth_level, pages FROM cf_index_info('halved_v');
SELECT heap_blocks('SELECT FROM halved WHERE v = ' || twin(6)) AS absent, blocks_of('halved') AS all_blocks;
SELECT * FROM compared('halved_v', 'SELECT v FROM twins');
DROP FUNCTION rows_of, mixed, ext_of, twin;
DROP TABLE halves, grown, twins, marked, leveled, halved;

-- an index of as many pages as can be listed: a page cannot be split, and five values of one page fill it
CREATE TABLE crowded (v int, filler text);
CREATE INDEX crowded_v ON crowded USING cuckoo (v) WITH (seed = 1, capacity = 1e12);
INSERT INTO crowded SELECT v, repeat('f', 1500)
	FROM generate_series(1, 450) i, unnest('{66539,575550,681561,820487,976513}'::int[]) v ORDER BY i;
SELECT pages, growth_level, saturated FROM cf_index_info('crowded_v');
SELECT * FROM compared('crowded_v', 'SELECT generate_series(1, 100)');
DROP TABLE crowded;

-- each value is in a little less than a quarter of a page: some pages of a build have too many, and are split
CREATE TABLE clustered AS SELECT v FROM generate_series(1, 500) block, generate_series(1, 226) v ORDER BY block, v;
CREATE INDEX clustered_v ON clustered USING cuckoo (v) WITH (seed = 1, capacity = 1);
SELECT within(growth_level, 1, 24) AS growth_level FROM cf_index_info('clustered_v');
SELECT cf_index_check('clustered_v', true), 500 * 226 AS truth;
DROP TABLE clustered;

-- random tables: rows and their length, frequent values, an index that is built before rows come or between, and
-- then changes, vacuums and rebuilds
CREATE TABLE random (v int, filler text);
CREATE INDEX random_v ON random USING cuckoo (v);
CREATE PROCEDURE make_random(n int) LANGUAGE plpgsql AS $$
DECLARE
	seed text := setseed(n / 100.0);
	rows int := 300 + 5000 * random() ^ 2;
	length int := 1500 * random() ^ 2;
	frequent float8 := random() ^ 2;
	kinds int := 1 + 8 * random();
	options text := format('seed = %s, capacity = %s, growth_bits = %s, fpp = %s, fillfactor = %s', n,
		1 + round(9000 * random() ^ 3), -1 + round(4 * random()), 0.49 * random() ^ 4 + 1e-8,
		10 + round(86 * random()));
	fill text := format('INSERT INTO random SELECT CASE WHEN random() < %s THEN -round(%s * random() ^ 2)
		ELSE round(100000 * random()) END, repeat(''f'', %s) FROM generate_series(1, %s)',
		frequent, kinds, length, rows);
	built_at int := 3 * random();
BEGIN
	TRUNCATE random;
	DROP INDEX random_v;
	FOR step IN 0..3 LOOP
		IF step = built_at THEN
			EXECUTE format('CREATE INDEX random_v ON random USING cuckoo (v) WITH (%s)', options);
		END IF;
		EXECUTE fill;
		IF random() < 0.5 THEN
			DELETE FROM random WHERE random() < 0.3;
		END IF;
		IF random() < 0.5 THEN
			UPDATE random SET v = CASE WHEN random() < 0.5 THEN v ELSE v + 1 END WHERE random() < 0.2;
		END IF;
	END LOOP;
END $$;
CREATE TABLE outcomes (n int, lookups bigint, rows bigint, wrong bigint);
SELECT format('CALL make_random(%s)', n), (ARRAY['VACUUM random', 'REINDEX INDEX random_v', NULL])[n % 3 + 1],
	format('INSERT INTO outcomes SELECT %s, * FROM compared(''random_v'', ''SELECT generate_series(1, 1000)'')', n)
FROM generate_series(1, 12) n \gexec
SELECT count(*), 12 AS truth, within(min(rows), 101) AS rows, within(min(lookups), 1001) AS lookups FROM outcomes;
SELECT * FROM outcomes WHERE wrong > 0;
DROP PROCEDURE make_random;
DROP TABLE random, outcomes;

-- ---- options ----

-- CREATE TABLE AS may leave empty blocks at the end
CREATE TABLE sized (i int);
INSERT INTO sized SELECT i FROM generate_series(1, 4000) i;
CREATE FUNCTION sizes(options text) RETURNS TABLE (pages bigint, load float8, built float8, growth int, wrong bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE INDEX sized_i ON sized USING cuckoo (i) WITH (seed = 1, ' || options || ')';
	RETURN QUERY SELECT n.pages, round(load_factor::numeric, 1)::float8,
			round(log(2, false_blocks_built::numeric))::float8, growth_bits, c.wrong
		FROM cf_index_info('sized_i') n, compared('sized_i') c;
	DROP INDEX sized_i;
END $$;
SELECT options, s.* FROM unnest(ARRAY['fillfactor = 92', 'fillfactor = 50', 'capacity = 4000',
	'capacity = 4000, fillfactor = 50', 'capacity = 40000', 'capacity = 4000, fpp = 0.001',
	'capacity = 4000, fpp = 0.5',
	'capacity = 4000, growth_bits = 0', 'capacity = 4000, growth_bits = 3', 'capacity = 4000, growth_bits = 12',
	'capacity = 1, growth_bits = 0, fpp = 0.5']) options, sizes(options) s;
-- values of several rows fill pages unevenly: the build has more pages, and splits none
CREATE TABLE several AS SELECT i % 80000 AS v, repeat('f', 60) AS filler FROM generate_series(1, 400000) i;
CREATE INDEX several_v ON several USING cuckoo (v) WITH (seed = 1);
SELECT growth_level, round(bytes / 400000.0, 1) AS bytes_a_row FROM cf_index_info('several_v');
SELECT cf_index_check('several_v', true), 400000 AS truth;
DROP TABLE several;
DROP FUNCTION sizes;
-- the seed is random without the option, and that of the option
CREATE INDEX sized_1 ON sized USING cuckoo (i) WITH (locate = off);
CREATE INDEX sized_2 ON sized USING cuckoo (i) WITH (locate = off);
CREATE INDEX sized_3 ON sized USING cuckoo (i) WITH (locate = off, seed = -5);
SELECT count(DISTINCT seed), 3 AS truth FROM generate_series(1, 3) i, cf_info(cf_index_filter('sized_' || i));
SELECT seed, -5 AS truth FROM cf_info(cf_index_filter('sized_3'));
-- an index that is built with too little memory for all rows
SET maintenance_work_mem = '1MB';
CREATE TABLE many (id int);
INSERT INTO many SELECT i FROM generate_series(1, 100000) i;
CREATE INDEX many_id ON many USING cuckoo (id) WITH (seed = 1);
CREATE INDEX many_few ON many USING cuckoo ((id % 3)) WITH (seed = 1);
CREATE INDEX many_null ON many USING cuckoo (nullif(id % 4, 0)) WITH (seed = 1) WHERE id > 1000;
CREATE INDEX many_some ON many USING cuckoo (id) WITH (seed = 1) WHERE id % 9 = 0;
RESET maintenance_work_mem;
SELECT index, cf_index_check(index, true), truth, saturated FROM (VALUES ('many_id'::regclass, 100000),
	('many_few', 100000), ('many_null', 99000 * 3 / 4), ('many_some', 100000 / 9)) v(index, truth),
	cf_index_info(index);
-- bits_per_item is the size of the index by the number of its entries
SELECT items, 100000 AS truth, round(bits_per_item) AS bits_per_item, round(8.0 * bytes / items) AS truth
FROM cf_index_info('many_id');
SELECT * FROM compared('many_some', 'SELECT generate_series(-1000, 0)');
SELECT * FROM compared('many_few', 'SELECT generate_series(-5, -1)');
SELECT * FROM compared('many_null', 'SELECT 0');

-- ---- types ----

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TYPE pair AS (a int, b text);
CREATE TABLE kinds AS SELECT i, i::int8 - 5 AS i8, i::int2 AS i2, i % 7 = 0 AS yes,
	(ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood AS m, i::positive AS p,
	CASE i % 3 WHEN 0 THEN ARRAY[i, NULL] WHEN 1 THEN ARRAY[i] ELSE ARRAY[[i], [i]] END AS a,
	ARRAY['x' || i]::varchar[] AS av,
	int4range(i, i + i % 3) AS r, ('x' || i)::char(9) AS c, 'x' || i || ' ' AS t, ('x' || i)::varchar AS v,
	('x' || i)::name COLLATE "C" AS n,
	CASE i % 2 WHEN 0 THEN i / 8.0 ELSE (i / 8.0)::numeric(9, 4) END AS d, (i / 8.0)::float4 AS f4,
	i / 10.0::float8 AS f8,
	'10.0.0.0'::inet + i AS x, ('08002b' || to_char(i, 'FM000000'))::macaddr AS mac, '2020-01-01'::date + i AS day,
	'2020-01-01 UTC'::timestamptz + i * interval '1 s' AS tz, make_interval(days => i, hours => 24 * (i % 2)) AS iv,
	jsonb_build_object('a', i, 'b', i / 2.0) AS j, md5(i::text)::uuid AS u, i::text::bytea AS by,
	ROW(i, 'b' || i)::pair AS pair, format('(%s,%s)', i, i % 9 + 1)::tid AS tid, i::oid AS o
FROM generate_series(1, 300) i;
INSERT INTO kinds (i, d, f4, f8, a, r) VALUES (-1, 'NaN', '-0', 'infinity', '{}', 'empty'),
	(NULL, NULL, '0', '-infinity', '{NULL}', NULL);
CREATE FUNCTION of_kind(col text) RETURNS TABLE (lookups bigint, rows bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX kinds_%s ON kinds USING cuckoo (%1$I)', col);
	RETURN QUERY SELECT * FROM compared(('kinds_' || col)::regclass, CASE col WHEN 'i' THEN 'SELECT NULL::int' END);
END $$;
SELECT attname, format_type(atttypid, atttypmod) AS type, k.* FROM pg_attribute, of_kind(attname) k
WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*), 27 AS truth, sum(cf_index_check(indexrelid, true)), 27 * 300 + 9 AS truth
FROM pg_index WHERE indrelid = 'kinds'::regclass;
-- a value of another type that is compared with the column's, by an index that is named if it is used
CREATE FUNCTION found(condition text, OUT indexes text, OUT rows bigint)
	LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
	indexes := indexes_of('SELECT FROM kinds WHERE ' || condition);
	EXECUTE 'SELECT count(*) FROM kinds WHERE ' || condition INTO rows;
END $$;
SELECT condition, f.* FROM unnest(ARRAY['i = 5::int8', 'i = 5::int2', 'i = 4294967301', 'i8 = 5', 'i8 = (-4)::int2',
	'i2 = 5', 'i2 = 65541',
	'f4 = 0.125::float8', 'f4 = 0.1::float8', 'f8 = 0.5::float4', 'f8 = 0.1::float4', 'f4 = 0', 'f4 = ''-0''',
	'd = ''NaN''', 'd = 0.1250000', 'd = 1::int',
	'm = ''ok''', 'p = 7', 'a = ''{7}''', 'a = ''{{7}}''', 'a = ''{}''', 'r = ''[4,4]''', 'r = ''empty''',
	'r = ''(1,1]''',
	't = ''x5''', 't = ''x5 ''', 't = ''x5 ''::varchar', 'n = ''x5''', 'n = ''x5''::text', 'v = ''x5''', 'v = ''x5 ''',
	'v = ''x5''::name', 't = ''x5 ''::name',
	'c = ''x5''', 'c = ''x5    ''', 'c = ''x5''::char(30)', 'c = ''x5 ''::varchar', 'c = ''x5 ''::text',
	'iv = ''48:00''', 'iv = ''1 day''', 'x = ''10.0.0.5/32''',
	'j = ''{"b": 2.50, "a": 5}''', 'j = ''{"a": 5}''', 'tid = ''(5,6)''', 'o = 5', 'o = ''5''::regclass',
	'tz = ''2020-01-01 01:00:05+01''', 'pair = ROW(7, ''b7''::text)::pair', 'pair = ROW(7, ''b8'')::pair']) condition,
	found(condition) f;
-- renaming a label changes no hash
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT * FROM found('m = ''fine''');
-- long values, stored out of line and compressed
CREATE TABLE documents (doc text);
ALTER TABLE documents ALTER doc SET STORAGE external;
INSERT INTO documents SELECT string_agg(md5((i * k)::text), '') FROM generate_series(1, 50) i,
	generate_series(1, 200) k GROUP BY i;
ALTER TABLE documents ALTER doc SET STORAGE extended;
INSERT INTO documents SELECT repeat(i || ' is long', 1000) FROM generate_series(1, 50) i;
CREATE INDEX documents_doc ON documents USING cuckoo (doc);
SELECT * FROM compared('documents_doc', 'SELECT repeat(i || '' is long'', 999) FROM generate_series(1, 50) i');
DROP TABLE documents;
-- memory of one row is free again: hashing a range leaves a copy of it
CREATE TYPE holder AS (r int4range);
CREATE TABLE ranges (i int, r int4range, held holder);
CREATE FUNCTION measured(i int, r int4range) RETURNS int4range IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF i % 1000 = 0 THEN
		RAISE NOTICE '% times 10 kB', (SELECT (sum(used_bytes) / 10000)::int FROM pg_backend_memory_contexts
			WHERE name IN ('cuckoo build', 'cuckoo insert', 'cuckoo check'));
	END IF;
	RETURN r;
END $$;
INSERT INTO ranges SELECT i, int4range(i, i + 5), ROW(int4range(i, i + 5))::holder FROM generate_series(1, 3000) i;
CREATE INDEX ranges_r ON ranges USING cuckoo (measured(i, r));
SELECT cf_index_check('ranges_r', true);
INSERT INTO ranges SELECT i, int4range(i, i + 5), ROW(int4range(i, i + 5))::holder FROM generate_series(3001, 6000) i;
CREATE INDEX ranges_held ON ranges USING cuckoo (held);
SET enable_seqscan = off;
SELECT count(*), 6000 AS truth,
	max(CASE WHEN i % 1000 = 0 THEN contexts('cuckoo scan key', 'sum(used_bytes)') / 10000 END) AS times_10_kb
FROM ranges a, LATERAL (SELECT FROM ranges b WHERE b.held = a.held OFFSET 0) s;
RESET enable_seqscan;
DROP TABLE ranges;
DROP TYPE holder;
DROP FUNCTION measured;
-- int4 as oid
CREATE INDEX kinds_as_oid ON kinds USING cuckoo (i oid_ops);
UPDATE kinds SET i = -i WHERE i % 2 = 0;
SELECT condition, f.* FROM unnest('{i::oid = 7,i::oid = (-8)::oid,i::oid = 8}'::text[]) condition, found(condition) f;
-- trailing blanks: an expression has the equality of char(n), and a text does not
CREATE INDEX ON kinds USING cuckoo (t bpchar_ops);
CREATE INDEX kinds_blanks ON kinds USING cuckoo ((t::bpchar));
SELECT * FROM compared('kinds_blanks');
SELECT condition, f.* FROM unnest(ARRAY['t::bpchar = ''x5''', 't::bpchar = ANY (''{x5,"x6   "}'')']) condition,
	found(condition) f;
-- nondeterministic collations, where ICU exists: the claims that fail
CREATE FUNCTION wrong_by_collation() RETURNS TABLE (claim text, value text, truth text) LANGUAGE plpgsql AS $$
BEGIN
	IF getdatabaseencoding() = 'SQL_ASCII' OR NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
		RETURN;
	END IF;
	CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE collated (w text COLLATE any_case, c char(9) COLLATE any_case);
	INSERT INTO collated SELECT w, w FROM kinds, unnest(ARRAY[v::text, upper(v)]) w;
	CREATE INDEX collated_w ON collated USING cuckoo (w);
	CREATE INDEX collated_c ON collated USING cuckoo (c);
	CREATE INDEX collated_exact ON collated USING cuckoo (w COLLATE "C");
	RETURN QUERY SELECT v.* FROM (VALUES
		('w', (SELECT count(*) FROM collated WHERE w = 'X7')::text, '2'),
		('index of w', indexes_of('SELECT FROM collated WHERE w = ''X7'''), 'collated_w'),
		('w in C', (SELECT count(*) FROM collated WHERE w = 'X7' COLLATE "C")::text, '1'),
		('c', (SELECT count(*) FROM collated WHERE c = 'X7 ')::text, '2'),
		('contains w', cf_index_contains('collated_w', 'X7' COLLATE any_case)::text, 'true'),
		('contains c', cf_index_contains('collated_c', 'X7 ' COLLATE any_case)::text, 'true'),
		('wrong of w', (SELECT wrong FROM compared('collated_w', 'SELECT ''y'''))::text, '0'),
		('wrong of c', (SELECT wrong FROM compared('collated_c', 'SELECT ''y'''))::text, '0')) v(claim, value, truth)
	WHERE v.value IS DISTINCT FROM v.truth;
END $$;
SET enable_seqscan = off;
SELECT * FROM wrong_by_collation();
RESET enable_seqscan;
DROP FUNCTION wrong_by_collation;
SET client_min_messages = warning;
DROP TABLE IF EXISTS collated;
DROP COLLATION IF EXISTS any_case;
RESET client_min_messages;
-- a row of another type may be equal, and has another hash: all blocks are read
CREATE TYPE other_pair AS (a int, b text);
CREATE TABLE pairs (p pair, filler text);
INSERT INTO pairs SELECT ROW(i, 'b' || i)::pair, repeat('f', 900) FROM generate_series(1, 400) i;
CREATE INDEX pairs_p ON pairs USING cuckoo (p);
CREATE FUNCTION of_pairs(condition text, OUT indexes text, OUT rows bigint, OUT share text)
	LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	query text := 'SELECT FROM pairs WHERE ' || condition;
BEGIN
	indexes := indexes_of(query);
	EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO rows;
	share := CASE heap_blocks(query) WHEN 0 THEN 'none' WHEN blocks_of('pairs') THEN 'all' ELSE 'some' END;
END $$;
SELECT condition, f.* FROM unnest(ARRAY['p = ROW(7, ''b7''::text)::pair', 'p = ROW(7, ''b7''::text)',
	'p = ROW(7, ''b7''::text)::other_pair', 'p = ROW(7, ''b8''::text)',
	'p = ANY (ARRAY[ROW(7, ''b7''::text), ROW(8, ''b8''::text)])',
	'p = ANY (ARRAY[ROW(7, ''b7''::text), ROW(8, ''b8''::text)]::pair[])',
	'p = (SELECT ROW(9, ''b9''::text))']) condition,
	of_pairs(condition) f;
-- a row type that changes makes the index stale: plans stay right, functions raise an error
ALTER TYPE pair ADD ATTRIBUTE c int;
SELECT stale FROM cf_index_info('pairs_p');
EXPLAIN (COSTS off) SELECT FROM pairs WHERE p = ROW(7, 'b7', NULL)::pair;
ANALYZE pairs;
SET enable_seqscan = off;
SELECT node ->> 'Plan Rows' AS estimate, 400 AS all_rows FROM jsonb_path_query(
	plan_of('SELECT FROM pairs WHERE p = ROW(7, ''b7'', NULL)::pair')::jsonb,
	'strict $.** ? (exists (@."Index Name"))') node;
RESET enable_seqscan;
SELECT * FROM of_pairs('p = ROW(7, ''b7'', NULL)::pair');
SELECT * FROM compared('pairs_p', 'SELECT ROW(-1, ''b1'', NULL)::pair');
SELECT cf_index_contains('pairs_p', ROW(7, 'b7', NULL)::pair);
SELECT cf_index_check('pairs_p');
INSERT INTO pairs VALUES (ROW(1000, 'new', 5)::pair);
ALTER TYPE pair DROP ATTRIBUTE c;
SELECT stale FROM cf_index_info('pairs_p');
SELECT * FROM compared('pairs_p');
REINDEX INDEX pairs_p;
SELECT stale FROM cf_index_info('pairs_p');
SELECT * FROM of_pairs('p = ROW(1000, ''new'')::pair');
SELECT * FROM compared('pairs_p');
DROP FUNCTION of_kind, found, of_pairs;
DROP TABLE kinds, pairs;
DROP TYPE mood, pair, other_pair;
DROP DOMAIN positive;
-- citext, as doc/index.md tells: an index by the default class is one of text
CREATE EXTENSION citext;
CREATE TABLE people (name citext);
INSERT INTO people SELECT 'Name ' || i FROM generate_series(1, 3000) i;
CREATE INDEX people_text ON people USING cuckoo (name);
ANALYZE people;
SELECT condition, indexes_of('SELECT FROM people WHERE ' || condition)
FROM unnest(ARRAY['name = ''NAME 7''', 'name = ''Name 7''::text']) condition;
SELECT count(*), 1 AS truth FROM people WHERE name = 'Name 7'::text;
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING cuckoo AS OPERATOR 1 =;
CREATE INDEX people_name ON people USING cuckoo (name) WITH (seed = 1);
SELECT indexes_of('SELECT FROM people WHERE name = ''NAME 7''') AS of_citext;
SELECT count(*), 1 AS truth FROM people WHERE name = 'NAME 7';
SELECT * FROM compared('people_name', 'SELECT (''nAME '' || generate_series(1, 4000))::citext');
SELECT name, cf_index_contains('people_name', name::citext), truth
FROM (VALUES ('NAME 7', true), ('NAME 0', false)) v(name, truth);
DROP TABLE people;
DROP OPERATOR FAMILY citext_ops USING cuckoo;
DROP EXTENSION citext;
-- operator classes are those of equality: none is invalid
SELECT within(count(*), 31) AS classes, string_agg(opcname, ', ') FILTER (WHERE NOT amvalidate(oid)) AS invalid
FROM pg_opclass WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');
CREATE OPERATOR CLASS less_ops FOR TYPE int4 USING cuckoo AS OPERATOR 1 <;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'less_ops';
DROP OPERATOR FAMILY less_ops USING cuckoo;
CREATE OPERATOR CLASS no_ops FOR TYPE int4 USING cuckoo AS STORAGE int4;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'no_ops';
DROP OPERATOR FAMILY no_ops USING cuckoo;

-- ---- functions ----

-- values of the type of the column, of another integer type, of an expression; in a partial index
SELECT element, contains, truth FROM (VALUES
	('7', cf_index_contains('seen_id', 7), true),
	('7::int2', cf_index_contains('seen_id', 7::int2), true),
	('-7', cf_index_contains('seen_id', -7), false),
	('null', cf_index_contains('seen_id', NULL::int), NULL),
	('U7', cf_index_contains('seen_upper', 'U7'), true),
	('u7::name', cf_index_contains('seen_upper', 'u7'::name), false),
	('u7', cf_index_contains('seen_url', 'u7'), true),
	('u8', cf_index_contains('seen_url', 'u8'), false)) v(element, contains, truth);
-- arrays
SELECT elements, cf_index_contains_each('seen_id', elements::int[]) AS each, truth
FROM (VALUES ('{{1,NULL},{2,-5}}', '{{t,NULL},{t,f}}'), ('{}', '{}'), (NULL, NULL)) v(elements, truth);
SELECT elements, cf_index_contains_any('seen_id', elements::bigint[]) AS "any", truth
FROM (VALUES ('{-5,7}', true), ('{-5,NULL}', false), ('{}', false), (NULL, NULL)) v(elements, truth);
-- each is like one by one
SELECT count(*) FILTER (WHERE each = contains) AS same, count(*) AS truth FROM unnest(
	cf_index_contains_each('seen_id', (SELECT array_agg(i) FROM generate_series(1, 20000, 7) i)),
	(SELECT array_agg(cf_index_contains('seen_id', i)) FROM generate_series(1, 20000, 7) i)) u(each, contains);
-- no false positive in 10,000: that is false_blocks
SELECT count(*), 0 AS truth FROM generate_series(200000, 210000) i WHERE cf_index_contains('seen_id', i);
SELECT cf_index_contains('seen_id', 'x'::text);
SELECT cf_index_contains('seen', 1);
SELECT cf_index_contains(0, 1);
SELECT cf_index_filter('seen_id');
-- the rows that are checked
SELECT cf_index_check('seen_id') AS pages_only, 0 AS truth;
SELECT cf_index_check('seen_id', true), count(*) AS truth FROM seen;
SELECT cf_index_check('seen_url', true), count(*) AS truth FROM seen WHERE kind = 1;
-- by the snapshot of the query
BEGIN;
DELETE FROM seen WHERE id <= 1000;
SELECT cf_index_check('seen_id', true), count(*) AS truth FROM seen;
ROLLBACK;
-- a view remembers the index by its OID
CREATE VIEW asking AS SELECT cf_index_contains('seen_id', 1);
CREATE VIEW asking_by_name AS SELECT cf_index_contains('seen_id'::text::regclass, 1);
REINDEX INDEX CONCURRENTLY seen_id;
DO $$
DECLARE
	hint text;
BEGIN
	PERFORM * FROM asking;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RAISE NOTICE '%: %', SQLSTATE, hint;
END $$;
SELECT * FROM asking_by_name;
DROP VIEW asking, asking_by_name;
-- workers cannot read temporary tables
CREATE TEMPORARY TABLE temporary AS SELECT 7 AS id;
CREATE INDEX temporary_id ON temporary USING cuckoo (id);
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(*), 1 AS truth FROM seen WHERE cf_index_contains('temporary_id', id);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DROP TABLE temporary;
-- not by what runs while it is rebuilt
CREATE TABLE rebuilt AS SELECT 7 AS id;
CREATE FUNCTION asks(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE INDEX rebuilt_id ON rebuilt USING cuckoo (asks(id));
CREATE OR REPLACE FUNCTION asks(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN public.cf_index_contains('public.rebuilt_id', $1) THEN $1 END;
END $$;
\set VERBOSITY terse
REINDEX INDEX rebuilt_id;
\set VERBOSITY default
DROP TABLE rebuilt;
DROP FUNCTION asks;
-- not while rows may be missing
BEGIN;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'seen_id'::regclass;
SELECT cf_index_contains('seen_id', 7);
ROLLBACK;
BEGIN;
UPDATE pg_index SET indisready = false WHERE indexrelid = 'seen_id'::regclass;
SELECT cf_index_contains('seen_id', 7);
ROLLBACK;
BEGIN;
UPDATE pg_index SET indisready = false WHERE indexrelid = 'seen_id'::regclass;
SELECT items FROM cf_index_info('seen_id');
ROLLBACK;
-- what cannot be made
CREATE UNIQUE INDEX ON visits USING cuckoo (id);
CREATE INDEX ON visits USING cuckoo (id, url);
CREATE INDEX ON visits USING cuckoo (id) INCLUDE (url);
\set VERBOSITY sqlstate
CREATE INDEX ON visits USING cuckoo (id DESC);
\set VERBOSITY default
CREATE INDEX ON visits USING cuckoo (id) WITH (fpp = 0);
CREATE INDEX ON visits USING cuckoo (id) WITH (seed = 'x');
CREATE INDEX ON visits USING cuckoo (id) WITH (seed = '5x');
CREATE INDEX ON visits USING cuckoo (id) WITH (locate = 'maybe');
CREATE INDEX ON visits USING cuckoo (id) WITH (growth_bits = 25);
CREATE INDEX ON visits USING cuckoo (id) WITH (gate = on);
CREATE INDEX ON visits USING cuckoo (id) WITH (unknown = 2);
CREATE TABLE boxes (b box);
CREATE INDEX ON boxes USING cuckoo (b);
CLUSTER visits USING visits_id;
DROP TABLE boxes;

-- ---- partitions and inheritance ----

CREATE TABLE events (day int, id bigint) PARTITION BY LIST (day);
CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1);
CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
CREATE INDEX events_id ON events USING cuckoo (id) WITH (seed = 1);
INSERT INTO events SELECT i % 2 + 1, i FROM generate_series(1, 8000) i;
CREATE TABLE events_3 (id bigint, day int);
INSERT INTO events_3 SELECT 1000000 + i, 3 FROM generate_series(0, 4000) i;
ALTER TABLE events ATTACH PARTITION events_3 FOR VALUES IN (3);
ANALYZE events;
SELECT indexes_of('SELECT FROM events WHERE id = 7');
SELECT tableoid::regclass, * FROM events WHERE id = ANY ('{7,8,1000000,-1}') ORDER BY id;
SELECT indexes_of('SELECT FROM events WHERE id = 7 AND day = 2');
SELECT indexes_of('SELECT FROM wanted JOIN events USING (id) WHERE wanted.id < 100');
SELECT count(*), 2 AS truth FROM wanted JOIN events USING (id) WHERE wanted.id < 100;
-- an index of a partitioned table has no entries; its partitions' have
SELECT cf_index_contains('events_id', 1);
SELECT indrelid::regclass AS partition, cf_index_contains(relid, 7::bigint) AS contains_7,
	cf_index_contains(relid, 1000000::bigint) AS contains_1000000
FROM pg_partition_tree('events_id') JOIN pg_index ON indexrelid = relid WHERE isleaf ORDER BY 1;
-- of which one goes, and comes back
ALTER TABLE events DETACH PARTITION events_2;
INSERT INTO events_2 VALUES (2, -5);
SELECT count(*), 0 AS truth FROM events WHERE id = ANY ('{7,-5}');
SELECT * FROM compared('events_2_id_idx', 'SELECT generate_series(1, 100)');
ALTER TABLE events ATTACH PARTITION events_2 FOR VALUES IN (2);
SELECT count(*), 2 AS truth FROM events WHERE id = ANY ('{7,-5}');
-- rows that move to another one
UPDATE events SET day = 1 WHERE id = 1000000;
SELECT tableoid::regclass FROM events WHERE id = 1000000;
-- children have indexes of their own
CREATE TABLE child (more text) INHERITS (seen);
INSERT INTO child SELECT i, 'u' || i, 0, 0, 'm' FROM generate_series(100001, 105000) i;
SELECT indexes_of('SELECT FROM seen WHERE id = 100007');
SELECT count(*), 2 AS truth FROM seen WHERE id = ANY ('{7,100007}');
CREATE INDEX child_id ON child USING cuckoo (id);
ANALYZE child;
SELECT indexes_of('SELECT FROM seen WHERE id = 100007');
SELECT count(*), 2 AS truth FROM seen WHERE id = ANY ('{7,100007}');
SELECT count(*), 1 AS truth FROM ONLY seen WHERE id = ANY ('{7,100007}');

-- ---- rights ----

-- functions need SELECT on the table, or on a table of which it is a partition
CREATE ROLE index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('seen_id', 1);
RESET ROLE;
-- rights on single columns do not count, but for plans they do
GRANT SELECT (id, url, kind) ON seen TO index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('seen_id', 1);
SELECT id, url, indexes_of('SELECT id FROM ONLY seen WHERE id = 7') FROM ONLY seen WHERE id = 7;
RESET ROLE;
GRANT SELECT ON seen TO index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('seen_id', 1), true AS truth;
SELECT cf_index_contains_any('seen_url', '{u1,u2}'::text[]), true AS truth;
SELECT within(items, 10001, 10100) AS items FROM cf_index_info('seen_id');
SELECT cf_index_check('seen_id');
SELECT cf_index_check('seen_id', true);
RESET ROLE;
-- where row security applies, functions are refused, and plans have the rows that the user may see
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY sevens ON seen USING (id % 7 = 0);
SET ROLE index_reader;
SELECT cf_index_contains('seen_id', 1);
SELECT indexes_of('SELECT id FROM ONLY seen WHERE id = 7');
SELECT id FROM ONLY seen WHERE id = ANY ('{7,8}');
RESET ROLE;
-- but not to a superuser
SELECT cf_index_contains('seen_id', 7);
ALTER TABLE seen DISABLE ROW LEVEL SECURITY;
-- the seed is the owner's secret, and with it the filter, unless it is an option
CREATE INDEX seen_filter ON seen USING cuckoo (id) WITH (locate = off);
SET ROLE index_reader;
SELECT cf_index_filter('seen_filter');
RESET ROLE;
ALTER INDEX seen_filter SET (seed = 5);
SET ROLE index_reader;
SELECT cf_index_filter('seen_filter');
RESET ROLE;
REINDEX INDEX seen_filter;
SET ROLE index_reader;
SELECT cf_contains(cf_index_filter('seen_filter'), 7);
RESET ROLE;
DROP INDEX seen_filter;
-- rights on a partitioned table are rights on its partitions
SET ROLE index_reader;
SELECT cf_index_contains('events_3_id_idx', 1000001::bigint);
RESET ROLE;
GRANT SELECT ON events TO index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('events_3_id_idx', 1000001::bigint);
SELECT count(*), 1 AS truth FROM events WHERE id = 1000001;
SELECT count(*), 1 AS truth FROM events_3 WHERE id = 1000001;
RESET ROLE;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
SET ROLE index_reader;
SELECT cf_index_contains('events_3_id_idx', 1000001::bigint);
RESET ROLE;
ALTER TABLE events DISABLE ROW LEVEL SECURITY;

-- code of a table's owner runs only as the owner: it raises an error as another user
CREATE ROLE index_super SUPERUSER;
CREATE ROLE index_owner;
CREATE ROLE index_nobody;
CREATE SCHEMA owned AUTHORIZATION index_owner;
SET ROLE index_owner;
CREATE FUNCTION owned.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'index_owner' THEN
		RAISE 'ran as %', current_user;
	END IF;
	RETURN 0;
END $$;
CREATE TABLE owned.t (k int);
INSERT INTO owned.t SELECT generate_series(1, 10);
CREATE INDEX by_expression ON owned.t USING cuckoo ((k + owned.f(1))) WITH (seed = 1, locate = off);
CREATE INDEX by_predicate ON owned.t USING cuckoo (k) WITH (seed = 1) WHERE owned.f(k) + owned.f(1) = 0;
GRANT SELECT ON owned.t TO index_reader;
RESET ROLE;
CREATE FUNCTION outcome(call text, index regclass, caller name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	-- the entry in the relcache may have the value of the function
	UPDATE pg_class SET relname = relname WHERE oid = index;
	EXECUTE format('SET ROLE %I', caller);
	EXECUTE format('SELECT (%s)::text', call) INTO result USING index;
	RESET ROLE;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE TABLE calls AS SELECT call FROM unnest(ARRAY['SELECT items FROM cf_index_info($1)', 'cf_index_check($1, false)',
	'cf_index_check($1, true)', 'cf_index_contains($1, 3)', 'cf_index_contains_any($1, ''{3,-3}''::int[])',
	'cf_index_contains_each($1, ''{3,-3}''::int[])', 'cf_count(cf_index_filter($1))']) call;
SELECT call, caller, outcome(call, 'owned.by_expression', caller) AS expression,
	outcome(call, 'owned.by_predicate', caller) AS predicate
FROM calls, unnest(ARRAY['index_super', 'index_owner', 'index_reader', 'index_nobody']) caller;
-- members of the owner's role are owners
GRANT index_owner TO index_nobody;
SELECT outcome('cf_index_check($1, true)', 'owned.by_predicate', 'index_nobody');
REVOKE index_owner FROM index_nobody;
-- nor may it become another user
SET ROLE index_owner;
CREATE FUNCTION owned.g(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE INDEX by_role ON owned.t USING cuckoo (owned.g(k));
CREATE OR REPLACE FUNCTION owned.g(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	-- which 17 and later set for code of others
	IF current_setting('server_version_num')::int >= 170000
		AND current_setting('search_path') <> 'pg_catalog, pg_temp' THEN
		RAISE 'by the search path %', current_setting('search_path');
	END IF;
	PERFORM set_config('role', 'none', true);
	RETURN $1;
END $$;
RESET ROLE;
SELECT outcome('cf_index_check($1, true)', 'owned.by_role', 'index_super');

-- nor may it leave a setting to the session
SET ROLE index_owner;
CREATE FUNCTION owned.h(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('regress.left', 'by ' || current_user, false);
	RETURN $1;
END $$;
CREATE INDEX by_setting ON owned.t USING cuckoo (owned.h(k));
RESET ROLE;
SELECT cf_index_check('owned.by_setting', true), current_setting('regress.left', true);
SELECT current_setting('regress.left', true) AS left_over;

-- the table of Citus's catalog: a table with a row in it is empty, and its rows are in shards
SELECT cf_index_contains('seen_id', 3);
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL);
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
SELECT cf_index_contains('seen_id', 3);
INSERT INTO pg_dist_partition VALUES ('seen', 'h');
-- as Citus does, which changes nothing of the index
UPDATE pg_class SET relname = relname WHERE oid = 'seen'::regclass;
SELECT cf_index_contains('seen_id', 3);
SELECT call, outcome(call, 'seen_id', 'index_reader') FROM calls;
SELECT outcome('cf_index_contains($1, 3)', 'owned.by_expression', 'index_reader') AS another_table;
-- a right that is missing comes first
SELECT outcome('cf_index_contains($1, 3)', 'seen_id', 'index_nobody');
-- undistributed; without the index; without the table
DELETE FROM pg_dist_partition;
UPDATE pg_class SET relname = relname WHERE oid = 'seen'::regclass;
SELECT cf_index_contains('seen_id', 3);
INSERT INTO pg_dist_partition VALUES ('seen', 'n');
DROP INDEX pg_dist_partition_logical_relid_index;
UPDATE pg_class SET relname = relname WHERE oid = 'seen'::regclass;
SELECT cf_index_contains('seen_id', 3);
-- a table of another kind
ALTER TABLE pg_catalog.pg_dist_partition ALTER logicalrelid TYPE oid;
UPDATE pg_class SET relname = relname WHERE oid = 'seen'::regclass;
SELECT cf_index_contains('seen_id', 3);
DROP TABLE pg_catalog.pg_dist_partition;
RESET allow_system_table_mods;
UPDATE pg_class SET relname = relname WHERE oid = 'seen'::regclass;
SELECT cf_index_contains('seen_id', 3);
DROP TABLE owned.t, calls;
DROP FUNCTION owned.f, owned.g, owned.h, outcome;
DROP SCHEMA owned;
DROP ROLE index_super, index_owner, index_nobody;

-- ---- what rewrites a table or moves an index ----

-- temporary and unlogged tables, rollback, another type
CREATE TEMP TABLE mine (id int);
CREATE INDEX mine_id ON mine USING cuckoo (id);
INSERT INTO mine SELECT i FROM generate_series(1, 1000) i;
SELECT * FROM compared('mine_id', 'SELECT generate_series(-100, 0)');
CREATE UNLOGGED TABLE fast (id int);
CREATE INDEX fast_id ON fast USING cuckoo (id);
INSERT INTO fast SELECT i FROM generate_series(1, 1000) i;
SELECT * FROM compared('fast_id', 'SELECT generate_series(-100, 0)');
ALTER TABLE fast SET LOGGED;
SELECT * FROM compared('fast_id', 'SELECT generate_series(-100, 0)');
BEGIN;
TRUNCATE fast;
INSERT INTO fast VALUES (1);
SELECT * FROM compared('fast_id', 'SELECT generate_series(1, 100)');
ROLLBACK;
SELECT * FROM compared('fast_id', 'SELECT generate_series(-100, 0)');
ALTER TABLE fast ALTER id TYPE bigint;
SELECT * FROM compared('fast_id', 'SELECT generate_series(-100, 0)');
DELETE FROM fast WHERE id % 2 = 0;
VACUUM FULL fast;
SELECT * FROM compared('fast_id', 'SELECT generate_series(1, 1000)');
ALTER TABLE fast ALTER id TYPE text;
SELECT * FROM compared('fast_id', 'SELECT ''x''');
SELECT element_family FROM cf_index_info('fast_id');
CREATE TEMP TABLE emptied (id int) ON COMMIT DELETE ROWS;
CREATE INDEX emptied_id ON emptied USING cuckoo (id);
BEGIN;
INSERT INTO emptied SELECT i FROM generate_series(1, 1000) i;
SELECT * FROM compared('emptied_id', 'SELECT generate_series(-100, 0)');
END;
SELECT * FROM compared('emptied_id', 'SELECT generate_series(1, 100)');

CREATE TABLE moved (id int, word text, n int);
INSERT INTO moved SELECT i, 'w' || i, i % 10 FROM generate_series(1, 2000) i;
CREATE INDEX moved_by_word ON moved (word);
CREATE INDEX CONCURRENTLY moved_id ON moved USING cuckoo (id) WITH (seed = 3);
CREATE INDEX moved_word ON moved USING cuckoo (upper(word)) WITH (seed = 3) WHERE n > 4;
CREATE FUNCTION moved() RETURNS text LANGUAGE sql AS $$
	SELECT format('%s + %s, %s wrong', a.rows, b.rows, a.wrong + b.wrong)
	FROM pg_index, compared(indexrelid, 'SELECT generate_series(-100, 0)') a, compared('moved_word', 'SELECT ''w7''') b
	WHERE indrelid = 'moved'::regclass AND indkey[0] = 1
$$;
DELETE FROM moved WHERE id > 1500;
CLUSTER moved USING moved_by_word;
SELECT moved(), items FROM cf_index_info('moved_id');
ALTER TABLE moved SET UNLOGGED;
SELECT moved();
ALTER TABLE moved SET LOGGED;
SELECT moved();
ALTER TABLE moved ADD chance float8 DEFAULT random();
SELECT moved();
ALTER TABLE moved ALTER n TYPE numeric;
SELECT moved();
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_cuckoo LOCATION '';
ALTER INDEX moved_id SET TABLESPACE regress_cuckoo;
SELECT moved();
INSERT INTO moved SELECT i, 'w' || i, 5 FROM generate_series(20001, 21500) i;
SELECT moved();
ALTER TABLE moved SET TABLESPACE regress_cuckoo;
ALTER INDEX moved_id SET TABLESPACE pg_default;
SELECT moved();
ALTER TABLE moved SET TABLESPACE pg_default;
DROP TABLESPACE regress_cuckoo;
ALTER TABLE moved RENAME id TO number;
ALTER INDEX moved_id RENAME TO moved_number;
SELECT moved();
ALTER TABLE moved ALTER number TYPE bigint;
SELECT moved();
CREATE TABLE moved_like (LIKE moved INCLUDING INDEXES);
SELECT substring(pg_get_indexdef(indexrelid) FROM 'USING.*') FROM pg_index WHERE indrelid = 'moved_like'::regclass
	ORDER BY 1;

-- ---- statistics ----

VACUUM ANALYZE moved;
SELECT relname, reltuples, relpages, blocks_of(oid) AS truth
FROM pg_class WHERE relname IN ('moved_number', 'moved_word') ORDER BY 1;
SELECT tablename, attname, n_distinct FROM pg_stats WHERE tablename = 'moved_word';

-- ---- the extension does not go before its indexes, and takes them with it ----

\set VERBOSITY terse
DROP EXTENSION cuckoo;
\set VERBOSITY default
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION cuckoo CASCADE;
INSERT INTO moved VALUES (0, 'w0', 0);
SELECT indexrelid::regclass AS remains FROM pg_index WHERE indrelid = 'moved'::regclass;
SELECT count(*), 1 AS truth FROM moved WHERE number = 7;
ROLLBACK;
SELECT moved();

DROP FUNCTION moved(), used;
DROP TABLE visits, seen, child, wanted, crossed, small, kept, sized, many, events, mine, fast, emptied, moved,
	moved_like;
DROP ROLE index_reader;
