#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# A plane is dead, and nobody knows: connection managers and programs that set up by datagrams do not notice. What
# is counted is datagrams, not time: each that one end sent was delivered at the other, once.
#
#	h1 mrc0 = 2 and 4 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/cm.sh"

# cm_received FROM TO: each datagram of FROM was delivered at TO, once.
cm_received() {
	local sent
	mrc_stat "$1" tx_dgrams && sent=$REPLY && mrc_stat "$2" rx_dgrams || return
	[ "$REPLY" -eq "$sent" ] || { echo "$1 sent $sent, $2 received $REPLY"; return 1; }
}
# Of connection managers alone: their QPs stay, those of programs leave before the last datagram comes.
none_lost() {
	mrc_until 10 cm_received h1 h2
	mrc_until 10 cm_received h2 h1
	cm_received h1 h2 && cm_received h2 h1
}
copies_dropped() {
	local sent
	mrc_stat h1 tx_dgram_copies && sent=$REPLY && mrc_stat h2 rx_dgram_copies || return
	echo "h1 sent $sent copies, h2 dropped $REPLY"
	[ "$sent" -gt 0 ] && [ "$REPLY" -eq "$sent" ]
}

# cm_count HOST COUNTER: REPLY, of its connection manager.
cm_count() { read -r REPLY <"/sys/class/infiniband/${MRC_IBDEV[$1]}/ports/1/$2"; }

# Six messages each way, which are not repeated.
pingpong() {
	local server
	mrc_gid_index h2 v6 && server=$REPLY && mrc_gid_index h1 v6 || return
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair 60 $MRC_PORT ibv_ud_pingpong -p $MRC_PORT -d "${MRC_IBDEV[h2]}" -g "$server" \
		-n 6 -s 1000 -c -- \
		ibv_ud_pingpong -p $MRC_PORT -d "${MRC_IBDEV[h1]}" -g "$REPLY" -n 6 -s 1000 \
		-c 10.77.0.2
}

silent() { fabric_blackhole "p$1-t1-1" t0-1 && fabric_blackhole "p$1-t1-1" t0-2; }
# Connection managers only, for data would teach the paths: nobody listens there, which the peer says.
asked() {
	local i rc
	for i in 1 2 3; do
		rc=0
		mrc_start client h1 rping -c -a fd00:6d72:63::2 -p 9999 -C 1
		mrc_wait client 60 || rc=$?
		grep -q "REJECTED" "$MRC_DIR/client.out" && [ $rc -ne 124 ] && continue
		echo "request $i, status $rc: $(mrc_out client)"
		mrcctl -n h1 plane show
		mrcctl -n h1 peer show
		mrc_stats h1
		grep -v ' 0$' <<<"$REPLY"
		return 1
	done
}
# how_long NAME CMD...: a test, and for people how long it took and how often connection managers repeated something.
how_long() {
	local begin=$EPOCHREALTIME
	ksft_test "$@"
	cm_count h1 cm_tx_retries/req
	ksft_comment "$(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000)) ms; $REPLY requests were repeated so far"
}

# Whether a program's first datagram meets the dead plane is chance: often enough that one does.
pingpongs() {
	local i
	for i in 1 2 3 4; do
		pingpong || { echo "number $i"; return 1; }
	done
}

one_silent() {		# PLANES
	ksft_test "$1 planes by hand" mrc_fabric_by_hand 2 "$1" 2 1
	ksft_test "$1 planes: plane 1 swallows everything in both directions" silent 1
	how_long "$1 planes: every request is answered" asked
	how_long "$1 planes: rping, to a peer that taught us nothing" cm_rping v6
	how_long "$1 planes: ucmatose" cm_ucmatose v4
	ksft_test "$1 planes: no management packet was lost, and none came twice" none_lost
	how_long "$1 planes: datagrams of programs: udaddy" cm_udaddy v6
	how_long "$1 planes: datagrams of programs: ibv_ud_pingpong" pingpongs
	ksft_test "nothing is left" mrc_until 10 mrc_no_resources
}

ksft_plan
mrc_begin rping ucmatose udaddy ibv_ud_pingpong
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"

ksft_test "2 planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "rping connects" cm_rping v6
ksft_test "each packet went by two planes, and arrived once" none_lost
ksft_test "the copies were dropped" mrc_until 10 copies_dropped
one_silent 2
one_silent 4
ksft_finish
