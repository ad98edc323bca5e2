#!/bin/bash
# Lists the lines of src/ that no test reaches: make coverage
#
#	test/coverage.sh [COMMAND...]	COMMAND instead of all tests
#
# Builds with counters in a throwaway copy, runs the tests there, and prints
# the share of each file and each line that no test reached. Fails below 97 %.
# test/uncovered.txt has the reasons of the lines that are left.
set -uo pipefail
unset CDPATH
cd "$(dirname "$0")/.." || exit

if [ "${1:-}" != --report ]; then
	[ $# -gt 0 ] || set -- test/check.sh
	# PGXS and the Makefile give COPT to the compiler and to the linker
	COPT='--coverage -O1' exec bash -c '. test/throwaway.sh
		want perl command -v prove
		want libipc-run-perl perl -MIPC::Run -e 1
		want lcov command -v lcov
		start_server
		run "$@"
		run test/coverage.sh --report' coverage "$@"
fi

lcov -q -c -d . -o all.info 2>/dev/null && lcov -q -e all.info '*/src/*' -o src.info || exit
awk -F '[:,]' '
	/^SF:/ {
		file = $2
		sub(/.*\/src\//, "src/", file)
		files[++n] = file
	}
	/^DA:/ {
		lines[file]++
		all++
		if ($3 > 0) {
			reached[file]++
			all_reached++
		} else
			missed[file] = missed[file] " " $2
	}
	END {
		for (i = 1; i <= n; i++)
			printf "%-28s %5d lines %6.1f %%\n", files[i], lines[files[i]], 100 * reached[files[i]] / lines[files[i]]
		printf "%-28s %5d lines %6.1f %%\n", "all", all, 100 * all_reached / all
		for (i = 1; i <= n; i++) {
			m = split(missed[files[i]], numbers, " ")
			number = 0
			for (k = 1; k <= m; k++) {
				while (number < numbers[k] && (getline text < files[i]) > 0)
					number++
				print files[i] ":" number ":" text
			}
		}
		exit(100 * all_reached < 97 * all)
	}' src.info
