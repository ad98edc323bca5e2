-- Queries with PostgreSQL's caches, and with debug_discard_caches = 1 (in a build
-- with assertions).  Then each lookup forgets what was there, and a pointer that
-- is kept too long shows.  test/sanitize.sh runs this.  It ends with an error at
-- the first query whose answer differs.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION cuckoo;
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE TABLE items AS SELECT i AS v, 'user ' || i AS t, (i % 90)::numeric AS n, ARRAY[i % 7, 1] AS a,
	CASE WHEN i % 3 = 0 THEN 'sad'::mood ELSE 'ok' END AS m FROM generate_series(1, 2000) i;
ALTER TABLE items ADD PRIMARY KEY (v);
CREATE TABLE parts (v int REFERENCES items, k int) PARTITION BY HASH (v);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT i % 2000 + 1, i FROM generate_series(1, 4000) i;
-- with indexes
CREATE TABLE located AS
	SELECT i AS v, 'user ' || i AS t, ROW(i, 'x')::pair AS p, i % 100 AS n, repeat('f', 500) AS filler
FROM generate_series(1, 600) i;
CREATE INDEX located_v ON located USING cuckoo (v);
CREATE INDEX located_t ON located USING cuckoo (t);
CREATE INDEX located_p ON located USING cuckoo (p);
CREATE INDEX located_n ON located USING cuckoo ((n + 1)) WHERE v > 0;
CREATE INDEX located_2 ON located USING cuckoo (n, t);
-- stored in a row, by slices, and compressed
CREATE TABLE lists (name text PRIMARY KEY, f cuckoofilter);
ALTER TABLE lists ALTER f SET STORAGE external;
INSERT INTO lists SELECT 'small', cf_agg(v) FROM items WHERE v % 100 = 0;
INSERT INTO lists SELECT 'large', cf_agg(i) FROM generate_series(1, 100000) i WHERE i % 10 <> 3;
INSERT INTO lists SELECT 'texts', cf_agg(t) FROM items WHERE v % 2 = 0;
ALTER TABLE lists ALTER f SET STORAGE extended;
INSERT INTO lists VALUES ('empty', cf_new(100000, 1e-8));
ANALYZE;
-- out of the search path, so that calls of cf_agg do not choose its variants
CREATE SCHEMA citus;
CREATE EXTENSION cuckoo_citus SCHEMA citus CASCADE;
CREATE AGGREGATE bare_state(int) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate);
CREATE AGGREGATE merge_agg(citus.cuckoostate) (SFUNC = citus.cuckoo_agg_combine, STYPE = citus.cuckoostate,
	FINALFUNC = citus.cuckoo_agg_final);
CREATE AGGREGATE bare_union(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
CREATE FUNCTION changed() RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(50, 0.01);
BEGIN
	FOR i IN 1..100 LOOP
		f := cf_add(f, i);
	END LOOP;
	f := cf_delete(f, 7);
	RETURN cf_add_unique_all(f, ARRAY[1, 200, NULL]);
END $$;
-- rows of a scan read forward and backward, while the types of the database change
CREATE FUNCTION moved() RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
	c SCROLL CURSOR FOR SELECT v FROM items WHERE cf_contains((SELECT f FROM lists WHERE name = 'large'), v);
	v int;
BEGIN
	OPEN c;
	FOREACH v IN ARRAY ARRAY[1, 50, -20, 700, -300, 90] LOOP
		CREATE TEMP TABLE other (x int);
		DROP TABLE other;
		MOVE RELATIVE v FROM c;
		FETCH c INTO v;
		RETURN NEXT v;
	END LOOP;
	CLOSE c;
END $$;
-- ids that are unique over partitions
CREATE TABLE owned (part int, v int, p pair) PARTITION BY LIST (part);
CREATE TABLE owned_1 PARTITION OF owned FOR VALUES IN (1);
CREATE TABLE owned_2 PARTITION OF owned FOR VALUES IN (2);
CREATE INDEX owned_v ON owned USING cuckoo (v);
CREATE INDEX owned_p ON owned USING cuckoo (p);
CREATE TRIGGER owned_v AFTER INSERT OR UPDATE ON owned FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('owned_v');
CREATE TRIGGER owned_p AFTER INSERT OR UPDATE ON owned FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('owned_p');
CREATE FUNCTION owned() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	INSERT INTO owned SELECT 1, i, ROW(i, 'x')::pair FROM generate_series(1, 3) i;
	FOR n IN 1..6 LOOP
		BEGIN
			INSERT INTO owned VALUES (2, 10 + n % 4, ROW(n, 'x')::pair);
		EXCEPTION WHEN unique_violation THEN
			result := concat(result, n, SQLERRM);
		END;
	END LOOP;
	DELETE FROM owned;
	RETURN result;
END $$;
-- indexes that are built, get rows, and find them
CREATE FUNCTION grown() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	CREATE TEMP TABLE growing (v int, m mood, p pair);
	CREATE INDEX growing_v ON growing USING cuckoo (v);
	CREATE INDEX growing_m ON growing USING cuckoo (m);
	INSERT INTO growing SELECT i, 'ok' FROM generate_series(1, 100) i;
	-- the hash of rows needs many lookups
	CREATE INDEX growing_p ON growing USING cuckoo (p);
	INSERT INTO growing VALUES (500, 'sad', ROW(500, 'y'));
	SET LOCAL enable_seqscan = off;
	SELECT array_agg(v ORDER BY v)::text || cf_index_check('growing_v')
		|| cf_index_check('growing_m') INTO result
	FROM growing WHERE v = ANY ('{7,100,-5,500}') OR p = ROW(500, 'y')::pair;
	DROP TABLE growing;
	RETURN result;
END $$;
-- the rows and the plan of a query, or its error
CREATE FUNCTION answer(query text, discard text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	line text;
BEGIN
	PERFORM set_config('debug_discard_caches', discard, true);
	-- the first lock on a table in a transaction looks for changes, so it discards; then each lookup does
	PERFORM FROM queries;
	EXECUTE format('SELECT string_agg(s::text, '','' ORDER BY s::text) FROM (%s) s', query) INTO answer;
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query LOOP
		answer := answer || E'\n' || line;
	END LOOP;
	PERFORM set_config('debug_discard_caches', '0', true);
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE TABLE queries (n int GENERATED ALWAYS AS IDENTITY, query text, fails boolean DEFAULT false);
INSERT INTO queries (query) VALUES
	-- the scan, its filters and its batches
	($$SELECT v FROM items WHERE cf_contains((SELECT cf_agg(v) FROM items WHERE v < 50), v)$$),
	($$SELECT v FROM items WHERE NOT cf_contains((SELECT f FROM lists WHERE name = 'large'), v) AND v % 4 <> 0$$),
	($$SELECT count(*) FROM items WHERE t <@ ANY (ARRAY[(SELECT f FROM lists WHERE name = 'texts'), NULL])$$),
	($$SELECT count(*) FROM items WHERE v <@ ANY (SELECT f FROM lists WHERE name <> 'texts')$$),
	($$SELECT name, count(*) FROM lists, items WHERE name IN ('small', 'large') AND f @> v GROUP BY name$$),
	($$SELECT count(*) FROM items WHERE cf_contains((SELECT cf_agg(n) FROM (SELECT n FROM items LIMIT 3) s), n)$$),
	($$SELECT count(*) FROM items WHERE cf_contains((SELECT cf_agg(a) FROM (SELECT a FROM items LIMIT 1) s), a)$$),
	($$SELECT count(*) FROM items WHERE cf_contains((SELECT cf_agg('sad'::mood)), m)$$),
	($$SELECT count(*) FROM parts WHERE cf_contains((SELECT f FROM lists WHERE name = 'small'), v)$$),
	($$SELECT count(*) FROM parts JOIN items USING (v)
		WHERE n = 5 AND cf_contains((SELECT cf_agg(v) FROM items WHERE n = 5), v)$$),
	($$SELECT v FROM items WHERE cf_contains((SELECT f FROM lists WHERE name = 'large'), v) LIMIT 40$$),
	($$SELECT * FROM moved()$$),
	-- the planner's estimates from a constant, and from statistics
	(format('SELECT count(*) FROM items WHERE cf_contains(%L::cuckoofilter, v)',
		(SELECT f FROM lists WHERE name = 'small'))),
	(format('SELECT count(*) FROM items WHERE %L::cuckoofilter @> n', (SELECT cf_agg(n) FROM items WHERE n < 9))),
	(format('SELECT count(*) FROM items WHERE t <@ %L::cuckoofilter AND v > 5',
		(SELECT f FROM lists WHERE name = 'texts'))),
	-- probes of stored filters
	($$SELECT name, cf_contains(f, 100), cf_count(f, 101), cf_contains_hash(f, cf_hash(102))
		FROM lists WHERE name <> 'texts'$$),
	($$SELECT i FROM generate_series(1, 60) i
		WHERE cf_contains((SELECT f FROM lists WHERE name = 'large' OFFSET 0), i)$$),
	($$SELECT cf_contains_each(f, ARRAY[1, NULL, 13]), cf_contains_any(f, ARRAY[3, 13]), cf_contains_all(f, ARRAY[1, 3])
		FROM lists WHERE name = 'large'$$),
	($$SELECT cf_contains_each(f, (SELECT array_agg(i) FROM generate_series(1, 500) i))
		FROM lists WHERE name = 'large'$$),
	($$SELECT cf_count(f), (cf_info(f)).*, f = f, hashtext(f::text) FROM lists$$),
	-- changes
	($$SELECT cf_info(changed())$$),
	($$SELECT cf_info(f), added FROM lists, cf_add_unique_each(f, ARRAY[1, 3, NULL]) AS c(g, added)
		WHERE name = 'large'$$),
	($$SELECT cf_info(cf_delete_all(cf_add_all(f, ARRAY[3, 13]), ARRAY[1, 2])), cf_info(cf_clear(f)),
		cf_info(cf_canonical(f)) FROM lists WHERE name = 'small'$$),
	-- indexes
	($$SELECT v FROM located WHERE v = 7$$),
	($$SELECT v FROM located WHERE t = ANY ('{user 5,user 600,none}')$$),
	($$SELECT v FROM located WHERE p = ROW(9, 'x')::pair OR p = ROW(10, 'x'::text)$$),
	($$SELECT l.v, w.x FROM (VALUES (1::bigint), (50), (-1)) w(x) LEFT JOIN located l ON l.v = w.x$$),
	($$SELECT v FROM located WHERE n + 1 = 7 AND v > 0 AND t = 'user 106'$$),
	($$SELECT v FROM located WHERE n = 5 AND t = 'user 105'$$),
	($$SELECT cf_index_info('located_v'), cf_index_info('located_p')$$),
	($$SELECT cf_index_check('located_v'), cf_index_check('located_p'), cf_index_check('located_n'),
		cf_index_check('located_2')$$),
	($$SELECT grown()$$),
	($$SELECT owned()$$),
	-- elements of many types
	($$SELECT cf_contains(cf_add(cf_new(), x), x), cf_hash(x) FROM unnest(ARRAY['A', 'b']::citext[]) x$$),
	($$SELECT cf_contains(cf_add(cf_new(), x), x), cf_hash(x) FROM unnest(ARRAY[row(1, 'x')]::pair[]) x$$),
	($$SELECT cf_contains(cf_add(cf_new(), x), x), cf_hash(array_cat(x, x))
		FROM (VALUES (ARRAY[1, 2]), ('{{3}}')) w(x)$$),
	($$SELECT cf_contains(cf_agg(x), x), cf_hash(x) FROM (VALUES (int4range(1, 5)), ('empty')) w(x) GROUP BY x$$),
	($$SELECT cf_contains(cf_agg(x), x), cf_hash(x) FROM (VALUES (1::posint), (2)) w(x) GROUP BY x$$),
	($$SELECT cf_contains(cf_agg(x), x), cf_hash(x) FROM (VALUES ('a'::char(5)), ('b')) w(x) GROUP BY x$$),
	($$SELECT cf_contains(cf_agg(x), x), cf_hash(x) FROM (VALUES ('{"a": 1}'::jsonb), ('[]')) w(x) GROUP BY x$$),
	($$SELECT cf_info(cf_new(1000, 0.01, element => x))
		FROM unnest('{int,text,mood,citext,pair,numeric,text[]}'::regtype[]) x$$),
	-- aggregates: groups, windows, workers, states, and states that a sort makes flat
	($$SELECT k % 3, cf_info(cf_agg(v, 1000, 0.01)) FROM parts WHERE k < 300 GROUP BY 1$$),
	($$SELECT i, cf_count(cf_agg(i) OVER (ORDER BY i)) FROM generate_series(1, 150) i$$),
	($$SELECT cf_count(merge_agg(s)) FROM (SELECT bare_state(v) AS s FROM items WHERE v < 500 GROUP BY v % 2) s$$),
	($$SELECT cf_info(cf_union_agg(f)), cf_info(cf_union_all_agg(f))
		FROM (SELECT cf_agg(v, 2000, 0.01) AS f FROM items WHERE v < 900 GROUP BY v % 3) s$$),
	($$SELECT cf_count(merge_agg(s))
		FROM (SELECT bare_state(v) AS s FROM items WHERE v < 700 GROUP BY v % 3 ORDER BY count(*), v % 3 OFFSET 0) s$$),
	($$SELECT cf_count(bare_union(f))
		FROM (SELECT cf_agg(v, 5000, 0.01) AS f FROM items WHERE v < 1500 GROUP BY v % 4) s$$),
	($$SELECT cf_info(cf_intersect_agg(f)), cf_info(cf_at_least_agg(f, 2))
		FROM (SELECT cf_agg(v, 2000, 0.01) AS f FROM items, generate_series(0, 2) part
			WHERE v < 900 AND v % 3 <> part GROUP BY part) s$$),
	($$SELECT cf_overlap(a, b), cf_overlap_info(a, b), cf_compatible(a, b), cf_info(cf_intersect(a, b)),
		cf_info(cf_canonical(a)) FROM
		(SELECT cf_agg(v, 2000, 0.01) FILTER (WHERE v < 300) AS a, cf_agg(v, 2000, 0.01) FILTER (WHERE v > 200) AS b
			FROM items WHERE v < 500) s$$);
-- errors
INSERT INTO queries (query, fails) VALUES
	($$SELECT cf_contains(f, 'x'::text) FROM lists WHERE name = 'large'$$, true),
	($$SELECT cf_contains(f, 'x'::citext) FROM lists WHERE name = 'texts'$$, true),
	($$SELECT count(*) FROM items WHERE cf_contains((SELECT f FROM lists WHERE name = 'small'), n)$$, true),
	($$SELECT cf_agg(ARRAY[m]) FROM items$$, true),
	($$SELECT cf_add(cf_agg(n), 1) FROM (SELECT n FROM items LIMIT 2) s$$, true);
CREATE PROCEDURE compare() LANGUAGE plpgsql AS $$
DECLARE
	q queries;
	began timestamptz;
	expected text;
	found text;
BEGIN
	FOR q IN SELECT * FROM queries ORDER BY n LOOP
		COMMIT;
		began := clock_timestamp();
		expected := answer(q.query, '0');
		COMMIT;
		found := answer(q.query, '1');
		IF (q.fails <> (position('cost=' IN expected) > 0)) IS NOT TRUE OR found IS DISTINCT FROM expected THEN
			RAISE EXCEPTION E'%\nwith caches: %\nwithout: %', q.query, expected, found;
		END IF;
		RAISE INFO '% s: %', round(extract(epoch FROM clock_timestamp() - began)), left(q.query, 100);
	END LOOP;
END $$;
CALL compare();
