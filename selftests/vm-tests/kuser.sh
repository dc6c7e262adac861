#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# A user of RDMA in the kernel: kuser/mrc_kuser.c connects two QPs of one device, and loads only
# if every message arrived right, errors were told, and its queues could be drained.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

with_gid() {		# FAMILY
	mrc_gid_index h1 "$1" || return
	insmod "$ko" dev="${MRC_IBDEV[h1]}" gid="$REPLY" || { dmesg | grep mrc_kuser; return 1; }
	rmmod mrc_kuser
}

ksft_plan
mrc_begin
ko=$MRC_BUILD/mrc_kuser.ko
[ -e "$ko" ] || ksft_skip_all "needs $ko"
modprobe ib_core
ksft_test "one plane" mrc_one_plane
ksft_test "messages, errors and draining, v6" with_gid v6
ksft_test "messages, errors and draining, v4" with_gid v4
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
