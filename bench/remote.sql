-- Filters between servers, over windows of days, and of many sites: figures of
-- doc/queries.md and doc/rollups.md, too. The other server is this one, over a
-- socket. The script needs a superuser and an empty database. `rows` is the
-- number of remote rows, of which 1% are wanted.
\pset pager off
SET client_min_messages = warning;
CREATE EXTENSION cuckoo;
CREATE EXTENSION postgres_fdw;
SET jit = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION ms(query text, work_mem text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
BEGIN
	PERFORM set_config('work_mem', work_mem, true);
	start := clock_timestamp();
	EXECUTE query;
	RETURN extract(epoch FROM clock_timestamp() - start) * 1000;
END $$;
CREATE TABLE figures (n serial, what text, query text, work_mem text DEFAULT '1GB');
-- medians of three, in turns
CREATE FUNCTION measured() RETURNS TABLE (what text, ms numeric) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE times ON COMMIT DROP AS SELECT n, NULL::float8 AS ms FROM figures LIMIT 0;
	FOR i IN 1..3 LOOP
		INSERT INTO times SELECT f.n, ms(f.query, f.work_mem) FROM (SELECT * FROM figures ORDER BY n) f;
	END LOOP;
	RETURN QUERY SELECT f.what, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms))::numeric, 2)
		FROM figures f JOIN times t USING (n) GROUP BY f.n, f.what ORDER BY f.n;
END $$;

-- ---- a filter here, rows there ----

CREATE TABLE orders_there AS SELECT i AS id, i::bigint * 7919 % 1000003 AS customer, 'item ' || i % 1000 AS item
	FROM generate_series(1, :rows) i;
CREATE TABLE wanted AS SELECT customer FROM orders_there TABLESAMPLE SYSTEM (100) WHERE customer % 100 = 0 GROUP BY 1;
SELECT format('host %L, port %L, dbname %L', split_part(current_setting('unix_socket_directories'), ',', 1),
	current_setting('port'), current_database()) AS there \gset
CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:there, extensions 'cuckoo');
CREATE SERVER there_10000 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:there, extensions 'cuckoo', fetch_size '10000');
CREATE USER MAPPING FOR CURRENT_USER SERVER there;
CREATE USER MAPPING FOR CURRENT_USER SERVER there_10000;
CREATE FOREIGN TABLE orders (id int, customer bigint, item text) SERVER there OPTIONS (table_name 'orders_there');
CREATE FOREIGN TABLE orders_10000 (id int, customer bigint, item text) SERVER there_10000 OPTIONS (table_name 'orders_there');
VACUUM (ANALYZE) orders_there, wanted;
ANALYZE orders;
INSERT INTO figures (what, query)
SELECT format('%s, fetch_size %s', v.what, size), format('SELECT count(*), max(item) FROM wanted JOIN %s o USING (customer)%s',
	name, condition)
FROM (VALUES ('orders', 100), ('orders_10000', 10000)) t(name, size), (VALUES
	('join that fetches all remote rows', ''),
	('join of the rows that pass the filter',
		' WHERE cf_contains((SELECT cf_agg(customer, 1e-4) FROM wanted), o.customer)')) v(what, condition)
ORDER BY size, condition;
\echo
\echo 'A filter here, rows there, ms:'
SELECT count(*) AS remote_rows, round(100.0 * count(*) FILTER (WHERE customer IN (SELECT customer FROM wanted)) / count(*), 2) AS
	percent_wanted FROM orders_there;
SELECT * FROM measured();

-- ---- rows there, a filter here ----

\echo
\echo 'What four servers send for 10 million distinct values, MB as text:'
CREATE TABLE four AS SELECT cf_agg(i, 10000000, 0.001) AS f FROM generate_series(1, 10000000) i GROUP BY i % 4;
SELECT round(sum(octet_length(f::text)) / 1e6, 1) AS filters FROM four;
TRUNCATE figures;
INSERT INTO figures (what, query) VALUES
	('cf_union_all_agg of the four filters', 'SELECT cf_count(cf_union_all_agg(f)) FROM four');
SELECT * FROM measured();
DROP TABLE four;

-- ---- windows ----

CREATE TABLE seen (day int PRIMARY KEY, f cuckoofilter);
INSERT INTO seen SELECT i / 82000, cf_agg(i, 30000000, 0.001) FROM generate_series(0, 82000 * 30 - 1) i GROUP BY 1;
CREATE TABLE incoming AS SELECT i * 5 AS id FROM generate_series(1, 1000000) i;
VACUUM (ANALYZE) seen, incoming;
TRUNCATE figures;
INSERT INTO figures (what, query, work_mem)
SELECT format(v.what, days), format(v.query, days), v.work_mem
FROM unnest(ARRAY[7, 30]) days, (VALUES
	(1, 'merge %s days: cf_union_agg', 'SELECT cf_count(cf_union_agg(f)) FROM seen WHERE day < %s', '1GB'),
	(2, 'one value, merged first, %s days', 'SELECT cf_contains(cf_union_agg(f), 5) FROM seen WHERE day < %s', '1GB'),
	(3, 'one value, <@ ANY, %s days', 'SELECT -5 <@ ANY (SELECT f FROM seen WHERE day < %s)', '1GB'),
	(4, 'a million rows, merged first, %s days',
		'SELECT count(*) FROM incoming WHERE cf_contains((SELECT cf_union_agg(f) FROM seen WHERE day < %s), id)', '1GB'),
	(5, 'a million rows, <@ ANY, %s days',
		'SELECT count(*) FROM incoming WHERE id <@ ANY (ARRAY(SELECT f FROM seen WHERE day < %s))', '1GB'),
	(6, 'the same without ARRAY, %s days',
		'SELECT count(*) FROM incoming WHERE id <@ ANY (SELECT f FROM seen WHERE day < %s)', '1GB')) v(n, what, query, work_mem)
ORDER BY days, n;
\echo
\echo 'Windows of days of 82,000 items each, capacity 30 million, ms:'
SELECT * FROM measured();

-- ---- several filters for each row ----

CREATE TABLE visits AS SELECT i * 800 AS id FROM generate_series(1, 6000) i;
VACUUM (ANALYZE) visits;
TRUNCATE figures;
INSERT INTO figures (what, query, work_mem)
SELECT format('%s, work_mem %s', v.what, work_mem), v.query, work_mem
FROM unnest(ARRAY['4MB', '16MB']) work_mem, (VALUES
	(1, 'join', 'SELECT count(*) FROM seen JOIN visits ON cf_contains(f, id)'),
	(2, '<@ ANY (SELECT f ...)', 'SELECT count(*) FROM visits WHERE id <@ ANY (SELECT f FROM seen)'),
	(3, '<@ ANY (ARRAY(SELECT f ...))', 'SELECT count(*) FROM visits WHERE id <@ ANY (ARRAY(SELECT f FROM seen))')) v(n, what, query)
ORDER BY work_mem DESC, n;
\echo
\echo '30 filters of so many bytes and 6,000 rows, ms:'
SELECT max(length(f::bytea)) AS bytes FROM seen;
SELECT * FROM measured();

-- ---- a window of days for each day ----

CREATE TABLE daily AS SELECT fresh, day, cf_agg(day * fresh + i, 600000, 0.001) AS f
FROM unnest(ARRAY[2000, 6000, 20000]) fresh, generate_series(1, 365) day, generate_series(1, 20000) i GROUP BY 1, 2;
VACUUM (ANALYZE) daily;
TRUNCATE figures;
INSERT INTO figures (what, query)
SELECT format('%s new visitors a day, %s days, %s visitors', fresh, days, 20000 + (days - 1) * fresh),
	format('SELECT sum(cf_count(f)) FROM (SELECT cf_union_agg(f) OVER (ORDER BY day ROWS %s PRECEDING) AS f
		FROM daily WHERE fresh = %s) s', days - 1, fresh)
FROM (VALUES (2000, 7), (6000, 7), (20000, 7), (6000, 30)) v(fresh, days);
\echo
\echo 'Windows of 365 days of 20,000 visitors each, capacity 600,000, ms:'
SELECT * FROM measured();
DROP TABLE daily;

-- ---- many sites ----

-- 200 sites with 22 to 4,500 visits a day, of which about a tenth are by visitors whom all sites share
CREATE TABLE site_visits AS SELECT DISTINCT site, day,
	CASE WHEN i % 10 = 0 THEN r % 300000 ELSE 1000000 * site + r % (60000 / site) END AS visitor
FROM generate_series(1, 200) site, generate_series(1, 90) day, generate_series(1, 4500 / site) i,
	LATERAL (SELECT hashint8(site * 1000000000::bigint + day * 10000 + i)::bigint & 2147483647 AS r) h;
CREATE TABLE site_daily AS SELECT site, day, cf_agg(visitor, 100000, 0.001) AS f FROM site_visits GROUP BY 1, 2;
CREATE TABLE site_monthly AS SELECT site, cf_union_agg(f) AS f FROM site_daily WHERE day <= 30 GROUP BY 1;
CREATE TABLE visitors AS SELECT DISTINCT site, visitor FROM site_visits WHERE day <= 30;
VACUUM (ANALYZE) site_visits, site_daily, site_monthly, visitors;
TRUNCATE figures;
INSERT INTO figures (what, query) VALUES
	('visitors of a month, each site: filters', 'SELECT site, cf_count(cf_union_agg(f)) FROM site_daily WHERE day <= 30 GROUP BY 1'),
	('the same: count(DISTINCT)', 'SELECT site, count(DISTINCT visitor) FROM site_visits WHERE day <= 30 GROUP BY 1'),
	('pairs of sites, a month: filters', 'SELECT sum(cf_overlap(a.f, b.f)) FROM site_monthly a JOIN site_monthly b ON a.site < b.site'),
	('the same: join of the visitors', 'SELECT a.site, b.site, count(*) FROM visitors a JOIN visitors b USING (visitor) WHERE a.site < b.site
		GROUP BY 1, 2');
\echo
\echo '200 sites, 90 days, capacity 100,000, ms:'
SELECT * FROM measured();
WITH exact AS (
	SELECT a.site AS one, b.site AS other, count(*) AS common FROM visitors a JOIN visitors b USING (visitor)
	WHERE a.site < b.site GROUP BY 1, 2
), pairs AS (
	SELECT cf_overlap(a.f, b.f) - coalesce(common, 0) AS error FROM site_monthly a JOIN site_monthly b ON a.site < b.site
		LEFT JOIN exact ON (one, other) = (a.site, b.site)
), sites AS (
	SELECT site, count(*) AS visitors, cf_count(f) - count(*) AS error FROM visitors JOIN site_monthly USING (site) GROUP BY site, f
)
SELECT round(pg_total_relation_size('site_daily') / 1e6, 1) AS mb_of_filters, round(pg_total_relation_size('site_visits') / 1e6, 1) AS mb_of_rows,
	(SELECT max(visitors) FROM sites) AS most_visitors, (SELECT max(abs(error)) FROM sites) AS largest_error,
	(SELECT round(max(abs(error))::numeric, 1) FROM pairs) AS largest_error_of_pairs;
SELECT (SELECT count(DISTINCT visitor) FROM visitors) AS visitors_of_all, items AS in_the_union, fpp_now
FROM cf_info((SELECT cf_union_agg(f) FROM site_monthly));
