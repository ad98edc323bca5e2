# Replication: servers that receive filters have the same bytes, and give the
# same answers.
#
# Logical replication runs in text and binary, with and without a key. With
# REPLICA IDENTITY FULL the subscriber looks for the old row by all its columns,
# for which it needs an operator class of cuckoofilter.
#
# A hot standby probes, scans, explains and merges filters, although it cannot
# change them until it is promoted. It finds rows by indexes, whose pages are those
# of the primary, while these grow, are rebuilt and cut, and after a promotion. Its old
# snapshots miss no row while lookups on the primary remove entries of dead rows.
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

# A change of the publisher comes to databases of a server.
sub has_content
{
	my ($node, $what, $change, @databases) = @_;
	my $expected = $publisher->safe_psql('postgres', "$change;\n$content");

	ok($node->poll_query_until($_, $content, $expected), "$what, database $_") foreach @databases;
	return;
}

sub replicated
{
	my ($what, $change) = @_;

	has_content($subscriber, $what, $change // '', sort keys %databases);
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
replicated('an update of filters', 'UPDATE t SET f = cf_add(f, 100000) WHERE cf_count(f) IN (0, 500, 50000)');
replicated('an update of filters by key', 'UPDATE keyed SET f = cf_add(f, 100000)');
replicated('an update of another column', "UPDATE t SET name = 'renamed ' || name; UPDATE keyed SET v = 2");
replicated('a delete', 'DELETE FROM t WHERE cf_count(f) = 50001 OR f IS NULL');
replicated('an update back', 'UPDATE keyed SET f = cf_canonical(cf_delete(f, 100000))');
answers($subscriber, $_, "$_ after updates") foreach sort keys %databases;
$subscriber->stop;

# A hot standby
$standby = start_standby($publisher, 'standby');
my $scan = 'SELECT count(*), sum(i) FROM rows WHERE cf_contains((SELECT f FROM keyed WHERE n = 500), i)';

has_content($standby, 'standby: the base backup', '', 'postgres');
has_content($standby, 'standby: an update of filters', <<'SQL', 'postgres');
CREATE TABLE rows AS SELECT i FROM generate_series(1, 20000) i;
ANALYZE rows, keyed;
UPDATE t SET f = cf_add(f, 100001) WHERE f IS NOT NULL;
SQL
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

# WAL has no full pages except those that indexes ask for. One index is built with
# memory for a part of the rows, and with a value in very many rows. Others grow
# from nothing: their pages are split, and their chains get pages, which VACUUM
# frees and other chains use again.
$publisher->safe_psql('postgres', 'ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf()');
$publisher->poll_query_until('postgres', "SELECT current_setting('full_page_writes') = 'off'");
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE built AS SELECT CASE WHEN i % 40 = 0 THEN -1 ELSE i END AS i, i % 3 AS j FROM generate_series(1, 100000) i;
CREATE TABLE grown (i int, j int);
CREATE INDEX grown_i ON grown USING cuckoo (i);
CREATE INDEX grown_2 ON grown USING cuckoo (i, j);
CHECKPOINT;
SET maintenance_work_mem = '1MB';
CREATE INDEX built_i ON built USING cuckoo (i);
INSERT INTO grown SELECT CASE WHEN i % 4 < 2 THEN -(i % 4) ELSE i END, i % 2 FROM generate_series(1, 20000) i;
DELETE FROM grown WHERE i = -1;
VACUUM grown;
INSERT INTO grown SELECT CASE WHEN i % 2 = 0 THEN -2 ELSE i END, 0 FROM generate_series(20001, 40000) i;
VACUUM grown;
SQL
my $grown = <<'SQL';
SELECT 'all rows by the index that was built', lookups, 97501, rows, 100000, wrong, 0, chain_pages, '> 1'
FROM compared('built_i'), cf_index_info('built_i');
SELECT 'all rows by one that grew', rows, 35000, wrong, 0, chain_pages, '> 10', pages, '> 12'
FROM compared('grown_i', 'SELECT generate_series(-5000, -1)'), cf_index_info('grown_i');
SELECT 'pages of a chain were used again', free_pages, '< 5' FROM cf_index_info('grown_i');
SELECT 'entries and rows', cf_index_check('built_i'), 100000, cf_index_check('grown_i'), 35000,
	cf_index_check('grown_2'), 35000;
SQL
checks_of($publisher, 'primary', $grown);
$publisher->wait_for_catchup($standby);
checks_of($standby, 'standby', $grown);
same_files('after they grew', qw(built_i grown_i grown_2));

$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE held AS SELECT i FROM generate_series(1, 1000) i;
CREATE INDEX held_i ON held USING cuckoo (i);
CREATE UNLOGGED TABLE unlogged AS SELECT i FROM generate_series(1, 1000) i;
CREATE INDEX unlogged_i ON unlogged USING cuckoo (i);
SQL
$publisher->wait_for_catchup($standby);
checks($standby, 'postgres', <<'SQL');
SELECT cf_index_check('unlogged_i');
SELECT 'standby: no unlogged index', :'SQLSTATE', '0A000';
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
SELECT 'an index has no other entries', cf_index_check('grown_i'), count(*) FROM grown;
SELECT 'all rows of one that was emptied', rows, 2000, wrong, 0
FROM compared('held_i', 'SELECT generate_series(-5, 0)');
SQL
checks_of($publisher, 'primary', $shrunk);
checks_of($standby, 'standby', $shrunk);
same_files('after they were cut', qw(grown_i grown_2 held_i));

# Snapshots that are older than the removal of entries by lookups. Without
# hot_standby_feedback replay waits for a snapshot, or cancels it, when the rows are pruned.
$publisher->safe_psql('postgres', <<'SQL');
CREATE TABLE old (k int, n int) WITH (autovacuum_enabled = off);
CREATE INDEX old_k ON old USING cuckoo (k);
CREATE INDEX old_n ON old (n);
SQL
my $by_index = "SET enable_seqscan = off;\nSET enable_bitmapscan = off;";
my $old_rows = 'SELECT (SELECT n FROM old WHERE k = 1) AS n, (SELECT count(*) FROM old WHERE k = 2) AS rows';
my $update = 'UPDATE old SET n = n + 1 WHERE k + 0 = 1; COMMIT';
my $folder = $publisher->basedir;

# changes of the primary: in a page with room, and then in full pages, which are pruned
sub write_file
{
	my ($name, $text) = @_;

	open my $file, '>', "$folder/$name" or die "$name: $!";
	print $file $text;
	close $file;
	return;
}
write_file("change_$_->[0].sql", <<"SQL") foreach [ 1, 10, 50 ], [ 2, 1000, 1500 ];
DO \$\$ BEGIN FOR i IN 1..$_->[1] LOOP $update; END LOOP; END \$\$;
DELETE FROM old WHERE ctid = ANY (ARRAY(SELECT ctid FROM old WHERE k + 0 = 2 ORDER BY ctid DESC LIMIT $_->[2]));
$by_index
$old_rows;
$old_rows;
SELECT pg_logical_emit_message(true, '', '');
SQL
write_file('change.sh', <<"END");
psql -XAtq -d '@{[ $publisher->connstr('postgres') ]}' -f $folder/change_\$1.sql >$folder/change.log
lsn=\$(psql -XAtq -d '@{[ $publisher->connstr('postgres') ]}' -c 'SELECT pg_current_wal_flush_lsn()')
until psql -XAtq -d '@{[ $standby->connstr('postgres') ]}' -c "SELECT pg_last_wal_replay_lsn() >= '\$lsn' OR
	wait_event ~ 'Conflict' FROM pg_stat_activity WHERE backend_type = 'startup'" 2>/dev/null | grep -q t
do sleep 0.02
done
END

foreach ([ 'off', -1 ], [ 'off', 0 ], [ 'on', -1 ], [ 'on', 0 ])
{
	my ($feedback, $delay) = @$_;
	my $name = "hot_standby_feedback = $feedback, max_standby_streaming_delay = $delay";
	my ($out, $cancelled);

	$standby->safe_psql('postgres', $_)
	  foreach "ALTER SYSTEM SET hot_standby_feedback = $feedback",
	  "ALTER SYSTEM SET max_standby_streaming_delay = $delay", 'SELECT pg_reload_conf()';
	$standby->poll_query_until('postgres', "SELECT current_setting('max_standby_streaming_delay') = '$delay'");
	$publisher->poll_query_until('postgres',
		"SELECT backend_xmin IS NULL = ('$feedback' = 'off') FROM pg_stat_replication");
	$publisher->safe_psql('postgres',
		'TRUNCATE old; INSERT INTO old SELECT 2, 0 FROM generate_series(1, 3000); INSERT INTO old VALUES (1, 0)');
	$publisher->wait_for_catchup($standby);
	$standby->psql('postgres', <<"SQL", stdout => \$out, stderr => \$cancelled, on_error_stop => 0);
$by_index
BEGIN ISOLATION LEVEL REPEATABLE READ;
$old_rows;
\\! sh $folder/change.sh 1
$old_rows;
\\! sh $folder/change.sh 2
$old_rows;
SELECT cf_index_check('old_k') >= 3001;
SET LOCAL enable_bitmapscan = on;
SET LOCAL enable_indexscan = off;
$old_rows;
COMMIT;
SQL
	is($out, join("\n", ('0|3000') x 2, $feedback eq 'off' && $delay == 0 ? () : ('0|3000', 't', '0|3000')),
		"$name: rows of an old snapshot");
	is($cancelled =~ /conflict with recovery/, $feedback eq 'off' && $delay == 0, "$name: a conflict");
	cmp_ok($publisher->safe_psql('postgres', q(SELECT entries FROM cf_index_info('old_k'))),
		$feedback eq 'off' ? '<' : '>=', $feedback eq 'off' ? 2500 : 4011, "$name: entries");
	$publisher->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', "$by_index\n$old_rows;\nSELECT cf_index_check('old_k') >= 1451"),
		"1010|1450\nt", "$name: rows of a new one");
}

# Promotion
my $changed = 'SELECT md5(string_agg(f::text, $$ $$ ORDER BY n)) FROM keyed';
my $change = 'UPDATE keyed SET f = cf_delete(cf_add(f, -1), 2)';

# An unlogged table is empty after a crash, and on a server that was a standby
# when it was made.
my $unlogged = <<'SQL';
SELECT 'the unlogged table is empty', count(*), 0 FROM unlogged;
SELECT 'and its index', rows, 0, wrong, 0 FROM compared('unlogged_i', 'SELECT generate_series(1, 1000)');
SELECT 'without entries', cf_index_check('unlogged_i'), 0;
INSERT INTO unlogged SELECT i FROM generate_series(501, 3000) i;
SELECT 'inserted rows are found', rows, 2500, wrong, 0
FROM compared('unlogged_i', 'SELECT generate_series(1, 500)');
SELECT 'with their entries', cf_index_check('unlogged_i'), 2500;
SQL
my $later = <<'SQL';
INSERT INTO grown SELECT i, 1 FROM generate_series(50001, 70000) i;
SELECT 'indexes grow', rows, '> 20000', wrong, 0 FROM compared('grown_i', 'SELECT generate_series(20001, 21000)');
SELECT 'and those of two columns', cf_index_check('grown_2'), count(*) FROM grown;
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
