#!/bin/bash
# Clients insert rows of random ids into a table with an index: bench/index.sql.
# Prints a line for each method and number of clients: rows a second.
set -euo pipefail

for method in none cuckoo hash btree; do
	for clients in 1 2 4; do
		PGOPTIONS="-c client_min_messages=warning" psql -Xqc "DROP TABLE IF EXISTS inserts" -c "CREATE TABLE inserts (id bigint)" \
			-c "INSERT INTO inserts SELECT i * 7919 FROM generate_series(1, 1000000::bigint) i"
		[ $method = none ] || psql -Xqc "CREATE INDEX ON inserts USING $method (id)"
		psql -Xqc CHECKPOINT
		printf '%-8s%d clients %10.0f\n' $method $clients "$(
			echo 'INSERT INTO inserts SELECT (random() * 1e18)::bigint FROM generate_series(1, 100)' |
				pgbench -n -c $clients -j $clients -T 5 -f /dev/stdin 2>/dev/null |
				awk '/^tps/ { print $3 * 100 }')"
	done
done
psql -Xqc 'DROP TABLE inserts'
