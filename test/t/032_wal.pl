# What indexes write to WAL, and what a crash leaves of them. A relation that is not
# logged writes nothing: it is new in a transaction, at wal_level = minimal, or
# unlogged. In other indexes, the first change of a page after a checkpoint writes an
# image of the page, from which a page is restored of which half was written.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('wal', 'wal_level = replica', 'full_page_writes = on', 'autovacuum = off');
my $block_size = $node->safe_psql('postgres', 'SHOW block_size');

$node->safe_psql('postgres', join "\n", CuckooTest::lines_of("$FindBin::RealBin/../../sql/helpers.sql"));

# Runs statements after a checkpoint. Returns the blocks of an index that WAL names:
# those of which the first record has an image, and the others; the number of all
# records; and the number of later images of these blocks.
sub blocks_in_wal
{
	my ($statements, $index) = @_;
	my $lsn = 'SELECT pg_current_wal_insert_lsn()';
	my $begin = $node->safe_psql('postgres', "CHECKPOINT; $lsn");
	my ($records, $again) = (0, 0);
	my %image;

	$node->safe_psql('postgres', $statements);
	my ($end, $file) = split /\n/,
	  $node->safe_psql('postgres', "$lsn; SELECT pg_relation_filenode('$index'); SELECT pg_switch_wal()");
	open my $wal, '-|', "pg_waldump -p @{[ $node->data_dir ]}/pg_wal -s $begin -e $end" or die "pg_waldump: $!";
	while (<$wal>)
	{
		while (m{blkref #\d+: rel \d+/\d+/(\d+) (?:fork (\w+) )?blk (\d+)( \(?FPW)?}g)
		{
			next if $1 != $file || ($2 // 'main') ne 'main';
			$records++;
			$again++ if defined $image{$3} && $4;
			$image{$3} //= defined $4;
		}
	}
	close $wal or die "pg_waldump: $?";
	return ([ grep { $image{$_} } keys %image ], [ grep { !$image{$_} } keys %image ], $records, $again);
}

# ---- images of pages, and an unlogged index ----

$node->safe_psql('postgres', <<'SQL');
-- pages with room for some hundred rows, and a chain
CREATE TABLE logged AS SELECT i AS k FROM generate_series(1, 9000) i;
INSERT INTO logged SELECT -1 FROM generate_series(1, 3000) i;
CREATE INDEX logged_k ON logged USING cuckoo (k);
CREATE TABLE counter AS SELECT 1 AS k, 0 AS n;
CREATE INDEX counter_k ON counter USING cuckoo (k);
CREATE INDEX counter_n ON counter (n);
DO $$ BEGIN FOR i IN 1..400 LOOP UPDATE counter SET n = n + 1; COMMIT; END LOOP; END $$;
SQL

is((blocks_in_wal(<<'SQL', 'fast_k'))[2], 0, 'unlogged: no record of the index');
CREATE UNLOGGED TABLE fast (k int);
CREATE INDEX fast_k ON fast USING cuckoo (k);
INSERT INTO fast SELECT i FROM generate_series(1, 9000) i;
INSERT INTO fast SELECT -1 FROM generate_series(1, 3000) i;
DELETE FROM fast WHERE k % 2 = 0;
VACUUM fast;
REINDEX INDEX fast_k;
INSERT INTO fast SELECT i FROM generate_series(1, 9000) i;
SQL

# LSNs then show no changes, so a lookup must not trust them: src/index/README.
checks($node, 'postgres', <<'SQL');
CREATE UNLOGGED TABLE hits AS SELECT 1 AS k, 0 AS n;
CREATE INDEX hits_k ON hits USING cuckoo (k);
CREATE INDEX hits_n ON hits (n);
DO $$ BEGIN FOR i IN 1..400 LOOP UPDATE hits SET n = n + 1; COMMIT; END LOOP; END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT FROM hits WHERE k = 1 \g /dev/null
SELECT 'unlogged: a lookup removes no entries of dead rows', entries, 401 FROM cf_index_info('hits_k');
SQL

my $torn;

# The index, the statements, and the least numbers of pages and of records
foreach (
	[ 'entries', 'logged', 'INSERT INTO logged SELECT i FROM generate_series(10001, 10300) i', 8, 300 ],
	[ 'a chain', 'logged', 'INSERT INTO logged SELECT -1 FROM generate_series(1, 30)', 1, 30 ],
	[ 'splits', 'logged', 'INSERT INTO logged SELECT i FROM generate_series(20001, 26000) i', 6, 6000 ],
	[ 'dead rows', 'counter', 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT FROM counter WHERE k = 1',
		1, 1 ],
	[ 'VACUUM', 'logged', 'DELETE FROM logged WHERE k % 2 = 0 OR k < 0; VACUUM logged', 8, 8 ],
	[ 'a build', 'logged', 'REINDEX INDEX logged_k', 7, 7 ],
	[ 'entries of a new index', 'logged', <<'SQL', 5, 1000 ])
INSERT INTO logged SELECT i FROM generate_series(30001, 31000) i;
INSERT INTO logged SELECT -1 FROM generate_series(1, 100) i;
SQL
{
	my ($what, $name, $statements, $pages, $least) = @$_;
	my ($images, $none, $records, $again) = blocks_in_wal($statements, "${name}_k");

	# those of the last one
	$torn = $images;
	is("@$none", '', "$what: the first record of each page has its image");
	cmp_ok(scalar(@$images), '>=', $pages, "$what: $pages pages");
	cmp_ok($records, '>=', $least, "$what: records");
	is($again, 0, "$what: one image of each page") if $what =~ /^(?:entries|a chain)/;
	is(scalar(@$images), $node->safe_psql('postgres', "SELECT pg_relation_size('logged_k') / $block_size"),
		"$what: all pages")
	  if $what eq 'a build';
}

# ---- a crash ----

my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('logged_k')");
my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM logged');

$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE new (k int);
CREATE INDEX new_k ON new USING cuckoo (k);
SQL
$node->stop('immediate');
open my $file, '+<:raw', $path or die "$path: $!";
foreach my $block (@$torn)
{
	next if ($block + 1) * $block_size > -s $file;
	seek $file, $block * $block_size + $block_size / 2, 0;
	print {$file} "\0" x ($block_size / 2);
}
close $file or die "$path: $!";
# after a commit, a new relation is written to its file
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0");
$node->start;
checks($node, 'postgres', <<"SQL");
SELECT 'pages of which half was written', cf_index_check('logged_k'), $rows, rows, $rows, wrong, 0
FROM compared('logged_k');
SELECT 'unlogged', count(*), 0, cf_index_check('fast_k'), 0 FROM fast;
INSERT INTO fast SELECT i FROM generate_series(1, 9000) i;
SELECT 'unlogged, with rows', cf_index_check('fast_k'), 9000, rows, 9000, wrong, 0 FROM compared('fast_k');
INSERT INTO new SELECT i FROM generate_series(1, 9000) i;
SELECT 'unlogged, and created after the checkpoint', cf_index_check('new_k'), 9000, rows, 9000, wrong, 0
FROM compared('new_k');
SQL

# ---- relations that are new in a transaction ----

my %skipped = (
	'new in a transaction' => [ 'skipped', <<'SQL' ],
BEGIN;
CREATE TABLE skipped (k int);
CREATE INDEX skipped_k ON skipped USING cuckoo (k);
INSERT INTO skipped SELECT i FROM generate_series(1, 9000) i;
INSERT INTO skipped SELECT -1 FROM generate_series(1, 3000) i;
COMMIT;
SQL
	'built in a transaction' => [ 'built', <<'SQL' ],
BEGIN;
CREATE TABLE built AS SELECT nullif(i % 3, 0) * i AS k FROM generate_series(1, 9000) i;
INSERT INTO built SELECT -1 FROM generate_series(1, 3000) i;
CREATE INDEX built_k ON built USING cuckoo (k);
COMMIT;
SQL
	'emptied in a transaction' => [ 'emptied', <<'SQL' ]);
CREATE TABLE emptied AS SELECT i AS k FROM generate_series(1, 3000) i;
CREATE INDEX emptied_k ON emptied USING cuckoo (k);
BEGIN;
TRUNCATE emptied;
INSERT INTO emptied SELECT i FROM generate_series(1, 9000) i;
REINDEX INDEX emptied_k;
INSERT INTO emptied SELECT i FROM generate_series(9001, 18000) i;
COMMIT;
SQL

foreach my $what (sort keys %skipped)
{
	my ($name, $statements) = @{ $skipped{$what} };

	is((blocks_in_wal($statements, "${name}_k"))[2], 0, "$what: no record of the index");
}
$node->stop('immediate');
$node->start;
checks($node, 'postgres', <<'SQL');
SELECT 'new in a transaction', cf_index_check('skipped_k'), 12000, rows, 12000, wrong, 0 FROM compared('skipped_k');
SELECT 'built in a transaction', cf_index_check('built_k'), 9000, rows, 9000, wrong, 0 FROM compared('built_k');
SELECT 'emptied in a transaction', cf_index_check('emptied_k'), 18000, rows, 18000, wrong, 0 FROM compared('emptied_k');
SQL

$node->stop;
done_testing();
