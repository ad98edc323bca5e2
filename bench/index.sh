#!/bin/bash
# Measures an index USING cuckoo beside hash and B-tree: ONLY=index make bench.
#
# ROWS=20000000 BUFFERS=128 gives the figures of a table that is not in memory, and
# GROW=30000000 growing indexes at 30 sizes, which build/grown has for bench/plot.sh.
# LARGE=100000000 measures only one table after another of so many rows of a key and
# an integer: uuids need 30 GB of disk, URLs 50 GB. KEYS="uuid text bigint".
set -euo pipefail
cd "$(dirname "$0")/.."

rows=${ROWS:-2000000}
lookups=${LOOKUPS:-50000}
wal=30GB
[ -z "${LARGE:-}" ] || wal=8GB	# the table needs the disk
declare -A keys=(
	[bigint]=v
	[uuid]='md5(v::text)::uuid'
	[text]="format('https://www.site-%s.example/archive/%s/%s', v % 9973, md5(v::text), v)"
)
psql -Xqc 'CREATE DATABASE index'
export PGDATABASE=index PGOPTIONS="-c client_min_messages=warning -c search_path=bench,public -c maintenance_work_mem=64MB
	-c max_parallel_maintenance_workers=0 -c max_parallel_workers_per_gather=0 -c enable_seqscan=off -c jit=off
	-c enable_hashjoin=off -c enable_mergejoin=off -c enable_bitmapscan=off"

run()
{
	psql -Xqv ON_ERROR_STOP=1 "$@"
}

# restart MB: of shared buffers
restart()
{
	run -c "ALTER SYSTEM SET shared_buffers = '$1MB'" -c "ALTER SYSTEM SET checkpoint_timeout = '1d'" \
		-c "ALTER SYSTEM SET max_wal_size = '$wal'" -c 'ALTER SYSTEM SET autovacuum = off'
	pg_ctl -D "$(run -Atc 'SHOW data_directory')" -l build/server.log -w restart >/dev/null
}

# reset_server: for what is measured after this
reset_server()
{
	run -c 'ALTER SYSTEM RESET ALL'
	pg_ctl -D "$(run -Atc 'SHOW data_directory')" -l build/server.log -w restart >/dev/null
}

# vacuum TITLE STATEMENT: in each table, and VACUUM
vacuum()
{
	local method

	for method in cuckoo hash btree; do
		run -c "${2//TABLE/t_$method}"
		run <<SQL
SELECT cpu() AS began \gset
VACUUM (INDEX_CLEANUP on, PARALLEL 0) t_$method;
CALL note('$method', '$1: VACUUM, s', cpu() - :began);
CALL note('$method', '$1: MB', size('$method') / 1e6);
CALL note('$method', '$1: entries', entries('$method'));
SELECT count(*) AS rows FROM t_$method \gset
CALL note('$method', '$1: rows', :rows);
CALL note('$method', '$1: blocks of a lookup', hits('$method'));
SQL
	done
}

report()
{
	run <<'SQL'
SELECT figure, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY value) FILTER (WHERE method = 'cuckoo')::numeric, 3) AS cuckoo,
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY value) FILTER (WHERE method = 'hash')::numeric, 3) AS hash,
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY value) FILTER (WHERE method = 'btree')::numeric, 3) AS btree,
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY value) FILTER (WHERE method = 'none')::numeric, 3) AS none
FROM figures GROUP BY figure ORDER BY min(n);
TRUNCATE figures;
SQL
}

# large TYPE: each method on a new copy of one table, because later inserts would
# fill the room that VACUUM has made
large()
{
	local method buffers

	run -v type="$1" -v expression="${keys[$1]}" -f bench/index.sql
	restart 1024
	run -c "CREATE TABLE source AS SELECT key(v) AS id, (v % 1000)::int AS n FROM generate_series(1, $LARGE::bigint) v"
	for method in cuckoo hash btree; do
		restart 1024
		run -c 'TRUNCATE methods' -c "INSERT INTO methods VALUES (1, '$method')" \
			-c "DROP TABLE t_$method" -c "CREATE TABLE t_$method AS SELECT *, ''::text AS filler FROM source" \
			-c "VACUUM ANALYZE t_$method" -c CHECKPOINT
		run <<SQL
SELECT cpu() AS began \gset
CREATE INDEX t_${method}_id ON t_$method USING $method (id);
CALL note('$method', 'build, s', cpu() - :began);
CALL note('$method', 'built', size('$method') / $LARGE);
CHECKPOINT;
SQL
		for buffers in 1024 128; do
			restart "$buffers"
			run -c "CALL read_cold($LARGE, $lookups)" \
				-c "UPDATE figures SET figure = figure || ', $buffers MB' WHERE figure ~ '^read [a-z]+\$'"
		done
		run <<SQL
SELECT cpu() AS began \gset
INSERT INTO t_$method SELECT key(v), 1, '' FROM generate_series($LARGE + 1, $LARGE + 1000000) v;
CALL note('$method', 'insert into the table', cpu() - :began);
-- 0.6%, and the rows that were just inserted
DELETE FROM t_$method WHERE n < 6;
SELECT cpu() AS began \gset
VACUUM (INDEX_CLEANUP on, PARALLEL 0) t_$method;
CALL note('$method', 'VACUUM after deleting 1.6%, s', cpu() - :began);
DROP TABLE t_$method;
SQL
	done
	run -c 'DROP TABLE source'
}

if [ -n "${LARGE:-}" ]; then
	for type in ${KEYS:-uuid}; do
		large "$type"
		echo
		echo "$type, $LARGE rows; µs, bytes and blocks a row unless the line says otherwise:"
		report
	done
	reset_server
	exit
fi

for type in ${KEYS:-uuid text bigint}; do
	run -v type="$type" -v expression="${keys[$type]}" -f bench/index.sql
	restart 4096
	run -c "CALL grow($rows)"
	run -c 'VACUUM ANALYZE'
	run -c "CALL build($rows, ${ROUNDS:-3})" -c CHECKPOINT
	if [ -n "${BUFFERS:-}" ]; then
		restart "$BUFFERS"
		run -c "CALL read_cold($rows, $lookups)"
	else
		run -c "CALL look_up($rows, $lookups, 1)" -c "DELETE FROM figures WHERE figure ~ '^(prep|loop)'" \
			-c "CALL look_up($rows, $lookups, ${ROUNDS:-7})"
		vacuum 'deleted 10%' 'DELETE FROM TABLE WHERE n % 10 = 0'
		vacuum 'deleted 50%' 'DELETE FROM TABLE WHERE n % 2 = 1'
	fi
	echo
	echo "$type, $rows rows; µs and bytes a row unless the line says otherwise:"
	report
done

if [ -z "${BUFFERS:-}" ]; then
	run -v type=uuid -v expression="${keys[uuid]}" -f bench/index.sql
	run -c 'CALL grow(200000)' -c 'VACUUM ANALYZE' -c 'CALL build(200000, 1)' -c 'CALL choose_keys(200000, 20000)' -c 'TRUNCATE figures'
	run -c 'CREATE INDEX ON t_cuckoo (n)' -c 'CREATE INDEX ON t_hash (n)' -c 'CREATE INDEX ON t_btree (n)'
	for round in 0 1 2 3 4 5 6 7 8 9 10; do
		vacuum "$round updates" "UPDATE TABLE SET n = n + sign($round)::int"
	done
	echo
	echo '200,000 uuids, each row updated ten times with VACUUM between:'
	report
	echo
	echo 'Bytes a row of an index of 500,000 uuids: built; in 20 rounds that replace a fifth of the rows, with'
	echo 'VACUUM after each; in 20 steps of growth to twice the rows; and with both:'
	for life in replaced grown both; do
		run -c 'CREATE TABLE changed AS SELECT gen_random_uuid() AS k FROM generate_series(1, 500000)' \
			-c 'CREATE INDEX changed_70 ON changed USING cuckoo (k)' \
			-c 'CREATE INDEX changed_95 ON changed USING cuckoo (k) WITH (fillfactor = 95)'
		rows=500000
		for step in {0..20}; do
			more="INSERT INTO changed SELECT gen_random_uuid() FROM generate_series(1, $rows - (SELECT count(*) FROM changed))"
			run -c "$more"
			[ $life = grown ] || [ "$step" = 0 ] || run -c 'DELETE FROM changed WHERE random() < 0.2' -c "$more" -c 'VACUUM changed'
			run -c "INSERT INTO figures (method, figure, value) SELECT index, '$life', bytes_per_entry
				FROM unnest(ARRAY['changed_70', 'changed_95']) index, cf_index_info(index::regclass)"
			[ $life = replaced ] || rows=$((rows + 25000))
		done
		run -c 'DROP TABLE changed'
	done
	run -c 'SELECT figure, method, round((array_agg(value ORDER BY n))[1]::numeric, 1) AS built, round(min(value)::numeric, 1) AS least,
		round(avg(value)::numeric, 1) AS average, round(max(value)::numeric, 1) AS most
		FROM figures GROUP BY figure, method ORDER BY min(n), method' -c 'TRUNCATE figures'
fi

if [ -n "${GROW:-}" ]; then
	restart "${BUFFERS:-4096}"
	run -v type=uuid -v expression="${keys[uuid]}" -f bench/index.sql
	run <<SQL
SELECT format('CREATE TABLE g_%1\$s (id uuid); CREATE INDEX g_%1\$s_id ON g_%1\$s USING %1\$s (id)', method)
FROM methods WHERE method <> 'none' \gexec
SELECT format('CALL grow_by(%s)', $GROW / 30) FROM generate_series(1, 30) \gexec
SELECT rows, method, round(mb::numeric, 1) AS "MB", round((mb * 1e6 / rows)::numeric, 2) AS "bytes a row",
	round(reads::numeric, 3) AS "blocks read", round(in_vain::numeric, 6) AS "rows in vain"
FROM steps ORDER BY rows, method;
SQL
	run -At -F $'\t' -c 'SELECT rows, method, mb, reads FROM steps ORDER BY method, rows' >build/grown
fi
reset_server
