#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# What a program finds that knows no name (verbs/mrc_discover.c), and where the device lies: with the PCI
# device of the first plane that has one, which may be unplugged.
#
#	mrc0 = a1 (veth), and the machine's own adapter, which has no cable, in the initial namespace

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

parent() { readlink -e /sys/class/infiniband/mrc0/device; }
parent_is() {	# PATH
	local is
	is=$(parent) || { echo "leads nowhere"; return 1; }
	echo "$is, expected $1"
	[ "$is" = "$1" ] && [ -r "$is/numa_node" ]
}
adapter() {	# sets nic and pci: the PCI device, of which virtio's is a child
	local at
	for at in /sys/class/net/*; do
		[[ $(readlink -e "$at/device") = */pci*/virtio* ]] || continue
		nic=${at##*/}
		pci=$(dirname "$(readlink -e "$at/device")")
		return 0
	done
	return 1
}
# shellcheck disable=SC2120  # by ksft_test
discovers() { mrc_discover "$@" | tee "$MRC_DIR/found"; }
found() { grep -x "$1" "$MRC_DIR/found"; }
registered() { parent >/dev/null; }
active() { grep -q ACTIVE /sys/class/infiniband/mrc0/ports/1/state; }
described() { echo "host1 mrc0" >/sys/class/infiniband/mrc0/node_desc && discovers && found 'node_desc host1 mrc0'; }

# Looks without end, and says whether it ever found a link that leads nowhere for longer than it takes to make another.
watch_link() {
	local lost=0
	while [ ! -e "$MRC_DIR/watched" ]; do
		if parent >/dev/null; then
			lost=0
		elif ((++lost > 200)); then
			echo dangling
			return 1
		fi
	done
}
bring() { mrc_until 20 adapter && ip link set "$nic" master mrc0; }
unplug() { echo 1 >"$pci/remove"; }
gone() { ! [ -e "$pci" ]; }
plug() { echo 1 >/sys/bus/pci/rescan; }

ksft_plan
mrc_begin mrc_discover
[ -d /sys/bus/pci/devices ] || ksft_skip_all "no PCI here"
modprobe virtio_net
mrc_until 20 adapter || ksft_skip_all "no PCI adapter here"
ip link add a1 type veth peer name b1
at_exit ip link del a1
ip link set b1 up
ip link add mrc0 type mrc
at_exit ip link del mrc0
ip link set a1 master mrc0
ip link set a1 up
ip link set mrc0 up
ip addr add 10.78.0.1/24 dev mrc0
ip addr add fd00:6d72:78::1/64 dev mrc0 nodad
mrc_until 20 registered
platform=/sys/devices/platform/mrc

ksft_test "a plane has no PCI device: the module's own" parent_is $platform
mrc_until 20 active
ksft_test "the first RoCE device with an active port is found" discovers 10000
ksft_test "it is ours" found 'name mrc0'
ksft_test "with a version" found 'fw_ver 1.0.0'
ksft_test "with a description" found 'node_desc mrc'
ksft_test "which the administrator may change" described

ksft_test "a plane with a PCI device" bring
ksft_test "it is where the device lies" parent_is "$pci"
ksft_test "and where a program finds it" discovers
ksft_test "it says so" found "device $pci"
ksft_test "the port leaves" ip link set "$nic" nomaster
ksft_test "the module's own again" parent_is $platform
ksft_test "it comes back" ip link set "$nic" master mrc0
ksft_test "with it the link" parent_is "$pci"
ip link add mrc9 type mrc
ksft_test "the port moves to another device" ip link set "$nic" master mrc9
ksft_test "the link does not stay behind" parent_is $platform
ip link del mrc9
ksft_test "and back" ip link set "$nic" master mrc0
ksft_test "the link, too" parent_is "$pci"

for round in 1 2 3; do
	watch_link >"$MRC_DIR/watch" &
	watcher=$!
	ksft_test "unplugged, $round" unplug
	ksft_test "the adapter is gone" mrc_until 20 gone
	ksft_test "the link leads to the module's own" parent_is $platform
	ksft_test "a program finds the device all the same" discovers
	ksft_test "plugged in again" plug
	ksft_test "a plane again" bring
	ksft_test "the link follows" parent_is "$pci"
	touch "$MRC_DIR/watched"
	ksft_test "it led somewhere all the time" wait $watcher
	rm "$MRC_DIR/watched"
done
ksft_test "device and adapter go together" ip link del mrc0
ksft_test "unplugged at last" unplug
ksft_finish
