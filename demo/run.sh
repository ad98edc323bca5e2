#!/bin/bash
# A tour of cuckoo with real data, on a throwaway server: make demo
#
# The data are the home pages of all packages that apt knows or, without apt,
# web addresses made from the words of a dictionary. demo.sql does the rest. On
# a terminal the tour ends with an offer of psql on the same server.
# shellcheck disable=SC1091,SC2154 # what throwaway.sh defines
. "$(dirname "$0")/../test/throwaway.sh"

home_pages()
{
	apt-cache dumpavail 2>/dev/null | awk '/^Homepage: http/ { print $2 }'
}

words_as_home_pages()
{
	awk '/^[a-z]+$/ { print "https://www." $0 ".example/" }' /usr/share/dict/words
}

enough()
{
	[ "$("$1" | head -n 10000 | wc -l)" = 10000 ]
}

say "looking for home pages in the lists of packages"
source=home_pages
if ! enough $source && command -v apt-get >/dev/null &&
	{ [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; then
	say "updating apt's lists"
	apt_get update
fi
if ! enough $source; then
	source=words_as_home_pages
	want wamerican test -s /usr/share/dict/words
fi
start_server
(umask 022 && $source >"$tmp/home_pages")

run psql -XqAt -v ON_ERROR_STOP=1 -v home_pages="$tmp/home_pages" -v seconds="$SECONDS" \
	-f demo/demo.sql || exit

if [ -t 0 ] && [ -t 1 ]; then
	echo "To look around (tables sites, visits, blocked, filters), press Enter within 30 seconds"
	echo "for psql -h $PGHOST -U $PGUSER"
	if read -r -t 30; then
		open_psql
	fi
fi
echo "For psql on a fresh server with the extension: make psql"
