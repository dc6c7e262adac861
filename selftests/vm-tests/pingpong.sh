#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# kernels: full
#
# ibv_rc_pingpong: SEND and RECV, checked by the program itself (-c), with both
# kinds of GID, polling and events.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

all_ways() {
	local family
	for family in v6 v4; do
		ksft_test "$1, $family GID, polling" mrc_pingpong 60 $family -c -n 200
		ksft_test "$1, $family GID, events" mrc_pingpong 60 $family -c -e -n 200
	done
}

ksft_plan
mrc_begin ibv_rc_pingpong
ksft_test "one plane" mrc_one_plane
all_ways "one plane"
ksft_test "one plane, 64 KiB messages" mrc_pingpong 60 v6 -c -e -n 50 -s 65536
ksft_test "one plane, MTU 256" mrc_pingpong 60 v6 -c -e -n 50 -m 256
ksft_test "nothing was counted that should not be" mrc_expect_clean

ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "ping over mrc0, IPv6" fabric_in h1 ping -q -c 3 -i 0.1 -W 5 fd00:6d72:63::2
ksft_test "ping over mrc0, IPv4" fabric_in h1 ping -q -c 3 -i 0.1 -W 5 10.77.0.2
all_ways "four planes"
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
