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
. "$here/../lib/kit.sh"

KEEP=${VMOUT:-$MRC_DIR}

# Reading B of D4 and D5, at both ends.
other_reading() {
	mrcctl -n h1 dev set dev mrc0 ep-op-high on port-bit-1 on &&
		mrc_kit_play v6 fd00:6d72:63::2 fd00:6d72:63::1 --ep-op-high --port-bit-1 --only "$1"
}

ksft_plan
mrc_begin mrcctl mrc_agent python3 ethtool
ksft_test "two cables, a device at one end" mrc_flat alone
ksft_test "one frame is one packet" mrc_kit_single_frames
mrc_kit_at 10.77.0.1:18517 --port eth1 --port eth2
ksft_test "IPv6: no rule is broken" mrc_kit_play v6 fd00:6d72:63::2 fd00:6d72:63::1 --write "$KEEP"
ksft_test "IPv6: each was asked for" mrc_kit_asked_all
ksft_test "IPv4: the responder breaks no rule" mrc_kit_play v4 10.77.0.2 10.77.0.1 --only responder
ksft_test "the other reading of D4: endpoints" other_reading endpoints
ksft_test "the other reading of D5: a port goes" other_reading port_down
ksft_finish
