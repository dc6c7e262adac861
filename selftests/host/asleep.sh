#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full
#
# Two machines joined by four cables, and each stands still for a while, as when its host saves it,
# moves it or has no time for it: QEMU's stop and cont.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines asleep.sh 1024
