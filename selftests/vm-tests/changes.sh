#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full uml
#
# What administrators change under a connection: names of netdevs, addresses, MTUs. It goes on, on
# the same QP, and every byte arrives right.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

in1() { ip -n h1 "$@"; }
rename() { in1 link set "$1" name "$2"; }
dummy() { in1 link add try0 type dummy && in1 link set try0 up; }
planes() { mrcctl -n h1 -j plane show | jq -r '[.[] | "\(.plane) \(.ifname)"] | join(" ")'; }
# By its number, whatever its netdev's name is.
plane_sends() {
	local before
	before=$(mrcctl -n h1 -j plane show | jq ".[] | select(.plane == $1) | .tx_pkts")
	mrc_until 60 eval "[ \"\$(mrcctl -n h1 -j plane show |
		jq '.[] | select(.plane == $1) | .tx_pkts')\" -gt $((before + 50)) ]"
}
netdev_is() { fabric_in h1 rdma -j link show | jq -e --arg d "${MRC_IBDEV[h1]}" --arg n "$1" \
	'any(.[]; .ifname == $d and .netdev == $n)'; }
gids_of() { grep -l "$1" /sys/class/infiniband/"${MRC_IBDEV[h1]}"/ports/1/gids/* | wc -l; }
same_qp() { ksft_equal "on the same QP" "$qp" "$(mrc_qp_of h1 qpn)"; }
active_is() {
	local got
	got=$(fabric_in h1 ibv_devinfo -d "${MRC_IBDEV[h1]}" | sed -nE 's/^\s*active_mtu:\s+([0-9]+).*/\1/p')
	echo "active_mtu $got, expected $1"
	[ "$got" = "$1" ]
}
mtu() { ip -n h1 link set "$1" mtu "$2" && ip -n h2 link set "$1" mtu "$2"; }

ksft_plan
mrc_begin mrcctl mrc_verify ibv_devinfo
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
# An address is away for longer than retries last, on a slow machine.
for h in h1 h2; do
	ksft_test "$h: retries for long" mrcctl -n $h dev set dev mrc0 exp-cnt 25
done

# ------------------------------------------------------- planes of two MTUs
ksft_test "plane 1 is ordinary Ethernet, plane 2 takes jumbo frames" mtu eth1 1500
ksft_test "what fits both is the path MTU" active_is 1024
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "by both planes" mrc_flows 60
qp=$(mrc_qp_of h1 qpn)
ksft_test "plane 1 takes jumbo frames, too" mtu eth1 9000
ksft_test "data flows" mrc_flows 60
ksft_test "new connections would have full packets" active_is 4096
ksft_test "ordinary again, which is enough for this one" mtu eth1 1500
ksft_test "data flows" mrc_flows 60
same_qp
ksft_test "jumbo frames" mtu eth1 9000

# -------------------------------------------------------------------- names
names() {
	ksft_test "a plane's netdev is renamed" rename eth2 optic2
	ksft_equal "it is the plane that it was" "1 eth1 2 optic2" "$(planes)"
	ksft_test "and data flows by it" plane_sends 2
	ksft_test "its old name" rename optic2 eth2
	ksft_test "data flows" mrc_flows 60
	ksft_test "the device's netdev is renamed" rename mrc0 fabric0
	ksft_test "rdma(8) knows" mrc_until 20 netdev_is fabric0
	ksft_equal "mrcctl, too" fabric0 "$(mrcctl -n h1 -j dev show | jq -r '.[].dev')"
	ksft_test "data flows" mrc_flows 60
	ksft_test "its old name" rename fabric0 mrc0
	ksft_test "data flows" mrc_flows 60
	same_qp
}
ksft_test "a netdev to try it with" dummy
if rename try0 try1 2>/dev/null; then	# while it is up: kernels before 6.2 refuse
	names
elif [ "$MRC_KVER" != 6.1 ]; then
	ksft_test "netdevs are renamed while they are up" rename try0 try1
else
	ksft_skip "netdevs are renamed" "not while they are up, on this kernel"
fi

# ---------------------------------------------------------------- addresses
ksft_test "an address that nobody uses goes" in1 address del 10.77.0.1/24 dev mrc0
ksft_test "and its GID with it" mrc_until 20 eval '[ "$(gids_of 0a4d:0001)" -eq 0 ]'
ksft_test "data flows" mrc_flows 60
ksft_test "it comes again" in1 address add 10.77.0.1/24 dev mrc0
ksft_test "with its GID" mrc_until 20 eval '[ "$(gids_of 0a4d:0001)" -gt 0 ]'
ksft_test "the address of the connection goes" in1 address del fd00:6d72:63::1/64 dev mrc0
mrc_sleep 1
ksft_test "and comes again" in1 address add fd00:6d72:63::1/64 dev mrc0 nodad
ksft_test "with its GID" mrc_until 20 mrc_gid_index h1 v6
ksft_test "data flows again" mrc_flows 120
same_qp
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "a new connection works" mrc_verify 60 -o mix -s 65536 -n 50
ksft_test "nothing is left" mrc_until 20 mrc_no_resources
ksft_finish
