# What the fuzzers that use a server have in common: chance, and a session.
package Fuzz;

use strict;
use warnings;

use Digest::MD5 qw(md5);
use Exporter 'import';
use IPC::Open2;

our @EXPORT = qw(begin_random below chance one begin_session run must end_session);

# ---- chance ----

my $seed;

# Everything that follows depends on the seed and the arguments alone.
sub begin_random
{
	srand(unpack('L', md5("$seed @_")));
	return;
}

sub below { return int(rand($_[0])); }
sub chance { return rand(100) < $_[0]; }
sub one { return $_[ rand(@_) ]; }

# ---- psql ----

my ($psql, $from, $to);
my $sent = 0;

# Starts a session with these options of the server; the seed, chosen if it is 0.
sub begin_session
{
	my ($options);

	($seed, $options) = @_;
	$seed ||= unpack('L', md5(time . " $$")) % 1_000_000_000;
	$| = 1;
	print "# seed $seed\n";
	$ENV{PGOPTIONS} = "-c client_min_messages=error $options";
	$psql = open2($from, $to, 'psql -qAtX 2>&1');
	return $seed;
}

# Runs statements and psql's commands; what they print.
sub run
{
	my $out = '';
	my $end = '@end ' . ++$sent;

	# far less than a pipe takes, so that neither side waits for the other
	print $to map({ "$_\n" } @_), "\\echo $end\n";
	$to->flush;
	while (my $line = <$from>)
	{
		return $out if $line eq "$end\n";
		$out .= $line;
	}
	die "not ok 1 - the session ended (seed $seed): $out\n";
}

# The same for what must not fail.
sub must
{
	my $out = run(map { ref ? @$_ : "$_;" } @_);

	die "not ok 1 - schema (seed $seed): $out\n" if $out =~ /ERROR/;
	return $out;
}

# Prints the results of tests, pairs of a condition and a name; the exit status.
sub end_session
{
	my @checks = @_;

	print '', ($checks[$_][0] ? 'ok ' : 'not ok '), $_ + 1, " - $checks[$_][1]\n" for 0 .. $#checks;
	print $to "\\q\n";
	close $to;
	waitpid $psql, 0;
	return (grep { !$_->[0] } @checks) ? 1 : 0;
}

1;
