#!/bin/bash
# pgindent's layout: test/indent.sh gives it to all C code.
#
# With --check it only lists, as FILE:LINE:TEXT, the lines with another layout.
#
# It needs pg_bsd_indent 2.1.2, in the PATH or named by PG_BSD_INDENT, which
# comes with the source of PostgreSQL 17 and newer (src/tools/pg_bsd_indent).
# Status 2 says that there is none. What pgindent itself does before and after
# running pg_bsd_indent, this script does too, as far as this code needs it.
set -uo pipefail
shopt -s nullglob
unset CDPATH
cd "$(dirname "$0")/.." || exit

indent=${PG_BSD_INDENT:-pg_bsd_indent}
options=(-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l79 -lp -lpl
	-nip -npro -sac -tpg -ts4 -Utest/typedefs.list)

if ! "$indent" --version 2>/dev/null | grep -q ' 2\.1\.2 '; then
	echo "there is no pg_bsd_indent 2.1.2" >&2
	exit 2
fi
for file in src/*.[ch] src/*/*.[ch] {test/module,test/unit,test/fuzz,bench,clients/c}/*.[ch]; do
	layout=$(mktemp) || exit
	# the comments at the head of a file, and the results of functions
	sed -E 's,/\* +---,/*---X_X,' "$file" | "$indent" "${options[@]}" |
		sed -E 's,/\*---X_X,/* ---,; s/^([A-Za-z_]\S*)[ \t]+\*$/\1 */' >"$layout"
	if [ "${1:-}" = --check ]; then
		diff --unchanged-line-format= --old-line-format="$file:%dn: is     %L" \
			--new-line-format="$file:%dn: should %L" "$file" "$layout"
	else
		cmp -s "$file" "$layout" || cat "$layout" >"$file"
	fi
	rm "$layout"
done
true
