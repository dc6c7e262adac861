#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# cluster.sh - mrcsim's cluster mode: one result whatever runs it, and the scenarios.
#
# Prints TAP 13. HASH is compared between one and two threads; with MRC_FULL also three, gcc and clang, -O0 (with
# the engine's own checks) and -O3. Then every scenario file meets its expectations,
# except those that say status = "not met", and (with MRC_FULL) none does without what is wrong in it.
set -euo pipefail
cd "$(dirname "$0")"

sim=../../tools/sim
out=../../build/sim
# shellcheck source=selftests/sim/tap.sh
. ./tap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Clocks, pauses, rings, jitter, loss, planes unlike each other, delays beyond the lanes,
# shared buffers, notices that take time: scenarios that have them, shortened.
nasty()
{
	cat <<-END
	hosts-busy --set run.limit_us=3000
	pause-hosts --set run.limit_us=1500000
	plane-slow-2ms --set run.limit_us=3000
	planes-25-of-100-trim --set run.limit_us=1500
	planes-5-of-25-fixed --set run.limit_us=800000
	loss-1-percent --set run.limit_us=1500
	port-own-carrier --set run.limit_us=7000
	plane-dead-forward --set run.limit_us=4000
	incast-shared-buffer --set workload.bytes=100000
	links-of-10ms --set run.limit_us=200000
	END
}

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
		nasty | while read -r file sets; do
			$1 --hash --threads "$2" $s/$file.toml $sets
		done
	} 2>>"$tmp/err" || true	# expectations are not for clusters of this size
}

hashes()
{
	local rc=0 name

	runs $out/gcc/mrcsim-cluster 1 >"$tmp/gcc-1"
	runs $out/gcc/mrcsim-cluster 2 >"$tmp/gcc-2"
	if [ -n "${MRC_FULL:-}" ]; then
		runs $out/gcc/mrcsim-cluster 3 >"$tmp/gcc-3"
		runs $out/clang/mrcsim-cluster 2 >"$tmp/clang-2"
		runs $out/gcc-O0-debug/mrcsim-cluster 1 >"$tmp/O0-1"
	fi
	sed 's/^/# /' "$tmp/gcc-1"
	[ "$(sort -u "$tmp/gcc-1" | grep -c '^[0-9a-f]\{16\}$')" -eq 18 ] || rc=1
	report $rc "18 runs, 18 hashes"
	for name in "gcc-2: two threads" "gcc-3: three threads" "clang-2: clang, two threads" \
		    "O0-1: gcc -O0 with the engine's checks"; do
		[ -e "$tmp/${name%%:*}" ] || continue
		rc=0
		diff "$tmp/gcc-1" "$tmp/${name%%:*}" >"$tmp/diff" || rc=$?
		sed 's/^/# /' "$tmp/diff"
		report $rc "the same hashes:${name#*:}"
	done
}

scenarios()
{
	local rc=0

	$out/gcc/mrcsim-cluster --all $sim/scenarios >"$tmp/all" || rc=$?
	sed 's/^/# /' "$tmp/all"
	report $rc "scenarios meet their expectations, but for those known not to"
}

# What a file with several seeds shows is their mean.
means()
{
	local i rc=0

	for i in "1 --set run.seed=1" "1 --set run.seed=2" 2; do
		# shellcheck disable=SC2086
		$out/gcc/mrcsim-cluster $sim/scenarios/ring-allreduce.toml --set workload.bytes=20000 \
			--set run.seeds=$i 2>/dev/null | awk '$1 == "makespan_us" { print $2 }'
	done >"$tmp/means" || true
	# shellcheck disable=SC2046
	awk -v a=$(sed -n 1p "$tmp/means") -v b=$(sed -n 2p "$tmp/means") -v m=$(sed -n 3p "$tmp/means") \
		'BEGIN { d = (a + b) / 2 - m; exit !(a != b && d < 0.001 && d > -0.001) }' || rc=1
	report $rc "of two seeds the mean: $(paste -sd' ' "$tmp/means")"
}

# Else its expectations ask for nothing. As long as all of them: in make check-full.
without_faults()
{
	local rc=0

	$out/gcc/mrcsim-cluster --all $sim/scenarios --without-faults >"$tmp/all" || rc=$?
	sed 's/^/# /' "$tmp/all"
	[ "$(grep -c "fails, as it should" "$tmp/all")" -ge 40 ] || rc=1
	report $rc "every scenario fails without what is wrong in it"
}

# A scenario file's text, what the program says of it, and its exit status.
says()		# name text wanted-status wanted-words [option...]
{
	local rc=0 said

	printf '%b' "$2" >"$tmp/dir/x.toml"
	said=$($out/gcc/mrcsim-cluster "${@:5}" 2>&1 | sed "s#$tmp/dir/##"; exit "${PIPESTATUS[0]}") || rc=$?
	if [ $rc -eq "$3" ] && [[ $said == *"$4"* ]]; then rc=0; else rc=1; fi
	[ $rc -eq 0 ] || sed 's/^/# /' <<<"$said"
	report $rc "$1"
}

# Refused with the file's name, the line and the key.
bad_files()
{
	local text words

	mkdir -p "$tmp/dir"
	while IFS='|' read -r text words; do
		says "refused: $text" "$text" 2 "$words" "$tmp/dir/x.toml"
	done <<-'END'
	[[fault]]\nkind = "spine"\nt1 = -1|x.toml:3: fault.t1: -1 is not within
	[[fault]]\nkind = "spine"\nt1 = 15\ncount = 4294967295|x.toml:4: fault.count
	[[fault]]\nt1 = 16|x.toml:1: fault.t1: there are 16 T1s
	[[fault]]\nat_us = 5\nuntil_us = 4|x.toml:1: fault.until_us: ends before it begins
	[fabric]\nhosts = -3|x.toml:2: fabric.hosts: -3 is not within
	[fabric]\ndelay_ns = 9223372036854775807|x.toml:2: fabric.delay_ns
	[workload]\nbytes = 0|x.toml:2: workload.bytes: 0 is not within
	[run]\nseed = 1.5|x.toml:2: run.seed: wrong type
	[[slow]]\nplane = 3|x.toml:1: slow.plane: there are 1 planes
	[[plane]]\nplane = 0\npercent = 0|x.toml:3: plane.percent: 0 is not within
	[[tcp]]\nsrc = 1\ndst = 1|x.toml:1: tcp.dst: to itself
	[[tcp]]\ndst = 999|x.toml:1: tcp.dst: there are 128 hosts
	[[path]]\nway = "up"|x.toml:1: path: neither
	[[path]]\nloss_ppm = 1000001|x.toml:2: path.loss_ppm
	[[pause]]\nevery_us = 5\nmax_us = 5|x.toml:1: pause.max_us
	[[clock]]\nhost = 0\ndrift_ppm = -1000000|x.toml:3: clock.drift_ppm
	[[flow]]\nsrc = 1\ndst = 1|x.toml:1: flow.dst: to itself
	[expect]\nrtx = -1|x.toml:2: expect.rtx: no metric has such a value
	[expect]\nrtx = nan|x.toml:2: expect.rtx: no metric has such a value
	[fabric]\ncolour = 1|x.toml:2: fabric.colour: no such option
	status = "not met"|wants a [bound]
	[bound]\nrtx = 1|[bound] goes with status
	END
	says "refused: --set fabric.hosts=-1" '' 2 "--set fabric.hosts: -1 is not within" \
		"$tmp/dir/x.toml" --set fabric.hosts=-1
}

# What status = "not met" excuses, and what not.
known_red()
{
	local flow='name = "x"\n[workload]\nkind = "list"\n[[flow]]\nsrc = 0\ndst = 100\n[expect]\n'
	local red='status = "not met"\n'

	says "not met, within its bound" "$red${flow}makespan_us = 160\n[bound]\nmakespan_us = 170\n" \
		0 "not met, as known" --all "$tmp/dir"
	says "not met, beyond its bound" "$red${flow}makespan_us = 150\n[bound]\nmakespan_us = 160\n" \
		1 "makespan_us: bound at most 160, seen 167" --all "$tmp/dir"
	says "not met, and without a bound" "$red${flow}makespan_us = 160\n[bound]\nrtx = 0\n" \
		1 "[bound] does not say how bad" --all "$tmp/dir"
	says "said to be not met, but met" "$red${flow}makespan_us = 170\n[bound]\nmakespan_us = 180\n" \
		1 "all is met: take status" --all "$tmp/dir"
	says "nothing wrong in it: nothing to leave out" "${flow}makespan_us = 170\n" \
		0 "" --all "$tmp/dir" --without-faults
	says "met without its fault" \
		"$flow"'makespan_us = 170\n[[fault]]\nkind = "spine"\nt1 = 3\nat_us = 1\n' \
		1 "MET WITHOUT ITS FAULT" --all "$tmp/dir" --without-faults
	says "no such metric" "${flow}makespam_us = 170\n" 1 "makespam_us: no such metric" \
		--all "$tmp/dir"
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
if [ -n "${MRC_FULL:-}" ]; then
	build "mrcsim-cluster builds [clang]" -C $sim/cluster T=clang
	build "mrcsim-cluster builds [gcc -O0]" -C $sim/cluster T=gcc O=0 DEBUG=1
fi
if good_so_far; then
	hashes
	means
	scenarios
	[ -z "${MRC_FULL:-}" ] || without_faults
	bad_files
	known_red
	refusal
	front
fi
finish
