-- Random pairs of equal and nearly equal values: their hashes are equal if and
-- only if PostgreSQL says that the values are.  In psql, on a database of its own:
--
--	test/throwaway.sh psql -Xq -v pairs=1000000 -v seed=1 -f test/fuzz/pairs.sql
--
-- The draws are hashes of the pair's number, and the seed is the first number, so
-- that it gives the same values with every version of PostgreSQL.  Only odd pairs
-- may differ, because infinite intervals came with 17.  For each family a row shows, after the pairs and how many are equal:
--
--	differ	pairs whose values are equal and hashes are not, or the reverse
--	arrays	equal pairs whose hashes differ in an array, or in a row
--	alike	unequal pairs with one hash in arrays, as doc/elements.md explains
--	lost	equal pairs of which a filter of the first values lacks the second
--	others	different values that were not added; of them the filter, whose fpp is
--	found	0.001, contains these
--	md5		of a filter of the first 10000 even ones, for comparing versions
--
-- It ends with an error if pairs differ or are lost, or if too many are found.
\set ON_ERROR_STOP on
\if :{?pairs} \else
	\set pairs 10000
\endif
\if :{?seed} \else
	SELECT (random() * 1e12)::bigint AS seed \gset
\endif
\echo seed :seed
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;

-- ---- values ----

-- the k-th draw for pair i, from 0 to n - 1
CREATE FUNCTION draw(i bigint, k int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT (cf_hash(i, k) & 9223372036854775807) % n';
CREATE FUNCTION one_bit(i bigint, k int, bits bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1::bigint << draw(i, k, bits)::int';
CREATE FUNCTION since(version int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT (current_setting('server_version_num')::int >= version * 10000)::int $$;
CREATE FUNCTION clamp(x numeric, low numeric, high numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT greatest(least(x, high), low)';
CREATE FUNCTION hex(n bigint, digits int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lpad(to_hex(n), digits, '0') $$;
CREATE FUNCTION address(six boolean, prefix text, n bigint, bits bigint) RETURNS inet LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN six THEN set_masklen((prefix || '::')::inet + n, bits::int) ELSE set_masklen(inet '0.0.0.0' + n, least(bits, 32)::int) END
$$;
-- an interval of microseconds; twice the half of its hours, which is an int
CREATE FUNCTION us(t bigint) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
	SELECT make_interval(hours => (t / 7200000000)::int) + make_interval(hours => (t / 7200000000)::int, secs => (t % 7200000000) / 1e6::float8)
$$;
CREATE FUNCTION clock(t bigint) RETURNS time LANGUAGE sql IMMUTABLE AS $$ SELECT CASE t WHEN 86400000000 THEN '24:00' ELSE time '00:00' + us(t) END $$;
-- within the limits, but for months, as all three limits together are infinity
CREATE FUNCTION span(m numeric, d numeric, t numeric) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
	SELECT make_interval(months => clamp(m, -2147483647, 2147483646)::int, days => clamp(d, -2147483648, 2147483647)::int)
		+ us(clamp(t, -9223372036854775808, 9223372036854775807)::bigint)
$$;

CREATE TABLE families (n int GENERATED ALWAYS AS IDENTITY, family text, pairs text);
INSERT INTO families (family, pairs) VALUES
	-- the other one has more zeros, or was computed, or has another last digit, exponent or sign
	('numeric', $$
		SELECT i, CASE special WHEN 0 THEN specials[1 + draw(i, 1, known)] ELSE sign || digits || 'e' || e END::numeric AS a,
			CASE WHEN special = 0 THEN specials[1 + draw(i, 2, known)]::numeric
				WHEN e < 30 AND draw(i, 3, 4) = 0 THEN (sign || digits || 'e' || e)::numeric + 1.10 - 1.1 + (digit || 'e' || e)::numeric
				ELSE (CASE draw(i, 4, 16) WHEN 0 THEN '-' ELSE sign END || CASE draw(i, 5, 2)
					WHEN 0 THEN '0.' || lpad((digits::numeric + digit)::text, length(digits) + 2, '0') || 'e' || e + power + length(digits) + 2
					ELSE digits::numeric + digit || repeat('0', zeros) || '.0e' || e + power - zeros END)::numeric END AS b
		FROM (SELECT i, draw(i, 6, 32) AS special, '{NaN,0,-0,0.000,0e-99,Infinity,-Infinity}'::text[] AS specials, 5 + 2 * (i % 2)::int AS known,
				(ARRAY['-', ''])[1 + draw(i, 7, 2)] AS sign, draw(i, 8, 30)::int AS zeros, (draw(i, 9, 8) = 0)::int AS digit,
				(ARRAY[1, -1, 4, 256, 0, 0, 0, 0, 0, 0])[1 + draw(i, 10, 10)] AS power, CASE draw(i, 11, 4) WHEN 0 THEN draw(i, 12, 120000) - 15000 ELSE draw(i, 12, 30) - 15 END AS e,
				CASE draw(i, 13, 4) WHEN 0 THEN draw(i, 14, 20000)::text WHEN 1 THEN repeat('9', (1 + draw(i, 14, 40)::int) * CASE draw(i, 15, 300) WHEN 0 THEN 500 ELSE 10 END) WHEN 2 THEN rpad('1', draw(i, 14, 40)::int + 1, '0') || draw(i, 15, 2)
					ELSE draw(i, 14, 1::bigint << 60) || hex(0, draw(i, 15, 9)::int) || draw(i, 16, 1::bigint << 60) END AS digits FROM numbers) d $$),
	-- by way of cidr or text, or with another bit, mask length or version
	('inet', $$
		SELECT i, CASE draw(i, 1, 3) WHEN 0 THEN address(six, prefix, n, bits)::cidr::inet ELSE address(six, prefix, n, bits) END AS a,
			CASE draw(i, 2, 4) WHEN 0 THEN other::cidr::inet WHEN 1 THEN text(other)::inet WHEN 2 THEN abbrev(other)::inet ELSE ~ ~ other END AS b
		FROM (SELECT i, draw(i, 3, 2) = 0 AS six, (ARRAY['', '2001:db8', hex(draw(i, 4, 65536), 4)])[1 + draw(i, 5, 3)] AS prefix,
				(ARRAY[draw(i, 6, 1::bigint << 32), 167772160 + draw(i, 6, 1024), one_bit(i, 6, 33) - 1])[1 + draw(i, 7, 3)] AS n, (ARRAY[32, draw(i, 8, 5) * 8, draw(i, 8, 128)])[1 + draw(i, 9, 3)] AS bits FROM numbers) d,
			address(six <> (draw(i, 10, 16) = 0), CASE draw(i, 11, 16) WHEN 0 THEN '' ELSE prefix END, n # CASE draw(i, 12, 4) WHEN 0 THEN one_bit(i, 13, 32) ELSE 0 END, bits + (draw(i, 14, 8) = 0)::int) other $$),
	('cidr, inet', $$ SELECT i, set_masklen(v, bits)::cidr AS a, CASE draw(i, 1, 2) WHEN 0 THEN set_masklen(v, bits)::cidr::inet ELSE set_masklen(v, bits) END AS b
		FROM (SELECT i, inet '10.0.0.0' + draw(i, 2, 1 << 24) AS v, draw(i, 3, 9)::int + 24 AS bits FROM numbers) d $$),
	('macaddr', $$ SELECT i, hex(n, 12)::macaddr AS a, ~ ~ overlay(hex(n # CASE draw(i, 1, 2) WHEN 0 THEN one_bit(i, 2, 48) ELSE 0 END, 12) PLACING ':' FROM 7 FOR 0)::macaddr AS b
		FROM (SELECT i, (ARRAY[draw(i, 3, 1::bigint << 48), draw(i, 3, 4), one_bit(i, 3, 48)])[1 + draw(i, 4, 3)] AS n FROM numbers) d $$),
	-- half of them were a macaddr, and have ff:fe, which is 1099478073344, in the middle
	('macaddr8', $$ SELECT i, CASE WHEN short THEN (hex(n >> 40, 6) || hex(n & 16777215, 6))::macaddr::macaddr8 ELSE hex(n, 16)::macaddr8 END AS a,
			hex(n # CASE draw(i, 1, 2) WHEN 0 THEN one_bit(i, 2, 64) ELSE 0 END, 16)::macaddr8 AS b
		FROM (SELECT i, short, CASE WHEN short THEN draw(i, 3, 1 << 23) << 40 | 1099478073344 | draw(i, 4, 1 << 24) ELSE cf_hash(i, 3) END AS n FROM (SELECT i, draw(i, 5, 2) = 0 AS short FROM numbers) n) d $$),
	('time', $$ SELECT i, clock(t) AS a, CASE draw(i, 1, 2) WHEN 0 THEN (u / 3600000000 || ':' || u / 60000000 % 60 || ':' || u % 60000000 / 1e6)::time ELSE clock(u) END AS b
		FROM (SELECT i, (ARRAY[draw(i, 2, 86400000001), draw(i, 2, 4), 86400000000 - draw(i, 2, 4), draw(i, 2, 86401) * 1000000])[1 + draw(i, 3, 4)] AS t FROM numbers) d,
			CAST(clamp(t + coalesce((ARRAY[1, -1, 1000000, 86400000000, -86400000000])[1 + draw(i, 4, 10)], 0), 0, 86400000000) AS bigint) u $$),
	-- months become 30 days, days 24 hours, as far as there is room, and a microsecond may be added
	('interval', $$
		SELECT i, CASE special WHEN 0 THEN specials[1 + draw(i, 1, known)]::interval ELSE span(m, d, t) END AS a,
			CASE special WHEN 0 THEN specials[1 + draw(i, 2, known)]::interval ELSE span(m - months, d + 30 * months - days, t + days * 86400000000::numeric + more) END AS b
		FROM (SELECT i, draw(i, 3, 64) AS special, '{0,infinity,-infinity}'::text[] AS specials, 1 + 2 * since(17) * (i % 2)::int AS known,
				(ARRAY[0, 1, -2147483647, 2147483646, draw(i, 4, 40) - 20, draw(i, 4, 1::bigint << 32) - 2147483648])[1 + draw(i, 5, 6)] AS m,
				(ARRAY[0, 30, -2147483648, 2147483647, draw(i, 6, 40) - 20, draw(i, 6, 1::bigint << 32) - 2147483648])[1 + draw(i, 7, 6)] AS d,
				(ARRAY[0, 86400000000, 9223372036854775807, -9223372036854775808, cf_hash(i, 8), draw(i, 8, 9) - 4])[1 + draw(i, 9, 6)] AS t,
				(ARRAY[0, 1, -1, 12, draw(i, 10, 71000000), -draw(i, 10, 71000000)])[1 + draw(i, 11, 6)] AS months, (ARRAY[0, 1, -1, 30, draw(i, 12, 106000000), -draw(i, 12, 106000000)])[1 + draw(i, 13, 6)] AS days,
				(ARRAY[1, -1, 86400000000, 0, 0, 0, 0, 0])[1 + draw(i, 14, 8)] AS more FROM numbers) d $$),
	('integer', $$ SELECT i, v::int AS a, v + (ARRAY[1, -1, -2 * v, 1::bigint << 32, 0, 0, 0])[1 + draw(i, 1, 7)] AS b
		FROM (SELECT i, (ARRAY[draw(i, 2, 9) - 4, draw(i, 2, 1::bigint << 32) - 2147483648])[1 + draw(i, 3, 2)] AS v FROM numbers) d $$),
	('float', $$ SELECT i, v AS a, CASE draw(i, 1, 4) WHEN 0 THEN -v::float8 WHEN 1 THEN v * 1.0000000000000003::float8 WHEN 2 THEN v::text::float8 ELSE v END AS b
		FROM (SELECT i, (ARRAY['NaN', '0', '-0', 'Infinity', '-Infinity', (draw(i, 2, 200) / 10::float4)::text, (cf_hash(i, 2) / 3::float4)::text, '1e-' || draw(i, 2, 45)])[1 + draw(i, 3, 8)]::float4 AS v FROM numbers) d $$),
	('text', $$ SELECT i, v::char(9) AS a, (CASE draw(i, 1, 3) WHEN 0 THEN rtrim(v) WHEN 1 THEN v || ' ' ELSE translate(v, 'b', E'\t') END)::bpchar AS b
		FROM (SELECT i, translate((draw(i, 2, 100) + 10000 * draw(i, 3, 3000))::text, '0123456789', 'ab  é b a ') AS v FROM numbers) d $$),
	('date', $$ SELECT i, d.a, d.a + draw(i, 1, 2)::int AS b FROM (SELECT i, CASE draw(i, 2, 9) WHEN 0 THEN 'infinity' ELSE date '2000-01-01' + (draw(i, 3, 4000000) - 2000000)::int END AS a FROM numbers) d $$),
	('timestamp', $$ SELECT i, d.a, d.a + us(draw(i, 1, 2)) AS b FROM (SELECT i, CASE draw(i, 2, 9) WHEN 0 THEN '-infinity' ELSE timestamp '2000-01-01' + us(draw(i, 3, 1::bigint << 60) - (1::bigint << 57)) END AS a FROM numbers) d $$);

-- ---- answers ----

CREATE FUNCTION compare(query text) RETURNS TABLE (pairs bigint, equal bigint, differ bigint, arrays bigint, alike bigint, lost bigint, others bigint, found bigint, md5 text, seconds numeric) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
	type text;
	example record;
BEGIN
	EXECUTE 'CREATE TEMP TABLE pair AS ' || query;
	SELECT typname INTO type FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE attrelid = 'pair'::regclass AND attname = 'b';
	EXECUTE format('CREATE TYPE in_row AS (v %s, n int)', type);
	CREATE TEMP TABLE filter AS SELECT cf_agg(a, 0.001) AS f FROM pair;
	EXECUTE 'SELECT i, left(a::text, 200) AS a, left(b::text, 200) AS b FROM pair WHERE (a = b) <> (cf_hash(a) = cf_hash(b)) LIMIT 1' INTO example;
	IF example IS NOT NULL THEN
		RAISE WARNING 'pair %: % and %', example.i, example.a, example.b;
	END IF;
	RETURN QUERY EXECUTE format('SELECT p.*, o.*, md5(f::bytea), round(extract(epoch FROM clock_timestamp() - $1)::numeric, 1)
		FROM (SELECT count(*), count(*) FILTER (WHERE a = b), count(*) FILTER (WHERE (a = b) <> (cf_hash(a) = cf_hash(b))),
				count(*) FILTER (WHERE a = b AND (cf_hash(ARRAY[a::%1$s]) <> cf_hash(ARRAY[b]) OR cf_hash(ROW(a, 1)::in_row) <> cf_hash(ROW(b, 1)::in_row))), count(*) FILTER (WHERE a <> b AND cf_hash(ARRAY[a::%1$s]) = cf_hash(ARRAY[b])),
				count(*) FILTER (WHERE a = b AND NOT cf_contains((SELECT f FROM filter), b)) FROM pair) p,
			(SELECT count(*), count(*) FILTER (WHERE cf_contains((SELECT f FROM filter), b)) FROM (SELECT b FROM pair EXCEPT SELECT a FROM pair) s) o,
			(SELECT cf_agg(a, 20000, 0.001) AS f FROM (SELECT a FROM pair WHERE i & 1 = 0 ORDER BY i LIMIT 10000) s) f',
		type) USING start;
	DROP TABLE pair, filter;
	DROP TYPE in_row;
END $$;
CREATE TABLE numbers AS SELECT i FROM generate_series(:seed::bigint, :seed::bigint + :pairs - 1) i;
CREATE TABLE results AS SELECT n, family, c.* FROM (SELECT * FROM families ORDER BY n) f, compare(f.pairs) c;
SELECT * FROM results ORDER BY n;
SELECT bool_or(differ + arrays + lost > 0 OR found > others * 0.001 + 5 * sqrt(others * 0.001) + 1) AS failed FROM results \gset
\if :failed
	DO $$ BEGIN RAISE EXCEPTION 'equality and hashes do not agree'; END $$;
\endif
