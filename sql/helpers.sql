-- Functions that several tests use.  installcheck runs this input first.
-- the plan of a query; options is, for example, 'ANALYZE, BUFFERS, '
CREATE FUNCTION plan_of(query text, options text DEFAULT '') RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (' || options || 'FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan';
END $$;
-- pages that a query reads, from memory or not
CREATE FUNCTION pages_read(query text) RETURNS int LANGUAGE sql AS $$
	SELECT (plan ->> 'Shared Hit Blocks')::int + (plan ->> 'Shared Read Blocks')::int
	FROM plan_of(query, 'ANALYZE, BUFFERS, ') plan
$$;
-- the indexes that a query reads, in the order of its plan; null if it reads none
CREATE FUNCTION indexes_of(query text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name[1], ', ') FROM regexp_matches(plan_of(query)::text, '"Index Name": "(.*?)"', 'g') name
$$;
-- blocks of tables that the bitmap scans of a query read; EXPLAIN does not say what workers read
CREATE FUNCTION heap_blocks(query text) RETURNS int LANGUAGE sql
	SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
	SELECT sum(n[1]::int)::int
	FROM regexp_matches(plan_of(query, 'ANALYZE, ')::text, '"(?:Exact|Lossy) Heap Blocks": (\d+)', 'g') n
$$;
-- Looks up each value that an index has, and those of the query absent, by an index
-- scan, and a thousand or two of them by a bitmap scan.  Compares the rows with those
-- that a sequential scan groups by value.
CREATE FUNCTION compared(index regclass, absent text DEFAULT NULL,
	OUT lookups bigint, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
	SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
	scan text;
	found record;
	query text := $q$
WITH truth AS MATERIALIZED (
	SELECT value, array_agg(place ORDER BY place) FILTER (WHERE place IS NOT NULL) AS places, row_number() OVER () AS n
	FROM (SELECT value, place FROM (SELECT %1$s AS value, ctid AS place, %2$s AS listed FROM ONLY %3$s OFFSET 0) t
		WHERE listed AND value IS DISTINCT FROM NULL %4$s) v
	GROUP BY value)
SELECT count(*) AS lookups, coalesce(sum(cardinality(truth.places)), 0) AS rows,
	count(*) FILTER (WHERE truth.places IS DISTINCT FROM found.places) AS wrong
FROM truth, LATERAL (SELECT array_agg(ctid ORDER BY ctid) AS places FROM ONLY %3$s
	WHERE %1$s = truth.value AND %2$s) found$q$;
BEGIN
	query := format(query, pg_get_indexdef(index, 1, false), coalesce(pg_get_expr(indpred, indrelid), 'true'),
		indrelid::regclass, 'UNION ALL SELECT *, NULL FROM (' || absent || ') absent')
	FROM pg_index WHERE indexrelid = index;
	FOREACH scan IN ARRAY '{enable_indexscan,enable_bitmapscan}'::text[] LOOP
		PERFORM set_config(scan, 'on', true);
		IF indexes_of(query) IS DISTINCT FROM relname FROM pg_class WHERE oid = index THEN
			RAISE 'the plan reads % instead of %', indexes_of(query), index;
		END IF;
		EXECUTE query INTO found;
		lookups := coalesce(lookups, found.lookups);
		rows := coalesce(rows, found.rows);
		wrong := coalesce(wrong, 0) + found.wrong;
		query := query || ' WHERE n % ' || greatest(1, lookups / 1000) || ' = 0';
		PERFORM set_config(scan, 'off', true);
	END LOOP;
END $$;
-- The same random statements on a table whose values a B-tree keeps unique, and on table tried,
-- where another statement does.  How many both refuse, and the rows that differ at the end.
CREATE FUNCTION beside(kept_unique text, type text, made_of text, updates text DEFAULT 'DO NOTHING') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	refused boolean[];
	times int = 0;
	differ int;
	inserted text = 'INSERT INTO %%s AS t SELECT %s, %s';
BEGIN
	EXECUTE format('CREATE TABLE exact (day int, v %s UNIQUE, filler text DEFAULT repeat(''x'', 900))', type);
	EXECUTE format('CREATE TABLE tried (day int, v %s, filler text DEFAULT repeat(''x'', 900))', type);
	EXECUTE kept_unique;
	PERFORM setseed(0.5);
	FOR i IN 1..1000 LOOP
		statement := format(CASE WHEN random() < 0.4 THEN inserted
			WHEN random() < 0.3 THEN inserted || ' ON CONFLICT DO NOTHING'
			WHEN random() < 0.3 THEN inserted || ' ON CONFLICT ' || updates
			WHEN random() < 0.4 THEN 'DELETE FROM %%s WHERE v = (SELECT %2$s)'
			ELSE 'UPDATE %%s SET day = %s, v = (SELECT %s) WHERE v = (SELECT %3$s)' END,
			(random() < 0.5)::int, replace(made_of, '$', (random() * 150)::int::text),
			replace(made_of, '$', (random() * 150)::int::text));
		refused := '{false, false}';
		BEGIN
			EXECUTE format(statement, 'exact');
		EXCEPTION WHEN unique_violation THEN
			refused[1] := true;
		END;
		BEGIN
			EXECUTE format(statement, 'tried');
		EXCEPTION WHEN unique_violation OR exclusion_violation THEN
			refused[2] := true;
		END;
		IF refused[1] <> refused[2] THEN
			RAISE 'statement % differs: %: %', i, refused, statement;
		END IF;
		times := times + refused[1]::int;
	END LOOP;
	SELECT count(*) INTO differ FROM (TABLE exact EXCEPT TABLE tried UNION ALL TABLE tried EXCEPT TABLE exact) d;
	DROP TABLE exact, tried;
	RETURN format('%s refused, %s rows differ', times, differ);
END $$;
-- a filter after n changes of one variable; declared so that the extension can be dropped beside it
CREATE FUNCTION filled(f anyelement, n int) RETURNS anyelement LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
	END LOOP;
	RETURN f;
END $$;
-- the same filter of integers one growth level up: others are added until it has grown, and deleted
CREATE FUNCTION grown(f anyelement) RETURNS anyelement LANGUAGE plpgsql AS $$
DECLARE
	others int[] := '{}';
	level int := (cf_info(f)).growth_level;
	i int := -1000000000;
BEGIN
	WHILE (cf_info(f)).growth_level = level LOOP
		i := i + 1;
		CONTINUE WHEN cf_contains(f, i);
		f := cf_add(f, i);
		others := others || i;
	END LOOP;
	RETURN cf_delete_all(f, others);
END $$;
-- an image whose last 8 bytes are the checksum of the others
CREATE FUNCTION sealed(image bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT bytes
		|| (SELECT string_agg(substr(int8send(cf_hash(bytes, 0)), i, 1), '' ORDER BY i DESC)
			FROM generate_series(1, 8) i)
	FROM (SELECT substr(image, 1, greatest(length(image) - 8, 0)) AS bytes) s
$$;
-- a number as its bounds, or as it is if it is outside: expected output has the bounds, and a failure shows the number
CREATE FUNCTION within(value float8, low float8, high float8 DEFAULT 'infinity') RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN value BETWEEN low AND high THEN format('%s to %s', low, high) ELSE value::text END
$$;
-- a filter by its items, its growth level, and a digest of its bytes; declared so that the extension can be dropped
CREATE FUNCTION seen(f anyelement) RETURNS text LANGUAGE sql STRICT PARALLEL SAFE AS $$
	SELECT format('%s, level %s, %s', items, growth_level, left(md5(f::bytea), 6)) FROM cf_info(f)
$$;
-- the blocks of a table or index
CREATE FUNCTION blocks_of(relation regclass) RETURNS int LANGUAGE sql AS $$
	SELECT (pg_relation_size(relation) / current_setting('block_size')::int)::int
$$;
-- how many memory contexts of this name the session has, or another sum
CREATE FUNCTION contexts(name text, what text DEFAULT 'count(*)') RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	EXECUTE format('SELECT %s FROM pg_backend_memory_contexts WHERE name = %L', what, name) INTO result;
	RETURN result;
END $$;
