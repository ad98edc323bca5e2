#!/bin/bash
# The block-list page on a throwaway server.
#
#	examples/blocklist/run.sh				serves it until Ctrl-C, on HOST and PORT
#	examples/blocklist/run.sh check [PNG]	tests it in Chromium; keeps a picture
#
# npm fetches the block list and the modules. What Debian packages is installed
# where it is missing, as test/throwaway.sh does. All of this is gone at the end.
# shellcheck disable=SC1091,SC2154 # what throwaway.sh defines
. "$(dirname "$0")/../../test/throwaway.sh"

task=${1:-start} picture=${2:-}
want nodejs command -v node
want npm command -v npm
case $task in
	start) omit=dev script=server.js ;;
	check)
		omit=none script=test.js
		want chromium command -v "${CHROMIUM:-chromium}"
		;;
	*) die "there is no task $task" ;;
esac
start_server

say "fetching the block list and modules with npm"
run npm --prefix examples/blocklist install --omit="$omit" --no-audit --no-fund --loglevel=error ||
	die "npm install failed"
say "loading the block list"
run psql -XqAt -v ON_ERROR_STOP=1 -f examples/blocklist/blocklist.sql || exit
run node examples/blocklist/load.js || exit
[ "$task" != start ] || echo "Ctrl-C ends the service and removes all of it."
run node "examples/blocklist/$script" ${picture:+"$tmp/page.png"} || exit
[ -z "$picture" ] || cp "$tmp/page.png" "$picture"
