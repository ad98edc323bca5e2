-- Text, binary and bytea representations; equality; and invalid input.

-- ---- representations ----

-- the image of a filter, byte for byte (FORMAT.md explains this one)
SELECT encode(cf_add(cf_new(1, 0.03), 1)::bytea, 'hex');
SELECT cf_add(cf_new(1, 0.03), 1);
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_add(cf_new(100), 'element') f, LATERAL (VALUES
	('text and back', f::text::cuckoofilter), ('bytea and back', f::bytea::cuckoofilter)) v(name, value);
-- filters of one geometry are equal
SELECT name, value, truth FROM cf_new(10) f, cf_new(11) g, LATERAL (VALUES
	('f = f', f = f, true), ('f <> f', f <> f, false), ('f = g', f = g, true), ('f <> g', f <> g, false)
) v(name, value, truth);

-- whatever makes or changes a filter, its bytes end with their checksum
CREATE TABLE few AS SELECT i FROM generate_series(1, 3000) i;
CREATE FUNCTION sealed_in(f text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT concat_ws('', '', CASE WHEN sealed(b) = b THEN ''bytea'' END,
			CASE WHEN sealed(t) = t THEN ''text'' END, CASE WHEN sealed(s) = s THEN ''send'' END)
		FROM (SELECT (%1$s)::bytea AS b, decode((%1$s)::text, ''base64'') AS t, cuckoofilter_send(%1$s) AS s
			FROM few LIMIT 1) x', f) INTO result;
	RETURN result;
END $$;
SELECT f, sealed_in(f)
FROM unnest(ARRAY['cf_new()', 'cf_clear(cf_agg(i))', 'cf_agg(i)', 'cf_agg(i, 9999, 0.01)',
	'cf_agg(i) FILTER (WHERE false)',
	'cf_add(cf_agg(i), -1)', 'cf_delete(cf_add(cf_agg(i), -1), -1)', 'filled(cf_agg(i), 100)',
	'cf_add_all(cf_new(), array_agg(i))',
	'cf_add_filter(cf_agg(i, 9999, 0.01), cf_agg(-i, 9999, 0.01))', 'cf_agg(i, 9999, 0.01) | cf_agg(-i, 9999, 0.01)',
	'cf_agg(i, 9999, 0.01) & cf_agg(-i, 9999, 0.01)', 'cf_canonical(cf_add(cf_agg(i), -1))',
	'cf_union_agg(cf_add(cf_new(), i))',
	'cf_union_all_agg(cf_add(cf_new(), i))', 'cf_intersect_agg(cf_add(cf_new(), i / 9999))',
	'cf_at_least_agg(cf_add(cf_new(), i), 1)']) WITH ORDINALITY u(f, n) ORDER BY n;
DROP FUNCTION sealed_in;
DROP TABLE few;

-- stored short, long, TOASTed; through COPY in text and binary
CREATE TABLE stored (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO stored
	SELECT n, cf_agg(i) FROM (VALUES (0), (1), (10), (1000), (100000)) AS v(n),
		generate_series(1, 100000) i WHERE i <= n OR n = 0 GROUP BY n;
INSERT INTO stored VALUES (-1, NULL), (-2, cf_new());
CREATE TEMP TABLE reread (LIKE stored);
\copy stored TO 'results/cuckoo_io.text'
\copy reread FROM 'results/cuckoo_io.text'
\copy stored TO 'results/cuckoo_io.binary' WITH (FORMAT binary)
\copy reread FROM 'results/cuckoo_io.binary' WITH (FORMAT binary)
SELECT s.id, count(*) FILTER (WHERE s.f::bytea IS NOT DISTINCT FROM r.f::bytea) AS same_bytes, 2 AS truth
FROM stored s JOIN reread r USING (id) GROUP BY s.id ORDER BY s.id;
SELECT attstorage FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attname = 'f';
SELECT id, cf_count(f) AS items, cf_contains(f, 1) AS has_1, cf_contains(f, 100001) AS has_100001
FROM stored ORDER BY id;

-- ---- what is refused ----

-- invalid input, with the reason; binary and bytea share the validator
CREATE FUNCTION refused(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text; detail text;
BEGIN
	PERFORM bytes::cuckoofilter;
	RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL;
	RETURN state || ' ' || detail;
END $$;
CREATE FUNCTION refused_text(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM t::cuckoofilter;
	RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || detail;
END $$;
-- f = 13, m0 = 2, three items: buckets at 32 (48 bits each), checksum at 44
SELECT cf_agg(i)::bytea AS image FROM generate_series(1, 3) i \gset
SELECT what, refused(sealed(bytes)) FROM (VALUES
	('as it is', :'image'::bytea),
	('empty', ''::bytea),
	('header cut', substring(:'image'::bytea FOR 31)),
	('header only', substring(:'image'::bytea FOR 32)),
	('last byte cut', substring(:'image'::bytea FOR 51)),
	('a byte more', :'image'::bytea || '\x00'),
	('magic', set_byte(:'image', 0, 66)),
	('version 2', set_byte(:'image', 2, 2)),
	('family', set_byte(:'image', 3, 200)),
	('family none', set_byte(:'image', 3, 0)),
	('f0 under ft', set_byte(:'image', 4, 12)),
	('f0 of 33', set_byte(:'image', 4, 33)),
	('ft of 7', set_byte(:'image', 5, 7)),
	('level', set_byte(:'image', 6, 6)),
	('windows', set_byte(:'image', 7, 1)),
	('unknown flag', set_byte(:'image', 7, 4)),
	('flag 2', set_byte(:'image', 7, 2)),
	('no buckets', set_byte(:'image', 8, 0)),
	('odd buckets', set_byte(:'image', 8, 3)),
	('four buckets', set_byte(:'image', 8, 4)),
	('tag', set_byte(:'image', 12, 1)),
	('reserved', set_byte(:'image', 14, 1)),
	('items', set_byte(:'image', 16, 4)),
	('items, high', set_byte(:'image', 23, 128)),
	('code', set_byte(set_byte(:'image', 32, 255), 33, 255))) AS v(what, bytes);
-- damage that only the checksum shows
CREATE FUNCTION flipped(bytes bytea, n int) RETURNS bytea LANGUAGE sql AS
	$$SELECT set_bit(bytes, n, 1 - get_bit(bytes, n))$$;
SELECT what, refused(bytes) FROM (VALUES
	('family', set_byte(:'image', 3, 2)),
	('lowest bit of the seed', flipped(:'image', 192)),
	('highest bit of the seed', flipped(:'image', 255)),
	('seed of an empty filter', flipped(cf_new(100)::bytea, 192)),
	('a bit of a lane', flipped(:'image', 280)),
	('first bit of the checksum', flipped(:'image', 352)),
	('last bit of the checksum', flipped(:'image', 415)),
	('no checksum', substring(:'image'::bytea FOR 44) || '\x0000000000000000')) AS v(what, bytes);

-- sizes that would overflow (RedisBloom CVE-2024-25115, CVE-2024-25116,
-- CVE-2026-25589: lengths and parameters from the input were trusted)
SELECT what, refused(bytes) FROM (VALUES
	('buckets', set_byte(set_byte(set_byte(set_byte(:'image', 8, 254), 9, 255), 10, 255), 11, 255)),
	('level', set_byte(set_byte(:'image', 4, 32), 6, 24)),
	('buckets at a level', set_byte(set_byte(set_byte(:'image', 11, 128), 4, 32), 6, 1))) AS v(what, bytes);

-- text; an element in place of a filter is the usual mistake
SELECT cf_contains('https://bad.example/', 'https://bad.example/');
SELECT cf_new() = 'word';
SELECT 'not base64!'::cuckoofilter;
SELECT ''::cuckoofilter;
SELECT 'Q0Y'::cuckoofilter;
SELECT encode(set_byte(:'image', 2, 2), 'base64')::cuckoofilter;
SELECT set_byte(:'image', 16, 9)::cuckoofilter;
-- line breaks, as encode() makes them, are fine
SELECT seen(encode(cf_new()::bytea, 'base64')::cuckoofilter) AS broken_lines, seen(cf_new()) AS truth;
-- white space anywhere, padding at the end only; texts of several blocks
CREATE FUNCTION spaced(t text, sep text) RETURNS text LANGUAGE sql AS
	$$SELECT regexp_replace(t, '(.{7})', '\1' || sep, 'g')$$;
SELECT name, count(*) FILTER (WHERE spaced(f::text, sep)::cuckoofilter = f) AS inside,
	count(*) FILTER (WHERE (sep || f::text || sep)::cuckoofilter = f) AS around, count(*) AS truth
FROM (VALUES ('CRLF', E'\r\n'), ('LF', E'\n'), ('blanks, tabs', E' \t ')) s(name, sep),
	(SELECT cf_agg(i) AS f FROM generate_series(1, 20000) i, unnest(ARRAY[1, 2, 3, 4, 5, 9999, 10000, 20000]) n
		WHERE i <= n GROUP BY n
		UNION ALL SELECT cf_new(n) FROM generate_series(1, 10) n) v
GROUP BY name ORDER BY name COLLATE "C";
CREATE TABLE padded AS SELECT cf_agg(i)::text AS t FROM generate_series(1, 40000) i;
SELECT right(t, 2) AS padding, '==' AS truth FROM padded;
SELECT name, refused_text(changed) FROM padded, LATERAL (VALUES
	('as it is', t), ('a line break after it', t || E'\r\n'), ('= after it', t || '='), ('a digit after it', t || 'A'),
	('digits after it', t || 'AAAA'), ('twice', t || t), ('no padding', rtrim(t, '=')),
	('half a padding', left(t, -1) || 'Z'), ('other last bits', left(t, -3) || 'B=='),
	('= inside', overlay(t PLACING '=' FROM 8192)), ('A== inside', overlay(t PLACING 'A==' FROM 8190)),
	('= in the next block', overlay(t PLACING '=' FROM 8193)),
	('a form feed', overlay(t PLACING E'\f' FROM 9000))) v(name, changed);
DROP TABLE padded;
DROP FUNCTION spaced, refused_text;
-- output takes the memory of its text
SELECT length(t::text), within(contexts('ExprContext', 'sum(total_bytes)'), 0, 1200000) AS bytes
FROM (SELECT cuckoofilter_out(f) AS t FROM stored WHERE id = 100000 OFFSET 0) s;

-- ---- cancels and damage ----

-- a cancel is seen on the way: it comes before the error that ends the function
CREATE TABLE long (t text, b bytea);
INSERT INTO long
	SELECT '*' || repeat('A', 100000), sealed(set_byte(b, length(b) - 20, 255 - get_byte(b, length(b) - 20)))
FROM (SELECT cf_agg(i)::bytea AS b FROM generate_series(1, 40000) i) s;
SELECT pg_cancel_backend(pg_backend_pid()), t::cuckoofilter IS NULL FROM long;
SELECT pg_cancel_backend(pg_backend_pid()), b::cuckoofilter IS NULL FROM long;
SELECT pg_cancel_backend(pg_backend_pid()), 1 / (length(f::text) * 0) FROM stored WHERE id = 100000;
SELECT t::cuckoofilter FROM long;
SELECT b::cuckoofilter FROM long;
DROP TABLE long;
-- what only a superuser can bring in, or a damaged page
CREATE FUNCTION corrupt(bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
SELECT cf_count(corrupt(set_byte(:'image', 2, 2)));
SELECT cf_add(corrupt(set_byte(:'image', 14, 1)), 4);
SELECT cf_contains(corrupt(substring(:'image'::bytea FOR 40)), 4);
SELECT cf_contains(corrupt(substring(:'image'::bytea FOR 20)), 4);
-- codes out of range are not looked for, and harmless
SELECT within(cf_count(cf_add(cf_delete(f, 1), 9)), 2, 4) AS items,
	cardinality(cf_contains_each(f, ARRAY[1, 2, 3, 4])) AS lookups, 4 AS truth
FROM corrupt(set_byte(set_byte(:'image', 32, 255), 33, 255)) f;
-- but they are found in the text, as SECURITY.md says
SELECT count(f::text::cuckoofilter) FROM corrupt(set_byte(set_byte(:'image', 32, 255), 33, 255)) f;
DROP FUNCTION corrupt;
-- no other way in: binary input is that of bytea, checked
CREATE TEMP TABLE damaged AS SELECT 8 AS id, flipped(:'image', 280) AS f;
\copy damaged TO 'results/cuckoo_io.binary' WITH (FORMAT binary)
\copy stored FROM 'results/cuckoo_io.binary' WITH (FORMAT binary)
SELECT 'x'::bytea::text::cuckoofilter;
INSERT INTO stored VALUES (9, '\x00');

-- every image with a flipped bit is refused
SELECT count(*) FILTER (WHERE result = 'taken') AS taken, 0 AS truth, count(*) AS flips,
	count(*) FILTER (WHERE result ~ '^22P03 .*checksum does not match') AS by_checksum
FROM (SELECT refused(flipped(image, bit)) AS result
	FROM (SELECT cf_agg(i)::bytea AS image FROM generate_series(1, 6300) i) s,
		generate_series(0, length(image) * 8 - 1) bit) s;
-- and with random bytes, without some, with more, and with some in other places
SELECT what, count(*) FILTER (WHERE refused(bytes) = 'taken') AS taken, 0 AS truth, count(*) AS images
FROM (SELECT cf_agg(i)::bytea AS image FROM generate_series(1, 6300) i) s, generate_series(1, 2000) i, LATERAL (VALUES
	('random', overlay(image PLACING decode(md5(i::text), 'hex') FROM 1 + i * 7919 % (length(image) - 15))),
	('short', substr(image, 1, i * 7919 % length(image))),
	('long', image || substr(image, 1, i)),
	('cut out', overlay(image PLACING '' FROM 4 * i FOR i)),
	('moved',
		substr(image, 1, 3 * i) || substr(image, 4 * i + 1, i) || substr(image, 3 * i + 1, i)
			|| substr(image, 5 * i + 1))) v(what, bytes)
WHERE bytes <> image GROUP BY what ORDER BY what COLLATE "C";
-- if the checksum is made right again, it is refused or harmless: nothing crashes
DO $$
DECLARE
	image bytea := (SELECT cf_agg(i)::bytea FROM generate_series(1, 40) i);
	taken int := 0;
	f cuckoofilter;
BEGIN
	FOR bit IN 0 .. length(image) * 8 - 1 LOOP
		BEGIN
			f := sealed(flipped(image, bit))::cuckoofilter;
			taken := taken + 1;
			IF (cf_info(f)).element_family = 'integer' THEN
				FOR i IN 1..50 LOOP
					f := cf_delete(cf_add(f, -i), i);
				END LOOP;
			END IF;
		EXCEPTION WHEN invalid_binary_representation THEN
			NULL;
		END;
	END LOOP;
	RAISE NOTICE 'flips taken: % of %', within(taken, 101, length(image) * 8), length(image) * 8;
END $$;

DROP FUNCTION refused, flipped;
DROP TABLE stored, damaged;
