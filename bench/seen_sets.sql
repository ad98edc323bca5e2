-- A filter for each user: bytes, HOT updates and WAL by fillfactor, beside a row
-- for each user and item. Prints two tables for bench/README.md. The figures are
-- counts and bytes, so they do not depend on the machine's load.
--
-- `users` is the number of users, and twice as many items arrive. The script
-- needs a superuser, an empty database and bench/updates.sh.
\pset pager off
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE EXTENSION cuckoo;
-- the WAL of a change must not depend on when the last checkpoint was
ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf() \gset
SELECT 2 * :users AS updates \gset
\setenv USERS :users
\setenv UPDATES :updates

-- users have seen 100 items on average, a few have seen a thousand
CREATE UNLOGGED TABLE history AS SELECT id, (-100 * ln(1 - random()))::int AS items FROM generate_series(1, :users) id;
CREATE UNLOGGED TABLE start AS SELECT id, items,
	cf_add_unique_all(cf_new(1000, 0.01, element => 'bigint'),
		ARRAY(SELECT id + i * 1000003 FROM generate_series(1, items::bigint) i)) AS f FROM history;

-- ---- filters ----

SELECT format('%s users with %s items on average', :users, round(avg(items), 1)) FROM history;
SELECT '| fillfactor | MB | after | HOT | WAL of an update |';
SELECT '| --- | --- | --- | --- | --- |';
\set fillfactor 100
\ir seen_sets_fill.sql
\set fillfactor 90
\ir seen_sets_fill.sql
\set fillfactor 75
\ir seen_sets_fill.sql
\set fillfactor 50
\ir seen_sets_fill.sql

-- ---- rows, of one user in a hundred ----

CREATE TABLE seen (id int, item bigint, PRIMARY KEY (id, item));
INSERT INTO seen SELECT id, id + i * 1000003 FROM history, generate_series(1, items::bigint) i WHERE id % 100 = 0
ORDER BY random();
SELECT pg_total_relation_size('seen') AS before, pg_current_wal_insert_lsn() AS lsn \gset
INSERT INTO seen SELECT id, -1 FROM history WHERE id % 100 = 0 ORDER BY random();
SELECT format('| a row for each user and item | %s bytes an item | %s |', :before / sum(items),
	round((pg_current_wal_insert_lsn() - :'lsn'::pg_lsn) / (:users / 100)))
FROM history WHERE id % 100 = 0;
SELECT format('| a filter for each user, `cf_new(1000, 0.01)` | %s bytes an item | |',
	round(sum(length(f::bytea))::numeric / sum(items), 1)) FROM start;
