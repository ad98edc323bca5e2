# Filters through PL/Proxy. A function that runs on all nodes returns a filter
# or a state from each, which are merged here. A filter from here can be an
# argument there, and cf_hash chooses the node that has a value.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $config = $ENV{PG_CONFIG} // 'pg_config';
my ($version) = `$config --version` =~ /(\d+)/;
chomp(my $folder = `$config --sharedir`);

plan skip_all => "no plproxy here (Debian: postgresql-$version-plproxy)" if !-e "$folder/extension/plproxy.control";

my $node = start_node('plproxy');
my ($host, $port) = ($node->host, $node->port);
my @shards = map { "shard$_" } 0 .. 3;
my $options = join ', ', map { "p$_ 'dbname=$shards[$_] host=$host port=$port'" } 0 .. $#shards;

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE whole AS SELECT i::bigint AS user_id, 'name ' || i % 700 AS name FROM generate_series(1, 20000) i;
SQL
foreach my $n (0 .. $#shards)
{
	# each value is on one of the nodes, each name on several
	$node->safe_psql('postgres', "CREATE DATABASE $shards[$n]");
	$node->safe_psql($shards[$n], <<"SQL");
CREATE EXTENSION cuckoo;
CREATE TABLE events AS SELECT i::bigint AS user_id, 'name ' || i % 700 AS name
FROM generate_series(1, 20000) i WHERE cf_hash(i, 1) & 3 = $n;
CREATE TABLE filter AS SELECT cf_agg(user_id, 30000, 0.001) AS f FROM events;
SQL
}
$node->safe_psql('postgres', <<"SQL" . <<'SQL');
CREATE EXTENSION plproxy;
CREATE SERVER events FOREIGN DATA WRAPPER plproxy OPTIONS ($options);
CREATE USER MAPPING FOR CURRENT_USER SERVER events;
SQL
CREATE FUNCTION names() RETURNS SETOF cuckoofilter LANGUAGE plproxy AS
	$$ CLUSTER 'events'; RUN ON ALL; SELECT cf_agg(name, 30000, 0.001) FROM events; $$;
CREATE FUNCTION passing(f cuckoofilter) RETURNS SETOF bigint LANGUAGE plproxy AS
	$$ CLUSTER 'events'; RUN ON ALL; SELECT user_id FROM events WHERE cf_contains(f, user_id); $$;
CREATE FUNCTION is_known(v bigint) RETURNS boolean LANGUAGE plproxy AS
	$$ CLUSTER 'events'; RUN ON cf_hash(v, 1); SELECT cf_contains(f, v) FROM filter; $$;
SQL

run_blocks_left_to('012_plproxy.pl', 'doc/servers.md', $node, 'postgres');
checks($node, 'postgres', <<'SQL');
SELECT 'the guide: the filter of all', f = (SELECT cf_agg(user_id, 1000000, 0.001) FROM whole) FROM all_events;
SELECT 'overlapping values: every one',
	cf_count(f), '690 to 700', (SELECT bool_and(cf_contains(f, name)) FROM whole), true
FROM (SELECT cf_union_agg(f) AS f FROM names() f) s;
SELECT 'a filter as an argument', count(*), '200 to 250', count(*) FILTER (WHERE id % 100 = 0), 200
FROM (SELECT cf_agg(i) AS f FROM generate_series(100, 20000, 100) i) s, passing(f) id;
SELECT 'one value: the node that has it', bool_and(is_known(i)), true,
	count(*) FILTER (WHERE is_known(i + 20000)), '< 5'
FROM generate_series(1, 500) i;
SQL

$node->stop;
done_testing();
