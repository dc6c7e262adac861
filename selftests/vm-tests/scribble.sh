#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full uml arm64
#
# Programs that write anything into the rings they share with the kernel: verbs/mrc_scribble.c.
# What they leave is nothing, and no splat (runvm looks for those).

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

resources() { rdma resource show | grep -E '^[0-9]+: mrc1:'; }
as_before() { [ "$(resources)" = "$before" ] || { resources; return 1; }; }

ksft_plan
mrc_begin mrc_scribble
ksft_test "one plane" mrc_one_plane
before=$(resources)
export MRC_SCRIBBLE_S=${MRC_SCRIBBLE_S:-20}
mrc_harness h1 scribble mrc_scribble
ksft_comment "$(grep -F programs "$MRC_DIR/scribble.out" || true)"
ksft_test "nothing is left" mrc_until 30 as_before
ksft_finish
