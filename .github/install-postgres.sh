#!/bin/bash
# A PostgreSQL of PGDG's packages for Debian and Ubuntu, without a cluster:
#
#	.github/install-postgres.sh VERSION
set -euo pipefail

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

version=$1
as_root apt-get update -q
as_root apt-get install -qy --no-install-recommends ca-certificates postgresql-common
# the component named after the version has it before its release
as_root /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y -v "$version"
as_root tee -a /etc/postgresql-common/createcluster.conf <<<'create_main_cluster = false'
as_root apt-get install -qy --no-install-recommends "postgresql-$version" \
	"postgresql-server-dev-$version" gcc make libc6-dev libxxhash-dev libipc-run-perl
