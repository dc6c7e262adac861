#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: old
#
# Cables that lose, reorder, duplicate and corrupt: all data arrives, right.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	netem on what every T0 sends to its host: both directions of every plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

everywhere() {
	local p h
	for p in 1 2 3 4; do
		for h in 1 2; do
			fabric_degrade "p$p-t0-$h" "h$h" "$@" || return
		done
	done
}

rises() {	# NAME HOST COUNTER...
	local name=$1 host=$2 counter sum=0
	shift 2
	for counter; do
		mrc_stat "$host" "$counter"
		sum=$((sum + REPLY))
	done
	ksft_test "$name ($sum)" test $sum -gt 0
}

ksft_plan
mrc_begin mrcctl mrc_verify
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2

everywhere loss 1%
for op in write send read atomic mix; do
	ksft_test "1 % loss: $op" mrc_verify 90 -o $op -s 65536 -n 100
done
rises "losses were found by what came later" h1 rtx_rack

everywhere delay 2ms 1ms limit 20000
ksft_test "reordering" mrc_verify 90 -o mix -r -s 65536 -n 100
rises "packets came ahead of others" h2 rx_ooo

everywhere duplicate 10% limit 20000
ksft_test "duplicates" mrc_verify 90 -o mix -r -s 65536 -n 100
rises "duplicates were seen" h2 rx_dup

everywhere corrupt 1%
ksft_test "corruption" mrc_verify 90 -o mix -r -s 65536 -n 200
# netem flips a bit where the packet is in one piece, which is the headers mostly: what IP or
# UDP drop for it the ICRC never sees. A few more packets, until it saw one.
for ((i = 0; i < 8; i++)); do
	mrc_stat h2 rx_bad_icrc
	[ "$REPLY" -eq 0 ] || break
	mrc_verify 90 -o mix -r -s 65536 -n 200 >/dev/null || break
done
rises "the ICRC caught it" h2 rx_bad_icrc rx_malformed

everywhere loss 3% delay 1ms 1ms duplicate 3% corrupt 1% limit 20000
ksft_test "all of it" mrc_verify 90 -o mix -r -s 65536 -n 100
ksft_finish
