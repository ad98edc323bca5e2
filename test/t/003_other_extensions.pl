# What other extensions do with ours.
#
# Distributed engines call the functions of an aggregate outside of any query
# that names it, with an FmgrInfo that has no expression and forgets fn_extra,
# and send states as text. The result must be the same filter nevertheless.
# States in tables and in direct calls are never changed, and a value that is
# no state is refused. The same holds for the aggregates over filters.
#
# postgres_fdw has a remote server compute the extension's functions, and reads
# the results as text.
#
# A planner hook may have replaced the scan of a table by one that knows where
# the rows really are, and then the extension must not offer its own scan. A
# hook for joins that was there before is still called.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('other_extensions', "work_mem = '64MB'");

plan skip_all => 'needs make -C test/module install' if !partial_aggregates($node);
plan skip_all => 'this PostgreSQL has no citext' if !citus($node);

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION test_claim(cuckoostate, bigint) RETURNS cuckoostate AS 'cuckoo_test' LANGUAGE C STRICT;
CREATE FUNCTION test_serialize(internal) RETURNS bytea AS 'cuckoo_test' LANGUAGE C STRICT PARALLEL SAFE;

-- the state of cf_agg as a value
CREATE AGGREGATE state_agg(bigint) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate, COMBINEFUNC = cuckoo_agg_combine);
CREATE AGGREGATE state_agg(bigint, float8) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);
CREATE AGGREGATE state_agg(bigint, float8, float8) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);
CREATE AGGREGATE state_agg(bigint, float8, float8, bigint) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);
CREATE AGGREGATE state_agg(text) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);
CREATE AGGREGATE state_agg(oid) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);

-- partition 0 is empty, 1 has 80 values, 2 has many; each value several times
CREATE TABLE few (part int, v int);
INSERT INTO few SELECT 1, i % 80 FROM generate_series(1, 500) i;
INSERT INTO few SELECT 2, i * 7 % 5003 FROM generate_series(1, 15000) i;
CREATE TABLE many (part int, v int);
INSERT INTO many SELECT 1, i % 80 FROM generate_series(1, 500) i;
INSERT INTO many SELECT 2, (i::bigint * 7919 % 300007)::int FROM generate_series(1, 600000) i;

-- the filter by partial states, combined in both orders, and the plain one
CREATE FUNCTION same(argtypes text, args text, source regclass, aggregate text DEFAULT 'cf_agg') RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	same boolean;
BEGIN
	EXECUTE format('
		WITH partial AS MATERIALIZED (
			SELECT part, (SELECT test_partial_agg(%1$L::regprocedure, %2$s) FROM %4$s WHERE part = p.part) AS state
			FROM generate_series(0, 2) AS p(part)
		), combined AS (
			SELECT count(state) AS states,
				test_combine_agg(%1$L::regprocedure, state, NULL::cuckoofilter ORDER BY part) AS a,
				test_combine_agg(%1$L::regprocedure, state, NULL::cuckoofilter ORDER BY part DESC) AS b
			FROM partial
		), plain AS (SELECT %5$s(%3$s) AS filter FROM %4$s)
		SELECT states = 2 AND cf_count(filter) > 100 AND a::bytea = filter::bytea AND b::bytea = filter::bytea
		FROM combined, plain',
		aggregate || '(' || argtypes || ')', CASE WHEN argtypes LIKE '%,%' THEN 'ROW(' || args || ')' ELSE args END,
		args, source, aggregate)
		INTO same;
	RETURN same;
END $$;

-- SQLSTATE, message and detail of the error that a command gives
CREATE FUNCTION error_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE command;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || ': ' || detail;
END $$;
SQL

# All variants for single types
checks($node, 'postgres', <<'SQL');
SELECT 'cf_agg(' || type || form.types || ') by partial states', same(type || form.types, value || form.args, 'few')
FROM (VALUES
	('text', '''value '' || v'), ('"char"', 'chr(1 + v % 127)::"char"'), ('smallint', 'v::int2'),
	('integer', 'v'), ('bigint', 'v * 10000000000'), ('oid', 'v::oid'), ('uuid', 'md5(v::text)::uuid'),
	('bytea', 'int4send(v)'), ('date', 'date ''1990-01-01'' + v'),
	('timestamp', 'timestamp ''1990-01-01'' + v * interval ''1 hour'''),
	('timestamptz', 'timestamptz ''1990-01-01'' + v * interval ''1 hour'''),
	('time', 'time ''00:00'' + v * interval ''1 s'''), ('interval', 'v * interval ''1 hour'''), ('numeric', 'v / 7.0'),
	('inet', 'inet ''2001:db8::'' + v'), ('macaddr', 'lpad(to_hex(v), 12, ''0'')::macaddr'),
	('macaddr8', 'lpad(to_hex(v), 16, ''0'')::macaddr8')) AS t(type, value),
	(VALUES ('', ''), (',float8', ', 0.01::float8'), (',float8,float8', ', 1000::float8, 0.0001::float8'),
	(',float8,float8,bigint', ', 100000::float8, 0.01::float8, 42::bigint')) AS form(types, args);
SQL

checks($node, 'postgres', <<'SQL');
SELECT 'many texts', same('text', '''value '' || v', 'many');
SELECT 'many bigints, sized',
	same('bigint,float8,float8,bigint', 'v::int8, 100000::float8, 0.0001::float8, 7::bigint', 'many');
SELECT 'nulls are skipped',
	test_combine_agg('cf_agg(int)'::regprocedure, state, NULL::cuckoofilter)::bytea
		= (SELECT cf_agg(i)::bytea FROM generate_series(1, 10) i)
FROM (SELECT test_partial_agg('cf_agg(int)'::regprocedure, v) AS state
	FROM (SELECT NULL::int UNION ALL SELECT generate_series(1, 10) UNION ALL SELECT NULL) AS values(v)) s;
SELECT 'no rows anywhere give an empty filter',
	test_combine_agg('cf_agg(int)'::regprocedure, state, NULL::cuckoofilter) = cf_agg(NULL::int)
FROM (SELECT test_partial_agg('cf_agg(int)'::regprocedure, v) AS state FROM few WHERE part = 0) s;
SELECT 'groups', count(*), 100, bool_and(test_filter = filter), true
FROM (SELECT v % 100 AS k, test_partial_agg('cf_agg(int)'::regprocedure, v)::text AS state, cf_agg(v) AS filter
	FROM few GROUP BY 1) s,
	LATERAL (SELECT test_combine_agg('cf_agg(int)'::regprocedure, s::cstring, NULL::cuckoofilter) AS test_filter
		FROM unnest(ARRAY[state, state]) s) c;
-- by the type of the state such an engine knows that it must fetch the rows
SELECT 'cf_agg(anycompatible' || types || ') is not for partial states',
	error_of(format('SELECT test_partial_agg(''cf_agg(anycompatible%s)''::regprocedure, ROW(v::numeric)) FROM few',
		types)) LIKE '% cannot be distributed: %'
FROM unnest(ARRAY['', ',float8', ',float8,float8', ',float8,float8,bigint']) types;
SELECT 'the state is internal for any type only', count(*), 76, bool_and(aggcombinefn <> 0
	AND (aggtranstype = 'internal'::regtype AND aggserialfn <> 0 AND aggdeserialfn <> 0)
		= (proargtypes[0] = 'anycompatible'::regtype)
	AND (aggtranstype = 'cuckoostate'::regtype) = (proargtypes[0] <> 'anycompatible'::regtype)), true
FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE proname = 'cf_agg';
SQL

SKIP:
{
	skip 'this PostgreSQL has no ICU, so no nondeterministic collations', 1
	  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") eq '0';
	checks($node, 'postgres', <<'SQL');
CREATE COLLATION case_insensitive (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE VIEW words AS SELECT part, (CASE v % 2 WHEN 0 THEN 'a' ELSE 'A' END || v / 2) COLLATE case_insensitive AS v
FROM few;
SELECT 'nondeterministic collation',
	same('text', 'v', 'words'), true, (SELECT cf_count(cf_agg(v)) FROM words), '2490 to 2502';
SQL
}

checks($node, 'postgres', <<'SQL');
CREATE VIEW mixed AS SELECT part, (CASE v % 2 WHEN 0 THEN 'a' ELSE 'A' END || v / 2)::citext AS v FROM few;
SELECT 'cf_agg(citext' || form.types || ') by partial states', same('citext' || form.types, 'v' || form.args, 'mixed')
FROM (VALUES ('', ''), (',float8', ', 0.01::float8'), (',float8,float8', ', 1000::float8, 0.0001::float8'),
	(',float8,float8,bigint', ', 100000::float8, 0.01::float8, 42::bigint')) AS form(types, args);
SELECT 'by the equality of citext', cf_count(cf_agg(v)), '2490 to 2502', cf_count(cf_agg(v::text)), '> 4900'
FROM mixed;
SQL

checks($node, 'postgres', <<'SQL');
-- flat in a tuple with a short header; flat, inline; large, TOASTed
CREATE TABLE states (n int, s cuckoostate);
INSERT INTO states SELECT n, state_agg(i)
FROM generate_series(1, 3000::bigint) i, (VALUES (1), (8), (50), (123), (124), (3000)) v(n) WHERE i <= n GROUP BY n;
CREATE VIEW texts AS SELECT n, s::text FROM states;
CREATE TABLE before AS SELECT * FROM texts;
CREATE FUNCTION unchanged() RETURNS boolean LANGUAGE sql AS
	'SELECT count(*) = 6 AND bool_and(a.s = b.s) FROM texts a JOIN before b USING (n)';
SELECT 'states are stored short, inline and TOASTed',
	bool_or(pg_column_size(s) < 128), true, bool_or(pg_column_size(s) BETWEEN 128 AND 1999), true,
	(SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'states'::regclass), '> 0' FROM states;

SELECT 'text form of a state', count(*), 6, bool_and(s::text::cuckoostate::text = s::text), true FROM states;
SELECT current_setting('data_directory') || '/states' AS file \gset
COPY states TO :'file' (FORMAT binary);
CREATE TABLE copied (LIKE states);
COPY copied FROM :'file' (FORMAT binary);
SELECT 'binary form of a state',
	count(*), 6, bool_and(s.s::text = c.s::text AND cuckoostate_send(c.s) = decode(s.s::text, 'base64')), true
FROM states s JOIN copied c USING (n);

SELECT 'final, directly',
	bool_and(cuckoo_agg_final(s) = (SELECT cf_agg(i) FROM generate_series(1, n) i)), true, unchanged(), true
FROM states;
SELECT 'transition of a new value, directly',
	bool_and(cuckoo_agg_final(cuckoo_agg_trans(s, -5::bigint))
		= (SELECT cf_agg(i) FROM (SELECT generate_series(1, n) UNION SELECT -5) t(i))), true,
	unchanged(), true FROM states;
SELECT 'the stored states are as before', unchanged();
SELECT 'transition of an old value, directly', bool_and(cuckoo_agg_trans(s, 1::bigint)::text = s::text), true,
	unchanged(), true
FROM states;
SELECT 'several calls on one state',
	bool_and(cf_count(cuckoo_agg_final(a)) = n + 2 AND cf_count(cuckoo_agg_final(b)) = n + 2
	AND cf_count(cuckoo_agg_final(c)) = n + 3 AND a::text <> b::text AND cf_count(cuckoo_agg_final(e)) = n + 1), true,
	unchanged(), true
FROM (SELECT n, e, cuckoo_agg_trans(e, -6::bigint) AS a, cuckoo_agg_trans(e, -7::bigint) AS b,
	cuckoo_agg_combine(e, cuckoo_agg_trans(cuckoo_agg_trans(NULL, -8::bigint), -9::bigint)) AS c
	FROM (SELECT n, cuckoo_agg_trans(s, -5::bigint) AS e FROM states OFFSET 0) s OFFSET 0) s;
SELECT 'combine, directly',
	bool_and(cuckoo_agg_final(cuckoo_agg_combine(a.s, b.s))
		= (SELECT cf_agg(i) FROM generate_series(1, greatest(a.n, b.n)) i)), true, unchanged(), true
FROM states a, states b;
SELECT 'combine a state with itself',
	bool_and(cuckoo_agg_combine(s, s)::text = s::text AND cuckoo_agg_combine(e, e)::text = e::text), true,
	unchanged(), true
FROM (SELECT s, cuckoo_agg_trans(s, -5::bigint) AS e FROM states OFFSET 0) s;
SELECT 'combine disjoint states',
	bool_and(cuckoo_agg_final(cuckoo_agg_combine(s, t)) = (SELECT cf_agg(i) FROM generate_series(-n, n) i
		WHERE i <> 0)), true, unchanged(), true
FROM states, LATERAL (SELECT state_agg(-i) AS t FROM generate_series(1, n::bigint) i) t;
SELECT 'combine with null',
	bool_and(cuckoo_agg_combine(s, NULL)::text = s::text AND cuckoo_agg_combine(NULL, s)::text = s::text
		AND cuckoo_agg_combine(NULL, NULL) IS NULL) FROM states;
SELECT 'transition of null',
	bool_and(cuckoo_agg_trans(s, NULL::bigint)::text = s::text
		AND cuckoo_agg_final(cuckoo_agg_trans(NULL, NULL::bigint)) = (SELECT cf_agg(NULL::bigint))) FROM states;
SELECT 'final of null', cuckoo_agg_final(NULL) = cf_agg(NULL::bigint);
SELECT 'states aggregated over a table of states', cuckoo_agg_final(state_agg(i)) = cf_agg(i)
FROM generate_series(1, 3000::bigint) i;

CREATE FUNCTION variables() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	a cuckoostate;
	b cuckoostate;
	was text;
BEGIN
	FOR i IN 1..400 LOOP
		b := a;
		was := b;
		a := cuckoo_agg_trans(a, i::bigint);
		IF b::text <> was OR a::text = was THEN
			RETURN false;
		END IF;
	END LOOP;
	b := cuckoo_agg_combine(a, (SELECT s FROM states WHERE n = 3000));
	RETURN cf_count(cuckoo_agg_final(a)) = 400 AND cf_count(cuckoo_agg_final(b)) = 3000;
END $$;
SELECT 'plpgsql variables', variables();

SELECT 'transition of another family',
	error_of('SELECT cuckoo_agg_trans(s, ''x''::text) FROM states'), '~ ^42804 ', unchanged(), true;
SELECT 'transition with other parameters',
	error_of('SELECT cuckoo_agg_trans(s, 1::bigint, 0.1) FROM states'), '~ ^22023 ', unchanged(), true;
-- a state that no filter can hold is refused before there is memory for more, not in the end
SELECT 'a state of 150 million hashes at 1e-8, and one more',
	error_of('SELECT cuckoo_agg_trans(test_claim(cuckoo_agg_trans(s, -1::bigint, 1e-8), 150000000), 1::bigint,
		1e-8) IS NULL FROM (SELECT state_agg(i, 1e-8) AS s FROM generate_series(1::bigint, 9000) i OFFSET 0) s'),
	'~ ^54000 cuckoofilter would exceed the size limit';
CREATE TABLE others (what text, code text, s cuckoostate);
INSERT INTO others SELECT 'family', '42804', state_agg('x'::text);
INSERT INTO others SELECT 'type of family other', '42804', state_agg(1::oid);
INSERT INTO others SELECT 'fpp', '22023', state_agg(1, 0.1);
INSERT INTO others SELECT 'capacity', '22023', state_agg(1, 1000, 0.001);
INSERT INTO others SELECT 'seed', '22023', state_agg(1, 1000, 0.001, 9);
SELECT 'combining states of different ' || what,
	error_of(format('SELECT cuckoo_agg_combine(a.s, b.s) FROM states a, others b WHERE what = %L', what)),
	'~ ^' || code || ' cannot combine',
	error_of(format('SELECT cuckoo_agg_combine(b.s, a.s) FROM states a, others b WHERE what = %L', what)),
	'~ ^' || code || ' cannot combine',
	error_of(format('SELECT test_combine_agg(''cf_agg(bigint)''::regprocedure, s::text::cstring, NULL::cuckoofilter)
		FROM (SELECT s FROM states UNION ALL SELECT s FROM others WHERE what = %L) s', what)),
	'~ ^' || code || ' cannot combine', unchanged(), true
FROM others ORDER BY what;
SELECT 'combining states of one family and different tags',
	error_of(format('SELECT cuckoo_agg_combine(%L, %L)', a, b)), m,
	error_of(format('SELECT cuckoo_agg_combine(%L, %L)', b, a)), m,
	error_of(format('SELECT cuckoo_agg_combine(%L, %L)', b, b)), 'none'
FROM (SELECT s::text AS a,
	encode(set_byte(decode(s::text, 'base64'), 6, (get_byte(decode(s::text, 'base64'), 6) + 1) % 256), 'base64') AS b,
	'42804 cannot combine states of cf_agg over different element types: '
		'Both states are of the family "other", but of different types or collations.' AS m
	FROM others WHERE what = 'type of family other') o;
SELECT 'other capacities and seeds do not combine',
	error_of('SELECT cuckoo_agg_combine(a.s, b.s)
		FROM others a, others b WHERE a.what = ''seed'' AND b.what = ''capacity'''), '~ ^22023 cannot combine';
SQL

# Filters in tables, each value in two of them
checks($node, 'postgres', <<'SQL');
CREATE FUNCTION parted(source regclass) RETURNS TABLE (part int, f cuckoofilter) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT part, cf_agg(v, 1000000, 0.001)
		FROM %s JOIN generate_series(0, 6) AS day ON v %% 7 IN (day, (day + 1) %% 7) GROUP BY part, day
		UNION ALL SELECT part, NULL FROM generate_series(1, 2) AS part', source);
END $$;
CREATE TABLE few_parted AS SELECT * FROM parted('few');
CREATE TABLE many_parted AS SELECT * FROM parted('many');
CREATE TABLE many_before AS SELECT md5(f::text) AS f FROM many_parted;
SELECT aggregate || ' over ' || source || ' by partial states', same('cuckoofilter', 'f', source::regclass, aggregate)
FROM unnest(ARRAY['cf_union_agg', 'cf_union_all_agg']) aggregate, unnest(ARRAY['few_parted', 'many_parted']) source;
SELECT 'combined elsewhere they are what cf_agg gives', u = a
FROM (SELECT test_combine_agg('cf_union_agg(cuckoofilter)'::regprocedure, f::text::cstring, NULL::cuckoofilter) AS u
	FROM few_parted) p,
	(SELECT cf_agg(v, 1000000, 0.001) AS a FROM few) q;
SELECT 'none of many is lost', cf_count(s)::float8 / cf_count(u), '> 1.9', lost, 0
FROM (SELECT test_combine_agg('cf_union_agg(cuckoofilter)'::regprocedure, f::text::cstring, NULL::cuckoofilter) AS u,
	test_combine_agg('cf_union_all_agg(cuckoofilter)'::regprocedure, f::text::cstring, NULL::cuckoofilter) AS s
FROM many_parted) p,
	LATERAL (SELECT count(*) FILTER (WHERE NOT (cf_contains(u, v) AND cf_contains(s, v))) AS lost FROM many) q;
SELECT aggregate || ' of nothing but nulls',
	(SELECT test_partial_agg(format('%s(%s)', aggregate, pg_typeof(w))::regprocedure, w) IS NULL
		FROM (SELECT v UNION ALL SELECT v) n(w)), true,
	(SELECT test_combine_agg(format('%s(%s)', aggregate, pg_typeof(v))::regprocedure, nullif(i, i)::text::cstring,
		NULL::cuckoofilter) IS NULL FROM generate_series(1, 2) i), true
FROM (VALUES ('cf_union_agg', NULL::cuckoofilter), ('cf_union_all_agg', NULL)) a(aggregate, v);
SELECT 'what does not combine is an error, also elsewhere',
	string_agg(left(error_of(format('SELECT test_combine_agg(%L::regprocedure, s::cstring, NULL::cuckoofilter)
	FROM unnest(ARRAY[%s, %s]::text[]) s', aggregate, a, b)), 5), ' ' ORDER BY n), '22023 22023 42804'
FROM (VALUES (1, 'cf_union_agg(cuckoofilter)', 'cf_new(1000)', 'cf_new()'),
	(2, 'cf_union_all_agg(cuckoofilter)', 'cf_new()', 'cf_new(seed => 1)'),
	(3, 'cf_union_agg(cuckoofilter)', 'cf_add(cf_new(), 1)', 'cf_add(cf_new(), ''a''::text)')) v(n, aggregate, a, b);
SELECT 'stored filters are as before', count(*), 14
FROM (SELECT md5(f::text) AS f FROM many_parted INTERSECT SELECT * FROM many_before WHERE f IS NOT NULL) p;
SQL

# Texts and bytes that are no state
checks($node, 'postgres', <<'SQL');
CREATE TABLE sink (s cuckoostate);
CREATE FUNCTION to_text(bytes bytea) RETURNS text LANGUAGE sql AS
	$$ SELECT translate(encode(bytes, 'base64'), E'\n', '') $$;
CREATE FUNCTION text_error(state text) RETURNS text LANGUAGE sql AS
	$$ SELECT error_of(format('SELECT %L::cuckoostate', state)) $$;
CREATE FUNCTION binary_error(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/state';
BEGIN
	EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', bytes, file);
	RETURN error_of(format('COPY sink FROM %L (FORMAT binary)', file));
END $$;
-- header of 32 bytes, three hashes
SELECT decode(test_partial_agg('cf_agg(int)'::regprocedure, i)::text, 'base64') AS state
FROM generate_series(1, 3) i \gset
CREATE TABLE good AS SELECT :'state'::bytea AS bytes;
SELECT 'a state is taken', text_error(to_text(:'state')), 'none', binary_error(:'state'), 'none';
-- the header of a corrupt state is no state's; the others are invalid as input
CREATE TABLE bad (what, corrupt, reason, bytes) AS VALUES
	('nothing', true, 'shorter than a header', ''::bytea),
	('header cut', true, 'shorter than a header', substring(:'state'::bytea FOR 31)),
	('header only', true, 'length does not agree with the number of hashes', substring(:'state'::bytea FOR 32)),
	('last hash missing', true, 'length does not agree with the number of hashes', substring(:'state'::bytea FOR 48)),
	('last byte missing', true, 'length does not agree with the number of hashes', substring(:'state'::bytea FOR 55)),
	('a byte more', false, 'length does not agree with the number of hashes', :'state'::bytea || '\x00'),
	('a hash more', false, 'length does not agree with the number of hashes', :'state'::bytea || '\xffffffffffffffff'),
	('magic', true, 'first two bytes are not "CS"', set_byte(:'state', 1, 70)),
	('version 2', true, 'unknown version', set_byte(:'state', 2, 2)),
	('family none', true, 'unknown element family', set_byte(:'state', 3, 0)),
	('family 255', true, 'unknown element family', set_byte(:'state', 3, 255)),
	('7 bits', true, 'fingerprint bits or capacity out of range', set_byte(:'state', 4, 7)),
	('31 bits', true, 'fingerprint bits or capacity out of range', set_byte(:'state', 4, 31)),
	('reserved byte', true, 'reserved byte is not zero', set_byte(:'state', 5, 1)),
	('tag', true, 'unknown element family', set_byte(:'state', 6, 1)),
	('negative capacity', true, 'fingerprint bits or capacity out of range', set_byte(:'state', 23, 128)),
	('huge capacity', true, 'fingerprint bits or capacity out of range', set_byte(:'state', 20, 1)),
	('two hashes', false, 'length does not agree with the number of hashes', set_byte(:'state', 24, 2)),
	('four hashes', true, 'length does not agree with the number of hashes', set_byte(:'state', 24, 4)),
	('2^61 + 3 hashes', true, 'length does not agree with the number of hashes', set_byte(:'state', 31, 32)),
	('hashes not in order', false, 'hashes are not in order', overlay(:'state'::bytea PLACING
		substring(:'state'::bytea FROM 41 FOR 8) || substring(:'state'::bytea FROM 33 FOR 8) FROM 33)),
	('a hash twice', false, 'hashes are not in order', overlay(:'state'::bytea PLACING
		substring(:'state'::bytea FROM 33 FOR 8) FROM 41));
SELECT 'refused: ' || what,
	text_error(to_text(bytes)), '22P02 invalid input syntax for type cuckoostate: The state is invalid: ' || reason
		|| '.',
	binary_error(bytes), '22P03 invalid cuckoostate: The state is invalid: ' || reason || '.'
FROM bad;
SELECT 'refused: text "' || t || '"',
	text_error(t) LIKE '22P02 invalid input syntax for type cuckoostate: The state is invalid: ' || reason || '.'
FROM (VALUES ('', 'shorter than a header'), ('Q1MB', 'shorter than a header'), ('Q1M', 'not base64'),
	('not base64!', 'not base64')) AS v(t, reason);
SELECT 'a state with any bit flipped is refused or harmless',
	count(*), 448, count(*) FILTER (WHERE e = 'none'), '> 150',
	count(*) FILTER (WHERE e <> 'none' AND e NOT LIKE '22P02 invalid input syntax for type cuckoostate: %'), 0
FROM (SELECT error_of(format('SELECT cuckoo_agg_final(%L)::bytea::cuckoofilter',
	to_text(set_bit(state, bit, 1 - get_bit(state, bit))))) AS e
	FROM (SELECT decode(test_partial_agg('cf_agg(text)'::regprocedure, i::text)::text, 'base64') AS state
		FROM generate_series(1, 3) i) s,
		generate_series(0, 447) bit) f;
-- 5000 hashes from 0 on, all of one bucket: with no capacity, and with 5000
SELECT 'crafted hashes are an error or come to a filter',
	string_agg(left(error_of(format('SELECT cuckoo_agg_final(%L)::bytea::cuckoofilter', to_text(state))), 13), ', '
		ORDER BY capacity), '54000 no room, none'
FROM (SELECT capacity,
	overlay(overlay(substring(:'state'::bytea FOR 32) PLACING capacity FROM 17) PLACING '\x8813000000000000' FROM 25)
		|| (SELECT string_agg(set_byte(set_byte('\x0000000000000000', 0, i % 256), 1, i / 256), '' ORDER BY i)
			FROM generate_series(0, 4999) i) AS state
	FROM unnest(ARRAY['\x0000000000000000', '\x8813000000000000']::bytea[]) capacity) s;
SQL

# A filter is opened anew after an error, so that a corrupt one is refused as
# often as it comes: in memory, probed by slices, fetched
checks($node, 'postgres', <<'SQL');
CREATE FUNCTION test_errors(cuckoofilter, anyelement, oid) RETURNS int AS 'cuckoo_test' LANGUAGE C;
CREATE FUNCTION corrupt(bytea, bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE TABLE filters (id int, f cuckoofilter);
INSERT INTO filters SELECT 1, cf_agg(i) FROM generate_series(1, 100000) i;
INSERT INTO filters SELECT 2, corrupt(set_byte(f::bytea, 2, 9), '') FROM filters WHERE id = 1;
INSERT INTO filters SELECT 3, corrupt(set_byte(cf_agg(i)::bytea, 2, 9), '') FROM generate_series(1, 3000) i;
ALTER TABLE filters ALTER f SET STORAGE extended;
INSERT INTO filters VALUES (4, corrupt(set_byte(cf_new(1000000, 1e-8)::bytea, 2, 9), ''));
SELECT 'a sound filter, and an element of another family',
	test_errors(f, 1, c.oid), 0, test_errors(f, 'x'::text, c.oid), 3
FROM filters, (SELECT 'cf_contains'::regproc::oid) c(oid) WHERE id = 1;
SELECT 'corrupt filter in ' || form, test_errors(f, 1, 'cf_contains'::regproc), 3
FROM filters JOIN (VALUES (2, 'many chunks'), (3, 'few chunks'), (4, 'compressed form')) v(id, form) USING (id);
SELECT 'corrupt filter in an aggregate',
	bool_and(error_of(format('SELECT %s(f) FROM filters WHERE id IN (1, 2)', aggregate))
		LIKE 'XX001 corrupt cuckoofilter: %')
FROM unnest(ARRAY['cf_union_agg', 'cf_union_all_agg']) aggregate;
SELECT 'fewer or more items than the header says',
	count(*), 8,
	bool_and(error_of(format('SELECT %s
		FROM (SELECT f, corrupt(set_byte(f::bytea, 16, (get_byte(f::bytea, 16) + %s) %% 256), '''') AS g
	FROM filters WHERE id = 1) s', call, more)) LIKE 'XX001 corrupt cuckoofilter: %'), true
FROM unnest(ARRAY['cf_union(f, g)', 'cf_intersect(g, f)', 'cf_overlap(f, g)', 'cf_canonical(g)']) call,
	unnest(ARRAY[1, 255]) more;
SELECT 'corrupt filter in memory',
	test_errors(corrupt(set_byte(cf_new()::bytea, 2, 9), ''), 1, 'cf_contains'::regproc) = 3;
SQL

SKIP:
{
	skip 'no postgres_fdw here', 1
	  if $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0';
	my $host = $node->host;
	my $port = $node->port;

	checks($node, 'postgres', <<"SQL");
CREATE EXTENSION postgres_fdw;
CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres',
	extensions 'cuckoo, cuckoo_citus');
CREATE USER MAPPING FOR CURRENT_USER SERVER remote;
CREATE FOREIGN TABLE remote_few (part int, v int) SERVER remote OPTIONS (table_name 'few');
SELECT 'cf_info of a remote aggregate', i = (SELECT cf_info(cf_agg(v)) FROM few), true, (i).items, '> 100'
FROM (SELECT cf_info(cf_agg(v)) AS i FROM remote_few OFFSET 0) s;
CREATE FUNCTION remote_plan() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT json) SELECT cf_info(cf_agg(v)) FROM remote_few' INTO plan;
	RETURN plan::text;
END \$\$;
SELECT 'cf_info is computed there',
	remote_plan() ~ 'Remote SQL": "SELECT public.cf_info\\(public.cf_agg\\(v\\)\\) FROM public.few';
SQL
}


# States of damaged pages
checks($node, 'postgres', <<'SQL');
CREATE CAST (bytea AS cuckoostate) WITHOUT FUNCTION;
CREATE TABLE calls (call) AS
VALUES ('cuckoo_agg_trans(s, 1)'), ('cuckoo_agg_trans(s, NULL::int)'), ('cuckoo_agg_combine(NULL, s)'),
	('cuckoo_agg_combine(s, good)'), ('cuckoo_agg_combine(good, s)'), ('cuckoo_agg_final(s)'), ('s::text'),
	('cuckoostate_send(s)');
CREATE TABLE damaged AS SELECT what, corrupt, reason, bad.bytes::cuckoostate AS s, good.bytes::cuckoostate AS good
FROM bad, good;
SELECT 'stored: ' || what,
	count(*), 8, bool_and(error_of(format('SELECT %s FROM damaged WHERE what = %L', call, what))
	= CASE WHEN corrupt THEN 'XX001 corrupt cuckoostate: The state is invalid: ' || reason || '.' ELSE 'none' END), true
FROM damaged, calls GROUP BY what;
SELECT 'stored: a filter in memory',
	count(*), 8,
	bool_and(error_of(format('SELECT %s
		FROM (SELECT cf_add(cf_new(), what)::bytea::cuckoostate AS s, good FROM damaged LIMIT 1) f', call))
	= 'XX001 corrupt cuckoostate: The state is invalid: first two bytes are not "CS".'), true FROM calls;
CREATE TABLE flipped AS
	SELECT bit, set_bit(bytes, bit, 1 - get_bit(bytes, bit))::cuckoostate AS s, bytes::cuckoostate AS good
FROM good, generate_series(0, 447) bit;
SELECT 'stored: any bit flipped', count(*), 448 * 8, count(*) FILTER (WHERE e = 'none'), '> 1200',
	bool_and(e = 'none' OR e LIKE 'XX001 corrupt cuckoostate: %' OR e ~ '^(42804|22023) .* of cf_agg '
		OR e LIKE '42804 cuckoofilter does not contain elements %'), true
FROM (SELECT error_of(format('SELECT %s FROM flipped WHERE bit = %s', call, bit)) AS e FROM flipped, calls) f;
-- such a state may give a wrong filter, or none, but it is safe
CREATE TABLE disordered AS
	SELECT n,
		overlay(substring(bytes FOR 32) PLACING set_byte(set_byte('\x0000000000000000', 0, n % 256), 1, n / 256)
			FROM 25) || hashes AS bytes
	FROM good, (SELECT n, string_agg(substring(decode(md5((i % 2500)::text), 'hex') FOR 8), '' ORDER BY i) AS hashes
		FROM unnest(ARRAY[2, 123, 124, 3000]) n, generate_series(1, n) i GROUP BY n) h;
SELECT 'stored: hashes in disorder',
	bool_and(cf_count(cuckoo_agg_final(s)) BETWEEN least(n, 2500) - 5 AND n
		AND cf_count(cuckoo_agg_final(t)) BETWEEN 1 AND n + 1
	AND cf_count(cuckoo_agg_final(cuckoo_agg_combine(t, s))) BETWEEN 1 AND 2 * n + 1
	AND cf_count(cuckoo_agg_final(cuckoo_agg_combine(s, t))) BETWEEN 1 AND 2 * n + 1)
FROM (SELECT n, bytes::cuckoostate AS s, cuckoo_agg_trans(bytes::cuckoostate, -1) AS t FROM disordered) d;
SQL

# Bytes from a worker that are no state
foreach my $bytes ('cuckoo_agg_serialize', 'test_serialize')
{
	checks($node, 'postgres', <<"SQL");
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
CREATE AGGREGATE from_$bytes(anycompatible) (SFUNC = cuckoo_agg_internal_trans, STYPE = internal,
	COMBINEFUNC = cuckoo_agg_internal_combine,
	SERIALFUNC = $bytes, DESERIALFUNC = cuckoo_agg_deserialize, FINALFUNC = cuckoo_agg_internal_final, PARALLEL = SAFE);
SELECT 'states through $bytes', error_of('SELECT from_$bytes(v::numeric) FROM many'), CASE '$bytes'
		WHEN 'test_serialize' THEN '22P03 invalid cuckoostate: The state is invalid: first two bytes are not "CS".'
		ELSE 'none' END;
SQL
}

checks($node, 'postgres', <<'SQL');
LOAD 'cuckoo_test';
CREATE TABLE here AS SELECT i FROM generate_series(1, 5000) i;
CREATE TABLE elsewhere AS TABLE here;
ANALYZE here, elsewhere;
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan::text;
END $$;
SELECT 'a scan of a table', plan('SELECT FROM here WHERE cf_contains((SELECT cf_new()), i)') ~ 'CuckooScan';
CREATE FUNCTION test_table_am(internal) RETURNS table_am_handler AS 'cuckoo_test' LANGUAGE C;
CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER test_table_am;
CREATE TABLE otherwise (i int) USING other_heap;
INSERT INTO otherwise TABLE here;
ANALYZE otherwise;
SELECT 'no scan of another access method',
	plan('SELECT FROM otherwise WHERE cf_contains((SELECT cf_new()), i)') ~ 'Seq Scan', true,
	plan('SELECT FROM (SELECT cf_new() AS f OFFSET 0) g JOIN otherwise ON cf_contains(f, i)') !~ 'CuckooScan', true,
	(SELECT count(*) FROM otherwise WHERE cf_contains((SELECT cf_agg(i) FROM here), i)), 5000;
SELECT 'no index of its rows',
	error_of('CREATE INDEX ON otherwise USING cuckoo (i)'), '~ ^0A000 access method "cuckoo" cannot index table';
SELECT 'no scan where there is none',
	plan('SELECT FROM elsewhere WHERE cf_contains((SELECT cf_new()), i)') !~ 'Scan"', true,
	plan('SELECT FROM (SELECT cf_new() AS f OFFSET 0) g JOIN elsewhere ON cf_contains(f, i)') !~ 'CuckooScan', true;
CREATE INDEX hypothetical ON here USING cuckoo (i);
SELECT 'a plan with an index that only the planner has',
	plan('SELECT FROM here WHERE i = 7') ~ '"Index Name": "hypothetical"';
SQL

$node->stop;
done_testing();
