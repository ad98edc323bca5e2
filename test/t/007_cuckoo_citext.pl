# Views and materialized views over cf_agg of citext are, after a dump and a
# restore, what they were: text without the extension cuckoo_citext, citext with
# it. The extension may be created by whoever may create in the database.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('cuckoo_citext');
my $file = $node->basedir . '/dump';

if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") eq '0')
{
	plan skip_all => 'this PostgreSQL has no citext';
}

my $kinds = join ', ', map { "cf_agg($_) AS f$_, md5(cf_agg($_)::bytea) AS md5$_, (cf_info(cf_agg($_))).element_family AS family$_, cf_count(cf_agg($_)) AS items$_" } qw(c e t);
foreach my $with (0, 1)
{
	my $name = $with ? 'with_it' : 'without';

	$node->safe_psql('postgres', "CREATE DATABASE $name; CREATE DATABASE ${name}_text; CREATE DATABASE ${name}_custom");
	$node->safe_psql($name, 'CREATE EXTENSION cuckoo; CREATE EXTENSION citext;' . ($with ? 'CREATE EXTENSION cuckoo_citext;' : '') . <<"SQL");
CREATE DOMAIN email AS citext;
CREATE TABLE people AS SELECT c::citext, c::email AS e, c AS t
	FROM (SELECT (CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END) || i / 2 AS c FROM generate_series(2, 401) i) s;
CREATE VIEW v AS SELECT $kinds, cf_agg(c::text) AS casted, cf_agg(t::citext) AS cast_to FROM people;
CREATE MATERIALIZED VIEW m AS TABLE v;
CREATE VIEW w AS SELECT cf_agg(c) OVER w AS c, cf_agg(c::text) OVER w AS t FROM people WINDOW w AS () LIMIT 1;
SQL
	is($node->safe_psql($name, 'SELECT familyc, itemsc, familye, itemse, familyt, itemst FROM v'),
		$with ? 'other|200|other|200|text|400' : 'text|400|text|400|text|400', "$name: families");

	my $all = 'SELECT v::text, m::text, w::text FROM v, m, w';
	my $before = $node->safe_psql($name, $all);
	my $refresh = "REFRESH MATERIALIZED VIEW m; $all";

	$node->command_ok([ 'pg_dump', '-f', $file, $name ], "$name: pg_dump");
	$node->command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $file, "${name}_text" ], "$name: psql");
	is($node->safe_psql("${name}_text", $all), $before, "$name: same families and bytes");
	is($node->safe_psql("${name}_text", $refresh), $before, "$name: and after REFRESH");
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, "${name}_text" ], "$name: pg_dump -Fc of the restored one");
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', "${name}_custom", $file ], "$name: pg_restore");
	is($node->safe_psql("${name}_custom", $refresh), $before, "$name: same families and bytes again");
}

$node->safe_psql('postgres', 'CREATE ROLE creator LOGIN; CREATE DATABASE trusted; GRANT CREATE ON DATABASE trusted TO creator');
is($node->safe_psql('trusted', <<'SQL', extra_params => [ '-U', 'creator' ]), 'f|1', 'a user who is no superuser may create the extension');
CREATE SCHEMA mine;
SET search_path = mine;
CREATE EXTENSION cuckoo_citext CASCADE;
SELECT usesuper, (SELECT cf_count(cf_agg(v)) FROM (VALUES ('a'::citext), ('A')) t(v)) FROM pg_user WHERE usename = current_user;
SQL

$node->stop;
done_testing();
