# cf_unique_trigger beside sessions that insert the same ids at the same time:
# each id is in one row, whatever partition each session chooses.
#
# The sessions insert single rows, several rows, and rows of a longer transaction
# (at REPEATABLE READ, or partly rolled back). Beside them the indexes of the
# partitions are rebuilt, and partitions are attached and detached. In each
# round a session is killed, so that the server restarts.
#
# UNIQUE_ROUNDS=100 makes it longer: a round is 9,000 racing inserts.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $rounds = $ENV{UNIQUE_ROUNDS} || 1;
my $ids = 1500;		# of a round; six sessions insert all of them
my $partitions = 10;
my $node = start_node('unique', 'deadlock_timeout = 10ms', 'restart_after_crash = on', 'max_prepared_transactions = 10',
	'max_connections = 30');

time_limit(300 + 30 * $rounds);

sub value
{
	return $node->safe_psql('postgres', shift);
}

value("CREATE TABLE visits (part int, id bigint, n int DEFAULT 0, site text DEFAULT '') PARTITION BY LIST (part)");
value("CREATE TABLE visits_$_ PARTITION OF visits FOR VALUES IN ($_)") foreach 0 .. $partitions - 1;
value(<<'SQL');
CREATE TABLE visits_new (LIKE visits INCLUDING ALL);
CREATE INDEX visits_id ON visits USING cuckoo (id, site);
CREATE INDEX ON visits_new USING cuckoo (id, site);
CREATE TRIGGER visits_unique AFTER INSERT OR UPDATE ON visits FOR EACH ROW
	EXECUTE FUNCTION cf_unique_trigger('visits_id');
SQL

# A prepared transaction has a value until it ends.
value("BEGIN; INSERT INTO visits VALUES (0, 1); PREPARE TRANSACTION 'kept'");
$node->stop('immediate');
$node->start;
foreach my $case ([ undef, '57014', 'waits for a prepared transaction' ],
	[ "COMMIT PREPARED 'kept'", '23505', 'fails after its commit' ])
{
	my ($end, $state, $name) = @$case;
	my $errors;

	value($end) if $end;
	$node->psql('postgres', "\\set VERBOSITY sqlstate\nSET statement_timeout = 500;\nINSERT INTO visits VALUES (1, 1)",
		stderr => \$errors);
	like($errors, qr/ERROR:  $state/, "an insert $name");
}

# The statements that insert some ids, in the way of a session.
sub statements
{
	my ($session, @ids) = @_;
	my @rows = map { sprintf '(%d, %d)', int(rand($partitions)), $_ } @ids;
	my $all = join ', ', @rows;

	return map { "INSERT INTO visits VALUES $_;" } @rows if $session < 2;
	return ("INSERT INTO visits VALUES $all;") if $session == 2;
	return ('BEGIN ISOLATION LEVEL REPEATABLE READ;', (map { "INSERT INTO visits VALUES $_;" } @rows), 'COMMIT;')
		if $session == 3;
	return ('BEGIN;', 'SAVEPOINT s;', "INSERT INTO visits VALUES $all;", 'ROLLBACK TO s;',
		"INSERT INTO visits VALUES $rows[0];", 'COMMIT;') if $session == 4;
	return ("INSERT INTO visits_0 VALUES (0, $ids[0]);", "UPDATE visits SET n = n + 1 WHERE id = $ids[0];",
		"UPDATE visits SET part = (part + 1) % $partitions WHERE id = $ids[0];");
}

# Starts a session that inserts the ids of a round, most of them when the other
# sessions do.
sub start_session
{
	my ($session, $round) = @_;
	my @left = map { $round * $ids + $_ } 0 .. $ids - 1;
	my @statements;

	while (@left > 0)
	{
		my @window = splice @left, 0, 20;

		push @statements, statements($session, splice @window, rand(@window), 1 + ($session > 1 ? int(rand(3)) : 0))
			while @window > 0;
	}
	my $file = $node->basedir . "/session_$session";

	append_to_file("$file.sql", join("\n", @statements, ''));
	my $pid = fork() // die "fork: $!";

	return { pid => $pid, file => $file } if $pid;
	open STDERR, '>>', "$file.log" or POSIX::_exit(1);
	exec 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-f', "$file.sql"
		or POSIX::_exit(1);
}

my %errors;
my $lost = 0;

foreach my $round (1 .. $rounds)
{
	my @sessions = map { start_session($_, $round) } 0 .. 5;
	my $kill = $round % 2 == 0;
	my $done = 0;

	# while the sessions run
	while (grep { !($_->{ended} ||= waitpid($_->{pid}, POSIX::WNOHANG()) != 0) } @sessions)
	{
		my $n = $done++ % $partitions;

		$node->psql('postgres', "REINDEX INDEX CONCURRENTLY visits_${n}_id_site_idx");
		$node->psql('postgres', 'ALTER TABLE visits ATTACH PARTITION visits_new FOR VALUES IN (99)') if $n == 1;
		$node->psql('postgres', 'ALTER TABLE visits DETACH PARTITION visits_new') if $n == 3;
		if ($kill && $done == 4)
		{
			my $pid = value(<<'SQL');
SELECT min(pid) FROM pg_stat_activity WHERE application_name = 'psql' AND state = 'active'
SQL

			kill 'KILL', $pid if $pid;
			$lost++;
			sleep 0.5;
		}
	}
	foreach my $session (@sessions)
	{
		$errors{$_}++ foreach slurp_file("$session->{file}.log") =~ /ERROR:  (\w+)/g;
		unlink "$session->{file}.sql", "$session->{file}.log";
	}
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not restart';
	is(value("SELECT count(*) - count(DISTINCT id) FROM visits"), 0, "round $round: no id is in two rows");
	is(value("SELECT count(DISTINCT id) FROM visits WHERE id / $ids = $round"),
		$ids, "round $round: each id is in a row")
		if !$kill;
}
note(join ', ', map { "$_: $errors{$_}" } sort keys %errors);
cmp_ok($errors{23505}, '>', 1000 * ($rounds - $lost), 'inserts of known ids failed');
is_deeply([ grep { !/^(23505|40P01|40001|25P02|57P02)$/ } keys %errors ], [], 'with these errors only');
is(value(<<"SQL"), $partitions, 'the indexes are correct');
SELECT count(*) FROM generate_series(0, $partitions - 1) p,
	cf_index_check(format('visits_%s_id_site_idx', p)::regclass)
SQL

$node->stop;
done_testing();
