#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: new uml arm64
#
# Shared receive queues: verbs/mrc_srq.c, its queue pairs on one host; and ibv_srq_pingpong, many
# queue pairs of two hosts.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_srq ibv_srq_pingpong ib_send_bw
ksft_test "one plane" mrc_one_plane
mrc_harness h1 srq mrc_srq
export MRC_PINGPONG=ibv_srq_pingpong
ksft_test "ibv_srq_pingpong, polling" mrc_pingpong 120 v6 -c -n 100 -q 8
ksft_test "ibv_srq_pingpong, by events" mrc_pingpong 120 v4 -c -e -n 100 -q 8
ksft_test "ib_send_bw over an SRQ" mrc_perf 120 ib_send_bw -s 4096 -n 200 -r 32 --use-srq
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
