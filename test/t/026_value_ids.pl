# Filters of two tables whose TOASTed values have one value id: a query that keeps
# them does not mistake one for the other.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('value_ids');

$node->safe_psql('postgres', 'CREATE TABLE a (f cuckoofilter); CREATE TABLE b (f cuckoofilter)');
foreach (qw(a b))
{
	my $from = $_ eq 'a' ? 1 : 100001;

	$node->stop;
	command_ok([ qw(pg_resetwal -o 100000), $node->data_dir ], 'the next value id is 100000');
	$node->start;
	$node->safe_psql('postgres', "INSERT INTO $_ SELECT cf_agg(i) FROM generate_series($from, $from + 19999) i");
}

my $ids = join ' UNION ALL ',
	map { 'SELECT DISTINCT chunk_id FROM ' . $node->safe_psql('postgres',
			"SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$_'::regclass") } qw(a b);

is($node->safe_psql('postgres', "SELECT count(*), count(DISTINCT chunk_id) FROM ($ids) s"), '2|1', 'one value id');
is($node->safe_psql('postgres', <<'SQL'), '40000', 'each filter has its elements');
SELECT count(*)
FROM (SELECT f, 1 AS first FROM a UNION ALL SELECT f, 100001 FROM b OFFSET 0) s, generate_series(first, first + 19999) i
WHERE cf_contains(f, i);
SQL

$node->stop;
done_testing();
