#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# kernels: old uml
#
# Ports leave a device and come back: as the plane they were, with what was set there.
#
#	n1: mrc0 over a1 a2 a3, dummies

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

in1() { ip -n n1 "$@"; }
set_plane() { mrcctl -n n1 plane set dev mrc0 plane "$@"; }
# "NUMBER PORT SID ADMIN" of each plane.
planes() {
	mrcctl -n n1 -j plane show | jq -r 'sort_by(.plane)[] | select(.dev == "mrc0") |
		"\(.plane) \(.ifname) \(.sid // "-") \(.admin)"' | paste -sd ' '
}
no_devices() { ! ls -d /sys/class/infiniband/mrc*; }
dummies() {	# FIRST LAST
	local i
	for ((i = $1; i <= $2; i++)); do echo "link add a$i type dummy"; done | in1 -b -
}
come() { in1 link set "$1" master mrc0; }
leave() { in1 link set "$1" nomaster; }

ksft_plan
mrc_begin mrcctl
ip netns add n1
at_exit ip netns del n1
dummies 1 3
in1 link add mrc0 type mrc
come a1
come a2
come a3
for i in 1 2 3; do
	set_plane $i sid fcbb:bb00:$i::
done
set_plane 3 admin off
all="1 a1 fcbb:bb00:1:: true 2 a2 fcbb:bb00:2:: true 3 a3 fcbb:bb00:3:: false"
ksft_equal "three planes" "$all" "$(planes)"

# --------------------------------------------------------------- out and in
leave a2
ksft_test "one leaves and comes back" come a2
ksft_equal "with its number and SID" "$all" "$(planes)"
leave a2
leave a1
leave a3
come a3
come a2
ksft_test "all leave and come in another order" come a1
ksft_equal "with their numbers, SIDs and admin states" "$all" "$(planes)"
ksft_test "which is in the log" sh -c 'dmesg | grep "a2 is plane 2 again.*fcbb:bb00:2::"'
in1 link del a2
ksft_equal "a netdev is deleted" "1 a1 fcbb:bb00:1:: true 3 a3 fcbb:bb00:3:: false" "$(planes)"
dummies 2 2
ksft_test "and made again, as a driver that is reloaded does" come a2
ksft_equal "it is the plane that it was" "$all" "$(planes)"

# ------------------------------------------------------------------- others
leave a2
dummies 4 33
says() { in1 link set a4 master mrc0 2>&1 | grep "2 is kept for a2"; }
ksft_test "another port comes meanwhile, and is told why it is plane 4" says
come a2
ksft_equal "each has its own" "$all 4 a4 - true" "$(planes)"

# ------------------------------------------------------ the number of another
leave a2
leave a4
ksft_test "a plane's number for another port" set_plane 2 netdev a4
come a4
ksft_equal "it has what was set there" \
	"1 a1 fcbb:bb00:1:: true 2 a4 fcbb:bb00:2:: true 3 a3 fcbb:bb00:3:: false" "$(planes)"
ksft_test "the same again changes nothing" set_plane 2 netdev a4
ksft_test "the first one is none of them" come a2
ksft_equal "and gets a new number" \
	"1 a1 fcbb:bb00:1:: true 2 a4 fcbb:bb00:2:: true 3 a3 fcbb:bb00:3:: false 4 a2 - true" \
	"$(planes)"
ksft_test "not while it is another plane" refused "a2 is plane 4" nomaster -- \
	set_plane 7 netdev a2
ksft_test "nor while the number has a port" refused "plane 3 is a3" nomaster -- \
	set_plane 3 netdev a5
ksft_test "nor for a netdev that there is not" refused nosuch0 -- set_plane 9 netdev nosuch0
ksft_test "nor with other settings" refused alone -- set_plane 9 netdev a5 admin off
ksft_test "a number in the middle, before those below it" set_plane 9 netdev a9
come a9
ksft_test "is taken" grep -q '9 a9' <<<"$(planes)"

# ------------------------------------------------------------- all 32 in use
leave a1
fill() {
	local i
	for ((i = 5; i <= 32; i++)); do
		[ $i -eq 9 ] || echo "link set a$i master mrc0"
	done | in1 -b -
}
ksft_test "31 planes, one number is kept" fill
ksft_equal "and is nobody's" "" "$(planes | grep -o '^1 .*')"
ksft_test "a last one" come a33
ksft_equal "takes it, without the SID of the one that left" "1 a33 - true" \
	"$(planes | grep -oE '^1 \S+ \S+ \S+')"
ksft_test "which has no room now" refused 32 already -- come a1
ksft_test "deleted" in1 link del mrc0
ksft_test "made again" in1 link add mrc0 type mrc
come a3
ksft_equal "another device remembers nothing" "1 a3 - true" "$(planes)"
in1 link del mrc0
ksft_test "no device is left" mrc_until 20 no_devices
ksft_finish
