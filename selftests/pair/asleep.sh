#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# asleep.sh SIDE - machines that stand still under a connection (host/asleep.sh): it goes on, by all
# planes, and no plane is taken for dead.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"

STILL=8		# seconds; the connection's retries last for longer

verify() { command mrc_verify -e -T 120 -d mrc0 "$@"; }

serve() {
	ksft_plan
	while ! told_to_stop; do
		verify -p 18515 || :
	done &
	until told_to_stop; do
		mrc_sleep 0.5
	done
	pkill -x mrc_verify || :
	wait
	ksft_pass "told to stop"
	ksft_finish
}

# All planes carry data, one after the other or at once, since the machines are both awake.
all_again() {
	local start=${EPOCHREALTIME/[.,]/}
	all_used || return
	echo "# all planes were in use again $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) ms after that"
}
bad_evs() { REPLY=$(mrcctl -j ev show | jq '[.[] | select(.state != "good")] | length'); }
none_bad() { bad_evs && [ "$REPLY" -eq 0 ]; }
qpn() { mrcctl -j qp show | jq '[.[] | select(.state | ascii_downcase == "rts")][0].qpn'; }

client() {
	local peer qp side
	address "$PEER"; peer=$REPLY
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	connects verify -p 18515 -o mix -s 65536 -t 1200 -u 20 "$peer" >"$VMOUT/client.out" 2>&1 &
	ksft_test "a connection, by all cables" all_used
	qp=$(qpn)
	for side in "$PEER" "$SIDE"; do
		ksft_test "machine $side stands still for $STILL s" cable sleep "$side" $STILL
		all_again || :
		ksft_test "data flows, by all cables" all_used
		ksft_test "all planes are up" planes_up 4
		ksft_test "no path is taken for bad for long" mrc_until 20 none_bad
	done
	ksft_equal "all on one connection" "$qp" "$(qpn)"
	pkill -INT -x mrc_verify
	ksft_test "every byte arrived right" mrc_until 60 grep PASS "$VMOUT/client.out"
	sed 's/^/# /' "$VMOUT/client.out"
	ksft_finish
}

pair_begin "$1" mrc_verify
case $SIDE in
1) client;;
2) serve;;
esac
