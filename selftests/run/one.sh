# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# one.sh - one test: where it runs, its limit, its output, its status.

# Three times what it says: other lanes run beside it, or every checker is on. A net only.
limit_of() {
	local limit
	limit=$(sed -nE 's/^# timeout: ([0-9]+).*/\1/p' "$1" | head -n 1)
	echo $((3 * ${limit:-120}))
}

# runs_on KERNEL TEST: it says so itself; with run.sh -a what runs on one of Debian's runs on each, and
# what runs on none ("full").
runs_on() {
	local on
	on=$(sed -nE 's/^# kernels: (.*)/\1/p' "$2" | head -n 1)
	on=" ${on:-6.1 6.12} "
	[[ $on = *" $1 "* ]] ||
		[[ -n ${MRC_FULL:-} && $1 != uml && ($on = *" 6."* || $on = *" full "*) ]]
}

# run_one TEST LOG [ARG...]: its output to LOG, its status and duration to LOG.status.
run_one() {
	local test=$1 log=$2 rc=0 start=$SECONDS
	shift 2
	timeout -k 10 "$(limit_of "$test")" "$test" "$@" </dev/null >"$log" 2>&1 || rc=$?
	echo "$rc $((SECONDS - start))" >"$log.status"
}
