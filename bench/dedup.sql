-- Ways to deduplicate a stream of events: bench/dedup.sh runs them.
--
--	:way	unique, exclude, index, filter, tree or part
--	:base	events that are there before
--	:ids	ids that the stream draws from
--
-- Event k of the stream always has the same id, so that what was lost can be
-- counted at the end. All functions take a batch of ids, and tell nothing.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS dedup CASCADE;
CREATE SCHEMA dedup;
SET search_path = dedup, public;
CREATE EXTENSION IF NOT EXISTS cuckoo SCHEMA public;

CREATE SEQUENCE batches;
SELECT format('CREATE FUNCTION event_id(k bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	''SELECT (hashint8extended(k, 1) & 4611686018427387903) %% %s''', :ids) \gexec
CREATE FUNCTION batch(b bigint, n int) RETURNS bigint[] LANGUAGE sql AS
	'SELECT array_agg(dedup.event_id(k)) FROM generate_series(b * n, b * n + n - 1) k';

SELECT :'way' = 'unique' AS this \gset
\if :this
-- a unique index; in the order of ids, because sessions would deadlock otherwise
CREATE TABLE unique_events (id bigint NOT NULL, payload text);
INSERT INTO unique_events SELECT -i, 'event ' || i FROM generate_series(1, :base) i;
ALTER TABLE unique_events ADD PRIMARY KEY (id);
CREATE FUNCTION take_unique(ids bigint[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO dedup.unique_events SELECT id, 'event ' || id FROM unnest(ids) id ORDER BY id ON CONFLICT DO NOTHING
$$;
\endif

SELECT :'way' = 'exclude' AS this \gset
\if :this
-- an exclusion constraint with a cuckoo index, in the order of ids as above
CREATE TABLE exclude_events (id bigint NOT NULL, payload text);
INSERT INTO exclude_events SELECT -i, 'event ' || i FROM generate_series(1, :base) i;
ALTER TABLE exclude_events ADD EXCLUDE USING cuckoo (id WITH =);
CREATE FUNCTION take_exclude(ids bigint[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO dedup.exclude_events SELECT id, 'event ' || id FROM unnest(ids) id ORDER BY id ON CONFLICT DO NOTHING
$$;
\endif

SELECT :'way' = 'filter' AS this \gset
\if :this
-- a stored filter, locked by the batch
CREATE TABLE filter_events (id bigint NOT NULL, payload text);
INSERT INTO filter_events SELECT -i, 'event ' || i FROM generate_series(1, :base) i;
CREATE TABLE seen (f cuckoofilter);
INSERT INTO seen SELECT cf_agg(id, 10000000, 1e-6) FROM filter_events;
CREATE FUNCTION take_filter(ids bigint[]) RETURNS void LANGUAGE sql AS $$
	WITH old AS (
		SELECT f FROM dedup.seen FOR UPDATE
	), new AS MATERIALIZED (
		SELECT n.filter, n.added FROM old, cf_add_unique_each(old.f, ids) n
	), stored AS (
		UPDATE dedup.seen SET f = filter FROM new WHERE true = ANY (added)
	)
	INSERT INTO dedup.filter_events SELECT id, 'event ' || id FROM new, unnest(ids, added) AS e (id, fresh) WHERE fresh
$$;
\endif

SELECT :'way' = 'index' AS this \gset
\if :this
-- a cuckoo index
CREATE TABLE index_events (id bigint NOT NULL, payload text);
INSERT INTO index_events SELECT -i, 'event ' || i FROM generate_series(1, :base) i;
CREATE INDEX index_events_id ON index_events USING cuckoo (id);
CREATE FUNCTION take_index(ids bigint[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO dedup.index_events SELECT DISTINCT n.id, 'event ' || n.id FROM unnest(ids) n (id)
	WHERE NOT EXISTS (SELECT FROM dedup.index_events e WHERE e.id = n.id)
$$;
\endif

SELECT :'way' IN ('tree', 'part') AS this, CASE :'way' WHEN 'tree' THEN 'btree' ELSE 'cuckoo' END AS method \gset
\if :this
-- ten partitions with B-trees or cuckoo indexes, of which the last takes what arrives
\set table :way _events
CREATE TABLE :table (id bigint NOT NULL, payload text, day int) PARTITION BY LIST (day);
SELECT format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES IN (%2$s)', :'table', day) FROM generate_series(1, 10) day \gexec
INSERT INTO :table SELECT -i, 'event ' || i, 1 + i % 10 FROM generate_series(1, :base) i;
CREATE INDEX ON :table USING :method (id);
SELECT format('CREATE FUNCTION take_%s(ids bigint[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO dedup.%s SELECT DISTINCT n.id, ''event '' || n.id, 10 FROM unnest(ids) n (id)
	WHERE NOT EXISTS (SELECT FROM dedup.%2$s e WHERE e.id = n.id)
$$', :'way', :'table') \gexec
\endif

-- what each has on disk, and what of the first n events it lost or took twice
CREATE FUNCTION megabytes(t text) RETURNS numeric LANGUAGE sql AS $$
	SELECT round(sum(pg_total_relation_size(c.oid)) / 1e6) FROM pg_class c
	WHERE relnamespace = 'dedup'::regnamespace AND relkind = 'r' AND (relname ~ ('^' || t || '_') OR t = 'filter' AND relname = 'seen')
$$;
CREATE FUNCTION outcome(t text, n bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	EXECUTE format('SELECT count(*) FILTER (WHERE e.id IS NULL) AS lost, coalesce(sum(e.times - 1), 0) AS twice
		FROM (SELECT DISTINCT dedup.event_id(k) AS id FROM generate_series(0, $1 - 1) k) s
		LEFT JOIN (SELECT id, count(*) AS times FROM dedup.%s_events GROUP BY id) e USING (id)', t) INTO r USING n;
	RETURN format('%s lost, %s twice', r.lost, r.twice);
END $$;
ANALYZE;
CHECKPOINT;
