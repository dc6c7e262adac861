#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new arm64
# timeout: 240
#
# What a program is told beside its completions: verbs/mrc_events.c, both of its queue pairs
# on one host.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_events
ksft_test "one plane" mrc_one_plane
mrc_harness h1 events mrc_events
ksft_finish
