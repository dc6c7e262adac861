#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new uml
# timeout: 300
#
# What happened, and why: lines of the kernel's log for planes, in order, and not without limit.
#
#	h1 mrc0 = 3 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

H1=fd00:6d72:63::1
mark=0
from_here() { mark=$(dmesg | wc -l); }
lines() { dmesg | tail -n "+$((mark + 1))" | grep -E 'mrc0: (plane|[0-9a-f:]+ says)' || :; }
said() { lines | grep -F -- "$1"; }
says() { mrc_until 20 said "$1"; }
# in_order TEXT...: each is said, one behind the other.
in_order() {
	local text all
	all=$(lines)
	for text; do
		case $all in
		*"$text"*) all=${all#*"$text"};;
		*) echo "not said, or not in its place: $text"; lines; return 1;;
		esac
	done
}
admin() { mrcctl -n h1 plane set dev mrc0 plane "$1" admin "$2"; }

ksft_plan
mrc_begin mrcctl mrc_verify
from_here
ksft_test "three planes by hand" mrc_fabric_by_hand 2 3 2 2
for p in 1 2 3; do
	ksft_test "plane $p is said to be up" says "plane $p (eth$p) is up"
done
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 600
ksft_test "over all planes" mrc_flows

# ------------------------------------------------------------ planes, in the kernel's log
from_here
ksft_test "h1's cable of plane 2 is cut" fabric_cut p2-t0-1 h1
ksft_test "the log says which plane, which port, and why" says "plane 2 (eth2) is down: no carrier"
ksft_test "that of the peer says who said so" says "$H1 says that its port of plane 2 is down"
ksft_test "the cable is restored" fabric_restore p2-t0-1 h1
ksft_test "which is said, too" says "plane 2 (eth2) is up; before: no carrier"
ksft_test "at the other end as well" says "$H1 says that its port of plane 2 is up again"
ksft_test "plane 3 is disabled" admin 3 off
ksft_test "by the administrator" says "plane 3 (eth3) is down: admin off"
ksft_test "its port is set down meanwhile" ip -n h1 link set eth3 down
ksft_test "and enabled" admin 3 on
ksft_test "which leaves another cause" says "plane 3 (eth3) is still down: the port is set down"
ksft_test "its port is set up" ip -n h1 link set eth3 up
ksft_test "the plane is up" says "plane 3 (eth3) is up; before: the port is set down"
ksft_test "all that in order" in_order "plane 2 (eth2) is down: no carrier" \
	"plane 2 (eth2) is up; before: no carrier" "plane 3 (eth3) is down: admin off" \
	"plane 3 (eth3) is still down: the port is set down" "plane 3 (eth3) is up; before: the port is set down"

# However often: 64 lines in 10 s.
flaps() {
	local i
	for ((i = 0; i < 200; i++)); do
		printf 'link set eth3 down\nlink set eth3 up\n'
	done | ip -n h1 -b -
}
from_here
began=$EPOCHSECONDS
ksft_test "a port is set down and up 200 times" flaps
bounded() {
	local n most=$((64 * ((EPOCHSECONDS - began) / 10 + 2)))
	n=$(lines | grep -c "plane 3 (eth3)")
	echo "$n lines, at most $most"
	[ "$n" -ge 1 ] && [ "$n" -le $most ]
}
ksft_test "the log is not flooded" bounded

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
