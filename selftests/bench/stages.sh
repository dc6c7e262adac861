# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# stages.sh - what is compared: NAME_up makes two ends over cables of MTU 9000, NAME_down takes them away.
#
#	rxe	v1 ---- v2 in the initial namespace, where rxe (up to 6.12) must be:
#		policy routing sends what v1 says to v2 over the cable, not over lo
#	siw	the same, over IPv4; its programs find each other by rdma_cm
#	mrc1	the same two netdevs, in a namespace each: mrc sends to an address of
#		its own namespace over lo, so one namespace would not use the cable
#	mrc4	four such cables as planes, SRv6 outer headers
#
# rxe and mrc cannot be loaded at once: both want UDP port 4791. Each sets NS1 and NS2, the
# namespaces of the ends ("" is the initial one), TO, where the server is asked for, CM,
# "-R" where perftest needs it, and MRC_IBDEV. Needs lib.sh, fabric.sh and mrc.sh.

A=fd00:6d72:63::1
B=fd00:6d72:63::2

cable() {	# LEFT RIGHT
	ip link add "$1" mtu 9000 type veth peer name "$2" mtu 9000
}

mac() { cat "/sys/class/net/$1/address"; }

rxe_up() {
	cable v1 v2
	ip -6 rule add pref 100 lookup local 2>/dev/null || true
	ip -6 rule del pref 0 2>/dev/null || true
	ip -6 -b - <<-BATCH
		link set v1 up
		link set v2 up
		address add $A/128 dev v1 nodad
		address add $B/128 dev v2 nodad
		route add $B dev v1 table 101
		route add $A dev v2 table 102
		rule add pref 10 iif lo from $A to $B lookup 101
		rule add pref 10 iif lo from $B to $A lookup 102
		neigh add $B dev v1 lladdr $(mac v2) nud permanent
		neigh add $A dev v2 lladdr $(mac v1) nud permanent
	BATCH
	modprobe rdma_rxe
	rdma link add rxe1 type rxe netdev v1
	rdma link add rxe2 type rxe netdev v2
	NS1='' NS2='' TO=127.0.0.1 CM=''
	MRC_IBDEV=([h1]=rxe1 [h2]=rxe2)
}

rxe_down() {
	rdma link delete rxe1
	rdma link delete rxe2
	wait_until 10 rmmod rdma_rxe
	ip -6 rule del pref 10
	ip -6 rule del pref 10
	ip link del v1
}

siw_up() {
	local i
	cable v1 v2
	ip rule add pref 100 lookup local 2>/dev/null || true
	ip rule del pref 0 2>/dev/null || true
	for i in all default v1 v2; do
		echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter
	done
	ip -b - <<-BATCH
		link set v1 up
		link set v2 up
		address add 10.77.0.1/32 dev v1
		address add 10.77.0.2/32 dev v2
		route add 10.77.0.2 dev v1 src 10.77.0.1 table 101
		route add 10.77.0.1 dev v2 src 10.77.0.2 table 102
		rule add pref 10 iif lo from 10.77.0.1 to 10.77.0.2 lookup 101
		rule add pref 10 iif lo from 10.77.0.2 to 10.77.0.1 lookup 102
		rule add pref 11 iif lo to 10.77.0.2 lookup 101
		neigh add 10.77.0.2 dev v1 lladdr $(mac v2) nud permanent
		neigh add 10.77.0.1 dev v2 lladdr $(mac v1) nud permanent
	BATCH
	modprobe siw
	rdma link add siw1 type siw netdev v1
	rdma link add siw2 type siw netdev v2
	NS1='' NS2='' TO=10.77.0.2 CM=-R
	MRC_IBDEV=([h1]=siw1 [h2]=siw2)
}

siw_down() {
	rdma link delete siw1
	rdma link delete siw2
	ip link del v1
	ip rule del pref 10
	ip rule del pref 10
	ip rule del pref 11
	wait_until 10 rmmod siw
}

mrc1_up() {
	load_mrc
	mrc_one_plane
	NS1=h1 NS2=h2 TO=10.77.0.2 CM=''
}

mrc4_up() {
	local i p
	load_mrc
	fabric_destroy
	mkdir -p "$FABRIC_DIR"
	printf 'h1\nh2\n' >"$FABRIC_DIR/nodes"
	echo "2 4 1 1" >"$FABRIC_DIR/size"
	fabric_load
	ip -b - <<-BATCH
		netns add h1
		netns add h2
	BATCH
	for ((p = 1; p <= 4; p++)); do
		fabric__cable h1 eth$p h2 eth$p
	done | ip -b -
	for i in 1 2; do
		mrc4_host $i $((3 - i))
	done
	mrc_wait_devices
	NS1=h1 NS2=h2 TO=10.77.0.2 CM=''
}

mrc4_host() {		# HOST PEER
	local i=$1 peer=$2 p e evs=() REPLY
	{
		echo "link set lo up"
		echo "link add mrc0 type mrc"
		for ((p = 1; p <= 4; p++)); do
			echo "link set eth$p master mrc0"
			echo "link set eth$p up"
			echo "address add fe80::$i/64 dev eth$p nodad"
			fabric_usid_host $p "$peer"
			fabric__route "$REPLY" "$peer" eth$p
		done
		fabric_host_addr "$i"
		echo "address add $REPLY/64 dev mrc0 nodad"
		echo "address add 10.77.0.$i/24 dev mrc0"
		echo "link set mrc0 up"
	} >"$MRC_DIR/batch"
	ip -n "h$i" -b "$MRC_DIR/batch"
	for ((p = 1; p <= 4; p++)); do
		fabric_usid_host $p "$i"
		mrcctl -n "h$i" plane set dev mrc0 plane $p sid "$FABRIC_BLOCK:$REPLY::"
		fabric_usid_host $p "$peer"
		for ((e = 0; e < MRC_EVS; e++)); do
			evs+=(ev "$p" "$FABRIC_BLOCK:$REPLY::")
		done
	done
	fabric_host_addr "$peer"
	for e in "$REPLY" 10.77.0.$peer; do	# perftest's TCP is over IPv4
		mrcctl -n "h$i" profile set dev mrc0 id 1 dst "$e" fmt srv6 mode exp "${evs[@]}" || return
	done
}

mrc1_down() {
	fabric_destroy
	wait_until 20 rmmod mrc
}
mrc4_down() { mrc1_down; }

in_ns() {	# NS CMD...
	local ns=$1
	shift
	if [ -n "$ns" ]; then
		exec nsenter --net="/run/netns/$ns" -- "$@"
	else
		exec "$@"
	fi
}
