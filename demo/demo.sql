-- What demo/run.sh shows: a block list of web pages as a cuckoo filter.
-- Variables: home_pages, a file of URLs; seconds, what the clock shows.

SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64MB';
SELECT set_config('demo.began', (clock_timestamp() - :seconds * interval '1 s')::text, false) \g /dev/null

CREATE FUNCTION step(what text) RETURNS text LANGUAGE sql AS $$
  SELECT format('[%s s] %s',
    round(extract(epoch FROM clock_timestamp() - current_setting('demo.began')::timestamptz)), what)
$$;

-- a number in [0, 1) that looks random and is the same in every run
CREATE FUNCTION dice(i bigint, throw bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT (hashint8extended(i, throw) & 1048575) / 1048576.0::float8
$$;

-- the median time of three runs, in milliseconds
CREATE FUNCTION time_of(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz;
  times float8[];
BEGIN
  FOR i IN 1..3 LOOP
    began := clock_timestamp();
    EXECUTE query;
    times[i] := 1000 * extract(epoch FROM clock_timestamp() - began);
  END LOOP;
  RETURN (SELECT round(percentile_disc(0.5) WITHIN GROUP (ORDER BY t)::numeric) FROM unnest(times) t);
END
$$;

CREATE EXTENSION cuckoo;

-- The data

SELECT step('loading home pages');
CREATE TABLE home_pages (url text);
COPY home_pages FROM :'home_pages' (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02');
CREATE TABLE sites AS
  SELECT rtrim(url, '/') AS url,
    row_number() OVER (ORDER BY hashtextextended(url, 1))::float8 AS rank
  FROM (SELECT DISTINCT url FROM home_pages) u;
SELECT count(*) AS sites FROM sites \gset

CREATE FUNCTION page(site text, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE n WHEN 1 THEN site || '/' ELSE format('%s/%s/%s', site,
    (array['docs', 'news', 'wiki', 'issues', 'download'])[n % 5 + 1], n) END
$$;

-- The n-th most popular site is visited in proportion to 1/n, and so is the
-- n-th most popular page of a site.
SELECT step('2,000,000 visits in a month to pages of ' || :sites || ' sites');
CREATE TABLE visits AS
  SELECT timestamptz '2026-01-01' + i * interval '1.29 s' AS at, page(url, n) AS url
  FROM (SELECT i, floor(:sites ^ dice(i, 1)) AS rank, floor(1000 ^ dice(i, 2))::int AS n
        FROM generate_series(1, 2000000) i) v
    JOIN sites USING (rank);

-- Blocked are pages anywhere, popular or not.
SELECT step('a block list');
CREATE TABLE blocked AS
  SELECT DISTINCT page(url, n) AS url
  FROM (SELECT 1 + floor(:sites * dice(i, 3)) AS rank, 1 + floor(1000 * dice(i, 4))::int AS n
        FROM generate_series(1, 500000) i) b
    JOIN sites USING (rank);
VACUUM ANALYZE visits, blocked;

-- The filter, and what it replaces

\set build 'INSERT INTO filters SELECT ''blocked'', cf_agg(url, 0.001) FROM blocked'
SELECT step(:'build');
CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter NOT NULL);
SELECT clock_timestamp() AS began \gset
:build;
SELECT 1000 * extract(epoch FROM clock_timestamp() - :'began') AS build_ms \gset
SELECT step('CREATE UNIQUE INDEX ON blocked (url)');
CREATE UNIQUE INDEX blocked_url ON blocked (url);

SELECT step('probing every page visited or blocked');
SELECT count(*) AS listed,
    count(*) FILTER (WHERE NOT cf_contains((SELECT f FROM filters WHERE name = 'blocked'), url)) AS missed
  FROM blocked \gset
SELECT count(*) AS absent,
    count(*) FILTER (WHERE cf_contains((SELECT f FROM filters WHERE name = 'blocked'), url)) AS false_positives
  FROM (SELECT url FROM visits EXCEPT SELECT url FROM blocked) absent \gset

-- The visits to blocked pages, found in three ways. Each query runs three times,
-- and the median counts.

\set scan 'SELECT count(url) FROM visits'
\set exact 'SELECT count(*) FROM visits WHERE url IN (SELECT url FROM blocked)'
\set filter 'SELECT count(*) FROM visits WHERE cf_contains((SELECT f FROM filters WHERE name = ''blocked''), url)'
\set both :filter ' AND url IN (SELECT url FROM blocked)'
SELECT step('visits to blocked pages, by the filter');
SELECT time_of(:'scan') AS scan_ms, time_of(:'filter') AS filter_ms \gset
:filter \gset filter_
SELECT step('the same by IN (SELECT url FROM blocked)');
SELECT time_of(:'exact') AS exact_ms \gset
:exact \gset exact_
SELECT step('the same by both');
SELECT time_of(:'both') AS both_ms \gset
:both \gset both_

-- A filter is a value: it joins like one and is updated like one.

SELECT step('a join, an addition, a deletion');
SELECT name, count(*) AS hits, count(DISTINCT url) AS hit_pages
  FROM visits JOIN filters ON cf_contains(f, url)
  WHERE at < '2026-01-02'
  GROUP BY name \gset

\set page https://phishing.example/login
\set look 'SELECT cf_contains(f, :\'page\') FROM filters WHERE name = ''blocked'''
:look \gset before_
UPDATE filters SET f = cf_add(f, :'page') WHERE name = 'blocked';
:look \gset added_
UPDATE filters SET f = cf_delete(f, :'page') WHERE name = 'blocked';
:look \gset deleted_

-- A month from its days, without their pages; and what two days have in common.

\set month_of 'cf_agg(url, 1000000, 0.001)'
SELECT step('a filter for each day of the month: ' || :'month_of');
CREATE TABLE days AS SELECT at::date AS day, :month_of AS f FROM visits GROUP BY 1;
\set union 'SELECT cf_union_agg(f) FROM days'
SELECT step(:'union');
CREATE TABLE month AS SELECT (:union) AS f;
SELECT time_of(:'union') AS union_ms, time_of('SELECT ' || :'month_of' || ' FROM visits') AS month_ms \gset
SELECT count(*) FILTER (WHERE NOT cf_contains((SELECT f FROM month), url)) AS lost FROM visits \gset
\set overlap 'SELECT cf_overlap(a.f, b.f) FROM days a, days b WHERE a.day = ''2026-01-01'' AND b.day = ''2026-01-02'''
\set day_of 'SELECT url FROM visits WHERE at::date = date ''2026-01-01'''
\set in_both 'SELECT count(*) FROM (' :day_of ' INTERSECT ' :day_of ' + 1) s'
SELECT step('pages of the first day that were visited on the second');
SELECT time_of(:'overlap') AS overlap_ms, time_of(:'in_both') AS in_both_ms \gset
:overlap \gset
:in_both \gset in_both_

-- An index finds rows while sessions add to the table, refuses duplicates, and
-- VACUUM cleans it.

CREATE TABLE sizes (i int, method text, bytes bigint, ms float8);
CREATE PROCEDURE measure_index(i int, method text) LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz := clock_timestamp();
BEGIN
  EXECUTE format('CREATE INDEX visited ON visits USING %s (url)', method);
  INSERT INTO sizes
    SELECT i, method, pg_relation_size('visited'), 1000 * extract(epoch FROM clock_timestamp() - began);
END
$$;
\set index 'CREATE INDEX visited ON visits USING cuckoo (url)'
SELECT step(:'index' || ', and by hash and B-tree');
CALL measure_index(3, 'btree');
DROP INDEX visited;
CALL measure_index(2, 'hash');
DROP INDEX visited;
CALL measure_index(1, 'cuckoo');
CREATE TABLE sample AS
  SELECT url FROM blocked WHERE url IN (SELECT url FROM visits) ORDER BY hashtext(url) LIMIT 100;
\set by_index 'SELECT count(*) FROM visits WHERE url = ANY (ARRAY(SELECT url FROM sample))'
\set by_join 'SELECT count(*) FROM visits WHERE url IN (SELECT url FROM sample)'
SELECT step('visits to 100 blocked pages, by the index');
SELECT time_of(:'by_index') AS by_index_ms \gset
:by_index \gset by_index_
SELECT step('the same by a hash join');
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SELECT time_of(:'by_join') AS by_join_ms \gset
:by_join \gset by_join_
RESET enable_bitmapscan;
RESET enable_indexscan;
SELECT step('four sessions add 100,000 visits to new pages');
\! printf '%s\n' "INSERT INTO visits SELECT now(), format('https://new.example/%s/%s', :client_id, random()) FROM generate_series(1, 100);" | pgbench -n -c 4 -t 250 -f /dev/stdin >/dev/null 2>&1
SELECT count(*) AS added FROM visits WHERE url LIKE 'https://new.example/%' \gset
SELECT cf_index_check('visited') = count(*) AS all_found FROM visits \gset
SELECT step('VACUUM after 200,000 visits were deleted');
DELETE FROM visits WHERE ctid IN (SELECT ctid FROM visits LIMIT 200000);
VACUUM visits;
SELECT entries AS entries_left FROM cf_index_info('visited') \gset
SELECT count(*) AS rows_left FROM visits \gset
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END
$$;
\set pages 'CREATE TABLE pages (url text, CONSTRAINT once EXCLUDE USING cuckoo (url WITH =))'
\set again 'INSERT INTO pages SELECT url FROM pages LIMIT 1'
SELECT step('the pages of a day, each once');
:pages;
SELECT count(*) AS day_visits FROM visits WHERE at::date = '2026-01-15' \gset
INSERT INTO pages SELECT url FROM visits WHERE at::date = '2026-01-15' ON CONFLICT DO NOTHING;
SELECT error_of(:'again') AS refused \gset

-- The report

SELECT step('done');
CREATE FUNCTION n(n numeric) RETURNS text LANGUAGE sql AS $$
  SELECT to_char(n, 'FM999,999,999,990')
$$;
CREATE FUNCTION row_of(what text, variadic cells text[]) RETURNS text LANGUAGE sql AS $$
  SELECT '  ' || rpad(what, 36) || string_agg(lpad(c, 16), '' ORDER BY i)
  FROM unnest(cells) WITH ORDINALITY u(c, i)
$$;

\echo
SELECT format('A block list of %s pages', n(:listed));
SELECT format('  %s;', :'build');
\echo
SELECT row_of('Space', 'in all', 'for a page');
SELECT row_of(what, n(size / 1000) || ' kB', round(8.0 * size / :listed, 1) || ' bits')
  FROM (VALUES
    (1, 'the pages, bare text', (SELECT sum(octet_length(url)) FROM blocked)),
    (2, 'their unique B-tree index', pg_relation_size('blocked_url')),
    (3, 'the filter', (SELECT (cf_info(f)).bytes FROM filters))) v(i, what, size)
  ORDER BY i;
\echo
SELECT row_of('False answers', 'asked for', 'measured');
SELECT row_of(n(:absent) || ' absent pages, found', '0.1 %',
  round(100.0 * :false_positives / :absent, 3) || ' %');
SELECT row_of(n(:listed) || ' blocked pages, missed', '0', n(:missed));
\echo
SELECT row_of('Visits to blocked pages', 'time', 'found');
SELECT row_of('reading the visits alone', n(:scan_ms) || ' ms', '');
SELECT row_of('the filter', n(:filter_ms) || ' ms', n(:filter_count));
SELECT row_of('IN (SELECT url FROM blocked)', n(:exact_ms) || ' ms', n(:exact_count));
SELECT row_of('both, for an exact answer', n(:both_ms) || ' ms', n(:both_count));
\echo '  (2,000,000 visits, one process, all cached, work_mem 64 MB, median of three)'
SELECT format(E'  The filter finds %s visits too many: %s %% of the\n'
  '  visits to pages that are not blocked. The requested rate was 0.1 %%.',
  n(:filter_count - :exact_count),
  round(100.0 * (:filter_count - :exact_count) / (2000000 - :exact_count), 3));
\echo
SELECT row_of('JOIN filters ON cf_contains(f, url)', 'visits', 'pages');
SELECT row_of(:'name' || ', on the first day', n(:hits), n(:hit_pages));
\echo
SELECT row_of('UPDATE filters SET ...', 'cf_contains');
SELECT row_of('before', :'before_cf_contains');
SELECT row_of('f = cf_add(f, url)', :'added_cf_contains');
SELECT row_of('f = cf_delete(f, url)', :'deleted_cf_contains');
\echo
SELECT row_of('A filter of the month''s pages', 'time', 'missed');
SELECT row_of('the days'' filters, cf_union_agg(f)', n(:union_ms) || ' ms', n(:lost));
SELECT row_of('all visits, cf_agg(url, ...)', n(:month_ms) || ' ms', '');
SELECT format(E'  %s days have filters of %s kB in all, the month one of %s kB. All are made for\n'
  '  the capacity of the month, so they can be combined without their pages.',
  count(*), n(sum((cf_info(f)).bytes) / 1000), n((SELECT (cf_info(f)).bytes FROM month) / 1000)) FROM days;
\echo
SELECT row_of('Pages of both the 1st and the 2nd', 'time', 'found');
SELECT row_of('cf_overlap(a.f, b.f)', n(:overlap_ms) || ' ms', n(round(:cf_overlap)));
SELECT row_of('INTERSECT of the visits', n(:in_both_ms) || ' ms', n(:in_both_count));
SELECT format(E'  The estimate is off by %s. Its standard error is at most %s; the filters held\n'
  '  %s and %s pages.', abs(round(:cf_overlap) - :in_both_count),
  greatest(1, round(sqrt(cf_count(b.f) * (cf_info(a.f)).fpp_now)::numeric)), n(cf_count(a.f)), n(cf_count(b.f)))
  FROM days a, days b WHERE a.day = '2026-01-01' AND b.day = '2026-01-02';
\echo
SELECT format('An index of %s visits', n(2000000));
SELECT format('  %s;', :'index');
SELECT row_of('', 'size', 'time');
SELECT row_of('USING ' || method, n(bytes / 1000) || ' kB', n(ms::numeric) || ' ms') FROM sizes ORDER BY i;
\echo
SELECT row_of('Visits to 100 blocked pages', 'time', 'found');
SELECT row_of('by the index', n(:by_index_ms) || ' ms', n(:by_index_count));
SELECT row_of('by a hash join', n(:by_join_ms) || ' ms', n(:by_join_count));
\echo
SELECT row_of('Four sessions at once', 'rows added', 'all found');
SELECT row_of('INSERT INTO visits ...', n(:added), :'all_found');
\echo
SELECT row_of('VACUUM after deleting 200,000 rows', 'entries', 'rows');
SELECT row_of('', n(:entries_left), n(:rows_left));
\echo
SELECT format('  %s;', :'pages');
SELECT row_of('INSERT ... ON CONFLICT DO NOTHING', 'visits', 'rows');
SELECT row_of('', n(:day_visits), n(count(*))) FROM pages;
SELECT format(E'  %s;\n  ERROR: %s', :'again', :'refused');
\echo
