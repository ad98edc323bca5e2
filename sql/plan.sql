-- Operators, and what the planner is told.
SELECT f @> 1 AS "@>", 1 <@ f AS "<@", f @> 4 AS absent, 4 <@ f AS absent, f @> NULL::int AS "null", NULL::int <@ f AS "null",
	f @> 1::bigint AS bigint, 1::smallint <@ f AS smallint
FROM cf_add_all(cf_new(), ARRAY[1, 2, 3]) f;
SELECT f @> 'a' AS literal, 'b' <@ f AS literal, f @> 'a'::varchar AS varchar, 'x' <@ f AS absent FROM cf_add_all(cf_new(), '{a,b}') f;
SELECT f @> ARRAY[1, 2] AS an_array, ARRAY[2, 1] <@ f AS another FROM cf_add(cf_new(), ARRAY[1, 2]) f;
SELECT 'x' <@ cf_add(cf_new(), 1);
-- quantified, and as joins of every kind
CREATE TABLE lists (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO lists SELECT 'tens', cf_agg(i * 10) FROM generate_series(1, 100) i;
INSERT INTO lists SELECT 'sevens', cf_agg(i * 7) FROM generate_series(1, 100) i;
INSERT INTO lists VALUES ('none', cf_new()), ('unknown', NULL);
SELECT i, i <@ ANY (SELECT f FROM lists WHERE f IS NOT NULL) AS "any", i <@ ALL (SELECT f FROM lists WHERE cf_count(f) > 0) AS "all",
	i <@ ANY (SELECT f FROM lists) AS with_null, i <@ ANY (ARRAY(SELECT f FROM lists WHERE f IS NOT NULL)) AS of_array
FROM unnest(ARRAY[10, 14, 70, 3]) i;
SELECT count(*) FROM generate_series(1, 700) i WHERE i <@ ANY (SELECT f FROM lists);
SELECT count(*) FROM generate_series(1, 700) i WHERE EXISTS (SELECT FROM lists WHERE f @> i);
SELECT count(*) FROM generate_series(1, 700) i WHERE NOT EXISTS (SELECT FROM lists WHERE cf_contains(f, i));
SELECT name, count(i) FROM lists LEFT JOIN generate_series(1, 700) i ON f @> i GROUP BY name ORDER BY name;

-- Estimates. Seven tenths of "skewed" are 14 values, one eleventh is null.
CREATE TABLE skewed AS SELECT v, 'user ' || v AS t, v::numeric AS n
	FROM generate_series(1, 30000) i, LATERAL (SELECT CASE WHEN i % 10 < 7 THEN i % 20 ELSE i END AS v) s;
INSERT INTO skewed SELECT FROM generate_series(1, 3000);
CREATE TABLE distinct_ AS SELECT i AS v, 'user ' || i AS t, i::numeric AS n FROM generate_series(1, 30000) i;
ANALYZE skewed, distinct_;
CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
-- estimated rows by actual rows
CREATE FUNCTION factor(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	actual int;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ' OFFSET 0) s' INTO actual;
	RETURN estimate(query) / greatest(actual, 1);
END $$;
-- the filter of a query's values as a literal
CREATE FUNCTION filter_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	EXECUTE 'SELECT cf_agg(x) FROM (' || query || ') s(x)' INTO f;
	RETURN quote_literal(f) || '::cuckoofilter';
END $$;
SELECT tab, members, condition, count(*) AS estimates, count(*) FILTER (WHERE factor NOT BETWEEN 0.5 AND 2) AS wrong,
	max(factor) FILTER (WHERE factor NOT BETWEEN 0.5 AND 2) AS largest
FROM (VALUES ('skewed', 'generate_series(1, 5)'), ('skewed', 'generate_series(12, 9000)'), ('skewed', 'generate_series(1, 30000, 7)'),
		('distinct_', 'generate_series(1, 300)'), ('distinct_', 'generate_series(1, 3000)'),
		('distinct_', 'generate_series(1, 30000, 2)'), ('distinct_', 'generate_series(1, 30000)')) w (tab, members),
	(VALUES ('cf_contains(%s, %s)'), ('%s @> %s'), ('%2$s <@ %1$s'), ('NOT cf_contains(%s, %s)'), ('(%s @> %s) IS NOT TRUE'),
		('(%2$s <@ %1$s) IS TRUE')) c (condition),
	unnest(ARRAY['v', 't', 'n']) col,
	LATERAL (SELECT factor(format('SELECT 1 FROM %s WHERE ', tab) || format(condition,
		filter_of(format('SELECT %s FROM %s v', CASE col WHEN 't' THEN '''user '' || v' WHEN 'n' THEN 'v::numeric' ELSE 'v' END, members)), col)) AS factor) e
WHERE NOT (condition ~ 'NOT' AND members = 'generate_series(1, 30000)')
GROUP BY tab, members, condition HAVING count(*) FILTER (WHERE factor NOT BETWEEN 0.5 AND 2) > 0 OR condition = '%s @> %s' ORDER BY tab, members;
-- parameters of a custom plan, in SQL and in PL/pgSQL; a filter that is empty, or null
PREPARE test(cuckoofilter) AS SELECT 1 FROM distinct_ WHERE $1 @> v;
SELECT round(estimate(format('EXECUTE test(%s)', filter_of('SELECT generate_series(1, 3000)')))::numeric, -2) BETWEEN 2900 AND 3200 AS parameter;
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT 1 WHERE false') || ' @> v') AS empty, estimate('EXECUTE test(NULL)') AS "null";
DEALLOCATE test;
-- a filter that a sub-select aggregates; one from a table, of which nothing is known: half of what is not null
SELECT factor('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT cf_agg(v) FROM distinct_ WHERE v <= 5000), v)') BETWEEN 0.5 AND 2 AS aggregated;
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE constant(*) (SFUNC = cf_clear, STYPE = cuckoofilter, INITCOND = %L)', cf_new());
END $$;
SELECT estimate('SELECT 1 FROM distinct_ WHERE (SELECT constant(*) FROM lists) @> v') AS no_elements;
DROP AGGREGATE constant(*);
SELECT estimate('SELECT 1 FROM distinct_ WHERE (SELECT f FROM lists LIMIT 1) @> v') AS from_table,
	estimate('SELECT 1 FROM skewed WHERE cf_contains((SELECT f FROM lists LIMIT 1), v)') BETWEEN 14500 AND 15500 AS less_nulls,
	estimate('SELECT 1 FROM distinct_ JOIN lists ON f @> v WHERE name = ''tens''') AS joined,
	estimate('SELECT 1 FROM distinct_ JOIN lists ON cf_contains(f, v) WHERE name = ''tens''') AS joined;
-- what fails when it runs is no error before
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT ''x''') || ' @> v') AS other_family;
-- a filter of other values, and one of more than the column has
CREATE TABLE more AS SELECT i AS v FROM generate_series(1, 60000) i;
ANALYZE more;
SELECT estimate('SELECT 1 FROM more WHERE ' || filter_of('SELECT -generate_series(1, 30000)') || ' @> v') < 1000 AS others,
	estimate('SELECT 1 FROM more WHERE ' || filter_of('SELECT -generate_series(1, 100000)') || ' @> v') < 1000 AS more_others,
	factor('SELECT 1 FROM more WHERE ' || filter_of('SELECT generate_series(1, 60000, 2)') || ' @> v') BETWEEN 0.5 AND 2 AS odd;
DROP TABLE more;
-- statistics are only used for those who may read all rows
CREATE ROLE cuckoo_reader;
GRANT SELECT ON skewed TO cuckoo_reader;
CREATE POLICY everything ON skewed TO cuckoo_reader USING (n <> 0 OR n = 0);
ALTER TABLE skewed ENABLE ROW LEVEL SECURITY;
SELECT estimate('SELECT 1 FROM skewed WHERE ' || f || ' @> v') > 1000 AS common FROM filter_of('SELECT 1') f;
SET ROLE cuckoo_reader;
SELECT estimate('SELECT 1 FROM skewed WHERE ' || f || ' @> v') < 100 AS not_told FROM filter_of('SELECT 1') f;
RESET ROLE;
ALTER TABLE skewed DISABLE ROW LEVEL SECURITY;
DROP POLICY everything ON skewed;
REVOKE SELECT ON skewed FROM cuckoo_reader;
DROP ROLE cuckoo_reader;

-- a cheap test comes before a dear one, an operator before a test of one filter a row
CREATE FUNCTION dear(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN true; END$$;
CREATE FUNCTION first_of(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT 1 FROM (SELECT 1 AS v, f FROM lists OFFSET 0) s WHERE ' || condition INTO plan;
	RETURN substring(plan -> 0 -> 'Plan' ->> 'Filter' FROM 'cf_contains|dear|<@|@>|%');
END $$;
SELECT first_of('dear(v) AND cf_contains((SELECT f FROM lists LIMIT 1), v)'), first_of('dear(v) AND v <@ (SELECT f FROM lists LIMIT 1)'),
	first_of('dear(v) AND f @> v'), first_of('f @> v AND v % 2 = 1'), first_of('cf_contains(f, v) AND v % 2 = 1'),
	first_of('(SELECT f FROM lists LIMIT 1) @> v AND v % 2 = 1');
DROP FUNCTION dear, first_of, factor, filter_of, estimate;
DROP TABLE lists, skewed, distinct_;
