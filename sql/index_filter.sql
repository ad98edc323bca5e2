-- The access method WITH (locate = off): an index that is a filter.  Functions query it, and plans do not use it.
-- index.sql has an index that finds rows.

-- ---- growth ----

-- lookups as it grows from an empty table
CREATE TABLE visits (id bigint, url text);
CREATE INDEX visits_id ON visits USING cuckoo (id) WITH (locate = off, seed = 1);
CREATE INDEX visits_url ON visits USING cuckoo (url) WITH (locate = off, fpp = 0.01);
SELECT element, contains, false AS truth FROM (VALUES ('1', cf_index_contains('visits_id', 1)),
	('u1', cf_index_contains('visits_url', 'u1'))) v(element, contains);
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(1, 2000) i;
SELECT element, contains, true AS truth FROM (VALUES ('1', cf_index_contains('visits_id', 1)),
	('1::int2', cf_index_contains('visits_id', 1::int2)), ('u1', cf_index_contains('visits_url', 'u1')),
	('u1::name', cf_index_contains('visits_url', 'u1'::name))) v(element, contains);
SELECT items, pages, growth_level, growth_bits, saturated, element_family, stale
FROM cf_index_info('visits_id');
SELECT locates, false_blocks, false_blocks_built FROM cf_index_info('visits_id');
SELECT index, cf_index_check(index, true), 2000 AS truth FROM unnest('{visits_id,visits_url}'::regclass[]) index;
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(2001, 60000) i;
SELECT within(items, 59900, 60000) AS items, within(pages, 17) AS pages, within(growth_level, 5, 24) AS growth_level,
	within(fpp_now, 0, 0.0001) AS fpp_now
FROM cf_index_info('visits_id');
SELECT bytes - pg_relation_size('visits_id') AS beside_pages, 0 AS truth FROM cf_index_info('visits_id');
SELECT index, cf_index_check(index, true), 60000 AS truth FROM unnest('{visits_id,visits_url}'::regclass[]) index;
SELECT within(count(*), 0, 19) AS false_positives
FROM generate_series(100000, 110000) i WHERE cf_index_contains('visits_id', i);
-- values that the index contains already are not added again
INSERT INTO visits SELECT * FROM visits WHERE id <= 1000;
SELECT within(items, 59900, 60000) AS items FROM cf_index_info('visits_id');
-- arrays
SELECT elements, each, truth FROM (VALUES
	('{{1,NULL},{2,-5}}', cf_index_contains_each('visits_id', '{{1,NULL},{2,-5}}'::int[]), '{{t,NULL},{t,f}}'),
	('{}', cf_index_contains_each('visits_id', '{}'::int[]), '{}'),
	('null', cf_index_contains_each('visits_id', NULL::int[]), NULL),
	('{u1,NULL}', cf_index_contains_each('visits_url', '{u1,NULL}'::text[]), '{t,NULL}')) v(elements, each, truth);
SELECT elements, cf_index_contains_any('visits_id', elements::bigint[]) AS "any", truth
FROM (VALUES ('{-5,7}', true), ('{-5,NULL}', false), ('{}', false)) v(elements, truth);
-- each is like one by one
SELECT count(*) FILTER (WHERE each = contains) AS same, count(*) AS truth FROM unnest(
	cf_index_contains_each('visits_id', (SELECT array_agg(i) FROM generate_series(1, 100000, 7) i)),
	(SELECT array_agg(cf_index_contains('visits_id', i)) FROM generate_series(1, 100000, 7) i)) u(each, contains);
-- REINDEX fits it to the rows, and drops the deleted rows
DELETE FROM visits WHERE id > 2000;
VACUUM visits;
SELECT within(items, 59001, 60000) AS items FROM cf_index_info('visits_id');
REINDEX INDEX visits_id;
SELECT items, 2000 AS truth, pages, growth_level FROM cf_index_info('visits_id');
REINDEX INDEX CONCURRENTLY visits_url;
SELECT index, cf_index_check(index, true), 3000 AS truth FROM unnest('{visits_id,visits_url}'::regclass[]) index;

-- ---- the index as a filter ----

-- The filter has the same keys if the rows were built at once, were inserted one by one into pages that split, or were
-- built with too little memory for all rows.
CREATE TABLE numbers (id int);
CREATE INDEX numbers_grown ON numbers USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6);
INSERT INTO numbers SELECT i FROM generate_series(1, 30000) i;
CREATE TABLE one (id int);
INSERT INTO one SELECT 1;
CREATE INDEX one_id ON one USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6);
SELECT count(*) FILTER (WHERE cf_contains(f, id)) AS found, count(*) AS truth
FROM numbers, (SELECT cf_index_filter('numbers_grown') OFFSET 0) f(f);
-- the filter of one row is compatible, and its row is one of the others
SELECT cf_compatible(cf_index_filter('numbers_grown'), cf_index_filter('one_id')), true AS truth;
SELECT seen(cf_canonical(one | grown)) AS "union", seen(cf_canonical(grown)) AS truth,
	within(cf_overlap(one, grown), 0.9, 1.1) AS overlap
FROM cf_index_filter('one_id') one, cf_index_filter('numbers_grown') grown;
CREATE INDEX numbers_built ON numbers USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6,
	capacity = 200000);
CREATE TABLE again (id int);
CREATE INDEX again_id ON again USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6, capacity = 200000);
INSERT INTO again SELECT id FROM numbers ORDER BY -id;
SELECT seen(cf_canonical(cf_index_filter('numbers_built'))) AS built,
	seen(cf_canonical(cf_index_filter('again_id'))) AS truth;
SELECT growth_level, fingerprint_bits, buckets FROM cf_info(cf_index_filter('numbers_built'));
-- half of the pages are split
CREATE TABLE uneven (id int);
CREATE INDEX uneven_id ON uneven USING cuckoo (id) WITH (locate = off, seed = 7, capacity = 20000);
INSERT INTO uneven SELECT i FROM generate_series(1, 60000) i WHERE cf_hash(i, 7) >= 0 OR i < 100;
SELECT growth_level, pages FROM cf_index_info('uneven_id');
SELECT cf_count(cf_index_filter('uneven_id')), items AS truth FROM cf_index_info('uneven_id');
SELECT count(*) FILTER (WHERE cf_contains(f, id)) AS found, count(*) AS truth
FROM uneven, (SELECT cf_index_filter('uneven_id') OFFSET 0) f(f);
DROP TABLE uneven;
-- too little memory for all rows
SET maintenance_work_mem = '1MB';
CREATE TABLE many (id int);
INSERT INTO many SELECT i FROM generate_series(1, 300000) i;
CREATE INDEX many_id ON many USING cuckoo (id) WITH (locate = off);
SELECT cf_index_check('many_id', true), 300000 AS truth;
SELECT saturated, within(items, 299900, 300000) AS items, within(bits_per_item, 1, 24) AS bits_per_item
FROM cf_index_info('many_id');
-- few distinct values and few rows make a smaller index
CREATE INDEX many_few ON many USING cuckoo ((id % 3)) WITH (locate = off);
CREATE INDEX many_some ON many USING cuckoo (id) WITH (locate = off) WHERE id % 3 = 0;
CREATE INDEX many_null ON many USING cuckoo (nullif(id % 4, 0)) WITH (locate = off) WHERE id > 1000;
SELECT index, within(pg_relation_size(index)::float8 / pg_relation_size('many_id'), 0, 0.5) AS share,
	cf_index_check(index, true), truth
FROM (VALUES ('many_few'::regclass, 300000), ('many_some', 100000), ('many_null', 299000 * 3 / 4)) v(index, truth);
-- blocks without rows of the index come first, and inserts need room
CREATE INDEX late_many ON many USING cuckoo (id) WITH (locate = off, seed = 1, fillfactor = 96, capacity = 1)
	WHERE id > 150000;
SELECT within(items, 149001, 150000) AS items, growth_level FROM cf_index_info('late_many');
RESET maintenance_work_mem;
-- pages exist from when they are needed: the others are empty in the filter
CREATE TABLE sparse (id int);
CREATE INDEX sparse_id ON sparse USING cuckoo (id) WITH (seed = 1, locate = off, capacity = 1000000);
SELECT blocks_of('sparse_id'), 1 AS truth;
SELECT cf_count(cf_index_filter('sparse_id')), 0 AS truth;
SELECT name, value, truth FROM (VALUES ('contains', cf_index_contains('sparse_id', 1)::text, 'false'),
	('any', cf_index_contains_any('sparse_id', '{1,2}'::int[])::text, 'false'),
	('each', cf_index_contains_each('sparse_id', '{1,2}'::int[])::text, '{f,f}')) v(name, value, truth);
INSERT INTO sparse VALUES (1), (2), (3);
SELECT pages, within(bytes, 1, 500000) AS bytes FROM cf_index_info('sparse_id');
SELECT cf_count(f), 3 AS truth, within(pg_column_size(f), 1000001) AS bytes FROM cf_index_filter('sparse_id') f;
SELECT cf_contains_each(f, '{1,2,3,4}'::int[]) AS each, '{t,t,t,f}' AS truth FROM cf_index_filter('sparse_id') f;
SELECT cf_index_contains_each('sparse_id', '{1,2,3,4,5,6,7,8,9}'::int[]) AS each, '{t,t,t,f,f,f,f,f,f}' AS truth;
-- of each family, built and grown: the keys that adding the values to a filter of that geometry gives
CREATE FUNCTION key_for_key(expression text, rows int, options text, OUT level text, OUT keys text, OUT missing int)
	LANGUAGE plpgsql AS $$
DECLARE
	values cuckoofilter;
	filter cuckoofilter;
BEGIN
	EXECUTE format('CREATE TABLE keyed AS SELECT %s AS v FROM generate_series(1, %s) i', expression, rows / 100);
	EXECUTE format('CREATE INDEX keyed_v ON keyed USING cuckoo (v) WITH (locate = off, %s)', options);
	EXECUTE format('INSERT INTO keyed SELECT %s AS v FROM generate_series(%s, %s) i', expression, rows / 100, rows);
	filter := cf_index_filter('keyed_v');
	EXECUTE 'SELECT cf_add_unique_all(cf_clear($1), array_agg(v)) FROM keyed' INTO values USING filter;
	EXECUTE 'SELECT count(*) FROM keyed WHERE cf_contains($1, v) IS NOT TRUE' INTO missing USING filter;
	keys := CASE WHEN cf_canonical(values) = cf_canonical(filter) THEN 'same' ELSE seen(filter) END;
	level := within(growth_level, 1, 24) FROM cf_index_info('keyed_v');
	DROP TABLE keyed;
END $$;
SELECT expression, k.*
FROM unnest(ARRAY['i', 'i::int8', 'i::int2', 'i::text', 'i::varchar(9)', 'i::char(9)', 'i::text::bytea',
	'md5(i::text)::uuid', 'current_date + i', 'current_timestamp + i * interval ''1 s''',
	'localtimestamp + i * interval ''1 s''', 'i / 3.0::float8', 'i / 3.0::float4', 'i / 7.0', '''10.0.0.0''::inet + i',
	'(''::'' || to_hex(i))::inet', 'to_char(i, ''"08002b"FM000000'')::macaddr',
	'to_char(i, ''"08002b0102"FM000000'')::macaddr8', 'time ''00:00'' + i * interval ''1 s''', 'i * interval ''1 day''',
	'int4range(i, i + 2)']) expression,
	key_for_key(expression, 20000, 'fpp = 0.01') k;
SELECT fpp, growth, capacity, k.* FROM unnest(ARRAY[1e-8, 0.0001, 0.01]) fpp, unnest(ARRAY[4, 8]) growth,
	unnest(ARRAY[0, 10000]) capacity,
	key_for_key('i * 3', 20000, format('fpp = %s, growth_bits = %s, capacity = %s, seed = 3', fpp, growth,
	capacity)) k;
DROP FUNCTION key_for_key;

-- ---- saturation ----

-- no bit is left, and all values are found, but no insert raises an error
CREATE TABLE dense (id int);
CREATE INDEX dense_id ON dense USING cuckoo (id) WITH (locate = off, fpp = 0.5, growth_bits = 0, seed = 1);
INSERT INTO dense SELECT i FROM generate_series(1, 20000) i;
SELECT saturated, fpp_now, growth_bits FROM cf_index_info('dense_id');
SELECT cf_index_contains('dense_id', -1), true AS truth;
SELECT cf_index_check('dense_id', true), 20000 AS truth;
SELECT count(*) FILTER (WHERE each) AS found, count(*) AS truth
FROM unnest(cf_index_contains_each('dense_id', ARRAY(TABLE dense))) each;
SELECT cf_index_filter('dense_id');
REINDEX INDEX dense_id;
SELECT saturated, within(fpp_now, 0, 0.1) AS fpp_now FROM cf_index_info('dense_id');

-- ---- types ----

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TABLE kinds (m mood, p positive, a int[], r int4range, c char(5), n numeric, x inet, t timestamptz, j jsonb,
	f float4, e text COLLATE "C");
INSERT INTO kinds VALUES ('ok', 5, '{1,2}', '[1,5)', 'ab', 1.50, '10.0.0.1', '2020-01-01 UTC', '{"a": 1}', 0.5, 'e');
CREATE INDEX kinds_m ON kinds USING cuckoo (m) WITH (locate = off);
CREATE INDEX kinds_p ON kinds USING cuckoo (p) WITH (locate = off);
CREATE INDEX kinds_a ON kinds USING cuckoo (a) WITH (locate = off);
CREATE INDEX kinds_r ON kinds USING cuckoo (r) WITH (locate = off);
CREATE INDEX kinds_c ON kinds USING cuckoo (c) WITH (locate = off);
CREATE INDEX kinds_n ON kinds USING cuckoo (n) WITH (locate = off);
CREATE INDEX kinds_x ON kinds USING cuckoo (x) WITH (locate = off);
CREATE INDEX kinds_t ON kinds USING cuckoo (t) WITH (locate = off);
CREATE INDEX kinds_j ON kinds USING cuckoo (j) WITH (locate = off);
CREATE INDEX kinds_f ON kinds USING cuckoo (f) WITH (locate = off);
CREATE INDEX kinds_e ON kinds USING cuckoo (upper(e)) WITH (locate = off) WHERE e IS NOT NULL;
SELECT index, contains, true AS truth FROM (VALUES
	('kinds_m', cf_index_contains('kinds_m', 'ok'::mood)),
	('kinds_p', cf_index_contains('kinds_p', 5)),
	('kinds_a', cf_index_contains('kinds_a', '{1,2}'::int[])),
	('kinds_r', cf_index_contains('kinds_r', '[1,4]'::int4range)),
	('kinds_c', cf_index_contains('kinds_c', 'ab'::char(9))),
	('kinds_n', cf_index_contains('kinds_n', 1.5)),
	('kinds_x', cf_index_contains('kinds_x', '10.0.0.1'::inet)),
	('kinds_t', cf_index_contains('kinds_t', '2020-01-01 UTC'::timestamptz)),
	('kinds_j', cf_index_contains('kinds_j', '{"a":1}'::jsonb)),
	('kinds_f', cf_index_contains('kinds_f', 0.5::float8)),
	('kinds_e', cf_index_contains('kinds_e', 'E'))) v(index, contains);
SELECT index, contains, false AS truth FROM (VALUES
	('kinds_m', cf_index_contains('kinds_m', 'sad'::mood)),
	('kinds_a', cf_index_contains('kinds_a', '{{1,2}}'::int[])),
	('kinds_n', cf_index_contains('kinds_n', 1.51)),
	('kinds_e', cf_index_contains('kinds_e', 'e'))) v(index, contains);
-- renaming a label changes no hash
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT cf_index_contains('kinds_m', 'fine'::mood), true AS truth;
-- no value of another enum, whatever its label
CREATE TYPE weather AS ENUM ('fine');
SELECT cf_index_contains('kinds_m', 'fine'::weather);
DROP TYPE weather;
SELECT sum(cf_index_check(indexrelid, true)), count(*) AS truth FROM pg_index WHERE indrelid = 'kinds'::regclass;

-- trailing blanks, which char(n) ignores
CREATE TABLE blanks (t text, c char(9), v varchar, a char(3)[], filler text);
INSERT INTO blanks SELECT 'x' || i || '  ', 'x' || i, 'x' || i || ' ', ARRAY[i % 900], repeat('f', 100)
	FROM generate_series(1, 3000) i;
CREATE INDEX blanks_t ON blanks USING cuckoo ((t::bpchar)) WITH (locate = off);
CREATE INDEX blanks_c ON blanks USING cuckoo (c) WITH (locate = off);
CREATE INDEX blanks_v ON blanks USING cuckoo (v) WITH (locate = off);
CREATE INDEX blanks_a ON blanks USING cuckoo (a) WITH (locate = off);
SELECT index, element, contains, truth FROM (VALUES
	('blanks_t', 'x5', cf_index_contains('blanks_t', 'x5'), true),
	('blanks_t', 'x5 ::char(9)', cf_index_contains('blanks_t', 'x5 '::char(9)), true),
	('blanks_t', 'x5       ::name', cf_index_contains('blanks_t', 'x5       '::name), true),
	('blanks_t', ' ::"char"', cf_index_contains('blanks_t', ' '::"char"), false),
	('blanks_c', 'x5   ', cf_index_contains('blanks_c', 'x5   '), true),
	('blanks_c', 'x5 ::varchar', cf_index_contains('blanks_c', 'x5 '::varchar), true),
	('blanks_c', 'x5 ::char(4)', cf_index_contains('blanks_c', 'x5 '::char(4)), true),
	('blanks_c', '{x5 }', cf_index_contains_any('blanks_c', '{"x5 "}'::varchar[]), true),
	('blanks_v', 'x5 ', cf_index_contains('blanks_v', 'x5 '), true),
	('blanks_v', 'x5', cf_index_contains('blanks_v', 'x5'), false),
	('blanks_v', 'x5 ::char(3)', cf_index_contains('blanks_v', 'x5 '::char(3)), false),
	('blanks_a', '{5}', cf_index_contains('blanks_a', '{5}'::char(3)[]), true),
	('blanks_a', '{-5}', cf_index_contains('blanks_a', '{-5}'::char(3)[]), false)) v(index, element, contains, truth);
SELECT cf_index_contains_each('blanks_c', '{x5,"x5 ",-}'::text[]) AS each, '{t,t,f}' AS truth;
SELECT stale, false AS truth FROM cf_index_info('blanks_a');
SELECT count(*) FILTER (WHERE cf_index_contains('blanks_t', t)) AS text,
	count(*) FILTER (WHERE cf_index_contains('blanks_t', t::name)) AS name,
	count(*) FILTER (WHERE t::bpchar <@ f) AS in_filter, count(*) AS truth
FROM blanks, (SELECT cf_index_filter('blanks_t') OFFSET 0) f(f);
DROP TABLE blanks;

-- ---- plans ----

-- a condition with a constant or a parameter is evaluated once
EXPLAIN (COSTS OFF) SELECT FROM visits WHERE id = -17 AND cf_index_contains('visits_id', -17);
PREPARE by_id(bigint, int) AS SELECT count(*), $2 AS truth FROM visits
	WHERE id = $1 AND cf_index_contains('visits_id', $1);
SET plan_cache_mode = force_generic_plan;
SELECT node ->> 'Node Type' AS node, node ->> 'One-Time Filter' AS once FROM jsonb_path_query(
	plan_of('EXECUTE by_id(-17, 0)')::jsonb, 'strict $.** ? (exists (@."One-Time Filter"))') node;
EXECUTE by_id(-17, 0);
EXECUTE by_id(7, 2);
RESET plan_cache_mode;
DEALLOCATE by_id;
DROP TABLE visits, numbers, one, again, many, sparse, dense, kinds;
DROP TYPE mood;
DROP DOMAIN positive;
