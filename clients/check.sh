#!/bin/bash
# Tests of the clients, to be run on a throwaway server: make check-clients
#
# Each client is installed as users install it, but into the copy of the source.
# With "bench" it measures instead: make bench-clients. With "vectors" it runs
# only the tests of elements and of the golden vectors, which need no server, in
# TAP's words; a client whose programs are missing is left out: make check.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-/usr/bin/python3}
export VECTORS=$PWD/../test/vectors

# tap COMMAND...: what Python's unittest says with -v, in TAP's words
tap()
{
	"$@" 2>&1 |
		awk '/ \.\.\. ok$/ { print "ok " ++n " - " $0; next }
			/ \.\.\. (FAIL|ERROR)$/ { print "not ok " ++n " - " $0; next }
			{ print }'
}

vectors()
{
	local status=0

	if ! "$python" -c 'import numpy, xxhash'; then
		echo "skipped: Python client: $python with numpy and xxhash is missing"
	else
		"$python" -c 'import pandas' || echo 'skipped: Python client: times with nanoseconds, because pandas is missing'
		PYTHONPATH=python:python/tests tap "$python" -m unittest -v python/tests/test_{arguments,elements,vectors}.py || status=1
	fi
	if ! "$python" -c 'import ctypes, unittest'; then
		echo "skipped: C client: its tests need $python"
	else
		make -s -C c CFLAGS=-O1 && tap "$python" c/tests/test_vectors.py -v || status=1
	fi
	if ! command -v npm || ! node --test-reporter=tap -e 0; then
		echo 'skipped: JavaScript client: npm, or node from 18.15 on, is missing'
	elif ! (cd js && npm ci --omit=dev --silent --fetch-retries=0); then
		echo 'skipped: JavaScript client: npm could not install what it depends on'
	else
		(cd js && node --no-concurrent-recompilation --test --test-reporter=tap test/{arguments,elements,vectors}.test.js) || status=1
	fi
	return $status
}

if [ "${1:-}" = vectors ]; then
	vectors
	exit
fi

"$python" -m venv --system-site-packages "$TMPDIR/env"
python=$TMPDIR/env/bin/python
"$python" -m pip install --quiet --no-index --no-build-isolation ./python
(cd js && npm ci --loglevel=error)

psql -qc 'CREATE EXTENSION cuckoo'
if [ "${1:-}" = bench ]; then
	"$python" python/bench.py
	node js/bench.js
	make -s -C c build/bench
	for element in i "'https://example.com/' || i"; do
		psql -XAtc "SELECT cf_agg($element, 0.001) FROM generate_series(1, 1000000) i" |
			base64 -d >"$TMPDIR/filter"
		c/build/bench "$TMPDIR/filter"
	done
	exit
fi
"$python" python/tests/model.py >"$TMPDIR/model.json"
export MODEL=$TMPDIR/model.json
echo "==== Python client"
"$python" -c 'from importlib.metadata import files
assert any(f.name == "LICENSE" for f in files("pg-cuckoofilter")), "no LICENSE"'
"$python" -m mypy --config-file python/pyproject.toml \
	"$("$python" -c 'import pg_cuckoofilter as client; print(client.__path__[0])')"
"$python" -m unittest discover -s python/tests
echo "==== JavaScript client"
(cd js && npm run --silent types && npm test --silent)
mkdir "$TMPDIR/project"
(cd "$TMPDIR/project" && npm pack --silent "$OLDPWD/js" >/dev/null &&
	npm install --loglevel=error ./pg-cuckoofilter-*.tgz &&
	test -e node_modules/pg-cuckoofilter/LICENSE &&
	node --input-type=module -e "import 'pg-cuckoofilter'")
echo "==== C client"
for compiler in gcc clang; do
	if command -v $compiler >/dev/null; then
		make -s -C c CC=$compiler WERROR=1 build=build/$compiler
		BUILD=$PWD/c/build/$compiler "$python" c/tests/test_vectors.py
	else
		echo "skipped: $compiler is missing"
	fi
done
make -s -C c install PREFIX="$TMPDIR/prefix" DESTDIR=
! nm -g --defined-only "$TMPDIR"/prefix/lib/libcuckoofilter.a "$TMPDIR"/prefix/lib/libcuckoofilter.so |
	grep ' [A-Z] ' | grep -v ' cuckoofilter_' || exit
"$python" c/tests/test_server.py
psql -XAtc "SELECT cf_agg('https://bad.example/' || i, 0.001) FROM generate_series(1, 5000) i" >"$TMPDIR/blocked.txt"
c/tests/languages.sh "$TMPDIR/prefix" "$TMPDIR/blocked.txt" https://bad.example/{1,6000,4999} '' é
