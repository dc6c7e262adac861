#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 5400
# kernels: full
#
# A processor that multiplies without carry: the module computes ICRCs by that (kernel/data/mrc_crc32_fold.c), which it
# compares with the library's when it is loaded, and the independent decoder with what is on the wire. The other
# virtual machines have none, for it is slow to emulate.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

# on KERNEL TEST: all of it passes there. One processor: with several the emulator may die (vm/console.sh).
on() {
	MRC_CPU='' "$here/../vm/runvm" -k "$1" -c 1 -t 3600 -- "$here/../vm-tests/$2.sh" >"$work/log" 2>&1 || {
		grep -A3 '^not ok' "$work/log" || tail -n 5 "$work/log"
		return 1
	}
	grep '^# Totals' "$work/log"
}

ksft_plan
need_cmd qemu-system-x86_64
work=$(mktemp -d)
at_exit rm -rf "$work"
for kernel in 6.1 6.12; do
	ksft_test "$kernel: who computes ICRCs" on $kernel devinfo
	ksft_test "$kernel: they are right" on $kernel conformance
done
ksft_finish
