# While rows are inserted and pages split, cf_index_filter lacks no row that was
# committed before it began.  Sessions that want to split the same page do it once.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use Test::More;

my $node = start_node('index_filter');

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE growing (i bigint);
CREATE INDEX growing_i ON growing USING cuckoo (i) WITH (locate = off, fpp = 0.01);
SQL

my @writers = map {
	my ($out, $errors) = ('', '');
	my $begin = $_ * 1000000000;

	IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', <<"SQL" ], '>', \$out, '2>', \$errors);
DO \$\$
BEGIN
	FOR k IN 1..1000000 LOOP
		INSERT INTO growing SELECT $begin + k * 500 + j FROM generate_series(1, 500) j;
		COMMIT;
	END LOOP;
END \$\$
SQL
} 1 .. 3;

$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM growing') or die 'nothing is inserted';

# Each statement of a function takes a new snapshot, and most looks have rows that
# the filter before did not have.
my ($missing, $different, $levels) = split /\|/, $node->safe_psql('postgres', <<'SQL');
CREATE TABLE looks (rows bigint, items bigint, missing bigint, level int);
DO $$
DECLARE
	a bigint[];
	f cuckoofilter;
BEGIN
	FOR k IN 1..40 LOOP
		a := ARRAY(SELECT i FROM growing);
		f := cf_index_filter('growing_i');
		INSERT INTO looks
			SELECT cardinality(a), cf_count(f), count(*) FILTER (WHERE NOT c), (SELECT growth_level FROM cf_info(f))
			FROM unnest(cf_contains_each(f, a)) c;
		EXIT WHEN cardinality(a) > 300000;
		COMMIT;
	END LOOP;
END $$;
SELECT sum(missing), count(DISTINCT rows), max(level) - min(level) FROM looks;
SQL
is($missing, 0, 'no row is missing while the index grows') or diag($node->safe_psql('postgres', 'TABLE looks'));
cmp_ok($different, '>', 2, 'the looks have different rows');
cmp_ok($levels, '>', 0, 'and different growth levels');
$node->stop('immediate');
$_->finish for @writers;
$node->start;
checks($node, 'postgres', q(SELECT 'after a crash', cf_index_check('growing_i', true), count(*) FROM growing));

# Thirty sessions fill the first pages of an index that finds rows.
my $insert = $node->basedir . '/insert.sql';
my ($lost, $errors) = (0, '');

open my $script, '>', $insert or die "$insert: $!";
print $script "INSERT INTO few SELECT (random() * 1e15)::bigint FROM generate_series(1, 50);\n";
close $script;
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE few (k bigint);
CREATE INDEX few_k ON few USING cuckoo (k) WITH (capacity = 1, growth_bits = 0);
SQL
foreach (1 .. 12)
{
	my @pgbench = (qw(pgbench -n -c 30 -t 10 -f), $insert, $node->connstr('postgres'));

	$node->safe_psql('postgres', 'TRUNCATE few');
	IPC::Run::run(\@pgbench, '>', \my $out, '2>', \my $err);
	$errors .= join '', grep { /ERROR/ } split /^/m, $err;
	$lost += $node->safe_psql('postgres', "SELECT count(*) - cf_index_check('few_k', true) FROM few");
}
is($errors, '', 'no session finds the page in use that it wants to create');
is($lost, 0, 'no row is missing');
$node->stop;
done_testing();
