-- The access method WITH (locate = off): an index that is a filter, which functions
-- query and plans do not use.  index.sql has an index that finds rows.

-- what it answers, as it grows from an empty table

CREATE TABLE visits (id bigint, url text);
CREATE INDEX visits_id ON visits USING cuckoo (id) WITH (locate = off, seed = 1);
CREATE INDEX visits_url ON visits USING cuckoo (url) WITH (locate = off, fpp = 0.01);
SELECT cf_index_contains('visits_id', 1), cf_index_contains('visits_url', 'u1');
INSERT INTO visits SELECT i, 'u' || i FROM generate_series(1, 2000) i;
SELECT cf_index_contains('visits_id', 1), cf_index_contains('visits_url', 'u1'),
	cf_index_contains('visits_id', 1::int2), cf_index_contains('visits_url', 'u1'::name);
SELECT items, pages, growth_level, growth_bits, saturated, element_family, stale
FROM cf_index_info('visits_id');
SELECT locates, false_blocks, false_blocks_built FROM cf_index_info('visits_id');
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
SELECT cf_index_contains_each('visits_url', '{u1,NULL}'::text[]);
SELECT cf_index_contains_any('visits_id', '{-5,7}'::bigint[]),
	cf_index_contains_any('visits_id', '{-5,NULL}'::bigint[]),
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
CREATE INDEX numbers_grown ON numbers USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6);
INSERT INTO numbers SELECT i FROM generate_series(1, 30000) i;
CREATE TABLE one (id int);
INSERT INTO one SELECT 1;
CREATE INDEX one_id ON one USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6);
SELECT cf_compatible(cf_index_filter('numbers_grown'), cf_index_filter('one_id'));
SELECT bool_and(cf_contains(f, id)) FROM numbers, (SELECT cf_index_filter('numbers_grown') OFFSET 0) f(f);
SELECT cf_canonical(cf_union(cf_index_filter('one_id'), cf_index_filter('numbers_grown'))) =
	cf_canonical(cf_index_filter('numbers_grown')) AS contains_it;
SELECT cf_overlap(cf_index_filter('one_id'), cf_index_filter('numbers_grown')) BETWEEN 0.9 AND 1.1 AS one;
CREATE INDEX numbers_built ON numbers USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6,
	capacity = 200000);
CREATE TABLE again (id int);
CREATE INDEX again_id ON again USING cuckoo (id) WITH (locate = off, seed = 7, growth_bits = 6, capacity = 200000);
INSERT INTO again SELECT id FROM numbers ORDER BY -id;
SELECT cf_canonical(cf_index_filter('numbers_built')) = cf_canonical(cf_index_filter('again_id')) AS same;
SELECT growth_level, fingerprint_bits, buckets FROM cf_info(cf_index_filter('numbers_built'));
-- half of the pages are split
CREATE TABLE uneven (id int);
CREATE INDEX uneven_id ON uneven USING cuckoo (id) WITH (locate = off, seed = 7, capacity = 20000);
INSERT INTO uneven SELECT i FROM generate_series(1, 60000) i WHERE cf_hash(i, 7) >= 0 OR i < 100;
SELECT growth_level, pages FROM cf_index_info('uneven_id');
SELECT cf_count(f) = items AS all_items, (SELECT bool_and(cf_contains(f, id)) FROM uneven) AS all_rows
FROM cf_index_info('uneven_id'), (SELECT cf_index_filter('uneven_id') OFFSET 0) f(f);
DROP TABLE uneven;
SET maintenance_work_mem = '1MB';
CREATE TABLE many (id int);
INSERT INTO many SELECT i FROM generate_series(1, 300000) i;
CREATE INDEX many_id ON many USING cuckoo (id) WITH (locate = off);
SELECT cf_index_check('many_id', true);
SELECT saturated, items BETWEEN 299900 AND 300000 AS items, bits_per_item < 24 AS dense FROM cf_index_info('many_id');
-- made for what it has, where the rows do not fit in memory
CREATE INDEX many_few ON many USING cuckoo ((id % 3)) WITH (locate = off);
CREATE INDEX many_some ON many USING cuckoo (id) WITH (locate = off) WHERE id % 3 = 0;
CREATE INDEX many_null ON many USING cuckoo (nullif(id % 4, 0)) WITH (locate = off) WHERE id > 1000;
SELECT relname, pg_relation_size(oid) < pg_relation_size('many_id') / 2 AS smaller FROM pg_class
	WHERE relname LIKE 'many\__%' ORDER BY 1;
-- blocks without rows of the index come first, and inserts need room
CREATE INDEX late_many ON many USING cuckoo (id) WITH (locate = off, seed = 1, fillfactor = 96, capacity = 1)
	WHERE id > 150000;
SELECT items > 149000 AS items, growth_level FROM cf_index_info('late_many');
SELECT cf_index_check('many_few', true), cf_index_check('many_some', true), cf_index_check('many_null', true);
RESET maintenance_work_mem;

-- pages exist from when they are needed: the others are empty in the filter
CREATE TABLE sparse (id int);
CREATE INDEX sparse_id ON sparse USING cuckoo (id) WITH (seed = 1, locate = off, capacity = 1000000);
SELECT pg_relation_size('sparse_id') = current_setting('block_size')::int AS one_block,
	cf_count(cf_index_filter('sparse_id'));
SELECT cf_index_contains('sparse_id', 1), cf_index_contains_any('sparse_id', '{1,2}'::int[]),
	cf_index_contains_each('sparse_id', '{1,2}'::int[]);
INSERT INTO sparse VALUES (1), (2), (3);
SELECT pages, bytes < 500000 AS bytes FROM cf_index_info('sparse_id');
SELECT cf_count(f), cf_contains_each(f, '{1,2,3,4}'::int[]), pg_column_size(f) > 1000000 AS all_pages
FROM (SELECT cf_index_filter('sparse_id') OFFSET 0) f(f);
SELECT cf_index_contains_each('sparse_id', (SELECT array_agg(i) FROM generate_series(1, 9) i));

-- of each family, built and grown: the keys that adding the values to a filter of that geometry gives
CREATE FUNCTION key_for_key(expression text, rows int, options text)
	RETURNS TABLE (split boolean, every_key boolean, every_row boolean) LANGUAGE plpgsql AS $$
DECLARE
	values cuckoofilter;
	filter cuckoofilter;
BEGIN
	EXECUTE format('CREATE TABLE keyed AS SELECT %s AS v FROM generate_series(1, %s) i', expression, rows / 100);
	EXECUTE format('CREATE INDEX keyed_v ON keyed USING cuckoo (v) WITH (locate = off, %s)', options);
	EXECUTE format('INSERT INTO keyed SELECT %s AS v FROM generate_series(%s, %s) i', expression, rows / 100, rows);
	filter := cf_index_filter('keyed_v');
	EXECUTE 'SELECT cf_add_unique_all(cf_clear($1), array_agg(v)) FROM keyed' INTO values USING filter;
	EXECUTE 'SELECT bool_and(cf_contains($1, v)) FROM keyed' INTO every_row USING filter;
	every_key := cf_canonical(values) = cf_canonical(filter);
	split := growth_level > 0 FROM cf_index_info('keyed_v');
	DROP TABLE keyed;
	RETURN NEXT;
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

-- saturation: no bit is left, and everything is "maybe", but never an error

CREATE TABLE dense (id int);
CREATE INDEX dense_id ON dense USING cuckoo (id) WITH (locate = off, fpp = 0.5, growth_bits = 0, seed = 1);
INSERT INTO dense SELECT i FROM generate_series(1, 20000) i;
SELECT saturated, fpp_now, growth_bits FROM cf_index_info('dense_id');
SELECT cf_index_contains('dense_id', -1), cf_index_check('dense_id', true);
SELECT count(*) FILTER (WHERE c), count(*) FROM unnest(cf_index_contains_each('dense_id', ARRAY(TABLE dense))) c;
SELECT cf_index_filter('dense_id');
REINDEX INDEX dense_id;
SELECT saturated, fpp_now < 0.1 AS fpp_now FROM cf_index_info('dense_id');

-- types

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
SELECT cf_index_contains('kinds_m', 'ok'::mood), cf_index_contains('kinds_p', 5),
	cf_index_contains('kinds_a', '{1,2}'::int[]),
	cf_index_contains('kinds_r', '[1,4]'::int4range), cf_index_contains('kinds_c', 'ab'::char(9)),
	cf_index_contains('kinds_n', 1.5), cf_index_contains('kinds_x', '10.0.0.1'::inet),
	cf_index_contains('kinds_t', '2020-01-01 UTC'::timestamptz), cf_index_contains('kinds_j', '{"a":1}'::jsonb),
	cf_index_contains('kinds_f', 0.5::float8),
	cf_index_contains('kinds_e', 'E');
SELECT cf_index_contains('kinds_m', 'sad'::mood), cf_index_contains('kinds_a', '{{1,2}}'::int[]),
	cf_index_contains('kinds_n', 1.51), cf_index_contains('kinds_e', 'e');
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT cf_index_contains('kinds_m', 'fine'::mood);
-- no value of another enum, whatever its label
CREATE TYPE weather AS ENUM ('fine');
SELECT cf_index_contains('kinds_m', 'fine'::weather);
DROP TYPE weather;
SELECT sum(cf_index_check(indexrelid, true)), count(*) FROM pg_index WHERE indrelid = 'kinds'::regclass;

-- trailing blanks, which char(n) ignores
CREATE TABLE blanks (t text, c char(9), v varchar, a char(3)[], filler text);
INSERT INTO blanks SELECT 'x' || i || '  ', 'x' || i, 'x' || i || ' ', ARRAY[i % 900], repeat('f', 100)
	FROM generate_series(1, 3000) i;
CREATE INDEX blanks_t ON blanks USING cuckoo ((t::bpchar)) WITH (locate = off);
CREATE INDEX blanks_c ON blanks USING cuckoo (c) WITH (locate = off);
CREATE INDEX blanks_v ON blanks USING cuckoo (v) WITH (locate = off);
CREATE INDEX blanks_a ON blanks USING cuckoo (a) WITH (locate = off);
SELECT cf_index_contains('blanks_t', 'x5'), cf_index_contains('blanks_t', 'x5 '::char(9)),
	cf_index_contains('blanks_t', 'x5       '::name),
	cf_index_contains('blanks_t', ' '::"char");
SELECT bool_and(cf_index_contains('blanks_t', t)) AND bool_and(cf_index_contains('blanks_t', t::name))
	AND bool_and(t::bpchar <@ f)
FROM blanks, (SELECT cf_index_filter('blanks_t') OFFSET 0) f(f);
SELECT cf_index_contains('blanks_c', 'x5   '), cf_index_contains('blanks_c', 'x5 '::varchar),
	cf_index_contains('blanks_c', 'x5 '::char(4)),
	cf_index_contains_each('blanks_c', '{x5,"x5 ",-}'::text[]),
	cf_index_contains_any('blanks_c', '{"x5 "}'::varchar[]);
SELECT cf_index_contains('blanks_v', 'x5 '), cf_index_contains('blanks_v', 'x5'),
	cf_index_contains('blanks_v', 'x5 '::char(3));
SELECT stale, cf_index_contains('blanks_a', '{5}'::char(3)[]), cf_index_contains('blanks_a', '{-5}'::char(3)[])
	FROM cf_index_info('blanks_a');
DROP TABLE blanks;

-- a condition with a constant or a parameter is evaluated once
EXPLAIN (COSTS OFF) SELECT FROM visits WHERE id = -17 AND cf_index_contains('visits_id', -17);
PREPARE by_id(bigint) AS SELECT count(*) FROM visits WHERE id = $1 AND cf_index_contains('visits_id', $1);
SET plan_cache_mode = force_generic_plan;
SELECT plan_of('EXECUTE by_id(-17)')::text ~ '"Node Type": "Result"' AS result,
	plan_of('EXECUTE by_id(-17)')::text ~ 'One-Time Filter' AS once;
EXECUTE by_id(-17);
EXECUTE by_id(7);
RESET plan_cache_mode;
DEALLOCATE by_id;
DROP TABLE visits, numbers, one, again, many, sparse, dense, kinds;
DROP TYPE mood;
DROP DOMAIN positive;
