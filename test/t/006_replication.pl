# Logical replication of a table that has a filter and no key: with replica
# identity full the subscriber looks for the old row by all its columns, which
# takes an operator class of cuckoofilter.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $publisher = start_node('publisher', 'wal_level = logical', 'max_wal_senders = 5', 'max_replication_slots = 5');
my $subscriber = start_node('subscriber');
my $connection = $publisher->connstr . ' dbname=postgres';

# short, inline and TOASTed filters; two rows differ in their filters only
my $table = 'CREATE TABLE t (name text, f cuckoofilter); ALTER TABLE t REPLICA IDENTITY FULL;';
my $content = 'SELECT name, md5(f::bytea), cf_count(f) FROM t ORDER BY 1, 2';

$publisher->safe_psql('postgres', <<"SQL");
$table
INSERT INTO t VALUES ('short', cf_new(10)), ('null', NULL);
INSERT INTO t SELECT 'filled', cf_agg(i) FROM generate_series(1, 50000) i, (VALUES (500), (50000), (49999)) v(n) WHERE i <= n GROUP BY n;
CREATE PUBLICATION p FOR TABLE t;
SQL
$subscriber->safe_psql('postgres', "$table CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION p");

# The subscriber comes to have what the publisher has.
sub replicated
{
	my ($what) = @_;
	my $expected = $publisher->safe_psql('postgres', $content);

	$subscriber->poll_query_until('postgres', $content, $expected);
	is($subscriber->safe_psql('postgres', $content), $expected, $what);
	return;
}

replicated('the first copy');
$publisher->safe_psql('postgres', 'UPDATE t SET f = cf_add(f, 100000) WHERE cf_count(f) IN (0, 500, 50000)');
replicated('an update of filters');
$publisher->safe_psql('postgres', "UPDATE t SET name = 'renamed ' || name");
replicated('an update of another column');
$publisher->safe_psql('postgres', 'DELETE FROM t WHERE cf_count(f) = 50001 OR f IS NULL');
replicated('a delete');

$subscriber->stop;
$publisher->stop;
done_testing();
