#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# probing.sh [ROUNDS] - what self-probes cost a host: throughput, processor, bytes, memory; at the rates slow, normal and
# fast against off, in turns in one run. Natively, in User-Mode Linux without checkers: bench/probing_uml.sh.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
export MRC_UML=plain

make -s -C "$top" tools/lib/ibverbs tools/mrcctl daemon
"$top/selftests/vm/uml-build.sh"
"$top/selftests/vm/runuml" -n -t 1800 -m 1500 -- "$here/probing_uml.sh" "${1:-5}"
