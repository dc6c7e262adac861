#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# kernels: full
#
# qperf, without its options for RoCE, so that it addresses by LIDs (tools/lib/ibverbs/lid.c), and over
# rdma_cm.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"

# ask SECS ARG...: of the server in h2. A number came back that is not 0. Each end is told its device: both
# see those of all namespaces, and would take the first.
ask() {
	local secs=$1
	shift
	MRC_PORT=$((MRC_PORT + 1))
	progs_serve $((secs + 60)) $MRC_PORT qperf -lp $MRC_PORT -- \
		qperf 10.77.0.2 -lp $MRC_PORT -li "$D1" -ri "$D2" -t "$secs" "$@" || return
	grep -E '= *[0-9.]*[1-9]' "$MRC_DIR/client.out" || { echo "no result: $(mrc_out client)"; return 1; }
}

ksft_plan
mrc_begin qperf
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
progs_gids v4
for name in rc_bw rc_bi_bw rc_rdma_write_bw; do
	ksft_test "$name" progs_moved tx_bytes 60000 ask 3 -m 16384 $name
done
for name in ud_bw ud_lat; do
	ksft_test "$name" progs_moved tx_dgrams 5 ask 3 $name
done
for name in rc_lat rc_rdma_write_poll_lat rc_fetch_add_mr ver_rc_compare_swap; do
	ksft_test "$name" ask 3 $name
done
ksft_test "rc_rdma_read_bw" progs_moved rx_bytes 60000 ask 3 -m 16384 rc_rdma_read_bw
ksft_test "rc_bw over rdma_cm" progs_moved tx_bytes 60000 ask 3 -cm 1 -m 16384 rc_bw
ksft_test "rc_rdma_read_bw over rdma_cm" progs_moved rx_bytes 60000 ask 3 -cm 1 -m 16384 rc_rdma_read_bw
ksft_test "rc_bw, plane 1 cut" progs_cut ask @15 -m 16384 rc_bw
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
