# Exclusion constraints, and unique indexes from PostgreSQL 18 on, beside sessions
# that insert, update and delete the same ids at the same time: no id is in two
# rows.  Also prepared transactions, logical replication, dump and restore, and
# partitioned tables.
#
# RACE_SECONDS=600 makes the races longer: these are the seconds of each race.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{RACE_SECONDS} || 1;
my $node = start_node('constraints', 'deadlock_timeout = 10ms', 'restart_after_crash = on',
	'max_prepared_transactions = 10', 'max_connections = 40', 'wal_level = logical', 'autovacuum = off',
	'max_wal_senders = 5', 'max_replication_slots = 5');
my $subscriber = start_node('subscriber', 'wal_retrieve_retry_interval = 100ms');
my $unique = $node->pg_version >= 18;
my %kinds = (exclusion => [ 'ALTER TABLE %s ADD CONSTRAINT %1$s_id EXCLUDE USING cuckoo (id WITH =)', '23P01' ]);

$kinds{unique} = [ 'CREATE UNIQUE INDEX %s_id ON %1$s USING cuckoo (id)', '23505' ] if $unique;
time_limit(300 + 20 * $seconds);
# how the subscriber reports a conflict
my $conflict = qr/(?:constraint|already exists in unique index)/;


sub value
{
	my ($query, $on) = @_;

	return ($on // $node)->safe_psql('postgres', $query);
}

# The SQLSTATE of a statement
sub state_of
{
	my ($statement, $on, $database) = @_;
	my $errors = '';

	($on // $node)->psql($database // 'postgres', "\\set VERBOSITY sqlstate\n$statement", stderr => \$errors);
	return $errors =~ /ERROR:  (\w+)/ ? $1 : '00000';
}

# ---- prepared transactions ----

foreach my $kind (sort keys %kinds)
{
	my ($constraint, $state) = @{ $kinds{$kind} };

	value(join ";\n", "CREATE TABLE kept_$kind (id bigint, n int DEFAULT 0)", sprintf($constraint, "kept_$kind"),
		"BEGIN; INSERT INTO kept_$kind VALUES (1); PREPARE TRANSACTION '$kind'",
		"BEGIN; INSERT INTO kept_$kind VALUES (2); PREPARE TRANSACTION '$kind, undone'");
}
$node->stop('immediate');
$node->start;
foreach my $kind (sort keys %kinds)
{
	my $state = $kinds{$kind}[1];

	is(state_of("SET statement_timeout = 300; INSERT INTO kept_$kind VALUES ($_)"),
		'57014', "$kind: an insert of $_ waits for a prepared transaction") foreach 1, 2;
	value("COMMIT PREPARED '$kind'; ROLLBACK PREPARED '$kind, undone'");
	is(state_of("INSERT INTO kept_$kind VALUES (1)"), $state, "$kind: a prepared transaction is committed");
	is(state_of("INSERT INTO kept_$kind VALUES (2)"), '00000', "$kind: a prepared transaction is undone");
}

# ---- dump and restore ----

my $dump = $node->basedir . '/dump.sql';

value('CREATE DATABASE restored');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'dump');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restore');
foreach my $kind (sort keys %kinds)
{
	is(state_of("INSERT INTO kept_$kind VALUES (1)", $node, 'restored'), $kinds{$kind}[1], "$kind: it is restored");
	is(state_of("INSERT INTO kept_$kind VALUES (3)", $node, 'restored'), '00000', "$kind: a new id is accepted");
}

# ---- logical replication ----

my $connection = $node->connstr . ' dbname=postgres';

foreach my $kind (sort keys %kinds)
{
	my ($constraint, $state) = @{ $kinds{$kind} };
	my $table = "applied_$kind";

	value("CREATE TABLE $table (id bigint, place text); CREATE PUBLICATION $table FOR TABLE $table");
	value(join(";\n", "CREATE TABLE $table (id bigint, place text)", sprintf($constraint, $table),
			"INSERT INTO $table VALUES (7, 'subscriber')",
			"CREATE SUBSCRIPTION $table CONNECTION '$connection' PUBLICATION $table"), $subscriber);
	$subscriber->wait_for_subscription_sync if $subscriber->can('wait_for_subscription_sync');
	value("INSERT INTO $table SELECT i, 'publisher' FROM generate_series(1, 10) i");
	$subscriber->wait_for_log(qr/$conflict "${table}_id"/);
	is(value("SELECT count(*) FROM $table", $subscriber), 1, "$kind: the apply worker inserts no second row");
	value("DELETE FROM $table WHERE id = 7", $subscriber);
	$node->wait_for_catchup($table);
	is(value("SELECT count(*), count(DISTINCT id) FROM $table", $subscriber), '10|10', "$kind: then it goes on");
	value("DROP SUBSCRIPTION $table", $subscriber);
}

# A replica identity whose lookups return other rows, too: all hashes are equal
if ($unique)
{
	value($_, $subscriber) foreach "CREATE FUNCTION same_hash(int, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
			AS 'SELECT 1::bigint'",
		'CREATE OPERATOR CLASS same_hash FOR TYPE int USING cuckoo AS OPERATOR 1 =, FUNCTION 1 same_hash(int, bigint)';
	foreach my $on ($node, $subscriber)
	{
		my $class = $on == $node ? 'int4_ops' : 'same_hash';

		value($_, $on) foreach 'CREATE TABLE replica (id int NOT NULL, place text)',
			"CREATE UNIQUE INDEX replica_id ON replica USING cuckoo (id $class)",
			'ALTER TABLE replica REPLICA IDENTITY USING INDEX replica_id',
			'INSERT INTO replica SELECT i FROM generate_series(1, 9) i';
	}
	value('CREATE PUBLICATION replica FOR TABLE replica');
	value("CREATE SUBSCRIPTION replica CONNECTION '$connection' PUBLICATION replica WITH (copy_data = false)",
		$subscriber);
	value("UPDATE replica SET place = 'changed' WHERE id = 5; DELETE FROM replica WHERE id = 8");
	$node->wait_for_catchup('replica');
	is(value('SELECT string_agg(id || coalesce(place, \'\'), \' \' ORDER BY id) FROM replica', $subscriber),
		'1 2 3 4 5changed 6 7 9', 'the apply worker changes the row with the key, and no other');
	value('DROP SUBSCRIPTION replica', $subscriber);
}

# Logical replication searches whole rows, from PostgreSQL 18 on by this index. The index has no entry for a row with a
# null, and logical replication has no value for an expression.
foreach my $columns ('id, place', 'id, lower(place)')
{
	my $rows = q(SELECT count(*), string_agg(format('%s %s', id, place), ', ' ORDER BY id, place)
		FILTER (WHERE id IS NULL OR id < 4 OR place IS NULL) FROM whole);

	value('CREATE TABLE whole (id int, place text)', $_) foreach $node, $subscriber;
	value('ALTER TABLE whole REPLICA IDENTITY FULL; CREATE PUBLICATION whole FOR TABLE whole');
	value("CREATE INDEX whole_index ON whole USING cuckoo ($columns)", $subscriber);
	value("CREATE SUBSCRIPTION whole CONNECTION '$connection' PUBLICATION whole WITH (copy_data = false)", $subscriber);
	value("INSERT INTO whole SELECT i, 'place ' || i FROM generate_series(1, 1000) i");
	value("INSERT INTO whole VALUES (1, 'x'), (NULL, 'y'), (2, NULL), (NULL, NULL), (NULL, 'left')");
	value("UPDATE whole SET place = 'changed' WHERE id = 1 OR place = 'y'");
	value('DELETE FROM whole WHERE place IS NULL OR id = 3');
	$node->wait_for_catchup('whole');
	is(value($rows, $subscriber), value($rows), "whole rows, index of $columns");
	ok($subscriber->poll_query_until('postgres',
		"SELECT idx_scan > 0 FROM pg_stat_user_indexes WHERE indexrelname = 'whole_index'"), 'by the index')
	  if $node->pg_version >= 18;
	value('DROP SUBSCRIPTION whole', $subscriber);
	value('DROP TABLE whole', $_) foreach $node, $subscriber;
	value('DROP PUBLICATION whole');
}

# ---- partitioned tables ----

foreach my $kind ($node->pg_version >= 17 ? sort keys %kinds : ())
{
	my $state = $kinds{$kind}[1];

	value("CREATE TABLE parts_$kind (day int, id int) PARTITION BY LIST (day)");
	value("CREATE TABLE parts_${kind}_$_ PARTITION OF parts_$kind FOR VALUES IN ($_)") foreach 1 .. 2;
	value($kind eq 'unique' ? 'CREATE UNIQUE INDEX ON parts_unique USING cuckoo (id, day)' :
		"ALTER TABLE parts_$kind ADD EXCLUDE USING cuckoo (id WITH =, day WITH =)");
	value("INSERT INTO parts_$kind VALUES (1, 1), (2, 1), (2, 2)");
	is(state_of("INSERT INTO parts_$kind VALUES (2, 1)"), $state, "$kind: a partition has no row twice");
	is(state_of("UPDATE parts_$kind SET day = 2 WHERE day = 1"), $state, "$kind: no row moves to an equal one");
	value("INSERT INTO parts_$kind VALUES (2, 1), (2, 3) ON CONFLICT DO NOTHING");
	is(value("SELECT count(*), count(DISTINCT (id, day)) FROM parts_$kind"), '4|4', "$kind: rows of partitions");
}

# ---- races ----

# Changes random ids in all ways, in one transaction.  Equal ids are an error, of
# which the statement or all statements are undone.
value(<<'SQL');
CREATE SEQUENCE refused;
CREATE SEQUENCE deadlocks;
CREATE FUNCTION change(name text, ids int, upserts boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	way real = random();
	id text = 1 + floor(random() * ids);
	other text = 1 + floor(random() * ids);
BEGIN
	EXECUTE format(CASE WHEN way < 0.3 THEN 'INSERT INTO %s VALUES (%s)'
		WHEN way < 0.5 THEN 'INSERT INTO %s VALUES (%s), (%s) ON CONFLICT DO NOTHING'
		WHEN way < 0.6 AND upserts THEN 'INSERT INTO %s AS t VALUES (%s) ON CONFLICT (id) DO UPDATE SET n = t.n + 1'
		WHEN way < 0.7 THEN 'DELETE FROM %s WHERE id = %s'
		WHEN way < 0.8 THEN 'UPDATE %s SET n = n + 1 WHERE id = %s'
		WHEN way < 0.9 THEN 'UPDATE %s SET id = %3$s WHERE id = %2$s'
		ELSE 'UPDATE %s SET filler = repeat(''x'', 3000) WHERE id = %s' END, name, id, other);
END $$;
CREATE FUNCTION change_each(name text, ids int, upserts boolean, statements int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..statements LOOP
		BEGIN
			PERFORM change(name, ids, upserts);
		EXCEPTION
			WHEN unique_violation OR exclusion_violation THEN PERFORM nextval('refused');
			WHEN deadlock_detected THEN PERFORM nextval('deadlocks');
		END;
	END LOOP;
END $$;
CREATE FUNCTION change_all(name text, ids int, upserts boolean, statements int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM change(name, ids, upserts) FROM generate_series(1, statements);
EXCEPTION
	WHEN unique_violation OR exclusion_violation THEN PERFORM nextval('refused');
	WHEN deadlock_detected THEN PERFORM nextval('deadlocks');
END $$;
SQL

my %scripts = (
	each => q{SELECT change_each(':table', :ids, :upserts, :n)},
	all => q{SELECT change_all(':table', :ids, :upserts, :n)});

# Starts eight sessions.
sub start_race
{
	my ($table, $ids) = @_;
	my @options = ('-n', '-c', 8, '-j', 2, '-T', $seconds, '-D', "table=$table", '-D', "ids=$ids",
		'-D', 'upserts=' . ($table =~ /unique/ ? 'true' : 'false'));

	foreach my $script (sort keys %scripts)
	{
		my $file = $node->basedir . "/$script.sql";

		unlink $file;
		append_to_file($file, "\\set n random(1, 20)\n$scripts{$script};\n");
		push @options, '-f', $file;
	}
	my $log = $node->basedir . '/pgbench.log';
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	open STDOUT, '>>', $log or POSIX::_exit(1);
	open STDERR, '>>', $log or POSIX::_exit(1);
	exec 'pgbench', @options, '-h', $node->host, '-p', $node->port, 'postgres' or POSIX::_exit(1);
}

foreach my $kind (sort keys %kinds)
{
	foreach my $ids (40, 3000, 1_000_000)
	{
		my $table = "raced_$kind";
		my $what = "$kind, $ids ids";

		value(join ";\n", "CREATE TABLE $table (id bigint, n int DEFAULT 0, filler text)",
			sprintf($kinds{$kind}[0], $table), map { "ALTER SEQUENCE $_ RESTART" } qw(refused deadlocks));
		my $race = start_race($table, $ids);
		my $end = time() + $seconds / 2;
		my ($twice, $ended) = (0, 0);

		for (my $n = 0; !$ended; $n++)
		{
			# the sessions race again after the server was killed
			$ended = waitpid($race, POSIX::WNOHANG()) != 0;
			if ($end && time() > $end)
			{
				my $killed = value("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1");

				$killed && $ids == 3000 ? kill 'KILL', $killed : $ids == 40 && $node->stop('immediate');
				waitpid($race, 0);
				$node->start if $ids == 40;
				$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not restart';
				$race = start_race($table, $ids);
				$end = $ended = 0;
			}
			$twice += value(join ";\n", "SELECT count(*) - count(DISTINCT id) FROM $table",
				$n % 3 ? () : "VACUUM (INDEX_CLEANUP on) $table",
				# PostgreSQL does not rebuild exclusion constraints CONCURRENTLY
				$n % 5 < 4 ? ()
				: 'REINDEX INDEX ' . ($kind eq 'unique' && $n % 2 ? 'CONCURRENTLY' : '') . " ${table}_id");
			sleep 0.05;
		}
		my ($refused, $deadlocks, $more) = split /\n/, value(join ";\n",
			(map { "SELECT last_value - (NOT is_called)::int FROM $_" } qw(refused deadlocks)),
			"SELECT count(*) - count(DISTINCT id) FROM $table");

		note("$what: $refused refused, $deadlocks deadlocks");
		$twice += $more;
		is($twice, 0, "$what: no id is in two rows");
		# of a million ids perhaps none is there twice
		cmp_ok($refused, '>', 100, "$what: ids are refused") if $ids <= 3000;
		is(value("VACUUM (INDEX_CLEANUP on) $table; SELECT cf_index_check('${table}_id') - count(*) FROM $table;
			DROP TABLE $table"), 0, "$what: the index is correct");
	}
}
unlike(slurp_file($node->basedir . '/pgbench.log'), qr/ERROR:/, 'the sessions have no other errors');

$node->stop;
$subscriber->stop;
done_testing();
