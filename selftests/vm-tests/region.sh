#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: old uml
#
# Memory regions registered again, a large one, and memory windows: verbs/mrc_region.c; device memory, and objects of
# another context: verbs/mrc_lent.c.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_region mrc_lent
ksft_test "one plane" mrc_one_plane
# Each page of a process is a mapping of the host's there, of which there are 65,530 (vm.max_map_count).
[ "$MRC_KVER" != uml ] || export MRC_TEST_MIB=64
mrc_harness h1 region mrc_region
mrc_harness h1 lent mrc_lent
ksft_finish
