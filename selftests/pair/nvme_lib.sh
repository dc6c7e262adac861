# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # here: the script's own folder
#
# nvme_lib.sh - NVMe over RDMA between two machines: side 2 has a disk in its memory and offers it
# (nvmet-rdma), side 1 uses it (nvme-rdma). Both open their connections in the initial namespace
# only: so two machines.
#
#	. "$here/lib.sh"
#	. "$here/nvme_lib.sh"

NQN=nqn.2026-11.test:mrc
DISK_MB=64

# ---------------------------------------------------------------- the target

disk() {
	local nullb=/sys/kernel/config/nullb/nullb0	# its name on 6.12
	modprobe null_blk nr_devices=0
	mkdir $nullb
	echo $DISK_MB >$nullb/size
	echo 1 >$nullb/memory_backed
	echo 1 >$nullb/power
	mrc_until 10 test -b /dev/nullb0
}

offer() {
	local nvmet=/sys/kernel/config/nvmet
	modprobe nvmet-rdma
	mkdir $nvmet/subsystems/$NQN
	echo 1 >$nvmet/subsystems/$NQN/attr_allow_any_host
	mkdir $nvmet/subsystems/$NQN/namespaces/1
	echo /dev/nullb0 >$nvmet/subsystems/$NQN/namespaces/1/device_path
	echo 1 >$nvmet/subsystems/$NQN/namespaces/1/enable
	mkdir $nvmet/ports/1
	address 2
	echo ipv6 >$nvmet/ports/1/addr_adrfam
	echo rdma >$nvmet/ports/1/addr_trtype
	echo "$REPLY" >$nvmet/ports/1/addr_traddr
	echo 4420 >$nvmet/ports/1/addr_trsvcid
	ln -s $nvmet/subsystems/$NQN $nvmet/ports/1/subsystems/$NQN
}

withdraw() {
	local nvmet=/sys/kernel/config/nvmet
	rm $nvmet/ports/1/subsystems/$NQN
	rmdir $nvmet/ports/1 $nvmet/subsystems/$NQN/namespaces/1 $nvmet/subsystems/$NQN
	modprobe -r nvmet-rdma
}

# -------------------------------------------------------------- the initiator

connect() {
	address 2
	nvme connect -t rdma -a "$REPLY" -s 4420 -n $NQN -q nqn.2026-11.test:host -i 2
}
disk_of() {
	local dir
	for dir in /sys/class/nvme-subsystem/*/nvme*n*; do
		[ -e "$dir" ] || continue
		REPLY=/dev/${dir##*/}
		[ -b "$REPLY" ] && return
	done
	return 1
}
run_fio() {	# RW BLOCKSIZE DEPTH MB MORE...
	local rw=$1 bs=$2 depth=$3 mb=$4
	shift 4
	disk_of
	fio --name=disk --filename="$REPLY" --direct=1 --ioengine=libaio --rw="$rw" --bs="$bs" \
		--iodepth="$depth" --size="${mb}m" --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--output-format=terse "$@" || return
}
# cut_under: fio goes on, again and again, until it is asked how it ended.
cut_under() {
	rm -f "$MRC_DIR/enough"
	run_until_enough >"$VMOUT/fio.out" 2>&1 &
	FIO=$!
	all_used
}
run_until_enough() {
	until [ -e "$MRC_DIR/enough" ]; do
		run_fio randwrite 4k 16 12 --loops=3 || return
	done
}
ended() {
	local rc=0
	touch "$MRC_DIR/enough"
	wait $FIO || rc=$?
	tail -n 3 "$VMOUT/fio.out"
	return $rc
}
disconnect() { nvme disconnect -n $NQN && mrc_until 60 nothing_left; }

# Completion queues of the kernel's pool stay with the device until it goes.
nothing_left() {
	rdma -j res show | jq -e '[.[] | select(.ifname | startswith("mrc")) | .qp + .mr + .pd - 2] | add == 0' ||
		{ rdma res show; return 1; }
}
