#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: old uml arm64
#
# Send slots count until completion: verbs/mrc_slots.c, both of its queue pairs on one host. Posts that make no
# system call: verbs/mrc_doorbell.c, likewise. And
# perftest, which signals one request of many.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_slots mrc_doorbell ib_write_bw
ksft_test "one plane" mrc_one_plane
mrc_harness h1 slots mrc_slots
mrc_harness h1 doorbell mrc_doorbell
ksft_test "ib_write_bw, one of 4 signaled" mrc_perf 120 ib_write_bw -s 4096 -n 400 -t 16 -Q 4
ksft_test "ib_write_bw, one of all slots signaled" mrc_perf 120 ib_write_bw -s 4096 -n 400 -t 16 -Q 16
ksft_test "ib_send_bw, by events" mrc_perf 120 ib_send_bw -s 4096 -n 400 -t 16 -e
ksft_test "ib_send_lat, by events" mrc_perf 120 ib_send_lat -e -s 64 -n 1000
ksft_finish
