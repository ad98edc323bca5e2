# cf_agg gives the same bytes with any number of workers, in any plan. The memory
# follows the distinct values, with 24 bytes for each at most, or a few hundred
# for a small group. All of this is so for states of both types: internal, and
# cuckoostate, which those of integers and texts have with the extension
# cuckoo_citus.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

# no autovacuum: once it has marked pages as visible, plans scan an index
my $node = start_node('parallel', 'max_worker_processes = 40', 'max_parallel_workers = 40', 'shared_buffers = 64MB',
	'autovacuum = off');

citus($node) or diag('no citext: all states are internal');

# 50,021 distinct values, most of them twice or more, in no order; 500 groups
# of one to many; and their filters, each made of rows in order
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE numbers AS
	SELECT n AS v, 'value ' || n AS t, floor(sqrt(n % 1000 * 250))::int AS g
	FROM (SELECT i * 7919 % 50021 AS n FROM generate_series(1, 125000::bigint) i) s;
CREATE TABLE alone WITH (parallel_workers = 0) AS
	SELECT cf_agg(v ORDER BY v DESC) AS v, cf_agg(t, 0.01 ORDER BY v) AS t,
		cf_agg(v, 1000000, 0.001, 7 ORDER BY t) AS sized, cf_agg(v::numeric, 0.01 ORDER BY t) AS n FROM numbers;
CREATE TABLE groups WITH (parallel_workers = 0) AS
	SELECT g, cf_agg(v ORDER BY v DESC) AS v, cf_agg(t, 0.01 ORDER BY v) AS t,
		cf_agg(v, 1000000, 0.001, 7 ORDER BY t) AS sized, cf_agg(v::numeric, 0.01 ORDER BY t) AS n
	FROM numbers GROUP BY g;
ANALYZE;
SQL
checks($node, 'postgres', <<'SQL');
SELECT 'groups small and large', count(*), '> 300', min(cf_count(v)), '< 124', max(cf_count(v)), '> 124' FROM groups;
SQL

my $settings = <<'SQL';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET work_mem = '256MB';
SQL
my $columns =
	'cf_agg(v) AS v, cf_agg(t, 0.01) AS t, cf_agg(v, 1000000, 0.001, 7) AS sized, cf_agg(v::numeric, 0.01) AS n';
my $whole = "WITH f AS MATERIALIZED (SELECT $columns FROM numbers)
	SELECT md5(f::text) AS value, md5(alone::text) AS truth FROM f, alone";
my $grouped = "WITH f AS MATERIALIZED (SELECT g, $columns FROM numbers GROUP BY g)
	SELECT count(*) FILTER (WHERE f::text = groups::text) AS value, (SELECT count(*) FROM groups) AS truth
	FROM f JOIN groups USING (g)";

# Three tests: a query has the plan, the workers and the result that it should.
sub same_bytes
{
	my ($workers, $aggregate, $set, $query) = @_;
	my $name = "$aggregate, $workers workers" . ($set =~ /leader/ ? ' and no leader' : '');
	my $partial = $workers == 0 ? '' : 'Partial ';

	$set .= "$settings SET max_parallel_workers_per_gather = $workers; "
		. "ALTER TABLE numbers SET (parallel_workers = $workers);";
	my $plan = $node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		CREATE TEMP TABLE result AS $query; SELECT * FROM result");
	my ($value, $truth) = $plan =~ /^(\w+)\|(\w+)\z/m;
	like($plan, qr/ $partial$aggregate/, "$name: plan");
	is(join(' ', $plan =~ /Workers Launched: (\d+)/g), $workers == 0 ? '' : $workers, "$name: launched");
	is($value // 'null', $truth // '', "$name: same bytes");
	return;
}

foreach my $workers (0, 1, 2, 4)
{
	same_bytes($workers, 'Aggregate', '', $whole);
	same_bytes($workers, 'HashAggregate', 'SET enable_sort = off;', $grouped);
	same_bytes($workers, 'GroupAggregate', 'SET enable_hashagg = off;', $grouped);
}
same_bytes(2, 'Aggregate', 'SET parallel_leader_participation = off;', $whole);

# Memory
SKIP:
{
	skip 'no /proc to read the memory from', 1 if !-r '/proc/self/status';

	# A query over a series of rows has its result, and raises the peak of
	# its session's memory by at most `limit` bytes for each of `n`. The
	# session has seen cf_agg and the series before.
	sub memory
	{
		my ($name, $n, $limit, $set, $rows, $query) = @_;
		my $series = "(SELECT generate_series(1, $rows\::bigint) AS i) s";
		my $peak =
			"(SELECT substring(pg_read_file('/proc/self/status', 0, 8192) FROM 'VmHWM:\\s*(\\d+) kB')::numeric * 1024)";

		$query =~ s/SERIES/$series/;
		checks($node, 'postgres', <<"SQL");
SET max_parallel_workers_per_gather = 0;
$set
SELECT cf_count(cf_agg(i)) AS some FROM generate_series(1, 1000::bigint) i \\gset
SELECT count(*) AS all FROM $series \\gset
SELECT $peak AS before \\gset
$query \\gset
SELECT round(($peak - :before) / $n, 1) AS used \\gset
\\warn $name: :used bytes each
SELECT '$name: result', :'result', :'truth';
SELECT '$name: memory', :used, '< $limit';
SQL
		return;
	}

	foreach my $type ('bigint', 'float8')
	{
		my $groups = "SELECT count(*) = 300000 AND sum(cf_count(f)) = 600000
			AND bool_and(cf_contains(f, (k + 300000)::$type)
				AND cf_contains(f, (CASE k WHEN 0 THEN 600000 ELSE k END)::$type)) AS result, true AS truth
			FROM (SELECT i % 300000 AS k, cf_agg(i::$type) AS f FROM SERIES GROUP BY 1) f";

		memory("distinct values, $type", 3000000, 24, '', 3000000,
			"SELECT cf_count(cf_agg(i::$type)) AS result, '> 2999990' AS truth FROM SERIES");
		memory("repeated values, $type", 1000000, 24, '', 5000000,
			"SELECT cf_count(cf_agg((i % 1000000)::$type)) AS result, '> 999990' AS truth FROM SERIES");
		memory("groups in memory, $type", 300000, 500, "SET enable_sort = off; SET work_mem = '1GB';", 600000,
			$groups);
		memory("groups of 100, $type", 20000, 1700, "SET enable_sort = off; SET work_mem = '1GB';", 2000000,
			"SELECT sum(cf_count(f)) AS result, '> 1990000' AS truth
			FROM (SELECT cf_agg(i::$type) AS f FROM SERIES GROUP BY i / 100) f");
		memory("groups spilled, $type", 300000, 50, "SET enable_sort = off; SET work_mem = '4MB';", 600000, $groups);
	}
}

$node->stop;
done_testing();
