#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# contention_vm.sh - in the virtual machine: contention.sh.
# shellcheck disable=SC2016,SC2034,SC2154
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/stages.sh"
trap - EXIT

tracing=/sys/kernel/tracing
probe=$tracing/events/mrcbench/wait
MRC_EVS=16
chain=stacktrace	# as 6.1 calls it
[ "$MRC_KVER" = 6.1 ] || chain=common_stacktrace

# Both processors take packets of all planes.
spread() {
	local host
	for host in h1 h2; do
		ip netns exec $host bash -c 'for f in /sys/class/net/eth*/queues/rx-*/rps_cpus; do echo 3 >"$f"; done'
	done
}

begin_counting() {
	echo 'p:mrcbench/wait native_queued_spin_lock_slowpath' >$tracing/kprobe_events
	echo "hist:keys=$chain" >"$probe/trigger"
}

end_counting() {
	cat "$probe/hist" >"$MRC_DIR/hist"
	echo "!hist:keys=$chain" >"$probe/trigger"
	echo >$tracing/kprobe_events
}

# Who asked for the lock, "NAME+OFFSET WAITS" of the module's functions; the kernel's others are one.
places() {
	awk '
		/stacktrace:/ { place = "" }
		match($0, /[^ ]+\+0x[0-9a-f]+\/0x[0-9a-f]+/) {
			frame = substr($0, RSTART, RLENGTH)
			if (place == "" && frame !~ /spin_|^kprobe|^aggr_|^ftrace|^0x/)
				place = /\[mrc\]/ ? frame : "others"
		}
		match($0, /hitcount: *[0-9]+/) {
			n = substr($0, RSTART, RLENGTH)
			gsub(/[^0-9]/, "", n)
			sub(/\/.*/, "", place)
			waits[place] += n
		}
		END { for (place in waits) print place, waits[place] }' "$MRC_DIR/hist" | sort -k 2,2nr
}

client() {	# QPS WRITES-OF-EACH
	local gid
	mrc_gid_index h1 v6 && gid=$REPLY
	(in_ns h1 timeout 300 ib_write_bw -F -d "${MRC_IBDEV[h1]}" -x "$gid" -p $MRC_PORT -s 65536 -q "$1" -n "$2" "$TO") \
		>"$MRC_DIR/client.out" 2>&1 </dev/null
}

writes() {	# QPS WRITES-OF-EACH
	local gid pid rc=0
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h2 v6 && gid=$REPLY
	(in_ns h2 ib_write_bw -F -d "${MRC_IBDEV[h2]}" -x "$gid" -p $MRC_PORT -s 65536 -q "$1" -n "$2") \
		>"$MRC_DIR/server.out" 2>&1 </dev/null &
	pid=$!
	MRC_PID[server]=$pid
	mrc_until 30 mrc_listens server $MRC_PORT || true
	client "$@" || rc=$?
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[ $rc -eq 0 ] || tail -n 5 "$MRC_DIR/client.out"
	return $rc
}

# taken_by_cpus: REPLY, packets that each took since boot, "A B".
taken_by_cpus() {
	local line
	REPLY=''
	while read -r line _; do
		REPLY+="$((16#$line)) "
	done </proc/net/softnet_stat
}

measure() {	# QPS
	local qps=$1 before cpus
	writes "$qps" $((64 / qps + 4))		# windows open
	mrc_stat h2 rx_pkts
	before=$REPLY
	taken_by_cpus
	read -r -a cpus <<<"$REPLY"
	begin_counting
	writes "$qps" $((1024 / qps))
	end_counting
	mrc_stat h2 rx_pkts
	before=$((REPLY - before))
	taken_by_cpus
	read -r -a REPLY <<<"$REPLY"
	echo "$qps packets $before $((REPLY[0] - cpus[0])) $((REPLY[1] - cpus[1]))"
	places | sed "s/^/$qps /"
}

mkdir -p "$MRC_DIR"
[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
mrc_setup_plugin
modprobe ib_uverbs
ip link set lo up
mrc4_up
spread
for qps in 1 4 16 64; do
	measure $qps
done | tee "$VMOUT/waits"
cp "$MRC_DIR/hist" "$VMOUT/"
