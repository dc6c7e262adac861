#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# UCX, as Debian has it: ucx_perftest with the transports by name and by UCX's own choice, both
# families of GIDs, and io_demo, which checks what it reads and writes and connects by rdma_cm. UCX looks at what
# completions of datagrams say of their IP header, as adapters of mlx5 do.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"

# Both ends read the tests from here: "NAME TEST...".
batch() {
	cat >"$MRC_DIR/ucx.batch" <<-'BATCH'
		tag_bw -t tag_bw -s 65536 -n 40 -w 2
		tag_lat -t tag_lat -s 64 -n 40 -w 2
		am_bw -t ucp_am_bw -s 8192 -n 40 -w 2
		am_lat -t ucp_am_lat -s 8192 -n 40 -w 2
		put_bw -t ucp_put_bw -s 65536 -n 40 -w 2
		put_lat -t ucp_put_lat -s 8 -n 40 -w 2
		get -t ucp_get -s 65536 -n 40 -w 2
		fadd -t ucp_fadd -s 8 -n 40 -w 2
		cswap -t ucp_cswap -s 8 -n 40 -w 2
	BATCH
}

# perftest ENV... -- ARG...: UCX's, from h1 to h2.
perftest() {
	local vars=()
	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair 60 $MRC_PORT \
		env UCX_NET_DEVICES="$D2:1" "${vars[@]/GID/UCX_IB_GID_INDEX=$G2}" \
			ucx_perftest -p $MRC_PORT "$@" -- \
		env UCX_NET_DEVICES="$D1:1" "${vars[@]/GID/UCX_IB_GID_INDEX=$G1}" \
			ucx_perftest -p $MRC_PORT "$@" 10.77.0.2
}

# all_of_them ENV...: each of the tests has a line of results, of as many rounds as were asked for.
all_of_them() {
	local name rest
	perftest "$@" -- -f -b "$MRC_DIR/ucx.batch" || return
	while read -r name rest; do
		grep -qE "^ *$name +40 " "$MRC_DIR/client.out" && continue
		echo "no result of $name: $(mrc_out client 40)"
		return 1
	done <"$MRC_DIR/ucx.batch"
}

ucx_listens() { grep -q 'started listener' "$MRC_DIR/server.out"; }

# demo FAMILY ROUNDS ARG...: io_demo, both ends of which check what they get. It connects by IPv4 only,
# and then takes GIDs of FAMILY.
demo() {
	local rounds=$2 how rc=0
	progs_gids "$1" || return
	shift 2
	MRC_PORT=$((MRC_PORT + 1))
	how=("UCX_TLS=rc,ud" io_demo -q -p "$MRC_PORT" -d 4096:100000 "$@")
	mrc_start server h2 env UCX_NET_DEVICES="$D2:1" UCX_IB_GID_INDEX="$G2" "${how[@]}"
	mrc_until 30 ucx_listens || { echo "no server: $(mrc_out server)"; return 1; }
	mrc_start client h1 env UCX_NET_DEVICES="$D1:1" UCX_IB_GID_INDEX="$G1" "${how[@]}" \
		-i "$rounds" -o read,write -w 8 10.77.0.2
	"${MRC_MEANWHILE:-:}" || rc=1
	mrc_wait client 90 || rc=$?
	mrc_kill server
	grep -q "Client exit with status 'OK'" "$MRC_DIR/client.out" && [ $rc -eq 0 ] && return
	echo "status $rc, client: $(mrc_out client 12) server: $(mrc_out server)"
	return 1
}

ksft_plan
mrc_begin ucx_perftest io_demo
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
batch
for family in v4 v6; do
	progs_gids $family
	ksft_test "rc_verbs and ud_verbs, $family" progs_moved tx_bytes 5000000 all_of_them UCX_TLS=rc_verbs,ud_verbs GID
	ksft_test "datagrams alone, $family" progs_moved tx_dgrams 160 perftest UCX_TLS=ud_verbs GID -- \
		-t tag_bw -s 16384 -n 40 -w 2
done
# It polls until there is nothing, then arms its queues and sleeps: what came in between must wake it.
for name in tag_lat tag_bw; do
	ksft_test "$name, sleeping between completions" progs_moved tx_bytes 30000 perftest UCX_TLS=rc_verbs,ud_verbs GID -- \
		-t $name -s 8192 -n 200 -w 2 -E sleep
done
ksft_test "rc and ud, of which UCX chooses, and the GID" progs_moved tx_bytes 5000000 all_of_them UCX_TLS=rc,ud
ksft_test "io_demo: data checked, v4" progs_moved tx_bytes 400000 demo v4 40
ksft_test "io_demo: active messages, data checked, v6" progs_moved tx_bytes 400000 demo v6 40 -A
ksft_test "io_demo: data checked, plane 1 cut" progs_cut demo v6 @1000
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
