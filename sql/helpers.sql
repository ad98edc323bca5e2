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
	SELECT bytes || (SELECT string_agg(substr(int8send(cf_hash(bytes, 0)), i, 1), '' ORDER BY i DESC) FROM generate_series(1, 8) i)
	FROM (SELECT substr(image, 1, greatest(length(image) - 8, 0)) AS bytes) s
$$;
-- how many memory contexts of this name the session has, or another sum; on 13, which does not show them, what is wanted
CREATE FUNCTION contexts(name text, wanted int, what text DEFAULT 'count(*)') RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF to_regclass('pg_catalog.pg_backend_memory_contexts') IS NOT NULL THEN
		EXECUTE format('SELECT %s FROM pg_backend_memory_contexts WHERE name = %L', what, name) INTO wanted;
	END IF;
	RETURN wanted;
END $$;
