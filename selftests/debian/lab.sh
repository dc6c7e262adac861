#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lab.sh - at boot: the far end of the cable of eth0 is eth1, which moves to a neighbour, a network namespace.
# The device on eth0 is mrc-device@eth0's.

set -e
ip netns add peer
ip -n peer link set lo up
ip link set eth1 netns peer
ip -n peer address add 10.9.0.2/24 dev eth1
ip -n peer link set eth1 mtu 9000 up
ip netns exec peer rdma link add mrc2 type mrc netdev eth1
