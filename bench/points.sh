#!/bin/sh
# Prints how many answers a second two clients get: bench/points.sh N QUERY
#
# :i in the query is a random number up to N.
printf '\\set i random(1, %s)\n%s;\n' "$1" "$2" |
	pgbench -n -M prepared -c 2 -j 2 -T "${SECONDS_EACH:-3}" -f /dev/stdin 2>&1 |
	sed -n 's/^tps = \([0-9]*\).*/\1/p'
