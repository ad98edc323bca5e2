# Torture of indexes: no row that anybody sees may be missing from its index.
#
# Writers insert, copy, update keys and other columns, delete, use savepoints
# and roll back; one table goes to another database by logical replication.
# Beside them, indexes are vacuumed, rebuilt and created, the table is rewritten,
# and snapshots are held for long. Checkers of all isolation levels look for rows
# that they see, by functions and by plans with gates, on the primary and on a
# standby. Sessions and the server are killed. At the end the standby is promoted.
#
# Both servers compare all pages that WAL has changed with what replaying gives
# (wal_consistency_checking). TORTURE_SECONDS=3600 makes it longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = $ENV{TORTURE_SECONDS} || 40;
my $long = $seconds > 100;

my @settings = (
	'wal_consistency_checking = generic', 'shared_buffers = 8MB', 'max_connections = 60', 'fsync = off',
	'wal_level = logical', 'max_wal_senders = 5', 'hot_standby = on', 'max_wal_size = 256MB', 'autovacuum_naptime = 1s',
	'max_standby_streaming_delay = -1',
	# else an index that the primary rebuilds lacks rows that only the standby's snapshots see, also a B-tree
	'hot_standby_feedback = on', 'wal_receiver_status_interval = 1s', 'deadlock_timeout = 200ms', 'restart_after_crash = on', 'log_min_messages = warning', 'log_statement = none');
my $primary = start_node('primary', @settings);

# A type that changes under its index, with 14 and later, where rows are hashed
if ($primary->safe_psql('postgres', 'SHOW server_version_num') >= 140000)
{
	checks($primary, 'postgres', <<'SQL');
CREATE TABLE pair (a int, b text);
CREATE TABLE pairs (p pair);
INSERT INTO pairs VALUES (ROW(1, 'x'));
CREATE INDEX pairs_p ON pairs USING cuckoo (p);
SELECT 'a row', cf_index_contains('pairs_p', ROW(1, 'x')::pair) AND NOT cf_index_contains('pairs_p', ROW(2, 'x')::pair);
ALTER TABLE pair ADD COLUMN c int;
SELECT cf_index_contains('pairs_p', ROW(1, 'x', NULL)::pair);
SELECT 'the type has changed', :'SQLSTATE' = '55000';
INSERT INTO pairs VALUES (ROW(2, 'y', NULL));
SELECT 'an insert notes that', stale FROM cf_index_info('pairs_p');
REINDEX INDEX pairs_p;
SELECT 'rebuilt', NOT stale AND cf_index_contains('pairs_p', ROW(1, 'x', NULL)::pair)
	AND cf_index_contains('pairs_p', ROW(2, 'y', NULL)::pair) FROM cf_index_info('pairs_p');
DROP TABLE pairs, pair;
SQL
}

# A few keys are used by many, most by nobody else; small pages split often.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v text, n int DEFAULT 0, pad text DEFAULT repeat('x', 60)) WITH (fillfactor = 80);
CREATE INDEX t_k ON t USING cuckoo (k);
CREATE INDEX t_v ON t USING cuckoo (v) WITH (fpp = 0.01, seed = 5);
CREATE INDEX t_lower ON t USING cuckoo (lower(v)) WHERE n >= 0;
CREATE TABLE parts (k bigint, day int) PARTITION BY LIST (day);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE INDEX parts_k ON parts USING cuckoo (k);
CREATE TABLE published (k bigint PRIMARY KEY, v text);
CREATE PUBLICATION published FOR TABLE published;
SELECT pg_create_logical_replication_slot('subscribed', 'pgoutput');

-- Looks for some rows in each way; an error if one is missing.
CREATE FUNCTION look() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	looked bigint := 0;
BEGIN
	FOR r IN SELECT k, v FROM t TABLESAMPLE system (5) LIMIT 200 LOOP
		IF NOT cf_index_contains('t_k', r.k) OR NOT cf_index_contains('t_v', r.v)
			OR NOT cf_index_contains('t_lower', lower(r.v)) THEN
			RAISE 'FALSE NEGATIVE: %', r;
		END IF;
		looked := looked + 3;
	END LOOP;
	IF NOT (SELECT coalesce(bool_and(x), true) FROM unnest(cf_index_contains_each('t_k',
		ARRAY(SELECT k FROM t TABLESAMPLE system (10) LIMIT 2000))) x) THEN
		RAISE 'FALSE NEGATIVE in an array';
	END IF;
	FOR r IN SELECT k, day FROM parts TABLESAMPLE system (5) LIMIT 50 LOOP
		IF NOT ('parts_' || r.day)::regclass = ANY (cf_index_partitions('parts_k', r.k)) THEN
			RAISE 'FALSE NEGATIVE in partitions: %', r;
		END IF;
	END LOOP;
	RETURN looked + 2050;
END $$;
SQL

$primary->safe_psql('postgres', 'CREATE DATABASE subscriber');
$primary->safe_psql('subscriber', <<"SQL");
CREATE EXTENSION cuckoo;
CREATE TABLE published (k bigint PRIMARY KEY, v text);
CREATE INDEX published_k ON published USING cuckoo (k);
CREATE INDEX published_v ON published USING cuckoo (v);
CREATE SUBSCRIPTION subscribed CONNECTION 'host=@{[ $primary->host ]} port=@{[ $primary->port ]} dbname=postgres' PUBLICATION published
	WITH (create_slot = false, slot_name = subscribed);
SQL

my $folder = $primary->basedir;

sub script
{
	my ($name, $text) = @_;

	open my $file, '>', "$folder/$name.sql" or die "$name: $!";
	print $file $text;
	close $file;
	return "$folder/$name.sql";
}

open my $rows, '>', "$folder/rows" or die "$folder/rows: $!";
print $rows map { "$_\tC$_\n" } map { int(rand(1e9)) } 1 .. 300;
close $rows;

my @writers = (
	script('single', <<'SQL'),
\set k random(1, 1000000000)
INSERT INTO t (k, v) VALUES (:k, 'V' || :k);
INSERT INTO parts VALUES (:k, :k % 2);
SQL
	script('common', <<'SQL'),
\set k random(1, 5000)
INSERT INTO t (k, v) VALUES (:k, 'V' || :k);
SQL
	script('batch', <<'SQL'),
\set k random(1, 1000000000)
BEGIN;
INSERT INTO t (k, v) SELECT :k + i, 'V' || (:k + i) FROM generate_series(1, 300) i;
SAVEPOINT s;
INSERT INTO t (k, v) SELECT :k - i, 'W' || (:k - i) FROM generate_series(1, 100) i;
ROLLBACK TO s;
INSERT INTO t (k, v) SELECT :k - i, 'W' || (:k - i) FROM generate_series(50, 100) i;
COMMIT;
SQL
	script('aborted', <<'SQL'),
\set k random(1, 1000000000)
BEGIN;
INSERT INTO t (k, v) SELECT :k + i, 'V' || (:k + i) FROM generate_series(1, 200) i;
ROLLBACK;
SQL
	script('keys', <<'SQL'),
\set k random(1, 1000000000)
UPDATE t SET k = k + 1, v = v || '.' WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (1) LIMIT 20));
SQL
	script('hot', <<'SQL'),
UPDATE t SET n = n + 1 WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (2) LIMIT 50));
SQL
	script('copy', "COPY t (k, v) FROM '$folder/rows';\n"),
	script('published', <<'SQL'),
\set k random(1, 1000000000)
INSERT INTO published VALUES (:k, 'V' || :k) ON CONFLICT DO NOTHING;
UPDATE published SET v = v || '.' WHERE k = (SELECT k FROM published TABLESAMPLE system (1) LIMIT 1);
SQL
	script('deletes', <<'SQL'),
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (2) LIMIT 200));
SQL
);
my @checkers = map { script("look_$_->[0]", "BEGIN ISOLATION LEVEL $_->[1];\nSELECT look();\n\\sleep 20 ms\nSELECT look();\nEND;\n") }
  (['committed', 'READ COMMITTED'], ['repeatable', 'REPEATABLE READ'], ['serializable', 'SERIALIZABLE']);

# a snapshot that is held for long
my $held = script('look_held', "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT look();\n\\sleep 4 s\nSELECT look();\nEND;\n");

# a plan with a gate sees what a plan without sees, in one snapshot
push @checkers, script('gate', <<'SQL');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT coalesce((SELECT k FROM t TABLESAMPLE system (5) LIMIT 1), 0) AS k \gset
SELECT 1 / (CASE WHEN (SELECT count(*) FROM t WHERE k = :k) = (SELECT count(*) FROM t WHERE k + 0 = :k) THEN 1 ELSE 0 END) AS same;
END;
SQL

my @children;
my $errors = '';

# Starts pgbench on a node; its errors go to a file.
my ($started, $looks, $transactions) = (0, 0, 0);

sub start_pgbench
{
	my ($node, $clients, $for, $read_only, @scripts) = @_;
	my $log = "$folder/pgbench-" . ++$started . '.log';
	my $pid = fork();

	if ($pid == 0)
	{
		open STDOUT, '>', $log;
		open STDERR, '>&', \*STDOUT;
		exec('pgbench', '-n', '-h', $node->host, '-p', $node->port, '-c', $clients, '-j', $clients, '-T', int($for) || 1,
			'-M', 'prepared', (map { ('-f', $_) } @scripts), 'postgres')
		  or die "pgbench: $!";
	}
	push @children, [ $pid, $log, $read_only ];
	return;
}

sub wait_for_pgbench
{
	foreach my $child (@children)
	{
		waitpid $child->[0], 0;
		open my $file, '<', $child->[1] or die $child->[1];
		local $/ = undef;
		my $text = <$file> // '';
		$errors .= $text;
		# by a function of some 2,000 looks, twice
		$looks += 4000 * $1 if $child->[2] && $text =~ /number of transactions actually processed: (\d+)/;
		$transactions += $1 if !$child->[2] && $text =~ /number of transactions actually processed: (\d+)/;
	}
	@children = ();
	return;
}

# What a session does not survive, when it is meant not to
sub quietly
{
	my ($node, $sql) = @_;
	my $out;

	$node->psql('postgres', $sql, stderr => \$out, timeout => 180);
	$errors .= $out // '';
	return;
}

my $standby = start_standby($primary, 'standby');
$primary->safe_psql('postgres', q(SELECT pg_create_physical_replication_slot('standby', true)));
$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'");
$standby->reload;

# All rows that are visible, and all pages
my $looked = 0;

sub check_all
{
	my ($node, $what, $database) = @_;
	my ($out, $err);

	$node->psql($database || 'postgres', <<'SQL', stdout => \$out, stderr => \$err);
SELECT sum(cf_index_check(indexrelid::regclass, true)) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'cuckoo') AND relkind = 'i' AND indisvalid AND indisready
SQL
	like($out // '', qr/^\d+$/, "$what: every row is in its index") or diag($err);
	$looked += $out if ($out // '') =~ /^\d+$/;
	return;
}

my @maintenance = (
	'VACUUM t', 'REINDEX INDEX CONCURRENTLY t_k', 'REINDEX TABLE t', 'VACUUM FULL t',
	'CREATE INDEX CONCURRENTLY t_more ON t USING cuckoo (k)', 'DROP INDEX CONCURRENTLY IF EXISTS t_more',
	'REINDEX INDEX CONCURRENTLY t_v', 'VACUUM (FREEZE) t', 'ALTER TABLE t ALTER pad TYPE varchar',
	'ALTER TABLE t ALTER pad TYPE text', 'REINDEX TABLE CONCURRENTLY parts', 'CHECKPOINT',
	'SELECT cf_count(cf_index_filter($$t_k$$))');
my $end = time + $seconds;
my $round = 0;

while (time < $end)
{
	my $for = $long ? 30 : 8;
	my $until = time + $for;

	$round++;
	start_pgbench($primary, 8, $for, 0, @writers);
	start_pgbench($primary, 3, $for, 1, @checkers);
	start_pgbench($primary, 1, $for, 1, $held);
	start_pgbench($standby, 2, $for, 1, grep { $_ !~ /serializable/ } @checkers);
	start_pgbench($standby, 1, $for, 1, $held);
	while (time < $until - 1)
	{
		my $sql = $maintenance[ rand @maintenance ];

		quietly($primary, $sql);
		sleep 0.05;
	}
	if ($round % 3 == 2)
	{
		# a backend dies, and with it all sessions
		my $pid = $primary->safe_psql('postgres',
			"SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1");
		kill 'KILL', $pid if $pid ne '';
	}
	elsif ($round % 3 == 0)
	{
		$primary->stop('immediate');
		$primary->start;
	}
	wait_for_pgbench();
	$primary->poll_query_until('postgres', 'SELECT true') or BAIL_OUT('the primary did not recover');
	quietly($primary, 'DROP INDEX IF EXISTS t_more');
	check_all($primary, "round $round, primary");
	check_all($primary, "round $round, subscriber", 'subscriber');
	$primary->wait_for_catchup($standby);
	check_all($standby, "round $round, standby");
}

cmp_ok($primary->safe_psql('subscriber', 'SELECT count(*) FROM published'), '>', 0, 'rows were replicated logically');

# promotion
$primary->stop('immediate');
$standby->promote;
start_pgbench($standby, 4, 3, 0, @writers);
start_pgbench($standby, 2, 3, 1, @checkers);
wait_for_pgbench();
check_all($standby, 'promoted');

# What may be in the errors of sessions that were killed, canceled or too late
unlike($errors, qr/FALSE NEGATIVE|division by zero|corrupt|lacks a row|PANIC|deadlock|could not read block/,
	'no row was missed, and no page was lost');
my $log = join '', map { slurp($_) } $primary->logfile, $standby->logfile;
unlike($log, qr/inconsistent page found|PANIC:|TRAP:|ERROR:.*(FALSE NEGATIVE|is corrupt|lacks a row)/,
	'nothing else in the logs');
note("$round rounds: $looked rows looked for by cf_index_check, about $looks by checkers, beside $transactions transactions");

sub slurp
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	local $/ = undef;
	return <$file>;
}

$standby->stop;
done_testing();
