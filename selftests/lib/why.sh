# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# why.sh - prints the state of the hosts after programs of a test failed. A failure that occurs once in a
# hundred runs is explained by its own report or never.
#
#	mrc_why		# prints; part of mrc.sh

# For each host: counters that are not zero, and the first lines of its status; then the end of the kernel
# log.
mrc_why() {
	local i REPLY
	for ((i = 1; i <= FABRIC_H && i <= 4; i++)); do
		[ -n "${MRC_IBDEV[h$i]:-}" ] || continue
		mrc_stats "h$i" 2>/dev/null || continue
		mrc_stats_diff "$(sed 's/ .*/ 0/' <<<"${REPLY%$'\n'}")" "$REPLY"
		echo "h$i: $REPLY"
		mrcctl -n "h$i" status 2>&1 | sed -n "1,4s/^/h$i: /p"
	done
	dmesg | tail -n 2
}
