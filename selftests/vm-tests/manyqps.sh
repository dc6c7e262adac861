#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 420
# kernels: full
#
# Ten thousand queue pairs, made, connected, written through and destroyed (verbs/mrc_qps.c), and what they
# leave; a thousand that do nothing; rdma_rxe's beside, where this kernel has it. Rates and memory are
# printed, not judged.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane; rxe0 in the initial namespace

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

QPS=${MRC_QPS:-10000}

resources() { rdma resource show | grep -E '^[0-9]+: mrc[12]:'; }
as_before() { [ "$(resources)" = "$before" ] || { resources; return 1; }; }

# kib: REPLY, what could be taken, when what can be given back has been.
kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	REPLY=$(sed -nE 's/^MemAvailable: +([0-9]+).*/\1/p' /proc/meminfo)
}

given_back() {
	kib
	echo "available: $available KiB before, $REPLY KiB after"
	[ $((available - REPLY)) -lt 16384 ]
}

# It is freed after grace periods.
gives_back() { mrc_until 20 given_back >/dev/null || given_back; }

# A program of the initial namespace has both devices; the QPs are in those of their netdevs.
many() {	# NAME ARG...
	local rc=0 name=$1
	shift
	nsenter --net=/proc/1/ns/net mrc_qps "$@" >"$MRC_DIR/$name.out" 2>&1 || rc=$?
	echo "status $rc: $(mrc_out "$name")"
	[ $rc -eq 0 ]
}
said() { ksft_comment "$1: $(mrc_out "$1" 1)"; }

# softirqs: REPLY, all of a kind since boot, summed over processors.
softirqs() { REPLY=$(awk -v kind="$1:" '$1 == kind { for (i = 2; i <= NF; i++) n += $i } END { print n }' /proc/softirqs); }

# What runs in five seconds: timers, work in softirq (the timer of a QP starts some), packets of ours.
activity() {
	local kind sum=0 packets=0 host
	for kind in HRTIMER TASKLET; do
		softirqs $kind
		sum=$((sum - REPLY))
	done
	for host in h1 h2; do
		mrc_stat $host tx_pkts && packets=$((packets - REPLY))
		mrc_stat $host tx_ctrl_pkts && packets=$((packets - REPLY))
	done
	mrc_sleep 5
	for kind in HRTIMER TASKLET; do
		softirqs $kind
		sum=$((sum + REPLY))
	done
	for host in h1 h2; do
		mrc_stat $host tx_pkts && packets=$((packets + REPLY))
		mrc_stat $host tx_ctrl_pkts && packets=$((packets + REPLY))
	done
	REPLY="$sum $packets"
}

# Not more than without them, but for a few.
idle_costs_nothing() {
	local without with
	activity
	read -r without _ <<<"$REPLY"
	coproc MANY { nsenter --net=/proc/1/ns/net mrc_qps -d mrc1 -D mrc2 -n 1000 -b 1000 -w 2>&1; }
	read -rt 300 REPLY <&"${MANY[0]}" && [ "$REPLY" = waiting ] || { echo "$REPLY"; return 1; }
	mrc_sleep 2	# the last acknowledgements
	activity
	read -r with packets <<<"$REPLY"
	echo "go" >&"${MANY[1]}"
	read -rt 300 REPLY <&"${MANY[0]}"
	wait "$MANY_PID" || return
	idle="in 5 s: $with timers and runs in softirq, $without without them; $packets packets of ours"
	echo "$idle"
	[ $((with - without)) -lt 100 ] && [ "$packets" -lt 20 ]
}

# best CMD...: REPLY, microseconds of the fastest of five runs: other machines run beside this one.
best() {
	local i start best=0
	for ((i = 0; i < 5; i++)); do
		start=${EPOCHREALTIME/[.,]/}
		"$@" >"$MRC_DIR/best" || return
		REPLY=$((${EPOCHREALTIME/[.,]/} - start))
		[ $best -ne 0 ] && [ $best -le $REPLY ] || best=$REPLY
	done
	REPLY=$best
}

# All that mrcctl says of two thousand; how long it takes beside rdma(8), which says a twentieth of it.
all_shown() {
	local ours theirs n
	coproc MANY { nsenter --net=/proc/1/ns/net mrc_qps -d mrc1 -n 2000 -b 2000 -w 2>&1; }
	read -rt 300 REPLY <&"${MANY[0]}" && [ "$REPLY" = waiting ] || { echo "$REPLY"; return 1; }
	best rdma -j resource show qp || return
	theirs=$REPLY
	best mrcctl -n h1 -j qp show || return
	ours=$REPLY
	n=$(jq '[.[] | select(.stats.tx_pkts >= 0 and .state == "RTS")] | length' "$MRC_DIR/best")
	echo "go" >&"${MANY[1]}"
	read -rt 300 REPLY <&"${MANY[0]}"
	wait "$MANY_PID" || return
	shown="$n QPs: mrcctl -j qp show $((ours / 1000)) ms, rdma -j resource show qp $((theirs / 1000)) ms"
	echo "$shown"
	[ "$n" -eq 2000 ]
}

ksft_plan
mrc_begin mrc_qps rdma mrcctl
ip link set lo up
ksft_test "one plane" mrc_one_plane
ksft_test "some, that what stays is there" many first -d mrc1 -D mrc2 -n 2000 -b 1000
before=$(resources)
kib
available=$REPLY
softirqs TASKLET
turns=$REPLY
ksft_test "$QPS queue pairs between two hosts" many two_hosts -d mrc1 -D mrc2 -n "$QPS"
said two_hosts
# What is counted for idle ones counts something.
turned() { softirqs TASKLET; echo "$((REPLY - turns)) runs"; [ $((REPLY - turns)) -gt 1000 ]; }
ksft_test "that was work in softirq" turned
ksft_test "nothing is left" mrc_until 30 as_before
ksft_test "nor memory" gives_back
ksft_test "$((QPS / 5)) of one host" many one_host -d mrc1 -n $((QPS / 5))
said one_host
idle=''
ksft_test "a thousand that do nothing cost nothing" idle_costs_nothing
ksft_comment "$idle"

shown=''
ksft_test "two thousand are shown" all_shown
ksft_comment "$shown"

# In the initial namespace: it hears nowhere else. Last, for it takes port 4791 there.
rxe() {
	ip link add rxeth type dummy && ip link set rxeth up &&
		ip address add fd00:6d72:63:7::1/64 dev rxeth nodad && rdma link add rxe0 type rxe netdev rxeth &&
		mrc_until 20 grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
}
if modprobe rdma_rxe 2>/dev/null; then
	ksft_test "rdma_rxe" rxe
	ksft_test "$((QPS / 5)) of rdma_rxe" many rxe -d rxe0 -n $((QPS / 5))
	said rxe
	rdma link delete rxe0
	modprobe -r rdma_rxe || true
else
	ksft_skip "$((QPS / 5)) of rdma_rxe" "this kernel has none"
fi
ksft_finish
