#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# kernels: full
#
# Gloo's ibverbs transport between two hosts: allreduce, every element checked (gloo/mrc_gloo.cc).
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"

GLOO=$MRC_TOP/build/gloo/mrc_gloo

# reduces SECONDS
reduces() {
	local rc=0
	rm -rf "$MRC_DIR/gloo" && mkdir "$MRC_DIR/gloo"
	mrc_start server h2 "$GLOO" "$D2" "$G2" "$MRC_DIR/gloo" 0 2 "$1"
	mrc_start client h1 "$GLOO" "$D1" "$G1" "$MRC_DIR/gloo" 1 2 "$1"
	"${MRC_MEANWHILE:-:}" || rc=1
	mrc_pair_wait 90 || rc=1
	grep -h PASS "$MRC_DIR/client.out" "$MRC_DIR/server.out" && return $rc
}

ksft_plan
[ -x "$GLOO" ] || ksft_skip_all "needs $GLOO (libgloo-dev)"
mrc_begin
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
for gids in v6 v4; do
	ksft_test "GIDs of IP$gids" progs_gids $gids
	ksft_test "allreduce, IP$gids" progs_moved tx_bytes 2000000 reduces 3
done
ksft_test "plane 1 cut" progs_cut reduces @20
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
