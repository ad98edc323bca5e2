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

# Filters for workers
#
# Workers get a filter of more than 4 MB only as a TOAST pointer. Otherwise the
# leader runs the plan alone. Each answer is the same. by_worker() is labeled as
# parallel safe, and the leader scans nothing while it has workers.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION pid() RETURNS int AS 'pg_backend_pid' LANGUAGE internal STABLE PARALLEL SAFE;
CREATE FUNCTION by_worker() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
	AS $$ SELECT pid() <> current_setting('test.leader')::int $$;
CREATE TABLE scanned AS SELECT i AS v, i % 4 AS part FROM generate_series(1, 50000) i;
CREATE TABLE parts (LIKE scanned) PARTITION BY LIST (part);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES IN (%1$s)', i) FROM generate_series(0, 3) i \gexec
INSERT INTO parts TABLE scanned;
CREATE TABLE kept AS SELECT size, cf_agg(2 * i, 1e-8) AS f
	FROM (VALUES ('small', 30000), ('middle', 900000), ('large', 1200000)) s(size, n), generate_series(1, n) i
	GROUP BY size;
ANALYZE;
CREATE DOMAIN filters AS cuckoofilter[];
CREATE FUNCTION first(anyelement, anyelement) RETURNS anyelement LANGUAGE sql STRICT AS 'SELECT $1';
CREATE AGGREGATE first(anyelement) (SFUNC = first, STYPE = anyelement);
-- a parameter of a custom plan
CREATE FUNCTION custom(query text, f cuckoofilter, OUT n bigint, OUT workers boolean) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query INTO n, workers USING f;
END $$;
-- a variable in a generic plan
CREATE FUNCTION variable(f cuckoofilter) RETURNS TABLE (n bigint, workers boolean) LANGUAGE plpgsql
	SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY SELECT count(*), bool_or(by_worker()) FROM scanned WHERE cf_contains(f, v);
END $$;
CREATE FUNCTION of_local(size text) RETURNS cuckoofilter LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
	AS 'BEGIN RETURN (SELECT f FROM local l WHERE l.size = of_local.size); END';
SQL

# Two tests for each size: the number of rows, and whether workers ran.
sub for_workers
{
	my ($name, $query, $workers, $n, $set) = @_;
	my %workers;
	@workers{qw(small middle large)} = split //, $workers;
	my $script = "$settings SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;
SET cpu_operator_cost = 0; SET parallel_tuple_cost = 1; SET enable_material = off;
SELECT set_config('test.leader', pid()::text, false) \\gset
CREATE TEMP TABLE local AS TABLE kept; $set\n";

	foreach my $size (qw(small middle large small))
	{
		my $sized = $query =~ s/COMPUTED/cf_union_agg(f) FROM kept WHERE size = 'SIZE'/gr;
		$sized =~ s/COUNT/count(*) AS n, bool_or(by_worker()) AS workers/g;
		$sized =~ s/SIZE/$size/g;
		$script .= "$sized \\gset\nSELECT '$name, $size', :n, $n, :'workers', '$workers{$size}';\n";
	}
	checks($node, 'postgres', $script);
	return;
}

# the results of sub-selects
my %sub_selects = (
	'a sub-select' => 'SELECT COUNT FROM scanned WHERE cf_contains((SELECT COMPUTED), v)',
	# which is computed for each row
	'a sub-select in an expression' => 'SELECT COUNT FROM scanned WHERE v > 49900
		AND (v <= 0 OR v <@ cf_add((SELECT COMPUTED), 2))',
	'a materialized CTE' => 'WITH w AS MATERIALIZED (SELECT COMPUTED)
		SELECT COUNT FROM scanned WHERE cf_contains((SELECT * FROM w), v)',
	'an array' => 'SELECT COUNT FROM scanned WHERE v <@ ANY (ARRAY(SELECT COMPUTED))',
	'an aggregate with FILTER' => 'SELECT count(*) FILTER (WHERE v <@ (SELECT COMPUTED)) AS n,
		bool_or(by_worker()) AS workers FROM scanned',
	'cf_contains_hash' => 'SELECT COUNT FROM scanned WHERE cf_contains_hash((SELECT COMPUTED), cf_hash(v))',
	'a Gather that runs again' => 'SELECT (sum(n) / 3)::int AS n, bool_or(workers) AS workers
		FROM generate_series(1, 3) i LEFT JOIN (SELECT COUNT FROM scanned WHERE v <@ (SELECT COMPUTED)) s ON n > i',
	'partitions' => 'SELECT COUNT FROM parts WHERE cf_contains((SELECT COMPUTED), v)');
for_workers($_, $sub_selects{$_}, 'ttf', /expression/ ? 50 : 25000, '') foreach sort keys %sub_selects;
for_workers('a Gather Merge', 'SELECT count(*) AS n, bool_or(w) AS workers
	FROM (SELECT by_worker() AS w FROM scanned WHERE v <@ (SELECT COMPUTED) ORDER BY v OFFSET 0) s',
	'ttf', 25000, 'SET parallel_tuple_cost = 0; RESET cpu_operator_cost;');
my $in = "SELECT COUNT FROM scanned WHERE v <@";
my $local = "FROM local WHERE size = 'SIZE'";
for_workers('a stored filter', "$in (SELECT f FROM kept WHERE size = 'SIZE')", 'ttt', 25000, '');
for_workers('a temporary table', "$in (SELECT f $local)", 'fff', 25000, '');
for_workers('an aggregate of a temporary table', "$in (SELECT first(f) $local)", 'fff', 25000, '');
for_workers('a function that reads a temporary table', "$in (SELECT of_local('SIZE'))", 'fff', 25000, '');
for_workers('a new filter of a temporary table', "$in (SELECT cf_add(f, 2) $local)", 'ttf', 25000, '');

# parameters
my $given = "(SELECT cf_add(f, 2) FROM kept WHERE size = 'SIZE')";
my %custom = (
	'a custom plan' => [ 25000, 'cf_contains($1, v)' ],
	'a custom plan, an array' => [ 25000, 'v <@ ANY (ARRAY[$1])' ],
	'a custom plan, OR' => [ 25000, 'cf_contains($1, v) OR v <= 0' ],
	'a custom plan, a constant test' => [ 50000, 'cf_contains($1, 2) OR v = 2' ],
	'a custom plan, a constant count' => [ '29998 to 50000', 'v < cf_count($1)' ],
	'a custom plan, HAVING' => [ 50000, 'true HAVING cf_contains($1, count(*)::int)' ]);
for_workers($_, "SELECT * FROM custom('SELECT COUNT FROM scanned WHERE $custom{$_}[1]', $given)",
	'ttf', "'$custom{$_}[0]'", '')
	foreach sort keys %custom;
for_workers('a custom plan, a result',
	"SELECT * FROM custom('SELECT count(\$1) AS n, bool_or(by_worker()) AS workers FROM scanned', $given)",
	'ttf', 50000, '');
# the parameter and the result of the sub-select
for_workers('a custom plan, a sub-select',
	"SELECT * FROM custom('SELECT COUNT FROM scanned WHERE v <@ (SELECT \$1)', $given)", 'tff', 25000, '');
# one copy of a constant for each partition
for_workers('a custom plan, partitions',
	"SELECT * FROM custom('SELECT COUNT FROM parts WHERE v <@ \$1', $given)", 'tff', 25000, '');
for_workers('a variable', "SELECT * FROM variable($given)", 'ttf', 25000, '');
for_workers('a variable, stored', "SELECT * FROM variable((SELECT f FROM kept WHERE size = 'SIZE'))",
	'ttt', 25000, '');
for_workers('a variable, temporary', "SELECT * FROM variable((SELECT f $local))", 'fff', 25000, '');
my %generic = (cuckoofilter => '$1', 'cuckoofilter[]' => 'ANY ($1)', filters => 'ANY ($1)');
for_workers(
	"a generic plan, $_",
	"SELECT f FROM kept WHERE size = 'SIZE' \\gset\nEXECUTE q("
	  . (/^cuckoofilter$/ ? ":'f'" : "ARRAY[:'f'::cuckoofilter]") . ')',
	'ttf', 25000,
	"SET plan_cache_mode = force_generic_plan;
	PREPARE q($_) AS SELECT count(*) AS n, bool_or(by_worker()) AS workers FROM scanned WHERE v <@ $generic{$_};")
	foreach sort keys %generic;

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
SET jit = off;
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
