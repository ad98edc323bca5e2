# Replication: servers that receive filters have the same bytes, and give the
# same answers.
#
# Logical replication runs in text and binary, with and without a key. With
# REPLICA IDENTITY FULL the subscriber looks for the old row by all its columns,
# for which it needs an operator class of cuckoofilter.
#
# A hot standby probes, scans, explains and merges filters, although it cannot
# change them until it is promoted. It finds rows by indexes, whose pages are those
# of the primary, while these grow, are rebuilt and cut, and after a promotion.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use CuckooTest 'lines_of';
use Test::More;

my $publisher = start_node('publisher', 'wal_level = logical', 'max_wal_senders = 5', 'max_replication_slots = 5',
	'hot_standby = on', 'max_parallel_workers_per_gather = 0', 'max_prepared_transactions = 1', 'shared_buffers = 8MB');
my $subscriber = start_node('subscriber');
my $standby;
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
SELECT 'elements', count(*) FILTER (WHERE cf_contains(f, i)), 50503, count(*), 50503
FROM keyed, generate_series(1, 50000) i WHERE i <= n;
SELECT 'equality', count(*) FILTER (WHERE f = (SELECT cf_agg(i, 60000, 0.001) FROM generate_series(1, n) i)), count(*)
FROM keyed;
SELECT 'union', cf_count(cf_union_agg(f)), '49900 to 50000' FROM keyed;
SELECT 'all of an array', count(*) FILTER (WHERE cf_contains_all(f, ARRAY[1, 2, 3])), count(*) FROM keyed;
SELECT 'none of an array', count(*) FILTER (WHERE NOT cf_contains_any(f, ARRAY[-1, -2])), count(*) FROM keyed;
SQL

$publisher->safe_psql('postgres', <<"SQL");
$tables
INSERT INTO t VALUES ('short', cf_new(10)), ('null', NULL);
INSERT INTO t SELECT 'filled', cf_agg(i)
FROM generate_series(1, 50000) i, (VALUES (500), (50000), (49999)) v(n) WHERE i <= n GROUP BY n;
INSERT INTO keyed SELECT n, 1, cf_agg(i, 60000, 0.001)
FROM generate_series(1, 50000) i, (VALUES (3), (500), (50000)) v(n) WHERE i <= n GROUP BY n;
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

	checks($node, $database, $answers =~ s/^SELECT '/SELECT '$what: /gmr);
	return;
}

# Runs checks, named after the server.
sub checks_of
{
	my ($node, $name, $checks) = @_;

	checks($node, 'postgres', $checks =~ s/^SELECT '/SELECT '$name: /gmr);
	return;
}

# The text of a file
sub lines
{
	my ($path) = @_;

	return join "\n", lines_of($path), '';
}

# Files of indexes on the standby are those of the primary, byte by byte.
sub same_files
{
	my ($when, @indexes) = @_;
	my $digests = 'SELECT ' . join ' || ', map { "md5(pg_read_binary_file(pg_relation_filepath('$_')))" } @indexes;

	$publisher->safe_psql('postgres', 'CHECKPOINT');
	$publisher->wait_for_catchup($standby);
	$standby->safe_psql('postgres', 'CHECKPOINT');
	is($standby->safe_psql('postgres', $digests), $publisher->safe_psql('postgres', $digests),
		"$when, pages are the same: @indexes");
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
UPDATE keyed SET f = cf_canonical(cf_delete(f, 100000));
SQL
replicated('an update back');
answers($subscriber, $_, "$_ after updates") foreach sort keys %databases;
$subscriber->stop;

# A hot standby
$standby = start_standby($publisher, 'standby');
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
like($standby->safe_psql('postgres', "EXPLAIN $scan"), qr/Custom Scan \(CuckooScan\) on rows/,
	'standby: EXPLAIN has the scan');
is($standby->safe_psql('postgres', "EXPLAIN (COSTS OFF) $scan"),
	$publisher->safe_psql('postgres', "EXPLAIN (COSTS OFF) $scan"), 'standby: the same plan');
is($standby->safe_psql('postgres', 'SELECT cf_contains(cf_add(f, -1), -1) FROM keyed WHERE n = 3'), 't',
	'standby: a change in a query');
my $errors;
$standby->psql('postgres', 'UPDATE keyed SET f = cf_add(f, -1)', stderr => \$errors);
like($errors, qr/in a read-only transaction/, 'standby: no change of a table');

# Indexes. compared() of sql/helpers.sql looks up all values by bitmap scans.
$publisher->safe_psql('postgres', lines("$FindBin::RealBin/../../sql/helpers.sql"));

# WAL has no full pages but those that indexes ask for. One is built with memory
# for a part of the rows, and for too few, because the first blocks have few: its
# pages are split while it is built. Another one has enough pages, and gets a mark
# in one that was not split. A scan that others share would begin in the middle.
# Others grow from nothing, with values in many blocks, or have pages that are not in
# use yet, that are saturated, or rows from when their type had another hash.
$publisher->safe_psql('postgres', $_) foreach ('ALTER SYSTEM SET full_page_writes = off', 'SELECT pg_reload_conf()');
$publisher->poll_query_until('postgres', "SELECT current_setting('full_page_writes') = 'off'");
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE built (i int, filler text);
INSERT INTO built SELECT i, repeat('f', 500) FROM generate_series(1, 30000) i;
INSERT INTO built SELECT CASE WHEN i > 80000 AND i % 40 = 0 THEN -1 ELSE i END, repeat('f', 50)
	FROM generate_series(30001, 200000) i;
CREATE TABLE sparse (i int);
CREATE INDEX sparse_i ON sparse USING cuckoo (i) WITH (seed = 1);
INSERT INTO sparse SELECT generate_series(1, 3);
CREATE TABLE grown (i int, filler text);
CREATE INDEX grown_i ON grown USING cuckoo (i) WITH (seed = 1, capacity = 1);
CREATE INDEX grown_default ON grown USING cuckoo ((i + 1)) WITH (seed = 1);
CREATE INDEX grown_filter ON grown USING cuckoo (i) WITH (seed = 1, capacity = 1, locate = off);
CREATE TABLE dense (i int);
CREATE INDEX dense_i ON dense USING cuckoo (i) WITH (seed = 1, fpp = 0.5, growth_bits = 0, locate = off);
CREATE TYPE pair AS (a int);
CREATE TABLE pairs AS SELECT ROW(i)::pair AS p FROM generate_series(1, 1000) i;
CREATE INDEX pairs_p ON pairs USING cuckoo (p) WITH (seed = 1);
CHECKPOINT;
ALTER TYPE pair ADD ATTRIBUTE b int;
INSERT INTO pairs VALUES (ROW(-1, 1));
ALTER TYPE pair DROP ATTRIBUTE b;
INSERT INTO dense SELECT generate_series(1, 20000);
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM (SELECT FROM built LIMIT 60000) s;
CREATE INDEX built_i ON built USING cuckoo (i) WITH (seed = 1, capacity = 1);
CREATE INDEX built_default ON built USING cuckoo ((i + 1)) WITH (seed = 1);
SET synchronize_seqscans = off;
CREATE INDEX built_alone ON built USING cuckoo (i) WITH (seed = 1, capacity = 1);
INSERT INTO grown SELECT CASE WHEN i % 4 < 2 THEN -(i % 4) ELSE i END, repeat('f', 900)
FROM generate_series(1, 10000) i;
INSERT INTO grown SELECT i, '' FROM generate_series(10001, 20000) i;
SQL
my $grown = <<'SQL';
SELECT 'frequent values have marks, so all blocks are read',
	heap_blocks('SELECT FROM grown WHERE i = 0'), pg_relation_size('grown') / 8192,
	heap_blocks('SELECT FROM grown WHERE i = -1'), pg_relation_size('grown') / 8192, pages, '> 4'
FROM cf_index_info('grown_i');
SELECT 'all rows by the index that was built, and split', cf_index_check('built_i', true), 200000, growth_level, '> 0'
FROM cf_index_info('built_i');
SELECT 'a value got a mark in the build',
	heap_blocks('SELECT FROM built WHERE i + 1 = 0'), pg_relation_size('built') / 8192;
SELECT 'it does not share a scan', pg_relation_size('built_i'), pg_relation_size('built_alone');
SELECT 'one that has unused pages', rows, 3, wrong, 0, pages, '< 4', bytes, '> 32768'
FROM compared('sparse_i', 'SELECT generate_series(-1000, 0)'), cf_index_info('sparse_i');
SELECT 'all rows by one that grew', lookups, 20001, rows, 20000, wrong, 0
FROM compared('grown_i', 'SELECT generate_series(-5000, -1)');
SELECT 'all rows by one that had many pages', rows, 20000, wrong, 0
FROM compared('grown_default', 'SELECT generate_series(-50, 0)');
SELECT 'all rows in the filter', bool_and(cf_contains(f, i))
FROM grown, (SELECT cf_index_filter('grown_filter') OFFSET 0) f(f);
SELECT 'what is saturated has any value', saturated, '> 0', cf_index_contains('dense_i', -1), true
FROM cf_index_info('dense_i');
SELECT 'an index is stale, although the type is the old one', stale FROM cf_index_info('pairs_p');
SQL
checks_of($publisher, 'primary', $grown);
$publisher->wait_for_catchup($standby);
checks_of($standby, 'standby', $grown);
same_files('after they grew', qw(built_i built_default sparse_i grown_i grown_default grown_filter dense_i pairs_p));

# The primary rebuilds an index without a row that is deleted there, and creates
# another one. A transaction of the standby still sees the row: its plans find
# it, and its functions are refused.
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE held AS SELECT i FROM generate_series(1, 1000) i;
CREATE INDEX held_i ON held USING cuckoo (i);
CREATE TABLE late AS SELECT i FROM generate_series(1, 10) i;
CREATE UNLOGGED TABLE unlogged AS SELECT i FROM generate_series(1, 1000) i;
CREATE INDEX unlogged_i ON unlogged USING cuckoo (i);
CREATE INDEX unlogged_sized ON unlogged USING cuckoo ((i + 1)) WITH (capacity = 100000);
CREATE INDEX unlogged_filter ON unlogged USING cuckoo (i) WITH (locate = off);
SQL
$publisher->wait_for_catchup($standby);
my $wait = sub {
	my ($condition) = @_;

	return q(\! for i in $(seq 1000); do psql -XAtd ') . $standby->connstr('postgres') .
	  qq(' -c "SELECT $condition" | grep -q t && break; sleep 0.1; done);
};
checks($standby, 'postgres', <<"SQL");
SELECT cf_index_contains('unlogged_i', 1);
SELECT 'standby: no unlogged index', :'SQLSTATE', '0A000';
SET enable_seqscan = off;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'standby: a row is in the index', cf_index_contains('held_i', 7);
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'DELETE FROM held WHERE i = 7' -c 'REINDEX INDEX held_i' -c 'CREATE INDEX held_new ON held USING cuckoo (mod(i, 5000))' -c 'CREATE TABLE rebuilt ()'
@{[ $wait->("to_regclass('rebuilt') IS NOT NULL") ]}
SELECT 'standby: it still sees the row', count(*), 1 FROM held WHERE i = 7;
SELECT 'standby: by the index that was rebuilt', indexes_of('SELECT FROM held WHERE i = 7'), 'held_i';
SELECT 'standby: and by the new one', count(*), 1 FROM held WHERE mod(i, 5000) = 7;
SELECT 'standby: by this index', indexes_of('SELECT FROM held WHERE mod(i, 5000) = 7'), 'held_new';
SELECT 'standby: rows of the primary are there as well', count(*), 1 FROM held WHERE i = 8;
SELECT cf_index_contains('held_i', 7);
\\set code :SQLSTATE
END;
SELECT 'standby: and may not ask the index', :'code', '55000';
SELECT 'standby: another one may', cf_index_contains('held_i', 7), false, cf_index_contains('held_i', 8), true;
SELECT 'standby: and has no such row', count(*), 0 FROM held WHERE i = 7;
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'REINDEX INDEX CONCURRENTLY held_i' -c 'DROP TABLE rebuilt'
@{[ $wait->("to_regclass('rebuilt') IS NULL") ]}
SELECT 'standby: rebuilt beside others', cf_index_contains('held_i', 7), false, cf_index_contains('held_i', 8), true;
SELECT 'standby: all rows', rows, 999, wrong, 0 FROM compared('held_i', 'SELECT generate_series(-5, 10)');

-- an index that is there before the snapshot, and is built and valid after it
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c BEGIN -c 'INSERT INTO late VALUES (0)' -c "PREPARE TRANSACTION 'late'"
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'CREATE INDEX CONCURRENTLY late_i ON late USING cuckoo ((i + 1))' &
@{[ $wait->("to_regclass('late_i') IS NOT NULL") ]}
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'standby: it sees another row', count(*), 1 FROM late WHERE i = 9;
\\! psql -Xqd '@{[ $publisher->connstr('postgres') ]}' -c 'DELETE FROM late WHERE i = 9' -c "COMMIT PREPARED 'late'"
@{[ $wait->("indisvalid FROM pg_index WHERE indexrelid = 'late_i'::regclass") ]}
SELECT 'standby: finds it by the index that lacks it',
	count(*), 1, indexes_of('SELECT FROM late WHERE i + 1 = 10'), 'late_i' FROM late WHERE i + 1 = 10;
SELECT cf_index_contains('late_i', 10);
\\set code :SQLSTATE
END;
SELECT 'standby: and may not ask that', :'code', '55000';
SELECT 'standby: another one may', cf_index_contains('late_i', 10), false, cf_index_contains('late_i', 1), true;
SQL

# Truncated, and shorter than what entries say
$publisher->safe_psql('postgres', <<'SQL');
DELETE FROM grown WHERE ctid > '(100,0)';
VACUUM grown;
TRUNCATE held;
INSERT INTO held SELECT i FROM generate_series(1, 2000) i;
SQL
$publisher->wait_for_catchup($standby);
my $shrunk = <<'SQL';
SELECT 'the table was cut', pg_relation_size('grown'), '< 1000000';
SELECT 'all rows of it', rows, '> 400', wrong, 0 FROM compared('grown_i', 'SELECT generate_series(1, 3000)');
SELECT 'all rows of one that was emptied', rows, 2000, wrong, 0
FROM compared('held_i', 'SELECT generate_series(-5, 0)');
SQL
checks_of($publisher, 'primary', $shrunk);
checks_of($standby, 'standby', $shrunk);
same_files('after they were cut', qw(grown_i grown_default grown_filter held_i));

# Promotion
my $changed = 'SELECT md5(string_agg(f::text, $$ $$ ORDER BY n)) FROM keyed';
my $change = 'UPDATE keyed SET f = cf_delete(cf_add(f, -1), 2)';

# An unlogged table is empty after a crash, and on a server that was a standby
# when it was made.
my $unlogged = <<'SQL';
SELECT 'the unlogged table is empty', count(*), 0 FROM unlogged;
SELECT 'and its index', rows, 0, wrong, 0 FROM compared('unlogged_i', 'SELECT generate_series(1, 1000)');
SELECT 'and for functions', cf_index_contains('unlogged_i', 7), false, cf_index_contains('unlogged_filter', 7), false;
INSERT INTO unlogged SELECT i FROM generate_series(501, 3000) i;
SELECT 'inserted rows are found', rows, 2500, wrong, 0
FROM compared('unlogged_i', 'SELECT generate_series(1, 500)');
SELECT 'by an index that was sized', rows, 2500, wrong, 0
FROM compared('unlogged_sized', 'SELECT generate_series(1, 500)');
SELECT 'with the pages of its capacity', pages, '20 to 60' FROM cf_index_info('unlogged_sized');
SELECT 'by a filter', cf_index_check('unlogged_filter', true), 2500;
SQL
my $later = <<'SQL';
INSERT INTO grown SELECT i, '' FROM generate_series(30001, 50000) i;
SELECT 'indexes grow', rows, '> 20000', wrong, 0 FROM compared('grown_i', 'SELECT generate_series(20001, 21000)');
SELECT 'and others', rows, '> 20000', wrong, 0 FROM compared('grown_default', 'SELECT generate_series(-50, 0)');
SELECT 'and filters', cf_index_check('grown_filter', true), count(*) FROM grown;
INSERT INTO held SELECT i FROM generate_series(3001, 4000) i;
SELECT 'an index that was emptied grows', rows, 3000, wrong, 0
FROM compared('held_i', 'SELECT generate_series(2001, 3000)');
SQL

$publisher->stop('immediate');
$standby->promote;
answers($standby, 'postgres', 'promoted');
checks_of($standby, 'promoted', $unlogged . $later);
$standby->stop('immediate');
$standby->start;
checks_of($standby, 'promoted, after a crash',
	$unlogged
		. $later =~ s/generate_series\(30001, 50000\)/generate_series(50001, 70000)/r =~ s/INSERT INTO held.*?;\n//sr);
$standby->safe_psql('postgres', $change);
is($standby->safe_psql('postgres', 'SELECT bool_and(cf_contains(f, -1)) FROM keyed'), 't', 'promoted: filters change');
$publisher->start;
checks_of($publisher, 'after a crash', $unlogged . $later);
$publisher->safe_psql('postgres', $change);
is($standby->safe_psql('postgres', $changed), $publisher->safe_psql('postgres', $changed),
	'promoted: they change as elsewhere');

$standby->stop;
$publisher->stop;
done_testing();
