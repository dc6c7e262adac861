#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make shell" at a terminal: prompt, size of the window, Ctrl-C, job control, cut and heal, the end. One
# processor: with several the emulator may die (vm/console.sh).
#
# timeout: 200

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1

ksft_plan
need_cmd python3 qemu-system-x86_64
[ -e "$MRC_TOP/build/6.1/mrc.ko" ] || ksft_skip_all "needs build/6.1/mrc.ko"
out=$(mktemp)
at_exit rm -f "$out"
python3 "$here/test_terminal.py" "$MRC_TOP/selftests/vm/runvm" "$MRC_TOP/selftests/demo/lab_vm.sh" >"$out" 2>&1 || true
while IFS= read -r line; do
	case $line in
	"ok "*) ksft_pass "$(cut -d ' ' -f 3- <<<"$line")";;
	"not ok "*) ksft_fail "$(cut -d ' ' -f 4- <<<"$line")";;
	*) echo "# $line";;
	esac
done <"$out"
ksft_test "it went to its end" grep -q '^1\.\.' "$out"
ksft_finish
