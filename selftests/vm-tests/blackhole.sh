#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: old
# timeout: 180
#
# Half of all paths swallow everything, silently: one T1 of two in every plane.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

t1_2() {
	local p
	for p in 1 2 3 4; do
		"$1" p$p-t1-2 t0-1 && "$1" p$p-t1-2 t0-2 || return
	done
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_watch
# shellcheck disable=SC2034
MRC_FOR_ANY=1
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows

# By hand EVs exist for both addresses of the peer; only the one in use learns.
half=$((4 * MRC_EVS / 2))
# A controller hears of it by mrc_ctl.h; what it heard of an EV last, in the end, is that it is good.
mrc_start watch h1 mrc_watch -d "${MRC_IBDEV[h1]}" $MRC_PROFILE
ksft_test "a controller watches" mrc_until 20 grep -q watching "$MRC_DIR/watch.out"
heard() { [ "$(grep -c "^profile $MRC_PROFILE .* $1\$" "$MRC_DIR/watch.out")" -ge $((half - half / 4)) ]; }
all_good_again() {
	awk '/^profile/ { last[$4, $6] = $NF } END { for (ev in last) if (last[ev] != "good") exit 1 }' \
		"$MRC_DIR/watch.out"
}

ksft_test "T1 number 2 of every plane swallows" t1_2 fabric_blackhole
most_bad() { mrc_evs_are h1 assumed-bad -ge $((half - half / 4)); }
ksft_test "its EVs are assumed bad" mrc_until 30 most_bad
ksft_test "the controller hears of each" mrc_until 10 heard "assumed bad"
ksft_test "data still flows, over all planes" mrc_flows
enough_good() { mrc_evs_are h1 good -ge $((half - half / 4)); }
ksft_test "the EVs over the other T1 are good" mrc_until 30 enough_good

ksft_test "healed" t1_2 fabric_heal
none_bad() { mrc_evs_are h1 assumed-bad -eq 0; }
ksft_test "all EVs come back" mrc_until 60 none_bad
ksft_test "the controller hears of that, too" mrc_until 10 heard good
ksft_test "and of no EV otherwise last" mrc_until 10 all_good_again
ksft_test "data flows" mrc_flows

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
mrc_stat h1 timeouts
ksft_comment "timeouts $REPLY; $(mrc_retransmitted h1; echo "retransmitted $REPLY")"
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_finish
