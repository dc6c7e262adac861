#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# news.sh [ROUNDS] - what news of EVs cost traffic: a storm of 100,000 changes a second that a
# controller hears, against one that nobody does, in the same run. Natively, in User-Mode Linux
# without checkers: bench/news_uml.sh.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
export MRC_UML=plain

make -s -C "$top" tools/lib/ibverbs tools/mrcctl selftests/verbs selftests/libmrc
"$top/selftests/vm/uml-build.sh"
"$top/selftests/vm/runuml" -n -t 1200 -m 1500 -- "$here/news_uml.sh" "${1:-10}"
