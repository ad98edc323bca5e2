# Recovery to a point (PITR) in the middle of inserts, splits, chains, VACUUM and builds:
# afterwards every row is found, and indexes grow.
#
# make check leaves it to make check-nightly. RECOVERIES=40 tries more points.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $recoveries = $ENV{RECOVERIES} || 3;
my $node = new_node('primary');

time_limit(600 + 30 * $recoveries);
$node->init(has_archiving => 1, allows_streaming => 1, extra => ['--wal-segsize=1']);
$node->start;
$node->safe_psql('postgres', join "\n", 'CREATE EXTENSION cuckoo;',
	CuckooTest::lines_of("$FindBin::RealBin/../../sql/helpers.sql"));
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k int);
CREATE INDEX t_k ON t USING cuckoo (k);
CREATE TABLE m (c int, d int);
CREATE INDEX m_c ON m USING cuckoo (c);
CREATE INDEX m_cd ON m USING cuckoo (c, d);
SQL
$node->backup('base');

my $lsn = 'SELECT pg_current_wal_insert_lsn()';
my $begin = $node->safe_psql('postgres', $lsn);

# splits, chains, rebuilds, and a build that may be left
$node->safe_psql('postgres', $_) foreach map { split /\n/ } (<<'SQL') x 2;
INSERT INTO t SELECT coalesce(max(k), 0) + i FROM t, generate_series(1, 9000) i GROUP BY i
INSERT INTO m SELECT i % 3, i FROM generate_series(1, 9000) i
DELETE FROM m WHERE c = 1
VACUUM m
INSERT INTO m SELECT i % 5, i FROM generate_series(1, 9000) i
REINDEX INDEX m_c
REINDEX INDEX CONCURRENTLY t_k
CREATE INDEX CONCURRENTLY t_more ON t USING cuckoo ((k + 1))
INSERT INTO t SELECT generate_series(-2000, -1)
DROP INDEX CONCURRENTLY t_more
SQL
my $end = $node->safe_psql('postgres', $lsn);

$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
$node->poll_query_until('postgres', "SELECT last_archived_wal >= pg_walfile_name('$end') FROM pg_stat_archiver")
	or die 'not archived';

my %records;
open my $wal, '-|', "pg_waldump -p @{[ $node->data_dir ]}/pg_wal -s $begin -e $end" or die "pg_waldump: $!";
while (<$wal>)
{
	my ($manager, $at, $what) = m{^rmgr: (\w+) .*lsn: (\S+), .*desc: (.*)} or next;
	my $kind = $what =~ /COMMIT/ ? 'commit' : $what =~ /FPI/ ? 'build' : $manager ne 'Generic' ? next
	  : $what =~ /blkref #1/ ? 'split' : $what =~ /FPW/ ? 'page' : 'insert';

	push @{ $records{$kind} }, $at;
}
my @kinds = sort keys %records;

is("@kinds", 'build commit insert page split', 'kinds of records');
foreach my $i (1 .. $recoveries)
{
	my $kind = $kinds[ $i % @kinds ];
	my $at = $records{$kind}[ rand @{ $records{$kind} } ];
	my $recovered = new_node("recovered_$i");
	my ($out, $errors);

	$recovered->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
	$recovered->append_conf('postgresql.conf',
		"recovery_target_lsn = '$at'\nrecovery_target_action = promote\narchive_mode = off");
	$recovered->start;
	$recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
	$recovered->psql('postgres', <<'SQL' x 2, stdout => \$out, stderr => \$errors);
SELECT sum(cf_index_check(indexrelid)) >= 0
FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname ~ '^[tm]_' AND indisvalid;
SELECT sum(wrong)
FROM pg_index JOIN pg_class ON oid = indexrelid, compared(indexrelid) WHERE relname ~ '^[tm]_[ck]$' AND indisvalid;
INSERT INTO t SELECT generate_series(100001, 103000);
INSERT INTO m SELECT i % 9 FROM generate_series(1, 500) i;
VACUUM t, m;
SQL
	is($out . $errors, "t\n0\nt\n0", "$kind at $at");
	$recovered->stop('immediate');
	$recovered->clean_node;
}
$node->stop;
done_testing();
