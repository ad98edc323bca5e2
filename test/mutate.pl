#!/usr/bin/perl
# Makes small faults in src/, and lists those that no test notices.
#
# usage: test/mutate.pl list          all faults, a line each, without a server
#        make mutate SHARD=1/20       tries every 20th, on a throwaway server
#
# A fault (a mutant) is one change. These are the kinds:
#
#	a condition is negated, or one of those that && or || joins is left out;
#	a statement is left out, or two neighbours change their order, or one after a
#		change of the user comes before it;
#	two arguments are swapped;
#	an operator, a truth value (such as a capability of the access method), a
#		lock, a flag, a fork or a direction of rounding becomes its neighbour (see
#		%neighbour): && ||, + -, true false, BUFFER_LOCK_EXCLUSIVE _SHARE;
#	a number becomes the next one, and the constant of a #define its half;
#	a cast to 64 bits is one to 32;
#	a page is changed without being registered for the record of WAL;
#	a read-only object is changed in place.
#
# Each is made in the throwaway copy, compiled, installed and tested until a
# test fails: first by the regression tests about its file (of the core by unit
# tests), then by the isolation and TAP tests about it, and by all other regression
# tests. Tests that take three times their usual time are ended and listed, because the
# fault may only be slow. If no test notices a fault, it has survived: either a
# test is missing, or the fault changes nothing that can be seen. The latter go to
# test/mutants.txt, with the reason, and are not tried again.
#
# A fault is named by its file, its function, and the line before and after, so
# that the name stays when other lines change.
#
# SHARD=i/n    the i-th of n parts, each of which has faults of all files.
# ONLY=regex   only the faults whose name matches.
# DEPTH=n      1: only the tests about the file; 2: all regression tests; 3, the
#              default: isolation and TAP tests, too, a minute for each survivor.
# FOR=n        begins no other fault after so many seconds. The order of the faults
#              is random, but the same for each run.
use strict;
use warnings;

use Digest::MD5 qw(md5);
use POSIX ':sys_wait_h';
use Time::HiRes qw(time sleep);

$| = 1;

# What is about a file: regression tests; isolation tests; TAP tests, in the order in
# which they are run; unit tests.
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
	[ 'index/build.c',        'index',              'indexes', '027 021 006 016 031' ],
	[ 'index/chain.c',        'index',              '',        '027 021 006 016 029 018' ],
	[ 'index/entry.c',        'index',              '',        '027 021', 'entry' ],
	[ 'index/entry.h',        'index',              '',        '027 021', 'entry' ],
	[ 'index/handler.c',      'index',              'indexes serializable', '013 017 030' ],
	[ 'index/hash.c',         'index_types index',  '',        '004 013 017 021' ],
	[ 'index/index.h',        'index',              'indexes', '027 021 006 018' ],
	[ 'index/insert.c',       'index',              'indexes serializable', '027 021 006 016 029' ],
	[ 'index/inspect.c',      'index',              'indexes inspect', '006 021 034' ],
	[ 'index/kill.c',         'index',              'indexes', '027 028 029 018' ],
	[ 'index/map.c',          'index',              'indexes', '027 021 006 018' ],
	[ 'index/page.c',         'index',              'indexes', '027 021 006 018' ],
	[ 'index/scan.c',         'index',              'indexes serializable', '027 021 006 017 018' ],
	[ 'index/sort.c',         'index',              'indexes', '016 031' ],
	[ 'index/trigger.c',      'unique',             'unique unique_attach unique_conflict unique_update', '024' ],
	# only from PostgreSQL 18 on
	[ 'index/unique.c',       'unique_index',       'unique_index', '027 019 024' ],
	[ 'index/vacuum.c',       'index',              'indexes', '027 021 006 029 018' ],
	[ 'index/validate.c',     'index_types',        '',        '014 030' ],
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
	'|=' => '=', '++' => '--', '--' => '++', 'true' => 'false', 'false' => 'true',
	'ceil' => 'floor', 'floor' => 'ceil',
	# a weaker lock: a stronger one only takes longer
	BUFFER_LOCK_EXCLUSIVE => 'BUFFER_LOCK_SHARE', LW_EXCLUSIVE => 'LW_SHARED',
	AccessExclusiveLock => 'ExclusiveLock', ExclusiveLock => 'ShareLock', ShareLock => 'RowExclusiveLock',
	ShareUpdateExclusiveLock => 'RowExclusiveLock', RowExclusiveLock => 'AccessShareLock', AccessShareLock => 'NoLock',
	GENERIC_XLOG_FULL_IMAGE => '0', REGBUF_STANDARD => 'REGBUF_STANDARD | REGBUF_NO_IMAGE',
	MAIN_FORKNUM => 'INIT_FORKNUM', INIT_FORKNUM => 'MAIN_FORKNUM',
	SECURITY_RESTRICTED_OPERATION => 'SECURITY_LOCAL_USERID_CHANGE');
my ($names) = map { qr/\b(?:$_)\b/ } join '|', grep { /^\w/ } sort keys %neighbour;

# A bracket and what is in it, and the same from right to left
my $group = qr/(\((?:[^()]++|(?-1))*+\))/;
my $reversed_group = qr/(\)(?:[^()]++|(?-1))*+\()/;

# a call, an assignment or a jump
my $begin = qr/(?:\(void\) )?[a-z_*(][\w.>\[\]()*-]*/i;
my $simple = qr/(?!(?:if|for|while|foreach|switch|return|else|Assert|PG_RETURN\w*|PG_(?:END_)?TRY|PG_CATCH)\b)
	$begin(?:\ [-+|&]?=\ |\+\+|--|\()[^;{}]*;/x;

# Faults of a function body, from..to, as lists of [offset, length, new text].
sub faults_of_body
{
	my ($text, $code, $from, $to) = @_;
	my $body = substr($code, 0, $to);
	my @faults;

	# a condition
	pos($body) = $from;
	while ($body =~ /\b(?:if|while) \(/g)
	{
		my $open = pos($body) - 1;

		push @faults, [ [ $open, 0, '(!' ], [ closing($body, $open), 0, ')' ] ];
	}

	# one of the conditions that && or || joins
	pos($body) = $from;
	while ($body =~ /\s+(&&|\|\|)\s+/g)
	{
		my ($at, $end, $operator) = ($-[0], $+[0], $1);
		my $other = qr/(?!\Q$operator\E@{[ $operator eq '&&' ? '|\|\|' : '' ]})/;
		my ($right) = substr($body, $end) =~ /^((?:$other(?:[^()?:;,{}]|$group))+)/;
		my ($left) = reverse(substr($body, $from, $at - $from)) =~ /^((?:$other(?:[^()?:;,{}]|$reversed_group))+)/;

		$right =~ s/\s+\z//;
		push @faults, [ [ $at, $end - $at + length($right), '' ] ];
		# the right one of the operator before
		next if substr($body, 0, $at - length($left)) =~ /\Q$operator\E\z/;
		$left = reverse $left;
		$left =~ s/^.*(?:\breturn\b|\s[-+|&]?=(?=\s))//s;
		$left =~ s/^\s+//;
		push @faults, [ [ $at - length($left), $end - $at + length($left), '' ] ];
	}

	# an operator, or a name
	pos($body) = $from;
	while ($body =~ /(?<= )(&&|\|\||[<>=!]=|[<>]|[-+*\/]|[-+|]=)(?=[ \n])|(?<=\w)(\+\+|--)|($names)/g)
	{
		my $old = $1 // $2 // $3;

		# to close a table with NoLock keeps the lock, which only takes longer
		next if $old =~ /Lock$/ && substr($body, 0, pos $body) =~ /close\([^()]*\z/;
		push @faults, [ [ pos($body) - length($old), length($old), $neighbour{$old} ] ];
	}

	# a number
	pos($body) = $from;
	while ($body =~ /(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])/g)
	{
		push @faults, [ [ pos($body) - length($1), length($1), $1 + 1 ] ];
	}

	# a cast to 64 bits
	pos($body) = $from;
	while ($body =~ /(?<=\()u?int(64)(?:_t)?(?=\) )/g)
	{
		push @faults, [ [ $-[1], 2, '32' ] ];
	}

	# a page that WAL does not get
	pos($body) = $from;
	while ($body =~ /\bGenericXLogRegisterBuffer(?=\()/g)
	{
		my ($at, $open) = ($-[0], pos($body));
		my $call = substr($body, $at, closing($body, $open) - $at);
		my ($buffer) = $call =~ /,\s*(.*?),\s*\w+\)$/s or die "$call\n";

		push @faults, [ [ $at, length($call), "BufferGetPage($buffer)" ] ];
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

	# a statement
	pos($body) = $from;
	while ($body =~ /^\t+($simple|(?:break|continue);)/gm)
	{
		push @faults, [ [ $-[1], length($1) - 1, '' ] ];
	}

	# two statements, unless the order of two assignments
	pos($body) = $from;
	while ($body =~ /^(\t+)(?=($simple)(\s*\n\1)($simple))/gm)
	{
		my ($at, $length) = ($-[2], $+[4] - $-[2]);
		my ($first, $between, $second) = map { substr $text, $-[$_], $+[$_] - $-[$_] } 2 .. 4;

		push @faults, [ [ $at, $length, "$second$between$first" ] ]
			if "$first$second" =~ /\w\(/ && $first ne $second;
	}

	# a statement before another user performs it
	pos($body) = $from;
	while ($body =~ /\bSetUserIdAndSecContext\([^;]*\|[^;]*;/g)
	{
		my ($at, $after) = ($-[0], pos($body));

		while ($body =~ /\G\s*\n\t+($simple)/g)
		{
			my ($place, $length) = ($-[1], length $1);
			my $statement = join ' ', split(' ', substr($text, $place, $length)), '';

			last if $statement =~ /^SetUser/;
			push @faults, [ [ $at, 0, $statement ], [ $place, $length, '' ] ];
		}
		pos($body) = $after;
	}
	return @faults;
}

# The text with a fault
sub with_fault
{
	my ($text, $edits) = @_;

	foreach my $edit (reverse @$edits)
	{
		# what is left out leaves its line ends, so that others keep theirs
		my $new = $edit->[2];
		my $lost = substr($text, $edit->[0], $edit->[1]) =~ tr/\n//;

		$new .= "\n" x ($lost - ($new =~ tr/\n//));
		substr($text, $edit->[0], $edit->[1]) = $new;
	}
	return $text;
}

# All faults: their name, file and edits. Of each file that has functions it must be
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
			push @of_file, map { [ $1, $_ ] } faults_of_body($text, $code, $-[2], $+[2]);
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
			my ($first) = map { $_->[0] } @$edits;
			my $begin = rindex($text, "\n", $first - 1) + 1;
			my @lines;

			foreach my $version ($text, with_fault($text, $edits))
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
			push @all, { name => $name, file => $file, edits => $edits, about => $about };
		}
	}
	die "there is no ", join(', ', sort keys %about), "\n" if %about;
	return @all;
}

# ---- running ---------------------------------------------------------------

my $too_long;	# true if a command since the last end_sessions() took too long
my $running;	# the group of its processes

$SIG{TERM} = sub { kill 'KILL', -$running if $running; exit 143 };

# Runs a command, with its output in a file; true if it succeeds in time.
sub run
{
	my ($seconds, @command) = @_;
	my $end = time + $seconds;
	my $pid = $running = fork() // die "fork: $!\n";

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

# some TAP tests need it
my @module = qw(make -s -C test/module install);

sub slow_tests
{
	my ($seconds, $about) = @_;
	my (undef, undef, $specs, $scripts) = @$about;

	return 0 if $specs ne '' &&
		!run($seconds, qw(make -s installcheck REGRESS= TAP_TESTS=), "ISOLATION=$specs");
	# the library cuckoo_faults has the fault, too
	return 0 if $scripts ne '' && !run(300, @module);
	foreach my $script (map { glob "test/t/$_*.pl" } split / /, $scripts)
	{
		return 0 if !run($seconds, qw(make -s installcheck REGRESS= ISOLATION=), "PROVE_TESTS=$script");
	}
	return 1;
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

$depth < 3 || run(300, @module) or die slurp('mutate.log');
foreach my $about (values %{ { map { $_->{file} => $_->{about} } @chosen } })
{
	unit(600, $about) or die "the unit tests fail without a fault:\n" . slurp('mutate.log');
}
build() && regression(3600, $depth == 1 ? about(@chosen) : '')
	or die "the tests fail without a fault:\n" . slurp('mutate.log');
my $limit = 30 + 3 * (time - $start);

$codes{ code() } = 1;

foreach my $mutant (sort { md5($a->{name}) cmp md5($b->{name}) } @chosen)
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

	spew($file, with_fault($original, $mutant->{edits}));
	if (!build()) { $result = 'refused' }
	elsif ($codes{ code() }++) { $result = 'same' }
	else
	{
		$result = unit($limit, $about) && regression($limit, $about->[1])
			&& ($depth < 3 || slow_tests(2 * $limit, $about))
			&& ($depth < 2 || regression($limit, '')) ? 'survived' :
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
