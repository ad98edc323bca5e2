-- Memory after many calls of each function: in one statement, and in a loop of
-- one session (PL/pgSQL). On a database of its own, in psql:
--
--	test/throwaway.sh psql -Xq -v calls=1000000 -f test/memory.sql
--
-- Each case is named when it is done. At the end a row shows the memory after a
-- tenth of the calls, in contexts and of the process. Beside it stands how much
-- more there was after all of them; without /proc that of the process is null.
-- test/t/017_memory.pl runs this with fewer calls. A function of the library that
-- no case calls is in the list before the table.
\if :{?calls}
\else
	\set calls 20000
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
-- out of the search path, so that calls of cf_agg do not choose its variants
CREATE SCHEMA citus;
CREATE EXTENSION cuckoo_citus SCHEMA citus CASCADE;
CREATE AGGREGATE state_agg(text) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate);

-- ---- what is called ----

-- of a filter: in memory, stored, of numeric; with the same geometry as f
CREATE TABLE sample AS
	SELECT cf_agg(i, 1000, 0.01) AS f, cf_agg(-i, 1000, 0.01) AS h, array_agg(i) AS a, array_agg(i::numeric) AS nums,
	state_agg(i::text) AS state, cf_agg(i::numeric) AS n, NULL::cuckoofilter AS stored
FROM generate_series(1, 20) i;
UPDATE sample SET stored = (SELECT cf_agg(i) FROM generate_series(1, 20000) i);
CREATE TABLE indexed AS SELECT i FROM generate_series(1, 5000) i;
CREATE INDEX indexed_i ON indexed USING cuckoo (i);
CREATE TABLE located AS SELECT i AS k, i::text AS t, i::numeric AS n, ARRAY[i, -i] AS a, i AS c FROM indexed;
CREATE INDEX located_k ON located USING cuckoo (k);
CREATE INDEX located_t ON located USING cuckoo (t);
CREATE INDEX located_n ON located USING cuckoo (n);
CREATE INDEX located_a ON located USING cuckoo (a);
-- keys of another type, by a function that needs memory
CREATE FUNCTION plain_hash(int, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN cuckoo_hash($1::bigint, $2);
CREATE FUNCTION plain_hash(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN cuckoo_hash($1, $2);
CREATE OPERATOR CLASS plain_ops FOR TYPE int USING cuckoo AS OPERATOR 1 =, OPERATOR 1 =(int, bigint),
	FUNCTION 1 plain_hash(int, bigint), FUNCTION 1 (bigint, bigint) plain_hash(bigint, bigint);
CREATE INDEX located_c ON located USING cuckoo (c plain_ops);
CREATE SEQUENCE ids;
CREATE TABLE owned (id numeric);
CREATE INDEX owned_id ON owned USING cuckoo (id);
CREATE TRIGGER owned_unique AFTER INSERT OR UPDATE ON owned FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('owned_id');
CREATE FUNCTION own() RETURNS void LANGUAGE sql AS 'INSERT INTO owned VALUES (nextval(''ids''))';
CREATE TABLE numbers AS SELECT i FROM generate_series(1, :calls) i;
-- for the planner to aggregate them in workers first
ALTER TABLE numbers ALTER i SET (n_distinct = 10);
ANALYZE;

-- A case is an expression of i, which counts the calls, and s, a row of sample.
-- It covers functions by the name of their C function, and aggregates by theirs.
CREATE TABLE cases (id int GENERATED ALWAYS AS IDENTITY, covers text[], expression text);
INSERT INTO cases (covers, expression) VALUES
	('{cuckoofilter_in,cuckoofilter_out}', 'cuckoofilter_in(cuckoofilter_out(s.f))'),
	('{byteasend,cuckoofilter_from_bytea}', 'cuckoofilter(cuckoofilter_send(s.f))'),
	('{byteaeq,byteane}', 's.f = s.h OR s.f <> s.h'),
	('{byteaeq}', 's.stored = s.stored'),
	('{hashvarlena,hashvarlenaextended}', 'cuckoofilter_hash(s.f) + cuckoofilter_hash_extended(s.stored, i)'),
	('{cf_new}', 'cf_new(i, 0.01, i, ''numeric'')'),
	('{cf_add,cf_delete}', 'cf_delete(cf_add(s.f, -i), -i)'),
	('{cf_add_unique}', 'cf_add_unique(s.n, i::numeric)'),
	('{cf_add}', 'cf_add(s.stored, 5)'),
	('{cf_contains,cuckoo_contained}', 'cf_contains(s.f, i) OR i <@ s.h'),
	('{cf_contains}', 'cf_contains(s.stored, i)'),
	('{cf_contains}', 'cf_contains(s.n, i::numeric)'),
	('{cf_contains_hash,cf_hash}', 'cf_contains_hash(s.f, cf_hash(i::text, 7))'),
	('{cf_count,cf_count_value}', 'cf_count(s.f) + cf_count(s.f, i) + cf_count(s.stored)'),
	('{cuckoo_handler}', '(SELECT count(*) FROM located l WHERE l.t = (i % 6000)::text)'),
	('{cuckoo_handler}', '(SELECT count(*) FROM located l WHERE l.n = i % 6000::numeric)'),
	('{cuckoo_handler}', '(SELECT count(*) FROM located l WHERE l.a = ARRAY[i % 6000, -(i % 6000)])'),
	('{cuckoo_handler}', '(SELECT count(*) FROM located l WHERE l.c = (i % 6000)::bigint)'),
	('{cuckoo_hash_int16,cuckoo_hash_int32,cuckoo_hash_int64,cuckoo_hash_bool}',
		'cuckoo_hash(i::int2, 1) # cuckoo_hash(i, 1) # cuckoo_hash(i::int8, 1) # cuckoo_hash(i > 5, 1)'),
	('{cuckoo_hash_bytea,cuckoo_hash_record,cuckoo_hash_bpchar,cuckoo_hash_name}', 'cuckoo_hash(i::text::bytea, 1)
		# cuckoo_hash(ROW(i, i::text), 1) # cuckoo_hash(i::char(9), 1) # cuckoo_hash(i::text::name, 1)'),
	('{cf_unique_trigger}', 'own()'),
	('{cf_index_info,cf_index_check}', 'CASE WHEN i % 100 = 0 THEN (cf_index_info(''indexed_i'')).entries
		+ cf_index_check(''indexed_i'') END'),
	('{cf_add_all,cf_delete_all}', 'cf_delete_all(cf_add_all(s.f, s.a), s.a)'),
	('{cf_add_filter}', 'cf_add_filter(s.f, s.h)'),
	('{cf_add_unique_all}', 'cf_add_unique_all(s.f, s.a || i)'),
	('{cf_add_unique_each}', '(SELECT added FROM cf_add_unique_each(s.f, s.a || i))'),
	('{cf_contains_any,cf_contains_all,cf_contains_each}',
		'cf_contains_any(s.n, s.nums) AND cf_contains_all(s.f, s.a) AND cf_contains_each(s.f, s.a) IS NULL'),
	('{cf_clear,cf_info}', '(cf_info(cf_clear(s.f))).items'),
	('{cf_compatible,cf_overlap}', 'cf_overlap(s.f, s.h) + cf_compatible(s.f, s.h)::int'),
	('{cf_overlap_info}', '(cf_overlap_info(s.f, s.h)).jaccard'),
	('{cf_canonical}', 'cf_canonical(s.f)'),
	('{cf_union,cf_union_all,cf_intersect}', 'cf_union(s.f, cf_union_all(s.h, cf_intersect(s.f, s.h)))'),
	('{cf_union_agg,cf_union_all_agg}',
		'(SELECT cf_union_agg(x) = cf_union_all_agg(x) FROM unnest(ARRAY[s.f, s.h, s.f]) x)'),
	('{cf_intersect_agg,cf_at_least_agg,cuckoo_at_least_trans,cuckoo_at_least_final}',
		'(SELECT cf_intersect_agg(x) = cf_at_least_agg(x, 3) FROM unnest(ARRAY[s.f, s.h, s.f]) x)'),
	('{cuckoostate_in,cuckoostate_out,cuckoostate_send}',
		'citus.cuckoostate_send(citus.cuckoostate_in(citus.cuckoostate_out(s.state)))'),
	('{cuckoo_agg_combine,cuckoo_agg_final}', 'citus.cuckoo_agg_final(citus.cuckoo_agg_combine(s.state, s.state))'),
	('{cuckoo_agg_trans}', '(SELECT citus.cf_agg(x) FROM unnest(s.a) x)'),
	('{cf_agg}', '(SELECT cf_agg(x + i, 1000, 0.01) FROM generate_series(1, 200 * (i % 100 / 99)) x)'),
	('{cf_agg,cuckoo_agg_internal_trans}', '(SELECT cf_agg(x) FROM unnest(s.nums) x)');

-- what only the server calls: planning, combining the states of processes, COPY, constraints
CREATE FUNCTION planned(int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE 'SELECT count(cf_add(f, 1)) = 0 FROM sample
		WHERE f @> 1 AND EXISTS (SELECT FROM sample b WHERE 1 <@ b.h AND b.f @> 1) AND false'
	INTO result;
	RETURN result;
END $$;
CREATE TABLE special (id int GENERATED ALWAYS AS IDENTITY, covers text[], command text);
INSERT INTO cases (covers, expression) VALUES
	('{cuckoo_contains_support,cuckoo_contains_sel,cuckoo_change_support}', 'planned(i)');
\set file `mktemp -u "${TMPDIR:-/tmp}/cuckoo-memory.XXXXXX"`
-- a scan for each row
CREATE TABLE excluded (i int, EXCLUDE USING cuckoo (i WITH =));
INSERT INTO special (covers, command) VALUES
	('{cuckoo_handler}', 'INSERT INTO excluded SELECT i FROM numbers WHERE memory_at(i) IS NULL'),
	('{cuckoo_agg_internal_combine,cuckoo_agg_serialize,cuckoo_agg_deserialize}',
		format('SELECT max(now) FILTER (WHERE n = %1$s / 10), max(now) FILTER (WHERE n = %1$s)
			FROM (SELECT n, CASE WHEN n IN (%1$s / 10, %1$s) THEN memory() END AS now
				FROM (SELECT count(f) OVER (ROWS UNBOUNDED PRECEDING) AS n
					FROM (SELECT cf_agg(i::numeric) AS f FROM numbers GROUP BY i) g) h OFFSET 0) s', :'calls')),
	('{cuckoofilter_recv,cuckoostate_recv}',
		format('COPY copies FROM %L BINARY WHERE memory_at(i)', :'file'));
CREATE TABLE copies (i int, f cuckoofilter, state citus.cuckoostate);
COPY (SELECT i, f, state FROM sample, numbers) TO :'file' BINARY;

-- ---- how much memory ----

CREATE FUNCTION memory() RETURNS bigint[] LANGUAGE plpgsql PARALLEL RESTRICTED AS $$
DECLARE
	contexts bigint;
	process bigint;
BEGIN
	SELECT sum(used_bytes) INTO contexts FROM pg_backend_memory_contexts;
	process := split_part(pg_read_file('/proc/self/statm', 0, 100, true), ' ', 2)::bigint * 4096;
	RETURN ARRAY[contexts, process];
END $$;
-- notes it in settings, after a tenth of the calls and after all of them
CREATE FUNCTION memory_at(call int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	calls int := current_setting('cuckoo_test.calls');
	now bigint[];
BEGIN
	IF call = calls / 10 OR call = calls THEN
		-- the first time this takes memory itself
		now := memory();
		now := memory();
		PERFORM set_config('cuckoo_test.' || CASE call WHEN calls THEN 'last' ELSE 'first' END, now::text, false);
	END IF;
	RETURN NULL;
END $$;
SELECT set_config('cuckoo_test.calls', :'calls', false) \g /dev/null
SELECT memory_at(:calls), memory_at(:calls / 10) \g /dev/null
-- workers, and no hash table of all groups
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_hashagg = off;
SET jit = off;
CREATE FUNCTION has_plan(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line LIKE '%' || node || '%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RAISE EXCEPTION 'no % in the plan of %', node, query;
END $$;
SELECT has_plan('SELECT cf_agg(i::numeric) FROM numbers GROUP BY i', 'Finalize'),
	has_plan('SELECT FROM located WHERE t = ''1''', 'located_t') \g /dev/null

CREATE TABLE memory (covers text[], how text, calls int, context_bytes bigint, context_growth bigint,
	process_bytes bigint, process_growth bigint);
CREATE PROCEDURE measure(covers text[], how text, command text) LANGUAGE plpgsql AS $$
DECLARE
	before bigint[];
	first bigint[];
	last bigint[];
BEGIN
	PERFORM set_config('cuckoo_test.first', '{}', false), set_config('cuckoo_test.last', '{}', false);
	PERFORM memory(), memory();
	before := memory();
	/* with workers nothing can be set */
	IF how = 'workers' THEN
		EXECUTE command INTO first, last;
	ELSE
		EXECUTE command;
		first := current_setting('cuckoo_test.first');
		last := current_setting('cuckoo_test.last');
	END IF;
	IF (first = '{}' OR last = '{}') IS NOT false THEN
		RAISE EXCEPTION '% was not measured', command;
	END IF;
	INSERT INTO memory VALUES (covers, how, current_setting('cuckoo_test.calls')::int,
		first[1] - before[1], last[1] - first[1], first[2] - before[2], last[2] - first[2]);
	RAISE INFO '%, %: %', how, array_to_string(covers, ' '), last[1] - first[1];
END $$;

SELECT format('CALL measure(%L, %L, %L)', covers, how, command)
FROM (
	SELECT id, covers, 'statement' AS how,
		format('SELECT count(%s), count(memory_at(i)) FROM (SELECT generate_series(1, %s) AS i) n, sample s',
			expression, :'calls') AS command FROM cases
	UNION ALL
	SELECT id, covers, 'session',
		format('DO $do$ DECLARE s sample%%ROWTYPE; is_null boolean; BEGIN SELECT * INTO s FROM sample;
		FOR i IN 1..%s LOOP is_null := (%s) IS NULL; PERFORM memory_at(i) WHERE i IN (%s, %s); END LOOP; END $do$',
		:'calls', expression, :'calls'::int / 10, :'calls') FROM cases
	UNION ALL
	SELECT 1000 + id, covers, CASE WHEN command ~ '^(COPY|INSERT)' THEN 'statement' ELSE 'workers' END, command
	FROM special) c
ORDER BY id, how DESC \gexec

\echo functions that no case calls:
SELECT DISTINCT CASE p.prokind WHEN 'a' THEN p.proname ELSE p.prosrc END
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		AND e.extname IN ('cuckoo', 'cuckoo_citus')
WHERE CASE p.prokind WHEN 'a' THEN p.proname ELSE p.prosrc END <> ALL (SELECT unnest(covers) FROM memory);
\echo memory:
SELECT array_to_string(covers, ', ') AS functions, how, calls, context_bytes, context_growth, process_bytes,
	process_growth FROM memory;
\setenv file :file
\! rm -f "$file"
