#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 900
# kernels: uml arm64
#
# Everything at once, for the kernel with checkers to watch ("make check-debug").
#
#	selftests/vm/runuml -t 900 -- selftests/vm-tests/stress.sh [SECTION...]
#
#	oneplane churn death outsider rmmod bad fail	(default: all)
#
# Data flows while planes, profiles, EVs, settings, routes and programs come and
# go and every object is dumped over and over. What the data looked like is for
# other tests; here the kernel must stay quiet, which runuml sees to.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/starve.sh"

ends() {
	local rc=0
	mrc_wait "$1" "${2:-60}" || rc=$?
	echo "$1: status $rc: $(mrc_out "$1")"
	[ $rc -ne 124 ]
}

ends_well() {
	mrc_wait "$1" "$2" && return
	grep -v '^ok' "$MRC_DIR/$1.out"
	return 1
}

flows() { mrc_verify_start -o mix -r -s 65536 -t 600 && mrc_until 20 moving; }
# Its data: the two find each other by TCP, over the same planes.
moving() {
	local before
	mrc_stat h1 tx_bytes || return
	before=$REPLY
	mrc_sleep 0.2
	mrc_stat h1 tx_bytes || return
	[ "$REPLY" -gt "$before" ]
}

# Both end, in whatever way; nothing of them is left.
over() {
	mrc_kill client TERM
	mrc_kill server TERM
	mrc_until 20 mrc_no_resources
}

no_devices() { ! ls -d /sys/class/infiniband/*; }

# -------------------------------------------------- what goes on meanwhile
# Each runs in the background until the file is gone; errors are expected, objects
# come and go.

dumps() {
	set +e
	while [ -e "$MRC_DIR/go" ]; do
		local h what
		for h in h1 h2; do
			for what in dev plane profile cc peer ev qp stats; do
				mrcctl -n $h -j $what show
			done
		done
		for what in qp cq srq mr; do
			rdma -ddj res show $what
		done
		rdma -j statistic show
		cat /sys/class/infiniband/*/ports/1/{state,rate,hw_counters/*}
		cat /sys/class/infiniband/*/{parent,mrc_abi}
	done >/dev/null 2>&1
}

settings() {
	set +e
	local i=0
	while [ -e "$MRC_DIR/go" ]; do
		i=$((i + 1))
		mrcctl -n h1 plane set dev mrc0 plane $((i % 4 + 1)) admin off
		mrcctl -n h1 ev set dev mrc0 peer fd00:6d72:63::2 index $((i % 8)) state denied
		mrcctl -n h1 dev set dev mrc0 dscp-data $((i % 64)) cwnd $((65536 + i * 4096))
		mrcctl -n h1 plane set dev mrc0 plane $((i % 4 + 1)) admin on
		mrc_profiles_by_hand 1 2
		mrcctl -n h1 ev set dev mrc0 peer fd00:6d72:63::2 index $((i % 8)) state good
		fabric_usid_host $((i % 4 + 1)) 1
		mrcctl -n h1 plane set dev mrc0 plane $((i % 4 + 1)) sid "$FABRIC_BLOCK:$REPLY::1"
		mrcctl -n h1 plane set dev mrc0 plane $((i % 4 + 1)) sid "$FABRIC_BLOCK:$REPLY::"
		mrcctl -n h1 profile del dev mrc0 id 1 dst 10.77.0.2
		mrcctl -n h1 profile set dev mrc0 id 7 fmt stev mode gen count 4096 \
			gen 0 field 16,0xc000,0x3fff,0,16383 field 16,0,0xff,0,255
		mrcctl -n h1 cc set dev mrc0 id $((i % 3 + 1)) algorithm nscc max-cwnd $((65536 + i))
		mrcctl -n h1 dev set dev mrc0 cc-profile $((i % 2)) active-evs $((i % 300 + 1)) \
			damp $((i % 2 * 500)) incast $((i % 2)) sleek $((i % 2))
		mrcctl -n h1 cc del dev mrc0 id 2
		mrcctl -n h2 dev set dev mrc0 strict $((i % 2))
	done >/dev/null 2>&1
}

cables() {
	set +e
	local i=0 p
	while [ -e "$MRC_DIR/go" ]; do
		i=$((i + 1))
		p=$((i % 3 + 2))	# plane 1 stays
		fabric_cut "p$p-t0-1" h1
		fabric_degrade p1-t0-2 h2 loss 2% delay 1ms 1ms duplicate 2%
		mrc_sleep 0.3
		ip -n h2 link set eth$p down
		fabric_restore "p$p-t0-1" h1
		mrc_sleep 0.3
		ip -n h2 link set eth$p up
		ip -n h2 -force -b "$FABRIC_DIR/h2.static"
		fabric_heal p1-t0-2 h2
	done >/dev/null 2>&1
}

ordinary_ip() {
	set +e
	while [ -e "$MRC_DIR/go" ]; do
		fabric_in h1 ping -6 -c 3 -i 0.1 -s 4000 fd00:6d72:63::2
		fabric_in h2 ping -c 3 -i 0.1 -s 20000 10.77.0.1
		fabric_in h2 ping -c 1 -W 1 10.77.0.99
	done >/dev/null 2>&1
}

listeners() {
	mrc_start monitor1 h1 mrcctl -j monitor
	mrc_start monitor2 h2 mrcctl -j monitor
}

# meanwhile SECS FUNCTION...
meanwhile() {
	local secs=$1 fn pids=()
	shift
	: >"$MRC_DIR/go"
	for fn; do
		$fn &
		pids+=($!)
	done
	mrc_sleep "$secs"
	rm -f "$MRC_DIR/go"
	wait "${pids[@]}" || :
}

# Connections come and go, several at a time, each with its threads killed or not.
programs() {
	set +e
	local n=0 pid
	while [ -e "$MRC_DIR/go" ]; do
		n=$((n + 1))
		nsenter --net=/run/netns/h2 -- mrc_verify -e -d "${MRC_IBDEV[h2]}" \
			-p $((18000 + n)) &
		pid=$!
		mrc_sleep 0.4
		fabric_in h1 timeout -s KILL 1 mrc_verify -e -d "${MRC_IBDEV[h1]}" \
			-p $((18000 + n)) -o mix -s 65536 -t 600 fd00:6d72:63::2
		kill -KILL $pid
		wait $pid
	done >/dev/null 2>&1
}

# ------------------------------------------------------------------ sections

run_oneplane() {
	local op
	ksft_test "one plane" mrc_one_plane
	ksft_test "ping-pong over IPv6" mrc_pingpong 60 v6 -e -n 50
	ksft_test "ping-pong over IPv4" mrc_pingpong 60 v4 -e -n 50
	for op in write write_imm send read atomic mix; do
		ksft_test "$op" mrc_verify 90 -o $op -s 65536 -n 100
	done
	ksft_test "inline" mrc_verify 90 -o mix -r -i -s 256 -n 200
	ksft_test "odd sizes" mrc_verify 90 -o mix -r -s 20011 -n 200
	ksft_test "a message" mrc_verify 90 -o mix -s 1048576 -n 20
}

run_churn() {
	ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
	listeners
	ksft_test "data flows" flows
	meanwhile 20 dumps settings cables ordinary_ip programs
	ksft_test "the client has not stopped" mrc_until 60 moving
	kill -INT "${MRC_PID[client]}" || :
	ksft_test "every byte arrived right" mrc_pair_wait 60
	ksft_test "nothing is left" mrc_until 20 mrc_no_resources
	ksft_test "events were told" grep -q . "$MRC_DIR/monitor1.out"
	mrc_kill monitor1
	mrc_kill monitor2
	mrc_stats h1
	mrc_stats_diff "$(sed 's/ .*/ 0/' <<<"${REPLY%$'\n'}")" "$REPLY"
	ksft_comment "$REPLY"
}

run_death() {
	local who
	ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
	for who in client server; do
		ksft_test "data flows" flows
		meanwhile 3 dumps ordinary_ip
		mrc_kill $who
		ksft_test "the $who is killed: all is over" over
	done
	ksft_test "data flows" flows
	meanwhile 3 dumps
	ip -n h1 link del eth2
	ksft_test "the netdev of a plane goes" mrc_until 30 moving
	ip -n h1 link set eth3 nomaster
	ip -n h1 link set eth3 master mrc0
	: >"$MRC_DIR/go"
	dumps &
	ordinary_ip &
	ksft_test "ip link del mrc0" timeout 300 ip -n h1 link del mrc0
	ksft_test "the client ends" ends client
	rm -f "$MRC_DIR/go"
	wait $! || :
	ksft_test "all is over" over

	# Its TCP connection has lost its peer, and keeps the namespace for minutes.
	ip -n h2 link del mrc0
	fabric_destroy || :
	ksft_test "no device is left" mrc_until 30 no_devices
	ksft_test "one plane" mrc_one_plane
	ksft_test "data flows" flows
	ksft_test "rdma link delete" timeout 300 rdma link delete mrc1
	ksft_test "the client ends" ends client
	ksft_test "all is over" over
	ksft_test "the other one's netdev goes" ip -n h1 link del eth1
	ksft_test "all is over" over
}

# Programs that hold no namespace: it ends under their connection.
run_outsider() {
	local REPLY
	ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
	ip link set lo up
	nsenter --net=/proc/1/ns/net mrc_verify -e -d "${MRC_IBDEV[h2]}" \
		-p 18400 >"$MRC_DIR/server.out" 2>&1 &
	# shellcheck disable=SC2154
	MRC_PID[server]=$!
	mrc_sleep 1
	command mrc_verify -e -d "${MRC_IBDEV[h1]}" -p 18400 -P -o mix -s 65536 -t 600 ::1 \
		>"$MRC_DIR/client.out" 2>&1 &
	MRC_PID[client]=$!
	mrc_until 30 moving || :
	ksft_comment "client: $(mrc_out client)"
	ip netns del h1
	mrc_sleep 2
	ip netns del h2
	ksft_test "the client ends" ends client
	ksft_test "the server ends" ends server
	fabric_destroy || :
	ksft_test "nothing is left" mrc_until 30 mrc_no_resources
}

run_rmmod() {
	local i
	for i in 1 2; do
		load_mrc
		ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
		ksft_test "data flows" flows
		: >"$MRC_DIR/go"
		dumps &
		settings &
		ordinary_ip &
		mrc_sleep 1
		ksft_test "refused, then forced out" mrc_force_out
		rm -f "$MRC_DIR/go"
		ksft_test "the client ends" ends client
		ksft_test "the server ends" ends server
		wait $! || :
	done
	load_mrc
	ksft_test "one plane" mrc_one_plane
	ksft_test "data flows" flows
	ksft_test "refused, then forced out" mrc_force_out
	ksft_test "the client ends" ends client
	ksft_test "the server ends" ends server
	load_mrc
}

run_bad() {
	ksft_test "one plane" mrc_one_plane
	mrc_start victim h1 mrc_bad -d "${MRC_IBDEV[h1]}"
	mrc_until 30 mrc_listens victim 18516
	fabric_host_addr 1
	mrc_start offender h2 mrc_bad -d "${MRC_IBDEV[h2]}" "$REPLY"
	ksft_test "accesses that are not allowed" ends_well offender 120
	ksft_test "their victim is unharmed" ends_well victim 20
}

run_fail() {
	local i command
	can_starve || return 0
	ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
	ip netns add fail
	ip -n fail link add f1 type dummy
	starve_module 10
	for ((i = 1; i <= 15; i++)); do
		for command in \
			"ip -n fail link add mrcf type mrc" \
			"ip -n fail link set f1 master mrcf" \
			"fabric_in fail rdma link add f$i type mrc netdev f1" \
			"mrcctl -n h1 profile set dev mrc0 id 7 fmt udp mode auto" \
			"mrcctl -n h1 dev set dev mrc0 profile 7" \
			"mrcctl -n h1 plane set dev mrc0 plane 1 admin off" \
			"mrcctl -n h1 plane set dev mrc0 plane 1 admin on" \
			"mrcctl -n h1 -j ev show" \
			"mrcctl -n h1 -j qp show" \
			"mrcctl -n h1 dev set dev mrc0 profile 1" \
			"mrc_verify_start -o mix -r -s 65536 -t 1"
		do
			$command >/dev/null 2>&1 || :
		done
		mrc_sleep 1
		mrc_stop_all || :
		ip -n fail link del mrcf 2>/dev/null || :
		rdma link delete f$i 2>/dev/null || :
	done
	starve_module 0
	ip netns del fail
	mrc_profiles_by_hand 1 2
	# What was to undo a change may have failed, too.
	mrcctl -n h1 dev set dev mrc0 profile 1
	mrcctl -n h1 plane set dev mrc0 plane 1 admin on
	ksft_test "nothing is left" mrc_until 20 mrc_no_resources
	ksft_test "still works" mrc_verify 60 -o mix -r -s 65536 -n 50
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_bad
[ $# -gt 0 ] || set -- oneplane churn death outsider rmmod bad fail
for section; do
	echo "mrc-test: stress $section" >/dev/kmsg
	fabric_destroy || :
	mrc_until 30 no_devices || :	# the old ones' GIDs are the new ones', too
	run_"$section"
	mrc_stop_all || :
done
fabric_destroy || :
ksft_test "the module can go" mrc_until 30 rmmod mrc
ksft_finish
