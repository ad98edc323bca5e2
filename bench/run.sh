#!/bin/bash
# Benchmarks: make bench. Prints the core's figures, then those of SQL as ratios
# within one session, and draws bench/plots.
#
# ITEMS="1e5 1e6", ROWS=1000000, LARGE=20000000, BEYOND=10000000 and DAYS=30
# make it shorter. SHAPES_ONLY=1 measures only the scan against a sequential
# one, in three minutes. COMPARE_ONLY=1 measures only a filter against indexes,
# joins and a table of hashes, in five minutes. REMOTE_ONLY=1 measures only
# filters between servers and over days, in four minutes.
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

remote()
{
	echo
	echo "Filters between servers and over days, ${ROWS:-5000000} remote rows (bench/remote.sql):"
	psql -Xqc 'CREATE DATABASE remote'
	psql -Xqv ON_ERROR_STOP=1 -v rows="${ROWS:-5000000}" -d remote -f bench/remote.sql
}

if [ -n "${REMOTE_ONLY:-}" ]; then
	remote
	exit
fi
if [ -n "${SHAPES_ONLY:-}" ]; then
	shapes
	exit
fi
if [ -n "${COMPARE_ONLY:-}" ]; then
	compare
	exit
fi

# the items, at 1.58 bytes each, of a filter larger than the L3 cache; the
# largest filter has 512 MiB
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
compare | tee build/compare
remote
bench/plot.sh build/core build/figures build/compare bench/plots
