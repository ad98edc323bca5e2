# Indexes whose files are changed while the server is down: damage of each field
# of the headers, of the map and of entries; entries that are missing, of rows that
# do not exist, and with another hash; pages of zeros. Files that an older library has
# written: it must have hashed and encoded rows as this one does. Then random damage, in memory:
# DAMAGED_PAGES=100000 makes it longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use CuckooTest 'lines_of';
use Test::More;

my $node = start_node('pages', { no_data_checksums => 1 }, 'autovacuum = off', 'restart_after_crash = off');
my $block_size = $node->safe_psql('postgres', 'SHOW block_size');

# The path of the file of a table or an index
sub path_of
{
	my ($name) = @_;

	return $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$name')");
}

# Writes a file.
sub rewrite
{
	my ($path, $bytes) = @_;

	open my $file, '>:raw', $path or die "$path: $!";
	print {$file} $bytes;
	close $file or die "$path: $!";
	return;
}

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (v int);
CREATE INDEX t_v ON t USING cuckoo (v);
INSERT INTO t SELECT i FROM generate_series(1, 12000) i;
INSERT INTO t SELECT -1 FROM generate_series(1, 6000) i;
CREATE FUNCTION state(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
BEGIN
	SET LOCAL enable_seqscan = off;
	EXECUTE query;
	-- so that the table keeps its rows
	RAISE 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || message || ' ' || detail;
END $$;
CREATE FUNCTION states(t text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT state(replace(query, 'TABLE', t)) FROM (VALUES ('SELECT cf_index_check(''TABLE_v'')'),
		('SELECT cf_index_info(''TABLE_v'')'), ('SELECT count(*) FROM TABLE WHERE v = -1'),
		('SELECT count(*) FROM generate_series(1, 12000) i, LATERAL (SELECT FROM TABLE WHERE v = i OFFSET 0) t'),
		('INSERT INTO TABLE SELECT generate_series(20000, 26000)'),
		('INSERT INTO TABLE SELECT -1 FROM generate_series(1, 3000)')) q(query)
$$;
SQL
my $index = path_of('t_v');

# the first blocks with each kind of page
my %block;
my $whole;
$node->stop;
{
	open my $file, '<:raw', $index or die "$index: $!";
	local $/ = undef;
	$whole = <$file>;
	close $file;
}
foreach my $n (0 .. length($whole) / $block_size - 1)
{
	$block{ unpack 'v', substr $whole, ($n + 1) * $block_size - 4, 2 } //= $n;
}
is_deeply([ sort keys %block ], [ 1 .. 4 ], 'meta, map, entries and chain');

# What queries, inserts and VACUUM shall say of a file. Each has a table of its own, which
# has the rows of t in the same places, so one start of the server is enough for all.
my @damaged;

sub look_at
{
	my ($what, $bytes, $expected) = @_;

	push @damaged, { what => $what, bytes => $bytes, expected => $expected };
	return;
}

# Sees the damage of bytes at an offset, which counts from the end of the page if it is
# negative: what was found, by one of the queries at least.
sub damage
{
	my ($what, $kind, $offset, $bytes, $expected) = @_;
	my $damaged = $whole;

	substr $damaged, $block{$kind} * $block_size + ($offset < 0 ? $block_size : 0) + $offset, length $bytes, $bytes;
	look_at($what, $damaged, $expected);
	return;
}

my ($meta, $map, $entries, $chain) = 1 .. 4;

damage('magic number', $meta, 24, 'XXXX', qr/^XX002 index "t\d+_v" is corrupt Block 0: found magic number 58585858/m);
damage('version', $meta, 28, "\7\0", qr/^XX002 .* version 7, expected/m);
damage('bits of hashes', $meta, 30, pack('v', 65), qr/^XX002 .* found hashes of 65 bits, expected 1 to 64/m);
damage('number of pages', $meta, 40, "\0\0\0\0", qr/^XX002 .* found 0 pages, expected at least 4/m);
damage('block of a map page', $meta, 52, pack('V', 2_000_000), qr/^(?:XX|58P01)/m);
damage('map page that is another page', $meta, 52, pack('V', $block{$entries}),
	qr/^XX002 .* kind 3, expected CF01 and 2/m);
damage('no map page', $meta, 52, pack('V', 0), qr/^XX002 .* found no block of page/m);
damage('block in the map', $map, 24, pack('V', $block{$map}), qr/^XX002 .* kind 2, expected CF01 and 3/m);
damage('another block in the map', $map, 24, substr($whole, $block{$map} * $block_size + 28, 4),
	qr/^XX002 .* found page 1 of segment 0, expected page 0 of segment 0/m);
damage('no block in the map', $map, 24, pack('V', 0), qr/^XX002 .* found no block of page 0/m);
damage('a page of zeros', $entries, 0, "\0" x $block_size, qr/^XX002 .* found zeros, expected a page/m);
damage('page id', $entries, -2, 'XX', qr/^XX002 .* found page id 5858/m);
damage('special space', $entries, 16, pack('v', $block_size - 16), qr/^XX002 .* found the special space at byte/m);
damage('end of slots', $entries, 12, pack('v', 100), qr/^XX002 .* found the end of the data at byte 100/m);
damage('number', $entries, -24, pack('V', 9), qr/^XX002 .* found page 9 of segment 0/m);
damage('segment', $entries, -20, pack('V', 1 << 20), qr/^XX002 .* of segment 1048576 at level \d+, expected/m);
damage('level', $entries, -12, chr 40, qr/^XX002 .* at level 40/m);
damage('a higher level', $entries, -12, chr 9, qr/^XX002/m);
damage('position bits', $entries, -11, chr 39, qr/^XX002 .* found 39 bits of positions/m);
damage('other position bits', $entries, -11, chr 1, qr/^XX002/m);
damage('offset bits', $entries, -10, chr 12, qr/^XX002 .* 12 of offsets/m);
damage('salt', $entries, -16, pack('V', 77), qr/^XX002/m);
damage('slots', $entries, 24, join('', map { chr 255 } 1 .. 4000), qr/^XX002/m);
damage('no slots', $entries, 24, "\0" x 6496, qr/^XX002/m);
damage('rows of a chain', $chain, 24, join('', map { pack 'vvv', 0, 0, $_ } 5000 .. 5020),
	qr/^XX002 .*heap tuple \(\d+,\d+\)/m);
damage('one slot', $entries, 24 + 6496, "\0" x 1624, qr/^XX002/m);
damage('head of a chain', $chain, -20, pack('V', 1), qr/^XX002 .* expected/m);
damage('a chain that is its own tail', $chain, -24, pack('V', $block{$chain}), qr/^XX002/m);
damage('end of the free space', $entries, 14, pack('v', $block_size - 32), qr/^XX002 .* end of the free space at/m);
damage('a low end of the free space', $chain, 14, pack('v', 40), qr/^XX00[12]/m);
damage('no block, in the map', $map, 24, pack('V', 0xffffffff), qr/^XX002 .* found a reference to this block/m);
damage('the highest level', $entries, -12, chr 31, qr/^XX002/m);
# the session that adds a page to a chain has locked block 0
damage('a list of free pages that begins with block 0', $meta, 44, pack('V', 0), qr/^P0001 no error/m);
{
	# the last page of the chain, and the one before it
	my ($page, $next, $before) = ($block{$chain});

	foreach (1 .. length($whole) / $block_size)
	{
		$next = unpack 'V', substr $whole, ($page + 1) * $block_size - 24, 4;
		($before, $page) = ($page, $next) if $next != 0xffffffff;
	}
	my $damaged = $whole;
	substr $damaged, ($page + 1) * $block_size - 24, 4, pack 'V', $before;
	look_at('a chain that is a cycle', $damaged, qr/^XX002 .* found sequence number/m);
}
damage('end of the rows', $chain, 12, pack('v', $block_size - 24 + 6), qr/^XX00[12]/m);

look_at('a file that has lost its end', substr($whole, 0, length($whole) - 2 * $block_size), qr/^XX/m);
look_at('the same as before', $whole, qr/^P0001 no error/m);

# ---- files that an older library has written ----

# the bytes of the indexes that test/fixtures/index.sql has made
my %stored;
foreach my $page (lines_of("$FindBin::RealBin/../fixtures/indexes.txt"))
{
	my ($name, undef, $bytes) = split /\t/, $page;

	$stored{$name} .= pack 'H*', $bytes =~ s/\((\d+)\)/'00' x $1/ger;
}
# of one byte order, and one size of pages
%stored = () if $block_size != 8192 || pack('S', 1) ne pack('v', 1);

$node->start;

if ($node->psql('postgres', "LOAD 'cuckoo_test'") != 0)
{
	SKIP: { skip 'needs make -C test/module install', 1; }
	done_testing();
	exit;
}

$node->safe_psql('postgres', join("\n", lines_of("$FindBin::RealBin/../../sql/helpers.sql")) . <<'SQL');
CREATE TABLE stored (i bigint, t text, h int);
CREATE INDEX stored_i ON stored USING cuckoo (i);
CREATE INDEX stored_t ON stored USING cuckoo (t);
CREATE INDEX stored_h ON stored USING cuckoo (h, (h::text));
INSERT INTO stored SELECT i, 'value ' || i, i % 2 FROM generate_series(1, 300) i;
SQL
$node->safe_psql('postgres', join '',
	map { "CREATE TABLE t$_ AS TABLE t;\nCREATE INDEX t${_}_v ON t$_ USING cuckoo (v);\n" } 0 .. $#damaged);
my @paths = split /\n/, $node->safe_psql('postgres',
	"SELECT pg_relation_filepath(format('t%s_v', n)) FROM generate_series(0, $#damaged) n ORDER BY n");
my %stored_paths = map { $_ => path_of($_) } sort keys %stored;
$node->stop;
rewrite($node->data_dir . "/$paths[$_]", $damaged[$_]{bytes}) foreach 0 .. $#damaged;
rewrite($stored_paths{$_}, $stored{$_}) foreach keys %stored;
$node->start;
checks($node, 'postgres', <<'SQL');
SELECT 'stored indexes', cf_index_check('stored_i'), 300, cf_index_check('stored_t'), 300, cf_index_check('stored_h'),
	300;
SELECT 'they find their rows', rows, 300, wrong, 0 FROM compared('stored_i', 'SELECT generate_series(-1000, 0)');
SELECT 'texts', rows, 300, wrong, 0 FROM compared('stored_t', 'SELECT ''no value''');
SET enable_seqscan = off;
SELECT 'chains', count(*), 150 FROM stored WHERE h = 1 AND h::text = '1';
INSERT INTO stored SELECT i, 'value ' || i, i % 2 FROM generate_series(301, 3000) i;
SELECT 'and grow', cf_index_check('stored_i'), 3000, cf_index_check('stored_t'), 3000, cf_index_check('stored_h'),
	3000;
SQL
{
	my ($states, $errors);

	$node->psql('postgres', join('', "SET statement_timeout = '60s';\n",
			map { "\\echo next\n\\warn next\nSELECT * FROM states('t$_');\nVACUUM (INDEX_CLEANUP on) t$_;\n" }
			  0 .. $#damaged),
		stdout => \$states, stderr => \$errors, on_error_stop => 0);
	my (undef, @states) = split /^next\n?/m, $states;
	my (undef, @errors) = split /^next\n?/m, $errors, -1;
	foreach my $n (0 .. $#damaged)
	{
		unlike(($states[$n] // 'terminated') . ($errors[$n] // ''), qr/57014|statement timeout|terminated/,
			"$damaged[$n]{what}: no endless loop, and no crash");
		like($states[$n] // '', $damaged[$n]{expected}, "$damaged[$n]{what}: an error");
	}
}
$node->stop('fast');

# Pages of zeros at the end
rewrite($index, $whole . "\0" x (3 * $block_size));
$node->start;
checks($node, 'postgres', <<'SQL');
SELECT 'pages of zeros', free_pages, 3, cf_index_check('t_v'), '> 17999' FROM cf_index_info('t_v');
DELETE FROM t WHERE v < 0;
VACUUM t;
INSERT INTO t SELECT i FROM generate_series(30000, 60000) i;
VACUUM t;
SELECT 'entries and rows', cf_index_check('t_v'), count(*) FROM t;
SQL

# ---- an entry that no row follows ----

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION test_page(regclass, bigint) RETURNS bytea LANGUAGE c STRICT AS 'cuckoo_test';
CREATE FUNCTION test_set_page(regclass, bigint, bytea) RETURNS void LANGUAGE c STRICT AS 'cuckoo_test';
CREATE FUNCTION test_entry(bytea, int) RETURNS text LANGUAGE c STRICT AS 'cuckoo_test';
-- what slots have, and places of chains: a page has 1624 slots
CREATE FUNCTION entries(index regclass) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT e FROM generate_series(0, pg_relation_size(index) / current_setting('block_size')::int - 1) block,
		LATERAL (SELECT test_page(index, block) OFFSET 0) p (bytes), generate_series(0, 1623) slot,
		test_entry(bytes, slot) e WHERE e IS NOT NULL
$$;
CREATE TABLE often AS SELECT 1 AS v FROM generate_series(1, 2000);
CREATE INDEX often_v ON often USING cuckoo (v);
CREATE TABLE lone (v int);
CREATE INDEX lone_v ON lone USING cuckoo (v);
INSERT INTO lone SELECT generate_series(1, 100);
CREATE TABLE kept AS SELECT block, test_page('lone_v', block) AS bytes
FROM generate_series(0, pg_relation_size('lone_v') / current_setting('block_size')::int - 1) block;
DELETE FROM lone WHERE v = 100;
VACUUM lone;
SQL
checks($node, 'postgres', <<'SQL');
SELECT 'entries of rows', cf_index_check('lone_v'), 99;
SELECT 'decoded entries', count(*), 99, count(l.ctid), 99
FROM entries('lone_v') e LEFT JOIN lone l ON l.ctid::text = substring(e FROM '^[0-9a-f]+ (.*)');
SELECT 'a link and the rows of its chain', count(*) FILTER (WHERE e ~ '^[0-9a-f]+ chain \d+$'), 1, count(o.ctid), 2000
FROM entries('often_v') e LEFT JOIN often o ON o.ctid::text = e;
SQL
$node->safe_psql('postgres', q(SELECT test_set_page('lone_v', block, bytes) FROM kept));
checks($node, 'postgres', "SELECT 'an entry of no row', state('SELECT cf_index_check(''lone_v'')'), '~ ^XX002'");

# ---- a page whose last writes were lost ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE late (v int);
CREATE INDEX late_v ON late USING cuckoo (v);
INSERT INTO late SELECT generate_series(1, 1000);
TRUNCATE kept;
INSERT INTO kept SELECT 1, test_page('late_v', 1);
INSERT INTO late SELECT generate_series(1001, 20000);
SELECT test_set_page('late_v', block, bytes) FROM kept;
SQL
checks($node, 'postgres', <<'SQL');
SELECT 'lookups of a page before its split',
	state('SELECT count(*) FROM generate_series(1, 12000) i, LATERAL (SELECT FROM late WHERE v = i OFFSET 0) l'),
	'~ ^XX002 .*found level';
SELECT 'inserts', state('INSERT INTO late SELECT generate_series(1, 100)'), '~ ^XX002 .*found level';
SQL

# ---- a chain that refers to the page that an insert has locked ----

if ($node->pg_version >= 18)
{
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE single (v int, n int);
CREATE UNIQUE INDEX single_v ON single USING cuckoo (v);
CREATE INDEX single_n ON single (n);
INSERT INTO single SELECT i, 0 FROM generate_series(1, 50) i;
DO $$ BEGIN FOR i IN 1..2500 LOOP UPDATE single SET n = n + 1 WHERE v = 7; END LOOP; END $$;
TRUNCATE kept;
INSERT INTO kept SELECT block, test_page('single_v', block)
FROM generate_series(1, pg_relation_size('single_v') / current_setting('block_size')::int - 1) block;
-- the next page of the head is the page of entries that refers to it
SELECT test_set_page('single_v', head.block, overlay(head.bytes
	PLACING decode(lpad(to_hex(page.block), 2, '0') || '000000', 'hex') FROM length(head.bytes) - 23))
FROM kept page, kept head, LATERAL (SELECT length(head.bytes) AS size) s
WHERE get_byte(page.bytes, size - 4) = 3 AND get_byte(page.bytes, size - 9) = 1
	AND get_byte(head.bytes, size - 4) = 4 AND get_byte(head.bytes, size - 20) = head.block;
SQL
	checks($node, 'postgres', "SELECT 'a chain that refers to the page of its entry',"
		. " state('INSERT INTO single VALUES (7)'), '~ ^XX002 .*found a reference to block'");
}

# ---- random damage of headers, maps, slots and chains ----

my $pages = $ENV{DAMAGED_PAGES} || 300;
my $seed = int(rand(1e9));

time_limit(600 + $pages / 50);
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION test_vacuum(regclass) RETURNS text LANGUAGE c STRICT AS 'cuckoo_test';
-- the rows of the chain have odd offsets
CREATE TABLE passes AS SELECT CASE WHEN i % 2 = 1 THEN -1 ELSE i END AS v FROM generate_series(1, 12000) i;
CREATE INDEX passes_v ON passes USING cuckoo (v);
SQL
checks($node, 'postgres', <<'SQL');
SELECT test_vacuum('passes_v') AS before \gset
SELECT 'entries, free pages and pages after two passes of VACUUM', test_vacuum('passes_v'),
	format('%s %s %s', entries, free_pages, bytes / current_setting('block_size')::int), free_pages, '> 3'
FROM cf_index_info('passes_v');
SQL
$node->safe_psql('postgres', <<'SQL');
TRUNCATE t;
INSERT INTO t SELECT i FROM generate_series(1, 4000) i;
INSERT INTO t SELECT -1 FROM generate_series(1, 3000) i;
REINDEX INDEX t_v;
CREATE TABLE pages AS SELECT block, test_page('t_v', block) AS bytes
FROM generate_series(0, pg_relation_size('t_v') / current_setting('block_size')::int - 1) block;
CREATE TABLE found (state text);
-- Damages some bytes, mostly of the headers, and looks at each way to use the index.
CREATE FUNCTION damage(times int) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	size int = current_setting('block_size');
	page record;
	place int;
	value int;
	query text;
BEGIN
	FOR i IN 1..times LOOP
		SELECT * INTO page FROM pages ORDER BY random() LIMIT 1;
		place := CASE floor(random() * 4) WHEN 0 THEN 10 + random() * 60 WHEN 1 THEN random() * (size - 1)
			ELSE size - 1 - random() * 23 END;
		FOR i IN 1..(1 + random() * 3)::int LOOP
			value := CASE WHEN random() < 0.3 THEN 255 * (random() < 0.5)::int ELSE floor(random() * 256) END;
			page.bytes := set_byte(page.bytes, least(place + i, size) - 1, value);
		END LOOP;
		PERFORM test_set_page('t_v', page.block, page.bytes);
		FOREACH query IN ARRAY ARRAY[
			'SELECT count(*) FROM t WHERE v = ANY (ARRAY(SELECT (random() * 4500)::int FROM generate_series(1, 9)))',
			'SELECT count(*) FROM t WHERE v = -1', 'INSERT INTO t SELECT 5000 * random() FROM generate_series(1, 9)',
			'INSERT INTO t SELECT -1 FROM generate_series(1, 3)', 'SELECT cf_index_info(''t_v'')',
			'SELECT test_vacuum(''t_v'')', 'INSERT INTO t SELECT -1 FROM generate_series(1, 3)',
			'SELECT cf_index_check(''t_v'')'] LOOP
			CONTINUE WHEN query ~ 'check' AND random() > 0.05;
			BEGIN
				EXECUTE query;
				RAISE 'no error';
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO found VALUES (SQLSTATE ||
					CASE SQLSTATE WHEN 'XX000' THEN ' ' || translate(SQLERRM, '0123456789', '') ELSE '' END);
			END;
		END LOOP;
		PERFORM test_set_page('t_v', p.block, p.bytes) FROM pages p;
	END LOOP;
END $$;

SQL
my ($out, $errors) = ('', '');
for (my $done = 0; $done < $pages; $done += 300)
{
	$node->psql('postgres', "SET statement_timeout = '120s';\nSELECT setseed(" . ($seed + $done) / 2e9 . ");\n"
		. "SELECT damage(300);\nTRUNCATE t;\nINSERT INTO t SELECT i FROM generate_series(1, 4000) i;\n"
		. "INSERT INTO t SELECT -1 FROM generate_series(1, 3000) i;\nREINDEX INDEX t_v;\nTRUNCATE pages;\n"
		. "INSERT INTO pages SELECT block, test_page('t_v', block)\n"
		. "FROM generate_series(0, pg_relation_size('t_v') / current_setting('block_size')::int - 1) block",
		stderr => \$errors);
	last if $errors;
}
is($errors, '', "seed $seed: neither endless loops nor crashes");
my $states = $node->safe_psql('postgres', 'SELECT state, count(*) FROM found GROUP BY 1 ORDER BY 2 DESC');
# PostgreSQL's errors, of rows that no table can have
my $known = qr/^(?:P0001|XX00[12]|58P01|XX000 (?:tuple offset out of range|could not open file).*)\|/;
note($states);
is(join(', ', grep { !/$known/ } split /\n/, $states), '', "seed $seed: no other errors");
like($states, qr/^XX002\|/m, "seed $seed: errors");

# ---- another version ----

# The build makes a chain in block 1, which VACUUM reads first.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE same AS SELECT 1 AS v FROM generate_series(1, 1000);
CREATE INDEX same_v ON same USING cuckoo (v);
DELETE FROM same;
CREATE TABLE chained AS SELECT test_page('same_v', 1) AS bytes;
SELECT test_set_page('same_v', 0, overlay(test_page('same_v', 0) PLACING '\x0700' FROM 29));
SQL
new_sessions();
like(($node->psql('postgres', 'VACUUM (INDEX_CLEANUP on) same'))[2], qr/Block 0: found .*version 7/,
	'VACUUM of another version');
is($node->safe_psql('postgres', "SELECT test_page('same_v', 1) = bytes FROM chained"), 't', 'changes no page');

$node->stop;
done_testing();
