#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 480
# kernels: full uml
#
# What a device needs to reach its peers is not taken from under QPs that run, whoever asks.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

dev_set() { mrcctl -n h1 dev set mrc0 "$@"; }
profile() { mrcctl -n h1 profile "$1" dev mrc0 id "${@:2}"; }
default_is() { [ "$(mrcctl -n h1 -j dev show | jq '.[0].profile')" = "$1" ]; }
profile_is_there() {	# ID DST
	mrcctl -n h1 -j profile show |
		jq -e --arg d "$2" "any(.[]; .id == $1 and .dst == \$d)" >/dev/null
}

# by_hand ID: h1's paths to h2, as mrcd has them, under another number.
by_hand() {
	# shellcheck disable=SC2034  # mrc_profiles_by_hand reads it
	local MRC_PROFILE=$1
	mrc_profiles_by_hand 1 2
}

# verify4 [ARG...]: over IPv4 GIDs.
verify4() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair_start $MRC_PORT \
		mrc_verify -e -4 -T $MRC_STALL -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		mrc_verify -e -4 -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT "$@" 10.77.0.2
}

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "two planes by mrcd" mrc_fabric_mrcd 2 2 2 2

# ---------------------------------------------------------- nobody talks yet
ksft_test "a default that does not exist is refused" refused "no EV profile 9" -- \
	dev_set profile 9
ksft_test "there it is" default_is 1

# -------------------------------------------------------------- data flows
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
no_path="QPs to fd00:6d72:63::2 would have no path left"
ksft_test "a default that does not exist" refused "no EV profile 9" -- dev_set profile 9
ksft_test "plain UDP is a profile" profile set 7 fmt udp mode auto
ksft_test "which leads nowhere here" refused "$no_path" -- dev_set profile 7
ksft_test "nor do EVs made by the kernel" refused "$no_path" -- dev_set profile 0
ksft_test "the peer's profile stays" refused "$no_path" -- \
	profile del 1 dst fd00:6d72:63::2
ksft_test "and keeps a path" refused "$no_path" -- \
	profile set 1 dst fd00:6d72:63::2 fmt srv6 ev 1 2001:db8:dead:: ev 2 2001:db8:beef::
ksft_test "one that leads there will do" profile set 1 dst fd00:6d72:63::2 fmt srv6 \
	ev 1 2001:db8:dead:: ev 2 "$(fabric_path 1 2 2 1)"
ksft_equal "the default is what it was" 1 "$(mrcctl -n h1 -j dev show | jq '.[0].profile')"
ksft_test "data flows" mrc_flows

# ------------------------------------------------------------ mrcd looks after it
ksft_test "a profile that no QP needs may go" profile del 1 dst 10.77.0.2
ksft_test "mrcd brings it back" mrc_until 60 profile_is_there 1 ::ffff:10.77.0.2
ksft_test "the same paths under another number" by_hand 8
ksft_test "may be the default" dev_set profile 8
ksft_test "mrcd sets its own again" mrc_until 60 default_is 1
ksft_test "data flows" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60

# ------------------------------------------------ what IPv4 takes for a neighbour's
# Asked for a route out of one netdev, IPv4 has one for any address: what has none is on link there.
no_path4="QPs to ::ffff:10.77.0.2 would have no path left"
ksft_test "a connection over IPv4" verify4 -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
ksft_test "plain UDP leads nowhere here, either" refused "$no_path4" -- dev_set profile 7
ksft_test "nor do EVs made by the kernel" refused "$no_path4" -- dev_set profile 0
ksft_test "the peer's profile stays" refused "$no_path4" -- profile del 1 dst 10.77.0.2
ksft_test "data flows" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60

# ------------------------------------------------------ nobody talks any more
mrc_kill mrcd-h1
ksft_test "without QPs any of them may be" mrc_until 60 dev_set profile 7
ksft_test "or go" profile del 1 dst fd00:6d72:63::2
mrc_mrcd h1
ksft_test "mrcd puts all back" mrc_until 60 mrc_mrcd_ready h1
ksft_test "and the paths work" mrc_verify 60 -o mix -n 20

# --------------------------------------------- SIDs and EVs, which are settings, too
# Nobody puts back what is taken here, and QPs wait for it as long as it takes.
mrc_kill mrcd-h1
sid() { mrcctl -n h1 plane set dev mrc0 plane "$1" sid "$2"; }
has_sid() {	# PLANE SID
	[ "$(mrcctl -n h1 -j plane show | jq -r ".[] | select(.plane == $1) | .sid")" = "$2" ]
}
ev_set() {	# STATE INDEX...
	local state=$1 args=() i
	shift
	for i; do args+=(index "$i"); done
	mrcctl -n h1 ev set dev mrc0 peer fd00:6d72:63::2 "${args[@]}" state "$state"
}
denied() { mrcctl -n h1 -j ev show peer fd00:6d72:63::2 | jq -c 'map(select(.state == "denied") | .index)'; }
for i in 1 2; do
	fabric_usid_host $i 1
	sids[i]=$FABRIC_BLOCK:$REPLY::
done
# shellcheck disable=SC2034
MRC_STALL=120
for i in h1 h2; do
	ksft_test "$i: retries for ever" mrcctl -n $i dev set mrc0 exp-cnt 25
done
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
mapfile -t evs < <(mrcctl -n h1 -j ev show peer fd00:6d72:63::2 | jq '.[].index')
last=${evs[-1]}
unset "evs[-1]"
ksft_test "one plane may lose its SID" sid 1 ::
ksft_test "the last one not" refused "$no_path" -- sid 2 ::
ksft_test "it is there" has_sid 2 "${sids[2]}"
ksft_test "the first has it again" sid 1 "${sids[1]}"
ksft_test "then the other may lose it" sid 2 ::
ksft_test "for a while" sid 2 "${sids[2]}"
ksft_test "all EVs are not denied at once" refused "$no_path" -- ev_set denied "${evs[@]}" "$last"
ksft_equal "none is" "[]" "$(denied)"
ksft_test "all but one may be" ev_set denied "${evs[@]}"
ksft_test "that one not" refused "$no_path" -- ev_set denied "$last"
ksft_test "they are allowed again" ev_set good "${evs[@]}"
ksft_test "data flows" mrc_flows

# Taking ports off is like pulling cables: nobody is asked, and what comes back is what it was.
port() { ip -n h1 link set "eth$1" "${@:2}"; }
ksft_test "one port leaves" port 1 nomaster
ksft_test "and the last one, too" port 2 nomaster
ksft_test "which is told" sh -c 'dmesg | grep "eth2 was the last plane: QPs have no path"'
port 1 master mrc0
port 2 master mrc0
ksft_test "both come back, and data flows" mrc_flows 120
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 120
ksft_test "without QPs all EVs may be denied" mrc_until 60 ev_set denied "${evs[@]}" "$last"
ksft_test "and allowed again" ev_set good "${evs[@]}" "$last"
ksft_test "and SIDs may go" sid 1 ::
ksft_test "all of them" sid 2 ::
mrc_mrcd h1
ksft_test "mrcd puts all back once more" mrc_until 60 mrc_mrcd_ready h1
ksft_test "and the paths work" mrc_verify 60 -o mix -n 20
ksft_finish
