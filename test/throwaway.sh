#!/bin/bash
# A PostgreSQL server with this extension, for one run only.
#
#	test/throwaway.sh [-tc] [-b FOLDER] COMMAND...
#						run COMMAND on such a server
#	test/throwaway.sh			psql on it, or with a script from standard input
#	. test/throwaway.sh			only define the functions below
#
# The source is built in a copy and installed below a temporary folder in
# TMPDIR, from where a new cluster serves it, on a socket in that folder. At the
# end, however it comes, the server is stopped and the folder deleted. Nothing
# else on the machine changes, except that apt installs missing packages (through
# sudo unless the caller is root).
#
# -t also installs what TAP tests need, and -c what the clients' tests need. -b
# installs what benchmarks need, gives the server 1 GB of shared buffers, and
# copies FOLDER, relative to the source, back at the end. COMMAND must create it.
#
# Autovacuum is off.
#
# PG_CONFIG chooses the PostgreSQL; the default is the newest one with a server.
# SETTINGS are further lines for the configuration of all servers, such as
# $'jit = on\njit_above_cost = 0'.
#
# COMMAND runs in the copy, as the user who owns the server: the caller, or
# postgres if the caller is root. In its environment make, psql and similar
# programs find the build, the server and its database without arguments.
# TEMP_CONFIG names the settings by which further servers find the extension
# (PostgreSQL::Test::Cluster adds them to every node). Statements have a time limit,
# and COMMAND fails if the server's log has what no log may have (test/logs.sh);
# but not with -b.
set -uo pipefail
unset CDPATH	# with it, cd prints

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
tmp=		# everything made here; the path is short enough for a socket
packages=()	# to be installed
shared_buffers=256MB
settings=	# a file with more
elsewhere=': set TMPDIR to another folder'

say()
{
	printf '[%3d s] %s\n' $SECONDS "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# ---- leaving ---------------------------------------------------------------

# end_servers: also those that tests have started; succeeds while there are any
end_servers()
{
	local pid pids some=1

	pids=$(find "$tmp" -name postmaster.pid -exec sed '/^[0-9]/!d; q' {} \;)
	for pid in $pids; do
		! kill -QUIT "$pid" || some=0
	done
	return $some
}

# end_group GROUP: succeeds while that process group has processes. An initdb
# is left to end its work, which takes a second, because its backends would
# leave shared memory behind if they were killed.
end_group()
{
	local stat name group

	kill -0 -- "-$1" || return 1
	for stat in /proc/[0-9]*/stat; do
		read -r _ name _ _ group _ <"$stat"
		[ "$name$group" != "(initdb)$1" ] || return 0
	done
	kill -TERM -- "-$1"
	return 0
}

clean_up()
{
	local i groups group busy

	set +u
	trap '' HUP INT TERM PIPE
	main_cluster_as_before
	[ -n "$tmp" ] || return
	groups=$(jobs -p)
	for ((i = 0; i < 50; i++)); do
		busy=
		for group in $groups; do
			! end_group "$group" || busy=1
		done
		! end_servers || busy=1
		[ -n "$busy" ] || break
		sleep 0.1
	done
	for group in $groups; do
		kill -KILL -- "-$group"
	done
	rm -rf "$tmp"
} 2>/dev/null

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM
if [ ! -t 0 ]; then
	# for psql_script() alone
	{ exec 3<&0 || exec 3</dev/null; } 2>/dev/null
	exec </dev/null
fi

# ---- packages --------------------------------------------------------------

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# may_install PACKAGE...: ends the script unless the caller can install them.
# sudo may ask for a password.
may_install()
{
	command -v apt-get >/dev/null || die "please install what Debian calls $*"
	[ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -v; } ||
		die "please have root install: $*"
}

# apt_get ARG...: an interrupt waits until the package manager has come to a
# consistent end. It is in a session of its own, where the terminal's Ctrl-C does
# not reach dpkg, which would leave packages half installed. sudo is not, because
# it asks for the password on the terminal.
apt_get()
{
	{
		trap '' HUP INT TERM
		as_root setsid --wait env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
			-o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 || echo failed
	} | hear "apt-get $1"
}

# hear TASK: reads the output of the task, and reports at least every 15 seconds
# that the task goes on, with its last line. If that is "failed", it shows all
# of the output, and fails. No signal ends it early, which it says after an
# interrupt.
hear()
{
	local line status last='' heard='' said=$SECONDS

	trap '' HUP PIPE TERM
	trap 'say "$1 must not be interrupted: please wait"' INT
	while read -r -t 5 line; status=$?; [ $status != 1 ]; do
		if [ $status = 0 ]; then
			heard+=$last$'\n'
			last=$line
		fi
		if ((SECONDS - said >= 10)); then
			say "$1 goes on${last:+: ${last:0:60}}"
			said=$SECONDS
		fi
	done
	[ "$last" != failed ] || { printf '%s' "$heard" >&2; return 1; }
}

# install PACKAGE...
install()
{
	local failed=

	may_install "$@"
	say "installing $*"
	# without a network it fails only if it is told to
	apt_get update -o APT::Update::Error-Mode=any || failed=': apt-get update failed, so there is probably no network'
	apt_get install --no-install-recommends "$@" || die "could not install $*$failed"
	say "installed"
}

# want PACKAGE TEST...: PACKAGE is to be installed unless TEST succeeds
want()
{
	"${@:2}" >/dev/null 2>&1 || packages+=("$1")
}

install_wanted()
{
	[ ${#packages[@]} -gt 0 ] || return 0
	install "${packages[@]}"
	packages=()
}

# Installs the distribution's PostgreSQL, but not the cluster that its package
# would create and start: a line in the configuration of Debian's tools
# prevents this during the installation.
createcluster_conf=/etc/postgresql-common/createcluster.conf

install_postgres()
{
	local version

	install postgresql-common
	version=$(apt-cache depends postgresql 2>/dev/null |
		sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
	[ -n "$version" ] || die "apt knows no package postgresql"
	as_root sed -i "\$a create_main_cluster = false # throwaway" $createcluster_conf
	install "postgresql-$version"
	main_cluster_as_before
	PG_CONFIG=/usr/lib/postgresql/$version/bin/pg_config
}

main_cluster_as_before()
{
	grep -q '# throwaway$' $createcluster_conf 2>/dev/null || return 0
	as_root sed -i '/# throwaway$/d' $createcluster_conf
}

find_postgres()
{
	local dir

	[ -z "${PG_CONFIG:-}" ] || return 0
	for dir in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr) \
		$(pg_config --bindir); do
		PG_CONFIG=$dir/pg_config
		[ ! -x "$dir/postgres" ] || return 0
	done
	return 1
} 2>/dev/null

finds_headers()
{
	[ -e "$("$PG_CONFIG" --includedir-server)/postgres.h" ] &&
		[ -e "$("$PG_CONFIG" --pgxs)" ]
}

finds_xxhash()
{
	echo '#include <xxhash.h>' | cc -E -
}

find_all()
{
	local postgres=

	find_postgres || postgres='postgresql postgresql-server-dev-all'
	want make command -v make
	want gcc command -v cc
	want libc6-dev test -e /usr/include/stdio.h
	want libxxhash-dev finds_xxhash
	if [ -n "$postgres" ]; then
		# all in one line, for a caller who cannot install them
		may_install "$postgres" "${packages[@]}"
		install_postgres
	fi
	[ -x "$("$PG_CONFIG" --bindir)/postgres" ] || die "$PG_CONFIG belongs to no server"
	want "postgresql-server-dev-$("$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" \
		finds_headers
	install_wanted
	finds_headers || die "$PG_CONFIG names no headers to build with"
}

# ---- the server ------------------------------------------------------------

# in_background COMMAND...: starts COMMAND in the copy of the source, as the
# owner of the server, in a process group of its own, so that all of it can be
# ended.
in_background()
{
	set -m
	as_owner "$@" </dev/null 3<&- &
	set +m
}

# owner_finds MODULE: whether those who run the tests have this module of Perl,
# which root may have in a place of its own
owner_finds()
{
	if [ "$(id -u)" = 0 ] && id postgres; then
		chroot --userspec=postgres / perl "-M$1" -e 1
	else
		perl "-M$1" -e 1
	fi
}

# want_python PACKAGE...: what Debian calls python3-PACKAGE
want_python()
{
	local module

	for module; do
		want "python3-$module" "${PYTHON:-/usr/bin/python3}" -c "import $module"
	done
}

as_owner()
{
	cd "$tmp/src" || exit
	export HOME=$tmp TMPDIR=$tmp/tmp
	# chroot replaces itself by the command; runuser would stay as a parent
	[ "$(id -u)" != 0 ] || set -- chroot --userspec=postgres --skip-chdir / "$@"
	exec "$@"
}

# run COMMAND...: the same, and waits for its end. A signal need not wait.
run()
{
	in_background "$@"
	wait $!
}

# The settings that let a server find an extension below a folder. Debian's
# PostgreSQL has one, and every PostgreSQL from 18 on has one.
extension_settings()
{
	local inst=$tmp/inst

	if knows_setting extension_control_path; then
		echo "extension_control_path = '$inst$("$PG_CONFIG" --sharedir):\$system'"
	elif knows_setting extension_destdir; then
		echo "extension_destdir = '$inst'"
	else
		die "this PostgreSQL, older than 18 and not Debian's, loads only what is installed:" \
			"use make install, and make installcheck on a running server"
	fi
	echo "dynamic_library_path = '$inst$("$PG_CONFIG" --pkglibdir):\$libdir'"
}

knows_setting()
{
	postgres --describe-config | grep "^$1	" >/dev/null
}

set_environment()
{
	local name flags=" ${MAKEFLAGS:-}"

	# keep only the variables of the calling make, not its job server
	case $flags in *' -- '*) flags=${flags#* -- } ;; *) flags= ;; esac
	command -v gcc >/dev/null || flags="CC=cc $flags"
	# without -g, for which the compiler takes a quarter longer, unless the caller has COPT
	export COPT=${COPT--g0}
	export MAKEFLAGS="-- $flags PG_CONFIG=$PG_CONFIG DESTDIR=$tmp/inst with_llvm=no"
	unset MAKELEVEL MFLAGS LC_ALL

	for name in ${!PG@}; do
		case $name in PG_*) ;; *) unset "$name" ;; esac
	done
	export PGHOST=$tmp PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	export PG_CONFIG TEMP_CONFIG=$tmp/extension.conf LANG=C.UTF-8
	# pg_ctl would wait for 60 seconds
	export PGCTLTIMEOUT=${PG_TEST_TIMEOUT_DEFAULT:-180}
	PATH=$("$PG_CONFIG" --bindir):$PATH
}

# make_tmp: sets `tmp`
make_tmp()
{
	local in=${TMPDIR:-/tmp} room

	# the path of a socket, below $tmp/tmp, has at most 107 bytes
	[ ${#in} -le 60 ] || die "the path of $in is too long for sockets in it$elsewhere"
	tmp=$(mktemp -d "$in/cuckoo.XXXXXX") || die "no temporary folder$elsewhere"
	room=$(df -Pk "$tmp" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$room" -ge 300 ] || die "$in has $room MB of room, of 300 MB that a server needs$elsewhere"
}

# start_server: finds or installs what is needed, builds, and starts the server
start_server()
{
	local server

	find_all
	make_tmp
	set_environment

	mkdir "$tmp/src" "$tmp/inst" "$tmp/tmp"
	tar -C "$source_dir" -cf - --exclude=./.git --exclude=./build --exclude=./tmp_check \
		--exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude=node_modules . |
		tar -C "$tmp/src" -xf - || die "could not copy the source"
	extension_settings >"$TEMP_CONFIG" || exit
	printf '%s\n' 'jit = off' 'fsync = off' "${SETTINGS:-}" >>"$TEMP_CONFIG"
	[ "$(id -u)" != 0 ] || chown -R postgres: "$tmp"
	# a script that finds nothing
	run "$tmp/src/test/logs.sh"
	[ $? = 1 ] || die "the owner of the server may not run programs in ${tmp%/*}$elsewhere"

	say "building for $("$PG_CONFIG" --version)"
	run make -s -j "$(getconf _NPROCESSORS_ONLN)" install || die "the build failed"

	say "starting a server in $tmp"
	run initdb -D "$tmp/data" -U postgres -A trust -N >"$tmp/log" 2>&1 ||
		die "$(cat "$tmp/log")"
	cat - ${settings:+"$settings"} "$TEMP_CONFIG" >>"$tmp/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$tmp'
		shared_buffers = $shared_buffers
		max_wal_size = 4GB
		autovacuum = off
	END
	in_background postgres -D "$tmp/data" >"$tmp/log" 2>&1
	server=$!
	until pg_isready -q; do
		kill -0 $server 2>/dev/null ||
			die "the server did not start: $(cat "$tmp/log")"
		sleep 0.1
	done
}

# psql_script: runs the script from standard input. A signal need not wait.
psql_script()
{
	set -m
	psql <&3 &
	set +m
	wait $!
}

# open_psql: psql on the terminal. Ctrl-C is for psql.
open_psql()
{
	trap : INT
	psql
	trap 'exit 130' INT
}

# ---- as a command ----------------------------------------------------------

if [ "$0" = "${BASH_SOURCE[0]}" ]; then
	bring=
	while getopts tcb: option; do
		case $option in
			t)
				want perl command -v prove
				want libipc-run-perl owner_finds IPC::Run
				# for the clients' tests that need no server; where there is no apt they are left out
				! command -v apt-get >/dev/null || want_python xxhash numpy pandas
				;;
			c)
				want_python xxhash numpy pandas psycopg psycopg2 asyncpg sqlalchemy alembic django setuptools wheel mypy
				want python3-venv "${PYTHON:-/usr/bin/python3}" -c 'import ensurepip'
				want nodejs command -v node
				want npm command -v npm
				;;
			b)
				want gnuplot-nox command -v gnuplot
				bring=$OPTARG
				shared_buffers=1GB
				;;
			*) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	if [ $# -gt 0 ]; then
		[ -n "$bring" ] || settings=$source_dir/test/server.conf
		start_server
		run "$@" || exit
		"$source_dir/test/logs.sh" "$tmp/log"
		[ $? = 1 ] || die "the server's log has lines that must not be there"
		[ -z "$bring" ] || cp -R "$tmp/src/$bring/." "$source_dir/$bring"
	elif [ ! -t 0 ]; then
		start_server >&2
		psql -qc 'CREATE EXTENSION cuckoo' || exit
		psql_script
	else
		start_server
		psql -qc 'CREATE EXTENSION cuckoo'
		echo "For other programs: export PGHOST=$tmp PGUSER=postgres"
		echo 'The server and all in it go when psql ends (\q).'
		open_psql
	fi
fi
