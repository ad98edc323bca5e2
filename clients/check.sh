#!/bin/bash
# Tests of the clients, to be run on a throwaway server: make check-clients
#
# Each client is installed as users install it, but into the copy of the source.
# With "bench" it measures instead: make bench-clients.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-/usr/bin/python3}
export VECTORS=$PWD/../test/vectors

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
