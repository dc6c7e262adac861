#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lanes of run.sh, with a machine that is none: what was not ended when the emulator died runs
# again, what anything else ended does not, and kernels run beside each other.

set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=../lib/lib.sh
. "$top/lib/lib.sh"
for part in one report lanes; do
	# shellcheck source=/dev/null
	. "$top/run/$part.sh"
done
# shellcheck source=../vm/console.sh
. "$top/vm/console.sh"

# The machine: $work/KERNEL says with what status each of its boots ends after one more test.
fake_machine() {
	mkdir -p "$work/vm"
	cat >"$work/vm/runvm" <<-'MACHINE'
		#!/bin/bash
		kernel=$2 dir=$6
		shift 9
		plan=$(dirname "$0")/../$kernel
		read -r rc <"$plan" || rc=0
		sed -i 1d "$plan"
		echo "boot $*" >>"$plan.boots"
		touch "$plan.began"
		echo begins >>"$(dirname "$0")/../order"
		# A peer that never begins leaves no test to be reported.
		[ ! -e "$plan.peer" ] || for ((i = 0; ; i++)); do
			[ ! -e "$(cat "$plan.peer").began" ] || break
			[ $i -lt 1200 ] || exit 1
			sleep 0.1
		done
		for test; do
			name=$(basename "$test" .sh)
			printf 'TAP version 13\n1..1\nok 1 %s\n' "$name" >"$dir/$name.tap"
			echo "0 1" >"$dir/$name.tap.status"
			echo "done $test"
			[ "$rc" -eq 0 ] || break
		done
		[ ! -e "$plan.slow" ] || sleep 0.5
		echo ends >>"$(dirname "$0")/../order"
		echo console >"$dir/console"
		echo "the end" >&2
		exit "$rc"
	MACHINE
	chmod +x "$work/vm/runvm"
	touch "$work"/{a,b,c}.sh
}

# run_plan KERNEL STATUS...: of its boots; then "PASSED FAILED" and how often it booted.
run_plan() {
	local kernel=$1 total_pass=0 total_fail=0
	# shellcheck disable=SC2034  # of report.sh
	local total_skip=0
	shift
	printf '%s\n' "$@" >"$work/$kernel"
	rm -f "$work/$kernel.boots"
	report_events < <(lane_vm "$kernel" "$work"/{a,b,c}.sh) >"$work/said"
	echo "$total_pass passed, $total_fail failed, $(grep -c boot "$work/$kernel.boots") boots"
}

beside() {
	local kernel
	for kernel in one two; do
		echo 0 >"$work/$kernel"
	done
	echo "$work/two" >"$work/one.peer"
	echo "$work/one" >"$work/two.peer"
	rm -f "$work"/*.began
	{
		lane_vm one "$work/a.sh" &
		lane_vm two "$work/a.sh" &
		wait
	} >"$work/events"
	ksft_equal "kernels run beside each other" "boot boot" \
		"$(cut -d ' ' -f 1 "$work"/{one,two}.boots | paste -sd ' ')"
	ksft_test "and neither waits for the other's end" bash -c "! grep '^failed' '$work/events'"
}

# More kernels than machines may run at once.
in_turn() {
	local kernel slots
	rm -f "$work"/*.peer "$work/order"
	slots_open 1
	{
		for kernel in one two three; do
			echo 0 >"$work/$kernel"
			touch "$work/$kernel.slow"
			lane_vm $kernel "$work/a.sh" &
		done
		wait
	} >"$work/events"
	exec {slots}>&-
	paste -sd ' ' "$work/order"
}

# listed KERNEL: what "make check-full" runs there.
listed() { sed -n "s/^$1 //p" "$work/full"; }

# Those of a machine's that say more than "uml" and "arm64".
vm_tests() {
	local test
	for test in "$top"/vm-tests/*.sh; do
		sed -nE 's/^# kernels: (.*)/\1/p' "$test" | head -n 1 | grep -qvE '^((uml|arm64) ?)+$' ||
			! grep -q '^# kernels:' "$test" || continue
		basename "$test" .sh
	done
}

# goes_on CONSOLE ENDED...: of a run in which those tests had ended, the first of them failing.
goes_on() {
	# shellcheck disable=SC2034  # of lanes.sh, report.sh
	local continues=1 test total_pass=0 total_fail=0 total_skip=0
	rm -rf "$work/out"
	mkdir -p "$work/out/k"
	echo "one tree" >"$work/out/k/tree"
	: >"$work/out/k/runvm.log"
	echo "$1" >"$work/out/k/console"
	for test in "${@:2}"; do
		echo "$work/$test.sh" >>"$work/out/k/ended"
		printf '1..1\nok 1 %s\n' "$test" >"$work/out/k/$test.tap"
		echo "0 1" >"$work/out/k/$test.tap.status"
	done
	[ $# -eq 1 ] || printf '1..1\nnot ok 1 %s\n' "$2" >"$work/out/k/$2.tap"
	: >"$work/k.boots"
	echo 0 >"$work/k"
	report_events < <(lane_vm k "$work"/{a,b,c}.sh) >"$work/said"
	echo "$total_pass passed, $total_fail failed: $(sed "s,$work/,,g" "$work/k.boots")"
}

# where KERNELS: a test that says so runs there without and with -a, of four kernels and others.
# shellcheck disable=SC2034  # for runs_on
where() {
	local kernel MRC_FULL='' on='' all=''
	echo "# kernels: $1" >"$work/where.sh"
	set_ends 6.1 6.12 7.2 7.3 uml 6.12-arm64
	for kernel in 6.1 6.12 7.3 uml 6.12-arm64-16k; do
		MRC_FULL=''
		! runs_on $kernel "$work/where.sh" || on+=" $kernel"
		MRC_FULL=1
		! runs_on $kernel "$work/where.sh" || all+=" $kernel"
	done
	echo "${on:- none}, all:${all:- none}"
}

# lane_of LINE: the lanes that have a test with that line.
lane_of() {
	local lane on=''
	echo "$1" >"$work/where.sh"
	for lane in 1 2; do
		[ -z "$(echo "$work/where.sh" | of_lane $lane)" ] || on+=" $lane"
	done
	echo "$on"
}

# ended_of SPARE COMMAND...: its status, with one second to live, and nothing but within() ends it. SPARE: ticks of the
# machine between two looks.
ended_of() {
	local spare=$1 rc=0
	shift
	echo 0 >"$work/ticks"
	idle_ticks() {
		local ticks
		read -r ticks <"$work/ticks"
		echo $((ticks + spare)) | tee "$work/ticks"
	}
	timeout() {
		shift 3
		exec "$@"
	}
	within 1 "$@" || rc=$?
	echo $rc
}

ksft_plan
work=$(mktemp -d)
at_exit rm -rf "$work"
# shellcheck disable=SC2034  # of lanes.sh
here=$work out=$work/out
fake_machine

ksft_equal "nothing dies" "3 passed, 0 failed, 1 boots" "$(run_plan k 0)"
ksft_equal "the emulator dies once" "3 passed, 0 failed, 2 boots" "$(run_plan k 87 0)"
ksft_test "which is said" grep -q '^k: the emulator died, which is no failure: the end' "$work/said"
ksft_equal "only what had not ended runs again" "boot $work/b.sh $work/c.sh" \
	"$(tail -n 1 "$work/k.boots")"
ksft_test "the first console is kept" test -s "$work/out/k/console.1"
ksft_equal "after the last test" "3 passed, 0 failed, 3 boots" "$(run_plan k 87 87 0)"
ksft_equal "three times: a failure" "3 passed, 1 failed, 3 boots" "$(run_plan k 87 87 87)"
ksft_equal "an Oops: two tests are missing, and the machine" \
	"1 passed, 3 failed, 1 boots" "$(run_plan k 86 0)"
ksft_test "which is said as well" grep -q '^k: not ok - the virtual machine ends well (status 86)' \
	"$work/said"
tree_now() { echo "one tree"; }
ksft_equal "a run goes on with what had not ended" "2 passed, 1 failed: boot b.sh c.sh" "$(goes_on quiet a)"
ksft_equal "and boots for nothing else" "2 passed, 1 failed: " "$(goes_on quiet b a c)"
ksft_equal "its beginning is as any other's" "3 passed, 0 failed: boot a.sh b.sh c.sh" "$(goes_on quiet)"
ksft_equal "a splat of the machine that was interrupted is a failure" "2 passed, 2 failed: boot b.sh c.sh" \
	"$(goes_on "BUG: x" a)"
tree_now() { echo "another tree"; }
ksft_equal "in another tree nothing has ended" "3 passed, 0 failed: boot a.sh b.sh c.sh" "$(goes_on quiet a)"
tree_now() { return 1; }
ksft_equal "nor where none is known" "3 passed, 0 failed: boot a.sh b.sh c.sh" "$(goes_on quiet a)"
beside
ksft_equal "no more than there are slots" "begins ends begins ends begins ends" "$(in_turn)"
"$top/run.sh" -a -l -k 6.1 -k 6.12 -k 7.2 -k 7.3 -k 6.12-arm64 -k uml >"$work/full"
for kernel in 6.1 6.12 7.2 7.3; do
	ksft_equal "make check-full runs every test on $kernel" "$(vm_tests)" "$(listed $kernel)"
done
ksft_test "and what arm64 and the checkers are for" test -n "$(listed 6.12-arm64)" -a -n "$(listed uml)"
ksft_equal "a test runs where it says" " 7.3 uml, all: 6.1 6.12 7.3 uml" "$(where "new uml")"
ksft_equal "or only when all run" " none, all: 6.1 6.12 7.3" "$(where full)"
ksft_equal "and on another architecture" " 6.1 6.12-arm64-16k, all: 6.1 6.12 7.3 6.12-arm64-16k" "$(where "old arm64")"
ksft_equal "every test says it in these words" "" "$(sed -nE 's/^# kernels: (.*)/\1/p' "$top"/{vm-tests,host}/*.sh |
	tr ' ' '\n' | grep -vxE 'old|new|uml|arm64|full' | sort -u)"
# shellcheck disable=SC2154
ksft_equal "one kernel alone is the oldest and the newest" "6.12 6.12" "$(set_ends 6.12 uml; echo "$oldest $newest")"
ksft_equal "this machine's tests have two lanes" " 1 2" "$(lane_of "# nothing")$(lane_of "# lane: 2")"
ksft_equal "a test's own status" 7 "$(ended_of 0 sh -c "exit 7")"
ksft_equal "one without end" 124 "$(ended_of 50 sleep 600)"
ksft_test "by its limit, not by ten times that" test "$(cat "$work/ticks")" -le 400
ksft_equal "one that other tests leave no time" 0 "$(ended_of 0 sleep 2)"
ksft_finish
