#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# mrc-conform-active and mrcsim's foreign peer, neither of which knows the engine: honest it breaks no rule, and each of
# its lies is caught.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$here/../..
make -s -C "$top/tools/sim" stranger >&2
exec /usr/bin/python3 -I "$here/../conformance/liars.py" "$top/build/sim/gcc/mrcsim-stranger"
