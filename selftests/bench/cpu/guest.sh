#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh STACK[+KEY=VALUE] TEST... - inside User-Mode Linux: one stack (stages.sh), run after run. KEY is a setting
# of mrcctl dev set, of both ends' devices.
#
# The module, plug-in and tools are those of $MRC_TREE, the scripts are this tree's. Each test
# runs with two lengths, whose difference is what the packets cost. Lines "@MARK begin|end TEST
# MESSAGES TIMERS" tell watch.py when a run was (mark.sh). A line "@RUNG TEST
# MESSAGES DOORBELLS" says how many system calls the client's posts made.

# shellcheck disable=SC2034	# what lib/*.sh and stages.sh go by
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../../lib/lib.sh"
. "$here/../../lib/fabric.sh"
. "$here/../../lib/mrc.sh"
. "$here/../stages.sh"
. "$here/mark.sh"
trap - EXIT

MRC_TOP=$MRC_TREE
MRC_BUILD=$MRC_TREE
PATH=$MRC_TREE/build/tools:$PATH
MRC_EVS=16

# TEST: messages, short and long run; program and its arguments. Who waits for the other's data
# waits for an event: there is one processor, which a polling program would take.
declare -A TESTS=(
	[w64k]='500 6500 ib_write_bw -s 65536'
	[w64k-1024]='200 2200 ib_write_bw -s 65536 -m 1024'
	[w1m]='40 400 ib_write_bw -s 1048576'
	[r64k]='500 5500 ib_read_bw -s 65536'
	[r64]='1000 31000 ib_read_bw -s 64'
	[s64k]='500 5500 ib_send_bw -e -s 65536'
	[s8k]='2000 22000 ib_send_bw -e -s 8256'
	[w64]='1000 31000 ib_write_bw -s 64'
	[rlat]='500 3500 ib_read_lat -e -s 64'
	[w64k-q16]='100 600 ib_write_bw -s 65536 -q 16'
	[mrch]='500 6500 mrc_bw -s 65536 -S 65536 -t 14 -Q 100'
)

# ends N PROGRAM ARG...: what is run at both, server and client.
ends() {
	local n=$1 program=$2 gid1='' gid2=''
	shift 2
	[ -n "$CM" ] || {
		mrc_until 10 mrc_gid_index h1 v6 && gid1=$REPLY
		mrc_until 10 mrc_gid_index h2 v6 && gid2=$REPLY
	}
	case $program in
	mrc_bw)
		server=("$program" -e -d "${MRC_IBDEV[h2]}" -g "$gid2" -p "$MRC_PORT" -n "$n" "$@")
		client=("$program" -d "${MRC_IBDEV[h1]}" -g "$gid1" -p "$MRC_PORT" -n "$n" "$@" "$TO");;
	*)
		# shellcheck disable=SC2206	# -R, or nothing
		server=("$program" -F $CM -d "${MRC_IBDEV[h2]}" ${gid2:+-x $gid2} -p "$MRC_PORT" -n "$n" "$@")
		# shellcheck disable=SC2206
		client=("$program" -F $CM -d "${MRC_IBDEV[h1]}" ${gid1:+-x $gid1} -p "$MRC_PORT" -n "$n" "$@" "$TO");;
	esac
}

run() {		# TEST MESSAGES PROGRAM ARG...
	local test=$1 n=$2 server client pid rc=0
	shift 2
	MRC_PORT=$((MRC_PORT + 1))
	ends "$n" "$@"
	(in_ns "$NS2" "${server[@]}") >"$MRC_DIR/server.out" 2>&1 </dev/null &
	pid=$!
	MRC_PID[server]=$pid
	mrc_until 30 mrc_listens server $MRC_PORT || true
	mrc_sleep 0.2
	mark begin "$test" "$n"
	: >"$MRC_DIR/rung"
	(export LD_PRELOAD=$MRC_PRELOAD MRC_DOORBELLS=$MRC_DIR/rung
	in_ns "$NS1" timeout 100 "${client[@]}") >"$MRC_DIR/client.out" 2>&1 </dev/null || rc=$?
	mark end "$test" "$n"
	echo "@RUNG $test $n $(<"$MRC_DIR/rung")"
	mrc_sleep 0.1
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[ $rc -eq 0 ] || { echo "$test $n: status $rc"; tail -n 5 "$MRC_DIR/client.out"; }
}

# The settings are after the +.
set_up() {	# STACK[+KEY=VALUE]
	local setting=${1#*+} host
	"${1%%+*}_up"
	[ "$1" != "$setting" ] || return 0
	for host in h1 h2; do
		mrcctl -n $host dev set dev "$(mrcctl -n $host -j dev show | jq -r '.[0].dev')" \
			"${setting%=*}" "${setting#*=}"
	done
}

main() {
	local stack=$1 test short long command
	shift
	mkdir -p "$MRC_DIR"
	[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
	mrc_setup_plugin
	modprobe ib_uverbs
	insmod "$MRC_CRC" || echo "no clmul CRC here: the library's tables for all"
	set_up "$stack"
	cp /proc/kallsyms "$VMOUT/kallsyms"
	for test; do
		read -r short long command <<<"${TESTS[$test]}"
		# shellcheck disable=SC2086
		for n in $short $long; do
			run "$test" "$n" $command
		done
	done
}

main "$@"
