#!/usr/bin/perl
# Random queries by the scan (src/scan) and without it, by indexes (src/index) and on
# tables without any, which must give the same rows and the same errors.
#
# usage: test/fuzz/scan.pl [SECONDS [SEED [QUERY]]]
#
# It needs a throwaway server in psql's environment: make fuzz-scan SECONDS=60.
# It makes a schema of random tables and filters, runs 200 queries on it, and
# goes on with the next schema until the time is over.  The seed determines all
# of this, and is printed.  A failure prints the number of the query.  SEED and
# QUERY=number run the queries of that schema again up to this one.  (Rolled
# back changes leave dead rows, so earlier queries matter.)
#
# A query runs three times: as it is planned, without the scan, and on the twins of
# its tables. A twin is a plain table with the same rows, and without indexes. The
# schema `twin` has them by the same names.
#
# How two runs of a query are compared:
# - Without a sort the order of rows is that of the plan.  If the plans differ only
#   in the name of the scan, and are not parallel, rows are compared in order.
#   Otherwise they are compared as a multiset.  If the plans differ, a query that
#   depends on the order in other ways is left out, and counted.  Such are LIMIT
#   without ORDER BY, moves of a cursor, and functions that take one row.  Queries
#   that take half a minute without the scan are left out as well. So are, on the
#   twins, those that return ctid or tableoid, or fail there: an index skips rows
#   for which a sequential scan raises an error.
# - Errors are compared by SQLSTATE and message, but in parallel plans only by
#   SQLSTATE, because any row may be the first to fail there.
# - The scan evaluates conditions up to a page ahead (doc/queries.md).  So only one
#   place in a query may fail, and none if the query may end before the end of the
#   table: with LIMIT, EXISTS, joins, cursors, functions. An index skips rows that
#   would fail, too, so no query with a condition for an index has such a place.
#
# A fuzzer that tests nothing is a defect, too, so it fails if too few plans
# have the scan or an index, or if a query has an unexpected error. The shares
# depend on the schema, so they are judged only where there were several schemas,
# which a busy machine does not come to in 10 seconds.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use Fuzz;
use List::Util qw(shuffle);
use Time::HiRes qw(time);

use constant QUERIES_OF_A_SCHEMA => 200;
# of the queries, in percent
use constant LEAST_WITH_SCAN => 20;
use constant LEAST_WITH_INDEX => 5;
use constant MOST_NOT_COMPARED => 10;
use constant FIRST_TO_JUDGE => 5 * QUERIES_OF_A_SCHEMA;

# errors that queries are meant to give
my %meant = map { $_ => 1 } qw(00000 21000 22012 22P02 42804 55000);

my ($seconds, $seed, $only) = @ARGV;

$seconds ||= 60;
$seed = begin_session($seed, '-c search_path=fuzz,public -c statement_timeout=30s');

# ---- chance ----

# some (at least one) of a list
sub some
{
	my @list = shuffle(@_);

	return @list[ 0 .. below(scalar @list) ];
}

# one of a list of weights and subs, called
sub weighted
{
	my @choices = @_;
	my ($sum, $at) = (0, 0);

	$sum += $choices[ $_ * 2 ] for 0 .. $#choices / 2;
	$at = rand($sum);
	while (@choices > 2 && $at >= $choices[0])
	{
		$at -= $choices[0];
		splice(@choices, 0, 2);
	}
	return $choices[1]->();
}

# ---- tables and filters ----

my $range;		# values are made of 0 .. range - 1
my @relations;	# { name, columns => { name => 1 }, ctid, table => may be changed }
my @filters;	# { name, family, literal }
my %is_cuckoo_index;	# by name
my $schemas = 0;

# elements of each family, in terms of the number x
my %elements = (
	int => 'x',
	text => q('User ' || x),
	lower => q('user ' || x),
	doc => q('doc ' || x || repeat('-', CASE x % 40 WHEN 0 THEN 3000 ELSE 0 END)),
	num => 'x / 4.0',
	date => q(date '2000-01-01' + x),
	other => 'int4range(x, x + 1)');

# what a row may be asked for; ~ stands for the table's alias
my %asked = (
	int => ['~v', '~v', '~v', '~id', '~v + 1', '~v::bigint', '~v::smallint', '-~v', '~d', '~id % 100', 'abs(~v - 50)', 'nullif(~v, 3)', 'coalesce(~v, ~id)', 'length(~t)', '~v * 1 + ~d'],
	text => ['~t', '~t', q(~t || ''), q('User ' || ~v), '~t::varchar', '~t::char(12)', 'initcap(lower(~t))', q(CASE WHEN ~v > 5 THEN ~t END)],
	lower => ['lower(~t)', 'lower(~t)', q('user ' || ~v::text)],
	doc => ['~doc', '~doc', q(~doc || ''), 'lower(~doc)', 'substr(~doc, 1, 7)'],
	num => ['~n', '~n', '~n * 1.0', '~v / 4.0', '~n + ~v'],
	date => [q(date '2000-01-01' + ~v)],
	other => ['int4range(~v, ~v + 1)', 'int4range(~id, ~id + ~v)']);

my @columns = qw(id v t n d doc);

# a query of rows i .. j, its columns in random order and at most that many
# columns; the names and the query
sub rows_query
{
	my ($i, $j, $only_columns, $width) = @_;
	my $salt = below(1000);
	my $step = one(1, 7919, 104729);
	my $x = "((i * $step + $salt) % $range)";
	my %nulls = map { $_ => one(0, 0, 0, 1, 3, 9, 10) } qw(v t n doc);
	my %column = (
		id => 'i',
		v => $x,
		t => "'User ' || $x",
		n => "$x / 4.0",
		d => '(i + 3) % ' . one(5, 400, 5000),
		doc => $elements{doc} =~ s/\bx\b/$x/gr);
	my @names = $only_columns ? @$only_columns : @columns;

	$column{$_} = "CASE WHEN (i * 13 + $salt) % 10 >= $nulls{$_} THEN $column{$_} END" for keys %nulls;
	foreach my $k (@names + 1 .. $width)
	{
		my $name = "p$k";

		push @names, $name;
		$column{$name} = one('i', "'filler'::text", 'NULL::int', "repeat('f', i % 5)", 'i::numeric');
	}
	@names = shuffle(@names) if !$only_columns;
	return \@names, 'SELECT ' . join(', ', map { "$column{$_} AS $_" } @names) .
	  " FROM generate_series($i, $j) i";
}

sub rows_of_a_table { return one(0, 1, 7, 999, 1000, 1001, map { 1000 + below(800) } 1 .. 12); }

# dead and updated rows, statistics
sub age
{
	my ($name, $parent) = @_;

	must("DELETE FROM $name WHERE id % @{[ 2 + below(20) ]} = 0") if chance(35);
	must("UPDATE $name SET d = d + 1 WHERE id % @{[ 2 + below(9) ]} = 0") if chance(35);
	must("VACUUM $name") if chance(20);
	must("ANALYZE $name") if $parent || chance(90);
	must("CREATE INDEX ON $name (id)") if !$parent && chance(20);
	return;
}

# indexes of some columns, alone or beside exact ones
sub add_indexes
{
	my ($name, @columns) = @_;
	my %has = map { $_ => 1 } @columns;
	my @of_column = grep { $has{$_} } qw(id v t n d doc);
	my @expressions = map { $_->[1] } grep { $has{ $_->[0] } } [ t => 'lower(t)' ], [ t => '(t::varchar)' ], [ v => '(v + 1)' ], [ d => '(d % 2)' ],
	  [ id => '(id / 2000)' ], [ v => '(int4range(v, v + 1))' ], [ n => '(n::int)' ];
	my @where = map { $_->[1] } grep { $has{ $_->[0] } } [ d => 'd <> 0' ], [ id => 'id > 100' ], [ v => 'v IS NOT NULL' ], [ v => 'v <> 5' ];

	foreach my $what (some(@of_column), @expressions ? some(@expressions) : ())
	{
		my $options = chance(30) ? 'WITH (fillfactor = ' . one(10, 50, 100) . ')' : '';
		my $where = @where && chance(20) ? 'WHERE ' . one(@where) : '';
		my $more = chance(30) ? ', ' . one(@of_column) : '';

		must("CREATE INDEX ON $name USING cuckoo ($what$more) $options $where");
		must("CREATE INDEX ON $name USING @{[ $what eq 'doc' ? 'hash' : one('btree', 'hash') ]} ($what)") if chance(25);
	}
	return;
}

sub add_relation
{
	my ($name, $columns, %properties) = @_;

	add_indexes($name, @$columns) if $properties{indexed} && chance(80);
	must("GRANT ALL ON $name TO public");
	push @relations, { name => $name, columns => { map { $_ => 1 } @$columns }, %properties };
	return;
}

sub add_table
{
	my ($name) = @_;
	my $kind = one('TABLE', 'TABLE', 'TABLE', 'TEMP TABLE', 'UNLOGGED TABLE', 'MATERIALIZED VIEW');
	my ($columns, $query) = rows_query(1, rows_of_a_table(), undef, one(6, 6, 8, 20, 60));
	my $options = chance(30) ? 'WITH (fillfactor = 40)' : '';

	must("CREATE $kind $name $options AS $query");
	if ($kind =~ /TABLE/)
	{
		must("ALTER TABLE $name ALTER doc SET STORAGE external", "UPDATE $name SET doc = doc || '' WHERE length(doc) > 100") if chance(50);
		must("ALTER TABLE $name ADD added int DEFAULT 42", "ALTER TABLE $name ADD gone int", "ALTER TABLE $name DROP gone") if chance(20);
		add_indexes($name, @$columns) if chance(30);
		age($name);
	}
	else
	{
		must("ANALYZE $name");
	}
	add_relation($name, $columns, ctid => 1, table => scalar($kind =~ /TABLE/), indexed => 1);
	return;
}

sub add_narrow_table
{
	my ($name) = @_;
	my ($columns, $query) = rows_query(1, rows_of_a_table(), [ one(qw(v v t n doc)) ], 1);

	must("CREATE TABLE $name AS $query", "ANALYZE $name");
	add_relation($name, $columns, ctid => 1, indexed => 1);
	return;
}

# one row a page
sub add_long_table
{
	my ($name) = @_;
	my ($columns, $query) = rows_query(1, 1000 + below(50), undef, 6);

	must("CREATE TABLE $name AS SELECT s.*, repeat('-', 4100) AS filler FROM ($query LIMIT 0) s",
		"ALTER TABLE $name ALTER filler SET STORAGE plain");
	add_indexes($name, @$columns) if chance(50);
	# a value in all pages, which the index marks
	must("CREATE INDEX ON $name USING cuckoo ((id / 2000))") if chance(50);
	must("INSERT INTO $name SELECT s.*, repeat('-', 4100) FROM ($query) s", "ANALYZE $name");
	must("REINDEX TABLE $name") if chance(50);
	add_relation($name, $columns, ctid => 1, table => 1, indexed => 1);
	return;
}

# partitions by list or hash, one of which may be partitioned again
sub add_partitioned_table
{
	my ($name, $hash) = @_;
	my $rows = 1000 + below(600);
	my ($columns, $query) = rows_query(1, 3 * $rows, undef, one(6, 12));
	my @bounds = $hash ? map({ "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2)
	  : ('IN (0)', 'IN (1)', 'IN (2)');
	my $nested = below(4);

	must("CREATE TABLE $name (LIKE @{[ template($name, $query) ]}, k int) PARTITION BY " . ($hash ? 'HASH (id)' : 'LIST (k)'));
	foreach my $i (0 .. 2)
	{
		my $part = "${name}_$i";

		if ($i == $nested)
		{
			must("CREATE TABLE $part PARTITION OF $name FOR VALUES $bounds[$i] PARTITION BY LIST (k)",
				"CREATE TABLE ${part}_x PARTITION OF $part DEFAULT");
		}
		elsif (chance(30))
		{
			# of another order of columns
			must("CREATE TABLE $part (k int, gone int)", "ALTER TABLE $part DROP gone",
				map({ "ALTER TABLE $part ADD $_->[0] $_->[1]" } reverse column_types($name)),
				"ALTER TABLE $name ATTACH PARTITION $part FOR VALUES $bounds[$i]");
		}
		else
		{
			must("CREATE TABLE $part PARTITION OF $name FOR VALUES $bounds[$i]");
		}
	}
	must("INSERT INTO $name SELECT s.*, id % 3 FROM ($query) s");
	age($name, 1);
	must("CREATE INDEX ON ${name}_1 (id)") if chance(30);
	add_relation($name, $columns, table => 1, indexed => 1);
	return;
}

# a table of the columns of a query
sub template
{
	my ($name, $query) = @_;

	must("CREATE TABLE ${name}_like AS $query LIMIT 0");
	return "${name}_like";
}

sub column_types
{
	my ($name) = @_;

	return map { [ split /\|/ ] } split /\n/, must(
		"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		WHERE attrelid = '${name}_like'::regclass AND attnum > 0 ORDER BY attnum");
}

sub add_inheritance
{
	my ($name) = @_;
	my ($columns, $query) = rows_query(1, rows_of_a_table(), undef, 6);
	my (undef, $more) = rows_query(1, 1000 + below(500), $columns, 6);

	must("CREATE TABLE $name AS $query",
		"CREATE TABLE ${name}_child (more int) INHERITS ($name)",
		"INSERT INTO ${name}_child ($more)" =~ s/\(SELECT/SELECT/r =~ s/\)$//r);
	age($name, 1);
	must("ANALYZE ${name}_child");
	add_indexes("${name}_child", @$columns) if chance(50);
	add_relation($name, $columns, table => 1, indexed => 1);
	return;
}

# Runs statements for the tables, and for their twins.
sub in_both
{
	must(@_);
	must('SET search_path = twin, fuzz, public, pg_temp', @_, 'RESET search_path');
	return;
}

sub add_twins
{
	must('DROP SCHEMA IF EXISTS twin CASCADE', 'CREATE SCHEMA twin', 'GRANT USAGE ON SCHEMA twin TO public',
		map({ ("CREATE TABLE twin.$_ AS TABLE $_", "ANALYZE twin.$_", "GRANT ALL ON twin.$_ TO public") } map { $_->{name} } @relations));
	return;
}

# over tables that there are
sub add_views
{
	my @whole = grep { keys %{ $_->{columns} } >= @columns } @relations;
	my $list = join(', ', @columns);

	foreach my $i (1 .. 2)
	{
		my ($a, $b) = (one(@whole), one(@whole));

		in_both("CREATE VIEW both_$i AS SELECT $list FROM $a->{name} UNION ALL SELECT $list FROM $b->{name}");
		add_relation("both_$i", \@columns);
		in_both("CREATE VIEW barrier_$i WITH (security_barrier) AS SELECT $list FROM $a->{name} s WHERE " .
			  one('d <> 0', 'id % 2 = 0', 'd <> 0 AND ' . test($a, plain => 1)));
		add_relation("barrier_$i", \@columns, barrier => 1);
	}
	return;
}

sub add_policies
{
	foreach my $relation (grep { $_->{table} && $_->{name} =~ /^table/ && chance(30) } @relations)
	{
		my $condition = one('d <> 0', 'id % 3 > 0 AND d <> 0', test($relation, where => 's', plain => 1) =~ s/\bs\.//gr);

		in_both("ALTER TABLE $relation->{name} ENABLE ROW LEVEL SECURITY",
			"CREATE POLICY visible ON $relation->{name} USING ($condition)");
		$relation->{policy} = 1;
	}
	return;
}

# filters of one family: of some numbers, in every form
sub add_filters
{
	my ($family) = @_;
	my $agg = sub {
		my ($arguments, $most) = @_;
		my $m = 1 + below(6);
		my $n = $m - below($m);

		return "(SELECT cf_agg($elements{$family}$arguments) FROM generate_series(0, $most) x WHERE x % $m < $n)";
	};
	my $fpp = one(', 0.03', ', 0.001', ', 1e-8');
	my $values = "ARRAY(SELECT $elements{$family} FROM generate_series(0, $range) x WHERE x % 3 < 2)";
	my $part = "ARRAY(SELECT $elements{$family} FROM generate_series(0, $range) x WHERE x % 2 = 0)";
	my $large = $range * one(1, 10, 30);
	my %filter = (
		small => $agg->(chance(50) ? '' : $fpp, 20 + below(200)),
		exact => $agg->(chance(50) ? '' : $fpp, $range),
		sized => $agg->(one(', 1000, 0.01', ', 100000, 0.001', ', 1000000, 0.01, 77'), $range),
		large => $agg->(chance(50) ? '' : $fpp, $large),
		grown => 'cf_add_all(cf_new(' . one(100, 200, 1000) . ", 0.001), $values)",
		deleted => "cf_delete_all(cf_agg_of_$family(), $part)",
		empty => 'cf_new()',
		emptied => "cf_delete_all(cf_add_all(cf_new(), $part), $part)",
		'null' => 'NULL');

	must("CREATE FUNCTION cf_agg_of_$family() RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_agg($_) FROM generate_series(0, $range) x'")
	  for $elements{$family} =~ s/'/''/gr;
	foreach my $name (sort keys %filter)
	{
		must("INSERT INTO filters SELECT '${family}_$name', '$family', $filter{$name}");
		push @filters, { name => "${family}_$name", family => $family };
	}
	return;
}

sub new_schema
{
	begin_random('schema', $_[0]);
	@relations = @filters = ();
	$range = 100 + below(3000);
	must('RESET ALL', 'DISCARD TEMP', 'DROP SCHEMA IF EXISTS fuzz CASCADE', 'CREATE SCHEMA fuzz', 'GRANT USAGE ON SCHEMA fuzz TO public',
		'CREATE TABLE filters (name text PRIMARY KEY, family text, f cuckoofilter)',
		q(CREATE FUNCTION list(text) RETURNS cuckoofilter LANGUAGE sql STABLE AS 'SELECT f FROM filters WHERE name = $1'),
		q(CREATE FUNCTION early(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS 'BEGIN RETURN $1 % 7 > 0; END'),
		q(CREATE FUNCTION late(int) RETURNS boolean LANGUAGE plpgsql STABLE COST 1000 AS 'BEGIN RETURN $1 % 5 > 0; END'));
	add_filters($_) for sort keys %elements;
	must('CREATE TABLE filters_parted (LIKE filters, k int) PARTITION BY LIST (k)',
		map({ "CREATE TABLE filters_parted_$_ PARTITION OF filters_parted FOR VALUES IN ($_)" } 0 .. 2),
		'INSERT INTO filters_parted SELECT f.*, k FROM filters f, generate_series(0, 2) k WHERE hashtext(name || k) % 3 <> 0',
		'ANALYZE filters_parted');
	foreach my $storage ('extended', 'main')
	{
		must("CREATE TABLE filters_$storage (LIKE filters)", "ALTER TABLE filters_$storage ALTER f SET STORAGE $storage",
			"INSERT INTO filters_$storage SELECT name, family, (f::bytea || '')::cuckoofilter FROM filters", "ANALYZE filters_$storage");
	}
	must('ANALYZE filters', 'GRANT SELECT ON ALL TABLES IN SCHEMA fuzz TO public');
	foreach my $filter (@filters)
	{
		$filter->{literal} = must("SELECT quote_literal(f) || '::cuckoofilter' FROM filters WHERE name = '$filter->{name}' AND length(f::bytea) < 1500") =~ s/\n//r;
	}

	add_table("table_$_") for 1 .. 4;
	add_narrow_table("narrow_$_") for 1 .. 2;
	add_partitioned_table('parted', chance(50));
	add_partitioned_table('sliced', 0);
	must(q(CREATE FUNCTION of_sliced(f cuckoofilter, slice int) RETURNS TABLE (id int, v int) LANGUAGE sql STABLE AS 'SELECT id, v FROM sliced WHERE cf_contains(f, v) AND k = slice AND v <> -1'));
	add_inheritance('parent');
	add_long_table('long') if chance(50);
	add_twins();
	add_views();
	add_policies();
	must('GRANT SELECT ON ALL TABLES IN SCHEMA twin TO public');
	%is_cuckoo_index = map { $_ => 1 } split /\n/, must("SELECT relname FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'cuckoo')");
	$schemas++;
	return;
}

# ---- parts of queries ----

my $fails;		# has the query a place that may fail?
my $param;		# the filter that is its parameter, where it has one

# an expression for a relation that has its columns
sub of_relation
{
	my ($relation, $alias, @expressions) = @_;
	my @possible = grep {
		!grep { !$relation->{columns}{$_} } /~(\w+)/g
	} @expressions;

	return @possible ? one(@possible) =~ s/~/$alias./gr : undef;
}

# A filter of a family, as an expression; with the options of test()
sub filter_expression
{
	my ($family, %options) = @_;
	my @of_family = grep { $_->{family} eq $family } @filters;
	my $filter = one(@of_family);
	my $table = one('filters', 'filters', 'filters', 'filters_extended', 'filters_main');
	my $stored = "(SELECT f FROM $table WHERE name = '$filter->{name}')";

	return $options{column} if $options{column};
	return weighted(
		60, sub { $stored },
		$options{plain} ? 0 : 10, sub { "list('$filter->{name}')" },
		20, sub { $filter->{literal} || $stored },
		10, sub { "(SELECT cf_agg(@{[ $elements{$family} =~ s/\bx\b/g.x/gr ]}) FROM generate_series(0, @{[ below(2 * $range) ]}) g(x) WHERE g.x % 3 > 0)" },
		# one that has room for it
		5, sub { "cf_add((SELECT f FROM $table WHERE name = '${family}_deleted'), @{[ $elements{$family} =~ s/\bx\b/5/gr ]})" },
		2, sub { q((SELECT f FROM filters WHERE name = 'none such')) },
		$options{param} ? 100 : 0, sub { $param = $filter->{name}; '$1' });
}

# A condition that tests a filter. Options:
#	where		the table's alias
#	column		an expression for the filter
#	family		its family
#	param		may it be a parameter?
#	plain		nothing but the test
#	failing		may it raise an error?
sub test
{
	my ($relation, %options) = @_;
	my $alias = $options{where} || 's';
	my ($family, $element, $filter, $test);

	do
	{
		$family = $options{family} || one('int', 'int', 'int', sort keys %asked);
		$element = of_relation($relation, $alias, @{ $asked{$family} });
	} until defined $element;
	$filter = filter_expression($family, %options);
	if ($options{failing} && !$fails && chance(8))
	{
		weighted(
			1, sub { $filter = "(SELECT f FROM filters WHERE family = '$family')"; },
			1, sub { $element = of_relation($relation, $alias, '100 / ~d', '100 / (~v - 7)') || $element; $filter = "(SELECT f FROM filters WHERE name = 'int_exact')"; },
			1, sub { $element = of_relation($relation, $alias, '~t::int') || $element; $filter = "(SELECT f FROM filters WHERE name = 'int_exact')"; },
			1, sub { $element = 'false'; });
		$fails = 1;
	}
	$test = one("cf_contains($filter, $element)", "($filter) @> ($element)", "($element) <@ ($filter)");
	return $test if $options{plain};
	return weighted(
		55, sub { $test },
		28, sub { "NOT $test" },
		4, sub { "($test) IS NOT TRUE" },
		3, sub { "($test) IS TRUE" },
		3, sub { "(NOT $test) IS NOT FALSE" },
		3, sub { "($test OR " . (of_relation($relation, $alias, '~v < 10', '~id < 20') || 'false') . ')' },
		2, sub { "NOT ($test AND " . (of_relation($relation, $alias, '~v < 1000', '~id % 2 = 0') || 'true') . ')' },
		$options{column} ? 0 : 4, sub {
			my $among = 'SELECT f FROM filters WHERE name IN (' . join(', ', map { "'${family}_$_'" } some(qw(small exact empty grown null none))) . ')';

			one('', 'NOT ') . "($element) <@ " . one("ANY ($among)", "ANY (ARRAY($among))", "ANY (ARRAY($among))", "ALL (ARRAY($among))");
		},
		# nulls anywhere, mostly first
		$options{column} ? 0 : 4, sub {
			my @several = map { chance(80) ? "list('${family}_$_')" : 'NULL' } some(qw(small exact empty grown deleted large));

			"($element) <@ ANY (ARRAY[" . join(', ', chance(70) ? 'NULL' : (), @several) . ']::cuckoofilter[])';
		},
		$options{column} ? 0 : 2, sub { "EXISTS (SELECT FROM filters e WHERE e.name IN ('${family}_small', '${family}_grown') AND e.f @> ($element))" });
}

# another condition, none for an index, see point()
sub condition
{
	my ($relation, $alias, $failing) = @_;

	if ($failing && !$fails && chance(8))
	{
		$fails = 1;
		return of_relation($relation, $alias, '100 / ~d >= 0', '100 / (~v - 7) < 1000', '~t::int > 0', '1000 / (~id - 500) < 500') || 'true';
	}
	return of_relation($relation, $alias,
		'~id % 3 <> 1', '~v > 10', q(~t LIKE 'User 1%'), '~v IS NOT NULL', '~d < 4', '~id BETWEEN 100 AND 1500', '~id < 0', '~n > 20',
		'early(~id)', 'late(~id)', 'late(~v)', '~v + 0 = 5', '~id > 1000', q(md5(~t) < 'a'), '~doc IS NULL', 'length(~doc) > 100', '~id + 0 = 700',
		chance(5) ? 'random() < 2' : (), chance(5) ? '~v < (SELECT max(length(name)) * 100 + ~d FROM filters)' : ())
	  || 'true';
}

# What a query wants of the rows: tests and conditions in random order. Options
# are those of test()
sub conditions
{
	my ($relation, %options) = @_;
	my $alias = $options{where} || 's';
	my @all = test($relation, %options);

	push @all, test($relation, %options, column => undef, family => undef) while chance(15);
	push @all, condition($relation, $alias, $options{failing}) while chance(35);
	# so many that the planner may find new memory for their list
	push @all, map { of_relation($relation, $alias, "~id <> -$_", "~v <> -$_", "~d <> -$_") || "$_ > 0" } 1 .. 5 + below(6) if chance(15);
	push @all, point($relation, $alias) if !$fails && chance(50);
	return join(' AND ', shuffle(@all));
}

# a condition for which an index may be scanned
sub point
{
	my ($relation, $alias) = @_;
	my @x = map { chance(50) ? below($range) : one(-1, 100000) + $_ } 1 .. 3;
	my $x = $x[0];
	my $point = of_relation($relation, $alias, "~v = $x", "~id = $x", "$x = ~v", "~v = ${x}::bigint", "~t = 'User $x'", "lower(~t) = 'user $x'",
		"~n = $x / 4.0", "~d = $x", "~v IN ($x, $x[1])", "~v = ANY ('{$x,NULL,$x[2]}')", "~id = ANY (ARRAY[$x, $x[1]])", "~t IN ('User $x', 'none')",
		"~v = (SELECT $x)", "~id = ANY (ARRAY(SELECT g * $x FROM generate_series(1, 3) g))", '~v = NULL::int', "~v = ANY ('{}'::int[])",
		"~v = abs($x - ~d * 0)", "~v = (SELECT max(id) FROM table_1) - $x",
		"~v = @{[ $x % 30000 ]}::smallint", "~id = ANY ('{$x,$x[1],7,7,NULL}'::bigint[])", "~t = 'User $x'::varchar", "~t = 'User $x'::char(12)", "~t::varchar = 'User $x'",
		"~v + 1 = $x", "~d % 2 = @{[ below(3) ]}", "~id / 2000 = @{[ below(2) ]}", "int4range(~v, ~v + 1) = int4range($x, $x + 1)", "~n::int = $x", "~n = $x",
		"~n IN ($x / 4.0, $x[1], NULL)", "~doc = 'doc $x'", "~doc = 'doc $x' || repeat('-', 3000)", "~v = $x AND ~v = $x[1]", "~v = $x AND ~d = $x[1] % 5",
		"lower(~t) = ANY (ARRAY['user $x', 'user $x[1]'])", "~v IN (@{[ join(', ', map { below($range) } 1 .. 2 + below(30)) ]})",
		$relation->{name} eq 'long' ? ('~id / 2000 = 0') x 10 : (), "~id = ANY (ARRAY(SELECT g FROM generate_series(1, @{[ one(0, 3, 200) ]}) g))", "~v = ~id AND ~id = $x", "~v = $x AND ~v IS NOT NULL AND ~d <> 0")
	  || 'true';

	return "($point OR " . point($relation, $alias) . ')' if chance(15);
	return chance(8) ? "($point OR " . (of_relation($relation, $alias, '~d < 4') || 'false') . ')' : $point;
}

# the select list
sub list
{
	my ($relation, $alias) = @_;
	my @choices = map { "$alias.$_" } sort keys %{ $relation->{columns} };

	return one(
		join(', ', some(grep { !/\.p\d|doc/ } @choices, "md5($alias\::text)")),
		"md5($alias\::text)", $choices[0] =~ /doc/ ? 'length(doc)' : $choices[0],
		$relation->{ctid} ? "$alias.ctid, $alias.tableoid::regclass" : 'NULL');
}

sub order_of
{
	my ($list) = @_;
	my $columns = 1 + (() = $list =~ /,/g);

	return 'ORDER BY ' . join(', ', map { $_ . one('', ' DESC') } 1 .. $columns);
}

sub with_columns
{
	my @names = @_;

	return one(grep {
		my $relation = $_;
		!grep { !$relation->{columns}{$_} } @names
	} @relations);
}

# filters that a join takes from a table: a condition on them, and their family
sub some_filters
{
	my $family = one('int', 'int', 'int', 'text', 'num');
	my @names = map { "'${family}_$_'" } some(qw(small exact sized grown deleted empty null));

	@names = @names[ 0 .. 1 ] if @names > 2;
	return $family, @names == 1 ? "fl.name = $names[0]" : 'fl.name IN (' . join(', ', @names) . ')';
}

# ---- queries ----
#
# Each kind is a hash:
#	sql			the query that is explained and, without `script`, run
#	prepare		statements to run before it is explained
#	script		statements that are run and compared
#	close		statements to run afterwards
#	in_order	do the results depend on the order of rows, see above?
#	sorted		is the order of rows given?
#	serial		not in a parallel plan
#	replanned	`script` has other plans than `sql`, too

sub plain_query
{
	my $relation = one(@relations);
	my $list = list($relation, 's');
	my $limit = chance(15);
	my $sort = chance(25);
	my $sql = "SELECT $list FROM $relation->{name} s WHERE " . conditions($relation, failing => !$limit || $sort);

	$sql .= ' ' . order_of($list) if $sort;
	$sql .= ' LIMIT ' . one(1, 1, 3, 50, 1000) . ' OFFSET ' . one(0, 0, 0, 5, 300) if $limit;
	return { sql => $sql, sorted => $sort, in_order => $limit && !$sort };
}

# by indexes, without a filter
sub point_query
{
	my $relation = one(@relations);
	my $list = list($relation, 's');
	my @all = point($relation, 's');
	my $limit = chance(10) ? ' LIMIT ' . one(1, 3, 50) : '';
	my $from;

	push @all, chance(40) ? point($relation, 's') : condition($relation, 's') while chance(40);
	push @all, map { of_relation($relation, 's', "~id <> -$_", "~v <> -$_", "~d <> -$_") || "$_ > 0" } 1 .. 5 + below(6) if chance(15);
	$from = "FROM $relation->{name} s WHERE " . join(' AND ', shuffle(@all));
	return { sql => weighted(
			5, sub { "SELECT $list $from" },
			2, sub { "SELECT $list $from @{[ order_of($list) ]}$limit" },
			2, sub { "SELECT count(*) FROM (SELECT $list $from$limit) s" },
			1, sub { "SELECT count(*), max(@{[ of_relation($relation, 's', '~id', '~v', '~t') || 'NULL::int' ]}) $from" }) };
}

# nested loops whose inner side may be an index
sub index_join
{
	my $relation = with_columns('id');
	my $list = list($relation, 's');
	my $other = with_columns(qw(id v d));
	my ($outer, @on) = @{ one(
		[ 'generate_series(' . below(50) . ', ' . (50 + below(100)) . ') o(x)', '~id = o.x', '~v = o.x', '~d = o.x', q(~t = 'User ' || o.x), q(lower(~t) = 'user ' || o.x),
			'~n = o.x / 4.0', '~v = ANY (ARRAY[o.x, o.x + 1])', '~v + 1 = o.x', '~v = o.x AND ~d % 2 = 0' ],
		[ '(SELECT x::bigint FROM generate_series(1, 30) x) o', '~id = o.x', '~v = o.x', 'o.x = ~v', '~v = (SELECT o.x)' ],
		[ "(SELECT id, v, d FROM $other->{name} WHERE id % " . (20 + below(50)) . ' = 3) o', '~id = o.id', '~v = o.v', '~v = o.d', '~d = o.v', '~v = o.v OR ~id = o.d' ],
		[ '(VALUES (1, NULL), (5, 7), (NULL, 5), (5, 5)) o(x, y)', '~id = o.x', '~v = o.y', '~v = ANY (ARRAY[o.x, o.y])', '~id = ANY (ARRAY[o.x, 3, o.y])', '~id = o.x AND ~v = o.y' ]) };
	my $on = '(' . of_relation($relation, 's', @on) . ')';

	$on .= ' AND ' . condition($relation, 's') while chance(30);
	return { nested => 1, sql => weighted(
			4, sub { "SELECT o.*, $list FROM $outer JOIN $relation->{name} s ON $on" },
			2, sub { "SELECT o.*, s.id FROM $outer LEFT JOIN $relation->{name} s ON $on" },
			2, sub { "SELECT o.* FROM $outer WHERE @{[ one('', 'NOT ') ]}EXISTS (SELECT FROM $relation->{name} s WHERE $on)" },
			2, sub { "SELECT o.*, x.* FROM $outer, LATERAL (SELECT count(*) FROM $relation->{name} s WHERE $on) x" },
			1, sub { "SELECT o.*, x.* FROM $outer LEFT JOIN LATERAL (SELECT $list FROM $relation->{name} s WHERE $on @{[ order_of($list) ]} LIMIT 2) x ON true" },
			1, sub { "SELECT count(*), max(s.id) FROM (SELECT DISTINCT o.* FROM $outer) o JOIN $relation->{name} s ON $on" }) };
}

sub aggregate_query
{
	my $relation = one(@relations);
	my $where = "FROM $relation->{name} s WHERE " . conditions($relation, failing => 1);
	my $key = of_relation($relation, 's', '~v % 10', '~d', '~id / 100', 'left(~t, 6)', '~n > 50', 'length(~doc)');
	my $what = of_relation($relation, 's', '~v', '~id', 'length(~t)', '~n', 'length(~doc)');

	return { sql => weighted(
			3, sub { "SELECT count(*) $where" },
			2, sub { "SELECT count(*), sum($what), min($what), count(DISTINCT $key), string_agg(($what)::text, ',' ORDER BY $what) $where" },
			3, sub { "SELECT $key, count(*), max($what) $where GROUP BY 1" },
			1, sub { "SELECT $key, count(*) $where GROUP BY ROLLUP (1) HAVING count(*) > 1" },
			2, sub { "SELECT DISTINCT $key $where" },
			1, sub { "SELECT $what, rank() OVER (PARTITION BY $key ORDER BY $what) $where" },
			1, sub { "SELECT cf_count(cf_agg($what)) $where" }) };
}

# joins with filters
sub filter_join
{
	my ($family, $names) = some_filters();
	my $relation = with_columns($family eq 'int' ? 'v' : $family eq 'text' ? 't' : 'n');
	my $list = list($relation, 's');
	my $test = test($relation, column => 'fl.f', family => $family);
	my $more = chance(50) ? ' AND ' . condition($relation, 's') : '';

	return { sql => weighted(
			4, sub { "SELECT fl.name, $list FROM filters fl JOIN $relation->{name} s ON $test WHERE $names$more" },
			2, sub { "SELECT fl.name, $list FROM filters fl LEFT JOIN $relation->{name} s ON $test$more WHERE $names" },
			1, sub { "SELECT fl.name, $list FROM $relation->{name} s LEFT JOIN filters fl ON $test AND $names" . ($more ? " WHERE true$more" : '') },
			1, sub { "SELECT fl.name, $list FROM filters fl LEFT JOIN $relation->{name} s ON $test AND fl.name LIKE '%exact'$more WHERE $names" },
			2, sub { "SELECT fl.name, x.* FROM filters fl, LATERAL (SELECT count(*) FROM $relation->{name} s WHERE $test$more) x WHERE $names" },
			1, sub { "SELECT fl.name, x.* FROM filters fl LEFT JOIN LATERAL (SELECT $list FROM $relation->{name} s WHERE $test$more @{[ order_of($list) ]} LIMIT 3) x ON true WHERE $names" },
			2, sub { "SELECT fl.name FROM filters fl WHERE $names AND " . one('', 'NOT ') . "EXISTS (SELECT FROM $relation->{name} s WHERE $test$more)" },
			2, sub { "SELECT $list FROM $relation->{name} s WHERE " . one('', 'NOT ') . "EXISTS (SELECT FROM filters fl WHERE $names AND $test)$more" },
			1, sub { "SELECT fl.name, (SELECT count(*) FROM $relation->{name} s WHERE $test$more) FROM filters fl WHERE $names" },
			1, sub { "SELECT $list, fl.name FROM $relation->{name} s CROSS JOIN LATERAL (SELECT name, f FROM filters fl WHERE $names OFFSET 0) fl WHERE $test$more" }) };
}

# a table of filters and one of rows that are partitioned alike
sub partition_join
{
	my ($family, $names) = some_filters();
	my ($relation) = grep { $_->{name} eq 'sliced' } @relations;
	my $list = list($relation, 's');
	my $test = test($relation, column => 'fl.f', family => $family);
	my @more = map { condition($relation, 's') } 1 .. below(3);
	my $joined;

	push @more, map { one("s.id <> -$_", "s.v <> -$_", "s.d <> -$_") } 1 .. below(9);
	$joined = join(' AND ', shuffle($test, @more));
	return { sql => weighted(
			4, sub { "SELECT fl.name, $list FROM filters_parted fl JOIN sliced s USING (k) WHERE $names AND $joined" },
			2, sub { "SELECT k, count(*), max(s.id) FROM filters_parted fl JOIN sliced s USING (k) WHERE $names AND $joined GROUP BY k" },
			2, sub { "SELECT fl.name, fl.k, s.id FROM filters_parted fl LEFT JOIN sliced s ON s.k = fl.k AND $joined WHERE $names" },
			2, sub { "SELECT fl.name, fl.k FROM filters_parted fl WHERE $names AND @{[ one('', 'NOT ') ]}EXISTS (SELECT FROM sliced s WHERE s.k = fl.k AND $joined)" },
			1, sub { "SELECT $list FROM sliced s WHERE @{[ one('', 'NOT ') ]}EXISTS (SELECT FROM filters_parted fl WHERE $names AND s.k = fl.k AND $joined)" },
			1, sub { "SELECT fl.name, x.id FROM filters_parted fl @{[ one('LEFT', '') ]} JOIN LATERAL (SELECT s.id FROM sliced s WHERE s.k = fl.k AND $joined) x ON true WHERE $names" },
			1, sub { "SELECT fl.name, fl.k, x.* FROM filters_parted fl LEFT JOIN LATERAL of_sliced(fl.f, fl.k) x ON true WHERE fl.name = 'int_" . one(qw(small exact empty)) . q(') },
			1, sub { "SELECT k, count(*), count(DISTINCT s.v) FROM sliced s WHERE " . conditions($relation) . ' GROUP BY k' },
			1, sub { "SELECT a.k, a.id, b.v FROM sliced a JOIN sliced b ON a.k = b.k AND a.id = b.id WHERE " . conditions($relation, where => 'a') . ' AND ' . conditions($relation, where => 'b') }) };
}

# two tables, one or both with tests
sub table_join
{
	my ($a, $b) = (with_columns('id'), with_columns('id'));
	my $on = one('a.id = b.id', 'a.id = b.id + 1', 'a.id = b.id AND a.v <> b.d');
	my $tests = conditions($a, where => 'a');
	my $others = chance(60) ? conditions($b, where => 'b') : condition($b, 'b');
	my $list = list($a, 'a');

	return { sql => weighted(
			3, sub { "SELECT $list, b.id FROM $a->{name} a JOIN $b->{name} b ON $on WHERE $tests AND $others" },
			2, sub { "SELECT $list, b.v FROM $a->{name} a @{[ one('LEFT', 'RIGHT', 'FULL') ]} JOIN $b->{name} b ON a.id = b.id WHERE $tests" },
			2, sub { "SELECT a.id, b.v FROM $a->{name} a LEFT JOIN $b->{name} b ON $on AND $others WHERE $tests" },
			2, sub { "SELECT $list FROM $a->{name} a WHERE $tests AND a.id @{[ one('', 'NOT ') ]}IN (SELECT b.id FROM $b->{name} b WHERE $others)" },
			2, sub { "SELECT $list FROM $a->{name} a WHERE @{[ one('', 'NOT ') ]}EXISTS (SELECT FROM $b->{name} b WHERE $on AND $others) AND $tests" },
			1, sub { "SELECT a.id, b.id FROM (SELECT * FROM $a->{name} a WHERE $tests) a FULL JOIN (SELECT * FROM $b->{name} b WHERE $others) b ON a.id = b.id" },
			1, sub { "SELECT a.id FROM $a->{name} a WHERE $tests @{[ one('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT') ]} SELECT b.id FROM $b->{name} b WHERE $others" }) };
}

# scans that are begun anew, and end early
sub rescan_query
{
	my $relation = with_columns('id');
	my $tests = conditions($relation);
	my $outer = 'generate_series(1, ' . (2 + below(6)) . ') g';

	return weighted(
		2, sub { { sql => "SELECT g, x.* FROM $outer, LATERAL (SELECT count(*) FROM $relation->{name} s WHERE $tests AND s.id > g * 100) x" } },
		2, sub { { sql => "SELECT g, x.* FROM $outer, LATERAL (SELECT id FROM $relation->{name} s WHERE $tests AND s.id % 8 = g LIMIT 3) x", in_order => 1 } },
		1, sub { { sql => "SELECT g, (SELECT id FROM $relation->{name} s WHERE $tests AND s.id > g * 50 LIMIT 1) FROM $outer", in_order => 1 } },
		1, sub { { sql => "SELECT g FROM $outer WHERE EXISTS (SELECT FROM $relation->{name} s WHERE $tests AND s.id % 1000 = g)" } });
}

sub cte_query
{
	my $relation = with_columns('id');
	my $limit = chance(30);
	my $materialized = one('', 'MATERIALIZED', 'NOT MATERIALIZED');
	my $cte = "WITH c AS $materialized (SELECT s.* FROM $relation->{name} s WHERE " . conditions($relation, failing => !$limit) . ')';

	return weighted(
		2, sub { { sql => "$cte SELECT id FROM c WHERE id % 2 = 0" . ($limit ? ' LIMIT 2' : ''), in_order => $limit } },
		1, sub { { sql => "$cte SELECT count(*), (SELECT count(*) FROM c) FROM c" } },
		$limit ? 1 : 0, sub { { sql => "$cte SELECT a.id FROM c a JOIN c b USING (id)" } });
}

sub prepared_query
{
	my $relation = one(@relations);
	my $list = list($relation, 's');

	$param = undef;
	my $sql = "SELECT $list FROM $relation->{name} s WHERE " . conditions($relation, param => 1, failing => 1);
	my $execute = 'EXECUTE p(' . (defined $param ? "list('$param')" : 'NULL') . ')';

	# once or twice, with the same filter, another one and none
	my $other = defined $param ? $param =~ s/_.*/_exact/r : 'none';
	my @same = ($execute, chance(50) ? $execute : ());
	my @others = chance(30) && !$fails ? ("EXECUTE p(list('$other'))", 'EXECUTE p(NULL)') : ();

	return {
		prepare => ["PREPARE p(cuckoofilter) AS $sql"],
		sql => $execute,
		script => [ @same, @others ],
		replanned => scalar @others,
		close => ['DEALLOCATE p'],
		shown => $sql };
}

# by an index, in a plan that is kept
sub prepared_point
{
	my $relation = with_columns('id');
	my $column = one(grep { $relation->{columns}{$_} } qw(id v v t));
	my ($type, $is) = @{ one(
		$column eq 't' ? ([ 'text', '= $1' ], [ 'varchar', '= $1' ], [ 'text[]', '= ANY ($1)' ])
		: ([ 'int', '= $1' ], [ 'bigint', '= $1' ], [ 'smallint', '= $1' ], [ 'numeric', '= $1' ], [ 'int[]', '= ANY ($1)' ], [ 'bigint[]', '= ANY ($1)' ])) };
	my @values = map { (chance(50) ? below($range) : -1 - $_) =~ s/^/$column eq 't' ? 'User ' : ''/er } 1 .. 2 + below(7);
	my @execute = map { 'EXECUTE p(' . (chance(5) ? 'NULL' : $type =~ /\[/ ? "'{$_,NULL,-5}'" : "'$_'") . ')' } @values;
	my $sql = "SELECT @{[ list($relation, 's') ]} FROM $relation->{name} s WHERE s.$column $is" . (chance(40) ? ' AND ' . test($relation) : '');

	return {
		prepare => ["PREPARE p($type) AS $sql"],
		sql => $execute[0],
		script => \@execute,
		replanned => 1,
		close => ['DEALLOCATE p'],
		shown => $sql };
}

sub cursor_query
{
	my $relation = one(@relations);
	my $list = list($relation, 's');
	my $sort = chance(15);
	my $sql = "SELECT $list FROM $relation->{name} s WHERE " . conditions($relation) . ($sort ? ' ' . order_of($list) : '');
	my $hold = chance(20);
	my $scroll = one('SCROLL', '', '', 'NO SCROLL');
	my @moves;

	foreach (1 .. 3 + below(15))
	{
		push @moves, one('FETCH', 'FETCH', 'MOVE') . ' ' .
		  ($scroll eq 'NO SCROLL' || chance(60) ? one('1', '1', '2', below(300), 'ALL')
			: one('PRIOR', 'BACKWARD 2', 'BACKWARD ' . below(300), 'BACKWARD ALL', 'FIRST', 'LAST', 'ABSOLUTE ' . below(100), 'RELATIVE -3', 'RELATIVE 0')) . ' FROM c';
	}
	# an error would end the transaction, so backward moves are for those that
	# can
	# only SCROLL promises a way back: a sequential scan has one without it, the scan has not
	@moves = grep { !/PRIOR|BACKWARD|FIRST|LAST|ABSOLUTE|RELATIVE/ } @moves if $scroll ne 'SCROLL';
	splice(@moves, below(scalar @moves), 0, 'COMMIT') if $hold;
	return {
		sql => "DECLARE c $scroll CURSOR @{[ $hold ? 'WITH HOLD' : '' ]} FOR $sql",
		script => [ 'BEGIN', "DECLARE c $scroll CURSOR @{[ $hold ? 'WITH HOLD' : '' ]} FOR $sql", @moves ],
		close => [ 'ROLLBACK', 'CLOSE ALL' ],
		in_order => 1, serial => 1 };
}

# functions that end early
sub function_query
{
	my $relation = with_columns('id');
	my $sql = "SELECT s.id FROM $relation->{name} s WHERE " . conditions($relation);
	my $n = one(1, 2, 10, 500);
	my $function = one(
		"LANGUAGE sql AS 'BODY'",
		"LANGUAGE sql STABLE AS 'BODY'",
		"LANGUAGE plpgsql AS 'DECLARE x int; BEGIN BODYINTO x; RETURN x; END'",
		"LANGUAGE plpgsql AS 'DECLARE n int := 0; r record; BEGIN FOR r IN BODY LOOP n := n + 1; EXIT WHEN n = $n; END LOOP; RETURN r.id; END'",
		"LANGUAGE plpgsql AS 'BEGIN PERFORM FROM (BODY) s; IF FOUND THEN RETURN 1; END IF; RETURN 0; END'",
		"LANGUAGE plpgsql AS 'BEGIN IF EXISTS (BODY) THEN RETURN 1; END IF; RETURN 0; END'",
		"LANGUAGE plpgsql AS 'DECLARE c CURSOR FOR BODY; x int; BEGIN OPEN c; FETCH c INTO x; MOVE $n IN c; FETCH c INTO x; CLOSE c; RETURN x; END'");
	my $quoted = $sql =~ s/'/''/gr;

	$function =~ s/BODYINTO x/@{[ $quoted =~ s{^SELECT s\.id}{SELECT s.id INTO x}r ]}/;
	$function =~ s/BODY/$quoted/;
	return {
		sql => $sql,
		script => [ 'BEGIN', "CREATE FUNCTION early_end() RETURNS int $function", 'SELECT early_end()', 'SELECT early_end(), early_end()' ],
		close => ['ROLLBACK'],
		in_order => 1, serial => 1 };
}

# changes, rolled back
sub change_query
{
	my $relation = one(grep { $_->{table} } @relations);
	my $conditions = conditions($relation, failing => 1);
	my $sql = weighted(
		2, sub { "UPDATE $relation->{name} s SET d = s.d + 1 WHERE $conditions RETURNING s.id, s.d" },
		1, sub { "UPDATE $relation->{name} s SET v = s.v + 1, t = s.t || '!' WHERE $conditions RETURNING s.id, s.v, s.t" },
		2, sub { "DELETE FROM $relation->{name} s WHERE $conditions RETURNING s.id, s.t" },
		1, sub { $fails ? "DELETE FROM $relation->{name} s WHERE $conditions RETURNING s.id"
			: "DELETE FROM $relation->{name} s USING table_1 o WHERE s.id = o.id AND $conditions RETURNING s.id" },
		2, sub { "SELECT s.id, s.v FROM $relation->{name} s WHERE $conditions FOR " . one('UPDATE', 'SHARE', 'UPDATE SKIP LOCKED') });

	return {
		sql => $sql,
		script => [ 'BEGIN', $sql, "SELECT count(*), sum(v), sum(d) FROM $relation->{name}" ],
		close => ['ROLLBACK'] };
}

# rows hidden by policies and views, from conditions that would show them
sub hidden_query
{
	my @hidden = grep { $_->{policy} || $_->{barrier} } @relations;
	my $relation = @hidden ? one(@hidden) : one(@relations);
	my $conditions = conditions($relation, failing => 1);

	return {
		prepare => ['SET ROLE fuzz_reader'],
		sql => "SELECT s.id, s.v FROM $relation->{name} s WHERE $conditions",
		close => ['RESET ROLE'] };
}

my @kinds = (
	26 => \&plain_query,
	12 => \&aggregate_query,
	12 => \&filter_join,
	10 => \&table_join,
	10 => \&partition_join,
	6 => \&rescan_query,
	4 => \&cte_query,
	8 => \&prepared_query,
	8 => \&prepared_point,
	14 => \&point_query,
	10 => \&index_join,
	8 => \&cursor_query,
	6 => \&function_query,
	7 => \&change_query,
	6 => \&hidden_query);

my $force_parallel;		# the setting of this version

# settings of one query
sub settings
{
	my ($query) = @_;
	my @set;

	if (!$query->{serial} && chance(30))
	{
		# starting workers costs a little, or they would be started for each
		# row of a join
		push @set, chance(30) ? "$force_parallel = on" : (), 'max_parallel_workers_per_gather = ' . one(1, 2, 2), 'min_parallel_table_scan_size = 0', 'min_parallel_index_scan_size = 0', 'parallel_setup_cost = 1', 'parallel_tuple_cost = 0',
		  'parallel_leader_participation = ' . one('on', 'off', 'off');
	}
	else
	{
		push @set, 'max_parallel_workers_per_gather = 0';
	}
	# one kind of join off at most, as nested loops alone take too long
	push @set, "enable_$_ = off" for ($query->{nested} && chance(60) ? qw(hashjoin mergejoin) : chance(20) ? one(qw(hashjoin mergejoin nestloop)) : ()),
	  grep { chance(6) } qw(hashagg sort material bitmapscan partition_pruning parallel_append incremental_sort);
	push @set, 'enable_seqscan = off' if chance(50);
	push @set, "enable_$_ = off" for grep { chance(30) } qw(indexscan indexonlyscan);
	push @set, 'random_page_cost = ' . one(0.01, 1, 40) if chance(20);
	push @set, "enable_partitionwise_$_ = on" for grep { chance(40) } qw(join aggregate);
	push @set, 'plan_cache_mode = ' . one('auto', 'force_generic_plan', 'force_custom_plan');
	push @set, q(work_mem = '64kB') if chance(10);
	push @set, 'cursor_tuple_fraction = ' . one('0.01', '1') if chance(20);
	# not of what calls the SQL function for each row, as each call would be
	# compiled
	push @set, 'jit = on', 'jit_above_cost = 0' if chance(0.5) && $query->{sql} !~ /list\(/;
	return map { "SET $_" } @set;
}

# ---- comparing ----

my %count = map { $_ => 0 } qw(queries scan index ordered left_out errors rows parallel twins failed);

# Runs a query, by the scan or not, and on the tables or their twins: its plan, and
# what each statement gave
sub result
{
	my ($query, $scan, $path) = @_;
	my @script = $query->{script} ? @{ $query->{script} } : $query->{sql};
	my ($plan, @results) = split /^\@result\n/m, run(
		"SET cuckoo.enable_scan = $scan;",
		"SET search_path = $path;",
		map({ "$_;" } @{ $query->{prepare} || [] }),
		"EXPLAIN (COSTS OFF) $query->{sql};",
		map({ ('\echo @result', "$_;", '\echo @state :SQLSTATE :LAST_ERROR_MESSAGE') } @script),
		'\echo @result',
		map({ "$_;" } @{ $query->{close} || [] }));

	pop @results if @results > @script;
	return $plan, map {
		my ($rows, $state, $message) = /^(.*)^\@state (\S+) ?([^\n]*)\n\z/ms or die "not ok 1 - cannot read: $_ (seed $seed)\n";

		$rows =~ s/^(?:psql:|ERROR:|LINE |DETAIL:|HINT:|CONTEXT:|\s*\^)[^\n]*\n//mg if $state ne '00000';
		{ rows => $state eq '00000' ? $rows : '', state => $state, message => $state eq '00000' ? '' : $message };
	} @results;
}

sub sorted { return join("\n", sort split /\n/, $_[0]); }

# A plan without what the scan changes in it
sub plain
{
	my ($plan) = @_;

	$plan =~ s/Custom Scan \(CuckooScan\)/Seq Scan/g;
	return $plan =~ s/^[ >-]+//mgr;
}

# Why two runs of a query are not the same; nothing if they are
sub difference
{
	my ($query) = @_;
	my ($plan, @with) = result($query, 'on', 'fuzz, public');
	my ($other_plan, @without) = result($query, 'off', 'fuzz, public');
	my ($twin_plan, @twins) = $query->{in_order} || $fails || "@{[ %$query ]}" =~ /\bctid\b/ ? ('') : result($query, 'off', 'twin, fuzz, public, pg_temp');
	my $parallel = $plan =~ /Gather/ || $other_plan =~ /Gather/;
	my $same_plan = plain($plan) eq plain($other_plan);
	my $ordered = $query->{sorted} || ($same_plan && !$parallel && !$query->{replanned});
	my $difference;

	return 'the scan is not off' if $other_plan =~ /CuckooScan/;
	return 'a twin has an index' if grep { $is_cuckoo_index{$_} } $twin_plan =~ /Scan on (\w+)/g;
	$count{queries}++;
	$count{parallel}++ if $parallel;
	$count{scan}++ if $plan =~ /CuckooScan/;
	$count{index}++ if grep { $is_cuckoo_index{$_} } $plan =~ /Index Scan (?:on|using) (\w+)/g;
	# an index skips rows for which the twin may fail
	@twins = () if grep { ($_->{state} ne '00000' && $meant{ $_->{state} }) || $_->{state} eq '57014' } @twins;
	$difference = difference_of_rows('on its twin', \@with, \@twins, 0, 1) if @twins && !grep { $_->{state} eq '57014' } @with;
	return $difference if defined $difference;
	$count{twins}++ if @twins;
	# in order, see above; or what takes too long in any case
	if (($query->{in_order} && !$ordered) || grep { $_->{state} eq '57014' } @without)
	{
		$count{left_out}++;
		return;
	}
	$count{ordered}++ if $ordered;
	$count{rows}++ if grep { $_->{rows} ne '' } @without;
	$count{errors}++ if grep { $_->{state} ne '00000' } @without;
	return difference_of_rows('without the scan', \@with, \@without, $ordered, $parallel);
}

# True if both have errors that are meant: rows may fail for several reasons
sub fail_both
{
	return !grep { $_->{state} eq '00000' || !$meant{ $_->{state} } } @_;
}

# What differs between two results, of which the second is right; `ordered` says
# whether the order of rows matters, and `any_row` whether any row may be the
# first to fail.
sub difference_of_rows
{
	my ($where, $results, $right, $ordered, $any_row) = @_;
	my $failed;

	foreach my $i (0 .. $#$right)
	{
		my ($a, $b) = ($results->[$i], $right->[$i]);

		# an error ends the transaction, and a cursor that was to outlast it
		return "an error not meant: $b->{state} $b->{message}"
		  if !$meant{ $b->{state} } && !($b->{state} =~ /^(25P02|34000)$/ && $failed);
		$failed ||= $b->{state} ne '00000';
		return "statement $i: error $a->{state} $a->{message}, $where $b->{state} $b->{message}"
		  if !($any_row && fail_both($a, $b)) && ($a->{state} ne $b->{state} || ($a->{message} ne $b->{message} && !$any_row));
		next if $a->{rows} eq $b->{rows};
		return "statement $i: other rows than $where, or in another order" if $ordered;
		return "statement $i: other rows than $where" if sorted($a->{rows}) ne sorted($b->{rows});
	}
	return;
}

sub percent { return $count{queries} ? 100 * $_[0] / $count{queries} : 0; }

# ---- run ----

must('CREATE EXTENSION IF NOT EXISTS cuckoo', ['\pset null <null>'],
	q(DO $$BEGIN IF to_regrole('fuzz_reader') IS NULL THEN CREATE ROLE fuzz_reader; END IF; END$$));

$force_parallel = must('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';

my $began = time;
my $first = defined $only ? int($only / QUERIES_OF_A_SCHEMA) * QUERIES_OF_A_SCHEMA : 0;

for (my $n = $first; defined $only ? $n <= $only : time < $began + $seconds; $n++)
{
	new_schema($n / QUERIES_OF_A_SCHEMA) if $n % QUERIES_OF_A_SCHEMA == 0;
	begin_random('query', $n);
	$fails = 0;

	my $query = weighted(@kinds);
	my @settings = settings($query);

	run('RESET ALL;', map { "$_;" } @settings);
	my $difference = difference($query);

	next if !defined $difference;
	$count{failed}++;
	print "# query $n: $difference\n", map { "#   $_;\n" } @settings,
	  @{ $query->{prepare} || [] }, $query->{script} ? @{ $query->{script} } : $query->{sql};
	print "# to replay: make fuzz-scan SEED=$seed QUERY=$n\n";
	last if $count{failed} >= 5;
}

printf "# %d queries on %d schemas, %.0f a second\n", $count{queries}, $schemas, $count{queries} / (time - $began);
printf "# %.0f%% by the scan, %.0f%% by an index, %.0f%% compared with twins, %.0f%% in order, %.0f%% parallel, %.0f%% with rows, %.0f%% with errors, %.1f%% not compared without the scan\n",
  map { percent($count{$_}) } qw(scan index twins ordered parallel rows errors left_out);
exit end_session(
	[ $count{queries} > 0 && $count{failed} == 0, "the same with and without the scan and indexes (seed $seed)" ],
	[ defined $only || $count{queries} < FIRST_TO_JUDGE || (percent($count{scan}) >= LEAST_WITH_SCAN && percent($count{index}) >= LEAST_WITH_INDEX && percent($count{left_out}) <= MOST_NOT_COMPARED),
		'many queries test the scan, and indexes' ]);
