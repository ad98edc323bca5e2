#!/bin/sh
# Two clients mark random items as seen: bench/updates.sh USERS UPDATES. Prints
# nothing.
printf '%s\n' "\\set id random(1, $1)" '\set item random(1, 1000000000000)' \
	'UPDATE seen SET f = cf_add_unique(f, :item::bigint) WHERE id = :id;' |
	pgbench -n -M prepared -c 2 -j 2 -t $(($2 / 2)) -f /dev/stdin >/dev/null 2>&1
