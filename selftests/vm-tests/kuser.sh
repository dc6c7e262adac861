#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: old new uml
# timeout: 240
#
# A user of RDMA in the kernel: kuser/mrc_kuser.c connects QPs of one device, and loads only if all
# was as it should be: messages, errors and draining, with each way of polling ib_core has; fast
# registration; an SRQ.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

kuser() {		# TEST [FAMILY]
	mrc_gid_index h1 "${2:-v6}" || return
	insmod "$ko" dev="${MRC_IBDEV[h1]}" gid="$REPLY" test="$1" ||
		{ dmesg | grep mrc_kuser | tail -n 5; return 1; }
	rmmod mrc_kuser
}

# ib_core sets moderation as completions come.
with_dim() {
	rdma dev set "${MRC_IBDEV[h1]}" adaptive-moderation on || return
	rdma -d dev show "${MRC_IBDEV[h1]}" | grep -q 'adaptive-moderation on' || return
	kuser "$1" || return
	rdma dev set "${MRC_IBDEV[h1]}" adaptive-moderation off
}

ksft_plan
mrc_begin
ko=$MRC_BUILD/mrc_kuser.ko
[ -e "$ko" ] || ksft_skip_all "needs $ko"
modprobe ib_core
ksft_test "one plane" mrc_one_plane
ksft_test "messages, errors and draining, v6" kuser messages
ksft_test "messages, errors and draining, v4" kuser messages v4
for poll in softirq unbound direct; do
	ksft_test "the same, polled by $poll" kuser $poll
done
ksft_test "the same with adaptive moderation" with_dim softirq
ksft_test "fast registration" kuser fastreg
ksft_test "a key that ends under WRITEs" kuser race
ksft_test "messages on an SRQ" kuser shared
ksft_test "an SRQ of two QPs, its limit, what does not fit" kuser srq
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
# Requests are refused; and QPs begin anew at once, so that acknowledgements of before find them.
ksft_test "nothing was counted that should not be" \
	mrc_expect_clean naks_access tails_dropped rx_bad_ack
ksft_finish
