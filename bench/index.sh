#!/bin/bash
# Measures indexes for random lookups side by side, ONLY=index make bench.  Prints
# a table for each type of keys, number of rows a value, and way in which the
# indexes came to be: built on a full table, or made on an empty one (grown).
#
# These variables leave something out. ROWS=20000000 gives the figures of
# bench/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=${ROWS:-500000}
# the last buffers hold everything
buffers=${BUFFERS:-64 128 256 cached}
declare -A keys=(
	[bigint]=v
	[uuid]='md5(v::text)::uuid'
	[text]="format('https://www.site-%s.example/archive/%s/%s', v % 9973, md5(v::text), v)"
)
psql -Xqc 'CREATE DATABASE index'
export PGDATABASE=index PGOPTIONS="-c client_min_messages=warning -c search_path=bench,public -c maintenance_work_mem=512MB
	-c max_parallel_maintenance_workers=0 -c max_parallel_workers_per_gather=0 -c enable_seqscan=off -c jit=off"

run()
{
	psql -Xqv ON_ERROR_STOP=1 -v rows="$rows" "$@"
}

# restart MB: of shared buffers
restart()
{
	run -c "ALTER SYSTEM SET shared_buffers = '$1MB'" -c "ALTER SYSTEM SET checkpoint_timeout = '1d'" -c "ALTER SYSTEM SET max_wal_size = '30GB'"
	pg_ctl -D "$(run -Atc 'SHOW data_directory')" -l build/server.log -w restart >/dev/null
}

report()
{
	run <<'SQL'
SELECT b.method, round(bytes::numeric, 2) AS "bytes a row", round(b.s::numeric, 1) AS "build, s", round(b.wal::numeric, 1) AS "WAL a row",
	round((i.us - none.us)::numeric, 2) AS "insert, us", round((i.first_wal - none.first_wal)::numeric) AS "first WAL",
	round((i.wal - none.wal)::numeric) AS "next WAL", round((i.reads - none.reads)::numeric, 3) AS reads, l.*
FROM builds b JOIN inserts i USING (method) JOIN inserts none ON none.method = 'none', LATERAL (
	SELECT string_agg(round(reads::numeric, 3)::text, ' ' ORDER BY n) FILTER (WHERE present) AS "present, reads",
		string_agg(round(reads::numeric, 3)::text, ' ' ORDER BY n) FILTER (WHERE NOT present) AS "absent, reads",
		string_agg(round(us::numeric, 1)::text, ' ' ORDER BY n) FILTER (WHERE present) AS "present, us",
		string_agg(round(us::numeric, 1)::text, ' ' ORDER BY n) FILTER (WHERE NOT present) AS "absent, us"
	FROM lookups l WHERE l.method = b.method) l
SQL
}

# an index that was made on an empty table
growth()
{
	run <<'SQL'
CREATE TABLE grown (id uuid, filler text);
CREATE INDEX grown_id ON grown USING cuckoo (id);
CREATE TABLE steps (rows bigint, bytes float8, false_blocks float8, load_factor float8, growth_level int);
SELECT format('INSERT INTO grown SELECT gen_random_uuid(), repeat(''x'', 100) FROM generate_series(1, %s)', :rows * step / 20),
	'INSERT INTO steps SELECT items, bytes::float8 / items, false_blocks, load_factor, growth_level FROM cf_index_info(''grown_id'')'
FROM unnest(ARRAY[1, 2, 7, 20]) step \gexec
SELECT rows, round(bytes::numeric, 2) AS "bytes a row", round(false_blocks::numeric, 4) AS "false blocks",
	round(load_factor::numeric, 2) AS load, growth_level FROM steps;
SQL
}

for type in ${KEYS:-bigint uuid text}; do
	for each in ${EACH:-1 5 50 500}; do
		for state in ${STATES:-built grown}; do
			run -v type="$type" -v expression="${keys[$type]}" -v each="$each" -f bench/index.sql
			restart 1024
			[ "$state" = built ] || run -c "CALL build($rows)"
			run <<<'SELECT fill(0, :rows) \gexec'
			run -c 'VACUUM ANALYZE t'
			[ "$state" = grown ] || run -c "CALL build($rows)"
			run -c "UPDATE builds SET bytes = pg_relation_size(format('%I', 't ' || method)) / $rows.0" -c CHECKPOINT
			for mb in $buffers; do
				case $mb in
					cached) restart "$(run -Atc 'SELECT (pg_database_size(current_database()) / 1000000)::int + 256')" ;;
					*) restart "$mb" ;;
				esac
				run -c "CALL look_up($rows, $each, '$mb')"
			done
			restart 48
			run -c "CALL insert_more($rows)"
			echo
			echo "$type, $each rows a value, $state; reads and microseconds of a lookup with $buffers MB of buffers:"
			report
		done
	done
done
echo
echo 'An index that was made on an empty table:'
growth
run -c 'ALTER SYSTEM RESET ALL'
pg_ctl -D "$(run -Atc 'SHOW data_directory')" -l build/server.log -w restart >/dev/null
