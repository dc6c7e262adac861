# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# mark.sh - lines "@MARK begin|end TEST MESSAGES TIMERS" tell watch.py when a run was; TIMERS are the kernel's timer
# interrupts.

timers() {
	local line
	REPLY=0
	while read -r -a line; do
		[ "${line[-1]}" != timer ] || REPLY=${line[1]}
	done </proc/interrupts
}

mark() {
	timers
	echo "@MARK $* $REPLY"
}
