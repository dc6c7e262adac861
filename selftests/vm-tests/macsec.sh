#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# kernels: full uml
#
# A plane upon MACsec: none of MRC is on the cable in clear, and packets in clear are dropped.
#
#	h1 (mrc1) macsec0 - eth1 ---- eth1 - macsec0 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ipsec.sh"

# in_clear CASE: h2 sends a packet that the QP of h1 would take, past MACsec.
in_clear() {
	echo "$1" | fabric_in h2 /usr/bin/python3 -I -S "$here/../verbs/mrc_inject.py" \
		fd00:6d72:63::1 fd00:6d72:63::2 "$qpn" "$psn" "$next"
}
# past_macsec HOST PEER MAC: packets of HOST to PEER leave by the bare cable.
past_macsec() {
	ip -n "$1" -6 neigh replace "$2" lladdr "$3" dev eth1 && ip -n "$1" -6 route add "$2/128" dev eth1
}
rose() { mrc_stat "$1" "$2" && echo "$2 of $1: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }
goes() { mrc_until 30 mrc__has_qp h1 && mrc_until 60 ipsec_seen_more h2 macsec "$1"; }

ksft_plan
mrc_begin mrcctl mrc_verify python3 ip nft
modprobe macsec 2>/dev/null || ksft_skip_all "needs MACsec"
ksft_test "a plane upon MACsec at both ends" macsec_plane
ksft_test "what comes to h2 by the cable is counted" ipsec_watch h2 eth1
# shellcheck disable=SC2034
MRC_STALL=240
ksft_test "data flows" mrc_verify_start -u 20 -o mix -q 2 -s 65536 -t 600
ksft_test "protected" goes 1000
ipsec_seen h2 clear
ksft_equal "none of it in clear" 0 "$REPLY"

# ------------------------------------------------ past MACsec, with all numbers
ksft_test "h2 sends past MACsec" past_macsec h2 fd00:6d72:63::1 "$(macsec_mac h1)"
qpn=$(mrc_qp_of h1 qpn) psn=$(mrc_qp_of h1 rx_cack) next=$(mrc_qp_of h1 psn_next)
mrc_stat h1 rx_no_plane
before=$REPLY
ksft_test "a packet in clear" in_clear psn
ksft_test "is dropped, for it comes by no plane" mrc_until 30 rose h1 rx_no_plane "$before"
ip -n h2 -6 route del fd00:6d72:63::1/128 dev eth1
ipsec_seen h2 macsec
ksft_test "data goes on" goes "$((REPLY + 500))"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
