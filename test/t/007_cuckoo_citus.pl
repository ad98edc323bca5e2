# Views and materialized views over cf_agg have, after a dump and a restore, the
# bytes that they had. This holds with the extension cuckoo_citus and without, and
# citext follows its own equality in both. A view that was made with cuckoo_citus
# depends on it. The extension may be created by whoever may create in the database.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('cuckoo_citus');
my $file = $node->basedir . '/dump';

if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") eq '0')
{
	plan skip_all => 'this PostgreSQL has no citext';
}

my $kinds = join ', ', map {
	"cf_agg($_) AS f$_, md5(cf_agg($_)::bytea) AS md5$_, "
	  . "(cf_info(cf_agg($_))).element_family AS family$_, cf_count(cf_agg($_)) AS items$_"
} qw(c e t n);
my $all = 'SELECT v::text, m::text, w::text, early::text FROM v, m, w, early';
my $refresh = "REFRESH MATERIALIZED VIEW m; $all";

# views and materialized views that have a variant of cuckoo_citus
my $dependents = <<'SQL';
SELECT string_agg(DISTINCT r.ev_class::regclass::text, ' ')
FROM pg_extension e
	JOIN pg_depend m ON m.refclassid = 'pg_extension'::regclass AND m.refobjid = e.oid AND m.deptype = 'e'
	JOIN pg_depend d ON d.refclassid = m.classid AND d.refobjid = m.objid AND d.classid = 'pg_rewrite'::regclass
	JOIN pg_rewrite r ON r.oid = d.objid
WHERE extname = 'cuckoo_citus'
SQL
my %before;

foreach my $with (0, 1)
{
	my $name = $with ? 'with_it' : 'without';

	$node->safe_psql('postgres', "CREATE DATABASE $name; CREATE DATABASE ${name}_text; CREATE DATABASE ${name}_custom");
	$node->safe_psql($name, <<'SQL' . ($with ? 'CREATE EXTENSION cuckoo_citus;' : '') . <<"SQL");
CREATE EXTENSION cuckoo;
CREATE EXTENSION citext;
CREATE DOMAIN email AS citext;
CREATE TABLE people AS SELECT c::citext, c::email AS e, c AS t, length(c)::numeric AS n
	FROM (SELECT (CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END) || i / 2 AS c FROM generate_series(2, 401) i) s;
CREATE VIEW early AS SELECT cf_agg(c, 0.01) AS c, cf_agg(t, 1000, 0.01) AS t FROM people;
SQL
CREATE VIEW v AS
	SELECT $kinds, cf_agg(c::text) AS casted, cf_agg(t::citext) AS cast_to, cf_agg(t, 1000, 0.01, 7) AS sized
FROM people;
CREATE MATERIALIZED VIEW m AS TABLE v;
CREATE VIEW w AS SELECT cf_agg(c) OVER w AS c, cf_agg(c::text) OVER w AS t FROM people WINDOW w AS () LIMIT 1;
SQL
	is($node->safe_psql($name, 'SELECT familyc, itemsc, familye, itemse, familyt, itemst FROM v'),
		'other|200|other|200|text|400', "$name: families");
	is($node->safe_psql($name, $dependents), $with ? 'v w' : '', "$name: views that need cuckoo_citus");

	$before{$name} = $node->safe_psql($name, $all);
	$node->command_ok([ 'pg_dump', '-f', $file, $name ], "$name: pg_dump");
	$node->command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $file, "${name}_text" ], "$name: psql");
	is($node->safe_psql("${name}_text", $all), $before{$name}, "$name: same families and bytes");
	is($node->safe_psql("${name}_text", $refresh), $before{$name}, "$name: and after REFRESH");
	# written out, a view has no variant of its own: it gets the variant of the type
	is($node->safe_psql("${name}_text", $dependents), $with ? 'early v w' : '',
		"$name: restored views that need cuckoo_citus");
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, "${name}_text" ], "$name: pg_dump -Fc of the restored one");
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', "${name}_custom", $file ], "$name: pg_restore");
	is($node->safe_psql("${name}_custom", $refresh), $before{$name}, "$name: same families and bytes again");
}
is($before{with_it}, $before{without}, 'with it they are as without');

# Dropping it
my $errors;

$node->psql('with_it', 'DROP EXTENSION cuckoo_citus', stderr => \$errors);
like($errors, qr/cannot drop extension cuckoo_citus .*view v depends on function cf_agg\(/s,
	'views keep it from being dropped');
$node->psql('with_it', 'DROP EXTENSION cuckoo', stderr => \$errors);
like($errors, qr/cannot drop extension cuckoo .*extension cuckoo_citus depends on/s, 'and it keeps cuckoo');
is($node->safe_psql('with_it',
	"DROP EXTENSION cuckoo_citus CASCADE;
	SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
	WHERE relkind IN ('v', 'm') AND relnamespace = 'public'::regnamespace"),
	'early', 'with CASCADE they go, but not the view that was made before');

$node->safe_psql('postgres',
	'CREATE ROLE creator LOGIN; CREATE DATABASE trusted; GRANT CREATE ON DATABASE trusted TO creator');
is($node->safe_psql('trusted', <<'SQL', extra_params => [ '-U', 'creator' ]), 'f|1|1',
CREATE SCHEMA mine;
SET search_path = mine;
CREATE EXTENSION cuckoo_citus CASCADE;
SELECT usesuper, (SELECT cf_count(cf_agg(v)) FROM (VALUES ('a'::citext), ('A')) t(v)),
	(SELECT cf_count(cf_agg(v)) FROM (VALUES (1), (1)) t(v)) FROM pg_user WHERE usename = current_user;
SQL
	'a user who is no superuser may create the extension');

$node->stop;
done_testing();
