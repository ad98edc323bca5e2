# Another major version: pg_upgrade, and pg_dump with a restore, keep the bytes of
# stored filters, and the answers. So do indexes, views, materialized
# views and whatever else calls the extension.
#
# By itself this test goes from the server's version to the same one.
# UPGRADE_FROM and UPGRADE_TO name the folders of others, such as
# /usr/lib/postgresql/15, where the extension is installed; test/versions.sh
# upgrade sets them. A dump may go to an older version, too. UPGRADE_OPTIONS are
# for pg_upgrade, such as --link.
#
# Filters of the family other are probed as well, although PostgreSQL does not
# promise that its hash functions stay, because so far they have.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $fixtures = "$FindBin::RealBin/../fixtures";
my $from = server_of('upgrade_from', $ENV{UPGRADE_FROM});
my $to = server_of('upgrade_to', $ENV{UPGRADE_TO});
my ($from_version, $to_version) = map { version_of($_) } $from, $to;
my $options = $ENV{UPGRADE_OPTIONS} // '';
my $dump = $from->basedir . '/dump';

# A running server of the version in a folder. pg_upgrade wants both to have
# checksums or neither, and 18 is the first to make them unasked.
sub server_of
{
	my ($name, $path) = @_;
	my $node = new_node($name, defined $path ? (install_path => $path) : ());
	my $help = `@{[ defined $path ? "$path/bin/" : '' ]}initdb --help`;

	$node->init(extra => [ $help =~ /--no-data-checksums/ ? '--no-data-checksums' : () ]);
	# a root made for two versions lacks the LLVM of one
	$node->append_conf('postgresql.conf', "fsync = off\njit = off\n");
	$node->start;
	return $node;
}

# The major version of a node
sub version_of
{
	my ($node) = @_;

	return $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int / 10000");
}

# The program of a node's own version
sub program
{
	my ($node, $name) = @_;
	my $path = $node eq $from ? $ENV{UPGRADE_FROM} : $ENV{UPGRADE_TO};

	return defined $path ? "$path/bin/$name" : $name;
}

sub lines_of
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	chomp(my @lines = <$file>);
	return grep { $_ ne '' } @lines;
}

sub quoted
{
	return join ', ', map { my $s = $_; $s =~ s/'/''/g; "'$s'" } @_;
}

# ---- what is stored --------------------------------------------------------

my $filters = join ",\n", map { '(' . quoted((split /\t/)[0 .. 5, 7]) . ')' } lines_of("$fixtures/filters.txt");
my $functions = join "\n", lines_of("$fixtures/functions.sql");

# tables of each storage; TOASTed filters; changed, merged and grown ones
$from->safe_psql('postgres', <<"SQL");
CREATE EXTENSION cuckoo;
CREATE TYPE color AS ENUM ('red', 'green', 'blue', 'white');
$functions
CREATE TABLE filters AS SELECT name, element, n::int, items::bigint, copies::bigint, answers, image::cuckoofilter AS f
FROM (VALUES $filters) v(name, element, n, items, copies, answers, image);

CREATE TABLE large (name text PRIMARY KEY, element text, n int, f cuckoofilter);
INSERT INTO large SELECT 'integers', 'i', 200000, cf_agg(i) FROM generate_series(1, 200000) i;
INSERT INTO large SELECT 'texts', '''value '' || i', 50000, cf_agg('value ' || i, 0.00001)
FROM generate_series(1, 50000) i;
INSERT INTO large SELECT 'numerics', 'i / 7::numeric', 20000, cf_agg(i / 7::numeric, 1000000, 0.001)
FROM generate_series(1, 20000) i;
CREATE TABLE extended (LIKE large);
ALTER TABLE extended ALTER f SET STORAGE extended;
INSERT INTO extended TABLE large;
CREATE TABLE hashed (f cuckoofilter);
INSERT INTO hashed SELECT f FROM filters;
CREATE INDEX ON hashed USING hash (f);

CREATE TABLE words AS SELECT i AS id, 'value ' || i AS word FROM generate_series(1, 2000) i;
DO \$\$
BEGIN
	EXECUTE format('CREATE INDEX known ON words (id) WHERE cf_contains(%L::cuckoofilter, word)', f)
	FROM filters WHERE name = 'family text';
	EXECUTE format('ALTER TABLE words ADD listed boolean
		GENERATED ALWAYS AS (cf_contains(%L::cuckoofilter, word)) STORED', f)
	FROM filters WHERE name = 'family text';
END \$\$;
CREATE INDEX counted ON large (cf_count(f));
CREATE TABLE owners (id int,
	seen cuckoofilter DEFAULT cf_new(1000, 0.01, element => 'bigint') CHECK (cf_count(seen) < 900));
INSERT INTO owners SELECT i, cf_add(cf_new(1000, 0.01), i) FROM generate_series(1, 100) i;
-- a composite type, of which the statistics have values
CREATE TYPE labelled AS (label text, f cuckoofilter);
CREATE TABLE composites AS SELECT row('id', seen)::labelled AS l FROM owners, generate_series(1, 10) WHERE id < 4;
ANALYZE composites;
CREATE VIEW listed AS SELECT id FROM words WHERE cf_contains((SELECT f FROM large WHERE name = 'texts'), word);
CREATE VIEW aggregated AS SELECT cf_agg(word) AS exact, cf_agg(word, 5000, 0.01, 3) AS sized, cf_agg(id, 0.1) AS ids
	FROM words WHERE word = 'value 7';
CREATE VIEW united AS SELECT cf_union_agg(seen) AS f, cf_overlap(cf_union_agg(seen), cf_union_all_agg(seen)) AS shared
FROM owners;
CREATE MATERIALIZED VIEW stored_united AS TABLE united;
CREATE MATERIALIZED VIEW stored_words AS SELECT id % 10 AS part, cf_agg(word) AS f FROM words GROUP BY 1;
CREATE UNIQUE INDEX ON stored_words (part);
CREATE FUNCTION is_listed(word text) RETURNS boolean LANGUAGE sql
	AS 'SELECT word <@ f FROM large WHERE name = ''texts''';

-- indexes; enums are hashed by OID
CREATE INDEX words_id ON words USING cuckoo (id);
CREATE INDEX words_word ON words USING cuckoo (upper(word)) WHERE id > 1000;
CREATE TABLE indexed AS SELECT i, (enum_range(NULL::color))[i % 3 + 1] AS c, int4range(i, i + 5) AS r
FROM generate_series(1, 2000) i;
CREATE INDEX indexed_c ON indexed USING cuckoo (c);
CREATE INDEX indexed_i ON indexed USING cuckoo (i);
CREATE INDEX indexed_r ON indexed USING cuckoo (r);
CREATE TABLE spread AS SELECT i % 2 AS few, i AS k, repeat('x', 900) AS pad FROM generate_series(1, 6000) i;
CREATE INDEX spread_few ON spread USING cuckoo (few);
CREATE INDEX spread_text ON spread USING cuckoo ((k || ' text')) WITH (fillfactor = 50);
CREATE TABLE parts (part int, k numeric,
	f cuckoofilter GENERATED ALWAYS AS (cf_add(cf_new(10, 0.001, element => 'numeric'), k)) STORED)
PARTITION BY LIST (part);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE INDEX parts_k ON parts USING cuckoo (k);
CREATE INDEX parts_2 ON parts USING cuckoo (part, k);
INSERT INTO parts SELECT i % 2, i / 4::numeric FROM generate_series(1, 1000) i;
CREATE TRIGGER parts_once AFTER INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('parts_k');
CREATE TABLE links (url text, EXCLUDE USING cuckoo (url WITH =));
INSERT INTO links SELECT 'https://site.example/' || i FROM generate_series(1, 2000) i;
CREATE UNLOGGED TABLE fast AS SELECT i AS k FROM generate_series(1, 2000) i;
CREATE INDEX fast_k ON fast USING cuckoo (k);
CREATE INDEX fast_expression ON fast USING cuckoo ((k + 1));
CREATE TABLE digests (place text, digest text, PRIMARY KEY (place));
SQL
my $unique = $from_version >= 18 && $to_version >= 18 ? 1 : 0;
$from->safe_psql('postgres', 'CREATE UNIQUE INDEX indexed_unique ON indexed USING cuckoo (i)') if $unique;

# the same calls of variants for single types
my $citus = 2 ==
  grep { $_->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") } $from, $to;
my $by_citext = $citus ? ', cf_agg(word::citext) AS by_citext' : '';

$from->safe_psql('postgres', 'CREATE EXTENSION cuckoo_citus CASCADE') if $citus;
$from->safe_psql('postgres',
	"CREATE VIEW by_citus AS SELECT cf_agg(word) AS texts, cf_agg(id) AS ids$by_citext FROM words");

# digests of all that is stored; the last table is where they were put before
my $digests = <<'SQL';
SELECT 'filters ' || name AS place, md5(f::bytea) AS digest FROM filters
UNION ALL SELECT 'large ' || name, md5(f::bytea) FROM large
UNION ALL SELECT 'extended ' || name, md5(f::bytea) FROM extended
UNION ALL SELECT 'owners ' || id, md5(seen::bytea) FROM owners
UNION ALL SELECT 'united', md5(f::bytea) || shared FROM stored_united
UNION ALL SELECT 'words ' || part, md5(f::bytea) FROM stored_words
UNION ALL SELECT 'part ' || k, md5(f::bytea) FROM parts
UNION ALL SELECT 'view aggregated', md5(aggregated::text) FROM aggregated
UNION ALL SELECT 'view by_citus', md5(by_citus::text) FROM by_citus
UNION ALL SELECT 'view united', md5(united::text) FROM united
UNION ALL SELECT 'composites', md5(string_agg((l).label || (l).f::text, ' ' ORDER BY (l).f::text)) FROM composites
UNION ALL SELECT 'view listed', md5(string_agg(id::text, ' ' ORDER BY id)) FROM listed
UNION ALL SELECT 'new filter', md5(cf_agg(i)::bytea) FROM generate_series(1, 1000) i
SQL
$from->safe_psql('postgres', "INSERT INTO digests $digests");

# A server has all of it, and all of it works
sub intact
{
	my ($node, $database, $how) = @_;
	my $missing = 'SELECT sum(missing) FROM';

	checks($node, $database, <<"SQL");
SELECT '$how: the same bytes', count(*), '> 250', count(*) FILTER (WHERE d.digest IS DISTINCT FROM a.digest), 0
FROM digests d FULL JOIN ($digests) a USING (place);
SELECT '$how: filters answer the same', count(*), 0 FROM filters s, fixture_facts(f, element, n) found
WHERE (found.items, found.missing, found.copies, found.answers) IS DISTINCT FROM (s.items, 0, s.copies, s.answers);
SELECT '$how: no element is missing of large filters', ($missing large, fixture_facts(f, element, n)), 0,
	($missing extended, fixture_facts(f, element, n)), 0;
SET enable_seqscan = off;
SELECT '$how: a hash index finds each filter', count(*), 143
FROM filters f
WHERE (SELECT count(*) FROM hashed h WHERE h.f = f.f) = (SELECT count(*) FROM filters g WHERE g.f::bytea = f.f::bytea);
SELECT '$how: partial and functional indexes',
	(SELECT count(*) FROM words WHERE cf_contains(f, word) AND id > 0), '40 to 60',
	(SELECT count(*) FROM large WHERE cf_count(large.f) BETWEEN 1 AND 100000), 2
FROM filters f WHERE name = 'family text';
RESET enable_seqscan;
SELECT '$how: generated column',
	bool_and(listed = (SELECT cf_contains(f, word) FROM filters WHERE name = 'family text')) FROM words;
SELECT '$how: views', (SELECT count(*) FROM listed), 2000, cf_contains_all(f, ARRAY[1, 50, 100]), true FROM united;
REFRESH MATERIALIZED VIEW stored_united;
REFRESH MATERIALIZED VIEW CONCURRENTLY stored_words;
SELECT '$how: refreshed', count(*), 0
FROM digests d FULL JOIN ($digests) a USING (place) WHERE d.digest IS DISTINCT FROM a.digest;
SELECT '$how: function', is_listed('value 7'), true, is_listed('value 0'), false;
SELECT '$how: indexes', cf_index_check('words_id'), 2000, cf_index_check('words_word'), 1000,
	cf_index_check('indexed_c'), 2000;
SET enable_seqscan = off;
SELECT '$how: an index finds rows', count(*), 21, min(i), 1, max(i), 1981
FROM indexed WHERE i = ANY (ARRAY(SELECT 99 * k - 98 FROM generate_series(1, 21) k));
SELECT '$how: a partial index of an expression finds a row', count(*), 1, min(id), 1001
FROM words WHERE upper(word) = 'VALUE 1001' AND id > 1000;
SELECT '$how: ranges', count(*), 1 FROM indexed WHERE r = int4range(7, 12);
SELECT '$how: values in many blocks', count(*), 3000 FROM spread WHERE few = 1;
SELECT '$how: partitions', count(*), 1, min(part), 1, bool_and(cf_contains(f, k)), true FROM parts WHERE k = 0.25;
SELECT '$how: an unlogged table', count(*), 1 FROM fast WHERE k = 1999;
RESET enable_seqscan;
SELECT '$how: ten more indexes', sum(cf_index_check(indexrelid)), 6000 * 2 + 1000 * 2 + 2000 * 2
FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE relkind = 'i' AND relname ~ '^(spread|parts|fast)_';
SELECT '$how: an index of ranges', cf_index_check('indexed_r'), 2000;
INSERT INTO spread SELECT 7, -i FROM generate_series(1, 3000) i;
INSERT INTO parts SELECT i % 2, -i / 4::numeric FROM generate_series(1, 1000) i;
SELECT '$how: they grow', cf_index_check('spread_few') + cf_index_check('spread_text'), 18000,
	cf_index_check('parts_0_k_idx') + cf_index_check('parts_1_part_k_idx'), 2000;
INSERT INTO indexed SELECT i, 'white', int4range(i, i + 5) FROM generate_series(2001, 4000) i;
SELECT '$how: indexes that grow',
	cf_index_check('indexed_c'), 4000, cf_index_check('indexed_i'), 4000;
INSERT INTO links SELECT 'https://site.example/' || i FROM generate_series(1, 3000) i ON CONFLICT DO NOTHING;
SELECT '$how: an exclusion constraint', count(*), 3000, cf_index_check('links_url_excl'), 3000 FROM links;
INSERT INTO parts SELECT 1 - part, k FROM parts WHERE k = 0.25;
SELECT '$how: a trigger', :'SQLSTATE', '23505', count(*), 1 FROM parts WHERE k = 0.25;
INSERT INTO links VALUES ('https://site.example/7');
SELECT '$how: a duplicate', :'SQLSTATE', '23P01';
INSERT INTO indexed SELECT i FROM indexed WHERE i = 7 AND $unique = 1;
SELECT '$how: a unique index', :'SQLSTATE', CASE $unique WHEN 1 THEN '23505' ELSE '00000' END;
INSERT INTO owners (id) VALUES (0);
UPDATE owners SET seen = cf_delete(cf_add(cf_add(seen, 1000), 2000), 1000) WHERE id < 2;
SELECT '$how: changes', count(*), 2, bool_and(seen @> 2000 AND (id = 0 OR seen @> id)), true FROM owners WHERE id < 2;
SELECT '$how: the scan', bool_and(id <= 2000), true, count(*), 2000
FROM words WHERE word <@ (SELECT f FROM large WHERE name = 'texts');
SELECT '$how: the extension is the same', extversion, '1.0' FROM pg_extension WHERE extname = 'cuckoo';
SQL
	return;
}

# Debian's 15.20 keeps an option "pg_attver" of each column. Its own pg_dump
# leaves it out, but those of other versions do not, although no server takes
# it as an option of ALTER TABLE. Composite types keep it: no pg_dump asks for
# theirs, and this server reads their values only by it.
sub clear_attver
{
	$from->safe_psql('postgres', <<'SQL');
UPDATE pg_attribute
	SET attoptions = (SELECT array_agg(option) FROM unnest(attoptions) option WHERE option NOT LIKE 'pg\_attver=%')
WHERE attoptions::text LIKE '%pg\_attver=%' AND attrelid NOT IN (SELECT oid FROM pg_class WHERE relkind = 'c')
SQL
	return;
}

# ---- dump and restore ------------------------------------------------------

# restored(HOW, DUMPER, RESTORE...): by the pg_dump of DUMPER's version
sub restored
{
	my ($how, $dumper, $format, @restore) = @_;

	$to->safe_psql('postgres', 'CREATE DATABASE restored');
	$from->command_ok([ program($dumper, 'pg_dump'), "-F$format", '-f', $dump, '-d', $from->connstr('postgres') ],
		"$how: pg_dump");
	$to->command_ok([ @restore, '-d', $to->connstr('restored') ], "$how: restore");
	intact($to, 'restored', $how);
	$to->safe_psql('postgres', 'DROP DATABASE restored');
	return;
}

my $newer = $to_version > $from_version ? $to : $from;

restored("pg_dump of $from_version, psql to $to_version", $from, 'p',
	program($newer, 'psql'), '-Xqv', 'ON_ERROR_STOP=1', '-f', $dump);
clear_attver();
restored("pg_dump and pg_restore of " . version_of($newer) . ", $from_version to $to_version", $newer, 'c',
	program($newer, 'pg_restore'), '--exit-on-error', $dump);

# ---- pg_upgrade ------------------------------------------------------------

SKIP:
{
	my $how = "pg_upgrade $options from $from_version to $to_version";
	my ($old_bin, $new_bin) = map { my $dir = `$_ --bindir`; chomp $dir; $dir }
		map { program($_, 'pg_config') } $from, $to;

	skip 'pg_upgrade does not go to an older version', 1 if $to_version < $from_version;
	# what it does itself; from 18 on, an extension may be elsewhere
	skip 'pg_upgrade does not find libraries outside of $libdir', 1
		if $to->psql('postgres', q(LOAD '$libdir/cuckoo')) != 0;
	$_->stop foreach $from, $to;
	chdir $to->basedir or die $!;
	# why it fails is in one of its logs
	my $script =
		'"$@" >upgrade.out 2>&1 || { grep -rh -A 3 --include="pg_upgrade_*.log" error: . >>upgrade.out; exit 1; }';
	my $status = system 'sh', '-c', $script, 'sh', "$new_bin/pg_upgrade", '-b', $old_bin, '-B', $new_bin,
		'-d', $from->data_dir, '-D', $to->data_dir, '-p', $from->port, '-P', $to->port, '-s', $to->host,
		split(' ', $options), '-U', $ENV{PGUSER} // scalar getpwuid $>;

	if (!is($status, 0, $how))
	{
		diag(join "\n", lines_of('upgrade.out'));
		last SKIP;
	}
	$to->start;
	intact($to, 'postgres', $how);

	# by the new server's initial fork
	$to->stop('immediate');
	$to->start;
	checks($to, 'postgres', <<"SQL");
SELECT '$how, and a crash: the unlogged table is empty', count(*), 0, cf_index_check('fast_k'), 0 FROM fast;
INSERT INTO fast SELECT generate_series(1, 3000);
SELECT '$how, and a crash: its indexes', cf_index_check('fast_k') + cf_index_check('fast_expression'), 6000;
SQL
}

$_->stop foreach $from, $to;
done_testing();
