#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# libfabric, as Debian has it: fi_pingpong over its verbs provider, connected, over ofi_rxm and by
# datagrams, both families; every message is compared with what was sent. Each end names its device,
# since namespaces see those of all.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"

# pingpong FAMILY SUFFIX ARG...: the domain's name is the device's with that suffix.
pingpong() {
	local family=$1 suffix=$2 args=()
	shift 2
	progs_gids "$family" && progs_to "$family" || return
	[ "$family" = v4 ] || args=(-6)
	MRC_PORT=$((MRC_PORT + 1))
	args+=(-c "$@")
	mrc_pair 60 $MRC_PORT \
		env FI_VERBS_GID_IDX="$G2" fi_pingpong -B $MRC_PORT -d "$D2$suffix" "${args[@]}" -- \
		env FI_VERBS_GID_IDX="$G1" fi_pingpong -P $MRC_PORT -d "$D1$suffix" "${args[@]}" "$REPLY"
}

# The RNR timer that libfabric sets in RTS is heeded: with that of rdma_cm a message that meets no receive
# takes 655 ms.
no_long_waits() { ! grep -q 'set_rnr_timer' "$MRC_DIR/client.out" "$MRC_DIR/server.out"; }

ksft_plan
mrc_begin fi_pingpong
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
export FI_LOG_LEVEL=warn
for family in v4 v6; do
	ksft_test "verbs, connected, $family" progs_moved tx_bytes 300000 \
		pingpong $family '' -p verbs -e msg -I 5 -S 65536
	ksft_test "nobody was refused a shorter RNR timer" no_long_waits
	ksft_test "ofi_rxm, $family" progs_moved tx_bytes 300000 \
		pingpong $family '' -p 'verbs;ofi_rxm' -e rdm -I 5 -S 65536
	ksft_test "nor here" no_long_waits
done
ksft_test "ofi_rxm, tagged, all sizes" pingpong v6 '' -p 'verbs;ofi_rxm' -e rdm -m tagged -I 2
ksft_test "datagrams" progs_moved tx_dgrams 5 pingpong v6 -dgram -p verbs -e dgram -I 5 -S 1024
ksft_test "verbs, plane 1 cut" progs_cut pingpong v6 '' -p verbs -e msg -I @400 -S 65536
ksft_test "ofi_rxm, plane 1 cut" progs_cut pingpong v6 '' -p 'verbs;ofi_rxm' -e rdm -I @400 -S 65536
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
