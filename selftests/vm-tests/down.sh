#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 360
# kernels: full
#
# A device set down by its administrator says and hears nothing; its QPs go on when it is up.
#
#	h1, h2: mrc0 over eth1 eth2, each T0 - T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

port_state() { grep -q "$1" "/sys/class/infiniband/${MRC_IBDEV[h1]}/ports/1/state"; }
told() { [ "$(grep -c "$1" "$MRC_DIR/watch.out")" -ge "$2" ]; }
at_least() { mrc_stat h1 "$1" && echo "$1 $REPLY" && [ "$REPLY" -ge "$2" ]; }
# Packets h1 has sent and taken; "to" of h2's data arrives while it is down.
carried() {
	mrc_stat h1 tx_pkts
	local tx=$REPLY
	mrc_stat h1 rx_pkts
	REPLY="$tx $REPLY"
}
up_planes() { mrcctl -n h1 -j plane show | jq '[.[] | select(.up)] | length'; }

ksft_plan
mrc_begin mrcctl mrc_verify ibv_asyncwatch stdbuf
ksft_test "a fabric by hand" mrc_fabric_by_hand 2 2 2 1

# ----------------------------------------------------------- what cannot be
ksft_test "a link of a device that is made" refused "ip link set eth1 master mrc5" -- \
	ip -n h1 link add link eth1 name mrc5 type mrc
ksft_test "a VLAN on a device" refused VLAN -- \
	ip -n h1 link add link mrc0 name mrc0.5 type vlan id 5

# ------------------------------------------------------------------- down
# IPv6 addresses leave a netdev that is down, unless told otherwise; IPv4 ones stay.
fabric__sysctl h1 'echo 1 >mrc0/keep_addr_on_down'
mrc_start watch h1 stdbuf -oL ibv_asyncwatch -d "${MRC_IBDEV[h1]}"
ksft_test "somebody watches" mrc_until 30 grep -q 'FD' "$MRC_DIR/watch.out"
# shellcheck disable=SC2034
MRC_STALL=200
retries() { mrcctl -n h1 dev set mrc0 exp-cnt "$1" && mrcctl -n h2 dev set mrc0 exp-cnt "$1"; }
ksft_test "connections that never give up, however slow this machine is" retries 25
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "set down" ip -n h1 link set mrc0 down
ksft_test "the port is down" port_state DOWN
ksft_test "which is told" mrc_until 30 told IBV_EVENT_PORT_ERR 1
ksft_equal "no plane is up" 0 "$(up_planes)"
# It may have nothing to send just now; a plane that it loses is announced until answered.
mrcctl -n h2 plane set dev mrc0 plane 1 admin off
ksft_test "the peer's packets come, and are not heard" mrc_until 60 at_least rx_down 1
mrcctl -n h2 plane set dev mrc0 plane 1 admin on
carried
before=$REPLY
mrc_sleep 0.5
carried
ksft_equal "nothing is sent or taken" "$before" "$REPLY"
ksft_test "the connection is there" mrc_alive client
ksft_test "set up" ip -n h1 link set mrc0 up
ksft_test "the port is up" mrc_until 30 port_state ACTIVE
ksft_test "which is told, too" mrc_until 30 told IBV_EVENT_PORT_ACTIVE 1
ksft_equal "all planes are up" 2 "$(up_planes)"
ksft_test "data flows again" mrc_flows 120
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "and such as do" retries 0

# For longer than the retries last: error, in time, and the next connection works.
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "set down" ip -n h1 link set mrc0 down
ksft_test "for long: the connection fails" mrc_fails client 100
mrc_kill server
ksft_test "set up" ip -n h1 link set mrc0 up
ksft_test "ready" mrc_wait_devices
ksft_test "a new one works" mrc_verify 60 -o mix -s 65536 -n 50
mrc_kill watch

# ------------------------------------------------------- to the host itself
# Over lo, which has nothing to do with planes.
ksft_test "to itself" mrc_to_itself v4 -n 100
ksft_test "works" mrc_pair_wait 60
ksft_test "to itself, for ever" mrc_to_itself v4 -n 100000000
moves() { carried; local was=$REPLY; mrc_sleep 0.2; carried; [ "$was" != "$REPLY" ]; }
ksft_test "works" mrc_until 30 moves
ip -n h1 link set mrc0 down
# The one that has just sent hears of it, the other one waits for what never comes.
one_ended() { mrc__ended client || mrc__ended server; }
ksft_test "down: it ends, too" mrc_until 100 one_ended
mrc_kill client
mrc_kill server
ksft_test "deleted while it is down" ip -n h1 link del mrc0
ksft_finish
