#!/usr/bin/perl
# Tells whether what is committed is ready to be released: make release-check
#
# There is one test, in TAP's words, for each thing that is easily forgotten:
# versions, the changelog, upgrade scripts, META.json by PGXN's specification,
# the golden vectors. The last one builds from the unpacked tar of make dist,
# and runs the regression tests on a throwaway server.
use strict;
use warnings;

use File::Temp;
use FindBin;
use JSON::PP;
use Test::More;

chdir "$FindBin::RealBin/.." or die;

sub read_file
{
	my ($name) = @_;

	open my $file, '<:encoding(UTF-8)', $name or return '';
	local $/;
	return <$file>;
}

# first(FILE, PATTERN): what the pattern's parentheses found there
sub first
{
	my ($name, $pattern) = @_;

	return read_file($name) =~ $pattern ? $1 : "not found";
}

# ---- one version -----------------------------------------------------------

my $release = first('META.json', qr/^  "version": "(.*?)"/m);
my ($sql) = $release =~ /^(\d+\.\d+)\.\d+$/ or BAIL_OUT("META.json has no version X.Y.Z");
my @extensions = ('cuckoo', 'cuckoo_citus');

is(first("$_.control", qr/^default_version = '(.*)'/m), $sql, "version of $_.control") foreach @extensions;
is(first('CHANGELOG.md', qr/^## (\S+)/m), $release, 'the newest heading of CHANGELOG.md');
like(read_file('CHANGELOG.md'), qr/^## \Q$release\E\n+[^#\s]/m, 'something is said below it');
is(first('debian/changelog', qr/^postgresql-cuckoo \((.*)-\d+\)/), $release, 'the newest entry of debian/changelog');
is(first('rpm/cuckoo.spec', qr/^Version: *(\S+)/m), $release, 'version of rpm/cuckoo.spec');
is(first('rpm/cuckoo.spec', qr/^%changelog\n\*.* - (\S+)-\d+$/m), $release, 'the newest entry of its changelog');
is(first('src/module.c', qr/^CUCKOO_MODULE_MAGIC\("(.*)"\)/m), $release, 'version of the library');
is(first('CITATION.cff', qr/^version: (\S+)/m), $release, 'version of CITATION.cff');

# ---- one date --------------------------------------------------------------

my $date = first('CITATION.cff', qr/^date-released: (\S+)/m);

# "22 Nov 2026" or "Nov 22 2026" in that form
sub iso
{
	my ($text) = @_;
	my ($day, $month, $year) = $text =~ /^(\d+) (\w+) (\d+)$/ ? ($1, $2, $3)
	  : $text =~ /^(\w+) (\d+) (\d+)$/ ? ($2, $1, $3) : return $text;

	return sprintf '%d-%02d-%02d', $year, index('JanFebMarAprMayJunJulAugSepOctNovDec', $month) / 3 + 1, $day;
}

is(iso(first('debian/changelog', qr/^ -- .*>  \w+, (\d+ \w+ \d+) /m)), $date, 'the date in debian/changelog');
is(iso(first('rpm/cuckoo.spec', qr/^%changelog\n\* \w+ (\w+ \d+ \d+) /m)), $date, 'the date in rpm/cuckoo.spec');

# ---- upgrades --------------------------------------------------------------

# the versions that scripts lead to from this one
sub reachable
{
	my ($extension, $from, $seen) = @_;

	return if $seen->{$from}++;
	foreach (glob "sql/$extension--$from--*.sql")
	{
		reachable($extension, $1, $seen) if /--([^-]+)\.sql$/;
	}
}

my %released = map { $_ => 1 } read_file('CHANGELOG.md') =~ /^## (\d+\.\d+)\.\d+/mg;
foreach my $extension (@extensions)
{
	foreach my $from (sort keys %released)
	{
		my %seen;

		reachable($extension, $from, \%seen);
		ok($seen{$sql}, "scripts lead from $extension $from to $sql");
	}
}

# ---- META.json, by https://pgxn.org/meta/spec.txt --------------------------

my @errors;

# check(WHERE, VALUE, FORM): a form is a pattern, a list of one form for all
# items, or a map of forms: "name!" must be there, "*" is any other
sub check
{
	my ($where, $value, $form) = @_;

	if (ref $form eq 'Regexp')
	{
		push @errors, "$where: " . ($value // 'null') . " does not match $form"
			if ref $value || ($value // '') !~ $form;
	}
	elsif (ref $form eq 'ARRAY')
	{
		return check($where, $value, $form->[0]) if ref $value ne 'ARRAY';
		check("$where\[]", $_, $form->[0]) foreach @$value;
	}
	elsif (ref $value ne 'HASH')
	{
		push @errors, "$where is no map";
	}
	else
	{
		foreach (grep { /!$/ } keys %$form)
		{
			push @errors, "$where has no " . s/!$//r if !defined $value->{ s/!$//r };
		}
		foreach (keys %$value)
		{
			my $of = $form->{$_} // $form->{"$_!"} // $form->{'*'};

			next if /^x_/i;
			if ($of) { check("$where.$_", $value->{$_}, $of) }
			else { push @errors, "$where.$_ is unknown" }
		}
	}
}

my $text = qr/\S/;
my $version = qr/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[\w.-]+)?$/a;
my $url = qr{^\w+://[^/]};
my $requires = { '*' => { '*' => qr/^((==|!=|<=?|>=?)? *\d+(\.\d+){0,2}(, *|$))+$/a } };
my $meta = eval { decode_json(read_file('META.json')) };

is($@, '', 'META.json is JSON');
check('META', $meta, {
	'name!' => qr{^[^\s/\\[:cntrl:]]{2,}$}, 'version!' => $version, 'abstract!' => $text, 'maintainer!' => [$text],
	'license!' => [ qr/^(agpl_3|apache_2_0|artistic_2|bsd|gpl_[123]|lgpl_[23]_\d|mit|mozilla_1_[01]|postgresql|
		restricted|unrestricted|open_source)$/x ],
	'provides!' => { '*' => { 'file!' => $text, 'version!' => $version, abstract => $text, docfile => $text } },
	'meta-spec!' => { 'version!' => qr/^1\.0\.0$/, url => $url },
	description => $text, generated_by => $text, release_status => qr/^(stable|testing|unstable)$/,
	tags => [ qr{^[^/\\[:cntrl:]]{1,256}$} ],
	prereqs => { map { $_ => $requires } qw(configure build test runtime develop) },
	no_index => { file => [$text], directory => [$text] },
	resources => { homepage => $url, bugtracker => { web => $url, mailto => qr/@/ },
		repository => { url => $url, web => $url, type => qr/^[a-z]+$/ } },
});
is(join("\n", @errors), '', 'META.json is as PGXN specifies');
is_deeply([ sort keys %{ $meta->{provides} } ], \@extensions, 'it has all extensions');
foreach (values %{ $meta->{provides} })
{
	is($_->{version}, $release, "the version of $_->{file} there");
	ok(-e $_->{file} && -e $_->{docfile}, 'its file and document exist');
}

# ---- one address -----------------------------------------------------------

my $home = $meta->{resources}{homepage};
my %address_in = (
	'META.json' => qr/"web": "(.*)\/issues"/, 'CITATION.cff' => qr/^repository-code: (\S+)/m,
	'debian/control.in' => qr/^Homepage: (\S+)\nVcs-Browser: \1\nVcs-Git: \1\.git$/m,
	'debian/copyright' => qr/^Source: (\S+)/m,
	'debian/watch' => qr/ (\S+)\.git refs/, 'rpm/cuckoo.spec' => qr/^URL: *(\S+)/m,
	'.github/ISSUE_TEMPLATE/config.yml' => qr{url: (\S+)/security/policy$}m);

is(first($_, $address_in{$_}), $home, "the address in $_") foreach sort keys %address_in;
is(read_file('debian/control'), read_file('debian/control.in') =~ s/PGVERSION/15/gr,
	'debian/control is debian/control.in, for 15');
TODO:
{
	local $TODO = 'the address is not known yet' if $home =~ /\.invalid\//;
	unlike($home, qr/\.invalid\//, 'the address is no placeholder');
}

# ---- golden vectors --------------------------------------------------------

my $tmp = File::Temp->newdir;

chmod 0755, "$tmp";
SKIP:
{
	skip 'no golden vectors', 1 if !-d 'test/vectors';
	mkdir "$tmp/vectors";
	system("make -s vectors VECTORS=$tmp/vectors");
	is(`cd $tmp/vectors && for f in *; do cmp \$f $FindBin::RealBin/vectors/\$f 2>&1; done`, '',
		'the golden vectors are what the core makes of them');
}

# ---- what people will get --------------------------------------------------

# each client is packed from its own folder, so it has a copy
is(read_file("$_/LICENSE"), read_file('LICENSE'), "the license of $_")
	foreach 'clients/c', 'clients/js', 'clients/python';
is(`git status --porcelain`, '', 'all is committed');
is(system('make -s dist'), 0, 'make dist');
system("tar -xzf build/cuckoo-$release.tar.gz -C $tmp");
my $unpacked = "$tmp/cuckoo-$release";
my @missing = grep { !-e "$unpacked/$_" } split /\0/, `git ls-files -z ':(attr:!export-ignore)'`;
is("@missing", '', 'the tar has all files');
my $log = "$tmp/log";
my $status = system("cd $unpacked && test/throwaway.sh -t make -s installcheck TAP_TESTS= >$log 2>&1");
is($status, 0, 'the tar can be built, and passes its regression tests') or diag(read_file($log));

done_testing();
