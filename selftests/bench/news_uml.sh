#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# news_uml.sh ROUNDS - see news.sh. A WRITE stream over one plane goes on all the time; each round
# counts its packets for two seconds without a storm, under one that nobody hears and under one that
# is heard, the last two in turns.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/ratio.sh"

N_EVS=200
RATE=100000

profile() {
	local i evs=()
	for ((i = 0; i < N_EVS; i++)); do
		evs+=(ev 1 $((50000 + i)))
	done
	mrcctl -n h1 profile set dev eth1 id 1 fmt udp "${evs[@]}"
}

stream() {
	local server client
	mrc_gid_index h1 v6 && client=$REPLY
	mrc_gid_index h2 v6 && server=$REPLY
	mrc_pair_start $MRC_PORT ib_write_bw -F -d "${MRC_IBDEV[h2]}" -x "$server" -p $MRC_PORT -s 65536 --run_infinitely -- \
		ib_write_bw -F -d "${MRC_IBDEV[h1]}" -x "$client" -p $MRC_PORT -s 65536 --run_infinitely "$MRC_PERF_TO"
	mrc_flows
}

# rate: REPLY, packets a second for two seconds.
rate() {
	local from to pkts
	mrc_plane_pkts client 1 tx && pkts=$REPLY
	from=${EPOCHREALTIME/[.,]/}
	mrc_sleep 2
	mrc_plane_pkts client 1 tx
	to=${EPOCHREALTIME/[.,]/}
	REPLY=$(((REPLY - pkts) * 1000000 / (to - from)))
}

# under NAME ARG...: the rate while mrc_storm ARG... goes on.
under() {
	local name=$1 got
	shift
	mrc_start storm h1 env MRC_DEBUG=1 mrc_storm -d "${MRC_IBDEV[h1]}" -t 4 -r $RATE "$@"
	mrc_sleep 1
	rate
	got=$REPLY
	mrc_wait storm 60 || { mrc_out storm; return 1; }
	echo "$name: $got packets a second, $(mrc_out storm 1)"
	note "$name" "$got"
}

round() {
	rate
	echo "calm: $REPLY packets a second"
	note calm "$REPLY"
	if (($1 % 2)); then
		under deaf -D && under heard
	else
		under heard && under deaf -D
	fi
}

rounds=$1
mrc_begin mrcctl mrc_storm ib_write_bw
mrc_one_plane
profile
stream
for ((i = 1; i <= rounds; i++)); do
	round $i
done
echo "traffic under $RATE changes a second of $N_EVS EVs:"
echo "  heard, against nobody hears: $(of heard deaf)"
echo "  nobody hears, against no storm: $(of deaf calm)"
kill -INT "${MRC_PID[client]}" "${MRC_PID[server]}" 2>/dev/null || true
mrc_wait client 20 || true
mrc_wait server 20 || true
trap - EXIT	# the machine goes, and all with it
