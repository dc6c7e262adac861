#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new
# timeout: 240
#
# Two hosts, two cables, one file of five lines: those of guide/two-hosts.md, by mrcd.
#
#	h1 (alpha) eth1 ==== eth1 h2 (beta)	plane 1
#	           eth2 ==== eth2		plane 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

declare -A NAME=([h1]=alpha [h2]=beta)
file=$MRC_DIR/fabric.toml

cables() {
	mrc_nodes h1 h2 || return
	{
		echo "link add eth1 netns h1 type veth peer name eth1 netns h2"
		echo "link add eth2 netns h1 type veth peer name eth2 netns h2"
		echo "link add mgmt netns h1 type veth peer name mgmt netns h2"
	} | ip -b - || return
}

daemon() {	# HOST
	rm -f "$FABRIC_DIR/$1.ready"
	mrc_start "mrcd-$1" "$1" mrcd -c "$file" -n "${NAME[$1]}" --ready-file "$FABRIC_DIR/$1.ready"
}
ready() { mrc_until 60 mrc_mrcd_ready "$1" || { cat "$MRC_DIR/mrcd-$1.out"; return 1; }; }
both_up() { daemon h1 && daemon h2 && ready h1 && ready h2 && mrc_wait_devices; }
nothing_to_do() {
	local what
	what=$(fabric_in "$1" mrcd -c "$file" -n "${NAME[$1]}" --dry-run) && [ -z "$what" ] ||
		{ echo "$what"; return 1; }
}
# What mrcd manages of a host, and of no other interface.
state() {
	ip -n "$1" route show proto 217
	ip -n "$1" -6 route show proto 217
	ip -n "$1" -o addr show | grep -v ' lo ' | sed 's/^[0-9]*: //; s/valid_lft.*//' | grep -vE 'inet6 fe80::[0-9a-f]*:[0-9a-f]*:' | sort
}
says() { grep -qF -- "$2" "$MRC_DIR/mrcd-$1.out" || { cat "$MRC_DIR/mrcd-$1.out"; return 1; }; }
says_soon() { mrc_until 30 says "$@"; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify ib_write_bw
awk '/^```toml/ { on = 1; next } /^```/ { exit } on' "$MRC_TOP/Documentation/guide/two-hosts.md" >"$file"
ksft_equal "the page's file has five lines" 5 "$(grep -c . "$file")"
ksft_test "two hosts, two cables" cables
ksft_test "mrcctl finds nothing wrong with it" mrcctl fabric check "$file"
ksft_test "both hosts have everything, by the same file" both_up
for host in h1 h2; do
	ksft_test "nothing is left to do on $host" mrc_until 30 nothing_to_do $host
done
ksft_equal "another port is none of ours" "" "$(ip -n h1 -o addr show dev mgmt)"
ksft_test "ordinary IPv6" mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 fd00:6d72:63::2
ksft_test "ordinary IPv4" mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 10.77.0.2
ksft_test "ib_write_bw" mrc_perf 60 ib_write_bw -s 65536 -n 200
ksft_test "every byte arrives right, IPv4" mrc_pingpong 60 v4 -c -n 100

# ------------------------------------------------------------- a cable fails
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "by both planes" mrc_flows
ip -n h2 link set eth2 down
ksft_test "cable 2 is cut: nothing leaves by it" mrc_until 30 mrc_plane_unused client 2 tx
ksft_test "plane 1 carries it" mrc_until 30 mrc_plane_used client 1 tx
ksft_test "mrcd says that the cable has no carrier" says_soon h1 "eth2 has no carrier"
ip -n h2 link set eth2 up
ksft_test "it is mended: both planes again" mrc_flows

# ----------------------------------------------------------- mrcd comes and goes
before=$(state h1)
mrc_kill mrcd-h1
ksft_test "mrcd killed: data flows" mrc_flows
daemon h1
ksft_test "and started again" ready h1
ksft_equal "it changed nothing" "$before" "$(state h1)"
ip -n h1 route del 10.77.0.2/32 dev eth1 metric 513
ip -n h1 -6 route del fd00:6d72:63::2/128 dev eth2 metric 514
same() { [ "$before" = "$(state h1)" ] || { state h1; return 1; }; }
ksft_test "routes that somebody deleted come back" mrc_until 30 same
ksft_test "data flows" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# --------------------------------------- as after a boot: nothing is left but the file
after_boot() {
	local port
	mrc_kill mrcd-h1
	ip -n h1 link del mrc0
	for port in eth1 eth2; do
		ip -n h1 link set $port down && ip -n h1 addr flush dev $port && ip -n h1 link set $port mtu 1500 || return
	done
	# shellcheck disable=SC2034  # mrc.sh's
	MRC_IBDEV=()
	! state h1 | grep .
}
ksft_test "h1 boots" after_boot
ip -n h1 link set eth2 name late0
daemon h1
ksft_test "a plane comes late: mrcd says which it waits for" says_soon h1 "there is no interface eth2"
on_one() { mrcctl -n h1 -j plane show | jq -e 'map(select(.up)) | length == 1'; }
ksft_test "the other works meanwhile" mrc_until 60 on_one
ip -n h1 link set late0 name eth2
ksft_test "it comes, and everything is in place" ready h1
ksft_equal "as before the boot" "$before" "$(state h1)"
ksft_test "and the device" mrc_wait_devices
ksft_test "both planes carry data" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "as before" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrives right" mrc_pair_wait 30

# ------------------------------------- another version of the module under mrcd
# The same module, which says another version of itself.
version=$(modinfo -F version "$MRC_BUILD/mrc.ko")
other=$(tr 0-9 9 <<<"$version")
sed -z "s/^version=.*/version=$other/" "$MRC_BUILD/mrc.ko" >"$MRC_DIR/mrc.ko"
module() { mrc_until 60 rmmod mrc && insmod "$1"; }
in_place() { mrc_until 60 same && mrc_until 60 nothing_to_do h1 && mrc_until 60 nothing_to_do h2 && mrc_wait_devices; }
ksft_test "a module of another version is loaded" module "$MRC_DIR/mrc.ko"
ksft_test "mrcd says so" says_soon h1 "the loaded module has version $other, mrcd has $version: mrcctl doctor"
ksft_test "everything is in place again" in_place
ksft_test "every byte arrives right" mrc_pingpong 60 v4 -c -n 100
ksft_test "and its own again" module "$MRC_BUILD/mrc.ko"
ksft_test "everything is in place once more" in_place
ksft_test "and every byte" mrc_pingpong 60 v4 -c -n 100

# ------------------------------------------------------------ a file that changes
sed -i 's/, "eth2"//' "$file"
kill -HUP "${MRC_PID[mrcd-h1]}"
gone() { ! ip -n h1 route show proto 217 | grep eth2 && ! ip -n h1 -6 addr show dev eth2 | grep fe80::2:1; }
ksft_test "a plane that leaves the file takes its routes along" mrc_until 30 gone
ksft_test "nothing is left to do" mrc_until 30 nothing_to_do h1
ksft_finish
