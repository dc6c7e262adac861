#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
# kernels: old uml
#
# Memory is whose it is: what a program deregistered is not touched any more, what it asks
# for is counted and limited, and what it is stays in its PID namespace.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane, slow

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# taken CASE: h2's memory, taken back while h1 reads or writes it.
taken() {
	MRC_PORT=$((MRC_PORT + 1))
	fabric_host_addr 2
	mrc_pair 120 $MRC_PORT mrc_owner -d mrc2 -p $MRC_PORT "$1" -- \
		mrc_owner -d mrc1 -p $MRC_PORT "$1" "$REPLY" || { mrc_out client; mrc_out server; return 1; }
}

slow() {
	fabric_degrade h1 eth1 rate 8mbit limit 1000 && fabric_degrade h2 eth1 rate 8mbit limit 1000
}

owner() { nsenter --net=/run/netns/h1 -- "$MRC_DIR/mrc_owner" -d mrc1 "$@"; }

# As uid 65534 with that much memlock (KiB).
nobody() {
	local kib=$1
	shift
	(ulimit -l "$kib" && nsenter --net=/run/netns/h1 -- setpriv --reuid 65534 --regid 65534 \
		--clear-groups --bounding-set=-all "$MRC_DIR/mrc_owner" -d mrc1 "$@")
}

# In a cgroup that may have 100 MB.
in_cgroup() {
	local cg=/sys/fs/cgroup/mrc-owner
	mkdir -p $cg
	echo 100M >$cg/memory.max
	(echo $BASHPID >$cg/cgroup.procs && "$@")
}

# gets WORDS CMD...: what mrc_owner prints.
gets() {
	local said want=$1
	shift
	said=$("$@" 2>&1) || { echo "status $?: $said"; return 1; }
	echo "$said"
	# shellcheck disable=SC2053	# a pattern
	[[ $said = $want ]]
}

at_least() { echo "$1, at least $2"; [ "$1" -ge "$2" ]; }

# The counter never goes back while QPs come and go.
watch() {
	local last=0
	while [ -e "$MRC_DIR/go" ]; do
		mrc_stat h1 tx_pkts
		[ "$REPLY" -ge $last ] || { echo "$last, then $REPLY"; return 1; }
		last=$REPLY
		mrc_sleep 0.02
	done
}

come_and_go() {
	local rc=0 pid
	touch "$MRC_DIR/go"
	watch >"$MRC_DIR/watch" & pid=$!
	for _ in 1 2 3; do
		mrc_verify 60 -o write -q 8 -n 10 || rc=1
	done
	rm "$MRC_DIR/go"
	wait $pid || { cat "$MRC_DIR/watch"; rc=1; }
	return $rc
}

pid_seen() { "$@" mrcctl -n h1 -j qp show | jq '[.[].pid // 0] | max'; }

ksft_plan
mrc_begin mrcctl mrc_owner mrc_verify setpriv unshare
install -m 755 "$(command -v mrc_owner)" "$MRC_DIR/"
chmod 755 "$MRC_DIR"
ksft_test "one plane" mrc_one_plane

# ------------------------------------------------------------------ limits
ksft_test "a queue for a user without memlock" gets "1 ok" nobody 64 cqs 1 32
ksft_test "large ones are beyond that" gets "0 ENOMEM" nobody 64 cqs 30 1048576
ksft_test "many small ones, too" gets "* ENOMEM" nobody 64 cqs 100 32
ksft_test "with 130 MiB three large ones" gets "3 ENOMEM" nobody 133120 cqs 30 1048576
ksft_test "root has as many as it likes" gets "200 ok" owner cqs 200 1024
if echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	ksft_test "queues are in the cgroup" gets "[123] ENOMEM" in_cgroup owner cqs 30 1048576
else
	ksft_skip "queues are in the cgroup"
fi
if [[ $MRC_KVER = uml* ]]; then
	ksft_skip "a region of 1 TiB is refused" "processes have not so many addresses"
	ksft_skip "max_mr and max_cq hold" "with checkers they need more memory than there is"
else
	ksft_test "a region of 1 TiB is refused" gets "0 EINVAL" owner huge
	ksft_test "max_mr holds for empty regions, too" gets "131072 ENOSPC" owner mrs 140000
	sysctl -qw vm.max_map_count=140000
	ksft_test "max_cq holds" gets "65536 ENOSPC" owner cqs 70000 32
fi
ksft_test "nothing is left" mrc_until 60 mrc_no_resources

# -------------------------------------------------------------------- PIDs
mrc_start reader h1 "$MRC_DIR/mrc_owner" -d mrc1 -p 18999 read
mrc_until 30 mrc_listens reader 18999
ksft_equal "a QP has its program's PID" "${MRC_PID[reader]}" "$(pid_seen env)"
ksft_equal "and none in another PID namespace" 0 "$(pid_seen unshare --pid --fork)"
mrc_kill reader

# ---------------------------------------------------------------- counters
ksft_test "counters while QPs come and go" come_and_go
mrc_stat h1 tx_pkts
ksft_test "they outlive the QPs" at_least "$REPLY" 240

# ------------------------------------------------------------- taken back
ksft_test "a slow cable" slow
ksft_test "a READ of what is deregistered meanwhile ends, and sees nothing more" taken read
ksft_test "a WRITE likewise" taken write
ksft_test "a QP in error lets its regions go" taken error
ksft_finish
