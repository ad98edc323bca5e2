# Functions that the TAP tests share.
#
# The file $TEMP_CONFIG has settings by which nodes find an extension that is
# not installed in the server's own folder. test/throwaway.sh writes the file,
# and PostgreSQL::Test::Cluster appends it to every configuration.
package CuckooTest;

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Exporter 'import';
use Fcntl qw(:flock);
use FindBin;
use Test::More;

our @EXPORT = qw(new_node start_node start_standby citus partial_aggregates checks report
	blocks_of run_block run_blocks_left_to time_limit expect_in_logs new_sessions);
our @EXPORT_OK = qw(lines_of);

# the source
my $top = "$FindBin::RealBin/../..";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# initdb takes a second, but copying what it made only a tenth of that.
# Therefore the first node of a run with some arguments makes a template for
# all others, even for those of tests that run at the same time.
{
	no warnings 'redefine';
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;
	my $folder = \$PostgreSQL::Test::Utils::tmp_check;

	*PostgreSQL::Test::Utils::system_or_bail = sub {
		return &$run if $_[0] ne 'initdb';
		my @initdb = @_;
		my ($at) = grep { $initdb[$_] =~ /^(?:-D|--pgdata)$/ } 0 .. $#initdb;
		my $new = $initdb[ ++$at ];
		my $kind = md5_hex(join ' ', `which initdb`, @initdb[ 1 .. $at - 1, $at + 1 .. $#initdb ]);
		my $template = $initdb[$at] = "$$folder/initdb-$kind";

		open my $lock, '>>', "$template.lock" or die "$template.lock: $!";
		flock $lock, LOCK_EX or die "$template.lock: $!";
		$run->(@initdb) if !-e "$template/PG_VERSION";
		close $lock;
		$run->('cp', '-R', '-p', $template, $new);
	};
}

# ---- sessions ----

# A script that psql() or safe_psql() runs is given to a psql that waits for the
# next one of the same user, server and database: where a new process and a new
# connection cost a tenth of a second, they were a third of the time of these
# tests. Between two scripts is ROLLBACK and DISCARD ALL. A session ends where
# it could show: with its process of Perl, at an error that stops the script,
# when its connection is lost, and before new_sessions() and a script that loads a
# library, names a database, changes a role, or asks by SELECT true if the server
# accepts connections again.
my %sessions;

sub new_sessions
{
	$sessions{$_}{harness}->kill_kill foreach grep { $sessions{$_}{of} == $$ } keys %sessions;
	%sessions = ();
	return;
}

# Whether the session has run the script; $out and $err are then what it put out.
sub have_run
{
	my ($session, $script, $out, $err) = @_;
	my ($harness, $mark) = ($session->{harness}, sprintf '-- %d --', ++$session->{scripts});
	my $ends = qr/^\Q$mark\E\n/m;

	@$session{qw(out err)} = ('', '');
	$session->{in} .= "$script\n;\n\\echo $mark\n\\warn $mark\n";
	eval {
		$harness->pump while $session->{out} !~ $ends || $session->{err} !~ $ends;
		1;
	} or eval { $harness->finish; 1 };
	($$out, $$err) = @$session{qw(out err)};
	return $$out =~ s/$ends.*//s & $$err =~ s/$ends.*//s;
}

{
	no warnings 'redefine';
	my $run = \&IPC::Run::run;

	*IPC::Run::run = sub {
		my ($command, @io) = @_;
		my @of = ref $command eq 'ARRAY' ? grep { !/^(?:-v|--variable|ON_ERROR_STOP=1)$/ } @$command : '';
		my $script = ref $io[1] eq 'SCALAR' ? ${ $io[1] } : '';

		return &$run if $of[0] !~ /psql$/;
		if ($script =~ /\b(?:DATABASE|LOAD|(?:ALTER|CREATE|DROP)\ (?:ROLE|USER))\b|^SELECT\ true$|
			\\(?:c|connect|o|pset|q|unset)\b/ix)
		{
			new_sessions();
			return &$run;
		}
		# those of psql() and of poll_query_until(), which have long names from 18 on
		my $shape = join ' ', map { /=/ ? 'DATABASE' : $_ } @of[ 1 .. $#of ];
		return &$run
			if @io != 6 || $shape !~ /^(?:-XAtq?\ -d\ DATABASE(?:\ -f\ -)?|
				--no-psqlrc\ --no-align\ --tuples-only(?:\ --quiet)?\ --dbname\ DATABASE(?:\ --file\ -)?)$/x;

		my $key = join "\n", $$, @of, map { "$_=$ENV{$_}" } grep { /^PG/ } sort keys %ENV;
		my $stop = (grep { $_ eq 'ON_ERROR_STOP=1' } @$command) ? 'on' : 'off';
		my $session = $sessions{$key};
		my ($out, $err);

		if (!$session || !have_run($session, "\\set ON_ERROR_STOP on\nSELECT", \$out, \$err))
		{
			$session = $sessions{$key} = { of => $$, in => '', out => '', err => '' };
			$session->{harness} = IPC::Run::start(\@of, '<', \$session->{in}, '>', \$session->{out},
				'2>', \$session->{err});
		}
		$? = 0;
		if (!have_run($session, "\\set ON_ERROR_STOP $stop\n$script", @io[ 3, 5 ]))
		{
			$? = $session->{harness}->full_result(0);
			delete $sessions{$key};
		}
		elsif (!have_run($session, 'BEGIN; ROLLBACK; DISCARD ALL; SELECT pg_stat_force_next_flush()', \$out, \$err))
		{
			delete $sessions{$key};
			$? = 0;
		}
		return $? == 0;
	};
}

# ---- what hangs ----

# A test may take ten minutes, and on a slow machine so many times more as
# PG_TEST_TIMEOUT_DEFAULT is than 180. After that it says in which of its lines it
# waits, and for which statements, and ends.
my @nodes;
my $seconds;

sub time_limit
{
	$seconds = shift() * ($ENV{PG_TEST_TIMEOUT_DEFAULT} || 180) / 180;
	alarm $seconds;
	return;
}

# The lines of the test that runs
sub lines_here
{
	my %lines;

	for (my $i = 1; my (undef, $file, $line) = caller $i; $i++)
	{
		$lines{$line} = 1 if $file eq $0;
	}
	return join ', ', sort keys %lines;
}

# Ends the test, but not those that run after it.
sub give_up
{
	fail(shift);
	# and the nodes with it
	exit 1;
}

# The statements that run on a node
sub statements_of
{
	my ($node) = @_;
	my @psql = ('psql', '-XAtw', '-d', $node->connstr('postgres'), '-c', <<'SQL');
SELECT format('%s, for %s, %s: %s', pid, clock_timestamp() - query_start, coalesce('waits for ' || wait_event, 'runs'),
	left(query, 1000))
FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()
SQL

	open my $answer, '-|', 'timeout', 20, @psql or return;
	return map { $node->name . ": $_" } <$answer>;
}

$SIG{ALRM} = sub {
	diag(map { statements_of($_) } @nodes);
	give_up('it hangs in line ' . lines_here() . ": not ready after $seconds s");
};
time_limit(600);

# Nothing comes from a server that is gone, so a test that waits for it ends at once.
{
	no warnings 'redefine';
	my $start = \&PostgreSQL::Test::Cluster::start;

	*Test::Builder::BAIL_OUT = sub { give_up($_[1]) };
	foreach my $waits (qw(PostgreSQL::Test::Cluster PostgreSQL::Test::Utils))
	{
		no strict 'refs';
		my $usleep = $waits->can('usleep') or next;

		*{"${waits}::usleep"} = sub ($) {
			my ($gone) = grep { $_->{_pid} && !(-e $_->data_dir . '/postmaster.pid' && kill 0, $_->{_pid}) } @nodes;

			goto &$usleep if !$gone;
			# nothing is left to be stopped
			$gone->{_pid} = undef;
			give_up('the server ' . $gone->name . ' is gone, for which line ' . lines_here() . ' waits');
		};
	}

	# A server that was killed is a zombie until process 1 asks for its status, and
	# takes the place of a new one for so long.
	*PostgreSQL::Test::Cluster::start = sub {
		my ($pid) = eval { slurp_file($_[0]->data_dir . '/postmaster.pid') =~ /^(\d+)/ };

		for (my $tries = 100; $pid && (eval { slurp_file("/proc/$pid/stat") } // '') =~ /^\d+ \(.*\) Z /; $tries--)
		{
			give_up("process 1 does not reap the killed server $pid: start the container with --init") if !$tries;
			select undef, undef, undef, 0.1;
		}
		goto &$start;
	};
}

# ---- logs ----

# What a test provokes of the lines that no log may have (test/logs.sh)
my @expected;

sub expect_in_logs
{
	push @expected, @_;
	return;
}

# Whether the logs of all nodes are without such lines, which it shows
sub logs_are_right
{
	my ($name) = $0 =~ m{([^/]+)\.pl$};
	my @logs = glob "$PostgreSQL::Test::Utils::log_path/${name}_*.log";

	open my $wrong, '-|', "$top/test/logs.sh", @logs or die "logs.sh: $!";
	my @lines = grep { my $line = $_; !grep { $line =~ $_ } @expected } <$wrong>;
	close $wrong or $? == 1 << 8 or die 'logs.sh failed';
	diag(@lines[ 0 .. ($#lines > 20 ? 20 : $#lines) ]) if @lines;
	return !@lines;
}

{
	no warnings 'redefine';
	my $ready = 0;
	my $done = \&Test::Builder::done_testing;
	my $init = \&PostgreSQL::Test::Cluster::init;

	*Test::Builder::done_testing = sub {
		ok(logs_are_right(), 'nothing in the logs that must not be there') if @nodes;
		$ready = 1;
		goto &$done;
	};
	*PostgreSQL::Test::Cluster::init = sub {
		my ($node) = @_;

		&$init;
		$node->append_conf('postgresql.conf', join "\n", lines_of("$top/test/server.conf"), '');
		return;
	};

	# the cause, where a test ends early
	END
	{
		local $?;

		logs_are_right() if @nodes && !$ready;
	}
}

# ---- nodes ----

# A node that is not initialized; @of are parameters such as install_path.
sub new_node
{
	my ($name, @of) = @_;

	push @nodes, PostgreSQL::Test::Cluster->new($name, @of);
	return $nodes[-1];
}

# A running server, with the extension in its database postgres. Before its
# settings there may be a hash of arguments for initdb.
sub start_node
{
	my ($name, @settings) = @_;
	my $node = new_node($name);

	$node->init(ref $settings[0] ? %{ shift @settings } : ());
	$node->append_conf('postgresql.conf', join("\n", @settings, ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo');
	return $node;
}

# A hot standby of a server whose settings allow it.
sub start_standby
{
	my ($primary, $name) = @_;
	my $node = new_node($name);

	$primary->backup($name);
	$node->init_from_backup($primary, $name, has_streaming => 1);
	$node->start;
	return $node;
}

# ---- checks ----

# Creates the extension cuckoo_citus in the database postgres, with what it
# requires; in a schema, out of the search path, calls of cf_agg do not choose
# its variants. Returns false if this PostgreSQL has no citext.
sub citus
{
	my ($node, $schema) = @_;
	my $where = $schema ? "SCHEMA $schema" : '';

	return 0
		if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") eq '0';
	$node->safe_psql('postgres', "CREATE SCHEMA $schema") if $schema;
	$node->safe_psql('postgres', "CREATE EXTENSION cuckoo_citus $where CASCADE");
	return 1;
}

# Aggregates that stand for those of Citus, see test/module/cuckoo_test.c.
# Returns false if the module is not installed.
sub partial_aggregates
{
	my ($node) = @_;

	return 0 if $node->psql('postgres', "LOAD 'cuckoo_test'") != 0;
	$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION test_partial_agg_sfunc(internal, oid, anyelement) RETURNS internal AS 'cuckoo_test' LANGUAGE C;
CREATE FUNCTION test_partial_agg_ffunc(internal) RETURNS cstring AS 'cuckoo_test' LANGUAGE C;
CREATE FUNCTION test_combine_agg_sfunc(internal, oid, cstring, anyelement) RETURNS internal AS 'cuckoo_test' LANGUAGE C;
CREATE FUNCTION test_combine_agg_ffunc(internal, oid, cstring, anyelement) RETURNS anyelement AS 'cuckoo_test'
	LANGUAGE C;
CREATE AGGREGATE test_partial_agg(oid, anyelement) (
	SFUNC = test_partial_agg_sfunc, STYPE = internal, FINALFUNC = test_partial_agg_ffunc);
CREATE AGGREGATE test_combine_agg(oid, cstring, anyelement) (
	SFUNC = test_combine_agg_sfunc, STYPE = internal, FINALFUNC = test_combine_agg_ffunc, FINALFUNC_EXTRA);
SQL
	return 1;
}

# Runs a script in one session. Every row that it outputs is one test: its name,
# then pairs of a value and its truth, or one boolean. A truth may be a condition,
# see agrees(), and null is never true. Errors do not end the script.
sub checks
{
	my ($node, $database, $script) = @_;
	my ($out, $errors);

	$node->psql($database, $script, stdout => \$out, stderr => \$errors,
		on_error_stop => 0);
	report($script, $out, $errors);
	return;
}

# Whether a value meets a condition such as '3 to 5', '< 20', '~ regexp' or
# '!~ regexp'
sub agrees
{
	my ($value, $truth) = @_;

	return $value =~ /$1/ if $truth =~ /^~ (.*)/;
	return $value !~ /$1/ if $truth =~ /^!~ (.*)/;
	return 0 if $value !~ /^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/;
	return $value >= $1 && $value <= $2 if $truth =~ /^(\d\S*) to (\d\S*)$/;
	return $value < $1 if $truth =~ /^< (\S+)$/;
	return $value > $1 if $truth =~ /^> (\S+)$/;
	return $value <= $1 if $truth =~ /^<= (\S+)$/;
	return 0;
}

# Reports the tests in the output of such a script. No test may be lost, so
# there must be a row for each line that begins one. Errors are expected only
# where the script looks at SQLSTATE.
sub report
{
	my ($script, $out, $errors) = @_;
	my @rows = split /\n/, $out;
	my $begun = () = $script =~ /^SELECT '/mg;
	my $expected = () = $script =~ /:'?SQLSTATE/g;
	my $seen = () = $errors =~ /^psql:\S* (?:ERROR|FATAL):/mg;
	my $all = 1;

	foreach my $line (@rows)
	{
		my ($name, @fields) = split /\|/, $line, -1;
		my (@values, @truths);

		push @fields, '' if !@fields;
		push @fields, 't' if @fields % 2;
		while (my ($value, $truth) = splice @fields, 0, 2)
		{
			push @values, $value eq '' ? 'null' : agrees($value, $truth) ? $truth : $value;
			push @truths, $truth;
		}
		$all &= is(join('|', @values), join('|', @truths), $name);
	}
	$all &= fail(@rows . " rows of $begun tests") if @rows < $begun;
	$all &= fail("$seen errors, $expected expected") if $seen > $expected;
	diag($out, $errors) if !$all;
	note($errors) if $errors ne '';
	return;
}

# The lines of a file, decoded
sub lines_of
{
	my ($path) = @_;

	open my $file, '<:encoding(UTF-8)', $path or die "$path: $!";
	chomp(my @lines = <$file>);
	return @lines;
}

# The blocks of SQL in a document: name, text, the lines that it must print, why
# 008_readme.pl does not run it, and by which test it is run instead. A reason
# names this test as "test/t/NAME runs it".
sub blocks_of
{
	my ($path) = @_;
	my @lines = lines_of("$top/$path");
	my (@blocks, $block);

	foreach my $i (0 .. $#lines)
	{
		my $line = $lines[$i];

		if ($block && $line =~ /^```/)
		{
			undef $block;
		}
		elsif ($block)
		{
			$block->{sql} .= "$line\n";
			push @{ $block->{expected} }, $1 if $line =~ /^--> (.*)/;
		}
		elsif ($line =~ /^\s*```sql/)
		{
			my ($reason) = $i ? $lines[$i - 1] =~ /^<!-- not run: (.+) -->$/ : ();

			$block = { name => "$path: block in line " . ($i + 1), sql => '', expected => [], reason => $reason };
			($block->{by}) = ($reason // '') =~ m{\btest/t/(\S+) runs it};
			push @blocks, $block;
		}
	}
	return @blocks;
}

# Runs such a block in a session of its own, as one test.
sub run_block
{
	my ($node, $database, $block) = @_;
	my ($out, $errors);
	my $expected = join "\n", @{ $block->{expected} };
	my $status = $node->psql($database, $block->{sql}, stdout => \$out, stderr => \$errors);

	if ($status != 0)
	{
		fail($block->{name});
		diag($errors);
	}
	elsif ($expected eq '')
	{
		pass($block->{name});
	}
	else
	{
		is($out, $expected, $block->{name});
	}
	return;
}

# Runs the blocks of a document that are left to the calling test.
sub run_blocks_left_to
{
	my ($test, $path, $node, $database) = @_;
	my @left = grep { ($_->{by} // '') eq $test } blocks_of($path);

	ok(@left > 0, "$path has blocks that $test runs");
	run_block($node, $database, $_) foreach @left;
	return;
}

1;
