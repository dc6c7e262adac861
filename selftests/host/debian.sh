#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 7200
# kernels: full
#
# A user's host, Debian 12 and 13. In a root file system: apt and DKMS install packages, upgrades fail and go on. Then
# in a virtual machine, three boots: a unit makes the device, an upgrade under traffic, Secure Boot, purge; what
# happens there is debian/guest.sh.
#
#   debian.sh [SUITE...]

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
need_cmd debootstrap unshare chroot mke2fs qemu-system-x86_64
[ "$(id -u)" -eq 0 ] || ksft_skip_all "needs root"
distro=$here/../vm/distro.sh
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/mrc-debian.XXXXXX")
at_exit rm -rf "$tmp"
version=$(sed -n 's/^MRC_VERSION := //p' "$MRC_TOP/kernel/version.mk")
next=${version%.*}.$((${version##*.} + 1))
root=$tmp/root

in_root() { "$distro" in "$root" "$@"; }
# The packages that the page on installing names.
apt() { in_root sh -c "apt-get -qq install -y $2 /$1/mrc*.deb /$1/libmrc1_*.deb /$1/ibverbs-provider-mrc_*.deb"; }
# The module that modprobe would take.
module() { in_root modinfo -k "$kernel" -F "$1" mrc; }
is() { [ "$(module version)" = "$1" ]; }
# sentence TEXT COMMAND...: it fails, and mrc-dkms says this.
sentence() {
	local text=$1 said
	shift
	said=$("$@" 2>&1) && return 1
	echo "$said" | tail -n 30
	grep '^mrc-dkms: ' <<<"$said" | grep -qF -- "$text"
}
# full COMMAND...: with 20 MB for DKMS.
full() {
	# shellcheck disable=SC2016
	in_root sh -c '
		mount -t tmpfs -o size=20m none /mnt && cp -a /var/lib/dkms/. /mnt/ && mount --bind /mnt /var/lib/dkms || exit
		"$@"
		status=$?
		umount /var/lib/dkms
		rm -rf /var/lib/dkms/*
		cp -a /mnt/. /var/lib/dkms/
		exit $status' sh "$@"
}
configure() { in_root dpkg --configure -a && [ -z "$(in_root dpkg --audit)" ]; }

copy() {
	local suite=$1
	"$distro" debs "$suite" "$tmp/debs/old" && "$distro" debs "$suite" "$tmp/debs/new" -v "$next" &&
		cp -a --reflink=auto "$("$distro" root "$suite")" "$root" && cp -a "$tmp"/debs/* "$root/" || return
	rm -f "$root"/{old,new}/*-dbgsym_*
	kernel=$(basename "$root"/lib/modules/*)
}

# What DKMS has built, unpacked.
built() {
	cp "$root/var/lib/dkms/mrc/$next/$kernel"/*/module/mrc.ko* "$root/root/" || return
	[ ! -e "$root/root/mrc.ko.xz" ] || in_root unxz /root/mrc.ko.xz
}

packages() {
	local headers
	ksft_test "$suite: apt installs them" apt old ''
	ksft_test "$suite: DKMS has built $version" is "$version"
	ksft_equal "$suite: signed by its key" "DKMS module signing key" "$(module signer)"

	ksft_test "$suite: an upgrade on a full disk" sentence "MB are free in /var/lib/dkms" \
		full sh -c 'apt-get -qq install -y /new/mrc*.deb /new/libmrc1_*.deb /new/ibverbs-provider-mrc_*.deb'
	ksft_test "$suite: the module of the old version stays" is "$version"
	ksft_test "$suite: with room it is configured" configure
	ksft_test "$suite: the new module is there" is "$next"
	ksft_test "$suite: it is kept for the machine" built

	headers=$root$(in_root readlink -f "/lib/modules/$kernel/build")/include/generated/utsrelease.h
	cp "$headers" "$tmp/release"
	echo '#define UTS_RELEASE "6.1.0-1-other"' >"$headers"
	ksft_test "$suite: headers of another kernel" sentence "are those of 6.1.0-1-other" \
		in_root sh -c 'apt-get -qq install -y --reinstall /new/mrc-dkms*.deb'
	ksft_test "$suite: the module stays" is "$next"
	cp "$tmp/release" "$headers"
	ksft_test "$suite: with the right headers it is configured" configure

	ksft_test "$suite: unpacked, then interrupted" in_root sh -c 'dpkg --unpack /new/mrc-dkms*.deb && dpkg --audit | grep mrc-dkms'
	ksft_test "$suite: is configured later" configure
	ksft_test "$suite: and the module is there" is "$next"
	ksft_test "$suite: back to the old version" apt old --allow-downgrades
	ksft_test "$suite: and its module" is "$version"
	ksft_test "$suite: nothing is kept of failures" sh -c "! ls -d '$root'/lib/modules/*/updates/mrc-kept '$root/var/lib/mrc-dkms'"
}

unit() {	# NAME TYPE OUTPUT: of a script in /root, at each boot
	cat >"$root/etc/systemd/system/mrc-$1.service" <<-END
		[Unit]
		After=network.target
		[Service]
		Type=$2
		RemainAfterExit=yes
		ExecStart=/root/$1.sh
		StandardOutput=$3
		StandardError=inherit
		[Install]
		WantedBy=multi-user.target
	END
	ln -s "../mrc-$1.service" "$root/etc/systemd/system/multi-user.target.wants/"
}

# What its user sets up. To compile under emulation takes an hour: DKMS there does all but that, and has the module
# that it built here.
disk() {
	in_root sh -euc 'systemctl enable systemd-networkd mrc-device@eth0; apt-get clean' || return
	echo 'MAKE[0]="cp /root/mrc.ko kernel/mrc.ko"' >"$root/etc/dkms/mrc.conf"
	cp "$here"/../debian/{guest,lab}.sh "$MRC_TOP/build/verbs/mrc_verify" "$root/root/"
	echo "$version" >"$root/root/old.version"
	echo "$next" >"$root/root/new.version"
	echo host >"$root/etc/hostname"
	printf '[Match]\nName=eth0\n[Link]\nMTUBytes=9000\n[Network]\nAddress=10.9.0.1/24\n' >"$root/etc/systemd/network/eth0.network"
	unit lab oneshot journal
	unit guest exec file:/dev/ttyS1
	cp "$root/boot/vmlinuz-$kernel" "$root/boot/initrd.img-$kernel" "$tmp/"
	mke2fs -q -t ext4 -d "$root" "$tmp/disk" 6G
}

# Until it powers off; a reboot resets it. One processor, for QEMU's sake: "Side by side" in Documentation/developer/machines.md.
# eth0 and eth1 are the ends of one cable.
machine() {
	timeout --foreground 6000 qemu-system-x86_64 -accel tcg -cpu "max,la57=off,-erms,-pclmulqdq,-aes" -machine q35 -m 2048 \
		-nodefaults -no-user-config -display none -kernel "$tmp/vmlinuz-$kernel" -initrd "$tmp/initrd.img-$kernel" \
		-append "root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off nowatchdog tsc=unstable clocksource=hpet no_timer_check \
			clearcpuid=rep_good rcupdate.rcu_expedited=1 rcupdate.rcu_cpu_stall_timeout=120 panic=-1 \
			systemd.default_timeout_start_sec=infinity" \
		-drive "file=$tmp/disk,if=virtio,format=raw,cache=unsafe" -device virtio-rng-pci \
		-netdev hubport,hubid=0,id=a -device virtio-net-pci,netdev=a,romfile=,host_mtu=9000 \
		-netdev hubport,hubid=0,id=b -device virtio-net-pci,netdev=b,romfile=,host_mtu=9000 \
		-serial "file:$tmp/console" -serial "file:$tmp/said" </dev/null
}

boots() {
	ksft_test "$suite: it has a disk" disk
	rm -rf "$root"
	ksft_test "$suite: it boots and powers off" machine
	ksft_relay < <(tr -d '\r' <"$tmp/said" | sed -E "s/^((not )?ok [0-9]+ )/\1$suite: /")
	ksft_test "$suite: three boots came to their end" grep -q '^end 3' "$tmp/said"
	ksft_test "$suite: the kernel has no complaint" sh -c "! grep -aE 'BUG:|WARNING:|Oops|Call Trace' '$tmp/console'"
}

make -s -C "$MRC_TOP/selftests/verbs" >/dev/null
[ $# -gt 0 ] || set -- bookworm trixie
for suite; do
	kernel=
	rm -rf "$root" "$tmp"/{debs,disk,said,console}
	ksft_test "$suite: a host and packages of two versions" copy "$suite"
	[ -n "$kernel" ] || continue
	packages
	boots
done
ksft_finish
