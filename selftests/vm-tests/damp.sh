#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 500
# kernels: full
#
# Ports that come and go too often are not believed, ours and the peer's; and
# a peer that nobody uses is forgotten, however often somebody asks for it.
#
#	h1 mrc0 = 2 planes, each T0 - T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

damp() { mrcctl -n "$1" dev set dev mrc0 damp "$2"; }
flap() {	# TIMES
	local i
	for ((i = 0; i < $1; i++)); do
		fabric_cut h1 eth1 && fabric_restore h1 eth1 || return
	done
}

plane1_is() {	# HOST "CARRIER UP HELD"
	local got
	got=$(mrcctl -n "$1" -j plane show | jq -r '.[] | select(.plane == 1) |
		"\(.carrier) \(.up) \(.held)"')
	echo "carrier, up, held: $got, expected $2"
	[ "$got" = "$2" ]
}

ports_of_h1_are() {	# JSON
	local got
	got=$(mrcctl -n h2 -j peer show peer fd00:6d72:63::1 | jq -c '.[0].ports_up')
	echo "ports of h1, as h2 believes: $got, expected $1"
	[ "$got" = "$1" ]
}

no_peer() { ! mrcctl -n h1 peer show | grep -q 10.77.0.99; }

ksft_plan
mrc_begin mrcctl mrc_verify ping
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
# Made now, forgotten while the rest goes on; every look at it is made below.
fabric_in h1 ping -q -c 1 -W 1 10.77.0.99 >/dev/null 2>&1 || true
ksft_test "a peer of ordinary traffic" grep -q 10.77.0.99 <(mrcctl -n h1 peer show)
born=$SECONDS

# ------------------------------------------------------------------- ours
ksft_test "damping with a half-life of 20 s" damp h1 20000
ksft_test "data flows" mrc_verify_start -o write -s 16384 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "one flap" flap 1
ksft_test "is forgiven" mrc_until 10 plane1_is h1 "true true false"
ksft_test "four more" flap 4
ksft_test "are not: the plane is held" mrc_until 10 plane1_is h1 "true false true"
ksft_test "the peer was told" mrc_until 15 ports_of_h1_are '[2]'
ksft_test "nothing is sent on it" mrc_until 15 mrc_plane_unused client 1 tx
mrc_stat h1 planes_held
ksft_test "which is counted ($REPLY)" test "$REPLY" -ge 1
ksft_test "it is let go when the penalty has decayed" mrc_until 120 plane1_is h1 "true true false"
ksft_test "and used" mrc_until 20 mrc_plane_used client 1 tx
ksft_test "disabled and enabled is no flap" sh -c "
	for i in 1 2 3 4 5; do
		mrcctl -n h1 plane set dev mrc0 plane 1 admin off &&
		mrcctl -n h1 plane set dev mrc0 plane 1 admin on || exit
	done"
ksft_test "as is seen" plane1_is h1 "true true false"

# -------------------------------------------------------------- the peer's
ksft_test "h1 believes all" damp h1 0
ksft_test "h2 has a half-life of a minute" damp h2 60000
ksft_test "h2 knows both ports" mrc_until 20 ports_of_h1_are '[1,2]'
heard_and_back() {
	local i
	for ((i = 0; i < 5; i++)); do
		fabric_cut h1 eth1 && mrc_until 10 ports_of_h1_are '[2]' || return
		fabric_restore h1 eth1 || return
		mrc_until 2 ports_of_h1_are '[1,2]' || return 0	# not believed any more
	done
	echo "always believed"
	return 1
}
ksft_test "flaps as announced, until they are not believed" heard_and_back
ksft_test "h1 itself uses the plane" mrc_until 10 plane1_is h1 "true true false"
ksft_test "h2 does not" mrc_until 10 ports_of_h1_are '[2]'
ksft_test "until it is told to believe" damp h2 0
ksft_test "what it is" mrc_until 10 ports_of_h1_are '[1,2]'
ksft_test "traffic is back" mrc_until 20 mrc_plane_used client 1 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

ksft_test "the unused peer is forgotten, though looked at" mrc_until 120 no_peer
ksft_comment "after $((SECONDS - born)) s"
ksft_finish
