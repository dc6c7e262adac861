#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: old
#
# RDMA devices of one namespace each ("rdma system set netns exclusive"): ours are in that of
# their netdev.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	by "rdma link add"
#	n1: mrc0, for a while in n2		by "ip link"

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# The mode can be changed while there is no namespace but the initial one; those of tests before
# this one end a little later.
mode() { rdma system set netns "$1"; }
mode_is() { rdma system show | grep -q "netns $1"; }
devs() {	# [HOST]: RDMA devices that are seen there
	${1:+ip netns exec "$1"} rdma -j dev show | jq -r '[.[].ifname] | sort | join(" ")'
}
sees() { [ "$(devs "${2:-}")" = "$1" ]; }

shared_again() {
	fabric_destroy || :
	mrc_until 60 mode shared
}

ksft_plan
mrc_begin ibv_rc_pingpong ibv_devinfo
mrc_until 60 mode exclusive || ksft_skip_all "RDMA devices stay shared: a namespace is left"
at_exit shared_again
ksft_test "exclusive" mode_is exclusive
mrc_cable
for i in 1 2; do
	fabric_host_addr $i
	ip -n h$i link set lo up
	ip -n h$i link set eth1 up
	ip -n h$i address add "$REPLY/64" dev eth1 nodad
	ip -n h$i address add 10.77.0.$i/24 dev eth1
	ksft_test "rdma link add in h$i" ip netns exec h$i rdma link add mrc$i type mrc netdev eth1
	ksft_test "is seen there" mrc_until 30 sees mrc$i h$i
done
ksft_equal "and in the initial namespace not" "" "$(devs)"
ksft_test "it has its GID" mrc_until 30 ip netns exec h1 grep -rq '0063:.*:0001$' \
	/sys/class/infiniband/mrc1/ports/1/gids
ksft_test "a program opens it" ip netns exec h1 ibv_devinfo -d mrc1
ksft_test "another namespace's does not" refused -- ip netns exec h2 ibv_devinfo -d mrc1

gid_of() {	# HOST NAMESPACE
	REPLY=$(ip netns exec "$2" grep -rl "0063:.*:000$1\$" \
		"/sys/class/infiniband/mrc$1/ports/1/gids" | head -n 1)
	REPLY=${REPLY##*/}
}
pingpong() {	# [NAMESPACE ADDRESS]: of the client, and where it finds the server
	local g1 g2 server rc=0 ns=${1:-h1}
	gid_of 1 "$ns"; g1=$REPLY
	gid_of 2 h2; g2=$REPLY
	ip netns exec h2 ibv_rc_pingpong -d mrc2 -g "$g2" -n 200 -c >"$MRC_DIR/pp2" 2>&1 &
	server=$!
	mrc_until 30 ip netns exec h2 grep -q ':4853 [0-9A-F]*:0000 0A ' /proc/net/tcp6 /proc/net/tcp
	ip netns exec "$ns" timeout 300 ibv_rc_pingpong -d mrc1 -g "$g1" -n 200 -c "${2:-10.77.0.2}" ||
		rc=$?
	[ $rc -eq 0 ] || kill $server
	wait $server || rc=$?
	cat "$MRC_DIR/pp2"
	return $rc
}
ksft_test "neighbours" mrc_until 30 ip netns exec h1 ping -q -c 1 -W 2 fd00:6d72:63::2
ksft_test "data flows" pingpong

# mrc1 for programs of n3, which has but a cable to h2 for their TCP; planes and addresses stay in h1.
ip netns add n3
ip link add c3 netns n3 type veth peer name c3 netns h2
ip -n n3 address add 10.78.0.1/24 dev c3
ip -n h2 address add 10.78.0.2/24 dev c3
ip -n n3 link set c3 up
ip -n h2 link set c3 up
ksft_test "mrc1 moves, its netdev stays" ip netns exec h1 rdma dev set mrc1 netns n3
ksft_test "and is seen there" mrc_until 30 sees mrc1 n3
ksft_equal "only there" " mrc2" "$(devs h1) $(devs h2)"
tx_of() { REPLY=$(ip -n h1 -j -s link show eth1 | jq '.[0].stats64.tx.packets'); }
tx_of; before=$REPLY
ksft_test "data flows, from n3" pingpong n3 10.78.0.2
tx_of
ksft_test "by the planes in h1: $((REPLY - before)) packets" test $((REPLY - before)) -gt 400
ksft_test "it moves back" ip netns exec n3 rdma dev set mrc1 netns h1
ksft_test "and is seen in h1" mrc_until 30 sees mrc1 h1
ksft_test "data flows" pingpong
ip netns del n3

ip netns add n1
ksft_test "ip link add in n1" ip -n n1 link add mrc0 type mrc
ksft_test "is seen there" mrc_until 30 sees mrc0 n1
ksft_equal "and nowhere else" " mrc1 mrc2" "$(devs) $(devs h1) $(devs h2)"

# A device may be moved to where its netdev is not. While ib_core does, it hands out no reference,
# and what ends then must end all the same.
ip netns add n2
move() { ip netns exec "$1" rdma dev set "$2" netns "$3"; }
moved() { move n1 mrc0 n2 && sees mrc0 n2 && move n2 mrc0 n1 && sees mrc0 n1; }
# Whatever the moves find: the device is somewhere, or gone.
to_and_fro() {
	while [ -e "$MRC_DIR/moving" ]; do
		move n1 mrc0 n2 || :
		move n2 mrc0 n1 || :
	done 2>/dev/null
}
ends_while_moved() {
	local i mover rc=0
	for ((i = 0; i < ${MOVES:-10}; i++)); do
		touch "$MRC_DIR/moving"
		to_and_fro & mover=$!
		mrc_sleep 0.0$((RANDOM % 10))
		timeout 300 ip -n n1 link del mrc0 || rc=1
		rm "$MRC_DIR/moving"
		wait $mover || :
		[ $rc -eq 0 ] || { echo "at the $((i + 1))th time mrc0 did not end"; return 1; }
		ip -n n1 link add mrc0 type mrc || return
		mrc_until 30 sees mrc0 n1 || return
	done
}
ksft_test "another namespace gets it, and gives it back" moved
ksft_test "it ends also while it is moved" ends_while_moved
ip netns del n2
ip netns del n1
fabric_destroy
no_devices() { sees ""; }
ksft_test "namespaces go, and their devices with them" mrc_until 60 no_devices
ksft_test "none is left anywhere: shared again" mrc_until 60 mode shared
ksft_test "which all see" mode_is shared
ksft_test "the module can go" mrc_until 60 rmmod mrc
ksft_finish
