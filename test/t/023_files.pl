# Files as users have them: each file of examples/files, and some thousand lines
# of the same kind, are loaded as doc/files.md says. Every member is found, also
# in another spelling, and the rate of false positives is the one asked for.
#
# The database has the locale C, whose lower() knows only A to Z.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::RealBin/..";
use CuckooTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $node = start_node('files');

plan skip_all => 'this PostgreSQL has no ICU'
	if $node->safe_psql('postgres', q(SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu')) eq '0';
$node->safe_psql('postgres', q(CREATE DATABASE files TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'));
$node->safe_psql('files',
	"CREATE EXTENSION cuckoo;\n\\i $top/examples/files/normalize.sql\nCREATE TABLE lines (line text)");

my ($copy) = join("\n", map { $_->{sql} } blocks_of('doc/files.md')) =~ /^\\copy lines FROM '\S+' (.*)/m;
my ($members, $absent, $asked) = (4000, 20000, 0.01);

# $more makes line i of a file; $look is the element that the number i is looked
# up as, by another spelling. Members are 1 to 4000. Then there are values that
# are members of the file itself, and some that are not.
sub kind
{
	my ($name, $elements, $more, $look, $present, $not) = @_;
	my $path = $node->basedir . "/$name";
	my $value = $look =~ s/\bSPELLING\b/v/r;
	my $number = $look =~ s/\bSPELLING\b/$more->{spelling}/r;

	open my $in, '<:raw', "$top/examples/files/$name.txt" or die "$name: $!";
	open my $out, '>:raw', $path or die "$path: $!";
	my @lines = <$in>;
	my ($end) = $lines[0] =~ /(\r?\n)$/;
	print $out @lines;
	foreach my $i (1 .. $members)
	{
		my $line = $more->{line}->($i) . $end;

		utf8::encode($line);
		print $out $line;
	}
	close $out;

	$node->safe_psql('files', "TRUNCATE lines;\n\\copy lines FROM '$path' $copy\n"
		. "DROP TABLE IF EXISTS list; CREATE TABLE list AS SELECT cf_agg(e, $asked) AS f FROM lines, $elements e");
	my ($loaded, $missed, $found, $rate) = split /\n/, $node->safe_psql('files', <<"SQL");
SELECT count(*) FROM lines;
SELECT count(*) FROM list, generate_series(1, $members) i WHERE NOT cf_contains(f, $number);
SELECT count(*) FROM list, generate_series($members + 1, $members + $absent) i WHERE cf_contains(f, $number);
SELECT (cf_info(f)).fpp_now FROM list;
SQL
	is($loaded, @lines + $members, "$name: all lines are loaded");
	is($missed, 0, "$name: no member is missed");
	cmp_ok(abs($found - $absent * $rate), '<', 5 * sqrt($absent * $rate),
		"$name: $found of $absent absent values are found, at the rate $rate");
	cmp_ok($found / $absent, '<=', $asked, "$name: the rate is not above $asked");
	is($node->safe_psql('files', 'SELECT string_agg(v, $$ $$) FROM list, unnest(ARRAY[$v$' . join('$v$, $v$', @$present)
		. "\$v\$]) v WHERE cf_contains(f, $value) IS NOT TRUE"), '',
		"$name: " . @$present . ' other spellings are found');
	is($node->safe_psql('files', 'SELECT string_agg(v, $$ $$) FROM list, unnest(ARRAY[$v$' . join('$v$, $v$', @$not)
		. "\$v\$]) v WHERE cf_contains(f, $value)"), '', "$name: " . @$not . ' other values are not found');
	return;
}

kind('hosts', 'domains_of(line)',
	{ line => sub { "0.0.0.0\tHost$_[0].Example. # $_[0]" }, spelling => "'HOST' || i || '.example'" },
		'name_of(SPELLING)',
	[ 'ads.example', 'TRACKER.example.', 'banner.example', 'pixel.example', 'BÜCHER.example', 'v6.example',
		'Under_Score.example' ],
	[ 'localhost', 'localhost.localdomain', 'broadcasthost', '0.0.0.0', 'a', '127.0.0.1' ]);
kind('adguard', 'domains_of(line)',
	{ line => sub { "||Rule$_[0].example^\$important" }, spelling => "'RULE' || i || '.example.'" },
		'name_of(SPELLING)',
	[ 'ADS.example', 'metrics.example', 'xn--bcher-kva.example', 'münchen.example', 'hosts-line.example',
		'plain.example' ],
	[ 'good.example', 'partly.example', 'wild.example', 'news.example', 'example' ]);
kind('domains', 'domains_of(line)',
	{ line => sub { "Bücher$_[0].EXAMPLE." }, spelling => "normalize('BÜCHER' || i || '.example', NFD)" },
		'name_of(SPELLING)',
	[ 'example.com', 'xn--bcher-kva.example', 'MÜNCHEN.example', "CAF\x{c9}.example", 'full.example',
		'xn--e1afmkfd.xn--80akhbyknj4f',
		'例え.テスト', 'xn--fa-hia.example', 'first.example' ],
	[ 'com', 'fass.example', 'a' ]);
kind('emails', 'domains_of(line)',
	{ line => sub { "\@Mail$_[0].Example " }, spelling => "'joe\@MAIL' || i || '.example'" },
		q(name_of(split_part(SPELLING, '@', -1))),
	[ 'bob@Mailinator.example', '"a@b"@throwaway.example', 'temp-mail.example.', 'x@müll.example' ],
	[ 'bob@example', 'mailinator.example@other.example' ]);
kind('networks', 'network_of(line)',
	{ line => sub { sprintf '10.%d.%d.9/24 ; SBL%d', $_[0] >> 8, $_[0] & 255, $_[0] },
		spelling => "host(inet '10.0.0.0' + i * 256) || '/24'" },
	'network_of(SPELLING)',
	[ '::ffff:192.0.2.1', '192.0.2.0/24', '198.51.100.7', '203.0.113.0/25', '203.0.113.200', '2001:db8::1',
		'2001:0db8:1::ffff/48', '10.0.0.0/8' ],
	[ '192.0.2.2', '203.0.113.0', '2001:db8::2' ]);
kind('hashes', 'hash_of(line)',
	{ line => sub { uc(unpack('H*', pack 'NNNN', 7, 0, 0, $_[0])) . ";name $_[0]" },
		spelling => "'0x' || lpad(to_hex(7), 8, '0') || lpad(to_hex(i), 24, '0')" },
	'hash_of(SPELLING)',
	[ 'D41D8CD98F00B204E9800998ECF8427E', 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
		'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855',
		'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad *abc', '900150983cd24fb0d6963f7d28e17f72',
		'a9993e364706816aba3e25717850c26c9cd0d89d' ],
	[ 'd41d8cd98f00b204e9800998ecf8427f', 'empty' ]);
kind('urls', 'url_of(line)',
	{ line => sub { "HTTP://Site$_[0].Example:80/P%c3%a4th?q=$_[0]#part" },
		spelling => "'http://SITE' || i || '.example./P%C3%A4th?q=' || i" },
	'url_of(SPELLING)',
	[ 'https://EXAMPLE.com/', 'http://example.com/Path?Query=A%2Fb', 'https://bad.example:443/login.php',
		'https://bücher.example/%C3%BC',
		'https://user@example.com:8443', 'http://[2001:db8::1]:80/', "ftp://files.example/caf\x{e9}" ],
	[ 'https://example.com/path', 'http://example.com/path?Query=A%2Fb', 'https://bad.example/Login.php',
		'example.com' ]);
kind('agents', 'stripped(line)',
	{ line => sub { "Agent/$_[0] (\"quoted\"; \\x22)" }, spelling => "'Agent/' || i || ' (\"quoted\"; \\x22) '" },
		'stripped(SPELLING)',
	[ 'Googlebot/2.1 (+http://www.google.com/bot.html)',
		'Mozilla/5.0 (Windows NT 10.0; Win64; x64) "quoted", 100% \x22', "BadBot\t1.0", 'Spaces around' ],
	[ 'googlebot/2.1 (+http://www.google.com/bot.html)', 'BadBot 1.0' ]);
kind('words', 'word_of(line)',
	{ line => sub { "WÖRT$_[0]" }, spelling => "normalize('wört' || i, NFD)" }, 'word_of(SPELLING)',
	[ 'STRAßE', 'οδυσσεια', "caf\x{e9}", 'FISH', 'МИР', 'سلام', 'हिन्दी', 'ไทย', '漢字', 'ガ', '한국어', 'Softhyphen' ],
	[ 'strasse', 'cafe', 'الم' ]);

# Punycode that is none stays as it is; names that are none give no domain
is($node->safe_psql('files',
	q(SELECT name_of('xn--a!'), name_of('xn--99999999999.example'), name_of('xn--'), name_of(' . '))),
	'xn--a!|xn--99999999999.example||', 'damaged names');
is($node->safe_psql('files',
	q(SELECT count(*)
		FROM unnest(ARRAY['', ' ', '#', '!', '||', '||^', '@@||a.b^', '||a.b/c^', 'a..b', '.', 'http://a.b/', 'a.b c.d',
	'/a.b/', 'a.b##c', '*.a.b', '1.2.3.4', '||1.2.3.4^', 'a.b$c', '::1']) line, domains_of(line))), 0,
	'lines without a domain');

$node->stop;
done_testing();
