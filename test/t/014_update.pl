# ALTER EXTENSION UPDATE: a database that had an older version has the objects
# of a fresh one, with their definitions, comments, privileges and dependencies.
#
# test/frozen keeps the install script of each release as it was shipped, such
# as cuckoo--1.0.sql. Each is created and updated to today's version here. To
# see that this test would find a difference, it also makes up versions from
# today's script, which lack some objects. Update scripts then bring these
# back, or nearly.
#
# The scripts have to be where the server looks for them, so this needs
# test/throwaway.sh.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $frozen = "$top/test/frozen";
my $config = $ENV{PG_CONFIG} // 'pg_config';
my $folder = ($ENV{DESTDIR} // '') . `$config --sharedir`;
chomp $folder;
$folder .= '/extension';

plan skip_all => "needs a folder of extensions to write to: make check" if !-w $folder;

my $node = start_node('update');
my %default;
my @made;

END
{
	unlink @made;
}

sub content_of
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	local $/;
	return scalar <$file>;
}

# A script for the time of the test
sub script
{
	my ($name, $content) = @_;

	die "$name is there" if -e "$folder/$name";
	push @made, "$folder/$name";
	open my $file, '>', "$folder/$name" or die "$folder/$name: $!";
	print $file $content;
	close $file or die "$folder/$name: $!";
	return;
}

# Each row is an object of the extension, or says something of one. Objects are
# the extension's members and what goes with a member: the types of arrays,
# columns, entries of operator families. The rows are those of the catalogs
# themselves, so that nothing is left out, whatever the version of PostgreSQL,
# but instead of OIDs, which differ, they have the objects' names. Those of one
# extension may name objects of another one.
sub members_of
{
	my ($extensions) = @_;

	return <<"SQL";
WITH RECURSIVE member AS (
	SELECT 'pg_extension'::regclass::oid AS classid, oid AS objid FROM pg_extension WHERE extname ~ '^$extensions\$'
	UNION
	SELECT d.classid, d.objid FROM pg_depend d JOIN member m ON d.refclassid = m.classid AND d.refobjid = m.objid
	WHERE d.deptype IN ('e', 'i', 'a') AND d.refobjsubid = 0
)
SQL
}

sub objects_of
{
	my ($database, $extension, $script) = @_;
	my $closure = members_of($extension);
	# in one session, because most of the time would go to starting psql
	my ($names, $catalogs) = split /^--\n/m, $node->safe_psql($database, ($script // '')
		. members_of('.*') . "SELECT objid || E'\\t' || pg_describe_object(classid, objid, 0) FROM member;\n"
		. "\\echo --\n$closure SELECT DISTINCT classid::regclass FROM member");
	my %name = map { split /\t/, $_, 2 } split /\n/, $names;
	my @catalogs = split /\n/, $catalogs;
	my %of =
		(pg_aggregate => 'aggfnoid', pg_attribute => 'attrelid', pg_description => 'objoid', pg_init_privs => 'objoid',
			pg_depend => 'objid');
	my $query = join ' UNION ALL ', map {
		my $oid = $of{$_} // 'oid';
		my $members = 'SELECT objid FROM member' . ($of{$_} ? '' : " WHERE classid = 'pg_catalog.$_'::regclass");

		"SELECT '$_ ' || c.${oid}::oid || E'\\t' || (to_jsonb(c) - 'oid')::text
			FROM pg_catalog.$_ c WHERE c.${oid}::oid IN ($members)"
	} sort keys %of, @catalogs;
	my @rows = split /\n/, $node->safe_psql($database, "$closure $query");

	foreach (@rows)
	{
		# positions in the text of a statement
		s/:(?:stmt_)?(?:location|len) -?\d+//g;
		# see 013_upgrade.pl
		s/"attoptions": \["pg_attver=\d+"\]/"attoptions": null/;
		s/\b(\d{5,})\b/exists $name{$1} ? "<$name{$1}>" : $1/ge;
	}
	return [ sort @rows ];
}

# What one list has and the other lacks
sub differences
{
	my ($a, $b) = @_;
	my %seen = map { $_ => 1 } @$b;
	my @only = grep { !delete $seen{$_} } @$a;

	return ((map { "- $_" } @only), (map { "+ $_" } sort keys %seen));
}

# The objects of an extension that was created at a version and updated
sub updated
{
	my ($extension, $version) = @_;

	# what it requires comes with it
	return objects_of('updated', $extension, "DROP EXTENSION IF EXISTS cuckoo CASCADE;
		DROP SCHEMA IF EXISTS elsewhere; DROP FUNCTION IF EXISTS cf_overlap;
		CREATE EXTENSION $extension VERSION '$version' CASCADE; ALTER EXTENSION $extension UPDATE;\n");
}

# ---- today's versions ------------------------------------------------------

my @extensions = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'")
	? ('cuckoo', 'cuckoo_citus') : ('cuckoo');
my %fresh;

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('postgres', 'CREATE DATABASE updated');
foreach my $extension (@extensions)
{
	$node->safe_psql('fresh', "CREATE EXTENSION $extension CASCADE");
	$default{$extension} =
		$node->safe_psql('fresh', "SELECT extversion FROM pg_extension WHERE extname = '$extension'");
	$fresh{$extension} = objects_of('fresh', $extension);
}
cmp_ok(scalar @{ $fresh{cuckoo} }, '>', 500, scalar @{ $fresh{cuckoo} } . ' rows are compared');
is(scalar(grep { /(?<![\d.])(1[6-9]\d{3}|[2-9]\d{4})(?![\d.])/ && !/^pg_description / } @{ $fresh{cuckoo} }), 0,
	'no row has the number of an object left');
is_deeply([ differences($fresh{cuckoo}, updated('cuckoo', $default{cuckoo})) ], [], 'two fresh ones are the same');

# PostgreSQL 18 and later show the release of a library
if ($node->safe_psql('postgres', "SELECT to_regproc('pg_get_loaded_modules') IS NOT NULL") eq 't')
{
	is($node->safe_psql('postgres',
		"LOAD 'cuckoo'; SELECT version FROM pg_get_loaded_modules() WHERE module_name = 'cuckoo'"),
		content_of("$top/META.json") =~ /^  "version": "(.*?)"/m ? $1 : '', 'the library has the release of META.json');
}

# ---- releases --------------------------------------------------------------

foreach my $extension (@extensions)
{
	my $today = content_of("$folder/$extension--$default{$extension}.sql");

	# a release that has all of today's objects
	script("$extension--0.0.sql", $today);
	script("$extension--0.0--$default{$extension}.sql", '');
	is_deeply([ differences($fresh{$extension}, updated($extension, '0.0')) ], [],
		"$extension, updated by nothing, is as a fresh one");

	foreach my $path (glob "$frozen/$extension--*.sql")
	{
		my ($version) = $path =~ /--(.*)\.sql$/;

		if ($version eq $default{$extension})
		{
			is($today, content_of($path), "$extension $version is as it was released");
			next;
		}
		script("$extension--$version.sql", content_of($path));
		is_deeply([ differences($fresh{$extension}, updated($extension, $version)) ], [],
			"$extension $version, updated, is as a fresh one");
	}
	foreach my $path (glob "$top/sql/$extension--*--*.sql")
	{
		my ($version) = $path =~ /--(.*)--/;

		ok(-e "$frozen/$extension--$version.sql", "test/frozen has $extension $version, which can be updated");
	}
}

# ---- versions made up ------------------------------------------------------

# without the statements about some objects, which are returned as the second
sub without
{
	my ($script, $pattern) = @_;
	my @statements = split /(?<=;)\n(?=\S|\n)/, $script;
	my @taken = grep { /$pattern/ } @statements;

	return (join("\n", grep { !/$pattern/ } @statements) . "\n", join("\n", @taken) . "\n");
}

my $script = content_of("$folder/cuckoo--$default{cuckoo}.sql");
my ($old, $new) = without($script,
	qr/\bcf_overlap\(|\bcf_intersect|OPERATOR & |CAST \(bytea|cuckoofilter_added|cf_add_unique_each|cf_union_all_agg/);
my $begin = "\\echo Use \"ALTER EXTENSION cuckoo UPDATE\" to load this file. \\quit\n";
my $number = 0;

# The differences after an update from a version made up
sub after
{
	my ($update) = @_;
	my $version = '0.' . ++$number;

	script("cuckoo--$version.sql", $old);
	script("cuckoo--$version--$default{cuckoo}.sql", "$begin$update");
	return differences($fresh{cuckoo}, updated('cuckoo', $version));
}

like($old, qr/CREATE AGGREGATE cf_union_agg/, 'an old version has most objects');
like($new, qr/CREATE FUNCTION cf_overlap\(.*CREATE OPERATOR & .*CREATE AGGREGATE cf_union_all_agg/s, 'and lacks some');
is_deeply([ after($new) ], [], 'an update that brings what is missing is complete');

# each is a statement at the end of such an update, or a change of it
foreach (
	[ 'a comment is missing', sub { s/COMMENT ON FUNCTION cf_overlap.*?;\n//s } ],
	[ 'a comment differs', "COMMENT ON OPERATOR & (cuckoofilter, cuckoofilter) IS 'another'" ],
	[ 'a comment on the old part differs', "COMMENT ON FUNCTION cf_add(cuckoofilter, anycompatible) IS 'another'" ],
	[ 'a function is missing',
		sub { s/CREATE FUNCTION cf_overlap.*?;\n(?=COMMENT)//s; s/COMMENT ON FUNCTION cf_overlap.*?;\n//s } ],
	[ 'a function is left', "CREATE FUNCTION cf_old() RETURNS int LANGUAGE sql AS 'SELECT 1'" ],
	[ 'costs differ', sub { s/(CREATE FUNCTION cf_overlap.*?COST )1000/${1}999/s } ],
	[ 'a function is not parallel safe', 'ALTER FUNCTION cf_overlap(cuckoofilter, cuckoofilter) PARALLEL UNSAFE' ],
	[ 'a function is not strict', 'ALTER FUNCTION cf_overlap(cuckoofilter, cuckoofilter) CALLED ON NULL INPUT' ],
	[ 'a function is another in C',
		sub { s/(CREATE FUNCTION cf_overlap\(.*?'MODULE_PATHNAME')/$1, 'cf_overlap_info'/s } ],
	[ 'a setting differs', 'ALTER FUNCTION cf_overlap(cuckoofilter, cuckoofilter) SET work_mem = 64' ],
	[ 'the name of an argument differs', sub { s/(CREATE FUNCTION cf_overlap\()a/${1}f/ } ],
	[ 'the default of an argument differs',
		'CREATE OR REPLACE FUNCTION cf_hash(element anycompatible, seed bigint DEFAULT 1) RETURNS bigint
AS \'MODULE_PATHNAME\' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE' ],
	[ 'a support function is missing',
		'CREATE OR REPLACE FUNCTION cf_contains(filter cuckoofilter, element anycompatible)
RETURNS boolean AS \'MODULE_PATHNAME\' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE' ],
	[ 'privileges differ', 'REVOKE ALL ON FUNCTION cf_overlap(cuckoofilter, cuckoofilter) FROM PUBLIC' ],
	[ 'an operator has no commutator', sub { s/(CREATE OPERATOR & .*?),\s+COMMUTATOR = &/$1/s } ],
	[ 'selectivity differs', 'ALTER OPERATOR @> (cuckoofilter, anycompatible) SET (JOIN = contjoinsel)' ],
	[ 'a cast is assignable', sub { s/(CREATE CAST \(bytea[^;]*)/$1 AS ASSIGNMENT/ } ],
	[ 'an aggregate is parallel safe', sub { s/(CREATE AGGREGATE cf_union_all_agg.*?PARALLEL = )RESTRICTED/$1SAFE/s } ],
	[ 'an aggregate has another final function',
		sub { s/(CREATE AGGREGATE cf_union_all_agg.*?FINALFUNC = )cf_canonical/$1cf_clear/s } ],
	[ 'storage differs', 'ALTER TYPE cuckoofilter SET (STORAGE = extended)' ],
	[ 'a column has another name', 'ALTER TYPE cuckoofilter_added RENAME ATTRIBUTE added TO new' ],
	[ 'an operator family has one operator more',
		'ALTER OPERATOR FAMILY cuckoofilter_hash_ops USING hash ADD OPERATOR 1 = (bytea, bytea)' ],
	[ 'an object is no member', 'ALTER EXTENSION cuckoo DROP FUNCTION cf_overlap(cuckoofilter, cuckoofilter)' ],
	[ 'an object has another schema',
		'CREATE SCHEMA elsewhere; ALTER FUNCTION cf_overlap(cuckoofilter, cuckoofilter) SET SCHEMA elsewhere' ],
  )
{
	my ($what, $change) = @$_;
	my $update = $new;

	if (ref $change)
	{
		local $_ = $update;
		$change->();
		$update = $_;
		isnt($update, $new, "$what: made up");
	}
	else
	{
		$update .= "$change;\n";
	}
	my @found = after($update);

	cmp_ok(scalar @found, '>', 0, "$what: found");
	note(map { substr($_, 0, 150) . "\n" } @found);
}

# ---- a database in use -----------------------------------------------------

# Its owner, who is no superuser, updates it. The update also replaces a function
# that has callers. All that the old version stored goes on, and can be restored.
my $in_use = <<'SQL';
SELECT 'filters have their bytes', bool_and(md5(f::bytea) = digest), true, count(*), 3 FROM filters;
SELECT 'views and generated columns', (SELECT count(*) FROM listed), '500 to 510',
	(SELECT cf_contains(f, 1000) FROM united), true, bool_and(known OR i > 500), true FROM rows;
SELECT 'indexes have all rows', cf_index_check('rows_i') + cf_index_check('rows_2'), 2000;
SET enable_seqscan = off;
SELECT 'an index scan', count(*), 1 FROM rows WHERE i = 17;
SELECT 'new functions', cf_overlap(a.f, b.f), '> 0', cf_contains(a.f & b.f, 7), true
FROM filters a, filters b WHERE a.n = 500 AND b.n = 1000;
INSERT INTO rows SELECT generate_series(1001, 2000);
SELECT 'new rows', count(*), 1 FROM rows WHERE i = 1017;
DELETE FROM rows WHERE i > 1000;
SQL
my ($replaced) = $script =~ /(CREATE FUNCTION cf_contains\(filter .*?;\n)/s;
my $version = '0.' . ++$number;

script("cuckoo--$version.sql", $old);
script("cuckoo--$version--$default{cuckoo}.sql", "$begin$new" . $replaced =~ s/CREATE/CREATE OR REPLACE/r);
$node->safe_psql('postgres', $_)
	foreach ('CREATE ROLE owner LOGIN', map { "CREATE DATABASE $_ OWNER owner" } qw(used restored));
checks($node, 'used', <<"SQL");
SET SESSION AUTHORIZATION owner;
CREATE EXTENSION cuckoo VERSION '$version';
CREATE TABLE filters AS SELECT n, f, md5(f::bytea) AS digest FROM (SELECT n, cf_agg(i, 2000, 0.001) AS f
	FROM generate_series(1, 1000) i, (VALUES (10), (500), (1000)) v(n) WHERE i <= n GROUP BY n) f;
SELECT f AS filter FROM filters WHERE n = 500 \\gset
CREATE TABLE rows (i int, known boolean GENERATED ALWAYS AS (cf_contains(:'filter'::cuckoofilter, i)) STORED);
INSERT INTO rows SELECT generate_series(1, 1000);
CREATE INDEX rows_i ON rows USING cuckoo (i);
CREATE INDEX rows_2 ON rows USING cuckoo (i, known);
CREATE VIEW listed AS SELECT i FROM rows WHERE cf_contains((SELECT f FROM filters WHERE n = 500), i);
CREATE VIEW united AS SELECT cf_union_agg(f) AS f FROM filters;
PREPARE contains (int) AS SELECT cf_contains(f, \$1) AS contains FROM filters WHERE n = 10;
EXECUTE contains (10) \\g /dev/null
ALTER EXTENSION cuckoo UPDATE;
EXECUTE contains (10) \\gset
SELECT 'a prepared statement', :'contains';
$in_use
SQL
my @as_owner = ('-U', 'owner', '-d');

command_ok([ 'pg_dump', '-f', $node->basedir . '/dump', @as_owner, $node->connstr('used') ], 'pg_dump after it');
command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $node->basedir . '/dump', @as_owner, $node->connstr('restored') ],
	'restore');
checks($node, 'restored', $in_use =~ s/^SELECT '/SELECT 'restored: /gmr);
is_deeply([ differences(objects_of('used', 'cuckoo'), objects_of('restored', 'cuckoo')) ], [],
	'both have the same objects');

$node->stop;
done_testing();
