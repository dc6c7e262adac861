#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme.sh SIDE - NVMe over RDMA between two machines (host/nvme.sh): nvme-rdma uses the disk that
# nvmet-rdma offers, and fio verifies it, with a cable pulled under it.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/nvme_lib.sh"

serve() {
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	ksft_plan
	ksft_test "a disk" disk
	cd /
	ksft_test "is offered" offer
	until told_to_stop; do
		mrc_sleep 0.5
	done
	ksft_test "is withdrawn" withdraw
	ksft_test "nothing is left" mrc_until 60 nothing_left
	ksft_test "the module goes" gone
	ksft_finish
}

# Each QP of the connection has its regions.
has_regions() {
	local n
	n=$(rdma -j res show mr | jq length)
	echo "$n regions"
	[ "$n" -gt 100 ]
}
# What one wrote another finds, not in this host's memory.
compare() {
	local sum
	disk_of
	head -c 16M /dev/urandom >"$MRC_DIR/data"
	dd if="$MRC_DIR/data" of="$REPLY" bs=128k oflag=direct status=none || return
	echo 3 >/proc/sys/vm/drop_caches
	sum=$(dd if="$REPLY" bs=64k count=256 iflag=direct status=none | sha256sum)
	[ "$sum" = "$(sha256sum <"$MRC_DIR/data")" ]
}
gone() {
	modprobe -r nvme-rdma 2>/dev/null || :
	ip link del mrc0 && mrc_until 60 mrc_no_devices && rmmod mrc
}

client() {
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	modprobe nvme-rdma
	ksft_test "connect" connects connect
	ksft_test "the disk is there" mrc_until 30 disk_of
	ksft_test "by fast registration" has_regions
	ksft_test "4 KiB at random, verified" run_fio randrw 4k 16 16
	ksft_test "128 KiB one after the other, verified" run_fio write 128k 4 32
	ksft_test "what is written is read" compare
	ksft_test "4 KiB again, by all cables" cut_under
	ksft_test "a cable is pulled" cable pull 2
	ksft_test "which is seen" mrc_until 60 planes_up 3
	ksft_test "the others carry it" mrc_until 60 used 3
	ksft_test "it is plugged in" cable plug 2
	ksft_test "it is used again" mrc_until 120 used 2
	ksft_test "all was as it was written" ended
	ksft_test "disconnect" disconnect
	ksft_test "the module goes" gone
	ksft_finish
}

pair_begin "$1" rdma
# rdma_cm asks for a route by the device itself.
address "$PEER"
ip -6 route add "$REPLY/128" dev mrc0 metric 100
case $SIDE in
1)	need_cmd nvme fio
	client;;
2)	serve;;
esac
