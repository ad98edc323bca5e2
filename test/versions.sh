#!/bin/bash
# All tests under other versions of PostgreSQL and on other processors.
#
#	test/versions.sh [-d FOLDER] [-c COMPILERS] TARGET...
#
#	15 17 18 19			make check in a minimal Debian with that PostgreSQL
#	assert				the same with a PostgreSQL 15 that has assertions, and a minute
#						of random queries by the scan and without it (make fuzz-scan)
#	i386 s390x			make unit, that is the core and its golden vectors, for
#						a processor of 32 bits, and for a big-endian one
#	upgrade OLD NEW		pg_upgrade from one version to another where NEW is the newer,
#						also with --link, and dump and restore (test/t/013_upgrade.pl)
#
# FOLDER keeps the roots, 1 GB each, and a log of each run; otherwise it is
# cuckoo-roots in the caller's cache. A root that is there is used as it is:
# remove it to have it made again, which takes a minute or two. For assert it is
# about ten, because its server is built in the root, from Debian's source.
# COMPILERS are "gcc clang" otherwise, and the suite runs with each; upgrades take
# the first.
#
# It needs root, mmdebstrap, and a mirror of Debian: that of apt's own
# configuration, or MIRROR and MIRROR_SECURITY. What a run starts and mounts is in namespaces of its
# own, which end with it, however it ends; a copy of the source in the root is
# removed. A target that cannot be had is skipped, which the last line says, and
# the status then is 77. With a failure it is 1.
set -uo pipefail
unset CDPATH	# with it, cd prints

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
folder=${XDG_CACHE_HOME:-$HOME/.cache}/cuckoo-roots
compilers='gcc clang'
unfinished=()	# what is removed at the end
child=			# what runs in namespaces of its own
failed=0 skipped=0

say()
{
	printf '==== %s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

clean_up()
{
	trap '' HUP INT TERM
	# unshare --kill-child: everything in its namespaces goes with it
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>/dev/null
	[ ${#unfinished[@]} = 0 ] || rm -rf --one-file-system "${unfinished[@]}"
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# alone COMMAND...: with mounts, processes and shared memory of its own
alone()
{
	local status

	unshare --mount --propagation private --pid --ipc --fork --kill-child -- "$@" </dev/null &
	child=$!
	wait $child
	status=$?
	child=
	return $status
}

# within ROOT COMMAND...: COMMAND in a chroot with /proc
within()
{
	# shellcheck disable=SC2016 # expanded by the inner shell
	alone sh -ec 'mount -t proc proc "$1/proc"; exec chroot "$@"' sh "$1" \
		/usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb "${@:2}"
}

# skip TARGET REASON
skip()
{
	say "$1: SKIPPED, $2"
	skipped=$((skipped + 1))
}

# ---- roots -----------------------------------------------------------------

# mirror LABEL: the one of apt's own configuration
mirror()
{
	# shellcheck disable=SC2016 # names of apt's
	apt-get indextargets --format '$(ORIGIN)/$(LABEL)/$(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		sed -n "s,^Debian/$1/main ,,p; T; q"
}

# sources SUITE...: lines for apt, with security updates where a suite has them
sources()
{
	local main security suite

	main=${MIRROR:-$(mirror Debian)} security=${MIRROR_SECURITY:-$(mirror Debian-Security)}
	[ -n "$main" ] || die "apt names no mirror of Debian: set MIRROR"
	for suite; do
		echo "deb $main $suite main"
		case $suite in
			forky|sid|experimental) ;;
			*) [ -z "$security" ] || echo "deb $security $suite-security main" ;;
		esac
	done
}

# make_root NAME SUITES PACKAGES [HOOK...]: in FOLDER/NAME; each HOOK is a script
# for the new root, which has the packages then
make_root()
{
	local name=$1 suites=$2 packages=$3 root=$folder/$1 new=$folder/$1.new hook
	local options=(--mode=root --variant=apt --include="$packages"
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"')

	# shellcheck disable=SC2086 # several suites
	sources $suites >"$folder/$name.list" || exit
	for hook in doc man locale info; do
		options+=(--dpkgopt="path-exclude=/usr/share/$hook/*")
	done
	# shellcheck disable=SC2016 # expanded by mmdebstrap's shell
	options+=(--essential-hook='mkdir -p "$1/etc/postgresql-common"
		echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"')
	shift 3
	for hook; do
		options+=(--customize-hook="chroot \"\$1\" sh -ec 'export DEBIAN_FRONTEND=noninteractive; cd /tmp; $hook'")
	done
	say "$name: making its root, a minute or two, or ten where it builds a server"
	unfinished+=("$new")
	rm -rf --one-file-system "$new"
	alone mmdebstrap "${options[@]}" "${suites%% *}" "$new" "$folder/$name.list" >"$folder/$name.root.log" 2>&1 ||
		{ tail -n 20 "$folder/$name.root.log"; return 1; }
	chroot "$new" apt-get clean
	mv "$new" "$root"
}

# build_server MIRROR: PostgreSQL 15 with its assertions, from Debian's source, to
# be run in a new root, and by sh.  Without single quotes.  The patch that is left
# out would put it where Debian's packages are.
assert=/opt/postgresql-assert
build_server()
{
	echo "deb-src $1 bookworm main" >/etc/apt/sources.list.d/source.list
	apt-get -qq update
	apt-get -qq source --download-only postgresql-15
	dpkg-source --skip-patches -x postgresql-15_*.dsc source
	useradd -r postgres
	mkdir /opt/postgresql-assert
	cd source || exit
	grep -v 50-per-version-dirs debian/patches/series | while read -r patch; do
		patch -sp1 <"debian/patches/$patch"
	done
	chown -R postgres: . /opt/postgresql-assert
	runuser -u postgres -- sh -ec "
		./configure -q --prefix=/opt/postgresql-assert --enable-cassert --enable-debug \
			--enable-tap-tests --with-icu --with-libxml --without-readline --without-zlib
		make -s -j $(getconf _NPROCESSORS_ONLN) world-bin
		make -s install-world-bin"
	rm -rf /tmp/source /tmp/postgresql-15_*
}

# want_root TARGET: succeeds if FOLDER has its root
want_root()
{
	local target=$1 suite
	local packages=make,gcc,libc6-dev,libxxhash-dev
	local server="$packages,clang,libipc-run-perl,perl,procps"

	[ ! -e "$folder/$target/usr/bin/make" ] || return 0
	command -v mmdebstrap >/dev/null || die "please install mmdebstrap"
	case $target in
		i386) make_root i386 trixie "$packages,gcc-multilib"; return ;;
		s390x) make_root s390x trixie "$packages,gcc-s390x-linux-gnu,libc6-dev-s390x-cross,qemu-user"; return ;;
		15) suite=bookworm ;;
		17) suite=trixie ;;
		18) suite=forky ;;
		assert)
			make_root assert bookworm "$server,bzip2,dpkg-dev,libicu-dev,libxml2-dev,patch,pkg-config,xz-utils" \
				"$(declare -f build_server); build_server ${MIRROR:-$(mirror Debian)}"
			return
			;;
		19)
			# no complete release: what PostgreSQL needs comes from there, nothing else
			make_root 19 'sid experimental' "$server,postgresql-common" \
				'apt-get -qq -y install -t experimental libpq5 libpq-dev postgresql-19' \
				'apt-get -qq download -t experimental postgresql-server-dev-19
				dpkg -x postgresql-server-dev-19_*.deb /'
			return
			;;
	esac
	# the dependencies of server-dev, which are not needed, are all of LLVM; of
	# an old suite the mirror may lack the last update, although its index has it
	make_root "$target" $suite "$server,libpq-dev,postgresql-$target" \
		"apt-get -qq download postgresql-server-dev-$target || apt-get -qq download postgresql-server-dev-$target/$suite
		dpkg -x postgresql-server-dev-${target}_*.deb /" \
		"apt-get -qq -y install postgresql-$target-plproxy || echo there is no plproxy"
}

# copy_source ROOT: sets `copy` to the folder there; run() removes it
copy_source()
{
	copy=$(mktemp -d "$1/var/tmp/cuckoo.XXXXXX") || exit
	unfinished+=("$copy")
	chmod 755 "$copy"
	tar -C "$source_dir" -cf - --exclude=./.git --exclude=./build --exclude=./tmp_check \
		--exclude='*.o' --exclude='*.so' --exclude='*.bc' . |
		tar -C "$copy" --no-same-owner -xf - || die "could not copy the source"
}

# ---- runs ------------------------------------------------------------------

# run NAME ROOT SCRIPT ARGUMENT...: SCRIPT by sh in a copy of the source
run()
{
	local name=$1 root=$2 script=$3 log=$folder/$1.log status start=$SECONDS copy

	copy_source "$root"
	# shellcheck disable=SC2016 # expanded by the inner shell
	within "$root" sh -c 'cd "$1" && shift && eval "$1"' sh "${copy#"$root"}" "$script" "${@:4}" \
		>"$log" 2>&1
	status=$?
	rm -rf --one-file-system "$copy"
	say "$name: status $status, $((SECONDS - start)) s, $log"
	grep -nE '^(not ok|test .*FAILED|\*\*\*|FAILED|#  +Failed test)|error:|Parse errors|Wstat' "$log" | grep -v '# TODO'
	grep -E '# skip|skipped: ' "$log"
	awk '/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p += $1; f += $3; sums = $0; n++ }
		/^Result: / { result = $0 }
		END { print n == 1 ? sums : n ? p " passed, " f " failed" : result }' "$log"
	[ $status = 0 ] || { tail -n 5 "$log"; failed=$((failed + 1)); }
}

# check TARGET [VARIABLE=...]: make check with each compiler, and for assert
# random queries as well
check()
{
	local target=$1 root=$folder/$1 cc script

	for cc in $compilers; do
		script="$cc --version | head -n 1; make check WERROR=1 CC=$cc ${*:2}"
		[ "$target" != assert ] || script+=" && make fuzz-scan SECONDS=60 CC=$cc ${*:2}"
		if [ -x "$root/usr/bin/$cc" ]; then
			run "$target-$cc" "$root" "$script"
		else
			skip "$target-$cc" "the root has no $cc"
		fi
	done
}

# cross NAME MAKE-ARGUMENT...: the core's tests for another processor
cross()
{
	# shellcheck disable=SC2016 # expanded by the inner shell
	run "$1" "$folder/$1" 'shift; exec make -s unit "$@"' "${@:2}"
}

# upgrade OLD NEW: in a copy of the root of the newer one, whose libraries are
# new enough for both, with what the older one needs beside them
upgrade()
{
	local old=$1 new=$2 name=upgrade-$1-$2 host guest root list

	host=$((old > new ? old : new)) guest=$((old > new ? new : old))
	root=$folder/$name.new
	say "$name: copying the root of $host, and into it PostgreSQL $guest"
	unfinished+=("$root")
	rm -rf --one-file-system "$root"
	cp -a --reflink=auto "$folder/$host/." "$root" || exit
	list=$(
		printf '%s\n' usr/{lib,share,include}/postgresql/"$guest"
		chroot "$folder/$guest" sh -c "ldd /usr/lib/postgresql/$guest/bin/*" 2>/dev/null |
			sed -n 's,.*=> /\(.*\) (0x.*,\1,p' | sort -u | while read -r library; do
				[ -e "$root/$library" ] || [ -e "$root/usr/$library" ] ||
					{ echo "$library"; (cd "$folder/$guest" && realpath -e --relative-to=. "$library"); }
			done
	)
	tar -C "$folder/$guest" -cf - -T - <<<"$list" | tar -C "$root" -xf - || exit
	# shellcheck disable=SC2016 # expanded by the inner shell
	run "$name" "$root" '
		for version in $2 $3; do
			make -s clean install with_llvm=no COPT=-std=gnu17 CC="$4" \
				PG_CONFIG=/usr/lib/postgresql/$version/bin/pg_config || exit
		done
		chown -R postgres: .
		export UPGRADE_FROM=/usr/lib/postgresql/$2 UPGRADE_TO=/usr/lib/postgresql/$3
		for UPGRADE_OPTIONS in "" --link; do
			export UPGRADE_OPTIONS
			runuser -u postgres -- make -s installcheck PG_CONFIG=/usr/lib/postgresql/$5/bin/pg_config \
				REGRESS= ISOLATION= PROVE_TESTS=test/t/013_upgrade.pl PROVE_FLAGS=-v ||
				{ tail -n 200 tmp_check/log/regress_log_*; exit 1; }
		done' \
		"$old" "$new" "${compilers%% *}" "$host"
	rm -rf --one-file-system "$root"
}

# ---- as a command ----------------------------------------------------------

while getopts d:c: option; do
	case $option in
		d) folder=$OPTARG ;;
		c) compilers=$OPTARG ;;
		*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$(id -u)" = 0 ] || die "it needs root, to enter the roots"
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit

while [ $# -gt 0 ]; do
	target=$1
	shift
	case $target in
		15|17|18|19)
			if want_root "$target"; then check "$target"; else skip "$target" "no root for it"; fi
			;;
		assert)
			# ASSERTS: those of the core, too
			if want_root assert; then
				check assert ASSERTS=1 "PG_CONFIG=$assert/bin/pg_config"
			else
				skip assert "no root for it"
			fi
			;;
		i386)
			if want_root i386; then cross i386 CC='gcc -m32'; else skip i386 "no root for it"; fi
			;;
		s390x)
			if want_root s390x; then
				cross s390x CC=s390x-linux-gnu-gcc RUN='qemu-s390x -L /usr/s390x-linux-gnu'
			else
				skip s390x "no root for it"
			fi
			;;
		upgrade)
			[ $# -ge 2 ] || die "upgrade takes two versions"
			if want_root "$1" && want_root "$2"; then upgrade "$1" "$2"; else skip "upgrade $1 $2" "no root for it"; fi
			shift 2
			;;
		*) die "unknown target $target" ;;
	esac
done
[ $skipped = 0 ] || say "$skipped skipped"
[ $failed = 0 ] || { say "$failed failed"; exit 1; }
[ $skipped = 0 ] || exit 77
