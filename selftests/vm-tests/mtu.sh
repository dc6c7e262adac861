#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# The MTU of a plane falls under live connections.
#
#	h1, h2: mrc0 over eth1 eth2, each T0 - T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

mtu() { ip -n h1 link set "$1" mtu "$2"; }
active_mtu() {	# REPLY
	REPLY=$(ibv_devinfo -d "${MRC_IBDEV[h1]}" | sed -nE 's/.*active_mtu:\s+([0-9]+).*/\1/p')
}
active_is() { active_mtu && [ "$REPLY" = "$1" ]; }
told() { [ "$(grep -c IBV_EVENT_PORT_ACTIVE "$MRC_DIR/watch.out")" -ge "$1" ]; }
plane_is() {	# PLANE KEY VALUE
	mrcctl -n h1 -j plane show | jq -e --arg k "$2" ".[] | select(.plane == $1) | .[\$k] == $3"
}
too_long() { mrc_stat h1 tx_too_long && [ "$REPLY" -ge "$1" ]; }
too_long_at_last() {	# COUNT, or what the connection does instead
	mrc_until 60 too_long "$1" && return
	mrcctl -n h1 -j qp show
	mrcctl -n h1 -j peer show
	mrcctl -n h1 -j plane show
	mrcctl -n h1 -j stats show
	cat "$MRC_DIR/client.out"
	return 1
}
logged() { dmesg | grep -E "$1"; }
unused() { mrc_plane_unused client "$@"; }
used() { mrc_plane_used client "$@"; }

ksft_plan
mrc_begin mrcctl mrc_verify ibv_asyncwatch ibv_devinfo stdbuf
ksft_test "a fabric by hand" mrc_fabric_by_hand 2 2 2 1
mrc_start watch h1 stdbuf -oL ibv_asyncwatch -d "${MRC_IBDEV[h1]}"
ksft_test "somebody watches" mrc_until 30 grep -q 'FD' "$MRC_DIR/watch.out"
ksft_test "path MTU 4096" active_is 4096

# ------------------------------------------------------------- one of two
# shellcheck disable=SC2034
MRC_STALL=120
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over both planes" mrc_flows
ksft_test "plane 2 is too small for it" mtu eth2 2000
ksft_test "which a program is told" mrc_until 30 told 1
ksft_test "that takes 1024 for its next connection" active_is 1024
ksft_test "and the operator, in the log" \
	logged 'plane 2 \(eth2\) has MTU 2000, .*4096 need 4228.*not used'
ksft_test "and by mrcctl" plane_is 2 small true
ksft_test "with the MTU" plane_is 2 mtu 2000
ksft_test "plane 2 is left" mrc_until 60 unused 2 tx
ksft_test "by the other end, too" mrc_until 60 unused 2 rx
ksft_test "data goes on" mrc_until 60 used 1 tx
ksft_test "plane 2 is large enough again" mtu eth2 9000
ksft_test "used again" mrc_until 60 used 2 tx
ksft_test "from the other end, too" mrc_until 60 used 2 rx
ksft_test "the path MTU is 4096 again" active_is 4096
ksft_test "which is told" mrc_until 30 told 2
ksft_test "too small once more" mtu eth2 2000
ksft_test "the connection ends" kill -INT "${MRC_PID[client]}"
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "then the plane is large enough for what there is" mrc_until 60 plane_is 2 small false
ksft_test "new ones use it" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over both planes" mrc_flows 60
ksft_test "and end" kill -INT "${MRC_PID[client]}"
ksft_test "every byte arrived right" mrc_pair_wait 60
mtu eth2 9000

# ------------------------------------------------------------------- both
# WRITEs alone: with READs among them all that is left may be an answer, of which h1 sends nothing.
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over both planes" mrc_flows
mrc_stat h1 tx_too_long
before=$REPLY
mtu eth1 2000
mtu eth2 2000
ksft_test "none is large enough: what does not fit is counted" \
	too_long_at_last $((before + 1))
ksft_test "and said" logged 'full packets are dropped'
ksft_test "planes are up all the same" plane_is 1 up true
mtu eth1 9000
mtu eth2 9000
# It may have ended of that by now; others do not.
mrc_kill client
mrc_kill server
ksft_test "large enough again: the next one works" mrc_verify 60 -o mix -s 65536 -n 50
ksft_test "no plane is kept out" plane_is 1 small false
mrc_kill watch
ksft_finish
