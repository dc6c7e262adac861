#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme_cpu.sh SIDE - nvme-rdma over $MRC_KIND (nvme_kinds.sh) between two User-Mode Linuxes, for bench/nvme_cpu.sh. Each
# job runs with two lengths, whose difference is what its requests cost. MRC_CRC is a module that rdma_rxe sums by.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/nvme_lib.sh"
. "$here/nvme_kinds.sh"
. "$here/../bench/cpu/mark.sh"
trap - EXIT

# JOB: requests, short and long run; pattern, bytes, requests at a time, and of those asked for and collected at once.
# By one, the machine is idle in between, since what fio does costs User-Mode Linux more than a request; by eight, it is not.
JOBS='randread-4k:1000:21000:randread:4096:16:1
randwrite-4k:1000:21000:randwrite:4096:16:1
randread-4k-by8:1000:31000:randread:4096:16:8
randwrite-4k-by8:1000:31000:randwrite:4096:16:8
read-128k:200:3200:read:131072:4:1
write-128k:200:3200:write:131072:4:1'

requests() {	# N PATTERN BYTES DEPTH AT_ONCE
	fio --name=disk --filename="$disk" --direct=1 --ioengine=libaio --rw="$2" --bs="$3" --iodepth="$4" \
		--iodepth_batch_submit="$5" --iodepth_batch_complete_min="$5" \
		--size=48m --io_size=$(($1 * $3)) --output-format=terse >/dev/null
}

client() {
	local job short long rw bytes depth at_once n disk
	modprobe nvme-rdma
	connects connect && mrc_until 30 disk_of
	disk=$REPLY
	cp /proc/kallsyms "$VMOUT/kallsyms"
	while IFS=: read -r job short long rw bytes depth at_once; do
		for n in $short $long; do
			mark begin "$job" "$n"
			requests "$n" "$rw" "$bytes" "$depth" "$at_once"
			mark end "$job" "$n"
		done
	done <<<"$JOBS"
	nvme disconnect -n "$NQN" >/dev/null
}

serve() {
	offer
	cp /proc/kallsyms "$VMOUT/kallsyms"
	mrc_until 900 told_to_stop
}

SIDE=$1
# shellcheck disable=SC2034	# lib.sh's
PEER=$((3 - SIDE))
need_root
need_cmd rdma fio nvme socat jq
bare
insmod "$MRC_CRC" || echo "no clmul CRC here: the library's tables for all"
kind_up "$MRC_KIND"
case $SIDE in
1)	client;;
2)	serve;;
esac
