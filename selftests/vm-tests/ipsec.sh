#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 500
# kernels: full uml
#
# Policies of IPsec hold for MRC packets: what they want protected is protected or does not leave, and does not come
# in without.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane
#	h1, h2: mrc0 over eth1 eth2		by hand, SRv6

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ipsec.sh"

rose() { mrc_stat "$1" "$2" && echo "$2 of $1: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }
hinted() { mrcctl -n "$1" -j peer show | jq -e 'any(.[]; .hints | index("policy") != null)'; }
logged() { dmesg | grep -F "an IPsec policy blocks packets $1"; }
# nothing_comes HOST: for some time no MRC packet passes its port in clear.
nothing_comes() {
	local before
	ipsec_seen "$1" clear
	before=$REPLY
	mrc_sleep 1
	ipsec_seen "$1" clear
	echo "clear: $REPLY, was $before"
	[ "$REPLY" -eq "$before" ]
}
client_goes() { mrc_flows "${1:-60}"; }

ksft_plan
mrc_begin mrcctl mrc_verify ibv_rc_pingpong ip nft
modprobe -a esp4 esp6 xfrm_user 2>/dev/null || :
ksft_test "one plane" mrc_one_plane
ksft_test "what comes to h2 is counted" ipsec_watch h2 eth1

# ------------------------------------------------------------- refused
# shellcheck disable=SC2034
MRC_STALL=240
ksft_test "data flows" mrc_verify_start -u 20 -o mix -q 2 -s 16384 -t 1200
ksft_test "(in clear)" client_goes
mrc_stat h1 tx_policy
ksft_equal "no policy has kept any" 0 "$REPLY"
ksft_test "h1 blocks it by a policy" ipsec_policy h1 out v6 action block
ksft_test "which is counted" mrc_until 60 rose h1 tx_policy 0
ksft_test "logged" logged to
ksft_test "and shown with the peer" hinted h1
ksft_test "none leaves" nothing_comes h2
ksft_test "the policy goes" ipsec_off h1
ksft_test "data flows again" client_goes

# ----------------------------------------------------------- protected
ksft_test "h1 wants it protected, and has no key" ipsec_policy h1 out v6
ksft_test "none leaves" mrc_until 60 nothing_comes h2
ipsec_off h1
ksft_test "the policy goes, and data flows" client_goes
ksft_test "h2 wants it protected" ipsec_policy h2 in v6
ksft_test "and hears none that is in clear" mrc_until 60 rose h2 rx_policy 0
ksft_test "which is logged" logged from
ipsec_off h2
ipsec_seen h2 esp
ksft_equal "so far nothing was protected" 0 "$REPLY"
ksft_test "h1 has policies and keys" ipsec_on h1 v6 v4
ksft_test "and so has h2" ipsec_on h2 v6 v4
ksft_test "data flows" client_goes
ipsec_seen h2 esp
ksft_test "protected" mrc_until 60 ipsec_seen_more h2 esp "$REPLY"
ksft_test "and nothing in clear" nothing_comes h2
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "over IPv4, too" mrc_pingpong 120 v4 -c -n 100
ksft_test "(nothing in clear)" nothing_comes h2
ipsec_way h1 out v6
# shellcheck disable=SC2086
ksft_test "the key of h1 is taken away" ip -n h1 xfrm state delete $REPLY proto esp spi 0x1234
mrc_stat h1 tx_policy
before=$REPLY
mrcctl -n h1 probe dev eth1 peer fd00:6d72:63::2 || true
ksft_test "so nothing leaves" mrc_until 30 rose h1 tx_policy "$before"
ksft_test "(nor in clear)" nothing_comes h2
ipsec_off h1
ipsec_off h2

# ------------------------------------------------------ behind an SRv6 header
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "data flows" mrc_verify_start -u 20 -o mix -q 2 -s 16384 -t 1200
ksft_test "over both" client_goes
mrc_stat h1 tx_policy
before=$REPLY
ksft_test "h1 blocks what goes to hosts of plane 2" \
	ip -n h1 xfrm policy add dir out dst fcbb:bb00:2000::/36 action block
ksft_test "which is counted" mrc_until 60 rose h1 tx_policy "$before"
ksft_test "plane 2 is left" mrc_until 60 mrc_plane_unused client 2 tx
ksft_test "plane 1 carries on" mrc_until 60 mrc_plane_used client 1 tx
ipsec_off h1
ksft_test "without the policy both do" client_goes
ksft_test "h1 wants the inner packets protected, which nobody can" ipsec_on h1 v6
silent() { mrc_plane_rates client tx 1 && echo "$REPLY" && read -ra rates <<<"$REPLY" && [ $((rates[0] + rates[1])) -le $((2 * MRC_IDLE)) ]; }
ksft_test "none of them leaves" mrc_until 60 silent
ksft_test "this peer has the hint" hinted h1
ipsec_off h1
ksft_test "without the policy they do" client_goes
mrc_stat h2 rx_policy
before=$REPLY
ksft_test "h2 blocks them inside" ipsec_policy h2 in v6 action block
ksft_test "which is counted" mrc_until 60 rose h2 rx_policy "$before"
ipsec_off h2
ksft_test "data goes on" client_goes
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
