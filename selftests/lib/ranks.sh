# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ranks.sh - waits for programs with ranks, started by mrc_start: rank <i> runs in namespace h<i+1>.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/ranks.sh"
#	ranks_right 2 60 'ok, .* every one right'   # RANKS SECS PATTERN
#	ranks_go_on 3 rounds                        # N COUNTER
#	ranks_end 2 60 ok                           # told to, then as ranks_right

# Succeeds if each rank succeeds within SECS, and its last line is "rank <i>: PATTERN".
ranks_right() {
	local i rc bad=0
	for ((i = 0; i < $1; i++)); do
		rc=0
		mrc_wait rank$i "$2" || rc=$?
		[ $rc -eq 0 ] && grep -q "^rank $i: $3" "$MRC_DIR/rank$i.out" && continue
		echo "rank $i: status $rc: $(mrc_out rank$i 40)"
		bad=1
	done
	mrc_out rank0 1
	[ $bad -eq 0 ] || mrc_why
	return $bad
}

ranks_end() {
	kill -INT "${MRC_PID[rank0]}" || true
	ranks_right "$@"
}

# ranks__past N COUNTER
ranks__past() { "$2"; [ "$REPLY" -ge "$1" ]; }

# Waits for N more rounds than COUNTER, which sets REPLY, counts now.
ranks_go_on() {
	"$2"
	mrc_until 60 ranks__past $((REPLY + $1)) "$2" || { echo "stands at $REPLY: $(mrc_out rank0 40)"; return 1; }
}
