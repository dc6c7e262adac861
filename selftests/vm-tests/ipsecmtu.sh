#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# What IPsec adds does not fit the plane: protected packets arrive in fragments. A tunnel of IPv6 would fragment before it
# protects: such packets do not leave, and with a larger MTU they do.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ipsec.sh"

rose() { mrc_stat "$1" "$2" && echo "$2 of $1: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }
mtu() { ip -n h1 link set eth1 mtu "$1" && ip -n h2 link set eth1 mtu "$1"; }
# fragments: of packets that h1 sent.
# shellcheck disable=SC2016
fragments() { fabric_in h1 awk '$1 == "Ip6FragCreates" { n = $2 } END { print n; exit !n }' /proc/net/snmp6; }
tunnel() {	# HOST
	local dir words
	for dir in out in; do
		ipsec_way "$1" $dir v6
		read -ra words <<<"$REPLY"
		ipsec_key "$1" $dir v6 tunnel && ipsec_policy "$1" $dir v6 tmpl "${words[@]}" proto esp mode tunnel || return
	done
}

ksft_plan
mrc_begin mrcctl mrc_verify ip nft
modprobe -a esp6 xfrm_user 2>/dev/null || :
ksft_test "one plane" mrc_one_plane
ksft_test "what comes to h2 is counted" ipsec_watch h2 eth1
ksft_test "it is as small as a path MTU of 4096 allows" mtu 4188
ksft_test "h1 has policies and keys" ipsec_on h1 v6
ksft_test "and so has h2" ipsec_on h2 v6
ksft_test "every byte arrives right" mrc_verify 240 -u 20 -o mix -q 2 -s 65536 -n 40
ksft_test "in fragments" fragments
ipsec_seen h2 clear
ksft_equal "none in clear" 0 "$REPLY"
ipsec_off h1
ipsec_off h2

ksft_test "h1 has a tunnel" tunnel h1
ksft_test "and so has h2" tunnel h2
mrc_stat h1 tx_too_long
before=$REPLY
# shellcheck disable=SC2034
MRC_STALL=240
ksft_test "data begins" mrc_verify_start -u 20 -o write -q 2 -s 65536 -n 40
ksft_test "packets that the tunnel would fragment do not leave" mrc_until 60 rose h1 tx_too_long "$before"
ipsec_seen h2 esp
before=$REPLY
ksft_test "the plane gets a larger MTU" mtu 4300
ksft_test "every byte arrives right" mrc_pair_wait 240
ksft_test "through the tunnel" ipsec_seen_more h2 esp "$before"
ksft_finish
