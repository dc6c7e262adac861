#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: 6.1 6.12 uml
#
# States of a queue pair: verbs/mrc_states.c.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_states
ksft_test "one plane" mrc_one_plane
mrc_harness h1 states mrc_states
ksft_finish
