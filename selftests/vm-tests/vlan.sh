#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# VLANs: a device of its own on one, and one as a plane.
#
#	h1 (mrc1) eth1.100 - eth1 ---- eth1 - eth1.100 (mrc2) h2	by "rdma link add"
#	h1 mrc0 = eth1, eth2.200 ---- h2 mrc0 = eth1, eth2.200		SRv6, no switch between

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

vlan() {	# HOST PORT ID
	echo "link add link $2 name $2.$3 type vlan id $3"
	echo "link set $2.$3 up"
}

# The addresses are the VLAN's; the adapter and another VLAN have some, too.
on_vlans() {
	local i
	mrc_cable || return
	for i in 1 2; do
		fabric_host_addr $i
		ip -n h$i -b - <<-BATCH || return
			link set lo up
			link set eth1 up
			$(vlan h$i eth1 100)
			$(vlan h$i eth1 101)
			address add $REPLY/64 dev eth1.100 nodad
			address add 10.77.0.$i/24 dev eth1.100
			address add 10.78.0.$i/24 dev eth1.101
			address add 10.79.0.$i/24 dev eth1
		BATCH
		fabric_in h$i rdma link add "mrc$i" type mrc netdev eth1.100 || return
	done
	mrc_wait_devices && mrc_neighbours
}
gid_netdevs() {	# DEVICE
	cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs"/* 2>/dev/null | sort -u | paste -sd' '
}
gids() { grep -hv '^[0:]*$' "/sys/class/infiniband/$1/ports/1/gids"/* | cut -d: -f6- | sort; }
has_gid() { gids "$1" | grep -q "$2"; }
has_no_gid() { ! has_gid "$@"; }
packets() { read -r REPLY <"/sys/class/infiniband/$1/ports/1/hw_counters/tx_pkts"; }

ksft_plan
mrc_begin mrcctl mrc_verify ibv_rc_pingpong
modprobe 8021q || ksft_skip_all "needs VLANs"

# --------------------------------------------------------- a device on a VLAN
ksft_test "rdma link add on VLANs" on_vlans
ksft_test "GID of its IPv4 address" has_gid mrc1 ffff:0a4d:0001
ksft_test "and of its IPv6 address" grep -rqx fd00:6d72:0063:0000:0000:0000:0000:0001 \
	/sys/class/infiniband/mrc1/ports/1/gids
ksft_equal "and of nobody else's" eth1.100 "$(gid_netdevs mrc1)"
ip -n h1 address add 10.77.0.9/24 dev eth1.100
ip -n h1 address add 10.79.0.9/24 dev eth1
ksft_test "another address comes" mrc_until 30 has_gid mrc1 ffff:0a4d:0009
ksft_equal "that of its netdev" eth1.100 "$(gid_netdevs mrc1)"
ip -n h1 address del 10.77.0.9/24 dev eth1.100
ksft_test "and goes" mrc_until 30 has_no_gid mrc1 ffff:0a4d:0009
ksft_equal "parent in sysfs" eth1.100 "$(cat /sys/class/infiniband/mrc1/parent)"
ksft_test "ibv_rc_pingpong over IPv4" mrc_pingpong 60 v4 -n 200
ksft_test "over IPv6" mrc_pingpong 60 v6 -n 200
ksft_test "every byte is right" mrc_verify 60 -o mix -s 65536 -n 50

# One on the adapter beside it: of another node GUID, with other GIDs.
ksft_test "one on the adapter, too" fabric_in h1 rdma link add mrc3 type mrc netdev eth1
ksft_test "with the adapter's address" mrc_until 30 has_gid mrc3 ffff:0a4f:0001
ksft_equal "and no VLAN's" eth1 "$(gid_netdevs mrc3)"
differ() { [ "$(cat /sys/class/infiniband/mrc[13]/node_guid | uniq | wc -l)" -eq 2 ]; }
ksft_test "they are two nodes" differ
packets mrc3
before=$REPLY
ksft_test "data goes by the VLAN's" mrc_verify 60 -o mix -s 65536 -n 20
packets mrc3
ksft_equal "and by no other" "$before" "$REPLY"
ksft_test "the adapter goes, and takes both along" ip -n h1 link del eth1
no_devices() { ! ls -d /sys/class/infiniband/mrc*; }
ksft_test "at the other end of the cable, too" mrc_until 30 no_devices

# ----------------------------------------------------------- a VLAN as plane
# Host i has the locators fcbb:bb00:120i:: and fcbb:bb00:220i::.
srv6() {
	local i o p dev
	mrc_cable || return
	fabric__cable h1 eth2 h2 eth2 | ip -b - || return
	echo "2 2 1 1" >"$FABRIC_DIR/size"
	fabric_load
	for i in 1 2; do
		o=$((3 - i))
		fabric_host_addr $i
		ip -n h$i -b - <<-BATCH || return
			link set lo up
			link set eth1 up
			link set eth2 up
			$(vlan h$i eth2 200)
			address add fe80::$i/64 dev eth1 nodad
			address add fe80::$i/64 dev eth2.200 nodad
			route add fcbb:bb00:120$o::/48 via fe80::$o dev eth1
			route add fcbb:bb00:220$o::/48 via fe80::$o dev eth2.200
			link add mrc0 type mrc
			link set eth1 master mrc0
			link set eth2.200 master mrc0
			address add $REPLY/64 dev mrc0 nodad
			address add 10.77.0.$i/24 dev mrc0
			link set mrc0 up
		BATCH
		for p in 1 2; do
			mrcctl -n h$i plane set dev mrc0 plane $p sid fcbb:bb00:${p}20$i:: || return
		done
		fabric_host_addr $o
		for dev in "$REPLY" 10.77.0.$o; do
			mrcctl -n h$i profile set dev mrc0 id 1 dst "$dev" fmt srv6 mode exp \
				ev 1 fcbb:bb00:120$o:: ev 1 fcbb:bb00:120$o:: \
				ev 2 fcbb:bb00:220$o:: ev 2 fcbb:bb00:220$o:: || return
		done
	done
	mrc_wait_devices
}
both() {	# packets by plane of h1
	mrcctl -n h1 -j plane show | jq -e 'length == 2 and all(.[]; .tx_pkts > 50 and .rx_pkts > 50)'
}
# A plane that looks longer is left out for a while, and in an emulated machine either may.
both_at_last() {
	for _ in 1 2 3 4; do
		both && return
		mrc_verify 60 -o mix -s 65536 -n 100 >/dev/null || return
	done
	both
}
ksft_test "a VLAN as one of two planes" srv6
ksft_test "every byte is right" mrc_verify 60 -o mix -s 65536 -n 100
ksft_test "over both planes" both_at_last
ksft_test "the adapter's cable is cut" ip -n h2 link set eth2 down
one_up() { mrcctl -n h1 -j plane show | jq -e '[.[] | select(.up)] | length == 1'; }
ksft_test "the plane is down" mrc_until 30 one_up
ksft_test "and the other carries all" mrc_verify 60 -o mix -s 65536 -n 20
ksft_finish
