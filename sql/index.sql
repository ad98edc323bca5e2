-- The access method: an index that is a filter

-- what it answers, as it grows from an empty table

CREATE TABLE visits (id bigint, url text);
CREATE INDEX visits_id ON visits USING cuckoo (id) WITH (seed = 1);
CREATE INDEX visits_url ON visits USING cuckoo (url) WITH (fpp = 0.01);
SELECT cf_index_contains('visits_id', 1), cf_index_contains('visits_url', 'u1');
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(1, 2000) i;
SELECT cf_index_contains('visits_id', 1), cf_index_contains('visits_url', 'u1'),
	cf_index_contains('visits_id', 1::int2), cf_index_contains('visits_url', 'u1'::name);
SELECT items, pages, growth_level, spare, saturated, family, stale
FROM cf_index_info('visits_id');
SELECT cf_index_check('visits_id', true), cf_index_check('visits_url', true);
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(2001, 60000) i;
SELECT items BETWEEN 59900 AND 60000 AS items, pages > 16 AS pages, growth_level > 4 AS grown,
	fpp_now < 0.0001 AS fpp_now, bytes = pg_relation_size('visits_id') AS bytes
FROM cf_index_info('visits_id');
SELECT cf_index_check('visits_id', true), cf_index_check('visits_url', true);
SELECT count(*) < 20 AS few FROM generate_series(100000, 110000) i WHERE cf_index_contains('visits_id', i);

-- what is there already is not added again
INSERT INTO visits SELECT * FROM visits WHERE id <= 1000;
SELECT items BETWEEN 59900 AND 60000 AS items FROM cf_index_info('visits_id');

-- arrays
SELECT cf_index_contains_each('visits_id', '{{1,NULL},{2,-5}}'::int[]);
SELECT cf_index_contains_each('visits_id', '{}'::int[]), cf_index_contains_each('visits_id', NULL::int[]);
SELECT cf_index_contains_any('visits_id', '{-5,7}'::bigint[]), cf_index_contains_any('visits_id', '{-5,NULL}'::bigint[]),
	cf_index_contains_any('visits_id', '{}'::bigint[]);
SELECT bool_and(a = b) FROM unnest(
	cf_index_contains_each('visits_id', (SELECT array_agg(i) FROM generate_series(1, 100000, 7) i)),
	(SELECT array_agg(cf_index_contains('visits_id', i)) FROM generate_series(1, 100000, 7) i)) u(a, b);

-- REINDEX fits it to the rows, and takes deleted ones out
DELETE FROM visits WHERE id > 2000;
VACUUM visits;
SELECT items > 59000 AS items FROM cf_index_info('visits_id');
REINDEX INDEX visits_id;
SELECT items, pages, growth_level FROM cf_index_info('visits_id');
SELECT cf_index_check('visits_id', true);
REINDEX INDEX CONCURRENTLY visits_url;
SELECT cf_index_check('visits_url', true);

-- The index as a filter: that of the same rows built at once, inserted one by
-- one into pages that split, and built with too little memory for all rows, has
-- the same keys.

CREATE TABLE numbers (id int);
CREATE INDEX numbers_grown ON numbers USING cuckoo (id) WITH (seed = 7, spare = 6);
INSERT INTO numbers SELECT i FROM generate_series(1, 30000) i;
CREATE TABLE one (id int);
INSERT INTO one SELECT 1;
CREATE INDEX one_id ON one USING cuckoo (id) WITH (seed = 7, spare = 6);
SELECT cf_compatible(cf_index_filter('numbers_grown'), cf_index_filter('one_id'));
SELECT bool_and(cf_contains(f, id)) FROM numbers, (SELECT cf_index_filter('numbers_grown') OFFSET 0) f(f);
SELECT cf_compact(cf_union(cf_index_filter('one_id'), cf_index_filter('numbers_grown'))) =
	cf_compact(cf_index_filter('numbers_grown')) AS contains_it;
SELECT cf_overlap(cf_index_filter('one_id'), cf_index_filter('numbers_grown')) BETWEEN 0.9 AND 1.1 AS one;
CREATE INDEX numbers_built ON numbers USING cuckoo (id) WITH (seed = 7, spare = 6, capacity = 200000);
CREATE TABLE again (id int);
CREATE INDEX again_id ON again USING cuckoo (id) WITH (seed = 7, spare = 6, capacity = 200000);
INSERT INTO again SELECT id FROM numbers ORDER BY -id;
SELECT cf_compact(cf_index_filter('numbers_built')) = cf_compact(cf_index_filter('again_id')) AS same;
SELECT growth_level, fingerprint_bits, buckets FROM cf_info(cf_index_filter('numbers_built'));
SET maintenance_work_mem = '1MB';
CREATE TABLE many (id int);
INSERT INTO many SELECT i FROM generate_series(1, 300000) i;
CREATE INDEX many_id ON many USING cuckoo (id);
SELECT cf_index_check('many_id', true);
SELECT saturated, items BETWEEN 299900 AND 300000 AS items, bits_per_item < 24 AS dense FROM cf_index_info('many_id');
-- made for what it has, where the rows do not fit in memory
CREATE INDEX many_few ON many USING cuckoo ((id % 3));
CREATE INDEX many_some ON many USING cuckoo (id) WHERE id % 3 = 0;
CREATE INDEX many_null ON many USING cuckoo (nullif(id % 4, 0)) WHERE id > 1000;
SELECT relname, pg_relation_size(oid) < pg_relation_size('many_id') / 2 AS smaller FROM pg_class WHERE relname LIKE 'many\__%' ORDER BY 1;
SELECT cf_index_check('many_few', true), cf_index_check('many_some', true), cf_index_check('many_null', true);
RESET maintenance_work_mem;

-- of each family, built and grown: the keys that adding the values to a filter of that geometry gives
CREATE FUNCTION key_for_key(expression text, rows int, options text) RETURNS TABLE (split boolean, every_key boolean, every_row boolean) LANGUAGE plpgsql AS $$
DECLARE
	values cuckoofilter;
	filter cuckoofilter;
BEGIN
	EXECUTE format('CREATE TABLE keyed AS SELECT %s AS v FROM generate_series(1, %s) i', expression, rows / 100);
	EXECUTE format('CREATE INDEX keyed_v ON keyed USING cuckoo (v) WITH (%s)', options);
	EXECUTE format('INSERT INTO keyed SELECT %s AS v FROM generate_series(%s, %s) i', expression, rows / 100, rows);
	filter := cf_index_filter('keyed_v');
	EXECUTE 'SELECT cf_add_unique_all(cf_clear($1), array_agg(v)) FROM keyed' INTO values USING filter;
	EXECUTE 'SELECT bool_and(cf_contains($1, v)) FROM keyed' INTO every_row USING filter;
	every_key := cf_compact(values) = cf_compact(filter);
	split := growth_level > 0 FROM cf_index_info('keyed_v');
	DROP TABLE keyed;
	RETURN NEXT;
END $$;
SELECT expression, k.* FROM unnest(string_to_array('i; i::int8; i::int2; i::text; i::varchar(9); i::char(9); i::text::bytea; md5(i::text)::uuid; current_date + i; current_timestamp + i * interval ''1 s''; localtimestamp + i * interval ''1 s''; i / 3.0::float8; i / 3.0::float4; i / 7.0; ''10.0.0.0''::inet + i; (''::'' || to_hex(i))::inet; to_char(i, ''"08002b"FM000000'')::macaddr; to_char(i, ''"08002b0102"FM000000'')::macaddr8; time ''00:00'' + i * interval ''1 s''; i * interval ''1 day''; int4range(i, i + 2)', '; ')) expression,
	key_for_key(expression, 20000, 'fpp = 0.01') k;
SELECT fpp, spare, capacity, k.* FROM unnest(ARRAY[1e-8, 0.0001, 0.01]) fpp, unnest(ARRAY[4, 8]) spare, unnest(ARRAY[0, 10000]) capacity,
	key_for_key('i * 3', 20000, format('fpp = %s, spare = %s, capacity = %s, seed = 3', fpp, spare, capacity)) k;
DROP FUNCTION key_for_key;

-- saturation: no bit is left, and everything is "maybe", but never an error

CREATE TABLE dense (id int);
CREATE INDEX dense_id ON dense USING cuckoo (id) WITH (fpp = 0.5, spare = 0, seed = 1);
INSERT INTO dense SELECT i FROM generate_series(1, 20000) i;
SELECT saturated, fpp_now, spare FROM cf_index_info('dense_id');
SELECT cf_index_contains('dense_id', -1), cf_index_check('dense_id', true);
SELECT cf_index_filter('dense_id');
REINDEX INDEX dense_id;
SELECT saturated, fpp_now < 0.1 AS fpp_now FROM cf_index_info('dense_id');

-- types

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TABLE kinds (m mood, p positive, a int[], r int4range, c char(5), n numeric, x inet, t timestamptz, j jsonb,
	f float4, e text COLLATE "C");
INSERT INTO kinds VALUES ('ok', 5, '{1,2}', '[1,5)', 'ab', 1.50, '10.0.0.1', '2020-01-01 UTC', '{"a": 1}', 0.5, 'e');
CREATE INDEX kinds_m ON kinds USING cuckoo (m);
CREATE INDEX kinds_p ON kinds USING cuckoo (p);
CREATE INDEX kinds_a ON kinds USING cuckoo (a);
CREATE INDEX kinds_r ON kinds USING cuckoo (r);
CREATE INDEX kinds_c ON kinds USING cuckoo (c);
CREATE INDEX kinds_n ON kinds USING cuckoo (n);
CREATE INDEX kinds_x ON kinds USING cuckoo (x);
CREATE INDEX kinds_t ON kinds USING cuckoo (t);
CREATE INDEX kinds_j ON kinds USING cuckoo (j);
CREATE INDEX kinds_f ON kinds USING cuckoo (f);
CREATE INDEX kinds_e ON kinds USING cuckoo (upper(e)) WHERE e IS NOT NULL;
SELECT cf_index_contains('kinds_m', 'ok'::mood), cf_index_contains('kinds_p', 5), cf_index_contains('kinds_a', '{1,2}'::int[]),
	cf_index_contains('kinds_r', '[1,4]'::int4range), cf_index_contains('kinds_c', 'ab'::char(9)),
	cf_index_contains('kinds_n', 1.5), cf_index_contains('kinds_x', '10.0.0.1'::inet),
	cf_index_contains('kinds_t', '2020-01-01 UTC'::timestamptz), cf_index_contains('kinds_j', '{"a":1}'::jsonb),
	cf_index_contains('kinds_f', 0.5::float8),
	cf_index_contains('kinds_e', 'E');
SELECT cf_index_contains('kinds_m', 'sad'::mood), cf_index_contains('kinds_a', '{{1,2}}'::int[]),
	cf_index_contains('kinds_n', 1.51), cf_index_contains('kinds_e', 'e');
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT cf_index_contains('kinds_m', 'fine'::mood);
SELECT sum(cf_index_check(i::regclass, true)) FROM unnest('{kinds_m,kinds_p,kinds_a,kinds_r,kinds_c,kinds_n,kinds_x,kinds_t,kinds_j,kinds_f,kinds_e}'::text[]) i;
SELECT count(*) > 30 AS classes, bool_and(amvalidate(oid)) FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');

-- citext, as doc/index.md tells: an index by the default class is one of text
CREATE EXTENSION citext;
CREATE TABLE people (name citext);
INSERT INTO people SELECT 'Name ' || i FROM generate_series(1, 3000) i;
CREATE INDEX people_text ON people USING cuckoo (name);
ANALYZE people;
EXPLAIN (COSTS OFF) SELECT count(*) FROM people WHERE name = 'NAME 7';
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING cuckoo AS OPERATOR 1 =;
CREATE INDEX people_name ON people USING cuckoo (name) WITH (seed = 1);
EXPLAIN (COSTS OFF) SELECT count(*) FROM people WHERE name = 'NAME 7';
SELECT count(*) FROM people WHERE name = 'NAME 7';
SELECT count(*) FROM people WHERE name = 'Name 7'::text;
SELECT cf_index_contains('people_name', 'NAME 7'::citext), cf_index_contains('people_name', 'NAME 0'::citext);
DROP TABLE people;
DROP OPERATOR FAMILY citext_ops USING cuckoo;
DROP EXTENSION citext;

-- trailing blanks, which char(n) ignores
CREATE TABLE blanks (t text, c char(9), v varchar, a char(3)[], filler text);
INSERT INTO blanks SELECT 'x' || i || '  ', 'x' || i, 'x' || i || ' ', ARRAY[i % 900], repeat('f', 100) FROM generate_series(1, 3000) i;
CREATE INDEX blanks_t ON blanks USING cuckoo (t bpchar_ops);
CREATE INDEX blanks_t ON blanks USING cuckoo ((t::bpchar));
CREATE INDEX blanks_c ON blanks USING cuckoo (c);
CREATE INDEX blanks_v ON blanks USING cuckoo (v);
CREATE INDEX blanks_a ON blanks USING cuckoo (a);
ANALYZE blanks;
EXPLAIN (COSTS OFF) SELECT * FROM blanks WHERE t::bpchar = 'x5';
SELECT count(*) FROM blanks WHERE t::bpchar = 'x5';
SELECT count(*) FROM blanks WHERE t::bpchar = ANY ('{x5,x6 }');
SELECT cf_index_contains('blanks_t', 'x5'), cf_index_contains('blanks_t', 'x5 '::char(9)), cf_index_contains('blanks_t', 'x5       '::name),
	cf_index_contains('blanks_t', ' '::"char");
SELECT bool_and(cf_index_contains('blanks_t', t)) AND bool_and(cf_index_contains('blanks_t', t::name)) AND bool_and(t::bpchar <@ f)
FROM blanks, (SELECT cf_index_filter('blanks_t') OFFSET 0) f(f);
SELECT cf_index_contains('blanks_c', 'x5   '), cf_index_contains('blanks_c', 'x5 '::varchar), cf_index_contains('blanks_c', 'x5 '::char(4)),
	cf_index_contains_each('blanks_c', '{x5,"x5 ",-}'::text[]), cf_index_contains_any('blanks_c', '{"x5 "}'::varchar[]);
SELECT cf_index_contains('blanks_v', 'x5 '), cf_index_contains('blanks_v', 'x5'), cf_index_contains('blanks_v', 'x5 '::char(3));
SELECT stale, cf_index_contains('blanks_a', '{5}'::char(3)[]), cf_index_contains('blanks_a', '{-5}'::char(3)[]) FROM cf_index_info('blanks_a');
EXPLAIN (COSTS OFF) SELECT * FROM blanks WHERE a = '{5}'::char(3)[];
-- a B-tree that cannot serve the condition takes no gate away
CREATE INDEX ON blanks USING btree (v COLLATE "C");
EXPLAIN (COSTS OFF) SELECT * FROM blanks WHERE v = 'none';
DROP TABLE blanks;

-- a view remembers the index by its OID
CREATE VIEW asking AS SELECT cf_index_contains('visits_id', 1);
CREATE VIEW asking_by_name AS SELECT cf_index_contains('visits_id'::text::regclass, 1);
REINDEX INDEX CONCURRENTLY visits_id;
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
SELECT cf_index_partitions(0, 1);

-- no equality
CREATE OPERATOR CLASS less_ops FOR TYPE int4 USING cuckoo AS OPERATOR 1 <;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'less_ops';
DROP OPERATOR FAMILY less_ops USING cuckoo;

-- workers cannot read temporary tables
CREATE TEMPORARY TABLE temporary AS SELECT 7 AS id;
CREATE INDEX temporary_id ON temporary USING cuckoo (id);
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(*) BETWEEN 1 AND 100 AS found FROM numbers WHERE cf_index_contains('temporary_id', id);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DROP TABLE temporary;

-- plans: a gate where no exact index serves the column

CREATE TABLE seen AS SELECT i AS id, 'u' || i AS url, i % 3 AS kind FROM generate_series(1, 5000) i;
CREATE INDEX seen_id ON seen USING cuckoo (id);
CREATE INDEX seen_url ON seen USING cuckoo (url) WHERE kind = 1;
ANALYZE seen;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE 7 = id;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = ANY ('{1,2}') OR id = 5;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = ANY ('{1,2}');
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7::bigint;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id > 7;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE url = 'u1';
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE url = 'u1' AND kind = 1;
EXPLAIN (COSTS OFF) UPDATE seen SET kind = 5 WHERE id = 70000;
EXPLAIN (COSTS OFF) SELECT * FROM seen a LEFT JOIN seen b ON b.id = 70000 WHERE a.id = 1;
SELECT count(*), count(b.id) FROM seen a LEFT JOIN seen b ON b.id = 70000 WHERE a.id = 1;
SELECT count(*) FROM seen WHERE id = 7;
SELECT count(*) FROM seen WHERE id = NULL::int;
SELECT count(*) FROM seen WHERE id = 70000;
PREPARE by_id(int) AS SELECT count(*) FROM seen WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_id(70000);
EXECUTE by_id(70000);
INSERT INTO seen VALUES (70000, 'u70000', 0);
EXECUTE by_id(70000);
EXECUTE by_id(7);
EXECUTE by_id(NULL);
RESET plan_cache_mode;
CREATE INDEX seen_exact ON seen (id);
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7;
ALTER INDEX seen_id SET (gate = on);
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7;
ALTER INDEX seen_id SET (gate = off);
DROP INDEX seen_exact;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 7;
ALTER INDEX seen_id RESET (gate);

-- partitions

CREATE TABLE events (day int, id bigint) PARTITION BY LIST (day);
CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1);
CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
CREATE INDEX events_id ON events USING cuckoo (id) WITH (fpp = 1e-5);
INSERT INTO events SELECT i % 2 + 1, i FROM generate_series(1, 4000) i;
CREATE TABLE events_3 (id bigint, day int);
INSERT INTO events_3 SELECT 1000000 + i, 3 FROM generate_series(0, 2000) i;
ALTER TABLE events ATTACH PARTITION events_3 FOR VALUES IN (3);
SELECT cf_index_partitions('events_id', 1), cf_index_partitions('events_id', 1000000), cf_index_partitions('events_id', -1);
SELECT cf_index_partitions_any('events_id', '{1,2,-3}'::bigint[]);
SELECT cf_index_partitions('visits_id', 1);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id = 7;
SELECT cf_index_contains('events_id', 1);
-- a foreign table has no index
CREATE FOREIGN DATA WRAPPER regress_cuckoo;
CREATE SERVER regress_cuckoo FOREIGN DATA WRAPPER regress_cuckoo;
CREATE FOREIGN TABLE events_4 PARTITION OF events FOR VALUES IN (4) SERVER regress_cuckoo;
SELECT cf_index_partitions('events_id', 1), cf_index_partitions_any('events_id', '{-1}'::bigint[]);
DROP FOREIGN TABLE events_4;
DROP SERVER regress_cuckoo;
DROP FOREIGN DATA WRAPPER regress_cuckoo;
-- an index that not all partitions have
CREATE INDEX events_some ON ONLY events USING cuckoo (id);
SELECT cf_index_partitions('events_some', 1);
CREATE INDEX events_some_1 ON events_1 USING cuckoo (id);
CREATE INDEX events_some_2 ON events_2 USING cuckoo (id);
ALTER INDEX events_some ATTACH PARTITION events_some_1;
ALTER INDEX events_some ATTACH PARTITION events_some_2;
SELECT cf_index_partitions('events_some', 1);
CREATE INDEX events_some_3 ON events_3 USING cuckoo (id);
ALTER INDEX events_some ATTACH PARTITION events_some_3;
SELECT cf_index_partitions('events_some', 1);
DROP INDEX events_some;

-- privileges, row security, what is no index

CREATE ROLE index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('visits_id', 1);
RESET ROLE;
-- rights on single columns do not count
GRANT SELECT (id, url) ON visits TO index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('visits_id', 1);
RESET ROLE;
GRANT SELECT ON visits TO index_reader;
SET ROLE index_reader;
SELECT cf_index_contains('visits_id', 1), cf_index_contains('visits_url', 'u1'), cf_count(cf_index_filter('visits_id'));
SELECT cf_index_check('visits_id', false), cf_index_check('visits_id', true);
SELECT cf_index_filter('visits_url');
RESET ROLE;
-- the seed is still the secret one until REINDEX
ALTER INDEX visits_url SET (seed = 5);
SET ROLE index_reader;
SELECT cf_index_filter('visits_url');
RESET ROLE;
REINDEX INDEX visits_url;
SET ROLE index_reader;
SELECT cf_count(cf_index_filter('visits_url')) > 0 AS given;
RESET ROLE;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
SET ROLE index_reader;
SELECT cf_index_contains('visits_id', 1);
RESET ROLE;
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
CREATE VIEW all_seen AS SELECT * FROM seen;
GRANT SELECT ON all_seen TO index_reader;
SET ROLE index_reader;
SELECT count(*) FROM all_seen WHERE id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM all_seen WHERE id = 7;
RESET ROLE;
-- rights on a partitioned table are rights on its partitions
SET ROLE index_reader;
SELECT cf_index_partitions('events_id', 1000000);
RESET ROLE;
GRANT SELECT ON events TO index_reader;
SET ROLE index_reader;
SELECT cf_index_partitions('events_id', 1000000), cf_index_contains('events_3_id_idx', 1000000);
SELECT count(id) FROM events WHERE id = 1000000;
SELECT count(id) FROM events_3 WHERE id = 1000000;
RESET ROLE;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
SET ROLE index_reader;
SELECT cf_index_partitions('events_id', 1000000);
RESET ROLE;
ALTER TABLE events DISABLE ROW LEVEL SECURITY;

-- code of a table's owner runs only as the owner: it raises an error as anybody else

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
CREATE INDEX by_expression ON owned.t USING cuckoo ((k + owned.f(1))) WITH (seed = 1);
CREATE INDEX by_predicate ON owned.t USING cuckoo (k) WITH (seed = 1, locate = off) WHERE owned.f(k) + owned.f(1) = 0;
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
CREATE TABLE calls AS
SELECT call FROM unnest(ARRAY['SELECT items FROM cf_index_info($1)', 'cf_index_check($1, false)', 'cf_index_check($1, true)', 'cf_index_contains($1, 3)',
	'cf_index_contains_any($1, ''{3,-3}''::int[])', 'cf_index_contains_each($1, ''{3,-3}''::int[])', 'cf_count(cf_index_filter($1))']) call;
SELECT call, caller, outcome(call, 'owned.by_expression', caller) AS expression, outcome(call, 'owned.by_predicate', caller) AS predicate
FROM calls, unnest(ARRAY['index_super', 'index_owner', 'index_reader', 'index_nobody']) caller;

-- the table of Citus's catalog: a table with a row in it is empty, and its rows are in shards

SELECT cf_index_contains('visits_id', 3);
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL);
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
SELECT cf_index_contains('visits_id', 3);
INSERT INTO pg_dist_partition VALUES ('visits', 'h');
-- as Citus does, which changes nothing of the index
UPDATE pg_class SET relname = relname WHERE oid = 'visits'::regclass;
SELECT cf_index_contains('visits_id', 3);
SELECT call, outcome(call, 'visits_id', 'index_reader') FROM calls;
SELECT outcome('cf_index_contains($1, 3)', 'owned.by_expression', 'index_reader') AS another_table;
-- a right that is missing comes first
SELECT outcome('cf_index_contains($1, 3)', 'visits_id', 'index_nobody');
-- undistributed; without the index; without the table
DELETE FROM pg_dist_partition;
UPDATE pg_class SET relname = relname WHERE oid = 'visits'::regclass;
SELECT cf_index_contains('visits_id', 3);
INSERT INTO pg_dist_partition VALUES ('visits', 'n');
DROP INDEX pg_dist_partition_logical_relid_index;
UPDATE pg_class SET relname = relname WHERE oid = 'visits'::regclass;
SELECT cf_index_contains('visits_id', 3);
-- a table of another kind
ALTER TABLE pg_catalog.pg_dist_partition ALTER logicalrelid TYPE oid;
UPDATE pg_class SET relname = relname WHERE oid = 'visits'::regclass;
SELECT cf_index_contains('visits_id', 3);
DROP TABLE pg_catalog.pg_dist_partition;
RESET allow_system_table_mods;
UPDATE pg_class SET relname = relname WHERE oid = 'visits'::regclass;
SELECT cf_index_contains('visits_id', 3);
DROP TABLE owned.t, calls;
DROP FUNCTION owned.f, outcome;
DROP SCHEMA owned;
DROP ROLE index_super, index_owner, index_nobody;

-- a gate needs no rights: where the user has none, the table is read

GRANT SELECT ON seen TO index_reader;
PREPARE as_anyone AS SELECT count(id) FROM seen WHERE id = 7;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE as_anyone;
REVOKE EXECUTE ON FUNCTION cuckoo_gate(regclass, anycompatible) FROM PUBLIC;
SET ROLE index_reader;
EXPLAIN (COSTS OFF) EXECUTE as_anyone;
EXECUTE as_anyone;
RESET ROLE;
GRANT EXECUTE ON FUNCTION cuckoo_gate(regclass, anycompatible) TO PUBLIC;
RESET plan_cache_mode;
CREATE SCHEMA closed;
ALTER EXTENSION cuckoo SET SCHEMA closed;
SET ROLE index_reader;
EXPLAIN (COSTS OFF) SELECT count(id) FROM seen WHERE id = 7;
SELECT count(id) FROM seen WHERE id = 7;
RESET ROLE;
ALTER EXTENSION cuckoo SET SCHEMA public;
DROP SCHEMA closed;
SET ROLE index_reader;
SELECT cuckoo_gate('seen_id', -1), cuckoo_gate('numbers_grown', -1), cuckoo_gate('seen', 1), cuckoo_gate(0, 1),
	cuckoo_gate('seen_id', 'x'::text), cuckoo_gate_any('seen_id', '{-1,-2}'::int[]), cuckoo_gate_any('seen_id', '{-1,7}'::int[]);
RESET ROLE;
SELECT cuckoo_gate('numbers_grown', -1), cuckoo_gate_any('seen_id', '{}'::int[]);

SELECT cf_index_contains('visits', 1);
SELECT cf_index_contains(0, 1);
SELECT cf_index_contains('visits_id', 'x'::text);

-- what cannot be made

CREATE UNIQUE INDEX ON visits USING cuckoo (id);
CREATE INDEX ON visits USING cuckoo (id, url);
CREATE INDEX ON visits USING cuckoo (id) WITH (fpp = 0);
CREATE INDEX ON visits USING cuckoo (id) WITH (seed = 'x');
CREATE INDEX ON visits USING cuckoo (id) WITH (gate = 'maybe');
CREATE TABLE boxes (b box);
CREATE INDEX ON boxes USING cuckoo (b);

-- temporary and unlogged tables, rollback, TRUNCATE, another type

CREATE TEMP TABLE mine (id int);
CREATE INDEX mine_id ON mine USING cuckoo (id);
INSERT INTO mine SELECT i FROM generate_series(1, 10000) i;
SELECT cf_index_check('mine_id', true);
CREATE UNLOGGED TABLE fast (id int);
CREATE INDEX fast_id ON fast USING cuckoo (id);
INSERT INTO fast SELECT i FROM generate_series(1, 10000) i;
SELECT cf_index_check('fast_id', true);
ALTER TABLE fast SET LOGGED;
SELECT cf_index_check('fast_id', true);
BEGIN;
TRUNCATE fast;
INSERT INTO fast VALUES (1);
SELECT items FROM cf_index_info('fast_id');
ROLLBACK;
SELECT cf_index_check('fast_id', true);
ALTER TABLE fast ALTER id TYPE bigint;
SELECT cf_index_check('fast_id', true), cf_index_contains('fast_id', 5::bigint);
VACUUM FULL fast;
SELECT cf_index_check('fast_id', true);
TRUNCATE fast;
SELECT items, pages FROM cf_index_info('fast_id');
CREATE TEMP TABLE emptied (id int) ON COMMIT DELETE ROWS;
CREATE INDEX emptied_id ON emptied USING cuckoo (id);
BEGIN;
INSERT INTO emptied SELECT i FROM generate_series(1, 3000) i;
SELECT cf_index_check('emptied_id', true);
END;
SELECT items, pages FROM cf_index_info('emptied_id');

-- what else rewrites a table or moves an index

CREATE TABLE moved (id int, word text, n int);
INSERT INTO moved SELECT i, 'w' || i, i % 10 FROM generate_series(1, 10000) i;
CREATE INDEX moved_by_word ON moved (word);
CREATE INDEX CONCURRENTLY moved_id ON moved USING cuckoo (id) WITH (fpp = 0.01, seed = 3);
CREATE INDEX moved_word ON moved USING cuckoo (upper(word)) WITH (seed = 3) WHERE n > 4;
DELETE FROM moved WHERE id > 9000;
CREATE FUNCTION checked() RETURNS text LANGUAGE sql AS $$
	SELECT cf_index_check('moved_id', true) || ', ' || cf_index_check('moved_word', true)
		|| CASE WHEN cf_index_contains('moved_id', -1) OR cf_index_contains('moved_word', 'w7'::text) THEN ', false positive' ELSE '' END
$$;
CLUSTER moved USING moved_by_word;
SELECT checked();
SELECT items FROM cf_index_info('moved_id');
ALTER TABLE moved SET UNLOGGED;
SELECT checked();
ALTER TABLE moved SET LOGGED;
SELECT checked();
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_cuckoo LOCATION '';
ALTER INDEX moved_id SET TABLESPACE regress_cuckoo;
SELECT checked();
INSERT INTO moved SELECT i, 'w' || i, 5 FROM generate_series(20001, 25000) i;
SELECT checked();
ALTER INDEX moved_id SET TABLESPACE pg_default;
SELECT checked();
DROP TABLESPACE regress_cuckoo;
ALTER TABLE moved RENAME id TO number;
ALTER INDEX moved_id RENAME TO moved_number;
SELECT cf_index_contains('moved_number', 7), cf_index_contains('moved_number', 25001);
ALTER TABLE moved ALTER n TYPE numeric;
SELECT cf_index_check('moved_number', true), cf_index_check('moved_word', true);
CREATE TABLE moved_like (LIKE moved INCLUDING INDEXES);
SELECT substring(pg_get_indexdef(indexrelid) FROM 'USING.*') FROM pg_index WHERE indrelid = 'moved_like'::regclass ORDER BY 1;

-- statistics

VACUUM ANALYZE moved;
SELECT relname, reltuples, relpages = pg_relation_size(oid) / current_setting('block_size')::int AS pages
FROM pg_class WHERE relname IN ('moved_number', 'moved_word') ORDER BY 1;
SELECT tablename, attname, n_distinct FROM pg_stats WHERE tablename = 'moved_word';
SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes WHERE relname = 'moved' AND indexrelname <> 'moved_by_word' ORDER BY 1;

-- partitions that come and go, and inheritance

ALTER TABLE events DETACH PARTITION events_2;
INSERT INTO events_2 VALUES (2, -5);
SELECT cf_index_partitions('events_id', 2), cf_index_partitions('events_id', 3), cf_index_contains('events_2_id_idx', 3),
	cf_index_contains('events_2_id_idx', -5);
ALTER TABLE events ATTACH PARTITION events_2 FOR VALUES IN (2);
SELECT cf_index_partitions('events_id', 3), cf_index_partitions('events_id', -5);
DROP TABLE events_3;
SELECT cf_index_partitions('events_id', 1000000);
CREATE TABLE child (more text) INHERITS (seen);
INSERT INTO child SELECT i, 'u' || i, 0, 'm' FROM generate_series(100001, 105000) i;
SELECT count(*) FROM seen WHERE id = 100007;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 100007;
CREATE INDEX child_id ON child USING cuckoo (id);
SELECT count(*) FROM seen WHERE id = 100007;
SELECT count(*) FROM seen WHERE id = 7;
SELECT count(*) FROM ONLY seen WHERE id = 100007;
EXPLAIN (COSTS OFF) SELECT * FROM seen WHERE id = 100007;

-- the extension does not go before its indexes, and takes them with it

\set VERBOSITY terse
DROP EXTENSION cuckoo;
\set VERBOSITY default
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION cuckoo CASCADE;
INSERT INTO moved VALUES (0, 'w0', 0);
SELECT count(*) FROM pg_index WHERE indrelid = 'moved'::regclass;
SELECT count(*) FROM moved WHERE number = 7;
ROLLBACK;
SELECT cf_index_check('moved_number', true), cf_index_contains('moved_number', 7);

DROP FUNCTION checked();
DROP TABLE visits, numbers, one, again, many, dense, kinds, seen, child, events, boxes, mine, fast, emptied, moved, moved_like CASCADE;
DROP TYPE mood;
DROP DOMAIN positive;
DROP ROLE index_reader;
