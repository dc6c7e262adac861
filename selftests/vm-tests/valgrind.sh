#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: full
#
# libmrc's tests under valgrind: no error of memory, in the library or by what it hands to the kernel. Not
# seen: what attributes of an ioctl() point to, which valgrind does not follow.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# Each of its tests is a child, whose exit status valgrind makes 99.
under_valgrind() {
	mrc_start "$1" h1 env MRC_TEST_DEV="${MRC_IBDEV[h1]}" MRC_TEST_CC=5 \
		valgrind -q --error-exitcode=99 "$MRC_TOP/build/verbs/$1"
	mrc_wait "$1" 300 || { mrc_out "$1"; return 1; }
}

ksft_plan
mrc_begin mrcctl valgrind mrc_app mrc_handles mrc_controller
ksft_test "one plane" mrc_one_plane
ksft_test "a CC profile" mrcctl -n h1 cc set dev eth1 id 5 algorithm nscc
for program in mrc_handles mrc_app mrc_controller; do
	ksft_test "$program" under_valgrind $program
done
ksft_finish
