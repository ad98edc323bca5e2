# Builds with workers: the index is the same, byte for byte, as without workers.
# If a worker or the leader fails, or is ended in some phase, nothing is left, and the
# next build succeeds. VACUUM has a worker for each index.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use Test::More;
use Time::HiRes qw(sleep);

my $counts = -e `pg_config --pkglibdir` =~ s/\n//r . '/pg_stat_statements.so';
# a participant has 340 kB, so it sorts several runs
my $node = start_node('parallel_build', 'autovacuum = off', 'restart_after_crash = on', 'maintenance_work_mem = 1MB',
	$counts ? 'shared_preload_libraries = pg_stat_statements' : 'compute_query_id = on');

plan skip_all => 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_faults'") != 0;

# When an index calls act(), test.act names the process that waits or fails, or just
# goes on. The others may be slow, so that this process reads most of the rows. The
# number of workers is that of the table, whatever its size.
$node->safe_psql('postgres', <<"SQL");
UPDATE pg_proc SET probin = 'cuckoo_faults' WHERE probin ~ 'cuckoo\$';
CREATE FUNCTION test_fault(text, bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_seed(bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_page(regclass, bigint) RETURNS bytea AS 'cuckoo_test' LANGUAGE C;
CREATE FUNCTION act(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$
DECLARE
	who text := CASE current_setting('test.leader') WHEN pg_backend_pid()::text THEN 'leader' ELSE 'worker' END;
	act text := current_setting('test.act');
BEGIN
	IF act !~ who THEN
		PERFORM pg_sleep(0.2) WHERE i % 3000 = 1 AND act ~ 'others slow';
	ELSIF act ~ 'waits' THEN
		PERFORM pg_sleep(600);
	ELSIF act ~ 'fails' THEN
		RAISE 'failed as user %, path %', current_user, current_setting('search_path');
	END IF;
	RETURN i;
END \$\$;
CREATE FUNCTION acting(int, bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN public.act(\$1) # \$2; END';
CREATE OPERATOR CLASS acting_ops FOR TYPE int USING cuckoo AS OPERATOR 1 =, FUNCTION 1 acting(int, bigint);
-- sorted as uuids: 20 rows in each of 600 blocks; and as bigints
CREATE TABLE wide (i int, hot int, n int, s text, pad text DEFAULT repeat('.', 300)) WITH (parallel_workers = 2);
INSERT INTO wide SELECT i, i % 10, nullif(i % 7, 0), 's' || i FROM generate_series(1, 12000) i;
CREATE TABLE dense (i int, hot int, n int, s text) WITH (parallel_workers = 2);
INSERT INTO dense SELECT i, i % 10, nullif(i % 7, 0), 's' || i FROM generate_series(1, 12000) i;
VACUUM;
-- without the LSN and the checksum
CREATE FUNCTION pages(regclass) RETURNS text LANGUAGE sql AS
	'SELECT md5(string_agg(substr(test_page(\$1, n), 11), NULL ORDER BY n))
		FROM generate_series(0, pg_relation_size(\$1) / current_setting(''block_size'')::int - 1) n';
CREATE FUNCTION lost(t text, i text) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off
	SET enable_mergejoin = off SET enable_material = off SET enable_tidscan = off AS \$\$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT i, ctid FROM %s OFFSET 0) a
		WHERE NOT EXISTS (SELECT FROM %s b WHERE %s = a.i AND b.ctid = a.ctid)', t, t, i) INTO result;
	RETURN result;
END \$\$;
SQL

my $begin = "SELECT set_config('test.leader', pg_backend_pid()::text, false) \\g /dev/null\nSET test.act =";

# ---- the same index ----

foreach my $of (map { ("wide USING cuckoo $_", "dense USING cuckoo $_") } '(i)', '(hot)', '(s)', '(n, (hot / 2))')
{
	checks($node, 'postgres', <<"SQL" =~ s/CREATE INDEX .*\K;$/ WHERE act(i) > 0;/gmr);
$begin 'worker, others slow';
SELECT test_seed(7) \\g /dev/null
CREATE INDEX parallel ON $of;
SELECT '$of: rows of the table', t.reltuples, 12000 FROM pg_class t, pg_index i
	WHERE t.oid = i.indrelid AND i.indexrelid = 'parallel'::regclass;
SET test.act = '';
SET max_parallel_workers = 0;
CREATE INDEX no_worker ON $of;
SET max_parallel_maintenance_workers = 0;
CREATE INDEX serial ON $of;
SELECT test_seed(8) \\g /dev/null
CREATE INDEX other ON $of;
SELECT '$of: the same index', pages('parallel'), pages('serial'), pages('no_worker'), pages('serial');
SELECT '$of: and another one for another seed', pages('other') <> pages('serial');
DROP INDEX parallel, no_worker, serial, other;
SQL
}

# ---- rights, settings and libraries ----

# The errors of a build in which a process fails
sub errors_of
{
	my ($who, $database) = @_;
	my (undef, undef, $errors) = $node->psql($database, <<"SQL");
$begin '$who fails, others slow';
CREATE INDEX ON wide USING cuckoo (act(i));
SQL

	return $errors;
}

$node->safe_psql('postgres', 'CREATE ROLE owner');
$node->safe_psql('postgres', 'ALTER TABLE wide OWNER TO owner');
my ($failed) = errors_of('leader', 'postgres') =~ /(ERROR:  failed as user owner, .*)/;
like(errors_of('worker', 'postgres'), qr/\Q$failed\E\n(?:.*\n)*parallel worker$/,
	'a worker has the user and the settings of the leader');

checks($node, 'postgres', <<"SQL");
$begin 'worker fails';
CREATE INDEX built ON wide USING cuckoo (i acting_ops);
SELECT 'a support function that is not parallel safe: no workers', cf_index_check('built'), 12000;
DROP INDEX built;
ALTER FUNCTION acting PARALLEL SAFE;
SET test.act = 'worker fails, others slow';
CREATE INDEX built ON wide USING cuckoo (i acting_ops);
SELECT 'one that is parallel safe', :'SQLSTATE', 'P0001';
SET test.act = 'worker fails';
CREATE TEMP TABLE gone WITH (parallel_workers = 2) ON COMMIT DELETE ROWS AS TABLE wide;
BEGIN;
INSERT INTO gone TABLE wide;
CREATE INDEX gone_i ON gone USING cuckoo (act(i));
SELECT 'a temporary table: no workers', cf_index_check('gone_i'), count(*) FROM gone;
COMMIT;
SQL

$node->safe_psql('postgres', 'CREATE DATABASE plain TEMPLATE postgres');
$node->safe_psql('plain', q(UPDATE pg_proc SET probin = '$libdir/cuckoo' WHERE probin = 'cuckoo_faults'));
new_sessions();
like(errors_of('worker', 'plain'), qr/^parallel worker$/m, 'workers find the library of the extension');

# ---- sessions ----

my @sessions;

# Runs a script in a new session. Returns the session, and its pid.
sub start_session
{
	my ($script) = @_;
	my $session = { out => '', errors => '' };
	my @psql = ('psql', '-XAtq', '-d', $node->connstr('postgres'));

	push @psql, map { ('-c', $_) } 'SELECT pg_backend_pid()', @$script;
	$session->{psql} = IPC::Run::start(\@psql, '>', \$session->{out}, '2>', \$session->{errors});
	push @sessions, $session->{psql};
	$session->{psql}->pump until $session->{out} =~ /^(\d+)\n/;
	return ($session, $1);
}

END
{
	local $?;

	$_->kill_kill foreach @sessions;
}

sub wait_until
{
	my ($condition) = @_;

	$node->poll_query_until('postgres', "SELECT $condition") or die "not so: $condition";
	return;
}

# ---- what workers find and report ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE hot (i int, n int) WITH (parallel_workers = 2, fillfactor = 50);
INSERT INTO hot SELECT i, i FROM generate_series(1, 12000) i;
SQL
my ($old, $old_pid) =
  start_session([ 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM hot', 'SELECT pg_sleep(600)' ]);
$old->{psql}->pump until $old->{out} =~ /^12000$/m;
checks($node, 'postgres', <<"SQL");
UPDATE hot SET n = -n WHERE i = 9001;
$begin 'worker, others slow';
CREATE INDEX hot_n ON hot USING cuckoo (act(n));
SELECT 'broken HOT chains', indcheckxmin FROM pg_index WHERE indexrelid = 'hot_n'::regclass;
SQL
$node->safe_psql('postgres', "SELECT pg_terminate_backend($old_pid)");

SKIP:
{
	skip 'this PostgreSQL has no pg_stat_statements', 1 if !$counts;
	checks($node, 'postgres', <<"SQL");
CREATE EXTENSION pg_stat_statements;
$begin 'worker, others slow';
CREATE INDEX by_workers ON wide USING cuckoo (act(i));
SET test.act = '';
SET max_parallel_maintenance_workers = 0;
CREATE INDEX alone ON wide USING cuckoo (act(i));
CREATE FUNCTION blocks(name text) RETURNS bigint LANGUAGE sql AS
	\$\$SELECT shared_blks_hit + shared_blks_read FROM pg_stat_statements WHERE query ~ ('CREATE INDEX ' || name)\$\$;
SELECT 'blocks that workers read', blocks('by_workers') >= blocks('alone'), true, blocks('alone'), '> 500';
DROP INDEX by_workers, alone;
SQL
}

# ---- other statements ----

checks($node, 'postgres', <<"SQL");
$begin '';
CREATE TABLE parts (i int, n int) PARTITION BY LIST (n);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1) WITH (parallel_workers = 2);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2) WITH (parallel_workers = 2);
INSERT INTO parts SELECT i, 1 + i % 2 FROM generate_series(1, 12000) i;
CREATE INDEX ON parts USING cuckoo (i);
SELECT 'partitions', lost('part_1', 'i'), 0, lost('part_2', 'i'), 0;
ALTER TABLE part_1 SET UNLOGGED;
SELECT 'not logged', lost('part_1', 'i'), 0;
INSERT INTO dense (i) VALUES (777);
ALTER TABLE dense ADD CONSTRAINT built EXCLUDE USING cuckoo (i WITH =);
SELECT 'an exclusion constraint', :'SQLSTATE', '23P01';
CREATE UNIQUE INDEX built ON dense USING cuckoo (i);
SELECT 'a unique index', :'SQLSTATE', CASE WHEN :SERVER_VERSION_NUM < 180000 THEN '0A000' ELSE '23505' END;
DELETE FROM dense WHERE hot IS NULL;
ALTER TABLE dense ADD CONSTRAINT built EXCLUDE USING cuckoo (i WITH =);
SELECT 'without the other row', :'SQLSTATE', '00000', lost('dense', 'i'), 0;
ALTER TABLE dense DROP CONSTRAINT built;
SQL
if ($node->pg_version >= 18)
{
	checks($node, 'postgres', <<'SQL');
CREATE UNIQUE INDEX built ON dense USING cuckoo (i);
SELECT 'a unique index without the other row', :'SQLSTATE', '00000', lost('dense', 'i'), 0;
DROP INDEX built;
SQL
}

my (undef, undef, $said) = $node->psql('postgres', <<"SQL");
$begin '';
CREATE INDEX built ON dense USING cuckoo (i);
CREATE INDEX other ON dense USING cuckoo (hot);
DELETE FROM dense WHERE i % 100 = 0;
SET min_parallel_index_scan_size = 0;
VACUUM (VERBOSE, PARALLEL 2, INDEX_CLEANUP on) dense;
DROP INDEX built, other;
SQL
like($said, qr/parallel vacuum worker for index vacuuming \(planned: 1\)/, 'VACUUM has a worker for the other index');
unlike($said, qr/for index cleanup/, 'and none for the cleanup, which only asks for the size of the file');

(undef, undef, $said) = $node->psql('postgres', <<"SQL");
$begin '';
SET maintenance_work_mem = '6MB';
SET trace_sort = on;
SET client_min_messages = log;
CREATE INDEX built ON dense USING cuckoo (i);
SET client_min_messages = warning;
DROP INDEX built;
SQL
my %memory = map { $_ => 1 } $said =~ /begin datum sort: .*workMem = (\d+)/g;
is(join(' ', sort { $a <=> $b } keys %memory),
	'2048 6144', 'each process sorts in a third of the memory, the leader merges in all');

# Other sessions change the table, while the index is built and validated.
my ($build) = start_session([ "SET test.leader = ''", "SET test.act = 'leader, others slow'",
		'CREATE INDEX CONCURRENTLY built ON wide USING cuckoo (act(i))', 'REINDEX INDEX CONCURRENTLY built' ]);
my $rounds = 0;
while ($build->{psql}->pumpable)
{
	$node->safe_psql('postgres', "INSERT INTO wide (i) SELECT 50 * $rounds + 20002 + generate_series(1, 40);
		UPDATE wide SET n = -n, i = i + 30000 WHERE i % 1000 = $rounds");
	$build->{psql}->pump_nb;
	$rounds++;
}
$build->{psql}->finish;
is($build->{errors}, '', "CONCURRENTLY, and $rounds transactions of another session");
checks($node, 'postgres', "$begin '';\nSELECT 'each row is found', lost('wide', 'act(i)'), 0;\nDROP INDEX built");

# ---- ends ----

$node->safe_psql('postgres', 'CREATE VIEW s AS SELECT * FROM pg_stat_activity');

# The phases in which a build stops; by what, and what is then true if its leader is LEADER
my $workers = q(SELECT count(*) FROM s WHERE leader_pid = LEADER AND query ~ '^CREATE INDEX built'
	AND query_id = (SELECT query_id FROM s WHERE pid = LEADER) AND wait_event = 'PgSleep');
my %phases = (
	'the leader scans' => [ "SET test.act = 'leader waits, others slow'",
		q((SELECT wait_event = 'PgSleep' FROM s WHERE pid = LEADER)
		AND NOT EXISTS (SELECT FROM s WHERE leader_pid = LEADER)) ],
	'workers scan' => [ "SET test.act = 'worker waits, others slow'",
		"(SELECT wait_event = 'ParallelFinish' FROM s WHERE pid = LEADER) AND ($workers) = 2" ],
	'the leader writes' => [ "SET test.act = ''; SELECT test_fault('stop', 50)",
		q((pg_stat_file('stopped', true)).size > 0
		AND (SELECT phase ~ 'writing pages' AND tuples_total = (SELECT count(*) FROM dense)
			FROM pg_stat_progress_create_index)) ]);

foreach my $phase (sort keys %phases)
{
	my ($stop, $condition) = @{ $phases{$phase} };

	foreach my $end ('cancel leader', 'terminate leader', 'kill leader', 'terminate worker', 'kill worker')
	{
		my ($how, $whom) = split / /, $end;
		next if $whom eq 'worker' && $phase ne 'workers scan';
		my ($session, $leader) = start_session([
				"SELECT set_config('test.leader', pg_backend_pid()::text, false)",
				$stop, 'CREATE INDEX built ON dense USING cuckoo (act(i))' ]);

		wait_until($condition =~ s/LEADER/$leader/gr);
		my $pid = $whom eq 'leader' ? $leader :
		  $node->safe_psql('postgres', "SELECT min(pid) FROM s WHERE leader_pid = $leader");
		if ($how eq 'kill')
		{
			kill 'KILL', $pid;
			# the session of the test, too
			$session->{psql}->finish;
			wait_until('true');
		}
		else
		{
			$node->safe_psql('postgres', "SELECT pg_${how}_backend($pid)");
			unlink $node->data_dir . '/stopped';
			$session->{psql}->finish;
		}
		unlink $node->data_dir . '/stopped';
		like($session->{errors}, qr/(?:ERROR|FATAL):|connection to server was lost/, "$phase: $end");
		wait_until("NOT EXISTS (SELECT FROM s WHERE backend_type = 'parallel worker')
			AND NOT EXISTS (SELECT FROM pg_ls_tmpdir())");
		checks($node, 'postgres', <<"SQL");
$begin '';
CREATE INDEX built ON dense USING cuckoo (act(i));
SELECT '$phase, $end: the next build', cf_index_check('built'), count(*) FROM dense;
DROP INDEX built;
SQL
	}
}

$node->stop;
done_testing();
