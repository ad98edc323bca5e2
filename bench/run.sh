#!/bin/bash
# Benchmarks: make bench. Prints the core's figures, then SQL's, as tables of
# ratios within one session, and draws bench/plots. ITEMS="1e5 1e6", ROWS=1000000,
# LARGE=20000000, BEYOND=10000000 and DAYS=30 make it shorter. SHAPES_ONLY=1 leaves all out
# but the scan against a sequential one, a matter of three minutes; COMPARE_ONLY=1
# all but the comparison with what else there is, of five; SEEN_ONLY=1 all but the
# filters of USERS=250000 users, of five.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "machine:    $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors, $(uname -sm)"
echo "compiler:   $(${CC:-cc} --version | head -n 1)"
echo "PostgreSQL: $(psql -XAtc 'SHOW server_version')"

shapes()
{
	echo
	echo "The scan against a sequential one, processor time, medians of seven (bench/scan_shapes.sql):"
	psql -Xqc 'CREATE DATABASE shapes'
	psql -Xqv ON_ERROR_STOP=1 -d shapes -f bench/scan_shapes.sql
}

compare()
{
	echo
	echo "A filter and what else there is, ${ROWS:-5000000} URLs looked for in sets (bench/compare.sql):"
	psql -Xqc 'CREATE DATABASE compare'
	PGDATABASE=compare psql -Xqv ON_ERROR_STOP=1 -v rows="${ROWS:-5000000}" -f bench/compare.sql
}

seen_sets()
{
	echo
	echo "A filter for each user, by fillfactor (bench/seen_sets.sql):"
	psql -Xqc 'CREATE DATABASE seen_sets'
	PGDATABASE=seen_sets psql -Xqv ON_ERROR_STOP=1 -v users="${USERS:-250000}" -f bench/seen_sets.sql
}

if [ -n "${SHAPES_ONLY:-}" ]; then
	shapes
	exit
fi
if [ -n "${COMPARE_ONLY:-}" ]; then
	compare
	exit
fi
if [ -n "${SEEN_ONLY:-}" ]; then
	seen_sets
	exit
fi

# items, at 1.58 bytes each, of a filter beyond the L3 cache, as far as the 512 MB
# of the largest filter go
l3=$(getconf LEVEL3_CACHE_SIZE 2>/dev/null) || l3=0
[[ $l3 =~ ^[0-9]+$ ]] || l3=0
beyond=$(((l3 * 4 / 5 + 9999999) / 10000000 * 10000000))
((beyond >= 40000000)) || beyond=40000000
((beyond <= 330000000)) || beyond=330000000

echo
echo "The core, nanoseconds per item, fpp 0.001 (bench/bench_core.c):"
make -sB build/bench_core
# shellcheck disable=SC2086 # a list of numbers
build/bench_core ${ITEMS:-} | tee build/core
echo
echo "SQL, ${ROWS:-5000000} distinct URLs, medians of five, in milliseconds (bench/bench.sql):"
psql -Xqv ON_ERROR_STOP=1 -v rows="${ROWS:-5000000}" -v large="${LARGE:-60000000}" \
	-v beyond="${BEYOND:-$beyond}" -v days="${DAYS:-365}" -v figures=build/figures -f bench/bench.sql
shapes
compare
seen_sets
bench/plot.sh build/core build/figures bench/plots
