#!/bin/bash
# Draws what bench/run.sh has measured: bench/plot.sh CORE FIGURES FOLDER
#
# CORE is the output of bench/bench_core.c, FIGURES the ratios of
# bench/bench.sql (family, what, ratio, limit or 0; tabs between). One SVG for
# each family.
set -euo pipefail

core=$1 figures=$2 folder=$3
mkdir -p "$folder"

plot()
{
	{
		echo "set terminal svg noenhanced size 860,$2 font 'sans,13' background '#ffffff'
			set output '$folder/$1.svg'
			set border 3 lc '#555555'
			set tics nomirror textcolor '#222222'
			set grid lc '#dddddd'"
		cat -
	} | gnuplot
}

# ratios(FAMILY, TITLE): horizontal bars, a mark at each limit
ratios()
{
	local n

	grep "^$1	" "$figures" >"$folder/$1.tsv"
	n=$(wc -l <"$folder/$1.tsv")
	plot "$1" $((90 + 34 * n)) <<-END
		set datafile separator '\t'
		set label '$2' at screen 0.02, screen 1 offset 0, -1.2
		set yrange [$n - 0.4:-0.6]
		set xrange [0:*]
		set lmargin 58
		set tmargin 3
		set key off
		set grid noytics
		plot '$folder/$1.tsv' using (\$3 / 2):0:(\$3 / 2):(0.3):ytic(2) with boxxyerror fill solid lc '#4477aa', \
			'' using (\$4 > 0 ? \$4 : NaN):(\$0 - 0.42):(0):(0.84) with vectors nohead lw 3 lc '#cc3311', \
			'' using (\$4 > \$3 ? \$4 : \$3):0:(sprintf('%.2f', \$3)) with labels left offset 0.5, 0 textcolor '#222222'
	END
	rm "$folder/$1.tsv"
}

ratios build 'Building: time, times that of the query after the colon (red: limit)'
ratios sets 'Combining filters: time, times that of the query after the colon (red: limit)'
ratios scan 'Scans: time, times that of the query after the colon (red: limit)'
ratios probe 'Point probes of stored filters: time, times that of the slices (red: limit)'
ratios change 'Arrays and variables: time, times that of what follows the colon (red: limit)'

# the table of nanoseconds, up to the blank line
awk '/^nanoseconds/ { rows = 1 } /^$/ { rows = 0 } rows && $1 ~ /^[0-9]/' "$core" >"$folder/core.tsv"
plot core 420 <<-END
	set title 'The core: nanoseconds per item, by items in the filter' textcolor '#222222'
	set logscale xy
	set format x '%.0e'
	set key outside right
	set pointsize 0.6
	set linetype 9 lc '#999999'
	plot for [i = 4:12] '$folder/core.tsv' using 1:i with linespoints lw 2 pt 7 lc i - 3 \
		title word('. . . reads absent present batched build delete deletes insert last-5%', i)
END
rm "$folder/core.tsv"
