# cf_agg gives the same bytes with any number of workers, in any plan. An empty
# group has the parameters of the call in any plan. The memory follows the
# distinct values, with 24 bytes for each at most, or a few hundred for a small
# group. All of this is so for states of both types: internal, and cuckoostate,
# which those of integers and texts have with the extension cuckoo_citus.
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

# 100,003 distinct values, most of them twice or more, in no order; 500 groups
# of one to many; and their filters, each made of rows in order
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE numbers AS
	SELECT n AS v, 'value ' || n AS t, floor(sqrt(n % 1000 * 250))::int AS g
	FROM (SELECT i * 7919 % 100003 AS n FROM generate_series(1, 250000::bigint) i) s;
CREATE TABLE alone WITH (parallel_workers = 0) AS
	SELECT cf_agg(v ORDER BY v DESC) AS v, cf_agg(t, 0.01 ORDER BY v) AS t, cf_agg(v, 1000000, 0.001, 7 ORDER BY t) AS sized, cf_agg(v::numeric, 0.01 ORDER BY t) AS n FROM numbers;
CREATE TABLE groups WITH (parallel_workers = 0) AS
	SELECT g, cf_agg(v ORDER BY v DESC) AS v, cf_agg(t, 0.01 ORDER BY v) AS t, cf_agg(v, 1000000, 0.001, 7 ORDER BY t) AS sized, cf_agg(v::numeric, 0.01 ORDER BY t) AS n FROM numbers GROUP BY g;
ANALYZE;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) > 300, min(cf_count(v)) < 124, max(cf_count(v)) > 124 FROM groups'), 't|t|t',
	'groups small and large');

my $settings = <<'SQL';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET work_mem = '256MB';
SQL
my $columns = 'cf_agg(v) AS v, cf_agg(t, 0.01) AS t, cf_agg(v, 1000000, 0.001, 7) AS sized, cf_agg(v::numeric, 0.01) AS n';
my $whole = "WITH f AS MATERIALIZED (SELECT $columns FROM numbers)
	SELECT f::text = alone::text FROM f, alone";
my $grouped = "WITH f AS MATERIALIZED (SELECT g, $columns FROM numbers GROUP BY g)
	SELECT count(*) = (SELECT count(*) FROM groups) AND bool_and(f::text = groups::text) FROM f JOIN groups USING (g)";

# Three tests: a query has the plan, the workers and the result that it should.
sub same_bytes
{
	my ($workers, $aggregate, $set, $query) = @_;
	my $name = "$aggregate, $workers workers" . ($set =~ /leader/ ? ' and no leader' : '');
	my $partial = $workers == 0 ? '' : 'Partial ';

	$set .= "$settings SET max_parallel_workers_per_gather = $workers; ALTER TABLE numbers SET (parallel_workers = $workers);";
	my $plan = $node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	like($plan, qr/ $partial$aggregate/, "$name: plan");
	is(join(' ', $plan =~ /Workers Launched: (\d+)/g), $workers == 0 ? '' : $workers, "$name: launched");
	is($node->safe_psql('postgres', "$set $query"), 't', "$name: same bytes");
	return;
}

foreach my $workers (0, 1, 2, 4)
{
	same_bytes($workers, 'Aggregate', '', $whole);
	same_bytes($workers, 'HashAggregate', 'SET enable_sort = off;', $grouped);
	same_bytes($workers, 'GroupAggregate', 'SET enable_hashagg = off;', $grouped);
}
same_bytes(2, 'Aggregate', 'SET parallel_leader_participation = off;', $whole);

# Groups without values give an empty filter, of the parameters that
# the call has, which are found below any node between final and partial states
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE parted (k int, v bigint) PARTITION BY RANGE (k);
CREATE TABLE part0 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (10) TO (20);
INSERT INTO parted SELECT i % 20, i % 1000 FROM generate_series(1, 40000) i;
CREATE INDEX ON parted (v);
CREATE TABLE names AS SELECT k, 'name ' || k AS name FROM generate_series(0, 19) k;
CREATE INDEX ON names (k);
CREATE TABLE visits AS SELECT i % 20 AS k, i % 7 AS a, i % 11 AS b, i % 13 AS c, i AS v FROM generate_series(1, 40000) i;
CREATE INDEX ON visits (k);
CREATE INDEX ON visits (a, c, b);
ANALYZE parted, names, visits;
SQL
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $partitionwise = 'SET enable_partitionwise_aggregate = on;';
my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $named = 'visits JOIN names USING (k)';
# Before the version the plan is another one, but not the result.
foreach my $case (
	[ 'Append', 13, 'parted', "$serial $partitionwise" ],
	[ 'Append', 13, 'parted GROUP BY v', "$serial $partitionwise SET enable_sort = off;" ],
	[ 'Merge Append', 13, 'parted GROUP BY v', "$serial $partitionwise SET enable_sort = off; SET enable_hashagg = off;" ],
	[ 'Gather', 13, 'parted', $settings ],
	[ 'Gather Merge', 13, 'parted GROUP BY v', "$settings SET enable_hashagg = off;" ],
	[ 'Sort, Gather', 13, 'parted GROUP BY v', "$settings SET enable_hashagg = off; SET enable_gathermerge = off;" ],
	[ 'Gather, Parallel Append', 13, 'parted', "$settings $partitionwise" ],
	# groups sorted in the order of an index
	[ 'Gather Merge, Incremental Sort', 17, 'visits GROUP BY a, b, c ORDER BY a, b, c',
		"$settings SET min_parallel_index_scan_size = 0; SET enable_hashagg = off; SET enable_seqscan = off;" ],
	# partial aggregation below joins
	[ 'Sort, Hash Join, Seq Scan on names, Hash', 19, "$named GROUP BY name", $serial ],
	[ 'Sort, Merge Join, Sort', 19, "$named GROUP BY name", "$serial SET enable_hashjoin = off;" ],
	[ 'Sort, Nested Loop', 19, "$named GROUP BY name", "$serial SET enable_hashjoin = off; SET enable_mergejoin = off;" ],
	[ 'Nested Loop, Unique, Sort, Seq Scan on names, Materialize', 19, 'visits JOIN (SELECT DISTINCT ON (name) * FROM names) n USING (k) GROUP BY name',
		"$serial SET enable_hashjoin = off; SET enable_mergejoin = off;" ],
	[ 'Incremental Sort, Merge Join', 19, "$named GROUP BY visits.k, name", "$serial SET enable_hashagg = off; SET enable_hashjoin = off; SET enable_nestloop = off;" ],
	[ 'Sort, Result, Hash Join, Seq Scan on names, Hash', 19, "$named WHERE now() > '2000-01-01' GROUP BY name", $serial ])
{
	# Some nodes cannot be produced. Subquery Scan: both steps of an aggregate are
	# of one query. ProjectSet: set-returning functions in GROUP BY keep
	# partial aggregation below them. Foreign Scan and Custom Scan:
	# postgres_fdw has whole groups aggregated remotely or none, and we have no
	# other.
	my ($nodes, $since, $from, $set) = @$case;
	my $query = "SELECT bool_and(sized AND exact) FROM (
		SELECT cf_agg(v, 5000, 0.01, 3) FILTER (WHERE v < 0) = cf_new(5000, 0.01, 3) AS sized,
			cf_agg(v::numeric, 0.01) FILTER (WHERE v < 0) = cf_agg(NULL::int, 0.01) AS exact
		FROM $from) s";

	SKIP:
	{
		skip "PostgreSQL $since has the plan", 1 if $version < $since * 10000;
		my $plan = $node->safe_psql('postgres', "$set EXPLAIN (COSTS OFF) $query");
		my ($between) = $plan =~ /Finalize(.*?)Partial/s;

		is(join(', ', ($between // $plan) =~ /->  ([A-Z][A-Za-z ]*?) *$/gm), $nodes, "no values below $nodes: plan");
	}
	is($node->safe_psql('postgres', "$set $query"), 't', "no values below $nodes, $from: of the parameters asked for");
}

# Memory
SKIP:
{
	skip 'no /proc to read the memory from', 1 if !-r '/proc/self/status';

	# One test: a query over a series of rows is true, and raises the peak of
	# its session's memory by at most `limit` bytes for each of `n`. The
	# session has seen cf_agg and the series before.
	sub memory
	{
		my ($name, $n, $limit, $set, $rows, $query) = @_;
		my $series = "(SELECT generate_series(1, $rows\::bigint) AS i) s";
		my $peak = "(SELECT substring(pg_read_file('/proc/self/status', 0, 8192) FROM 'VmHWM:\\s*(\\d+) kB')::numeric * 1024)";

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
SELECT '$name: result', :'result';
SELECT '$name: memory', :used < $limit;
SQL
		return;
	}

	foreach my $type ('bigint', 'float8')
	{
		my $groups = "SELECT count(*) = 1000000 AND sum(cf_count(f)) = 2000000
			AND bool_and(cf_contains(f, (k + 1000000)::$type) AND cf_contains(f, (CASE k WHEN 0 THEN 2000000 ELSE k END)::$type)) AS result
			FROM (SELECT i % 1000000 AS k, cf_agg(i::$type) AS f FROM SERIES GROUP BY 1) f";

		memory("distinct values, $type", 3000000, 24, '', 3000000, "SELECT cf_count(cf_agg(i::$type)) > 2999990 AS result FROM SERIES");
		memory("repeated values, $type", 1000000, 24, '', 10000000, "SELECT cf_count(cf_agg((i % 1000000)::$type)) > 999990 AS result FROM SERIES");
		memory("groups in memory, $type", 1000000, 500, "SET enable_sort = off; SET work_mem = '1GB';", 2000000, $groups);
		memory("groups of 100, $type", 20000, 1700, "SET enable_sort = off; SET work_mem = '1GB';", 2000000,
			"SELECT sum(cf_count(f)) > 1990000 AS result FROM (SELECT cf_agg(i::$type) AS f FROM SERIES GROUP BY i / 100) f");
		memory("groups spilled, $type", 1000000, 50, "SET enable_sort = off; SET work_mem = '4MB';", 2000000, $groups);
	}
}

$node->stop;
done_testing();
