#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - measurements, in one virtual machine and on this one.
#
#	bench.sh [-k KERNEL] [-r ROUNDS]	default 6.12, 3 rounds
#
# mrc with one and with four planes against rdma_rxe over the same kind of cable,
# what the engine costs, what an idle QP weighs. Only ratios within one run mean
# anything. The results are kept in out/bench; a slow machine is no failure.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*}
out=$top/out/bench

main() {
	local kernel=6.12 rounds=3 option rc=0 bench found=''

	while getopts k:r: option; do
		case $option in
		k) kernel=$OPTARG;;
		r) rounds=$OPTARG;;
		*) sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	mkdir -p "$out"
	cd "$top"

	echo "== engine, user space, ns per operation"
	for bench in "$top"/build/{bench,engine,sim,engine/gcc,sim/gcc}/engine_bench; do
		[ -x "$bench" ] || continue
		found=1
		"$bench" 2>&1 | tee "$out/engine.txt" || true
		break
	done
	[ -n "$found" ] || echo "engine_bench is not built"

	echo "== kernel $kernel, rounds: $rounds"
	"$here/vm/runvm" -k "$kernel" -t $((120 + rounds * 900)) -o "$out/vm" -- \
		"$here/bench/in_vm.sh" "$rounds" || rc=$?
	cp "$out/vm/table.txt" "$out/" 2>/dev/null || true
	[ $rc -eq 0 ] || echo "bench: the virtual machine ended with status $rc; see $out/vm"
}

main "$@"
