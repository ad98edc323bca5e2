#!/bin/bash
# Deduplicates one stream in several ways, ONLY=dedup make bench. Prints a line
# for each way, batch size and number of sessions.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=${ROWS:-1000000}
base=${BASE:-3000000}
export PGOPTIONS='-c client_min_messages=warning'

# way TABLE BATCH SESSIONS ROWS: each begins with a table of its own
way()
{
	local table=$1 batch=$2 sessions=$3 rows=$4 began wal script
	local transactions=$(((rows + batch * sessions - 1) / batch / sessions))

	psql -Xqv ON_ERROR_STOP=1 -v way="$table" -v base="$base" -v ids=$((rows * 105 / 100)) -f bench/dedup.sql
	psql -XAtqc "ALTER SEQUENCE dedup.batches MINVALUE 0 RESTART 0"
	script="SELECT nextval('dedup.batches') AS b \\gset"$'\n'"SELECT dedup.take_$table(dedup.batch(:b, $batch));"
	# what the guide says of the stored filter
	if [ "$table" = filter ]; then
		script+=$'\n\\if :b % 20 = 19\nVACUUM dedup.seen;\n\\endif'
	fi
	wal=$(psql -XAtc 'SELECT pg_current_wal_insert_lsn()')
	began=$(date +%s%N)
	printf '%s\n' "$script" | pgbench -n -c "$sessions" -j 2 -t "$transactions" -f /dev/stdin >build/dedup.log 2>&1 ||
		{ cat build/dedup.log; return 1; }
	rows=$((transactions * sessions * batch))
	psql -XAtF ' | ' -v table="$table" -v rows="$rows" -v ns=$(($(date +%s%N) - began)) -v wal="$wal" \
		-v batch="$batch" -v sessions="$sessions" <<'SQL'
SELECT rpad(:'table', 7), lpad(:'batch', 6), :'sessions', lpad(round(:rows / (:ns / 1e9))::text, 7) || ' rows/s',
	lpad(round((pg_current_wal_insert_lsn() - :'wal') / :rows)::text, 5) || ' bytes of WAL a row',
	lpad(dedup.megabytes(:'table')::text, 4) || ' MB', dedup.outcome(:'table', :rows);
SQL
}

# BATCHES and SESSIONS leave some out
for batch in ${BATCHES:-200000 10000 1000 1}; do
	for sessions in ${SESSIONS:-1 4}; do
		n=$rows
		((batch > 1)) || n=$((rows / 50))
		for table in unique exclude index filter tree part; do
			# a single row rewrites the whole filter
			m=$n
			((batch > 1000)) || [ $table != filter ] || m=$((batch * 200))
			way "$table" "$batch" "$sessions" "$m"
		done
	done
done
psql -Xqc 'DROP SCHEMA dedup CASCADE'
