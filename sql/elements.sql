-- Equal values probe equal, across types; another family is an error.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;

CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN short AS varchar(5);

-- ---- equal values ----

-- every pair is equal, so it must be found
SELECT what, found FROM (VALUES
	(1, 'int2, int8', cf_contains(cf_add(cf_new(), 1::int2), 1::int8)),
	(2, 'int8, int4', cf_contains(cf_add(cf_new(), -7::int8), -7)),
	(3, 'domain over int', cf_contains(cf_add(cf_new(), 1::posint), 1)),
	(4, 'numeric 1.0, 1.00', cf_contains(cf_add(cf_new(), 1.0), 1.00)),
	(5, 'char(3), text', cf_contains(cf_add(cf_new(), 'a '::char(3)), 'a'::text)),
	(6, 'char(3), char(9)', cf_contains(cf_add(cf_new(), 'a'::char(3)), 'a'::char(9))),
	(7, 'varchar, text', cf_contains(cf_add(cf_new(), 'a'::varchar(5)), 'a'::text)),
	(8, 'domain over varchar, literal', cf_contains(cf_add(cf_new(), 'a'::short), 'a')),
	(9, 'name, literal', cf_contains(cf_add(cf_new(), 'a'::name), 'a')),
	(10, '"char", literal', cf_contains(cf_add(cf_new(), 'a'::"char"), 'a')),
	(11, 'enum, label', cf_contains(cf_add(cf_new(), 'sad'::mood), 'sad')),
	(12, 'citext', cf_contains(cf_add(cf_new(), 'Mixed'::citext), 'mIXED'::citext)),
	(13, 'float8 -0, 0', cf_contains(cf_add(cf_new(), '-0'::float8), '0'::float8)),
	(14, 'float4 -0, float8 0', cf_contains(cf_add(cf_new(), '-0'::float4), '0'::float8)),
	(15, 'float4, float8', cf_contains(cf_add(cf_new(), '1.5'::float4), '1.5'::float8)),
	(16, 'NaN', cf_contains(cf_add(cf_new(), 'NaN'::float4), 'NaN'::float8)),
	(17, 'NaN of another sign', cf_contains(cf_add(cf_new(), 'NaN'::float8), 'inf'::float8 - 'inf'::float8)),
	(18, 'bytea', cf_contains(cf_add(cf_new(), '\x00ff'::bytea), '\x00ff'::bytea)),
	(19, 'uuid',
		cf_contains(cf_add(cf_new(), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid),
			'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'::uuid)),
	(20, 'boolean', cf_contains(cf_add(cf_new(), true), 't'::bool)),
	(21, 'date', cf_contains(cf_add(cf_new(), '2026-01-31'::date), '31 Jan 2026'::date)),
	(22, 'timestamp', cf_contains(cf_add(cf_new(), '2026-01-31'::timestamp), '2026-01-31 00:00'::timestamp)),
	(23, 'timestamptz',
		cf_contains(cf_add(cf_new(), '2026-01-31 12:00+00'::timestamptz), '2026-01-31 13:00+01'::timestamptz)),
	(24, 'inet', cf_contains(cf_add(cf_new(), '10.0.0.1'::inet), '10.0.0.1/32'::inet)),
	(25, 'cidr, inet', cf_contains(cf_add(cf_new(), '10.0.0.0/8'::cidr), '10.0.0.0/8'::cidr::inet)),
	(26, 'jsonb', cf_contains(cf_add(cf_new(), '{"a":1,"b":2}'::jsonb), '{"b":2, "a":1.0}'::jsonb)),
	(27, 'array', cf_contains(cf_add(cf_new(), ARRAY[1,2]), '{1,2}'::int[])),
	(28, 'array of numeric', cf_contains(cf_add(cf_new(), ARRAY[1.0]), ARRAY[1.00])),
	(29, 'range', cf_contains(cf_add(cf_new(), '[1,4)'::int4range), '[1,3]'::int4range)),
	(30, 'interval', cf_contains(cf_add(cf_new(), '1 day'::interval), '24:00'::interval)),
	(31, 'oid, regclass', cf_contains(cf_add(cf_new(), 'pg_class'::regclass), 'pg_class'::regclass::oid)),
	(32, 'time', cf_contains(cf_add(cf_new(), '12:00'::time), '12:00:00'::time)),
	(33, 'literal', cf_contains(cf_add(cf_new(), 'a'), 'a'))
) AS v(n, what, found) ORDER BY n;

-- Pairs of values: whether the second is found in a filter of the first, or the
-- error, by cf_add and by cf_agg. Where there is no ICU, such cases are left out.
CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE command INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS result = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ' ' || result;
END $$;
CREATE FUNCTION testable(needs text) RETURNS boolean LANGUAGE sql AS $$
	SELECT needs <> 'icu' OR getdatabaseencoding() <> 'SQL_ASCII'
		AND EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu')
$$;
CREATE DOMAIN email AS citext;
CREATE DOMAIN class AS regclass;
CREATE DOMAIN feeling AS mood;
CREATE DOMAIN ints AS int[];
CREATE TYPE pair2 AS (c int, d varchar(3));
CREATE TYPE pair3 AS (a int, b int);
CREATE TYPE pairs AS (x pair[], y int[]);
CREATE TYPE moody AS (who text, m mood);
CREATE TYPE mood_range AS RANGE (subtype = mood);
CREATE TYPE text_range AS RANGE (subtype = text);
CREATE TYPE varchar_range AS RANGE (subtype = varchar);
CREATE TYPE bytes_range AS RANGE (subtype = text, subtype_opclass = text_pattern_ops);
CREATE TYPE int_range AS RANGE (subtype = int);
DO $$
BEGIN
	IF testable('icu') THEN
		CREATE COLLATION nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE COLLATION nd_too (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE COLLATION nd_other (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		CREATE TYPE nd_text AS (v text COLLATE nd);
		CREATE TYPE nd_char AS (v char(5) COLLATE nd);
		CREATE TYPE nd_range AS RANGE (subtype = text, collation = nd);
		CREATE TYPE nd_char_range AS RANGE (subtype = bpchar, collation = nd);
	END IF;
END $$;
SET client_min_messages = warning;
-- a type of somebody's own, and one whose functions cannot be told apart
DO $$
DECLARE
	t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['own', 'body'] LOOP
		EXECUTE replace('CREATE TYPE own;
			CREATE FUNCTION own_in(cstring) RETURNS own LANGUAGE internal IMMUTABLE STRICT AS ''int4in'';
			CREATE FUNCTION own_out(own) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS ''int4out'';
			CREATE TYPE own (INPUT = own_in, OUTPUT = own_out, LIKE = int4);
			CREATE FUNCTION own_eq(own, own) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS ''int4eq'';
			CREATE OPERATOR = (LEFTARG = own, RIGHTARG = own, FUNCTION = own_eq);
			CREATE FUNCTION own_hash(own) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS ''hashint4''', 'own', t);
		EXECUTE format('CREATE FUNCTION %1$s_hash(%1$s, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT ', t)
			|| CASE t WHEN 'own' THEN 'AS ''SELECT hashint4extended($1::text::int, $2)'''
				ELSE 'RETURN hashint4extended($1::text::int, $2)' END;
		EXECUTE replace('CREATE OPERATOR CLASS own_ops DEFAULT FOR TYPE own USING hash AS
			OPERATOR 1 =, FUNCTION 1 own_hash(own), FUNCTION 2 own_hash(own, bigint)', 'own', t);
	END LOOP;
END $$;
RESET client_min_messages;
CREATE TABLE cases (n int GENERATED ALWAYS AS IDENTITY, needs text, expected text, a text, b text);
INSERT INTO cases (needs, expected, a, b) VALUES
	('', 'true', $$''::"char"$$, $$''$$),
	('', 'false', $$'a '::varchar$$, $$'a'::varchar$$),
	('', 'true', $$(-23)::"char"$$, $$'\351'$$),
	('', 'true', $$(-128)::"char"$$, $$'\200'::name$$),
	('', 'true', $$127::"char"$$, $$chr(127)$$),
	('', 'true', $$'sad'::mood$$, $$'sad'::"text"$$),
	('', 'true', $$1::posint$$, $$1::bigint$$),
	('', 'true', $$'pg_class'::regclass$$, $$'pg_class'::regclass::oid$$),
	('', 'true', $$'pg_class'::class$$, $$'pg_class'::regclass::oid$$),
	('', 'true', $$'pg_class'::regclass::oid$$, $$'pg_class'::class$$),
	('', '42804 %', $$1::oid$$, $$1::int$$),
	-- arrays: their shape counts
	('', 'true', $$ARRAY['a'::varchar]$$, $$ARRAY['a'::text]$$),
	('', 'true', $$ARRAY['a'::short]$$, $$ARRAY['a'::text]$$),
	('', 'true', $$ARRAY[1]$$, $$ARRAY[1::posint]$$),
	('', 'false', $$ARRAY[ARRAY[1]]$$, $$ARRAY[1]$$),
	('', 'true', $$ARRAY[ARRAY[1]]$$, $$'{{1}}'::int[]$$),
	('', 'false', $$'{{1,2}}'::int[]$$, $$'{{1},{2}}'::int[]$$),
	('', 'false', $$'{1,2}'::int[]$$, $$'[0:1]={1,2}'::int[]$$),
	('', 'true', $$'[0:1]={1,2}'::int[]$$, $$'[0:1]={1,2}'::int[]$$),
	('', 'true', $$ARRAY[]::int[]$$, $$'{}'::int[]$$),
	('', 'true', $$array_append(ARRAY[NULL, repeat('a', 9999)], 'b')$$, $$ARRAY[NULL, repeat('a', 9999), 'b']$$),
	('', '42804 %', $$ARRAY[1]$$, $$ARRAY[1.0]$$),
	('', '42804 %', $$ARRAY[1]$$, $$ARRAY[1::bigint]$$),
	('', '42804 %', $$ARRAY['a'::text]$$, $$ARRAY['a'::char(1)]$$),
	('', 'true', $$ARRAY['A'::citext]$$, $$ARRAY['a'::citext]$$),
	('', 'true', $$ARRAY['A'::email]$$, $$ARRAY['a'::citext]$$),
	('', '42804 %', $$ARRAY['A'::citext]$$, $$ARRAY['a'::text]$$),
	('', 'true', $$ARRAY['{1}'::ints]$$, $$ARRAY['{1}'::ints]$$),
	('', 'true', $$'{1}'::ints$$, $$'{1}'::int[]$$),
	-- enums within
	('', '0A000 %', $$ARRAY['sad'::mood]$$, $$ARRAY['sad'::mood]$$),
	('', '0A000 %', $$ARRAY['sad'::feeling]$$, $$ARRAY['sad'::feeling]$$),
	('', '0A000 %', $$mood_range('happy', 'sad')$$, $$mood_range('happy', 'sad')$$),
	('', '0A000 %', $$ARRAY[mood_range('happy', 'sad')]$$, $$ARRAY[mood_range('happy', 'sad')]$$),
	('', '0A000 %', $$multirange(mood_range('happy', 'sad'))$$, $$multirange(mood_range('happy', 'sad'))$$),
	('', '0A000 %', $$ROW('x', 'sad')::moody$$, $$ROW('x', 'sad')::moody$$),
	-- ranges: of what, and how canonical
	('', 'true', $$text_range('a', 'b')$$, $$varchar_range('a', 'b')$$),
	('', 'true', $$int4range(1, 4)$$, $$int4range(1, 3, '[]')$$),
	('', '42804 %', $$int4range(1, 4)$$, $$int8range(1, 4)$$),
	('', '42804 %', $$int4range(1, 4)$$, $$int_range(1, 4)$$),
	('', '0A000 %', $$bytes_range('a', 'b')$$, $$bytes_range('a', 'b')$$),
	('', 'true', $$'{[1,4)}'::int4multirange$$, $$'{[1,3]}'::int4multirange$$),
	('', '42804 %', $$'{[1,4)}'::int4multirange$$, $$int4range(1, 4)$$),
	-- composites: their attributes count
	('', 'true', $$ROW(1, 'x')::pair$$, $$ROW(1, 'x')::pair$$),
	('', 'true', $$ROW(1, 'x')::pair$$, $$ROW(1, 'x')::pair2$$),
	('', '42804 %', $$ROW(1, 'x')::pair$$, $$ROW(1, 2)::pair3$$),
	('', 'true', $$ROW(ARRAY[ROW(1, 'x')::pair], '{}')::pairs$$, $$ROW(ARRAY[ROW(1, 'x')::pair], '{}')::pairs$$),
	('', '42804 %', $$ARRAY[ROW(1, 'x')::pair]$$, $$ARRAY[ROW(1, 2)::pair3]$$),
	-- the one place where PostgreSQL's hash passes over the shape of an array
	('', 'true', $$ROW('{}', '{1,2}')::pairs$$, $$ROW('{}', '{{1},{2}}')::pairs$$),
	('', '0A000 Combine the columns %', $$ROW(1, 'x')$$, $$ROW(1, 'x')$$),
	-- types of somebody's own
	('', 'true', $$'1'::own$$, $$'01'::own$$),
	('', '42804 %', $$'1'::own$$, $$1::oid$$),
	('', 'true', $$ARRAY['1'::own]$$, $$ARRAY['01'::own]$$),
	('', '0A000 Write the body %', $$'1'::body$$, $$'1'::body$$),
	('', '0A000 Write the body %', $$ARRAY['1'::body]$$, $$ARRAY['1'::body]$$),
	-- nondeterministic collations: their locales count
	('icu', 'true', $$'Ab'::text COLLATE nd$$, $$'aB'::varchar COLLATE nd$$),
	('icu', 'true', $$'Ab'::char(5) COLLATE nd$$, $$'aB' COLLATE nd$$),
	('icu', 'true', $$'Ab' COLLATE nd$$, $$'aB'::char(9) COLLATE nd$$),
	('icu', 'true', $$'Ab'::name COLLATE nd$$, $$'aB' COLLATE nd$$),
	('icu', 'true', $$'Ab' COLLATE nd$$, $$'aB' COLLATE nd_too$$),
	('icu', '42804 Cast the value to the element type of the filter, or give it the collation %', $$'Ab' COLLATE nd$$,
		$$'aB' COLLATE nd_other$$),
	('icu', '42804 Give the value a deterministic collation, for example $1 COLLATE "C". %', $$'Ab' COLLATE "C"$$,
		$$'Ab' COLLATE nd$$),
	('icu', '42804 %', $$'Ab' COLLATE nd$$, $$'Ab' COLLATE "C"$$),
	('icu', 'true', $$'sad'::mood$$, $$'sad' COLLATE "C"$$),
	('icu', 'true', $$ARRAY['Ab' COLLATE nd]$$, $$ARRAY['aB' COLLATE nd_too]$$),
	('icu', '42804 %', $$ARRAY['Ab' COLLATE nd]$$, $$ARRAY['aB' COLLATE "C"]$$),
	('icu', 'true', $$ARRAY['Ab'::char(5)]$$, $$ARRAY['Ab'::char(9)]$$),
	('icu', '0A000 Cast the element %', $$ARRAY['Ab'::char(5) COLLATE nd]$$, $$ARRAY['Ab'::char(5) COLLATE nd]$$),
	('icu', '0A000 Cast the element %', $$ARRAY['Ab'::name COLLATE nd]$$, $$ARRAY['Ab'::name COLLATE nd]$$),
	('icu', 'true', $$nd_range('A', 'B')$$, $$nd_range('a', 'b')$$),
	('icu', '42804 %', $$nd_range('A', 'B')$$, $$text_range('a', 'b')$$),
	('icu', '0A000 Cast the element %', $$nd_char_range('a', 'b')$$, $$nd_char_range('a', 'b')$$),
	('icu', 'true', $$ROW('Ab')::nd_text$$, $$ROW('aB')::nd_text$$),
	('icu', '0A000 Cast the element %', $$ROW('Ab')::nd_char$$, $$ROW('Ab')::nd_char$$),
	('icu', '0A000 Cast the element %', $$ARRAY[ROW('Ab')::nd_char]$$, $$ARRAY[ROW('Ab')::nd_char]$$);
-- nothing to be seen, or what is not as expected
SELECT n, way, a, b, expected, outcome
FROM cases, LATERAL (VALUES
	('cf_add', format('SELECT cf_contains(cf_add(cf_new(1000, 1e-8), %s), %s)', a, b)),
	('cf_agg', format('SELECT cf_contains((SELECT cf_agg(%s, 1e-8)), %s)', a, b)),
	('cf_contains_any', format('SELECT cf_contains_any(cf_add(cf_new(1000, 1e-8), %s), ARRAY[%s])', a, b))
) AS w(way, command), outcome(command)
-- an array of arrays is one array, an enum in one is refused
WHERE testable(needs) AND NOT (way = 'cf_contains_any' AND a || b ~ 'ARRAY|\[\]')
	AND outcome NOT LIKE expected
ORDER BY n, way;
SELECT count(*) AS cases, count(*) FILTER (WHERE needs = '') AS everywhere FROM cases;
-- an array that was just made, or that a variable holds, is an expanded object
SELECT i, name, value, truth
FROM (SELECT i, cf_agg(array_append('[0:0]={1}'::int[], i), 1e-8) AS f FROM generate_series(1, 2) i GROUP BY i) s,
	LATERAL (VALUES
	('integers', cf_hash(array_append(ARRAY[i, 2], 3)) = cf_hash(ARRAY[i, 2, 3]), true),
	('texts', cf_hash(array_prepend('a' || i, ARRAY[repeat('b', 9999)])) = cf_hash(ARRAY['a' || i, repeat('b', 9999)]),
		true),
	('found', cf_contains(f, ('[0:1]={1,' || i || '}')::int[]), true),
	('of another shape', cf_contains(f, ARRAY[1, i]), false)) v(name, value, truth) ORDER BY i;
DO $$
DECLARE
	a numeric[];
	f cuckoofilter := cf_new();
BEGIN
	FOR i IN 2..4 LOOP
		a[i] := i;
		f := cf_add(f, a);
		RAISE NOTICE 'variable %, literal %', cf_contains(f, a),
			cf_contains(f, ('[2:' || i || ']=' || a[2:i]::text)::numeric[]);
	END LOOP;
END $$;

-- ---- planner and scans ----

-- what is refused is so by the call, not by the planner with its statistics
CREATE TABLE refused (moods mood[], range mood_range, blanks char(5)[]);
INSERT INTO refused SELECT '{sad}', mood_range('happy', 'sad'), '{a}' FROM generate_series(1, 9);
DO $$
BEGIN
	IF testable('icu') THEN
		ALTER TABLE refused ALTER blanks TYPE char(5)[] COLLATE nd;
	END IF;
END $$;
ANALYZE refused;
SELECT v,
	outcome(format('EXPLAIN (COSTS OFF) SELECT FROM refused WHERE cf_contains(cf_add(cf_new(), 1), %s)', v)) AS plan,
	CASE WHEN v <> 'blanks' OR testable('icu')
		THEN left(outcome(format('SELECT cf_contains(cf_new(), %s) FROM refused', v)), 5) ELSE '0A000' END AS refused
FROM unnest(ARRAY['moods', 'range', 'blanks']) AS v;

-- equality as in single calls where a scan asks about many rows, and where the
-- planner asks about a column's most common values, some more common
CREATE TABLE scanned AS SELECT ('Word ' || k)::char(20) AS b, ('Word ' || k)::name AS n, 'Word ' || k AS t,
	CASE k % 2 WHEN 0 THEN ARRAY[ARRAY[k, 1]] ELSE ARRAY[k, 1] END AS a
FROM generate_series(1, 5000) i, LATERAL (SELECT CASE i % 4 WHEN 0 THEN i / 4 % 5 * 2 ELSE i % 50 END AS k) s;
DO $$
BEGIN
	IF testable('icu') THEN
		ALTER TABLE scanned ALTER b TYPE char(20) COLLATE nd, ALTER n TYPE name COLLATE nd,
			ALTER t TYPE text COLLATE nd;
	END IF;
END $$;
ANALYZE scanned;
-- rows by a filter of ten elements, and by plain comparisons
CREATE FUNCTION scanned_by(scan text, condition text, elements text, OUT rows bigint, OUT expected bigint,
	OUT estimated boolean, OUT custom boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	elements := format('(SELECT %s FROM generate_series(0, 9) m)', elements);
	PERFORM set_config('cuckoo.enable_scan', scan, true);
	EXECUTE format('SELECT count(*) FROM scanned WHERE (SELECT bool_or(%s = x) FROM %s s(x))',
		substring(condition FROM '\w+$'), elements) INTO expected;
	EXECUTE format('SELECT quote_literal(cf_agg(x, 1e-8)) || ''::cuckoofilter'' FROM %s s(x)', elements) INTO elements;
	condition := format('FROM scanned WHERE ' || substring(condition FROM '(.*) '), elements,
		substring(condition FROM '\w+$'));
	EXECUTE 'SELECT count(*) ' || condition INTO rows;
	EXECUTE 'EXPLAIN (FORMAT json) SELECT ' || condition INTO plan;
	estimated := (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 BETWEEN expected * 0.95 AND expected * 1.05;
	custom := plan::text ~ 'CuckooScan';
END $$;
SELECT col, scan, string_agg(DISTINCT rows::text, ', ') AS rows, string_agg(DISTINCT expected::text, ', ') AS truth,
	count(*) FILTER (WHERE custom = (scan = 'on')) AS right_plans,
	count(*) FILTER (WHERE estimated = (form !~ 'SELECT')) AS right_estimates, 4 AS truth
FROM unnest(ARRAY['on', 'off']) scan,
	(VALUES ('b', '''WORD '' || m'), ('n', '''WORD '' || m'), ('t', '''WORD '' || m'),
		('a', 'ARRAY[ARRAY[m, 1]]')) AS v(col, element),
	unnest(ARRAY['cf_contains(%s, %s)', '%2$s <@ %1$s', 'cf_contains((SELECT %s OFFSET 0), %s)',
		'%2$s <@ ANY (ARRAY(SELECT %1$s OFFSET 0))']) form,
	scanned_by(scan, form || ' ' || col,
		CASE WHEN col = 'a' THEN element WHEN testable('icu') THEN format('(%s) COLLATE nd', element)
			ELSE format('initcap(%s)', element) END)
GROUP BY col, scan ORDER BY col, scan;
RESET cuckoo.enable_scan;
DROP FUNCTION scanned_by;
DROP TABLE scanned;

-- prepared parameters, of known and unknown type
PREPARE probe AS SELECT cf_contains(cf_add(cf_new(), 'x'), $1) AS found;
EXECUTE probe('x');
EXECUTE probe('y');
PREPARE probe_int(int) AS SELECT cf_contains(cf_add(cf_new(), 5::int2), $1) AS found;
EXECUTE probe_int(5);
DEALLOCATE ALL;

-- values of any length and storage: compressed and TOASTed equal plain ones
CREATE TEMP TABLE long_values (v text);
ALTER TABLE long_values ALTER v SET STORAGE external;
INSERT INTO long_values SELECT repeat('long ', n) FROM unnest(ARRAY[0, 1, 30, 1000, 100000]) n;
SELECT count(*) FILTER (WHERE cf_contains(f, repeat('long ', n))) AS found, 5 AS truth
FROM (SELECT cf_agg(v) AS f FROM long_values) s, unnest(ARRAY[0, 1, 30, 1000, 100000]) n;

-- ---- types that change ----

-- a type that changes is another one, at a call site of the same transaction too
SET client_min_messages = warning;
CREATE FUNCTION pair_found(f cuckoofilter, p text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN cf_contains(f, p::pair);
EXCEPTION WHEN datatype_mismatch OR undefined_function THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION own_found(f cuckoofilter, o text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN cf_contains(f, o::own);
EXCEPTION WHEN datatype_mismatch THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION own_hash8(own, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 8::bigint';
CREATE TEMP TABLE kept AS
	SELECT cf_add(cf_new(), '1'::own) AS own, cf_add(cf_new(), ROW(1, 'x')::pair) AS pair,
	cf_add(cf_new(), ARRAY['1'::own]) AS owns;
RESET client_min_messages;
BEGIN;
CREATE TEMP TABLE seen (n int, pair text, own text, later text);
DO $$
DECLARE
	pairs cuckoofilter := (SELECT pair FROM kept);
	owns cuckoofilter := (SELECT own FROM kept);
	later cuckoofilter := owns;
BEGIN
	FOR i IN 1..7 LOOP
		IF i = 3 THEN
			ALTER TYPE pair RENAME TO pair_renamed;
			ALTER TYPE pair_renamed RENAME ATTRIBUTE a TO a2;
			ALTER TYPE pair_renamed RENAME TO pair;
		ELSIF i = 4 THEN
			ALTER TYPE pair ADD ATTRIBUTE c int;
		ELSIF i = 5 THEN
			ALTER TYPE pair DROP ATTRIBUTE c;
		ELSIF i = 6 THEN
			CREATE OR REPLACE FUNCTION own_hash(own, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
				'SELECT 1 + hashint4extended($1::text::int, $2)';
			-- a filter of now is not one of then
			later := cf_add(cf_new(), '1'::own);
		ELSIF i = 7 THEN
			CREATE OR REPLACE FUNCTION own_hash(own, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
				'SELECT hashint4extended($1::text::int, $2)';
		END IF;
		INSERT INTO seen
		VALUES (i, pair_found(pairs, CASE WHEN i = 4 THEN '(1,x,)' ELSE '(1,x)' END), own_found(owns, '1'),
			own_found(later, '1'));
	END LOOP;
END $$;
SELECT n, pair, own, later FROM seen ORDER BY n;
COMMIT;
-- PostgreSQL may call the hash function of an attribute with a null seed
CREATE TYPE with_own AS (o own);
SELECT cf_add(cf_new(), ROW('1')::with_own);
DROP TYPE with_own;
-- nor does a cursor take a value by a new hash for one of the filter's
BEGIN;
DECLARE c CURSOR FOR SELECT cf_contains(own, i::text::own) AS found FROM kept, generate_series(1, 2) i;
FETCH 1 FROM c;
CREATE OR REPLACE FUNCTION own_hash(own, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 8::bigint';
FETCH 1 FROM c;
ROLLBACK;
-- or by the functions of a new operator class, which the hash function of arrays looks up
BEGIN;
DECLARE c CURSOR FOR SELECT cf_contains(owns, ARRAY['1'::own]) AS found FROM kept, generate_series(1, 2) i;
FETCH 1 FROM c;
DO $$
BEGIN
	DROP OPERATOR CLASS own_ops USING hash;
	DROP OPERATOR FAMILY own_ops USING hash;
	CREATE OPERATOR CLASS own_ops DEFAULT FOR TYPE own USING hash AS OPERATOR 1 =, FUNCTION 1 own_hash(own),
		FUNCTION 2 own_hash8(own, bigint);
	PERFORM cf_hash(ARRAY['1'::own]);
END $$;
FETCH 1 FROM c;
ROLLBACK;
DROP TABLE seen, kept;
DROP FUNCTION pair_found, own_found;

-- ---- the type of an argument ----

-- The type of cf_agg's elements is that of its argument, however this is
-- written, planned or stored: citext follows its own equality, a cast of it that
-- of text.
CREATE TEMP TABLE people (e email, c citext, m mood, p posint, s short, n name, b char(9));
INSERT INTO people VALUES ('A@X', 'A@X', 'sad', 1, 'a', 'a', 'a'), ('B@Y', 'B@Y', 'happy', 2, 'b', 'b', 'b');
SELECT name, value, truth FROM (SELECT cf_agg(e) AS e, cf_agg(c) AS c, cf_agg(e::text) AS e_text, cf_agg(m) AS m,
	cf_agg(p) AS p, cf_agg(s) AS s, cf_agg(n) AS n, cf_agg(b) AS b FROM people) f, LATERAL (VALUES
	('domain over citext', cf_contains(e, 'a@x'::citext), true), ('citext', cf_contains(c, 'b@y'::email), true),
	('cast to text', cf_contains(e_text, 'A@X'), true), ('in lower case', cf_contains(e_text, 'a@x'), false),
	('enum', cf_contains(m, 'sad'), true), ('domain over int', cf_contains(p, 2), true),
	('domain over varchar', cf_contains(s, 'b'), true), ('name', cf_contains(n, 'b'), true),
	('char(9)', cf_contains(b, 'b'), true)) v(name, value, truth);
SELECT seen(cf_agg(lower(c)::citext)) AS lower, seen(cf_agg(c)) AS truth FROM people;
SELECT seen(cf_agg(e, 0.01)) AS domain, seen(cf_agg(c, 0.01)) AS truth FROM people;
SELECT seen(cf_agg(upper(e)::citext, 1000, 0.01, 5)) AS upper, seen(cf_agg(c, 1000, 0.01, 5)) AS truth FROM people;
SELECT seen(cf_agg(e::text)) AS domain, seen(cf_agg(c::text)) AS truth FROM people;
CREATE TEMP VIEW of_citext AS SELECT cf_agg(c) AS f, cf_agg(c::text) AS g FROM people;
SELECT format('CREATE TEMP VIEW again AS %s', pg_get_viewdef('of_citext'::regclass)) AS command \gset
:command
SELECT (cf_info(value)).element_family, seen(value) AS value, seen(truth) AS truth
FROM of_citext v, again a, LATERAL (VALUES (a.f, v.f), (a.g, v.g)) x(value, truth);
SELECT DISTINCT (cf_info(cf_agg(c) OVER ())).element_family AS citext,
	(cf_info(cf_agg(e::text) OVER ())).element_family AS to_text,
	(cf_info(cf_agg(c::text::citext) OVER ())).element_family AS to_citext FROM people;
-- prepared: the seventh execution is of a generic plan
DO $$
DECLARE
	c citext := 'Ab';
	family text;
	families text[];
BEGIN
	FOR i IN 1..7 LOOP
		SELECT (cf_info(cf_agg(c))).element_family || ' ' || (cf_info(cf_add(cf_new(), c))).element_family INTO family;
		families := families || family;
	END LOOP;
	RAISE NOTICE 'families: %', (SELECT array_agg(DISTINCT f) FROM unnest(families) f);
END $$;
PREPARE planned(text) AS
	SELECT (cf_info(cf_agg($1::citext))).element_family AS agg,
	(cf_info(cf_add(cf_new(), $1::citext))).element_family AS added;
SET plan_cache_mode = force_custom_plan;
EXECUTE planned('a');
SET plan_cache_mode = force_generic_plan;
EXECUTE planned('a');
RESET plan_cache_mode;
DEALLOCATE planned;
-- asking a filter of texts about citext is an error, and the other way round
SELECT cf_contains(cf_agg(c::text), 'a@x'::citext) FROM people;
SELECT cf_contains(cf_agg(c::text), 'a@x'::email) FROM people;
SELECT cf_contains(cf_agg(c), 'a@x') FROM people;
-- what has no type yet is a text to cf_agg, as to all other functions
SELECT (cf_info(cf_agg('x'))).element_family, seen(cf_agg('x')) AS literal, seen(cf_agg('x'::text)) AS truth;
SELECT seen(cf_agg(NULL)) AS null, seen(cf_agg(NULL::int)) AS truth;
PREPARE untyped AS SELECT (cf_info(cf_agg($1))).element_family, (cf_info(cf_agg(DISTINCT $2, $3, $4, $5))).capacity;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped('x', 'x', 1000, 0.01, 7);
EXECUTE untyped(1, NULL, 1000, 0.01, 7);
DEALLOCATE untyped;
-- the hints are followed: what each of their examples finds in a filter of one element
CREATE FUNCTION by_hint(element text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	test text := format('SELECT cf_contains(cf_add(cf_new(1000, 1e-8), %s), ', element);
	hint text := outcome(test || value || ')');
	example text;
	result text;
BEGIN
	FOR example IN SELECT regexp_split_to_table(substring(hint FROM 'for example (.*?)(\.$|\. )'), ',? or ') LOOP
		result := concat_ws(', ', result, example || ': '
			|| outcome(test || replace(regexp_replace(example, ' (of|with|in) .*', ''), '$1', value) || ')'));
	END LOOP;
	RETURN coalesce(result, hint);
END $$;
CREATE FUNCTION id() RETURNS uuid LANGUAGE sql AS $$SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid$$;
SELECT value, element, by_hint(element, value)
FROM (VALUES ($$'x'::bytea$$, $$'78'$$), ($$'x'::bytea$$, $$'x'$$), ('id()', 'upper(id()::text)'),
	('id()', 'id()::text'),
	($$'10.0.0.1'::inet$$, $$'10.0.0.1'$$), ($$'10.0.0.0/8'::inet$$, $$'10.0.0.0/8'$$), ('7', $$'7'$$),
	('1.50', $$'1.5'$$), ($$'A@x'::email$$, $$'a@x'$$),
	($$'78'$$, $$'x'::bytea$$), ($$'x'$$, $$'x'::bytea$$), ('id()', 'uuid_send(id())'), ('uuid_send(id())', 'id()'),
	('7.0', '7'), ('7::real', '7'),
	('0.1::real', '0.1'), ('16777217::float8', '16777217.0'), ('0.1', '0.1::real'), ($$'0.1'$$, '0.1::float8'),
	('7', '7::real'), ('7', '7.0'), ($$'7'::"char"$$, '7'),
	($$'2024-05-06 07:00'::timestamp$$, $$'2024-05-06'::date$$),
	($$'2024-05-06 00:00Z'::timestamptz$$, $$'2024-05-06'::date$$),
	($$'2024-05-06'::date$$, $$'2024-05-06'::timestamp$$),
	($$'2024-05-06 00:00Z'::timestamptz$$, $$'2024-05-06'::timestamp$$),
	($$'2024-05-06'::date$$, $$'2024-05-06 00:00Z'::timestamptz$$),
	($$'2024-05-06'::timestamp$$, $$'2024-05-06 00:00Z'::timestamptz$$),
	($$'2024-05-06 00:00Z'$$, $$'2024-05-06 00:00Z'::timestamptz$$), ('upper(id()::text)', 'id()'), ($$'t'$$, 'true'),
	('7', $$'10.0.0.1'::inet$$),
	($$'a@x'$$, $$'a@x'::email$$), ($$'0/1'::pg_lsn$$, $$'a@x'::email$$)) t (value, element);
DROP FUNCTION by_hint, id;
-- one call site, arrays of two types: 5, and what has its low half in common
DO $$
BEGIN
	EXECUTE format('CREATE FUNCTION any_of(cuckoofilter, anyarray) RETURNS boolean LANGUAGE c STRICT AS %L, %L', probin,
		prosrc)
	FROM pg_proc WHERE proname = 'cf_contains_any';
END $$;
CREATE TEMP TABLE arrays (a int, b bigint);
INSERT INTO arrays SELECT 5, 4294967301 FROM generate_series(1, 9);
ANALYZE arrays;
SELECT attname, any_of(cf_add(cf_new(), 5), v) AS found
FROM (SELECT attname, most_common_vals AS v FROM pg_stats WHERE tablename = 'arrays' ORDER BY 1 OFFSET 0) s;
DROP TABLE arrays;
DROP FUNCTION any_of;
-- an enum in an array or row is hashed by its OID, which a restore changes
SELECT cf_agg(ARRAY[m]) FROM people;
SELECT cf_add(cf_new(), ROW('x', 'sad')::moody);
SELECT cf_contains(cf_new(), ARRAY[ROW('x', 'sad')::moody]);
SELECT cf_contains(cf_agg(ARRAY[m]::text[]), '{sad}'::text[]) AS labels FROM people;

-- ---- families ----

-- the family of a column
SELECT (cf_info(cf_agg(relname))).element_family AS name,
	(cf_info(cf_agg(relkind))).element_family AS "char",
	(cf_info(cf_agg(oid))).element_family AS oid,
	(cf_info(cf_agg(oid::regclass))).element_family AS regclass,
	(cf_info(cf_agg(relnatts))).element_family AS int2,
	(cf_info(cf_agg(reltuples))).element_family AS float4,
	(cf_info(cf_agg(relacl))).element_family AS acl,
	(cf_info(cf_agg(relispopulated))).element_family AS bool
FROM pg_class WHERE relname = 'pg_class';
SELECT (cf_info(cf_agg(now()::timestamp))).element_family AS timestamp,
	(cf_info(cf_agg(now()))).element_family AS timestamptz,
	(cf_info(cf_agg(now()::date))).element_family AS date,
	(cf_info(cf_agg(now()::time))).element_family AS time;

-- another family, or another type of "other", is an error that names both
SELECT cf_contains(cf_agg(i), 'one') FROM generate_series(1, 3) i;
SELECT cf_contains(cf_agg(i::text), 1) FROM generate_series(1, 3) i;
SELECT cf_contains(cf_agg(i), 1.0) FROM generate_series(1, 3) i;
SELECT cf_contains(cf_agg(i), 1.0::float8) FROM generate_series(1, 3) i;
SELECT cf_contains(cf_agg(('0/' || i)::pg_lsn), '10:00+01'::timetz) FROM generate_series(1, 3) i;
SELECT cf_contains(cf_add(cf_new(), c), 'a@x'::text) FROM people LIMIT 1;
SELECT cf_contains(cf_agg(now()), now()::timestamp);
PREPARE untyped AS SELECT cf_contains((SELECT cf_agg(i) FROM generate_series(1, 3) i), $1);
EXECUTE untyped('1');
DEALLOCATE untyped;
SELECT (cf_info(cf_agg(relacl))).element_family AS acl FROM pg_class WHERE relacl IS NOT NULL;
SELECT cf_agg('(1,2)'::point);

-- ---- encodings ----

-- families whose encoding is our own, by PostgreSQL's equality: lists of equal, nearly equal and extreme values, each
-- with each, alone and in arrays
CREATE FUNCTION compare(type regtype, vals text[]) RETURNS TABLE (of regtype, pairs bigint, equal bigint, differ bigint,
	lost_in_arrays bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT %L::regtype, count(*), count(*) FILTER (WHERE a = b),
		count(*) FILTER (WHERE (a = b) <> (cf_hash(a) = cf_hash(b))),
		count(*) FILTER (WHERE a = b AND cf_hash(ARRAY[a]) <> cf_hash(ARRAY[b]))
		FROM unnest($1::%1$s[]) WITH ORDINALITY x (a, i)
		JOIN unnest($1::%1$s[]) WITH ORDINALITY y (b, j) ON i < j', type) USING vals;
END $$;
SELECT c.* FROM (VALUES
	('numeric'::regtype, '{0,-0,0.0,0e10,NaN,1,1.0,1.00,-1,10,1e1,100e-1,0.1,0.10,1e-1,1.1,1.10,11,110,
		1.0000000000000000000000001,0.9999999999999999999999999,9999,10000,99999999,100000000,10000.0001,10000.00010,
		1e-4,1e-5,1e-16383,1.0e-16382,10e-16383,1e131071,0.1e131072,9e131071,-9e131071,
		123456789012345678901234567890,1234567890123456789012345678.90e2}'::text[]),
	('inet', '{10.0.0.1,10.0.0.1/32,10.0.0.1/24,10.0.0.0/24,10.0.0.0/25,10.0.0.0,0.0.0.0,0.0.0.0/0,
		255.255.255.255,255.255.255.255/0,::,::/0,::1,::1/128,::1/127,::ffff:10.0.0.1,::10.0.0.1,::a00:1,
		a00:1::,a00:1::/32,2001:db8::/32,2001:db8::/33,2001:DB8:0::1,2001:db8::1}'),
	('cidr', '{10.0.0.1,10.0.0.1/32,10.0.0.0/24,10.0.0.0/25,10/8,10.0.0.0/8,0/0,
		::/0,::1,::1/128,2001:db8::/32,2001:db8::/33}'),
	('macaddr', '{08:00:2b:01:02:03,08-00-2b-01-02-03,08002b:010203,08002b010203,03:02:01:2b:00:08,
		08:00:2b:01:02:04,00:00:00:00:00:00,ff:ff:ff:ff:ff:ff}'),
	('macaddr8', '{08:00:2b:01:02:03,08:00:2b:ff:fe:01:02:03,08:00:2b:01:02:03:04:05,05:04:03:02:01:2b:00:08,
		00:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff}'),
	('time', '{00:00,24:00,23:59:60,00:00:00.000001,23:59:59.999999,12:00,12:00 PM,12:00 AM,11:59:60}'),
	('interval', '{0,1 month,30 days,720 hours,29 days 24 hours,1 month 1 us,-1 month,-30 days,1 month -30 days,
		1 day,24 hours,1 year,360 days,365 days,12 months,1 us,-1 us,178956970 years 7 months,
		-178956970 years -8 months,2147483647 days,2147483647 months,-2147483648 days,-2147483648 months,
		71582788 months 7 days,2147483647:59:59.999999,-2147483647:59:59.999999}')
) v (of, vals), compare(v.of, v.vals) c;
-- random ones, of which many are equal
SELECT c.* FROM (
	SELECT of, array_agg(val ORDER BY i) AS vals
	FROM (SELECT i, hashint8extended(i, 1) & 1023 AS a, hashint8extended(i, 2) & 1023 AS b,
		hashint8extended(i, 3) & 1023 AS c FROM generate_series(1, 300) i) r, LATERAL (VALUES
		('numeric'::regtype,
			format('%s%se%s', (ARRAY['-', ''])[a % 2 + 1],
				(ARRAY['1', '1.0', '10', '100.00', '12', '1.20', '120', '0.012', '12000', '9999', '99990'])[b % 11 + 1],
				c % 9 - 4)),
		('inet',
			format('%s/%s', (ARRAY['10.0.0.1', '10.0.0.0', '::1', '::', '10.0.1.0'])[a % 5 + 1],
				(ARRAY[0, 8, 24, 31, 32])[b % 5 + 1])),
		('macaddr', format('08:00:2b:0%s:0%s:0%s', a % 3, b % 3, c % 3)),
		('macaddr8', format('08:00:2b:%s:0%s:0%s', (ARRAY['ff:fe:01', '01'])[a % 2 + 1], b % 3, c % 3)),
		('time', format('%s:%s:%s', a % 3, b % 3, (c % 3) / 2.0)),
		('interval',
			format('%s months %s days %s hours', a % 4 - 2, (b % 5 - 2) * 30 + b % 2, (c % 3 - 1) * 24))) v (of, val)
	GROUP BY of) s, compare(s.of, s.vals) c ORDER BY s.of::text;
DROP FUNCTION compare;
-- the limits of the time in an interval
SELECT name, cf_hash(value) AS value, cf_hash(truth) AS truth FROM (VALUES
	('greatest', interval '2147483647:00' + interval '414564141:00:54.775807',
		interval '106751991 days 04:00:54.775807'),
	('least', interval '-2147483647:00' - interval '414564141:00:54.775808',
		interval '-106751991 days -04:00:54.775808')) v(name, value, truth);

-- numbers of any length
SELECT count(DISTINCT cf_hash(repeat('1234', n)::numeric)) AS hashes, 100 AS truth FROM generate_series(1, 100) n;

-- hashes are the same on every machine: these never change
SELECT type, encode(substring(f::bytea FROM 33), 'hex') AS bytes FROM (VALUES
	('integer', (SELECT cf_agg(1, 1e-8))), ('text', (SELECT cf_agg('cuckoo'::text, 1e-8))),
	('uuid', (SELECT cf_agg('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 1e-8))),
	('float', (SELECT cf_agg(-0.0::float8, 1e-8))), ('date', (SELECT cf_agg('2026-01-31'::date, 1e-8))),
	('boolean', (SELECT cf_agg(true, 1e-8)))) v(type, f);

-- nor do the tags of family other
SELECT type, encode(substring(f::bytea FROM 13 FOR 2), 'hex') AS tag FROM (VALUES
	('numeric', cf_add(cf_new(), 1.0)), ('inet', cf_add(cf_new(), cidr '10.0.0.0/8')),
	('int[]', cf_add(cf_new(), ARRAY[1])), ('int4range', cf_add(cf_new(), int4range(1, 2))),
	('citext', cf_add(cf_new(), 'a'::citext)), ('own', cf_add(cf_new(), '1'::own))) AS v(type, f);
-- nor does it count with which suffix a function names its library
BEGIN;
UPDATE pg_proc SET probin = probin || '.so' WHERE probin ~ 'citext$';
SELECT encode(substring(cf_add(cf_new(), 'a'::citext)::bytea FROM 13 FOR 2), 'hex') AS citext;
ROLLBACK;
-- the tag of text under a nondeterministic collation, by FORMAT.md: XXH3 of the platform check value, b, the OID of
-- text, k, i, the locale and, from 16 on, the rules
SELECT CASE WHEN testable('icu') THEN outcome($$
	SELECT CASE tag WHEN truth THEN 'right' ELSE format('%s instead of %s', tag, truth) END
	FROM (SELECT cf_add(cf_new(), 'a' COLLATE nd)::bytea AS f) s,
		LATERAL (SELECT get_byte(f, 12) + 256 * get_byte(f, 13) AS tag, 65535 & cf_hash(
			(SELECT string_agg(substring(int8send(hashtextextended('cuckoo', 0)) FROM i FOR 1), '' ORDER BY i DESC)
				FROM generate_series(1, 8) i)
			|| 'b\031\000\000\000'::bytea || 'kiund-u-ks-level2\000'::bytea
			|| CASE WHEN current_setting('server_version_num')::int >= 160000 THEN '\x00'::bytea ELSE '' END)
			AS truth) t$$) ELSE 'right' END AS tag_of_collation;

SET client_min_messages = warning;
DROP TABLE people, cases, refused CASCADE;
DROP FUNCTION outcome, testable;
DROP DOMAIN email, posint, short, class, feeling, ints;
DROP TYPE mood, pair, pair2, pair3, text_range, varchar_range, bytes_range, int_range, own, body CASCADE;
DROP TYPE IF EXISTS nd_text, nd_char, nd_range, nd_char_range, pairs, moody CASCADE;
DROP COLLATION IF EXISTS nd, nd_too, nd_other;
DROP EXTENSION citext;
