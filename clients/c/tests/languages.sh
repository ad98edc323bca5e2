#!/bin/bash
# The programs of ../README.md give the answers of cuckoo-probe, each in its
# language: tests/languages.sh PREFIX FILTER ELEMENT...
#
# The library was installed below PREFIX. FILTER is a file with the text of a
# filter. A language without a compiler is left out, which is said.
set -euo pipefail
unset CDPATH	# with it, cd prints

prefix=$(realpath "$1")
filter=$(realpath "$2")
shift 2
readme=$(cd "$(dirname "$0")/.." && pwd)/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
jna=/usr/share/java/jna.jar
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
expected=$("$prefix/bin/cuckoo-probe" "$filter" "$@")
status=0

# program LANGUAGE FILE: the block of this language
program()
{
	awk -v begin="\`\`\`$1" '/^```/ { on = 0 } on; $0 == begin { on = 1 }' "$readme" >"$folder/$2"
}

# answers LANGUAGE COMMAND...: whether the command finds the same
answers()
{
	local found

	if found=$("${@:2}" "${elements[@]}" <"$filter") && [ "$found" = "$expected" ] &&
		! "${@:2}" 2>/dev/null <"$readme"; then
		echo "$1: the answers of cuckoo-probe"
	else
		echo "$1: not the answers of cuckoo-probe: $found" >&2
		status=1
	fi
}

elements=("$@")
cd "$folder"

program c probe.c
if command -v pkg-config >/dev/null; then
	# shellcheck disable=SC2046 # flags are several words
	${CC:-cc} -o c probe.c $(pkg-config --cflags --libs cuckoofilter)
else
	${CC:-cc} -o c probe.c "-I$prefix/include" "-L$prefix/lib" -lcuckoofilter
fi
answers C ./c
# and by the static library
${CC:-cc} -o static probe.c "-I$prefix/include" "$prefix/lib/libcuckoofilter.a" -lm
answers 'C, static' ./static

if ! command -v go >/dev/null || ! command -v pkg-config >/dev/null; then
	echo 'skipped: Go: go or pkg-config is missing'
else
	program go probe.go
	GOCACHE=$folder/cache GOFLAGS=-mod=mod go build -o go probe.go
	answers Go ./go
fi

if ! command -v javac >/dev/null || [ ! -e $jna ]; then
	echo "skipped: Java: javac or $jna is missing"
else
	program java Probe.java
	javac -cp $jna Probe.java
	answers Java java "-Djna.library.path=$prefix/lib" "-Djava.io.tmpdir=$folder" -cp "$jna:." Probe
fi

if ! command -v rustc >/dev/null; then
	echo 'skipped: Rust: rustc is missing'
else
	program rust probe.rs
	rustc -L "$prefix/lib" -o rust probe.rs
	answers Rust ./rust
fi
exit $status
