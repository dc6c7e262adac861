#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: full
#
# libmrc's example mrc_mover: a controller that makes EXP, GEN and CC profiles through mrc_ctl.h, and moves
# traffic between them, of which no byte is lost. A QP of mrc.h has the CC profile whose configuration changes.
#
#	h1 eth1 ---- eth1 h2	mrc0 over both, UDP
#	h1 eth2 ---- eth2 h2
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

# moves NAME PAUSE_MS MOVES [ARG...]: profiles 20, 21, 22 in turn.
moves() {
	local name=$1 pause=$2 n=$3
	shift 3
	mrc_start "$name" h1 env MRC_DEBUG=1 mrc_mover -d "${MRC_IBDEV[h1]}" -i 20 -p "$pause" -n "$n" "$@" \
		-x "mrcctl dev set dev mrc0 profile"
}
at() { grep -c "^moved to profile $2" "$MRC_DIR/$1.out" >/dev/null || { mrc_out "$1"; return 1; }; }
# only PLANE...: these planes carry it, the others do not.
only() {
	local rates p carries
	mrc_plane_rates client tx 0.5 || return
	echo "packets per plane: $REPLY"
	read -ra rates <<<"$REPLY"
	for ((p = 1; p <= FABRIC_P; p++)); do
		carries=$((rates[p - 1] > MRC_IDLE))
		[[ $carries = 1 && " $* " = *" $p "* ]] || [[ $carries = 0 && " $* " != *" $p "* ]] || return
	done
}
ends_well() { mrc_wait "$1" 60 || { mrc_out "$1"; return 1; }; }
says() { grep -qx "$2" "$MRC_DIR/$1.out" || { mrc_out "$1"; return 1; }; }
is_default() { mrcctl -n h1 -j dev show | jq -e ".[0].profile == $1" >/dev/null; }

ring() {
	local i
	for i in 0 1; do
		mrc_gid_index h$((i + 1)) v6
		mrc_start rank$i h$((i + 1)) env MRC_QP_CC_PROFILE_ID=$((i ? 0 : 20)) \
			mrc_ring -d "${MRC_IBDEV[h$((i + 1))]}" -g "$REPLY" -r $i fd00:6d72:63::1 fd00:6d72:63::2
	done
}
ring_ends() {
	mrc_wait rank0 60 && mrc_wait rank1 60 || { mrc_out rank0; mrc_out rank1; return 1; }
	mrc_out rank0 1
}
of_cc_20() { mrcctl -n h1 -j qp show | jq -e 'any(.[]; .cc_profile == 20)' >/dev/null; }

# Of profile ID: port and UDP port.
evs_are() {
	local got
	got=$(mrcctl -n h1 -j profile show | jq -c ".[] | select(.id == $1) | [.ev[] | [.port, .value]]")
	echo "$got, expected $2"
	[ "$got" = "$2" ]
}
# Towards the peer now: port and T1.
both_t1s() {
	local got
	got=$(mrcctl -n h1 -j ev show peer fd00:6d72:63::2 | jq -c 'map([.port, (.value | split(":")[3])]) | sort')
	echo "$got"
	[ "$got" = '[[1,"1101"],[1,"1102"],[2,"1101"],[2,"1102"],[3,"1101"],[3,"1102"],[4,"1101"],[4,"1102"]]' ]
}

ksft_plan
mrc_begin mrcctl mrc_mover mrc_ring mrc_verify
ksft_test "two plain cables" mrc_flat
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over both planes" mrc_flows

# Slow enough to look: EXP over port 1, EXP over port 2, GEN over both.
moves mover 12000 3
ksft_test "moved to a profile of port 1" mrc_until 30 at mover 20
ksft_test "plane 1 carries it alone" mrc_until 20 only 1
ksft_test "moved to a profile of port 2" mrc_until 30 at mover 21
ksft_test "plane 2 carries it alone" mrc_until 20 only 2
ksft_test "moved to generated EVs" mrc_until 30 at mover 22
ksft_test "both planes carry it" mrc_until 20 only 1 2
ksft_test "the controller ends" ends_well mover
ksft_test "the profiles that traffic left are gone" says mover "profile 21 is gone"
ksft_test "the one that has it stays" says mover "profile 22 is in use"
ksft_test "data flows" mrc_flows

# In quick turns, with a QP that has the CC profile.
ksft_test "the last profile goes" mrcctl -n h1 profile del dev mrc0 id 22
moves mover 100 58
ksft_test "moves again" mrc_until 30 at mover 20
ring
ksft_test "a QP has the CC profile" mrc_until 20 of_cc_20
ksft_test "fifty-eight moves, and an end" ends_well mover
kill -INT "${MRC_PID[rank0]}" || true
ksft_test "every element of the ring was right" ring_ends
ksft_test "the last move counts" is_default 20
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc

# EVs of another profile, which no fields make.
ksft_test "another profile" mrcctl -n h1 profile set dev mrc0 id 30 fmt udp mode exp ev 1 50001 ev 2 50002 ev 2 50009
moves other 8000 1 -b 30 -i 40
ksft_test "the third profile has the other one's EVs" mrc_until 20 evs_are 42 '[[1,"50001"],[2,"50002"],[2,"50009"]]'
ksft_test "the controller ends" ends_well other
ksft_test "what is no product of fields is no GEN profile" says other "profile 42 is of mode EXP"
ksft_test "one with segments" mrcctl -n h1 profile set dev mrc0 id 31 fmt srv6 mode exp \
	ev 1 fcbb:bb00:1::,fcbb:bb00:2:: ev 2 fcbb:bb00:1::,fcbb:bb00:2::
moves segments 0 1 -b 31 -i 50
ksft_test "the controller ends" ends_well segments
ksft_test "fields of a destination make no segments" says segments "profile 52 is of mode EXP"

# EVs of SRv6: those of the profile that the device has, over the odd planes, the even ones, and all. Planes are alike,
# so fields make them: an EV is a T1, by any port.
# shellcheck disable=SC2034
MRC_FOR_ANY=1 FABRIC_ALIKE=1
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over four planes" mrc_flows
moves srv6 12000 4 -b $MRC_PROFILE
ksft_test "moved to the EVs of odd ports" mrc_until 30 at srv6 20
ksft_test "planes 1 and 3 carry it alone" mrc_until 20 only 1 3
ksft_test "moved to those of even ports" mrc_until 30 at srv6 21
ksft_test "planes 2 and 4 carry it alone" mrc_until 20 only 2 4
ksft_test "moved to generated EVs" mrc_until 30 at srv6 22
ksft_test "the third profile is of mode GEN" says srv6 "profile 22 is of mode GEN"
ksft_test "both T1s of each plane are in it" mrc_until 10 both_t1s
ksft_test "four planes carry it" mrc_until 20 only 1 2 3 4
ksft_test "the controller ends" ends_well srv6
ksft_test "the profiles that traffic left are gone" says srv6 "profile 22 is gone"
ksft_test "the one that has it stays" says srv6 "profile 20 is in use"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_finish
