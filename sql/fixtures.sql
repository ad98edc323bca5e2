-- Filters of format 1 that were stored once are read and answer as they did then.
-- test/fixtures/make.sh says what the columns are, and how lines are added.
\set ECHO none
\set folder `echo "${PG_ABS_SRCDIR:-.}/test/fixtures"`
\set functions :folder /functions.sql
\i :functions
\set ECHO all
\set filters `cd "${PG_ABS_SRCDIR:-.}/test/fixtures" && cat filters.txt`
CREATE TYPE color AS ENUM ('red', 'green', 'blue', 'white');
CREATE TABLE fixtures AS
SELECT c[1] AS name, c[2] AS element, c[3]::int AS n, format('(%s,0,%s,%s)', c[4], c[5], c[6]) AS facts, c[8] AS image
FROM (SELECT string_to_array(line, E'\t') AS c
	FROM regexp_split_to_table(:'filters', E'\n') line WHERE line <> '') lines;
CREATE TABLE stored AS SELECT *, image::cuckoofilter AS f FROM fixtures;
ALTER TABLE stored ALTER f SET STORAGE external;
-- how much there is
SELECT (cf_info(f)).element_family AS family, count(*), min((cf_info(f)).fingerprint_bits) AS min_bits,
	max((cf_info(f)).fingerprint_bits) AS max_bits,
	max((cf_info(f)).growth_level) AS max_level, count(*) FILTER (WHERE get_byte(f::bytea, 7) = 1) AS with_windows,
	count(DISTINCT (cf_info(f)).seed) AS seeds
FROM stored GROUP BY 1 ORDER BY 1;
-- the same bytes come out, as text and as an image
SELECT name, form FROM stored, LATERAL (VALUES ('text', f::text = image), ('bytea', f::bytea = decode(image, 'base64')),
	('bytea and back', f::bytea::cuckoofilter = f)) v(form, same)
WHERE NOT same;
-- what was found of each once, stored or not: items, missing elements, copies, and a digest of the answers
SELECT s.name, found, facts AS truth FROM stored s, fixture_facts(f, element, n) found
WHERE found::text IS DISTINCT FROM facts;
SELECT s.name, found, facts AS truth FROM fixtures s, fixture_facts(image::cuckoofilter, element, n) found
WHERE found::text IS DISTINCT FROM facts;
-- the same keys at another level, and in other places
SELECT s.name, found, facts AS truth FROM stored s, fixture_facts(cf_canonical(f), element, n) found
WHERE found::text IS DISTINCT FROM facts;
SELECT s.name, found, facts AS truth FROM stored s, fixture_facts(grown(f), element, n) found
WHERE (cf_info(f)).fingerprint_bits > 8 AND (cf_info(f)).element_family = 'integer'
	AND found::text IS DISTINCT FROM facts;
-- filters of today can be combined with them
SELECT name FROM stored WHERE name ~ '^family .*, capacity' AND NOT cf_compatible(f, cf_new(500, 0.01, 7));
SELECT seen(cf_canonical(f)) AS value, (SELECT seen(cf_union_all_agg(part))
	FROM (SELECT cf_agg(i, 500, 0.01, 7) AS part FROM generate_series(1, 40) i GROUP BY i % 3) parts) AS truth
FROM stored WHERE name = 'family integer, capacity 500';
DROP TABLE fixtures, stored;
DROP TYPE color;
DROP FUNCTION fixture_facts;
