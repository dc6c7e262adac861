#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
#
# mrcctl report, while data flows: everything is in it that it lists, and nothing that a report must not tell.
#
#	h1 mrc0 = 2 planes, T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

dir=$MRC_DIR/report
not() { ! "$@"; }
report() {
	rm -rf "$dir" && mkdir -p "$dir" || return
	mrcctl -n h1 report to "$dir/report.tar" fabric "$FABRIC_DIR/fabric.toml" "$@" >"$dir.list" || return
	tar -C "$dir" -xf "$dir/report.tar" && rm "$dir/report.tar"
}
# nothing PATTERN: in no part.
nothing() { ! grep -rnE -- "$1" "$dir"; }
no_macs() {
	local mac
	for mac in $(cat /sys/class/net/*/address) $(fabric_in h1 sh -c 'cat /sys/class/net/*/address' | sort -u); do
		[ "$mac" = 00:00:00:00:00:00 ] || nothing "$mac" || return
	done
	nothing '([0-9a-f]{2}:){5}[0-9a-f]{2}' && nothing 'ff:fe[0-9a-f]{2}:'
}
no_psns() {
	local value
	for value in $(jq -r '.[] | .psn_next, .psn_una, .rx_cack, .peer_qpn' <<<"$qps"); do
		[ "$value" -lt 1000 ] || ! grep "\\b$value\\b" "$dir/kernel.log" || return
	done
	nothing '"(psn_next|psn_una|rx_cack|peer_qpn)": ?[0-9]' && grep -q '"psn_next": <removed>' "$dir/qps.json"
}
complete() {
	local name
	for name in version status devices planes profiles peers evs qps counters selfprobes events system parameters fabric kernel; do
		compgen -G "$dir/$name.*" >/dev/null || { echo "no $name"; return 1; }
	done
	sed 's/<removed>/0/' "$dir/qps.json" | jq -e 'length > 0' && jq -e length "$dir/counters.json" >/dev/null &&
		grep -q 'file qps.json bytes [1-9]' "$dir.list" && grep -q 'qps.json' "$dir/contents.txt"
}

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "two planes by mrcd" mrc_fabric_mrcd 2 2 2 2
# Secrets that people put into files, and a line of the kernel's log with them.
cat >>"$FABRIC_DIR/fabric.toml" <<-TOML
	# macsec key = "000102030405060708090a0b0c0d0e0f", eth1 is 52:54:00:aa:bb:cc
	# bmc password: hunter2
TOML
echo "mrc: test of a report, rkey 0xabcd1234 at 0xffff888012345678 of 52:54:00:aa:bb:cc" >/dev/kmsg
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows
mrc_stop() { kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"; }
mrc_stop	# so that PSNs are the same for a while
mrc_sleep 1
qps=$(mrcctl -n h1 -j qp show)
ksft_test "a report" report
ksft_test "it has all that it lists" complete
ksft_test "no MAC address, nor one inside of an address" no_macs
ksft_test "no PSN" no_psns
ksft_test "no key, no password" nothing '000102030405|hunter2|abcd1234'
ksft_test "no address of memory" nothing '0x[0-9a-f]{9,}|\bffff[0-9a-f]{12}\b'
ksft_test "no host's name" nothing '\bh[12]\b'
ksft_test "switches keep theirs" grep -q p1-t0-1 "$dir/fabric.toml"
ksft_test "the kernel's line is there" grep -q 'mrc: test of a report, rkey <removed> at <address> of <mac>' "$dir/kernel.log"
ksft_test "with names" report names on
ksft_test "hosts have theirs" grep -q 'name = "h1"' "$dir/fabric.toml"
touch "$MRC_DIR/there.tar"
ksft_test "a file that is there stays" not mrcctl report to "$MRC_DIR/there.tar"
ksft_equal "and it is the owner's alone" 600 "$(mrcctl report to "$MRC_DIR/new.tar" >/dev/null && stat -c %a "$MRC_DIR/new.tar")"
kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
