-- Arrays of elements at once: one detoast, one rewrite, all or nothing.
SELECT cf_contains_each(f, ARRAY[1, 2, NULL, 4]) AS each, cf_contains_any(f, ARRAY[9, 8, 1]) AS "any",
	cf_contains_any(f, ARRAY[9, 8, NULL]) AS none, cf_contains_all(f, ARRAY[1, NULL, 2]) AS "all",
	cf_contains_all(f, ARRAY[1, 9]) AS not_all
FROM cf_add_all(cf_new(), ARRAY[1, 2, NULL]) f;
-- of the array's shape; bare literals are text; nothing in nothing
SELECT cf_contains_each(f, '{{a,b},{c,NULL}}') AS shape, cf_contains_each(f, '[5:6]={a,x}') AS bounds,
	cf_contains_each(f, '{}') AS empty, cf_contains_any(f, '{}') AS "any", cf_contains_all(f, '{}') AS "all"
FROM cf_add_all(cf_new(), '{a,b,c}') f;
SELECT cf_contains_each(NULL::cuckoofilter, '{a}') IS NULL AS no_filter,
	cf_contains_any(cf_new(), NULL::int[]) IS NULL AS no_array,
	cf_add_all(f, NULL::int[]) = f AS add_null, cf_delete_all(f, '{NULL}'::int[]) = f AS delete_null,
	cf_add_all(NULL, ARRAY[1]) IS NULL AS to_none
FROM cf_add(cf_new(), 1) f;
-- each as often as it stands there
SELECT cf_count(f, 1) AS once, cf_count(f, 2) AS twice, cf_count(f, 3) AS thrice, cf_count(f)
FROM cf_add_all(cf_new(), ARRAY[1, 2, 2, 3, 3, 3]) f;
SELECT cf_count(f, 1) AS once, cf_count(f, 2) AS twice, cf_count(f) FROM cf_add_unique_all(cf_new(), ARRAY[1, 2, 2]) f;
SELECT cf_contains_each(cf_delete_all(f, ARRAY[1, 3, 4]), ARRAY[1, 2, 3]) AS left
FROM cf_add_all(cf_new(), ARRAY[1, 2, 3]) f;
-- the same as one by one, growing on the way
SELECT cf_add_all(cf_new(100, 0.0001), ARRAY(SELECT generate_series(1, 2000)))
	= filled(cf_new(100, 0.0001), 2000) AS same;

-- against filters in every place: stored by slices, stored whole, in memory
CREATE TABLE shelf AS SELECT cf_agg(i) AS f FROM generate_series(1, 100000) i;
SELECT (SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(-n, n)))) AS found WHERE found)
	- n AS false_positives
FROM shelf, unnest(ARRAY[1, 3, 100, 50000]) n ORDER BY n;
SELECT cf_contains_each(f, ARRAY[5, -5, NULL, 6]) AS slices, cf_contains_all(f, ARRAY[5, 6]) AS "all" FROM shelf;
SELECT cf_contains_each((SELECT f FROM shelf), ARRAY[5, -5]), cf_contains_each(f, ARRAY[[5, -5]])
FROM (SELECT cf_delete_all(f, ARRAY[5, 6]) AS f FROM shelf) s;
-- a call that changes nothing returns its argument, also a TOASTed one
UPDATE shelf SET f = cf_add_unique_all(f, ARRAY[1, 2, 3]);
SELECT cf_count(f) BETWEEN 99900 AND 100000 AS items FROM shelf;

-- which were new: as often as it stands there, once; of the array's shape
SELECT added, cf_count(filter) AS items, cf_contains_each(filter, '{{a,b},{a,NULL}}') AS each
FROM cf_add_unique_each(cf_new(), '{{a,b},{a,NULL}}');
SELECT u.added, u.filter = cf_add_unique_all(f, '{b,c,b,d}') AS same, (cf_add_unique_each(f, '{b}')).added AS in_list
FROM cf_add(cf_new(), 'b') f, cf_add_unique_each(f, '[3:6]={b,c,b,d}') u;
SELECT added, filter = cf_new() AS same FROM cf_add_unique_each(cf_new(), '{}'::text[]);
SELECT added, filter = cf_new() AS same FROM cf_add_unique_each(cf_new(), '{NULL,NULL}'::text[]);
SELECT added, filter = cf_new() AS same FROM cf_add_unique_each(cf_new(), NULL::text[]);
SELECT added, filter FROM cf_add_unique_each(NULL, ARRAY[1]);
SELECT count(*) AS new, count(*) FILTER (WHERE NOT new) AS known, cf_count(filter)
FROM cf_add_unique_each(cf_add_all(cf_new(100, 0.0001), ARRAY(SELECT generate_series(1, 1000))),
	ARRAY(SELECT generate_series(1, 2000))), unnest(added) new GROUP BY filter;
-- stored filters: what is new in one statement, and no row written where nothing is
CREATE TABLE seen (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO seen SELECT 1, cf_agg(i) FROM generate_series(1, 50000) i;
PREPARE see(int, int[]) AS
UPDATE seen SET f = u.filter
FROM (SELECT id, f FROM seen WHERE id = $1 FOR UPDATE) s, cf_add_unique_each(s.f, $2) u
WHERE seen.id = s.id AND true = ANY (u.added)
RETURNING (SELECT array_agg(e) FROM unnest($2, u.added) AS x(e, new) WHERE new) AS new;
EXECUTE see(1, ARRAY[1, NULL, -1, -2, 2, -1]);
EXECUTE see(1, ARRAY[1, NULL, -1, -2, 2, -1]);
SELECT cf_contains_all(f, ARRAY[-1, -2, 50000]) AS "all", cf_count(f) FROM seen;
DEALLOCATE see;
DROP TABLE seen;

-- the elements of another filter: the sum, growing on the way, also into stored filters
SELECT cf_canonical(s.added) = cf_union_all(a, b) AS sum,
	cf_canonical(cf_add_filter(b, a)) = cf_union_all(a, b) AS swapped,
	cf_count(added, 1) AS twice, cf_count(added, 2) AS once,
	(cf_info(added)).growth_level - (cf_info(a)).growth_level AS grown
FROM (SELECT cf_agg(i, 100000, 0.001) AS a FROM generate_series(1, 2000) i) a,
	(SELECT cf_agg(i, 100000, 0.001) AS b FROM generate_series(-3000, 1) i) b,
	LATERAL (SELECT cf_add_filter(a, b) AS added) s;
SELECT cf_add_filter(none, f) = f AS unsized, cf_add_filter(cf_new(100, 0.01, 7), f) = f AS empty,
	cf_add_filter(f, none) = f AS nothing,
	cf_add_filter(f, cf_new(100, 0.01, 7)) = f AS empty_other, cf_add_filter(NULL, f) IS NULL AS to_none,
	cf_add_filter(f, NULL) = f AS add_null
FROM cf_add(cf_new(100, 0.01, 7), 1) f, (SELECT cf_agg(1) FILTER (WHERE false) AS none) n;
-- the geometry is that of the first one
SELECT cf_add_filter(f, none) = f AS same FROM cf_new(100, 0.01, 7) f, (SELECT cf_agg(1) FILTER (WHERE false)) n(none);
CREATE TABLE grows AS SELECT 1 AS id, cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 50000) i;
UPDATE grows SET f = cf_add_filter(f, (SELECT cf_agg(i, 100000, 0.001) FROM generate_series(49001, 51000) i));
SELECT cf_canonical(f)
	= (SELECT cf_union_all(cf_agg(i, 100000, 0.001), cf_agg(i + 49000, 100000, 0.001) FILTER (WHERE i <= 2000))
		FROM generate_series(1, 50000) i) AS sum FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(100000, 0.001), 'x')) FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(100000, 0.001, 1), 1)) FROM grows;
SELECT cf_add_filter(f, cf_add(cf_new(1000, 0.001), 1)) FROM grows;
DROP TABLE grows;

-- errors leave all as it was
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
