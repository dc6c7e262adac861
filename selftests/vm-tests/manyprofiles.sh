#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full
#
# A host that talks to N others has a profile for each: setting one touches the peer that it
# is for, and nobody else. How long it took is printed.
#
#	h1 eth1 ---- eth1 h2	mrc0 over one cable; the others are addresses only

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

N=${MRC_N:-1000}

host() { printf -v REPLY 'fd00:6d72:63::1:%x' "$1"; }

cable() {
	mrc_cable || return
	ip -n h2 link set eth1 up
	ip -n h1 -b - <<-BATCH
		link set lo up
		link add mrc0 type mrc
		link set eth1 up
		link set eth1 master mrc0
		address add fd00:6d72:63::1/64 dev mrc0 nodad
		link set mrc0 up
	BATCH
}

hosts() {	# COUNT
	nsenter --net=/run/netns/h1 -- \
		/usr/bin/python3 -I -S "$here/../verbs/mrc_netlink.py" hosts mrc0 "$1"
}
seconds() { took=$(hosts "$1") || { echo "$took"; return 1; }; }

# profile set|del HOST ARG...
profile() {
	local cmd=$1 REPLY
	host "$2"
	shift 2
	mrcctl -n h1 profile "$cmd" dev mrc0 id 1 dst "$REPLY" "$@"
}

# Peers that nobody asks for are forgotten after a minute, which a slow machine needs.
asked_for() { fabric_in h1 ping -q -c 1 -W 1 "$1" >/dev/null 2>&1 || :; }

# ports_are HOST PORTS: the UDP source ports of its EVs
ports_are() {
	local got REPLY
	host "$1" && asked_for "$REPLY"
	got=$(mrcctl -n h1 -j ev show peer "$REPLY" | jq -c 'map(.entropy / 65536 | floor)')
	echo "$REPLY has $got, expected $2"
	[ "$got" = "$2" ]
}
is_auto() {	# HOST
	local REPLY
	host "$1" && asked_for "$REPLY"
	[ "$(mrcctl -n h1 -j ev show peer "$REPLY" | jq length)" = 16 ]
}

ksft_plan
mrc_begin mrcctl jq
ksft_test "a cable" cable
ksft_test "profile 1 for all" mrcctl -n h1 dev set dev mrc0 profile 1
ksft_test "$N hosts, $N profiles" seconds "$N"
ksft_comment "$N requests took ${took:-?} s"
ksft_test "the first has its own EV" ports_are 0 '[20000]'
ksft_test "and the last" ports_are $((N - 1)) "[$((20000 + N - 1))]"
ksft_test "another for one" profile set 5 fmt udp ev 1 1234 ev 1 1235
ksft_test "it has that" ports_are 5 '[1234,1235]'
ksft_test "and its neighbour its own" ports_are 6 '[20006]'
ksft_test "one loses it" profile del 5
ksft_test "it has EVs made up" is_auto 5
ksft_test "one for any" mrcctl -n h1 profile set dev mrc0 id 1 fmt udp ev 1 4321
ksft_test "it takes that" ports_are 5 '[4321]'
ksft_test "who has its own keeps it" ports_are 6 '[20006]'
ksft_test "profiles of another number, for the same host" \
	mrcctl -n h1 profile set dev mrc0 id 2 dst fd00:6d72:63::1:6 fmt udp ev 1 7777
ksft_test "change nothing" ports_are 6 '[20006]'
ksft_test "until that number is chosen" mrcctl -n h1 dev set dev mrc0 profile 2
ksft_test "then all change" ports_are 6 '[7777]'
ksft_test "all" is_auto 7
ksft_test "cleaned up" mrc_clear
ksft_finish
