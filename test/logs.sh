#!/bin/sh
# Lines that no server's log may have, of any test: test/logs.sh LOG...
#
# They tell of leaked buffers, locks and other resources, assertions that failed,
# pages that differ from the primary's, processes that died, and errors that
# should be impossible. The logs must have SQLSTATEs (test/server.conf).
#
# The status is that of grep: 1 if there are none.
exec grep -nE -e 'PANIC: |TRAP: |inconsistent page|by signal (4|6|7|8|11)\>| XX000 .*(ERROR|FATAL): ' \
	-e 'WARNING: .*( leak\>|was not closed|not own a lock)' /dev/null "$@"
