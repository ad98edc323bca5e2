#!/bin/bash
# Tests in servers that watch memory:
#
#	test/sanitize.sh SOURCE FOLDER [address] [caches] [valgrind]
#
# address	the server and the extension with the address sanitizer, and the
#			extension with that for undefined behaviour
# caches	test/caches.sql with debug_discard_caches = 1: each lookup in a cache
#			forgets what was there, which shows a pointer that is kept too long.
#			A single row may then take seconds, and most regression tests days
# valgrind	a server that tells valgrind of its memory contexts
#
# Without a name it is all three. REGRESS='helpers probe' chooses regression
# tests, which for caches replace its script. All reports that name the
# extension are shown; others are only counted.
#
# SOURCE is PostgreSQL's source; from 17 on it needs bison and flex. Before 18 it must be Debian's, without the patch
# 50-per-version-dirs, because no other can serve an extension from another
# folder. The two servers are built in FOLDER, without ICU, and used again if
# they are there. If root calls this, the user postgres runs the servers, and
# must be able to read FOLDER.
#
# On two processors that others used, too, a server was built in 20 minutes.
# Then address took 3 minutes, caches 8, and valgrind an hour: 24 minutes for
# the test "scan", and 4 to 7 each for agg, elements, field, plan and probe.
set -uo pipefail
unset CDPATH	# with it, cd prints
export COPT=	# with -g, so that reports name lines

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

[ $# -ge 2 ] || die "usage: test/sanitize.sh SOURCE FOLDER [address] [caches] [valgrind]"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
pg_source=$(cd "$1" && pwd) && mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit
shift 2
[ -e "$pg_source/src/include/postgres.h" ] || die "$pg_source is not PostgreSQL's source"
export ASAN_OPTIONS=detect_leaks=0	# memory contexts go with the process
status=0

# build NAME CFLAGS: a server in $folder/NAME, unless there is one
build()
{
	local build=$folder/$1-build

	[ ! -x "$folder/$1/bin/postgres" ] || return 0
	echo "building PostgreSQL in $folder/$1, which takes a while"
	mkdir -p "$build" || exit
	tar -C "$pg_source" -cf - . | tar -C "$build" -xf - || exit
	(
		cd "$build" || exit
		[ ! -e config.status ] || make -s distclean
		./configure --prefix="$folder/$1" --enable-cassert --without-icu --without-readline \
			--without-zlib CFLAGS="-O1 -g $2" &&
			make -s && make -s install && make -s -C contrib install
	) >"$folder/$1.log" 2>&1 || die "see $folder/$1.log"
	rm -rf "$build"
}

# the server for caches and valgrind, which needs valgrind's headers
build_checked()
{
	command -v valgrind >/dev/null || die "please install valgrind"
	build checked -DUSE_VALGRIND
}

# regression NAME PROGRAMS VARIABLE...: the tests, with reports in $reports
regression()
{
	echo "==== $1"
	PG_CONFIG=$folder/$2/bin/pg_config test/throwaway.sh -t bash -c \
		'make -s installcheck ISOLATION= TAP_TESTS= "$@" || { cat regression.diffs; exit 1; }' - "${@:3}" ||
		{ status=1; echo "the regression tests failed"; }
}

# new_reports: a folder for them, which the server may write to
new_reports()
{
	reports=$(mktemp -d "$folder/reports.XXXXXX") && chmod 1777 "$reports" || exit
}

show_reports()
{
	local ours

	ours=$(grep -rlE 'cuckoo' "$reports")
	if [ -n "$ours" ]; then
		status=1
		# shellcheck disable=SC2086
		head -n 60 $ours
	fi
	echo "$(find "$reports" -type f -size +0 | wc -l) reports in $reports," \
		"$(printf '%s' "$ours" | grep -c '') of the extension"
}

check_address()
{
	build address -fsanitize=address
	new_reports
	ASAN_OPTIONS=detect_leaks=0:log_path=$reports/address \
		UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/undefined \
		COPT=-fsanitize=undefined regression "address sanitizer" address ${REGRESS:+REGRESS="$REGRESS"}
	show_reports
}

check_caches()
{
	build_checked
	if [ -n "${REGRESS:-}" ]; then
		SETTINGS='debug_discard_caches = 1' regression "no caches" checked REGRESS="$REGRESS"
		return
	fi
	echo "==== no caches"
	PG_CONFIG=$folder/checked/bin/pg_config test/throwaway.sh psql -Xf test/caches.sql ||
		{ status=1; echo "the script failed"; }
}

check_valgrind()
{
	local bin=$folder/valgrind/bin

	build_checked
	new_reports
	# the same programs, where postgres is run by valgrind once there is a cluster
	rm -rf "$folder/valgrind"
	cp -R "$folder/checked" "$folder/valgrind" || exit
	mv "$bin/postgres" "$bin/postgres.checked"
	cat >"$bin/postgres" <<-END
		#!/bin/bash
		case "\$*" in
			'-D '*) exec valgrind --quiet --leak-check=no --num-callers=30 --gen-suppressions=all \\
				--suppressions='$pg_source/src/tools/valgrind.supp' \\
				--log-file='$reports/valgrind.%p' '$bin/postgres.checked' "\$@" ;;
			*) exec '$bin/postgres.checked' "\$@" ;;
		esac
	END
	chmod +x "$bin/postgres"
	regression valgrind valgrind ${REGRESS:+REGRESS="$REGRESS"}
	show_reports
}

[ $# -gt 0 ] || set -- address caches valgrind
for kind in "$@"; do
	case $kind in
		address) check_address ;;
		caches) check_caches ;;
		valgrind) check_valgrind ;;
		*) die "unknown: $kind" ;;
	esac
done
exit $status
