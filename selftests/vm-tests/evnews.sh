#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# kernels: full
#
# News of EVs in a storm of changes under traffic: each is told or counted, exactly (libmrc/mrc_storm.c).
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane, 200 EVs

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

profile() {
	local i evs=()
	for ((i = 0; i < 200; i++)); do
		evs+=(ev 1 $((50000 + i)))
	done
	mrcctl -n h1 profile set dev eth1 id 1 fmt udp "${evs[@]}"
}
turned() { REPLY=$(mrcctl -n h1 -d -j peer show | jq '[.[].turned_good // 0 | tonumber] | add'); }
# Not one is missing (mrc_storm), and there are no more than EVs turned.
storm() {	# ARG...
	local before told
	turned && before=$REPLY
	mrc_start storm h1 env MRC_DEBUG=1 mrc_storm -d "${MRC_IBDEV[h1]}" "$@"
	mrc_wait storm 120 && mrc_out storm 1 || { mrc_out storm; return 1; }
	told=$(mrc_out storm 1 | awk '{ print $(NF - 2) + $NF }')
	turned || return
	echo "$told told or counted, $((REPLY - before)) turned"
	[ "$told" -gt 0 ] && [ "$told" -le $((REPLY - before)) ]
}

ksft_plan
mrc_begin mrcctl mrc_storm mrc_verify
ksft_test "one plane" mrc_one_plane
ksft_test "an EV profile" profile
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "from a QP" mrc_flows
ksft_test "as many changes as it takes, each told or counted" storm -t 4
ksft_comment "$(mrc_out storm 1)"
ksft_test "100,000 a second or as many as it takes" storm -t 4 -r 100000
ksft_comment "$(mrc_out storm 1)"
ksft_test "data still flows" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
