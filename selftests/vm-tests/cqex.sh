#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full uml
#
# Extended completion queues and extended posting: verbs/mrc_cqex.c; and ibv_rc_pingpong with both.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_cqex ibv_rc_pingpong
ksft_test "one plane" mrc_one_plane
mrc_harness h1 cqex mrc_cqex
ksft_test "ibv_rc_pingpong with timestamps" mrc_pingpong 120 v6 -c -t -n 100
ksft_test "ibv_rc_pingpong with ibv_wr_*" mrc_pingpong 120 v6 -c -N -n 100
# Not -t with -e: it takes an event for something it has polled already as the end.
ksft_test "ibv_rc_pingpong with both" mrc_pingpong 120 v4 -c -t -N -n 100
ksft_test "ibv_rc_pingpong with ibv_wr_*, by events" mrc_pingpong 120 v4 -c -e -N -n 100
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
