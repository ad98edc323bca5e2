#!/bin/bash
# All tests, to be run on a throwaway server: make check
#
#	test/check.sh [nightly]		with "nightly" longer and more random ones
#
# Most of the time goes to TAP tests, which start servers of their own and can
# therefore run beside the others. A suite says when it begins, and at its end
# what it counted, but its output is shown only after a failure.
#
# A suite that takes too long is ended, and shows what of it runs then.
#
# The last line is "N passed, N failed". If tests were left out, the lines
# before name them, and ", N skipped" follows. A suite that fails without
# saying in which test counts as one failure. One that passes nothing fails as
# well, unless it says "skipped: " itself, because what is missing must not
# look like success.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

nightly=${1:-}
logs=$TMPDIR/suites		# NAME.log, and NAME.counts: passed, failed, skipped
processes=$(getconf _NPROCESSORS_ONLN)

# in the order in which they begin
suites=(tap runner style regression isolation clients scan sql unit logs)
declare -A title=(
	[tap]='TAP tests, about 4 minutes, beside the others'
	[runner]='what this script makes of suites'
	[style]='style'
	[regression]='regression tests, about a minute'
	[isolation]='isolation tests'
	[clients]='clients for C, Python and JavaScript on the golden vectors'
	[scan]='random queries by the scan and without it, 5 seconds'
	[sql]='hostile values through SQL'
	[unit]='unit tests of the core, about 40 seconds'
	[logs]='the log of the server')
minutes=4
limit=1800	# seconds of a suite
if [ -n "$nightly" ]; then
	title[scan]='random queries by the scan and without it, 10 minutes'
	title[sql]='hostile values through SQL, 10 minutes'
	title[unit]='unit tests of the core with large sizes, about 10 minutes'
	minutes=41
	limit=10800
fi
limit=$((limit * ${PG_TEST_TIMEOUT_DEFAULT:-180} / 180))

# ---- counting --------------------------------------------------------------

# left_out LOG: lines for what was, such as "skipped: REASON" of a file of TAP
# tests, or "ok N # skip REASON" of one test
left_out()
{
	awk '
		/^[^ ]+ \.\.+ / { file = $1 ": " }
		/^ok [0-9].*# [Ss][Kk][Ii][Pp]/ { print file $0 }
		/(^|\.\. *)skipped: / { print }' "$1"
}

# counts_of LOG: how many tests passed, failed and were skipped, by lines like
# "test NAME ... ok" (pg_regress up to 15), "ok N - NAME" (TAP) or the sum of a
# unit test; prove reports a file that ended too early as a parse error
counts_of()
{
	awk '
		/^ok [0-9].*# [Ss][Kk][Ii][Pp]/ || /(^|\.\. *)skipped: / { skipped++; next }
		/^(test .*\.\.\. ok|ok [0-9])/ { passed++ }
		/^(test .*\.\.\. FAILED|not ok [0-9]|  Parse errors:)/ && !/# TODO/ { failed++ }
		/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 }
		END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# pause: a tenth of a second, without the process that sleep would be, which takes a
# quarter of it on a slow machine. Nothing is ever written to the pipe.
pause()
{
	read -rt 0.1 -u 8
}

# processes_of PID: it, and those that it has started
processes_of()
{
	local pid

	echo "$1"
	for pid in $(ps -o pid= --ppid "$1"); do
		processes_of "$pid"
	done
}

# within_limit COMMAND...: ends it when the time is up. The servers of TAP tests end
# with that on which this script runs.
within_limit()
{
	local end=$((SECONDS + limit)) pid pids

	"$@" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			mapfile -t pids < <(processes_of $pid)
			echo "*** $* hangs: not ready after $limit s. These run:"
			ps -o pid,etime,args -p "${pids[*]}"
			timeout 20 psql -XAtc "SELECT pid, datname, wait_event, query FROM pg_stat_activity WHERE state <> 'idle'"
			kill -KILL "${pids[@]}"
			break
		fi
		pause
	done
	wait $pid
}

# suite NAME: runs suite_NAME, counts, and shows its log if something failed
suite()
{
	local name=$1 log=$logs/$1.log number=1 status start=$SECONDS passed failed skipped

	while [ "${suites[number - 1]}" != "$name" ]; do
		number=$((number + 1))
	done
	number="suite $number of ${#suites[@]}"
	echo "$number: ${title[$name]}"
	within_limit "suite_$name" >"$log" 2>&1
	status=$?
	read -r passed failed skipped < <(counts_of "$log")
	if [ $status != 0 ] && [ "$failed" = 0 ]; then
		echo "*** $name failed as a whole, status $status" >>"$log"
		failed=1
	elif [ "$passed$failed" = 00 ] && ! grep -q '^skipped: ' "$log"; then
		echo "*** $name passed nothing" >>"$log"
		failed=1
	fi
	echo "$passed $failed $skipped" >"$logs/$name.counts"
	{
		flock 9
		if [ "$failed" != 0 ]; then
			echo "==== what $name says, without the tests that passed"
			grep -v '^ok [0-9]' "$log"
			if [ "$(type -t "show_$name")" = function ]; then
				"show_$name"
			fi
			echo "==== end of $name"
		fi
		echo "$number: $name: $passed passed, $failed failed, $skipped skipped, $((SECONDS - start)) s"
	} 9>>"$logs/lock"
}

# ---- the suites ------------------------------------------------------------

# show_end FILE...
show_end()
{
	local file

	for file in "$@"; do
		echo "==== end of $file"
		tail -n 80 "$file"
	done
}

suite_style()
{
	test/style.sh
}

suite_regression()
{
	make -s installcheck ISOLATION= TAP_TESTS=
}

show_regression()
{
	cat regression.diffs
	show_end ../log
}

suite_isolation()
{
	make -s installcheck REGRESS= TAP_TESTS=
}

show_isolation()
{
	cat output_iso/regression.diffs
	show_end ../log
}

suite_clients()
{
	clients/check.sh vectors
}

suite_scan()
{
	if [ -n "$nightly" ]; then test/fuzz/scan.pl 600; else test/fuzz/scan.pl 5; fi
}

suite_sql()
{
	if [ -n "$nightly" ]; then test/fuzz/sql.pl 600; else test/fuzz/sql.pl 0 3; fi
}

suite_unit()
{
	make -s unit LONG="$nightly"
}

suite_logs()
{
	test/logs.sh ../log
	[ $? = 1 ] || printf 'not '
	echo 'ok 1 - nothing in the log that must not be there'
}

# Also builds the unit tests, beside the first of the other suites, because two
# suites must not build in the same folder at the same time.
suite_tap()
{
	local tests

	make -s -j "$processes" unit-programs
	touch "$logs/built"
	make -s -j "$processes" -C test/module install || return
	# those that take longest first, so that none is left at the end
	tests=$(printf '%s\n' test/t/{018,027,005,016,013,006,008,019,031,024}*.pl test/t/*.pl | awk '!seen[$0]++')
	# 027 kills before the records that 025 recovers to, and 006 replays those of builds
	[ -n "$nightly" ] || tests=$(grep -v /025_ <<<"$tests")
	[ -z "$nightly" ] ||
		export REBUILDS=50 FAULTS=all RECOVERIES=40 UNIQUE_ROUNDS=120 TORTURE_SECONDS=300 RACE_SECONDS=10
	make -s installcheck REGRESS= ISOLATION= PROVE_FLAGS="-v -j $processes" PROVE_TESTS="${tests//$'\n'/ }" || return
	# for others they skip themselves, but here it was installed
	! grep -q 'skipped: needs make -C test/module install' "$logs/tap.log"
}

show_tap()
{
	local test

	sed -nE 's,^test/t/(.*)\.pl +\(Wstat.*,\1,p' "$logs/tap.log" | while read -r test; do
		show_end tmp_check/log/*"$test"*
	done
}

# What suite() makes of suites such as these; one that passes nothing, because
# none of its tests could be run, once looked like success.
suite_runner()
{
	local n=0

	expect 'nothing passed'        '0 1 0' true
	expect 'failed as a whole'     '1 1 0' sh -c 'echo ok 1 - a; exit 1'
	expect 'a test failed'         '1 1 0' sh -c 'echo ok 1 - a; echo not ok 2 - b; exit 1'
	expect 'failed, and status 0'  '0 1 0' echo 'test a         ... FAILED    3 ms'
	expect 'pg_regress up to 15'   '1 0 0' echo 'test a         ... ok        3 ms'
	expect 'pg_regress from 16 on' '1 0 0' echo 'ok 1         - a         3 ms'
	expect 'a test was left out'   '1 0 1' printf '%s\n' 'ok 1 # SKIP why' 'ok 2 - a'
	expect 'a file was left out'   '1 0 1' printf '%s\n' 'ok 1 - a' 't/012_a.pl ...... skipped: why'
	expect 'all files left out'    '0 1 1' echo 't/012_a.pl ...... skipped: why'
	expect 'a suite was left out'  '0 0 1' echo 'skipped: why'
	expect 'a file ended early'    '1 1 0' printf '%s\n' 'ok 1 - a' '  Parse errors: No plan found'
	expect 'to be done'            '1 0 0' printf '%s\n' 'not ok 1 - a # TODO b' 'ok 2 - c'
	expect 'unit tests'            '5 1 0' printf '%s\n' '3 passed, 0 failed' '2 passed, 1 failed'
	limit=1
	expect 'hangs'                 '1 1 0' sh -c 'echo ok 1 - a; sleep 60'
	expect 'all of it is ended'    '1 1 0' sh -c 'echo ok 1 - a; (sleep 70; echo ok 2 - b) & (sleep 80) & wait'
}

# expect NAME COUNTS COMMAND...: what suite() counts of the command
expect()
{
	local name=$1 counts=$2 suites=(tried) logs=$TMPDIR

	n=$((n + 1))
	eval "suite_tried() { $(printf '%q ' "${@:3}"); }"
	title[tried]=$name
	suite tried >/dev/null
	[ "$(cat "$logs/tried.counts")" = "$counts" ] || printf 'not '
	echo "ok $n - $name"
}

# ---- all of it -------------------------------------------------------------

rm -rf "$logs"
mkdir "$logs" && mkfifo "$logs/pipe" || exit
exec 8<>"$logs/pipe"
echo "${#suites[@]} suites, which take about $minutes minutes with two idle processors"
{
	for name in runner style regression isolation clients scan sql; do
		suite $name
	done
	until [ -e "$logs/built" ]; do
		pause
	done
	suite unit
} &
suite tap
wait
suite logs

for name in "${suites[@]}"; do
	left_out "$logs/$name.log" | sed "s/^/left out, $name: /"
done
# a suite without counts ended in a way that nobody thought of
for name in "${suites[@]}"; do
	cat "$logs/$name.counts" 2>/dev/null || echo "*** $name did not end" >&2
done | awk -v suites=${#suites[@]} '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		failed += suites - NR
		print passed + 0 " passed, " failed " failed" (skipped ? ", " skipped " skipped" : "")
		exit(failed > 0)
	}'
