# cuckoo: build, install and test with PGXS
#
#	make && make install    build and install for the PostgreSQL of $(PG_CONFIG)
#	make installcheck       test the installed extension on a running server
#	make check              run all tests on a throwaway server
#	make demo               show a short tour with real data
#	make help               list what else there is, for developers
#
# Variables: PG_CONFIG=..., WERROR=1 (warnings are errors), ASSERTS=1 (the core
# checks itself), with_llvm=no (no bitcode, for machines without clang). It also
# builds elsewhere: make -f FOLDER/Makefile.

EXTENSION = cuckoo cuckoo_citus
MODULE_big = cuckoo
here := $(dir $(firstword $(MAKEFILE_LIST)))
version := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(here)cuckoo.control)
OBJS := $(patsubst $(here)%.c,%.o,$(sort $(wildcard $(here)src/*.c $(here)src/*/*.c)))
DATA = $(patsubst $(here)%,%,$(wildcard $(here)sql/*--*--*.sql))
DATA_built = $(EXTENSION:%=sql/%--$(version).sql)
EXTRA_CLEAN = build $(wildcard test/module/*.o test/module/*.so test/module/*.bc)

# -iquote, because our headers have short names, which <...> must not find
PG_CPPFLAGS = -iquote $(here)src -DCUCKOO_IN_POSTGRES $(if $(ASSERTS),-DCUCKOO_ASSERTS)
PG_CFLAGS = -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) \
	$(if $(findstring clang,$(CC)),$(NOT_FOR_CLANG))
# clang warns about PostgreSQL's headers, and about flags that are meant for gcc
NOT_FOR_CLANG = -Wno-ignored-attributes -Wno-unknown-warning-option \
	-Wno-ignored-optimization-argument

# helpers first, which the others use: make installcheck REGRESS='helpers scan'
REGRESS = helpers $(filter-out helpers %--$(version),$(sort $(basename \
	$(notdir $(filter-out $(DATA),$(wildcard sql/*.sql))))))
REGRESS_OPTS = --load-extension=cuckoo
ISOLATION = $(filter-out $(if $(filter 15 16 17,$(MAJORVERSION)),unique_index),\
	$(sort $(basename $(notdir $(wildcard test/specs/*.spec)))))
ISOLATION_OPTS = --inputdir=$(here)test --load-extension=cuckoo
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl

PG_CONFIG ?= pg_config
PGXS = $(shell $(PG_CONFIG) --pgxs)
include $(here)developer.mk

# developer.mk names the goals that must work before PGXS is there
ifneq ($(filter-out $(without_pgxs),$(or $(MAKECMDGOALS),all)),)
include $(PGXS)

$(OBJS) $(OBJS:.o=.bc): $(wildcard $(here)src/*.h $(here)src/*/*.h)
$(DATA_built): sql/%--$(version).sql: sql/%.sql.in sql/cf_agg.sql.in sql/generate.awk
	awk -f $(here)sql/generate.awk $< >$@
endif
