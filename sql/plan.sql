-- Operators, and the planner's estimates.
SET default_statistics_target = 100;
SET max_parallel_workers_per_gather = 0;

-- ---- operators ----

-- both operators find an element of any integer type
SELECT element, contains AS "@>", contained AS "<@", truth FROM cf_add_all(cf_new(), ARRAY[1, 2, 3]) f, LATERAL (VALUES
	('1', f @> 1, 1 <@ f, true),
	('4', f @> 4, 4 <@ f, false),
	('null', f @> NULL::int, NULL::int <@ f, NULL),
	('1::bigint', f @> 1::bigint, 1::bigint <@ f, true),
	('1::smallint', f @> 1::smallint, 1::smallint <@ f, true)) v(element, contains, contained, truth);
-- a literal is text
SELECT element, contains AS "@>", contained AS "<@", truth FROM cf_add_all(cf_new(), '{a,b}') f, LATERAL (VALUES
	('a', f @> 'a', 'a' <@ f, true),
	('b', f @> 'b', 'b' <@ f, true),
	('x', f @> 'x', 'x' <@ f, false),
	('a::varchar', f @> 'a'::varchar, 'a'::varchar <@ f, true)) v(element, contains, contained, truth);
-- an array is one element
SELECT f @> ARRAY[1, 2] AS present, ARRAY[2, 1] <@ f AS absent FROM cf_add(cf_new(), ARRAY[1, 2]) f;
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
-- 70 tens, 100 sevens, 10 of both
SELECT count(*), 70 + 100 - 10 AS truth FROM generate_series(1, 700) i WHERE i <@ ANY (SELECT f FROM lists);
SELECT count(*), 160 AS truth FROM generate_series(1, 700) i WHERE EXISTS (SELECT FROM lists WHERE f @> i);
SELECT count(*), 700 - 160 AS truth FROM generate_series(1, 700) i
	WHERE NOT EXISTS (SELECT FROM lists WHERE cf_contains(f, i));
SELECT name, count(i) FROM lists LEFT JOIN generate_series(1, 700) i ON f @> i GROUP BY name ORDER BY name;

-- ---- estimates ----

-- seven tenths of "skewed" are 14 values, one eleventh is null
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
-- all conditions, for integers, text and numeric: at most twice or half of the rows
SELECT tab, members, condition, count(*) AS estimates, within(min(factor), 0.5, 2) AS least,
	within(max(factor), 0.5, 2) AS most
FROM (VALUES ('skewed', 'generate_series(1, 5)'), ('skewed', 'generate_series(12, 9000)'),
	('skewed', 'generate_series(1, 30000, 7)'), ('skewed', 'generate_series(100, 30000)'),
	('distinct_', 'generate_series(1, 600)'), ('distinct_', 'generate_series(1, 6000)'),
	('distinct_', 'generate_series(1, 60000, 2)'), ('distinct_', 'generate_series(1, 60000)')) w (tab, members),
	(VALUES ('cf_contains(%s, %s)'), ('%s @> %s'), ('%2$s <@ %1$s'), ('NOT cf_contains(%s, %s)'),
		('(%s @> %s) IS NOT TRUE'), ('(%2$s <@ %1$s) IS TRUE')) c (condition),
	unnest(ARRAY['v', 't', 'n']) col,
	LATERAL (SELECT factor(format('SELECT 1 FROM %s WHERE ', tab) || format(condition,
		filter_of(format('SELECT %s FROM %s v',
			CASE col WHEN 't' THEN '''user '' || v' WHEN 'n' THEN 'v::numeric' ELSE 'v' END, members)),
		col)) AS factor) e
WHERE NOT (condition ~ 'NOT' AND members = 'generate_series(1, 60000)')
GROUP BY tab, members, condition
	HAVING count(*) FILTER (WHERE factor NOT BETWEEN 0.5 AND 2) > 0 OR condition = '%s @> %s' ORDER BY tab, members;
-- the parameter of a custom plan, even if it is null; an empty filter
PREPARE test(cuckoofilter) AS SELECT 1 FROM distinct_ WHERE $1 @> v;
SELECT within(estimate(format('EXECUTE test(%s)', filter_of('SELECT generate_series(1, 3000)'))), 2850, 3250)
	AS of_3000;
SELECT estimate('EXECUTE test(NULL)') AS of_null, 0 AS truth;
DEALLOCATE test;
SELECT estimate('SELECT 1 FROM distinct_ WHERE cf_contains(current_setting(''regress.none'', true)::cuckoofilter, v)')
	AS of_stable_null, 1 AS truth;
SELECT estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT 1 WHERE false') || ' @> v') AS of_empty,
	1 AS truth;
-- a filter that a sub-select aggregates: its items are the input rows
SELECT test, within(factor('SELECT 1 FROM distinct_ WHERE cf_contains((' || test || '), v)'), 0.5, 2) AS factor
FROM unnest(ARRAY['SELECT cf_agg(v) FROM distinct_ WHERE v <= 5000',
	'SELECT cf_agg(v, 1000, 0.001) FROM generate_series(1, 400) v']) test;
-- around a sub-select
SELECT within(factor('SELECT 1 FROM (SELECT v FROM distinct_ GROUP BY v) s
	WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 1000) i), v)'), 0.5, 2) AS factor;
-- the items of other filters are unknown: half of the rows
SELECT filter, estimate(format('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT %s), v)', filter)), 30000 AS half
FROM unnest(ARRAY['cf_agg(v) FILTER (WHERE v < 10) FROM distinct_', 'cf_union_agg(f) FROM lists',
	'cf_canonical(cf_agg(v)) FROM distinct_']) filter;
-- workers aggregate the filter, or gather its rows
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT filter, within(factor(format('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT %s FROM distinct_), v)',
	filter)), 0.95, 1.05) AS factor
FROM unnest('{cf_agg(v),cf_agg(v ORDER BY v)}'::text[]) filter;
SET max_parallel_workers_per_gather = 0;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
-- an aggregate without arguments
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE constant(*) (SFUNC = cf_clear, STYPE = cuckoofilter, INITCOND = %L)', cf_new());
END $$;
SELECT estimate('SELECT 1 FROM distinct_ WHERE (SELECT constant(*) FROM lists) @> v'), 30000 AS half;
DROP AGGREGATE constant(*);
-- a filter from a table: half of the rows that are not null
SELECT query, within(estimate('SELECT 1 FROM ' || query), low, high) AS estimate FROM (VALUES
	('distinct_ WHERE (SELECT f FROM lists LIMIT 1) @> v', 30000, 30000),
	('skewed WHERE cf_contains((SELECT f FROM lists LIMIT 1), v)', 14500, 15500),
	('distinct_ JOIN lists ON f @> v WHERE name = ''tens''', 30000, 30000),
	('distinct_ JOIN lists ON cf_contains(f, v) WHERE name = ''tens''', 30000, 30000)) v(query, low, high);
-- several elements, as if they were independent
CREATE TABLE twins AS SELECT i AS a, i * 7919 % 60013 AS b FROM generate_series(1, 60000) i;
ANALYZE twins;
SELECT condition, within(factor('SELECT 1 FROM twins WHERE '
	|| format(condition, filter_of('SELECT generate_series(1, 12000)'))), 0.5, 2) AS factor
FROM unnest(ARRAY['cf_contains_any(%s, ARRAY[a, b])', 'NOT cf_contains_any(%s, ARRAY[a, b])',
	'cf_contains_all(%s, ARRAY[a, b])', 'NOT cf_contains_all(%s, ARRAY[a, b])']) condition;
DROP TABLE twins;
-- an array that is not listed: a third of the rows, as PostgreSQL estimates any function
SELECT estimate('SELECT 1 FROM distinct_ WHERE cf_contains_any(' || filter_of('SELECT 1')
	|| ', string_to_array(t, '' ''))'), 20000 AS third;
-- an expression without statistics: few items are few rows, as for "= ANY", but not more than half
SELECT items, estimate('SELECT 1 FROM distinct_ WHERE '
	|| filter_of(format('SELECT i::text FROM generate_series(1, %s) i', items)) || ' @> lower(t)'),
	least(items * 300, 30000) AS truth
FROM unnest(ARRAY[1, 10, 100, 10000]) items;
-- values that the column does not have, even if they are more than its rows
SELECT members, within(estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT ' || members) || ' @> v'),
	0, 2999) AS estimate
FROM unnest(ARRAY['-generate_series(1, 30000)', '-generate_series(1, 100000)']) members;
CREATE TABLE small AS SELECT i AS v, md5(i::text) AS t FROM generate_series(1, 10000) i;
ANALYZE small;
SELECT within(estimate('SELECT 1 FROM small WHERE '
	|| filter_of('SELECT md5(i::text) FROM generate_series(-9000, 0) i') || ' @> t'), 0, 499) AS estimate;
-- regular data may be hidden from the histogram
SELECT col, members, within(factor('SELECT 1 FROM small WHERE ' || filter_of('SELECT ' || members) || ' @> ' || col),
	0.5, 2) AS factor
FROM (VALUES ('v', 'generate_series(10, 10000, 10)'), ('t', 'md5(i::text) FROM generate_series(1, 10000, 2) i'))
	v(col, members);
-- the histogram is not more precise by chance: the number of items is right
SELECT step, within(factor('SELECT 1 FROM small WHERE '
	|| filter_of(format('SELECT md5(i::text) FROM generate_series(1, 10000, %s) i', step)) || ' @> t'), 0.99, 1.01)
	AS factor
FROM generate_series(2, 9) step;
DROP TABLE small;

-- ---- estimates for partitions ----

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
SELECT rows, within(factor('SELECT 1 FROM parted WHERE ' || condition), 0.5, 2) AS factor FROM (VALUES
	('some, aggregated', 'cf_contains((SELECT cf_agg(i) FROM generate_series(1, 5000) i), v)'),
	('some, constant', filter_of('SELECT generate_series(1, 5000)') || ' @> v'),
	('all', 'cf_contains((SELECT cf_agg(i) FROM generate_series(1, 50000) i), v)'),
	('one partition', 't = ''7'' AND ' || filter_of('SELECT generate_series(6, 50000, 10)') || ' @> v')
) v(rows, condition);
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
	within(factor(format('SELECT 1 FROM days_%s t WHERE cf_contains((SELECT cf_agg(k) FROM dim WHERE %2$s), t.k)',
		days, condition)), 0.5, 2) AS alone,
	within(factor(format('SELECT 1 FROM days_%s t JOIN dim USING (k)
		WHERE %2$s AND cf_contains((SELECT cf_agg(k) FROM dim WHERE %2$s), t.k)', days, condition)), 0.5, 2) AS joined
FROM unnest(ARRAY[10, 30]) days, unnest(ARRAY['category = 7', 'category < 20', 'dim.k < 1000']) condition;
SELECT condition, within(factor('SELECT 1 FROM days_30 WHERE ' || condition), 0.5, 2) AS factor FROM unnest(ARRAY[
	'cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 7), k) AND day < 3',
	'cf_contains((SELECT cf_agg(i) FROM generate_series(0, 149) i), own) AND day < 3',
	'cf_contains((SELECT cf_agg(i) FROM generate_series(0, 1499) i), own)',
	'cf_contains((SELECT cf_agg(i) FROM generate_series(0, 1499) i), rare)',
	'cf_contains((SELECT cf_agg(k::text) FROM dim WHERE category = 7), c)']) condition;
-- partitions of different sizes by the key
CREATE TABLE ranges (k int) PARTITION BY RANGE (k);
CREATE TABLE ranges_1 PARTITION OF ranges FOR VALUES FROM (0) TO (100);
CREATE TABLE ranges_2 PARTITION OF ranges FOR VALUES FROM (100) TO (5000);
INSERT INTO ranges SELECT CASE WHEN i % 2 = 0 THEN i / 2 % 100 ELSE i % 4900 + 100 END FROM generate_series(1, 60000) i;
ANALYZE ranges;
SELECT within(factor('SELECT 1 FROM ranges t WHERE cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 7), k)'),
	0.5, 2) AS factor;
DROP TABLE dim, days_10, days_30, ranges;
-- UNION ALL has no statistics of the whole
SELECT within(estimate('SELECT 1 FROM (SELECT v FROM distinct_ UNION ALL SELECT v FROM distinct_) s
	WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 6000) i), v)'), 6000, 12000) AS estimate;
-- sub-partitions; a filter from partitions
CREATE TABLE tree (a int, v int) PARTITION BY LIST (a);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES IN (0, 1) PARTITION BY LIST (a);
CREATE TABLE tree_10 PARTITION OF tree_1 FOR VALUES IN (0);
CREATE TABLE tree_11 PARTITION OF tree_1 FOR VALUES IN (1);
CREATE TABLE tree_2 PARTITION OF tree FOR VALUES IN (2);
INSERT INTO tree SELECT i % 3, i FROM generate_series(1, 30000) i;
ANALYZE tree;
SELECT within(factor('SELECT 1 FROM tree WHERE cf_contains((SELECT cf_agg(i) FROM generate_series(1, 30000) i), v)'),
	0.95, 1.05) AS factor;
SELECT within(factor('SELECT 1 FROM distinct_ WHERE cf_contains((SELECT cf_agg(v) FROM tree WHERE v <= 5000), v)'),
	0.5, 2) AS factor;
DROP TABLE tree;
-- more rows than a number of items can be
SELECT within(estimate('SELECT 1 FROM distinct_ WHERE (SELECT cf_agg(1)
	FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b, generate_series(1, 10000000) c) @> v'), 1)
	AS estimate;

-- ---- estimates of joins ----

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
SELECT conditions, within(factor(joined(conditions)), 0.5, 2) AS factor
FROM unnest(ARRAY['category = 7', 'category = 7 AND cf_contains([k], fact.k)', 'category = 7 AND [k] @> fact.k',
	'fact.k <@ [k] AND category = 7',
	'category = 7 AND cf_contains([stored], fact.k)',
	'category = 7 AND cf_contains([k], fact.k) AND fact.k <@ [stored]', 'cf_contains([k], dim.k)',
	'cf_contains([k], fact.k) AND cf_contains([k], dim.k)', 'category = 7 AND cf_contains([k], fact.k) AND v < 25000',
	-- of another column than the key
	'category = 7 AND cf_contains((SELECT cf_agg(v) FROM generate_series(0, 4999) v), v)']) conditions;
-- of text and of varchar; the scan's own estimate is as it was
SELECT tables, conditions, within(factor(joined(conditions, tables)), 0.5, 2) AS factor FROM (VALUES
	('fact JOIN dim USING (t)', 'category = 7 AND cf_contains([t], fact.t)'),
	('fact JOIN dim USING (c)', 'category = 7 AND cf_contains([c], fact.c)'),
	('fact JOIN dim ON fact.c = dim.t', 'category = 7 AND cf_contains([c], fact.c::text)'),
	('fact', 'cf_contains([k], k)')) v(tables, conditions);
-- a semi-join costs as much as beside a filter on another column of the same values
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (plan_of(query) ->> 'Total Cost')::float8
$$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT cost(joined(semi_join || '.k)', 'fact')) / cost(joined(semi_join || '.copy)', 'fact')) AS share, 1 AS truth
FROM CAST('EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND category = 7) AND cf_contains([stored], fact' AS text)
	semi_join;
RESET enable_hashjoin;
RESET enable_mergejoin;
DROP FUNCTION cost;
-- the test is in the semi-join
SELECT within(factor(joined('EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND cf_contains([k], dim.k))', 'fact')),
	0.5, 2) AS factor;
-- no rows
SELECT factor(joined('third IS NULL AND cf_contains(cf_new(), fact.k)')), 1 AS truth;
-- by a foreign key
ALTER TABLE dim ADD PRIMARY KEY (k);
ALTER TABLE fact ADD FOREIGN KEY (k) REFERENCES dim;
SELECT conditions, within(factor(joined(conditions)), 0.5, 2) AS factor
FROM unnest(ARRAY['category = 7 AND cf_contains([k], fact.k)', 'category = 7']) conditions;
-- a foreign key of two columns says more than the clauses
CREATE TABLE pairs AS SELECT k, k % 50 AS category FROM fact;
ALTER TABLE dim ADD UNIQUE (k, category);
ALTER TABLE pairs ADD FOREIGN KEY (k, category) REFERENCES dim (k, category);
ANALYZE pairs;
SELECT within(factor(joined('cf_contains((SELECT cf_agg(k) FROM dim), pairs.k)',
	'pairs JOIN dim USING (k, category)')), 0.5, 2) AS factor;
DROP TABLE pairs;
-- from partitions
CREATE TABLE parts (LIKE fact) PARTITION BY RANGE (v);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (25000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (25000) TO (50000);
INSERT INTO parts SELECT * FROM fact;
ANALYZE parts;
SELECT within(factor(joined('category = 7 AND cf_contains([k], fact.k)', 'parts fact JOIN dim USING (k)')), 0.5, 2)
	AS factor;
DROP TABLE parts;
-- filters of independent and of unrelated keys; a condition with NOT is not adjusted
SELECT condition, test, within(estimate(joined(condition || ' AND ' || test)) / estimate(joined(condition)), low, high)
	AS share
FROM (VALUES ('third = 1', 'cf_contains([k], fact.k)', 0.02, 0.1),
	('category = 8', 'cf_contains([k], fact.k)', 0.5, 1.01),
	('category = 8', 'NOT cf_contains([k], fact.k)', 0.95, 1),
	('third = 1', 'NOT cf_contains((SELECT cf_agg(k) FROM dim WHERE third = 2), fact.k)', 0.65, 0.75)
) v(condition, test, low, high);
-- an outer join is left alone
SELECT within(factor(joined('cf_contains([k], fact.k)', 'fact LEFT JOIN dim ON dim.k = fact.k AND category = 7')),
	0.5, 2) AS factor;
-- more than two tables with one key
SELECT conditions, within(factor(joined(conditions, 'fact JOIN dim d USING (k) JOIN dim e USING (k)')), low, 2)
	AS factor
FROM (VALUES ('d.category = 7 AND cf_contains([k], fact.k)', 0.5),
	('d.category = 7 AND e.category = 7 AND cf_contains([k], fact.k)', 0)) v(conditions, low);
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
SELECT joins(:'star' || :'filters');
SELECT query, within(factor(:'star' || tests), 0.3, 3) AS factor
FROM (VALUES ('star', ''), ('with filters', :'filters')) v(query, tests);
DROP FUNCTION joined, joins;
DROP TABLE star, point;

-- ---- what the planner cannot know ----

-- a filter of another family raises an error when it runs, and not before
SELECT within(estimate('SELECT 1 FROM distinct_ WHERE ' || filter_of('SELECT ''x''') || ' @> v'), 1) AS estimate;
-- for other types only the number of items is known: statistics of another type cannot be probed
SELECT members, within(estimate('SELECT 1 FROM distinct_ WHERE '
	|| filter_of('SELECT ' || members || ' FROM generate_series(1, 30000) i') || ' @> n'), 24000, 36000) AS estimate
FROM unnest(ARRAY['i::numeric', '''10.0.0.0''::inet + i', 'int4range(i, i + 1)', '-i', '''x'' || i']) members;
-- types whose values have no hash: any estimate
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE odd_types AS
	SELECT '{}'::json AS j, '(1,2)'::point AS p, ARRAY['sad'::mood] AS m, 'sad'::mood AS e, cf_new() AS f
FROM generate_series(1, 100);
ANALYZE odd_types;
SELECT col, within(estimate('SELECT 1 FROM odd_types WHERE ' || filter_of('SELECT 1.5') || ' @> ' || col), 1, 100)
	AS estimate
FROM unnest(ARRAY['j', 'p', 'm', 'f']) col;
-- the labels of an enum are text
SELECT factor('SELECT 1 FROM odd_types WHERE ' || filter_of('SELECT ''sad''::text') || ' @> e'), 1 AS truth;
DROP TABLE odd_types;
DROP TYPE mood;
-- an operator of other types is not taken for one of a filter
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, RESTRICT = cuckoo_contains_sel,
	JOIN = cuckoo_contains_joinsel);
SELECT condition, estimate('SELECT 1 FROM distinct_ WHERE ' || condition), 30000 AS half
FROM unnest('{12345678 === v,v === 12345678}'::text[]) condition;
DROP OPERATOR === (int, int);
-- statistics are only used for those who may read all rows
CREATE ROLE cuckoo_reader;
GRANT SELECT ON skewed TO cuckoo_reader;
CREATE POLICY everything ON skewed TO cuckoo_reader USING (n <> 0 OR n = 0);
ALTER TABLE skewed ENABLE ROW LEVEL SECURITY;
SELECT within(estimate('SELECT 1 FROM skewed WHERE ' || f || ' @> v'), 1001) AS common FROM filter_of('SELECT 1') f;
SET ROLE cuckoo_reader;
SELECT within(estimate('SELECT 1 FROM skewed WHERE ' || f || ' @> v'), 0, 99) AS rare FROM filter_of('SELECT 1') f;
RESET ROLE;
ALTER TABLE skewed DISABLE ROW LEVEL SECURITY;
DROP POLICY everything ON skewed;
REVOKE SELECT ON skewed FROM cuckoo_reader;
DROP ROLE cuckoo_reader;

-- ---- the order of conditions ----

-- a cheap condition comes before an expensive one, an operator before a test with a filter from each row
CREATE FUNCTION dear(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN true; END$$;
CREATE FUNCTION first_of(condition text) RETURNS text LANGUAGE sql AS $$
	SELECT substring(plan_of('SELECT 1 FROM (SELECT 1 AS v, f FROM lists OFFSET 0) s WHERE ' || condition) ->> 'Filter'
		FROM 'cf_contains|dear|<@|@>|%|=')
$$;
SELECT condition, first_of(condition), truth FROM (VALUES
	('dear(v) AND cf_contains((SELECT f FROM lists LIMIT 1), v)', 'cf_contains'),
	('dear(v) AND v <@ (SELECT f FROM lists LIMIT 1)', '<@'), ('dear(v) AND f @> v', '@>'),
	('f @> v AND v % 2 = 1', '%'), ('cf_contains(f, v) AND v % 2 = 1', '%'),
	('(SELECT f FROM lists LIMIT 1) @> v AND v % 2 = 1', '@>')) v(condition, truth);
-- a comparison before a test, however they are written
SELECT condition, first_of(regexp_replace(condition, '\mf\M', '(SELECT f FROM lists LIMIT 1)')), '=' AS truth
FROM unnest(ARRAY['v = 5 AND cf_contains(f, v)', 'cf_contains(f, v) AND v = 5', 'v = 5 AND NOT cf_contains(f, v)',
	'NOT cf_contains(f, v) AND v = 5', 'v = 5 AND f @> v', 'f @> v AND v = 5', 'NOT f @> v AND v = 5',
	'v = 5 AND v <@ f', 'v <@ f AND v = 5', 'NOT v <@ f AND v = 5']) condition;
DROP FUNCTION dear, first_of, factor, filter_of, estimate;
DROP TABLE lists, skewed, distinct_;

-- ---- parallel plans ----

-- a constant filter is sent to the workers as text: parallel scans cost more with it, and there are none above 4 MB;
-- 005_parallel.pl has other filters
CREATE TABLE scanned AS SELECT i AS v, i % 2 AS part FROM generate_series(1, 50000) i;
CREATE TABLE parts (LIKE scanned) PARTITION BY LIST (part);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts TABLE scanned;
-- never scanned in parallel, but a worker may read all of it
CREATE TABLE whole WITH (parallel_workers = 0) AS TABLE scanned;
CREATE TABLE kept AS SELECT n, cf_agg(i, 1e-8) AS f
	FROM unnest('{100,10000,70000,900000,1200000}'::int[]) n, generate_series(1, n) i GROUP BY n;
ANALYZE scanned, parts, whole, kept;
-- cuts the lines of the plan, most of which is the text of the filter
CREATE FUNCTION is_parallel(query text, f cuckoofilter, OUT parallel boolean, OUT cost float8) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	parallel := false;
	FOR line IN EXECUTE 'EXPLAIN ' || query USING f LOOP
		line := left(line, 200);
		cost := coalesce(cost, substring(line FROM 'cost=\S+\.\.([0-9.]+)')::float8);
		parallel := parallel OR line LIKE '%Gather%';
	END LOOP;
END $$;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
-- by size, and by size alone
SELECT n, pg_column_size(f) / 1024 AS kb, parallel
FROM kept, is_parallel('SELECT count(*) FROM scanned WHERE cf_contains($1, v)', f) ORDER BY n;
SET cpu_operator_cost = 0;
SET enable_partitionwise_join = on;
SELECT query, array_agg((is_parallel(query, f)).parallel ORDER BY n) AS parallel FROM kept, unnest(ARRAY[
	'SELECT count(*) FROM scanned WHERE cf_contains($1, v)',
	'SELECT count(*) FROM scanned WHERE v <@ ANY (ARRAY[$1])',
	'SELECT count(*) FROM (SELECT * FROM scanned WHERE cf_contains($1, v) OFFSET 0) s',
	'SELECT count(*) FROM scanned JOIN (SELECT v FROM scanned WHERE cf_contains($1, v) OFFSET 0) s USING (v)',
	'SELECT count(*) FROM scanned JOIN (SELECT v FROM whole WHERE cf_contains($1, v) OFFSET 0) s USING (v)',
	-- two copies
	'SELECT count(*) FROM parts WHERE cf_contains($1, v)',
	-- by members: four copies
	'SELECT count(*) FROM parts a JOIN parts b USING (part, v) WHERE cf_contains($1, a.v) AND cf_contains($1, b.v)',
	'SELECT count(*) FROM scanned'])
	WITH ORDINALITY q(query, i) GROUP BY i, query ORDER BY i;
RESET enable_partitionwise_join;
SET cuckoo.enable_scan = off;
SELECT array_agg((is_parallel('SELECT count(*) FROM scanned WHERE cf_contains($1, v)', f)).parallel ORDER BY n)
FROM kept;
RESET cuckoo.enable_scan;
-- a literal
SELECT n, (is_parallel(format('SELECT count(*) FROM scanned WHERE cf_contains(%L::cuckoofilter, v)', f), f)).parallel
FROM kept WHERE n >= 900000 ORDER BY n;
RESET cpu_operator_cost;
-- 8 operators for each byte, for each partition its own
SET cpu_tuple_cost = 1;
SELECT name,
	within((a.cost - b.cost) / pg_column_size(f) / current_setting('cpu_operator_cost')::float8, copies * 7.5,
		copies * 12) AS cost
FROM kept, (VALUES ('scanned', 1), ('parts', 2)) v(name, copies),
	is_parallel('SELECT count(*) FROM ' || name || ' WHERE cf_contains($1, v)', f) a,
	is_parallel('SELECT count(*) FROM ' || name || ' WHERE cf_contains($1, v)', cf_new()) b
WHERE n = 10000 ORDER BY copies;
RESET cpu_tuple_cost;
DROP FUNCTION is_parallel;
DROP TABLE scanned, parts, whole, kept;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
RESET default_statistics_target;
RESET max_parallel_workers_per_gather;
