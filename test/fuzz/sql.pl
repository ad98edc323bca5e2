#!/usr/bin/perl
# Hostile values through SQL: what is accepted, and every function on it.
#
# usage: test/fuzz/sql.pl [SECONDS [SEED]]
#
# It needs a server that may be thrown away, in the environment as psql takes it:
# make fuzz-sql SECONDS=60.  SECONDS=0 are ten rounds.  The seed, which is printed,
# determines all rounds.
#
# A round changes bytes of filters and states, and brings them in: as text, from
# bytea, by COPY in binary, and past the validator, as a damaged page does. Then
# every function is called with each.  The server must go on, and each error must
# be one that is meant: no other SQLSTATE than those in %meant.  For values that
# were validated, what holds() is asked must be true, too.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use File::Temp qw(tempdir);
use Fuzz;
use MIME::Base64 qw(encode_base64);
use Time::HiRes qw(time);

use constant ROUNDS => 10;		# if not by time
use constant VALUES => 30;		# of a round
use constant LEAST_TAKEN => 10;	# of those that are validated, in percent

# errors of the input, of the use of what was validated, and of what was not
my %meant = (
	in => { map { $_ => 1 } qw(00000 22P02 22P03) },
	valid => { map { $_ => 1 } qw(00000 22023 42804 54000) },
	corrupt => { map { $_ => 1 } qw(00000 22023 42804 54000 22P02 22P03 XX001 P0001) });

my ($seconds, $seed) = @ARGV;

$seconds = 60 if !defined $seconds;
$seed = begin_session($seed, '-c search_path=fuzz,public -c statement_timeout=120s');
my $folder = tempdir(CLEANUP => 1);

# ---- what there is ----

# filters and states, to be changed; the first are small
my @filters = (
	'cf_add(cf_new(1, 0.03), 1)', 'cf_new()', q(cf_new(100, 0.01, -1, 'numeric')), 'cf_new(2000000, 0.5)',
	'(SELECT cf_agg(i) FROM generate_series(1, 40) i)', '(SELECT cf_agg(i, 1e-8) FROM generate_series(1, 9) i)',
	q((SELECT cf_agg('x' || i, 10, 0.001) FROM generate_series(1, 60) i)), '(SELECT cf_agg(i / 4.0, 20, 0.03, 7) FROM generate_series(1, 30) i)',
	'cf_add_all(cf_add_all(cf_new(30, 0.01), ARRAY[1, 2, 3]), ARRAY[1, 2, 3])', '(SELECT cf_delete_all(cf_add_all(cf_new(1000), a), a[2:]) FROM (SELECT array_agg(i) AS a FROM generate_series(1, 300) i) s)',
	'(SELECT cf_agg(i) FROM generate_series(1, 3000) i)', '(SELECT cf_agg(i, 5000, 0.001) FROM generate_series(1, 5000) i)');
my @states = map { "(SELECT state_agg($_->[0]) FROM generate_series(1, $_->[1]) i)" } (['i', 1], ['i', 40], [q('x' || i), 40],
	['i / 4.0', 20], ['i, 0.5', 7], ['i, 100, 0.01', 50], ['i, 2000000, 0.001, 5', 30], ['i', 2000]);

# the functions; f and g are filters, s and t states
my %uses = (
	filter => [
		'cf_count(f)', 'cf_info(f)::text', 'holds(f::text::cuckoofilter = f)', 'holds(f::bytea::cuckoofilter = f)', 'cuckoofilter_send(f)',
		'cf_contains(f, 1)', q(f @> 'x'), '1.5 <@ f', q(cf_count(f, 'x')), 'cf_count(f, 1)', 'cf_contains_each(f, ARRAY(SELECT generate_series(1, 200)))',
		q(cf_contains_any(f, ARRAY['a', NULL, 'x1'])), 'cf_contains_all(f, ARRAY[0.25, 0.5])', 'cf_contains_hash(f, cf_hash(1, 0))',
		'holds(cf_contains(cf_add(f, 1), 1))', q(holds(cf_contains(cf_add_unique(f, 'new'), 'new'))), 'holds(cf_contains_all(cf_add_all(f, array_agg(i)), array_agg(i))) FROM generate_series(1, 300) i',
		'(cf_add_unique_each(f, ARRAY[1, 9, -1, NULL])).added', 'holds(cf_count(cf_delete_all(f, array_agg(i))) <= cf_count(f)) FROM generate_series(1, 100) i',
		q(cf_delete(cf_add(f, 'x1'), 'x1')), 'cf_add_all(f, ARRAY[0.25, 9.5, 9.5])', 'holds(cf_count(cf_clear(f)) = 0)',
		'holds(cf_canonical(cf_add_filter(cf_clear(f), f)) = cf_canonical(f))', 'holds(cf_union(f, f) = cf_canonical(f))', 'holds(cf_intersect(f, f) = cf_canonical(f))',
		'holds(cf_union(f, g) = g | f)', 'cf_union_all(f, g)', 'f & g', 'cf_overlap(f, g)', 'cf_overlap(f, f)', 'holds(cf_compatible(f, f))', 'cf_compatible(f, g)', 'f = g',
		'holds(count(*) = 1) FROM (SELECT f UNION SELECT f) u', 'cf_union_agg(x) FROM unnest(ARRAY[f, f, NULL]) x', 'cf_union_all_agg(x) FROM unnest(ARRAY[f, g]) x',
		'holds(cf_intersect_agg(x) = cf_canonical(f)) FROM unnest(ARRAY[f, f, NULL]) x', 'cf_intersect_agg(x) FROM unnest(ARRAY[f, g]) x', 'cf_at_least_agg(x, 2) FROM unnest(ARRAY[f, g, f]) x',
		'holds((cf_overlap_info(f, f)).jaccard = 1 OR cf_count(f) = 0)', 'cf_overlap_info(f, g)::text',
		'count(*) FROM numbers WHERE cf_contains(f, i)', 'count(*) FROM numbers WHERE cf_contains(f, t)' ],
	state => [
		'holds(s::text::citus.cuckoostate::text = s::text)', 'citus.cuckoostate_send(s)', 'citus.cuckoo_agg_final(s)', 'holds(merge_agg(x) = citus.cuckoo_agg_final(s)) FROM unnest(ARRAY[s, s, NULL]) x',
		'merge_agg(x) FROM unnest(ARRAY[s, t]) x', 'citus.cuckoo_agg_combine(s, t)', 'holds(citus.cuckoo_agg_final(citus.cuckoo_agg_combine(s, s)) = citus.cuckoo_agg_final(s))', 'cf_info(citus.cuckoo_agg_final(s))::text',
		'holds(cf_contains(citus.cuckoo_agg_final(citus.cuckoo_agg_trans(s, 1)), 1))', q(holds(cf_contains(citus.cuckoo_agg_final(citus.cuckoo_agg_trans(s, 'x'::text)), 'x'))), q(citus.cuckoo_agg_trans(s, '\xff'::bytea)), 'citus.cuckoo_agg_trans(s, NULL::int)' ]);

must('DROP SCHEMA IF EXISTS fuzz CASCADE', 'CREATE SCHEMA fuzz', 'CREATE EXTENSION IF NOT EXISTS cuckoo SCHEMA public',
	'CREATE SCHEMA IF NOT EXISTS citus', 'CREATE EXTENSION IF NOT EXISTS cuckoo_citus SCHEMA citus CASCADE',
	(map { "CREATE AGGREGATE state_agg($_) (SFUNC = citus.cuckoo_agg_trans, STYPE = citus.cuckoostate)" } 'int', 'text', 'numeric', 'int, float8', 'int, float8, float8', 'int, float8, float8, bigint'),
	'CREATE AGGREGATE merge_agg(citus.cuckoostate) (SFUNC = citus.cuckoo_agg_combine, STYPE = citus.cuckoostate, FINALFUNC = citus.cuckoo_agg_final)',
	'CREATE TABLE filter (n int, v cuckoofilter, corrupt bool)', 'CREATE TABLE state (n int, v citus.cuckoostate, corrupt bool)',
	q(CREATE TABLE numbers AS SELECT i, 'x' || i AS t FROM generate_series(1, 500) i), 'ANALYZE numbers',
	q(CREATE FUNCTION filter_of(bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteasend'),
	q(CREATE FUNCTION state_of(bytea) RETURNS citus.cuckoostate LANGUAGE internal IMMUTABLE STRICT AS 'byteasend'),
	q(CREATE FUNCTION holds(boolean) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF NOT $1 THEN RAISE 'not so'; END IF; RETURN $1; END$$),
	q(CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
		BEGIN EXECUTE command; RETURN '00000'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END$$));

sub bytes_of { return map { pack('H*', must("SELECT encode($_[0]($_), 'hex')") =~ s/\s//gr) } @_[ 1 .. $#_ ]; }

my %originals = (filter => [ bytes_of('cuckoofilter_send', @filters) ], state => [ bytes_of('citus.cuckoostate_send', @states) ]);

# ---- changes ----

# A number as an attacker would choose it.
sub number
{
	return pack('Q<', one(0, 1, 2, below(256), 2**31, 2**32 - 1, 2**61 + below(9), ~0, 9223372036854775807, 2**below(63)));
}

# Changes of a value: of single bits, of the header, of the length, of parts.
sub changed
{
	my ($kind, $v) = @_;
	my $header = 32;

	for (1 .. one(0, 1, 1, 1, 2, 5))
	{
		my $n = length($v) || 1;
		my $other = one(@{ $originals{$kind} });

		one(sub { my $at = below($n); substr($v, $at, 1) = chr(ord(substr($v, $at, 1)) ^ 1 << below(8)) if length $v },
			sub { substr($v, below($header), 1) = chr(below(256)) if length $v >= $header },
			sub { my $size = one(1, 2, 4, 8); substr($v, below($header - 8), $size) = substr(number(), 0, $size) if length $v >= $header },
			sub { substr($v, 24, 8) = number() if length $v >= 32 },
			sub { $v = substr($v, 0, below($n)) },
			sub { $v .= "\0" x below(20) },
			sub { $v = substr($v, 0, $header) . substr($other, $header) if length $v >= $header && length $other >= $header },
			sub { substr($v, $header, 20) = substr($other, -28, 20) if length $v > 60 && length $other > 60 })->();
	}
	return $v;
}

# The image with its checksum made right.
sub sealed
{
	my ($v) = @_;

	return $v if length $v < 8;
	$v = substr($v, 0, -8);
	return $v . pack('q<', must(sprintf q(SELECT cf_hash('\x%s'::bytea, 0)), unpack('H*', $v)));
}

sub base64
{
	my $text = encode_base64($_[0], one('', "\n", ' '));

	substr($text, below(length($text) || 1), 1) = one('=', ' ', '*', 'A', "\t") if chance(20);
	return $text;
}

# ---- rounds ----

my %count = map { $_ => 0 } qw(validated taken calls errors);
my %states;
my @failed;

# What a command that ran, or did not, gave
sub note
{
	my ($allowed, $result, $what) = @_;
	my ($state) = $result =~ /^(\S{5})/ or die "not ok 1 - cannot read: $result (seed $seed)\n";

	$states{"$allowed $state"}++;
	push @failed, "$what: $result" if !$meant{$allowed}{$state};
	return $state;
}

# Brings a value in by one of the ways.
sub bring_in
{
	my ($n, $kind, $v) = @_;
	my $type = $kind eq 'filter' ? 'cuckoofilter' : 'citus.cuckoostate';
	my $way = one('text', $kind eq 'filter' ? 'bytea' : 'text', 'copy', 'corrupt');
	my %value = (text => sprintf(q('%s'::%s), base64($v) =~ s/'//gr, $type), bytea => sprintf(q('\x%s'::bytea::%s), unpack('H*', $v), $type),
		corrupt => sprintf(q(%s_of('\x%s')), $kind, unpack('H*', $v)));
	my $command = $way eq 'copy' ? "COPY $kind FROM '$folder/$n' (FORMAT binary)" :
	  "INSERT INTO $kind VALUES ($n, $value{$way}, @{[ $way eq 'corrupt' ? 'true' : 'false' ]})";

	if ($way eq 'copy')
	{
		open(my $file, '>:raw', "$folder/$n") or die "$folder/$n: $!";
		print $file "PGCOPY\n\xff\r\n\0", pack('NNn', 0, 0, 3), pack('NN', 4, $n), pack('N/a*', $v), pack('NC', 1, 0), pack('n', 0xffff);
		close $file;
		chmod 0644, "$folder/$n";
	}
	my $state = note('in', must("SELECT try(\$try\$$command\$try\$)"), "round value $n, $kind by $way");

	return if $way eq 'corrupt';
	$count{validated}++;
	$count{taken}++ if $state eq '00000';
	return;
}

sub round
{
	my ($round) = @_;

	begin_random($round);
	must('TRUNCATE filter, state', map { "ALTER TABLE $_ ALTER v SET STORAGE " . one(qw(extended external main)) } qw(filter state));
	foreach my $n (1 .. VALUES)
	{
		my $kind = chance(70) ? 'filter' : 'state';
		my $v = changed($kind, one(@{ $originals{$kind} }));

		# nearly always, because a wrong checksum hides all other faults
		$v = sealed($v) if $kind eq 'filter' && chance(95);
		bring_in($n, $kind, $v);
	}
	foreach my $kind (qw(filter state))
	{
		my ($a, $b) = $kind eq 'filter' ? qw(f g) : qw(s t);
		my $from = "SELECT x.v AS $a, y.v AS $b FROM $kind x, $kind y WHERE";

		foreach my $use (@{ $uses{$kind} })
		{
			my ($value, $rest) = split / FROM /, $use, 2;

			# as of a table, so that stored values are read as they are stored
			my $command = "SELECT (SELECT $value" . ($rest ? " FROM $rest" : '') . ")::text FROM ($from x.n = %s AND y.n = %s) v";

			foreach my $line (split /\n/, must("SELECT corrupt, n, other, try(format(\$try\$$command\$try\$, n, other))
				FROM (SELECT x.n, y.n AS other, x.corrupt OR y.corrupt AS corrupt, row_number() OVER (PARTITION BY x.n ORDER BY (x.n * 7 + y.n * 13) % 31, y.n) AS k
					FROM $kind x, $kind y) p WHERE k <= 2 ORDER BY n, other"))
			{
				my ($corrupt, $n, $other, $result) = $line =~ /^([tf])\|(\d+)\|(\d+)\|(.*)/ or next;

				$count{calls}++;
				$count{errors}++ if note($corrupt eq 't' ? 'corrupt' : 'valid', $result, "values $n, $other: $use") ne '00000';
			}
		}
	}
	push @failed, map { "round $round, $_" } splice(@failed) if @failed && $failed[-1] !~ /^round \d+, /;
	return;
}

my $began = time;
my $rounds = 0;

round($rounds++) while !@failed && ($seconds ? time < $began + $seconds : $rounds < ROUNDS);

print "# $_\n" for @failed[ 0 .. ($#failed < 9 ? $#failed : 9) ];
print "# to replay: make fuzz-sql SEED=$seed\n" if @failed;
printf "# %d rounds, %d values validated, %d taken, %d calls, %d errors, %.0f calls a second\n", $rounds, @count{qw(validated taken calls errors)}, $count{calls} / (time - $began);
print '# ', join(', ', map { "$_: $states{$_}" } sort keys %states), "\n";
exit end_session(
	[ $rounds > 0 && !@failed, "errors are those that are meant, and conditions hold (seed $seed)" ],
	[ $count{taken} * 100 >= LEAST_TAKEN * $count{validated}, 'enough is taken' ]);
