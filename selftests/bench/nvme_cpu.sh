#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme_cpu.sh - kernel time per request of nvme-rdma, natively: over mrc beside rdma_rxe, and where it goes.
#
#	nvme_cpu.sh [options]	the table as ratios, then the profile by groups of functions
#
#   -k KINDS   of "rxe mrc1 mrc4" (all of them): pair/nvme_kinds.sh
#   -r ROUNDS  each so often, in turns (3)
#   -n         what was measured last is shown again
#   -p JOB     whose profile is shown (randread-4k): pair/nvme_cpu.sh
#
# As cpu.sh, but between two User-Mode Linuxes (cpu/pair.py), initiator and target, whose time is added: both open
# their connections in the initial namespace only. What this machine does for sockets, which the cables are, is not in
# it; what User-Mode Linux's driver of them does is. Runs are kept in out/nvme_cpu.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(readlink -f "$here/../..")
out=$top/out/nvme_cpu
export MRC_UML=plain PYTHONDONTWRITEBYTECODE=1 MRC_CRC=$out/crc/mrc_bench_crc.ko
. "$here/cpu/module.sh"

usage() { sed -n '3,/^set /{/^# \{0,1\}/!d; s/^# \{0,1\}//; p}' "$0" >&2; exit 2; }

measure() {
	local round kind dir
	rm -rf "$out/runs"
	for ((round = 1; round <= rounds; round++)); do
		for kind in $kinds; do
			dir=$out/runs/$round.$kind
			echo "round $round $kind" >&2
			MRC_KIND=$kind "$here/cpu/pair.py" "$dir" "$here/../pair/nvme_cpu.sh" ||
				echo "round $round $kind ended with status $?; see $dir/[12]/log" >&2
		done
	done
}

rounds=3 kinds='rxe mrc1 mrc4' again='' whose=randread-4k
while getopts k:r:np: option; do
	case $option in
	k) kinds=$OPTARG;;
	r) rounds=$OPTARG;;
	n) again=1;;
	p) whose=$OPTARG;;
	*) usage;;
	esac
done
if [ -z "$again" ]; then
	need perf linux-perf
	need fio fio
	need nvme nvme-cli
	need socat socat
	"$here/../vm/uml-build.sh"
fi
kdir=$("$here/../vm/uml-build.sh" --kdir)
if [ -z "$again" ]; then
	make -s -C "$top/tools/lib/ibverbs" >/dev/null
	make -s -C "$top/tools/mrcctl" >/dev/null
	crc_in "$out/crc"
	rooms "$top/build/uml-plain" >"$out/rooms"
	measure
fi
{
	"$here/cpu/report.py" "$kdir/linux" "$out/rooms" "$out"/runs/*
	"$here/cpu/report.py" -p "$whose" "$kdir/linux" "$out/rooms" "$out"/runs/*
} | tee "$out/report.txt"
