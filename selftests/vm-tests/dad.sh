#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# kernels: full
#
# Duplicate address detection: an address that it refused, or has not decided on, is not this host's. So connections
# to the peer that has it go on, and new ones are made. One that it accepted is.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane
#	h1 mrc0 = 2 planes, cables alone		by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

PEER=fd00:6d72:63::2

# detects QUESTIONS: h1 gets the peer's address, after so many questions a second apart.
detects() {
	fabric__sysctl h1 "echo 1 >eth1/accept_dad; echo $1 >eth1/dad_transmits" &&
		ip -n h1 address add $PEER/128 dev eth1
}
flagged() { [[ $(ip -n h1 -6 -o address show dev eth1 "$1") = *"$PEER/"* ]]; }
decided() { ! flagged tentative; }
# h1 takes the peer for itself: then one plane's EVs are all there are, for a path over lo has no plane.
paths() { REPLY=$(mrcctl -n h1 -j peer show | jq ".[] | select(.peer == \"$PEER\") | .evs"); }
is_here() { paths && [ "$REPLY" -eq $((evs / 2)) ]; }
is_there() { paths && [ "$REPLY" -eq "$evs" ]; }
meanwhile() { is_there || decided; }

ksft_plan
mrc_begin mrcctl mrc_verify

ksft_test "one plane" mrc_one_plane
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over it" mrc_flows
ksft_test "h1 is given the peer's address" detects 1
ksft_test "and the peer defends it" mrc_until 20 flagged dadfailed
ksft_test "data still flows" mrc_flows
mrc_sleep 2
ksft_test "and goes on" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_test "a new connection is made" mrc_verify 60 -o write -n 50

ksft_test "two planes" mrc_flat
ksft_test "a connection" mrc_verify 60 -o write -n 50
paths
evs=$REPLY
ksft_comment "$evs EVs"
ksft_test "h1 is given the peer's address" detects 15
mrc_sleep 1
ksft_test "it is the peer's as long as that is not decided" meanwhile
ksft_test "nobody defends it there" mrc_until 60 decided
ksft_test "it is h1's" mrc_until 20 is_here
ksft_test "it goes" ip -n h1 address del $PEER/128 dev eth1
ksft_test "it is the peer's again" mrc_until 20 is_there
ksft_finish
