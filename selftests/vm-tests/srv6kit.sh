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
. "$here/../lib/kit.sh"

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

# paths [srh]: by which paths the kit reaches the device.
paths() {
	local p t REPLY at head ways=()
	for p in 1 2; do
		ways+=(--port "eth$p")
		fabric_usid_host $p 2
		ways+=(--locator "$FABRIC_BLOCK:$REPLY::")
		for t in 1 2; do
			if [ "${1:-}" ]; then
				fabric_usid_t0 $p 2; head=$FABRIC_BLOCK:$REPLY
				fabric_usid_t1 $p $t; head+=:$REPLY::
				fabric_usid_t0 $p 1; at=$FABRIC_BLOCK:$REPLY
				fabric_usid_host $p 1
				ways+=(--path "$p=$head,$at:$REPLY::")
			else
				ways+=(--path "$p=$(fabric_path 2 1 $p $t)")
			fi
		done
	done
	mrc_kit_at 192.168.9.1:18518 "${ways[@]}"
}

ksft_plan
mrc_begin mrcctl mrc_agent python3 ethtool
ksft_test "two planes, a device at one end" fabric
ksft_test "one frame is one packet" mrc_kit_single_frames
paths
ksft_test "SRv6: no rule is broken" mrc_kit_play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP"
ksft_test "SRv6: each was asked for" mrc_kit_asked_all
ksft_test "SRv6, IPv4 inside: the responder breaks no rule" mrc_kit_play v4 10.77.0.2 10.77.0.1 --only responder
ksft_test "SRH: profiles" mrc_srh_profiles 1 2
paths srh
mkdir -p "$KEEP/srh"
ksft_test "SRH: no rule is broken" mrc_kit_play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP/srh"
ksft_finish
