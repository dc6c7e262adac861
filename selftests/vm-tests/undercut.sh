#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 420
# kernels: full
#
# What other tests run on whole planes, once more with a plane cut while data flows: rdma_cm's programs, which
# verify what they get, shared receive queues, extended completion queues and posting, perftest's kinds of requests.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"
. "$here/../lib/cm.sh"

srq_pingpong() { MRC_PINGPONG=ibv_srq_pingpong mrc_pingpong 120 "$@"; }

# cm NAME ROUNDS FAMILY
# shellcheck disable=SC2034  # for lib/cm.sh
cm_rounds() { local CM_ROUNDS=$1; "${@:2}"; }
cm() { progs_cut cm_rounds "@$2" "cm_$1" "$3"; }

ksft_plan
mrc_begin rping ucmatose rstream riostream ibv_rc_pingpong ibv_srq_pingpong ib_send_bw
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "rping" cm rping 3000 v6
ksft_test "ucmatose" cm ucmatose 3000 v4
ksft_test "rstream" cm rstream 100 v6
ksft_test "riostream" cm riostream 100 v4
ksft_test "ibv_rc_pingpong with timestamps and ibv_wr_*" progs_cut mrc_pingpong 120 v6 -c -t -N -n @4000
ksft_test "ibv_srq_pingpong, 8 QPs" progs_cut srq_pingpong v6 -c -n @6000 -q 8
ksft_test "ib_send_bw over an SRQ" progs_cut mrc_perf 120 ib_send_bw -s 16384 -r 32 --use-srq -n @3000
ksft_test "ib_read_bw" progs_cut mrc_perf 120 ib_read_bw -e -s 65536 -n @3000
ksft_test "ib_atomic_bw" progs_cut mrc_perf 120 ib_atomic_bw -e -n @20000
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
