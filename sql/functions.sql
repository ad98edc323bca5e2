-- Functions on one filter: new, add, add_unique, contains, delete, count,
-- clear, info; their nulls, limits and errors.

-- empty filters answer, and are small
SELECT cf_contains(cf_new(), 'x'), cf_count(cf_new()), cf_count(cf_new(), 'x');
SELECT items, capacity, round(fpp_at_capacity::numeric, 6) AS fpp_at_capacity,
	fpp_now, load_factor, fingerprint_bits, buckets, growth_level, bytes,
	bits_per_item, element_family, seed, format_version
FROM cf_info(cf_new());
SELECT (cf_info(cf_new(1000000))).bytes < 1024 AS empty_under_1_kb;
CREATE FUNCTION filled(f cuckoofilter, n int) RETURNS cuckoofilter
LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
	END LOOP;
	RETURN f;
END $$;
SELECT (cf_info(filled(cf_new(1000000), 100))).bytes < 2048 AS hundred_under_2_kb;

-- add, copies, delete
SELECT cf_contains(f, 'a') AS a, cf_contains(f, 'b') AS b, cf_contains(f, 'c') AS c
FROM cf_add(cf_add(cf_new(), 'a'), 'b') f;
SELECT cf_count(f, 'once') AS once, cf_count(f, 'twice') AS twice,
	cf_count(f, 'never') AS never, cf_count(f) AS items
FROM cf_add(cf_add(cf_add(cf_new(), 'once'), 'twice'), 'twice') f;
-- the third copy changes nothing, deletes of "two or more" neither
SELECT cf_add(f, 'x') = f AS saturated, cf_delete(f, 'x') = f AS stays
FROM cf_add(cf_add(cf_new(), 'x'), 'x') f;
SELECT cf_add_unique(f, 'x') = f AS unchanged, cf_count(f, 'x')
FROM cf_add_unique(cf_new(), 'x') f;
SELECT cf_contains(cf_delete(f, 'x'), 'x') AS gone, cf_count(cf_delete(f, 'x')) AS items,
	cf_delete(f, 'y') = f AS absent_unchanged
FROM cf_add(cf_new(), 'x') f;
-- what was added and deleted again leaves the layout as it was
SELECT cf_clear(cf_delete(cf_add(f, 1), 1)) = f AS same FROM cf_new(10) f;
SELECT items, growth_level, element_family FROM cf_info(cf_clear(filled(cf_new(10), 500)));
SELECT cf_contains(cf_add(cf_clear(filled(cf_new(10), 50)), 'now text'), 'now text');

-- one element a million times is one added twice
DO $$
DECLARE
	f cuckoofilter := cf_new(1000);
BEGIN
	FOR i IN 1..1000000 LOOP
		f := cf_add(f, 'again');
	END LOOP;
	RAISE NOTICE 'same as two adds: %', f = cf_add(cf_add(cf_new(1000), 'again'), 'again');
END $$;

-- nulls
SELECT cf_contains(cf_new(), NULL), cf_contains(NULL, 'x'), cf_count(NULL),
	cf_count(cf_new(), NULL), cf_clear(NULL);
SELECT cf_add(f, NULL) = f AS add_null, cf_add_unique(f, NULL) = f AS add_unique_null,
	cf_delete(f, NULL) = f AS delete_null, cf_add(f, NULL::int) = f AS other_type
FROM cf_add(cf_new(), 'x') f;
SELECT cf_add(NULL, 'x') IS NULL, cf_add_unique(NULL, 'x') IS NULL, cf_delete(NULL, 'x') IS NULL;
SELECT cf_new(NULL) IS NULL, (cf_info(NULL)).items IS NULL;

-- growth: far past the capacity, all found, the rate in proportion
SELECT items, growth_level, fingerprint_bits,
	round((fpp_now / fpp_at_capacity)::numeric, 1) AS times_the_rate
FROM cf_info(filled(cf_new(1000, 0.0001), 30000));
SELECT count(*) FILTER (WHERE cf_contains(f, i)) AS found
FROM filled(cf_new(1000, 0.0001), 30000) f, generate_series(1, 30000) i;
-- every element three times, to 20 times the capacity
DO $$
DECLARE
	f cuckoofilter := cf_new(500, 0.0001);
	missed int := 0;
BEGIN
	FOR i IN 1..10000 LOOP
		f := cf_add(cf_add(cf_add(f, i), i), i);
	END LOOP;
	FOR i IN 1..10000 LOOP
		IF cf_count(f, i) <> 2 THEN
			missed := missed + 1;
		END IF;
	END LOOP;
	RAISE NOTICE 'items: %, not two copies: %', cf_count(f), missed;
END $$;

-- a full filter at its last level is an error, and the stored value stays
CREATE TABLE kept (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO kept VALUES (1, cf_new(10, 0.03)), (2, cf_add(cf_new(10), 7));
DO $$
DECLARE
	adds int := 0;
	state text; message text; detail text; hint text;
BEGIN
	LOOP
		UPDATE kept SET f = cf_add(f, adds) WHERE id = 1;
		adds := adds + 1;
	END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
	-- not inside the loop: the block is rolled back as a whole
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE NOTICE '% % / % / %', state, message, detail, hint;
END $$;
SELECT cf_count(f) FROM kept WHERE id = 1;

-- parameters out of range
SELECT cf_new(0);
SELECT cf_new(-1);
SELECT cf_new(9223372036854775807);
SELECT cf_new(1000000000, 0.001);
SELECT cf_new(1000, 0);
SELECT cf_new(1000, 0.51);
SELECT cf_new(1000, -0.1);
SELECT cf_new(1000, 'NaN');
SELECT cf_new(1000, 9e-9);
SELECT fingerprint_bits, capacity FROM cf_info(cf_new(1, 1e-8));
SELECT fingerprint_bits, capacity FROM cf_info(cf_new(1, 0.5));
SELECT capacity >= 300000000 AS large FROM cf_info(cf_new(300000000, 0.001));
SELECT seed FROM cf_info(cf_new(10, 0.01, -5));
SELECT cf_contains(cf_add(cf_new(10, 0.01, 1), 'x'), 'x'),
	cf_add(cf_new(10, 0.01, 1), 'x') = cf_add(cf_new(10, 0.01, 2), 'x') AS seeds_differ;

-- a wrong type is an error, never false, and changes nothing
SELECT cf_contains(f, 'seven') FROM kept WHERE id = 2;
SELECT cf_count(f, 7.0) FROM kept WHERE id = 2;
UPDATE kept SET f = cf_add(f, 'seven') WHERE id = 2;
UPDATE kept SET f = cf_add_unique(f, 'seven') WHERE id = 2;
UPDATE kept SET f = cf_delete(f, 'seven') WHERE id = 2;
SELECT cf_contains(f, 7), cf_count(f) FROM kept WHERE id = 2;
SELECT cf_add(cf_new(), '{}'::json);
SELECT cf_contains(cf_new(), 'x'::cstring);
SELECT cf_contains(cf_new(), point '(1,2)');

DROP TABLE kept;
DROP FUNCTION filled;
