#!/bin/bash
# All tests, to be run on a throwaway server: make check
#
# The last line is "N passed, N failed", counted from what each suite says of
# its single tests. A suite that fails without saying of which test counts as
# one failure; a test that is skipped is neither, nor a file of them.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

passed=0 failed=0 skipped=0

# count SUITE STATUS PASSED FAILED
count()
{
	local bad=$4

	if [ "$2" != 0 ] && [ "$bad" = 0 ]; then
		echo "*** $1 failed as a whole"
		bad=1
	fi
	passed=$((passed + $3)) failed=$((failed + bad))
	[ "$bad" = 0 ]
}

# count_lines SUITE STATUS FILE: of lines like "test NAME ... ok" (pg_regress up
# to 15) or "ok N - NAME" (TAP); prove reports a file that ended too early as a
# parse error
count_lines()
{
	local ok not_ok skip

	ok=$(grep -cE '^(test .*\.\.\. ok|ok [0-9])' "$3")
	not_ok=$(grep -E '^(test .*\.\.\. FAILED|not ok [0-9]|  Parse errors:)' "$3" | grep -vc '# TODO')
	skip=$(grep -ciE '^ok [0-9].*# skip' "$3")
	skipped=$((skipped + $(grep -cE '(^|\.\. )skipped: ' "$3")))
	skipped=$((skipped + skip))
	count "$1" "$2" $((ok - skip)) "$not_ok"
}

# show_end FILE...
show_end()
{
	local file

	for file in "$@"; do
		echo "==== end of $file"
		tail -n 80 "$file"
	done
}

# installcheck SUITE VARIABLE=...: one of the three parts of PGXS's installcheck
installcheck()
{
	echo "==== $1 tests"
	make -s installcheck "${@:2}" 2>&1 | tee suite.log
	count_lines "$1" $? suite.log
}

echo "==== style"
test/style.sh 2>&1 | tee suite.log
count_lines style $? suite.log

echo "==== unit tests of the core"
make -s unit 2>&1 | tee suite.log
status=$?
counts=$(awk '/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
	END { print p + 0, f + 0 }' suite.log)
count unit $status "${counts% *}" "${counts#* }"

installcheck regression ISOLATION= TAP_TESTS= ||
	{ cat regression.diffs; show_end ../log; }

if [ -x "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/isolation/pg_isolation_regress" ]; then
	installcheck isolation REGRESS= TAP_TESTS= ||
		{ cat output_iso/regression.diffs; show_end ../log; }
else
	echo "==== no isolation tests: this PostgreSQL comes without the tester"
fi

echo "==== random queries by the scan and without"
test/fuzz/scan.pl 10 2>&1 | tee suite.log
count_lines fuzz $? suite.log

echo "==== hostile values through SQL"
test/fuzz/sql.pl 0 3 2>&1 | tee suite.log
count_lines fuzz $? suite.log

make -s -C test/module install
count test/module $? 0 0
installcheck TAP REGRESS= ISOLATION= PROVE_FLAGS=-v ||
	sed -nE 's,^test/t/(.*)\.pl +\(Wstat.*,\1,p' suite.log |
	while read -r t; do show_end tmp_check/log/*"$t"*; done
# for others they skip themselves, but here it was installed
! grep 'skipped: needs make -C test/module install' suite.log
count 'tests with test/module' $? 0 0

[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
