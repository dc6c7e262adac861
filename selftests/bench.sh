#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - measurements, in one virtual machine and on this one.
#
#	bench.sh [-k KERNEL] [-r ROUNDS]	default 6.12, 3 rounds
#
# What the engine costs a packet; how fast clusters are simulated and what they show,
# as a table and as charts; mrc with one and with four planes against rdma_rxe over the
# same kind of cable; what an idle QP weighs; what the number of hosts costs; what news of EVs do. Only ratios within one run mean anything. The
# results are kept in out/bench; a slow machine is no failure.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*}
out=$top/out/bench

engine() {
	echo "== engine, user space"
	build/bench/engine_bench
	build/bench/engine_locks
	selftests/bench/engine_instr.sh build/bench/engine_bench
}

# Every scenario: what it showed, what was expected; a chart of each.
scenarios() {
	local scenario name

	echo "== simulated clusters"
	mkdir -p "$out/scenarios"
	for scenario in tools/sim/scenarios/*.toml; do
		name=$(basename "$scenario" .toml)
		timeout 600 build/sim/gcc/mrcsim run --json "$scenario" \
			>"$out/scenarios/$name.json" 2>/dev/null || true
	done
	selftests/bench/scenario_table.py "$out"/scenarios/*.json
	selftests/bench/scenario_chart.py "$out/charts" "$out"/scenarios/*.json
}

# The sizes that performance is judged by: hosts, hosts on a T0, T1s, planes, bytes.
# Eight planes of 131,072 hosts want 4 GiB of memory, and minutes.
scale() {
	local hosts per_t0 t1s planes bytes

	echo "== simulator: packet hops a CPU second on one core, memory; permutations"
	while read -r hosts per_t0 t1s planes bytes; do
		echo "$hosts hosts, $planes planes, $bytes bytes:" "$(timeout 900 \
			build/sim/gcc/mrcsim run tools/sim/scenarios/permutation-1024.toml \
			--set "fabric.hosts=$hosts" --set "fabric.hosts_per_t0=$per_t0" \
			--set "fabric.t1s=$t1s" --set "fabric.planes=$planes" \
			--set "workload.bytes=$bytes" 2>&1 |
			grep -E '^(mrcsim:|(hops|hops_per_s|data_pkts_per_s|setup_cpu_s|run_cpu_s|rss_mib) )' |
			tr -s ' \n' ' ')"
	done <<-'END'
		1024 32 32 1 2000000
		131072 256 256 1 100000
		131072 256 256 8 100000
	END
}

main() {
	local kernel=6.12 rounds=3 option rc=0

	while getopts k:r: option; do
		case $option in
		k) kernel=$OPTARG;;
		r) rounds=$OPTARG;;
		*) sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	mkdir -p "$out"
	cd "$top"

	engine 2>&1 | tee "$out/engine.txt" || true
	scenarios 2>&1 | tee "$out/scenarios.txt" || true
	scale 2>&1 | tee "$out/scale.txt" || true

	echo "== fabrics of any size, kernel $kernel"
	"$here/bench/size.sh" "$kernel" 2>&1 | tee "$out/size.txt" || true

	echo "== news of EVs, User-Mode Linux"
	"$here/bench/news.sh" $((rounds * 4)) 2>&1 | tee "$out/news.txt" || true

	echo "== self-probes, User-Mode Linux"
	"$here/bench/probing.sh" 1 2>&1 | tee "$out/probing.txt" || true

	echo "== kernel $kernel, rounds: $rounds"
	"$here/vm/runvm" -k "$kernel" -t $((120 + rounds * 900)) -o "$out/vm" -- \
		"$here/bench/in_vm.sh" "$rounds" || rc=$?
	cp "$out/vm/table.txt" "$out/" 2>/dev/null || true
	[ $rc -eq 0 ] || echo "bench: the virtual machine ended with status $rc; see $out/vm"
}

main "$@"
