-- What the planner chooses beside the access method, and whether something else
-- would have been faster: bench/run.sh, ONLY=plans.
--
--	:rows	of the large table
--
-- A query runs with all indexes, and without some of them, which a
-- subtransaction drops.  The least time of several rounds counts, with planning.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE EXTENSION cuckoo;

-- id is unique, and so is key; five has 5 rows a value, many 500, half is 7 in every other row
CREATE PROCEDURE fill(name text, n int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I AS SELECT i AS id, md5(i::text)::uuid AS key, i %% (%s / 5) AS five, i %% (%2$s / 500 + 1) AS many,
		CASE WHEN i %% 2 = 0 THEN 7 ELSE i END AS half, repeat(''x'', 80) AS filler FROM generate_series(1, %2$s) i', name, n);
END $$;
CALL fill('small', 1000);
CALL fill('medium', 100000);
CALL fill('large', :rows);
VACUUM ANALYZE;
CREATE TABLE keys AS SELECT i, md5((i * 97)::text)::uuid AS present, md5('no ' || i)::uuid AS absent FROM generate_series(1, 10000) i;
ANALYZE keys;
CREATE FUNCTION list(n int, kind text, OUT list text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT quote_literal(array_agg(%s)) || ''::uuid[]'' FROM keys WHERE i <= %s', kind, n) INTO list;
END $$;

-- the column that is indexed, and the query; %s is the table
CREATE TABLE queries (n serial, what text, col text, query text);
INSERT INTO queries (what, col, query) VALUES
	('= present', 'key', format('SELECT filler FROM %%s WHERE key = %L', md5('97'))),
	('= absent', 'key', 'SELECT filler FROM %s WHERE key = md5(''no'')::uuid'),
	('count(*), = present', 'key', format('SELECT count(*) FROM %%s WHERE key = %L', md5('97'))),
	('AND', 'key', format('SELECT filler FROM %%s WHERE key = %L AND filler <> ''y''', md5('97'))),
	('OR', 'key', format('SELECT filler FROM %%s WHERE key = %L OR key = %L', md5('97'), md5('194'))),
	('LIMIT 1', 'key', format('SELECT filler FROM %%s WHERE key = %L LIMIT 1', md5('97'))),
	('IN, 10 present', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(10, 'present') || ')'),
	('IN, 10 absent', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(10, 'absent') || ')'),
	('IN, 100 present', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(100, 'present') || ')'),
	('IN, 1,000 present', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(1000, 'present') || ')'),
	('IN, 1,000 absent', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(1000, 'absent') || ')'),
	('IN, 10,000 present', 'key', 'SELECT count(filler) FROM %s WHERE key = ANY (' || list(10000, 'present') || ')'),
	('join, 1,000 present', 'key', 'SELECT count(filler) FROM %s JOIN keys ON present = key WHERE i <= 1000'),
	('join, 1,000 absent', 'key', 'SELECT count(filler) FROM %s JOIN keys ON absent = key WHERE i <= 1000'),
	('join, 10,000 present', 'key', 'SELECT count(filler) FROM %s JOIN keys ON present = key'),
	('NOT EXISTS, 10 absent', 'key', 'SELECT count(*) FROM keys WHERE i <= 10 AND NOT EXISTS (SELECT FROM %s WHERE key = absent)'),
	('NOT EXISTS, 1,000 absent', 'key', 'SELECT count(*) FROM keys WHERE i <= 1000 AND NOT EXISTS (SELECT FROM %s WHERE key = absent)'),
	('generic plan, = present', 'key', format('EXECUTE one_%%s(%L)', md5('97'))),
	('generic plan, = absent', 'key', format('EXECUTE one_%%s(%L)', md5('no'))),
	('generic plan, array of 10', 'key', 'EXECUTE array_%s(' || list(10, 'present') || ')'),
	('ORDER BY key LIMIT 3', 'key', 'SELECT key FROM %s ORDER BY key LIMIT 3'),
	('5 rows a value', 'five', 'SELECT count(filler) FROM %s WHERE five = 17'),
	('500 rows a value', 'many', 'SELECT count(filler) FROM %s WHERE many = 1'),
	('500 rows a value, LIMIT 1', 'many', 'SELECT filler FROM %s WHERE many = 1 LIMIT 1'),
	('in half of the rows', 'half', 'SELECT count(filler) FROM %s WHERE half = 7'),
	('in half of the rows, LIMIT 1', 'half', 'SELECT filler FROM %s WHERE half = 7 LIMIT 1'),
	('in one row, column with such a value', 'half', 'SELECT filler FROM %s WHERE half = 55');

-- the kinds of indexes, or the sequential scan, that a plan uses
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN coalesce((SELECT string_agg(DISTINCT substring(m[1] FROM '[^_]*$'), ', ') FROM regexp_matches(plan::text, '"Index Name": "([^"]*)"', 'g') m), 'seq scan');
END $$;

CREATE TABLE measured (size text, beside text, n int, indexes text[], forced bool, plan text, us float8);
-- runs a query with some of the indexes only, and notes its plan and least time
CREATE PROCEDURE measure(size text, beside text, q queries, indexes text[], enable text DEFAULT 'on') LANGUAGE plpgsql AS $$
DECLARE
	other regclass;
	plan text;
	best float8;
	began timestamptz;
	stop timestamptz := clock_timestamp() + interval '0.1 s';
BEGIN
	BEGIN
		FOR other IN SELECT indexrelid FROM pg_index WHERE indrelid = size::regclass LOOP
			IF substring(other::text FROM '[^_]*$') <> ALL (indexes) THEN
				EXECUTE 'DROP INDEX ' || other;
			END IF;
		END LOOP;
		PERFORM set_config('enable_' || kind, enable, true) FROM unnest(ARRAY['seqscan', 'hashjoin', 'mergejoin']) kind;
		IF q.what LIKE 'generic%' THEN
			SET LOCAL plan_cache_mode = force_generic_plan;
		END IF;
		plan := plan_of(format(q.query, size));
		FOR i IN 1..200 LOOP
			began := clock_timestamp();
			EXECUTE format(q.query, size);
			best := least(best, extract(epoch FROM clock_timestamp() - began) * 1e6);
			EXIT WHEN clock_timestamp() > stop;
		END LOOP;
		RAISE EXCEPTION USING ERRCODE = 'UNDO1';
	EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
	END;
	INSERT INTO measured VALUES (size, beside, q.n, indexes, enable = 'off', plan, best);
END $$;

CREATE PROCEDURE measure_all(size text) LANGUAGE plpgsql AS $$
DECLARE
	q queries;
	indexed text;
	beside text;
BEGIN
	EXECUTE format('PREPARE one_%s(uuid) AS SELECT filler FROM %1$s WHERE key = $1', size);
	EXECUTE format('PREPARE array_%s(uuid[]) AS SELECT count(filler) FROM %1$s WHERE key = ANY ($1)', size);
	FOREACH indexed IN ARRAY ARRAY['key', 'five', 'many', 'half'] LOOP
		FOREACH beside IN ARRAY ARRAY['cuckoo', 'btree', 'hash'] LOOP
			EXECUTE format('CREATE INDEX %s_%s_%s ON %1$s USING %3$s (%2$s)', size, indexed, beside);
		END LOOP;
		COMMIT;
		FOR q IN SELECT * FROM queries x WHERE x.col = indexed ORDER BY n LOOP
			FOREACH beside IN ARRAY ARRAY['', 'btree', 'hash'] LOOP
				FOR round IN 1..3 LOOP
					CALL measure(size, beside, q, ARRAY['cuckoo', beside]);
					CALL measure(size, beside, q, ARRAY[beside]);
					CALL measure(size, beside, q, ARRAY['cuckoo', ''], 'off');
					IF beside <> '' THEN
						CALL measure(size, beside, q, ARRAY['']);
					END IF;
				END LOOP;
			END LOOP;
			COMMIT;
		END LOOP;
		FOREACH beside IN ARRAY ARRAY['cuckoo', 'btree', 'hash'] LOOP
			EXECUTE format('DROP INDEX %s_%s_%s', size, indexed, beside);
		END LOOP;
	END LOOP;
END $$;
CALL measure_all('small');
CALL measure_all('medium');
CALL measure_all('large');

\echo Plans of all indexes, and the fastest of what other indexes give; ! is more than 20% and 5 microseconds slower than that
WITH m AS (
	SELECT size, beside, n, indexes = ARRAY['cuckoo', beside] AND NOT forced AS chosen, plan, min(us) AS us FROM measured GROUP BY 1, 2, 3, 4, 5
), chosen AS (
	SELECT DISTINCT ON (size, beside, n) * FROM m WHERE chosen ORDER BY size, beside, n, us
), best AS (
	SELECT DISTINCT ON (size, beside, n) * FROM m WHERE NOT chosen ORDER BY size, beside, n, us
)
SELECT c.size, coalesce(nullif(c.beside, ''), 'nothing') AS beside, what, c.plan, round(c.us::numeric, 1) AS us,
	b.plan AS best, round(b.us::numeric, 1) AS best_us, CASE WHEN c.us > 1.2 * b.us + 5 THEN '!' ELSE '' END AS slow
FROM chosen c JOIN best b USING (size, beside, n) JOIN queries USING (n)
ORDER BY array_position(ARRAY['small', 'medium', 'large'], c.size), c.beside, n;
