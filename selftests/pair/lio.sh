#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lio.sh SIDE - SCSI disks over RDMA between two machines (host/lio.sh): iSER, then SRP, each verified by fio
# with a cable pulled under it.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/nvme_lib.sh"
. "$here/lio_lib.sh"

serve() {
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	ksft_plan
	ksft_test "a disk" disk
	ksft_test "for the SCSI target" backstore
	cd /
	ksft_test "offered by iSER" iser_offer
	ksft_test "offered by SRP" srp_offer
	# Side 1 has to name the target by a GUID that only side 2 knows.
	socat TCP6-LISTEN:4711,reuseaddr,fork SYSTEM:"cat /sys/module/ib_srpt/parameters/srpt_service_guid" &
	until told_to_stop; do
		mrc_sleep 0.5
	done
	ksft_test "withdrawn from SRP" srp_withdraw
	ksft_test "withdrawn from iSER" iser_withdraw
	ksft_test "nothing is left" mrc_until 60 nothing_left
	ksft_finish
}

has_regions() {
	local n
	n=$(rdma -j res show mr | jq length)
	echo "$n regions"
	[ "$n" -gt 10 ]
}

uses() {	# NAME
	ksft_test "$1: the disk is there" mrc_until 30 disk_of
	ksft_test "$1: by fast registration" has_regions
	ksft_test "$1: 4 KiB at random, verified" run_fio randrw 4k 16 8
	ksft_test "$1: 128 KiB one after the other, verified" run_fio write 128k 4 16
	ksft_test "$1: 4 KiB again, by all cables" cut_under
	ksft_test "$1: a cable is pulled" cable pull 2
	ksft_test "$1: which is seen" mrc_until 60 planes_up 3
	ksft_test "$1: the others carry it" mrc_until 60 used 3
	ksft_test "$1: it is plugged in" cable plug 2
	ksft_test "$1: all was as it was written" ended
}

client() {
	local what
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	for what in ${MRC_LIO:-iser srp}; do
		ksft_test "$what: login" connects ${what}_connect
		uses $what
		ksft_test "$what: logout" ${what}_disconnect
		ksft_test "$what: nothing is left" mrc_until 60 nothing_left
	done
	ksft_finish
}

pair_begin "$1" rdma socat
# rdma_cm asks for a route by the device itself.
address "$PEER"
ip -6 route add "$REPLY/128" dev mrc0 metric 100
case $SIDE in
1)	need_cmd iscsiadm iscsid fio
	client;;
2)	serve;;
esac
