-- cuckoo_citext 1.0: cf_agg over citext, by citext's equality

\echo Use "CREATE EXTENSION cuckoo_citext" to load this file. \quit

-- Without these, citext is text to cf_agg, to which it coerces implicitly.

CREATE FUNCTION cf_agg_trans(state cuckoostate, element citext)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element citext) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element citext) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element citext) IS
'an exact-fit filter of the distinct values by the equality of citext, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_trans(state cuckoostate, element citext, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element citext, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element citext, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element citext, fpp double precision) IS
'an exact-fit filter of the distinct values by the equality of citext, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_trans(state cuckoostate, element citext, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element citext, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element citext, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element citext, capacity bigint, fpp double precision) IS
'a filter of the distinct values by the equality of citext, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_trans(state cuckoostate, element citext, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element citext, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element citext, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element citext, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values by the equality of citext, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

-- The names above are looked up in the schema of this extension first, where
-- somebody else may have put objects of the same names.  So this extension may
-- use nothing but what belongs to cuckoo, citext or itself.
DO $$
DECLARE
	used pg_catalog.text;
BEGIN
	WITH member AS (
		SELECT m.classid, m.objid, e.extname
		FROM pg_catalog.pg_depend m, pg_catalog.pg_extension e
		WHERE m.deptype OPERATOR(pg_catalog.=) 'e'
			AND m.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
			AND m.refobjid OPERATOR(pg_catalog.=) e.oid
	)
	SELECT (pg_catalog.pg_identify_object(d.refclassid, d.refobjid, 0)).identity INTO used
	FROM pg_catalog.pg_depend d
	WHERE d.deptype OPERATOR(pg_catalog.=) 'n'
		AND d.refclassid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_namespace'::pg_catalog.regclass
		AND EXISTS (
			SELECT FROM member m
			WHERE m.classid OPERATOR(pg_catalog.=) d.classid AND m.objid OPERATOR(pg_catalog.=) d.objid
				AND m.extname OPERATOR(pg_catalog.=) 'cuckoo_citext')
		AND NOT EXISTS (
			SELECT FROM member m
			WHERE m.classid OPERATOR(pg_catalog.=) d.refclassid AND m.objid OPERATOR(pg_catalog.=) d.refobjid
				AND m.extname OPERATOR(pg_catalog.=) ANY ('{cuckoo,citext,cuckoo_citext}'::pg_catalog.name[]))
	LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'cannot create extension cuckoo_citext'
			USING ERRCODE = 'duplicate_object',
				DETAIL = pg_catalog.format('It would use %s, which belongs to neither cuckoo nor citext.', used),
				HINT = 'Drop or rename that object, or create the extension in another schema.';
	END IF;
END $$;
