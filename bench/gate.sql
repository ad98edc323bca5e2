-- What an index that is a filter does to queries of its table: bench/run.sh,
-- ONLY=gate.  Two tables are the same but for this index; each query runs on both
-- in turn, and the least time of several rounds counts, with planning.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE EXTENSION cuckoo;
CREATE TABLE few AS SELECT i AS id FROM generate_series(-5, 5) i;

-- name, whether it finds rows in a table without another index fast enough to
-- be repeated often, and the query; %s is the table
CREATE TABLE queries (n serial, what text, query text);
INSERT INTO queries (what, query) VALUES
	('constant, absent', 'SELECT payload FROM %s WHERE id = -1'),
	('constant, present', 'SELECT payload FROM %s WHERE id = 50000'),
	('constant of another type, absent', 'SELECT payload FROM %s WHERE id = -1::smallint'),
	('list, absent', 'SELECT payload FROM %s WHERE id IN (-1, -2, -3, -4, -5)'),
	('list, one present', 'SELECT payload FROM %s WHERE id IN (-1, -2, 50000, -4, -5)'),
	('list of 100, one present', 'SELECT payload FROM %s WHERE id = ANY (ARRAY(SELECT generate_series(-99, 0)) || 77)'),
	('array, absent', 'SELECT payload FROM %s WHERE id = ANY (''{-1,-2,-3}''::bigint[])'),
	('and another condition', 'SELECT payload FROM %s WHERE id = 50000 AND payload <> ''x'''),
	('or another condition', 'SELECT payload FROM %s WHERE id = -1 OR id = 50000'),
	('exists, absent', 'SELECT EXISTS (SELECT FROM %s WHERE id = -1)'),
	('exists, present', 'SELECT EXISTS (SELECT FROM %s WHERE id = 3)'),
	('limit, present', 'SELECT payload FROM %s WHERE id = 3 LIMIT 1'),
	('order by and limit', 'SELECT payload FROM %s WHERE id = 50000 ORDER BY payload LIMIT 3'),
	('count, absent', 'SELECT count(*) FROM %s WHERE id = -1'),
	('count of all', 'SELECT count(*) FROM %s'),
	('range', 'SELECT count(payload) FROM %s WHERE id BETWEEN 100 AND 200'),
	('not equal', 'SELECT count(*) FROM %s WHERE id <> -1'),
	('join with few rows', 'SELECT payload FROM %s JOIN few USING (id)'),
	('join of a constant', 'SELECT payload FROM %s t JOIN few f ON f.id = t.id WHERE t.id = 3'),
	('left join, constant', 'SELECT payload FROM few f LEFT JOIN %s t ON t.id = f.id AND t.id = -3'),
	('in a subquery', 'SELECT payload FROM %s WHERE id IN (SELECT id FROM few)'),
	('equal to a subquery', 'SELECT payload FROM %s WHERE id = (SELECT max(id) FROM few)'),
	('not in the table', 'SELECT count(*) FROM few f WHERE NOT EXISTS (SELECT FROM %s t WHERE t.id = f.id)'),
	('update, absent', 'UPDATE %s SET payload = ''y'' WHERE id = -1'),
	('delete, absent', 'DELETE FROM %s WHERE id = -1'),
	('prepared, absent', 'EXECUTE prepared_%s(-1)'),
	('prepared, present', 'EXECUTE prepared_%s(50000)'),
	('generic plan, absent', 'EXECUTE generic_%s(-1)'),
	('generic plan, present', 'EXECUTE generic_%s(50000)'),
	('generic plan, array', 'EXECUTE array_%s(''{-1,50000}'')');

CREATE PROCEDURE fill(name text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I AS SELECT i AS id, repeat(''x'', 40) AS payload FROM generate_series(1, 100000::bigint) i', name);
	EXECUTE format('PREPARE prepared_%s(bigint) AS SELECT payload FROM %1$s WHERE id = $1', name);
	EXECUTE format('PREPARE generic_%s(bigint) AS SELECT payload FROM %1$s WHERE id = $1', name);
	EXECUTE format('PREPARE array_%s(bigint[]) AS SELECT payload FROM %1$s WHERE id = ANY ($1)', name);
END $$;

-- the least time in microseconds, of both
CREATE FUNCTION least_times(query text, a text, b text) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	tables text[] := ARRAY[a, b];
	times float8[] := '{}';
	began timestamptz;
	runs int := 1;
BEGIN
	FOR round IN 0..12 LOOP
		FOR i IN 1..2 LOOP
			IF query LIKE '%generic%' OR query LIKE '%array_%' THEN
				SET LOCAL plan_cache_mode = force_generic_plan;
			END IF;
			began := clock_timestamp();
			FOR k IN 1..runs LOOP
				EXECUTE format(query, tables[i]);
			END LOOP;
			RESET plan_cache_mode;
			IF round > 0 THEN
				times[i] := least(times[i], extract(epoch FROM clock_timestamp() - began) * 1e6 / runs);
			ELSIF i = 2 THEN
				runs := greatest(1, least(500, (10000 / extract(epoch FROM clock_timestamp() - began) / 1e6)::int));
			END IF;
		END LOOP;
	END LOOP;
	RETURN times;
END $$;

CREATE TABLE measured (method text, n int, times float8[]);
CREATE PROCEDURE measure(method text, definition text, gate text) LANGUAGE plpgsql AS $$
BEGIN
	CALL fill('without_it');
	CALL fill('with_it');
	IF definition <> '' THEN
		EXECUTE format('CREATE INDEX ON without_it USING %s', definition);
		EXECUTE format('CREATE INDEX ON with_it USING %s', definition);
	END IF;
	EXECUTE format('CREATE INDEX ON with_it USING cuckoo (id) WITH (gate = %s)', gate);
	ANALYZE without_it, with_it;
	COMMIT;
	INSERT INTO measured SELECT method, n, least_times(query, 'without_it', 'with_it') FROM queries;
	COMMIT;
	DEALLOCATE ALL;
	DROP TABLE without_it, with_it;
END $$;
CALL measure('none', '', 'auto');
CALL measure('btree', 'btree (id)', 'auto');
CALL measure('hash', 'hash (id)', 'auto');
CALL measure('btree, gate on', 'btree (id)', 'on');

\echo Microseconds without the filter index and with it, of queries of 100,000 rows; ! is more than 10% and 3 microseconds slower
SELECT what, string_agg(CASE WHEN method = 'none' THEN cell END, '') AS "no other index", string_agg(CASE WHEN method = 'btree' THEN cell END, '') AS "beside a B-tree",
	string_agg(CASE WHEN method = 'hash' THEN cell END, '') AS "beside a hash index", string_agg(CASE WHEN method = 'btree, gate on' THEN cell END, '') AS "B-tree, gate = on"
FROM (SELECT *, format('%s %s%s', round(times[1]::numeric, 1), round(times[2]::numeric, 1),
		CASE WHEN times[2] > 1.1 * times[1] + 3 THEN ' !' END) AS cell FROM measured JOIN queries USING (n)) s
GROUP BY n, what ORDER BY n;
