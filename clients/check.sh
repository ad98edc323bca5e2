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

vectors()
{
	local status=0

	if ! "$python" -c 'import numpy, xxhash'; then
		echo "skipped: Python client: $python with numpy and xxhash is missing"
	else
		PYTHONPATH=python "$python" -m unittest -v python/tests/test_{elements,vectors}.py 2>&1 |
			awk '/ \.\.\. ok$/ { print "ok " ++n " - " $0; next }
				/ \.\.\. (FAIL|ERROR)$/ { print "not ok " ++n " - " $0; next }
				{ print }' || status=1
	fi
	if ! command -v npm || ! node --test-reporter=tap -e 0; then
		echo 'skipped: JavaScript client: npm, or node from 18.15 on, is missing'
	elif ! (cd js && npm ci --omit=dev --silent --fetch-retries=0); then
		echo 'skipped: JavaScript client: npm could not install what it depends on'
	else
		(cd js && node --no-concurrent-recompilation --test --test-reporter=tap test/{elements,vectors}.test.js) || status=1
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
(cd js && npm ci --silent)

psql -qc 'CREATE EXTENSION cuckoo'
if [ "${1:-}" = bench ]; then
	"$python" python/bench.py
	node js/bench.js
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
	npm install --silent ./pg-cuckoofilter-*.tgz &&
	test -e node_modules/pg-cuckoofilter/LICENSE &&
	node --input-type=module -e "import 'pg-cuckoofilter'")
