-- The extension cuckoo_citus: variants of cf_agg for single types, and the type of their states.
-- With them a call gives what it gives without.

-- ---- calls, with and without ----

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
CREATE TYPE feeling AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE both_of AS (i int, t text);
CREATE DOMAIN email AS citext;
CREATE DOMAIN word AS text;
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
-- values of many types, and nulls
CREATE TABLE of_types AS
	SELECT i, t AS text, t::varchar(20) AS varchar, t::char(20) AS bpchar, t::name AS name,
	chr(1 + i % 127)::"char" AS "char", t::word AS word, t::citext AS citext, t::email AS email,
	i::int2 AS int2, i AS int4, i * 10000000000 AS int8, i::positive AS positive, i::oid AS oid,
	i::regclass AS regclass, i::regtype AS regtype, md5(t)::uuid AS uuid, int4send(i) AS bytea,
	date '1990-01-01' + i AS date, timestamp '1990-01-01' + i * interval '1 hour' AS timestamp,
	timestamptz '1990-01-01 00:00+00' + i * interval '1 hour' AS timestamptz, time '00:00' + i * interval '1 s' AS time,
	i / 7::numeric AS numeric, i / 7::float4 AS float4, i / 7::float8 AS float8, i % 2 = 0 AS bool,
	(enum_range(NULL::feeling))[1 + i % 3] AS enum, ARRAY[i] AS array, ROW(i, t)::both_of AS composite,
	to_jsonb(i) AS jsonb, inet '10.0.0.0' + i AS inet, cidr(inet '10.0.0.0' + i) AS cidr,
	lpad(to_hex(i), 12, '0')::macaddr AS macaddr,
	lpad(to_hex(i), 16, '0')::macaddr8 AS macaddr8, i * interval '1 hour' AS interval,
	timetz '00:00+00' + i * interval '1 s' AS timetz, int4range(0, i) AS range
FROM (SELECT i, (CASE i % 2 WHEN 0 THEN 'Name ' ELSE 'nAME ' END) || i / 2 AS t FROM generate_series(2, 601) i) s;
INSERT INTO of_types DEFAULT VALUES;
ANALYZE of_types;

-- calls, and what they give
CREATE TABLE calls (call text, result text);
INSERT INTO calls SELECT format('cf_agg(%s)', value || parameters)
FROM (SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 'of_types'::regclass AND attnum > 1
		UNION ALL VALUES ('''lit'''), ('NULL'), ('NULL::int'), ('NULL::feeling'), ('text COLLATE "C"'), ('5'), ('5.0'),
			('''{a}'''), ('(SELECT ''lit'')'), ('current_user'), ('to_json(i)')) v(value),
	unnest(ARRAY['', ', 0.01', ', 1000, 0.01', ', 1000, 0.01, 7', ', ''0.5''', ', ''1000'', ''0.01'', ''7''',
		', 1000::real, 0.01, 7::smallint', ', NULL', ', 2', ', i, 0.01']) parameters;
INSERT INTO calls SELECT format(call, attname)
FROM pg_attribute,
	unnest(ARRAY['cf_agg(DISTINCT %I)', 'cf_agg(%I ORDER BY i DESC)', 'cf_agg(%I) FILTER (WHERE i > 90)',
		'cf_agg(%I, 1000, 0.01, 7) FILTER (WHERE i < 0)', 'cf_agg(%I, 0.01) OVER (ORDER BY i ROWS 200 PRECEDING)']) call
WHERE attrelid = 'of_types'::regclass AND attnum > 1;
INSERT INTO calls
VALUES ('cf_agg()'), ('cf_agg(*)'), ('cf_agg(i, 1, 2, 3, 4)'), ('cf_agg(i, text)'), ('cf_agg(VARIADIC ARRAY[i])');
CREATE FUNCTION result_of(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(r, '' '')) FROM (SELECT (%s)::text AS r FROM of_types LIMIT 300) s',
		call) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
UPDATE calls SET result = result_of(call);
SELECT count(*) AS calls, count(DISTINCT result) AS results FROM calls;
SELECT left(result, 5) AS error, count(*) FROM calls WHERE result LIKE '_____ %' GROUP BY 1 ORDER BY 1;
CREATE VIEW before AS
	SELECT seen(cf_agg(citext)) AS citext, seen(cf_agg(text)) AS text, seen(cf_agg(int4)) AS int FROM of_types;
CREATE TABLE before_was AS TABLE before;

CREATE EXTENSION cuckoo_citus;
-- the type of the variant that a call chooses
CREATE FUNCTION chosen_type(call text) RETURNS regtype LANGUAGE plpgsql AS $$
DECLARE
	type regtype;
BEGIN
	EXECUTE format('CREATE VIEW calling AS SELECT %s AS f FROM of_types', call);
	SELECT proargtypes[0] INTO type
	FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
		JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
	WHERE r.ev_class = 'calling'::regclass AND prokind = 'a';
	DROP VIEW calling;
	RETURN type;
END $$;
SELECT chosen_type(format('cf_agg(%I)', attname)) AS variant, string_agg(attname, ' ' ORDER BY attnum) AS columns
FROM pg_attribute WHERE attrelid = 'of_types'::regclass AND attnum > 1 GROUP BY 1 ORDER BY min(attnum);
SELECT call, result, result_of(call) AS with_citus FROM calls WHERE result IS DISTINCT FROM result_of(call);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SELECT plan_of('SELECT cf_agg(text) FROM of_types') ->> 'Partial Mode' AS one_type,
	plan_of('SELECT cf_agg(float8) FROM of_types') ->> 'Partial Mode' AS any_type;
-- in two queries, because workers would start for each call; errors come before they start. The leader would
-- read the table before them.
CREATE FUNCTION query_of(calls text[]) RETURNS text LANGUAGE sql AS $$
	SELECT 'SELECT ARRAY[' || string_agg(format('md5((%s)::text)', call), ', ' ORDER BY i) || '] FROM of_types'
	FROM unnest(calls) WITH ORDINALITY c(call, i)
$$;
CREATE FUNCTION results_of(calls text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	results text[];
BEGIN
	EXECUTE query_of(calls) INTO results;
	RETURN results;
END $$;
CREATE VIEW together AS SELECT call ~ 'DISTINCT|ORDER' AS sorted, array_agg(call) AS calls, array_agg(result) AS results
FROM calls WHERE call !~ ',|OVER' AND (result LIKE '_____ %') IS NOT TRUE GROUP BY 1;
SELECT sorted, cardinality(calls) AS calls, plan_of(query_of(calls)) ->> 'Partial Mode' AS mode
FROM together ORDER BY sorted;
SELECT call, result, with_citus FROM together, unnest(calls, results, results_of(calls)) c(call, result, with_citus)
WHERE result IS DISTINCT FROM with_citus;
SELECT call, result, result_of(call) AS with_citus
FROM calls WHERE call !~ ',|OVER' AND result LIKE '_____ %' AND result IS DISTINCT FROM result_of(call);
DROP VIEW together;
DROP FUNCTION query_of, results_of;
RESET ALL;
SET client_min_messages = warning;
-- parameters without a type
PREPARE untyped AS SELECT (cf_info(cf_agg($1))).element_family, (cf_info(cf_agg(DISTINCT $2, $3, $4, $5))).capacity;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped('x', 'x', 1000, 0.01, 7);
DEALLOCATE untyped;
-- citext, text and casts, in custom plans and in generic ones
CREATE FUNCTION family_items(f cuckoofilter) RETURNS text LANGUAGE sql
	AS 'SELECT (cf_info(f)).element_family || '' '' || cf_count(f)';
SELECT name, family_items(f) AS value, truth FROM (VALUES
	('citext', (SELECT cf_agg(citext) FROM of_types), 'other 300'),
	('a domain over citext', (SELECT cf_agg(email) FROM of_types), 'other 300'),
	('citext, cast to text', (SELECT cf_agg(citext::text) FROM of_types), 'text 600'),
	('text, cast to citext', (SELECT cf_agg(text::citext) FROM of_types), 'other 300'),
	('text', (SELECT cf_agg(text) FROM of_types), 'text 600')) v(name, f, truth);
PREPARE parameters(citext, text) AS SELECT name, family_items(f) AS value, truth FROM (VALUES
	('citext', (SELECT cf_agg($1)), 'other 1'),
	('citext, cast to text', (SELECT cf_agg($1::text)), 'text 1'),
	('text, cast to citext', (SELECT cf_agg($2::citext)), 'other 1'),
	('text', (SELECT cf_agg($2)), 'text 1'),
	('a literal, cast to citext', (SELECT cf_agg('X'::citext)), 'other 1')) v(name, f, truth);
SET plan_cache_mode = force_custom_plan;
EXECUTE parameters('X', 'X');
SET plan_cache_mode = force_generic_plan;
EXECUTE parameters('X', 'X');
RESET plan_cache_mode;
DEALLOCATE parameters;
-- ---- states ----

-- a sort looks for a cancel, which comes before the error that follows
CREATE AGGREGATE state_agg(int) (SFUNC = cuckoo_agg_trans, STYPE = cuckoostate);
CREATE TABLE halves AS SELECT state_agg(i) FILTER (WHERE i <= 9000) AS a, state_agg(i) FILTER (WHERE i > 9000) AS b
FROM generate_series(1, 10000) i;
SELECT pg_cancel_backend(pg_backend_pid()), 1 / (length(cuckoostate_send(cuckoo_agg_combine(a, b))) * 0) FROM halves;
SELECT 1 / (length(cuckoostate_send(cuckoo_agg_combine(a, b))) * 0) FROM halves;
-- in memory and stored, in either place
SELECT how, seen(cuckoo_agg_final(state)) AS value, seen(f) AS truth
FROM halves, (SELECT cf_agg(i) AS f FROM generate_series(1, 10000) i) s, LATERAL (VALUES
	('right in memory', cuckoo_agg_combine(b, cuckoo_agg_combine(a, b))),
	('left in memory', cuckoo_agg_combine(cuckoo_agg_combine(b, a), b)),
	('both in memory', cuckoo_agg_combine(cuckoo_agg_combine(a, a), cuckoo_agg_combine(b, b))),
	('no left state', cuckoo_agg_combine(NULL, cuckoo_agg_combine(b, a)))) v(how, state);
-- through text, with the extremes of the parameters
SELECT capacity, fpp, seen(cuckoo_agg_final(cuckoo_agg_trans(NULL, 1, capacity, fpp)::text::cuckoostate)) AS value,
	seen(cf_add(cf_new(capacity, fpp), 1)) AS truth
FROM (VALUES (1::float8, 1e-8::float8), (1000, 0.5)) v(capacity, fpp);
-- two in memory whose last hashes are not sorted in yet; those of variables stay as they are
CREATE FUNCTION in_variables() RETURNS TABLE (name text, value text, truth text) LANGUAGE plpgsql AS $$
DECLARE
	a cuckoostate;
	b cuckoostate;
	small cuckoostate := cuckoo_agg_trans(cuckoo_agg_trans(NULL, 1), 2);
	other cuckoostate;
	f cuckoofilter;
BEGIN
	SELECT h.a, h.b INTO a, b FROM halves h;
	a := cuckoo_agg_trans(cuckoo_agg_combine(a, a), -1);
	b := cuckoo_agg_trans(cuckoo_agg_combine(b, b), -2);
	f := cuckoo_agg_final(cuckoo_agg_combine(a, b));
	other := cuckoo_agg_trans(a, -3);
	other := cuckoo_agg_trans(small, -3);
	RETURN QUERY VALUES
		('left', seen(cuckoo_agg_final(a)), (SELECT seen(cf_agg(i)) FROM generate_series(-1, 9000) i WHERE i <> 0)),
		('right', seen(cuckoo_agg_final(b)),
			(SELECT seen(cf_agg(i)) FROM generate_series(-2, 10000) i WHERE i = -2 OR i > 9000)),
		('small', seen(cuckoo_agg_final(small)), (SELECT seen(cf_agg(i)) FROM generate_series(1, 2) i)),
		('together', seen(f), (SELECT seen(cf_agg(i)) FROM generate_series(-2, 10000) i WHERE i <> 0));
END $$;
SELECT * FROM in_variables();
-- a sort makes them flat, where memory cannot be freed (in PostgreSQL 17 and later)
CREATE AGGREGATE merge_agg(cuckoostate) (SFUNC = cuckoo_agg_combine, STYPE = cuckoostate, FINALFUNC = cuckoo_agg_final);
SELECT g, cf_count(merge_agg(s)) AS items
FROM (SELECT i % 3 AS g, state_agg(i) AS s
	FROM generate_series(1, 50000) i GROUP BY 1 ORDER BY count(*), 1 OFFSET 0) states
GROUP BY g ORDER BY g;
-- small ones stay flat, because there may be many groups
SELECT max(states) AS in_memory, 0 AS truth, sum(cf_count(f)) AS items, 400 AS truth
FROM (SELECT g, merge_agg(s) AS f, max(contexts('cuckoostate')) AS states
	FROM (SELECT i % 20 AS g, state_agg(i) AS s FROM generate_series(1, 400) i GROUP BY 1, i % 3) states
	GROUP BY g) merged;
DROP FUNCTION in_variables;
DROP TABLE halves;
DROP AGGREGATE state_agg(int), merge_agg(cuckoostate);

-- ---- the extension ----

-- a view keeps the variant that it was made with, so it may need the extension
SELECT b AS value, w AS truth FROM before b, before_was w;
CREATE VIEW made_with AS SELECT cf_agg(text) AS t, cf_agg(float8) AS n FROM of_types;
CREATE VIEW made_without AS SELECT cf_agg(float8) AS n FROM of_types;
DROP EXTENSION cuckoo_citus;
DROP VIEW made_with;
DROP EXTENSION cuckoo_citus;
-- written out and created again, it has the other variant
DO $$
BEGIN
	EXECUTE 'CREATE VIEW anew AS ' || pg_get_viewdef('before'::regclass);
END $$;
SELECT a AS value, w AS truth FROM anew a, before_was w;
DROP VIEW anew, made_without;

-- its objects: immutable, parallel safe, aggregates commented; no argument without a name
CREATE EXTENSION cuckoo_citus;
SELECT prokind, provolatile, proparallel, count(*), count(obj_description(p.oid, 'pg_proc')) AS commented,
	count(*) FILTER (WHERE prokind = 'a') AS truth, string_agg(DISTINCT proname, ' ' ORDER BY proname) AS names
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo_citus' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT f.proname AS aggregate, count(*) AS overloads, t.proname AS trans, aggtranstype::regtype AS state,
	aggtransspace AS space, aggcombinefn AS combine,
	aggserialfn AS serial, aggdeserialfn AS deserial, aggfinalfn AS final, aggfinalextra AS extra,
	aggfinalmodify AS modify, agginitval AS initial
FROM pg_proc f JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo_citus'
	JOIN pg_aggregate ON aggfnoid = f.oid JOIN pg_proc t ON t.oid = aggtransfn
GROUP BY 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ORDER BY f.proname, t.proname;
-- citext has an operator class
CREATE TABLE of_citext (v citext, EXCLUDE USING cuckoo (v WITH =));
INSERT INTO of_citext VALUES ('A'), ('a'), ('b') ON CONFLICT DO NOTHING;
SELECT count(*) AS rows FROM of_citext;
DROP TABLE of_citext;
CREATE SCHEMA elsewhere;
ALTER EXTENSION cuckoo_citus SET SCHEMA elsewhere;
SELECT b AS value, w AS truth FROM before b, before_was w;
SELECT family_items(elsewhere.cf_agg(citext)) AS citext, family_items(elsewhere.cf_agg(text)) AS text,
	family_items(cf_agg(text)) AS "text, by cuckoo"
FROM of_types;
DROP EXTENSION cuckoo_citus;
SELECT b AS value, w AS truth FROM before b, before_was w;

-- the script runs as a superuser: nothing in the schema may come between
CREATE FUNCTION create_elsewhere() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE 'CREATE EXTENSION cuckoo_citus SCHEMA elsewhere';
	RETURN 'created';
EXCEPTION WHEN duplicate_object OR duplicate_function OR undefined_function THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN CASE SQLSTATE WHEN '42883' THEN 'a function is missing'
		ELSE SQLERRM || coalesce(': ' || nullif(detail, ''), '') END;
END $$;
CREATE DOMAIN elsewhere.citext AS text;
SELECT create_elsewhere();
DROP DOMAIN elsewhere.citext;
CREATE FUNCTION elsewhere.citext_hash_extended(citext, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 1;
SELECT create_elsewhere();
DROP FUNCTION elsewhere.citext_hash_extended;
CREATE OPERATOR elsewhere.= (LEFTARG = citext, RIGHTARG = citext, FUNCTION = citext_eq, HASHES);
SELECT create_elsewhere();
DROP OPERATOR elsewhere.= (citext, citext);
CREATE TYPE elsewhere.cuckoostate AS (a int);
SELECT create_elsewhere();
DROP TYPE elsewhere.cuckoostate;
CREATE TYPE elsewhere.cuckoofilter AS (a int);
SELECT create_elsewhere();
DROP TYPE elsewhere.cuckoofilter;
CREATE AGGREGATE elsewhere.cf_agg(element text) (SFUNC = textcat, STYPE = text);
SELECT create_elsewhere();
DROP AGGREGATE elsewhere.cf_agg(text);
CREATE FUNCTION elsewhere.trap(name, name) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR elsewhere.= (LEFTARG = name, RIGHTARG = name, FUNCTION = elsewhere.trap);
SELECT create_elsewhere();
SELECT family_items(elsewhere.cf_agg(citext)) FROM of_types;
DROP EXTENSION cuckoo_citus;
DROP SCHEMA elsewhere CASCADE;
DROP VIEW before;
DROP TABLE before_was, calls, of_types;
DROP FUNCTION family_items, create_elsewhere, chosen_type, result_of;
DROP DOMAIN email, word, positive;
DROP TYPE feeling, both_of;
DROP EXTENSION citext;
