# Rebuilding a stored filter while four sessions add to it, by the statements of
# doc/operate.md: no element is missing afterwards.
#
# REBUILDS=50 makes it longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use IPC::Run;
use Test::More;

my $rebuilds = $ENV{REBUILDS} || 2;
my $each = 40;		# transactions of a writer during one rebuild
my $node = start_node('rebuild');

# The block of the guide that has some text
sub block
{
	my ($text) = @_;
	my @found = grep { index($_->{sql}, $text) >= 0 } blocks_of('doc/operate.md');

	is(scalar(@found), 1, "one block of the guide has: $text");
	return $found[0]{sql};
}

# A script of pgbench that runs the guide's transaction for a new element. It
# waits between its statements, so that most rebuilds begin within some of them.
sub writer
{
	my ($name, $block) = @_;
	my ($transaction) = $block =~ /^(BEGIN;.*?COMMIT;)/ms;

	$transaction =~ s{/'}{/:n'}g;
	$transaction =~ s/^INSERT/\\sleep 2 ms\nINSERT/m or die $transaction;
	open my $file, '>', $node->basedir . "/$name.sql" or die "$name: $!";
	print $file "SELECT nextval('numbers') AS n \\gset\n$transaction\n";
	close $file;
	return $node->basedir . "/$name.sql";
}

sub value
{
	return $node->safe_psql('postgres', shift);
}

# Before each rebuild the filter has 300 elements that are not in the set.
sub rebuild
{
	my ($name, $rebuild, $writer) = @_;
	my ($missing, $meanwhile, $rate) = (0, 0, 0);

	foreach my $round (1 .. $rebuilds)
	{
		my $rows = value('SELECT count(*) FROM blocklist');
		my $stray = "cf_add_all(f, ARRAY(SELECT 'stray ' || generate_series(1, 300)))";
		my ($log, $before, $after);

		value("UPDATE filters SET f = $stray WHERE name = 'blocked'");
		my $writers = IPC::Run::start(
			[ qw(pgbench -n -c 4 -j 4 -R 300 -t), $each, '-f', $writer, $node->connstr('postgres') ], '>&', \$log);
		$node->poll_query_until('postgres', "SELECT count(*) > $rows FROM blocklist") or die $log;
		$before = value('SELECT count(*) FROM blocklist');
		value($rebuild);
		$after = value('SELECT count(*) FROM blocklist');
		$meanwhile += $after - $before;
		$writers->finish or do { fail("$name: the writers of rebuild $round"); diag($log); };
		$rate += $1 if $log =~ /^tps = (\d+)/m;
		$missing += value("SELECT count(*) FROM blocklist, filters WHERE name = 'blocked' AND NOT cf_contains(f, url)");
		checks($node, 'postgres', <<"SQL");
SELECT '$name, $round: all elements were written', count(*), $rows + 4 * $each FROM blocklist;
SELECT '$name, $round: no other elements are left',
	(SELECT cf_count(f) FROM filters WHERE name = 'blocked') - count(DISTINCT url), '< 200' FROM blocklist;
SQL
		value('VACUUM filters');
	}
	is($missing, 0, "$name: no element is missing");
	cmp_ok($meanwhile, '>', 0, "$name: elements came during the rebuilds");
	note(sprintf "$name: $rebuilds rebuilds, $meanwhile elements came meanwhile, %d a second", $rate / $rebuilds);
	return;
}

my $locked = block('FOR UPDATE');

value(block('CREATE TABLE filters') =~ s/^SELECT.*//msr);
# duplicates, which make a build longer and the filter no larger
value('INSERT INTO blocklist SELECT url FROM blocklist, generate_series(1, 50)');
value("$locked; CREATE SEQUENCE numbers");
rebuild('with a lock', $locked, writer('locked', block('worse.example')));

my $collecting = block('ADD added');

value($collecting =~ /(ALTER TABLE.*?;)/ ? $1 : die);
rebuild('without a lock', block('TEMP TABLE rebuilt'), writer('collecting', $collecting));

$node->stop;
done_testing();
