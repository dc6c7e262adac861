#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: uml
#
# A change of paths that finds no memory is made when there is some: until then the old paths stay, and nobody has to
# ask again. For the kernel with checkers, which refuses memory when it is told to.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/starve.sh"

peer_of_h1() { mrcctl -n h1 -j peer show | jq ".[] | select(.peer == \"fd00:6d72:63::2\") | .$1"; }
profile_is() { [ "$(peer_of_h1 profile)" = "$1" ]; }
planes_are() {	# PLANE...
	mrcctl -n h1 -j ev show dev mrc0 peer fd00:6d72:63::2 | jq -e "[.[].port] | unique == [$*]"
}
# It was refused then: else there is nothing to be made later.
refused_memory() {
	local before=$REFUSED
	mrc_stat h1 paths_no_mem && REFUSED=$REPLY
	[ "$REFUSED" -gt "$before" ]
}
REFUSED=0

ksft_plan
mrc_begin mrcctl mrc_verify ping
can_starve || ksft_skip_all "needs the kernel with checkers (make check-debug)"

ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "its hosts know each other" mrc_neighbours
mrc_start talk h1 ping -q -i 5 fd00:6d72:63::2	# or after a minute h1 forgets h2
ksft_test "EVs of ordinary IP, too" mrcctl -n h1 profile set dev mrc0 id 7 fmt udp mode auto

ksft_test "they are wanted, without memory" starving mrc_pathset_build mrcctl -n h1 dev set dev mrc0 profile 7
ksft_test "it was refused" refused_memory
ksft_test "they are taken later" mrc_until 30 profile_is 7
ksft_test "both planes" planes_are 1, 2
ksft_test "a plane leaves, without memory" starving mrc_pathset_build ip -n h1 link set eth2 nomaster
ksft_test "it was refused" refused_memory
ksft_test "EVs of the other one later" mrc_until 30 planes_are 1
ksft_test "it comes back" ip -n h1 link set eth2 master mrc0
ksft_test "EVs of both" mrc_until 30 planes_are 1, 2
ksft_test "back to the old ones, without memory" starving mrc_pathset_build mrcctl -n h1 dev set dev mrc0 profile 1
ksft_test "it was refused" refused_memory
ksft_test "they are taken later, too" mrc_until 30 profile_is 1
mrc_kill talk
ksft_test "data flow" mrc_verify 60 -o mix -r -s 65536 -n 50
ksft_finish
