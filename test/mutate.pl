#!/usr/bin/perl
# Makes small faults in src/, and lists those that no test notices.
#
# usage: test/mutate.pl list          all faults, a line each, without a server
#        make mutate SHARD=1/20       tries every 20th, on a throwaway server
#
# A fault (a mutant) is one change: it negates a condition, swaps two
# arguments, leaves out a statement, or replaces && or a comparison by its
# neighbour, + by -, a number by the next one, true by false, a cast to 64 bits
# by 32, ceil by floor, a read-only object by one that may be changed, or halves
# a constant.
#
# Each is made in the throwaway copy, compiled, installed and tested until a
# test fails: first by the tests about its file (of the core by unit tests), then
# by the other regression tests, then by the isolation and TAP tests about it.
# Tests that take three
# times their usual time are ended and listed, because the fault may only be
# slow. If no test notices a fault, it has survived: either a test is missing,
# or the fault changes nothing that can be seen. The latter go to
# test/mutants.txt, with the reason, and are not tried again.
#
# A fault is named by its file, its function, and the line before and after, so
# that the name stays when other lines change.
#
# SHARD=i/n    the i-th of n parts, each of which has faults of all files.
# ONLY=regex   only the faults whose name matches.
# DEPTH=n      1: only the tests about the file; 2: all regression tests; 3, the
#              default: isolation and TAP tests, too, a minute for each survivor.
# FOR=n        begins no other fault after so many seconds.
use strict;
use warnings;

use Digest::MD5 qw(md5);
use POSIX ':sys_wait_h';
use Time::HiRes qw(time sleep);

$| = 1;

# What is about a file: regression tests; isolation tests; TAP tests; unit tests.
my @files = (
	[ 'agg/agg.c',            'agg batch',          '',        '001 003 005 011 017' ],
	[ 'agg/agg.h',            'agg batch',          '',        '005' ],
	[ 'agg/state.c',          'agg citus batch',    '',        '002 005 011 017' ],
	[ 'agg/state_io.c',       'agg io',             '',        '001 003 005 011 017' ],
	[ 'core/bucket.h',        'functions io',       '',        '015', 'bucket' ],
	[ 'core/build.c',         'agg sets',           '',        '015', 'build table' ],
	[ 'core/change.c',        'functions index',    '',        '015', 'filter fill' ],
	[ 'core/core.h',          'functions io',       '',        '015', 'format filter' ],
	[ 'core/estimate.c',      'sets functions',     '',        '015', 'keys index filter' ],
	[ 'core/evict.c',         'functions index',    '',        '015', 'fill table' ],
	[ 'core/evict.h',         'functions index',    '',        '015', 'fill table' ],
	[ 'core/format.c',        'io functions',       '',        '015', 'format images' ],
	[ 'core/format.h',        'io functions',       '',        '015', 'format images' ],
	[ 'core/geometry.c',      'functions io',       '',        '015', 'format build' ],
	[ 'core/geometry.h',      'functions io',       '',        '015', 'index format' ],
	[ 'core/keys.c',          'sets',               '',        '015', 'keys' ],
	[ 'core/lookup.c',        'probe index',        '',        '015', 'bucket filter' ],
	[ 'core/match.h',         'probe index',        '',        '015', 'bucket' ],
	[ 'core/position.h',      'functions io',       '',        '015', 'index' ],
	[ 'core/port.h',          'functions io',       '',        '015', 'bucket format images index' ],
	[ 'core/sort.c',          'agg sets',           '',        '015', 'sort' ],
	[ 'element/element.h',    'elements functions', '',        '' ],
	[ 'element/family.c',     'elements functions', '',        '003 017' ],
	[ 'element/hash.c',       'elements',           '',        '004 009 017' ],
	[ 'element/hasher.c',     'elements functions', '',        '003 017' ],
	[ 'element/signature.c',  'elements',           '',        '003 017' ],
	[ 'error.c',              'functions io',       '',        '' ],
	[ 'error.h',              'functions io',       '',        '' ],
	[ 'filter/build.c',       'functions agg sets', '',        '017' ],
	[ 'filter/change.c',      'functions expanded', 'changes', '002 006 017' ],
	[ 'filter/compatible.c',  'sets',               '',        '011' ],
	[ 'filter/datum.c',       'io functions expanded', '',     '002 017' ],
	[ 'filter/filter.h',      'io functions expanded', '',     '002 017' ],
	[ 'filter/info.c',        'functions',          '',        '' ],
	[ 'filter/io.c',          'io',                 '',        '017' ],
	[ 'filter/set_state.c',   'sets',               '',        '002 011 017' ],
	[ 'filter/sets.c',        'sets',               '',        '011 017' ],
	[ 'index/build.c',        'index',              'indexes', '006 016 021' ],
	[ 'index/chain.c',        'index',              '',        '006 016 018 021 027' ],
	[ 'index/entry.c',        'index',              '',        '021', 'entry' ],
	[ 'index/entry.h',        'index',              '',        '021', 'entry' ],
	[ 'index/handler.c',      'index',              'indexes serializable', '013 017' ],
	[ 'index/hash.c',         'index_types index',  '',        '004 017 021' ],
	[ 'index/index.h',        'index',              'indexes', '006 021' ],
	[ 'index/insert.c',       'index',              'indexes serializable', '006 016 021 027' ],
	[ 'index/inspect.c',      'index',              'indexes inspect', '006 021 032' ],
	[ 'index/map.c',          'index',              'indexes', '006 018 021 027' ],
	[ 'index/page.c',         'index',              'indexes', '006 018 021 027' ],
	[ 'index/scan.c',         'index',              'indexes serializable', '006 017 021' ],
	[ 'index/sort.c',         'index',              'indexes', '016 031' ],
	[ 'index/trigger.c',      'unique',             'unique unique_attach unique_conflict unique_update', '024' ],
	# only from PostgreSQL 18 on
	[ 'index/unique.c',       'unique_index',       'unique_index', '024 027' ],
	[ 'index/vacuum.c',       'index',              'indexes', '006 018 021 027' ],
	[ 'index/validate.c',     'index_types',        '',        '014' ],
	[ 'module.c',             'scan plan index',    '',        '003' ],
	[ 'planner/estimate.c',   'plan',               '',        '003' ],
	[ 'planner/join.c',       'plan',               '',        '' ],
	[ 'planner/support.c',    'plan expanded',      '',        '003' ],
	[ 'planner/test.c',       'plan scan',          '',        '003' ],
	[ 'probe/cache.c',        'probe scan',         'probes',  '002 017' ],
	[ 'probe/probe.c',        'probe batch',        'probes',  '002 017' ],
	[ 'result.c',            'functions index',    '',        '' ],
	[ 'scan/exec.c',          'scan',               'scans',   '002 005' ],
	[ 'scan/filters.c',       'scan',               'scans',   '005' ],
	[ 'scan/gather.c',        '',                   '',        '005' ],
	[ 'scan/path.c',          'scan plan',          '',        '003 005 010' ]);

my $known_file = 'test/mutants.txt';

sub slurp
{
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	return scalar <$in>;
}

sub spew
{
	my ($file, $text) = @_;

	open my $out, '>', $file or die "$file: $!\n";
	print $out $text;
	close $out or die "$file: $!\n";
}

# ---- faults ----------------------------------------------------------------

# The text with blanks for comments, strings, characters and preprocessor lines.
sub code_of
{
	my ($text) = @_;
	my $blank = sub { my ($t) = @_; $t =~ s/[^\n]/ /g; $t };

	$text =~ s{(/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|^\#(?:[^\n]*\\\n)*[^\n]*)}
		{$blank->($1)}gemsx;
	return $text;
}

# The offset behind the bracket that closes the one at this offset.
sub closing
{
	my ($code, $at) = @_;
	my $depth = 0;

	pos($code) = $at;
	while ($code =~ /\G[^()]*([()])/g)
	{
		$depth += $1 eq '(' ? 1 : -1;
		return pos($code) if $depth == 0;
	}
	die "no closing bracket\n";
}

my %neighbour = (
	'&&' => '||', '||' => '&&',
	'<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==',
	'+' => '-', '-' => '+', '*' => '/', '/' => '*', '+=' => '-=', '-=' => '+=',
	'|=' => '=', '++' => '--', '--' => '++', 'true' => 'false', 'false' => 'true');

# Faults of a function body, from..to, as lists of [offset, length, new text].
sub faults_of_body
{
	my ($code, $from, $to) = @_;
	my $body = substr($code, 0, $to);
	my @faults;

	# a condition
	pos($body) = $from;
	while ($body =~ /\b(?:if|while) \(/g)
	{
		my $open = pos($body) - 1;

		push @faults, [ [ $open, 0, '(!' ], [ closing($body, $open), 0, ')' ] ];
	}

	# an operator, or a truth value
	pos($body) = $from;
	while ($body =~ /(?<= )(&&|\|\||[<>=!]=|[<>]|[-+*\/]|[-+|]=)(?=[ \n])|(?<=\w)(\+\+|--)|\b(true|false)\b/g)
	{
		my $old = $1 // $2 // $3;

		push @faults, [ [ pos($body) - length($old), length($old), $neighbour{$old} ] ];
	}

	# a number
	pos($body) = $from;
	while ($body =~ /(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])/g)
	{
		push @faults, [ [ pos($body) - length($1), length($1), $1 + 1 ] ];
	}

	# a cast to 64 bits, or a direction of rounding
	pos($body) = $from;
	while ($body =~ /(?<=\()(u?int)64(_t)?(?=\) )|\b(ceil|floor)(?=\()/g)
	{
		my $size = $2 // '';
		my ($old, $new) = $3 ? ($3, $3 eq 'ceil' ? 'floor' : 'ceil') : ("${1}64$size", "${1}32$size");

		push @faults, [ [ pos($body) - length($old), length($old), $new ] ];
	}

	# a read-only object, which must not be changed
	pos($body) = $from;
	while ($body =~ /\bDatumIsReadWriteExpandedObject(?=\()/g)
	{
		my ($at, $open) = ($-[0], pos($body));
		my $call = substr($body, $at, closing($body, $open) - $at);
		my ($object) = $call =~ /\((.*), false, -1\)$/s or die "$call\n";

		push @faults, [ [ $at, length($call), "VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer($object))" ] ];
	}

	# two arguments
	pos($body) = $from;
	while ($body =~ /(?<=[(\s])(&?[a-z_][\w.>-]*)(,\s+)(&?[a-z_][\w.>-]*)(?=[,)])/g)
	{
		my ($a, $between, $b) = ($1, $2, $3);
		my $length = length("$a$between$b");

		push @faults, [ [ pos($body) - $length, $length, "$b$between$a" ] ];
		pos($body) -= length($b);
	}

	# a statement: a call, an assignment or a jump
	pos($body) = $from;
	my $begin = qr/(?:\(void\) )?[a-z_*(][\w.>\[\]()*-]*/i;

	while ($body =~ /^\t+($begin(?: [-+|&]?= |\+\+|--|\()[^;{}]*;|(?:break|continue);)/gm)
	{
		my $statement = $1;

		next
			if $statement =~ /^(?:if|for|while|foreach|switch|return|else|Assert)\b/
				|| $statement =~ /^PG_(?:RETURN\w*|(?:END_)?TRY|CATCH)\b/;
		push @faults, [ [ pos($body) - length($statement), length($statement) - 1, '' ] ];
	}
	return @faults;
}

# All faults: their name, file and text. Of each file that has functions it must be
# known what is about it.
sub all_faults
{
	my @all;
	my %seen;
	my %about = map { ("src/$_->[0]" => $_) } @files;

	foreach my $file (glob 'src/*.[ch] src/*/*.[ch]')
	{
		my $text = slurp($file);
		my $code = code_of($text);
		my $about = delete $about{$file};
		my @of_file;

		while ($code =~ /^(\w+)\([^{};]*\)\n(\{\n.*?^\})/gms)
		{
			push @of_file, map { [ $1, $_ ] } faults_of_body($code, $-[2], $+[2]);
		}
		# a constant: half of it
		while ($about && $text =~ /^#define (\w+)\s+\(?(\d+)(?![\w.])/gm)
		{
			push @of_file, [ $1, [ [ $-[2], length($2), int($2 / 2) ] ] ] if $2 > 0;
		}
		die "test/mutate.pl does not know which tests are about $file\n" if @of_file && !$about;
		foreach (sort { $a->[1][0][0] <=> $b->[1][0][0] } @of_file)
		{
			my ($function, $edits) = @$_;
			my $mutant = $text;
			my ($first) = map { $_->[0] } @$edits;
			my $begin = rindex($text, "\n", $first - 1) + 1;
			my @lines;

			foreach my $edit (reverse @$edits)
			{
				# what is left out leaves its line ends, so that others keep theirs
				my $new = $edit->[2];
				my $lost = substr($mutant, $edit->[0], $edit->[1]) =~ tr/\n//;

				$new .= "\n" x ($lost - ($new =~ tr/\n//));
				substr($mutant, $edit->[0], $edit->[1]) = $new;
			}
			foreach my $version ($text, $mutant)
			{
				my ($line) = substr($version, $begin) =~ /^([^\n]*)/;

				$line =~ s/\s*\/\*.*//;
				$line =~ s/^\s+|\s+$//g;
				$line =~ s/\s+/ /g;
				push @lines, $line;
			}
			my $name = "$about->[0] $function: $lines[0] => $lines[1]";
			my $nth = ++$seen{$name};

			$name .= " ($nth)" if $nth > 1;
			push @all, { name => $name, file => $file, text => $mutant, about => $about };
		}
	}
	die "there is no ", join(', ', sort keys %about), "\n" if %about;
	return @all;
}

# ---- running ---------------------------------------------------------------

my $too_long;	# true if a command since the last end_sessions() took too long

# Runs a command, with its output in a file; true if it succeeds in time.
sub run
{
	my ($seconds, @command) = @_;
	my $end = time + $seconds;
	my $pid = fork() // die "fork: $!\n";

	if ($pid == 0)
	{
		setpgrp(0, 0);
		open STDOUT, '>', 'mutate.log' or die;
		open STDERR, '>&', \*STDOUT or die;
		exec @command or die;
	}
	while (time < $end)
	{
		return $? == 0 if waitpid($pid, WNOHANG) == $pid;
		sleep 0.05;
	}
	kill 'KILL', -$pid;
	waitpid($pid, 0);
	$too_long = 1;
	return 0;
}

# Ends what tests that took too long have left running, even what the server
# cannot end, and waits for the server, which starts anew after a crash.
sub end_sessions
{
	kill 'KILL', split /\n/,
		qx{psql -XAtc "SELECT pid FROM pg_stat_activity WHERE datname ~ '_regression'"} if $too_long;
	$too_long = 0;
	for (1 .. 600)
	{
		return if system('psql -Xqc "SELECT 1" >/dev/null 2>&1') == 0;
		sleep 0.2;
	}
	die "the server does not come back\n";
}

# True if these tests pass.
sub regression
{
	my ($seconds, $tests) = @_;

	return run($seconds, qw(make -s installcheck ISOLATION= TAP_TESTS=),
		$tests eq '' ? () : "REGRESS=helpers $tests");
}

# True if the unit tests about a file pass, which most have not.
sub unit
{
	my ($seconds, $about) = @_;
	my @programs = map { "build/mutate/test_$_" } split / /, $about->[4] // '';

	# the folder is named after the compiler
	return !@programs || run($seconds, 'sh', '-c',
		"make -s CC=cc unit_dir=build/mutate @programs && " . join(' && ', @programs));
}

# The regression tests about the files of some faults.
sub about
{
	my %tests = map { $_ => 1 } map { split / /, $_->{about}[1] } @_;

	return join ' ', sort keys %tests;
}

sub slow_tests
{
	my ($seconds, $about) = @_;
	my (undef, undef, $specs, $scripts) = @$about;

	return 0 if $specs ne '' &&
		!run($seconds, qw(make -s installcheck REGRESS= TAP_TESTS=), "ISOLATION=$specs");
	return 1 if $scripts eq '';
	return run($seconds, qw(make -s installcheck REGRESS= ISOLATION=),
		'PROVE_TESTS=' . join(' ', map { glob "test/t/$_*.pl" } split / /, $scripts));
}

# The machine's code of the library
sub code
{
	system(qw(strip -g -R .note.gnu.build-id -o mutate.o cuckoo.so)) == 0 or die "strip failed\n";
	return md5(slurp('mutate.o'));
}

# Builds and installs the library as the source is now.
sub build
{
	return run(300, qw(make -s install-lib),
		'COPT=-Werror=incompatible-pointer-types -Werror=int-conversion');
}

# ---- the run ---------------------------------------------------------------

my %known;	# name => reason

if (-e $known_file)
{
	my $names = '';

	foreach (split /\n/, slurp($known_file))
	{
		next if /^#/;
		if (/^\t(.*)/) { $known{$_} .= "$1 " foreach split /\n/, $names }
		elsif ($_ eq '') { $names = '' }
		else { $names .= "$_\n" }
	}
}

my @all = all_faults();

if (($ARGV[0] // '') eq 'list')
{
	print "$_->{name}\n" foreach @all;
	exit;
}

my ($shard, $shards) = ($ENV{SHARD} || '1/1') =~ /^(\d+)\/(\d+)$/ or die "SHARD is i/n\n";
my $only = $ENV{ONLY} || '.';
my $depth = $ENV{DEPTH} || 3;
my $seconds = $ENV{FOR} || 1e9;
my %names = map { $_->{name} => 1 } @all;
my %count = map { $_ => 0 } qw(noticed slow survived known same refused);
my %codes;
my @survivors;
my $start = time;

my $number = 0;
my @chosen = grep { $number++ % $shards == $shard - 1 && $_->{name} =~ /$only/ } @all;

print scalar(@chosen), ' of ', scalar(@all), " faults\n";
print "no such fault, in $known_file: $_\n" foreach grep { !$names{$_} } sort keys %known;

# some TAP tests need it
$depth < 3 || run(300, qw(make -s -C test/module install)) or die slurp('mutate.log');
foreach my $about (values %{ { map { $_->{file} => $_->{about} } @chosen } })
{
	unit(600, $about) or die "the unit tests fail without a fault:\n" . slurp('mutate.log');
}
build() && regression(3600, $depth == 1 ? about(@chosen) : '')
	or die "the tests fail without a fault:\n" . slurp('mutate.log');
my $limit = 30 + 3 * (time - $start);

$codes{ code() } = 1;

foreach my $mutant (@chosen)
{
	my ($name, $file, $about) = @$mutant{qw(name file about)};
	my $result;

	if ($known{$name})
	{
		$count{known}++;
		next;
	}
	last if time - $start > $seconds;

	my $original = slurp($file);

	spew($file, $mutant->{text});
	if (!build()) { $result = 'refused' }
	elsif ($codes{ code() }++) { $result = 'same' }
	else
	{
		$result = unit($limit, $about) && regression($limit, $about->[1])
			&& ($depth < 2 || regression($limit, ''))
			&& ($depth < 3 || slow_tests(2 * $limit, $about)) ? 'survived' :
			$too_long ? 'slow' : 'noticed';
		end_sessions();
	}
	spew($file, $original);
	$count{$result}++;
	push @survivors, $name if $result eq 'survived';
	printf "%6d s %-8s %s\n", time - $start, $result, $name;
}

print "\n", map { "survived: $_\n" } @survivors;
print "$count{noticed} noticed, $count{slow} ended as too slow, $count{survived} survived, ",
  "$count{known} known to change nothing, ",
	"$count{same} of the same machine code, $count{refused} refused by the compiler\n";
exit(@survivors ? 1 : 0);
