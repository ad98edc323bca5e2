-- Functions on one filter: new, add, add_unique, contains, delete, count,
-- clear, info; their nulls, limits and errors.

-- ---- empty filters ----

-- lookups find nothing
SELECT cf_contains(f, 'x') AS contains_x, cf_count(f) AS items, cf_count(f, 'x') AS copies_of_x FROM cf_new() f;
SELECT items, capacity, max_items, round(fpp_at_capacity::numeric, 6) AS fpp_at_capacity,
	fpp_now, load_factor, fingerprint_bits, buckets, growth_level, bytes,
	bits_per_item, element_family, seed, format_version
FROM cf_info(cf_new());
-- figures to read: four digits; the rate now is not above that at capacity
SELECT n, cf_count(f) AS items, (cf_info(f)).load_factor, (cf_info(f)).bits_per_item, (cf_info(f)).fpp_now,
	(cf_info(f)).fpp_at_capacity AS at_most
FROM (SELECT n, cf_agg(i, 0.01) AS f FROM (VALUES (1), (1000), (123545)) v(n), generate_series(1, n) i GROUP BY n) s
ORDER BY n;
-- a capacity is rounded up
SELECT count(*) FILTER (WHERE NOT cf_compatible(cf_new(n - 0.5), cf_new(n))) AS differ, 0 AS truth
FROM generate_series(1, 1000) n;
-- an empty filter is small
SELECT name, bytes, less_than FROM (VALUES
	('empty', (cf_info(cf_new(1000000))).bytes, 1024),
	('with 100 elements', (cf_info(filled(cf_new(1000000), 100))).bytes, 2048),
	('empty, up to a million', (SELECT max(bytes) FROM generate_series(1, 1000000, 997) n, cf_info(cf_new(n))), 1024),
	('empty, of any capacity',
		(SELECT max(bytes) FROM generate_series(1000001, 338690048, 99991) n, cf_info(cf_new(n))), 4096)
) v(name, bytes, less_than);

-- ---- add, count, delete ----

-- elements are found, and have as many copies as were added, at most two
SELECT name, value, truth FROM cf_add(cf_add(cf_new(), 'a'), 'b') f, LATERAL (VALUES
	('a', cf_contains(f, 'a'), true), ('b', cf_contains(f, 'b'), true), ('c', cf_contains(f, 'c'), false)
) v(name, value, truth);
SELECT name, value, truth FROM cf_add(cf_add(cf_add(cf_new(), 'once'), 'twice'), 'twice') f, LATERAL (VALUES
	('once', cf_count(f, 'once'), 1), ('twice', cf_count(f, 'twice'), 2), ('never', cf_count(f, 'never'), 0),
	('items', cf_count(f), 3)) v(name, value, truth);
-- a third copy, and a delete of an element with two copies, change nothing
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_add(cf_add(cf_new(), 'x'), 'x') f, LATERAL (VALUES
	('third copy', cf_add(f, 'x')), ('delete', cf_delete(f, 'x'))) v(name, value);
-- add_unique of a known element, and a delete of an absent element, change nothing
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_add_unique(cf_new(), 'x') f, LATERAL (VALUES
	('once', cf_add(cf_new(), 'x')), ('add_unique again', cf_add_unique(f, 'x')),
	('delete of another', cf_delete(f, 'y'))) v(name, value);
-- adding and deleting an element leaves the layout as it was
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_new(10, 0.01, 0, 'int') f, LATERAL (VALUES
	('deleted', cf_delete(cf_add(f, 1), 1)), ('cleared', cf_clear(cf_add(f, 1)))) v(name, value);
SELECT cf_contains(cf_delete(f, 'x'), 'x') AS found, cf_count(cf_delete(f, 'x')) AS items, 0 AS truth
FROM cf_add(cf_new(), 'x') f;
SELECT items, growth_level, element_family FROM cf_info(cf_clear(filled(cf_new(10), 500)));

-- ---- families ----

-- the family comes with the first element or is declared, and stays for ever
SELECT type, (cf_info(f)).element_family, cf_count(f), f::text::cuckoofilter = f AS valid, f = cf_new() AS equal
FROM unnest(ARRAY['int2', 'int8', 'text', 'name', 'bytea', 'uuid', 'bool', 'date', 'timestamp', 'timestamptz',
		'float4', 'numeric', 'inet[]']::regtype[]) type,
	cf_new(1000000, 0.001, 0, type) f;
SELECT name, seen(value) AS value, seen(truth) AS truth FROM (VALUES
	('undeclared', cf_new(element => NULL), cf_new()),
	('declared', cf_add(cf_new(10, element => 'numeric'), 1.5), cf_add(cf_new(10), 1.5)),
	('types of one family', cf_new(10, 0.01, 0, 'int8'), cf_new(10, 0.01, 0, 'int2'))) v(name, value, truth);
-- types of the family "other" differ
SELECT cf_new(10, 0.01, 0, 'pg_lsn') <> cf_new(10, 0.01, 0, 'timetz') AS differ;
-- an untyped parameter of a driver
PREPARE untyped AS SELECT cf_add(cf_new(1000, 0.01, 0, 'bigint'), $1);
EXECUTE untyped('17');
DEALLOCATE untyped;
SELECT cf_contains(cf_new(element => 'bigint'), 'seventeen');
SELECT cf_add(cf_delete(cf_add(cf_new(), 1), 1), 'text');
SELECT cf_add(cf_clear(cf_add(cf_new(), 1)), 'text');
SELECT cf_add(cf_clear(cf_add(cf_new(), '0/1'::pg_lsn)), '10:00+01'::timetz);
SELECT cf_add(cf_clear(cf_new(element => 'pg_lsn')), '10:00+01'::timetz);
SELECT seen(cf_add(cf_clear(cf_add(cf_new(), 1.5)), 2.5)) AS same_type, seen(cf_add(cf_new(), 2.5)) AS truth;
SELECT cf_new(element => 'json');
SELECT cf_new(element => 'point');
SELECT cf_new(element => 'anyelement');
SELECT cf_new(element => 1::oid::regtype);
SELECT cf_new(element => 0::oid::regtype);
CREATE TYPE mood AS ENUM ('fine');
SELECT (cf_info(cf_new(element => 'mood'))).element_family;
SELECT cf_new(element => 'mood[]');
-- under the type's own collation
SELECT cf_count(cf_add(cf_add(cf_new(element => 'name[]'), '{a}'::name[]), '{b}'::name[])) AS names, 2 AS truth;
SELECT cf_contains(cf_add(cf_new(element => 'bpchar[]'), '{a}'::bpchar[]), '{a}'::bpchar[]) AS found;
DROP TYPE mood;
-- as a column's default
CREATE TABLE declared (id int PRIMARY KEY, f cuckoofilter DEFAULT cf_new(1000, 0.01, 0, 'bigint'));
INSERT INTO declared VALUES (1);
UPDATE declared SET f = cf_add(f, '17');
UPDATE declared SET f = cf_add(f, 17) RETURNING cf_contains(f, 17);
DROP TABLE declared;

-- ---- copies, nulls, growth ----

-- one element a million times is one added twice
DO $$
DECLARE
	f cuckoofilter := cf_new(1000);
BEGIN
	FOR i IN 1..1000000 LOOP
		f := cf_add(f, 'again');
	END LOOP;
	RAISE NOTICE 'value %, truth %', seen(f), seen(cf_add(cf_add(cf_new(1000), 'again'), 'again'));
END $$;

-- null for null
SELECT name, coalesce(value, 'null') AS value FROM (VALUES
	('contains', cf_contains(cf_new(), NULL)::text), ('contains, no filter', cf_contains(NULL, 'x')::text),
	('count', cf_count(cf_new(), NULL)::text), ('count, no filter', cf_count(NULL)::text),
	('clear', cf_clear(NULL)::text), ('add', cf_add(NULL, 'x')::text), ('add_unique', cf_add_unique(NULL, 'x')::text),
	('delete', cf_delete(NULL, 'x')::text), ('info', (cf_info(NULL)).items::text), ('capacity', cf_new(NULL)::text),
	('fpp', cf_new(10, NULL)::text), ('seed', cf_new(10, 0.01, NULL, 'int')::text)) v(name, value);
-- a null element changes nothing
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_add(cf_new(), 'x') f, LATERAL (VALUES
	('add', cf_add(f, NULL)), ('add_unique', cf_add_unique(f, NULL)), ('delete', cf_delete(f, NULL)),
	('of another type', cf_add(f, NULL::int))) v(name, value);

-- growth: far past the capacity, all found, the rate in proportion
SELECT items, growth_level, fingerprint_bits,
	round((fpp_now / fpp_at_capacity)::numeric, 1) AS times_the_rate
FROM cf_info(filled(cf_new(1000, 0.0001), 30000));
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS found, 30000 AS truth
FROM filled(cf_new(1000, 0.0001), 30000) f, generate_series(1, 30000) i;
-- every element three times, to 20 times the capacity
DO $$
DECLARE
	f cuckoofilter := cf_new(500, 0.0001);
	missed int := 0;
BEGIN
	FOR i IN 1..10000 LOOP
		f := cf_add(cf_add(cf_add(f, i), i), i);
	END LOOP;
	FOR i IN 1..10000 LOOP
		IF cf_count(f, i) <> 2 THEN
			missed := missed + 1;
		END IF;
	END LOOP;
	RAISE NOTICE 'items: %, not two copies: %', cf_count(f), missed;
END $$;

-- a full filter at its last level is an error, and the stored value stays
CREATE TABLE kept (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO kept VALUES (1, cf_new(10, 0.03)), (2, cf_add(cf_new(10), 7));
DO $$
DECLARE
	adds int := 0;
	state text; message text; detail text; hint text;
BEGIN
	LOOP
		UPDATE kept SET f = cf_add(f, adds) WHERE id = 1;
		adds := adds + 1;
	END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
	-- not inside the loop: the block is rolled back as a whole
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE NOTICE '% % / % / %', state, message, detail, hint;
END $$;
SELECT cf_count(f) AS items, 0 AS truth FROM kept WHERE id = 1;

-- it was taken where cf_info() says that growth ends
SELECT max_items, cf_count(filled(cf_new(1000, 0.01), max_items::int)) AS items, 0.99 * max_items AS more_than
FROM cf_info(cf_new(1000, 0.01));
SELECT max_items, cf_count(cf_add_unique_all(f, array_agg(i))) AS items, 0.95 * max_items AS more_than
FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 1000) i) s, cf_info(f), generate_series(1, max_items) i
GROUP BY f, max_items;

-- ---- stored filters ----

-- a change that changes nothing does not write a TOASTed filter again
CREATE TABLE toasted (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO toasted SELECT 1, cf_add(cf_agg(i), 7) FROM generate_series(1, 50000) i;
CREATE FUNCTION toast_pages() RETURNS bigint LANGUAGE sql AS
	$$SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'toasted'::regclass$$;
SELECT toast_pages() AS before \gset
SELECT within(:before, 1) AS bytes;
SELECT name, value, truth FROM toasted, LATERAL (VALUES
	('7', cf_count(f, 7), 2), ('8', cf_count(f, 8), 1), ('-3', cf_count(f, -3), 0)) v(name, value, truth);
UPDATE toasted SET f = cf_delete(f, 7);
UPDATE toasted SET f = cf_delete(f, -3);
UPDATE toasted SET f = cf_delete_all(f, ARRAY[7, -3, NULL]);
UPDATE toasted SET f = cf_add(f, 7);
UPDATE toasted SET f = cf_add_unique(f, 8);
UPDATE toasted SET f = cf_add_unique_all(f, ARRAY[7, 8, NULL]);
UPDATE toasted t SET f = u.filter FROM toasted s, cf_add_unique_each(s.f, ARRAY[7, 8, NULL]) u WHERE s.id = t.id;
SELECT toast_pages() - :before AS bytes, 0 AS truth;
UPDATE toasted SET f = cf_delete(f, 8);
SELECT within(toast_pages() - :before, 1) AS bytes;

-- DISTINCT, GROUP BY, UNION, EXCEPT and hash joins go by the bytes, however they
-- are stored
CREATE TABLE copies (id int, f cuckoofilter);
INSERT INTO copies SELECT 1, f FROM toasted
	UNION ALL SELECT 2, f::bytea::cuckoofilter FROM toasted UNION ALL SELECT 3, cf_add(f, -3) FROM toasted
	UNION ALL SELECT n, cf_new(n) FROM generate_series(10, 1000, 10) n
	UNION ALL SELECT n + 1, cf_new(n) FROM generate_series(10, 1000, 10) n
	UNION ALL SELECT 2000, cf_new(10, 0.001, 0, 'text') UNION ALL SELECT 2001, NULL;
SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT f::bytea FROM copies) b) AS truth
FROM (SELECT DISTINCT f FROM copies) s;
SELECT min(id) AS first_id, count(*) FROM copies WHERE id < 12 OR id >= 2000 GROUP BY f ORDER BY 1;
SELECT count(*), 1 AS truth
FROM (SELECT f FROM copies WHERE id < 3 UNION SELECT f FROM toasted UNION SELECT f::text::cuckoofilter FROM toasted) s;
SELECT count(*) AS without, (SELECT count(*) - 1 FROM (SELECT DISTINCT f::bytea FROM copies) b) AS truth
FROM (SELECT f FROM copies EXCEPT SELECT f FROM toasted) s;
SET enable_nestloop = off;
SELECT plan_of('SELECT FROM copies JOIN toasted USING (f)') ->> 'Node Type' AS plan;
SELECT copies.id FROM copies JOIN toasted USING (f) ORDER BY 1;
SELECT count(*), (SELECT count(*) FROM copies a JOIN copies b ON a.f::bytea = b.f::bytea) AS truth
FROM copies a JOIN copies b USING (f);
RESET enable_nestloop;
-- equal filters have equal hashes; the extended hash has the same low half, and depends on the seed
SELECT count(DISTINCT cuckoofilter_hash(f)) AS hashes, count(DISTINCT f::bytea) AS truth FROM copies;
SELECT count(*) FILTER (WHERE cuckoofilter_hash_extended(f, 0) & 4294967295 = cuckoofilter_hash(f)::bigint & 4294967295)
	AS same_low_half,
	count(*) FILTER (WHERE cuckoofilter_hash_extended(f, 1) <> cuckoofilter_hash_extended(f, 2)) AS seeded,
	count(f) AS truth
FROM copies;
DROP TABLE toasted, copies;
DROP FUNCTION toast_pages;

-- cf_info gives a named type, so its text can be read again
SELECT info FROM cf_add(cf_new(), 1) f, LATERAL (VALUES (cf_info(f)::text::cuckoofilter_info), (cf_info(f))) v(info);

-- ---- parameters ----

-- out of range; but a fraction is rounded up
SELECT seen(cf_new(0.5)) AS rounded_up, seen(cf_new(1)) AS truth;
SELECT cf_new(0);
SELECT cf_new(-1);
SELECT cf_new('NaN');
SELECT cf_new('Infinity');
SELECT cf_new(9223372036854775807);
SELECT cf_new(1000000000, 0.001);
SELECT cf_new(338690049, 0.001);
SELECT cf_new(1000, 0);
SELECT cf_new(1000, 0.51);
SELECT cf_new(1000, -0.1);
SELECT cf_new(1000, 'NaN');
SELECT cf_new(1000, 9e-9);
-- a capacity may be any number; a fraction is rounded up
SELECT name, seen(value) AS value, seen(truth) AS truth FROM (VALUES
	('literal', cf_new(1e6, 0.001), cf_new(1000000, 0.001)),
	('named', cf_new(capacity => 1e6), cf_new(1000000::bigint)),
	('fraction', cf_new(999999.5), cf_new(1000000)),
	('untyped', cf_new('1e6'), cf_new(1000000::float4))) v(name, value, truth);
PREPARE untyped AS SELECT seen(cf_new($1, $2)) AS parameter, seen(cf_new(1000, 0.01)) AS truth;
EXECUTE untyped(1000, 0.01);
DEALLOCATE untyped;
SELECT fingerprint_bits, capacity FROM cf_info(cf_new(1, 1e-8));
SELECT fingerprint_bits, capacity FROM cf_info(cf_new(1, 0.5));
SELECT capacity, 338690048 AS at_least FROM cf_info(cf_new(338690048, 0.001));
SELECT seed FROM cf_info(cf_new(10, 0.01, -5));
SELECT cf_contains(cf_add(cf_new(10, 0.01, 1), 'x'), 'x') AS found;
SELECT seed, seen(cf_add(cf_new(10, 0.01, seed), 'x')) FROM generate_series(1, 2) seed;
-- the rate that cf_info() shows is one to ask for
SELECT count(*) FILTER (WHERE cf_new(1000, (cf_info(f)).fpp_at_capacity) = f) AS same, count(*) AS truth
FROM (SELECT cf_new(1000, 0.5 / 1.3 ^ i) AS f FROM generate_series(0, 60) i) s;

-- ---- wrong types ----

-- a wrong type is an error, never false, and changes nothing
SELECT cf_contains(f, 'seven') FROM kept WHERE id = 2;
SELECT cf_count(f, 7.0) FROM kept WHERE id = 2;
UPDATE kept SET f = cf_add(f, 'seven') WHERE id = 2;
UPDATE kept SET f = cf_add_unique(f, 'seven') WHERE id = 2;
UPDATE kept SET f = cf_delete(f, 'seven') WHERE id = 2;
SELECT cf_contains(f, 7) AS contains_7, cf_count(f) AS items, 1 AS truth FROM kept WHERE id = 2;
SELECT cf_add(cf_new(), '{}'::json);
SELECT cf_contains(cf_new(), 'x'::cstring);
SELECT cf_contains(cf_new(), point '(1,2)');

DROP TABLE kept;
