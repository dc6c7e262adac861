#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full
#
# Switches that run FRR: "mrcctl fabric export frr" is all that they get.
#
#	h1 - T0 1 - T1 1 - T0 2 - h2	plane 1 by FRR, plane 2 and the hosts by mrcd
#
# FRR is Debian 13's, out of the root that suite.sh made: Debian 12's has no static SIDs.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

root=$("$MRC_TOP/selftests/vm/suite.sh" --root)
[ -x "$root/usr/lib/frr/staticd" ] || ksft_skip_all "needs FRR 10: selftests/vm/suite.sh add frr"
switches="p1-t0-1 p1-t0-2 p1-t1-1"
file=$FABRIC_DIR/fabric.toml

# The root is part of this machine's overlay, which is thrown away; FRR wants /proc, and folders of its user's.
frr_root() {
	mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/run" || return
	mkdir -p "$root"/run/frr "$root"/var/log/frr "$root"/var/lib/frr
	: >"$root/etc/frr/vtysh.conf"
	chroot "$root" chown -R frr:frr /run/frr /etc/frr /var/lib/frr /var/log/frr
}
export_of() { mrcctl fabric export frr "$1" "$file"; }
lines() { sed -n "s/^! $1: //p"; }

build() {
	mrc_clear && fabric_build 2 2 2 1 || return
	fabric_toml 2 2 2 1 2 >"$file"
	cat >>"$file" <<-TOML
		[qos.dscp]
		data = "af22"
		[qos.ecn]
		min = 30000
		max = 90000
	TOML
}
before_frr() {
	local sw
	for sw in $switches; do
		export_of "$sw" | lines before | fabric_in "$sw" sh -e || { echo "on $sw"; return 1; }
	done
}
# in_frr SWITCH COMMAND...: in its network, with its folders of the root.
in_frr() { local sw=$1; shift; fabric_in "$sw" chroot "$root" "$1" -N "$sw" "${@:2}"; }
start_frr() {
	local sw daemon
	for sw in $switches; do
		mkdir -p "$root/etc/frr/$sw" "$root/run/frr/$sw"
		: >"$root/etc/frr/$sw/vtysh.conf"
		export_of "$sw" >"$root/etc/frr/$sw/frr.conf" || return
		chroot "$root" chown -R frr:frr "/etc/frr/$sw" "/run/frr/$sw" || return
		for daemon in mgmtd zebra staticd; do
			in_frr "$sw" "/usr/lib/frr/$daemon" -d || { echo "$daemon of $sw"; return 1; }
			at_exit kill "$(cat "$root/run/frr/$sw/$daemon.pid")"
		done
	done
}
load_frr() {
	local sw
	for sw in $switches; do
		if ! in_frr "$sw" vtysh -b >"$MRC_DIR/vtysh" 2>&1 || grep -iE "unknown command|error|invalid" "$MRC_DIR/vtysh"; then
			cat "$MRC_DIR/vtysh"
			return 1
		fi
	done
}
# Routes as the file wants them, by FRR (196: zebra's static routes) and by nobody else.
routes_of() { ip -n "$1" -6 route show proto 196 | sed 's/ nhid [0-9]*//; s/ via / /; s/ \(proto\|metric\) .*//; s/  */ /g' | sort; }
wanted_of() {
	mrcctl -j fabric generate "$file" node "$1" | jq -r '.[] | select(.route) | if .action then
		"\(.route) encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sr0" else "\(.route) \(.via) dev \(.link)" end' | sort
}
installed() { [ "$(routes_of "$1")" = "$(wanted_of "$1")" ] || { diff <(wanted_of "$1") <(routes_of "$1"); return 1; }; }
all_installed() {
	local sw
	for sw in $switches; do installed "$sw" || return; done
}
# Its table has nothing to add for the line that repairs a uN that FRR forgot.
after_frr() {
	local sw
	for sw in $switches; do
		export_of "$sw" | lines after | fabric_in "$sw" sh -e || return
		all_installed || return
	done
}
start_mrcd() {
	local node
	for node in h1 h2 p2-t0-1 p2-t0-2 p2-t1-1; do mrc_mrcd "$node"; done
	for node in h1 h2 p2-t0-1 p2-t0-2 p2-t1-1; do
		mrc_until 120 mrc_mrcd_ready "$node" || { tail -n 5 "$MRC_DIR/mrcd-$node.out"; return 1; }
	done
	mrc_wait_devices
}
alive() {
	mrcctl -n h1 -j probe dev mrc0 peer fd00:6d72:63::2 | jq -e '([.[].plane] | unique == [1, 2]) and all(.[]; .answered)'
}
verify() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server h2 mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h2]}" -p $MRC_PORT
	mrc_until 30 mrc_listens server $MRC_PORT || return
	mrc_start client h1 mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT -o mix -s 16384 -n 200 fd00:6d72:63::2
	mrc_pair_wait 60
}
through() { ip -n "$1" -j -s link show dev "$2" | jq '.[0].stats64.rx.packets'; }
# Packets of a class (1: control, 2: data) of the queues that a comment made.
queued() { tc -n "$1" -s class show dev "$2" | awk -v class="1:$3" '$1 == "class" { of = $3 } of == class && $1 == "Sent" { print $4 }'; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify nsenter chroot
ksft_test "cables of two planes" build
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
ksft_test "a root with FRR" frr_root
ksft_comment "$(chroot "$root" /usr/lib/frr/zebra --version | head -n 1)"
ksft_test "the lines before FRR: links, queues" before_frr
ksft_test "FRR starts on three switches" start_frr
ksft_test "FRR takes every line" load_frr
ksft_test "its routes are those of the fabric file, the uSIDs, too" mrc_until 60 all_installed
all_installed || :
ksft_test "the line after FRR finds nothing to repair" after_frr
ksft_test "plane 2 and the hosts by mrcd" start_mrcd
ksft_equal "mrcd has set the DSCP of the file" 20 "$(mrcctl -n h1 -j dev show | jq '.[0].dscp_data')"
before=$(through p1-t1-1 t0-1)
ksft_test "every byte arrives right" verify
after=$(through p1-t1-1 t0-1)
ksft_comment "$((after - before)) packets from h1 through FRR's T1"
ksft_test "and plane 1 carried its part" test $((after - before)) -gt 50
ksft_test "every path of both planes answers" mrc_until 30 alive
ksft_test "control packets have a queue of their own" test "$(queued p1-t0-2 h2 1)" -gt 0
ksft_test "data has the other" test "$(queued p1-t0-2 h2 2)" -gt 50
ksft_finish
