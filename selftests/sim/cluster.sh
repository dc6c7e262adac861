#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# cluster.sh - mrcsim's cluster mode: one result whatever runs it, and the scenarios.
#
# Prints TAP 13. HASH is compared between one and two threads, gcc and clang, -O0 (with
# the engine's own checks) and -O3. Then every scenario file meets its expectations,
# except those that say status = "not met".
set -euo pipefail
cd "$(dirname "$0")"

sim=../../tools/sim
out=../../build/sim
# shellcheck source=selftests/sim/tap.sh
. ./tap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# What is hashed: small clusters with all that can happen in one.
runs()		# program threads
{
	local s=$sim/scenarios small="--set fabric.hosts=64 --set fabric.hosts_per_t0=8 --set fabric.t1s=8"

	# shellcheck disable=SC2086
	{
		$1 --hash --threads "$2" $s/permutation-1024.toml $small --set workload.bytes=500000
		$1 --hash --threads "$2" $s/slow-spines-4.toml $small --set workload.bytes=500000
		$1 --hash --threads "$2" $s/blackhole-spine.toml $small --set workload.bytes=2000000
		$1 --hash --threads "$2" $s/port-loss.toml $small --set workload.bytes=4000000 \
			--set fabric.planes=4
		$1 --hash --threads "$2" $s/incast-32.toml $small --set workload.bytes=100000
		$1 --hash --threads "$2" $s/ring-allreduce.toml $small --set workload.bytes=20000
		$1 --hash --threads "$2" $s/alltoall.toml $small --set workload.bytes=20000
		$1 --hash --threads "$2" $s/permutation-1024.toml $small --set workload.bytes=500000 \
			--set fabric.trim=false --set fabric.ecn=threshold --set host.cc=fixed \
			--set host.window=3000
	} 2>>"$tmp/err" || true	# expectations are not for clusters of this size
}

hashes()
{
	local rc=0 name

	runs $out/gcc/mrcsim-cluster 1 >"$tmp/gcc-1"
	runs $out/gcc/mrcsim-cluster 2 >"$tmp/gcc-2"
	runs $out/gcc/mrcsim-cluster 3 >"$tmp/gcc-3"
	runs $out/clang/mrcsim-cluster 2 >"$tmp/clang-2"
	runs $out/gcc-O0-debug/mrcsim-cluster 1 >"$tmp/O0-1"
	sed 's/^/# /' "$tmp/gcc-1"
	[ "$(sort -u "$tmp/gcc-1" | grep -c '^[0-9a-f]\{16\}$')" -eq 8 ] || rc=1
	report $rc "eight runs, eight hashes"
	for name in "gcc-2: two threads" "gcc-3: three threads" "clang-2: clang, two threads" \
		    "O0-1: gcc -O0 with the engine's checks"; do
		rc=0
		diff "$tmp/gcc-1" "$tmp/${name%%:*}" >"$tmp/diff" || rc=$?
		sed 's/^/# /' "$tmp/diff"
		report $rc "the same hashes:${name#*:}"
	done
}

scenarios()
{
	local rc=0

	$out/gcc/mrcsim-cluster --threads 2 --all $sim/scenarios >"$tmp/all" || rc=$?
	sed 's/^/# /' "$tmp/all"
	report $rc "scenarios meet their expectations, but for those known not to"
}

# A value that is not met is told, with what was seen, and is the exit status.
refusal()
{
	local rc=0 said

	said=$($out/gcc/mrcsim-cluster $sim/scenarios/lone-flow.toml --set expect.makespan_us=1 \
		2>&1 >/dev/null) || rc=$?
	echo "# $said"
	[ $rc -eq 1 ] && [[ $said == *"makespan_us: expected at most 1, seen 16"* ]] && rc=0
	report $rc "an expectation that is not met fails the run"
}

# "mrcsim run" is the same program.
front()
{
	local rc=0

	make -s -C $sim T=gcc >"$tmp/build" 2>&1 || { sed 's/^/# /' "$tmp/build"; rc=1; }
	[ $rc -eq 0 ] && $out/gcc/mrcsim run $sim/scenarios/lone-flow.toml --json >"$tmp/json" || rc=$?
	[ $rc -eq 0 ] && jq -e '.metrics.flows == 1 and (.flows.rows | length) == 1 and
		(.goodput.gbps | add) > 0 and .unmet == []' "$tmp/json" >/dev/null || rc=$?
	report $rc "mrcsim run --json"
}

echo "TAP version 13"
build "mrcsim-cluster builds [gcc]" -C $sim/cluster T=gcc
build "mrcsim-cluster builds [clang]" -C $sim/cluster T=clang
build "mrcsim-cluster builds [gcc -O0]" -C $sim/cluster T=gcc O=0 DEBUG=1
if good_so_far; then
	hashes
	scenarios
	refusal
	front
fi
finish
