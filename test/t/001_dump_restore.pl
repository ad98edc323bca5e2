# Filters of all kinds come through pg_dump and COPY, in both formats of each,
# byte for byte and with all their elements, and so do objects whose
# definitions call the extension's functions. The extension works in any
# schema, can be moved to another, and can be created by any user who may
# create in the database.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('dump_restore');
my $file = $node->basedir . '/dump';

$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA s;
CREATE TYPE s.color AS ENUM ('red', 'green', 'blue', 'white');

-- how elements are made of numbers
CREATE TABLE s.kinds (kind text, element text);
INSERT INTO s.kinds VALUES ('text', '''value '' || i'), ('integer', 'i'), ('bytea', 'int4send(i)'),
	('uuid', 'md5(i::text)::uuid'), ('boolean', 'i > 1'), ('date', 'date ''2000-01-01'' + i'),
	('timestamp', 'timestamp ''2000-01-01'' + i * interval ''1 s'''),
	('timestamptz', 'timestamptz ''2000-01-01 00:00:00+00'' + i * interval ''1 s'''),
	('float', 'i / 7::float8'), ('numeric', 'i / 7::numeric'), ('inet', 'inet ''10.0.0.0'' + i'),
	('jsonb', 'to_jsonb(i)'), ('array', 'ARRAY[i, 2]'), ('color', '(enum_range(NULL::s.color))[i]');

-- the n elements of a kind that are not in a filter
CREATE FUNCTION s.missing(kind text, n int, f cuckoofilter) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM generate_series(1, %s) AS i WHERE cf_contains($1, %s) IS NOT TRUE',
		n, (SELECT element FROM s.kinds k WHERE k.kind = missing.kind)) INTO result USING f;
	RETURN result;
END $$;

-- built at once, some of them large enough to be TOASTed; empty; null
CREATE TABLE s.external (id serial, kind text, n int, f cuckoofilter);
DO $$
DECLARE
	k record;
BEGIN
	FOR k IN
		SELECT kind, element, least(n, CASE kind WHEN 'boolean' THEN 2 WHEN 'color' THEN 4 ELSE n END) AS n, parameters
		FROM s.kinds, (VALUES (300, '')) AS v(n, parameters)
		UNION ALL
		SELECT kind, element, v.n, parameters
		FROM s.kinds
		JOIN (VALUES ('text', 1, ''), ('text', 3000, ', 0.01'), ('text', 20000, ''), ('integer', 200000, ''),
			('integer', 5000, ', 10000000, 0.001, -5'), ('numeric', 50000, ', 1000, 0.000001'))
			AS v(kind, n, parameters) USING (kind)
	LOOP
		EXECUTE format('INSERT INTO s.external (kind, n, f) SELECT %L, %s, cf_agg(%s%s)
			FROM generate_series(1, %2$s) i', k.kind, k.n, k.element, k.parameters);
	END LOOP;
END $$;
INSERT INTO s.external (kind, n, f) VALUES ('text', 0, cf_new()), ('text', 0, cf_new(100000000, 0.00001, 3)),
	('text', 0, (SELECT cf_agg(NULL::text))), ('text', 0, NULL);

-- made by single changes, grown several times
DO $$
DECLARE
	f cuckoofilter := cf_new(500, 0.0001, 11);
BEGIN
	FOR i IN 1..5000 LOOP
		f := cf_add(cf_delete(cf_add(f, -i), -i), i);
		IF i % 100 = 0 THEN
			f := cf_add(f, i);
		END IF;
	END LOOP;
	INSERT INTO s.external (kind, n, f) VALUES ('integer', 5000, f), ('integer', 0, cf_clear(f));
END $$;

-- stored in every way; plain, where it fits a page
CREATE TABLE s.extended (LIKE s.external);
ALTER TABLE s.extended ALTER f SET STORAGE extended;
INSERT INTO s.extended SELECT * FROM s.external;
CREATE TABLE s.main (LIKE s.external);
ALTER TABLE s.main ALTER f SET STORAGE main;
INSERT INTO s.main SELECT * FROM s.external;
CREATE TABLE s.plain (LIKE s.external);
ALTER TABLE s.plain ALTER f SET STORAGE plain;
INSERT INTO s.plain SELECT * FROM s.external WHERE f IS NULL OR length(f::bytea) < 7000;

-- definitions that call functions
SELECT f AS filter FROM s.external WHERE kind = 'text' AND n = 300 \gset
CREATE TABLE s.words (id int, word text, f cuckoofilter DEFAULT cf_add(cf_new(1000, 0.01), 'first'::text),
	known boolean GENERATED ALWAYS AS (cf_contains(:'filter'::cuckoofilter, word)) STORED,
	CHECK (cf_contains(f, 'first'::text)), g cuckoofilter DEFAULT cf_new(1000, 0.01, 0, 'numeric'),
		h cuckoofilter DEFAULT cf_new(element => 's.color'));
INSERT INTO s.words VALUES (1, 'value 7'), (2, 'no value');
CREATE INDEX ON s.words (cf_contains(:'filter'::cuckoofilter, word), cf_count(f));
CREATE INDEX ON s.words (id) WHERE cf_contains(:'filter'::cuckoofilter, word);
CREATE VIEW s.known AS SELECT id
FROM s.words WHERE cf_contains((SELECT f FROM s.external WHERE kind = 'text' AND n = 300), word);
CREATE MATERIALIZED VIEW s.materialized AS SELECT cf_agg(word) AS f, cf_agg(word, 0.1) = cf_agg(word, 0.01) AS same
	FROM s.words;
CREATE FUNCTION s.is_known(word text) RETURNS boolean LANGUAGE sql AS
	'SELECT cf_contains(f, word) FROM s.external WHERE kind = ''text'' AND n = 300';
SQL

my @tables = qw(external extended main plain);
my $all = join ' UNION ALL ', map { "SELECT '$_' AS stored, * FROM s.$_" } @tables;
my $digest = "SELECT stored, id, kind, n, length(f::bytea), md5(f::bytea), cf_count(f) FROM ($all) a ORDER BY 1, 2";
my $expected = $node->safe_psql('postgres', $digest);

checks($node, 'postgres', <<"SQL");
SELECT 'stored ' || stored || ': short, inline, TOASTed as it should be',
	count(*), '> 15', count(*) FILTER (WHERE f IS NULL), 1,
	min(length(f::bytea)), '< 60', max(length(f::bytea)), CASE stored WHEN 'plain' THEN '> 3500' ELSE '> 300000' END,
	(SELECT (coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) > 0) = (stored <> 'plain')
		FROM pg_class WHERE oid = ('s.' || stored)::regclass), true
FROM ($all) a GROUP BY stored ORDER BY stored;
SQL

# Six tests that a database has all that it had
sub intact
{
	my ($database, $what) = @_;

	is($node->safe_psql($database, $digest), $expected, "$what: same bytes");
	$node->safe_psql($database, "INSERT INTO s.words VALUES (3, 'value 8')");
	checks($node, $database, <<"SQL");
SELECT '$what: all elements are found', sum(n), '> 800000', sum(s.missing(kind, n, f)), 0 FROM ($all) a;
SELECT '$what: column default', cf_contains(f, 'first'::text), true, cf_count(f), 1,
	cf_add(g, 1.5) = cf_add(cf_new(1000, 0.01), 1.5), true, g <> cf_new(1000, 0.01), true,
	(cf_info(h)).element_family, 'text' FROM s.words WHERE id = 3;
SELECT '$what: generated column', string_agg(known::text, ' ' ORDER BY id), 'true false true' FROM s.words;
SELECT '$what: views',
	(SELECT string_agg(id::text, ' ') FROM s.known), '1 3', cf_contains(f, 'no value'::text), true, same, false
FROM s.materialized;
SELECT '$what: function', s.is_known('value 9'), true, s.is_known('no value'), false;
DELETE FROM s.words WHERE id = 3;
SQL
}

sub succeeds
{
	$node->command_ok(\@_, $_[0]);
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(text custom schema schema_restored);

succeeds('pg_dump', '-f', $file, 'postgres');
succeeds('psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $file, 'text');
intact('text', 'pg_dump');

succeeds('pg_dump', '-Fc', '-f', $file, 'postgres');
succeeds('pg_restore', '--exit-on-error', '-d', 'custom', $file);
intact('custom', 'pg_dump -Fc');

# COPY
foreach my $format (qw(text binary))
{
	my $copies = join '', map
	{
		"COPY s.$_ TO '$file' (FORMAT $format); TRUNCATE s.$_; COPY s.$_ FROM '$file' (FORMAT $format);\n"
	} @tables;

	$node->safe_psql('text', $copies);
	intact('text', "COPY, $format");
}

# In a schema that is in no search path, and moved to another
sub works_in
{
	my ($database, $schema, $what) = @_;

	checks($node, $database, <<"SQL");
SELECT '$what: functions, operators, casts',
	$schema.cf_contains(f, 3), true, f OPERATOR($schema.=) f::bytea::$schema.cuckoofilter, true
FROM (SELECT $schema.cf_add($schema.cf_agg(i), 3) AS f FROM generate_series(1, 2) i) s;
INSERT INTO t DEFAULT VALUES;
SELECT '$what: column, default, view', count(*), 2, bool_and($schema.cf_contains(f, 'x'::text)), true,
	bool_and(known), true
FROM (SELECT f FROM t ORDER BY i DESC LIMIT 1) t, v;
SQL
}

$node->safe_psql('schema', <<'SQL');
CREATE SCHEMA "Some where";
CREATE EXTENSION cuckoo SCHEMA "Some where";
CREATE TABLE t (i serial, f "Some where".cuckoofilter DEFAULT "Some where".cf_add("Some where".cf_new(), 'x'::text));
CREATE VIEW v AS SELECT "Some where".cf_contains(f, 'x'::text) AS known FROM t;
INSERT INTO t DEFAULT VALUES;
SQL
works_in('schema', '"Some where"', 'in a schema');
succeeds('pg_dump', '-f', $file, 'schema');
succeeds('psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $file, 'schema_restored');
$node->safe_psql('schema_restored', 'DELETE FROM t WHERE i > 1');
works_in('schema_restored', '"Some where"', 'in a schema, restored');
$node->safe_psql('schema_restored',
	'CREATE SCHEMA moved; ALTER EXTENSION cuckoo SET SCHEMA moved; DELETE FROM t WHERE i > 1');
works_in('schema_restored', 'moved', 'moved to another schema');

# By a user who may create in the database, and by one who may not
$node->safe_psql('postgres',
	'CREATE ROLE creator LOGIN; CREATE ROLE other LOGIN; CREATE DATABASE trusted;
		GRANT CREATE ON DATABASE trusted TO creator');
my @as_other = (extra_params => [ '-U', 'other' ]);
my @as_creator = (extra_params => [ '-U', 'creator' ]);
my $errors;
$node->psql('trusted', 'CREATE EXTENSION cuckoo', @as_other, stderr => \$errors);
like($errors, qr/permission denied to create extension/, 'another user may not create the extension');
is($node->safe_psql('trusted', <<'SQL', @as_creator), 'f|3', 'a user who is no superuser may create the extension');
CREATE SCHEMA mine;
SET search_path = mine;
CREATE EXTENSION cuckoo;
SELECT usesuper, (SELECT cf_count(cf_agg(i)) FROM generate_series(1, 3) i) FROM pg_user WHERE usename = current_user;
SQL
is($node->safe_psql('trusted', 'DROP EXTENSION cuckoo; SELECT count(*) FROM pg_extension', @as_creator),
	'1', 'and drop it');

$node->stop;
done_testing();
