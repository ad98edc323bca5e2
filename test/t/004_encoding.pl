# The same characters are the same element in databases of different encodings:
# a filter has the same bytes whichever database made it, and the others find
# in it what they should. Strings that are equal under a nondeterministic
# collation are the same element, too.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $node = start_node('encoding');

expect_in_logs(qr/expected source encoding/);

# Words of letters that LATIN1 has. They are UTF-8 here and for the client, and
# SQL_ASCII keeps the bytes that it is sent.
my @letters = qw(é ä ß ñ ç å ø ü þ Ö);
my @words = ('', 'plain', map { my $word = $_; $word =~ s/(\d)/$letters[$1]/g; $word } 1 .. 500);
my $values = join ', ', map { "($_, '$words[$_]')" } 0 .. $#words;
my @encodings = qw(UTF8 LATIN1 SQL_ASCII);
my @kinds = ('w', 'w::varchar(20)', 'w::char(20)', 'w::name', 'e', 'a');
my %filters;

foreach my $encoding (@encodings)
{
	$node->safe_psql('postgres',
		"CREATE DATABASE \"$encoding\" TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql($encoding, <<"SQL");
SET client_encoding = 'UTF8';
CREATE EXTENSION cuckoo;
CREATE TYPE colour AS ENUM ('weiß', 'grün', 'Ölfarbe');
CREATE TABLE words AS SELECT i, w, (enum_range(NULL::colour))[1 + i % 3] AS e, ARRAY[i] AS a
FROM (VALUES $values) AS v(i, w);
CREATE TABLE filters (origin text, kind text, f cuckoofilter);
SQL
	my $selects = join ' UNION ALL ', map { "SELECT '$_', cf_agg($_, 1e-8) FROM words" } @kinds;
	$filters{$encoding} = $node->safe_psql($encoding, <<"SQL" . $selects);
CREATE FUNCTION one_by_one() RETURNS cuckoofilter LANGUAGE plpgsql AS \$\$
DECLARE
	f cuckoofilter := cf_new(1000, 1e-8);
	word text;
BEGIN
	FOR word IN SELECT w FROM words ORDER BY i LOOP
		f := cf_add(f, word);
	END LOOP;
	RETURN f;
END \$\$;
SELECT 'w', one_by_one();
SQL
}

# The filters have the same bytes, although the words have not
is($node->safe_psql('LATIN1', 'SELECT max(octet_length(w)) FROM words'), '5', 'LATIN1: words have one byte a letter');
is($node->safe_psql('UTF8', 'SELECT max(octet_length(w)) FROM words'), '6', 'UTF8: words have two bytes a letter');
is(scalar(() = $filters{UTF8} =~ /\|/g), 1 + @kinds, 'filters were made');
is($filters{$_}, $filters{UTF8}, "$_: same bytes") foreach qw(LATIN1 SQL_ASCII);

is($node->safe_psql('SQL_ASCII', q(SELECT cf_hash(convert_from('\xe9', 'SQL_ASCII')) = cf_hash('\xe9'::bytea))), 't',
	'SQL_ASCII: bytes that are no UTF-8 are hashed as they are');

# What one database made, in another
foreach my $to (@encodings)
{
	foreach my $from (grep { $_ ne $to } @encodings)
	{
		my $rows = join ', ', map { "('$from', '" . join("', '", split /\|/) . "')" } split /\n/, $filters{$from};
		my $missing = join ' UNION ALL ', map
		{
			"SELECT count(*) FROM words, filters WHERE origin = '$from' AND kind = '$_' AND NOT cf_contains(f, $_)"
		} @kinds;

		checks($node, $to, <<"SQL");
INSERT INTO filters VALUES $rows;
SELECT '$from to $to', (SELECT sum(count) FROM ($missing) m), 0, count(*), 4 * 502 + 502,
	bool_or(cf_contains(f, w || 'x')), false
FROM words, filters WHERE origin = '$from' AND kind LIKE 'w%';
SQL
	}
}

# Bytes of the server's encoding that have no form in UTF-8
$node->safe_psql('postgres',
	q(CREATE DATABASE "WIN1252" TEMPLATE template0 ENCODING 'WIN1252' LC_COLLATE 'C' LC_CTYPE 'C'));
checks($node, 'WIN1252', <<'SQL');
SET client_encoding = 'WIN1252';
CREATE EXTENSION cuckoo;
CREATE TABLE odd (w text);
CREATE INDEX odd_w ON odd USING cuckoo (w);
INSERT INTO odd SELECT chr(129) || i FROM generate_series(1, 100) i;
INSERT INTO odd SELECT chr(233) || i FROM generate_series(1, 100) i;
SELECT 'an index takes them as they are', cf_index_check('odd_w'), 200;
REINDEX INDEX odd_w;
SELECT 'a build too', cf_index_check('odd_w'), 200;
SET enable_seqscan = off;
SELECT 'an index finds them', count(*), 1 FROM odd WHERE w = chr(129) || 7;
SELECT 'and others', count(*), 1 FROM odd WHERE w = chr(233) || 7;
CREATE FUNCTION plan_of(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan;
END $$;
SELECT 'by a plan with the index', plan_of('SELECT FROM odd WHERE w = chr(129) || 7')::text ~ '"Index Name": "odd_w"';
SELECT cf_add(cf_new(), chr(129));
SELECT 'for a filter, which others read, they are an error', :'SQLSTATE', '22P05';
SQL

# An encoding that has no conversion to UTF-8 at all
SKIP:
{
	skip 'PostgreSQL 19 has no such encoding', 2
		if $node->safe_psql('postgres', "SELECT pg_char_to_encoding('MULE_INTERNAL')") < 0;

	$node->safe_psql('postgres',
		q(CREATE DATABASE "MULE" TEMPLATE template0 ENCODING 'MULE_INTERNAL' LC_COLLATE 'C' LC_CTYPE 'C'));
	checks($node, 'MULE', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE TABLE odd (w text);
CREATE INDEX odd_w ON odd USING cuckoo (w);
INSERT INTO odd SELECT e || i
FROM generate_series(1, 100) i, (VALUES (convert_from('\x81e9', 'MULE_INTERNAL')), ('plain')) v(e);
SELECT 'an index takes what it has', cf_index_check('odd_w'), 200;
REINDEX INDEX odd_w;
SELECT 'a build, too', cf_index_check('odd_w'), 200;
SET enable_seqscan = off;
SELECT 'and is found by it', count(*), 1 FROM odd WHERE w = convert_from('\x81e9', 'MULE_INTERNAL') || 7;
SQL
}

SKIP:
{
	skip 'this PostgreSQL has no ICU, so no nondeterministic collations', 1
	  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") eq '0';

	checks($node, 'UTF8', <<'SQL');
SET client_encoding = 'UTF8';
CREATE COLLATION case_insensitive (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE COLLATION accents_ignored (PROVIDER = icu, LOCALE = 'und-u-ks-level1-kc-true', DETERMINISTIC = false);
CREATE TABLE names (t text COLLATE case_insensitive, v varchar(20) COLLATE case_insensitive,
	b char(20) COLLATE case_insensitive);
INSERT INTO names SELECT n, n, n FROM unnest(ARRAY['Müller', 'MÜLLER', 'müller', 'Straße', 'x']) n;
SELECT 'equal strings are one element', cf_count(cf_agg(t)), 3, cf_count(cf_agg(v)), 3, cf_count(cf_agg(b)), 3
FROM names;
SELECT 'equal strings probe equal',
	cf_contains(cf_agg(t), 'mÜLLER' COLLATE case_insensitive), true,
	cf_contains(cf_agg(v), 'STRAßE' COLLATE case_insensitive), true,
	cf_contains(cf_agg(b), 'X' COLLATE case_insensitive), true FROM names;
SELECT 'text, varchar and char(n) too', cf_agg(t) = cf_agg(v), true, cf_agg(t) = cf_agg(b), true FROM names;
SELECT 'added one by one',
	cf_contains(f, 'A' COLLATE case_insensitive), true, cf_contains(f, 'É' COLLATE case_insensitive), true,
	cf_count(f), 2
FROM cf_add_unique(cf_add_unique(cf_add_unique(cf_new(), 'a' COLLATE case_insensitive), 'A' COLLATE case_insensitive),
	'é' COLLATE case_insensitive) f;
SELECT 'unequal strings differ', cf_contains(cf_agg(t, 1e-8), 'Muller' COLLATE case_insensitive), false,
	cf_contains(cf_agg(t::text COLLATE "C", 1e-8), 'MüLLER' COLLATE "C"), false FROM names;

SELECT cf_contains(cf_agg(t), 'x' COLLATE "C") FROM names;
SELECT 'probed with a deterministic collation', :'SQLSTATE', '42804';
SELECT cf_contains(cf_agg(t COLLATE "C"), 'x' COLLATE case_insensitive) FROM names;
SELECT 'deterministic, probed with another collation', :'SQLSTATE', '42804';
SELECT cf_contains(cf_agg(t), 'x' COLLATE accents_ignored) FROM names;
SELECT 'probed with another nondeterministic collation', :'SQLSTATE', '42804';
SELECT cf_add(cf_agg(t), 'y' COLLATE "C") FROM names;
SELECT 'adding with another collation', :'SQLSTATE', '42804';
SELECT 'deterministic collations are all the same',
	cf_contains(cf_agg(t COLLATE "C"), 'x' COLLATE "default"), true,
	cf_contains(cf_agg(t COLLATE "C"), 'x' COLLATE "und-x-icu"), true FROM names;
SQL
}

$node->stop;
done_testing();
