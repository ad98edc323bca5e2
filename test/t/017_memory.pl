# However often a function is called, in one statement or one session, its memory
# does not grow. No function is without such a test. See test/memory.sql.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('memory');
my ($out, $errors);

$node->psql('postgres', "\\set calls 10000\n\\i $FindBin::RealBin/../memory.sql",
	stdout => \$out, stderr => \$errors, on_error_stop => 0);
$errors =~ s/^.*INFO:.*\n?//mg;
is($errors, '', 'no errors');
my ($missing, $table) = $out =~ /^functions that no case calls:\n(.*)^memory:\n(.*)/ms;
is($missing, '', 'each function has a case');
foreach my $line (split /\n/, $table)
{
	my ($functions, $how, $calls, $contexts, $growth) = split /\|/, $line;

	# a leak of a byte in each call would be 9000
	cmp_ok($growth || 0, '<', 5000, "$functions, $calls in one $how: bytes more");
}

# The same without the reset after each row of a query, which hides what a call
# leaves behind. Functions that take arrays leave the elements of these, and
# those that write or finish a state leave a copy of it.
my @left = (
	[ 'f, 5', map { "cf_$_(cuckoofilter,anycompatible)" } qw(contains count add delete add_unique) ],
	[ 'stored, 5', map { "cf_$_(cuckoofilter,anycompatible)" } qw(contains count) ],
	[ 'n, 5::numeric', map { "cf_$_(cuckoofilter,anycompatible)" } qw(contains add) ],
	(map { [ "$_, 0::bigint", 'cf_hash(anycompatible,bigint)' ] } "U&'caf\\00e9'::text", 'mood', 'long', 'address',
		'long COLLATE any_case',
		'long::bpchar COLLATE any_case'),
	[ 'f, h',
		map { "$_(cuckoofilter,cuckoofilter)" } qw(cf_union cf_union_all cf_intersect cf_overlap cf_compatible
			cuckoofilter_eq) ],
	[ 'f',
		map { "$_(cuckoofilter)" } qw(cf_canonical cf_clear cf_count cuckoofilter_out cuckoofilter_send
			cuckoofilter_hash) ],
	[ 'state, state', 'citus.cuckoo_agg_combine(citus.cuckoostate,citus.cuckoostate)' ]);

SKIP:
{
	skip 'needs make -C test/module install' if $node->psql('postgres', "LOAD 'cuckoo_test'") != 0;
	# where text is converted
	$node->safe_psql('postgres', "CREATE DATABASE latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql('latin1', q{
		CREATE EXTENSION cuckoo;
		CREATE SCHEMA citus;
		CREATE EXTENSION cuckoo_citus SCHEMA citus CASCADE;
		CREATE AGGREGATE state_agg(text) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate);
		CREATE FUNCTION growth(function regprocedure, calls int, VARIADIC "any") RETURNS bigint AS 'cuckoo_test',
			'cuckoo_growth' LANGUAGE C;
		CREATE TYPE mood AS ENUM ('good');
		CREATE TABLE sample AS SELECT cf_agg(i, 1000, 0.01) AS f, cf_agg(-i, 1000, 0.01) AS h, cf_agg(i::numeric) AS n,
			state_agg(i::text) AS state, NULL::cuckoofilter AS stored, 'good'::mood, repeat('long ', 1000) AS long,
			'10.0.0.1'::inet AS address FROM generate_series(1, 20) i;
		UPDATE sample SET stored = (SELECT cf_agg(i) FROM generate_series(1, 20000) i)});
	# where there is ICU, and elsewhere the same once more
	$node->safe_psql('latin1', q{DO $$
		BEGIN
			IF EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
				CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			ELSE
				CREATE COLLATION any_case FROM "C";
			END IF;
		END $$});
	foreach my $case (@left)
	{
		my ($arguments, @functions) = @$case;

		is($node->safe_psql('latin1', "SELECT growth('$_', 1000, $arguments) FROM sample"), '0',
			"$_ of $arguments leaves nothing")
			foreach @functions;
	}
}

$node->stop;
done_testing();
