#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: full
#
# Strict placement: data lands in the order of PSNs however packets overtake each
# other on the way, seen by a program that watches memory and by mrc_verify.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	netem at the T1s delays some packets and not others

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

both() {
	local h
	for h in h1 h2; do
		mrcctl -n $h dev set dev mrc0 "$@" || return
	done
}

# Way back and forth: paths of different lengths, and jitter within each.
reorder() {
	local p t
	for p in 1 2; do
		for t in 1 2; do
			fabric_degrade p$p-t1-$t t0-1 delay $((t * 2))ms 1ms limit 10000 || return
			fabric_degrade p$p-t1-$t t0-2 delay $((t * 2))ms 1ms limit 10000 || return
		done
	done
}

# order [SERVER_OPTION...]: mrc_order from h1 to h2; its findings are a comment.
order() {
	local rc=0
	MRC_PORT=$((MRC_PORT + 1))
	fabric_host_addr 2
	mrc_pair 90 $MRC_PORT mrc_order -T 120 "$@" -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		mrc_order -T 120 -d "${MRC_IBDEV[h1]}" -p $MRC_PORT -s 8192 -n 600 "$REPLY" || rc=$?
	FOUND=$(mrc_out server 1)
	echo "$FOUND"
	return $rc
}

held_now() { [ "$(mrcctl -n "$1" -d -j dev show | jq '.[].held_pkts')" -eq 0 ]; }

ksft_plan
mrc_begin mrcctl mrc_verify mrc_order mrc_region
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2
ksft_test "packets overtake each other" reorder

ksft_test "relaxed: all arrives" order -R
ksft_comment "relaxed: ${FOUND:-}"

ksft_test "strict on both hosts" both strict on
mrc_stat h2 rx_held
before=$REPLY
ksft_test "strict: nothing becomes visible out of order" order
ksft_comment "strict: ${FOUND:-}"
mrc_stat h2 rx_held
ksft_test "packets were held for it ($((REPLY - before)))" test "$REPLY" -gt "$before"
ksft_test "none is held afterwards" mrc_until 10 held_now h2

ksft_test "strict: every operation" mrc_verify 90 -o mix -r -s 65536 -n 120
ksft_test "strict: atomics" mrc_verify 60 -o atomic -n 40
ksft_test "strict: small MTU" mrc_verify 90 -o mix -r -m 256 -s 8192 -n 40

# Over lo packets overtake each other as well; the SEND that invalidates a key may be held, and the key with it.
mrc_stat h1 rx_held
before=$REPLY
tc -n h1 qdisc add dev lo root netem delay 2ms 2ms limit 10000
mrc_harness h1 region mrc_region
tc -n h1 qdisc del dev lo root
mrc_stat h1 rx_held
ksft_test "and were held on h1, too ($((REPLY - before)))" test "$REPLY" -gt "$before"

# ------------------------------------------------------------- ends badly
ksft_test "data flows" mrc_verify_start -o write -q 16 -s 65536 -t 600
ksft_test "over all planes" mrc_flows
mrc_kill client
ksft_test "the other end ends, too" mrc_until 60 mrc__ended server
mrc_wait server 10 || true
ksft_test "what it held is gone with it" mrc_until 10 held_now h2
ksft_test "nothing is left" mrc_until 10 mrc_no_resources

# ------------------------------------------- big windows, live windows, loss
lossy() { reorder && fabric_degrade p1-t1-1 t0-2 delay 2ms 1ms loss 2% limit 10000; }
ksft_test "windows of 4,096 PSNs, told live" both mpr 32 dyn-mpr on
ksft_test "and losses" lossy
ksft_test "strict, mpr 32, dynamic: every operation" mrc_verify 120 -o mix -r -s 65536 -n 80
ksft_test "strict off" both strict off
ksft_test "relaxed, mpr 32, dynamic: every operation" mrc_verify 120 -o mix -r -s 65536 -n 80
# mrc_region asks for what is refused.
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc naks_access
ksft_finish
