-- Lists the filters and the indexes of a database with their sizes, and those
-- that need a rebuild: psql -f examples/monitor.sql
--
-- doc/operate.md explains the results.

-- Filters, by column: one query for each column of filters, also of those in
-- arrays, composite types and domains. Temporary tables, materialized views
-- without data and partitioned tables, whose partitions are counted, are left
-- out.
WITH RECURSIVE parts(place, relation, value, type) AS (
	SELECT c.oid::regclass || '.' || a.attname, c.oid::regclass, quote_ident(a.attname), a.atttypid
	FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
	WHERE c.relkind IN ('r', 'm', 'f') AND c.relispopulated AND c.relpersistence <> 't' AND a.attnum > 0
		AND NOT a.attisdropped
UNION ALL
	SELECT place || CASE t.typtype WHEN 'c' THEN '.' || a.attname ELSE '' END, relation,
		CASE t.typtype WHEN 'd' THEN format('(%s)::%s', value, t.typbasetype::regtype)
			WHEN 'c' THEN format('(%s).%I', value, a.attname) ELSE format('unnest(%s)', value) END,
		CASE t.typtype WHEN 'd' THEN t.typbasetype WHEN 'c' THEN a.atttypid ELSE t.typelem END
	FROM parts JOIN pg_type t ON t.oid = type
		LEFT JOIN pg_attribute a ON a.attrelid = t.typrelid AND t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped
	WHERE t.typtype = 'd' OR a.attname IS NOT NULL OR (t.typlen = -1 AND t.typelem <> 0))
SELECT format('SELECT %L AS place, count(f), round(max(100.0 * i.items / i.max_items)) AS percent_of_max,
		count(*) FILTER (WHERE i.fpp_now > 2 * i.fpp_at_capacity) AS rate_too_high,
		count(*) FILTER (WHERE i.element_family = ''other'') AS of_other, sum(i.bytes) AS bytes
	FROM (SELECT %s AS f FROM %s) s, cf_info(f) i', place, value, relation)
FROM parts WHERE type = 'cuckoofilter'::regtype ORDER BY place
\gexec

-- Indexes by size, with a reason and a command for those that need one. Nothing
-- is read: pg_class has the rows at the last VACUUM or ANALYZE.
SELECT indexrelid::regclass AS index, round(bytes / 1e6) AS mb, reason,
	format(CASE WHEN reason = 'invalid' AND relname ~ '_cc(new|old)\d*$' THEN 'DROP INDEX CONCURRENTLY %1$s'
		WHEN reason = 'dead rows' THEN 'VACUUM %2$s'
		WHEN reason IS NOT NULL AND indisexclusion THEN 'REINDEX INDEX %1$s'
		WHEN reason IS NOT NULL THEN 'REINDEX INDEX CONCURRENTLY %1$s' END, indexrelid::regclass, indrelid::regclass) AS job
FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam AND a.amname = 'cuckoo',
	LATERAL (SELECT pg_relation_size(indexrelid) AS bytes, pg_stat_get_dead_tuples(indrelid) AS dead,
		CASE WHEN reltuples > 0 THEN reltuples ELSE pg_stat_get_live_tuples(indrelid) END AS rows) s,
	LATERAL (SELECT CASE WHEN NOT indisvalid THEN 'invalid' WHEN bytes < 1e6 OR bytes <= 24 * rows THEN NULL
		WHEN dead > rows THEN 'dead rows' ELSE 'free space' END AS reason) r
WHERE c.relkind = 'i' AND (indisvalid OR indrelid NOT IN (SELECT relid FROM pg_stat_progress_create_index
	WHERE relid IS NOT NULL))
ORDER BY bytes DESC;
