#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 400
#
# A host that boots: systemd, udev and systemd-networkd beside mrcd, with what "make install" puts where. Planes that come late
# hold nothing up, networkd leaves them alone, devices of "rdma link add" come back; NetworkManager, if vm/netmgr.sh got it.
#
#	the machine (alpha) eth1, eth2 ==== eth1, eth2 (beta) h2	[flat]
#	                    eth3, eth9 ==== eth3, eth9

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

cable() { ip link add "$1" type veth peer name "$1" netns h2 && ip -n h2 link set "$1" up; }
cables() {
	local i
	mrc_nodes h2 || return
	for i in eth1 eth3 eth9; do
		cable $i || return
	done
	at_exit ip link del mrc0
}
# What is this machine's alone: its root is thrown away.
settings() {
	local unit
	make -s -C "$MRC_TOP/daemon" install || return
	mkdir -p /etc/mrc
	cp /usr/share/doc/mrc/examples/two-hosts.toml /etc/mrc/fabric.toml
	echo alpha >/etc/hostname
	hostname alpha
	: >/etc/fstab
	rm -f /etc/systemd/network/*
	cat >/etc/systemd/network/50-all.network <<-END
		[Match]
		Name=eth* mrc*
		[Network]
		Address=192.0.2.1/24
	END
	rm -rf /etc/systemd/system/*.wants
	# They walk through file systems, which is slow here, and are about nothing of ours.
	for unit in tmpfiles-setup tmpfiles-setup-dev tmpfiles-clean journal-flush sysusers random-seed update-utmp; do
		ln -sf /dev/null /etc/systemd/system/systemd-$unit.service
	done
	cat >/etc/systemd/system/login.service <<-END
		[Unit]
		After=network.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/true
	END
	cat >/etc/systemd/system/this.target <<-END
		[Unit]
		Wants=systemd-udevd.service systemd-udev-trigger.service systemd-networkd.service dbus.service login.service mrcd.service network.target
	END
	command systemctl enable mrc-device@eth3
}
boot() {
	unshare --mount --pid --fork --mount-proc /lib/systemd/systemd --unit=this.target --show-status=no >"$MRC_DIR/systemd" 2>&1 &
	SYSTEMD=$!
}
# As somebody in the machine that systemd boots.
systemctl() { nsenter -t "$(pgrep -P $SYSTEMD)" -m -p systemctl "$@"; }
halt() {	# the machine is switched off: what is in the kernel goes, too
	kill -KILL "$(pgrep -P $SYSTEMD)" || :
	wait $SYSTEMD || :
	ip link del mrc0 || :
	rdma link delete mrc_eth3 || :
	rm -rf /run/systemd /run/udev
}
soon() { mrc_until 10 "$@" || "$@"; }	# and what it says
is() { [ "$(systemctl is-active "$1")" = "$2" ] || { systemctl status "$1" --no-pager; return 1; }; }
served() { /usr/bin/python3 -I -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:9791/metrics").read().decode())' | grep -x "$1"; }
status_has() { systemctl show -p StatusText mrcd | tee /dev/stderr | grep -qF -- "$1"; }
left_alone() {	# INTERFACE
	networkctl list --no-pager --no-legend "$1" | tee /dev/stderr | grep -q unmanaged &&
		! ip -o addr show dev "$1" | grep '192\.0\.2'
}
managed() { ip -o addr show dev eth9 | grep '192\.0\.2'; }
planes_up() { mrcctl -j plane show dev mrc0 | jq -e "map(select(.up)) | length == $1"; }
one_plane() { rdma link show mrc_eth3/1; }

ksft_plan
mrc_begin mrcd mrcctl systemctl networkctl udevadm make
ksft_test "cables" cables
ksft_test "what is installed" settings
beta() { fabric_in h2 mrcd -c /etc/mrc/fabric.toml -n beta; }
beta >"$MRC_DIR/beta.out" 2>&1 &
at_exit pkill -KILL -x mrcd

boot
at_exit halt
ksft_test "logins are possible, though a plane is missing" mrc_until 60 is login.service active
ksft_comment "$(tail -n 5 "$MRC_DIR/systemd")"
ksft_test "mrcd waits for it" mrc_until 30 is mrcd activating
ksft_test "and says so" mrc_until 30 status_has "there is no interface eth2"
ksft_test "systemd-networkd runs" mrc_until 30 is systemd-networkd active
ksft_test "and has what is its own" mrc_until 60 managed
ksft_test "the other plane works" mrc_until 60 planes_up 1
cable eth2
ksft_test "the plane comes: everything is in place" mrc_until 60 is mrcd active
ksft_test "the unit serves metrics" mrc_until 30 served "mrcd_ready 1"
ksft_test "two planes" mrc_until 30 planes_up 2
for port in eth1 eth2 mrc0; do
	ksft_test "networkd leaves $port alone" soon left_alone $port
done
systemctl restart systemd-networkd
ksft_test "also when it is started again" mrc_until 30 is systemd-networkd active
ksft_test "eth2" soon left_alone eth2
ksft_test "two planes" planes_up 2
ksft_test "IP by them" mrc_until 30 ping -q -c 1 -W 2 10.77.0.2
ksft_test "a device of rdma link add is there" mrc_until 60 one_plane

# ------------------------------------------------------------ NetworkManager
nm_at() { nmcli -t -f DEVICE,STATE device | tee /dev/stderr | grep -qx "$1:$2"; }
nm_leaves() { nm_at "$1" unmanaged && ! ip -o addr show dev "$1" | grep '192\.0\.2'; }
not_there() { ! ip -o addr show dev "$1" | grep '192\.0\.2'; }
refused() {	# TEXT CMD...
	local text=$1 said
	shift
	said=$("$@" 2>&1) && { echo "was taken"; return 1; }
	echo "$said"
	[[ $said = *"$text"* ]]
}
networkmanager() {
	tar -C "$1" -c . | tar -C / --keep-directory-symlink -x && mkdir -p /etc/NetworkManager/system-connections || return
	cat >/etc/NetworkManager/system-connections/all.nmconnection <<-END
		[connection]
		id=all
		type=ethernet
		multi-connect=3
		[match]
		interface-name=eth*;mrc*;
		[ipv4]
		method=manual
		addresses=192.0.2.7/24
		[ipv6]
		method=disabled
	END
	chmod 600 /etc/NetworkManager/system-connections/all.nmconnection
	systemctl stop systemd-networkd.socket systemd-networkd
	ip addr flush dev eth9
	systemctl daemon-reload
	systemctl reload dbus
	udevadm control --reload
	systemctl start NetworkManager
}
nm=$("$MRC_TOP/selftests/vm/netmgr.sh")
if [ -n "$nm" ]; then
	ksft_test "NetworkManager starts" networkmanager "$nm"
	ksft_test "and has what is its own" mrc_until 60 nm_at eth9 connected
	for port in eth1 eth2 mrc0; do
		ksft_test "it leaves $port alone" soon nm_leaves $port
	done
	ksft_test "two planes" planes_up 2
	systemctl stop NetworkManager
	ksft_test "also when it has ended" planes_up 2
	ksft_test "IP by them" mrc_until 30 ping -q -c 1 -W 2 10.77.0.2
	mkdir -p /run/network
	printf 'iface eth%d inet static\n address 192.0.2.9/24\n' 1 9 >/etc/network/interfaces
	ksft_test "ifup of a plane is refused with the reason" refused "eth1 is mrcd's" ifup eth1
	ksft_test "nothing came to it" not_there eth1
	ksft_test "ifup of another is not" ifup eth9
else
	ksft_skip "NetworkManager" "selftests/vm/netmgr.sh get"
fi

ksft_test "it is switched off" halt
ksft_test "nothing is left" test ! -e /sys/class/net/mrc0
boot
ksft_test "it boots again: mrcd has everything" mrc_until 60 is mrcd active
ksft_test "two planes" mrc_until 30 planes_up 2
ksft_test "and the device of rdma link add" mrc_until 60 one_plane
ip link del eth3
gone() { ! one_plane && is mrc-device@eth3 inactive; }
ksft_test "its interface goes, and it with it" mrc_until 30 gone
cable eth3
ksft_test "both come back" mrc_until 60 one_plane
ksft_finish
