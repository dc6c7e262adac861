# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # SIDE, PEER: the script's own
#
# nvme_kinds.sh - what NVMe is compared over: rxe and mrc1 by one cable, mrc4 by four, as planes. KIND_up, KIND_down; and
# what both sides begin with, and how they wait for each other.
#
#	. "$here/nvme_lib.sh"
#	. "$here/nvme_kinds.sh"

# The cables' adapters have drivers. Files of RDMA, one cable that is nobody's, and the disk.
bare() {
	mkdir -p "$MRC_DIR"
	[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
	mrc_setup_plugin
	modprobe -a configfs ib_uverbs
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	rename
	ip link set cable1 mtu 9000 up
	ip addr add fe80::$SIDE/64 dev cable1 nodad
	[ "$SIDE" = 1 ] || disk
}

kind_up() {
	"$1_up"
	mrc_until 60 grep -q ACTIVE /sys/class/infiniband/*/ports/1/state
}

# The modules cannot be loaded at once: both want UDP port 4791.
rxe_up() {
	address "$SIDE"
	ip addr add "$REPLY/64" dev cable1 nodad
	modprobe rdma_rxe
	rdma link add rxe0 type rxe netdev cable1
}
rxe_down() {
	rdma link delete rxe0
	address "$SIDE"
	ip addr del "$REPLY/64" dev cable1
	wait_until 20 rmmod rdma_rxe
}
mrc_up() {	# CABLES
	# shellcheck disable=SC2034	# up's
	CABLES=$1
	load_mrc
	up
	address "$PEER"
	ip -6 route replace "$REPLY/128" dev mrc0 metric 100
}
mrc_down() { ip link del mrc0 && mrc_until 60 mrc_no_devices && wait_until 20 rmmod mrc; }
mrc1_up() { mrc_up 1; }
mrc4_up() { mrc_up 4; }
mrc1_down() { mrc_down; }
mrc4_down() { mrc_down; }

# Both sides are as far. By the bare cable, which all of them leave as it is.
meet() {
	case $SIDE in
	1)	until socat -u OPEN:/dev/null "TCP6:[fe80::2%cable1]:4700" 2>/dev/null; do mrc_sleep 0.5; done;;
	2)	socat -u TCP6-LISTEN:4700,reuseaddr OPEN:/dev/null;;
	esac
}
