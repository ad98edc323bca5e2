#!/bin/bash
# Rules of style, one test each, in TAP's words: test/style.sh
#
# make check runs it. What breaks a rule is listed below the rule's line.
set -uo pipefail
shopt -s lastpipe	# rule() counts, also at the end of a pipe
unset CDPATH
cd "$(dirname "$0")/.." || exit
export LC_ALL=C.UTF-8

tests=0 status=0

# rule NAME: the lines of standard input, FILE:LINE:TEXT, break it
rule()
{
	local found

	found=$(cat)
	tests=$((tests + 1))
	if [ -z "$found" ]; then
		echo "ok $tests - $1"
	else
		echo "not ok $tests - $1"
		printf '%s\n' "$found" | sed 's/^/# /'
		status=1
	fi
}

# wider COLUMNS FILE...: lines with more columns, where a tab ends at a multiple of four
wider()
{
	perl -CSD -sne '
		1 while s/\t/" " x (4 - $-[0] % 4)/e;
		print "$ARGV:$.:$_" if /^.{$columns}./;
		close ARGV if eof' -- "-columns=$1" "${@:2}"
}

# All that people write; this may be a copy without git, where things are built.
mapfile -t files < <(find . \( -name .git -o -name build -o -name results -o -name log \
	-o -name 'tmp_check*' -o -name output_iso -o -name plots -o -name expected \
	-o -name node_modules -o -name package-lock.json \) -prune \
	-o -type f \( -name '*.[ch]' -o -name '*.sql' -o -name '*.in' -o -name '*.awk' \
	-o -name '*.sh' -o -name '*.p[lm]' -o -name '*.spec' -o -name '*.md' -o -name '*.json' \
	-o -name '*.yml' -o -name '*.py' -o -name '*.js' -o -name '*.ts' -o -name '*.toml' -o -name '*.control' \
	-o -name Makefile -o -name '.[eg]*i*' \) -print |
	sed 's,^\./,,' | sort)
mapfile -t source < <(printf '%s\n' "${files[@]}" | grep '^src/.*\.[ch]$')
mapfile -t prose < <(printf '%s\n' "${files[@]}" | grep '\.md$')
mapfile -t spaced < <(printf '%s\n' "${files[@]}" | grep -E '\.(md|json|yml|py|js|ts|toml)$|^demo/.*\.sql$')
mapfile -t tabbed < <(printf '%s\n' "${files[@]}" | grep -vxFf <(printf '%s\n' "${spaced[@]}"))

# ---- what .editorconfig says -----------------------------------------------

grep -Hn '[[:blank:]]$' "${files[@]}" |
	rule 'no trailing blanks, which only make changes look larger'

perl -0777 -ne 'print "$ARGV:", tr/\n//, ":\n" if /[^\n]\z/' "${files[@]}" |
	rule 'each file ends with a newline, so that a line can be added without changing another'

grep -Hn $'\r' "${files[@]}" |
	rule 'lines end with LF, as the shell and PostgreSQL expect'

perl -MEncode -0777 -ne 'eval { decode("UTF-8", $_, Encode::FB_CROAK) } // print "$ARGV:1:\n"' "${files[@]}" |
	rule 'files are UTF-8, which all readers agree on'

grep -HnE $'^\t* {4}' "${tabbed[@]}" |
	rule 'code is indented with tabs, as PostgreSQL is'

grep -Hn $'^ *\t' "${spaced[@]}" |
	rule 'prose, data, Python and JavaScript are indented with blanks, as their readers expect'

# A message stays whole, to be found by searching for it.
wider 80 "${source[@]}" | grep -vE '^[^:]*:[0-9]+: *(return )?([a-z_]+\()*"' |
	rule 'lines of the source have at most 80 columns, so that two files stand side by side'

# A command of psql is one line. A line of a fuzzer is a template of queries.
printf '%s\n' "${files[@]}" | grep -E '^(sql|test)/.*\.(sql|p[lm]|sh|spec)$' |
	grep -vE '^test/fuzz/|^sql/([^.]*[.](p[lm]|sh|spec)|cuckoo(_citus)?--[0-9.]*\.sql)$' | mapfile -t tests_of
wider 120 "${tests_of[@]}" | grep -vE '^[^:]*:[0-9]+:[\]' |
	rule 'lines of tests have at most 120 columns, which show a value beside the truth'

layout=$(test/indent.sh --check 2>/dev/null)
case $? in
	2) tests=$((tests + 1)); echo "ok $tests - layout # skip no pg_bsd_indent 2.1.2, see test/indent.sh" ;;
	*) printf '%s' "$layout" | rule 'the layout is that of pgindent (make indent), which nobody has to argue about' ;;
esac

sed -nE 's/^typedef (struct|union|enum) \w+ (\w+);.*/\2/p; s/^\}[[:blank:]]*(\w+);.*/\1/p
	s/^typedef (\w+ )+(\w+);.*/\2/p; s/^typedef .*\(\*(\w+)\).*/\1/p' \
	src/*.[ch] src/*/*.[ch] {test/module,test/unit,test/fuzz,bench,clients/c}/*.[ch] |
	grep -vxFf test/typedefs.list | sed 's,^,test/typedefs.list: ,' |
	rule 'each typedef of the source stands in the list that pgindent knows types by'

# Tables cannot be wrapped, nor can links; code is as wide as it is.
perl -CSD -ne '
	$code = !$code if /^ *```/;
	print "$ARGV:$.:$_" if !$code && /^.{121}/;
	($code = 0, close ARGV) if eof' "${prose[@]}" |
	grep -vE '^[^:]*:[0-9]+:( *\||.*(\]\(|https?://))' |
	rule 'lines of prose have at most 120 columns, so that a change shows what it changes'

# ---- what C code may do ----------------------------------------------------

# The layers from the bottom.  A folder offers what stands in the header of its
# name to the layers above it.
awk '
	BEGIN {
		n = split("core . element filter probe agg planner scan index", layers, " ")
		for (i = 1; i <= n; i++)
			rank[layers[i]] = i
	}
	function layer(path) {
		return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "."
	}
	/^#include "/ {
		split($0, part, "\"")
		from = layer(substr(FILENAME, 5))
		to = layer(part[2])
		if (FILENAME == "src/module.c" || !(to in rank) || to == from ||
			(to == "." && part[2] !~ /^(compat|error)\.h$/))
			next
		if (rank[to] > rank[from] || (to != "." && part[2] != to "/" to ".h"))
			print FILENAME ":" FNR ":" $0
	}' "${source[@]}" |
	rule 'no include upward, nor of what is inside another folder: each has one header for the others'

# Who calls a function that another file defines, FILE FILE; tsort names the
# files of a circle.  Comments and strings do not call.
perl -0777 -ne '
	s,/\*.*?\*/|"(\\.|[^"\\\n])*",,gs;
	$defined{$_} = $ARGV for /^((?:cuckoo|cf)_\w+)\(/gm;
	$uses{$ARGV} = [/\b(?:cuckoo|cf)_\w+/g];
	END { for $file (keys %uses) { $defined{$_} and print "$file $defined{$_}\n" for @{$uses{$file}} } }' \
	src/*.c src/*/*.c |
	tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(src.*\)/\1:1:/p' |
	rule 'no circle of files that call each other, of which none can be read first'

grep -Hn PG_VERSION_NUM "${source[@]}" | grep -v '^src/compat\.h:' |
	rule 'PG_VERSION_NUM stands in compat.h alone, where the next port finds all of it'

grep -HnE '\b(assert|abort|_?exit)[[:blank:]]*\(' "${source[@]}" |
	rule 'no assert, abort or exit of libc, which would take down all sessions of the server'

grep -HnE '\belog\(' "${source[@]}" | grep -vF \
	-e 'elog(ERROR, "cache lookup failed for ' \
	-e 'elog(ERROR, "could not encode base64")' \
	-e 'elog(ERROR, "failed assertion ' \
	-e 'elog(ERROR, "CuckooScan ' \
	-e 'elog(ERROR, "function of an aggregate called elsewhere")' |
	rule 'no elog for what a user can cause: ereport has SQLSTATE, detail and hint'

# A definition has its name at the begin of the line after "static".
awk '
	FNR == 1 { before = "" }
	/^[a-z_][a-z_0-9]*\(/ && before ~ /^static/ {
		name = $0
		sub(/\(.*/, "", name)
		if (!seen[FILENAME, name]++)
			print name, FILENAME ":" FNR ":" name
	}
	{ before = $0 }' "${source[@]}" |
	sort | awk '$1 == name { print first; print $2 } { name = $1; first = $2 }' | uniq |
	rule 'no two static functions of one name, which a reader would take for one'

test/mutate.pl list 2>&1 >/dev/null |
	rule 'test/mutate.pl knows which tests are about each file, and makes its faults'

echo "1..$tests"
exit $status
