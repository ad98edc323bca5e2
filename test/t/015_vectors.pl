# The golden vectors in test/vectors are what their generator makes, and the
# extension agrees with them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use JSON::PP;
use Test::More;

my $top = "$FindBin::RealBin/../..";

sub slurp
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!";
	local $/;
	return <$file>;
}

sub vectors
{
	my ($name) = @_;

	return decode_json(slurp("$top/test/vectors/$name.json"));
}

# A literal of SQL
sub quoted
{
	my ($text) = @_;

	utf8::encode($text);
	$text =~ s/'/''/g;
	return "'$text'";
}

# ---- the files -------------------------------------------------------------

mkdir "$top/tmp_check";
mkdir "$top/tmp_check/vectors";
is(system('make', '-s', '-C', $top, 'vectors', 'VECTORS=tmp_check/vectors'), 0, 'the vectors are made');
foreach my $name (qw(elements images refused))
{
	ok(slurp("$top/tmp_check/vectors/$name.json") eq slurp("$top/test/vectors/$name.json"),
		"$name.json is what make vectors writes");
}

# ---- what the extension says -----------------------------------------------

my $node = start_node('vectors');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $sql;

# Runs the statements, each of which returns a row for what is wrong.
sub nothing_wrong
{
	my ($name) = @_;

	is($node->safe_psql('postgres', "SET client_encoding = 'UTF8';\n$sql"), '', $name);
	$sql = '';
	return;
}

my $elements = vectors('elements');

foreach my $element (@{ $elements->{elements} })
{
	# 16 is the first version that reads a "char" from octal digits
	next if $element->{type} eq '"char"' && $element->{value} =~ /^\\/ && $version < 160000;

	foreach my $i (0 .. $#{ $elements->{seeds} })
	{
		$sql .= sprintf "SELECT %s WHERE cf_hash(%s::%s, x'%s'::bigint) <> x'%s'::bigint;\n",
			quoted("$element->{type} $element->{value}"), quoted($element->{value}), $element->{type},
			$elements->{seeds}[$i], $element->{hashes}[$i];
	}
}
nothing_wrong('hashes of elements');

my $images = vectors('images')->{images};

foreach my $text (@{ vectors('images')->{texts} })
{
	$sql .= sprintf "SELECT text FROM (SELECT %s) r(text) WHERE text::cuckoofilter::text <> %s;\n",
	map { quoted($_) } @$text;
}
nothing_wrong('texts with white space');

foreach my $image (@$images)
{
	my $type = $image->{type} || 'int8';

	$sql .= sprintf "SELECT %s FROM (SELECT %s::cuckoofilter, %s::%s[]) image(f, probes), cf_info(f) i,\n"
		. "LATERAL (SELECT string_agg(cf_count(f, v)::text, '' ORDER BY n)
			FROM unnest(probes) WITH ORDINALITY p(v, n)) c(counts)\n"
		. "WHERE (i.element_family, i.items, i.seed,
			round((i.fpp_now * 2.0 ^ (%d - 1) * %d / greatest(i.items, 1))::numeric, 2), counts,
			cf_contains_each(f, probes), f::text)\n"
		. "IS DISTINCT FROM (%s, %d, x'%s'::bigint, least(i.items, 1), %s,
			(SELECT array_agg(c > '0' ORDER BY n) FROM regexp_split_to_table(counts, '') WITH ORDINALITY s(c, n)),
			%s);\n",
		quoted($image->{name}), quoted($image->{image}),
		quoted('{' . join(',', map { "\"$_\"" =~ s/\\/\\\\/gr } @{ $image->{probes} }) . '}'), $type,
		$image->{f0}, $image->{m0}, quoted($image->{family}), $image->{items}, $image->{seed}, quoted($image->{counts}),
		quoted($image->{image});
}
nothing_wrong('counts of probes in images');

foreach my $image (@$images)
{
	$sql .= sprintf "SELECT %s, cf_count(c) FROM (SELECT %s::cuckoofilter) image(f), cf_canonical(f) c\n"
		. "WHERE (cf_count(c), cf_canonical(c), f | f, f & f, f | cf_clear(f), cf_union_all(f, f & cf_clear(f)),
			cf_at_least(f), cf_union_twice(f)) IS DISTINCT FROM\n"
		. "(%d, c, c, c, c, c, cf_at_least(c), cf_count(c));\n",
		quoted($image->{name}), quoted($image->{image}), $image->{key_count};
}
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION cf_at_least(cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_at_least_agg($1, 1)';
-- the rows of a window have one state
CREATE FUNCTION cf_union_twice(cuckoofilter) RETURNS bigint LANGUAGE sql AS $$
	SELECT CASE WHEN min(n) = max(n) THEN min(n) END
	FROM (SELECT cf_count(cf_union_agg(f) OVER (ORDER BY i)) AS n FROM (VALUES (1, $1), (2, $1), (3, NULL)) v(i, f)) s
$$;
SQL
nothing_wrong('canonical forms of images');

# images of others may hold an element more often than twice, which takes no room in the canonical form
my %copies = map { $_->{name} =~ /(\w+) copies/ ? ($1 => quoted($_->{image})) : () } @$images;

checks($node, 'postgres', sprintf <<'SQL', @copies{qw(three six eight)});
CREATE TABLE copied AS SELECT %s::cuckoofilter AS t, %s::cuckoofilter AS s, %s::cuckoofilter AS e;
SELECT 'copies beyond two: ' || claim, md5(value::bytea), md5(truth::bytea)
FROM copied, LATERAL (VALUES ('three and six', cf_canonical(s), cf_canonical(t)),
	('eight and two', cf_canonical(e), cf_canonical(cf_add_all(cf_clear(e), '{1,1}'::int[]))),
	('intersection', e & s, cf_canonical(e)), ('union', e | s, cf_canonical(s)),
	('sum', cf_union_all(e, s), cf_canonical(s)), ('deleted', cf_delete(e, 1), e)) v(claim, value, truth);
SELECT 'copies beyond two: no growth', get_byte(cf_canonical(e)::bytea, 6), 0 FROM copied;
SELECT 'copies beyond two: overlap', cf_overlap(e, s), cf_overlap(cf_canonical(e), cf_canonical(s)) FROM copied;
SELECT 'copies beyond two: count', cf_count(e), 8, cf_count(cf_add(e, 1), 1), 2 FROM copied;
SQL

is($node->safe_psql('postgres', 'SELECT cf_add(cf_new(1, 0.03), 1)'), $images->[0]{image},
	'the first example of FORMAT.md');
is($node->safe_psql('postgres', sprintf <<'SQL', quoted($images->[1]{image})),
SELECT (cf_info(f)).growth_level, cf_canonical(f) = cf_canonical(cf_add_all(cf_new(2000000, 0.5), ARRAY[1, 57]))
FROM (SELECT %s::cuckoofilter AS f) s
SQL
	'2|t', 'the second example of FORMAT.md');

my $refused = vectors('refused');

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION reason(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'accepted';
EXCEPTION WHEN invalid_text_representation OR invalid_binary_representation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END $$;
SQL
foreach my $image (@{ $refused->{images} })
{
	$sql .= sprintf "SELECT %s, t, b FROM (SELECT %s) image(text), (SELECT %s) reason(expected),\n"
		. "reason(format('SELECT %%L::cuckoofilter', text)) t,\n"
		. "reason(format('SELECT decode(%%L, ''base64'')::cuckoofilter', text)) b\n"
		. "WHERE t <> expected OR b <> expected;\n",
		quoted($image->{name}), quoted($image->{image}), quoted("The image is invalid: $image->{reason}.");
}
nothing_wrong('images to be refused');

foreach my $text (@{ $refused->{texts} })
{
	$sql .= sprintf "SELECT text, f FROM (SELECT %s) r(text), reason(format('SELECT %%L::cuckoofilter', text)) f\n"
		. "WHERE f <> 'The text is not valid base64.';\n", quoted($text);
}
nothing_wrong('texts to be refused');

$node->stop;
done_testing();
