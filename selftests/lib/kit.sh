# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# kit.sh - h2 as mrc-conform-active, and h1 as the device that it judges.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/kit.sh"

# mrc_kit_at ADDRESS:PORT WAY...: where h2 reaches mrc_agent at h1, and the kit's options to reach the device.
mrc_kit_at() {
	MRC_KIT_AGENT=$1
	MRC_KIT_WAYS=("${@:2}")
}

# One frame is one packet.
mrc_kit_single_frames() {
	local h p
	for h in h1 h2; do
		for p in eth1 eth2; do
			fabric_in $h ethtool -K $p tx-gso-list off gso off gro off || return
		done
	done
}

# mrc_kit_play v6|v4 OWN DEVICE [ARG...]: nothing is broken, nothing disputed.
mrc_kit_play() {
	local port=${MRC_KIT_AGENT##*:}
	mrc_gid_index h1 "$1" && mrc_start agent h1 mrc_agent -d "${MRC_IBDEV[h1]}" -g "$REPLY" -p "$port" &&
		mrc_until 30 mrc_listens agent "$port" || { mrc_out agent; return 1; }
	fabric_in h2 /usr/bin/python3 -I "$MRC_TOP/tools/conform/mrc-conform-active" "${MRC_KIT_WAYS[@]}" \
		--agent "$MRC_KIT_AGENT" --own "$2" --device "$3" "${@:4}" >"$MRC_DIR/kit.out" 2>&1 || :
	kill "${MRC_PID[agent]}"
	mrc_wait agent 30 || :
	cat "$MRC_DIR/kit.out"
	grep -q " 0 BROKEN, 0 disputed" "$MRC_DIR/kit.out"
}

# Each rule was asked for by the run before.
mrc_kit_asked_all() { cat "$MRC_DIR/kit.out"; grep -q "^0 of " "$MRC_DIR/kit.out"; }
