#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh SIDE - what one of two machines does (host/pair.sh): as a user would, with what README.md
# says under "On a real host"; no namespaces. Side 1 is the client and says what it found, as TAP.
#
#	SIDE 1: mrc0 = cable1 ... cable4 ==== cable1 ... cable4 = mrc0 :SIDE 2
#
# Files in $VMOUT tell the one who holds the cables: "pull N", "plug N" are answered "done".

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/mrc.sh"

SIDE=$1
PEER=$((3 - SIDE))
CABLES=4

address() { REPLY=fd00:6d72:63::$1; }

# The adapters of the cables have the addresses that runvm -w gave them.
rename() {
	local dev mac i
	for dev in /sys/class/net/*; do
		mac=$(cat "$dev/address")
		[[ $mac = 52:54:00:4d:0$SIDE:0* ]] || continue
		i=${mac##*:}
		ip link set "${dev##*/}" name "cable$((10#$i))"
	done
}

up() {
	local i
	ip link add mrc0 type mrc
	for ((i = 1; i <= CABLES; i++)); do
		ip link set cable$i mtu 9000
		ip link set cable$i master mrc0
		ip link set cable$i up
		ip addr add fe80::$SIDE/64 dev cable$i nodad
	done
	address "$SIDE"
	ip addr add "$REPLY/64" dev mrc0 nodad
	ip addr add 10.77.0.$SIDE/24 dev mrc0	# perftest's own TCP knows IPv4 only
	ip link set mrc0 up
	# No SRv6 between two machines: a route to the other by each port.
	address "$PEER"
	for ((i = 1; i <= CABLES; i++)); do
		ip -6 route add "$REPLY/128" via fe80::$PEER dev cable$i metric $((2000 + i))
		ip route add 10.77.0.$PEER/32 via inet6 fe80::$PEER dev cable$i metric $((2000 + i))
	done
}

device() { [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]; }
cable() {	# pull|plug NUMBER
	rm -f "$VMOUT/done"
	echo "$1 $2" >"$VMOUT/cable"
	mrc_until 60 test -e "$VMOUT/done"
}
planes_up() {	# COUNT
	local n
	n=$(mrcctl -j plane show | jq 'map(select(.up)) | length')
	echo "$n planes are up, expected $1"
	[ "$n" = "$1" ]
}
used() {	# PLANE: more packets since the last time
	local now was=${sent[$1]:-0}
	now=$(mrcctl -j plane show | jq ".[] | select(.plane == $1) | .tx_pkts")
	sent[$1]=$now
	[ "$now" -gt $((was + 50)) ]
}
all_used() {
	local i
	for ((i = 1; i <= CABLES; i++)); do
		mrc_until 60 used $i || return
	done
}
# shellcheck disable=SC2120  # by connects
write_bw() {
	local index
	for index in {0..15}; do
		! grep -q ^fd00: "/sys/class/infiniband/mrc0/ports/1/gids/$index" || break
	done
	ib_write_bw -F -d mrc0 -x "$index" -p 18516 -s 65536 -n 200 "$@"
}
verify() { command mrc_verify -e -T 120 -d mrc0 "$@"; }

# ---------------------------------------------------------------- the sides

serve() {
	ksft_plan
	while [ ! -e "$VMOUT/stop" ]; do
		verify -p 18515 || :
	done &
	while [ ! -e "$VMOUT/stop" ]; do
		write_bw || :
	done &
	until [ -e "$VMOUT/stop" ]; do
		mrc_sleep 0.5
	done
	pkill -x 'mrc_verify|ib_write_bw' || :
	wait
	ksft_pass "told to stop"
	ksft_finish
}

# connects PORT PROGRAM...: there it listens again only after the client before.
connects() {
	local i
	for i in {1..30}; do
		"$@" && return
		mrc_sleep 1
	done
	return 1
}

client() {
	declare -gA sent=()
	address "$PEER"
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	ksft_test "ordinary IP reaches the other" mrc_until 60 ping -c 1 -W 2 "$REPLY"
	ksft_test "every byte arrives right" connects verify -p 18515 -o mix -s 65536 -n 200 "$REPLY"
	ksft_test "by all cables" all_used
	ksft_test "ib_write_bw" connects write_bw 10.77.0.$PEER
	connects verify -p 18515 -o mix -s 65536 -t 600 -u 19 "$REPLY" >"$VMOUT/client.out" 2>&1 &
	ksft_test "a connection" all_used
	ksft_test "a cable is pulled" cable pull 2
	ksft_test "which is seen" mrc_until 60 planes_up 3
	ksft_test "the others carry it" mrc_until 60 used 3
	ksft_test "it is plugged in" cable plug 2
	ksft_test "which is seen" mrc_until 60 planes_up 4
	ksft_test "it is used again" mrc_until 120 used 2
	pkill -INT -x mrc_verify
	ksft_test "every byte arrived right" mrc_until 60 grep PASS "$VMOUT/client.out"
	sed 's/^/# /' "$VMOUT/client.out"
	ksft_finish
}

mrc_begin mrcctl mrc_verify ib_write_bw ping
modprobe virtio_net
rename
up
mrc_until 60 device
case $SIDE in
1) client;;
2) serve;;
esac
