#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sparse finds nothing in the module but what sparse/known has, on each kernel that it was compiled for here. Each of
# these stays for a reason (Documentation/developer/style.md).
#
# timeout: 1800
# lane: 2
# kernels: full

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

sparse=$MRC_TOP/selftests/sparse
# Where it was compiled.
top=${MRC_SPARSE_TOP:-$MRC_TOP}

# nothing_new KERNEL
nothing_new() {
	"$sparse/remarks.py" "$1" >"$work/$1" || return
	! grep -vxFf "$sparse/known" "$work/$1"
}
known_said() {
	cat "$work"/[0-9]* >"$work/all"
	! grep -vxFf "$work/all" "$sparse/known"
}
# A bit of the network's order taken for the host's: not to find it is not to look.
finds() {
	printf '%s\n' 'static int wrong(__attribute__((bitwise)) unsigned int a) { return a; }' 'int f(void); int f(void) { return wrong(0); }' \
		>"$work/wrong.c"
	sparse -Wbitwise "$work/wrong.c" 2>&1 | grep -F 'incorrect type in return expression'
}

ksft_plan
need_cmd sparse python3
work=$(mktemp -d)
at_exit rm -rf "$work"
ksft_test "sparse finds a wrong type" finds
for module in "$top"/build/[0-9]*/mrc.ko; do
	kernel=$(basename "${module%/mrc.ko}")
	[[ $kernel = *arm64* || ! -e $module ]] || ksft_test "$kernel" nothing_new "$kernel"
done
# Headers of Linux 7 say nothing of locks to sparse.
[ ! -e "$work/6.1" ] || ksft_test "what is known is still said" known_said
ksft_finish
