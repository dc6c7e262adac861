#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# in_vm.sh ROUNDS - rdma_rxe against mrc, interleaved: medians, and the ratios of each round.
#
#	rxe	v1 ---- v2 in the initial namespace, where rxe (up to 6.12) must be:
#		policy routing sends what v1 says to v2 over the cable, not over lo
#	mrc 1	the same two netdevs, in a namespace each: mrc sends to an address of
#		its own namespace over lo, so one namespace would not use the cable
#	mrc 4	four such cables as planes, SRv6 outer headers
#
# The modules cannot be loaded at once: both want UDP port 4791.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
trap - EXIT

A=fd00:6d72:63::1
B=fd00:6d72:63::2
declare -A RESULT=()

# ------------------------------------------------------------------ stages

cable() {	# LEFT RIGHT
	ip link add "$1" mtu 9000 type veth peer name "$2" mtu 9000
}

mac() { cat "/sys/class/net/$1/address"; }

rxe_up() {
	cable v1 v2
	ip -6 rule add pref 100 lookup local 2>/dev/null || true
	ip -6 rule del pref 0 2>/dev/null || true
	ip -6 -b - <<-BATCH
		link set v1 up
		link set v2 up
		address add $A/128 dev v1 nodad
		address add $B/128 dev v2 nodad
		route add $B dev v1 table 101
		route add $A dev v2 table 102
		rule add pref 10 iif lo from $A to $B lookup 101
		rule add pref 10 iif lo from $B to $A lookup 102
		neigh add $B dev v1 lladdr $(mac v2) nud permanent
		neigh add $A dev v2 lladdr $(mac v1) nud permanent
	BATCH
	modprobe rdma_rxe
	rdma link add rxe1 type rxe netdev v1
	rdma link add rxe2 type rxe netdev v2
	NS1='' NS2='' TO=127.0.0.1
	MRC_IBDEV=([h1]=rxe1 [h2]=rxe2)
}

rxe_down() {
	rdma link delete rxe1
	rdma link delete rxe2
	wait_until 10 rmmod rdma_rxe
	ip -6 rule del pref 10
	ip -6 rule del pref 10
	ip link del v1
}

mrc1_up() {
	load_mrc
	mrc_one_plane
	NS1=h1 NS2=h2 TO=10.77.0.2
}

mrc4_up() {
	local i p
	load_mrc
	fabric_destroy
	mkdir -p "$FABRIC_DIR"
	printf 'h1\nh2\n' >"$FABRIC_DIR/nodes"
	echo "2 4 1 1" >"$FABRIC_DIR/size"
	fabric_load
	ip -b - <<-BATCH
		netns add h1
		netns add h2
	BATCH
	for ((p = 1; p <= 4; p++)); do
		fabric__cable h1 eth$p h2 eth$p
	done | ip -b -
	for i in 1 2; do
		mrc4_host $i $((3 - i))
	done
	mrc_wait_devices
	NS1=h1 NS2=h2 TO=10.77.0.2
}

mrc4_host() {		# HOST PEER
	local i=$1 peer=$2 p e evs=() REPLY
	{
		echo "link set lo up"
		echo "link add mrc0 type mrc"
		for ((p = 1; p <= 4; p++)); do
			echo "link set eth$p master mrc0"
			echo "link set eth$p up"
			echo "address add fe80::$i/64 dev eth$p nodad"
			fabric_usid_host $p "$peer"
			fabric__route "$REPLY" "$peer" eth$p
		done
		fabric_host_addr "$i"
		echo "address add $REPLY/64 dev mrc0 nodad"
		echo "address add 10.77.0.$i/24 dev mrc0"
		echo "link set mrc0 up"
	} >"$MRC_DIR/batch"
	ip -n "h$i" -b "$MRC_DIR/batch"
	for ((p = 1; p <= 4; p++)); do
		fabric_usid_host $p "$i"
		mrcctl -n "h$i" plane set dev mrc0 plane $p sid "$FABRIC_BLOCK:$REPLY::"
		fabric_usid_host $p "$peer"
		for ((e = 0; e < MRC_EVS; e++)); do
			evs+=(ev "$p" "$FABRIC_BLOCK:$REPLY::")
		done
	done
	fabric_host_addr "$peer"
	mrcctl -n "h$i" profile set dev mrc0 id 1 dst "$REPLY" fmt srv6 mode exp "${evs[@]}"
}

mrc1_down() {
	fabric_destroy
	wait_until 20 rmmod mrc
}
mrc4_down() { mrc1_down; }

# ------------------------------------------------------------- measurements

in_ns() {	# NS CMD...
	local ns=$1
	shift
	if [ -n "$ns" ]; then
		exec nsenter --net="/run/netns/$ns" -- "$@"
	else
		exec "$@"
	fi
}

# measure COLUMN SIZE PROGRAM ARG...: REPLY is that column of its table, or "-".
measure() {
	local column=$1 size=$2 program=$3 server client pid
	shift 3
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h1 v6 && client=$REPLY
	mrc_gid_index h2 v6 && server=$REPLY
	(in_ns "$NS2" "$program" -F -d "${MRC_IBDEV[h2]}" -x "$server" -p $MRC_PORT -s "$size" "$@") \
		>"$MRC_DIR/server.out" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2034
	MRC_PID[server]=$pid
	mrc_until 30 mrc_listens server $MRC_PORT || true
	# The address only matters for the first words over TCP.
	(in_ns "$NS1" timeout 90 "$program" -F -d "${MRC_IBDEV[h1]}" -x "$client" -p $MRC_PORT \
		-s "$size" "$@" "$TO") >"$MRC_DIR/client.out" 2>&1 </dev/null || true
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	REPLY=$(awk -v size="$size" -v c="$column" '$1 == size && NF >= c { v = $c } END { print v ? v : "-" }' \
		"$MRC_DIR/client.out")
	[ "$REPLY" != - ] || sed 's/^/# /' "$MRC_DIR/client.out" >&2
}

stage() {	# NAME
	local name=$1
	measure 4 65536 ib_write_bw -n 500
	RESULT[$name.bw64k]+=" $REPLY"
	echo "$name ib_write_bw 64 KiB: $REPLY MiB/s"
	measure 4 1048576 ib_write_bw -n 50
	RESULT[$name.bw1m]+=" $REPLY"
	echo "$name ib_write_bw 1 MiB: $REPLY MiB/s"
	measure 5 64 ib_send_lat -n 1000
	RESULT[$name.lat]+=" $REPLY"
	echo "$name ib_send_lat 64 B, polling: $REPLY us"
}

# A better number is larger (bandwidth) or smaller (latency): the ratio says how many times
# better than rxe in the same round, the worst and the best round.
row() {		# NAME KEY UNIT larger|smaller
	awk -v name="$1" -v unit="$3" -v better="$4" -v rxe="${RESULT[rxe.$2]}" \
	    -v one="${RESULT[mrc1.$2]}" -v four="${RESULT[mrc4.$2]}" '
		function median(list,	v, w, n, i, j, t) {
			n = split(list, w)
			for (i = t = 0; ++i <= n;) {
				if (w[i] == "-") continue
				for (j = ++t; j > 1 && v[j - 1] > w[i] + 0; j--) v[j] = v[j - 1]
				v[j] = w[i] + 0
			}
			if (!t) return "-"
			return sprintf("%.2f", (v[int((t + 1) / 2)] + v[int((t + 2) / 2)]) / 2)
		}
		function ratio(list,	v, r, n, i, q, low, high) {
			n = split(list, v)
			split(rxe, r)
			for (i = 1; i <= n; i++) {
				if (!(v[i] + 0) || !(r[i] + 0)) continue
				q = better == "larger" ? v[i] / r[i] : r[i] / v[i]
				if (!low || q < low) low = q
				if (q > high) high = q
			}
			return low ? sprintf("%.1f-%.1f", low, high) : "-"
		}
		BEGIN { printf "%-28s %10s %10s %10s %-6s %8s %8s\n", name, median(rxe), median(one),
			median(four), unit, ratio(one), ratio(four) }'
}

main() {
	local rounds=$1 round name
	mkdir -p "$MRC_DIR"
	[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
	mrc_setup_plugin
	modprobe ib_uverbs
	for ((round = 1; round <= rounds; round++)); do
		for name in rxe mrc1 mrc4; do
			"${name}_up"
			stage "$name"
			if [ "$name" = mrc1 ] && [ "$round" -eq 1 ]; then
				qp_bytes=$(mrcctl -n h1 -d -j dev show | jq '.[0].qp_bytes')
			fi
			"${name}_down"
			MRC_IBDEV=()
		done
		echo "round $round done"
	done
	{
		printf '%-28s %10s %10s %10s %-6s %8s %8s\n' "median of $rounds" rxe "mrc 1" "mrc 4" '' \
			"mrc1/rxe" "mrc4/rxe"
		row "ib_write_bw 64 KiB" bw64k MiB/s larger
		row "ib_write_bw 1 MiB" bw1m MiB/s larger
		row "ib_send_lat 64 B, polling" lat us smaller
		echo "Ratios above 1: mrc is better. One idle QP takes $qp_bytes bytes of kernel memory."
		for name in "${!RESULT[@]}"; do
			echo "  $name:${RESULT[$name]}"
		done | sort
	} | tee "$VMOUT/table.txt"
}

qp_bytes=unknown
main "$@"
