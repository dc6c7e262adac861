#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 360
# kernels: new arm64
#
# rdma_cm and datagrams: Debian's own programs connect by QP 1, over both families, and go on
# when a plane is gone (when nobody knows that it is: silent.sh). What datagram QPs promise: verbs/mrc_dgram.c.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/cm.sh"

# Its server waits for others when it has served one.
do_cmtime() {
	local rc=0
	cm_wait() { mrc_wait client "$1" || rc=$?; }
	cm_addr "$1"
	cm_pair 90 cmtime -b "$REPLY" -p $((++CM_PORT)) -c 20 -- \
		cmtime -s "$REPLY" -p $CM_PORT -c 20 || rc=$?
	cm_wait() { mrc_pair_wait "$1"; }
	mrc_kill server
	echo "status $rc: $(mrc_out client)"
	return $rc
}
do_ud_pingpong() {
	local server
	mrc_gid_index h2 "$1" && server=$REPLY && mrc_gid_index h1 "$1" || return
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair 60 $MRC_PORT ibv_ud_pingpong -p $MRC_PORT -d "${MRC_IBDEV[h2]}" -g "$server" \
		-n 200 -s 1000 -c -- \
		ibv_ud_pingpong -p $MRC_PORT -d "${MRC_IBDEV[h1]}" -g "$REPLY" -n 200 -s 1000 \
		-c 10.77.0.2
}

# perftest's client shakes hands and connects, while its server shakes hands and then listens. Whoever is first is
# chance, and the client does not ask twice (linux-rdma/perftest issue 93): a client that was too early is started again.
do_perf_cm() {		# PROGRAM ARG...
	local turn
	for turn in 1 2 3 4 5; do
		perf_cm "$@" && return
		grep -q 'RDMA_CM_EVENT_REJECTED; error: 8' "$MRC_DIR/client.out" || return 1
		echo "turn $turn: the client was there before its server listened"
	done
	return 1
}
perf_cm() {
	local program=$1
	shift
	mrc_start server h2 "$program" -F -R -p $((++CM_PORT)) "$@"
	if ! mrc_until 30 cm_awaits server; then
		echo "the server does not listen: $(mrc_out server)"
		return 1
	fi
	mrc_start client h1 "$program" -F -R -p $CM_PORT "$@" 10.77.0.2
	mrc_pair_wait 60
}

programs() {		# WHERE FAMILY...
	local family where=$1 program
	shift
	for family; do
		for program in rping ucmatose udaddy rstream riostream; do
			ksft_test "$where: $program, $family" cm_$program "$family"
		done
	done
}

ksft_plan
mrc_begin rping ucmatose udaddy rstream riostream cmtime ibv_ud_pingpong ib_write_bw mrc_dgram mrc_ah_hoard
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"

# ----------------------------------------------------------------- one plane
ksft_test "one plane" mrc_one_plane
MRC_TEST_V4=0 mrc_harness h1 dgram6 mrc_dgram
MRC_TEST_V4=1 mrc_harness h1 dgram4 mrc_dgram
programs "one plane" v4 v6

# A program has all address handles that programs may have. Connection managers have theirs.
has_all() {
	mrc_start handles h1 mrc_ah_hoard "${MRC_IBDEV[h1]}"
	mrc_until 120 grep -q handles "$MRC_DIR/handles.out"
	mrc_out handles
	grep -qx "65536 handles: No space left on device" "$MRC_DIR/handles.out"
}
ksft_test "a program has all address handles of programs" has_all
ksft_test "rping connects all the same" cm_rping v6
mrc_kill handles

# ---------------------------------------------------------------- two planes
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "ibv_ud_pingpong, v6" do_ud_pingpong v6
ksft_test "ibv_ud_pingpong, v4" do_ud_pingpong v4
programs "two planes" v4 v6
ksft_test "cmtime: 20 connections" do_cmtime v6
ksft_test "ib_write_bw -R" do_perf_cm ib_write_bw -s 65536 -n 100
ksft_test "ib_send_bw -R, by events" do_perf_cm ib_send_bw -e -s 4096 -n 100
ksft_test "ib_send_lat -c UD" mrc_perf 60 ib_send_lat -c UD -e -s 512 -n 200
ksft_test "ib_send_bw -c UD" mrc_perf 60 ib_send_bw -c UD -e -s 1024 -n 100
# Those of InfiniBand, in words of four bytes: what node_exporter reads.
pma() { read -r REPLY <"/sys/class/infiniband/${MRC_IBDEV[h1]}/ports/1/counters/$1"; }
pma_moved() {
	local words
	pma port_xmit_data && words=$REPLY && pma port_xmit_packets || return
	echo "port_xmit_data $words, port_xmit_packets $REPLY"
	[ "$words" -gt $((100 * 65536 / 4)) ] && [ "$REPLY" -gt 100 ]
}
ksft_test "ports/1/counters have counted that" pma_moved
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_test "nothing is left" mrc_until 10 mrc_no_resources

# ------------------------------------------------------------ a plane is cut
ksft_test "plane 1 is cut at h1" fabric_cut h1 eth1
programs "plane 1 cut" v6
ksft_test "cmtime: 20 connections" do_cmtime v4
ksft_test "restored" fabric_restore h1 eth1
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
