#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: full
#
# A host at the switch of h1 announces, in the name of h2, that a port of h2 is down. It is not. A port that h2 drains
# works as well, and yet h1 leaves it; announced as up by the forger, it is announced as down again by h2.
#
#	h1 mrc0 = 2 planes, each T0 - T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# knows PORTS: what h2 announced, as h1 believes it.
knows() {
	local got
	got=$(mrcctl -n h1 -j peer show |
		jq -r '[.[] | select(.qps > 0) | .ports_up | select(. != null) | map(tostring) | join(",")] | unique | join(" ")')
	echo "h1 knows '$got'"
	[ "$got" = "$1" ]
}
# has_2: h1 believes that port 2 of h2 is up.
has_2() { mrcctl -n h1 -j peer show | jq -e '[.[] | select(.qps > 0) | .ports_up | . == null or index(2) != null] | all'; }
# told_again: h2 sent one more notice than $sent, and h1 believes it.
told_again() { rose h2 port_updates_sent "$sent" && knows 1; }
rose() { mrc_stat "$1" "$2" && echo "$2 of $1: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }
was() { mrc_stat "$1" "$2"; }

ksft_plan
mrc_begin mrcctl mrc_verify python3
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 900
ksft_test "over both planes" mrc_flows

fabric_usid_host 2 1
sid=$FABRIC_BLOCK:$REPLY::
# forge CASE COUNT: so many notices by plane 2; down2: that port 2 of h2 is down, up: that all are up.
forge() {
	local i
	for ((i = 0; i < $2; i++)); do
		echo "$1"
	done | fabric_in p2-t0-1 /usr/bin/python3 -I -S "$here/../verbs/mrc_inject.py" \
		fd00:6d72:63::1 fd00:6d72:63::2 17 0 0 "$sid"
}
was h1 port_updates_rcvd && rcvd=$REPLY
was h1 port_updates_denied && denied=$REPLY
ksft_test "a notice that port 2 of h2 is down" forge down2 1
ksft_test "reaches h1" mrc_until 20 rose h1 port_updates_rcvd "$rcvd"
ksft_test "which asks by that plane, and drops it" mrc_until 20 rose h1 port_updates_denied "$denied"
ksft_test "h1 knows better" mrc_until 20 has_2
ksft_test "h1 uses plane 2" mrc_until 30 mrc_plane_used client 2 tx
ksft_test "a hundred of them" forge down2 100
ksft_test "change nothing" mrc_until 20 has_2
ksft_test "h1 uses plane 2" mrc_until 30 mrc_plane_used client 2 tx

was h1 port_updates_denied && denied=$REPLY
was h2 ep_withheld && withheld=$REPLY
ksft_test "h2 drains its port 2, which works" mrcctl -n h2 plane set dev mrc0 plane 2 admin off
ksft_test "h1 is told" mrc_until 20 knows 1
ksft_test "h1 asks, and h2 does not answer" mrc_until 20 rose h2 ep_withheld "$withheld"
ksft_test "h1 leaves plane 2" mrc_until 20 mrc_plane_unused client 2 tx
ksft_test "and keeps away" knows 1
was h1 port_updates_denied
ksft_equal "no notice was dropped" "$denied" "$REPLY"

# h2 announces its ports again when packets come by the one that it drains.
was h2 port_updates_sent && sent=$REPLY
ksft_test "a forged notice that the drained port is up" forge up 1
ksft_test "brings h1 back to plane 2, until h2 has told it again" mrc_until 60 told_again
ksft_test "h1 leaves plane 2" mrc_until 60 mrc_plane_unused client 2 tx
ksft_test "and keeps away" knows 1
ksft_test "h2 enables it" mrcctl -n h2 plane set dev mrc0 plane 2 admin on
ksft_test "h1 uses plane 2 again" mrc_until 30 mrc_plane_used client 2 tx
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
