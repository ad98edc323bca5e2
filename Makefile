# cuckoo: build, install and test with PGXS
#
#	make && make install    build and install for the PostgreSQL of $(PG_CONFIG)
#	make installcheck       test the installed extension on a running server
#
# and, on a server of their own that is thrown away afterwards; these install
# what is missing (test/throwaway.sh), so they work before PGXS is there:
#
#	make check              all tests
#	make demo               a short tour with real data
#	make bench              benchmarks, and their plots (bench/plots); with
#	                        SHAPES_ONLY=1 only the scan against a sequential
#	                        one, with COMPARE_ONLY=1 only a filter against
#	                        what else there is
#	make psql               psql on an empty database with the extension;
#	make -s psql <FILE      the same with a script
#	make fuzz-scan          random queries by the scan and without it, for
#	                        SECONDS=60; SEED=n [QUERY=n] replays
#
#	make lint               static analysis: clang-tidy, cppcheck, scan-build...
#	make coverage           which lines of the source do the tests reach?
#	make mutate SHARD=1/20  do the tests notice small faults?  test/mutate.pl
#
#	make unit               tests of the core alone, without PostgreSQL
#	make dist               a tar of the source as committed, in build/
#	make indent             gives the C code pgindent's layout; needs
#	                        pg_bsd_indent, see test/indent.sh
#
# Switches: PG_CONFIG=..., WERROR=1 (warnings are errors), ASSERTS=1 (the
# core checks itself), with_llvm=no (no bitcode, for machines without clang).

# the source's folder, for builds elsewhere: make -f FOLDER/Makefile
here := $(dir $(firstword $(MAKEFILE_LIST)))
$(if $(filter-out ./ $(CURDIR)/,$(here)),$(shell mkdir -p sql src))

EXTENSION = cuckoo cuckoo_citext
version := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(here)cuckoo.control)
DATA = $(patsubst $(here)%,%,$(wildcard $(here)sql/*--*--*.sql))
DATA_built = $(EXTENSION:%=sql/%--$(version).sql)

MODULE_big = cuckoo
OBJS = $(patsubst $(here)%.c,%.o,$(sort $(wildcard $(here)src/*.c)))
PG_CPPFLAGS = -DCUCKOO_IN_POSTGRES $(if $(ASSERTS),-DCUCKOO_ASSERTS) \
	-I$(srcdir)/src
PG_CFLAGS = -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) \
	$(if $(findstring clang,$(CC)),$(NOT_FOR_CLANG))
# what clang says of PostgreSQL's headers, and of flags that were meant for gcc
NOT_FOR_CLANG = -Wno-ignored-attributes -Wno-unknown-warning-option \
	-Wno-ignored-optimization-argument

# what keeps installcheck from running TAP tests, which start their own servers
no_tap := $(if $(filter installcheck,$(MAKECMDGOALS)),$(shell \
	if [ "$$(id -u)" = 0 ]; then echo "root may not start the servers they need"; \
	else perl -MIPC::Run -MTest::More -e 1 2>/dev/null || \
	echo "they need Perl with IPC::Run (Debian: libipc-run-perl)"; fi))

REGRESS_OPTS = --load-extension=cuckoo
# helpers first, which the others use: make installcheck REGRESS='helpers scan'
REGRESS := helpers $(filter-out helpers,$(sort $(foreach f,$(wildcard sql/*.sql),$(if $(findstring --,$f),,$(basename $(notdir $f))))))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --load-extension=cuckoo
TAP_TESTS := $(if $(no_tap),,1)
PROVE_TESTS = test/t/*.pl
EXTRA_CLEAN = build $(wildcard test/module/*.o test/module/*.so test/module/*.bc)

# Goals that need PGXS include it; the others must work without.
tasks = check demo bench psql fuzz-scan lint coverage mutate
goals = $(or $(MAKECMDGOALS),all)

ifneq ($(filter-out unit dist indent build/bench_core $(tasks),$(goals)),)
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
# the packages of 13 come without the isolation tester
ifneq ($(wildcard $(dir $(PGXS))../test/isolation/pg_isolation_regress),)
ISOLATION := $(sort $(basename $(notdir $(wildcard test/specs/*.spec))))
endif
include $(PGXS)

$(OBJS) $(OBJS:.o=.bc): $(wildcard $(srcdir)/src/*.h)

sql/%--$(version).sql: sql/%.sql.in sql/cf_agg.sql.in sql/generate.awk
	awk -f $(srcdir)/sql/generate.awk $< >$@

installcheck: installcheck-needs
.PHONY: installcheck-needs
installcheck-needs:
ifneq ($(strip $(REGRESS) $(ISOLATION)),)
	@[ "$$('$(bindir)/psql' -XAtd postgres -c 'SELECT rolsuper FROM pg_roles \
		WHERE rolname = current_user')" = t ] || { \
		echo "installcheck needs a running server with cuckoo installed, and there a" \
		"superuser of your name (createuser -s) or that PGUSER names" >&2; exit 1; }
endif
ifneq ($(and $(no_tap),$(if $(filter command line,$(origin TAP_TESTS)),,1)),)
	@echo "The TAP tests are left out: $(no_tap)."
endif
endif

ifneq ($(filter $(tasks),$(goals)),)
.PHONY: $(tasks)
check:
	@test/throwaway.sh -t test/check.sh
demo:
	@demo/run.sh
bench:
	@test/throwaway.sh -b bench/plots bench/run.sh
psql:
	@test/throwaway.sh
# SECONDS is bash's own clock
unexport SECONDS
fuzz-scan:
	@test/throwaway.sh -t test/fuzz/scan.pl $(or $(SECONDS),60) $(or $(SEED),0) $(QUERY)
lint:
	@test/lint.sh
coverage:
	@test/coverage.sh
mutate:
	@test/throwaway.sh -t nice -n 19 test/mutate.pl
endif

# The core and its tests, one program for each test/unit/test_*.c, in a folder
# of their own for each compiler.  RUN is the emulator for one of another
# processor, such as RUN='qemu-s390x -L /usr/s390x-linux-gnu'
# with CC=s390x-linux-gnu-gcc, of which the bytes of numbers go the other way.
core = $(addprefix src/cuckoo_,$(addsuffix .c,tables format validate table lookup change build keys))
UNIT_CFLAGS = -std=c11 -O2 -g -Wall -Wextra -Werror $(COPT)
space := $(subst ,, )
unit_dir := build/$(subst /,_,$(subst $(space),,$(CC)))
unit_tests = $(patsubst test/unit/%.c,$(unit_dir)/%,$(sort $(wildcard test/unit/test_*.c)))

# those that see the twins in plain C, see cuckoo_port.h
portable_tests = $(addprefix $(unit_dir)/portable_,test_bucket test_format test_images test_index)

$(unit_dir)/%: test/unit/%.c $(core) $(wildcard src/*.h test/unit/*.h)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -Isrc -o $@ $< $(core) -lm
$(unit_dir)/portable_%: test/unit/%.c $(core) $(wildcard src/*.h test/unit/*.h)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -DCUCKOO_PORTABLE -Isrc -o $@ $< $(core) -lm

# the micro-benchmark of the core, for bench/run.sh
build/bench_core: bench/bench_core.c $(core) $(wildcard src/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -DNDEBUG -Isrc -o $@ $< $(core) -lm

.PHONY: unit
unit: $(unit_tests) $(portable_tests)
	@status=0; for t in $^; do echo "$$t:"; $(RUN) $$t || status=1; done; exit $$status

.PHONY: dist
dist:
	@mkdir -p build
	git archive --prefix=cuckoo-$(version)/ -o build/cuckoo-$(version).tar.gz HEAD

.PHONY: indent
indent:
	@test/indent.sh
