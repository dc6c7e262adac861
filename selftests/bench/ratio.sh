# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
#
# ratio.sh - what benches in User-Mode Linux note in each round, and ratios of it.
# Sourced.

declare -A ALL=()	# by name: a number of each round

note() { ALL[$1]+=" $2"; }

# of NAME OTHER: the ratio of the sums, and the least and the most of the rounds.
of() {
	awk -v a="${ALL[$1]}" -v b="${ALL[$2]}" 'BEGIN {
		n = split(a, x)
		split(b, y)
		for (i = 1; i <= n; i++) {
			q = x[i] / y[i]
			p += x[i]
			r += y[i]
			if (i == 1 || q < low) low = q
			if (i == 1 || q > high) high = q
		}
		printf "%.3f (%.3f-%.3f)", p / r, low, high }'
}
