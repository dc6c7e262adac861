# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # here: the script's own folder
#
# lib.sh - what the guests of two machines have in common (machines.sh): as a user would, with what
# Documentation/guide/devices.md says under "Planes by hand"; no namespaces.
#
#	. "$here/lib.sh"
#	pair_begin SIDE PROGRAM...	# and then: client or serve
#
#	SIDE 1: mrc0 = cable1 ... cable4 ==== cable1 ... cable4 = mrc0 :SIDE 2
#
# Files in $VMOUT tell the one who holds the cables: "pull N", "plug N", "sleep SIDE SECONDS" are
# answered "done".

. "$here/../lib/lib.sh"
. "$here/../lib/mrc.sh"

CABLES=4
declare -gA sent=()

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
		ip addr replace fe80::$SIDE/64 dev cable$i nodad
	done
	address "$SIDE"
	ip addr add "$REPLY/64" dev mrc0 nodad
	ip addr add 10.77.0.$SIDE/24 dev mrc0	# perftest's own TCP knows IPv4 only
	ip link set mrc0 up
	# No SRv6 between two machines: a route to the other by each port.
	address "$PEER"
	for ((i = 1; i <= CABLES; i++)); do
		ip -6 route replace "$REPLY/128" via fe80::$PEER dev cable$i metric $((2000 + i))
		ip route replace 10.77.0.$PEER/32 via inet6 fe80::$PEER dev cable$i metric $((2000 + i))
	done
}

device() { [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]; }
cable() {	# pull|plug NUMBER, or sleep SIDE SECONDS
	rm -f "$VMOUT/done"
	echo "$*" >"$VMOUT/cable"
	mrc_until 60 test -e "$VMOUT/done" && mark
}
planes_up() {	# COUNT
	local n
	n=$(mrcctl -j plane show | jq 'map(select(.up)) | length')
	echo "$n planes are up, expected $1"
	[ "$n" = "$1" ]
}
tx_pkts() { mrcctl -j plane show | jq ".[] | select(.plane == $1) | .tx_pkts"; }	# PLANE
# mark: from here on, or from what was last done to a cable, used counts.
mark() {
	local i
	for ((i = 1; i <= CABLES; i++)); do
		sent[$i]=$(tx_pkts $i)
	done
}
used() {	# PLANE: packets since mark
	local now
	now=$(tx_pkts "$1")
	[ "$now" -gt $((sent[$1] + 50)) ]
}
each_used() {
	local i
	for ((i = 1; i <= CABLES; i++)); do
		mrc_until 60 used $i || return
	done
}
all_used() { mark && each_used; }	# from now on
# connects PORT PROGRAM...: there it listens again only after the client before.
connects() {
	local i
	for i in {1..30}; do
		"$@" && return
		mrc_sleep 1
	done
	return 1
}

told_to_stop() { [ -e "$VMOUT/stop" ]; }

pair_begin() {
	SIDE=$1
	PEER=$((3 - SIDE))
	shift
	mrc_begin mrcctl ping "$@"
	modprobe virtio_net
	rename
	up
	mrc_until 60 device
}
