-- The objects of the extension: immutable, parallel safe, commented and relocatable.
-- Dropping the extension leaves nothing behind.  Only the aggregates of filters are not parallel safe.
SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, p.provolatile, p.proparallel
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE p.provolatile <> 'i' OR p.proparallel <> 's' ORDER BY p.proname;
SELECT classid::regclass, count(*) AS objects
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE d.deptype = 'e' AND d.classid <> 'pg_type'::regclass
GROUP BY classid ORDER BY classid::regclass::text;
-- no object without a comment
SELECT pg_describe_object(d.classid, d.objid, 0)
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE d.deptype = 'e' AND obj_description(d.objid, d.classid::regclass::text) IS NULL
	AND NOT (d.classid = 'pg_type'::regclass AND
		EXISTS (SELECT FROM pg_type t WHERE t.oid = d.objid AND t.typcategory = 'A'));
-- \df cf_* shows what users call: nothing that serves an aggregate, an operator or the planner
CREATE VIEW functions AS SELECT p.*
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo';
SELECT oid::regprocedure FROM functions
WHERE proname LIKE 'cf\_%' AND prokind = 'f' AND ('{internal,cuckoostate}'::regtype[] && proargtypes::oid[]::regtype[]
	OR EXISTS (SELECT FROM pg_operator WHERE oprcode = functions.oid AND oprname IN ('=', '<>', '<@')));
SELECT DISTINCT proname AS called FROM functions WHERE proname LIKE 'cf\_%' ORDER BY proname;
-- no argument without a name
SELECT oid::regprocedure FROM functions
WHERE pronargs > 0 AND (proargnames IS NULL OR cardinality(proargnames) < pronargs OR '' = ANY (proargnames));
DROP VIEW functions;

-- in another schema, out of the search path
CREATE SCHEMA elsewhere;
ALTER EXTENSION cuckoo SET SCHEMA elsewhere;
\set VERBOSITY terse
SELECT cf_new();
\set VERBOSITY default
SELECT elsewhere.cf_contains(elsewhere.cf_agg(i), 1) FROM generate_series(1, 3) i;
ALTER EXTENSION cuckoo SET SCHEMA public;
DROP SCHEMA elsewhere;
DROP EXTENSION cuckoo;

-- the script runs as a superuser: nothing in the schema may come between
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.trap(text, regtype) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION hostile.format(text, text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR hostile.|| (LEFTARG = text, RIGHTARG = regtype, FUNCTION = hostile.trap);
CREATE EXTENSION cuckoo SCHEMA hostile;
DROP EXTENSION cuckoo;
DROP SCHEMA hostile CASCADE;
CREATE EXTENSION cuckoo;
SELECT extversion FROM pg_extension WHERE extname = 'cuckoo';
