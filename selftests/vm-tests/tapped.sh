#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# kernels: new uml
#
# An attacker on a cable of plane 2 sees all that passes, holds, replays, reflects and forges (verbs/mrc_mitm.c). No
# data is taken that was not sent, and plane 1 has not noticed.
#
#	h1, h2: mrc0 over eth1 eth2, each T0 - T1 - T0, SRv6	by hand
#	h1 eth2 - tap - T0 of plane 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

tapped() {
	mrc_clear && fabric_build 2 2 2 1 && fabric_tap h1 eth2 p2-t0-1 h1 && fabric_program_static &&
		fabric_each_host mrc_host_by_hand && mrc_wait_devices
}
turn() { kill -USR1 "${MRC_PID[mitm]}"; }
# acts KIND: REPLY, how many he has sent of it, as he said last.
acts() { REPLY=$(sed -nE "s/.* $1=([0-9]+).*/\1/p" "$MRC_DIR/mitm.out" | tail -n 1); }
# attacked: for some time; true when there were fifty of each kind in all.
attacked() {
	local kind said
	said=$(wc -l <"$MRC_DIR/mitm.out")
	turn
	mrc_sleep 10
	turn
	mrc_until 30 says_more "$said" || return
	for kind in held replay reflect turn flip inject; do
		acts $kind
		[ "${REPLY:-0}" -ge 50 ] || { echo "$kind: $REPLY"; return 1; }
	done
}
says_more() { [ "$(wc -l <"$MRC_DIR/mitm.out")" -gt "$1" ]; }
rose() { mrc_stat "$1" "$2" && echo "$2 of $1: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }
# suspected PLANE: REPLY, EVs of h1 there.
suspected() { REPLY=$(mrcctl -n h1 -j ev show state assumed-bad | jq "[.[] | select(.plane == $1)] | length"); }
trusted() { suspected 1 && echo "$REPLY suspected" && [ "$REPLY" -eq 0 ]; }
# alive: the same QP of h1 still sends.
alive() { [[ $(mrc_qp_of h1 qpn) = "$qpn" ]]; }

ksft_plan
mrc_begin mrcctl mrc_verify mrc_mitm ethtool
at_exit ip netns del tap
ksft_test "two planes, one of them tapped" tapped
mrc_start mitm tap mrc_mitm -s "$EPOCHSECONDS" left right
ksft_test "he listens" mrc_until 30 grep -q ready "$MRC_DIR/mitm.out"
ksft_test "and passes frames on" mrc_until 30 fabric_in h1 ping -q -c 1 -W 2 fe80::2%eth2
# shellcheck disable=SC2034
MRC_STALL=240
ksft_test "data flows" mrc_verify_start -u 20 -o mix -q 2 -s 16384 -t 1200
ksft_test "over both planes" mrc_flows 60
qpn=$(mrc_qp_of h1 qpn)
mrc_stat h2 rx_bad_icrc && bad=$REPLY
mrc_stat h2 rx_dup && dup=$REPLY
ksft_test "he attacks" mrc_until 300 attacked
ksft_comment "$(mrc_out mitm 1)"
ksft_test "what he damaged is dropped" rose h2 rx_bad_icrc "$bad"
ksft_test "what had come is known" rose h2 rx_dup "$dup"
ksft_test "the connection lives" alive
ksft_test "plane 1 carries it" mrc_until 60 mrc_plane_used client 1 tx
ksft_test "and is not suspected" mrc_until 60 trusted
ksft_test "when he has ended, both planes do" mrc_flows 120
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
mrc_kill mitm TERM
ksft_finish
