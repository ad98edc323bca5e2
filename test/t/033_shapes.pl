# Indexes of sizes and shapes that tables of tests do not have: of a table above the
# size at which a build sorts other datums (4 GB), with a map of two levels, with
# pages that cannot be split, and whose halves differ. The library cuckoo_faults has
# small pages, so that thousands of rows are enough (test/module/cuckoo_faults.h).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('shapes', 'autovacuum = off');

plan skip_all => 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_faults'") != 0;

# The hash of a key is the key. Seeds are fixed, so each run is the same.
$node->safe_psql('postgres', <<"SQL");
UPDATE pg_proc SET probin = 'cuckoo_faults' WHERE probin ~ 'cuckoo\$';
CREATE FUNCTION test_hash(bigint, bigint) RETURNS bigint AS 'cuckoo_faults' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION test_page(regclass, bigint) RETURNS bytea AS 'cuckoo_test' LANGUAGE C;
CREATE OPERATOR CLASS place_ops FOR TYPE bigint USING cuckoo AS OPERATOR 1 =, FUNCTION 1 test_hash(bigint, bigint);
-- a key that has these ext bits
CREATE FUNCTION key_of(ext bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	'SELECT (n + CASE WHEN n < -9223372036854775808 THEN 18446744073709551616 ELSE 0 END)::bigint
		FROM (SELECT test_hash(ext, 0) - 11400714819323198485) h (n)';
-- how many rows the index does not find
CREATE FUNCTION lost(t regclass) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off
	SET enable_mergejoin = off SET enable_material = off SET enable_tidscan = off AS \$\$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT k, ctid FROM %s WHERE k IS NOT NULL OFFSET 0) a
		WHERE NOT EXISTS (SELECT FROM %1\$s b WHERE b.k = a.k AND b.ctid = a.ctid)', t) INTO result;
	RETURN result;
END \$\$;
-- a number in a page
CREATE FUNCTION word(bytes bytea, at int) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	'SELECT get_byte(bytes, at) + (get_byte(bytes, at + 1)::bigint << 8) + (get_byte(bytes, at + 2)::bigint << 16)
		+ (get_byte(bytes, at + 3)::bigint << 24)';
-- the pages of an index, and what the special space of a page of entries has
CREATE FUNCTION pages(index regclass, OUT block bigint, OUT bytes bytea, OUT kind int, OUT number bigint,
	OUT segment bigint, OUT salt bigint, OUT level int) RETURNS SETOF record LANGUAGE sql AS
	'SELECT block, bytes, get_byte(bytes, size - 4), word(bytes, size - 24), word(bytes, size - 20),
			word(bytes, size - 16), get_byte(bytes, size - 12)
		FROM (SELECT current_setting(''block_size'')::int) s (size),
			generate_series(0, pg_relation_size(index) / size - 1) block, test_page(index, block) bytes';
SQL

# ---- a map of two levels ----

# A map page has the blocks of 16 places, and block 0 lists 4 map pages, and pages of
# 16 others.
my $not_in_map = <<'SQL';
WITH p AS MATERIALIZED (SELECT * FROM pages('deep_k')),
	places AS (SELECT p.block, p.segment * word(meta.bytes, 40) + p.number AS place, meta.bytes
		FROM p, p meta WHERE meta.block = 0 AND p.kind = 3),
	maps AS (SELECT block, place, place / 16 AS k, CASE WHEN place / 16 < 4 THEN word(bytes, 52 + 4 * (place / 16)::int)
			ELSE (SELECT word(list.bytes, 24 + 4 * ((place / 16 - 4) % 16)::int)
				FROM p list WHERE list.block = word(places.bytes, 68 + 4 * ((place / 16 - 4) / 16)::int)) END AS map
		FROM places)
SELECT count(*) FILTER (WHERE maps.block IS DISTINCT FROM word(p.bytes, 24 + 4 * (place % 16)::int)) AS wrong,
	max(k) / 16 AS lists, count(*) AS pages
FROM maps LEFT JOIN p ON p.block = map
SQL
chomp $not_in_map;
checks($node, 'postgres', <<"SQL");
CREATE TABLE deep AS SELECT key_of(i) AS k FROM generate_series(1, 9000) i;
CREATE INDEX deep_k ON deep USING cuckoo (k place_ops) WITH (fillfactor = 10);
$not_in_map \\gset
SELECT 'a build, two levels of the map', :wrong, 0, :lists, 1, :pages, '> 300', lost('deep'), 0,
	cf_index_check('deep_k'), 9000;
-- some pages are split often
INSERT INTO deep SELECT i * 1e14 FROM generate_series(1, 3000) i;
$not_in_map \\gset
SELECT 'splits, two levels of the map', :wrong, 0, :lists, '> 1', lost('deep'), 0, cf_index_check('deep_k'), 12000;
SQL

# ---- the size at which a build sorts uuids ----

# TIDs of 127 blocks have 16 bits, and no larger ones fit into a bigint beside the hash.
foreach my $blocks (1, 2, 126 .. 129)
{
	my $bits = { 1 => 54, 2 => 53, 126 => 48, 127 => 48, 128 => 64, 129 => 64 }->{$blocks};

	checks($node, 'postgres', <<"SQL");
CREATE TABLE sized (k bigint, filler text);
ALTER TABLE sized ALTER filler SET STORAGE plain;
INSERT INTO sized SELECT key_of(i), repeat('.', 5000) FROM generate_series(1, $blocks) i;
CREATE INDEX sized_k ON sized USING cuckoo (k place_ops);
SELECT '$blocks blocks: bits of hashes', get_byte(test_page('sized_k', 0), 30), $bits, lost('sized'), 0,
	pg_relation_size('sized') / current_setting('block_size')::int, $blocks;
INSERT INTO sized SELECT key_of(i), repeat('.', 5000) FROM generate_series(1001, 1200) i;
INSERT INTO sized SELECT key_of(i) FROM generate_series(2001, 4000) i;
SELECT '$blocks blocks, then more', lost('sized'), 0, cf_index_check('sized_k'), $blocks + 2200;
REINDEX INDEX sized_k;
SELECT '$blocks blocks, rebuilt', lost('sized'), 0, cf_index_check('sized_k'), $blocks + 2200;
DROP TABLE sized;
SQL
}

# The number of a block needs more than 16 bits. The file has pages of zeros before it,
# which a file system does not store.
$node->safe_psql('postgres', 'CREATE TABLE far (k bigint)');
truncate $node->data_dir . '/' . $node->safe_psql('postgres', q(SELECT pg_relation_filepath('far'))),
	65600 * $node->safe_psql('postgres', 'SHOW block_size')
	or die "truncate: $!";
checks($node, 'postgres', <<'SQL');
INSERT INTO far SELECT key_of(i) FROM generate_series(1, 500) i;
CREATE INDEX far_k ON far USING cuckoo (k place_ops);
SELECT 'rows after block 65535', min(ctid) > '(65535,0)', 't', lost('far'), 0 FROM far;
DROP TABLE far;
SQL

# ---- values in each number of rows ----

# A value has up to 62 rows in a page of entries, and a page of a chain has 50.
checks($node, 'postgres', <<'SQL');
CREATE TABLE groups AS SELECT key_of(n) AS k, n FROM generate_series(1, 210) n, generate_series(1, n);
CREATE INDEX groups_k ON groups USING cuckoo (k place_ops);
-- a bitmap would show a row once
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 'values with 1 to 210 rows', count(*), 0 FROM generate_series(1, 210) v
WHERE (SELECT count(*) FROM groups WHERE k = key_of(v)) <> v;
SELECT 'values with 1 to 210 rows: entries', cf_index_check('groups_k'), count(*) FROM groups;
SQL

# ---- a build of pages that cannot be split ----

# 700 keys of one page share the 20 low ext bits. So do 40 keys with 70 rows each,
# which go to chains. The number of pages is chosen for all 1540 entries.
checks($node, 'postgres', <<'SQL');
CREATE TABLE stuck (k bigint, filler text);
ALTER TABLE stuck ALTER filler SET STORAGE plain;
-- 128 blocks, so that the index uses 64 bits of a hash
INSERT INTO stuck SELECT NULL, repeat('.', 5000) FROM generate_series(1, 128);
CREATE TABLE halves (LIKE stuck INCLUDING STORAGE);
INSERT INTO halves TABLE stuck;
CREATE TABLE sharing AS SELECT k FROM generate_series(1, 20000) i, key_of(i::bigint << 20 | 1048575) k
	WHERE k BETWEEN 0 AND 1::bigint << 60 LIMIT 740;
INSERT INTO stuck TABLE sharing;
INSERT INTO stuck SELECT k FROM (TABLE sharing OFFSET 700) s, generate_series(1, 69);
INSERT INTO stuck SELECT key_of(i) FROM generate_series(1, 800) i;
CREATE INDEX stuck_k ON stuck USING cuckoo (k place_ops);
SELECT 'a page that cannot be split', count(k), 4300, lost('stuck'), 0, cf_index_check('stuck_k'), 4300 FROM stuck;
INSERT INTO stuck TABLE sharing;
SELECT 'a page that cannot be split, and more rows', lost('stuck'), 0, cf_index_check('stuck_k'), 5040;
SQL

# ---- halves of a page that differ ----

# Almost all rows of a page go to its child, which often needs another salt to place them.
checks($node, 'postgres', <<'SQL');
CREATE INDEX halves_k ON halves USING cuckoo (k place_ops);
INSERT INTO halves SELECT key_of(2 * i) FROM generate_series(1, 12) i;
INSERT INTO halves SELECT key_of(2 * i + 1) FROM generate_series(1, 1400) i;
SELECT 'a page and its child have other salts', count(*), '> 0' FROM pages('halves_k') p, pages('halves_k') c
WHERE p.kind = 3 AND c.kind = 3 AND p.number = c.number AND p.segment = 0 AND c.segment = 1 AND p.salt <> c.salt;
SELECT 'both halves of a page', lost('halves'), 0, cf_index_check('halves_k'), 1412;
SQL

$node->stop;
done_testing();
