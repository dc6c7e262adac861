#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# failover.sh - how fast the module steps around failures, in virtual time.
#
#	failover.sh [options]		the table, about ten minutes
#
#   -c CASE   only this failure (several: -c "own-link black-hole"); see failover/guest.sh
#   -r RTT    only this round trip: 40us, 200us or 5ms
#   -q        quick: most failures at one phase each
#   -p N      phases of each
#   -s SEED   of the module's random numbers, in the first phase (1)
#   -w        stop before each kernel runs, for a debugger
#
# User-Mode Linux with time-travel=inf-cpu: computing takes no time, so what is measured is
# what the protocol makes of delays and rates alone, however slow or busy this machine is.
# It must not be read as the speed of anything. Every case runs in a kernel of its own; the
# first one runs twice, and every packet must be the same. Packets, messages and the
# table are kept in out/failover.
#
# Exit status: 0; 1 when a run failed; 4 when there is no kernel to run.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(readlink -f "$here/../..")
out=$top/out/failover
export MRC_UML=plain MRC_SEED=1 PYTHONDONTWRITEBYTECODE=1

usage() { sed -n '3,/^set /{/^# \{0,1\}/!d; s/^# \{0,1\}//; p}' "$0" >&2; exit 2; }

# RTT_US MBIT WINDOW: the window is what 4 planes hold in a round trip, and a little more
# for the queue of a plane. At 5 ms and 10 Gb/s that would be more PSNs than a QP may have out.
links='40 10000 245760
200 10000 1048576
5000 1000 2621440'

# Which cases for whom: EVs, controller (default: a fixed window as devices have it, 512 KiB,
# which at 40 us is a standing queue), phases, cases.
plan='8 fixed 3 own-link own-queue own-carrier peer-port black-hole forward reverse half-evs
8 fixed 1 none flap lone hole-14 hole-27 hole-53 hole-105
8 default 3 black-hole
8 nscc 2 own-link peer-port black-hole forward half-evs
32 fixed 2 black-hole half-evs
32 fixed 1 lone'
quick='8 fixed 1 none own-link own-carrier peer-port black-hole forward reverse half-evs lone'

wanted() { [ -z "$2" ] || [[ " $2 " = *" $1 "* ]]; }

# The runs as "RTT MBIT WINDOW EVS CC PHASES CASE" lines.
runs() {
	local rtt mbit window bytes evs cc phases cases case
	while read -r rtt mbit window; do
		wanted $rtt "$only_rtt" || continue
		while read -r evs cc phases cases; do
			for case in $cases; do
				wanted "$case" "$only_case" || continue
				# These are about times of hosts, not of light.
				[[ $rtt != 5000 || $case != @(flap|hole-*) ]] || continue
				[ $rtt -lt 1000 ] || phases=$((phases < 2 ? phases : 2))
				[[ $cc != default || $rtt = 40 ]] || continue
				[ $cc = default ] && bytes=524288 || bytes=$window
				echo $rtt $mbit $bytes $evs $cc "${only_phases:-$phases}" "$case"
			done
		done <<<"$plan"
	done <<<"$links"
}

machine() {	# DIR RTT MBIT WINDOW EVS CC PHASES CASE
	local dir=$1 rc=0
	rm -rf "$dir"
	mkdir -p "$dir"
	"$top/selftests/vm/runuml" -d -n -t 300 -m 1500 -o "$dir" $stop -- \
		"$here/failover/guest.sh" "$2" "$3" "$5" "$6" "$4" "$8" "$7" \
		>"$dir/output" 2>&1 || rc=$?
	echo $rc >"$dir/rc"
	return $rc
}

run_all() {
	local n=0 total rtt mbit window evs cc phases case dir
	total=$(wc -l <"$out/runs")
	while read -r rtt mbit window evs cc phases case <&3; do
		n=$((n + 1))
		dir=$out/$rtt-$evs-$cc/$case
		machine "$dir" $rtt $mbit $window $evs $cc $phases "$case" ||
			echo "failover: $dir ended with $(<"$dir/rc"): $(tail -n 3 "$dir/output")" >&2
		python3 "$here/failover/table.py" measure "$dir" $rtt $evs "$case" || true
		printf '\r%d of %d, %d s ' $n "$total" $SECONDS >&2
	done 3<"$out/runs"
	echo >&2
}

# The first of the runs once more, in the same place: the same packets?
repeat() {
	local rtt mbit window evs cc phases case dir
	read -r rtt mbit window evs cc phases case <"$out/runs"
	dir=$out/$rtt-$evs-$cc/$case
	rm -rf "$out/first"
	mv "$dir" "$out/first"
	machine "$dir" $rtt $mbit $window $evs $cc $phases "$case" || return
	python3 "$here/failover/table.py" measure "$dir" $rtt $evs "$case"
	python3 "$here/failover/table.py" same "$out/first" "$dir"
}

main() {
	local option only_case='' only_rtt='' only_phases='' stop='' rc=0
	while getopts c:r:p:s:qw option; do
		case $option in
		c) only_case=$OPTARG;;
		r) only_rtt=${OPTARG%us} only_rtt=${only_rtt/5ms/5000};;
		p) only_phases=$OPTARG;;
		s) MRC_SEED=$OPTARG;;
		q) plan=$quick;;
		w) stop=-w;;
		*) usage;;
		esac
	done
	cd "$top"
	if [ ! -x build/verbs/mrc_failover ]; then
		echo "failover: build/verbs/mrc_failover is missing: make bench-failover makes all it needs" >&2
		exit 1
	fi
	selftests/vm/uml-build.sh
	mkdir -p "$out"
	exec 8>"$out/.lock"
	flock -n 8 || { echo "failover: another one writes to $out" >&2; exit 1; }
	runs >"$out/runs"
	[ -s "$out/runs" ] || usage
	run_all
	python3 "$here/failover/table.py" print "$out" | tee "$out/table.txt" || rc=1
	[ -n "$stop" ] || repeat || rc=1
	exit $rc
}

main "$@"
