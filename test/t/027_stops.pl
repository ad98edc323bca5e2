# A session stops before each step of an access to an index: of a split, a chain, a
# new map page, a page that is written with more bits, VACUUM, and the check of
# a unique index. Other sessions go on meanwhile. Then it goes on, or it is killed and
# the server recovers. Each row is found, and VACUUM leaves as many entries as rows.
# Readers stop on a standby, too, while it replays what the primary has done.
#
# The library cuckoo_faults has the stops (test/module/cuckoo_faults.h), once for each
# line, and small pages. Kills are before records of WAL and at some other lines;
# STOPS=chain.c has them at all lines that match.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

time_limit(600);
my $node = start_node('stops', 'autovacuum = off', 'restart_after_crash = on', 'log_statement = none');

plan skip_all => 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_faults'") != 0;

# The hash of a key is the key, so keys of each sign are in other pages.
$node->safe_psql('postgres', <<"SQL");
UPDATE pg_proc SET probin = 'cuckoo_faults' WHERE probin ~ 'cuckoo\$';
CREATE FUNCTION test_fault(text, bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_hash(bigint, bigint) RETURNS bigint AS 'cuckoo_faults' LANGUAGE C IMMUTABLE STRICT;
CREATE OPERATOR CLASS place_ops FOR TYPE bigint USING cuckoo AS OPERATOR 1 =, FUNCTION 1 test_hash(bigint, bigint);
CREATE TABLE t (k bigint);
CREATE INDEX t_k ON t USING cuckoo (k place_ops);
CREATE TABLE beside (LIKE t INCLUDING INDEXES);
CREATE TABLE once (k bigint @{[ $node->pg_version < 18 ? 'PRIMARY KEY' : '' ]});
CREATE FUNCTION lost() RETURNS bigint LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off
	SET enable_mergejoin = off SET enable_material = off SET enable_tidscan = off AS
	'SELECT count(*) FROM (SELECT k, ctid FROM t OFFSET 0) a
		WHERE NOT EXISTS (SELECT FROM t b WHERE b.k = a.k AND b.ctid = a.ctid)';
-- waits until no other session has a snapshot
CREATE FUNCTION alone() RETURNS boolean LANGUAGE plpgsql AS \$\$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
			AND backend_type = 'client backend') LOOP
		PERFORM pg_stat_clear_snapshot(), pg_sleep(0.001);
	END LOOP;
	RETURN true;
END \$\$;
-- so many keys of the first pages, and of the last ones
CREATE FUNCTION first(n int) RETURNS SETOF bigint LANGUAGE sql AS
	'SELECT (random() * 5e18)::bigint FROM generate_series(1, n)';
CREATE FUNCTION last(n int) RETURNS SETOF bigint LANGUAGE sql AS
	'SELECT -1 - (random() * 3e18)::bigint FROM generate_series(1, n)';
SQL
$node->psql('postgres', 'CREATE UNIQUE INDEX once_k ON once USING cuckoo (k place_ops)') if $node->pg_version >= 18;

# What the session does that stops. It waits for the others before it looks at dead rows:
# no snapshot sees them, and only its own lookup or VACUUM removes them. A lookup prunes
# full pages of the table, so it comes before these have lost other rows. There are several
# lookups, because VACUUM in another session removes the rows when one stops.
my $lookup = <<'SQL';
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE k + 0 = 5120 ORDER BY ctid LIMIT 75));
SELECT alone();
SELECT FROM t WHERE k = 5120::bigint;
SQL
my $work = <<"SQL";
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT test_fault('stop', -1);
INSERT INTO t SELECT first(1000);
INSERT INTO t SELECT first(4500);
INSERT INTO t SELECT CASE WHEN i % 3 > 0 THEN 7 ELSE 5120 END FROM generate_series(1, 1500) i;
@{[ $lookup x 5 ]}
DELETE FROM t WHERE k = 7 AND random() < 0.8;
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE k = 7 ORDER BY ctid OFFSET 40 LIMIT 100));
DELETE FROM t WHERE k = 5120;
SELECT alone();
DELETE FROM t WHERE k < 0 AND random() < 0.3;
VACUUM t;
INSERT INTO t SELECT 7 FROM generate_series(1, 200);
INSERT INTO once VALUES (1);
DELETE FROM once;
DO 'BEGIN FOR i IN 1..300 LOOP INSERT INTO once VALUES (1); DELETE FROM once WHERE k + 0 = 1; END LOOP; END';
SELECT alone();
INSERT INTO once VALUES (1);
INSERT INTO once VALUES (1);
SELECT test_fault('stop', 0);
SQL

# ---- sessions ----

# all of them: perl would wait for the end of one that goes out of scope
my @sessions;

# A psql that runs what perform() sends, on the primary or another server
sub start_session
{
	my $on = shift // $node;
	my $session = { sent => 0, log => $node->basedir . '/session_' . @sessions, file => $on->data_dir . '/stopped' };

	append_to_file($session->{log}, '');
	$session->{pid} = open $session->{psql}, '|-',
	  "exec psql -XAtq -v VERBOSITY=sqlstate -d '@{[ $on->connstr('postgres') ]}' >$session->{log} 2>&1";
	$session->{psql}->autoflush;
	push @sessions, $session;
	return $session;
}

sub perform
{
	my ($session, $statements) = @_;

	$session->{sent}++;
	print { $session->{psql} } "$statements;\n\\echo done $session->{sent}\n";
	return;
}

# Whether it is ready, at once or within some seconds
sub ready
{
	my ($session, $seconds) = @_;
	my $end = time + ($seconds // 0);

	until ($session->{sent} == 0 || slurp_file($session->{log}) =~ /^done $session->{sent}$/m)
	{
		return 0 if time >= $end;
		sleep 0.002;
	}
	return 1;
}

# What its last statements have printed
sub output
{
	my ($session) = @_;
	my ($last) =
	  slurp_file($session->{log}) =~ /\A(?:.*^done @{[ $session->{sent} - 1 ]}\n)?(.*)^done $session->{sent}$/ms;

	return $last =~ s/\n\z//r;
}

sub result
{
	my ($session, $statements) = @_;

	perform($session, $statements);
	ready($session, 60) or die "not ready: $statements";
	return output($session);
}

# after an error, so that nothing waits for them
END
{
	kill 'KILL', map { $_->{pid} } @sessions;
}

# Waits until the session stops, and returns its pid and the line; nothing if it is ready.
sub wait_for_stop
{
	my ($session) = @_;

	for (my $try = 0; ; $try++)
	{
		my $file = $session->{file};

		return slurp_file($file) =~ m{^(\d+) \S*/(\w+\.c:\d+)} if -e $file && slurp_file($file) =~ /\n/;
		return if ready($session);
		die 'neither stopped nor ready' if $try == 30000;
		sleep 0.001;
	}
}

sub go_on
{
	my ($session) = @_;

	unlink $session->{file};
	return;
}

# Waits until each of these sessions is ready, or waits for the one that stops. None of
# them waits for one that still runs, and twice they wait for the same.
my $looking;

sub wait_for_end
{
	my (@sessions) = @_;
	my ($waiting, $last) = ('0|', '');

	$looking //= start_session();
	while ((@sessions = grep { !ready($_) } @sessions) && ($waiting ne $last || (split /\|/, $waiting)[0] < @sessions))
	{
		ready($sessions[0], 0.01);
		$last = $waiting;
		$waiting = result($looking, "SELECT count(*), string_agg(pid || wait_event, ' ' ORDER BY pid)
			FROM pg_stat_activity WHERE backend_type = 'client backend' AND wait_event_type NOT IN ('Client', 'IO')");
	}
	return;
}

# ---- going on ----

# What the others do at each stop, if they do not wait still
my %do = (
	beside => 'INSERT INTO beside SELECT first(3)', near => 'INSERT INTO t SELECT 7 UNION ALL SELECT first(3)',
	far => 'INSERT INTO t SELECT last(150)', look => 'SELECT lost() AS lost', vacuum => 'VACUUM (SKIP_LOCKED) t',
	once => 'INSERT INTO once VALUES (1)');
my %others = map { $_ => start_session() } keys %do;
my %went_on = map { $_ => 0 } keys %do;
my (@lines, @stuck);
my $vacuum = 0;
my $stopping = start_session();

perform($stopping, $work);
while (my ($pid, $line) = wait_for_stop($stopping))
{
	my @now = grep { ready($others{$_}) } keys %others;

	push @lines, $line;
	perform($others{$_}, $do{$_}) foreach @now;
	ready($others{beside}, 60) or push @stuck, $line;
	# pages of dead rows are split while VACUUM reads the first one. At two stops before, it has locked block 0.
	$node->safe_psql('postgres', 'INSERT INTO t SELECT last(3000)') if $line =~ /^vacuum/ && ++$vacuum == 4;
	wait_for_end(values %others);
	$went_on{$_} += ready($others{$_}) foreach @now;
	go_on($stopping);
}
is("@stuck", '', scalar(@lines) . ' stops: a session that uses another index goes on at each');
foreach my $name (sort keys %others)
{
	ok(ready($others{$name}, 60), "$name: $went_on{$name} of $others{$name}{sent} are ready while the session stops");
}
cmp_ok($went_on{$_}, '>', @lines / 20, "$_ goes on at many stops") foreach qw(near far look vacuum);
is(join(' ', grep { !/^(?:0|done \d+)$/ } split /\n/, slurp_file($others{look}{log})), '', 'each row is found');
is(join(' ', map { slurp_file($others{$_}{log}) =~ /ERROR:  (?!23505)(.*)/g } keys %others), '', 'no other errors');
unlike(slurp_file($stopping->{log}), qr/ERROR:  (?!23505)/, 'nor in the session');
cmp_ok($vacuum, '>', 5, 'VACUUM stops, too');
note("@lines");

# ---- checks ----

# The index is correct, grows, and has as many entries as rows after VACUUM.
sub check
{
	my ($what) = @_;
	my ($out, $errors);

	$node->psql('postgres', <<'SQL', stdout => \$out, stderr => \$errors, on_error_stop => 0);
SELECT lost(), cf_index_check('t_k') >= (SELECT count(*) FROM t), count(*) - count(DISTINCT k) FROM once;
INSERT INTO t SELECT first(300);
INSERT INTO t SELECT last(300);
INSERT INTO t SELECT 7 FROM generate_series(1, 100);
VACUUM t;
SELECT lost(), cf_index_check('t_k') = count(*), (SELECT entries FROM cf_index_info('t_k')) = count(*) FROM t;
SQL
	is("$out $errors", "0|t|0\n0|t|t ", $what);
	return;
}

check('after all stops');

# ---- recovery ----

# The source of the lines
my %source;
foreach (@lines)
{
	my ($name, $n) = split /:/;

	$source{$_} = (slurp_file("$FindBin::RealBin/../../src/index/$name") =~ /^(.*)$/mg)[ $n - 1 ];
}
my @records = grep { $source{$_} =~ /GenericXLogStart|XLogInsert/ } @lines;
my @rest = shuffle(grep { $source{$_} !~ /GenericXLogStart|XLogInsert/ } @lines);
my @kills = map { [ $_, $work ] } $ENV{STOPS} ? grep { /$ENV{STOPS}/ } @lines : (@records, @rest[ 0 .. 3 ]);

# A lookup removes rows from a page of a chain: before the record, and after it
my ($record) = map { /^kill\.c:(\d+)/ } @records or die 'no lookup has removed rows';
push @kills, map { [ $_, <<'SQL' ] } grep { /^kill\.c:(\d+)/ && $1 >= $record } @lines;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
INSERT INTO t SELECT 7 FROM generate_series(1, 800);
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE k + 0 = 7 ORDER BY ctid OFFSET 300 LIMIT 400));
SELECT alone();
SELECT test_fault('stop', -1);
SELECT FROM t WHERE k = 7::bigint;
SQL

foreach (@kills)
{
	my ($kill, $until) = @$_;
	my ($session, $log_end, $killed);

	# with pages that have been split often, lookups ask the map for more than the others have
	$node->safe_psql('postgres', "TRUNCATE t, once;\nINSERT INTO t SELECT last(2000)");
	$session = start_session();
	perform($session, $until);
	while (my ($pid, $line) = wait_for_stop($session))
	{
		if ($line eq $kill)
		{
			$killed = 1;
			# so that its WAL is on disk
			$node->safe_psql('postgres', 'INSERT INTO beside SELECT first(3)');
			$log_end = -s $node->logfile;
			kill 'KILL', $pid;
		}
		go_on($session);
		last if $line eq $kill;
	}
	close $session->{psql};
	# without other sessions it comes to each record, and by chance not to some other line
	$killed || !grep { $_ eq $kill } @records or die "no stop at $kill";
	$node->wait_for_log(qr/ready to accept connections/, $log_end) if $killed;
	check(($killed ? 'killed' : 'no stop') . " at $kill");
}

# ---- keys that share many bits of their segments ----

# 300 keys whose segments have 1 in the lowest n bits, and then 0. Each split of the
# page parts one n from the others, so that its level rises and the map gets sparse.
# An index that was created on an empty table uses 55 bits of a hash.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION sharing(n int) RETURNS SETOF bigint LANGUAGE sql AS
	'SELECT k FROM (SELECT test_hash((random() * 2e9)::bigint << n + 1 | (1::bigint << n) - 1, 0) - 11400714819323198485
			FROM generate_series(1, 300 * 512)) h (hash),
		LATERAL (SELECT hash + CASE WHEN hash < -9223372036854775808 THEN 18446744073709551616 ELSE 0 END) s (wrapped),
		LATERAL (SELECT wrapped::bigint) k (k)
		WHERE k & 511 = 0';
CREATE TABLE sparse (LIKE t INCLUDING INDEXES);
SQL
is($node->safe_psql('postgres', <<'SQL'), 't|0|t', 'keys that share bits: the map that a session keeps is small');
INSERT INTO sparse SELECT sharing(n) FROM generate_series(8, 18) n;
SELECT count(*) > 3000, cf_index_check('sparse_k_idx') - count(*),
	(SELECT sum(total_bytes) < 300000 FROM pg_backend_memory_contexts WHERE ident = 'sparse_k_idx') FROM sparse;
SQL

# ---- a build whose map has pages that list map pages ----

is($node->safe_psql('postgres', <<'SQL'), '0|0|t', 'a build of many pages');
TRUNCATE t;
INSERT INTO t SELECT first(20000) UNION ALL SELECT last(20000);
REINDEX TABLE t;
INSERT INTO t SELECT first(5000);
SELECT lost(), cf_index_check('t_k') - count(*), (SELECT pages > 4 * 16 FROM cf_index_info('t_k')) FROM t;
SQL

# ---- another session at one step ----

my ($standby, $replaying);

# the session from before the crashes has lost its server
undef $looking;

# Waits until the standby has replayed all, or its replay waits for a session, twice.
sub wait_for_replay
{
	my ($done, $last);

	$looking //= start_session();
	$replaying //= start_session($standby);
	# a commit that writes WAL flushes the WAL of lookups and VACUUM, too
	result($looking, "SELECT pg_logical_emit_message(true, '', '')");
	my $lsn = result($looking, 'SELECT pg_current_wal_flush_lsn()');

	do
	{
		$last = $done;
		$done = result($replaying, "SELECT pg_last_wal_replay_lsn() >= '$lsn', wait_event
			FROM pg_stat_activity WHERE backend_type = 'startup'");
	} until ($done =~ /^t/ || ($done =~ /Buffer|Conflict/ && $done eq $last));
	return;
}

# A session stops before the n-th step of a statement, for each n, and another one
# performs what it does then, or one of several by turns. Returns the results of the
# statement, if it is a SELECT, and of a query after that, each once. %of may have:
#	query
#	by		2 for every second step: of the steps that read a page, which are pinning,
#			locking and releasing it, one at which it has no lock. STOPS has all steps.
#	on		the standby, if it has the session; the other one is on the primary
sub at_each_step
{
	my ($setup, $statement, $other, %of) = @_;
	my ($session, $beside) = (start_session($of{on}), start_session());
	my (%results, $pid);

	for (my $n = 1; $n == 1 || $pid; $n += $ENV{STOPS} ? 1 : $of{by} // 1)
	{
		result($beside, $setup);
		wait_for_replay() if $of{on};
		perform($session,
			"SELECT test_fault('stop', $n) \\g /dev/null\n$statement;\nSELECT test_fault('stop', 0) \\g /dev/null\n");
		($pid) = wait_for_stop($session);
		if ($pid)
		{
			perform($beside, ref $other ? $other->[ $n % @$other ] : $other);
			wait_for_end($beside);
			wait_for_replay() if $of{on};
			go_on($session);
		}
		ready($session, 60) && ready($beside, 60) or die "not ready at step $n";
		my @results = ($statement =~ /^SELECT/ ? output($session) : (), $of{query} ? result($beside, $of{query}) : ());
		$results{ join "\n", @results }++;
	}
	cmp_ok($session->{sent}, '>', 5, "$session->{sent} steps");
	return join ' ', sort keys %results;
}

$node->safe_psql('postgres', <<'SQL');
ALTER DATABASE postgres SET enable_seqscan = off;
ALTER DATABASE postgres SET enable_bitmapscan = off;
-- so few rows have a page that VACUUM leaves, because the last row is read from it
CREATE TABLE c (k bigint, i int, filler text DEFAULT repeat('.', 400));
CREATE INDEX c_k ON c USING cuckoo (k place_ops);
CREATE TABLE d (LIKE c INCLUDING INDEXES);
SQL

my $find_c = 'SELECT count(*) FROM c WHERE k = 7::bigint';

is(at_each_step(<<'SQL', $find_c,
TRUNCATE c;
INSERT INTO c SELECT 7, i FROM generate_series(1, 600) i;
DELETE FROM c WHERE i / 100 % 2 = 1;
SQL
		<<'SQL', query => "SELECT ($find_c) = count(*) FROM c WHERE k + 0 = 7", by => 2),
VACUUM (INDEX_CLEANUP on) c;
INSERT INTO c SELECT CASE WHEN i % 2 = 0 THEN 7 ELSE 1e6 END, i FROM generate_series(1, 800) i
SQL
	"300\nt", 'a lookup in a chain finds each row once, and removes no new row of the same key, '
	  . 'while pages are freed and used by another chain');

# While VACUUM shrinks the chain, it gets pages whose rows are dead: lookups remove them, and the
# page stays on the list of pages with room, by which later rows come to it.
is(at_each_step(<<'SQL', 'VACUUM (INDEX_CLEANUP on) c', <<"SQL", query => <<"SQL", by => 2),
TRUNCATE c;
INSERT INTO c SELECT 7, i FROM generate_series(1, 360) i;
DELETE FROM c WHERE i > 40;
SQL
INSERT INTO c SELECT 7, -i FROM generate_series(1, 180) i;
DELETE FROM c WHERE i < 0;
$find_c;
$find_c
SQL
INSERT INTO c SELECT 7, i FROM generate_series(1001, 1200) i;
$find_c;
SELECT cf_index_check('c_k') BETWEEN 240 AND 300
SQL
	"240\nt", 'lookups remove rows of a chain at each step of VACUUM');

# A chain of dead rows. While a lookup or an insert comes to it, VACUUM frees its head,
# which then is free, the head or a page of another chain, or the head of a new chain.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE e (k bigint, i int);
CREATE INDEX e_k ON e USING cuckoo (k place_ops);
SQL
my $vacuum_e = 'VACUUM (INDEX_CLEANUP on, TRUNCATE off) e';
my $add_head = 'INSERT INTO e SELECT -5000, i FROM generate_series(1, 300) i';
my $add_page = 'INSERT INTO e SELECT -7, i FROM generate_series(1, 100) i';
my $add_same = 'INSERT INTO e SELECT CASE WHEN i < 180 THEN 512 * i ELSE 7 END, -i FROM generate_series(1, 280) i';
my $dead_chain = <<'SQL';
TRUNCATE e;
INSERT INTO e SELECT -7, i FROM generate_series(1, 300) i;
INSERT INTO e SELECT 7, i FROM generate_series(1, 440) i;
DELETE FROM e WHERE k + 0 = 7 AND i <> 0;
SELECT count(*) FROM e WHERE k + 0 = 7;
SQL
my $find = 'SELECT count(*) FROM e WHERE k = 7::bigint';

sub read_chains
{
	my ($where, %of) = @_;

	is(at_each_step($dead_chain, $find, [ $vacuum_e, "$vacuum_e;\n$add_head", "$vacuum_e;\n$add_page" ], %of),
		0, "$where: a lookup finds no row, while the head becomes free, a page, or the head of another chain");
	# a row that is often in the page of the link at first, and then in the head
	is(at_each_step($dead_chain =~ s/i <> 0/i <> 100/r, $find, "$vacuum_e;\n$add_same", %of),
		1, "$where: a lookup finds a row once that goes to a new head meanwhile");
	return;
}

read_chains('primary', by => 2);
is(at_each_step($dead_chain, 'INSERT INTO e VALUES (7, 0)', "$vacuum_e;\n$add_head", query => $find),
	1, 'an insert into the chain, beside VACUUM');
is(at_each_step(<<'SQL', <<'SQL', <<'SQL', query => <<'SQL'),
TRUNCATE c, d;
INSERT INTO c SELECT 7, -1 FROM generate_series(1, 300) i;
SQL
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO c SELECT 7, count(*) FROM d WHERE k = 9::bigint;
COMMIT
SQL
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO d SELECT 9, count(*) - 300 FROM c WHERE k = 7::bigint;
COMMIT
SQL
SELECT count(*), sum(i) FROM (TABLE c UNION ALL TABLE d) s WHERE i >= 0
SQL
	'1|0', 'of two serializable transactions that do not see each other one fails');

# ---- unique indexes ----

if ($node->pg_version >= 18)
{
	my $insert = 'INSERT INTO once VALUES (1)';
	my $dead = "TRUNCATE once;\n$insert;\nDELETE FROM once";

	is(at_each_step($dead, $insert, $insert, query => 'SELECT count(*) FROM once'), 1, 'two sessions insert a key');
	# At some steps PostgreSQL does not prune them, because it remembers an older snapshot.
	like(at_each_step(<<"SQL", $insert, [ $insert, "VACUUM (INDEX_CLEANUP on) once;\n$insert" ],
TRUNCATE once;
DO 'BEGIN FOR i IN 1..6 LOOP $insert; DELETE FROM once; END LOOP; END';
INSERT INTO once SELECT 1e6 * i FROM generate_series(1, 300) i;
SQL
			query => "SELECT count(*), (SELECT entries FROM cf_index_info('once_k')) < 305 FROM once WHERE k + 0 = 1"),
		qr/^(1\|f )?1\|t$/, 'and the entries of dead rows go');
	# in a chain: the keys below 512 have one hash
	$node->safe_psql('postgres', "TRUNCATE once;\nINSERT INTO once SELECT generate_series(2, 500)");
	my $gone = 'DELETE FROM once WHERE k = 1';
	is(at_each_step("$gone;\nVACUUM (INDEX_CLEANUP on) once;\n$insert;\n$gone", $insert, $insert,
			query => q(SELECT count(*) - 499, chain_pages > 0 FROM once, cf_index_info('once_k') GROUP BY chain_pages)),
		'1|t', 'two sessions insert a key that has a chain');
	$node->safe_psql('postgres', 'ALTER TABLE once SET UNLOGGED');
	is(at_each_step($dead, $insert, $insert, query => 'SELECT count(*) FROM once'),
		1, 'and into an index that is not logged');
	# 512 and 513 have one hash. The pages of the build have no LSN, and the first
	# insert is to look again at the page that the other session has split just now.
	$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE split (k bigint);
CREATE UNIQUE INDEX split_k ON split USING cuckoo (k place_ops);
SQL
	my $until_split = "DO 'BEGIN LOOP INSERT INTO split VALUES ((random() * 1e15)::bigint);
		EXIT WHEN (SELECT pages FROM cf_index_info(''split_k'')) > 4; END LOOP; END'";
	is(at_each_step("TRUNCATE split;\nINSERT INTO split VALUES (512);\nREINDEX TABLE split",
			'INSERT INTO split VALUES (513)',
			"INSERT INTO split VALUES (513);\n$until_split",
			query => 'SELECT count(*) FROM split WHERE k + 0 = 513'),
		1, 'nor into a page that is split meanwhile');
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE part (k bigint, p bigint);
CREATE UNIQUE INDEX part_k ON part USING cuckoo ((k / p) place_ops) WHERE p <> 0;
CREATE TABLE built (k bigint);
SQL
	$insert = 'INSERT INTO part VALUES (1, 1)';
	is(at_each_step("TRUNCATE part;\n$insert;\nDELETE FROM part", $insert,
			"VACUUM (INDEX_CLEANUP on) part;\nINSERT INTO part VALUES (1, 0)",
			query => 'SELECT count(*) FROM part WHERE p <> 0'),
		1, 'a row that is not in the index, and has no key, takes the place of a dead one');

	# 512 and 513 have one hash, and a session that looks at 512 has itself written another
	# entry to the page. But the rows with the tag are as before.
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE written (k bigint);
CREATE TABLE looks (k bigint);
CREATE FUNCTION write() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO looks VALUES (512);
	INSERT INTO written SELECT 10000 * count(*) FROM looks;
END $$;
CREATE FUNCTION seen(k bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF k = 512 AND current_setting('stops.write', true) = 'on' THEN
		PERFORM write();
	END IF;
	RETURN k;
END $$;
CREATE UNIQUE INDEX written_k ON written USING cuckoo (seen(k) place_ops);
INSERT INTO written VALUES (512);
SQL
	is($node->safe_psql('postgres', <<'SQL'), "1\n512 513 10000",
SET stops.write = 'on';
INSERT INTO written VALUES (513);
SELECT count(*) FROM looks;
SELECT string_agg(k::text, ' ' ORDER BY k) FROM written;
SQL
		'an insert looks once at a row, although its page changes');
	$insert = 'INSERT INTO once VALUES (1)';
	is(at_each_step($dead, "VACUUM (INDEX_CLEANUP on) once;\n$insert", "$insert;\n$insert",
			query => 'SELECT count(*) FROM once'),
		1, 'a key is inserted at each step of VACUUM');
	is(at_each_step(<<'SQL', "SET stops.write = 'on';\nINSERT INTO written VALUES (513);\nSET stops.write = 'off'",
TRUNCATE written, looks;
INSERT INTO written VALUES (512), (513);
DELETE FROM written WHERE k = 513;
SQL
			"VACUUM (INDEX_CLEANUP on) written;\nINSERT INTO written VALUES (513)",
			query => 'SELECT count(*) FROM written WHERE k + 0 = 513'),
		1, 'a row with the key takes the place of a dead one, but not while the insert counts on that');

	# Rows come after the snapshot of the build, and are deleted after that of the validation.
	my $builder = start_session();
	my ($rows, $replaced, $looks) = (0, 0, 0);

	perform($builder, "SELECT test_fault('stop', -1) \\g /dev/null\n"
		. "CREATE UNIQUE INDEX CONCURRENTLY built_k ON built USING cuckoo (k place_ops)");
	while (my ($pid, $line) = wait_for_stop($builder))
	{
		$node->safe_psql('postgres', 'INSERT INTO built VALUES (' . ++$rows . ')') if $line =~ /^build/;
		$node->safe_psql('postgres', 'WITH d AS (DELETE FROM built RETURNING k) INSERT INTO built SELECT k FROM d')
			if $line =~ /^vacuum/ && ++$looks == 4 && ++$replaced;
		go_on($builder);
	}
	cmp_ok($replaced * $rows, '>', 2, 'CREATE INDEX CONCURRENTLY stopped in the build and in the validation');
	is($node->safe_psql('postgres', <<'SQL'), "t|$rows",
SELECT indisvalid, (SELECT count(*) FROM built) FROM pg_index WHERE indexrelid = 'built_k'::regclass
SQL
		 'and does not refuse rows that are deleted meanwhile');
}

# ---- readers on a standby ----

# They stop while the standby replays what the other session has done on the primary.
$node->append_conf('postgresql.conf', join "\n", 'wal_level = replica', 'max_wal_senders = 5', 'hot_standby = on',
	'max_standby_streaming_delay = -1', '');
$node->restart;
undef $looking;
$standby = start_standby($node, 'standby');
read_chains('standby', on => $standby);

# The page of both tags is full. VACUUM leaves it as it is, and frees pages of one chain. Then the
# next row makes a chain of the other tag, whose head was such a page.
my $half = <<'SQL';
TRUNCATE e;
INSERT INTO e SELECT 7, i FROM generate_series(1, 440) i;
DELETE FROM e WHERE i <= 200;
VACUUM (INDEX_CLEANUP on, TRUNCATE off) e;
SQL
my $fill = $node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION fill() RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE
	before bigint := (SELECT chain_pages FROM cf_index_info('e_k'));
	n int := 0;
BEGIN
	WHILE (SELECT chain_pages = before FROM cf_index_info('e_k')) LOOP
		INSERT INTO e VALUES (5120, 0);
		n := n + 1;
	END LOOP;
	RETURN n - 1;
END \$\$;
$half
SELECT fill();
SQL

is(at_each_step(<<"SQL", q(SELECT cf_index_check('e_k') > 0),
$half
INSERT INTO e SELECT 5120, 0 FROM generate_series(1, $fill);
DELETE FROM e WHERE i BETWEEN 249 AND 400
SQL
		"$vacuum_e;\nINSERT INTO e VALUES (5120, 0)", on => $standby, by => 2),
	't', 'standby: cf_index_check and the replay of a new chain lock pages in one order');
$standby->stop;
$node->stop;
done_testing();
