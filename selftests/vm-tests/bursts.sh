#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full uml
#
# Bursts: packets in a row by one EV pass the host, its cables and switches as one GSO packet, are parted by
# ports that take none and by ports that trim, and every byte arrives right.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane, IPv6 and IPv4, without SRv6

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"

set_burst() { local host; for host in h1 h2; do mrcctl -n $host dev set dev "${2:-mrc0}" burst "$1" || return; done; }
shows() { [ "$(mrcctl -n h1 -d -j dev show | jq '.[0].burst')" = "$1" ]; }

# What the planes of h1 carried: REPLY, the device's packets, and what passed its ports as one.
sent() {
	REPLY="$(mrcctl -n h1 -d -j plane show | jq '[.[].tx_pkts | tonumber] | add') $(ip -n h1 -s -j link show |
		jq '[.[] | select(.ifname | startswith("eth")) | .stats64.tx.packets] | add')"
}

# joined MOST_PERCENT LEAST_PERCENT PROGRAM [ARG...]: it succeeds, and of the device's packets so many in a hundred
# passed the ports.
joined() {
	local most=$1 least=$2 before after percent
	shift 2
	sent && read -ra before <<<"$REPLY"
	"$@" || return
	sent && read -ra after <<<"$REPLY"
	percent=$((100 * (after[1] - before[1]) / (after[0] - before[0])))
	echo "$((after[0] - before[0])) packets, $percent % of them at the ports"
	[ $percent -le "$most" ] && [ $percent -ge "$least" ]
}
writes() { mrc_verify 120 -o write -s 65536 -n "${1:-200}"; }
mix() { mrc_verify 150 -o mix -r -s 65536 -n 60; }

parts_on() { fabric_in p1-t0-1 ethtool -K t1-1 tx-gso-list off gso off; }

ksft_plan
mrc_begin mrcctl mrc_verify ethtool
port_begin
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2
ksft_test "as the MTU has it unless told otherwise" shows 0
ksft_test "17 in a burst" refused "burst" -- mrcctl -n h1 dev set dev mrc0 burst 17
ksft_test "four of 1 KiB pass as one" joined 60 20 mrc_verify 120 -o write -m 1024 -s 65536 -n 200
ksft_test "one packet by each EV" set_burst 1
ksft_test "each packet passes by itself" joined 115 95 writes
ksft_test "bursts of eight" set_burst 8
ksft_test "are kept" shows 8
ksft_test "and pass as one" joined 60 5 writes 400
ksft_test "all operations" mix
ksft_test "a port of a switch parts them" parts_on
ksft_test "all operations over it" mix
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc

# Three packets of 4 KiB fit, so that each burst of eight is cut, however few of them are in flight.
ksft_test "a slow last hop that trims" port_set p1-t0-2 h2 rate 20000000 limit 15000 trim 1 lasthop 1
mrc_stat h2 rx_trimmed
seen=$REPLY
ksft_test "all operations over it" mix
port_stat p1-t0-2 h2 trimmed_pkts
cut=$REPLY
mrc_stat h2 rx_trimmed
ksft_test "it parted bursts and cut packets of them ($cut, $((REPLY - seen)) seen)" \
	test "$cut" -gt 0 -a "$REPLY" -gt "$seen" -a $((REPLY - seen)) -le "$cut"
port_clear p1-t0-2 h2

ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "a cable is cut" fabric_cut p2-t0-1 h1
ksft_test "its plane is left" mrc_until 20 mrc_plane_unused client 2 tx
ksft_test "restored" fabric_restore p2-t0-1 h1
ksft_test "and used again" mrc_until 40 mrc_plane_used client 2 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc

ksft_test "one plane without SRv6" mrc_one_plane
ksft_test "bursts of sixteen" set_burst 16 eth1
ksft_test "pass as one" joined 60 3 writes 400
ksft_test "all operations" mix
v4() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair 150 $MRC_PORT \
		mrc_verify -e -4 -T "$MRC_STALL" -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		mrc_verify -e -4 -T "$MRC_STALL" -d "${MRC_IBDEV[h1]}" -p $MRC_PORT "$@" 10.77.0.2
}
ksft_test "over IPv4 they are bursts, but each packet passes by itself" joined 115 95 v4 -o write -s 65536 -n 200
gro() { fabric_in "$1" ethtool -K eth1 gro on rx-udp-gro-forwarding on; }
ksft_test "receive offload on" gro h2
ksft_test "all operations" mix
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
