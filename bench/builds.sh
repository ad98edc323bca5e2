#!/bin/bash
# Measures builds with parallel workers, beside a B-tree: ONLY=builds make bench.
#
# Prints medians in seconds: of the clock, and of the processors of all processes. Each
# round builds both indexes with each number of workers, in a session of its own.
# ROWS="2000000 20000000", KEYS="uuid bigint url", MEMORY="64MB 1GB" (of
# maintenance_work_mem), WORKERS="0 1 2 4", ROUNDS=3.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A keys=(
	[bigint]='hashint8extended(i, 0)'
	[uuid]='md5(i::text)::uuid'
	[url]="format('https://www.site-%s.example/archive/%s/%s', i % 9973, md5(i::text), i)"
)
psql -Xqc 'CREATE DATABASE builds'
export PGDATABASE=builds PGOPTIONS='-c client_min_messages=warning'

run()
{
	psql -Xqv ON_ERROR_STOP=1 "$@"
}

run -c 'CREATE EXTENSION cuckoo' -c "ALTER SYSTEM SET max_wal_size = '60GB'" \
	-c "ALTER SYSTEM SET checkpoint_timeout = '1d'" -c 'SELECT pg_reload_conf()' >/dev/null
postmaster=$(run -Atc "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)")

# cpu: the processors' time of all processes of the server that have ended, in ticks
cpu()
{
	local fields

	read -ra fields <"/proc/$postmaster/stat"
	echo $((fields[15] + fields[16]))
}

# build METHOD WORKERS MEMORY: an index, and notes its times
build()
{
	local began ticks

	run -c "ALTER TABLE t SET (parallel_workers = $2)" -c CHECKPOINT
	ticks=$(cpu)
	began=${EPOCHREALTIME/./}
	run -c "SET maintenance_work_mem = '$3'" -c "SET max_parallel_maintenance_workers = $2" \
		-c "CREATE INDEX t_k ON t USING $1 (k)"
	began=$((${EPOCHREALTIME/./} - began))
	# until the postmaster has waited for the session
	sleep 0.2
	ticks=$(($(cpu) - ticks))
	run -c 'DROP INDEX t_k' -c "INSERT INTO times VALUES ('$1', $2, '$3', $began / 1e6, $ticks::float8 / $(getconf CLK_TCK))"
}

run -c 'CREATE TABLE times (method text, workers int, memory text, clock float8, cpu float8)'
for rows in ${ROWS:-2000000 20000000}; do
	for type in ${KEYS:-uuid bigint url}; do
		run -c 'DROP TABLE IF EXISTS t' -c 'TRUNCATE times' \
			-c "CREATE TABLE t AS SELECT ${keys[$type]} AS k, i FROM generate_series(1, $rows::bigint) i" -c 'VACUUM ANALYZE t'
		for ((round = 0; round < ${ROUNDS:-3}; round++)); do
			for memory in ${MEMORY:-64MB 1GB}; do
				for workers in ${WORKERS:-0 1 2 4}; do
					build cuckoo "$workers" "$memory"
					build btree "$workers" "$memory"
				done
			done
		done
		echo
		echo "$type, $rows rows:"
		run <<'SQL'
WITH medians AS (SELECT method, workers, memory, percentile_cont(0.5) WITHIN GROUP (ORDER BY clock)::numeric AS clock,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu)::numeric AS cpu FROM times GROUP BY 1, 2, 3)
SELECT memory, c.workers, round(c.clock, 2) AS cuckoo, round(c.cpu, 2) AS "cuckoo, cpu", round(b.clock, 2) AS btree,
	round(b.cpu, 2) AS "btree, cpu", round(c.clock / b.clock, 2) AS "cuckoo / btree", round(c.clock / s.clock, 2) AS "cuckoo / serial"
FROM medians c JOIN medians b USING (memory, workers) JOIN medians s USING (memory)
WHERE c.method = 'cuckoo' AND b.method = 'btree' AND s.method = 'cuckoo' AND s.workers = 0
ORDER BY pg_size_bytes(memory), c.workers;
SQL
	done
done
psql -Xqd postgres -c 'DROP DATABASE builds'
