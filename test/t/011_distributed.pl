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
-- the variant of an aggregate that a call over a column of this type chooses
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
INSERT INTO forms
VALUES ('', ''), (', 0.01', ', fpp double precision'),
	(', 1000, 0.01', ', capacity double precision, fpp double precision'),
	(', 1000, 0.01, 42', ', capacity double precision, fpp double precision, seed bigint');

CREATE FUNCTION holds(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
END $$;

CREATE FUNCTION message_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;

CREATE TABLE few (part int, v int);
INSERT INTO few SELECT i % 4, i * 7 % 5003 FROM generate_series(1, 15000) i;
SQL

checks($node, 'postgres', <<'SQL');
SELECT 'exact argument types: cf_agg(' || type || call || ')',
	chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element ' || type || parameters || ')'
FROM unnest('{text,citext,"\"char\"",smallint,integer,bigint,oid,uuid,bytea,date,timestamp without time zone,
	timestamp with time zone,time without time zone,interval,numeric,inet,macaddr,macaddr8}'::text[]) type, forms;
SELECT 'a state that can be sent: ' || count(*) || ' variants',
	count(*), 4 * 18, bool_and(aggtranstype = 'cuckoostate'::regtype AND aggcombinefn <> 0), true
FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname = 'cf_agg' AND aggtranstype <> 'internal'::regtype;
SELECT 'an address: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element inet)' FROM unnest('{cidr}'::text[]) type;
SELECT 'a numeric: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element numeric)'
FROM unnest('{"numeric(10,2)"}'::text[]) type;
SELECT 'a type that is a text: ' || type, chosen('cf_agg(v)', type) = 'cf_agg(element text)'
FROM unnest('{varchar,varchar(10)}'::text[]) type;
SELECT 'types without a variant, whose rows are fetched: ' || type || call,
	chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element anycompatible' || parameters || ')'
FROM unnest('{real,double precision,boolean,timetz,jsonb,integer[],color}'::text[]) type, forms;

CREATE VIEW sized AS
	SELECT part,
	test_partial_agg('cf_agg(integer,float8,float8,bigint)'::regprocedure,
		ROW(v, 10000::float8, 0.01::float8, 42::bigint))::text AS state
	FROM (SELECT part, v FROM few UNION ALL SELECT 9, NULL) s GROUP BY part;
CREATE FUNCTION combined(parts int[]) RETURNS cuckoofilter LANGUAGE sql AS
	$$ SELECT test_combine_agg('cf_agg(integer,float8,float8,bigint)'::regprocedure, state::cstring, NULL::cuckoofilter)
	FROM (SELECT NULL AS state UNION ALL SELECT state FROM sized WHERE part = ANY (parts)) s $$;
SELECT 'parameters: of all parts', combined('{0,1,2,3,9}') = (SELECT cf_agg(v, 10000, 0.01, 42) FROM few);
SELECT 'parameters: of parts that have no rows but one',
	combined('{2}') = (SELECT cf_agg(v, 10000, 0.01, 42) FROM few WHERE part = 2);
SELECT 'no values: of nulls only, and over no rows anywhere',
	combined('{9}') = cf_agg(NULL::int), true, combined('{}') = cf_agg(NULL::int), true;

-- one state, several results
SELECT 'two expressions over one aggregate', n, cf_count(f), f = (SELECT cf_agg(v) FROM few), true
FROM (SELECT test_combine_agg(agg, state::cstring, NULL::cuckoofilter) AS f,
	cf_count(test_combine_agg(agg, state::cstring, NULL::cuckoofilter)) AS n
	FROM (SELECT 'cf_agg(integer)'::regprocedure AS agg,
		test_partial_agg('cf_agg(integer)'::regprocedure, v)::text AS state FROM few GROUP BY part) p) r;
SQL

SKIP:
{
	skip 'this PostgreSQL has no ICU, so no nondeterministic collations', 1
	  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") eq '0';
	# several arguments travel as a row, which loses the collation of a text
	checks($node, 'postgres', <<'SQL');
CREATE COLLATION any_case (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE TABLE words AS SELECT v COLLATE any_case AS v FROM unnest('{word,Word,other}'::text[]) v;
SELECT 'a collation with parameters',
	(cf_info(f)).element_family, 'text',
	(SELECT (cf_info(cf_agg(v, 1000, 0.01))).element_family FROM words), '!~ ^text$'
FROM (SELECT test_combine_agg('cf_agg(text,float8,float8)'::regprocedure, state, NULL::cuckoofilter) AS f
	FROM (SELECT test_partial_agg('cf_agg(text,float8,float8)'::regprocedure,
		ROW(v, 1000::float8, 0.01::float8)) AS state FROM words) p) c;
SELECT 'a collation alone', f = (SELECT cf_agg(v) FROM words), true, (cf_info(f)).element_family, '!~ ^text$'
FROM (SELECT test_combine_agg('cf_agg(text)'::regprocedure, state, NULL::cuckoofilter) AS f
	FROM (SELECT test_partial_agg('cf_agg(text)'::regprocedure, v) AS state FROM words) p) c;
SELECT 'elements that are equal as bytes', cf_contains(f, lower('WORD' COLLATE any_case) COLLATE "C")
FROM (SELECT test_combine_agg('cf_agg(text,float8,float8)'::regprocedure, state, NULL::cuckoofilter) AS f
	FROM (SELECT test_partial_agg('cf_agg(text,float8,float8)'::regprocedure,
		ROW(lower(v) COLLATE "C", 1000::float8, 0.01::float8)) AS state FROM words) p) c;
SQL
}

# What the guide says of Citus, with functions that stand for those of Citus. A
# table has three shards, of which one is empty. They are copies, with indexes,
# made when a command runs on them.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE distributed (table_name regclass PRIMARY KEY, by text);
CREATE FUNCTION create_distributed_table(table_name regclass, by text) RETURNS void LANGUAGE sql
	AS 'INSERT INTO distributed VALUES ($1, $2)';
CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION run_command_on_shards(table_name regclass, command text, OUT shardid bigint, OUT success boolean,
	OUT result text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	shard text;
BEGIN
	FOR n IN 0 .. 2 LOOP
		shardid := 102008 + n;
		shard := format('%s_%s', table_name, shardid);
		EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL)', shard, table_name);
		EXECUTE format('INSERT INTO %s SELECT * FROM %s WHERE abs(hashtext(%I::text)) %% 2 = %s', shard, table_name,
			(SELECT by FROM distributed d WHERE d.table_name = $1), n);
		BEGIN
			EXECUTE replace(command, '%s', shard) INTO STRICT result;
			success := true;
		EXCEPTION WHEN OTHERS THEN
			success := false;
			result := 'ERROR:  ' || SQLERRM;
		END;
		RETURN NEXT;
		EXECUTE format('DROP TABLE %s', shard);
	END LOOP;
END $$;
SQL
run_blocks_left_to('011_distributed.pl', 'doc/servers.md', $node, 'postgres');
# Citus lists distributed tables in a catalog. Their own indexes are empty.
checks($node, 'postgres', <<'SQL');
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
CREATE TABLE here (user_id bigint);
CREATE INDEX here_user_id ON here USING cuckoo (user_id);
SELECT 'a table beside distributed tables',
	cf_index_check('here_user_id'), 0, (cf_index_info('here_user_id')).entries, 0;
INSERT INTO pg_dist_partition VALUES ('filters'), ('events');
SELECT 'the index of a distributed table: ' || call,
	message_of('SELECT ' || call || '(''events_user_id'')'),
	'index "events_user_id" is the index of a distributed table'
FROM unnest('{cf_index_check,cf_index_info}'::text[]) call;
SELECT 'another table', cf_index_check('here_user_id'), 0;
SQL
checks($node, 'postgres', <<'SQL');
SELECT 'the guide: ' || name,
	CASE name WHEN 'by states' THEN f = (SELECT cf_agg(user_id) FROM events)
		WHEN 'by shards' THEN f = (SELECT cf_agg(user_id, 100000000, 0.001) FROM events)
	END
FROM filters WHERE name IN ('by states', 'by shards');
SELECT 'the guide made two filters', count(*), 2 FROM filters;
SELECT 'the shards have the same users in another division, of which the union is right and the sum is not',
	count(f), 3, cf_union_agg(f) = (SELECT cf_agg(user_id, 2000, 0.001) FROM events), true,
	cf_count(cf_union_all_agg(f))::float8 / cf_count(cf_union_agg(f)), '> 1.9'
FROM (SELECT cf_agg(user_id, 2000, 0.001) AS f
	FROM (SELECT user_id FROM events UNION ALL SELECT user_id FROM events) t, generate_series(1, 3) n GROUP BY n) d;
SELECT 'a shard that fails is an error', e, 'no filter of shard 102008: ERROR:  column "nobody" does not exist'
FROM message_of($$SELECT count(*) FROM shard_filters('events', 'SELECT cf_agg(nobody) FROM %s')$$) e;
SELECT 'a shard that returns nothing is an error', e, '~ ^no filter of shard 102008: '
FROM message_of($$SELECT count(*) FROM shard_filters('events', 'SELECT NULL')$$) e;

-- what the guide says: over no rows the result can be combined, but not filled
SELECT 'no rows: combined',
	(f | g) = g, true, cf_compatible(f, g), true, (f | cf_new(10000, 0.01, 42)) = cf_new(10000, 0.01, 42), true,
	cf_compatible(cf_add(f, 1), g), false, cf_compatible(cf_add(f | cf_new(10000, 0.01, 42), 1), g), true
FROM combined('{}') f, (SELECT cf_agg(v, 10000, 0.01, 42) AS g FROM few) s;
SELECT 'what four shards send: at most 3 bytes a value', sum(octet_length(f::text)), '<= 300000',
	cf_union_all_agg(f) = (SELECT cf_agg(i, 100000, 0.001) FROM generate_series(1, 100000) i), true
FROM (SELECT cf_agg(i, 100000, 0.001) AS f FROM generate_series(1, 100000) i GROUP BY i % 4) s;
SQL

# without cuckoo_citus the rows of any type are fetched
$node->safe_psql('postgres', 'DROP EXTENSION cuckoo_citus CASCADE');
checks($node, 'postgres', <<'SQL');
SELECT 'without cuckoo_citus: ' || type || call,
	chosen('cf_agg(v' || call || ')', type) = 'cf_agg(element anycompatible' || parameters || ')'
FROM unnest('{text,citext,bigint,numeric}'::text[]) type, forms;
SQL

$node->stop;
done_testing();
