-- The block list and its filters: psql -f blocklist.sql
--
-- The table is exact, and answers the few questions that the filters leave open.
-- publish() builds the filters from it. It returns the names of those that have
-- changed, and leaves the others as they are.
CREATE EXTENSION IF NOT EXISTS cuckoo;

-- a wildcard blocks all domains below it, too
CREATE TABLE blocked (
	domain text NOT NULL,
	wildcard boolean NOT NULL,
	PRIMARY KEY (domain, wildcard)
);

-- the etag is for HTTP: equal bytes have equal tags, on any server
CREATE TABLE filters (
	name text PRIMARY KEY,
	f cuckoofilter NOT NULL,
	etag text GENERATED ALWAYS AS (encode(sha256(f::bytea), 'hex')) STORED
);

-- There are few wildcards, and an address has several domains above it, so a
-- rate at which they cost no questions is nearly free.
CREATE FUNCTION publish() RETURNS SETOF text LANGUAGE sql AS $$
	INSERT INTO filters AS old (name, f)
	SELECT 'domains', cf_agg(domain, 0.001) FROM blocked WHERE NOT wildcard
	UNION ALL
	SELECT 'wildcards', cf_agg(domain, 1e-6) FROM blocked WHERE wildcard
	ON CONFLICT (name) DO UPDATE SET f = excluded.f WHERE old.f <> excluded.f
	RETURNING name;
$$;
