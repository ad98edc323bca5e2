# cf_index_check beside other sessions reports no fault where there is none. It stops
# while it reads the index, and another session inserts rows, or splits pages that
# are not read yet. On a standby it stops between a page and the chain of its link,
# which the primary's VACUUM frees.
#
# The library cuckoo_faults has the stops, and small pages (test/module/cuckoo_faults.h).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = start_node('inspected', 'autovacuum = off', 'wal_level = replica', 'max_wal_senders = 3',
	'hot_standby = on');

plan skip_all => 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_faults'") != 0;

# The hash of a key is the key: a negative one is in the last page.
$node->safe_psql('postgres', <<'SQL');
UPDATE pg_proc SET probin = 'cuckoo_faults' WHERE probin ~ 'cuckoo$';
CREATE FUNCTION test_fault(text, bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_hash(bigint, bigint) RETURNS bigint AS 'cuckoo_faults' LANGUAGE C IMMUTABLE STRICT;
CREATE OPERATOR CLASS place_ops FOR TYPE bigint USING cuckoo AS OPERATOR 1 =, FUNCTION 1 test_hash(bigint, bigint);
CREATE TABLE t (k bigint);
CREATE INDEX t_k ON t USING cuckoo (k place_ops);
CREATE FUNCTION keys(n int) RETURNS SETOF bigint LANGUAGE sql AS
	'SELECT (random() * 9e18)::bigint FROM generate_series(1, n)';
SQL
my $standby = start_standby($node, 'inspecting');

# Checks the index on a server, and calls other() with the file in which the check
# stops: before the n-th step, or by default once in each line. Returns what it prints.
sub check_beside
{
	my ($server, $other, $n) = (@_, -1);
	my $file = $server->data_dir . '/stopped';
	my ($out, $errors) = ('', '');
	my $psql = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $server->connstr('postgres'),
			# so that the session has read the map
			map { ('-c', $_) } q(SELECT FROM cf_index_info('t_k')), "SELECT FROM test_fault('stop', $n)",
			q(SELECT cf_index_check('t_k')) ],
		'>', \$out, '2>', \$errors);

	while ($psql->pumpable)
	{
		if (-e $file && slurp_file($file) =~ m{/(\w+\.c):\d+\n})
		{
			$other->($1);
			unlink $file;
		}
		$psql->pump_nb;
		sleep 0.002;
	}
	$psql->finish;
	return $out . $errors;
}

# ---- rows that come ----

my %stops;

# a chain, whose link is in the last page
$node->safe_psql('postgres', <<'SQL');
INSERT INTO t SELECT -7 FROM generate_series(1, 80) UNION ALL SELECT keys(20);
REINDEX TABLE t;
SQL
like(check_beside($node, sub { $node->safe_psql('postgres', 'INSERT INTO t SELECT keys(20)') if !$stops{ $_[0] }++ }),
	qr/\A\d+\n\z/, 'rows that are inserted while the check reads pages');
is(join(' ', sort keys %stops), 'chain.c inspect.c', 'of entries and of a chain');

$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t SELECT keys(300)');
my $stopped = 0;
# it has looked up the size of the file
like(check_beside($node, sub { $node->safe_psql('postgres', 'INSERT INTO t SELECT keys(2000)') if ++$stopped == 2 }),
	qr/\A\d+\n\z/, 'pages that are split before the check reads them');

# ---- a standby ----

$node->safe_psql('postgres', <<'SQL');
TRUNCATE t;
INSERT INTO t SELECT -7 FROM generate_series(1, 200);
REINDEX TABLE t;
DELETE FROM t;
SQL
$node->wait_for_catchup($standby, 'replay');
my $vacuumed = 0;
my $checked = check_beside(
	$standby,
	sub {
		return if $_[0] ne 'chain.c' || $vacuumed++;
		$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP on, TRUNCATE off) t');
		# the check has locked the page of the link, so replay cannot remove the link, and waits
		my $end = $node->lsn('insert');
		for (my $try = 0; $try < 10; $try++)
		{
			last if $standby->safe_psql('postgres', "SELECT pg_last_wal_replay_lsn() >= '$end'") eq 't';
			sleep 0.05;
		}
	});
like($checked, qr/\A\d+\n\z/, 'a chain that VACUUM would free between its link and its head');
cmp_ok($vacuumed, '>', 0, 'the check stopped there');
$node->wait_for_catchup($standby, 'replay');
is($standby->safe_psql('postgres', "SELECT cf_index_check('t_k')"), '0', 'and then has freed');

# Before this step the check has read all pages but the last one, and locks none.
my $replayed = 0;
$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t SELECT keys(300); DELETE FROM t');
$node->wait_for_catchup($standby, 'replay');
like(
	check_beside(
		$standby,
		sub {
			$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP on, TRUNCATE off) t');
			$node->wait_for_catchup($standby, 'replay');
			$replayed++;
		},
		22),
	qr/\A\d+\n\z/, 'rows that VACUUM removes after the check has read their entries');
is($replayed, 1, 'the check stopped before its last page');

$standby->stop;
$node->stop;
done_testing();
