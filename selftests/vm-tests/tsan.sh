#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# libmrc's application half and the plug-in under ThreadSanitizer: libmrc/mrc_threads.c.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# The first report ends the program. TSan knows no address space with more than 28 random bits. Of two plug-ins the
# environment's is taken.
threads() {
	mrc_ibdev h1
	mrc_start "$1" h1 env MRC_TEST_DEV="$REPLY" IBV_DRIVERS="$MRC_TOP/build/tsan/libmrc" \
		TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" setarch -R "$MRC_TOP/build/tsan/mrc_threads" "$1"
	mrc_wait "$1" 120 || { mrc_out "$1"; return 1; }
}

ksft_plan
mrc_begin setarch
[ -x "$MRC_TOP/build/tsan/mrc_threads" ] || ksft_skip_all "needs build/tsan"
ksft_test "one plane" mrc_one_plane
ksft_test "QPs of each thread's own, with one hint" threads lives
ksft_test "three post to one QP, four poll" threads queue
ksft_test "QPs fail, and are destroyed, while one hears" threads events
ksft_finish
