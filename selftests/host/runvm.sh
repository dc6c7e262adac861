#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The virtual machine runner tells every way to end apart. One processor: with several the emulator may die (vm/console.sh).

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

# ends NAME STATUS [runvm arguments...]
ends() {
	local name=$1 expected=$2 rc=0
	shift 2
	"$MRC_TOP/selftests/vm/runvm" -k 6.1 -m 1024 -c 1 "$@" >"$out" 2>"$out.err" || rc=$?
	[ "$rc" -eq "$expected" ] || cat "$out.err"
	ksft_equal "$name" "$expected" "$rc"
}

# Two at once prepare a kernel, and only one of them does, or the first one's machine loses its modules.
twice() {
	local folder=$1 pids=() pid
	for _ in 1 2; do
		MRC_CACHE=$folder "$MRC_TOP/selftests/vm/kernels.sh" 6.1 2>>"$out.err" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$out.err"; return 1; }
	done
	cat "$out.err"
	[ "$(grep -c preparing "$out.err")" -eq 1 ] && [ -s "$folder/kernels/6.1/vmlinux" ]
}

ksft_plan 8
out=$(mktemp)
cache=$(mktemp -d)
at_exit rm -rf "$out" "$out.err" "$cache"

# shellcheck disable=SC2016
ends "the command's status" 3 sh -c 'echo "$1"; touch /runvm-was-here; exit 3' sh "a  b"
ksft_equal "the command's output" "a  b" "$(cat "$out")"
ksft_test "the host's files are left alone" test ! -e /runvm-was-here
ends "a message that looks like a splat" 86 sh -c 'echo "BUG: not really" >/dev/kmsg'
ends "a kernel panic" 86 sh -c 'echo c >/proc/sysrq-trigger; sleep 60'
# Its files go before it does: a program that is not loaded yet could not be, and the first process would not live on.
# shellcheck disable=SC2016
ends "a machine that switches off" 125 sh -c 'echo o >/proc/sysrq-trigger; kill -STOP $$'
ends "a command without end" 124 -t 8 sleep 600
: >"$out.err"
ksft_test "two who prepare a kernel at once" twice "$cache"
ksft_finish
