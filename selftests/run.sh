#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - run the tests, count, end with "N passed, N failed, N skipped".
#
#   run.sh [-k KERNEL]... [NAME...]
#
#   -k KERNEL  kernels for the tests in a virtual machine; default $KVERS or
#              "6.1 6.12"; "-k none" leaves them out; "-k uml": the kernel with checkers,
#              which vm/uml-build.sh makes, and nothing on this machine
#   NAME       only tests of that name, such as "engine" or "fabric"
#
# host/*.sh run on this machine, vm-tests/*.sh one after the other in one virtual
# machine per kernel. Each prints TAP; every line "ok" or "not ok" counts as one.
# A comment "# timeout: SECS" in a test raises its limit from 120 s, "# afterwards: SCRIPT"
# names one of this folder that judges on this machine, when the virtual one has ended,
# what the test left in $VMOUT; "# kernels: 6.1 6.12 uml" says where a test runs that is not
# named (6.1 6.12). What they wrote is kept in out/check.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*}
out=$top/out/check

total_pass=0 total_fail=0 total_skip=0

limit_of() {
	local limit
	limit=$(sed -nE 's/^# timeout: ([0-9]+).*/\1/p' "$1" | head -n 1)
	# With every checker on, and several machines beside it.
	[[ ${MRC_KVER:-} != uml* ]] || limit=$((3 * ${limit:-120}))
	echo "${limit:-120}"
}

# run_one TEST LOG [ARG...]: its output to LOG, its status and duration to LOG.status.
run_one() {
	local test=$1 log=$2 rc=0 start=$SECONDS
	shift 2
	timeout -k 10 "$(limit_of "$test")" "$test" "$@" </dev/null >"$log" 2>&1 || rc=$?
	echo "$rc $((SECONDS - start))" >"$log.status"
}

# tally LOG STATUS: "PASS FAIL SKIP", then the lines that explain the failures.
# Failing in a way TAP does not show, such as a crash or a wrong plan, counts one.
tally() {
	awk -v status="$2" '
		/^1\.\.0/ { skip++; planned = 0; whole = 1; next }
		/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; plan = 1; next }
		/^ok .*# SKIP/ { skip++; seen++; bad = 0; next }
		/^ok / { pass++; seen++; bad = 0; next }
		/^not ok / { fail++; seen++; bad = 1; why = why "\n    " $0; next }
		/^#/ && bad { why = why "\n    " $0; next }
		/^TAP version/ { next }
		{ last = last "\n    " $0; bad = 0 }
		function trouble(text) { fail++; why = why "\n    not ok - " text }
		END {
			if (status == 124 || status == 137)
				trouble("time limit" last)
			else if (status != 0 && status != 4 && !fail)
				trouble("exit status " status last)
			else if (!whole && !plan)
				trouble("no plan" last)
			else if (!whole && planned != seen && !fail)
				trouble("planned " planned " tests, ran " seen)
			printf "%d %d %d%s\n", pass, fail, skip, why
		}' "$1"
}

# report WHERE TEST LOG
report() {
	local name status=missing seconds=0 pass fail skip why
	name=$(basename "$2" .sh)
	if [ -s "$3.status" ]; then
		read -r status seconds <"$3.status"
	fi
	touch "$3"
	{
		read -r pass fail skip
		why=$(cat)
	} < <(tally "$3" "$status")
	printf '%-5s %-24s %4d passed %3d failed %3d skipped %4d s\n' \
		"$1" "$name" "$pass" "$fail" "$skip" "$seconds"
	[ -z "$why" ] || echo "$why"
	total_pass=$((total_pass + pass))
	total_fail=$((total_fail + fail))
	total_skip=$((total_skip + skip))
}

run_host() {
	local test log
	mkdir -p "$out/host"
	for test; do
		log=$out/host/$(basename "$test" .sh).tap
		run_one "$test" "$log"
		report host "$test" "$log"
	done
}

# Inside the virtual machine: results go to $VMOUT, one line for the host to
# report each as it ends, and marks into the kernel log.
run_guest() {
	local test name
	for test; do
		name=$(basename "$test" .sh)
		echo "mrc-test: $name" >/dev/kmsg
		run_one "$test" "$VMOUT/$name.tap"
		echo "done $test"
	done
}

run_vm() {
	local kernel=$1 dir=$out/$1 test limit=60 rc=0 word
	shift
	rm -rf "$dir"
	mkdir -p "$dir"
	for test; do
		limit=$((limit + $(limit_of "$test") + 10))
	done
	local runner=("$here/vm/runvm" -k "$kernel")
	[ "$kernel" != uml ] || runner=("$here/vm/runuml")
	coproc VM { exec "${runner[@]}" -t "$limit" -o "$dir" -- \
		"$here/run.sh" --guest "$@" 2>"$dir/runvm.log"; }
	# shellcheck disable=SC2153
	local vm=$VM_PID reported=' '
	while read -r word test; do
		[ "$word" = "done" ] || continue
		report "$kernel" "$test" "$dir/$(basename "$test" .sh).tap"
		reported+="$test "
	done <&"${VM[0]}"
	wait "$vm" || rc=$?

	# The machine died or hung before these.
	for test; do
		case $reported in
		*" $test "*) ;;
		*) report "$kernel" "$test" "$dir/$(basename "$test" .sh).tap";;
		esac
	done
	[ $rc -eq 0 ] || vm_failed "$kernel" "$dir" $rc
	judge_afterwards "$kernel" "$dir" "$@"
}

# judge_afterwards KERNEL FOLDER TEST...
judge_afterwards() {
	local kernel=$1 dir=$2 test script log
	shift 2
	for test; do
		script=$(sed -nE 's/^# afterwards: (.*)/\1/p' "$test" | head -n 1)
		[ -n "$script" ] || continue
		script=$here/$script
		log=$dir/$(basename "$script" .sh).tap
		run_one "$script" "$log" "$dir"
		report "$kernel" "$script" "$log"
	done
}

# One more failure, for the machine itself.
vm_failed() {
	local culprit
	total_fail=$((total_fail + 1))
	echo "$1: not ok - the virtual machine ends well (status $3)"
	culprit=$(awk '/mrc-test: / { name = $NF } /BUG|WARNING|Oops|Call Trace/ { print name; exit }' \
		"$2/console" "$2/dmesg" 2>/dev/null || true)
	[ -z "$culprit" ] || echo "    during: $culprit"
	sed 's/^/    /' "$2/runvm.log"
}

# tests_of KERNEL NAME...: of vm-tests; without names those that run there.
tests_of() {
	local kernel=$1 test on
	shift
	while read -r test; do
		on=$(sed -nE 's/^# kernels: (.*)/\1/p' "$test" | head -n 1)
		[ $# -eq 0 ] && [[ " ${on:-6.1 6.12} " != *" $kernel "* ]] || echo "$test"
	done < <(select_tests vm-tests "$@")
}

# select_tests FOLDER NAME...
select_tests() {
	local test name folder=$1
	shift
	for test in "$here/$folder"/*.sh; do
		[ -x "$test" ] || continue
		if [ $# -eq 0 ]; then
			echo "$test"
			continue
		fi
		for name; do
			[ "$(basename "$test" .sh)" != "$name" ] || echo "$test"
		done
	done
}

main() {
	local kernels='' kernel option host vm

	if [ "${1:-}" = --guest ]; then
		shift
		run_guest "$@"
		return
	fi
	while getopts k: option; do
		case $option in
		k) kernels+=" $OPTARG";;
		*) sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	shift $((OPTIND - 1))
	kernels=${kernels:-${KVERS:-6.1 6.12}}

	cd "$top"
	if [ -z "$(select_tests host "$@"; select_tests vm-tests "$@")" ]; then
		echo "run.sh: no such test: $*" >&2
		exit 2
	fi

	mapfile -t host < <(select_tests host "$@")
	[ "$kernels" = " uml" ] || run_host "${host[@]}"
	for kernel in $kernels; do
		mapfile -t vm < <(tests_of "$kernel" "$@")
		[ "$kernel" != none ] && [ ${#vm[@]} -gt 0 ] || continue
		run_vm "$kernel" "${vm[@]}"
	done
	echo "$total_pass passed, $total_fail failed, $total_skip skipped"
	[ $total_fail -eq 0 ]
}

main "$@"
