# Replication: servers that receive filters have the same bytes, and give the
# same answers.
#
# Logical replication runs in text and binary, with and without a key. With
# REPLICA IDENTITY FULL the subscriber looks for the old row by all its columns,
# for which it needs an operator class of cuckoofilter.
#
# A hot standby probes, scans, explains and merges filters, although it cannot
# change them until it is promoted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $publisher = start_node('publisher', 'wal_level = logical', 'max_wal_senders = 5', 'max_replication_slots = 5',
	'hot_standby = on', 'max_parallel_workers_per_gather = 0');
my $subscriber = start_node('subscriber');
my $connection = $publisher->connstr . ' dbname=postgres';
my %databases = (postgres => '', binary => 'WITH (binary = true)');

# short, inline and TOASTed filters; two rows differ in their filters only
my $tables = <<'SQL';
CREATE TABLE t (name text, f cuckoofilter);
ALTER TABLE t REPLICA IDENTITY FULL;
CREATE TABLE keyed (n int PRIMARY KEY, v int, f cuckoofilter);
SQL
my $content = <<'SQL';
SELECT name, md5(f::bytea), cf_count(f) FROM t
UNION ALL SELECT n || ' ' || v, md5(f::bytea), cf_count(f) FROM keyed ORDER BY 1, 2
SQL
# all elements are found
my $answers = <<'SQL';
SELECT count(*) = 50503 AND bool_and(cf_contains(f, i)) FROM keyed, generate_series(1, 50000) i WHERE i <= n;
SELECT bool_and(f = (SELECT cf_agg(i, 60000, 0.001) FROM generate_series(1, n) i)) FROM keyed;
SELECT cf_count(cf_union_agg(f)) BETWEEN 49900 AND 50000 FROM keyed;
SELECT bool_and(cf_contains_all(f, ARRAY[1, 2, 3]) AND NOT cf_contains_any(f, ARRAY[-1, -2])) FROM keyed;
SQL

$publisher->safe_psql('postgres', <<"SQL");
$tables
INSERT INTO t VALUES ('short', cf_new(10)), ('null', NULL);
INSERT INTO t SELECT 'filled', cf_agg(i) FROM generate_series(1, 50000) i, (VALUES (500), (50000), (49999)) v(n) WHERE i <= n GROUP BY n;
INSERT INTO keyed SELECT n, 1, cf_agg(i, 60000, 0.001) FROM generate_series(1, 50000) i, (VALUES (3), (500), (50000)) v(n) WHERE i <= n GROUP BY n;
CREATE PUBLICATION p FOR TABLE t, keyed;
SQL
foreach my $database (sort keys %databases)
{
	$subscriber->safe_psql('postgres', 'CREATE DATABASE "binary" TEMPLATE postgres') if $database ne 'postgres';
	$subscriber->safe_psql($database, $tables);
	$subscriber->safe_psql($database,
		"CREATE SUBSCRIPTION of_$database CONNECTION '$connection' PUBLICATION p $databases{$database}");
}

# A server comes to have what the publisher has.
sub has_content
{
	my ($node, $database, $what) = @_;
	my $expected = $publisher->safe_psql('postgres', $content);

	$node->poll_query_until($database, $content, $expected);
	is($node->safe_psql($database, $content), $expected, $what);
	return;
}

sub replicated
{
	my ($what) = @_;

	has_content($subscriber, $_, "$what, database $_") foreach sort keys %databases;
	return;
}

sub answers
{
	my ($node, $database, $what) = @_;

	is($node->safe_psql($database, $answers), "t\nt\nt\nt", "$what: same answers");
	return;
}

replicated('the first copy');
answers($subscriber, $_, $_) foreach sort keys %databases;
$publisher->safe_psql('postgres', 'UPDATE t SET f = cf_add(f, 100000) WHERE cf_count(f) IN (0, 500, 50000)');
replicated('an update of filters');
$publisher->safe_psql('postgres', 'UPDATE keyed SET f = cf_add(f, 100000)');
replicated('an update of filters by key');
$publisher->safe_psql('postgres', "UPDATE t SET name = 'renamed ' || name; UPDATE keyed SET v = 2");
replicated('an update of another column');
$publisher->safe_psql('postgres', 'DELETE FROM t WHERE cf_count(f) = 50001 OR f IS NULL');
replicated('a delete');
$publisher->safe_psql('postgres', <<'SQL');
UPDATE keyed SET f = cf_compact(cf_delete(f, 100000));
SQL
replicated('an update back');
answers($subscriber, $_, "$_ after updates") foreach sort keys %databases;
$subscriber->stop;

# A hot standby
my $standby = start_standby($publisher, 'standby');
my $scan = 'SELECT count(*), sum(i) FROM rows WHERE cf_contains((SELECT f FROM keyed WHERE n = 500), i)';

has_content($standby, 'postgres', 'standby: the base backup');
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE rows AS SELECT i FROM generate_series(1, 20000) i;
ANALYZE rows, keyed;
UPDATE t SET f = cf_add(f, 100001) WHERE f IS NOT NULL;
SQL
has_content($standby, 'postgres', 'standby: an update of filters');
answers($standby, 'postgres', 'standby');
is($standby->safe_psql('postgres', $scan), $publisher->safe_psql('postgres', $scan), 'standby: a scan');
like($standby->safe_psql('postgres', "EXPLAIN $scan"), qr/Custom Scan \(CuckooScan\) on rows/, 'standby: EXPLAIN has the scan');
is($standby->safe_psql('postgres', "EXPLAIN (COSTS OFF) $scan"), $publisher->safe_psql('postgres', "EXPLAIN (COSTS OFF) $scan"), 'standby: the same plan');
is($standby->safe_psql('postgres', 'SELECT cf_contains(cf_add(f, -1), -1) FROM keyed WHERE n = 3'), 't', 'standby: a change in a query');
my $errors;
$standby->psql('postgres', 'UPDATE keyed SET f = cf_add(f, -1)', stderr => \$errors);
like($errors, qr/in a read-only transaction/, 'standby: no change of a table');

# An index whose pages are halved while it is built, because the table seems to
# be small, and WAL has no full pages but those that it asks for
$publisher->safe_psql('postgres', $_) foreach ('ALTER SYSTEM SET full_page_writes = off', 'SELECT pg_reload_conf()');
$publisher->poll_query_until('postgres', "SELECT current_setting('full_page_writes') = 'off'");
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE indexed AS SELECT i FROM generate_series(1, 200000) i;
ANALYZE indexed;
UPDATE pg_class SET reltuples = 1000 WHERE relname = 'indexed';
CHECKPOINT;
SET maintenance_work_mem = '1MB';
CREATE INDEX indexed_i ON indexed USING cuckoo (i) WITH (seed = 1);
SQL
$publisher->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SELECT cf_index_check('indexed_i', true), pages > 60 FROM cf_index_info('indexed_i')"),
	'200000|t', 'standby: an index that grew while it was built');

# The primary rebuilds an index without a row that is deleted there, but still
# seen by a transaction here, which therefore may not ask it any more.
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE held AS SELECT i FROM generate_series(1, 1000) i;
CREATE INDEX held_i ON held USING cuckoo (i);
CREATE UNLOGGED TABLE unlogged AS SELECT 1 AS i;
CREATE INDEX unlogged_i ON unlogged USING cuckoo (i);
SQL
$publisher->wait_for_catchup($standby);
checks($standby, 'postgres', <<"SQL");
SELECT cf_index_contains('unlogged_i', 1);
SELECT 'standby: no unlogged index', :'SQLSTATE' = '0A000';
SELECT 'standby: and no gate by it', cuckoo_gate('unlogged_i', 2);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'standby: a row is in the index', cf_index_contains('held_i', 7);
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'DELETE FROM held WHERE i = 7' -c 'REINDEX INDEX held_i' -c 'CREATE TABLE rebuilt ()'
\\! for i in \$(seq 1000); do psql -XAtd '@{[ $standby->connstr('postgres') ]}' -c "SELECT to_regclass('rebuilt') IS NOT NULL" | grep -q t && break; sleep 0.1; done
SELECT 'standby: it still sees the row', count(*) = 1 AND cuckoo_gate('held_i', 7) FROM held WHERE i = 7;
SELECT cf_index_contains('held_i', 7);
\\set code :SQLSTATE
END;
SELECT 'standby: and may not ask the index', :'code' = '55000';
SELECT 'standby: another one may', NOT cf_index_contains('held_i', 7) AND cf_index_contains('held_i', 8);
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'REINDEX INDEX CONCURRENTLY held_i' -c 'DROP TABLE rebuilt'
\\! for i in \$(seq 1000); do psql -XAtd '@{[ $standby->connstr('postgres') ]}' -c "SELECT to_regclass('rebuilt') IS NULL" | grep -q t && break; sleep 0.1; done
SELECT 'standby: rebuilt beside others', NOT cf_index_contains('held_i', 7) AND cf_index_contains('held_i', 8);
SQL

# Promotion
my $changed = 'SELECT md5(string_agg(f::text, $$ $$ ORDER BY n)) FROM keyed';
my $change = 'UPDATE keyed SET f = cf_delete(cf_add(f, -1), 2)';

$publisher->stop;
$standby->promote;
answers($standby, 'postgres', 'promoted');
$standby->safe_psql('postgres', $change);
is($standby->safe_psql('postgres', 'SELECT bool_and(cf_contains(f, -1)) FROM keyed'), 't', 'promoted: filters change');
$publisher->start;
$publisher->safe_psql('postgres', $change);
is($standby->safe_psql('postgres', $changed), $publisher->safe_psql('postgres', $changed), 'promoted: they change as elsewhere');

$standby->stop;
$publisher->stop;
done_testing();
