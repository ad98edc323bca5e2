# The function of doc/dedup.md that forgets ids after seven days: each id is new
# for one of the sessions that send it at the same time, even at midnight.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('forget');
my ($block) = grep { $_->{sql} =~ /take_recent/ } blocks_of('doc/dedup.md');

# Batch n has 200 ids, and the next batch has 150 of them again. A day has ten
# batches, so the sessions often send batches of two days.
(my $setup = $block->{sql}) =~ s/^SELECT count.*//ms;
$node->safe_psql('postgres', <<SQL);
$setup
CREATE SEQUENCE batches MINVALUE 0;
CREATE TABLE taken (id bigint);
SQL
append_to_file($node->basedir . '/batch.sql', <<'SQL');
SELECT nextval('batches') AS n \gset
INSERT INTO taken
SELECT take_recent(ARRAY(SELECT generate_series(:n * 50 + 1, :n * 50 + 200)), date '2026-06-01' + (:n / 10)::int);
SQL
$node->command_ok([ qw(pgbench -n -c 4 -t 100 -f), $node->basedir . '/batch.sql', 'postgres' ],
	'four sessions send batches');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM taken'), '20150|20150',
	'each id is new once');

# three weeks after the last batch
is($node->safe_psql('postgres',
	q(SELECT count(*) FROM take_recent(ARRAY(SELECT generate_series(1, 20150)), '2026-08-01'))),
	20150, 'old ids are new again');

$node->stop;
done_testing();
