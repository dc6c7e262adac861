#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: old arm64
# timeout: 300
#
# Planes go and come while data flows and every byte is checked.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

leaves() { mrc_until 15 mrc_plane_unused client "$1" "$2"; }
returns() { mrc_until 30 mrc_plane_used client "$1" "$2"; }
port_state() { grep -q "$1" "/sys/class/infiniband/${MRC_IBDEV[h1]}/ports/1/state"; }

# A cable at a host's end, and both directions of its plane.
cut_and_restore() {	# NAME SWITCH PORT PLANE
	ksft_test "$1: cut" fabric_cut "$2" "$3"
	ksft_test "$1: plane $4 is left" leaves "$4" tx
	ksft_test "$1: by the other end, too" leaves "$4" rx
	ksft_test "$1: restored" fabric_restore "$2" "$3"
	ksft_test "$1: traffic returns" returns "$4" tx
	ksft_test "$1: from the other end, too" returns "$4" rx
}

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "four planes by mrcd" mrc_fabric_mrcd 2 4 2 2
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows

cut_and_restore "cable of h1" p2-t0-1 h1 2
cut_and_restore "cable of h2" p3-t0-2 h2 3

# A cable that no host sees: only the paths over it are bad.
ksft_test "T0 to T1: cut" fabric_cut p4-t0-1 t1-1
bad_somewhere() { mrc_evs_are h1 assumed-bad -ge 1; }
none_bad() { mrc_evs_are h1 assumed-bad -eq 0; }
ksft_test "T0 to T1: EVs are assumed bad" mrc_until 20 bad_somewhere
ksft_test "T0 to T1: the plane is used over its other T1" returns 4 tx
ksft_test "T0 to T1: restored" fabric_restore p4-t0-1 t1-1
ksft_test "T0 to T1: all EVs come back" mrc_until 90 none_bad

ksft_test "plane 1 disabled by mrcctl" mrcctl -n h1 plane set dev mrc0 plane 1 admin off
ksft_test "and left" leaves 1 tx
ksft_test "in both directions" leaves 1 rx
ksft_test "enabled again" mrcctl -n h1 plane set dev mrc0 plane 1 admin on
ksft_test "and used" returns 1 tx

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
# A port without carrier refuses packets, and one that is sent again after its message
# was acknowledged carries what the program wrote there meanwhile, with a wrong ICRC.
ksft_test "nothing was counted that should not be" \
	mrc_expect_clean tx_errors rx_bad_icrc

# Nothing at all gets through for a second or two: a QP lives as long as its retry
# budget, here 8 times 8.6 s.
all_planes() {
	local p pids=()
	for p in 1 2 3 4; do
		"$1" p$p-t0-1 h1 &
		pids+=($!)
	done
	wait "${pids[@]}"
}
mrc_stat h1 tx_bytes
before=$REPLY
ksft_test "data flows" mrc_verify_start -u 21 -o write -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "all cables of h1 cut" all_planes fabric_cut
ksft_test "the port is down" mrc_until 5 port_state DOWN
ksft_test "restored" all_planes fabric_restore
ksft_test "the port is up" mrc_until 5 port_state ACTIVE
ksft_test "data flows again on all planes" mrc_flows 15
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 40
mrc_stat h1 tx_bytes
ksft_comment "$((REPLY - before)) bytes sent"
ksft_finish
