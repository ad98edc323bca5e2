# cuckoo_where() of the test module shows where an element is. Each lookup of
# the core must agree with it, and with SQL, in filters of all kinds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('where');

if ($node->psql('postgres', "LOAD 'cuckoo_test'") != 0)
{
	plan skip_all => 'needs make -C test/module install';
}

$node->safe_psql('postgres', "\\i $FindBin::RealBin/../module/cuckoo_where.sql");
$node->safe_psql('postgres', <<'SQL');
-- of elements from 1 to 300, two twice
CREATE TABLE filters AS
SELECT kind, cf_add_all(f, ARRAY[100, 200]) AS f FROM (
	SELECT 'whole' AS kind, cf_agg(i) AS f FROM generate_series(1, 300) i
	UNION ALL
	SELECT 'shared', cf_agg(i, 0.002) FROM generate_series(1, 300) i
	UNION ALL
	SELECT kind, cf_add_all(cf_new(1000, fpp), (SELECT array_agg(i) FROM generate_series(1, 300) i))
	FROM (VALUES ('whole, grown', 0.002), ('shared, grown', 0.001), ('any', 1e-7)) AS grown(kind, fpp)
) AS all_kinds;
CREATE VIEW present AS SELECT filters.kind AS made, filters.f, i, w.*
FROM filters, generate_series(1, 300) i, cuckoo_where(f, i) w;
CREATE VIEW absent AS SELECT filters.kind AS made, filters.f, i, w.*
FROM filters, generate_series(301, 2000) i, cuckoo_where(f, i) w;
CREATE TABLE large AS SELECT cf_agg(i) AS f FROM generate_series(1, 10000) i;
SQL

checks($node, 'postgres', <<'SQL');
SELECT made || ': the kind', bool_and(kind = made) FROM present GROUP BY made;
SELECT made || ': present', bool_and(contained AND batch AND sliced > 0 AND cardinality(slots) > 0)
FROM present GROUP BY made;
SELECT made || ': absent, but for false positives', count(*) FILTER (WHERE contained), '< 20' FROM absent GROUP BY made;
SELECT made || ': all lookups agree', bool_and(batch = contained AND (sliced > 0) = contained AND sliced = copies
	AND copies = least(cardinality(slots), 2))
FROM (TABLE present UNION ALL TABLE absent) AS every GROUP BY made;
SELECT made || ': as in SQL', bool_and(contained = cf_contains(f, i) AND copies = cf_count(f, i))
FROM (TABLE present UNION ALL TABLE absent) AS every GROUP BY made;
SELECT made || ': copies', bool_and(cardinality(slots) = 2 AND copies = 2)
FROM present WHERE i IN (100, 200) GROUP BY made;
SELECT made || ': partners', bool_and(partners AND buckets[1] <> buckets[2]) FROM present GROUP BY made;
SELECT made || ': the slots hold the fingerprint',
	bool_and(slots = ARRAY(SELECT o::int - 1 FROM unnest(contents) WITH ORDINALITY AS c(fp, o) WHERE fp = fingerprint))
FROM present GROUP BY made;
SELECT 'stored', w.path, 'stored', w.contained, true FROM large, cuckoo_where(f, 9) w;
SELECT 'in memory', w.path, 'memory', w.contained, true
FROM cuckoo_where((SELECT cf_add(f, 10001) FROM large), 10001) w;
-- FORMAT.md, "Example"
SELECT 'the hash and place of the specification',
	(hash, fingerprint, slots, contents[4]), ('2fbc593564db792e', '12e', '{3}', '12e')
FROM cuckoo_where(cf_add(cf_new(1, 0.03), 1), 1);
SQL
isnt($node->psql('postgres', "SELECT cuckoo_where(f, 'x'::text) FROM large"), 0, 'elements of another family');
done_testing();
