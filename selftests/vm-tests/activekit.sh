#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full
#
# The module and a peer that is none of ours: mrc-conform-active plays its scenarios over two planes, with a QP of mrc.h
# that mrc_agent drives. It needs no module, and builds every packet itself.
#
#	h1 mrc0 = eth1, eth2 ---- eth1, eth2 h2: the kit

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

KIT=$MRC_TOP/tools/conform/mrc-conform-active
PORT=18517
KEEP=${VMOUT:-$MRC_DIR}

# One frame is one packet.
single_frames() {
	local h p
	for h in h1 h2; do
		for p in eth1 eth2; do
			fabric_in $h ethtool -K $p tx-gso-list off gso off gro off || return
		done
	done
}

agent() { # v6|v4
	mrc_gid_index h1 "$1" && mrc_start agent h1 mrc_agent -d "${MRC_IBDEV[h1]}" -g "$REPLY" -p $PORT &&
		mrc_until 30 mrc_listens agent $PORT
}

# play FAMILY OWN DEVICE [ARG...]: nothing is broken, nothing disputed.
play() {
	agent "$1" || { mrc_out agent; return 1; }
	fabric_in h2 /usr/bin/python3 -I "$KIT" --port eth1 --port eth2 --agent 10.77.0.1:$PORT --own "$2" --device "$3" \
		"${@:4}" >"$MRC_DIR/kit.out" 2>&1 || :
	kill "${MRC_PID[agent]}"
	mrc_wait agent 30 || :
	cat "$MRC_DIR/kit.out"
	grep -q " 0 BROKEN, 0 disputed" "$MRC_DIR/kit.out"
}

asked_all() { cat "$MRC_DIR/kit.out"; grep -q "^0 of " "$MRC_DIR/kit.out"; }

ksft_plan
mrc_begin mrcctl mrc_agent python3 ethtool
ksft_test "two cables, a device at one end" mrc_flat alone
ksft_test "one frame is one packet" single_frames
ksft_test "IPv6: no rule is broken" play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP"
ksft_test "IPv6: each was asked for" asked_all
ksft_test "IPv4: the responder breaks no rule" play v4 10.77.0.2 10.77.0.1 --only responder
ksft_finish
