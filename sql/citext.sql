-- The extension cuckoo_citext: citext by its own equality, text beside it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
CREATE DOMAIN email AS citext;
CREATE TABLE people (id int, c citext, e email, t text, i int);
INSERT INTO people SELECT n, (CASE n % 2 WHEN 0 THEN 'Name ' ELSE 'nAME ' END) || n / 2, (CASE n % 2 WHEN 0 THEN 'Name ' ELSE 'nAME ' END) || n / 2,
	(CASE n % 2 WHEN 0 THEN 'Name ' ELSE 'nAME ' END) || n / 2, n FROM generate_series(2, 401) n;
-- how cf_agg treats its argument: the family, and the number of items
CREATE FUNCTION seen(f cuckoofilter) RETURNS text LANGUAGE sql AS
	'SELECT (cf_info(f)).element_family || '' '' || cf_count(f)';
CREATE VIEW kinds AS SELECT seen(cf_agg(c)) AS citext, seen(cf_agg(e)) AS domain, seen(cf_agg(c::text)) AS cast,
	seen(cf_agg(t::citext)) AS "cast to", seen(cf_agg(t)) AS text, seen(cf_agg(i::regclass)) AS regclass, seen(cf_agg(i::oid)) AS oid
FROM people;

-- without the extension citext is text, in whatever way it is asked
SELECT * FROM kinds;
SELECT cf_agg(c) = cf_agg(t) AS text, cf_agg(e) = cf_agg(t) AS text FROM people;
SELECT seen(cf_agg('X'::citext)) AS constant;

CREATE EXTENSION cuckoo_citext;
-- a view keeps the function that it was made with
SELECT * FROM kinds;
CREATE OR REPLACE VIEW kinds AS SELECT seen(cf_agg(c)) AS citext, seen(cf_agg(e)) AS domain, seen(cf_agg(c::text)) AS cast,
	seen(cf_agg(t::citext)) AS "cast to", seen(cf_agg(t)) AS text, seen(cf_agg(i::regclass)) AS regclass, seen(cf_agg(i::oid)) AS oid
FROM people;
SELECT * FROM kinds;
SELECT cf_contains(cf_agg(c), 'naMe 7'::citext) AS found, cf_contains(cf_agg(e), 'naMe 7'::email) AS in_domain,
	cf_contains(cf_agg(t), 'naMe 7') AS in_text, cf_contains(cf_agg(t), 'Name 7') AS in_text
FROM people;
SELECT cf_agg(c) = cf_agg(e) AS domain, cf_agg(c) = cf_agg(t::citext) AS cast, cf_agg(i::regclass) = cf_agg(i::oid) AS regclass FROM people;
SELECT cf_agg(c, 1000, 0.01, 5) = cf_agg(upper(t)::citext, 1000, 0.01, 5) AS sized, cf_agg(c, 1000, 0.01) = cf_agg(lower(t)::citext, 1000, 0.01) AS sized,
	cf_agg(c, 0.01) = cf_agg(e, 0.01) AS fpp FROM people;
SELECT cf_merge_agg(s) = (SELECT cf_agg(c) FROM people) AS states FROM (SELECT cf_state_agg(c) AS s FROM people GROUP BY i % 3) days;
SELECT cf_contains(cf_agg(c), 'x'::text) FROM people;
-- a view written out and made anew
DO $$
BEGIN
	EXECUTE 'CREATE VIEW anew AS ' || pg_get_viewdef('kinds'::regclass);
END $$;
SELECT anew = kinds AS same FROM anew, kinds;
DROP VIEW anew;
-- several calls in a query
SELECT seen(cf_agg(t::text)) AS text, seen(cf_agg(t::citext)) AS citext, seen(cf_agg(c)) AS citext, seen(cf_agg(c::text)) AS text FROM people;
SELECT seen(cf_agg(c)) AS citext, seen(cf_agg(c::text)) AS text FROM people WHERE i < 4 GROUP BY c::text ORDER BY c::text;
SELECT DISTINCT seen(cf_agg(c) OVER w) AS citext, seen(cf_agg(c::text) OVER w) AS text, seen(cf_agg(t) OVER w) AS text, seen(cf_agg(e) OVER w) AS citext
FROM people WINDOW w AS ();
-- constants and parameters, in custom plans and in generic ones
SELECT seen(cf_agg('X'::citext)) AS citext, seen(cf_agg('X'::text)) AS text, seen(cf_agg('X')) AS literal, seen(cf_agg('X'::citext::text)) AS text;
PREPARE parameters(citext, text) AS SELECT seen(cf_agg($1)) AS citext, seen(cf_agg($2)) AS text, seen(cf_agg($1::text)) AS text, seen(cf_agg($2::citext)) AS citext;
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
EXECUTE parameters('X', 'X');
DEALLOCATE parameters;
-- no rows
SELECT cf_agg(c, 5000, 0.01, 3) = cf_new(5000, 0.01, 3) AS geometry FROM people WHERE i < 0;

-- its objects: immutable, parallel safe, commented
SELECT count(*) AS functions, bool_and(provolatile = 'i' AND proparallel = 's' AND obj_description(p.oid, 'pg_proc') IS NOT NULL) AS as_they_should
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo_citext';
CREATE SCHEMA elsewhere;
ALTER EXTENSION cuckoo_citext SET SCHEMA elsewhere;
SELECT * FROM kinds;
DROP VIEW kinds;
DROP EXTENSION cuckoo_citext;

-- the script runs as a superuser: nothing in the schema may come between
CREATE FUNCTION create_elsewhere() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE 'CREATE EXTENSION cuckoo_citext SCHEMA elsewhere';
	RETURN 'created';
EXCEPTION WHEN duplicate_object OR undefined_function THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN CASE SQLSTATE WHEN '42710' THEN SQLERRM || ': ' || detail ELSE 'a function is missing' END;
END $$;
CREATE DOMAIN elsewhere.citext AS text;
SELECT create_elsewhere();
DROP DOMAIN elsewhere.citext;
CREATE FUNCTION elsewhere.cuckoo_agg_final(cuckoostate) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_new()';
SELECT create_elsewhere();
DROP FUNCTION elsewhere.cuckoo_agg_final;
CREATE FUNCTION elsewhere.cuckoo_agg_combine(cuckoostate, cuckoostate) RETURNS cuckoostate LANGUAGE sql AS 'SELECT $1';
SELECT create_elsewhere();
DROP FUNCTION elsewhere.cuckoo_agg_combine;
CREATE TYPE elsewhere.cuckoostate AS (a int);
SELECT create_elsewhere();
DROP TYPE elsewhere.cuckoostate;
CREATE FUNCTION elsewhere.trap(name, name) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR elsewhere.= (LEFTARG = name, RIGHTARG = name, FUNCTION = elsewhere.trap);
SELECT create_elsewhere();
SELECT seen(elsewhere.cf_agg(c)) FROM people;
DROP EXTENSION cuckoo_citext;
DROP SCHEMA elsewhere CASCADE;
DROP TABLE people;
DROP FUNCTION seen, create_elsewhere;
DROP DOMAIN email;
DROP EXTENSION citext;
