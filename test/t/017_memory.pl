# However often a function is called, in one statement or one session, its memory
# does not grow; and no function is without such a test. See test/memory.sql.
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
	ok($growth eq '' || $growth < 5000, "$functions, $calls in one $how: $growth bytes more");
}

$node->stop;
done_testing();
