# Lives of a table, a second each: the pages of its index do not grow without end.
# bench/steady.sql has the same lives with more rows and rounds, beside other indexes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('lives');

# The name; a query for the rows when the index is created; the rounds; the statements of a
# round before VACUUM; and the bound of the pages at the end, divided by those of a new index.
my $count = 'DO $$ BEGIN FOR c IN 1..TIMES LOOP UPDATE life SET n = n + 1 WHERE k = KEY; COMMIT; END LOOP; END $$';
my @lives = (
	[ 'random keys, a fifth replaced', 'SELECT md5(n::text)::uuid AS k, n FROM generate_series(1, 40000) n',
		10, [ 'DELETE FROM life WHERE hashint4extended(n, ROUND) & 1023 < 205',
			'INSERT INTO life SELECT gen_random_uuid(), ROUND * 40000 + n FROM generate_series(1, 8000) n' ], '< 1.3' ],
	[ 'keys that only grow', 'SELECT n::bigint AS k, n FROM generate_series(1, 20000) n',
		30, ['INSERT INTO life SELECT 18000 + ROUND * 2000 + n FROM generate_series(1, 2000) n'], '< 1.5' ],
	# before VACUUM the index has a third more entries
	[ 'queue', 'SELECT n::bigint AS k FROM generate_series(-5999, 0) n',
		30, [ 'DELETE FROM life WHERE k <= ROUND * 2000 - 6000',
			'INSERT INTO life SELECT ROUND * 2000 - 2000 + n FROM generate_series(1, 2000) n' ], '< 2' ],
	[ 'hot values that stay', 'SELECT n % 5 AS k, n FROM generate_series(1, 20000) n',
		24, [ 'DELETE FROM life WHERE hashint4extended(n, ROUND) & 7 = 0',
			'INSERT INTO life SELECT n % 5, ROUND * 20000 + n FROM generate_series(1, 2500) n' ], '< 1.6' ],
	[ 'hot values that come and go', 'SELECT n / 700 - 30 AS k FROM generate_series(0, 20999) n',
		12, [ 'DELETE FROM life WHERE k < ROUND * 10 - 30',
			'INSERT INTO life SELECT ROUND * 10 - 10 + n / 700 FROM generate_series(0, 6999) n' ], '< 1.6' ],
	# before VACUUM the index has each row twice
	[ 'nightly reload', 'SELECT md5(n::text)::uuid AS k, n FROM generate_series(1, 20000) n',
		6, [ q(COPY life TO PROGRAM 'cat >life'), 'DELETE FROM life', q(COPY life FROM PROGRAM 'cat life') ], '< 2.2' ],
	[ 'a tenth updated, not HOT', 'SELECT md5(n::text)::uuid AS k, n FROM generate_series(1, 20000) n',
		20, ['UPDATE life SET n = n + 1 WHERE uuid_hash_extended(k, ROUND) & 1023 < 102'], '< 1.3' ],
	[ 'counters, HOT', 'SELECT k, 0 AS n FROM generate_series(1, 4000) k',
		8, [ $count =~ s/TIMES/2000/r =~ s/KEY/c % 500 + 1/r ], '< 1.3' ],
	# before VACUUM the index has up to a half more entries
	[ 'counters, not HOT', 'SELECT k, 0 AS n FROM generate_series(1, 4000) k',
		8, [ $count =~ s/TIMES/2000/r =~ s/KEY/c % 500 + 1/r ], '< 1.6' ],
	[ 'one counter before VACUUM comes, not HOT', 'SELECT 1 AS k, 0 AS n',
		1, [ $count =~ s/TIMES/6000/r =~ s/KEY/1/r ], '< 1.6' ]);

foreach (@lives)
{
	my ($name, $rows, $rounds, $statements, $bound) = @$_;
	my $n_indexed = $name =~ /not HOT/ ? 'CREATE INDEX ON life (n);' : '';
	my @rounds = map { my $round = $_; map { s/ROUND/$round/gr } @$statements, 'VACUUM life' } 1 .. $rounds;

	checks($node, 'postgres', join ";\n", <<SQL, @rounds, <<SQL);
CREATE TABLE life WITH (fillfactor = 80) AS $rows;
CREATE INDEX life_k ON life USING cuckoo (k); $n_indexed
SET enable_seqscan = off
SQL
SELECT pg_relation_size('life_k') AS lived \\gset
REINDEX INDEX life_k;
SELECT '$name', round(:lived / pg_relation_size('life_k')::numeric, 2), '$bound';
DROP TABLE life;
SQL
}

# The entries of dead rows go before VACUUM comes: only those of the last page of the
# table are left, which is not full.
foreach my $by ($node->pg_version < 18 ? 'lookup' : ('lookup', 'check of a UNIQUE index'))
{
	my ($unique) = $by =~ /(UNIQUE|)( index|$)/;
	my $lookup = $unique ? '' : 'SELECT FROM row WHERE k = 1;';

	checks($node, 'postgres', <<"SQL");
SET enable_seqscan = off;
CREATE TABLE row AS SELECT 1 AS k, 0 AS n;
CREATE $unique INDEX row_k ON row USING cuckoo (k);
CREATE INDEX ON row (n);
DO \$\$ BEGIN FOR i IN 1..2000 LOOP UPDATE row SET n = n + 1 WHERE k + 0 = 1; COMMIT; END LOOP; END \$\$;
SET enable_bitmapscan = off;
$lookup
SELECT 'entries after a $by', entries, '< 300' FROM cf_index_info('row_k');
DROP TABLE row;
SQL
}
$node->stop;
done_testing();
