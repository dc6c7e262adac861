# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # PEER, MRC_DIR: lib.sh's
#
# lio_lib.sh - SCSI disks over RDMA between two machines: side 2 offers the disk of nvme_lib.sh by the
# kernel's own target, over iSER (ib_isert) or SRP (ib_srpt); side 1 uses it (ib_iser, ib_srp).
# These open their connections in the initial namespace only: so two machines.

IQN=iqn.2026-11.test:mrc
TARGET=/sys/kernel/config/target
BACK=$TARGET/core/iblock_0/disk

# ---------------------------------------------------------------- the target

backstore() {
	modprobe -a target_core_mod target_core_iblock
	mkdir -p $BACK
	echo udev_path=/dev/nullb0 >$BACK/control
	echo 1 >$BACK/enable
}

lun() {	# TPG
	mkdir -p "$1/lun/lun_0"
	ln -s $BACK "$1/lun/lun_0/disk"
}

unlun() { rm "$1/lun/lun_0/disk" && rmdir "$1/lun/lun_0"; }

iser_offer() {
	local tpg=$TARGET/iscsi/$IQN/tpgt_1
	modprobe -a iscsi_target_mod ib_isert
	mkdir -p $TARGET/iscsi
	mkdir -p $tpg
	lun $tpg
	echo 0 >$tpg/attrib/authentication
	echo 1 >$tpg/attrib/generate_node_acls
	echo 0 >$tpg/attrib/demo_mode_write_protect
	address 2
	mkdir "$tpg/np/[$REPLY]:3260"
	echo 1 >"$tpg/np/[$REPLY]:3260/iser"
	echo 1 >$tpg/enable
}

iser_withdraw() {
	local tpg=$TARGET/iscsi/$IQN/tpgt_1
	echo 0 >$tpg/enable
	address 2
	rmdir "$tpg/np/[$REPLY]:3260"
	unlun $tpg
	rmdir $tpg $TARGET/iscsi/$IQN $TARGET/iscsi
	modprobe -r ib_isert iscsi_target_mod
}

# It names its port after the lower half of the GID.
srp_tpg() {
	local gid
	read -r gid </sys/class/infiniband/mrc0/ports/1/gids/0
	REPLY=$TARGET/srpt/${gid:20}/${gid:20}
}

# Without a list it admits nobody. Who comes by rdma_cm is looked up by the address that is asked for, not by the one
# that asks, and in full.
SRP_ACL=fd00:6d72:0063:0000:0000:0000:0000:0002

srp_offer() {
	local tpg
	modprobe ib_srpt
	mkdir -p $TARGET/srpt
	echo 5000 >$TARGET/srpt/discovery_auth/rdma_cm_port
	srp_tpg
	tpg=$REPLY
	mkdir -p "$tpg"
	lun "$tpg"
	mkdir "$tpg/acls/$SRP_ACL"
	mkdir "$tpg/acls/$SRP_ACL/lun_0"
	ln -s "$tpg/lun/lun_0" "$tpg/acls/$SRP_ACL/lun_0/disk"
	echo 1 >"$tpg/enable"
}

srp_withdraw() {
	local tpg
	srp_tpg
	tpg=$REPLY
	echo 0 >"$tpg/enable"
	rm "$tpg/acls/$SRP_ACL/lun_0/disk"
	rmdir "$tpg/acls/$SRP_ACL/lun_0" "$tpg/acls/$SRP_ACL"
	unlun "$tpg"
	rmdir "$tpg" "${tpg%/*}" $TARGET/srpt
	modprobe -r ib_srpt
}

# -------------------------------------------------------------- the initiator

iscsi() { iscsiadm -m node -T $IQN -p "[$REPLY]:3260" "$@"; }

iser_connect() {
	modprobe -a ib_iser sd_mod
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo InitiatorName=iqn.2026-11.test:host >/etc/iscsi/initiatorname.iscsi
	pgrep -x iscsid >/dev/null || iscsid
	address 2
	iscsi -I iser -o new && iscsi --login
}

iser_disconnect() { address 2 && iscsi --logout && iscsi -o delete; }

srp_connect() {
	local guid
	modprobe -a ib_srp sd_mod
	address 2
	guid=$(socat -u "TCP6:[$REPLY]:4711" STDOUT) || return
	guid=${guid#0x}
	echo "id_ext=$guid,ioc_guid=$guid,dest=[$REPLY]:5000,initiator_ext=0000000000000001" \
		>/sys/class/infiniband_srp/srp-mrc0-1/add_target
}

srp_disconnect() { modprobe -r ib_srp; }

# disk_of: for run_fio.
disk_of() {
	local dir
	for dir in /sys/block/sd*; do
		grep -qs LIO "$dir/device/vendor" || continue
		REPLY=/dev/${dir##*/}
		[ -b "$REPLY" ] && return
	done
	return 1
}
