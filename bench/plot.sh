#!/bin/bash
# Draws what bench/run.sh has measured:
#
#	bench/plot.sh FOLDER
#
# It reads what there is of these files, and writes each plot as an SVG in FOLDER:
#	build/core		the output of bench/bench_core.c
#	build/figures	ratios of bench/bench.sql: family, query and reference, ratio
#	build/compare	the table of bench/compare.sql
#	build/grown		growing indexes: rows, method, MB, blocks read by a lookup
#	build/steady	tables that live: life, method, round, pages
# with tabs between columns.
set -euo pipefail

core=build/core figures=build/figures compare=build/compare grown=build/grown steady=build/steady
folder=$1
data=$(mktemp)
trap 'rm "$data"' EXIT
mkdir -p "$folder"

# plot NAME HEIGHT: draws the commands of standard input
plot()
{
	{
		echo "set terminal svg noenhanced size 860,$2 font 'sans,13' \
			background '#ffffff'
			set output '$folder/$1.svg'
			set border 3 lc '#555555'
			set tics nomirror textcolor '#222222'
			set grid lc '#dddddd'"
		cat -
	} | gnuplot
}

# ---- the ratios of a family: horizontal bars ----

# ratios FAMILY TITLE
ratios()
{
	local n

	grep "^$1	" "$figures" >"$data" || return 0
	n=$(wc -l <"$data")
	plot "$1" $((110 + 34 * n)) <<-END
		set datafile separator '\t'
		set label '$2: time, divided by that of the query after the colon' \
			at screen 0.02, screen 1 offset 0, -1.2
		set xlabel 'ratio'
		set xtics (0, 1)
		set yrange [$n - 0.4:-0.6]
		set xrange [0:*]
		set lmargin 62
		set tmargin 3
		set key off
		set grid noytics
		plot '$data' using (\$3 / 2):0:(\$3 / 2):(0.3):ytic(2) \
			with boxxyerror fill solid lc '#4477aa', \
			'' using 3:0:(sprintf('%.2f', \$3)) \
			with labels left offset 0.5, 0 textcolor '#222222'
	END
}

if [ -s $figures ]; then
	ratios build 'Building a filter'
	ratios sets 'Combining filters'
	ratios scan 'Scans and joins of 5 million URLs'
	ratios probe 'Probes of stored filters'
	ratios change 'Arrays of elements and PL/pgSQL variables'
fi

# ---- a filter and what else there is: bars by the size of the set ----

# methods NAME COLUMN SIZES TITLE UNIT COMMAND: draws a column of the table,
# for the last SIZES sizes, without the methods that have no figure
methods()
{
	local bars

	bars=$(tr -d '`' <"$compare" | awk -F ' *[|] *' \
		-v column="$2" -v sizes="$3" -v data="$data" '
		/^[|] [0-9]/ {
			if (!($2 in size_no)) {
				size_no[$2] = ++size_count
				size[size_count] = $2
			}
			if (!($3 in method_no)) {
				method_no[$3] = ++method_count
				method[method_count] = $3
			}
			gsub(/,/, "", $column)
			cell[$2, $3] = $column > 0 ? $column : "?"
			if ($column > 0)
				used[$3]
		}
		END {
			for (i = size_count - sizes + 1; i <= size_count; i++) {
				line = size[i]
				for (j = 1; j <= method_count; j++)
					line = line "\t" cell[size[i], method[j]]
				print line >data
			}
			for (j = 1; j <= method_count; j++)
				if (method[j] in used) {
					printf "%s\047%s\047 using %d:xtic(1) title \"%s\" lt %d",
						before, data, j + 1, method[j], j
					before = ", "
				}
		}')
	plot "$1" 340 <<-END
		set datafile separator '\t'
		set datafile missing '?'
		set title '$4' textcolor '#222222'
		set xlabel 'elements of the set'
		set ylabel '$5'
		set style data histogram
		set style histogram clustered gap 1
		set style fill solid
		set boxwidth 0.9
		set xrange [-0.6:$3 - 0.4]
		set rmargin 40
		set key outside right reverse Left samplen 1
		set grid noxtics
		set linetype 1 lc '#cccccc'
		set linetype 2 lc '#999999'
		set linetype 3 lc '#ddaa33'
		set linetype 4 lc '#bb5566'
		set linetype 5 lc '#66ccee'
		set linetype 6 lc '#228833'
		set linetype 7 lc '#aa3377'
		set linetype 8 lc '#004488'
		set format y '%.10g'
		$6
		plot $bars
	END
}

urls='5 million URLs'
if [ -s $compare ]; then
	methods compare_size 4 3 'What a set takes, with its index' 'MB' 'set logscale y'
	methods compare_build 5 2 'Time to build the index or the filter' 'seconds' \
		'set logscale y; set yrange [0.01:*]'
	methods compare_scan 6 3 "Time to look for $urls in a set" 'seconds' \
		'set logscale y; set yrange [0.1:*]'
	methods compare_points 7 3 'Answers a second, two clients, prepared query' \
		'answers a second' 'set yrange [0:*]'
	methods compare_wal 8 3 'WAL that the insert of one element writes' 'bytes' \
		'set logscale y; set yrange [10:*]'
fi

# ---- indexes by the number of rows ----

# growing NAME COLUMN TITLE UNIT
growing()
{
	plot "$1" 340 <<-END
		set datafile separator '\t'
		set title '$3' textcolor '#222222'
		set xlabel 'million rows'
		set ylabel '$4'
		set yrange [0:*]
		set key left top Left reverse
		methods = 'btree hash cuckoo'
		names = 'B-tree hash cuckoo'
		plot for [i = 1:3] '$grown' using (strcol(2) eq word(methods, i) ? \$1 / 1e6 : NaN):$2 \
			with linespoints lw 2 pt 7 ps 0.4 lc i title word(names, i)
	END
}

if [ -s $grown ]; then
	growing index_size 3 'Indexes of random uuids that grow from empty' 'MB'
	growing index_reads 4 'Lookups of absent uuids with 128 MB of buffers' 'blocks of the index read'
fi

# ---- indexes by the rounds of a life: a small plot for each life ----

if [ -s $steady ]; then
	{
		cat <<-END
			set datafile separator '\t'
			set multiplot layout $((($(cut -f 1 $steady | uniq | wc -l) + 1) / 2)),2 title 'Pages of an index by the rounds of a life'
			set yrange [0:*]
			set xtics 20
			unset grid
			set key at graph 1, 0.65
			methods = 'btree hash cuckoo'
			names = 'B-tree hash cuckoo'
		END
		cut -f 1 $steady | uniq | while read -r life; do
			cat <<-END
				set title '$life' textcolor '#222222'
				plot for [i = 1:3] '$steady' using (strcol(1) eq '$life' && strcol(2) eq word(methods, i) ? \$3 : NaN):4 \
					with lines lw 2 lc i title word(names, i)
				unset key
			END
		done
	} | plot steady 1100
fi

# ---- the core: nanoseconds per item, up to the blank line ----

[ -s $core ] || exit 0
awk '/^nanoseconds/ { rows = 1 } /^$/ { rows = 0 }
	rows && $1 ~ /^[0-9]/' "$core" >"$data"
plot core 420 <<-END
	set title 'The core: time of an operation by size' textcolor '#222222'
	set xlabel 'items in the filter'
	set ylabel 'nanoseconds per item'
	set logscale xy
	set format x '%.0e'
	set key outside right
	set pointsize 0.6
	set linetype 9 lc '#999999'
	names = '. . . reads absent present batched build ' . \
		'delete deletes insert last-5%'
	plot for [i = 4:12] '$data' using 1:i with linespoints \
		lw 2 pt 7 lc i - 3 title word(names, i)
END
