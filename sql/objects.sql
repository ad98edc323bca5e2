-- The objects of the extension: their attributes in the catalogs, commented and
-- relocatable.  Dropping the extension leaves nothing behind.

-- ---- objects and comments ----

SELECT classid::regclass, count(*) AS objects
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE d.deptype = 'e' AND d.classid <> 'pg_type'::regclass
GROUP BY classid ORDER BY classid::regclass::text;
-- no object without a comment, but for those that no user names: operator
-- classes and families, and the functions of types, operators and aggregates
SELECT pg_describe_object(d.classid, d.objid, 0)
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE d.deptype = 'e' AND obj_description(d.objid, d.classid::regclass::text) IS NULL
	AND d.classid NOT IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
	AND pg_describe_object(d.classid, d.objid, 0) !~ '^function cuckoo(?!filter\(bytea\))'
	AND NOT (d.classid = 'pg_type'::regclass AND
		EXISTS (SELECT FROM pg_type t WHERE t.oid = d.objid AND t.typcategory = 'A'));
-- a comment is one phrase
SELECT max(length(description)) AS longest, 60 AS at_most,
	string_agg(description, '; ') FILTER (WHERE description ~ '\.($| )') AS sentences
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
	JOIN pg_description c ON c.classoid = d.classid AND c.objoid = d.objid AND c.objsubid = 0 WHERE d.deptype = 'e';

-- ---- attributes in the catalogs ----

-- Functions, aggregates, operators, casts and types.  All
-- that do not read an index are immutable. Only the union aggregates and what
-- users ask of an index are not parallel safe.
CREATE VIEW functions AS SELECT p.*
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo';
SELECT prokind, provolatile, proparallel, proisstrict AS strict, proleakproof AS leakproof, prosecdef AS definer,
	procost AS cost, prorows AS rows, prosupport AS support, string_agg(DISTINCT proname, ' ' ORDER BY proname) AS names
FROM functions GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY prokind, min(proname), procost, proisstrict;
SELECT f.proname AS aggregate, count(*) AS overloads, t.proname AS trans, aggtranstype::regtype AS state,
	aggtransspace AS space, aggcombinefn AS combine,
	aggserialfn AS serial, aggdeserialfn AS deserial, aggfinalfn AS final, aggfinalextra AS extra,
	aggfinalmodify AS modify, agginitval AS initial
FROM functions f JOIN pg_aggregate ON aggfnoid = f.oid JOIN pg_proc t ON t.oid = aggtransfn
GROUP BY 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ORDER BY f.proname, t.proname;
SELECT oprname AS operator, oprleft::regtype AS left, oprright::regtype AS right, oprcode AS function,
	oprcom::regoperator AS commutator,
	oprnegate::regoperator AS negator, oprrest AS restrict, oprjoin AS join, oprcanhash AS hashes, oprcanmerge AS merges
FROM pg_operator WHERE oprcode IN (SELECT oid FROM functions) ORDER BY oprname, oprleft::regtype::text COLLATE "C";
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure AS function, castcontext, castmethod
FROM pg_cast WHERE 'cuckoofilter'::regtype IN (castsource, casttarget) ORDER BY castfunc = 0;
SELECT typname, typlen, typbyval, typtype, typalign, typstorage, typcategory, typispreferred, typinput, typoutput,
	typreceive, typsend, typanalyze
FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'cuckoo'
WHERE typcategory <> 'A' ORDER BY typname;
SELECT opcname, opcmethod, opcintype::regtype, opcdefault, amopopr::regoperator AS operator, amopstrategy,
	amproc AS function, amprocnum
FROM (SELECT opcname, amname AS opcmethod, opcintype, opcdefault, opcfamily
	FROM pg_opclass JOIN pg_am a ON a.oid = opcmethod) c
	JOIN pg_amop ON amopfamily = opcfamily JOIN pg_amproc ON amprocfamily = opcfamily
WHERE opcintype = 'cuckoofilter'::regtype ORDER BY amprocnum;
-- \df cf_* shows what users call: nothing that serves an aggregate, an operator or the planner
SELECT oid::regprocedure FROM functions
WHERE proname LIKE 'cf\_%' AND prokind = 'f' AND ('internal'::regtype = ANY (proargtypes)
	OR EXISTS (SELECT FROM pg_operator WHERE oprcode = functions.oid AND oprname IN ('=', '<>', '<@')));
-- with one row for each overload
SELECT proname AS called, count(*) AS overloads
FROM functions WHERE proname LIKE 'cf\_%' GROUP BY proname ORDER BY proname COLLATE "C";
-- no argument without a name
SELECT oid::regprocedure FROM functions
WHERE pronargs > 0 AND (proargnames IS NULL OR cardinality(proargnames) < pronargs OR '' = ANY (proargnames));
DROP VIEW functions;

-- ---- schemas ----

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
