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
	foreach my $i (0 .. $#{ $elements->{seeds} })
	{
		$sql .= sprintf "SELECT %s WHERE cf_hash(%s::%s, x'%s'::bigint) <> x'%s'::bigint;\n",
			quoted("$element->{type} $element->{value}"), quoted($element->{value}), $element->{type},
			$elements->{seeds}[$i], $element->{hashes}[$i];
	}
}
nothing_wrong('hashes of elements');

my $images = vectors('images')->{images};

foreach my $image (@$images)
{
	my $type = $image->{type} || 'int8';

	$sql .= sprintf "SELECT %s FROM (SELECT %s::cuckoofilter, %s::%s[]) image(f, probes), cf_info(f) i,\n"
		. "LATERAL (SELECT string_agg(cf_count(f, v)::text, '' ORDER BY n) FROM unnest(probes) WITH ORDINALITY p(v, n)) c(counts)\n"
		. "WHERE (i.element_family, i.items, i.seed, counts, cf_contains_each(f, probes), f::text) IS DISTINCT FROM\n"
		. "(%s, %d, x'%s'::bigint, %s, (SELECT array_agg(c > '0' ORDER BY n) FROM regexp_split_to_table(counts, '') WITH ORDINALITY s(c, n)), %s);\n",
		quoted($image->{name}), quoted($image->{image}),
		quoted('{' . join(',', map { "\"$_\"" =~ s/\\/\\\\/gr } @{ $image->{probes} }) . '}'), $type,
		quoted($image->{family}), $image->{items}, $image->{seed}, quoted($image->{counts}),
		quoted($image->{image});
}
nothing_wrong('counts of probes in images');

is( $node->safe_psql('postgres',
		'SELECT cf_add(cf_new(1, 0.03), 1); SELECT cf_grow(cf_grow(cf_add(cf_add(cf_new(2000000, 0.5), 1), 57)))'),
	join("\n", map { $_->{image} } @$images[0, 1]),
	'the examples of FORMAT.md');

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
	$sql .= sprintf "SELECT text, f, s FROM (SELECT %s) r(text), reason(format('SELECT %%L::cuckoofilter', text)) f,\n"
		. "reason(format('SELECT %%L::cuckoostate', text)) s\n"
		. "WHERE f <> 'The text is not valid base64.' OR s <> 'The state is invalid: not base64.';\n", quoted($text);
}
nothing_wrong('texts to be refused');

$node->stop;
done_testing();
