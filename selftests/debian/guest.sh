#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh - on a user's host, boot by boot, started by mrc-guest.service. Lines of TAP go to the console ttyS1.
#
# Boot 1: the device came up by its unit, data is verified; packages are upgraded under it.
# Boot 2: the new version came up by itself; kernels that want signatures; everything is purged.

set -uo pipefail
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
old=$(cat /root/old.version) new=$(cat /root/new.version)
boots=/root/boots
count=0

# check NAME COMMAND...: COMMAND may be a function; what it prints is shown when it fails.
check() {
	local name=$1 rc=0
	shift
	count=$((count + 1))
	"$@" >/root/said 2>&1 || rc=$?
	[ $rc -eq 0 ] || echo -n "not "
	echo "ok $count $name"
	[ $rc -eq 0 ] || sed 's/^/# /' /root/said | tail -n 20
}
until_true() {	# SECONDS COMMAND...
	local n=$1
	shift
	while ! "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep 1
	done
}
# refuses TEXT COMMAND...: it fails, and says so.
refuses() {
	local text=$1 said
	shift
	said=$("$@" 2>&1) && { echo "$said"; return 1; }
	echo "$said"
	grep -qF -- "$text" <<<"$said"
}
says() { cat "$1" && grep -qE -- "$2" "$1"; }	# FILE EXPRESSION
loaded() { [ "$(cat /sys/module/mrc/version)" = "$1" ]; }
devices() { [ "$(ibv_devices | grep -cE 'mrc_eth0|mrc2')" -eq 2 ]; }
# The neighbour sees the devices of this host: rdma's namespaces are shared, and /sys is this one's.
peer() { nsenter --net=/run/netns/peer "$@"; }
# server PROGRAM ARG...: runs at the neighbour when this returns.
server() {
	peer "$@" >/root/server 2>&1 &
	server=$!
	until_true 300 sh -c "nsenter --net=/run/netns/peer ss -ltn | grep ':18515 ' || ! kill -0 $server"
}
gid() {	# DEVICE: the index of its IPv4 address
	local f
	for f in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		! grep -q '^0000:0000:0000:0000:0000:ffff:' "$f" 2>/dev/null || { echo "${f##*/}"; return; }
	done
	return 1
}
# Both ends of a program; the client's status.
both() {	# PROGRAM ARG...
	local program=$1 rc=0
	shift
	server "$program" -d mrc2 "${peer_gid[@]}" "$@"
	"$program" -d mrc_eth0 "${own_gid[@]}" "$@" "${client[@]}" 10.9.0.2 || { rc=$?; kill "$server"; }
	wait "$server" || rc=$?
	[ $rc -eq 0 ] || cat /root/server
	return $rc
}
# What has no clock to trust, as this machine, has no report for all that: after the last WRITE.
bw() {
	local peer_gid own_gid client=() rc=0
	peer_gid=(-x "$(gid mrc2)") own_gid=(-x "$(gid mrc_eth0)")
	both ib_write_bw -s 65536 -n 100 >/root/bw 2>&1 || rc=$?
	cat /root/bw
	[ $rc -eq 0 ] || grep -q "Can't produce a report" /root/bw
}
verified() {
	local peer_gid=(-4) own_gid=(-4) client=("$@")
	both /root/mrc_verify -e -T 3600 -o mix
}
ended_well() {	# PID: the client ends as asked, with every byte right
	kill -INT "$1" && wait "$1"
	cat /root/client
	tail -n 1 /root/client | grep -q ' errors=0'
}
steady() {	# messages are verified now
	local before
	before=$(wc -l </root/client)
	until_true 600 sh -c "[ \$(wc -l </root/client) -gt $((before + 3)) ]"
}
upgrade() {
	apt-get install -y /new/mrc*.deb /new/libmrc1_*.deb /new/ibverbs-provider-mrc_*.deb >/root/apt 2>&1 || { tail -n 20 /root/apt; false; }
	grep '^mrc-dkms:' /root/apt
}
came_up() {
	until_true 300 systemctl is-active mrc-device@eth0 mrc-lab
	systemctl --no-pager status mrc-device@eth0 mrc-lab | grep -E 'Active|mrc'
	until_true 300 devices && udevadm settle && devices && until_true 300 gid mrc_eth0 && until_true 300 gid mrc2
}

boot_1() {
	local traffic
	check "mrc-device@eth0 has come up with the machine" came_up
	check "version $old is loaded" loaded "$old"
	check "ib_write_bw" bw
	check "every byte is verified" verified -n 300
	check "mrcctl doctor finds nothing" mrcctl doctor

	server /root/mrc_verify -d mrc2 -4 -e -T 3600
	/root/mrc_verify -d mrc_eth0 -4 -e -T 3600 -o mix -s 8192 -R 10 -P -t 1000000 10.9.0.2 >/root/client 2>&1 &
	traffic=$!
	check "traffic runs" steady
	check "apt upgrades under it" upgrade
	check "it is said what runs and what is installed" says /root/apt "version $new is installed, the kernel runs version $old"
	check "and who uses it" says /root/apt "these programs use version $old.*mrc_verify \($traffic\)"
	check "and what to do" says /root/apt "when none does: .*modprobe -r mrc && modprobe mrc"
	check "the old module is loaded" loaded "$old"
	check "traffic goes on" steady
	check "a new program runs upon the old module" sh -c "ibv_devinfo -d mrc_eth0 | grep PORT_ACTIVE"
	check "the module cannot be unloaded under it" refuses "is in use" modprobe -r mrc
	check "mrcctl doctor names both versions" refuses "the loaded module has version $old, mrcctl has $new" mrcctl doctor
	check "the program ends with every byte verified" ended_well $traffic
}

boot_2() {
	check "the device has come up with the machine" came_up
	check "by version $new" loaded "$new"
	check "ib_write_bw after the upgrade" bw
	check "every byte is verified after the upgrade" verified -n 300
	check "mrcctl doctor finds nothing after the upgrade" mrcctl doctor

	# What Secure Boot does: the key of DKMS is known to no firmware here.
	check "the module is signed by DKMS" sh -c "modinfo -F signer mrc | grep -x 'DKMS module signing key'"
	check "unloaded" sh -c "systemctl stop mrc-device@eth0 && modprobe -r mrc"
	check "the kernel is locked down" sh -c "echo integrity >/sys/kernel/security/lockdown"
	check "it refuses the module" refuses "could not insert 'mrc': Operation not permitted" modprobe mrc
	check "mrcctl doctor names that" refuses "Operation not permitted" mrcctl doctor
	check "the kernel wants signatures" sh -c "echo 1 >/sys/module/module/parameters/sig_enforce"
	check "it refuses the key" refuses "could not insert 'mrc': Key was rejected by service" modprobe mrc
	check "mrcctl doctor names it" refuses "Key was rejected by service" mrcctl doctor
	check "and what to paste" refuses "# mokutil --import /var/lib/dkms/mok.pub" mrcctl doctor
	check "so does the unit's log" refuses "Key was rejected by service" \
		sh -c "systemctl start mrc-device@eth0 || { journalctl --no-pager -b -u mrc-device@eth0 | tail -n 6; false; }"
}

boot_3() {
	check "the device has come up again" came_up
	check "purged" sh -c 'apt-get purge -y mrc mrc-dkms mrcd mrc-tools ibverbs-provider-mrc libmrc1 >/root/apt 2>&1 || { tail -n 20 /root/apt; false; }'
	check "it is said that the module stays" says /root/apt 'the module that is loaded stays'
	check "it can be unloaded" rmmod mrc
	check "and is gone" refuses "not found" modprobe mrc
	# shellcheck disable=SC2016
	check "nothing is left" sh -c '! find / -xdev -iname "*mrc*" -not -path "/root/*" -not -path "/old/*" -not -path "/new/*" -not -path "/var/cache/ccache/*" -not -path /etc/dkms/mrc.conf \
		-not -path "*mrc-guest*" -not -path "*mrc-lab*" -not -path "/var/lib/systemd/*" -not -path "/var/log/*" | grep .'
	check "no unit either" sh -c '! systemctl list-unit-files --no-legend "mrc*" | grep -v "mrc-guest\|mrc-lab" | grep .'
}

n=$(($(cat $boots 2>/dev/null || echo 0) + 1))
echo $n >$boots
sync
"boot_$n"
echo "1..$count"
echo "end $n"
sync
if [ $n -lt 3 ]; then
	systemctl reboot
else
	systemctl poweroff
fi
