# make's targets for developers; Makefile includes this
#
# These use a server of their own, which is removed afterwards. They install
# what is missing (test/throwaway.sh), so they work before PGXS is there.
#
#	make check              run all tests, which takes about 4 minutes
#	make check-nightly      run longer random ones, a server with assertions, and faults
#	make check-clients      test the clients for C, Python and JavaScript
#	make bench-clients      measure their probes a second
#	make check-page         test the example of examples/blocklist in Chromium
#	make demo               show a short tour with real data
#	make bench              run the benchmarks and draw bench/plots
#	make psql               open psql on an empty database with the extension
#	make -s psql <FILE      run a script there
#	make fuzz-scan          run random queries by the scan and without it
#	make fuzz-sql           run hostile values and their use through SQL
#
#	make lint               run static analysis of the code
#	make coverage           list the lines that no test reaches
#	make mutate SHARD=1/20  list small faults that no test notices
#
#	make unit               test the core alone, without PostgreSQL
#	make fuzz               run the core's fuzzers under libFuzzer (clang)
#	make vectors            write test/vectors, for programs that read filters
#	make pictures           draw doc/pictures
#	make dist               make a tar and a zip of the source, in build/
#	make release-check      test whether it can be released (test/release.pl)
#	make indent             give the C code pgindent's layout (test/indent.sh)
#
# For bench: ONLY=shapes and others (bench/run.sh). For the fuzzers: SECONDS=60,
# and for those through SQL SEED=n (test/fuzz).

tasks = check check-nightly check-clients check-page demo bench bench-clients psql pictures \
	fuzz-scan fuzz-sql lint coverage mutate
without_pgxs = help unit unit-programs fuzz vectors dist release-check indent build/% $(tasks)
# which is bash's own clock
unexport SECONDS

# the folders of objects, for builds elsewhere
$(if $(filter-out ./ $(CURDIR)/,$(here)),$(shell mkdir -p sql $(sort $(dir $(OBJS)))))

.DEFAULT_GOAL = all
.PHONY: help
help:
	@sed -n '/^#\tmake/s/^#\t//p' developer.mk

# only if one of them is a goal, because PGXS has a check of its own
ifneq ($(filter $(tasks),$(MAKECMDGOALS)),)
.PHONY: $(tasks)
check:
	@test/throwaway.sh -t test/check.sh
check-nightly:
	@test/throwaway.sh -t test/check.sh nightly
	@SETTINGS="$$(cat test/preloaded.conf)" test/throwaway.sh -t make -s installcheck TAP_TESTS=
	@if [ "$$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; \
	then test/versions.sh -c gcc assert || [ $$? = 77 ]; \
	else echo 'left out: a PostgreSQL with assertions, which needs root and mmdebstrap (test/versions.sh)'; fi
	@ONLY=^index/ SHARD=$$(($$(date +%s) / 86400 % 80 + 1))/80 FOR=1800 \
		test/throwaway.sh -t nice -n 19 test/mutate.pl || [ $$? = 1 ]
check-clients:
	@test/throwaway.sh -c clients/check.sh
bench-clients:
	@test/throwaway.sh -c clients/check.sh bench
demo:
	@demo/run.sh
bench:
	@test/throwaway.sh -b bench/plots bench/run.sh
psql:
	@test/throwaway.sh
check-page:
	@examples/blocklist/run.sh check $(PICTURE)
pictures:
	@doc/pictures/draw.py
fuzz-scan:
	@test/throwaway.sh -t test/fuzz/scan.pl $(or $(SECONDS),60) $(or $(SEED),0) $(QUERY)
fuzz-sql:
	@test/throwaway.sh -t test/fuzz/sql.pl $(or $(SECONDS),60) $(or $(SEED),0)
lint:
	@test/lint.sh
coverage:
	@test/coverage.sh
mutate:
	@test/throwaway.sh -t nice -n 19 test/mutate.pl
endif

ifneq ($(filter installcheck,$(MAKECMDGOALS)),)
# TAP tests start their own servers; a TAP_TESTS of the command line prevails
no_tap := $(shell \
	if [ "$$(id -u)" = 0 ]; then echo "root may not start the servers they need"; \
	else perl -MIPC::Run -MTest::More -e 1 2>/dev/null || \
	echo "they need Perl with IPC::Run (Debian: libipc-run-perl)"; fi)
ifneq ($(and $(no_tap),$(if $(filter command line,$(origin TAP_TESTS)),,1)),)
TAP_TESTS =
$(info The TAP tests are left out: $(no_tap).)
endif

installcheck: installcheck-needs
.PHONY: installcheck-needs
installcheck-needs:
ifneq ($(strip $(REGRESS) $(ISOLATION)),)
	@[ "$$('$(bindir)/psql' -XAtd postgres -c "SELECT rolsuper, current_setting('server_version_num')::int / 10000 \
		FROM pg_roles WHERE rolname = current_user")" = 't|$(MAJORVERSION)' ] || { \
		echo "installcheck needs a running server of PostgreSQL $(MAJORVERSION) with cuckoo installed," \
		"which PGPORT names if its port is not 5432, and there a superuser of your name (createuser -s)" \
		"or that PGUSER names" >&2; exit 1; }
endif
endif

# The core and its tests, one program for each test/unit/test_*.c, in a folder
# of their own for each compiler. RUN is an emulator, to test another processor:
# CC=s390x-linux-gnu-gcc RUN='qemu-s390x -L /usr/s390x-linux-gnu' is big-endian.
core = $(sort $(wildcard src/core/*.c))
# without -g, for which the compiler takes a sixth longer: make unit COPT=-g
UNIT_CFLAGS = -std=c11 -O2 -Wall -Wextra -Werror $(COPT)
space := $(subst ,, )
unit_dir := build/$(subst =,_,$(subst /,_,$(subst $(space),,$(CC))))
unit_tests = $(patsubst test/unit/%.c,$(unit_dir)/%, \
	$(sort $(wildcard test/unit/test_*.c))) $(unit_dir)/small_test_entry

# tests that also run with the twins in plain C, see src/core/port.h
portable_tests = $(addprefix $(unit_dir)/portable_, \
	test_bucket test_format test_images test_index)

# The core is compiled once in each of these ways, into a folder of that name.
# The fuzzer of damaged images runs without assertions, which such an image may
# fail.
asserts = -include assert.h -D'CUCKOO_ASSERT(c)=assert(c)'
flags_plain = $(asserts)
flags_portable = $(asserts) -DCUCKOO_PORTABLE
flags_corrupt = -DCUCKOO_FUZZING -Itest/unit
flags_fuzz = $(flags_corrupt) $(asserts)
headers = $(wildcard src/core/*.h test/unit/*.h test/fuzz/*.h)
core_objects = $(patsubst src/core/%.c,$(unit_dir)/$(1)/%.o,$(core))
define unit_rules
$(unit_dir)/$(1)/%.o: src/core/%.c $$(wildcard src/core/*.h)
	@mkdir -p $$(@D)
	$$(CC) -iquote src $$(UNIT_CFLAGS) $$(flags_$(1)) -c -o $$@ $$<
$(unit_dir)/$(2): $(3) $$(call core_objects,$(1)) $$(headers)
	$$(CC) -iquote src $$(UNIT_CFLAGS) $$(flags_$(1)) -o $$@ $$(filter %.c %.o,$$^) -lm
endef
$(eval $(call unit_rules,plain,%,test/unit/%.c))
# the entries of src/index, which need no PostgreSQL either
$(unit_dir)/test_entry: src/index/entry.c src/index/entry.h
$(unit_dir)/small_test_entry: test/unit/test_entry.c src/index/entry.c src/index/entry.h \
	$(call core_objects,plain) $(headers)
	$(CC) -iquote src $(UNIT_CFLAGS) $(flags_plain) -DCUCKOO_SMALL_PAGES -o $@ $(filter %.c %.o,$^) -lm
$(eval $(call unit_rules,portable,portable_%,test/unit/%.c))
$(eval $(call unit_rules,fuzz,fuzz_%,test/fuzz/fuzz_%.c test/fuzz/replay.c))
$(eval $(call unit_rules,corrupt,fuzz_corrupt,test/fuzz/fuzz_corrupt.c test/fuzz/replay.c))
# fuzzers run for less time than the compiler
$(unit_dir)/fuzz% $(unit_dir)/corrupt/%: UNIT_CFLAGS += -O0
.SECONDARY: $(foreach way,plain portable fuzz corrupt,$(call core_objects,$(way)))

# golden vectors, in the folder that VECTORS names
.PHONY: vectors
VECTORS = test/vectors
vectors: $(unit_dir)/vectors
	@for v in elements images refused; do $< $$v >$(VECTORS)/$$v.json || exit; done
# The fuzzers of the core, test/fuzz/fuzz_*.c, under libFuzzer; with replay.c
# they are tests.  Much of the time would go to tracing comparisons, to
# libFuzzer's statistics and to the sanitizer's list of freed memory, which help
# little here.
fuzzers = $(sort $(basename $(notdir $(wildcard test/fuzz/fuzz_*.c))))
FUZZ_CFLAGS = -std=c11 -O2 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-fno-sanitize-coverage=trace-cmp

build/fuzz/fuzz_%: test/fuzz/fuzz_%.c $(core) $(headers)
	@mkdir -p $(@D)
	clang $(FUZZ_CFLAGS) $(flags_$(if $(findstring corrupt,$@),corrupt,fuzz)) -iquote src -o $@ $< $(core) -lm

# What is found anew goes to build/fuzz/corpus, an input that fails to build/fuzz.
.PHONY: fuzz
fuzz: $(fuzzers:%=build/fuzz/%)
	@for f in $(fuzzers); do \
		mkdir -p build/fuzz/corpus/$$f && echo "$$f:" && \
		ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=2 \
		build/fuzz/$$f -max_total_time=$(or $(SECONDS),60) -max_len=100 -entropic=0 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/$$f- build/fuzz/corpus/$$f test/fuzz/corpus/$$f \
			2>build/fuzz/$$f.log || { tail -n 100 build/fuzz/$$f.log; exit 1; }; \
		grep -E 'cov:|^stat::(number|average)' build/fuzz/$$f.log | tail -n 3; \
	done

# the micro-benchmark of the core, for bench/run.sh
build/bench_core: bench/bench_core.c $(core) $(wildcard src/core/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -iquote src -o $@ $< $(core) -lm

# the error of cf_overlap, by itself: build/overlap
build/overlap: bench/overlap.c $(core) $(wildcard src/core/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -iquote src -o $@ $< $(core) -lm

# unit-programs only builds what unit runs, for as many processes as -j allows.
# LONG=1 has those that know longer runs take them.
.PHONY: unit unit-programs
unit_programs = $(unit_tests) $(portable_tests) $(fuzzers:%=$(unit_dir)/%)
unit-programs: $(unit_programs) $(unit_dir)/vectors
unit: $(unit_programs)
	@status=0; for t in $^; do \
		case $$t in */fuzz_*) set -- ;; *) set -- $(if $(LONG),0 long) ;; esac; \
		echo "$$t:"; $(RUN) $$t "$$@" || status=1; \
	done; exit $$status

# the release; the first two numbers are the version of the SQL objects
release = $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' META.json)

# with the install scripts, so that a build from it needs no awk
.PHONY: dist release-check
dist:
	@mkdir -p build
	@for e in $(EXTENSION); do awk -f sql/generate.awk sql/$$e.sql.in \
		>build/$$e--$(version).sql || exit; done
	for f in zip tar.gz; do git archive --prefix=cuckoo-$(release)/sql/ \
		$(EXTENSION:%=--add-file=build/%--$(version).sql) \
		--prefix=cuckoo-$(release)/ -o build/cuckoo-$(release).$$f HEAD || exit; done
release-check:
	@test/release.pl

.PHONY: indent
indent:
	@test/indent.sh
