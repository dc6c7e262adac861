#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# A fabric that is one page: [topology] says how many T0s, T1s and hosts there are, every mrcd
# derives its own node from that, and the module makes a peer's EVs from two templates.
#
#	n1-1 n1-2 - T0 1 \       / T0 2 - n2-1 n2-2	times two planes, by mrcd
#	                  T1 1, 2
#
# Host j at T0 n is nN-J in the file, fd00:6d72:63::N:J, and here the namespace h<(j - 1) * 2 + n>.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# In the place of the libraries': names and addresses follow from the rule.
fabric__number_at_t0() { REPLY=$((($1 - 1) / FABRIC_NT0 + 1)); }
fabric_host_addr() {
	local n j
	fabric_host_t0 "$1"; n=$REPLY
	fabric__number_at_t0 "$1"; j=$REPLY
	printf -v REPLY 'fd00:6d72:63::%x:%x' "$n" "$j"
}
fabric_toml() {
	cat <<-TOML
		[fabric]
		block = "fcbb:bb00::/31"
		prefix = "fd00:6d72:63::/64"
		[planes]
		count = 2
		[profile]
		id = 1
		evs_per_plane = 2
		[topology]
		t0s = 2
		t1s = 2
		hosts_per_t0 = 2
		[topology.names]
		host = "n{t0}-{host}"
	TOML
}
node_name() {	# NAMESPACE
	local n
	REPLY=$1
	[[ $1 = h* ]] || return 0
	fabric_host_t0 "${1#h}"; n=$REPLY
	fabric__number_at_t0 "${1#h}"
	REPLY=n$n-$REPLY
}
mrc_mrcd() {
	rm -f "$FABRIC_DIR/$1.ready"
	node_name "$1"
	mrc_start "mrcd-$1" "$1" mrcd -c "$file" -n "$REPLY" --ready-file "$FABRIC_DIR/$1.ready"
}
mrc_gid_index() {	# HOST v6|v4; there is no IPv4 here
	local want path gid dev n
	fabric_host_t0 "${1#h}"; n=$REPLY
	fabric__number_at_t0 "${1#h}"
	printf -v want 'fd00:6d72:0063:0000:0000:0000:%04x:%04x' "$n" "$REPLY"
	for dev in /sys/class/infiniband/*; do
		for path in "$dev"/ports/1/gids/{0..9}; do
			read -r gid 2>/dev/null <"$path" && [ "$gid" = "$want" ] || continue
			MRC_IBDEV[$1]=${dev##*/}
			REPLY=${path##*/}
			return
		done
	done
	return 1
}

file=$FABRIC_DIR/fabric.toml

# Linux 6.1 renames only what is down.
rename() {	# NODE OLD NEW
	ip -n "$1" link set "$2" down && ip -n "$1" link set "$2" name "$3" up
}
# Ports of a T0 are numbered by its own hosts; the library's by all of them.
build() {
	local i j n p
	mrc_clear && fabric_build 4 2 2 2 || return
	for i in 1 2 3 4; do
		fabric_host_t0 $i; n=$REPLY
		fabric__number_at_t0 $i; j=$REPLY
		for p in 1 2; do
			[ $i = "$j" ] || rename "p$p-t0-$n" "h$i" "h$j" || return
		done
	done
	fabric_toml >"$file"
}
start() {
	local node
	mapfile -t nodes <"$FABRIC_DIR/nodes"
	for node in "${nodes[@]}"; do
		mrc_mrcd "$node"
	done
	mrc_until 120 mrc__all_ready || { mrc__not_ready; return 1; }
	mrc_wait_devices
}
at_rest() {
	local node
	for node in "${nodes[@]}"; do
		node_name "$node"
		fabric_in "$node" mrcd --check "$file" -n "$REPLY" || { echo "on $node"; return 1; }
	done
}
rests() { mrc_until 60 at_rest || at_rest; }
reload() {
	local node
	for node in "${nodes[@]}"; do
		kill -HUP "${MRC_PID[mrcd-$node]}"
	done
	rests
}

# verify_with HOST: between h1 and it.
verify_with() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server "h$1" mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h$1]}" -p $MRC_PORT
	mrc_until 30 mrc_listens server $MRC_PORT || return
	fabric_host_addr "$1"
	mrc_start client h1 mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT \
		-o mix -s 16384 -n 40 "$REPLY"
	mrc_pair_wait 60
}
# evs_are HOST VALUE...: that h1 has towards it, all of them used.
evs_are() {
	local got
	fabric_host_addr "$1"
	shift
	got=$(mrcctl -n h1 -j ev show peer "$REPLY" | jq -r 'map(select(.tx_pkts > 0).value) | join(" ")')
	echo "EVs in use are $got, expected $*"
	[ "$got" = "$*" ]
}
profiles() { mrcctl -n h1 -j profile show | jq -r 'map(.dst) | join(" ")'; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "cables for four hosts" build
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
ksft_test "mrcctl: all EVs of the file arrive" mrcctl fabric check "$file"
ksft_test "twelve daemons, one page" start
ksft_test "nothing is left to do" rests
ksft_equal "two templates are all profiles" "fd00:6d72:63::/64 fd00:6d72:63::1:0/112" \
	"$(profiles | tr ' ' '\n' | sort | paste -sd ' ')"
ksft_test "another T0: every byte arrives right" verify_with 2
ksft_test "by the paths of the rule" evs_are 2 \
	fcbb:bb00:4001:8001:4002:c001:: fcbb:bb00:4001:8002:4002:c001:: \
	fcbb:bb01:4001:8001:4002:c001:: fcbb:bb01:4001:8002:4002:c001::
ksft_test "our T0: every byte arrives right" verify_with 3
ksft_test "by the short ones" evs_are 3 fcbb:bb00:4001:c002:: fcbb:bb01:4001:c002::
ksft_test "a third: every byte arrives right" verify_with 4

# ------------------------------------------------------ a fabric with exceptions
cat >>"$file" <<-TOML
	[topology.missing]
	ports = ["p1-t0-2:t1-1"]
TOML
ksft_test "a cable that is not there: done" reload
ksft_test "every byte arrives right" verify_with 2
ksft_test "by what is left, and our T0 as before" verify_with 3
ksft_equal "T0 2 has a template of its own" 3 "$(profiles | wc -w)"
ksft_test "mrcctl: all EVs of the file arrive" mrcctl fabric check "$file"
ksft_finish
