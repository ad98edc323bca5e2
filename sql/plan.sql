-- Operators, and the planner's estimates.
SET default_statistics_target = 100;
SET max_parallel_workers_per_gather = 0;
SELECT f @> 1 AS "@>", 1 <@ f AS "<@", f @> 4 AS absent, 4 <@ f AS absent, f @> NULL::int AS "null",
	NULL::int <@ f AS "null",
	f @> 1::bigint AS bigint, 1::smallint <@ f AS smallint
FROM cf_add_all(cf_new(), ARRAY[1, 2, 3]) f;
SELECT f @> 'a' AS literal, 'b' <@ f AS literal, f @> 'a'::varchar AS varchar, 'x' <@ f AS absent
FROM cf_add_all(cf_new(), '{a,b}') f;
SELECT f @> ARRAY[1, 2] AS an_array, ARRAY[2, 1] <@ f AS another FROM cf_add(cf_new(), ARRAY[1, 2]) f;
SELECT 'x' <@ cf_add(cf_new(), 1);
-- quantified, and as joins of every kind
CREATE TABLE lists (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO lists SELECT 'tens', cf_agg(i * 10) FROM generate_series(1, 100) i;
INSERT INTO lists SELECT 'sevens', cf_agg(i * 7) FROM generate_series(1, 100) i;
INSERT INTO lists VALUES ('none', cf_new()), ('unknown', NULL);
SELECT i, i <@ ANY (SELECT f FROM lists WHERE f IS NOT NULL) AS "any",
	i <@ ALL (SELECT f FROM lists WHERE cf_count(f) > 0) AS "all",
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
CREATE TABLE distinct_ AS SELECT i AS v, 'user ' || i AS t, i::numeric AS n FROM generate_series(1, 60000) i;
ANALYZE skewed, distinct_;
CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (plan_of(query) ->> 'Plan Rows')::float8
$$;
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
FROM (VALUES ('skewed', 'generate_series(1, 5)'), ('skewed', 'generate_series(12, 9000)'),
	('skewed', 'generate_series(1, 30000, 7)'),
		('distinct_', 'generate_series(1, 600)'), ('distinct_', 'generate_series(1, 6000)'),
		('distinct_', 'generate_series(1, 60000, 2)'), ('distinct_', 'generate_series(1, 60000)')) w (tab, members),
	(VALUES ('cf_contains(%s, %s)'), ('%s @> %s'), ('%2$s <@ %1$s'), ('NOT cf_contains(%s, %s)'),
		('(%s @> %s) IS NOT TRUE'),
		('(%2$s <@ %1$s) IS TRUE')) c (condition),
	unnest(ARRAY['v', 't', 'n']) col,
	LATERAL (SELECT factor(format('SELECT 1 FROM %s WHERE ', tab) || format(condition,
		filter_of(format('SELECT %s FROM %s v',
			CASE col WHEN 't' THEN '''user '' || v' WHEN 'n' THEN 'v::numeric' ELSE 'v' END, members)),
		col)) AS factor) e
WHERE NOT (condition ~ 'NOT' AND members = 'generate_series(1, 60000)')
GROUP BY tab, members, condition
	HAVING count(*) FILTER (WHERE factor NOT BETWEEN 0.5 AND 2) > 0 OR condition = '%s @> %s' ORDER BY tab, members;
-- parameters of a custom plan, in SQL and in PL/pgSQL; a filter that is empty, or null
PREPARE test(cuckoofilter) AS SELECT 1 FROM distinct_ WHERE $1 @> v;
SELECT round(estimate(format('EXECUTE test(%s)', filter_of('SELECT generate_series(1, 3000)')))::numeric, -2)
	BETWEEN 2900 AND 3200 AS parameter;
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT 1 WHERE false') || ' @> v') AS empty,
	estimate('EXECUTE test(NULL)') AS "null";
DEALLOCATE test;
-- a filter that a sub-select aggregates: its items are the input rows
SELECT test, factor('SELECT 1 FROM distinct_ WHERE cf_contains((' || test || '), v)') BETWEEN 0.5 AND 2 AS aggregated
FROM unnest(ARRAY['SELECT cf_agg(v) FROM distinct_ WHERE v <= 5000',
	'SELECT cf_agg(v, 1000, 0.001) FROM generate_series(1, 400) v']) test;
SELECT factor('SELECT 1 FROM (SELECT v FROM distinct_ GROUP BY v) s
	WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 1000) i), v)') BETWEEN 0.5 AND 2 AS outer_query;
-- one that is not understood: half of the rows
SELECT filter, estimate(format('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT %s), v)', filter)) AS half
FROM unnest(ARRAY['cf_agg(v) FILTER (WHERE v < 10) FROM distinct_', 'cf_union_agg(f) FROM lists',
	'cf_canonical(cf_agg(v)) FROM distinct_']) filter;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT factor('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT cf_agg(v) FROM distinct_), v)')
	BETWEEN 0.5 AND 2 AS aggregated_by_workers,
	factor('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT cf_agg(v ORDER BY v) FROM distinct_), v)')
		BETWEEN 0.5 AND 2 AS gathered;
SET max_parallel_workers_per_gather = 0;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE constant(*) (SFUNC = cf_clear, STYPE = cuckoofilter, INITCOND = %L)', cf_new());
END $$;
SELECT estimate('SELECT 1 FROM distinct_ WHERE (SELECT constant(*) FROM lists) @> v') AS no_elements;
DROP AGGREGATE constant(*);
-- one from a table: half of the rows that are not null
SELECT estimate('SELECT 1 FROM distinct_ WHERE (SELECT f FROM lists LIMIT 1) @> v') AS from_table,
	estimate('SELECT 1 FROM skewed WHERE cf_contains((SELECT f FROM lists LIMIT 1), v)')
		BETWEEN 14500 AND 15500 AS less_nulls,
	estimate('SELECT 1 FROM distinct_ JOIN lists ON f @> v WHERE name = ''tens''') AS joined,
	estimate('SELECT 1 FROM distinct_ JOIN lists ON cf_contains(f, v) WHERE name = ''tens''') AS joined;
-- several elements, as if they were independent; an array that is not listed gets what PostgreSQL gives to any function
CREATE TABLE twins AS SELECT i AS a, i * 7919 % 60013 AS b FROM generate_series(1, 60000) i;
ANALYZE twins;
SELECT condition,
	factor('SELECT 1 FROM twins WHERE ' || format(condition, filter_of('SELECT generate_series(1, 12000)')))
		BETWEEN 0.5 AND 2 AS right_
FROM unnest(ARRAY['cf_contains_any(%s, ARRAY[a, b])', 'NOT cf_contains_any(%s, ARRAY[a, b])',
	'cf_contains_all(%s, ARRAY[a, b])',
	'NOT cf_contains_all(%s, ARRAY[a, b])']) condition;
DROP TABLE twins;
SELECT estimate('SELECT 1 FROM distinct_ WHERE cf_contains_any(' || filter_of('SELECT 1')
	|| ', string_to_array(t, '' ''))') AS not_listed;
-- an expression without statistics: few items are few rows, as for "= ANY", but not more than half
SELECT items,
	estimate('SELECT 1 FROM distinct_ WHERE '
		|| filter_of(format('SELECT i::text FROM generate_series(1, %s) i', items)) || ' @> lower(t)') AS rows
FROM unnest(ARRAY[1, 10, 100, 10000]) items;
-- a filter of other values, one of more than the column has, one that regular data hides from the histogram
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT -generate_series(1, 30000)') || ' @> v')
	< 3000 AS others,
	estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT -generate_series(1, 100000)') || ' @> v')
		< 3000 AS more_others;
CREATE TABLE small AS SELECT i AS v, md5(i::text) AS t FROM generate_series(1, 10000) i;
ANALYZE small;
SELECT factor('SELECT 1 FROM small WHERE ' || filter_of('SELECT generate_series(10, 10000, 10)') || ' @> v')
	BETWEEN 0.5 AND 2 AS tens,
	factor('SELECT 1 FROM small WHERE ' || filter_of('SELECT md5(i::text) FROM generate_series(1, 10000, 2) i')
		|| ' @> t') BETWEEN 0.5 AND 2 AS half,
	estimate('SELECT 1 FROM small WHERE ' || filter_of('SELECT md5(i::text) FROM generate_series(-9000, 0) i')
		|| ' @> t') < 500 AS others;
-- the histogram is not more precise by chance: the number of items is right
SELECT s,
	factor('SELECT 1 FROM small WHERE '
		|| filter_of(format('SELECT md5(i::text) FROM generate_series(1, 10000, %s) i', s)) || ' @> t')
		BETWEEN 0.99 AND 1.01 AS right_
FROM generate_series(2, 9) s;
DROP TABLE small;
-- partitions share the filter's items
CREATE TABLE parted (v int, t text) PARTITION BY LIST (t);
DO $$
BEGIN
	FOR i IN 1..10 LOOP
		EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%L)', i, i);
	END LOOP;
END $$;
INSERT INTO parted SELECT i, i % 10 + 1 FROM generate_series(1, 50000) i;
ANALYZE parted;
SELECT factor('SELECT 1 FROM parted WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 5000) i), v)')
	BETWEEN 0.5 AND 2 AS aggregated,
	factor('SELECT 1 FROM parted WHERE ' || filter_of('SELECT generate_series(1, 5000)') || ' @> v')
		BETWEEN 0.5 AND 2 AS constant,
	factor('SELECT 1 FROM parted WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 50000) i), v)')
		BETWEEN 0.5 AND 2 AS "all",
	factor('SELECT 1 FROM parted WHERE t = ''7'' AND ' || filter_of('SELECT generate_series(6, 50000, 10)') || ' @> v')
		BETWEEN 0.5 AND 2 AS one;
DROP TABLE parted;
-- partitions by a day that says nothing of the key, alone and joined; some of them; each day's own keys; rare keys
CREATE TABLE dim AS SELECT k, k % 50 AS category FROM generate_series(0, 4999) k;
ANALYZE dim;
DO $$
BEGIN
	FOR days IN 10..30 BY 20 LOOP
		EXECUTE format('CREATE TABLE days_%s (day int, k int, c varchar, own int, rare int) PARTITION BY LIST (day)',
			days);
		FOR day IN 0..days - 1 LOOP
			EXECUTE format('CREATE TABLE days_%s_%s PARTITION OF days_%1$s FOR VALUES IN (%2$s)', days, day);
		END LOOP;
		EXECUTE format('INSERT INTO days_%s SELECT i %% %1$s, k, k, i %% %1$s * 100 + k %% 100, i %% 15001
			FROM generate_series(1, 60000) i, LATERAL (SELECT hashint4(i) & 4095) s(k)', days);
		EXECUTE format('ANALYZE days_%s', days);
	END LOOP;
END $$;
SELECT days, condition,
	factor(format('SELECT 1 FROM days_%s t WHERE cf_contains((SELECT cf_agg(k) FROM dim WHERE %2$s), t.k)', days,
		condition))
		BETWEEN 0.5 AND 2 AS alone,
	factor(format('SELECT 1 FROM days_%s t JOIN dim USING (k)
		WHERE %2$s AND cf_contains((SELECT cf_agg(k) FROM dim WHERE %2$s), t.k)', days, condition))
		BETWEEN 0.5 AND 2 AS joined
FROM unnest(ARRAY[10, 30]) days, unnest(ARRAY['category = 7', 'category < 20', 'dim.k < 1000']) condition;
SELECT condition,
	factor(format('SELECT 1 FROM days_30 WHERE cf_contains((SELECT cf_agg(%s) FROM %s', elements, condition))
		BETWEEN 0.5 AND 2 AS right_
FROM (VALUES ('k', 'dim WHERE category = 7), k) AND day < 3'), ('i', 'generate_series(0, 149) i), own) AND day < 3'),
	('i', 'generate_series(0, 1499) i), own)'), ('i', 'generate_series(0, 1499) i), rare)'),
	('k::text', 'dim WHERE category = 7), c)')) t (elements, condition);
-- partitions of different sizes by the key itself; UNION ALL, for which there are no statistics of the whole
CREATE TABLE ranges (k int) PARTITION BY RANGE (k);
CREATE TABLE ranges_1 PARTITION OF ranges FOR VALUES FROM (0) TO (100);
CREATE TABLE ranges_2 PARTITION OF ranges FOR VALUES FROM (100) TO (5000);
INSERT INTO ranges SELECT CASE WHEN i % 2 = 0 THEN i / 2 % 100 ELSE i % 4900 + 100 END FROM generate_series(1, 60000) i;
ANALYZE ranges;
SELECT factor('SELECT 1 FROM ranges t WHERE cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 7), k)')
	BETWEEN 0.5 AND 2 AS by_key;
DROP TABLE ranges;
SELECT estimate('SELECT 1 FROM (SELECT v FROM distinct_ UNION ALL SELECT v FROM distinct_) s '
	'WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 6000) i), v)') BETWEEN 6000 AND 12000 AS "union all";
DROP TABLE dim, days_10, days_30;
-- sub-partitions; a filter from partitions
CREATE TABLE tree (a int, v int) PARTITION BY LIST (a);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES IN (0, 1) PARTITION BY LIST (a);
CREATE TABLE tree_10 PARTITION OF tree_1 FOR VALUES IN (0);
CREATE TABLE tree_11 PARTITION OF tree_1 FOR VALUES IN (1);
CREATE TABLE tree_2 PARTITION OF tree FOR VALUES IN (2);
INSERT INTO tree SELECT i % 3, i FROM generate_series(1, 30000) i;
ANALYZE tree;
SELECT factor('SELECT 1 FROM tree WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 30000) i), v)')
	BETWEEN 0.95 AND 1.05 AS tree,
	factor('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT cf_agg(v) FROM tree WHERE v <= 5000), v)')
		BETWEEN 0.5 AND 2 AS from_partitions,
	estimate('SELECT 1 FROM distinct_
		WHERE (SELECT cf_agg(1)
			FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b, generate_series(1, 10000000) c) @> v')
		> 0 AS huge;
DROP TABLE tree;
-- A filter on a join key that repeats the join is not counted twice. There are a thousand keys; dim's category 7 has a
-- fiftieth.
CREATE TABLE fact AS SELECT i % 1000 AS k, i % 1000 AS copy, (i % 1000)::text AS t, (i % 1000)::varchar AS c, i AS v
FROM generate_series(0, 49999) i;
CREATE TABLE dim AS SELECT k, k::text AS t, k::varchar AS c, k % 50 AS category, k % 3 AS third
FROM generate_series(0, 999) k;
ANALYZE fact, dim;
INSERT INTO lists SELECT 'keys', cf_agg(k) FROM dim WHERE category = 7;
-- in a query, [x] is a filter of category 7, built in it, and [stored] one from a table
CREATE FUNCTION joined(conditions text, tables text DEFAULT 'fact JOIN dim USING (k)') RETURNS text LANGUAGE sql AS
	$$SELECT regexp_replace(replace(format('SELECT 1 FROM %s WHERE %s', tables, conditions), '[stored]',
		'(SELECT f FROM lists WHERE name = ''keys'')'),
		'\[(.)\]', '(SELECT cf_agg(\1) FROM dim WHERE category = 7)', 'g')$$;
SELECT conditions, factor(joined(conditions)) BETWEEN 0.5 AND 2 AS right_
FROM unnest(ARRAY['category = 7', 'category = 7 AND cf_contains([k], fact.k)', 'category = 7 AND [k] @> fact.k',
	'fact.k <@ [k] AND category = 7',
	'category = 7 AND cf_contains([stored], fact.k)',
	'category = 7 AND cf_contains([k], fact.k) AND fact.k <@ [stored]', 'cf_contains([k], dim.k)',
	'cf_contains([k], fact.k) AND cf_contains([k], dim.k)', 'category = 7 AND cf_contains([k], fact.k) AND v < 25000',
	-- of another column than the key
	'category = 7 AND cf_contains((SELECT cf_agg(v) FROM generate_series(0, 4999) v), v)']) conditions;
-- of text, by a foreign key, from partitions; the scan's own estimate is as it was
SELECT factor(joined('category = 7 AND cf_contains([t], fact.t)', 'fact JOIN dim USING (t)')) BETWEEN 0.5 AND 2 AS text,
	factor(joined('category = 7 AND cf_contains([c], fact.c)', 'fact JOIN dim USING (c)')) BETWEEN 0.5 AND 2 AS varchar,
	factor(joined('category = 7 AND cf_contains([c], fact.c::text)', 'fact JOIN dim ON fact.c = dim.t'))
		BETWEEN 0.5 AND 2 AS both,
	factor(joined('cf_contains([k], k)', 'fact')) BETWEEN 0.5 AND 2 AS scan;
-- a semi-join costs what it does beside a filter on another column of the same values
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (plan_of(query) ->> 'Total Cost')::float8
$$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT cost(joined('EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND category = 7) AND cf_contains([stored], fact.k)',
	'fact'))
	= cost(joined('EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND category = 7) AND cf_contains([stored], fact.copy)',
		'fact')) AS semi_join;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT factor(joined('EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND cf_contains([k], dim.k))', 'fact'))
	BETWEEN 0.5 AND 2 AS tested_inside,
	factor(joined('third IS NULL AND cf_contains(cf_new(), fact.k)')) AS no_row;
DROP FUNCTION cost;
ALTER TABLE dim ADD PRIMARY KEY (k);
ALTER TABLE fact ADD FOREIGN KEY (k) REFERENCES dim;
SELECT factor(joined('category = 7 AND cf_contains([k], fact.k)')) BETWEEN 0.5 AND 2 AS foreign_key,
	factor(joined('category = 7')) BETWEEN 0.5 AND 2 AS without;
-- a foreign key of two columns says more than the clauses
CREATE TABLE pairs AS SELECT k, k % 50 AS category FROM fact;
ALTER TABLE dim ADD UNIQUE (k, category);
ALTER TABLE pairs ADD FOREIGN KEY (k, category) REFERENCES dim (k, category);
ANALYZE pairs;
SELECT factor(joined('cf_contains((SELECT cf_agg(k) FROM dim), pairs.k)', 'pairs JOIN dim USING (k, category)'))
	BETWEEN 0.5 AND 2 AS two_columns;
DROP TABLE pairs;
CREATE TABLE parts (LIKE fact) PARTITION BY RANGE (v);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (25000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (25000) TO (50000);
INSERT INTO parts SELECT * FROM fact;
ANALYZE parts;
SELECT factor(joined('category = 7 AND cf_contains([k], fact.k)', 'parts fact JOIN dim USING (k)'))
	BETWEEN 0.5 AND 2 AS partitions;
DROP TABLE parts;
-- a filter of other keys: at most as many as without; NOT is left alone, and so are outer joins
SELECT estimate(joined('third = 1 AND cf_contains([k], fact.k)')) / estimate(joined('third = 1'))
	BETWEEN 0.02 AND 0.1 AS independent,
	estimate(joined('category = 8 AND cf_contains([k], fact.k)')) / estimate(joined('category = 8'))
		BETWEEN 0.5 AND 1.01 AS unrelated,
	estimate(joined('category = 8 AND NOT cf_contains([k], fact.k)')) / estimate(joined('category = 8'))
		BETWEEN 0.95 AND 1 AS "not",
	factor(joined('cf_contains([k], fact.k)', 'fact LEFT JOIN dim ON dim.k = fact.k AND category = 7'))
		BETWEEN 0.5 AND 2 AS left_join;
SELECT round((estimate(joined('third = 1 AND NOT cf_contains((SELECT cf_agg(k) FROM dim WHERE third = 2), fact.k)'))
	/ estimate(joined('third = 1')))::numeric, 1) AS "not", 0.7 AS two_thirds;
-- more than two tables with one key
SELECT factor(joined('d.category = 7 AND cf_contains([k], fact.k)', 'fact JOIN dim d USING (k) JOIN dim e USING (k)'))
	BETWEEN 0.5 AND 2 AS "of one",
	factor(joined('d.category = 7 AND e.category = 7 AND cf_contains([k], fact.k)',
		'fact JOIN dim d USING (k) JOIN dim e USING (k)')) <= 2 AS "of two";
DROP TABLE fact, dim;
-- a star: each filter leaves a fifth of the rows, and each table of keys is joined to the rows that all filters leave
CREATE TABLE star AS SELECT i % 5 + 5 * (i * 3 / 7 % 200) AS k1, i / 5 % 5 + 5 * (i * 5 / 7 % 200) AS k2,
	i / 25 % 5 + 5 * (i * 11 / 7 % 200) AS k3, i / 125 % 5 + 5 * (i * 13 / 7 % 200) AS k4
FROM generate_series(0, 49999) i;
CREATE TABLE point AS SELECT k, k % 5 AS fifth FROM generate_series(0, 999) k;
ANALYZE star, point;
CREATE FUNCTION joins(query text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(m[1], ', ') FROM regexp_matches(plan_of(query)::text, 'Nested Loop|Hash Join|Merge Join', 'g') m
$$;
SELECT 'SELECT 1 FROM star' || string_agg(format(' JOIN point p%1$s ON p%1$s.k = k%1$s', i), '') || ' WHERE '
		|| string_agg(format('p%s.fifth = 1', i), ' AND ') AS star,
	string_agg(format(' AND cf_contains((SELECT cf_agg(k) FROM point WHERE fifth = 1), k%s)', i), '') AS filters
FROM generate_series(1, 4) i \gset
SELECT joins(:'star' || :'filters'), factor(:'star' || :'filters') BETWEEN 0.3 AND 3 AS right_,
	factor(:'star') BETWEEN 0.3 AND 3 AS without;
DROP FUNCTION joined, joins;
DROP TABLE star, point;

-- what fails when it runs, or would, is no error before
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT ''x''') || ' @> v') > 0 AS other_family;
-- for other types only the number of items is known: statistics of another type cannot be probed
SELECT members,
	estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT ' || members || ' FROM generate_series(1, 30000) i')
		|| ' @> n') BETWEEN 24000 AND 36000 AS by_number
FROM unnest(ARRAY['i::numeric', '''10.0.0.0''::inet + i', 'int4range(i, i + 1)', '-i', '''x'' || i']) members;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE odd_types AS
	SELECT '{}'::json AS j, '(1,2)'::point AS p, ARRAY['sad'::mood] AS m, 'sad'::mood AS e, cf_new() AS f
FROM generate_series(1, 100);
ANALYZE odd_types;
SELECT col,
	estimate('SELECT 1 FROM odd_types WHERE ' || filter_of('SELECT 1.5') || ' @> ' || col)
		BETWEEN 1 AND 100 AS any_estimate
FROM unnest(ARRAY['j', 'p', 'm', 'f']) col;
SELECT factor('SELECT 1 FROM odd_types WHERE ' || filter_of('SELECT ''sad''::text') || ' @> e') AS enum;
DROP TABLE odd_types;
DROP TYPE mood;
-- nor is anything taken for a filter that is none
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, RESTRICT = cuckoo_contains_sel,
	JOIN = cuckoo_contains_joinsel);
SELECT estimate('SELECT 1 FROM distinct_ WHERE 12345678 === v') AS no_filter,
	estimate('SELECT 1 FROM distinct_ WHERE v === 12345678') AS no_filter;
DROP OPERATOR === (int, int);
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

-- a cheap condition comes before an expensive one, an operator before a test with a filter from each row
CREATE FUNCTION dear(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN true; END$$;
CREATE FUNCTION first_of(condition text) RETURNS text LANGUAGE sql AS $$
	SELECT substring(plan_of('SELECT 1 FROM (SELECT 1 AS v, f FROM lists OFFSET 0) s WHERE ' || condition) ->> 'Filter'
		FROM 'cf_contains|dear|<@|@>|%|=')
$$;
SELECT first_of('dear(v) AND cf_contains((SELECT f FROM lists LIMIT 1), v)'),
	first_of('dear(v) AND v <@ (SELECT f FROM lists LIMIT 1)'),
	first_of('dear(v) AND f @> v'), first_of('f @> v AND v % 2 = 1'), first_of('cf_contains(f, v) AND v % 2 = 1'),
	first_of('(SELECT f FROM lists LIMIT 1) @> v AND v % 2 = 1');
-- a comparison before a test, however they are written
SELECT condition, first_of(regexp_replace(condition, '\mf\M', '(SELECT f FROM lists LIMIT 1)')) FROM unnest(ARRAY[
	'v = 5 AND cf_contains(f, v)', 'cf_contains(f, v) AND v = 5', 'v = 5 AND NOT cf_contains(f, v)',
	'NOT cf_contains(f, v) AND v = 5',
	'v = 5 AND f @> v', 'f @> v AND v = 5', 'NOT f @> v AND v = 5', 'v = 5 AND v <@ f', 'v <@ f AND v = 5',
	'NOT v <@ f AND v = 5']) condition;
DROP FUNCTION dear, first_of, factor, filter_of, estimate;
DROP TABLE lists, skewed, distinct_;
RESET default_statistics_target;
RESET max_parallel_workers_per_gather;
