#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - run the tests, count, end with "N passed, N failed, N skipped".
#
#   run.sh [-a] [-c] [-l] [-k KERNEL]... [NAME...]
#
#   -a         every test on each kernel, also those that ask for one only; MRC_FULL=1 for the tests
#   -c         goes on with a run that was interrupted: what had ended in it counts as it ended, if tree and
#              options are what they were; of the kernel with checkers all or nothing
#   -l         only says which tests would run, and where
#   -k KERNEL  kernels for the tests in a virtual machine, the oldest first; default: of $KVERS, or of
#              "6.1 6.12 7.2 7.3" the oldest and the newest of which headers are here;
#              "-k none" leaves them out;
#              "-k uml": the kernel with checkers, which vm/uml-build.sh makes; that alone: nothing on this machine;
#              "-k 6.12-arm64", "-k 6.12-arm64-16k": another architecture (vm/arm64.sh)
#   NAME       only tests of that name, such as "engine" or "fabric"
#
# host/*.sh run on this machine, in two lanes ("# lane: 2", else the first), vm-tests/*.sh in one virtual
# machine per kernel, as many machines at once as there are processors (two at least); these lanes run beside each
# other, the tests of each one after the other (run/lanes.sh).
# Each prints TAP; every line "ok" or "not ok" counts as one.
# A comment "# timeout: SECS" in a test raises its limit from 120 s on an idle machine,
# "# afterwards: SCRIPT" names one of this folder that judges on this machine, when the virtual one
# has ended, what the test left in $VMOUT; "# kernels: old new uml arm64" says where a test runs that is
# not named: on the oldest of the kernels, the newest (on both without such a line), and so on; "# kernels: full", in
# host/*.sh, too: only with -a. What they wrote is kept in out/check.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*}
# shellcheck disable=SC2034  # for lanes.sh
out=$top/out/check
# shellcheck disable=SC2034  # for lanes.sh
continues=
total_pass=0 total_fail=0 total_skip=0

# shellcheck source=selftests/run/one.sh
. "$here/run/one.sh"
# shellcheck source=selftests/run/report.sh
. "$here/run/report.sh"
# shellcheck source=selftests/vm/console.sh
. "$here/vm/console.sh"
# shellcheck source=selftests/run/lanes.sh
. "$here/run/lanes.sh"

# tests_of FOLDER KERNEL NAME...: without names those that run there.
tests_of() {
	local folder=$1 kernel=$2 test
	shift 2
	while read -r test; do
		[ $# -eq 0 ] && ! runs_on "$kernel" "$test" || echo "$test"
	done < <(select_tests "$folder" "$@")
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
			[ "${test##*/}" != "$name.sh" ] || echo "$test"
		done
	done
}

# lanes KERNELS NAME...: all of them, until the last has ended; fails when one did not run to its
# end. Each is a process group, so that its machine ends with it.
lanes() {
	local kernels=$1 kernel tests lane rc=0 running=()
	shift
	slots_open $(($(nproc) > 2 ? $(nproc) : 2))
	set -m
	trap 'kill -- "${running[@]/#/-}" 2>/dev/null; exit 143' TERM
	if [ "$kernels" != " uml" ] && [ -n "$(tests_of host host "$@")" ]; then
		lane_begins "$out/host"
		for lane in 1 2; do
			mapfile -t tests < <(tests_of host host "$@" | of_lane $lane)
			[ ${#tests[@]} -gt 0 ] || continue
			lane_host "${tests[@]}" </dev/null &
			running+=($!)
		done
	fi
	for kernel in $kernels; do
		mapfile -t tests < <(tests_of vm-tests "$kernel" "$@")
		[ "$kernel" != none ] && [ ${#tests[@]} -gt 0 ] || continue
		lane_vm "$kernel" "${tests[@]}" </dev/null &
		running+=($!)
	done
	for lane in "${running[@]}"; do
		wait "$lane" || rc=1
	done
	return $rc
}

# some_of SERIES...: of those that are to be had here the oldest and the newest.
some_of() {
	local kernel have=() why
	for kernel; do
		! "$here/vm/kernels.sh" --kdir "$kernel" >/dev/null || have+=("$kernel")
	done
	while [ ${#have[@]} -gt 1 ] && ! why=$("$here/vm/kernels.sh" "${have[-1]}" 2>&1); do
		echo "run.sh: left out Linux ${have[-1]}: ${why##*$'\n'}" >&2
		unset 'have[-1]'
	done
	[ ${#have[@]} -gt 0 ] || have=("$1")
	printf '%s\n' "${have[0]}" "${have[-1]}" | uniq | paste -sd ' '
}

# list_all KERNELS NAME...: "KERNEL NAME" of each test.
list_all() {
	local kernel kernels=$1 test
	shift
	for kernel in host $kernels; do
		[ "$kernel" != host ] || [ "$kernels" != " uml" ] || continue
		[ "$kernel" != none ] || continue
		while read -r test; do
			test=${test##*/}
			echo "$kernel ${test%.sh}"
		done < <(tests_of "$([ "$kernel" = host ] && echo host || echo vm-tests)" "$kernel" "$@")
	done
}

# run_all KERNELS NAME...
run_all() {
	local events lanes
	exec {events}< <(lanes "$@")
	lanes=$!
	trap 'kill "$lanes"; exit 130' INT TERM
	report_events <&"$events"
	wait "$lanes" || {
		echo "not ok - every lane runs to its end"
		total_fail=$((total_fail + 1))
	}
}

main() {
	local kernels='' lists='' option

	if [ "${1:-}" = --guest ]; then
		shift
		run_guest "$@"
		return
	fi
	while getopts aclk: option; do
		# shellcheck disable=SC2034  # for lanes.sh
		case $option in
		a) export MRC_FULL=1;;
		c) continues=1;;
		l) lists=1;;
		k) kernels+=" $OPTARG";;
		*) sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	shift $((OPTIND - 1))
	cd "$top"
	[ -n "$kernels" ] || kernels=$(some_of ${KVERS:-6.1 6.12 7.2 7.3})
	# shellcheck disable=SC2086
	set_ends $kernels
	if [ -z "$(select_tests host "$@"; select_tests vm-tests "$@")" ]; then
		echo "run.sh: no such test: $*" >&2
		exit 2
	fi
	if [ -n "$lists" ]; then
		list_all "$kernels" "$@"
		return
	fi
	run_all "$kernels" "$@"
	echo "$total_pass passed, $total_fail failed, $total_skip skipped"
	[ $total_fail -eq 0 ]
}

main "$@"
