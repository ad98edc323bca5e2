# Torture of indexes: every row that a session sees must be found by its index.
#
# Writers insert, copy, update keys and other columns, delete, use savepoints and
# two-phase commits, and roll back; one table goes to another database by
# logical replication. Beside them, indexes are vacuumed, rebuilt and created,
# tables are rewritten, truncated and emptied, and snapshots are held for long.
# The standby delays replay or cancels its queries, and reports its snapshots to the
# primary or not. Checkers of all isolation levels, on the primary and on a standby, compare
# what index scans and bitmap scans find with the rows that a scan of the table
# sees, in one snapshot, and call cf_index_check. At the end, after VACUUM, an
# index has as many entries as its table has rows.
#
# Each round has its disaster: a process of the primary or the standby is killed,
# or the primary as a whole, or the standby takes over and the old primary
# follows it by pg_rewind. At least the last two happen. After a crash the primary
# logs in another mode: full pages, which both servers compare with the replayed
# ones (wal_consistency_checking), or none (full_page_writes = off). With both,
# recovery may fail by PostgreSQL's fault. The first takeover comes when there is
# little WAL, because pg_rewind copies all of it.
#
# TORTURE_SECONDS=3600 makes it longer, TORTURE_WRITERS=4 lighter.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use POSIX ();
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = $ENV{TORTURE_SECONDS} || 3;

time_limit(600 + 2 * $seconds);
my $round_seconds = $seconds > 100 ? 25 : 1.5;
# a short run looks at few rows each time; check_all() compares those of 30 blocks
my ($blocks, $hold) = $seconds > 100 ? (15, 4) : (1, 1);
my $writers = $ENV{TORTURE_WRITERS} || 8;

my @settings = (
	'shared_buffers = 8MB', 'max_connections = 60', 'max_prepared_transactions = 50', 'fsync = off',
	'wal_level = logical', 'max_wal_senders = 5', 'hot_standby = on', 'max_wal_size = 256MB', 'wal_keep_size = 4GB',
	'wal_log_hints = on', 'autovacuum_naptime = 1s', 'wal_receiver_status_interval = 1s', 'deadlock_timeout = 200ms',
	'lock_timeout = 30s', 'log_lock_waits = on', 'maintenance_work_mem = 1MB',
	'restart_after_crash = on', 'log_min_messages = warning', 'log_statement = none',
	q(include_if_exists = 'torture.conf'));
my $primary = start_node('primary', @settings);

# How a server logs from its next start on: with full pages, which are compared,
# or without.
sub log_full_pages
{
	my ($node, $full) = @_;

	open my $file, '>', $node->data_dir . '/torture.conf' or die "torture.conf: $!";
	print $file $full ? "wal_consistency_checking = generic\n" : "full_page_writes = off\n";
	close $file;
	return;
}

# The standby copies this: pg_rewind needs full pages from the next primary.
log_full_pages($primary, 1);

# In t a few keys are used by many rows, most by one only. The index of s is built
# with few entries in a page, so that it splits often. m has few values, each in
# many rows, which go to chains. Values of b come and go, and so do their chains.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v text, n int DEFAULT 1, pad text DEFAULT repeat('x', 60))
	WITH (fillfactor = 80, parallel_workers = 2);
CREATE INDEX t_k ON t USING cuckoo (k);
CREATE INDEX t_v ON t USING cuckoo (v);
CREATE INDEX t_lower ON t USING cuckoo (lower(v)) WHERE n > 0;
CREATE INDEX t_two ON t USING cuckoo (n, k);
INSERT INTO t (k, v) SELECT i, 'V' || i FROM generate_series(1, 1000) i;
CREATE TABLE s (k bigint) WITH (fillfactor = 30, parallel_workers = 2);
CREATE INDEX s_k ON s USING cuckoo (k) WITH (fillfactor = 10);
CREATE TABLE m (c int, pad text DEFAULT repeat('x', 300)) WITH (fillfactor = 10, parallel_workers = 2);
CREATE INDEX m_c ON m USING cuckoo (c);
INSERT INTO m (c) SELECT (power(random(), 6) * 300)::int FROM generate_series(1, 2500);
CREATE TABLE b (c int);
CREATE INDEX b_c ON b USING cuckoo (c);
CREATE TABLE parts (k bigint, day int) PARTITION BY LIST (day);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE INDEX parts_k ON parts USING cuckoo (k);
CREATE UNLOGGED TABLE fast (k bigint);
CREATE INDEX fast_k ON fast USING cuckoo (k);
CREATE TABLE published (k bigint PRIMARY KEY, v text);
CREATE PUBLICATION published FOR TABLE published;

-- Runs a query that looks up values by indexes of such a name, and returns rows
-- only if one was not found. Returns the number of lookups. A notice has them, too,
-- because a standby can store nothing.
CREATE FUNCTION compare(name text, query text) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_tidscan = off
	SET enable_material = off SET enable_indexscan = on SET enable_bitmapscan = on AS $$
DECLARE
	plan jsonb;
	lookups bigint;
BEGIN
	PERFORM set_config(CASE WHEN random() < 0.5 THEN 'enable_indexscan' ELSE 'enable_bitmapscan' END, 'off', true);
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	IF (plan #>> '{0,Plan,Actual Rows}')::numeric > 0 THEN
		RAISE 'FALSE NEGATIVE: % %', query, plan;
	END IF;
	SELECT coalesce(sum((scan ->> 'Actual Loops')::bigint), 0) INTO lookups
	FROM jsonb_path_query(plan, 'strict $.** ? (@."Index Name" != "")') scan WHERE scan ->> 'Index Name' ~ name;
	IF lookups = 0 AND strpos(plan::text, '"Index Name"') = 0 THEN
		RAISE NOTICE 'another plan for %', name;
	END IF;
	RAISE NOTICE 'compared %', lookups;
	RETURN lookups;
END $$;

-- Looks up the rows of some blocks of a table, any or the last ones. Each row must
-- find itself.
CREATE FUNCTION find_rows(name text, in_table text, equal text, rows text, blocks int) RETURNS bigint
	LANGUAGE plpgsql AS $$
DECLARE
	size bigint := (SELECT sum(pg_relation_size(relid) / 8192) FROM pg_partition_tree(in_table::regclass));
	which text := format('TABLESAMPLE system (%s) WHERE true', least(100, 100.0 * blocks / greatest(size, 1)));
BEGIN
	IF random() < 0.5 AND in_table <> 'parts' THEN
		which := format('WHERE a.ctid >= ''(%s,0)''', greatest(size - blocks, 0));
	END IF;
	RETURN compare(name, format('SELECT FROM %1$s a %4$s AND %3$s AND NOT EXISTS (
		SELECT FROM %1$s b WHERE %2$s AND b.ctid = a.ctid AND b.tableoid = a.tableoid)', in_table, equal, rows, which));
END $$;

CREATE FUNCTION look(blocks int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	lookups bigint := 0;
BEGIN
	lookups := find_rows('^t_(k|more)', 't', 'b.k = a.k', 'true', blocks)
		+ find_rows('^t_two', 't', 'b.k = a.k AND b.n = a.n', 'true', blocks)
		+ find_rows('^t_v', 't', 'b.v = a.v', 'true', blocks)
		+ find_rows('^t_lower', 't', 'lower(b.v) = lower(a.v) AND b.n > 0', 'a.n > 0', blocks)
		+ find_rows('^s_k', 's', 'b.k = a.k', 'true', blocks) + find_rows('^m_c', 'm', 'b.c = a.c', 'a.c > 3', blocks)
		+ compare('^b_c',
			'SELECT FROM (SELECT c, count(*) AS n FROM b GROUP BY c) a
				WHERE n <> (SELECT count(*) FROM b AS other WHERE other.c = a.c)')
		+ find_rows('^parts', 'parts', 'b.k = a.k', 'true', blocks)
		+ compare('^m_c',
			'SELECT FROM (SELECT c, count(*) AS n FROM m GROUP BY c) a
				WHERE n <> (SELECT count(*) FROM m b WHERE b.c = a.c)');
	IF NOT pg_is_in_recovery() THEN
		lookups := lookups + find_rows('^fast', 'fast', 'b.k = a.k', 'true', blocks);
	END IF;
	RETURN lookups;
END $$;

-- All entries, and all rows that are visible
CREATE FUNCTION check_index(regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	looks bigint := cf_index_check($1);
BEGIN
	RAISE NOTICE 'checked %', looks;
	RETURN looks;
END $$;
SQL

my $standby = start_standby($primary, 'standby');

log_full_pages($primary, 0);
$primary->restart;

my $folder = $primary->basedir;

# ---- who writes, checks and maintains ----

# Scripts of pgbench: the path of each, and its statements
my %statements;

sub script
{
	my ($name, $text) = @_;

	open my $file, '>', "$folder/$name.sql" or die "$name: $!";
	print $file $text;
	close $file;
	$statements{$name} = () = $text =~ /;$/mg;
	return "$folder/$name.sql";
}

my @writers = (
	script('single', <<'SQL'),
\set k random(1, 1000000000)
INSERT INTO t (k, v) VALUES (:k, 'V' || :k);
INSERT INTO parts VALUES (:k, :k % 2);
INSERT INTO fast VALUES (:k);
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
	# rows leave the partial index, and come back
	script('keys', <<'SQL'),
UPDATE t SET k = k + 1, v = v || '.', n = 1 - n
WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (1) LIMIT 20));
SQL
	# a column that no index has, so that the new row may go to a line pointer that is free
	script('hot', <<'SQL'),
\set length random(1, 90)
UPDATE t SET pad = repeat('y', :length) WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (2) LIMIT 50));
SQL
	script('copy', qq(COPY t (k, v) FROM PROGRAM 'shuf -i 1-1000000000 -n 300 | sed "s/.*/&\\tC&/"';\n)),
	script('published', <<'SQL'),
\set k random(1, 1000000000)
INSERT INTO published VALUES (:k, 'V' || :k) ON CONFLICT DO NOTHING;
UPDATE published SET v = v || '.' WHERE k = (SELECT k FROM published TABLESAMPLE system (1) LIMIT 1);
SQL
	script('deletes', <<'SQL'),
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t TABLESAMPLE system (2) LIMIT 200));
SQL
	# so that VACUUM shortens the table, and it grows again
	script('end', <<'SQL'),
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT format('(%s,%s)', block, item)::tid
	FROM (SELECT pg_relation_size('t') / 8192 - 1) b(last), generate_series(greatest(last - 20, 0), last) block,
		generate_series(1, 100) item));
SQL
	script('splits', <<'SQL'),
INSERT INTO s SELECT (random() * 1e15)::bigint FROM generate_series(1, 500);
SQL
	# many blocks for each value, so a large table would keep the checkers for minutes
	script('marks', <<'SQL'),
INSERT INTO m (c) SELECT (power(random(), 6) * 300)::int
FROM generate_series(1, 300) WHERE pg_relation_size('m') < 40000000;
SQL
	script('marked', <<'SQL'),
UPDATE m SET c = c / 2
WHERE ctid = ANY (ARRAY(SELECT ctid FROM m TABLESAMPLE system (1) LIMIT 5 FOR UPDATE SKIP LOCKED));
UPDATE m SET pad = 'hot'
WHERE ctid = ANY (ARRAY(SELECT ctid FROM m TABLESAMPLE system (1) LIMIT 5 FOR UPDATE SKIP LOCKED));
DELETE FROM m WHERE ctid = ANY (ARRAY(SELECT ctid FROM m TABLESAMPLE system (1) LIMIT 5 FOR UPDATE SKIP LOCKED));
SQL
	# values that go come again, and lookups remove their entries
	script('batches', <<'SQL'),
\set come random(1, 9)
\set go random(1, 9)
\set rows random(1, 1500)
INSERT INTO b SELECT :come::int FROM generate_series(1, :rows::int) WHERE pg_relation_size('b') < 1000000;
DELETE FROM b WHERE ctid = ANY (ARRAY(SELECT ctid FROM b WHERE c = :go FOR UPDATE SKIP LOCKED));
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT count(*) FROM b WHERE c = :go;
END;
SQL
);

# Some are left in doubt by a disaster, see resolve().
my @twophase = map { script("twophase_$_", <<"SQL") } ('COMMIT', 'ROLLBACK');
\\set k random(1, 1000000000)
BEGIN;
INSERT INTO t (k, v) SELECT :k + i, 'P' || (:k + i) FROM generate_series(1, 50) i;
INSERT INTO m (c) SELECT :k % 1000 FROM generate_series(1, 10);
SAVEPOINT s;
INSERT INTO s VALUES (:k);
ROLLBACK TO s;
INSERT INTO s VALUES (:k + 1);
PREPARE TRANSACTION 'torture :k';
\\sleep 5 ms
$_ PREPARED 'torture :k';
SQL

my @checkers = map { script("look_$_->[0]", <<"SQL") }
BEGIN ISOLATION LEVEL $_->[1];
SELECT look($blocks);
\\sleep 20 ms
SELECT look($blocks);
END;
\\sleep 400 ms
SQL
  (['committed', 'READ COMMITTED'], ['repeatable', 'REPEATABLE READ'], ['serializable', 'SERIALIZABLE']);

# ANY and OR
push @checkers, script('plans', <<'SQL');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_seqscan = off;
SELECT coalesce((SELECT k FROM t TABLESAMPLE system (5) LIMIT 1), 0) AS k \gset
SELECT 1 / (CASE WHEN (SELECT count(*) FROM t WHERE k = ANY (ARRAY[-1, :k]::bigint[]))
	= (SELECT count(*) FROM t WHERE k + 0 = :k) THEN 1 ELSE 0 END) AS same;
SELECT 1 / (CASE WHEN (SELECT count(*) FROM t WHERE k = :k OR v = 'V' || :k)
	= (SELECT count(*) FROM t WHERE k + 0 = :k OR v || '' = 'V' || :k) THEN 1 ELSE 0 END) AS same;
END;
SQL
push @checkers, script('check', join('', map { "SELECT check_index('$_');\n" } qw(t_k t_lower t_two s_k m_c b_c)));

# a snapshot that is held for long
my $held = script('look_held', <<"SQL");
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT look($blocks);
\\sleep $hold s
SELECT look($blocks);
END;
SQL

# CONCURRENTLY does not wait for snapshots of a standby, and such an index lacks rows that only they see.
# The rows stay with hot_standby_feedback. Without it, replay waits for these snapshots or cancels them.
my $number = 0;
my ($concurrent, $maintenance) = map { [ map { script('maintenance_' . ++$number, "$_;\n") } @$_ ] } ([
	'REINDEX INDEX CONCURRENTLY t_k', 'REINDEX INDEX CONCURRENTLY t_v', 'REINDEX INDEX CONCURRENTLY t_lower',
	'REINDEX TABLE CONCURRENTLY parts_0', 'REINDEX INDEX CONCURRENTLY s_k', 'REINDEX TABLE CONCURRENTLY m',
	'CREATE INDEX CONCURRENTLY IF NOT EXISTS t_more ON t USING cuckoo (k)' ], [
	'VACUUM t', 'VACUUM (FREEZE) t', 'VACUUM FULL t', 'REINDEX TABLE t', 'DROP INDEX CONCURRENTLY IF EXISTS t_more',
	'ALTER TABLE t ALTER n TYPE bigint', 'ALTER TABLE t ALTER n TYPE int', 'CHECKPOINT',
	'VACUUM s', 'VACUUM m', 'REINDEX INDEX m_c', 'VACUUM b', 'VACUUM (INDEX_CLEANUP on) b',
	map { "SELECT pg_relation_size('$_->[0]') > $_->[1] AS large \\gset\n"
		  . "\\if :large\nTRUNCATE $_->[0];\n\\endif\nSELECT 1" }
	  (['t', 60_000_000], ['s', 20_000_000], ['m', 40_000_000]) ]);

# ---- running them ----

my @children;
my ($started, $transactions, $statements) = (0, 0, 0);
my %count = map { $_ => 0 } qw(compared checked plans prepared chains);

# Starts so many clients for some seconds, each with a pgbench of its own. If an
# error ends a client, the next one takes its place.
sub start_pgbench
{
	my ($node, $clients, $for, $mode, @scripts) = @_;

	foreach my $client (1 .. $clients)
	{
		my $log = "$folder/pgbench-" . ++$started . '.log';
		my $until = time + $for;
		my $pid = fork() // die "fork: $!";

		push @children, [ $pid, $log ];
		next if $pid != 0;
		open STDOUT, '>', $log;
		open STDERR, '>&', \*STDOUT;
		while (time < $until)
		{
			system 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-T', int($until - time + 1), '-M', $mode,
			  (map { ('-f', $_) } @scripts), 'postgres';
			sleep 0.1;
		}
		POSIX::_exit(0);
	}
	return;
}

# Ends transactions in doubt, whose locks others wait for.
sub resolve
{
	my ($out);

	$primary->psql('postgres', <<'SQL', stdout => \$out, on_error_stop => 0);
SELECT CASE WHEN gid ~ '[0-4]$' THEN 'COMMIT' ELSE 'ROLLBACK' END || format(' PREPARED %L', gid)
FROM pg_prepared_xacts WHERE prepared < now() - interval '1 s' AND database = current_database()
\gexec
\echo :ROW_COUNT
SQL
	return;
}

# Waits for all clients, and counts what they have done.
sub wait_for_pgbench
{
	foreach my $child (@children)
	{
		until (waitpid($child->[0], POSIX::WNOHANG()) != 0)
		{
			resolve();
			sleep 0.3;
		}
		my $text = slurp($child->[1]);

		$count{compared} += $_ foreach $text =~ /^NOTICE: +compared (\d+)/mg;
		$count{checked} += $_ foreach $text =~ /^NOTICE: +checked (\d+)/mg;
		$count{plans}++ while $text =~ /^NOTICE: +another plan/mg;
		# "transaction type" has the path if there is one script
		while ($text =~ m{^(?:SQL\ script\ \d+|transaction\ type):\ \S*/(\w+)\.sql\n
				.*?(?:^\ -\ |actually\ processed:\ )(\d+)}xmsg)
		{
			my ($script, $n) = ($1, $2);

			$transactions += $n;
			$statements += $n * $statements{$script};
			$count{compared} += 2 * $n if $script eq 'plans';
			$count{prepared} += $n if $script =~ /twophase/;
		}
		unlink $child->[1];
	}
	@children = ();
	return;
}

sub slurp
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	local $/ = undef;
	return <$file> // '';
}

# What a script prints, and its errors. It runs again if autovacuum has locked a table, or if a standby
# has cancelled it: a server reads its settings a moment after they have changed.
sub result_of
{
	my ($node, $database, $script) = @_;
	my ($out, $err);

	foreach my $try (1 .. 200)
	{
		$node->psql($database, $script, stdout => \$out, stderr => \$err);
		last if ($err // '') !~ /could not lock table|conflict with recovery/;
		sleep 0.3;
	}
	return ($out // '', $err // '');
}

# Looks for all rows in all indexes that are valid, and at all pages; and compares
# rows of more blocks than checkers do.
sub check_all
{
	my ($node, $what, $database) = @_;
	my ($out, $err) = result_of($node, $database || 'postgres', <<'SQL');
SELECT format('SELECT cf_index_check(%s)', indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'cuckoo') AND relkind = 'i' AND indisvalid AND indisready
	AND (relpersistence = 'p' OR NOT pg_is_in_recovery())
\gexec
SQL
	my @rows = $out =~ /^(\d+)$/mg;

	is($err, '', "$what: every row is in its index") or diag($out);
	cmp_ok(scalar @rows, '>', 0, "$what: indexes");
	$count{checked} += $_ foreach @rows;
	return if $database;
	($out, $err) = result_of($node, 'postgres', 'SELECT look(30)');
	unlike($err, qr/ERROR/, "$what: rows of 30 blocks find themselves");
	like($out, qr/^\d+$/, "$what: their number");
	$count{compared} += $out || 0;
	return;
}

# The assertion fails in PostgreSQL 15 where a session with parallel workers sees
# that the server died. 13 has XX000 for connections that are lost, and a worker has it
# that starts when its session has ended.
my $lost = qr/XX000 .*: +could not (?:receive data|connect to the|send end-of-streaming|attach to per-session DSM)/;
expect_in_logs($lost, qr/TRAP: .*IsTransactionOrTransactionBlock.*pgstat/);

# Errors in a log that sessions of such a crowd may not have
sub wrong_errors
{
	my ($node) = @_;

	return map { "$_\n" } grep { / (?:XX...|58...|53...|40P01|22012|P0001) .*(?:ERROR|FATAL|PANIC):/ && !/$lost/ }
	  split /\n/, slurp($node->logfile);
}

# What ended the test early is in the logs.
my $finished = 0;

END
{
	diag(map { wrong_errors($_) } $primary, $standby) if !$finished && $standby;
}

# What WAL has of indexes since the last call: records, and those of two pages,
# which are splits.
my ($records, $splits) = (0, 0);
my $counted;

sub count_wal
{
	my ($lsn, $file) = split /\|/, $primary->safe_psql('postgres',
		'SELECT lsn, pg_walfile_name(lsn) FROM (SELECT pg_current_wal_flush_lsn()) l(lsn)');

	if (defined $counted)
	{
		open my $wal, '-|', 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-r', 'Generic',
		  '-t', hex(substr $file, 0, 8), '-s', $counted, '-e', $lsn
		  or die "pg_waldump: $!";
		while (<$wal>)
		{
			$records++ if /^rmgr: Generic/;
			$splits++ if /blkref #1/;
		}
		close $wal;
	}
	$counted = $lsn;
	return;
}

# ---- disasters ----

my ($kills, $crashes, $takeovers) = (0, 0, 0);

# Some process of a server dies, and with it all sessions.
sub kill_process
{
	my ($node) = @_;
	my $pid = $node->safe_psql('postgres',
		q(SELECT pid FROM pg_stat_activity
			WHERE pid <> pg_backend_pid() AND backend_type <> 'startup' ORDER BY random() LIMIT 1));

	kill 'KILL', $pid;
	$kills++;
	return;
}

# All processes of a server die at once.
sub kill_server
{
	my ($node) = @_;
	my $postmaster = $node->{_pid};

	# A stopped server starts no process. A process that survives may wait for ever for the lock of a killed one.
	kill 'STOP', $postmaster;
	sleep 0.01 until slurp("/proc/$postmaster/stat") =~ /^\d+ \(.*\) [TZ] /;
	my @children = grep { (eval { slurp("/proc/$_/stat") } // '') =~ /^\d+ \(.*\) \S $postmaster / }
	  map { m{(\d+)$} } glob '/proc/[0-9]*';
	$node->kill9;
	kill 'KILL', @children;
	return;
}

# Starts it again, as soon as the kernel has given its shared memory back.
sub start_again
{
	my ($node) = @_;

	foreach (1 .. 100)
	{
		return if $node->start(fail_ok => 1);
		# it takes what the server that was killed has left in its file for one that runs
		$node->{_pid} = undef;
		sleep 0.5;
	}
	BAIL_OUT($node->name . ' did not recover');
}

# It logs in the other mode afterwards.
my $full_pages = 0;

sub crash
{
	kill_server($primary);
	$full_pages = !$full_pages;
	log_full_pages($primary, $full_pages);
	start_again($primary);
	$crashes++;
	return;
}

# The standby takes over, and the old primary becomes its standby. pg_rewind wants
# that the new primary logs full pages.
sub take_over
{
	my $old = $primary;
	my $settings = $old->data_dir . '/postgresql.conf';

	kill_server($old);
	$standby->promote;
	($primary, $standby) = ($standby, $old);
	$full_pages = 1;
	$takeovers++;
	sleep 1;
	resolve();
	unsubscribe();
	start_pgbench($primary, 4, $hold, 'prepared', @writers);
	start_pgbench($primary, 2, $hold, 'prepared', @checkers);

	# what it has written alone is undone
	start_again($old);
	$old->stop;
	$primary->safe_psql('postgres', 'CHECKPOINT');
	my $kept = slurp($settings);
	my $connection = $primary->connstr('postgres');
	my $status = system "pg_rewind --no-sync -D '@{[ $old->data_dir ]}' --source-server \"$connection\""
	  . " >'$folder/rewind.log' 2>&1";
	is($status, 0, 'pg_rewind') or diag(slurp("$folder/rewind.log"));
	open my $file, '>', $settings or die "$settings: $!";
	print $file $kept;
	close $file;
	$old->enable_streaming($primary);
	$old->start;
	subscribe();
	undef $counted;
	return;
}

# ---- logical replication, from one database of the primary to another ----

$primary->safe_psql('postgres', 'CREATE DATABASE subscriber');
$primary->safe_psql('subscriber', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE TABLE published (k bigint PRIMARY KEY, v text);
CREATE INDEX published_k ON published USING cuckoo (k);
CREATE INDEX published_v ON published USING cuckoo (v);
SQL

sub subscribe
{
	$primary->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('subscribed', 'pgoutput')");
	$primary->safe_psql('subscriber', <<"SQL");
TRUNCATE published;
CREATE SUBSCRIPTION subscribed CONNECTION 'host=@{[ $primary->host ]} port=@{[ $primary->port ]} dbname=postgres'
	PUBLICATION published WITH (create_slot = false, slot_name = subscribed);
SQL
	return;
}

# after a takeover, whose slot has stayed behind
sub unsubscribe
{
	$primary->safe_psql('subscriber', <<'SQL');
ALTER SUBSCRIPTION subscribed DISABLE;
ALTER SUBSCRIPTION subscribed SET (slot_name = NONE);
DROP SUBSCRIPTION subscribed;
SQL
	return;
}

subscribe();

# ---- rounds ----

# How the standby resolves conflicts of replay with its snapshots
sub set_standby
{
	my ($feedback, $delay) = @_;

	# without a statement, which a conflict can cancel
	$standby->append_conf('postgresql.conf',
		"hot_standby_feedback = $feedback\nmax_standby_streaming_delay = $delay");
	$standby->reload;
	return;
}

# With assertions a server can forget what it has cached whenever that may happen.
my $discards = $primary->safe_psql('postgres',
	"SELECT count(*) FROM pg_settings WHERE name = 'debug_discard_caches' AND max_val <> '0'");
my @disasters = (
	\&take_over, \&crash, sub { kill_process($primary) }, \&crash, sub { kill_process($primary) },
	sub { kill_process($standby) }, \&crash);
my $end = time + $seconds;
my $round = 0;
my %options;

count_wal();
while (time < $end || $crashes == 0)
{
	my $disaster = $disasters[ $round++ % @disasters ];
	my ($feedback, $delay) = (qw(off on)[ rand 2 ], (0, -1)[ rand 2 ]);

	set_standby($feedback, $delay);
	$options{"$feedback $delay"}++;
	# chains by a build, which waits for transactions in doubt
	resolve();
	$primary->safe_psql('postgres', 'REINDEX INDEX m_c') if $round % 2 == 0;
	start_pgbench($primary, $writers - 1, $round_seconds, 'prepared', @writers);
	start_pgbench($primary, 1, $round_seconds, 'simple', @twophase);
	start_pgbench($primary, 3, $round_seconds, 'prepared', @checkers);
	# a snapshot of the primary keeps rows, so that the standby needs no conflict
	start_pgbench($primary, 1, $round_seconds, 'prepared', $held) if $delay != 0;
	start_pgbench($primary, 1, $round_seconds, 'simple', @$maintenance, $feedback eq 'on' ? () : @$concurrent);
	start_pgbench($standby, 2, $round_seconds, 'prepared', grep { $_ !~ /serializable/ } @checkers);
	start_pgbench($standby, 1, $round_seconds, 'prepared', $held);
	if ($discards)
	{
		local $ENV{PGOPTIONS} = '-c debug_discard_caches=1';
		start_pgbench($primary, 1, $round_seconds, 'prepared', @writers);
	}
	sleep $round_seconds * (0.5 + rand 0.4);
	resolve();
	ok($primary->poll_query_until('postgres', <<'SQL'), 'HOT updates') if $round == 1;
WITH hot AS (UPDATE t SET pad = 'hot' WHERE ctid = ANY (ARRAY(SELECT ctid FROM t LIMIT 50)))
SELECT n_tup_hot_upd > 0 FROM pg_stat_user_tables WHERE relname = 't'
SQL
	count_wal();
	$disaster->();
	wait_for_pgbench();
	foreach my $node ($primary, $standby)
	{
		$node->poll_query_until('postgres', 'SELECT true') or BAIL_OUT($node->name . ' did not recover');
	}
	check_all($primary, "round $round, primary");
	check_all($primary, "round $round, subscriber", 'subscriber');
	# so that no check is cancelled
	set_standby('off', -1);
	$primary->wait_for_catchup($standby);
	check_all($standby, "round $round, standby");
	$count{chains} += $primary->safe_psql('postgres', q(SELECT chain_pages FROM cf_index_info('m_c')));
	count_wal();
}

# ---- what came of it ----

# Without writers and transactions in doubt, VACUUM leaves no other entries.
sleep 1.5;
resolve();
# Twice: VACUUM does not free the head of a chain whose link a split has moved meanwhile.
$primary->safe_psql('postgres', $_)
  foreach ('INSERT INTO b SELECT 0 FROM generate_series(1, 3000)', 'DELETE FROM b', 'VACUUM (INDEX_CLEANUP on) b') x 2;
is($primary->safe_psql('postgres', q(SELECT chain_pages, free_pages > 0 FROM cf_index_info('b_c'))),
	'0|t', 'chains of values that are gone are free pages');
$primary->safe_psql('postgres', "VACUUM (INDEX_CLEANUP on) $_") foreach qw(t s m parts fast);
is($primary->safe_psql('postgres', <<'SQL'), '', 'as many entries as rows');
SELECT indexrelid::regclass, entries, rows
FROM pg_index JOIN pg_class i ON i.oid = indexrelid AND relkind = 'i'
	JOIN pg_am a ON a.oid = relam AND amname = 'cuckoo',
	LATERAL cf_index_info(indexrelid) info,
	LATERAL (SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %s WHERE %s',
		indrelid::regclass, coalesce(pg_get_expr(indpred, indrelid), 'true')),
		false, true, '')))[1]::text::bigint AS rows) r
WHERE indisvalid AND entries <> rows
SQL

my $all = $primary->safe_psql('postgres', 'SELECT count(*), sum(hashtext(v)) FROM published');

ok($primary->poll_query_until('subscriber',
	"SELECT (count(*), sum(hashtext(v))) = (" . join(', ', split /\|/, $all) . ") FROM published"),
	"logical replication: rows $all");
check_all($primary, 'subscriber', 'subscriber');
ok($primary->poll_query_until('postgres', "SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 't_k'"),
	'questions are counted');
cmp_ok($count{compared}, '>', 0,
	"$count{compared} comparisons by scans, $count{checked} entries checked,"
	  . " beside $statements statements in $transactions transactions; $count{plans} queries with another plan");
cmp_ok($count{prepared}, '>', 0, "$count{prepared} transactions in two phases");
cmp_ok($splits, '>', 0, "$records records, $splits of them splits");
cmp_ok($count{chains}, '>', 0, "$count{chains} pages of chains");
note("$round rounds with $kills processes killed, $crashes servers, and $takeovers takeovers;"
	  . " hot_standby_feedback and max_standby_streaming_delay: "
	  . join ', ', map { "$options{$_} times $_" } sort keys %options);

foreach my $node ($primary, $standby)
{
	my @wrong = wrong_errors($node);

	is(scalar @wrong, 0, $node->name . ': no row was missed, no page was lost, nobody was deadlocked');
	diag(@wrong[ 0 .. ($#wrong > 20 ? 20 : $#wrong) ]) if @wrong;
	$node->stop;
}
$finished = 1;
done_testing();
