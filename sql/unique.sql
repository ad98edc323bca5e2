-- cf_unique_trigger: a value is in one row of all partitions

\set VERBOSITY terse
CREATE TABLE visits (day int, id int, url text) PARTITION BY LIST (day);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES IN (1);
CREATE TABLE visits_2 (url text, gone int, id int, day int);
ALTER TABLE visits_2 DROP gone;
ALTER TABLE visits ATTACH PARTITION visits_2 FOR VALUES IN (2);
CREATE TABLE visits_3 PARTITION OF visits FOR VALUES IN (3, 4) PARTITION BY LIST (day);
CREATE TABLE visits_3_3 PARTITION OF visits_3 FOR VALUES IN (3);
CREATE TABLE visits_3_4 PARTITION OF visits_3 FOR VALUES IN (4);
CREATE INDEX visits_id ON visits USING cuckoo (id);
CREATE TRIGGER visits_unique AFTER INSERT OR UPDATE ON visits FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('visits_id');
-- the other partitions stay locked; the rows have the same place in their tables
\set VERBOSITY default
BEGIN;
INSERT INTO visits VALUES (1, 1);
SELECT relation::regclass, mode FROM pg_locks
	WHERE pid = pg_backend_pid() AND relation IN ('visits_2'::regclass, 'visits_3_4'::regclass) ORDER BY relation;
INSERT INTO visits VALUES (2, 1);
ROLLBACK;
\set VERBOSITY terse
INSERT INTO visits SELECT 1 + i % 4, i FROM generate_series(1, 1000) i;

-- ---- the same value in each partition, at the top, in the middle and in a partition ----

\set VERBOSITY default
INSERT INTO visits VALUES (2, 4);
\set VERBOSITY terse
-- programs recognize the error
DO $$
DECLARE
	state text;
	named text;
BEGIN
	INSERT INTO visits VALUES (2, 4);
EXCEPTION WHEN unique_violation THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, named = CONSTRAINT_NAME;
	RAISE NOTICE '% %', state, named;
END $$;
-- 5 is in visits_2, 6 in visits_3_3, 7 in visits_3_4, and 4 in visits_1
INSERT INTO visits VALUES (1, 5);
INSERT INTO visits VALUES (1, 6);
INSERT INTO visits VALUES (1, 7);
INSERT INTO visits_2 VALUES ('', 4, 2);
INSERT INTO visits_3 VALUES (4, 4);
INSERT INTO visits_3_3 VALUES (3, 4);
-- several rows of one statement: new values, and 2005 twice
INSERT INTO visits VALUES (1, 2001), (2, 2002), (3, 2003), (4, 2004);
INSERT INTO visits VALUES (1, 2005), (4, 2005);
INSERT INTO visits VALUES (1, 2005), (1, 2005);
COPY visits (day, id) FROM stdin;
1	2005
2	2006
2	2005
\.
WITH a AS (INSERT INTO visits VALUES (1, 2005)) INSERT INTO visits VALUES (2, 2005);
-- nulls are not equal
INSERT INTO visits SELECT 1, NULL FROM generate_series(1, 3);
SELECT count(*), 1000 + 4 + 3 AS truth, count(id) AS ids, count(DISTINCT id) AS truth FROM visits;

-- ---- updates ----

-- to a value of another row
UPDATE visits SET id = 5 WHERE id = 4;
-- each row to a value that another row had before; to another partition; to the same value
UPDATE visits SET id = id + 1;
UPDATE visits SET day = day % 4 + 1;
UPDATE visits SET id = id;
-- two rows to one value
UPDATE visits SET id = 7000 WHERE id IN (7, 8);
-- the value of a deleted row is free, even in its transaction
DELETE FROM visits WHERE id = 9;
INSERT INTO visits VALUES (1, 9);
BEGIN;
INSERT INTO visits VALUES (1, 3001);
DELETE FROM visits WHERE id = 3001;
INSERT INTO visits VALUES (2, 3001);
SAVEPOINT s;
INSERT INTO visits VALUES (3, 3001);
ROLLBACK TO s;
INSERT INTO visits VALUES (3, 3002);
COMMIT;
SELECT count(*), 1007 + 2 AS truth, count(id) AS ids, count(DISTINCT id) AS truth, max(id), 3002 AS truth FROM visits;

-- ---- a new partition, and a partition of another schema ----

CREATE SCHEMA apart;
CREATE TABLE apart.visits_5 PARTITION OF visits FOR VALUES IN (5);
INSERT INTO visits VALUES (5, 10);
INSERT INTO apart.visits_5 VALUES (5, 10);
INSERT INTO visits VALUES (5, 5000);
INSERT INTO visits VALUES (1, 5000);
SET search_path = apart;
INSERT INTO public.visits VALUES (1, 5000);
RESET search_path;
-- the trigger does not use an index of the partition that has the same name
CREATE INDEX visits_id ON apart.visits_5 USING cuckoo (url);
INSERT INTO visits VALUES (5, 10, 'url');
DROP INDEX apart.visits_id;
-- a value of a table that was a partition is free
ALTER TABLE visits DETACH PARTITION apart.visits_5;
INSERT INTO visits VALUES (1, 5000);
SELECT count(*), 1009 + 1 AS truth, count(id) AS ids, count(DISTINCT id) AS truth, max(id), 5000 AS truth FROM visits;

-- a trigger of one partition looks in all partitions
CREATE TRIGGER visits_3_unique AFTER INSERT OR UPDATE ON visits_3_3 FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('visits_3_3_id_idx');
DROP TRIGGER visits_unique ON visits;
INSERT INTO visits VALUES (3, 5000);
-- and is not called for the others
INSERT INTO visits VALUES (4, 5000);
DELETE FROM visits WHERE day = 4 AND id = 5000;
DROP TRIGGER visits_3_unique ON visits_3_3;
CREATE TRIGGER visits_unique AFTER INSERT OR UPDATE ON visits FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('visits_id');

-- ---- the message shows the value to users who may read it ----

CREATE ROLE regress_unique;
GRANT INSERT ON visits TO regress_unique;
ALTER TABLE visits ALTER id SET DEFAULT 10;
\set VERBOSITY default
SET ROLE regress_unique;
INSERT INTO visits (day) VALUES (1);
RESET ROLE;
GRANT SELECT (id) ON visits_3_3 TO regress_unique;
SET ROLE regress_unique;
INSERT INTO visits (day) VALUES (1);
RESET ROLE;
ALTER TABLE visits ALTER id DROP DEFAULT;
DROP OWNED BY regress_unique;
DROP ROLE regress_unique;

-- ---- an index that is missing, invalid, or of another kind ----

ALTER INDEX visits_id RENAME TO visits_by_id;
\set VERBOSITY default
INSERT INTO visits VALUES (1, 6000);
ALTER INDEX visits_by_id RENAME TO visits_id;
CREATE TABLE other (id int, url text);
CREATE INDEX other_tree ON other (id);
CREATE INDEX other_some ON other USING cuckoo (id) WHERE id > 0;
CREATE INDEX other_lower ON other USING cuckoo (lower(url));
CREATE INDEX other_invalid ON other USING cuckoo (id);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'other_invalid'::regclass;
CREATE FUNCTION try(arguments text, event text DEFAULT 'AFTER INSERT OR UPDATE', level text DEFAULT 'ROW') RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER other_unique %s ON other FOR EACH %s EXECUTE FUNCTION cf_unique_trigger(%s)', event,
		level, arguments);
	INSERT INTO other VALUES (1, 'a');
	DELETE FROM other;
	DROP TRIGGER other_unique ON other;
	RAISE NOTICE 'no error';
END $$;
SELECT try('visits_id');
SELECT try('other_tree');
SELECT try('other_some');
SELECT try('other_lower');
SELECT try('other_invalid');
-- another number of arguments, another event, and no trigger
SELECT try('');
\set VERBOSITY terse
SELECT try('other_some, other_tree');
SELECT try('other_some', event => 'BEFORE INSERT');
SELECT try('other_some', level => 'STATEMENT');
SELECT try('other_some', event => 'AFTER DELETE');
-- triggers that miss new versions of rows
\set VERBOSITY default
SELECT try('other_some', event => 'AFTER INSERT');
\set VERBOSITY terse
SELECT try('other_some', event => 'AFTER INSERT OR UPDATE OF id');
SELECT try('other_some', level => 'ROW WHEN (new.id > 0)');
SELECT cf_unique_trigger();
-- partitions without the index
CREATE INDEX visits_url ON ONLY visits USING cuckoo (url);
CREATE TRIGGER visits_url_unique AFTER INSERT OR UPDATE ON visits FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('visits_url');
\set VERBOSITY default
INSERT INTO visits VALUES (1, 6000, 'a');
DROP INDEX visits_url;
DROP TRIGGER visits_url_unique ON visits;
CREATE FOREIGN DATA WRAPPER regress_nowhere;
CREATE SERVER regress_nowhere FOREIGN DATA WRAPPER regress_nowhere;
CREATE FOREIGN TABLE visits_6 PARTITION OF visits FOR VALUES IN (6) SERVER regress_nowhere;
INSERT INTO visits VALUES (1, 6000);
DROP FOREIGN DATA WRAPPER regress_nowhere CASCADE;
\set VERBOSITY terse
INSERT INTO visits VALUES (1, 6000);

-- ---- a shard of Citus, which renames tables and indexes ----

CREATE FUNCTION shard(number text, index text, argument text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (id int)', 'orders_' || number);
	EXECUTE format('CREATE INDEX %I ON %I USING cuckoo (id)', index, 'orders_' || number);
	EXECUTE format('CREATE TRIGGER orders_unique AFTER INSERT OR UPDATE ON %I FOR EACH ROW
		EXECUTE FUNCTION cf_unique_trigger(%L)', 'orders_' || number, argument);
	EXECUTE format('INSERT INTO %I VALUES (7), (8)', 'orders_' || number);
	EXECUTE format('INSERT INTO %I VALUES (7)', 'orders_' || number);
	RETURN 'a duplicate';
EXCEPTION WHEN unique_violation OR undefined_object THEN
	RETURN SQLERRM;
END $$;
SELECT shard('102008', 'orders_id_102008', 'orders_id');
-- long names, as Citus 14 cuts them
SELECT shard('102008', repeat('x', 56) || '_102008', repeat('x', 56)) AS "63 bytes";
SELECT shard('102013', 't2345678901234567890123456789012345678901234567_3b3c496f_102013',
	't23456789012345678901234567890123456789012345678901234567890123') AS "longer";
SELECT shard('102008', '57' || repeat('é', 22) || '_aa11ad9a_102008',
	'57' || repeat('é', 27) || 'q') AS "cut between characters";
-- the index of another shard, and tables that are no shards
SELECT shard('102008', 'orders_id_102009', 'orders_id');
SELECT shard('', 'orders_id_', 'orders_id');
SELECT shard('1o', 'orders_id_1o', 'orders_id');
DROP FUNCTION shard;

-- ---- the rows beside a unique index, with other types, and far apart in a large table ----

CREATE FUNCTION compare(type text, made_of text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	accepted boolean[];
	refused int = 0;
	differ int;
BEGIN
	EXECUTE format('CREATE TABLE exact (day int, v %s, filler text DEFAULT repeat(''x'', 900), UNIQUE (v))', type);
	EXECUTE format('CREATE TABLE tried (day int, v %s, filler text DEFAULT repeat(''x'', 900)) PARTITION BY LIST (day)',
		type);
	CREATE TABLE tried_0 PARTITION OF tried FOR VALUES IN (0);
	CREATE TABLE tried_1 PARTITION OF tried FOR VALUES IN (1);
	CREATE INDEX tried_v ON tried USING cuckoo (v);
	CREATE TRIGGER tried_unique AFTER INSERT OR UPDATE ON tried FOR EACH ROW
		EXECUTE FUNCTION cf_unique_trigger('tried_v');
	PERFORM setseed(0.5);
	FOR i IN 1..600 LOOP
		statement = format(CASE WHEN random() < 0.7 THEN 'INSERT INTO %%s SELECT %s, %s'
			WHEN random() < 0.6 THEN 'DELETE FROM %%s WHERE v = (SELECT %2$s)'
			ELSE 'UPDATE %%s SET day = %s, v = (SELECT %s) WHERE v = (SELECT %3$s)' END,
			(random() < 0.5)::int, replace(made_of, '$', (random() * 150)::int::text),
			replace(made_of, '$', (random() * 150)::int::text));
		accepted = '{t, t}';
		BEGIN
			EXECUTE format(statement, 'exact');
		EXCEPTION WHEN unique_violation THEN
			accepted[1] = false;
		END;
		BEGIN
			EXECUTE format(statement, 'tried');
		EXCEPTION WHEN unique_violation THEN
			accepted[2] = false;
		END;
		IF accepted[1] <> accepted[2] THEN
			RAISE 'statement % differs: %: %', i, accepted, statement;
		END IF;
		refused = refused + 1 - accepted[1]::int;
	END LOOP;
	SELECT count(*) INTO differ FROM (TABLE exact EXCEPT TABLE tried UNION ALL TABLE tried EXCEPT TABLE exact) d;
	DROP TABLE exact, tried;
	RETURN format('%s refused, %s rows differ', refused, differ);
END $$;
SELECT compare('int', '$');
SELECT compare('text', '''url '' || $');
SELECT compare('text', 'repeat(md5(''$''), 200)');
SELECT compare('char(8)', '''v'' || mod($, 200) || repeat('' '', mod($, 3))');
SELECT compare('numeric', 'mod($, 200) + CASE mod($, 3) WHEN 0 THEN 0.000 ELSE 0 END');
SELECT compare('float8', 'mod($, 20)::float8 * CASE mod($, 3) WHEN 0 THEN -1 ELSE 1 END');
SELECT compare('uuid', 'md5(''$'')::uuid');
SELECT compare('int[]', 'ARRAY[$, 1]');

-- ---- several columns ----

CREATE TABLE two (day int, a int, b text) PARTITION BY LIST (day);
CREATE TABLE two_1 PARTITION OF two FOR VALUES IN (1);
CREATE TABLE two_2 (b text, a int, day int);
ALTER TABLE two ATTACH PARTITION two_2 FOR VALUES IN (2);
CREATE INDEX two_ab ON two USING cuckoo (a, b);
CREATE TRIGGER two_unique AFTER INSERT OR UPDATE ON two FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('two_ab');
INSERT INTO two VALUES (1, 1, 'x'), (2, 1, 'y'), (2, 2, 'x'), (1, 1, NULL), (2, 1, NULL), (2, NULL, 'x');
\set VERBOSITY default
INSERT INTO two VALUES (2, 1, 'x');
\set VERBOSITY terse
UPDATE two SET a = 2 WHERE a = 1 AND b = 'x';
UPDATE two SET b = 'z' WHERE a = 1 AND b = 'x';
INSERT INTO two VALUES (2, 1, 'x');
SELECT count(*), 7 AS truth FROM two;
DROP TABLE two;

-- ---- a constraint trigger, which can be deferred ----

DROP INDEX other_tree, other_some, other_lower, other_invalid;
CREATE INDEX other_id ON other USING cuckoo (id);
CREATE CONSTRAINT TRIGGER other_unique AFTER INSERT OR UPDATE ON other DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('other_id');
INSERT INTO other VALUES (1);
-- two rows have one value until an update, until a delete, and at the end
BEGIN;
INSERT INTO other VALUES (1, 'again'), (2, '');
UPDATE other SET id = 3 WHERE url = 'again';
COMMIT;
BEGIN;
INSERT INTO other VALUES (4, ''), (2, 'again'), (3, 'again');
DELETE FROM other WHERE url = 'again';
COMMIT;
-- a HOT update before the check: the row has another place than its entry
BEGIN;
INSERT INTO other VALUES (6, '');
UPDATE other SET url = 'HOT' WHERE id = 6;
COMMIT;
BEGIN;
INSERT INTO other VALUES (5), (1);
COMMIT;
TABLE other ORDER BY id;

-- ---- values that had many rows before the trigger was created ----

CREATE TABLE common (id int, filler text);
ALTER TABLE common ALTER filler SET STORAGE plain;
CREATE INDEX common_id ON common USING cuckoo (id);
INSERT INTO common SELECT 7, repeat('x', 4000) FROM generate_series(1, 3000);
CREATE TRIGGER common_unique AFTER INSERT OR UPDATE ON common FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('common_id');
INSERT INTO common VALUES (7);
INSERT INTO common VALUES (8);
-- one row is left, then none
DELETE FROM common WHERE id = 8 OR ctid <> '(0,1)';
INSERT INTO common VALUES (7);
DELETE FROM common;
INSERT INTO common VALUES (7);
SELECT count(*), 1 AS truth FROM common;

DROP TABLE visits, apart.visits_5, other, common;
DROP SCHEMA apart;
DROP FUNCTION compare, try;
