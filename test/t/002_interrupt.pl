# Whatever ends a call before its time, a cancel or an error, leaves the session
# as usable as it was, its memory free, and stored filters untouched.
#
# It would take gigabytes to reach the size limit of 512 MiB, so the errors
# here are those of parameters and of a filter at its last growth level.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use Test::More;

my $node = start_node('interrupt');

plan skip_all => 'this PostgreSQL has no citext' if !citus($node, 'citus');

# A state of two million hashes, to have the final function on its own; filters
# in a page, TOASTed, and with no room for one more
$node->safe_psql('postgres', <<'SQL');
CREATE AGGREGATE state_agg(integer) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate);
CREATE TABLE states AS SELECT state_agg(i) AS state FROM generate_series(1, 2000000) i;
CREATE TABLE filters (id int, f cuckoofilter);
INSERT INTO filters SELECT 1, cf_agg(i) FROM generate_series(1, 100) i;
INSERT INTO filters SELECT 2, cf_agg(i) FROM generate_series(1, 100000) i;
DO $$
DECLARE
	f cuckoofilter := cf_new(1, 0.5);
BEGIN
	FOR i IN 1..1000000 LOOP
		f := cf_add(f, i);
	END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
	INSERT INTO filters VALUES (3, f);
END $$;
INSERT INTO filters SELECT 4, cf_agg(i::text) FROM generate_series(1, 100) i;
CREATE TABLE before AS SELECT id, f::text FROM filters;
CREATE FUNCTION untouched() RETURNS boolean LANGUAGE sql AS
	'SELECT count(*) = 4 AND bool_and(b.f = a.f::text) FROM before b JOIN filters a USING (id)';
SQL

my $begin = <<"SQL";
SELECT pg_backend_pid() AS pid, cf_count(cf_agg(i)) AS n FROM generate_series(1, 1000) i \\gset
SELECT sum(total_bytes) AS bytes FROM pg_backend_memory_contexts \\gset
SQL

# Two tests: a command fails, and then all is as before.
sub fails
{
	my ($name, $code, $command) = @_;

	return <<"SQL";
$command;
SELECT '$name: error $code', :'SQLSTATE', '$code';
RESET statement_timeout;
SELECT count(*) FILTER (WHERE name IN ('cuckoostate', 'cuckoofilter')) AS contexts, sum(total_bytes) - :bytes AS more
FROM pg_backend_memory_contexts \\gset
SELECT '$name: as before', :contexts, 0, :more, '< 2000000', pg_backend_pid(), :pid, untouched(), true,
	cf_count(cf_agg(i)), 300
FROM generate_series(1, 300) i;
SQL
}

# Queries that would take a minute or longer, most of it in one function
my %long = (
	'transition' => 'SELECT cf_agg(i) FROM (SELECT generate_series(1, 100000000) AS i) s',
	'combine' => 'SELECT count(citus.cuckoo_agg_combine(a.state, b.state))
		FROM states a, states b, generate_series(1, 1000)',
	'final' => 'SELECT count(citus.cuckoo_agg_final(state)) FROM states, generate_series(1, 1000)',
	'whole cf_agg' => 'SELECT count(cf_count(f)) FROM generate_series(1, 1000) n,
		LATERAL (SELECT cf_agg(i + n) AS f FROM (SELECT generate_series(1, 300000) AS i) s) s2');

# A timeout
my $script = $begin;
foreach my $name (sort keys %long)
{
	$script .= "SET statement_timeout = $_;\n" . fails("$name ended after $_ ms", '57014', $long{$name})
	  foreach 77, 333;
}
checks($node, 'postgres', $script);

# A cancel from outside
$script = $begin . join '', map { fails("$_ canceled", '57014', $long{$_}) } 'transition', 'final';
my $file = $node->basedir . '/script';
my ($out, $errors);
open my $handle, '>', $file or die;
print $handle $script;
close $handle;
my $psql = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $file ],
	'>', \$out, '2>', \$errors);
foreach my $name ('transition', 'final')
{
	my $running = "FROM pg_stat_activity WHERE state = 'active' AND query = '$long{$name};'";

	$node->poll_query_until('postgres', "SELECT clock_timestamp() - query_start > interval '200 ms' $running")
	  or die "the query does not run";
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $running");
}
$psql->finish;
report($script, $out, $errors);

# The timeout comes while a variable is filled, perhaps while the filter grows.
# The variable then holds what was added, which is n elements, or one more if
# the timeout came before n was set. It holds no other memory.
$script = $begin . <<"SQL";
CREATE FUNCTION filled() RETURNS boolean LANGUAGE plpgsql AS \$\$
DECLARE
	f cuckoofilter := cf_new(10000000, 1e-6);
	n int := 0;
	memory bigint;
	complete boolean;
BEGIN
	BEGIN
		LOOP
			f := cf_add(f, n + 1);
			n := n + 1;
		END LOOP;
	EXCEPTION WHEN query_canceled THEN
		SELECT coalesce(sum(total_bytes), 0) INTO memory FROM pg_backend_memory_contexts WHERE name = 'cuckoofilter';
		f := cf_delete(cf_add(f, -1), -1);
		SELECT bool_and(cf_contains(f, i)) INTO complete FROM generate_series(1, n) i;
		RETURN complete AND n > 100 AND cf_count(f) IN (n, n + 1) AND f = f::bytea::cuckoofilter
			AND memory < length(f::bytea) + 100000;
	END;
END \$\$;
SQL
$script .= "SET statement_timeout = $_; SELECT 'variable after $_ ms', filled(); RESET statement_timeout;\n"
  foreach 41, 325;
$script .= <<"SQL";
SELECT 'memory of variables', count(*) FILTER (WHERE name = 'cuckoofilter'), 0, sum(total_bytes) - :bytes, '< 2000000'
FROM pg_backend_memory_contexts;
SQL
checks($node, 'postgres', $script);

# One test: a final function that is canceled halfway does not run to its end.
# It runs to its end once, to know how long that takes. Of three that are
# canceled the fastest counts, because the machine may have other things to do.
checks($node, 'postgres', <<'SQL');
CREATE TEMP TABLE times (ms float8, code text);
SET statement_timeout = 0;
SELECT clock_timestamp() AS t \gset
SELECT cf_count(citus.cuckoo_agg_final(state)) FROM states \gset
SELECT extract(epoch FROM clock_timestamp() - :'t') * 1000 AS whole \gset
SELECT set_config('statement_timeout', round(:whole / 2)::text, false) AS half \gset
SELECT clock_timestamp() AS t \gset
SELECT cf_count(citus.cuckoo_agg_final(state)) AS not_canceled FROM states \gset
INSERT INTO times SELECT extract(epoch FROM clock_timestamp() - :'t') * 1000, :'SQLSTATE';
SELECT clock_timestamp() AS t \gset
SELECT cf_count(citus.cuckoo_agg_final(state)) AS not_canceled FROM states \gset
INSERT INTO times SELECT extract(epoch FROM clock_timestamp() - :'t') * 1000, :'SQLSTATE';
SELECT clock_timestamp() AS t \gset
SELECT cf_count(citus.cuckoo_agg_final(state)) AS not_canceled FROM states \gset
INSERT INTO times SELECT extract(epoch FROM clock_timestamp() - :'t') * 1000, :'SQLSTATE';
SELECT 'the final function is interruptible', count(*), 3, min(ms) / :whole, '< 0.8' FROM times;
\warn :whole :half
SQL

# Errors
my %errors = (
	'cf_add, another family' => [ '42804', 'UPDATE filters SET f = cf_add(f, date \'2000-01-01\')' ],
	'cf_add, another family in the last row' => [ '42804', 'UPDATE filters SET f = cf_add(f, -5) WHERE id <> 3' ],
	'cf_add_unique, another family' => [ '42804', 'UPDATE filters SET f = cf_add_unique(f, date \'2000-01-01\')' ],
	'cf_delete, another family' => [ '42804', 'UPDATE filters SET f = cf_delete(f, date \'2000-01-01\')' ],
	'cf_add, full in the last row' => [ '54000', 'UPDATE filters SET f = cf_add(f, id - 8) WHERE id <= 3' ],
	'cf_add_unique, full' => [ '54000',
		'UPDATE filters SET f = cf_add_unique(cf_add_unique(cf_add_unique(f, 9000001), 9000002), 9000003)
			WHERE id = 3' ],
	'cf_agg, error in the data' => [ '22012', 'SELECT cf_agg(1 / (i - 200000)) FROM generate_series(1, 300000) i' ],
	'cf_agg, other parameters' => [ '22023',
		'SELECT cf_agg(i, 1000 + i / 200000, 0.01) FROM generate_series(1, 300000) i' ],
	'cf_agg, full' => [ '54000', 'SELECT cf_agg(i, 10, 0.01) FROM generate_series(1, 300000) i' ],
	'cuckoo_agg_combine, other families' => [ '42804',
		'SELECT citus.cuckoo_agg_combine(state, citus.cuckoo_agg_trans(NULL, \'x\'::text)) FROM states' ],
	'cf_agg, more than the limit' => [ '22023',
		'SELECT cf_agg(i, 4000000000, 0.01) FROM generate_series(1, 300000) i' ],
	'cf_new, more than the limit' => [ '22023', 'SELECT cf_new(4000000000, 0.01)' ]);
checks($node, 'postgres', $begin . join '', map { fails($_, @{ $errors{$_} }) } sort keys %errors);

# Errors that are caught, and changes that are rolled back
checks($node, 'postgres', $begin . <<'SQL');
BEGIN;
SAVEPOINT a;
UPDATE filters SET f = cf_add(f, -1) WHERE id <= 2;
SELECT 'filters change', untouched(), false;
UPDATE filters SET f = cf_add(f, 'x'::text);
\set code :SQLSTATE
ROLLBACK TO a;
SELECT 'rolled back to a savepoint after an error', :'code', '42804', untouched(), true;
UPDATE filters SET f = cf_delete(f, 5) WHERE id <= 2;
ROLLBACK TO a;
COMMIT;
SELECT 'rolled back to a savepoint', untouched(), true, pg_backend_pid(), :pid;

CREATE FUNCTION caught() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	filter cuckoofilter;
	was text;
	state citus.cuckoostate;
	state_was text;
	caught int := 0;
BEGIN
	FOR filter IN SELECT f FROM filters WHERE id <= 3 ORDER BY id LOOP
		was := filter;
		BEGIN
			filter := cf_add(cf_add(cf_add(filter, 9000001), 9000002), 9000003);
			filter := was;
			filter := cf_add(cf_add(filter, -1), 'x'::text);
		EXCEPTION WHEN datatype_mismatch OR program_limit_exceeded THEN
			caught := caught + 1;
		END;
		IF filter::text <> was THEN
			RETURN false;
		END IF;
	END LOOP;

	SELECT s.state INTO state FROM states s;
	FOR i IN 1..2 LOOP
		state_was := md5(state::text);
		BEGIN
			state := citus.cuckoo_agg_trans(citus.cuckoo_agg_trans(state, -1), 'x'::text);
		EXCEPTION WHEN datatype_mismatch THEN
			caught := caught + 1;
		END;
		IF md5(state::text) <> state_was THEN
			RETURN false;
		END IF;
		state := citus.cuckoo_agg_trans(state, -2);
	END LOOP;

	BEGIN
		UPDATE filters SET f = cf_add(f, -1) WHERE id <= 2;
		UPDATE filters SET f = cf_add(f, 'x'::text);
	EXCEPTION WHEN datatype_mismatch THEN
		caught := caught + 1;
	END;
	RETURN caught = 6;
END $$;
SELECT 'variables in plpgsql after errors', caught(), true, pg_backend_pid(), :pid;
SELECT 'rolled back by an exception block', untouched();
SQL

$node->stop;
done_testing();
