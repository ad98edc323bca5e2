-- For bench/seen_sets.sql: filters at :fillfactor, before and after :updates
CREATE TABLE seen (id int PRIMARY KEY, f cuckoofilter NOT NULL) WITH (fillfactor = :fillfactor);
INSERT INTO seen SELECT id, f FROM start;
VACUUM (ANALYZE, FREEZE) seen;
SELECT pg_total_relation_size('seen') AS before, pg_current_wal_insert_lsn() AS lsn \gset
\! bench/updates.sh "$USERS" "$UPDATES"
SELECT pg_current_wal_insert_lsn() - :'lsn'::pg_lsn AS wal \gset
-- the counts of other sessions arrive when these end, or soon after
SELECT pg_sleep(2) \gset
SELECT format('| %s | %s | %s | %s%% | %s |', :fillfactor, round(:before / 1e6, 1),
	round(pg_total_relation_size('seen') / 1e6, 1), round(100.0 * n_tup_hot_upd / n_tup_upd, 1),
	round(:wal / n_tup_upd))
FROM pg_stat_user_tables WHERE relname = 'seen';
DROP TABLE seen;
