# Runs what README.md, doc/*.md and the example's README show, as it stands:
# every block of SQL is one test. Its folder is the top of the source. The
# blocks of a file run in order, each in a session of its own, in a database that
# was empty before, for README.md even without the extension. A block that has
# lines "--> ..." must print just these, as psql -At does. After its blocks the
# examples in the tables of README.md and doc/from-redis.md run: they query the
# table "sets", and the column to the right has what they print. doc/README.md
# has only links.
#
# A comment "<!-- not run: reason -->" in the line before a block leaves it out.
# The reason may name another test, which has what the block needs and runs it.
# The blocks of a file that uses postgres_fdw or ICU are skipped where there is
# none.
#
# In every document of the project, lines must fit 120 columns, and links to
# files and headings of this source must lead somewhere. README.md and
# doc/reference.md must name each function.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest qw(:DEFAULT lines_of);
use Test::More;

my $top = "$FindBin::RealBin/../..";

# The anchor of a heading, as GitHub makes it
sub anchor
{
	my ($heading) = @_;

	$heading = lc $heading;
	$heading =~ s/[^\w\- ]//g;
	$heading =~ tr/ /-/;
	return $heading;
}

sub headings_of
{
	return map { /^#+ (.*)/ ? anchor($1) : () } @_;
}

# Links that lead nowhere
sub broken_links
{
	my ($folder, @lines) = @_;
	my @broken;

	foreach my $link (join("\n", @lines) =~ /\]\(([^()\s]+)\)/g)
	{
		my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my @target;

		next if $link =~ /^https?:/;
		if ($path ne '' && !-e "$folder/$path")
		{
			push @broken, $link;
			next;
		}
		next if $anchor eq '';
		@target = $path eq '' ? @lines : lines_of("$folder/$path");
		push @broken, $link if !grep { $_ eq $anchor } headings_of(@target);
	}
	return @broken;
}

# plans are shown without workers
my $node = start_node('readme', 'max_parallel_workers_per_gather = 0');
my %needs = (
	'postgres_fdw' => q(pg_available_extensions WHERE name = 'postgres_fdw'),
	'normalize.sql' => q(pg_collation WHERE collname = 'und-x-icu'));
my @lacking = grep { $node->safe_psql('postgres', "SELECT count(*) FROM $needs{$_}") eq '0' } sort keys %needs;

foreach my $path (map { substr($_, length("$top/")) }
	sort(map { glob "$top/$_" } '*.md', '*/*.md', '{clients,examples}/*/*.md'))
{
	my @lines = lines_of("$top/$path");
	my ($folder) = "$top/$path" =~ m{^(.*)/};

	is(join(' ', grep { length $lines[$_ - 1] > 120 } 1 .. @lines), '', "$path: no line is longer than 120 columns");
	is(join(' ', broken_links($folder, @lines)), '', "$path: links lead somewhere");
}

foreach my $path ('README.md', 'doc/reference.md')
{
	my $text = join "\n", lines_of("$top/$path");
	my @functions = split /\n/,
		$node->safe_psql('postgres', q(SELECT DISTINCT proname FROM pg_proc WHERE proname LIKE 'cf\_%'));

	is(join(' ', grep { $text !~ /`$_\(/ } @functions), '', "$path: names each of " . @functions . ' functions');
}

foreach my $path ('README.md', 'examples/blocklist/README.md',
	grep { $_ ne 'doc/README.md' } map { "doc/$_" } map { m{([^/]+)$} } sort(glob("$top/doc/*.md")))
{
	my @blocks = blocks_of($path);
	(my $database = $path) =~ s/\W/_/g;

	$node->safe_psql('postgres', "CREATE DATABASE \"$database\" TEMPLATE template0");
	$node->safe_psql($database, 'CREATE EXTENSION cuckoo') if $path ne 'README.md';
	cmp_ok(scalar(@blocks), '>=', $path eq 'README.md' ? 8 : 1, "$path: has blocks of SQL");
	my ($lacks) =
		grep { my $what = $_; grep { !defined $_->{reason} && index($_->{sql}, $what) >= 0 } @blocks } @lacking;

	if ($lacks)
	{
	  SKIP: { skip "$path: nothing for $lacks here", 1 }
		next;
	}
	foreach my $block (@blocks)
	{
		if (defined $block->{reason})
		{
			note("$block->{name} is not run: $block->{reason}");
			next;
		}
		run_block($node, $database, $block);
	}
	cmp_ok(scalar(grep { defined $_->{reason} && !defined $_->{by} } @blocks), '<=', 1,
		"$path: one block at most is not run");
	foreach my $test (map { $_->{by} // () } @blocks)
	{
		ok((grep { /run_blocks_left_to\('\Q$test\E', '\Q$path\E'/ } lines_of("$top/test/t/$test")),
			"$path: $test runs a block of it");
	}
}

# examples in tables: | function | meaning | `example` | what it prints |
foreach my $path ('README.md', 'doc/from-redis.md')
{
	my (@examples, $out, $errors);

	(my $database = $path) =~ s/\W/_/g;
	foreach my $line (lines_of("$top/$path"))
	{
		my ($example, $printed) = $line =~ /\| `([^`]+)` \| (\S+) \|$/ or next;

		$example =~ s/\\\|/|/g;
		push @examples, [ $example, $printed ];
	}
	# in one session, as there are many
	$node->psql($database,
		join('', map { ($_->[0] =~ /^SELECT/ ? $_->[0] : "SELECT $_->[0] FROM sets") . ";\n\\echo next\n" } @examples),
		stdout => \$out, stderr => \$errors, on_error_stop => 0);
	my @printed = split /\n?next\n?/, $out, -1;
	is($printed[$_], $examples[$_][1], "$path: $examples[$_][0]") or diag($errors) foreach 0 .. $#examples;
	is(scalar(@examples), scalar(grep { /^\| `/ } lines_of("$top/$path")),
		"$path: each row of those tables has an example");
	cmp_ok(scalar(@examples), '>=', 20, "$path: has examples");
}

$node->stop;
done_testing();
