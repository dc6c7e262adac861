#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full uml
#
# EV profiles that QPs name (mrc.h): QPs to one peer go by path sets of their own, each over the EVs of its
# profile alone, and follow it when it changes. Two rings of libmrc's mrc_ring, every element compared.
# libmrc/mrc_named.c: more of them than one peer has room for.
#
#	h1 eth1 ---- eth1 h2	mrc0 over both, UDP; profile 30: plane 1, 31: plane 2
#	h1 eth2 ---- eth2 h2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

PEER=fd00:6d72:63::2

# profile ID PLANE: four EVs on one plane.
profile() {
	local i evs=()
	for i in 1 2 3 4; do
		evs+=(ev "$2" $((50000 + $1 * 10 + i)))
	done
	mrcctl -n h1 profile set dev mrc0 id "$1" fmt udp "${evs[@]}"
}

# ring NAME PROFILE: rank 0, in h1, names it.
ring() {
	local i
	MRC_PORT=$((MRC_PORT + 2))
	for i in 0 1; do
		mrc_gid_index h$((i + 1)) v6
		mrc_start "$1$i" h$((i + 1)) env MRC_DEBUG=1 MRC_QP_EV_PROFILE_ID=$((i ? 0 : $2)) \
			mrc_ring -d "${MRC_IBDEV[h$((i + 1))]}" -g "$REPLY" -p $MRC_PORT -r $i fd00:6d72:63::1 $PEER
	done
}
rounds_of() { REPLY=$(grep -c '^round' "$MRC_DIR/$1.out") || :; }
more_of() { rounds_of "$1"; [ "$REPLY" -ge "$2" ]; }
goes_on() {	# NAME N
	rounds_of "${1}0"
	mrc_until 60 more_of "${1}0" $((REPLY + $2)) || { mrc_out "${1}0"; return 1; }
}
ends_right() {	# NAME
	kill -INT "${MRC_PID[${1}0]}" || true
	mrc_wait "${1}0" 60 && mrc_wait "${1}1" 60 && grep -q "^rank 0: ok, .* every one right" "$MRC_DIR/${1}0.out" ||
		{ mrc_out "${1}0"; mrc_out "${1}1"; return 1; }
}

# evs NAMED JQ: over the EVs of the set of QPs that name it.
evs() { mrcctl -n h1 -j ev show dev mrc0 peer $PEER named "$1" | jq -ce "$2" >/dev/null; }
by_plane() {	# NAMED PLANE: there is such a set, of that plane's EVs, and packets leave by them
	evs "$1" "length == 4 and all(.port == $2 and .named == $1) and (map(.tx_pkts) | add) > 50"
}
is_auto() { evs "$1" 'length == 32 and all(.profile == 0)'; }
qps_name() {	# PROFILE N
	mrcctl -n h1 -j qp show | jq -e "[.[] | select(.ev_profile == $1 and .state == \"RTS\")] | length == $2" >/dev/null
}
state_of() {	# NAMED INDEX STATE
	evs "$1" ".[$2].state == \"$3\""
}
none_named() { mrcctl -n h1 -j ev show | jq -e 'all(has("named") | not)' >/dev/null; }
sent() { mrcctl -n h1 -j plane show | jq ".[$1 - 1].tx_pkts"; }
quiet() {	# PLANE: hardly anything leaves by it while the ring goes on
	local before now
	before=$(sent "$1")
	goes_on "$2" 5 || return
	now=$(sent "$1")
	echo "$((now - before)) packets"
	[ $((now - before)) -lt 100 ]
}

ksft_plan
mrc_begin mrcctl mrc_ring mrc_named
ksft_test "two plain cables" mrc_flat
ksft_test "a profile of plane 1" profile 30 1
ksft_test "and one of plane 2" profile 31 2

ring a 30
ksft_test "a ring whose QPs name the first" goes_on a 3
ksft_test "they say so" qps_name 30 4
ksft_test "they go by its EVs" mrc_until 20 by_plane 30 1
ksft_test "and by no others" mrc_until 30 quiet 2 a
ring b 31
ksft_test "a ring whose QPs name the second" goes_on b 3
ksft_test "they go by its EVs" mrc_until 20 by_plane 31 2
ksft_test "the first ring by its own" by_plane 30 1
ksft_test "and nobody by the device's default" evs 0 'map(.tx_pkts) | add < 100'

# --------------------------------------------------------------- under traffic
ksft_test "an EV of the first is denied" mrcctl -n h1 ev set dev mrc0 peer $PEER named 30 index 1 state denied
ksft_test "to its QPs" state_of 30 1 denied
ksft_test "not to others" state_of 31 1 good
ksft_test "its last one is refused" refused "no path left" -- \
	mrcctl -n h1 ev set dev mrc0 peer $PEER named 30 index 0 index 2 index 3 state denied
ksft_test "what no QP names has no EVs" refused "names EV profile 4711" -- \
	mrcctl -n h1 ev set dev mrc0 peer $PEER named 4711 index 0 state denied
ksft_test "the first profile becomes one of plane 2" profile 30 2
ksft_test "its QPs follow" mrc_until 20 by_plane 30 2
fabric_blackhole h1 eth1
ksft_test "plane 1 is a black hole: the first ring goes on" goes_on a 3
ksft_test "the second too" goes_on b 3
fabric_heal h1 eth1
ksft_test "it is taken away: EVs are made up" mrcctl -n h1 profile del dev mrc0 id 30
ksft_test "its QPs follow" mrc_until 20 is_auto 30
ksft_test "it comes back" profile 30 1
ksft_test "its QPs follow" mrc_until 20 by_plane 30 1
ksft_test "another default of the device" mrcctl -n h1 dev set dev mrc0 profile 31
ksft_test "is nothing to them" by_plane 30 1

# ------------------------------------------------------------------- the end
ksft_test "every element of the first ring was right" ends_right a
ksft_test "every element of the second" ends_right b
ksft_test "and the path sets are gone with their QPs" mrc_until 20 none_named

# ----------------------------------------------------------- one too many
seventeen() {
	local i
	for ((i = 100; i <= 116; i++)); do
		profile $i 1 || return
	done
}
ksft_test "seventeen profiles" seventeen
export MRC_TEST_PEER=$PEER MRC_TEST_PROFILE=100
mrc_harness h1 named mrc_named

ksft_test "none is left" mrc_until 20 none_named
# As in planes.sh: what is sent again after its message was acknowledged.
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
