#!/bin/bash
# Static analysis, one test for each tool, in TAP's words: make lint
#
# Installs the tools that are missing, and lists what a tool finds below its
# line. The checks of clang-tidy are in .clang-tidy, with reasons for those
# that are left out. Any other exception stands beside the code, with its
# reason.
# shellcheck disable=SC1091,SC2154,SC2317 # what throwaway.sh defines; what tool() calls
. "$(dirname "$0")/throwaway.sh"

cd "$source_dir" || exit
want clang-tidy command -v clang-tidy
want clang-tools command -v scan-build
want clang command -v clang
want cppcheck command -v cppcheck
want shellcheck command -v shellcheck
want libipc-run-perl perl -MIPC::Run -e 1
find_all
make_tmp
processes=$(getconf _NPROCESSORS_ONLN)

shopt -s globstar
# nothing but numbers, which macros make; clang-tidy and cppcheck take minutes
tables=src/core/tables.c

tests=0 status=0

# tool NAME COMMAND...: nothing that it finds, and success
tool()
{
	local word=ok

	tests=$((tests + 1))
	# as a job, which an interrupt ends
	set -m
	("${@:2}") >"$tmp/found" 2>&1 </dev/null &
	set +m
	wait $! || word='not ok'
	echo "$word $tests - $1"
	if [ "$word" != ok ]; then
		sed 's/^/# /' "$tmp/found"
		status=1
	fi
}

# tidy FLAG... -- FILE...
tidy()
{
	local flags=()

	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	printf '%s\n' "$@" | grep -vxF "$tables" |
		xargs -P "$processes" -I{} clang-tidy --quiet {} -- "${flags[@]}" -iquote src
}

# PostgreSQL's headers are not read: of their macros only these matter. What
# is left out is a matter of taste, or a limit that newer versions report.
check_cpp()
{
	local id options=(--std=c11 --enable='warning,performance,portability,style' --inline-suppr)

	for id in missingInclude normalCheckLevelMaxBranches ctuArrayIndex variableScope \
		constVariable constVariablePointer constParameterPointer constParameterCallback; do
		options+=(--suppress="$id")
	done
	cat >"$tmp/macros.h" <<-'END'
		#define foreach(cell, list) for (cell = list_head(list); cell; cell = lnext(list, cell))
		#define UINT64_FORMAT "lu"
	END
	cppcheck -q -j "$processes" --error-exitcode=1 "${options[@]}" --include="$tmp/macros.h" \
		-DCUCKOO_IN_POSTGRES -Isrc -Iclients/c -i "$tables" src test bench clients/c
}

# The static analyzer of clang looks at all that is compiled: in a copy, and
# without optimization, which it does not need. It leaves out test/unit,
# because CHECK() goes on after a failure, and what comes then may be
# undefined.
analyze()
{
	local shifts=()

	# from version 18 on; it does not know that a level or a width has a limit.
	# The tests of the core with -fsanitize=undefined look at shifts.
	! scan-build --help | grep core.BitwiseShift >/dev/null ||
		shifts=(-disable-checker core.BitwiseShift)
	mkdir "$tmp/src" &&
		tar -cf - --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.so' . |
		tar -C "$tmp/src" -xf - &&
		cd "$tmp/src" &&
		scan-build "${shifts[@]}" -o "$tmp/report" --status-bugs sh -ec "
			make -s -j $processes PG_CONFIG=$PG_CONFIG CC=\$CC with_llvm=no COPT=-O0
			make -s -C test/module PG_CONFIG=$PG_CONFIG CC=\$CC COPT=-O0"
}

compile_perl()
{
	local file library

	library=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/perl
	for file in test/**/*.p[lm]; do
		perl -Itest -I"$library" -c "$file" || return
	done
}

tool 'clang-tidy: src, test/module' tidy -DCUCKOO_IN_POSTGRES \
	-isystem "$("$PG_CONFIG" --includedir-server)" -- src/*.c src/*/*.c test/module/*.c
tool 'clang-tidy: test/unit, bench' tidy -std=c11 -- test/unit/*.c bench/*.c
tool 'clang-tidy: clients/c' tidy -std=c11 -Iclients/c -- clients/c/*.c
tool cppcheck check_cpp
tool scan-build analyze
tool shellcheck shellcheck .ci/run ./**/*.sh
tool 'perl -c' compile_perl
echo "1..$tests"
exit $status
