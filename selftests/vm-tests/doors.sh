#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: old uml
#
# Nobody gets in: who may make devices, which interfaces are heard, what NAT sees.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane
#	   eth9 ---- eth1 outsider		no plane of it
#	h1, h2: mrc0 over eth1 eth2		by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }

no_devices() { ! ls -d /sys/class/infiniband/*; }

ksft_plan
mrc_begin mrcctl mrc_verify mrc_many mrc_stranger ibv_rc_pingpong python3 setpriv unshare

# ----------------------------------------------------------- user namespaces
if nobody unshare -Ur true 2>/dev/null; then
	ksft_test "the root of a user namespace of his own makes no RDMA device" \
		refused "CAP_NET_ADMIN in the initial user namespace" -- \
		nobody unshare -Urn ip link add mlx5_0 type mrc
else	# in a chroot, as under User-Mode Linux
	ksft_skip "the root of a user namespace of his own" "none can be made in a chroot"
fi
ksft_test "there is none" no_devices
ksft_test "root in a network namespace of his own does" \
	unshare -n ip link add mrc0 type mrc

# ----------------------------------------------------------- other interfaces
# peer_ports: which ports of the peer h1 believes to be up.
peer_ports() { mrcctl -n h1 -j peer show | jq -c '[.[] | .ports_up // .ports]'; }

# from_outside CASE: one packet, counted as one that came by no plane, and nothing else.
from_outside() {
	local before ports
	mrc_stats h1
	before=$REPLY
	ports=$(peer_ports)
	echo "$1" | nsenter --net=/run/netns/outsider -- /usr/bin/python3 -I -S \
		"$here/../verbs/mrc_inject.py" fd00:6d72:63::1 fd00:6d72:63::2 "$qpn" "$psn" "$next"
	mrc_sleep 0.2
	mrc_stats h1
	mrc_stats_diff "$before" "$REPLY"
	echo "changed: $REPLY"
	[ "${REPLY% }" = rx_no_plane+1 ] && [ "$(peer_ports)" = "$ports" ]
}

ksft_test "one plane" mrc_one_plane

# ---------------------------------------------------------- a program's datagram
many() { nsenter --net=/run/netns/h1 -- mrc_many -d "${MRC_IBDEV[h1]}" fd00:6d72:63::2; }
enough() { seq "$1" | many | tail -n 1 | grep -x "$1"; }
dropped_for_its_key() { mrc_stat h1 rx_dgram_qkey && [ "$REPLY" -gt "$1" ]; }
# stranger: a program of h2 sends to QP 1 of h1, which does not listen to it.
stranger() {
	mrc_stat h1 rx_dgram_qkey
	local before=$REPLY
	nsenter --net=/run/netns/h2 -- mrc_stranger "${MRC_IBDEV[h2]}" fd00:6d72:63::1
	mrc_until 20 dropped_for_its_key "$before"
}
mrc_ibdev h1
mrc_ibdev h2
ksft_test "a datagram of a program of h2 to QP 1 of h1 is dropped" stranger
ksft_test "QPs of h1 are connected to h2 all the same" enough 1

ip netns add outsider
at_exit ip netns del outsider
ip link add eth9 netns h1 type veth peer name eth1 netns outsider
ip -n h1 link set eth9 up
ip -n outsider link set eth1 up
ip -n outsider -6 addr add fd00:99::2/64 dev eth1 nodad
ip -n h1 -6 addr add fd00:99::1/64 dev eth9 nodad
ip -n outsider -6 route add fd00:6d72:63::1/128 via fd00:99::1
ksft_test "the outsider reaches h1" mrc_until 20 \
	fabric_in outsider ping -q -c 1 -W 2 fd00:6d72:63::1
# shellcheck disable=SC2034
MRC_STALL=120	# it stands still for long
ksft_test "a connection" mrc_verify_start -o mix -q 1 -s 4096 -t 600
ksft_test "that works" mrc_flows 60
kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"
ksft_test "and stands still" mrc_until 30 mrc_still h1
qpn=$(mrc_qp_of h1 qpn) psn=$(mrc_qp_of h1 rx_cack) next=$(mrc_qp_of h1 psn_next)
ksft_test "a spoofed Port Status Update from another interface" from_outside ports
ksft_test "spoofed data" from_outside psn
ksft_test "a spoofed acknowledgement" from_outside sack
kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"
ksft_test "the connection has not noticed" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# ------------------------------------------------------- in this host's own name
refused_are() { mrc_stat h1 port_updates_refused && [ "$REPLY" -eq "$1" ]; }
# in_its_name: h2 tells h1, by the plane and in the name of h1, which ports of h1 are up.
in_its_name() {
	mrc_stat h1 port_updates_refused
	local before=$REPLY
	echo ourselves | nsenter --net=/run/netns/h2 -- /usr/bin/python3 -I -S \
		"$here/../verbs/mrc_inject.py" fd00:6d72:63::1 fd00:6d72:63::2 17 0 0
	mrc_until 20 refused_are $((before + 1))
}
ksft_test "retries for long, on a slow machine" mrcctl -n h1 dev set dev eth1 exp-cnt 25
ksft_test "h1 talks to itself" mrc_to_itself v6 -n 100000000
ksft_test "that works" mrc_until 60 mrc_receives h1
ksft_test "its word about its ports does not come by a plane" in_its_name

# sends FROM ADDRESS PORT [srh]: a program without privileges does, behind a segment routing header.
sends() {
	nsenter --net="/run/netns/$1" -- setpriv --reuid 65534 --regid 65534 --clear-groups -- \
		/usr/bin/python3 -I -S -c '
import socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
if sys.argv[3:]:    # type 4, of one segment, which is the last
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR,
                 bytes([0, 2, 4, 0, 0, 0, 0, 0]) + socket.inet_pton(socket.AF_INET6, sys.argv[1]))
s.sendto(b"x" * 32, (sys.argv[1], int(sys.argv[2])))
' "${@:2}"
}
may_not() { refused "Operation not permitted" -- sends "$@"; }
mrc_stat h1 tx_not_ours
before=$REPLY
ksft_test "no program speaks MRC to this host" may_not h1 fd00:6d72:63::1 4791
ksft_test "nor to another" may_not h1 fd00:6d72:63::2 4791
ksft_test "at neither port" may_not h1 fd00:6d72:63::2 4971
ksft_test "nor behind a routing header" may_not h1 fd00:6d72:63::2 4791 srh
ksft_test "others are its own" sends h1 fd00:6d72:63::2 4792
ksft_test "with such a header, too" sends h1 fd00:6d72:63::2 4792 srh
ksft_test "over IPv4, too" may_not h1 ::ffff:10.77.0.2 4791
mrc_stat h1 tx_not_ours
ksft_equal "each was counted" 5 $((REPLY - before))
ksft_test "what h1 says to itself goes on" mrc_until 60 mrc_receives h1
mrc_kill client
mrc_kill server

# What leaves by a plane has an outer header of ours, which no rule may change.
masquerade() {
	fabric_in h1 nft -f - <<-'RULES'
		table inet nat {
			chain post {
				type nat hook postrouting priority srcnat; policy accept;
				oifname "mrc0" counter masquerade
				oifname "eth*" counter masquerade
			}
		}
	RULES
}
tx_pkts() { mrcctl -n h1 -j plane show | jq '[.[].tx_pkts] | add'; }

# Packets that left by planes while the rule was there: it counted them, and what else leaves there.
seen_by_rule() {
	local before after seen
	fabric_in h1 nft -f - <<-'RULES'
		table inet watch {
			chain post {
				type filter hook postrouting priority filter; policy accept;
				oifname "eth*" counter
			}
		}
	RULES
	before=$(tx_pkts)
	mrc_verify 60 -o mix -s 65536 -n 100
	after=$(tx_pkts)
	seen=$(fabric_in h1 nft -j list table inet watch | jq '[.. | .counter? // empty | objects] | .[0].packets')
	echo "# $((after - before)) packets left by planes, the rule counted $seen"
	fabric_in h1 nft delete table inet watch
	[ $((after - before)) -gt 500 ] && [ "$seen" -ge $((after - before)) ]
}
tcp_over() {	# ADDRESS
	local got
	fabric_in h2 timeout 120 nc -N -l "$1" 7777 <<<"hello h1" >"$MRC_DIR/tcp" &
	mrc_until 30 fabric_in h2 grep -q ":1E61 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
	got=$(fabric_in h1 nc -N -w 60 "$1" 7777 <<<"hello h2")
	wait $! || true
	echo "h1 got '$got', h2 got '$(cat "$MRC_DIR/tcp")'"
	[ "$got" = "hello h1" ] && [ "$(cat "$MRC_DIR/tcp")" = "hello h2" ]
}
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1

# ------------------------------------------------------------- the peer table
# Anybody may send datagrams to addresses behind mrc0; new hosts are reached all the same.
knows() { mrcctl -n h1 -j peer show | jq -e --arg a "$1" 'any(.[]; .peer == $a)' >/dev/null; }
bounded() { [ "$(mrcctl -n h1 -j peer show | jq length)" -le 4100 ]; }
ksft_test "verbs make a peer" mrc_verify 60 -o write -s 4096 -n 10
ksft_test "datagrams to 5,000 addresses" nsenter --net=/run/netns/h1 -- \
	setpriv --reuid 65534 --regid 65534 --clear-groups -- /usr/bin/python3 -I -S -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for i in range(1, 5001):
    try:
        s.sendto(b"x", ("fd00:6d72:63::5:%x" % i, 9))
    except OSError:
        pass
'
ksft_test "the last of them has an entry" knows fd00:6d72:63::5:1388
ksft_test "older ones made room" bounded
ksft_test "verbs go on" mrc_verify 60 -o mix -s 65536 -n 50

# Peers with QPs are as many as QPs at most, and these are the rdma controller's to limit.
cg=/sys/fs/cgroup/mrc-doors
rdma_max() {	# OBJECTS: that a cgroup may have
	echo +rdma >/sys/fs/cgroup/cgroup.subtree_control && mkdir -p $cg &&
		echo "${MRC_IBDEV[h1]} hca_object=$1" >$cg/rdma.max
}
too_many() {	# QPs, in the cgroup
	local rc=0
	(echo $BASHPID >$cg/cgroup.procs && many < <(seq "$1")) >"$MRC_DIR/many" 2>&1 || rc=$?
	tail -n 2 "$MRC_DIR/many"
	[ $rc -ne 0 ] && grep -q "Resource temporarily unavailable" "$MRC_DIR/many" &&
		[ "$(grep -c '^[0-9]' "$MRC_DIR/many")" -le 20 ]
}
mrc_ibdev h1
if rdma_max 20 2>"$MRC_DIR/cg"; then
	at_exit rmdir $cg
	ksft_test "a cgroup has the QPs, and so the peers, that rdma.max gives it" too_many 100
	ksft_test "others have as many as they want" enough 100
	echo "${MRC_IBDEV[h1]} hca_object=max" >$cg/rdma.max
else
	ksft_skip "rdma.max" "no rdma controller: $(cat "$MRC_DIR/cg")"
fi

# ------------------------------------------------------------------- NAT
if command -v nft >/dev/null && masquerade 2>"$MRC_DIR/nft"; then
	ksft_test "TCP over IPv6 with masquerading" tcp_over fd00:6d72:63::2
	ksft_test "TCP over IPv4 with masquerading" tcp_over 10.77.0.2
	ksft_test "long ones, too" fabric_in h1 ping -q -c 3 -i 0.2 -s 8000 10.77.0.2
	ksft_test "and verbs" mrc_verify 60 -o mix -s 65536 -n 50
	none_changed() {
		[ "$(fabric_in h1 nft -j list ruleset | jq '[.. | .counter? // empty |
			objects] | .[1].packets')" = 0 ]
	}
	ksft_test "no packet of a plane was changed" none_changed
	ksft_test "without a rule at POST_ROUTING" fabric_in h1 nft delete table inet nat
	ksft_test "they leave" mrc_verify 60 -o mix -s 65536 -n 50
	ksft_test "and one sees them all from then on" seen_by_rule
else
	ksft_skip "masquerading" "no nft: $(cat "$MRC_DIR/nft" 2>/dev/null || true)"
fi
ksft_finish
