#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cpu.sh - kernel time per packet, natively: mrc beside rdma_rxe and siw, and where it goes.
#
#	cpu.sh [options]	the table as ratios, then the profile by groups of functions
#
#   -s STACKS  of "rxe siw mrc1 mrc4" (all of them but siw); of mrc also with a setting: "mrc4+burst=8", "mrc4+icrc=off"
#   -t TESTS   of cpu/guest.sh ("w64k w64k-1024 r64k s64k w64 rlat"); not for rxe: "mrch", w64k by mrc.h
#   -r ROUNDS  each stack so often, in turns (3)
#   -c COMMIT  that commit's mrc beside this tree's: stacks mrc1@COMMIT and mrc4@COMMIT
#   -n         what was measured last is shown again
#   -p TEST    whose profile is shown (w64k)
#
# User-Mode Linux (../vm/uml-build.sh, "plain") runs kernel code as a process of this machine, so
# perf sees what it costs on this processor. Both ends are in one kernel with one CPU, joined by
# cables of veth. ICRCs are by carry-less multiplication of 128 bits, as stock kernels have it (cpu/crc); mrc
# takes 256 where the processor has them (kernel/data/mrc_crc32_fold.c). What
# this cannot show: a NIC's DMA and interrupts, several CPUs. The microseconds are this machine's
# and wander with its load; ratios within one run do not, much. Runs are kept in out/cpu.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(readlink -f "$here/../..")
out=$top/out/cpu
export MRC_UML=plain PYTHONDONTWRITEBYTECODE=1
. "$here/cpu/module.sh"

usage() { sed -n '3,/^set /{/^# \{0,1\}/!d; s/^# \{0,1\}//; p}' "$0" >&2; exit 2; }

# build_tree SOURCE NAME: module, plug-in and tools of that source, for guest.sh's MRC_TREE.
build_tree() {
	local dir=$out/tree/$2
	make -s -C "$1/tools/lib/ibverbs" >/dev/null
	make -s -C "$1/tools/mrcctl" >/dev/null
	module_in "$dir" "$1/kernel" "$1/uapi"
	cp "$dir/kernel/mrc.ko" "$dir/"
	mkdir -p "$dir/build"
	rsync -a --delete "$1/build/lib" "$1/build/tools" "$dir/build/"
}

# A commit's files, without a work tree of git's.
checkout() {
	rm -rf "$out/commit"
	mkdir -p "$out/commit"
	git -C "$top" archive "$1" | tar -C "$out/commit" -x
	build_tree "$out/commit" "$1"
}

machine() {	# ROUND STACK[@TREE]
	local stack=${2%@*} tree=this dir=$out/runs/$1.$2
	[ "$2" = "$stack" ] || tree=${2#*@}
	rm -rf "$dir"
	mkdir -p "$dir"
	echo "round $1 $2" >&2
	# shellcheck disable=SC2086
	MRC_TREE=$out/tree/$tree MRC_CRC=$out/crc/mrc_bench_crc.ko MRC_PRELOAD=$out/doorbells.so \
		"$here/cpu/watch.py" "$dir" \
		"$top/selftests/vm/runuml" -n -t 900 -m 1500 -o "$dir" -- "$here/cpu/guest.sh" "$stack" $tests ||
		echo "round $1 $2 ended with status $?; see $dir/log" >&2
}

measure() {
	local round stack
	rm -rf "$out/runs"
	for ((round = 1; round <= rounds; round++)); do
		for stack in $stacks; do
			machine $round "$stack"
		done
	done
}

main() {
	local option rounds=3 stacks='rxe mrc1 mrc4' tests='w64k w64k-1024 r64k s64k w64 rlat' commit='' again='' whose=w64k
	while getopts s:t:r:c:np: option; do
		case $option in
		s) stacks=$OPTARG;;
		t) tests=$OPTARG;;
		r) rounds=$OPTARG;;
		c) commit=$(git -C "$top" rev-parse --short "$OPTARG"); stacks+=" mrc1@$commit mrc4@$commit";;
		n) again=1;;
		p) whose=$OPTARG;;
		*) usage;;
		esac
	done
	if [ -z "$again" ]; then
		need perf linux-perf
		"$top/selftests/vm/uml-build.sh" kernel
		kdir=$("$top/selftests/vm/uml-build.sh" --kdir)
		build_tree "$top" this
		make -s -C "$top" tools/lib/mrc/examples >/dev/null
		[ -z "$commit" ] || checkout "$commit"
		crc_in "$out/crc"
		cc -O2 -Wall -shared -fPIC -o "$out/doorbells.so" "$here/cpu/doorbells.c" -ldl
		rooms "$out/tree/this" >"$out/rooms"
		measure
	fi
	kdir=$("$top/selftests/vm/uml-build.sh" --kdir)
	{
		"$here/cpu/report.py" "$kdir/linux" "$out/rooms" "$out"/runs/*
		"$here/cpu/report.py" -p "$whose" "$kdir/linux" "$out/rooms" "$out"/runs/*
	} | tee "$out/report.txt"
	"$here/cpu/report.py" -j "$kdir/linux" "$out/rooms" "$out"/runs/* >"$out/report.json"
}

kdir=''
main "$@"
