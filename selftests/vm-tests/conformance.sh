#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: old
# afterwards: conformance/captures.sh
#
# What the module really sends, byte by byte: every type of packet, with SRv6 (with and
# without SRH), with IPv6 and with IPv4, captured where it leaves its host. tshark reads
# the outer layers, selftests/conformance every field up to the ICRC; both on the machine
# outside, which is many times faster.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane, without SRv6

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"
. "$here/../lib/srh.sh"

CONFORMANCE=$here/../conformance
TYPES="C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 CA CB CC CD CE CF D0 D1 D2 D3 D4 D6 D7 DC DD DE"
COPIES="E4 E5"	# of datagrams, where there are two planes
# shellcheck disable=SC2034
MRC_EVS=4
KEEP=${VMOUT:-$MRC_DIR}

# capture CASE: all that leaves the hosts from now on, bursts as the packets that they are on a wire.
capture() {
	local h p ports=()
	CASE=$1
	for ((p = 1; p <= FABRIC_P; p++)); do
		ports+=("eth$p")
	done
	for ((h = 1; h <= FABRIC_H; h++)); do
		for p in "${ports[@]}"; do
			fabric_in "h$h" ethtool -K "$p" tx-gso-list off gso off || return
		done
		mrc_start "cap-h$h" "h$h" /usr/bin/python3 -I "$CONFORMANCE/capture.py" \
			"$KEEP/$CASE-h$h" "${ports[@]}"
		mrc_until 30 grep -q ready "$MRC_DIR/cap-h$h.out" || return
	done
}

capture_end() {
	local h rc=0
	mrc_sleep 0.5	# last acknowledgements
	for ((h = 1; h <= FABRIC_H; h++)); do
		kill -TERM "${MRC_PID[cap-h$h]}"
		mrc_wait "cap-h$h" 60 || { mrc_out "cap-h$h"; rc=1; }
	done
	return $rc
}

types() {	# [ARG...]
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair 120 $MRC_PORT \
		mrc_types -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -m 1024 "$@" -- \
		mrc_types -d "${MRC_IBDEV[h1]}" -p $MRC_PORT -m 1024 "$@" 10.77.0.2
}

# captured CASE TYPES [ARG...]: the end of a capture, and how check.py shall judge it.
captured() {
	local want=$2 case=$1
	shift 2
	ksft_test "$case: captured whole" capture_end
	printf '%s\n' --want "$want" "${ATTRS[@]}" "$@" >"$KEEP/$case.judge"
}

cut_some() { port_stat "$1" "$2" trimmed_pkts && echo "$REPLY" && [ "$REPLY" -gt 0 ]; }

both_cut() { cut_some p1-t0-2 h2 && cut_some p2-t0-2 h2; } >/dev/null

# attributes: what the devices were told to send, from now on.
attributes() {
	local dscp mpr
	read -r dscp mpr < <(mrcctl -n h1 -j dev show | jq -r '.[0] | "\(.dscp_data),\(.dscp_rtx),\(
		.dscp_control),\(.dscp_no_trim) \(.mpr)"')
	ATTRS=(--dscp "$dscp" --mpr "$mpr")
}

ksft_plan
mrc_begin mrcctl mrc_types mrc_verify mrc_bw python3 ethtool
port_begin

# -------------------------------------------------------------------- SRv6
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2
ksft_test "srv6: settings" attributes
ksft_test "srv6: capture" capture srv6
ksft_test "srv6: every type" types
for p in 1 2; do
	port_set p$p-t0-2 h2 rate 8000000 limit 6000 trim 1 lasthop $((p - 1))
done
ksft_test "srv6: trimmed packets" mrc_verify 60 -o mix -r -m 1024 -s 16384 -n 60
for ((again = 0; again < 4; again++)); do	# a slow host's queues may stay short
	both_cut && break
	mrc_verify 60 -o mix -r -m 1024 -s 16384 -n 60 >/dev/null || break
done
for p in 1 2; do
	ksft_test "srv6: plane $p cut some" cut_some p$p-t0-2 h2
done
for p in 1 2; do port_clear p$p-t0-2 h2; done
for p in 1 2; do	# slowly: every packet is looked at
	port_set p$p-t0-1 h1 rate 3000000
	port_set p$p-t0-2 h2 rate 3000000
done
ksft_test "srv6: data flows" mrc_verify_start -o mix -m 1024 -s 4096 -q 2 -t 600
ksft_test "srv6: over all planes" mrc_flows
ksft_test "srv6: a port goes" mrcctl -n h1 plane set dev mrc0 plane 2 admin off
ksft_test "srv6: and is left" mrc_until 15 mrc_plane_unused client 2 tx
ksft_test "srv6: and comes" mrcctl -n h1 plane set dev mrc0 plane 2 admin on
ksft_test "srv6: and is used" mrc_until 15 mrc_plane_used client 2 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "srv6: every byte arrived right" mrc_pair_wait 30
for p in 1 2; do
	port_clear p$p-t0-1 h1
	port_clear p$p-t0-2 h2
done
captured srv6 "$TYPES $COPIES D8 D9" --outer srv6 --planes 2

# A cable that swallows in one direction: nobody is told, the engine finds out.
ksft_test "dies: capture" capture dies
for p in 1 2; do
	port_set p$p-t0-1 h1 rate 3000000
	port_set p$p-t0-2 h2 rate 3000000
done
ksft_test "dies: data flows" mrc_verify_start -o write -m 256 -s 4096 -t 600
ksft_test "dies: over all planes" mrc_flows
ksft_test "dies: plane 2 swallows" fabric_blackhole p2-t0-2 h2
ksft_test "dies: and is left" mrc_until 15 mrc_plane_unused client 2 tx
ksft_test "dies: plane 2 is whole" port_set p2-t0-2 h2 rate 3000000
ksft_test "dies: and is used" mrc_until 15 mrc_plane_used client 2 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "dies: every byte arrived right" mrc_pair_wait 30
for p in 1 2; do
	port_clear p$p-t0-1 h1
	port_clear p$p-t0-2 h2
done
captured dies "C6 C7 C8 D1 DC DE" --outer srv6 --planes 2

# Self-probes of both T0s, and where they come back. The hundredth is longer than a slot of the capture.
tests=()
for p in 1 2; do
	fabric_usid_t0 $p 1; t0=$REPLY
	fabric_usid_host $p 1
	tests+=(test t0 "$p" "$FABRIC_BLOCK:$t0:$REPLY::")
done
came_back() {
	mrcctl -n h1 -j selfprobe show dev mrc0 | jq -e 'length == 3 and all(.[1:][]; .received >= 3)'
}
captured_back() {
	local p
	for p in 1 2; do
		kill -TERM "${MRC_PID[back-$p]}"
		mrc_wait back-$p 60 || return
	done
}
ksft_test "self: capture" capture self
for p in 1 2; do
	mrc_start back-$p p$p-t0-1 /usr/bin/python3 -I "$CONFORMANCE/capture.py" "$KEEP/self-back-$p" h1
	ksft_test "self: T0 $p" mrc_until 30 grep -q ready "$MRC_DIR/back-$p.out"
done
ksft_test "self: probes" mrcctl -n h1 selfprobe set dev mrc0 host off interval 500ms timeout 1s stall 400ms \
	budget 10m expiry 3600 "${tests[@]}"
ksft_test "self: come back" mrc_until 30 came_back
ksft_test "self: end" mrcctl -n h1 selfprobe del dev mrc0
ksft_test "self: captured where they come back" captured_back
captured self DF --outer srv6 --planes 2

ksft_test "srv6-v4: capture" capture srv6-v4
ksft_test "srv6-v4: every type" types -4
captured srv6-v4 "$TYPES $COPIES" --outer srv6 --planes 2

ksft_test "srh: profiles" mrc_srh_profiles 1 2
ksft_test "srh: profiles of the peer" mrc_srh_profiles 2 1
ksft_test "srh: capture" capture srh
ksft_test "srh: every type" types
captured srh "$TYPES $COPIES" --outer srh --planes 2

# QPs of mrc.h: the specification alone.
sweep() {
	local server
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h2 v6 && server=$REPLY && mrc_gid_index h1 v6 || return
	set -- -m 1024 -S 8192 -n 8 -p $MRC_PORT
	mrc_pair 120 $MRC_PORT mrc_bw -e -d "${MRC_IBDEV[h2]}" -g "$server" "$@" -- \
		mrc_bw -e -d "${MRC_IBDEV[h1]}" -g "$REPLY" "$@" 10.77.0.2
}
ksft_test "mrc.h: capture" capture mrc-h
ksft_test "mrc.h: a sweep of WRITEs" sweep
captured mrc-h "C6 C7 C8 C9 CA CB D1" --outer srh --planes 2 --plain

# ------------------------------------------------------------------- plain
ksft_test "one plane" mrc_one_plane
ksft_test "ipv6: settings" attributes
ksft_test "ipv6: capture" capture ipv6
ksft_test "ipv6: every type" types
captured ipv6 "$TYPES" --outer none --planes 1
ksft_test "ipv4: capture" capture ipv4
ksft_test "ipv4: every type" types -4
captured ipv4 "$TYPES" --outer none --planes 1
# mrc_types provokes NAKs. A copy that arrives late may carry what mrc_verify has written meanwhile.
ksft_test "nothing was counted that should not be" \
	mrc_expect_clean naks_access naks_invalid rx_bad_icrc tx_errors
ksft_finish
