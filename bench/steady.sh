#!/bin/bash
# Lets tables live for 60 rounds with an index USING cuckoo, hash or btree, and VACUUM
# whenever autovacuum's thresholds are exceeded: ONLY=steady make bench.
#
# FACTOR=0.1 has a tenth of the rows, ROUNDS=10 fewer rounds, and LIVES="4 5" only
# these lives of bench/steady.sql. build/steady has the pages of all rounds for
# bench/plot.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${ROUNDS:-60}
psql -Xqc 'CREATE DATABASE steady'
export PGDATABASE=steady PGOPTIONS='-c client_min_messages=warning -c search_path=bench,public -c maintenance_work_mem=64MB
	-c max_parallel_maintenance_workers=0 -c max_parallel_workers_per_gather=0 -c synchronous_commit=off -c enable_seqscan=off
	-c enable_hashjoin=off -c enable_mergejoin=off -c enable_bitmapscan=off -c enable_memoize=off'

run()
{
	psql -XAtqv ON_ERROR_STOP=1 "$@"
}

# live LIFE METHOD ROUND: prints one round
live()
{
	cat <<-SQL
		SELECT setseed($3 / 1000.0) \\g /dev/null
		SELECT statement(change, $1, '$2', $3) FROM lives WHERE n = $1 \\gexec
		SELECT cpu() AS began \\gset
		SELECT statement(write, $1, '$2', $3) FROM lives WHERE n = $1 \\gexec
		INSERT INTO figures VALUES ($1, '$2', $3, 'write, µs', (cpu() - :began) * 1e6 / (SELECT changes FROM lives WHERE n = $1));
		TRUNCATE keys;
		SELECT 'INSERT INTO keys ' || statement(keys, $1, '$2', $3) FROM lives WHERE n = $1 \\gexec
		SELECT cpu() AS began \\gset
		SELECT look_up('$2') \\g /dev/null
		INSERT INTO figures VALUES ($1, '$2', $3, 'lookup, µs', (cpu() - :began) * 1e6 / (SELECT count(*) FROM keys));
		SELECT pg_stat_force_next_flush() \\g /dev/null
		SELECT is_due($1, '$2') AS due, cpu() AS began \\gset
		\\if :due
			VACUUM (PARALLEL 0) t_$2;
			INSERT INTO figures VALUES ($1, '$2', $3, 'VACUUM, ms', (cpu() - :began) * 1e3);
		\\endif
		INSERT INTO figures VALUES ($1, '$2', $3, 'pages', pages('$2'));
	SQL
	[[ " 1 10 $rounds " != *" $3 "* ]] || cat <<-SQL
		INSERT INTO figures VALUES ($1, '$2', $3, 'reads', reads('$2'));
		SELECT * FROM of_new_index($1, '$2') \\gset
		INSERT INTO figures VALUES ($1, '$2', $3, 'new pages', :pages);
		INSERT INTO figures VALUES ($1, '$2', $3, 'new reads', :reads);
	SQL
}

run -v factor="${FACTOR:-1}" -f bench/steady.sql
for life in ${LIVES:-$(run -c 'SELECT n FROM lives ORDER BY n')}; do
	for method in cuckoo hash btree; do
		echo "SELECT prepare($life, '$method') \\gexec"
	done
	for ((round = 1; round <= rounds; round++)); do
		for method in cuckoo hash btree; do
			live "$life" $method $round
		done
	done
done | run

# times are medians of five rounds, because other work comes between
psql -Xqv ON_ERROR_STOP=1 -P footer=off <<'SQL'
CREATE FUNCTION at_marks(life int, method text, figure text, around int DEFAULT 0) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(coalesce(round(value, CASE WHEN value >= 100 OR value % 1 = 0 THEN 0 WHEN value >= 10 THEN 1 ELSE 2 END)::text, '-'),
		', ' ORDER BY mark)
	FROM unnest(ARRAY[1, 10, (SELECT max(round) FROM figures)]) mark,
		LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric AS value FROM figures f
			WHERE (f.life, f.method, f.figure) = ($1, $2, $3) AND abs(round - mark) <= around) v $$;
SELECT l.title AS life, m.method, at_marks(n, m.method, 'pages') AS pages, at_marks(n, m.method, 'new pages') AS "pages of a new index",
	at_marks(n, m.method, 'reads') AS "pages read", at_marks(n, m.method, 'new reads') AS "in a new index",
	at_marks(n, m.method, 'lookup, µs', 2) AS "lookup, µs", at_marks(n, m.method, 'write, µs', 2) AS "write, µs",
	at_marks(n, m.method, 'VACUUM, ms', 2) AS "VACUUM, ms", count(*) FILTER (WHERE figure = 'VACUUM, ms') AS "VACUUMs"
FROM figures m JOIN lives l ON m.life = n GROUP BY n, l.title, m.method
ORDER BY n, array_position(ARRAY['cuckoo', 'hash', 'btree'], m.method);
SQL
run -F $'\t' -c "SELECT l.title, m.method, round, value FROM figures m JOIN lives l ON m.life = n WHERE figure = 'pages'
	ORDER BY n, method, round" >build/steady
psql -Xqd postgres -c 'DROP DATABASE steady'
