#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full arm64
#
# Two processors and one ring: no doorbell and no wish for an event is lost, and no slot is seen before it is whole
# (Documentation/developer/locking.md, "Shared rings"). What the same loses without the barrier is said, and no failure: a machine
# may never show it.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
PATH=$MRC_TOP/build/verbs:$PATH

ksft_plan
need_cmd mrc_litmus
[ "$(nproc)" -gt 1 ] || ksft_skip_all "needs two processors"
ksft_test "requests and completions, two processors" mrc_litmus -n 50000
ksft_comment "without the barrier: $(mrc_litmus -n 50000 -w)"
ksft_finish
