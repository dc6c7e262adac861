#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full uml
#
# Programs, devices and the module end at bad moments, and leave nothing behind.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# Its peer notices by its own means, in error or in peace, and within a time.
ends() {
	local rc=0
	mrc_wait "$1" 40 || rc=$?
	echo "$1: status $rc: $(mrc_out "$1")"
	[ $rc -ne 124 ]
}

gone() { ! ip -n h1 link show mrc0; }
ib_gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
# TCP holds a namespace until it gives up on a peer that is gone: soon.
two_planes() {
	local h
	mrc_fabric_by_hand 2 2 2 1 || return
	for h in h1 h2; do
		fabric_in $h sysctl -qw net.ipv4.tcp_orphan_retries=1 || return
	done
}

none() { ! ls -d /sys/class/infiniband/*; }
flows() { mrc_verify_start -o mix -s 65536 -t 600 && mrc_flows 60; }

# A program with one of every kind of object, in use, whose device is taken away: what waits is told,
# what is asked for fails.
full() {
	mrc_ibdev h1
	mrc_start full h1 mrc_fatal -d "$REPLY" -a fd00:6d72:63::1
	mrc_until 30 grep -q '^ready' "$MRC_DIR/full.out" || { mrc_out full; return 1; }
}
full_told() {
	local rc=0
	mrc_wait full 60 || rc=$?
	[ $rc -eq 0 ] && grep -q '^# all was tried' "$MRC_DIR/full.out" && return
	echo "status $rc: $(grep -v '^ok' "$MRC_DIR/full.out")"
	return 1
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_fatal
modprobe -q rdma_ucm || :
ksft_test "two planes by hand" two_planes

# ------------------------------------------------------------------ SIGKILL
for who in client server; do
	other=$([ $who = client ] && echo server || echo client)
	ksft_test "data flows" flows
	mrc_kill $who
	ksft_test "the $who is killed: the $other ends" ends $other
	ksft_test "nothing is left of them" mrc_until 10 mrc_no_resources
done
ksft_test "and it still works" mrc_verify 60 -o mix -r -s 65536 -n 50

# ------------------------------------------------------------ device deleted
ksft_test "data flows" flows
ksft_test "another program has one of each object" full
mrc_ibdev h1
ibdev=$REPLY
ksft_test "the device is deleted" timeout 300 ip -n h1 link del mrc0
ksft_test "it is told at each of them" full_told
ksft_test "the client ends" ends client
ksft_test "the server ends" ends server
ksft_test "the netdev is gone" gone
ksft_test "the RDMA device is gone" mrc_until 20 ib_gone "$ibdev"
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_test "made again" mrc_host_by_hand 1
ksft_test "ready" mrc_wait_devices
ksft_test "and it works" mrc_verify 60 -o mix -r -s 65536 -n 50

# ------------------------------------------------------------ plane deleted
ksft_test "data flows" flows
ksft_test "the netdev of a plane is deleted" ip -n h1 link del eth2
ksft_equal "the device has one plane" 1 "$(mrcctl -n h1 -j plane show | jq length)"
ksft_test "data flows on the other" mrc_until 20 mrc_plane_used client 1 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# ------------------------------------------------- namespace deleted under it
ksft_test "two planes by hand" two_planes
ksft_test "data flows" flows
mrc_ibdev h2
ibdev=$REPLY
mrc_kill server
ip netns del h2
ksft_test "a namespace goes: its device goes with it" mrc_until 30 ib_gone "$ibdev"
ksft_test "the client ends" ends client
fabric_destroy || true
ksft_test "all namespaces go" mrc_until 40 none

# ------------------------------------------- a NIC outlives its namespace
# One of hardware, which moves to the initial namespace; the RDMA device on it does not.
on_nic() {
	ip link set eth0 netns "$1" &&
		ip -n "$1" link set eth0 up &&
		fabric_in "$1" rdma link add mrcn type mrc netdev eth0 &&
		mrc_until 20 test -e /sys/class/infiniband/mrcn
}
if { [ -e /sys/class/net/eth0 ] || modprobe virtio_net; } 2>/dev/null &&
	mrc_until 10 test -e /sys/class/net/eth0; then
	ip netns add away
	ksft_test "a device on a NIC of hardware" on_nic away
	ip netns del away
	ksft_test "its namespace goes: the NIC comes home" mrc_until 30 ip link show dev eth0
	ksft_test "the RDMA device is gone" mrc_until 30 ib_gone mrcn
	ip netns add away
	ip netns add other
	ksft_test "once more" on_nic away
	ip -n away link set eth0 netns other
	ip netns del away
	ksft_test "the NIC moved, then the namespace went: no RDMA device" mrc_until 30 ib_gone mrcn
	ip netns del other
	ksft_test "and none is left over" mrc_until 30 none
else
	ksft_skip "a device on a NIC of hardware" "there is none"
fi

# ----------------------------------------------------------- module removed
ksft_test "two planes by hand" two_planes
ksft_test "data flows" flows
ksft_test "another program has one of each object" full
ksft_test "rmmod in the middle of it is refused" refused "in use" -- rmmod mrc
ksft_test "it goes once the devices are deleted" mrc_force_out
ksft_test "it is told at each of them" full_told
ksft_test "the client ends" ends client
ksft_test "the server ends" ends server
ksft_test "no netdev is left" gone
ksft_test "no RDMA device is left" none
ksft_test "loaded again" load_mrc
ksft_test "two planes by hand" two_planes
ksft_test "and it works" mrc_verify 60 -o mix -r -s 65536 -n 50
fabric_destroy || true

# ------------------------------------------------------------- many devices
# The first one to be deleted waits until ib_core has registered all others, one after the other
# under its locks; where that takes ten seconds, the kernel warns ("waiting for a0 to become free").
many=50
[ "$MRC_KVER" != uml ] || many=20
ip netns add many
at_exit ip netns del many
many_devices() {
	local i
	for ((i = 0; i < many; i++)); do
		echo "link add a$i type mrc"
		echo "link add p$i type dummy"
		echo "link set p$i master a$i"
		echo "link set a$i up"
		echo "address add fd01:$i::1/64 dev a$i nodad"
	done | ip -n many -b - || return
	for ((i = 0; i < many; i++)); do
		echo "link del a$i"
		echo "link del p$i"
	done | ip -n many -b -
}
ksft_test "$many devices made and deleted" many_devices
at_once() {
	local i
	for ((i = 0; i < 50; i++)); do
		echo "link add mrc0 type mrc"
		echo "link del mrc0"
	done | ip -n many -b -
}
ksft_test "one device made and deleted 50 times" at_once
ksft_test "none is left" mrc_until 30 none
ksft_test "the module can go" mrc_until 20 rmmod mrc
ksft_finish
