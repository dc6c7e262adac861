#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# Where endpoint responses have their op, and which bit of a port status mask is port 1: what leaves on the wire is what
# the device is told, and both ends understand it.
#
#	h1 mrc0 = 2 planes, each T0 - T1 - T0, SRv6	by hand; filters of tc count

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

end_well() {
	kill -INT "${MRC_PID[client]}" || true
	mrc_pair_wait 30
}
# In SRv6 the inner IPv6 header is at 40, BTH at 88, ERTH or EETH at 100. Of OPCODE with OFFSET VALUE MASK.
endpoint() {
	local host=$1 pref=$2 p
	for p in 1 2; do
		tc -n "$host" filter add dev eth$p ingress pref "$pref" protocol ipv6 u32 match u8 41 0xff at 6 \
			match u8 "$3" 0xff at 88 match u32 "$5" "$6" at "$4" action ok || return
	done
}
met() {	# HOST PREF: REPLY
	local one
	tc -n "$1" -j -s filter show dev eth1 ingress pref "$2" >"$MRC_DIR/met1"
	tc -n "$1" -j -s filter show dev eth2 ingress pref "$2" >"$MRC_DIR/met2"
	one=$(jq -s '[.[][].options.actions[]?.stats.packets] | add // 0' "$MRC_DIR/met1" "$MRC_DIR/met2")
	REPLY=$one
}
met_is() { met "$1" "$2"; echo "$REPLY packets, expected $3 $4"; test "$REPLY" "$3" "$4"; }
count_endpoints() {
	local h p
	for h in h1 h2; do
		for p in 1 2; do tc -n $h qdisc add dev eth$p clsact || return; done
	done
	endpoint h1 10 0xd9 100 0x00040000 0x00ff0000 && endpoint h1 20 0xd9 100 0x00100000 0x00ff0000 &&
		endpoint h2 30 0xd8 104 1 0xffffffff && endpoint h2 40 0xd8 104 2 0xffffffff
}
uncount_endpoints() {
	local h p
	for h in h1 h2; do
		for p in 1 2; do tc -n $h qdisc del dev eth$p clsact || return; done
	done
}
probed() { mrcctl -n h1 probe fd00:6d72:63::2; }
knows() {
	local got
	got=$(mrcctl -n h2 -j peer show | jq -r '[.[] | select(.qps > 0) | .ports_up | select(. != null) | map(tostring) | join(",")] |
		unique | join(" ")')
	echo "h2 knows '$got'"
	[ "$got" = "$1" ]
}
admin() { mrcctl -n h1 plane set dev mrc0 plane 2 admin "$1"; }
both() { mrcctl -n h1 dev set dev mrc0 "$@" && mrcctl -n h2 dev set dev mrc0 "$@"; }

ksft_plan
mrc_begin mrcctl mrc_verify
ksft_test "two planes" mrc_fabric_by_hand 2 2 2 1
ksft_test "data flows" mrc_verify_start -o mix -q 2 -s 4096 -t 600
ksft_test "over all planes" mrc_flows
for how in off on; do
	[ $how = off ] && right=30 wrong=40 low=-gt high=-eq || right=40 wrong=30 low=-eq high=-gt
	ksft_test "$how: settings" both ep-op-high $how port-bit-1 $how
	ksft_test "$how: counters" count_endpoints
	ksft_test "$how: probes are answered" probed
	ksft_test "$how: op in bits 3:2" met_is h1 10 $low 0
	ksft_test "$how: op in bits 5:4" met_is h1 20 $high 0
	ksft_test "$how: port 2 goes" admin off
	ksft_test "$how: the peer knows" mrc_until 20 knows 1
	ksft_test "$how: by the bit of port 1" met_is h2 $right -gt 0
	ksft_test "$how: and by no other" met_is h2 $wrong -eq 0
	ksft_test "$how: port 2 comes" admin on
	ksft_test "$how: the peer knows that, too" mrc_until 20 knows 1,2
	ksft_test "$how: end" uncount_endpoints
done
# Responses of either kind are understood, whatever is set.
ksft_test "h2 alone" mrcctl -n h1 dev set dev mrc0 ep-op-high off
ksft_test "its answers are understood" probed
ksft_test "every byte arrived right" end_well
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_finish
