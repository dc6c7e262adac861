# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# flat.sh - two hosts, each with a device of two planes that are direct cables: EV formats UDP and STEV.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/flat.sh"

# mrc_flat [alone]: cables only; each plane leads to the other host's addresses. "alone": only h1 has a
# device, and h2 is a host with two interfaces, whose programs may send and receive themselves.
mrc_flat() {
	local i p REPLY alone=${1:-}
	mrc_clear || return
	mkdir -p "$FABRIC_DIR"
	printf 'h1\nh2\n' >"$FABRIC_DIR/nodes"
	echo "2 2 1 1" >"$FABRIC_DIR/size"
	fabric_load
	sed 's/^/netns add /' "$FABRIC_DIR/nodes" | ip -b - || return
	for i in 1 2; do
		fabric__no_dad h$i
	done
	{
		fabric__cable h1 eth1 h2 eth1
		fabric__cable h1 eth2 h2 eth2
	} | ip -b - || return
	mrc__flat_host 1 2 | ip -n h1 -b - || return
	mrc__flat_host 2 1 "$alone" | ip -n h2 -b - || return
	if [ "$alone" ]; then
		mrc_until 20 mrc_gid_index h1 v6 && mrc_until 20 mrc_gid_index h1 v4
	else
		mrc_wait_devices
	fi
}

mrc__flat_host() {	# HOST OTHER [alone]
	local p REPLY dev=mrc0
	echo "link set lo up"
	if [ "${3:-}" ]; then
		dev=lo
	else
		echo "link add mrc0 type mrc"
	fi
	for p in 1 2; do
		echo "link set eth$p up"
		[ "${3:-}" ] || echo "link set eth$p master mrc0"
		echo "address add fe80::$1/64 dev eth$p nodad"
		echo "address add 192.168.$p.$1/24 dev eth$p"
	done
	fabric_host_addr "$1"
	echo "address add $REPLY/64 dev $dev nodad"
	echo "address add 10.77.0.$1/24 dev $dev"
	echo "link set $dev up"
	fabric_host_addr "$2"
	for p in 1 2; do
		echo "route add $REPLY/128 via fe80::$2 dev eth$p metric $((1000 + p))"
		echo "route add 10.77.0.$2/32 via 192.168.$p.$2 dev eth$p metric $((1000 + p))"
	done
}
