#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# kernels: full uml
#
# Two controllers on the same profiles, of which one is killed at any step, under traffic (libmrc/mrc_fight.c):
# every refusal is one of the interface's, no profile is half one's and half the other's, and the device works.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

fight() {
	mrc_start fight h1 mrc_fight -d "${MRC_IBDEV[h1]}" -n "$1"
	mrc_wait fight 120 || { mrc_out fight; return 1; }
	[[ $(mrc_out fight 1) =~ \ ([0-9]+)\ succeeded ]] && [ "${BASH_REMATCH[1]}" -gt 100 ]
}
# What a controller made and did not take away is there, what it only began is not.
nothing_left() { mrcctl -n h1 -j "$1" show | jq -e 'all(.[]; .id != 40)'; }

ksft_plan
mrc_begin mrcctl mrc_fight mrc_verify
ksft_test "one plane" mrc_one_plane
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "from a QP" mrc_flows
ksft_test "two controllers, one killed forty times" fight 40
ksft_comment "$(mrc_out fight 1)"
ksft_test "no EV profile of theirs is left" nothing_left profile
ksft_test "no CC profile either" nothing_left cc
ksft_test "data still flows" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
