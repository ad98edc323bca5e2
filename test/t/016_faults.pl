# Whatever fails, and wherever, the session goes on, stored filters are the old
# or the new ones, memory is free again, and no element is lost.
#
# The library cuckoo_faults is the extension with points at which it can be
# made to fail (test/module/cuckoo_faults.h): where it looks for a cancel
# request, and where a call may run out of memory. The points of each scenario
# fail in turn: those of each line once or, with FAULTS=all, which takes minutes,
# every one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use Test::More;

my $all = ($ENV{FAULTS} // '') eq 'all';

time_limit($all ? 1800 : 600);
expect_in_logs(qr/could not extend file .*: File too large/);

# With small segments a limit on the size of files does not end the server. The
# trigger looks for cancel requests whenever another session changes a relation, so
# the number of its points would depend on autovacuum.
my $node = start_node('faults', { extra => ['--wal-segsize=1'] }, 'autovacuum = off');

plan skip_all => 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_faults'") != 0;


plan skip_all => 'this PostgreSQL has no citext' if !citus($node, 'citus');
# the library cuckoo goes with the old ones
new_sessions();

$node->safe_psql('postgres', <<"SQL");
UPDATE pg_proc SET probin = 'cuckoo_faults' WHERE probin ~ 'cuckoo\$';
CREATE FUNCTION test_fault(text, bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_fault_left() RETURNS bigint AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_fault_lines(text) RETURNS text AS 'cuckoo_faults' LANGUAGE C;
CREATE FUNCTION test_limit_files(bigint) RETURNS void AS 'cuckoo_faults' LANGUAGE C;

-- elements; filters in a page, TOASTed, and grown; parts of a set
CREATE TABLE t AS SELECT i, i::text AS s FROM generate_series(1, 1100) i;
CREATE TABLE filters (id int, f cuckoofilter);
INSERT INTO filters SELECT 1, cf_agg(i) FROM generate_series(1, 100) i;
INSERT INTO filters SELECT 2, cf_agg(i) FROM generate_series(1, 30000) i;
INSERT INTO filters SELECT 3, cf_agg(i, 10000, 0.01) FROM generate_series(1, 1100) i;
CREATE TABLE arrays AS SELECT array_agg(i) AS a FROM t;
CREATE TABLE parts AS SELECT p, cf_agg(i + 500 * p, 10000, 0.01) AS f
	FROM generate_series(0, 4) p, generate_series(1, 700) i GROUP BY p;
CREATE TABLE full_soon AS
	SELECT cf_add_all(cf_agg(i, 1000, 0.01), ARRAY(SELECT generate_series(231, 270))) AS f
	FROM generate_series(1, 230) i;
-- full at its last level, so that walks go on when it is built again
CREATE FUNCTION filled_up(i int) RETURNS cuckoofilter LANGUAGE plpgsql AS \$\$
DECLARE
	f cuckoofilter := cf_new(100, 0.03);
BEGIN
	LOOP
		f := cf_add(f, i);
		i := i + 1;
	END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN f;
END \$\$;
CREATE TABLE full_up AS SELECT filled_up(100000) AS f;
CREATE AGGREGATE state_agg(integer) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate);
CREATE AGGREGATE merge_agg(citus.cuckoostate) (SFUNC = citus.cuckoo_agg_combine, STYPE = citus.cuckoostate,
	FINALFUNC = citus.cuckoo_agg_final);
CREATE AGGREGATE set_agg(cuckoofilter) (SFUNC = cf_union, STYPE = cuckoofilter);
CREATE TABLE states AS SELECT i % 3 AS id, state_agg(i) AS state FROM generate_series(1, 1000) i GROUP BY 1
	UNION ALL SELECT 3, state_agg(i) FROM generate_series(1, 50) i
	UNION ALL SELECT 4, state_agg(i) FROM generate_series(1, 70000) i;
CREATE TABLE before AS SELECT id, f::bytea AS image FROM filters;
ANALYZE;
CREATE FUNCTION untouched() RETURNS boolean LANGUAGE sql AS
	'SELECT count(*) = 3 AND bool_and(image = f::bytea) FROM before b JOIN filters a USING (id)';

-- the filters after a change, which is undone
CREATE FUNCTION changed(change text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		EXECUTE change;
		SELECT md5(string_agg(f::text, '' ORDER BY id)) INTO result FROM filters;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;
-- a value that is made, then looked at in vain, and looked at again
CREATE FUNCTION looked_at(query text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	filter cuckoofilter;
	state citus.cuckoostate;
	result text;
BEGIN
	IF query LIKE '%state_agg%' THEN
		EXECUTE query INTO state;
	ELSE
		EXECUTE query INTO filter;
	END IF;
	WHILE result IS NULL LOOP
		BEGIN
			result := md5(coalesce(filter::text, state::text));
		EXCEPTION WHEN query_canceled OR out_of_memory THEN
			NULL;
		END;
	END LOOP;
	RETURN result;
END \$\$;
-- a variable that is changed, and grows; after an error it is as before, and goes on
CREATE FUNCTION filled() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	filter cuckoofilter := (SELECT f FROM full_soon);
	n int := 270;
BEGIN
	BEGIN
		WHILE n < 274 LOOP
			filter := cf_add(filter, n + 1);
			n := n + 1;
		END LOOP;
	EXCEPTION WHEN query_canceled OR out_of_memory THEN
		NULL;
	END;
	WHILE n < 274 LOOP
		filter := cf_add(filter, n + 1);
		n := n + 1;
	END LOOP;
	-- null, which faults() rejects, unless the filter has grown
	RETURN md5(filter::text) WHERE octet_length(filter::bytea) > (SELECT octet_length(f::bytea) FROM full_soon);
END \$\$;
CREATE TABLE copies (LIKE filters);
CREATE TABLE state_copies (LIKE states);
CREATE FUNCTION copied() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	DELETE FROM copies;
	DELETE FROM state_copies;
	COPY filters TO '@{[$node->basedir]}/copy' BINARY;
	COPY copies FROM '@{[$node->basedir]}/copy' BINARY;
	COPY (SELECT * FROM states WHERE id = 4) TO '@{[$node->basedir]}/copy' BINARY;
	COPY state_copies FROM '@{[$node->basedir]}/copy' BINARY;
	SELECT md5(string_agg(f::text, '' ORDER BY id)) || (SELECT md5(state::text) FROM state_copies) INTO result
	FROM copies;
	RETURN result;
END \$\$;
CREATE FUNCTION backwards() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	c SCROLL CURSOR FOR SELECT i FROM t WHERE cf_contains((SELECT f FROM filters WHERE id = 1), i) AND i <> 7;
	result int;
BEGIN
	OPEN c;
	MOVE 30 FROM c;
	FETCH RELATIVE -10 FROM c INTO result;
	CLOSE c;
	RETURN result;
END \$\$;

-- indexes that are built, split pages, get a chain, and are read; gone at the end
CREATE FUNCTION indexed() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		CREATE TABLE indexed (i int);
		INSERT INTO indexed SELECT generate_series(1, 1900);
		CREATE INDEX indexed_i ON indexed USING cuckoo (i) WITH (fillfactor = 100);
		CREATE INDEX indexed_2 ON indexed USING cuckoo (i, (i % 2));
		INSERT INTO indexed SELECT generate_series(1901, 2500);
		INSERT INTO indexed SELECT -1 FROM generate_series(1, 2000);
		REINDEX INDEX indexed_2;
		SELECT cf_index_check('indexed_i') + cf_index_check('indexed_2') INTO result;
		SET LOCAL enable_seqscan = off;
		SELECT result || ' ' || count(*) FROM indexed WHERE i = ANY ('{7,2050,-1}') INTO result;
		SELECT result || ' ' || (SELECT count(*) FROM indexed WHERE i = 7 AND i % 2 = 1) INTO result;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;

-- an index that VACUUM reads, with a chain that it shrinks; gone at the end
CREATE FUNCTION test_vacuum(regclass) RETURNS text LANGUAGE c STRICT AS 'cuckoo_test';
CREATE FUNCTION vacuumed() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		CREATE TABLE emptied AS SELECT CASE WHEN i % 2 = 1 THEN -1 ELSE i END AS i FROM generate_series(1, 1500) i;
		CREATE INDEX emptied_i ON emptied USING cuckoo (i) WITH (fillfactor = 10);
		SELECT test_vacuum('emptied_i') INTO result;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;

-- an index that a worker and the leader build; gone at the end
CREATE FUNCTION indexed_by_workers() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		CREATE TABLE indexed (i int) WITH (parallel_workers = 1);
		INSERT INTO indexed SELECT generate_series(1, 1900);
		CREATE INDEX indexed_i ON indexed USING cuckoo (i);
		SELECT cf_index_check('indexed_i') INTO result;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;

-- rows with values that are new to all partitions; gone at the end, with their tables,
-- because the trigger looks at dead rows, too
CREATE FUNCTION inserted_once() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		CREATE TABLE once (k int, i int) PARTITION BY LIST (k);
		CREATE TABLE once_1 PARTITION OF once FOR VALUES IN (1);
		CREATE TABLE once_2 PARTITION OF once FOR VALUES IN (2);
		CREATE INDEX once_i ON once USING cuckoo (i);
		CREATE TRIGGER once AFTER INSERT OR UPDATE ON once FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('once_i');
		INSERT INTO once SELECT 1 + i / 6, i FROM generate_series(1, 9) i;
		SELECT count(*) INTO result FROM once;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;

-- a unique index that is built, and finds equal keys of rows that are deleted or live
CREATE FUNCTION kept_unique() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	BEGIN
		CREATE TABLE kept (i int, n int);
		INSERT INTO kept SELECT generate_series(1, 5);
		CREATE UNIQUE INDEX kept_i ON kept USING cuckoo (i);
		DELETE FROM kept WHERE i < 4;
		INSERT INTO kept SELECT generate_series(1, 9) ON CONFLICT (i) DO UPDATE SET n = 1;
		SELECT count(n) || ' of ' || count(*) INTO result FROM kept;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		RETURN result;
	END;
END \$\$;

-- a condition on one of two columns
CREATE TABLE columns AS SELECT i AS a, i AS b FROM generate_series(1, 1000) i;
CREATE INDEX columns_ab ON columns USING cuckoo (a, b);
CREATE FUNCTION all_blocks() RETURNS text LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = on AS
	'SELECT count(*)::text FROM columns WHERE a = 7';

-- How many points a scenario has, and how many failed one after the other, each in
-- a subtransaction; these less than 0 if one of them left something wrong behind
CREATE FUNCTION faults(kind text, scenario text, OUT points bigint, OUT failed int) LANGUAGE plpgsql AS \$\$
DECLARE
	expected text;
	result text;
BEGIN
	EXECUTE scenario INTO expected;
	-- of a scenario before
	PERFORM test_fault_lines(kind);
	PERFORM test_fault(kind, 1000000000);
	EXECUTE scenario INTO result;
	points := 1000000000 - test_fault_left();
	failed := 0;
	LOOP
		-- -1: the next one in a line where none failed yet
		PERFORM test_fault(kind, @{[ $all ? 'failed + 1' : -1 ]});
		BEGIN
			EXECUTE scenario INTO result;
			EXIT WHEN test_fault_left() <> 0;
		EXCEPTION WHEN query_canceled OR out_of_memory THEN
			EXECUTE scenario INTO result;
		END;
		failed := failed + 1;
		IF result IS DISTINCT FROM expected OR expected IS NULL OR NOT untouched() THEN
			failed := -failed;
			RETURN;
		END IF;
	END LOOP;
	PERFORM test_fault(kind, 0);
END \$\$;
SQL

# Each has the least number of points to cancel at, of those where memory may run
# out, and what runs.
my %scenarios = (
	'cf_agg' => [ 3, 112, 'SELECT md5(cf_agg(i)::text) FROM t' ],
	'cf_agg by capacity' => [ 6, 334, 'SELECT md5(cf_agg(s, 5000, 0.01)::text) FROM t WHERE i < 300' ],
	'cf_agg of another type' => [ 3, 937, 'SELECT md5(cf_agg(i::numeric)::text) FROM t' ],
	'cf_agg of groups' => [ 6, 258,
		'SELECT md5(string_agg(f::text, NULL ORDER BY f::text))
			FROM (SELECT cf_agg(i) AS f FROM t WHERE i < 300 GROUP BY i % 3) s' ],
	'cf_agg of nothing' => [ 3, 3, 'SELECT md5(cf_agg(i, 100, 0.01)::text) FROM t WHERE false' ],
	'states, combined' => [ 16, 13, 'SELECT md5(merge_agg(state ORDER BY id)::text) FROM states' ],
	'states, combined from the largest on' => [ 18, 11,
		'SELECT md5(merge_agg(state ORDER BY id DESC)::text) FROM states' ],
	'states, two' => [ 3, 9,
		'SELECT md5(citus.cuckoo_agg_final(citus.cuckoo_agg_combine(a.state, b.state))::text)
			FROM states a, states b WHERE a.id = 3 AND b.id = 3' ],
	'states, made' => [ 3, 328, 'SELECT md5(citus.cf_agg(s)::text) FROM t WHERE i < 300' ],
	'states in and out' => [ 207, 4,
		'SELECT md5(md5(citus.cuckoostate_send(state)) || state::text::citus.cuckoostate::text)
			FROM states WHERE id = 4' ],
	'cf_new' => [ 1, 3, 'SELECT md5(cf_new(1000, 0.01, 0, $$numeric$$)::text)' ],
	'cf_add' => [ 9, 12, 'SELECT changed($$UPDATE filters SET f = cf_add(f, -1)$$)' ],
	'cf_add_unique' => [ 23, 51,
		'SELECT changed($$UPDATE filters SET f = cf_add_unique(f, i) FROM generate_series(-3, 3) i$$)' ],
	'cf_delete' => [ 9, 12, 'SELECT changed($$UPDATE filters SET f = cf_delete(f, 5)$$)' ],
	'cf_add_all' => [ 105, 8, 'SELECT md5(cf_add_all(cf_new(100, 0.01), a[1:70])::text) FROM arrays' ],
	'cf_add_all, stored' => [ 10, 14,
		'SELECT changed($$UPDATE filters SET f = cf_add_all(f, a[2990:3000] || -1) FROM arrays WHERE id >= 2$$)' ],
	'cf_add_unique_all' => [ 120, 8,
		'SELECT md5(cf_add_unique_all(cf_new(100, 0.01), a[1:80] || NULL)::text) FROM arrays' ],
	'cf_delete_all' => [ 52, 19, 'SELECT changed($$UPDATE filters SET f = cf_delete_all(f, a[1:10]) FROM arrays$$)' ],
	'cf_add_unique_each' => [ 102, 33,
		'SELECT md5(string_agg(filter::text || added::text, NULL ORDER BY id))
			FROM filters, arrays, cf_add_unique_each(f, a[90:110] || NULL)' ],
	'cf_clear, cf_info, cf_count' => [ 7, 18,
		'SELECT md5(string_agg(cf_clear(f)::text || cf_info(f) || cf_count(f), NULL ORDER BY id)) FROM filters' ],
	'cf_add_filter' => [ 529, 6,
		'SELECT md5(cf_add_filter(a.f, b.f)::text) FROM parts a, parts b WHERE a.p = 0 AND b.p = 1' ],
	'cf_add_filter, stored' => [ 14, 30,
		'SELECT changed($$UPDATE filters SET f = cf_add_filter(f, cf_add(cf_clear(f), -7))$$)' ],
	'cf_union' => [ 10, 9, 'SELECT md5(cf_union(a.f, b.f)::text) FROM parts a, parts b WHERE a.p = 0 AND b.p = 4' ],
	'cf_union_all' => [ 10, 9,
		'SELECT md5((cf_union_all(a.f, b.f))::text) FROM parts a, parts b WHERE a.p = 0 AND b.p = 1' ],
	'cf_intersect' => [ 10, 9, 'SELECT md5((a.f & b.f)::text) FROM parts a, parts b WHERE a.p = 0 AND b.p = 1' ],
	'cf_overlap' => [ 16, 12,
		'SELECT cf_overlap(a.f, b.f)::text || cf_overlap_info(a.f, b.f) || cf_compatible(a.f, b.f)
			FROM parts a, parts b WHERE a.p = 0 AND b.p = 1' ],
	'cf_union_agg' => [ 22, 21, 'SELECT md5(cf_union_agg(f)::text) FROM parts' ],
	'unions, moving window' => [ 56, 57,
		'SELECT md5(string_agg(f::text, NULL))
			FROM (SELECT cf_union_agg(f) OVER (ORDER BY p ROWS 2 PRECEDING) AS f FROM parts) s' ],
	'cf_union_all_agg' => [ 22, 20, 'SELECT md5(cf_union_all_agg(f)::text) FROM parts' ],
	'cf_intersect_agg' => [ 10, 12, 'SELECT md5(cf_intersect_agg(f)::text) FROM parts WHERE p < 2' ],
	'cf_at_least_agg' => [ 30, 29, 'SELECT md5(cf_at_least_agg(f, 2)::text) FROM parts' ],
	'cf_at_least_agg, growing window' => [ 46, 45,
		'SELECT md5(string_agg(f::text, NULL))
			FROM (SELECT cf_at_least_agg(f, 2) OVER (ORDER BY p) AS f FROM parts) s' ],
	'cf_canonical' => [ 10, 11,
		'SELECT md5(string_agg(cf_canonical(f)::text, NULL ORDER BY id)) FROM filters WHERE id <> 2' ],
	'cf_canonical, full' => [ 6, 6, 'SELECT md5(cf_canonical(f)::text) FROM full_up' ],
	'filters in and out' => [ 27, 15,
		'SELECT md5(string_agg(f::text::cuckoofilter::bytea::cuckoofilter::text, NULL ORDER BY id)) FROM filters' ],
	'filters compared' => [ 0, 0,
		'SELECT md5(string_agg((a.f = b.f)::text || cuckoofilter_hash(a.f) || (a.f <> b.f), NULL ORDER BY a.id, b.id))
			FROM filters a, filters b' ],
	'binary copies' => [ 79, 9, 'SELECT copied()' ],
	'probes by slices' => [ 0, 16,
		'SELECT string_agg(cf_contains(f, 50)::text || (50::bigint <@ f) || cf_count(f, 29999)
			|| cf_contains_hash(f, cf_hash(7)), NULL ORDER BY id) FROM filters' ],
	'probes of stored filters' => [ 0, 18,
		'SELECT md5(string_agg(cf_contains(f, i)::text, NULL ORDER BY id, i)) FROM filters, t WHERE i % 100 = 0' ],
	'probes by numeric' => [ 2, 249,
		'SELECT md5(string_agg(cf_contains(f, i::numeric)::text, NULL ORDER BY i))
			FROM (SELECT cf_agg(i::numeric) AS f FROM t WHERE i % 10 = 0) s, t WHERE i < 50' ],
	'probes by arrays' => [ 96, 43,
		'SELECT md5(string_agg(cf_contains_each(f, a[1:30])::text || cf_contains_any(f, a[1:3])
			|| cf_contains_all(f, a[3:9]), NULL ORDER BY id)) FROM filters, arrays' ],
	'probes by arrays, by slices' => [ 3, 8,
		'SELECT cf_contains_any(f, ARRAY[-1, 3])::text FROM filters WHERE id = 2' ],
	'scan' => [ 1002, 12,
		'SELECT count(*)::text FROM t WHERE cf_contains((SELECT f FROM filters WHERE id = 1), i) AND i <> 7' ],
	'scan, stored' => [ 1002, 14,
		'SELECT count(*)::text FROM t WHERE NOT i <@ (SELECT f FROM filters WHERE id = 3) AND i > 0' ],
	'scan, stored filter' => [ 834, 18,
		'SELECT count(*)::text FROM t WHERE NOT cf_contains((SELECT f FROM filters WHERE id = 2), i + 29500)' ],
	'scan, several filters' => [ 1356, 21,
		'SELECT count(*)::text FROM t WHERE i + 29500 <@ ANY (ARRAY(SELECT f FROM filters))' ],
	'semi join' => [ 0, 837,
		'SELECT count(*)::text FROM t WHERE EXISTS (SELECT FROM filters WHERE cf_contains(f, i + 29500))' ],
	'scan, inner side' => [ 1836, 19, 'SELECT count(*)::text FROM filters, t WHERE cf_contains(f, i) AND id < 3' ],
	'scan backwards' => [ 0, 30, 'SELECT backwards()' ],
	# from 18 on in place
	'variable' => [ 6, $node->pg_version < 18 ? 16 : 7, 'SELECT filled()' ],
	'index' => [ 3790, 51, 'SELECT indexed()' ],
	'VACUUM of an index' => [ 155, 100, 'SELECT vacuumed()' ],
	'index by workers' => [ 10, 10, 'SELECT indexed_by_workers()' ],
	'index scan of all blocks' => [ 0, 0, 'SELECT all_blocks()' ],
	'unique trigger' => [ 20, 40, 'SELECT inserted_once()' ],
	$node->pg_version < 18 ? () : ('unique index' => [ 10, 40, 'SELECT kept_unique()' ]),
	'state in a variable' => [ 3, 108, q(SELECT looked_at('SELECT state_agg(i) FROM t')) ],
	'union in a variable' => [ 22, 23, q(SELECT looked_at('SELECT set_agg(f) FROM parts')) ]);

# Runs scripts in one session, in which errors are expected: what each prints, and
# its errors.
sub run
{
	my (@scripts) = @_;
	my ($out, $errors);

	$node->psql('postgres', join("\\echo next\n\\warn next\n", "\\set VERBOSITY sqlstate\n", @scripts),
		stdout => \$out, stderr => \$errors, on_error_stop => 0);
	my (undef, @out) = split /^next$/m, $out, -1;
	my (undef, @errors) = split /^next\n?/m, $errors, -1;
	return map { [ $out[$_] =~ s/^\n//r, $errors[$_] ] } 0 .. $#scripts;
}

# Each scenario fails at its points in subtransactions. Then some of the points
# end commands of one session, whose memory does not grow. Some are
# enough, because the points of a scan are the same for each row.
my %lines;
my $memory = "sum(used_bytes) AS bytes, count(*) FILTER (WHERE name ~ 'uckoo') AS left FROM pg_backend_memory_contexts";
# the first time this takes memory itself
my $begin = "SELECT $memory \\gset\n" x 2;
my $end = "SELECT $memory \\gset now_\nSELECT 'memory', :now_bytes - :bytes, :now_left;\n";

foreach my $name (sort keys %scenarios)
{
	my (%least, %tops);
	(@least{ 'cancel', 'memory' }, my $scenario) = @{ $scenarios{$name} };
	my @kinds = ('cancel', 'memory');
	my @scripts;

	# a new table has points more or less, as often as its relcache entry is built
	my $makes_tables = $name =~ /^(?:index|VACUUM of an index|index by workers|unique trigger|unique index)$/;
	my @results = run(
		map { "SELECT ($scenario), f.*, test_fault_lines('$_') FROM faults('$_', \$q\$$scenario\$q\$) f;\n" } @kinds);

	foreach my $kind (@kinds)
	{
		my ($out, $errors) = @{ shift @results };
		my ($expected, $points, $failed, $at) = $out =~ /^(.*?)\|(\d+)\|(-?\d+)\|(.*)/s or diag($out, $errors);
		my ($tops, $script) = (0, '');

		is($errors, '', "$name: $kind in subtransactions, without other errors");
		cmp_ok($failed, '>=', $points > 0 ? 1 : 0, "$name: $failed times $kind in subtransactions");
		cmp_ok($points, '>=', $least{$kind}, "$name: $points points to $kind");
		$lines{$_}++ foreach $at =~ m{src/((?:\w+/)?\w+\.c:\d+)}g;
		# PL/pgSQL copies a variable after an error in the transaction, so only here
		# each point finds the variable in place
		my $most = $all || $scenario =~ /filled/ ? 60 : 8;
		for (my $n = 1; $n <= ($makes_tables ? 0.75 * $points : $points); $n += 1 + int($points / $most))
		{
			$script .= $begin if ++$tops == 4;
			$script .= <<"SQL";
SELECT test_fault('$kind', $n) \\g /dev/null
SELECT ($scenario) = '$expected';
SELECT test_fault('$kind', 0) \\g /dev/null
SELECT ($scenario) = '$expected' AND untouched();
SQL
		}
		push @scripts, $script . ($tops > 3 ? $end : '');
		$tops{$kind} = $tops;
	}
	@results = run(@scripts);
	foreach my $kind (@kinds)
	{
		my ($out, $errors) = @{ shift @results };
		my $tops = $tops{$kind};
		my ($bytes, $left) = $out =~ /^memory\|(-?\d+)\|(\d+)$/m ? ($1, $2) : (0, 0);
		my $good = () = $out =~ /^t$/mg;
		my $thrown = () = $errors =~ /ERROR:  (?:57014|53200)$/mg;

		# those with a variable handle errors themselves, and then give the same result
		my $handles = $scenario =~ /looked_at|filled/;
		# the catalog caches of a session grow with the tables that it makes
		$bytes -= 200000 if $makes_tables;
		my $what = "$name: $tops times $kind in a session";
		my $passed = is($good + $thrown, 2 * $tops, "$what: $good statements have their result, $thrown fail");
		$passed &= is($thrown, $tops, "$what: errors") if !$handles;
		$passed &= is($left, 0, "$what: contexts that are left");
		$passed &= cmp_ok($bytes, '<', 20000, "$what: bytes more");
		diag($errors) if !$passed;
	}
}

# Each look for a cancel request of the extension was one of the points.
my $src = "$FindBin::RealBin/../../src";
foreach my $file (glob "$src/*.c $src/*/*.c")
{
	my ($name) = $file =~ m{.*/src/(.*)};
	my $function = '';

	open my $handle, '<', $file or die;
	while (<$handle>)
	{
		$function = $1 if /^(\w+)\(/;
		next
			if !/(?:cuckoo_check_interrupts\(\)|cuckoo_pause\(\w+\)|CHECK_FOR_INTERRUPTS\(\)|CUCKOO_VACUUM_DELAY\(\));/
				|| $function eq 'cuckoo_check_interrupts'
				# only for an apply worker of logical replication, see 019_constraints.pl
				|| $function eq 'fetch_block'
				# a plan that only 18 and later choose, if scans of the table are disabled
				|| ($function eq 'add_all_blocks' || $name eq 'index/unique.c') && $node->pg_version < 18;
		ok($lines{"$name:$."}, "$name:$. failed");
	}
}

# A full disk, while a large filter is written: the table beside it is larger
# than all other files.
checks($node, 'postgres', <<"SQL");
CREATE TABLE disk (f cuckoofilter, pad bytea);
ALTER TABLE disk ALTER pad SET STORAGE EXTERNAL;
INSERT INTO disk SELECT cf_agg(i), decode(repeat('ab', 8000000), 'hex') FROM generate_series(1, 200000) i;
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE relname = 'disk' \\gset
SELECT test_limit_files(pg_relation_size(:'toast') + 8192) \\g /dev/null
UPDATE disk SET f = cf_add(f, -1);
\\set code :SQLSTATE
UPDATE disk SET f = cf_delete(f, 1);
SELECT 'no room on the disk', :'code' NOT IN ('00000', '57014'), true, :'SQLSTATE', :'code';
SELECT 'the filter is the old one',
	cf_count(f), 200000, f = (SELECT cf_agg(i) FROM generate_series(1, 200000) i), true, untouched(), true FROM disk;
SELECT test_limit_files(0) \\g /dev/null
UPDATE disk SET f = cf_add(f, -1);
SELECT 'with room it changes', cf_contains(f, -1), true, cf_count(f), 200001, f = f::bytea::cuckoofilter, true
FROM disk;
DROP TABLE disk;
SQL

# The same while an index grows. Its table has free space, so that only the index
# gets new blocks.
checks($node, 'postgres', <<"SQL");
CREATE TABLE growing (i int);
INSERT INTO growing SELECT generate_series(1, 200000);
DELETE FROM growing WHERE i < 200000;
VACUUM growing;
CREATE INDEX growing_i ON growing USING cuckoo (i);
CREATE FUNCTION grow(round int) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO growing SELECT 10000 * round + i FROM generate_series(1, 10000) i;
	RETURN '00000';
EXCEPTION WHEN OTHERS THEN
	-- from 16 on, a limit of the size of files has no SQLSTATE of its own
	RETURN CASE WHEN SQLERRM LIKE '%: File too large' THEN '53100' ELSE SQLSTATE END;
END \$\$;
SELECT test_limit_files(2500000) \\g /dev/null
SELECT 'no room on the disk for an index', string_agg(DISTINCT grow(round), ' '), '00000 53100'
FROM generate_series(1, 14) round;
SELECT 'what was inserted is in it', cf_index_check('growing_i') >= count(*), true, count(*), '> 10000' FROM growing;
SELECT test_limit_files(0) \\g /dev/null
SELECT 'with room it grows', grow(15), '00000', cf_index_check('growing_i'), '> 30000';
SQL
$node->stop('immediate');
$node->start;
checks($node, 'postgres', <<'SQL');
VACUUM (INDEX_CLEANUP on) growing;
SELECT 'and survives a crash', cf_index_check('growing_i'), count(*) FROM growing;
SELECT 'the page of an insert that failed is not used', free_pages, '< 10' FROM cf_index_info('growing_i');
DROP TABLE growing;
SQL

# The process is killed at each step of splits, and of a chain that is made: inserts
# have points only there.
foreach my $n (1 .. 7)
{
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE killed_$n AS SELECT i FROM generate_series(1, 5000) i;
CREATE INDEX killed_${n}_i ON killed_$n USING cuckoo (i) WITH (fillfactor = 100);
SQL
	my $status = $node->psql('postgres', "SELECT test_fault('kill', $n);
		INSERT INTO killed_$n SELECT i / 5 * 5 FROM generate_series(5000, 9000) i;
		INSERT INTO killed_$n SELECT -1 FROM generate_series(1, 2000) i;");

	is($status, 2, "growth, point $n: the session ends");
	$node->stop('immediate', fail_ok => 1);
	$node->{_pid} = undef;
	$node->start;
	checks($node, 'postgres', <<"SQL");
SELECT 'growth, killed at point $n: entries and rows', cf_index_check('killed_${n}_i') >= count(*) FROM killed_$n;
INSERT INTO killed_$n SELECT generate_series(5001, 6000);
VACUUM (INDEX_CLEANUP on) killed_$n;
SELECT 'growth, killed at point $n, and VACUUM', cf_index_check('killed_${n}_i'), count(*) FROM killed_$n;
DROP TABLE killed_$n;
SQL
}

# The largest filter that cf_new makes
checks($node, 'postgres', <<"SQL");
$begin
CREATE FUNCTION largest() RETURNS boolean LANGUAGE plpgsql AS \$\$
DECLARE
	a int[] := (SELECT array_agg(i) FROM generate_series(1, 1000) i);
	f cuckoofilter;
BEGIN
	-- not a constant, which the planner would copy
	EXECUTE 'SELECT cf_add_all(cf_new(n, 1e-8), \$1) FROM generate_series(140000000, 140000000) n' INTO f USING a;
	RETURN octet_length(f::bytea) > 100 * 1024 * 1024 AND cf_contains_all(f, a) AND cf_count(f) = 1000;
END \$\$;
SELECT 'the largest filter', largest();
SELECT 'the largest filter: memory', sum(used_bytes) - :bytes, '< 10000000' FROM pg_backend_memory_contexts;
SQL

# The server ends while filters change: what was committed is there.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE seen AS SELECT cf_agg(-i, 100000, 1e-8) AS f FROM generate_series(1, 20000) i;
CREATE TABLE log (i int);
SQL
foreach my $round (1 .. 2)
{
	my ($out, $errors) = ('', '');
	my @psql = ('psql', '-XAtq', '-d', $node->connstr('postgres'), '-c');
	my $psql = IPC::Run::start([ @psql, <<'SQL' ], '>', \$out, '2>', \$errors);
DO $$
BEGIN
	FOR i IN (SELECT coalesce(max(i), 0) + 1 FROM log)..1000000 LOOP
		UPDATE seen SET f = cf_add(f, i);
		INSERT INTO log VALUES (i);
		COMMIT;
	END LOOP;
END $$
SQL
	$node->poll_query_until('postgres', "SELECT count(*) > 100 * $round FROM log") or die "nothing changes";
	$node->stop('immediate');
	$psql->finish;
	$node->start;
	checks($node, 'postgres', <<"SQL");
SELECT 'crash $round: filter and log agree',
	cf_count(f), 20000 + n, cf_contains_all(f, a), true, f = f::bytea::cuckoofilter, true
FROM seen, (SELECT count(*) AS n, array_agg(i) AS a FROM log) s;
SELECT 'crash $round: no other lost an element', untouched(), true, bool_and(cf_contains(f, -i)), true
FROM seen, generate_series(1, 20000) i;
SQL
}

$node->stop;
done_testing();
