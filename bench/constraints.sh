#!/bin/bash
# Measures unique values: a unique B-tree, exclusion constraints of hash and cuckoo,
# and on PostgreSQL 18 a unique index USING cuckoo: ONLY=constraints make bench.
# The figures are medians of 20 statements, per row.
#
# ROWS=5000000 BUFFERS=128 gives the figures of a table that is not in memory.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=${ROWS:-2000000}
psql -Xqc 'CREATE DATABASE constraints'
export PGDATABASE=constraints PGOPTIONS='-c client_min_messages=warning -c jit=off'
psql -Xq -c "ALTER SYSTEM SET shared_buffers = '${BUFFERS:-4096}MB'" -c "ALTER SYSTEM SET checkpoint_timeout = '1d'" \
	-c "ALTER SYSTEM SET max_wal_size = '30GB'" -c 'ALTER SYSTEM SET autovacuum = off'
pg_ctl -D "$(psql -XAtc 'SHOW data_directory')" -l build/server.log -w restart >/dev/null

# measure TITLE TYPE EXPRESSION KEY ROWS
measure()
{
	echo
	echo "$1, $5 rows:"
	psql -Xqv ON_ERROR_STOP=1 -v type="$2" -v expression="$3" -v key="$4" -v rows="$5" -f bench/constraints.sql
}

url="format('https://www.site-%s.example/archive/%s/%s/%s', v % 9973, md5(v::text), md5(v::text), v)"
for keys in ${KEYS:-uuid url long}; do
	case $keys in
		uuid) measure 'uuids' uuid 'md5(v::text)::uuid' id "$rows" ;;
		url) measure 'URLs of 100 bytes' text "$url" id "$rows" ;;
		long) measure 'Texts of 5 kB, the B-tree of md5(id)' text 'repeat(md5(v::text), 156)' 'md5(id)' $((rows / 10)) ;;
	esac
done
