#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel with checkers says what it finds: a splat, and what a module forgot. One of its finds is a fault of
# Linux, which the verbs fuzzer (verbs/fuzz_damage.c) therefore leaves alone.
#
# timeout: 300
# kernels: full
# lane: 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

leak=$MRC_TOP/selftests/vm/leak

# ends NAME STATUS COMMAND...
ends() {
	local name=$1 expected=$2 rc=0
	shift 2
	"$MRC_TOP/selftests/vm/runuml" -m 1024 "$@" >"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" -eq "$expected" ] || tail -n 40 "$work/out" "$work/err"
	ksft_equal "$name" "$expected" "$rc"
}
# lost BYTES N: how many objects of that size it reported.
lost() { ksft_equal "($2 of $1 bytes)" "$2" "$(grep -c "unreferenced object .*(size $1)" "$work/err")"; }

build() {
	cp "$leak/leak.c" "$work/"
	echo 'obj-m := leak.o' >"$work/Kbuild"
	make -C "$kdir" M="$work" ARCH=um modules
}

# context N: soft-RoCE, and no module of ours.
context() {
	printf '%s\n' 'modprobe rdma_rxe && modprobe ib_uverbs && ip link add d0 type dummy && ip link set d0 up' \
		'rdma link add rxe0 type rxe netdev d0' "python3 $leak/context.py /dev/infiniband/uverbs0 $1"
}

ksft_plan
need_root
need_cmd gcc make python3 rdma
kdir=$("$MRC_TOP/selftests/vm/uml-build.sh" --kdir 2>/dev/null) || ksft_skip_all "no kernel with checkers: selftests/vm/uml-build.sh kernel"
work=$(mktemp -d)
at_exit rm -rf "$work"

ends "the command's status" 3 sh -c 'exit 3'
ends "a message that looks like a splat" 86 -n sh -c 'echo "BUG: not really" >/dev/kmsg'
ksft_test "a module that forgets" build
ends "what it forgot is found" 86 sh -c "insmod '$work/leak.ko'; cat /sys/kernel/slab/task_struct/object_size"
lost 2048 1
# The task of insmod, and nothing of other tasks.
lost "$(cat "$work/out")" 1
ends "a context of soft-RoCE" 0 sh -c "$(context 1)"
ksft_equal "(had)" "has it" "$(cat "$work/out")"
ends "asked for twice: Linux forgets the task" 86 sh -c "$(context 2)"
ksft_equal "(refused)" "has it Invalid argument" "$(paste -s -d ' ' "$work/out")"
ksft_finish
