# What engines that distribute aggregates, such as Citus, rely on, rule by rule.
#
# Such an engine knows an aggregate by its oid.  It ships one whose declared
# argument types are concrete and whose state is not internal, and fetches the
# rows for any other.  Those that it ships are in the extension cuckoo_citus.
# 003_other_extensions has the states themselves.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('distributed');

plan skip_all => 'needs make -C test/module install' if !partial_aggregates($node);
plan skip_all => 'this PostgreSQL has no citext' if !citus($node);

$node->safe_psql('postgres', <<'SQL');
CREATE TYPE color AS ENUM ('red', 'green');
-- the form of an aggregate that a call over a column of this type chooses
CREATE FUNCTION chosen(call text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
BEGIN
	EXECUTE format('CREATE TABLE typed (v %s)', type);
	EXECUTE format('CREATE VIEW calling AS SELECT %s AS f FROM typed', call);
	SELECT format('%s(%s)', proname, pg_get_function_identity_arguments(p.oid)) INTO form
	FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
		JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
	WHERE r.ev_class = 'calling'::regclass AND prokind = 'a';
	DROP VIEW calling;
	DROP TABLE typed;
	RETURN form;
END $$;
CREATE TABLE forms (call text, parameters text);
INSERT INTO forms VALUES ('', ''), (', 0.01', ', fpp double precision'), (', 1000, 0.01', ', capacity double precision, fpp double precision'),
	(', 1000, 0.01, 42', ', capacity double precision, fpp double precision, seed bigint');

CREATE FUNCTION holds(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
END $$;

CREATE TABLE few (part int, v int);
INSERT INTO few SELECT i % 4, i * 7 % 5003 FROM generate_series(1, 15000) i;
SQL

checks($node, 'postgres', <<'SQL');
SELECT 'exact argument types: cf_agg(' || type || call || ')', chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element ' || type || parameters || ')'
FROM unnest('{text,citext,"\"char\"",smallint,integer,bigint,oid,uuid,bytea,date,timestamp without time zone,timestamp with time zone,time without time zone,interval,numeric,inet,macaddr,macaddr8}'::text[]) type, forms;
SELECT 'an address: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element inet)' FROM unnest('{cidr}'::text[]) type;
SELECT 'a numeric: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element numeric)' FROM unnest('{"numeric(10,2)"}'::text[]) type;
SELECT 'a type that is a text: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element text)' FROM unnest('{varchar,varchar(10)}'::text[]) type;
SELECT 'types without a form, whose rows are fetched: ' || type || call, chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element anycompatible' || parameters || ')'
FROM unnest('{real,double precision,boolean,timetz,jsonb,integer[],color}'::text[]) type, forms;

-- as the partial state of no rows is none, so are the parameters
CREATE VIEW sized AS SELECT part, test_partial_agg('cf_agg(integer,float8,float8,bigint)'::regprocedure, ROW(v, 10000::float8, 0.01::float8, 42::bigint))::text AS state
	FROM (SELECT part, v FROM few UNION ALL SELECT 9, NULL) s GROUP BY part;
CREATE FUNCTION combined(parts int[]) RETURNS cuckoofilter LANGUAGE sql AS
	$$ SELECT test_combine_agg('cf_agg(integer,float8,float8,bigint)'::regprocedure, state::cstring, NULL::cuckoofilter)
	FROM (SELECT NULL AS state UNION ALL SELECT state FROM sized WHERE part = ANY (parts)) s $$;
SELECT 'parameters: of all parts', combined('{0,1,2,3,9}') = (SELECT cf_agg(v, 10000, 0.01, 42) FROM few);
SELECT 'parameters: of parts that have no rows but one', combined('{2}') = (SELECT cf_agg(v, 10000, 0.01, 42) FROM few WHERE part = 2);
SELECT 'parameters: of nulls only', combined('{9}') = cf_new(10000, 0.01, 42);
SELECT 'parameters: over no rows anywhere an empty filter, an exact fit', combined('{}') = cf_agg(NULL::int);

-- one state, several results
SELECT 'two expressions over one aggregate', n = cf_count(f) AND f = (SELECT cf_agg(v) FROM few)
FROM (SELECT test_combine_agg(agg, state::cstring, NULL::cuckoofilter) AS f, cf_count(test_combine_agg(agg, state::cstring, NULL::cuckoofilter)) AS n
	FROM (SELECT 'cf_agg(integer)'::regprocedure AS agg, test_partial_agg('cf_agg(integer)'::regprocedure, v)::text AS state FROM few GROUP BY part) p) r;
CREATE TABLE shared AS SELECT cf_agg(v::text) AS f, cf_state_agg(v::text) AS s, cf_count(cf_agg(v::text)) AS n, cf_agg(v::text) FILTER (WHERE v < 100) AS g FROM few;
CREATE TABLE shared_other AS SELECT cf_state_agg(v::text) AS s, cf_agg(v::text) AS f, cf_state_agg(v::text)::text AS t FROM few;
SELECT 'an aggregate and its state in one query', a.f = b.f AND a.n = cf_count(a.f) AND a.s::text = b.s::text AND b.s::text = b.t AND cuckoo_agg_final(a.s) = a.f
	AND a.f = (SELECT cf_agg(v::text) FROM few) AND g = (SELECT cf_agg(v::text) FROM few WHERE v < 100)
FROM shared a, shared_other b;

SELECT 'cf_state_agg(' || type || types || ') by partial states',
	holds(format('SELECT test_combine_agg(%1$L::regprocedure, state, NULL::cuckoostate)::text = (SELECT cf_state_agg(%4$s%3$s)::text FROM few)
		FROM (SELECT test_partial_agg(%1$L::regprocedure, %2$s) AS state FROM few GROUP BY part) s',
		'cf_state_agg(' || type || types || ')', CASE types WHEN '' THEN value ELSE 'ROW(' || value || args || ')' END, args, value))
FROM (VALUES ('', ''), (',float8', ', 0.01::float8'), (',float8,float8', ', 10000::float8, 0.0001::float8'),
	(',float8,float8,bigint', ', 10000::float8, 0.01::float8, 42::bigint')) AS form(types, args),
	(VALUES ('text', 'v::text'), ('integer', 'v'), ('uuid', 'md5(v::text)::uuid'), ('numeric', 'v / 7.0'), ('inet', 'inet ''10.0.0.0'' + v')) AS t(type, value);
-- the way by hand, for the types whose rows would be fetched
SELECT 'states by hand, as text: ' || type,
	holds(format('SELECT cf_merge_agg(s::cuckoostate) = (SELECT cf_agg(%1$s) FROM few) FROM (SELECT cf_state_agg(%1$s)::text AS s FROM few GROUP BY part) s', value))
FROM (VALUES ('timetz', 'timetz ''00:00+00'' + v * interval ''1 s'''), ('float8', 'v::float8'), ('jsonb', 'to_jsonb(v)'), ('integer[]', 'ARRAY[v, 1]'), ('boolean', 'v > 5')) AS t(type, value);
SQL

# What the guide says of Citus, with a function that stands for the one of
# Citus. One of the shards is empty.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE events (shard int, user_id bigint) PARTITION BY LIST (shard);
CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1);
CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
CREATE TABLE events_3 PARTITION OF events FOR VALUES IN (3);
INSERT INTO events SELECT 1 + i % 2, i FROM generate_series(1, 3000) i;
CREATE FUNCTION run_command_on_shards(table_name regclass, command text, OUT shardid bigint, OUT success boolean, OUT result text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	success := true;
	FOR shardid IN SELECT inhrelid FROM pg_inherits WHERE inhparent = table_name LOOP
		EXECUTE format(command, shardid::regclass) INTO result;
		RETURN NEXT;
	END LOOP;
END $$;
SQL
run_blocks_left_to('011_distributed.pl', 'doc/scale.md', $node, 'postgres');
checks($node, 'postgres', <<'SQL');
SELECT 'the guide: ' || name, f = CASE name WHEN 'by states' THEN (SELECT cf_agg(user_id) FROM events) ELSE (SELECT cf_agg(user_id, 100000000, 0.001) FROM events) END
FROM user_filters;
SELECT 'what four shards send: at most 3 bytes a value as filters, 11 as states', sum(octet_length(f::text)) <= 3 * 100000 AND sum(octet_length(s::text)) <= 11 * 100000
	AND cf_union_all_agg(f) = (SELECT cf_agg(i, 100000, 0.001) FROM generate_series(1, 100000) i)
FROM (SELECT cf_agg(i, 100000, 0.001) AS f, cf_state_agg(i) AS s FROM generate_series(1, 100000) i GROUP BY i % 4) s;
SQL

# without cuckoo_citus the rows of any type are fetched
$node->safe_psql('postgres', 'DROP EXTENSION cuckoo_citus CASCADE');
checks($node, 'postgres', <<'SQL');
SELECT 'without cuckoo_citus: ' || type || call, chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element anycompatible' || parameters || ')'
FROM unnest('{text,citext,bigint,numeric}'::text[]) type, forms;
SQL

$node->stop;
done_testing();
