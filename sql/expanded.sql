-- Filters as expanded objects: changed in place only where nobody else looks.

-- ---- copies ----

-- a chain of calls is the same as one by one
SELECT name, seen(value) AS value, seen(truth) AS truth FROM (VALUES
	('added', cf_add(cf_add(cf_add(cf_new(), 1), 2), 3), cf_add_all(cf_new(), ARRAY[1, 2, 3])),
	('deleted', cf_delete(cf_delete(cf_add_all(cf_new(), ARRAY[1, 2, 3]), 3), 2), cf_add(cf_new(), 1))
) v(name, value, truth);
-- and changes one copy
SELECT cf_count(f) AS items, 2 AS truth, contexts('cuckoofilter') AS contexts, 1 AS truth
FROM (SELECT cf_delete(cf_add(cf_add(cf_add(cf_new(), i), 2), 3), 1) AS f FROM generate_series(1, 1) i OFFSET 0) s;
SELECT cf_count(f) AS items, 1 AS truth, cf_count(g) AS items, 3 AS truth, contexts('cuckoofilter') AS contexts,
	2 AS truth
FROM (SELECT f, cf_add(cf_add(f, 2), 3) AS g
	FROM (SELECT cf_add(cf_new(), i) AS f FROM generate_series(1, 1) i OFFSET 0) s OFFSET 0) t;
-- what is computed after it is not in its memory
SELECT length(t), cf_count(f) AS items, contexts('cuckoofilter', 'sum(total_bytes) / 1000000') AS megabytes, 0 AS truth
FROM (SELECT cf_add(cf_new(), i) AS f, repeat('long', 1000000 * i) AS t FROM generate_series(1, 1) i OFFSET 0) s;


-- ---- every function takes one ----

-- the argument comes from a row: the planner stores the result of a call with constants flat
SELECT name, value, truth
FROM (SELECT cf_add(cf_add(cf_new(), i), 2) AS f FROM generate_series(1, 1) i OFFSET 0) s, LATERAL (VALUES
	('contains', cf_contains(f, 1)::text, 'true'), ('@>', (f @> 2)::text, 'true'), ('<@', (9 <@ f)::text, 'false'),
	('count', cf_count(f)::text, '2'), ('copies', cf_count(f, 2)::text, '1'),
	('each', cf_contains_each(f, ARRAY[1, 9])::text, '{t,f}'),
	('any', cf_contains_any(f, ARRAY[9])::text, 'false'), ('all', cf_contains_all(f, ARRAY[1, 2])::text, 'true'),
	('clear', cf_count(cf_clear(f))::text, '0'), ('info', (cf_info(f)).items::text, '2'),
	('send', md5(cuckoofilter_send(f)), md5(f::bytea)), ('<>', (f <> cf_add(f, 3))::text, 'true'),
	('=', (f = f::text::cuckoofilter)::text, 'true'), ('= on the right', (f::bytea::cuckoofilter = f)::text, 'true')
) v(name, value, truth);
SELECT name, seen(value) AS value, seen(f) AS truth
FROM (SELECT cf_add(cf_add(cf_new(), i), 2) AS f FROM generate_series(1, 1) i OFFSET 0) s, LATERAL (VALUES
	('text', f::text::cuckoofilter), ('bytea', f::bytea::cuckoofilter), ('add a null', cf_add(f, NULL::int)),
	('delete what is not in', cf_delete(f, 9))) v(name, value);

-- ---- several users ----

-- one value, several users: none sees what another one does
SELECT cf_count(cf_add(f, 1)) AS with_1, cf_count(cf_add(cf_add(f, 2), 3)) AS with_2_and_3,
	cf_count(cf_delete(f, 0)) AS without_0, cf_count(f) AS f
FROM (SELECT cf_add(cf_new(), i) AS f FROM generate_series(0, 0) i OFFSET 0) s;
WITH w AS MATERIALIZED (SELECT cf_add(cf_new(), i) AS f FROM generate_series(0, 0) i)
SELECT cf_count(cf_add(a.f, 1)) AS with_1, cf_count(b.f) AS f,
	cf_count(CASE WHEN cf_count(cf_add(a.f, 2)) = 2 THEN a.f END) AS after_with_2
FROM w a, w b;
SELECT i, cf_count(f) AS items
FROM (SELECT i, cf_add(f, i) AS f FROM (SELECT cf_add(cf_new(), i) AS f FROM generate_series(0, 0) i OFFSET 0) s,
	generate_series(1, 3) i) t
ORDER BY i;
-- kept in arrays, rows, tables; below and above the size that is TOASTed
CREATE TABLE kept (id int, f cuckoofilter, fs cuckoofilter[]);
INSERT INTO kept SELECT n, cf_add(f, -1), ARRAY[cf_add(f, -1), cf_add(f, -2)]
	FROM (SELECT n, cf_add(cf_agg(i), 0) AS f
		FROM unnest(ARRAY[1, 500, 20000]) n, generate_series(1, n) i GROUP BY n) s;
SELECT id, cf_contains_each(f, ARRAY[-1, -2, 0, 1]) AS f, cf_contains_each(fs[1], ARRAY[-1, -2, 0, 1]) AS first,
	cf_contains_each(fs[2], ARRAY[-1, -2, 0, 1]) AS second FROM kept ORDER BY id;
UPDATE kept SET f = cf_delete(cf_add(f, -3), -1);
SELECT id, cf_contains_each(f, ARRAY[-1, -3, 0, 1]) AS f FROM kept ORDER BY id;
DROP TABLE kept;

-- variables: a copy is separate; an error leaves the old value
DO $$
DECLARE
	f cuckoofilter := cf_new(1000);
	g cuckoofilter;
	before cuckoofilter;
	wrong int := 0;
BEGIN
	FOR i IN 1..5000 LOOP
		f := cf_add(f, i);
		IF i = 2000 THEN
			g := f;
		END IF;
	END LOOP;
	RAISE NOTICE 'items of f: %, of g: %', cf_count(f), cf_count(g);
	FOR i IN 1..5000 LOOP
		wrong := wrong + (NOT cf_contains(f, i))::int;
		wrong := wrong + (i <= 2000 AND NOT g @> i)::int;
	END LOOP;
	g := cf_delete(g, 1);
	f := cf_delete(f, 2);
	f := cf_add(f, cf_count(f));
	f := cf_add_unique(f, 3);
	RAISE NOTICE 'f has 1: %, 2: %; g has 1: %, 2: %; missing: %', f @> 1, f @> 2, g @> 1, g @> 2, wrong;

	before := f;
	BEGIN
		f := cf_add(f, 'text');
	EXCEPTION WHEN datatype_mismatch THEN
		RAISE NOTICE 'refused: %, value: %, truth: %', SQLERRM, seen(f), seen(before);
	END;
	-- until it cannot grow, with more elements than the capacity
	f := cf_new(100, 0.03);
	FOR i IN 1..10000 LOOP
		before := f::text::cuckoofilter;
		BEGIN
			f := cf_add(f, i);
		EXCEPTION WHEN program_limit_exceeded THEN
			RAISE NOTICE 'refused: %, value: %, truth: %', SQLERRM, seen(f), seen(before);
			EXIT;
		END;
	END LOOP;
	BEGIN
		f := cf_add_all(f, ARRAY(SELECT generate_series(1, 1000)));
	EXCEPTION WHEN program_limit_exceeded THEN
		RAISE NOTICE 'refused: %, value: %, truth: %', SQLERRM, seen(f), seen(before);
	END;
END $$;
-- the same through every language's variables, and as an argument
CREATE FUNCTION with_one(f cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_add(f, 1)';
SELECT cf_count(filled(f, 3)) AS by_plpgsql, cf_count(with_one(f)) AS by_sql,
	cf_count(with_one(filled(f, 2))) AS by_both, cf_count(f) AS f
FROM (SELECT cf_add(cf_new(), i) AS f FROM generate_series(0, 0) i OFFSET 0) s;
DROP FUNCTION with_one;

-- as the transition function of somebody's own aggregate, also over windows
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE collect(int) (SFUNC = cf_add, STYPE = cuckoofilter, INITCOND = %L)', cf_new(1000));
END $$;
SELECT seen(collect(i)) AS value, seen(cf_add_all(cf_new(1000), array_agg(i))) AS truth FROM generate_series(1, 3000) i;
-- its state is one object, not a copy for each row
SELECT max(contexts('cuckoofilter')) AS contexts, 1 AS truth, cf_count(collect(i)) AS items
	FROM generate_series(1, 3) i;
SELECT i, cf_count(collect(i) OVER (ORDER BY i)) AS running,
	cf_count(collect(i) OVER (ORDER BY i ROWS 1 PRECEDING)) AS two,
	cf_contains_each(collect(i) OVER (ORDER BY i), ARRAY[1, 2, 3]) AS running_has FROM generate_series(1, 3) i;
SELECT g, cf_count(collect(i)) AS items, cf_count(cf_add(collect(i), -1)) AS more
FROM generate_series(1, 9) i, LATERAL (SELECT i % 2 AS g) s GROUP BY g ORDER BY g;
DROP AGGREGATE collect(int);
