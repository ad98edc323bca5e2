-- Arrays of elements at once: one detoast, one rewrite, all or nothing.

-- ---- lookups ----

-- null elements are neither found nor missing
SELECT name, value, truth FROM cf_add_all(cf_new(), ARRAY[1, 2, NULL]) f, LATERAL (VALUES
	('each', cf_contains_each(f, ARRAY[1, 2, NULL, 4])::text, '{t,t,NULL,f}'),
	('any, one is in', cf_contains_any(f, ARRAY[9, 8, 1])::text, 'true'),
	('any, none is in', cf_contains_any(f, ARRAY[9, 8, NULL])::text, 'false'),
	('all', cf_contains_all(f, ARRAY[1, NULL, 2])::text, 'true'),
	('all, one is not in', cf_contains_all(f, ARRAY[1, 9])::text, 'false')) v(name, value, truth);
-- the result has the shape of the array; bare literals are text; an empty array has no element
SELECT name, value, truth FROM cf_add_all(cf_new(), '{a,b,c}') f, LATERAL (VALUES
	('shape', cf_contains_each(f, '{{a,b},{c,NULL}}')::text, '{{t,t},{t,NULL}}'),
	('bounds', cf_contains_each(f, '[5:6]={a,x}')::text, '[5:6]={t,f}'),
	('each of none', cf_contains_each(f, '{}')::text, '{}'),
	('any of none', cf_contains_any(f, '{}')::text, 'false'),
	('all of none', cf_contains_all(f, '{}')::text, 'true')) v(name, value, truth);
-- null for a null filter or array
SELECT name, value FROM (VALUES ('each', cf_contains_each(NULL::cuckoofilter, '{a}')::text),
	('any', cf_contains_any(cf_new(), NULL::int[])::text), ('add', cf_add_all(NULL, ARRAY[1])::text)) v(name, value);

-- ---- changes ----

-- a null array, and a null element, change nothing
SELECT name, seen(value) AS value, seen(f) AS truth FROM cf_add(cf_new(), 1) f, LATERAL (VALUES
	('add', cf_add_all(f, NULL::int[])), ('delete', cf_delete_all(f, '{NULL}'::int[]))) v(name, value);
-- each element gets as many copies as the array has, at most two; add_unique gives one copy
SELECT name, value, truth FROM cf_add_all(cf_new(), ARRAY[1, 2, 2, 3, 3, 3]) f, LATERAL (VALUES
	('once', cf_count(f, 1), 1), ('twice', cf_count(f, 2), 2), ('three times', cf_count(f, 3), 2),
	('items', cf_count(f), 5)) v(name, value, truth);
SELECT name, value, truth FROM cf_add_unique_all(cf_new(), ARRAY[1, 2, 2]) f, LATERAL (VALUES
	('once', cf_count(f, 1), 1), ('twice', cf_count(f, 2), 1), ('items', cf_count(f), 2)) v(name, value, truth);
SELECT cf_contains_each(cf_delete_all(f, ARRAY[1, 3, 4]), ARRAY[1, 2, 3]) AS "left", '{f,t,f}' AS truth
FROM cf_add_all(cf_new(), ARRAY[1, 2, 3]) f;
-- the same as one by one, growing on the way
SELECT seen(cf_add_all(cf_new(100, 0.0001), ARRAY(SELECT generate_series(1, 2000)))) AS at_once,
	seen(filled(cf_new(100, 0.0001), 2000)) AS truth;

-- ---- stored filters ----

-- small arrays read slices, large arrays read the whole filter
CREATE TABLE shelf AS SELECT cf_agg(i) AS f FROM generate_series(1, 100000) i;
SELECT n, (SELECT count(*)
	FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(-n, n)))) AS found WHERE found) - n AS false_positives
FROM shelf, unnest(ARRAY[1, 3, 100, 50000]) n ORDER BY n;
SELECT cf_contains_each(f, ARRAY[5, -5, NULL, 6]) AS slices FROM shelf;
SELECT cf_contains_all(f, ARRAY[5, 6]) AS slices FROM shelf;
-- from a subquery, and in memory, where 5 is deleted
SELECT cf_contains_each((SELECT f FROM shelf), ARRAY[5, -5]) AS subquery, cf_contains_each(f, ARRAY[[5, -5]]) AS memory
FROM (SELECT cf_delete_all(f, ARRAY[5, 6]) AS f FROM shelf) s;
-- a call that changes nothing returns its argument, also a TOASTed one
SELECT seen(f) AS before FROM shelf \gset
UPDATE shelf SET f = cf_add_unique_all(f, ARRAY[1, 2, 3]);
SELECT seen(f) AS after, :'before' AS truth FROM shelf;

-- ---- which elements are new ----

-- a repeated element is new once; the result has the shape of the array
SELECT name, value, truth FROM cf_add_unique_each(cf_new(), '{{a,b},{a,NULL}}'), LATERAL (VALUES
	('added', added::text, '{{t,t},{f,NULL}}'),
	('filter', seen(filter), seen(cf_add_all(cf_new(), '{a,b}')))) v(name, value, truth);
SELECT name, value, truth FROM cf_add(cf_new(), 'b') f, cf_add_unique_each(f, '[3:6]={b,c,b,d}') u, LATERAL (VALUES
	('added', u.added::text, '[3:6]={f,t,f,t}'),
	('filter', seen(u.filter), seen(cf_add_unique_all(f, '{b,c,b,d}')))) v(name, value, truth);
SELECT (cf_add_unique_each(f, '{b}')).added AS in_select_list, '{f}' AS truth FROM cf_add(cf_new(), 'b') f;
-- no elements, nothing new
SELECT elements, added, seen(filter) AS filter, seen(cf_new()) AS truth
FROM (VALUES ('{}'::text[]), ('{NULL,NULL}'), (NULL)) v(elements), cf_add_unique_each(cf_new(), elements);
SELECT added, filter FROM cf_add_unique_each(NULL, ARRAY[1]);
-- the new elements are added; an element that collides counts as known
SELECT count(*) FILTER (WHERE NOT new) AS known, 1000 AS at_least, cf_count(filter) AS items,
	1000 + count(*) FILTER (WHERE new) AS truth
FROM cf_add_unique_each(cf_add_all(cf_new(100, 0.0001), ARRAY(SELECT generate_series(1, 1000))),
	ARRAY(SELECT generate_series(1, 2000))), unnest(added) new GROUP BY filter;
-- stored filters: the new elements in one statement, and no row is written if none is new
CREATE TABLE seen (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO seen SELECT 1, cf_agg(i) FROM generate_series(1, 50000) i;
PREPARE see(int, int[]) AS
UPDATE seen SET f = u.filter
FROM (SELECT id, f FROM seen WHERE id = $1 FOR UPDATE) s, cf_add_unique_each(s.f, $2) u
WHERE seen.id = s.id AND true = ANY (u.added)
RETURNING (SELECT array_agg(e) FROM unnest($2, u.added) AS x(e, new) WHERE new) AS new;
EXECUTE see(1, ARRAY[1, NULL, -1, -2, 2, -1]);
EXECUTE see(1, ARRAY[1, NULL, -1, -2, 2, -1]);
SELECT cf_contains_each(f, ARRAY[-1, -2, 50000]) AS found, cf_count(f) AS items, 50002 AS truth FROM seen;
DEALLOCATE see;
DROP TABLE seen;

-- ---- the elements of another filter ----

-- the result is the sum, and grows on the way
CREATE TABLE two AS SELECT cf_agg(i, 100000, 0.001) FILTER (WHERE i >= 1) AS a,
	cf_agg(i, 100000, 0.001) FILTER (WHERE i <= 1) AS b FROM generate_series(-3000, 2000) i;
SELECT name, seen(cf_canonical(value)) AS value, seen(cf_union_all(a, b)) AS truth
FROM two, LATERAL (VALUES ('b to a', cf_add_filter(a, b)), ('a to b', cf_add_filter(b, a))) v(name, value);
SELECT name, value, truth FROM two, cf_add_filter(a, b) sum, LATERAL (VALUES
	('copies of an element of both', cf_count(sum, 1), 2), ('copies of an element of one', cf_count(sum, 2), 1),
	('growth level', (cf_info(sum)).growth_level, (cf_info(a)).growth_level + 1)) v(name, value, truth);
DROP TABLE two;
-- an empty or unsized filter adds nothing, and becomes the other filter; a null filter adds nothing
SELECT name, seen(value) AS value, seen(f) AS truth
FROM cf_add(cf_new(100, 0.01, 7), 1) f, (SELECT cf_agg(1) FILTER (WHERE false) AS none) n, LATERAL (VALUES
	('to unsized', cf_add_filter(none, f)), ('to empty', cf_add_filter(cf_new(100, 0.01, 7), f)),
	('of unsized', cf_add_filter(f, none)), ('of empty', cf_add_filter(f, cf_new(100, 0.01, 7))),
	('of null', cf_add_filter(f, NULL))) v(name, value);
-- null for null
SELECT cf_add_filter(NULL, cf_add(cf_new(), 1)) IS NULL AS value, true AS truth;
-- two empty filters: the result has the geometry of the first filter
SELECT seen(cf_add_filter(f, none)) AS value, seen(f) AS truth
FROM cf_new(100, 0.01, 7) f, (SELECT cf_agg(1) FILTER (WHERE false)) n(none);
-- a stored filter grows
CREATE TABLE grows AS SELECT 1 AS id, cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 50000) i;
UPDATE grows SET f = cf_add_filter(f, (SELECT cf_agg(i, 100000, 0.001) FROM generate_series(49001, 51000) i));
SELECT seen(cf_canonical(f)) AS sum, (SELECT seen(cf_union_all(cf_agg(i, 100000, 0.001),
	cf_agg(i + 49000, 100000, 0.001) FILTER (WHERE i <= 2000))) FROM generate_series(1, 50000) i) AS truth
FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(100000, 0.001), 'x')) FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(100000, 0.001, 1), 1)) FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(1000, 0.001), 1)) FROM grows;
DROP TABLE grows;

-- ---- errors leave all as it was ----

SELECT * FROM cf_add_unique_each((SELECT f FROM shelf), ARRAY['a']);
SELECT * FROM cf_add_unique_each(cf_new(10, 0.03), ARRAY(SELECT generate_series(1, 1000)));
SELECT cf_contains_any(f, ARRAY['a']) FROM shelf;
UPDATE shelf SET f = cf_add_all(f, ARRAY['a', 'b']);
SELECT cf_add_all(cf_new(10, 0.03), ARRAY(SELECT generate_series(1, 1000)));
SELECT cf_add_all(cf_new(), ARRAY['(1,2)'::point]);
\set VERBOSITY terse
SELECT cf_contains_any(cf_new(), 5);
\set VERBOSITY default
DROP TABLE shelf;
