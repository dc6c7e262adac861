#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Debian's perftest, unchanged, over four planes. It checks no data: verify.sh does.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin ib_write_bw
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "ib_write_bw" mrc_perf 60 ib_write_bw -s 65536 -n 200
ksft_test "ib_write_bw, both ways" mrc_perf 60 ib_write_bw -b -s 65536 -n 100
ksft_test "ib_write_bw, 8 QPs" mrc_perf 60 ib_write_bw -q 8 -s 16384 -n 50
ksft_test "ib_write_bw, 100 QPs" mrc_perf 60 ib_write_bw -q 100 -s 4096 -n 5 -t 5
ksft_test "ib_read_bw, both ways, 4 QPs" mrc_perf 60 ib_read_bw -b -q 4 -s 16384 -n 20
ksft_test "ib_send_bw, both ways" mrc_perf 60 ib_send_bw -b -e -s 16384 -n 50
ksft_test "ib_read_bw" mrc_perf 60 ib_read_bw -e -s 65536 -n 100
ksft_test "ib_send_bw" mrc_perf 60 ib_send_bw -e -s 65536 -n 200
ksft_test "ib_atomic_bw" mrc_perf 60 ib_atomic_bw -e -n 200
ksft_test "ib_write_lat" mrc_perf 60 ib_write_lat -s 64 -n 200
ksft_test "ib_read_lat" mrc_perf 60 ib_read_lat -e -s 64 -n 200
# Often enough that an answer overtakes the acknowledgement: see mrc_cq_entries().
ksft_test "ib_send_lat" mrc_perf 60 ib_send_lat -e -s 64 -n 1000
ksft_test "ib_atomic_lat" mrc_perf 60 ib_atomic_lat -e -n 200
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
