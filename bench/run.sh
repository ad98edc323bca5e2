#!/bin/bash
# Benchmarks: make bench. Prints the core's figures, then those of SQL as ratios
# within one session, and draws bench/plots.
#
# ITEMS="1e5 1e6", ROWS=1000000, LARGE=20000000, BEYOND=10000000, DAYS=30 and
# USERS=100000 make it shorter. ONLY names a part to be run alone, for minutes:
#	core		the core without PostgreSQL
#	sql			statements, beside others that do something similar
#	shapes		the scan against a sequential one
#	compare		a filter against indexes, joins and a table of hashes
#	remote		filters between servers, over days and of sites
#	seen_sets	a filter for each user
#	index		the access method beside others (bench/index.sh has its variables)
#	builds		builds of indexes with workers (bench/builds.sh has its variables)
#	plans		what the planner chooses beside it
#	dedup		ways to deduplicate a stream
#	constraints	unique values beside a B-tree (bench/constraints.sh has its variables)
#	unique		unique ids across partitions
#	steady		sixty rounds in the life of a table (bench/steady.sh has its variables)
set -euo pipefail
cd "$(dirname "$0")/.."

echo "machine:    $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors, $(uname -sm)"
echo "compiler:   $(${CC:-cc} --version | head -n 1)"
echo "PostgreSQL: $(psql -XAtc 'SHOW server_version')"

core()
{
	echo
	echo "The core, nanoseconds per item, fpp 0.001 (bench/bench_core.c):"
	make -sB build/bench_core
	# shellcheck disable=SC2086 # a list of numbers
	build/bench_core ${ITEMS:-} | tee build/core
}

# part FILE TITLE [NAME=VALUE...]: runs bench/FILE.sql in a database of its own
part()
{
	local file=$1 title=$2 name

	shift 2
	echo
	echo "$title (bench/$file.sql):"
	psql -Xqc 'SET client_min_messages = warning' -c "DROP DATABASE IF EXISTS \"$file\"" -c "CREATE DATABASE \"$file\""
	for name; do
		set -- "$@" -v "$name"
		shift
	done
	PGDATABASE=$file psql -Xqv ON_ERROR_STOP=1 "$@" -f "bench/$file.sql"
}

sql()
{
	# the items, at 1.58 bytes each, of a filter larger than the L3 cache; the
	# largest filter has 512 MiB
	local l3 beyond

	l3=$(getconf LEVEL3_CACHE_SIZE 2>/dev/null) || l3=0
	[[ $l3 =~ ^[0-9]+$ ]] || l3=0
	beyond=$(((l3 * 4 / 5 + 9999999) / 10000000 * 10000000))
	((beyond >= 40000000)) || beyond=40000000
	((beyond <= 330000000)) || beyond=330000000
	part bench "SQL, $rows distinct URLs, medians in milliseconds" rows="$rows" \
		large="${LARGE:-60000000}" beyond="${BEYOND:-$beyond}" days="${DAYS:-365}" figures=build/figures
}

shapes()
{
	part scan_shapes "The scan against a sequential one, processor time, medians of seven"
}

compare()
{
	part compare "A filter and what else there is, $rows URLs looked for in sets" rows="$rows" |
		tee build/compare
}

remote()
{
	part remote "Filters between servers, over days and of sites, $rows remote rows" rows="$rows"
}

seen_sets()
{
	part seen_sets "A filter for each user, by fillfactor" users="${USERS:-250000}"
}

index()
{
	echo
	echo 'Indexes for random lookups (bench/index.sh):'
	bench/index.sh
}

builds()
{
	echo
	echo 'Builds of indexes with workers (bench/builds.sh):'
	bench/builds.sh
}

plans()
{
	part plans 'Plans with the access method and beside others' rows="${ROWS:-1000000}"
}

dedup()
{
	echo
	echo "Deduplicating a stream, way, rows a batch, sessions (bench/dedup.sh):"
	bench/dedup.sh
	part small_filter "A small filter beside one of $rows" rows="$rows"
}

constraints()
{
	echo
	echo 'Unique values (bench/constraints.sh):'
	bench/constraints.sh
}

unique()
{
	part unique 'Unique ids across ten partitions' rows="${ROWS:-1000000}" parts=10
	part unique 'Unique ids across thirty partitions' rows="${ROWS:-1000000}" parts=30
}

steady()
{
	echo
	echo 'Indexes of tables that live (bench/steady.sh):'
	bench/steady.sh
}

rows=${ROWS:-5000000}
mkdir -p build
for part in ${ONLY:-core sql shapes compare remote seen_sets index builds plans dedup constraints unique steady}; do
	"$part"
done
bench/plot.sh bench/plots
