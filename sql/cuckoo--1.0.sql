-- cuckoo 1.0: cuckoo filters, approximate set membership as a value

\echo Use "CREATE EXTENSION cuckoo" to load this file. \quit

-- The type

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(cstring) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_in(cstring) IS
'text input: base64 of the image (FORMAT.md), which is validated';

CREATE FUNCTION cuckoofilter_out(cuckoofilter) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter) IS
'text output: base64 of the image';

CREATE FUNCTION cuckoofilter_recv(internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_recv(internal) IS
'binary input: the image, which is validated';

CREATE FUNCTION cuckoofilter_send(cuckoofilter) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter) IS
'binary output: the image';

-- fingerprints do not compress, so storage is external
CREATE TYPE cuckoofilter (
	INPUT = cuckoofilter_in,
	OUTPUT = cuckoofilter_out,
	RECEIVE = cuckoofilter_recv,
	SEND = cuckoofilter_send,
	INTERNALLENGTH = VARIABLE,
	STORAGE = external
);
COMMENT ON TYPE cuckoofilter IS
'a set of elements of one type, approximate: never misses a member, takes others for members at a chosen rate';

CREATE FUNCTION cuckoofilter(bytea) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'cuckoofilter_from_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter(bytea) IS
'the filter of an image (FORMAT.md); error 22P03 when the bytes are not a valid one';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter(bytea);
COMMENT ON CAST (bytea AS cuckoofilter) IS
'the filter of an image, validated';

CREATE CAST (cuckoofilter AS bytea) WITHOUT FUNCTION;
COMMENT ON CAST (cuckoofilter AS bytea) IS
'the image of a filter (FORMAT.md)';

CREATE FUNCTION cf_eq(cuckoofilter, cuckoofilter) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_eq(cuckoofilter, cuckoofilter) IS
'same bytes; implementation of =';

CREATE FUNCTION cf_ne(cuckoofilter, cuckoofilter) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_ne(cuckoofilter, cuckoofilter) IS
'not the same bytes; implementation of <>';

CREATE OPERATOR = (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter) IS
'same bytes, hence same parameters, element family, items and layout: not the same as equal sets. Two filters filled one by one in another order may differ, and so does an empty one with a family from one without';

CREATE OPERATOR <> (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cf_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter) IS
'not the same bytes';

CREATE FUNCTION cuckoofilter_hash(cuckoofilter) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash(cuckoofilter) IS
'hash of the bytes, for DISTINCT, GROUP BY, UNION and hash joins';

CREATE FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) IS
'hash of the bytes with a seed';

CREATE OPERATOR FAMILY cuckoofilter_hash_ops USING hash;
COMMENT ON OPERATOR FAMILY cuckoofilter_hash_ops USING hash IS
'same bytes';

CREATE OPERATOR CLASS cuckoofilter_hash_ops
DEFAULT FOR TYPE cuckoofilter USING hash FAMILY cuckoofilter_hash_ops AS
	OPERATOR 1 =,
	FUNCTION 1 cuckoofilter_hash(cuckoofilter),
	FUNCTION 2 cuckoofilter_hash_extended(cuckoofilter, bigint);
COMMENT ON OPERATOR CLASS cuckoofilter_hash_ops USING hash IS
'same bytes: DISTINCT, GROUP BY, UNION, hash joins, and replica identity full';

-- Planner support

CREATE FUNCTION cf_contains_support(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_support(internal) IS
'tells the planner what share of the rows passes cf_contains, and what it costs';

CREATE FUNCTION cf_change_support(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_change_support(internal) IS
'lets "f := cf_add(f, v)" in PL/pgSQL change the variable in place, from PostgreSQL 18 on';

CREATE FUNCTION cf_contains_sel(internal, oid, internal, integer)
RETURNS double precision
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_sel(internal, oid, internal, integer) IS
'restriction selectivity of @> and <@ with a filter';

CREATE FUNCTION cf_contains_joinsel(internal, oid, internal, smallint, internal)
RETURNS double precision
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_contains_joinsel(internal, oid, internal, smallint, internal) IS
'join selectivity of @> and <@ with a filter';

-- Functions
--
-- Those that take an element are declared over anycompatible, which unlike
-- anyelement takes a bare literal (as text), and unlike a pair of overloads
-- for text and anyelement leaves citext and its like what they are.
--
-- Costs are as measured, where an operator on integers is 1: one element looked
-- up in a filter that stays the same takes about as long, an array of a few ten
-- times, and changing a small filter twenty times, a larger one thousands.

CREATE FUNCTION cf_new(
	capacity bigint DEFAULT 1000000,
	fpp double precision DEFAULT 0.001,
	seed bigint DEFAULT 0,
	element regtype DEFAULT NULL
) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_new(bigint, double precision, bigint, regtype) IS
'an empty filter for capacity elements at a false-positive rate of at most fpp (1e-8 to 0.5); it is small until filled and grows past its capacity up to cf_info(filter).max_items, the rate rising in proportion. It takes elements of the family that the type element belongs to (text under the collation of the type); where that is null, of the family of the first one added. What family a filter has it keeps, also when all is deleted or cleared; an empty filter with a family is not equal to one without. Filters of equal capacity, fpp and seed are of one geometry. Null when one of the other arguments is null. Errors 22023 when an argument is out of range, 42883 and 0A000 when the type cannot be hashed';

CREATE FUNCTION cf_add(filter cuckoofilter, element anycompatible)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add(cuckoofilter, anycompatible) IS
'the filter with the element added: a second copy if it seems to be there, and from then on "two or more", which further adds and deletes leave alone. A null element changes nothing. Error 42804 for another element family, 54000 when the filter cannot grow further';

CREATE FUNCTION cf_add_unique(filter cuckoofilter, element anycompatible)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_add_unique(cuckoofilter, anycompatible) IS
'the filter with the element added unless it already seems to be there. Do not delete from a filter filled so: one copy may stand for two elements. A null element changes nothing. Errors as cf_add';

CREATE FUNCTION cf_contains(filter cuckoofilter, element anycompatible)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
SUPPORT cf_contains_support;
COMMENT ON FUNCTION cf_contains(cuckoofilter, anycompatible) IS
'false: the element is certainly not in the filter; true: it is, or is one of the few others (cf_info: fpp_now) that look the same. Error 42804 for another element family';

CREATE FUNCTION cf_contained(element anycompatible, filter cuckoofilter)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
SUPPORT cf_contains_support;
COMMENT ON FUNCTION cf_contained(anycompatible, cuckoofilter) IS
'cf_contains with its arguments exchanged; implementation of <@';

CREATE OPERATOR @> (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cf_contains,
	COMMUTATOR = <@, RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel
);
COMMENT ON OPERATOR @> (cuckoofilter, anycompatible) IS
'is the element in the filter? cf_contains as an operator';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = cuckoofilter, FUNCTION = cf_contained,
	COMMUTATOR = @>, RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, cuckoofilter) IS
'is the element in the filter? With ANY: in one of them';

CREATE FUNCTION cf_delete(filter cuckoofilter, element anycompatible)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
SUPPORT cf_change_support;
COMMENT ON FUNCTION cf_delete(cuckoofilter, anycompatible) IS
'the filter with the element removed if it holds one copy; unchanged if none or "two or more". Only delete what was added: what only seems to be there is another element. A null element changes nothing. Error 42804 for another element family';

CREATE FUNCTION cf_count(filter cuckoofilter) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_count(cuckoofilter) IS
'items held: distinct elements, and one more for each that was added more than once; reads the header only';

CREATE FUNCTION cf_count(filter cuckoofilter, element anycompatible)
RETURNS integer
AS 'MODULE_PATHNAME', 'cf_count_value'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_count(cuckoofilter, anycompatible) IS
'copies of the element: 0, 1, or 2 for two or more; as approximate as cf_contains. Error 42804 for another element family';

-- Arrays of elements at once; null elements are skipped.

CREATE FUNCTION cf_add_all(filter cuckoofilter, elements anycompatiblearray)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cf_add_all(cuckoofilter, anycompatiblearray) IS
'the filter after cf_add of each element, in one rewrite; all or, with an error, none';

CREATE FUNCTION cf_add_unique_all(filter cuckoofilter, elements anycompatiblearray)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cf_add_unique_all(cuckoofilter, anycompatiblearray) IS
'the filter after cf_add_unique of each element, in one rewrite; all or, with an error, none';

-- The types of rows are named: what is not can be read by postgres_fdw only where
-- a column list says what it is.
CREATE TYPE cuckoofilter_added AS (
	filter cuckoofilter,
	added boolean[]
);
COMMENT ON TYPE cuckoofilter_added IS
'result of cf_add_unique_each: the changed filter, and which elements were added to it';

-- returns a set (of one row) because only so the row can hold a stored filter
-- as it is, without reading it
CREATE FUNCTION cf_add_unique_each(filter cuckoofilter, elements anycompatiblearray)
RETURNS SETOF cuckoofilter_added
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1 COST 100;
COMMENT ON FUNCTION cf_add_unique_each(cuckoofilter, anycompatiblearray) IS
'one row: the filter after cf_add_unique of each element, in one rewrite, and in an array of the shape of elements whether each was added: false where it seemed to be there or was repeated, null for null. Where none was added the filter is the one given. To be called in FROM. All or, with an error, none';

CREATE FUNCTION cf_delete_all(filter cuckoofilter, elements anycompatiblearray)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cf_delete_all(cuckoofilter, anycompatiblearray) IS
'the filter after cf_delete of each element, in one rewrite; all or, with an error, none';

CREATE FUNCTION cf_contains_any(filter cuckoofilter, elements anycompatiblearray)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf_contains_any(cuckoofilter, anycompatiblearray) IS
'is cf_contains true for any element? false for none';

CREATE FUNCTION cf_contains_all(filter cuckoofilter, elements anycompatiblearray)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf_contains_all(cuckoofilter, anycompatiblearray) IS
'is cf_contains true for all elements? true for none';

CREATE FUNCTION cf_contains_each(filter cuckoofilter, elements anycompatiblearray)
RETURNS boolean[]
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cf_contains_each(cuckoofilter, anycompatiblearray) IS
'cf_contains of each element, in an array of the same shape; null for null';

CREATE FUNCTION cf_clear(filter cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_clear(cuckoofilter) IS
'an empty filter with the same parameters, for elements of the same family';

CREATE TYPE cuckoofilter_info AS (
	items bigint,
	capacity bigint,
	max_items bigint,
	fpp_at_capacity double precision,
	fpp_now double precision,
	load_factor double precision,
	fingerprint_bits integer,
	buckets bigint,
	growth_level integer,
	bytes bigint,
	bits_per_item double precision,
	element_family text,
	seed bigint,
	format_version integer
);
COMMENT ON TYPE cuckoofilter_info IS
'result of cf_info: what a filter holds and how';

CREATE FUNCTION cf_info(filter cuckoofilter) RETURNS cuckoofilter_info
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cf_info(cuckoofilter) IS
'what a filter holds and how: items; capacity in items; max_items, where growth ends: it is sure to take so many if that is 2000 or more, smaller filters may be full a little earlier; the false-positive rate at capacity (at most the fpp asked for); the rate now; load factor, fingerprint bits, buckets (of four slots), doublings; bytes and bits an item; element family, seed, format version. Reads the header only';

-- The aggregate
--
-- cf_agg exists for anyelement, and for concrete types because a distributed
-- engine pushes an aggregate down only if its declared types match exactly.
-- "char", int2, oid and timestamp are among them because they would otherwise
-- coerce to one of the others, or to several.  The state of cf_agg(anyelement)
-- is internal, which tells such an engine to fetch the rows.

CREATE TYPE cuckoostate;

CREATE FUNCTION cuckoostate_in(cstring) RETURNS cuckoostate
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoostate_in(cstring) IS
'text input: base64, which is validated';

CREATE FUNCTION cuckoostate_out(cuckoostate) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoostate_out(cuckoostate) IS 'text output: base64';

CREATE FUNCTION cuckoostate_recv(internal) RETURNS cuckoostate
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoostate_recv(internal) IS
'binary input, which is validated';

CREATE FUNCTION cuckoostate_send(cuckoostate) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoostate_send(cuckoostate) IS 'binary output';

CREATE TYPE cuckoostate (
	INPUT = cuckoostate_in,
	OUTPUT = cuckoostate_out,
	RECEIVE = cuckoostate_recv,
	SEND = cuckoostate_send,
	INTERNALLENGTH = VARIABLE,
	STORAGE = external
);
COMMENT ON TYPE cuckoostate IS
'partial state of cf_agg: the distinct hashes seen, and what the filter is made for';

CREATE FUNCTION cf_agg_combine(cuckoostate, cuckoostate) RETURNS cuckoostate
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_combine(cuckoostate, cuckoostate) IS
'combine function of cf_agg: the union of two states. Error 42804 for different element families, 22023 for different parameters';

CREATE FUNCTION cf_agg_final(cuckoostate) RETURNS cuckoofilter
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_final(cuckoostate) IS
'final function of cf_agg: the filter of the elements of a state';

CREATE FUNCTION cf_agg_internal_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_combine(internal, internal) IS
'combine function of cf_agg(anyelement)';

CREATE FUNCTION cf_agg_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_serialize(internal) IS
'serialization function of cf_agg(anyelement): the binary form of a cuckoostate';

CREATE FUNCTION cf_agg_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_deserialize(bytea, internal) IS
'deserialization function of cf_agg(anyelement): validates the bytes';

CREATE FUNCTION cf_agg_internal_final(internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'cf_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_final(internal) IS
'final function of cf_agg(anyelement)';

-- Written out, not looped over in a DO block: in a trusted extension's script, an
-- operator or function call may find what somebody else put into the schema.

CREATE FUNCTION cf_agg_internal_trans(state internal, element anyelement)
RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_trans(state internal, element anyelement) IS
'transition function of cf_agg(anyelement)';
CREATE AGGREGATE cf_agg(element anyelement) (
	SFUNC = cf_agg_internal_trans, STYPE = internal, SSPACE = 256,
	SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize,
	COMBINEFUNC = cf_agg_internal_combine, FINALFUNC = cf_agg_internal_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element anyelement) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element text)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element text) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element text) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element text) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element "char")
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element "char") IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element "char") (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element "char") IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element smallint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element smallint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element smallint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element smallint) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element integer)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element integer) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element integer) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element integer) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bigint) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element oid)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element oid) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element oid) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element oid) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element uuid)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element uuid) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element uuid) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element uuid) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bytea)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bytea) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bytea) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bytea) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element date)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element date) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element date) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element date) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamp)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamp) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamp) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamp) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamptz)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamptz) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamptz) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamptz) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most 0.001; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_internal_trans(state internal, element anyelement, fpp double precision)
RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_trans(state internal, element anyelement, fpp double precision) IS
'transition function of cf_agg(anyelement)';
CREATE AGGREGATE cf_agg(element anyelement, fpp double precision) (
	SFUNC = cf_agg_internal_trans, STYPE = internal, SSPACE = 256,
	SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize,
	COMBINEFUNC = cf_agg_internal_combine, FINALFUNC = cf_agg_internal_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element anyelement, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element text, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element text, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element text, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element text, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element "char", fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element "char", fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element "char", fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element "char", fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element smallint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element smallint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element smallint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element smallint, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element integer, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element integer, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element integer, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element integer, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bigint, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element oid, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element oid, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element oid, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element oid, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element uuid, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element uuid, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element uuid, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element uuid, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bytea, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bytea, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bytea, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bytea, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element date, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element date, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element date, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element date, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamp, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamp, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamp, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamp, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamptz, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamptz, fpp double precision) IS
'an exact-fit filter of the distinct values, at a false-positive rate of at most fpp; nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_internal_trans(state internal, element anyelement, capacity bigint, fpp double precision)
RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_trans(state internal, element anyelement, capacity bigint, fpp double precision) IS
'transition function of cf_agg(anyelement)';
CREATE AGGREGATE cf_agg(element anyelement, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_internal_trans, STYPE = internal, SSPACE = 256,
	SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize,
	COMBINEFUNC = cf_agg_internal_combine, FINALFUNC = cf_agg_internal_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element anyelement, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element text, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element text, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element text, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element text, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element "char", capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element "char", capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element "char", capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element "char", capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element smallint, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element smallint, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element smallint, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element smallint, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element integer, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element integer, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element integer, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element integer, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bigint, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bigint, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bigint, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bigint, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element oid, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element oid, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element oid, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element oid, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element uuid, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element uuid, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element uuid, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element uuid, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bytea, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bytea, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bytea, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bytea, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element date, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element date, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element date, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element date, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamp, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamp, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamp, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamp, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, capacity bigint, fpp double precision)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, capacity bigint, fpp double precision) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamptz, capacity bigint, fpp double precision) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamptz, capacity bigint, fpp double precision) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';

CREATE FUNCTION cf_agg_internal_trans(state internal, element anyelement, capacity bigint, fpp double precision, seed bigint)
RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_internal_trans(state internal, element anyelement, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg(anyelement)';
CREATE AGGREGATE cf_agg(element anyelement, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_internal_trans, STYPE = internal, SSPACE = 256,
	SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize,
	COMBINEFUNC = cf_agg_internal_combine, FINALFUNC = cf_agg_internal_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element anyelement, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element text, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element text, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element text, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element text, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element "char", capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element "char", capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element "char", capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element "char", capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element smallint, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element smallint, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element smallint, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element smallint, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element integer, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element integer, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element integer, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element integer, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bigint, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bigint, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bigint, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bigint, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element oid, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element oid, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element oid, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element oid, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element uuid, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element uuid, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element uuid, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element uuid, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element bytea, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element bytea, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element bytea, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element bytea, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element date, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element date, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element date, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element date, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamp, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamp, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamp, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamp, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
CREATE FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, capacity bigint, fpp double precision, seed bigint)
RETURNS cuckoostate AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_agg_trans(state cuckoostate, element timestamptz, capacity bigint, fpp double precision, seed bigint) IS
'transition function of cf_agg';
CREATE AGGREGATE cf_agg(element timestamptz, capacity bigint, fpp double precision, seed bigint) (
	SFUNC = cf_agg_trans, STYPE = cuckoostate, SSPACE = 256,
	COMBINEFUNC = cf_agg_combine, FINALFUNC = cf_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg(element timestamptz, capacity bigint, fpp double precision, seed bigint) IS
'a filter of the distinct values, of the same geometry as cf_new(capacity, fpp, seed); nulls are skipped, over no rows the filter is empty. Errors 22023 for parameters out of range, 42883 for a type that cannot be hashed, 54000 when the filter would exceed 512 MiB';
