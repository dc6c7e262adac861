#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full uml
#
# Multicast groups of datagram QPs, as rdma_cm joins them and as programs attach themselves. Who
# receives what: verbs/mrc_mcast.c.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane
#	h1 mrc0 = eth1, eth2 ---- eth1, eth2 = mrc0 h2	two cables, no SRv6

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

two_cables() {
	local i
	mrc_cable || return
	echo "2 2 1 1" >"$FABRIC_DIR/size"
	fabric_load
	fabric__cable h1 eth2 h2 eth2 | ip -b - || return
	for i in 1 2; do
		fabric_host_addr $i
		ip -n h$i -b - <<-BATCH || return
			link set lo up
			link add mrc0 type mrc
			link set eth1 up
			link set eth2 up
			link set eth1 master mrc0
			link set eth2 master mrc0
			address add $REPLY/64 dev mrc0 nodad
			address add 10.77.0.$i/24 dev mrc0
			link set mrc0 up
		BATCH
	done
	mrc_wait_devices && mrc_until 20 link_locals
}

# IPv6 is ready to send by each plane.
link_locals() {
	local i p
	for i in 1 2; do
		for p in 1 2; do
			[[ $(ip -n h$i -6 -o address show dev eth$p scope link -tentative) = *fe80:* ]] ||
				return
		done
	done
}

# groups: all cases, of one family, from h1 to h1 and h2.
groups() {		# v6|v4 WHERE
	mrc_ibdev h2
	export MRC_TEST_PEER=$REPLY
	[ "$1" = v6 ] && export MRC_TEST_V4=0 || export MRC_TEST_V4=1
	mrc_harness h1 "$2-$1" mrc_mcast
}

# member HOST ETH GROUP: is the netdev one, by the kernel's list.
member() { [[ $(ip -n "$1" maddress show dev "$2") = *"$3"* ]]; }
no_member() { ! member "$@"; }

# Receivers have posted when they are members, and are attached when they say that they joined. mckey ends when it
# has all messages.
received() {		# COUNT
	local before rc=0
	mrc_stat h2 rx_dgrams && before=$REPLY
	mrc_start server h2 stdbuf -oL mckey -m 239.77.1.1 -b 10.77.0.2 -C "$1" -S 1000
	mrc_until 20 member h2 "$2" 239.77.1.1 || { mrc_out server; return 1; }
	mrc_until 20 grep "joined dgid" "$MRC_DIR/server.out" || { mrc_out server; return 1; }
	mrc_start client h1 mckey -m 239.77.1.1 -b 10.77.0.1 -C "$1" -S 1000 -s
	mrc_pair_wait 30 || rc=1
	mrc_stat h2 rx_dgrams
	echo "$((REPLY - before)) of $1: $(mrc_out server 3)"
	[ $rc -eq 0 ] && [ $((REPLY - before)) -eq "$1" ]
}

ksft_plan
mrc_begin mckey mrc_mcast mrc_member stdbuf
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"

# ----------------------------------------------------------------- one plane
ksft_test "one plane" mrc_one_plane
groups v4 one
groups v6 one
ksft_test "no group is left at h1" no_member h1 eth1 239.77
ksft_test "nor at h2" no_member h2 eth1 ff0e::4d
ksft_test "mckey: IPv4" received 100 eth1
ksft_test "and it left" mrc_until 10 no_member h2 eth1 239.77.1.1

# A program that is killed, and a device that goes, with a QP attached.
listener() {
	mrc_start server h2 mckey -m 239.77.1.2 -b 10.77.0.2 -C 1000
	mrc_until 20 member h2 eth1 239.77.1.2
}
ksft_test "a listener" listener
mrc_kill server
ksft_test "killed, it has left its group" mrc_until 10 no_member h2 eth1 239.77.1.2
ksft_test "a listener again" listener
gone() { ! [ -e "/sys/class/infiniband/$1" ]; }
device_removed() {
	mrc_ibdev h2 && fabric_in h2 rdma link delete "$REPLY" && mrc_until 20 gone "$REPLY"
}
ksft_test "its device is removed" device_removed
mrc_kill server
ksft_test "and the group is left" mrc_until 10 no_member h2 eth1 239.77.1.2

# ---------------------------------------------------------------- two planes
ksft_test "two cables" two_cables
groups v6 both
# Nothing can be sent by plane 2, though its cable is fine.
ipv6_off() { fabric_in h1 sysctl -qw net.ipv6.conf.eth2.disable_ipv6="$1"; }
ksft_test "plane 2 of h1 has no route" ipv6_off 1
groups v6 noroute
ksft_test "and has one again" ipv6_off 0
ksft_test "mckey: IPv4" received 100 eth1
joined() { member h2 eth1 "$1" && member h2 eth2 "$1"; }
listens() {
	mrc_start server h2 mckey -m 239.77.1.3 -b 10.77.0.2 -C 1000
	mrc_until 20 joined 239.77.1.3
}
ksft_test "a group is joined on both planes" listens
ksft_test "a plane leaves" ip -n h2 link set eth2 nomaster
ksft_test "and its group with it" no_member h2 eth2 239.77.1.3
ksft_test "it comes back" ip -n h2 link set eth2 master mrc0
ksft_test "and joins" joined 239.77.1.3
mrc_kill server

# With an MTU that IPv6 cannot use, a netdev loses it and all of its groups.
G6=ff0e::4d:0:9
# users HOST ETH GROUP NUMBER: so many want the netdev to be a member.
users() {
	local was=0
	[[ ! $(ip -n "$1" maddress show dev "$2") =~ "$3"(" users "([0-9]+))? ]] ||
		was=${BASH_REMATCH[2]:-1}
	[ "$was" -eq "$4" ] || { echo "$was users of $3 on $2, expected $4"; return 1; }
}
attached() {		# ETH..., which are members then
	local eth
	mrc_ibdev h2
	mrc_start server h2 mrc_member "$REPLY" $G6
	for eth; do
		mrc_until 20 users h2 "$eth" $G6 1 || { mrc_out server; return 1; }
	done
}
socket_joins() {
	mrc_start client h2 mrc_member -s eth2 $G6
	mrc_until 20 users h2 eth2 $G6 2
}
mtu=$(ip -n h2 -j link show dev eth2 | jq ".[0].mtu")
shrink() { ip -n h2 link set eth2 mtu 1000; }
grow() { ip -n h2 link set eth2 mtu "$mtu"; }
ksft_test "an IPv6 group is joined on both planes" attached eth1 eth2
ksft_test "plane 2 of h2 is too small for IPv6" shrink
ksft_test "and a member no longer" users h2 eth2 $G6 0
ksft_test "it grows" grow
ksft_test "and joins" users h2 eth2 $G6 1
ksft_test "plane 1 stayed one" users h2 eth1 $G6 1
ksft_test "a socket joins, too" socket_joins
mrc_kill server
ksft_test "the QP leaves, the socket stays" mrc_until 10 users h2 eth1 $G6 0
ksft_test "on plane 2" users h2 eth2 $G6 1
mrc_kill client
ksft_test "plane 2 shrinks" shrink
ksft_test "a QP attaches meanwhile" attached eth1
ksft_test "the plane grows" grow
ksft_test "and joins, though late" users h2 eth2 $G6 1
mrc_kill server
ksft_test "nobody is attached" mrc_until 10 users h2 eth2 $G6 0
ksft_test "plane 1 is cut at h1" fabric_cut h1 eth1
groups v4 cut
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
