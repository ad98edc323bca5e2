# Up to PostgreSQL 16, VACUUM removes rows that an old snapshot sees, if there is an
# old_snapshot_threshold. Then a lookup with that snapshot must be an error, like a
# scan of the table. PostgreSQL raises it if the page has changed since the snapshot.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

plan skip_all => 'PostgreSQL 17 and later have no old_snapshot_threshold' if new_node('none')->pg_version >= 17;

# at 0 a snapshot is too old after 5 seconds
my $node = start_node('old', 'autovacuum = off', 'old_snapshot_threshold = 0');
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k int);
INSERT INTO t SELECT least(i, 1000) FROM generate_series(1, 6000) i;
CREATE INDEX ON t USING cuckoo (k);
SQL

# Looks for both values by a kind of scan, and prints the number of rows or the
# SQLSTATE. 1000 has a chain.
sub look
{
	my ($kind) = @_;
	my $script = join '', map { "SET enable_$_ = off;\n" } grep { $_ ne $kind } qw(seqscan indexscan bitmapscan);

	return "$script SET enable_$kind = on;\n" . join '',
	  map { "\\set n -\nSELECT count(*) AS n FROM t WHERE k = $_ \\gset\n\\echo $kind $_: :n :SQLSTATE\n" } 7, 1000;
}

my $other = 'psql -Xq -d "' . $node->connstr('postgres') . '"';
my ($out, $errors);

$node->psql('postgres', <<"SQL", stdout => \$out, stderr => \$errors, on_error_stop => 0);
\\set VERBOSITY sqlstate
\\set ON_ERROR_ROLLBACK on
BEGIN ISOLATION LEVEL REPEATABLE READ;
@{[ map { look($_) } qw(indexscan bitmapscan) ]}
\\! sleep 6
\\! $other -c 'INSERT INTO t VALUES (1000)'
@{[ map { look($_) } qw(seqscan indexscan bitmapscan) ]}
\\! $other -c 'INSERT INTO t VALUES (7)'
@{[ map { look($_) } qw(indexscan bitmapscan) ]}
SQL
is($out, <<'END' =~ s/\n\z//r, 'lookups with an old snapshot') or diag($errors);
indexscan 7: 1 00000
indexscan 1000: 5001 00000
bitmapscan 7: 1 00000
bitmapscan 1000: 5001 00000
seqscan 7: - 72000
seqscan 1000: - 72000
indexscan 7: 1 00000
indexscan 1000: - 72000
bitmapscan 7: 1 00000
bitmapscan 1000: - 72000
indexscan 7: - 72000
indexscan 1000: - 72000
bitmapscan 7: - 72000
bitmapscan 1000: - 72000
END
done_testing();
