#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
# kernels: new
#
# What carries no RoCE frames is no plane: it is refused, and the reason said, by both commands.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

NO_FRAMES="x0 carries no Ethernet frames"

# enslave WORDS: x0 is refused as a port of mrc0, with these words.
enslave() {
	local said
	said=$(ip link set x0 master mrc0 2>&1) && { echo "taken"; return 1; }
	echo "$said"
	[[ $said = *"$1"* ]]
}
# alone NETDEV WORDS: it is refused by rdma link add; ib_core has no room for the reason, so the log has it.
alone() {
	rdma link add try type mrc netdev "$1" && { echo "taken"; return 1; }
	dmesg | grep -F "$1: cannot be a plane" | tee /dev/stderr | grep -qF "$2"
}
# refused KIND ARG...: a netdev x0 of that kind, if this kernel has it.
refused() {
	if ! ip link add x0 type "$@" 2>/dev/null; then
		ksft_skip "$1" "no such netdev here"
		return
	fi
	ksft_test "$1 is no port" enslave "$NO_FRAMES"
	ksft_test "$1 is no plane alone" alone x0 "$NO_FRAMES"
	ip link del x0
}

ksft_plan
mrc_begin
ksft_test "a device" ip link add mrc0 type mrc
ksft_test "lo is no plane alone" alone lo "lo is a loopback device"
refused vrf table 10
refused sit local 127.0.0.1
refused gre local 127.0.0.1 remote 127.0.0.2
refused wireguard
modprobe tun || :
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
ip tuntap add x0 mode tun
ksft_test "tun is no port" enslave "$NO_FRAMES"
ip link del x0
ip tuntap add x0 mode tap
ksft_test "tap is one" ip link set x0 master mrc0
ip link del x0
ip link del mrc0
ksft_finish
