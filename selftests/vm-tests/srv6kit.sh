#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full
#
# The module by SRv6 and a peer that is none of ours: mrc-conform-active plays its scenarios over a fabric of two planes,
# which the kernel's own SRv6 (seg6local End, next-csid) forwards; without and with a segment routing header.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0 = h2: the kit
#	h1 mgmt ---- mgmt h2: what the kit tells mrc_agent

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/srh.sh"

KIT=$MRC_TOP/tools/conform/mrc-conform-active
PORT=18518
KEEP=${VMOUT:-$MRC_DIR}
# shellcheck disable=SC2034
MRC_EVS=4

# A device at h1 alone. The kernel of h2 has the addresses, and answers nothing that comes to its locators.
fabric() {
	local p REPLY
	mrc_clear && fabric_build 2 2 2 2 && fabric_program_static && mrc_host_by_hand 1 || return
	{
		echo "link set lo up"
		echo "address add fd00:6d72:63::2/128 dev lo nodad"
		echo "address add 10.77.0.2/32 dev lo"
		for p in 1 2; do
			fabric_usid_host $p 2
			echo "route add blackhole $FABRIC_BLOCK:$REPLY::/128"
		done
	} | ip -n h2 -b - || return
	ip link add mgmt netns h1 type veth peer name mgmt netns h2 || return
	for p in 1 2; do
		ip -n h$p address add 192.168.9.$p/24 dev mgmt && ip -n h$p link set mgmt up || return
	done
	mrc_until 20 mrc_gid_index h1 v6 && mrc_until 20 mrc_gid_index h1 v4
}

# One frame is one packet.
single_frames() {
	local h p
	for h in h1 h2; do
		for p in eth1 eth2; do
			fabric_in $h ethtool -K $p tx-gso-list off gso off gro off || return
		done
	done
}

# ways [srh]: sets WAYS to the kit's options.
ways() {
	local p t REPLY at head
	WAYS=()
	for p in 1 2; do
		WAYS+=(--port "eth$p")
		fabric_usid_host $p 2
		WAYS+=(--locator "$FABRIC_BLOCK:$REPLY::")
		for t in 1 2; do
			if [ "${1:-}" ]; then
				fabric_usid_t0 $p 2; head=$FABRIC_BLOCK:$REPLY
				fabric_usid_t1 $p $t; head+=:$REPLY::
				fabric_usid_t0 $p 1; at=$FABRIC_BLOCK:$REPLY
				fabric_usid_host $p 1
				WAYS+=(--path "$p=$head,$at:$REPLY::")
			else
				WAYS+=(--path "$p=$(fabric_path 2 1 $p $t)")
			fi
		done
	done
}

# play FAMILY OWN DEVICE [ARG...]: nothing is broken, nothing disputed.
play() {
	mrc_gid_index h1 "$1" && mrc_start agent h1 mrc_agent -d "${MRC_IBDEV[h1]}" -g "$REPLY" -p $PORT &&
		mrc_until 30 mrc_listens agent $PORT || { mrc_out agent; return 1; }
	fabric_in h2 /usr/bin/python3 -I "$KIT" "${WAYS[@]}" --agent 192.168.9.1:$PORT --own "$2" --device "$3" \
		"${@:4}" >"$MRC_DIR/kit.out" 2>&1 || :
	kill "${MRC_PID[agent]}"
	mrc_wait agent 30 || :
	cat "$MRC_DIR/kit.out"
	grep -q " 0 BROKEN, 0 disputed" "$MRC_DIR/kit.out"
}

asked_all() { cat "$MRC_DIR/kit.out"; grep -q "^0 of " "$MRC_DIR/kit.out"; }

ksft_plan
mrc_begin mrcctl mrc_agent python3 ethtool
ksft_test "two planes, a device at one end" fabric
ksft_test "one frame is one packet" single_frames
ways
ksft_test "SRv6: no rule is broken" play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP"
ksft_test "SRv6: each was asked for" asked_all
ksft_test "SRv6, IPv4 inside: the responder breaks no rule" play v4 10.77.0.2 10.77.0.1 --only responder
ksft_test "SRH: profiles" mrc_srh_profiles 1 2
ways srh
mkdir -p "$KEEP/srh"
ksft_test "SRH: no rule is broken" play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP/srh"
ksft_finish
