#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# mrcd comes to rest from what it finds: an interface that is missing, late or renamed costs
# its own plane, an exchanged one takes its predecessor's place; what is shut or off by hand
# stays so when mrcd starts anew; what is of the wrong kind is named and not touched.
#
#	h1 mrc0 = 4 planes, each T0 - 1 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

planes_are() {	# "1 eth1 3 eth3"
	[ "$(mrcctl -n h1 -j plane show | jq -r '[.[] | .plane, .ifname] | join(" ")')" = "$1" ]
}
sid_is() { mrcctl -n h1 -j plane show | jq -e ".[] | select(.plane == $1 and .sid == \"$2\")"; }
plane_is_off() { mrcctl -n h1 -j plane show | jq -e ".[] | select(.plane == $1 and .admin == false)"; }
is_up() { ip -n h1 -j link show "$1" | jq -e '.[0].flags | index("UP")'; }
said() { grep -F "$1" "$MRC_DIR/mrcd-h1.out"; }
not() { ! "$@"; }
at_rest() {
	local node
	for node; do
		fabric_in "$node" mrcd --check "$FABRIC_DIR/fabric.toml" -n "$node" || return
	done
}
rename() { ip -n h1 link set "$1" down && ip -n h1 link set "$1" name "$2"; }
again() {
	mrc_kill mrcd-h1
	mrc_mrcd h1
	mrc_until 60 mrc_mrcd_ready h1
}

ksft_plan
mrc_begin mrcd mrcctl
ksft_test "four planes by mrcd" mrc_fabric_mrcd 2 4 2 1
all="1 eth1 2 eth2 3 eth3 4 eth4"
ksft_test "each under its number" planes_are "$all"

# ------------------------------------------------------ an interface comes late
mrc_kill mrcd-h1
ip -n h1 link del mrc0
rename eth2 late2
mrc_mrcd h1
ksft_test "without eth2 the others keep their numbers" mrc_until 60 \
	planes_are "1 eth1 3 eth3 4 eth4"
ksft_test "and get their SIDs" mrc_until 60 sid_is 3 fcbb:bb00:3201::
ksft_test "it says what it waits for" mrc_until 60 said "waiting: there is no interface eth2"
ip -n h1 link set late2 name eth2
ksft_test "eth2 comes: everything is in place" mrc_until 60 mrc_mrcd_ready h1
ksft_test "under its own number" planes_are "$all"
rename eth3 other3
ksft_test "renamed: it is the file's plane no more" mrc_until 60 planes_are "1 eth1 2 eth2 4 eth4"
ip -n h1 link set other3 name eth3
ksft_test "named back: its number, too" mrc_until 60 planes_are "$all"

# ------------------------------------- another NIC of that name, an address alike
# Both ends of the cable are new, and the switch's daemon has not seen them either.
ip -n h1 link del eth2
ip -n h1 link add eth2 mtu 9000 type veth peer name h1 mtu 9000 netns p2-t0-1
ksft_test "an exchanged NIC: everything is in place" mrc_until 60 at_rest h1 p2-t0-1
ksft_test "under its predecessor's number" planes_are "$all"
ksft_test "with its SID" sid_is 2 fcbb:bb00:2201::
mrc_kill mrcd-h1
ip -n h1 addr del fe80::1/64 dev eth1
ip -n h1 addr add fe80::1/10 dev eth1 nodad
mrc_mrcd h1
ksft_test "an address of another length is named" mrc_until 60 \
	said "eth1 has fe80::1/10, expected fe80::1/64: ip addr del fe80::1/10 dev eth1"
ip -n h1 addr del fe80::1/10 dev eth1
ksft_test "without it everything is in place" mrc_until 60 at_rest h1
ksft_test "with the right one" grep -q "fe80::1/64" <(ip -n h1 -o addr show dev eth1)

# -------------------------------------------------------- what was set by hand
ip -n h1 link set eth1 down
mrcctl -n h1 plane set dev mrc0 plane 2 admin off
ksft_test "mrcd starts anew" again
ksft_test "the port that was shut stays shut" not is_up eth1
ksft_test "and is named" said "eth1 was set down by others and stays down"
ksft_test "the plane that was off stays off" plane_is_off 2
ip -n h1 link set eth1 up
mrcctl -n h1 plane set dev mrc0 plane 2 admin on
route_back() { ip -n h1 -6 route show fcbb:bb00:1001::/48 | grep eth1; }
ksft_test "up again, its route is back" mrc_until 60 route_back

# -------------------------------------------------------------- the wrong kind
mrc_kill mrcd-h1
ip -n h1 link del mrc0
ip -n h1 link add mrc0 mtu 1400 type veth peer name wrong0
mrc_mrcd h1
ksft_test "an interface of the wrong kind is named" mrc_until 60 \
	said "mrc0 is of kind veth, expected mrc"
ksft_test "not raised" not is_up mrc0
ksft_equal "and not changed" 1400 "$(ip -n h1 -j link show mrc0 | jq '.[0].mtu')"
ip -n h1 link del mrc0
ksft_test "gone: everything is in place" mrc_until 60 mrc_mrcd_ready h1
ksft_test "with all planes" planes_are "$all"
ksft_test "and packets arrive" fabric_in h1 ping -q -c 3 -i 0.1 -W 5 fd00:6d72:63::2
ksft_finish
