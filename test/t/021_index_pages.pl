# Indexes whose files, or whose table's, are changed while the server is down: a
# page that is saturated, rows without their entries, a table with more blocks
# than an index can tell apart, and damage of the bytes that are validated.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use CuckooTest 'lines_of';
use Test::More;

my $node = start_node('pages', { no_data_checksums => 1 }, 'autovacuum = off', 'restart_after_crash = off');
my $block_size = $node->safe_psql('postgres', 'SHOW block_size');

$node->safe_psql('postgres', join "\n", lines_of("$FindBin::RealBin/../../sql/helpers.sql"));

# The path of the file of a table or an index
sub path_of
{
	my ($name) = @_;

	return $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$name')");
}

# Writes bytes at an offset of a file.
sub patch
{
	my ($path, $offset, $bytes) = @_;

	open my $file, '+<:raw', $path or die "$path: $!";
	seek $file, $offset, 0 or die "$path: $!";
	print {$file} $bytes;
	close $file or die "$path: $!";
	return;
}

# The bytes at an offset of a file
sub bytes_at
{
	my ($path, $offset, $length) = @_;
	my $bytes;

	open my $file, '<:raw', $path or die "$path: $!";
	seek $file, $offset, 0 or die "$path: $!";
	read($file, $bytes, $length) == $length or die "$path: $!";
	close $file or die "$path: $!";
	return $bytes;
}

# ---- a saturated page, rows without entries, and pages that were written without WAL ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE saturated AS SELECT i, repeat('f', 500) AS filler FROM generate_series(1, 1000) i;
CREATE INDEX saturated_i ON saturated USING cuckoo (i) WITH (seed = 1, capacity = 1000);
CREATE TABLE lost (i int, filler text);
CREATE INDEX lost_i ON lost USING cuckoo (i) WITH (seed = 1, capacity = 1000);
INSERT INTO lost SELECT i, repeat('f', 500) FROM generate_series(1, 100) i;
CREATE UNLOGGED TABLE unlogged AS SELECT i FROM generate_series(1, 3000) i;
CREATE INDEX unlogged_i ON unlogged USING cuckoo (i) WITH (capacity = 1);
CREATE INDEX unlogged_filter ON unlogged USING cuckoo (i) WITH (capacity = 1, locate = off);
CHECKPOINT;
SQL
my %path = map { $_ => path_of($_) } qw(saturated_i lost_i);
my $before = bytes_at($path{lost_i}, 0, -s $path{lost_i});

# values that are in the index, but not in these blocks
$node->safe_psql('postgres', 'INSERT INTO lost SELECT * FROM lost ORDER BY i');
$node->stop;
# the flags of the first page
patch($path{saturated_i}, $block_size + 41, "\1");
patch($path{lost_i}, 0, $before);
$node->start;
checks($node, 'postgres', <<'SQL');
SELECT 'a page is saturated', saturated, 1, pages, 1, false_blocks, blocks
FROM cf_index_info('saturated_i'),
	(SELECT pg_relation_size('saturated') / current_setting('block_size')::int AS blocks) s;
SELECT 'each value may be anywhere',
	cf_index_contains('saturated_i', -1), true, cf_index_contains_any('saturated_i', '{-1,-2}'::int[]), true;
SELECT 'all blocks are read',
	heap_blocks('SELECT FROM saturated WHERE i = -1'), pg_relation_size('saturated')
		/ current_setting('block_size')::int;
SELECT 'the rows are right', lookups, 1100, rows, 1000, wrong, 0
FROM compared('saturated_i', 'SELECT generate_series(-99, 0)');
INSERT INTO saturated SELECT i FROM generate_series(1001, 5000) i;
SELECT 'nothing is added', items, 1000, pages, 1 FROM cf_index_info('saturated_i');
SELECT 'the rows are still right', rows, 5000, wrong, 0
FROM compared('saturated_i', 'SELECT generate_series(-99, 0)');
SELECT 'no row is missing', cf_index_check('saturated_i', true), 5000;
REINDEX INDEX saturated_i;
SELECT 'rebuilt', saturated, 0, items, 5000 FROM cf_index_info('saturated_i');

SELECT 'an unlogged index is kept', rows, 3000, wrong, 0, cf_index_check('unlogged_filter', true), 3000
FROM compared('unlogged_i', 'SELECT generate_series(-99, 0)');
INSERT INTO unlogged SELECT generate_series(3001, 3100);

SELECT 'the values without entries in their block are in the index', bool_and(cf_index_contains('lost_i', i)) FROM lost;
SELECT 'so that the pages are valid', cf_index_check('lost_i'), 0;
SELECT cf_index_check('lost_i', true);
SELECT 'but the rows are missed', :'SQLSTATE', 'XX002';
SELECT 'and compared() sees it', wrong, '> 50' FROM compared('lost_i');
REINDEX INDEX lost_i;
SELECT 'rebuilt', cf_index_check('lost_i', true), 200, wrong, 0 FROM compared('lost_i');
SQL

# ---- an index of another session ----

checks($node, 'postgres', <<"SQL");
CREATE TEMPORARY TABLE mine AS SELECT 7 AS i;
CREATE INDEX mine_i ON mine USING cuckoo (i);
SELECT oid FROM pg_class WHERE relname = 'mine_i' \\gset
\\setenv OID :oid
\\set code `psql -XAtd '@{[ $node->connstr('postgres') ]}' -v VERBOSITY=sqlstate -c "SELECT cf_index_contains(\$OID::regclass, 7)" 2>&1`
SELECT 'a temporary one', :'code', '~ 0A000', cf_index_contains('mine_i', 7), true;
SQL

# ---- more blocks than the modulus ----

# An index of 32 bits without payload tells 524 * 254 = 133,096 blocks apart. A
# segment of a table and more blocks that have no bytes on the disk are followed
# by rows in the blocks 133,272 and later, which look like the blocks from 176 on.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE long (i int, filler text);
CREATE INDEX long_i ON long USING cuckoo (i) WITH (seed = 1, capacity = 1000, growth_bits = 0, fpp = 1e-8);
CREATE INDEX long_default ON long USING cuckoo ((i + 1)) WITH (seed = 1);
INSERT INTO long SELECT i, repeat('f', 500) FROM generate_series(1, 1000) i;
SQL
my $long = path_of('long');
my $segment_blocks = $node->safe_psql('postgres', "SELECT setting FROM pg_settings WHERE name = 'segment_size'");

SKIP:
{
	skip 'blocks or segments have another size', 1 if $block_size != 8192 || $segment_blocks != 131072;
	$node->stop;
	open my $next, '>:raw', "$long.1" or die "$long: $!";
	truncate $long, $block_size * $segment_blocks or die "$long: $!";
	truncate $next, $block_size * 2201 or die "$long: $!";
	close $next or die "$long: $!";
	$node->start;
	checks($node, 'postgres', <<'SQL');
INSERT INTO long SELECT i, repeat('f', 500) FROM generate_series(2001, 5000) i;
SELECT 'rows are far behind', min(ctid) >= '(133272,0)', true, max(ctid) < '(134000,0)', true FROM long WHERE i > 2000;
SET enable_seqscan = off;
SELECT 'each is found', count(*), 3000, bool_and(places[1] > '(133272,0)' AND cardinality(places) = 1), true
FROM generate_series(2001, 5000) v, LATERAL (SELECT array_agg(ctid) AS places FROM long WHERE i = v) f;
SELECT 'and the others', count(*), 1000, bool_and(places[1] < '(1000,0)' AND cardinality(places) = 1), true
FROM generate_series(1, 1000) v, LATERAL (SELECT array_agg(ctid) AS places FROM long WHERE i = v) f;
SELECT 'blocks that look like its block, or like the one of the partner bucket, are read',
	heap_blocks('SELECT FROM long WHERE i = 3000'), '3 to 4';
SELECT 'by an index that tells them apart',
	count(*), 3000, bool_and(places[1] > '(133272,0)' AND cardinality(places) = 1), true
FROM generate_series(2001, 5000) v, LATERAL (SELECT array_agg(ctid) AS places FROM long WHERE i + 1 = v + 1) f;
SELECT 'for functions', bool_and(cf_index_contains('long_i', v)) FROM generate_series(2001, 5000) v;
SELECT 'nothing is found of what is not there', count(*), 0
FROM generate_series(5001, 8000) v, LATERAL (SELECT FROM long WHERE i = v) f;
SELECT 'no row is missing', cf_index_check('long_i', true), 4000, cf_index_check('long_default', true), 4000;
CREATE TRIGGER one AFTER INSERT ON long FOR EACH ROW EXECUTE FUNCTION cf_unique_trigger('long_i');
INSERT INTO long VALUES (3000, '');
SELECT 'a trigger finds a row', :'SQLSTATE', '23505';
DROP TRIGGER one ON long;
REINDEX INDEX long_i;
SELECT 'built for so many blocks, no other is read',
	heap_blocks('SELECT FROM long WHERE i = 3000'), 1, cf_index_check('long_i', true), 4000;
DROP TABLE long;
SQL
}

# ---- damaged bytes ----

# Each byte of the meta data, of the list of extents, and of the header of a page
# in turn, with several values; each in an index of its own. A damaged seed, for
# example, cannot be seen, and gives wrong results; but the server lives.
# Half of the indexes have rows, and the others get their first page afterwards.
my @offsets = (24 .. 87, map { $block_size + $_ } 0 .. 47);
my @damages = (
	(map { my $offset = $_; map { [ $offset, $_, 100 ] } 0 .. 3 } @offsets),
	(map { my $offset = $_; map { [ $offset, $_, 0 ] } 0 .. 3 } 24 .. 79));
my $rows = join ', ', map { $_->[2] } @damages;

$node->safe_psql('postgres', <<"SQL");
CREATE TABLE outcomes (n int, call text, outcome text);
CREATE PROCEDURE damaged(first int, last int) LANGUAGE plpgsql AS \$\$
BEGIN
	FOR n IN first..last LOOP
		EXECUTE format('CREATE TABLE damaged_%s AS SELECT i FROM generate_series(1, %s) i', n, (ARRAY[$rows])[n + 1]);
		EXECUTE format('CREATE INDEX damaged_%s_i ON damaged_%1\$s USING cuckoo (i)
			WITH (seed = 1, capacity = 100, locate = %s)', n,
			CASE WHEN n % 4 = 0 THEN 'off' ELSE 'on' END);
		COMMIT;
	END LOOP;
END \$\$;
-- the SQLSTATE of a call, or whether its result is right
CREATE FUNCTION outcome_of(call text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS \$\$
DECLARE
	good boolean;
	detail text;
BEGIN
	EXECUTE call INTO good;
	RETURN CASE WHEN good THEN 'right' ELSE 'wrong' END;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	-- beside the block, an error of corruption has the numbers that were found and expected
	RETURN SQLSTATE || CASE WHEN SQLSTATE = 'XX002' AND detail <> '' AND detail !~ '^Block [0-9]+: .*[0-9]'
		THEN ' ' || detail ELSE '' END;
END \$\$;
CALL damaged(0, $#damages);
CHECKPOINT;
SQL
my @files = map { path_of("damaged_${_}_i") } 0 .. $#damages;

$node->stop;
foreach my $n (0 .. $#damages)
{
	my ($offset, $how) = @{ $damages[$n] };
	my $byte = ord bytes_at($files[$n], $offset, 1);

	patch($files[$n], $offset, chr(($byte ^ 1, $byte ^ 128, 255, 0)[$how]));
}
$node->start;
checks($node, 'postgres', <<"SQL");
SELECT 'what was inserted into an unlogged index is kept', cf_index_check('unlogged_i', true), 3100;
INSERT INTO outcomes SELECT n, call, outcome_of(format(call, n)) FROM generate_series(0, $#damages) n, unnest(ARRAY[
	'SELECT count(*) = 1 FROM damaged_%s WHERE i = 7',
	'SELECT count(*) = 0 FROM damaged_%s WHERE i = -7',
	'SELECT cf_index_contains(''damaged_%s_i'', 7)',
	'SELECT cf_index_contains_any(''damaged_%s_i'', ''{7,8}''::int[])',
	'SELECT cf_index_check(''damaged_%s_i'') = 0',
	'SELECT cf_index_check(''damaged_%s_i'', true) = 100',
	'SELECT items = 100 FROM cf_index_info(''damaged_%s_i'')',
	'SELECT cf_count(cf_index_filter(''damaged_%s_i'')) = 100',
	'WITH i AS (INSERT INTO damaged_%s SELECT generate_series(101, 110) RETURNING i) SELECT count(*) = 10 FROM i',
	'SELECT count(*) = 10 FROM damaged_%s WHERE i = ANY (ARRAY(SELECT generate_series(101, 110)))',
	'SELECT cf_index_check(''damaged_%s_i'', true) IN (10, 110)']) call;
SELECT 'the server lives; errors are of corruption, files that end before the block, a filter, or staleness',
	count(*), 0 FROM outcomes WHERE outcome NOT IN ('right', 'wrong', 'XX001', 'XX002')
	AND NOT (outcome IN ('XX000', '58P01', '55000') OR (outcome IN ('0A000', '54000') AND call ~ 'cf_index_filter'));
SELECT 'other damages are seen', count(DISTINCT n), '> 170' FROM outcomes WHERE outcome ~ '^XX';
SELECT 'a check counts the items of a page', count(*), 16 FROM outcomes WHERE call ~ 'check.* = 0'
	AND outcome = 'XX002' AND n / 4 - 64 BETWEEN 32 AND 39 AND n % 4 < 2;
SELECT 'a check finds a wrong end of the data', count(*), 4 FROM outcomes WHERE call ~ 'check.* = 0'
	AND outcome ~ '^XX' AND n / 4 - 64 IN (12, 13) AND n % 4 < 2;
SELECT 'a check of the rows misses no lost row', count(*), 0 FROM outcomes a JOIN outcomes b USING (n)
WHERE a.outcome = 'right' AND b.outcome = 'wrong' AND (a.call ~ 'true.* = 100' AND b.call ~ 'i = 7|contains'
	OR a.call ~ 'true.* IN ' AND b.call ~ 'WHERE i = ANY');
SQL
note($node->safe_psql('postgres', "SELECT outcome, call, count(*) FROM outcomes GROUP BY 1, 2 ORDER BY 1, 2"));

$node->stop;
done_testing();
