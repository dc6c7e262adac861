#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# in_vm.sh ROUNDS - rdma_rxe against mrc, interleaved: medians, and the ratios of each round.
#
# What is compared is made by stages.sh.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/stages.sh"
trap - EXIT

declare -A RESULT=()

# ------------------------------------------------------------- measurements

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

# measure_ucx COLUMN SIZE TEST N: likewise, of UCX's ucx_perftest, the column behind the number of rounds. By GIDs of
# IPv6: with others rxe fails.
measure_ucx() {
	local column=$1 size=$2 test=$3 n=$4 pid i gid1 gid2
	local -a how server client
	MRC_PORT=$((MRC_PORT + 1))
	how=(ucx_perftest -p "$MRC_PORT" -f -t "$test" -s "$size" -n "$n" -w 10)
	for i in 1 2; do
		mrc_gid_index h$i v6 || return 0
		printf -v "gid$i" %s "$REPLY"
	done
	# shellcheck disable=SC2154	# gid1, gid2: above
	server=("UCX_TLS=rc_verbs,ud_verbs" UCX_NET_DEVICES="${MRC_IBDEV[h2]}:1" UCX_IB_GID_INDEX="$gid2")
	client=("UCX_TLS=rc_verbs,ud_verbs" UCX_NET_DEVICES="${MRC_IBDEV[h1]}:1" UCX_IB_GID_INDEX="$gid1")
	(in_ns "$NS2" env "${server[@]}" "${how[@]}") >"$MRC_DIR/server.out" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2034
	MRC_PID[server]=$pid
	mrc_until 30 mrc_listens server $MRC_PORT || true
	(in_ns "$NS1" timeout 90 env "${client[@]}" "${how[@]}" "$TO") >"$MRC_DIR/client.out" 2>&1 </dev/null || true
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	REPLY=$(awk -v n="$n" -v c="$column" '
		{ for (i = 1; i + c <= NF; i++) if ($i == n) { v = $(i + c); break } } END { print v ? v : "-" }' \
		"$MRC_DIR/client.out")
	[ "$REPLY" != - ] || sed 's/^/# /' "$MRC_DIR/client.out" >&2
}

# measure_mrc_h SIZE N: REPLY, MiB/s of libmrc's example mrc_bw, or "-". With ib_write_bw's timeout and its completion for
# each hundred WRITEs, and a receiver that sleeps, as that one's: who polls takes one of two processors.
measure_mrc_h() {
	local server client pid how=(mrc_bw -s "$1" -S "$1" -n "$2" -t 14 -Q 100)
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h1 v6 && client=$REPLY
	mrc_gid_index h2 v6 && server=$REPLY
	(in_ns "$NS2" "${how[@]}" -e -d "${MRC_IBDEV[h2]}" -g "$server" -p $MRC_PORT) \
		>"$MRC_DIR/server.out" 2>&1 </dev/null &
	pid=$!
	(in_ns "$NS1" timeout 90 "${how[@]}" -d "${MRC_IBDEV[h1]}" -g "$client" -p $MRC_PORT "$TO") \
		>"$MRC_DIR/client.out" 2>&1 </dev/null || true
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	REPLY=$(awk -v size="$1" '$1 == size && NF == 3 { v = $3 * 1e6 / 1048576 }
		END { print v ? v : "-" }' "$MRC_DIR/client.out")
	[ "$REPLY" != - ] || sed 's/^/# /' "$MRC_DIR/client.out" >&2
}

stage() {	# NAME
	local name=$1
	measure 4 65536 ib_write_bw -n 2000
	RESULT[$name.bw64k]+=" $REPLY"
	echo "$name ib_write_bw 64 KiB: $REPLY MiB/s"
	# Against ib_write_bw on the same device just now; rxe has no mrc.h.
	if [ "$name" != rxe ] && command -v mrc_bw >/dev/null; then
		measure_mrc_h 65536 2000
		RESULT[$name.mrch]+=" $REPLY"
		echo "$name mrc_bw (mrc.h) 64 KiB: $REPLY MiB/s"
	fi
	measure 4 1048576 ib_write_bw -n 50
	RESULT[$name.bw1m]+=" $REPLY"
	echo "$name ib_write_bw 1 MiB: $REPLY MiB/s"
	measure 5 64 ib_send_lat -n 5000
	RESULT[$name.lat]+=" $REPLY"
	echo "$name ib_send_lat 64 B, polling: $REPLY us"
	if command -v ucx_perftest >/dev/null; then
		measure_ucx 5 65536 tag_bw 1000
		RESULT[$name.ucxbw]+=" $REPLY"
		echo "$name UCX tag_bw 64 KiB: $REPLY MB/s"
		measure_ucx 3 64 tag_lat 1000
		RESULT[$name.ucxlat]+=" $REPLY"
		echo "$name UCX tag_lat 64 B: $REPLY us"
	fi
}

# A better number is larger (bandwidth) or smaller (latency): the ratio says how many times
# better than rxe in the same round, the worst and the best round.
row() {		# NAME KEY UNIT larger|smaller
	awk -v name="$1" -v unit="$3" -v better="$4" -v rxe="${RESULT[rxe.$2]:-}" \
	    -v one="${RESULT[mrc1.$2]:-}" -v four="${RESULT[mrc4.$2]:-}" '
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

# through_mrc_h NAME: the worst and the best round.
through_mrc_h() {
	awk -v name="$1" -v verbs="${RESULT[$1.bw64k]:-}" -v mrch="${RESULT[$1.mrch]:-}" 'BEGIN {
		n = split(mrch, m)
		split(verbs, v)
		for (i = 1; i <= n; i++) {
			if (!(m[i] + 0) || !(v[i] + 0)) continue
			q = m[i] / v[i]
			if (!low || q < low) low = q
			if (q > high) high = q
		}
		if (low) printf "%s: mrc_bw (mrc.h) against ib_write_bw, 64 KiB: %.2f-%.2f\n", name, low, high }'
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
		row "UCX tag_bw 64 KiB" ucxbw MB/s larger
		row "UCX tag_lat 64 B" ucxlat us smaller
		through_mrc_h mrc1
		through_mrc_h mrc4
		echo "Ratios above 1: mrc is better. One idle QP takes $qp_bytes bytes of kernel memory."
		for name in "${!RESULT[@]}"; do
			echo "  $name:${RESULT[$name]}"
		done | sort
	} | tee "$VMOUT/table.txt"
}

qp_bytes=unknown
main "$@"
