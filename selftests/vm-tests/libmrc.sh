#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: new uml arm64
#
# libmrc: programs written for OCP's mrc.h, both QPs of which are on one device. libmrc/mrc_app.c: the
# application half; libmrc/mrc_handles.c: bad input to it; libmrc/mrc_controller.c: the controller half;
# libmrc/mrc_in_use.c: of a profile that a QP uses; libmrc/mrc_creds.c: after setuid(), and in a child process.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrcctl mrc_app mrc_handles mrc_controller mrc_in_use mrc_creds mrc_verify
ksft_test "one plane" mrc_one_plane
ksft_test "a CC profile" mrcctl -n h1 cc set dev eth1 id 5 algorithm nscc
export MRC_TEST_CC=5
mrc_harness h1 app mrc_app
mrc_harness h1 handles mrc_handles
mrc_harness h1 creds mrc_creds
mrc_harness h1 controller mrc_controller

ksft_test "an EV profile" mrcctl -n h1 profile set dev eth1 id 1 fmt udp ev 1 50000 ev 1 50001 ev 1 50002
# shellcheck disable=SC2034
MRC_STALL=300	# it stands still for long, lest a busy machine doubt an EV: events are counted
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "from a QP" mrc_flows
kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"
ksft_test "which stands still, its EVs good" mrc_until 60 mrc_evs_are h1 assumed-bad -eq 0
mrc_harness h1 in_use mrc_in_use
kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
