-- The scan that probes a filter for the rows of a page together.
SET temp_buffers = 100;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE lists (name text PRIMARY KEY, f cuckoofilter);
CREATE TABLE seen (gone int, v int, t text, later int DEFAULT 7, doc text);
INSERT INTO seen
	SELECT i, nullif(i % 3000, 0), 'user ' || i, i,
	CASE WHEN i % 1000 = 0 THEN repeat(i || ' is a long document ', 1000) END FROM generate_series(1, 20000) i;
-- dropped, added and toasted columns; dead and updated rows
ALTER TABLE seen DROP gone, ADD missing int DEFAULT 42;
DELETE FROM seen WHERE later % 7 = 0;
UPDATE seen SET t = t || '!' WHERE later % 11 = 0;
-- some of them without holes, in this order
CREATE TABLE listed AS SELECT v, t FROM seen ORDER BY later;
INSERT INTO lists SELECT 'fives', cf_agg(i) FROM generate_series(5, 3000, 5) i;
INSERT INTO lists SELECT 'users', cf_agg('user ' || i) FROM generate_series(1, 20000, 3) i;
INSERT INTO lists SELECT 'large', cf_agg(i * 2, 2000000, 0.001) FROM generate_series(1, 400000) i;
INSERT INTO lists SELECT 'documents', cf_agg(doc) FROM seen WHERE later > 10000;
INSERT INTO lists VALUES ('none', cf_new()), ('null', NULL);
ANALYZE lists, seen, listed;

-- the scans by which a query reads its tables (not the filters), from the top of the plan on
CREATE FUNCTION scans(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN string_agg(coalesce(node ->> 'Custom Plan Provider', node ->> 'Node Type') || ' '
		|| (node ->> 'Relation Name'), ', ')
	FROM jsonb_path_query(plan_of(query)::jsonb, 'strict $.** ? (exists (@."Relation Name"))') node
	WHERE node ->> 'Relation Name' <> 'lists';
END $$;
-- a query by the scan and without: how many rows are not the same at the same place?
CREATE FUNCTION compare(query text, OUT scans text, OUT rows int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
	with_scan text[];
	without text[];
BEGIN
	scans := scans(query);
	EXECUTE 'SELECT array_agg(s::text) FROM (' || query || ' OFFSET 0) s' INTO with_scan;
	SET LOCAL cuckoo.enable_scan = off;
	IF scans(query) ~ 'CuckooScan' THEN
		RAISE 'the scan is not off';
	END IF;
	EXECUTE 'SELECT array_agg(s::text) FROM (' || query || ' OFFSET 0) s' INTO without;
	SET LOCAL cuckoo.enable_scan = on;
	rows := coalesce(cardinality(without), 0);
	wrong := count(*) FROM unnest(with_scan, without) found(row, truth) WHERE row IS DISTINCT FROM truth;
END $$;
CREATE FUNCTION list(text) RETURNS cuckoofilter LANGUAGE sql STABLE AS 'SELECT f FROM lists WHERE name = $1';

-- ---- conditions, and what is selected ----

SELECT condition, c.* FROM unnest(ARRAY[
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)',
	'(SELECT f FROM lists WHERE name = ''fives'') @> v',
	'v <@ (SELECT f FROM lists WHERE name = ''fives'')',
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)',
	'cf_contains((SELECT f FROM lists WHERE name = ''users''), t)',
	'cf_contains((SELECT f FROM lists WHERE name = ''users''), upper(lower(replace(t, ''!'', ''''))))',
	'cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''documents''), doc)',
	'cf_contains((SELECT f FROM lists WHERE name = ''documents''), doc)',
	'cf_contains((SELECT f FROM lists WHERE name = ''none''), v)',
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), v)',
	'cf_contains((SELECT f FROM lists WHERE name = ''null''), v)',
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''null''), v)',
	'cf_contains(list(''fives''), v)',
	'cf_contains((SELECT cf_agg(v) FROM generate_series(1, 300) v), missing)',
	'later < 9000 AND cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND v % 2 = 0 AND length(t) > 8',
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) '
		'AND cf_contains((SELECT f FROM lists WHERE name = ''users''), t)',
	-- one condition is for no row in particular
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND now() IS NOT NULL',
	-- rows cannot be evaluated ahead, or the filter is a column of the row, or nothing depends on the row
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND random() < 2',
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND v < (SELECT count(*) + s.later FROM lists)',
	'(cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) OR v = 1)',
	'cf_contains(cf_add(cf_new(), later), v)',
	'cf_contains((SELECT f FROM lists WHERE name = ''fives''), 15)'
]) condition, compare('SELECT ctid, s.* FROM seen s WHERE ' || condition) c;
-- columns, and what is done with the rows
SELECT columns, "end", c.* FROM (VALUES ('count(*)', ''), ('v', ''), ('s', ''), ('tableoid::regclass, xmin, ctid', ''),
	('length(doc), missing, t', ''), ('v + 1 AS w, random() < 2', ''), ('NULL', ''), ('DISTINCT v % 10', ''), ('', ''),
	('v', 'LIMIT 700'), ('v, count(*)', 'GROUP BY v ORDER BY v')) v(columns, "end"),
	compare(format('SELECT %s FROM seen s WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) %s',
		columns, "end")) c;

-- ---- EXPLAIN ----

-- the rows that any of the conditions removes are counted
CREATE FUNCTION removed(query text, scan text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	PERFORM set_config('cuckoo.enable_scan', scan, true);
	result := plan_of(query, 'ANALYZE, ') ->> 'Rows Removed by Filter';
	PERFORM set_config('cuckoo.enable_scan', 'on', true);
	RETURN result;
END $$;
SELECT condition, scans(query), removed(query, 'on') AS removed, removed(query, 'off') AS without
FROM unnest(ARRAY['later < 9000 AND cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND length(t) > 8',
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)']) condition,
	LATERAL (SELECT 'SELECT FROM seen WHERE ' || condition AS query) q;
CREATE FUNCTION removed_line(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || query LOOP
		IF line ~ 'Rows Removed' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
	RETURN 'none';
END $$;
SELECT condition, removed_line('SELECT FROM seen WHERE ' || condition) FROM unnest(ARRAY[
	'NOT cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)',
	'NOT cf_contains((SELECT cf_new()), later)']) condition;
DROP FUNCTION removed, removed_line;
EXPLAIN (COSTS OFF) SELECT v
FROM lists JOIN seen ON cf_contains(f, v) AND length(t) > 3 WHERE name = 'fives' AND later > 5;
-- the rows that were probed in batches, in all loops, and where the filters were: all rows except the first page's
CREATE FUNCTION batches(query text, OUT loops int, OUT removed int, OUT batched text, OUT fetched int, OUT memory int,
	OUT slices int) LANGUAGE plpgsql AS $$
DECLARE
	node jsonb := jsonb_path_query(plan_of(query, 'ANALYZE, ')::jsonb,
		'strict $.** ? (@."Custom Plan Provider" == "CuckooScan")');
	rows int := (SELECT count(*) FROM seen WHERE v IS NOT NULL);
	first_page int := (SELECT count(*) FROM seen WHERE v IS NOT NULL AND ctid < '(1,0)');
BEGIN
	loops := node -> 'Actual Loops';
	removed := node -> 'Rows Removed by Filter';
	batched := CASE (node -> 'Rows Probed in Batches')::int WHEN rows - first_page THEN 'all' WHEN 0 THEN 'none'
		ELSE node ->> 'Rows Probed in Batches' END;
	fetched := node -> 'Filters Fetched';
	memory := node -> 'Filters in Memory';
	slices := node -> 'Filters Read by Slices';
END $$;
SELECT query, c.* FROM unnest(ARRAY[
	'SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'SELECT count(*) FROM seen WHERE cf_contains(list(''fives''), v)',
	'SELECT count(*) FROM seen WHERE v <@ ANY (ARRAY[list(''fives''), NULL, list(''none'')])',
	'SELECT count(*) FROM lists, seen WHERE cf_contains(f, v) AND name IN (''fives'', ''none'', ''null'')',
	'SELECT count(*) FROM seen '
		'WHERE later = 78 AND cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'WITH c AS MATERIALIZED (SELECT FROM seen WHERE cf_contains(list(''fives''), v)) SELECT FROM c LIMIT 1'
]) query, batches(query) c;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_leader_participation = off;
-- but not what workers did
SELECT within(loops, 1, 3) AS workers, batched, fetched + memory + slices AS filters
FROM batches('SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)');
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
-- ---- costs and memory ----

-- workers share what the scan saves
CREATE FUNCTION saved(workers int) RETURNS float8 LANGUAGE plpgsql SET min_parallel_table_scan_size = 0
	SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET parallel_leader_participation = off AS $$
DECLARE
	query text := 'SELECT v FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)';
	costs float8[];
	setting text;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	FOREACH setting IN ARRAY '{off,on}'::text[] LOOP
		PERFORM set_config('cuckoo.enable_scan', setting, true);
		costs := costs || (SELECT (node ->> 'Total Cost')::float8
			FROM jsonb_path_query(plan_of(query)::jsonb, 'strict $.** ? (@."Relation Name" == "seen")') node);
	END LOOP;
	PERFORM set_config('cuckoo.enable_scan', 'on', true), set_config('max_parallel_workers_per_gather', '0', true);
	RETURN costs[1] - costs[2];
END $$;
SELECT round((saved(0) / saved(2))::numeric, 1) AS saved, 3 AS processes;
DROP FUNCTION saved;
-- the filter of each rescan is freed
SELECT sum(c), max(contexts('cuckoofilter')) AS filters, 0 AS truth FROM generate_series(1, 50) n,
	LATERAL (SELECT count(*) FROM seen
		WHERE cf_contains(cf_add((SELECT f FROM lists WHERE name = 'fives'), -n), v)) s(c);
-- each rescan counts its probes anew: ten probes at the end of a table do not repay fetching a filter
CREATE TABLE several AS SELECT f
FROM generate_series(1, 3), (SELECT cf_agg(i, 1e-8) AS f FROM generate_series(1, 250000) i) s;
CREATE TABLE unanalyzed (v int) WITH (autovacuum_enabled = off);
INSERT INTO unanalyzed SELECT generate_series(1, 10000);
ANALYZE several;
SELECT node -> 'Actual Loops' AS loops, node -> 'Filters Read by Slices' AS slices, node -> 'Filters Fetched' AS fetched
FROM jsonb_path_query(plan_of('SELECT FROM several,
	LATERAL (SELECT FROM unanalyzed WHERE v > 9990 AND cf_contains(f, v) OFFSET 0) s', 'ANALYZE, ')::jsonb,
		'strict $.** ? (@."Custom Plan Provider" == "CuckooScan")') node;
DROP TABLE several, unanalyzed;
DROP FUNCTION batches;
-- ---- joins ----

-- a filter from another table: a scan for each filter
SELECT claim, c.* FROM (VALUES
	('inner', 'SELECT count(*) FROM lists JOIN seen ON cf_contains(f, v) WHERE name = ''fives'''),
	('negated', 'SELECT name, seen.* FROM lists JOIN seen ON NOT v <@ f
		WHERE name IN (''fives'', ''large'', ''none'', ''null'') ORDER BY name, later'),
	('left', 'SELECT name, later FROM lists LEFT JOIN seen ON f @> (v + later)
		WHERE name IN (''fives'', ''none'', ''null'') ORDER BY name, later'),
	('filter of a left join', 'SELECT l.name, m.name, later
		FROM lists l LEFT JOIN lists m ON m.name = replace(l.name, ''none'', ''fives'') JOIN seen ON cf_contains(m.f, v)
		WHERE l.name IN (''fives'', ''none'') ORDER BY l.name, later'),
	('filter of two tables', 'SELECT l.name, m.name, later
		FROM lists l LEFT JOIN lists m ON m.name = l.name || ''?'' JOIN seen ON cf_contains(coalesce(m.f, l.f), v)
		WHERE l.name IN (''fives'', ''none'') ORDER BY l.name, later'),
	('filter of an expression that is null', 'SELECT l.name, later
		FROM lists l LEFT JOIN (SELECT name, coalesce(f, f) AS g FROM lists) m ON m.name = l.name || ''?''
		JOIN seen ON cf_contains(coalesce(m.g, l.f), v) WHERE l.name IN (''fives'', ''none'') ORDER BY later'),
	('condition not evaluated ahead', 'SELECT name, later FROM lists
		JOIN seen ON cf_contains(f, v) AND length(name) + v > random() WHERE name = ''fives'' ORDER BY later'),
	-- the list of users is of another family
	('users not probed, left', 'SELECT name, later FROM lists LEFT JOIN seen ON cf_contains(f, v) AND name = ''fives''
		ORDER BY name, later'),
	('users not probed, anti', 'SELECT name FROM lists
		WHERE NOT EXISTS (SELECT FROM seen WHERE cf_contains(f, v) AND name = ''fives'') ORDER BY name'),
	('semi', 'SELECT v FROM seen WHERE EXISTS (SELECT FROM lists WHERE name = ''fives'' AND f @> v) ORDER BY later'),
	('sub-select', 'SELECT name, (SELECT count(*) FROM seen WHERE cf_contains(f, v))
		FROM lists WHERE name IN (''fives'', ''large'', ''none'', ''null'') ORDER BY name'),
	('rescanned in a page', 'SELECT name, v
		FROM lists, LATERAL (SELECT v FROM seen WHERE cf_contains(f, v) LIMIT 705) s
		WHERE name IN (''fives'', ''large'', ''none'') ORDER BY name'),
	('aggregate', 'SELECT name, n
		FROM lists, LATERAL (SELECT count(*) AS n FROM seen WHERE cf_contains(f, v) AND length(t) > length(name)) s
		WHERE name IN (''fives'', ''large'') ORDER BY name'),
	-- not by the scan
	('filter made by a join', 'SELECT l.name, later
		FROM lists l
		LEFT JOIN (SELECT name, coalesce(f, list(''fives'')) AS g FROM lists) m
			ON m.name = replace(l.name, ''none'', ''null'') JOIN seen ON cf_contains(g, v)
		WHERE l.name IN (''fives'', ''none'') ORDER BY l.name, later'),
	('test above a join', 'SELECT name, later FROM lists LEFT JOIN seen ON later = length(name)
		WHERE cf_contains(f, coalesce(v, 5)) AND name IN (''fives'', ''large'') ORDER BY name'),
	-- by two scans
	('two tables', 'SELECT a.later, b.later FROM seen a JOIN seen b ON a.later = b.later + 1
		WHERE cf_contains(list(''fives''), a.v) AND NOT cf_contains(list(''users''), b.t) ORDER BY 1')
) v(claim, query), compare(query) c;
-- a scan for each row of the other table only if each row has another filter
SELECT filter, scans(query) FROM (VALUES ('one', 'SELECT FROM seen a
		JOIN seen b ON a.later = b.later AND cf_contains((SELECT f FROM lists WHERE name = ''fives''), a.v + b.v)'),
	('any', 'SELECT FROM lists JOIN seen ON v <@ ANY (ARRAY[f]) AND length(name) = later')) v(filter, query);

-- ---- any of several filters ----

SELECT claim, c.* FROM (VALUES
	('of a sub-select', 'SELECT later FROM seen
		WHERE v <@ ANY (SELECT f FROM lists WHERE name IN (''fives'', ''none'', ''null'', ''large''))'),
	('of an array', 'SELECT later FROM seen
		WHERE v <@ ANY (ARRAY(SELECT f FROM lists WHERE name IN (''fives'', ''none'', ''null'', ''large'')))'),
	('with other conditions', 'SELECT later FROM seen
		WHERE EXISTS (SELECT FROM lists WHERE f @> (v + 1) AND name IN (''fives'', ''none'')) AND later % 7 < 5
			AND length(t) > 9'),
	('with functions', 'SELECT later FROM seen
		WHERE EXISTS (SELECT FROM lists WHERE f @> (v + 1) AND name IN (''fives'', ''none'')) AND length(lower(t)) > 9
			AND later > 100'),
	('of several seeds', 'SELECT later FROM seen
		WHERE v <@ ANY (SELECT cf_agg(i, 100, 0.01, s)
			FROM generate_series(1, 3) s, generate_series(1, 999) i WHERE i % 5 = s GROUP BY s)'),
	('of several seeds, array', 'SELECT later FROM seen
		WHERE v <@ ANY (ARRAY(SELECT cf_agg(i, 100, 0.01, s)
			FROM generate_series(1, 3) s, generate_series(1, 999) i WHERE i % 5 = s GROUP BY s))'),
	('of one seed, array', 'SELECT later FROM seen
		WHERE v <@ ANY (ARRAY(SELECT cf_agg(i, 100, 0.01)
			FROM generate_series(1, 3) s, generate_series(1, 999) i WHERE i % 5 = s GROUP BY s))'),
	('of none', 'SELECT later FROM seen WHERE v <@ ANY (SELECT f FROM lists WHERE name = ''no such'')'),
	('of null', 'SELECT later FROM seen WHERE v <@ ANY (ARRAY(SELECT f FROM lists WHERE name = ''null''))'),
	('of a null array', 'SELECT later FROM seen WHERE v <@ ANY (NULL::cuckoofilter[])'),
	('of filters for each row', 'SELECT name, (SELECT count(*) FROM seen
			WHERE v <@ ANY (SELECT f FROM lists m WHERE m.name IN (l.name, ''fives'')))
		FROM lists l WHERE name IN (''large'', ''none'') ORDER BY name'),
	('rescanned, with other rows', 'SELECT *
		FROM generate_series(1, 3) n,
		LATERAL (SELECT count(*) FROM seen WHERE v <@ ANY (SELECT f FROM lists WHERE name LIKE ''f%'' AND n > 1)) s'),
	('rescanned, with the same rows', 'SELECT *
		FROM generate_series(1, 3) n,
		LATERAL (SELECT count(*) FROM seen
			WHERE v <@ ANY (SELECT f FROM lists WHERE name LIKE ''f%'') AND later > n * 5000) s'),
	('below a left join', 'SELECT i, x
		FROM generate_series(1, 9) i
		LEFT JOIN (SELECT later, coalesce(v, 0) AS x FROM seen
			WHERE v <@ ANY (SELECT f FROM lists WHERE name = ''fives'')) s ON later = i ORDER BY i'),
	-- a filter is probed for values that no filter before contains: the users are of another family
	('users not probed', 'SELECT later FROM seen
		WHERE v % 5 = 0 AND v <@ ANY (ARRAY(SELECT f FROM lists WHERE name IN (''fives'', ''users'') ORDER BY name))'),
	('null first', 'SELECT later FROM seen WHERE v <@ ANY (ARRAY[NULL, list(''fives'')])'),
	('null between', 'SELECT later FROM seen
		WHERE v <@ ANY (ARRAY[list(''none''), NULL, list(''fives''), NULL, NULL, list(''large'')])'),
	('nulls only', 'SELECT later FROM seen WHERE v <@ ANY (ARRAY[NULL, NULL]::cuckoofilter[])'),
	('of an empty array', 'SELECT later FROM seen WHERE v <@ ANY (ARRAY[]::cuckoofilter[])'),
	-- not by the scan
	('not any of an array', 'SELECT later FROM seen
		WHERE NOT v <@ ANY (ARRAY(SELECT f FROM lists WHERE name IN (''fives'', ''large'')))'),
	('all', 'SELECT later FROM seen WHERE v <@ ALL (ARRAY(SELECT f FROM lists WHERE name IN (''fives'', ''large'')))'),
	('not any', 'SELECT later FROM seen WHERE NOT v <@ ANY (SELECT f FROM lists WHERE name IN (''fives'', ''large''))')
) v(claim, query), compare(query) c;
SELECT count(*) FROM seen WHERE v <@ ANY (SELECT f FROM lists);
SELECT count(*) FROM seen WHERE v <@ ANY (ARRAY(SELECT f FROM lists));

-- ---- kinds of tables ----

-- small, temporary, partitioned, sampled, materialized views; 291 rows without columns fill a page
CREATE TABLE few AS SELECT v FROM seen LIMIT 900;
CREATE TEMP TABLE session AS SELECT v, t FROM seen;
CREATE MATERIALIZED VIEW latest AS SELECT v, t FROM seen;
CREATE TABLE parted (v int, t text) PARTITION BY RANGE (v);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (2000);
CREATE TABLE parted_high (t text, v int);
ALTER TABLE parted ATTACH PARTITION parted_high DEFAULT;
INSERT INTO parted SELECT v, t FROM seen;
CREATE TABLE nothing (v int);
INSERT INTO nothing SELECT FROM generate_series(1, 5000);
ANALYZE few, session, latest, parted, nothing;
SELECT tab, c.* FROM unnest(ARRAY['session', 'latest', 'parted']) tab,
	compare(format('SELECT v, t FROM %s WHERE cf_contains(list(''fives''), v)', tab)) c;
SELECT query, scans(query) FROM unnest(ARRAY['SELECT FROM few WHERE cf_contains(list(''fives''), v)',
	'SELECT FROM few WHERE cf_contains(list(''fives''), v) LIMIT 10000']) query;
-- offered where a query does not end the scan after few rows
SELECT query, scans(query) FROM unnest(ARRAY[
	'SELECT FROM seen WHERE cf_contains(list(''fives''), v) LIMIT 1',
	'SELECT FROM seen WHERE cf_contains(list(''none''), v) LIMIT 1',
	'SELECT EXISTS (SELECT FROM seen WHERE cf_contains(list(''fives''), v))',
	'SELECT EXISTS (SELECT FROM seen WHERE cf_contains(list(''none''), v))',
	'SELECT v FROM seen WHERE cf_contains(list(''fives''), v) ORDER BY v LIMIT 1',
	'SELECT count(*) FROM seen WHERE cf_contains(list(''fives''), v) LIMIT 1',
	'SELECT v % 9, max(v) FROM seen WHERE cf_contains(list(''fives''), v) GROUP BY v % 9 LIMIT 1',
	'SELECT DISTINCT v % 9 FROM seen WHERE cf_contains(list(''fives''), v) LIMIT 1',
	'SELECT row_number() OVER (), v FROM seen WHERE cf_contains(list(''fives''), v) LIMIT 1'
]) query;
SELECT scans('SELECT FROM seen TABLESAMPLE bernoulli (50) WHERE cf_contains(list(''fives''), v)') AS sampled;
INSERT INTO lists SELECT 'places', cf_agg(ctid::text) FROM nothing WHERE hashtid(ctid) % 2 = 0;
SELECT negation, scans, within(rows, 1000, 4000) AS rows, wrong FROM unnest(ARRAY['', 'NOT ']) negation,
	compare(format('SELECT ctid FROM nothing
		WHERE %s cf_contains((SELECT f FROM lists WHERE name = ''places''), ctid::text)', negation));
SELECT c.*
FROM compare('SELECT name, count(*) FROM lists JOIN parted ON cf_contains(f, v)
	WHERE name IN (''fives'', ''large'') GROUP BY name ORDER BY name') c;
DROP MATERIALIZED VIEW latest;
DROP TABLE few, session, parted;
-- a nested loop over partitions, of which one has no index
CREATE TABLE parts (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (20001);
CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT i, i % 100 FROM generate_series(1, 21500) i;
CREATE INDEX ON parts_1 (k);
CREATE TABLE keys AS SELECT i * 5000 + 17 AS k FROM generate_series(1, 4) i;
ANALYZE parts, keys;
SELECT c.*
FROM compare('SELECT * FROM keys JOIN parts USING (k)
	WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), v) ORDER BY k') c;
SELECT c.*
FROM compare('SELECT * FROM parts
	WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), v) ORDER BY k LIMIT 20500') c;
DROP TABLE parts, keys;

-- ---- joins of partitions ----

-- the planner copies the conditions of the scan's path
CREATE TABLE pa (k int, v int) PARTITION BY LIST (k);
CREATE TABLE pa_1 PARTITION OF pa FOR VALUES IN (1) PARTITION BY RANGE (v);
CREATE TABLE pa_1_low PARTITION OF pa_1 FOR VALUES FROM (MINVALUE) TO (1500);
CREATE TABLE pa_1_high PARTITION OF pa_1 DEFAULT;
CREATE TABLE pa_2 PARTITION OF pa FOR VALUES IN (2);
CREATE TABLE pf (k int, f cuckoofilter) PARTITION BY LIST (k);
CREATE TABLE pf_1 PARTITION OF pf FOR VALUES IN (1);
CREATE TABLE pf_2 PARTITION OF pf FOR VALUES IN (2);
INSERT INTO pa SELECT k, i FROM generate_series(1, 2) k, generate_series(1, 3000) i;
INSERT INTO pf SELECT k, cf_agg(i * 3) FROM generate_series(1, 2) k, generate_series(1, 500) i GROUP BY k;
ANALYZE pa, pf;
CREATE FUNCTION in_pf(f cuckoofilter) RETURNS TABLE (v int) LANGUAGE sql STABLE
	AS 'SELECT v FROM pa WHERE cf_contains(f, v) AND v <> -1';
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
CREATE TEMP TABLE queries AS SELECT claim, query FROM (VALUES
	('inner', 'SELECT count(*), sum(v) FROM pf JOIN pa USING (k)
		WHERE cf_contains(pf.f, pa.v) AND pa.v <> -1 AND pa.v <> -2 AND pa.v <> -3 AND pa.v <> -4 AND pa.v <> -5
			AND pa.v <> -6'),
	('anti', 'SELECT count(*), sum(k) FROM pf l
		WHERE NOT EXISTS (SELECT FROM pa a
			WHERE a.k = l.k AND cf_contains(l.f, a.v) AND a.v > 1500 AND a.v <> -2 AND a.v <> -3 AND a.v <> -4
				AND a.v <> -5 AND a.v <> -6)'),
	('left', 'SELECT k, count(v)
		FROM pf LEFT JOIN LATERAL (SELECT v FROM pa WHERE pa.k = pf.k AND cf_contains(f, v) AND v <> -1) s ON true
		GROUP BY k ORDER BY k'),
	('function', 'SELECT count(*) FROM pf l LEFT JOIN LATERAL (SELECT * FROM in_pf(l.f)) s ON true')) v(claim, query);
SELECT claim, c.* FROM queries, compare(query) c;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT claim, c.* FROM queries, compare(query) c;
SET enable_material = off;
SET enable_memoize = off;
SELECT claim, rows, wrong FROM queries, compare(query);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
EXPLAIN (COSTS OFF) SELECT count(*)
FROM pf JOIN pa_2 pa USING (k) WHERE cf_contains(pf.f, pa.v) AND pa.v <> -1 AND pa.v <> -2;
RESET enable_partitionwise_join;
RESET enable_partitionwise_aggregate;
DROP FUNCTION in_pf;
DROP TABLE pa, pf, queries;

-- ---- pages and memory ----

-- pages that do not stay in their buffers: of one row each, and more than there are buffers
CREATE TEMP TABLE wide (v int, filler text);
ALTER TABLE wide ALTER filler SET STORAGE plain;
INSERT INTO wide SELECT i, i || repeat('-', 4100) FROM generate_series(1, 1000) i;
ANALYZE wide;
SELECT c.* FROM compare('SELECT v, md5(filler) FROM wide WHERE cf_contains(list(''fives''), v)') c;
DROP TABLE wide;

-- memory for rows and pages is freed: only the last row passes, and sees little memory in use
CREATE FUNCTION held() RETURNS bigint LANGUAGE sql AS 'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
SELECT held() AS before \gset
SELECT held() AS before \gset
-- for elements, for filters that are made, for hashes, for filters that are compressed
SELECT t, within(greatest(held() - :before, 0), 0, 500000) AS bytes
FROM seen WHERE cf_contains((SELECT cf_agg('USER 19998!', 1e-8)), upper(t));
SELECT t, within(greatest(held() - :before, 0), 0, 500000) AS bytes
FROM seen WHERE cf_contains(cf_add((SELECT cf_agg('a ' || i, 1e-8) FROM generate_series(1, 3000) i), 'user 19998!'), t);
CREATE TABLE ranges AS SELECT int4range(i, i + 5) AS r, i FROM generate_series(1, 20000) i;
CREATE TABLE compressed (f cuckoofilter, g cuckoofilter);
ALTER TABLE compressed ALTER f SET STORAGE extended, ALTER g SET STORAGE extended;
INSERT INTO compressed SELECT cf_agg(int4range(20000, 20005), 1e-8),
	cf_delete_all(cf_agg(i, 1e-8), (SELECT array_agg(i) FROM generate_series(1, 2999) i))
FROM generate_series(1, 3000) i;
SELECT within(pg_column_size(g), 1, 999) AS stored, within((cf_info(g)).bytes, 5001) AS bytes FROM compressed;
ANALYZE ranges, compressed;
SELECT i, within(greatest(held() - :before, 0), 0, 500000) AS bytes
FROM ranges WHERE cf_contains((SELECT f FROM compressed), r);
SELECT i, within(greatest(held() - :before, 0), 0, 500000) AS bytes
FROM ranges WHERE cf_contains((SELECT g FROM compressed), i + -17000);
SELECT args, c.* FROM unnest(ARRAY['(SELECT f FROM compressed), r', '(SELECT g FROM compressed), i + -17000']) args,
	compare(format('SELECT r FROM ranges WHERE NOT cf_contains(%s)', args)) c;
DROP TABLE ranges, compressed;

-- rows are evaluated only a little ahead, and the filter only if a row needs it (the planner evaluates it once)
CREATE SEQUENCE ticks;
CREATE FUNCTION tick(int) RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''ticks''); RETURN $1; END';
CREATE FUNCTION ticks(query text, OUT scans text, OUT ticks bigint) LANGUAGE plpgsql AS $$
BEGIN
	scans := scans(query);
	PERFORM setval('ticks', 1);
	EXECUTE query;
	ticks := nextval('ticks') - 2;
END $$;
SELECT wanted, c.* FROM (VALUES
	('one by EXISTS', 'SELECT EXISTS (SELECT FROM listed
		WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''fives''), tick(v)))'),
	('the first row', 'WITH c AS MATERIALIZED (SELECT v FROM listed
		WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''fives''), tick(v))) SELECT FROM c LIMIT 1'),
	('3 of 15 rows', 'WITH c AS MATERIALIZED (SELECT v FROM listed
		WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), tick(v))) SELECT FROM c LIMIT 3'),
	('400 rows', 'WITH c AS MATERIALIZED (SELECT v FROM listed
		WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), tick(v))) SELECT FROM c LIMIT 400'),
	('one row, 100 times', 'SELECT (WITH c AS MATERIALIZED (SELECT v FROM listed
		WHERE v > n AND NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), tick(v))) SELECT v FROM c LIMIT 1)
		FROM generate_series(1, 100) n'),
	('no filter', 'SELECT v FROM seen
		WHERE v < 0 AND cf_contains(cf_add((SELECT f FROM lists WHERE name = ''fives''), tick(1)), v)'),
	('the filter, for null', 'SELECT v FROM seen
		WHERE cf_contains(cf_add((SELECT f FROM lists WHERE name = ''fives''), tick(1)), nullif(v, v))')
) v(wanted, query), ticks(query) c;
SELECT count(*), 0 AS truth FROM seen WHERE v < 0 AND cf_contains((SELECT f FROM lists), v);
SELECT count(*), 0 AS truth FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), nullif(t, t));
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists), nullif(v, v));
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists), nullif(t, t));
DROP FUNCTION ticks, tick;
DROP SEQUENCE ticks;

-- ---- filters fetched, and read in slices ----

-- a stored filter is fetched once if many rows probe it, after some slices; else it is probed by slices
CREATE TABLE numbers AS SELECT i AS v FROM generate_series(1, 20000) i;
ANALYZE numbers;
SELECT pages_read('SELECT count(*) FROM numbers') AS rows,
	pages_read('SELECT md5(f::bytea) FROM lists WHERE name = ''large''') AS filter \gset
SELECT query, within((pages_read(query) - :rows)::float8 / :filter, -1, 3) AS filters FROM unnest(ARRAY[
	'SELECT count(*) FROM numbers WHERE cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'SELECT count(*) FROM lists JOIN numbers ON cf_contains(f, v::bigint) WHERE name = ''large''',
	'SELECT count(*) '
		'FROM (SELECT v FROM numbers '
			'WHERE cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint) OFFSET 0) s WHERE v > 5'
]) query;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT query, scans(query), within((pages_read(query) - :rows)::float8 / :filter, -1, 0.5) AS filters FROM unnest(ARRAY[
	'SELECT count(*) FROM numbers '
		'WHERE v = 77 AND cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'SELECT count(*) FROM lists JOIN numbers ON v = length(name) AND cf_contains(f, v::bigint) WHERE name = ''large'''
]) query;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT query, scans(query), within(pages_read(query)::float8 / :filter, 0, 0.5) AS filters FROM unnest(ARRAY[
	'WITH c AS MATERIALIZED (SELECT FROM numbers '
		'WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)) SELECT FROM c LIMIT 3',
	'SELECT EXISTS (SELECT FROM numbers WHERE cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint))',
	'SELECT FROM lists WHERE name = ''large'' AND EXISTS (SELECT FROM numbers WHERE cf_contains(f, v::bigint))',
	'SELECT FROM lists WHERE name = ''large'' AND NOT EXISTS (SELECT FROM numbers WHERE cf_contains(f, v::bigint))',
	'SELECT FROM lists '
		'WHERE name = ''large'' '
			'AND EXISTS (SELECT FROM (TABLE numbers UNION ALL TABLE numbers) n WHERE cf_contains(f, v::bigint))'
]) query;
-- the number of rows that are wanted is unknown: here one
CREATE FUNCTION first_row() RETURNS int LANGUAGE sql AS
	'SELECT v FROM numbers WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)';
CREATE FUNCTION first_into() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	SELECT v INTO result FROM numbers WHERE NOT cf_contains((SELECT f FROM lists WHERE name = 'large'), v::bigint);
	RETURN result;
END $$;
CREATE FUNCTION first_of_loop() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	FOR result IN SELECT v FROM numbers
		WHERE NOT cf_contains((SELECT f FROM lists WHERE name = 'large'), v::bigint) LOOP
		RETURN result;
	END LOOP;
END $$;
CREATE FUNCTION pages_read_without(query text) RETURNS int LANGUAGE plpgsql SET cuckoo.enable_scan = off AS
	'BEGIN RETURN pages_read(query); END';
SELECT query, within(pages_read(query)::float8 / pages_read_without(query), 0, 1.05) AS share FROM unnest(ARRAY[
	'WITH n AS MATERIALIZED (SELECT v FROM numbers '
		'WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)) SELECT FROM n LIMIT 1',
	'SELECT first_row()', 'SELECT first_into()', 'SELECT first_of_loop()',
	'SELECT FROM (SELECT v FROM numbers WHERE v < 0 OFFSET 0) n JOIN numbers m USING (v) '
		'WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''large''), m.v::bigint)'
]) query;
-- one copy a query: for all partitions, calls, and filters in turn
CREATE TABLE parts (v int) PARTITION BY HASH (v);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES WITH (MODULUS 10, REMAINDER %1$s)', i)
FROM generate_series(0, 9) i \gexec
INSERT INTO parts SELECT v FROM numbers;
ANALYZE parts;
SELECT pages_read('SELECT count(*) FROM parts') AS parts \gset
-- at most as much again, in pages, to find out by slices
SELECT query, scan, within((pages_read(query) - :parts - :rows)::float8 / :filter, -5, 5) AS filters
FROM unnest(ARRAY['on', 'off']) scan, set_config('cuckoo.enable_scan', scan, false), unnest(ARRAY[
	'SELECT count(*) FROM parts WHERE cf_contains((SELECT f FROM lists WHERE name = ''large''), v::bigint)',
	'SELECT count(*) FROM parts, (SELECT f, f AS g FROM lists WHERE name = ''large'' OFFSET 0) l '
		'WHERE cf_contains(f, v::bigint) OR cf_contains(g, v + 1::bigint) OR cf_count(f, v) > 1',
	'SELECT count(*) FROM numbers WHERE v <@ ANY (SELECT f FROM lists WHERE name IN (''large'', ''fives''))',
	'SELECT count(*) FROM numbers WHERE NOT v <@ ANY (SELECT f FROM lists WHERE name IN (''large'', ''fives''))'
]) query;
RESET cuckoo.enable_scan;
-- an empty filter needs no element
CREATE TABLE documents AS SELECT i, '' AS doc FROM generate_series(1, 2000) i;
ALTER TABLE documents ALTER doc SET STORAGE external;
UPDATE documents SET doc = repeat('long ', 1000);
VACUUM ANALYZE documents;
SELECT pages_read('SELECT count(i) FROM documents') AS documents \gset
SELECT query, scans(query), within(pages_read(query) - :documents, -49, 49) AS pages FROM unnest(ARRAY[
	'SELECT count(*) FROM documents WHERE cf_contains((SELECT f FROM lists WHERE name = ''none''), doc)',
	'SELECT count(*) FROM documents WHERE doc <@ ANY (ARRAY(SELECT f FROM lists WHERE name IN (''none'', ''null'')))'
]) query;
DROP TABLE parts, documents;

-- filters that do not fit work_mem together are dropped and fetched again; the present one is kept
CREATE TABLE shelf AS SELECT s, cf_agg(i * 20 + s) AS f
FROM generate_series(1, 20) s, generate_series(1, 20000) i GROUP BY s;
ANALYZE shelf;
CREATE FUNCTION held_after(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	row record;
	bytes bigint;
BEGIN
	FOR row IN EXECUTE query LOOP
		bytes := held();
	END LOOP;
	RETURN bytes;
END $$;
SELECT within(sum((cf_info(f)).bytes), 500001) AS bytes FROM shelf;
SELECT held() AS before \gset
SELECT held() AS before \gset
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT within(greatest(held_after('SELECT s, count(*) FROM shelf, numbers WHERE cf_contains(f, v) GROUP BY s')
	- :before, 0), 0, 250000) AS bytes;
SELECT query, c.* FROM unnest(ARRAY[
	'SELECT s, count(*) FROM shelf, numbers WHERE cf_contains(f, v) GROUP BY s ORDER BY s',
	'SELECT count(*), sum(v) FROM numbers WHERE v % 20 = 3 AND v <@ ANY (ARRAY(SELECT f FROM shelf))',
	'SELECT count(*), sum(v) FROM numbers WHERE v % 20 = 3 AND NOT v <@ ANY (SELECT f FROM shelf)'
]) query, compare(query) c;
-- the element's own probes drop the filter of the batch: for want of memory, or as there are more filters than are kept
SELECT string_agg(format('cf_count((SELECT f FROM shelf WHERE s = %s), v)', s), ' + ') AS counts
FROM shelf WHERE s <= 9 \gset
SELECT memory, c.rows, c.wrong FROM unnest(ARRAY['64kB', '64MB']) memory, set_config('work_mem', memory, false),
	compare('SELECT v FROM numbers
		WHERE v < 4000 AND cf_contains((SELECT f FROM lists WHERE name = ''large''), v + 0 * (' || :'counts' || '))') c;
SET work_mem = '64kB';
-- it is read by slices then, if the rows of a page do not pay for fetching it again
CREATE TABLE padded AS SELECT v, repeat('x', 400) FROM numbers WHERE v <= 4000;
CREATE TABLE dense AS SELECT cf_agg(i * 2) AS f FROM generate_series(1, 500000) i;
ANALYZE padded;
SELECT count, within(contexts('ExecutorState', 'max(total_bytes)'), 1, 600000) AS bytes
FROM (SELECT count(*) FROM padded WHERE cf_contains((SELECT f FROM dense), v + 0 * (:counts)) OFFSET 0) s;
DROP TABLE padded, dense;
-- a scan that has ended leaves the room to the next one
CREATE TABLE larger AS SELECT s, cf_agg(i * 2 + s) AS f
FROM generate_series(1, 2) s, generate_series(1, 60000) i GROUP BY s;
ANALYZE larger;
SELECT node -> 'Filters Fetched' AS fetched, node -> 'Filters Read by Slices' AS slices
FROM jsonb_path_query(plan_of('SELECT FROM numbers WHERE cf_contains((SELECT f FROM larger WHERE s = 1), v)
	UNION ALL SELECT FROM numbers WHERE cf_contains((SELECT f FROM larger WHERE s = 2), v)', 'ANALYZE, ')::jsonb,
		'strict $.** ? (@."Custom Plan Provider" == "CuckooScan")') node;
DROP TABLE larger;
RESET work_mem;
RESET hash_mem_multiplier;
DROP FUNCTION held_after, held, first_row, first_into, first_of_loop, pages_read_without;
DROP TABLE numbers, shelf;

-- ---- workers, prepared statements and cursors ----

-- parallel, even if the scan is rescanned
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_material = off;
SELECT filter, c.* FROM (VALUES
	('stored', 'SELECT count(*), sum(later) FROM seen
		WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)'),
	('aggregated', 'SELECT count(*), sum(later) FROM seen
		WHERE NOT v <@ (SELECT cf_agg(v, 500, 0.01) FROM seen WHERE v < 500)'),
	('stored, rescanned', 'SELECT *
		FROM (VALUES (1), (2), (3)) n
		LEFT JOIN (SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)) s
			ON true')) v(filter, query), compare(query) c;
RESET enable_material;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SET max_parallel_workers_per_gather = 0;

-- prepared, with the filter as a parameter
PREPARE listed(cuckoofilter, int) AS SELECT count(*), $2 AS truth FROM seen WHERE cf_contains($1, v);
SET plan_cache_mode = force_generic_plan;
SELECT scans('EXECUTE listed(NULL, 0)');
EXECUTE listed(NULL, 0);
SELECT f AS fives FROM lists WHERE name = 'fives' \gset
EXECUTE listed(:'fives', 3428);
RESET plan_cache_mode;
DEALLOCATE listed;
-- in PL/pgSQL, the variable changing under an open query
DO $$
DECLARE
	f cuckoofilter := cf_new();
	n int := 0;
	r record;
BEGIN
	FOR r IN SELECT v, later FROM seen WHERE NOT cf_contains(f, v) LOOP
		n := n + 1;
		f := cf_add_unique(f, r.v);
	END LOOP;
	RAISE NOTICE '% rows, % values', n, cf_count(f);
END $$;

-- changes; rows that are looked at ahead are those of the query's snapshot
BEGIN;
UPDATE seen SET v = v + 5 WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
DELETE FROM seen WHERE (SELECT f FROM lists WHERE name = 'fives') @> v AND later > 10000;
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
SELECT count(*) FROM (SELECT FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v) FOR UPDATE) s;
ROLLBACK;
-- cursors: the current row, held, across a savepoint
BEGIN;
DECLARE c CURSOR FOR SELECT v, t FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
FETCH 2 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
UPDATE listed SET t = 'current' WHERE CURRENT OF c RETURNING v, t;
ROLLBACK TO s;
MOVE 100 FROM c;
FETCH 1 FROM c;
DELETE FROM listed WHERE CURRENT OF c RETURNING v, t;
FETCH 1 FROM c;
ROLLBACK;
-- backward, the rows come from Materialize
EXPLAIN (COSTS OFF) DECLARE c SCROLL CURSOR FOR SELECT v FROM listed WHERE cf_contains(list('fives'), v);
BEGIN;
DECLARE c CURSOR FOR SELECT v FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
MOVE 2 FROM c;
FETCH PRIOR FROM c;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT v, t
	FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
FETCH LAST FROM c;
CLOSE c;
-- no page stays pinned at the end of the table
CREATE EXTENSION IF NOT EXISTS pg_buffercache;
BEGIN;
LOCK listed IN SHARE UPDATE EXCLUSIVE MODE;
CREATE FUNCTION pinned() RETURNS bigint LANGUAGE sql AS
	$$SELECT count(*) FROM pg_buffercache WHERE pinning_backends > 0 AND relfilenode = pg_relation_filenode('listed')$$;
DECLARE c CURSOR FOR SELECT v FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
MOVE 2 FROM c;
SELECT within(pinned(), 1) AS alone;
MOVE 100 FROM c;
SELECT within(pinned(), 1) AS in_batch;
MOVE ALL FROM c;
SELECT pinned() AS at_end, 0 AS truth;
ROLLBACK;
DROP EXTENSION pg_buffercache;
-- a type that changes under an open cursor is an error, not a "no"
SET client_min_messages = warning;
CREATE TYPE own;
CREATE FUNCTION own_in(cstring) RETURNS own LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION own_out(own) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
RESET client_min_messages;
CREATE TYPE own (INPUT = own_in, OUTPUT = own_out, LIKE = int4);
CREATE CAST (int AS own) WITHOUT FUNCTION;
CREATE FUNCTION own_eq(own, own) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE OPERATOR = (LEFTARG = own, RIGHTARG = own, FUNCTION = own_eq, HASHES);
CREATE FUNCTION own_hash(own) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE FUNCTION own_hash_extended(own, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'hashint4extended';
CREATE OPERATOR CLASS own_ops DEFAULT FOR TYPE own USING hash AS OPERATOR 1 =, FUNCTION 1 own_hash(own),
	FUNCTION 2 own_hash_extended(own, bigint);
SELECT scans('SELECT FROM listed WHERE cf_contains((SELECT cf_agg(v::own) FROM listed), v::own)');
BEGIN;
DECLARE c CURSOR FOR SELECT FROM listed WHERE cf_contains((SELECT cf_agg(v::own) FROM listed), v::own);
FETCH 1 FROM c;
CREATE OR REPLACE FUNCTION own_hash_extended(own, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT
	AS 'hashoidextended';
MOVE ALL FROM c;
ROLLBACK;
SET client_min_messages = warning;
DROP TYPE own CASCADE;
RESET client_min_messages;
-- the test's function is altered under an open cursor
BEGIN;
DECLARE d CURSOR FOR SELECT v FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
FETCH 1 FROM d;
DO $$
BEGIN
	EXECUTE replace(pg_get_functiondef('cf_contains'::regproc), ' SUPPORT cuckoo_contains_support', '');
END $$;
MOVE 70 FROM d;
FETCH 1 FROM d;
ROLLBACK;
-- any moves of a cursor give what they give without the scan
SELECT setseed(0.5);
DO $$
DECLARE
	queries text[] := ARRAY['SELECT ctid, v FROM seen
		WHERE length(t) <> 8 AND cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND v % 3 <> 0',
		'SELECT ctid, v FROM seen WHERE NOT cf_contains((SELECT f FROM lists WHERE name = ''none''), v)',
		-- the filter is computed
		'SELECT ctid, v FROM seen WHERE cf_contains(list(''fives''), v) AND v % 2 = 0'];
	query text;
	c refcursor := 'c';
	d refcursor := 'd';
	row_c record;
	row_d record;
	direction text;
	moves int;
	n int := 0;
BEGIN
	FOR round IN 1..60 LOOP
		query := queries[1 + floor(random() * 3)];
		EXECUTE 'DECLARE c SCROLL CURSOR FOR ' || query;
		SET LOCAL cuckoo.enable_scan = off;
		EXECUTE 'DECLARE d CURSOR FOR ' || query;
		SET LOCAL cuckoo.enable_scan = on;
		FOR i IN 1..30 LOOP
			direction := (ARRAY['FORWARD', 'FORWARD', 'BACKWARD'])[1 + floor(random() * 3)];
			moves := CASE WHEN random() < 0.05 THEN 3000 WHEN random() < 0.3 THEN random() * 200 ELSE random() * 4 END;
			EXECUTE format('MOVE %s %s FROM c', direction, moves);
			EXECUTE format('MOVE %s %s FROM d', direction, moves);
			EXECUTE format('FETCH %s FROM c', CASE i % 2 WHEN 0 THEN 'NEXT' ELSE 'PRIOR' END) INTO row_c;
			EXECUTE format('FETCH %s FROM d', CASE i % 2 WHEN 0 THEN 'NEXT' ELSE 'PRIOR' END) INTO row_d;
			IF row_c IS DISTINCT FROM row_d THEN
				RAISE 'after % % in round %: %, not %', direction, moves, round, row_c, row_d;
			END IF;
			n := n + (row_c.v IS NOT NULL)::int;
		END LOOP;
		CLOSE c;
		CLOSE d;
	END LOOP;
	RAISE NOTICE 'rows the same: %', within(n, 1001);
END $$;

-- ---- errors and rights ----

-- errors are those of the function
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), t);
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), 1 / (later - 500));
-- rights: to call the function, and to see rows only behind those of a policy
CREATE ROLE cuckoo_scanner;
GRANT SELECT ON seen, lists TO cuckoo_scanner;
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY fives ON seen TO cuckoo_scanner USING (cf_contains((SELECT f FROM lists WHERE name = 'fives'), v));
CREATE FUNCTION leak(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	IF $1 % 5 <> 0 THEN
		RAISE NOTICE 'shown %', $1;
	END IF;
	RETURN $1 < 100;
END $$;
CREATE FUNCTION immutable_leak(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql COST 0.0001
	AS 'BEGIN RETURN leak($1); END';
SET ROLE cuckoo_scanner;
SELECT scans('SELECT FROM seen WHERE immutable_leak(v)');
SELECT count(*) FROM seen WHERE immutable_leak(v);
RESET ROLE;
GRANT UPDATE ON seen TO cuckoo_scanner;
SET ROLE cuckoo_scanner;
BEGIN;
SET LOCAL random_page_cost = 1000000;
DECLARE c CURSOR FOR SELECT FROM seen;
FETCH 3 FROM c;
UPDATE seen SET later = later WHERE CURRENT OF c RETURNING v;
ROLLBACK;
RESET ROLE;
CREATE POLICY everything ON seen TO cuckoo_scanner USING (v % 5 = 0);
DROP POLICY fives ON seen;
SET ROLE cuckoo_scanner;
SELECT scans('SELECT FROM seen
	WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), v) AND immutable_leak(v)');
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v) AND immutable_leak(v);
RESET ROLE;
-- the rights are those of the user who opened the cursor, also when batches begin
CREATE FUNCTION secret(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
REVOKE EXECUTE ON FUNCTION secret FROM public;
CREATE FUNCTION open_secret() RETURNS refcursor SECURITY DEFINER LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
BEGIN
	OPEN c FOR SELECT v FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), secret(v));
	RETURN c;
END $$;
SELECT scans('SELECT v FROM listed WHERE cf_contains((SELECT f FROM lists WHERE name = ''fives''), secret(v))');
SET ROLE cuckoo_scanner;
BEGIN;
SELECT open_secret();
FETCH 1 FROM c;
MOVE 70 FROM c;
FETCH 1 FROM c;
ROLLBACK;
SELECT secret(1);
RESET ROLE;
DROP FUNCTION secret, open_secret;
REVOKE EXECUTE ON FUNCTION cf_contains FROM public;
SET ROLE cuckoo_scanner;
SELECT count(*) FROM seen WHERE cf_contains((SELECT f FROM lists WHERE name = 'fives'), v);
RESET ROLE;
GRANT EXECUTE ON FUNCTION cf_contains TO public;
DROP OWNED BY cuckoo_scanner;
DROP ROLE cuckoo_scanner;
DROP FUNCTION leak, immutable_leak;
-- a window that ends early keeps rows from being evaluated: 40 is an error
SELECT count(*) FROM (SELECT row_number() OVER () AS n FROM seen
	WHERE NOT cf_contains((SELECT f FROM lists WHERE name = 'none'), 1 / (40 - v))) w WHERE n <= 10;
-- the planner still may prefer an index
CREATE INDEX ON seen (later);
SELECT scans('SELECT FROM seen WHERE later = 7 AND cf_contains((SELECT f FROM lists WHERE name = ''fives''), v)');
DROP TABLE seen, listed, lists, nothing;
DROP FUNCTION scans, compare, list;
RESET max_parallel_workers_per_gather;
