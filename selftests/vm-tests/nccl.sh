#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: old
#
# What NCCL does with verbs, and UCX: rings and all-to-alls of ranks in namespaces, every byte verified,
# a plane cut, one that dies in silence, and both come back under them: verbs/mrc_nccl.c. NCCL's ring also
# with QPs of mrc.h.
#
#	h1 ... h2 (MRC_HOSTS=8: h8) mrc0 = 2 planes, each 2 T0 - 1 T1, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ranks.sh"

world=$MRC_DIR/world
before_rank=()	# words before the program's name
export MRC_WHY='mrcctl -d qp show | head -n 8'	# a rank that stands still shows its QPs

# start RANKS ARG...: rank i in namespace h<i+1>.
start() {
	local i n=$1
	shift
	rm -rf "$world"
	mkdir -p "$world"
	for ((i = 0; i < n; i++)); do
		mrc_start rank$i h$((i + 1)) "${before_rank[@]}" mrc_nccl -d "${MRC_IBDEV[h$((i + 1))]}" -T 240 \
			-x "$world" -r $i -n "$n" "$@"
	done
}

run() {		# RANKS ARG...
	start "$@" && ranks_right "$1" 60 ok
}

# of RANK KEY: REPLY, from its line.
of() {
	REPLY=$(sed -nE "s/^rank .* $2=([0-9]+).*/\1/p" "$MRC_DIR/rank$1.out")
}
at_least() {	# RANK KEY NUMBER
	of "$1" "$2"
	echo "$2 of rank $1: $REPLY, expected $3 or more"
	[ "$REPLY" -ge "$3" ]
}

done_of() { read -r REPLY 2>/dev/null <"$world/done.0" || REPLY=0; }
goes_on() { ranks_go_on "$1" done_of; }	# so many more iterations

silent() { fabric_blackhole p1-t1-1 t0-1 && fabric_blackhole p1-t1-1 t0-2; }
heal() { fabric_heal p1-t1-1 t0-1; fabric_heal p1-t1-1 t0-2; }

plane1_used() { mrc_plane_used rank0 1 tx; }

under_failures() {	# RANKS ARG...
	local what="$1 ranks, ${*:2}"
	start "$@" -t 1200
	ksft_test "$what: runs" goes_on 2
	ksft_test "$what: both planes carry it" mrc_until 20 plane1_used
	ksft_test "$what: plane 1 of h1 is cut" fabric_cut p1-t0-1 h1
	ksft_test "$what: goes on" goes_on 3
	ksft_test "$what: restored" fabric_restore p1-t0-1 h1
	ksft_test "$what: goes on" goes_on 3
	ksft_test "$what: plane 1 carries it again" mrc_until 30 plane1_used
	ksft_test "$what: plane 1 swallows everything" silent
	ksft_test "$what: goes on" goes_on 3
	heal
	ksft_test "$what: goes on when it is mended" goes_on 3
	ksft_test "$what: every byte was right" ranks_end "$1" 60 ok
}

shims() {	# RANKS: two QPs to either neighbour
	local i
	for ((i = 0; i < $1; i++)); do
		grep -q 'mrc_shim: 4 queue pairs were of mrc.h' "$MRC_DIR/rank$i.out" && continue
		echo "rank $i: $(mrc_out rank$i 40)"
		return 1
	done
}

# The ring once more, its QPs of mrc.h: libmrc's example mrc_shim.
through_mrc_h() {	# RANKS
	local what="$1 ranks through mrc.h"
	local before_rank=(env MRC_DEBUG=1 LD_PRELOAD="$MRC_TOP/build/verbs/mrc_shim.so")
	start "$1" -t 1200 -o ring -p 32 -F
	ksft_test "$what: the ring runs" goes_on 2
	ksft_test "$what: both planes carry it" mrc_until 20 plane1_used
	ksft_test "$what: plane 1 of h1 is cut" fabric_cut p1-t0-1 h1
	ksft_test "$what: goes on" goes_on 3
	ksft_test "$what: restored" fabric_restore p1-t0-1 h1
	ksft_test "$what: goes on" goes_on 2
	ksft_test "$what: every byte was right" ranks_end "$1" 60 ok
	ksft_test "$what: its QPs were" shims "$1"
}

section() {	# RANKS
	local n=$1
	ksft_test "$n hosts, two planes by hand" mrc_fabric_by_hand "$n" 2 2 1
	ksft_test "$n ranks: ring as NCCL" run "$n" -o ring -p 32
	ksft_test "$n ranks: the halves ended with empty WRITE_IMMs" at_least 0 empty_imms 100
	ksft_test "$n ranks: each message was read behind" at_least 0 flushed 100
	ksft_test "$n ranks: with relaxed ordering" at_least 0 relaxed 1
	ksft_test "$n ranks: dma-bufs were said to be supported" at_least 0 dmabufs 1
	ksft_test "$n ranks: ring of small messages" run "$n" -o ring -s 4096 -p 64
	ksft_test "$n ranks: all-to-all as NCCL" run "$n" -o all2all -p $((512 / n))
	[ "$n" -gt 2 ] ||
		ksft_test "$n ranks: hundreds were under way" at_least 0 deepest 200
	ksft_test "$n ranks: ring as UCX, rendezvous" run "$n" -m ucx -q 64 -p 32
	ksft_test "$n ranks: by READs" at_least 0 reads 100
	ksft_test "$n ranks: all-to-all as UCX" run "$n" -m ucx -q 64 -o all2all -s 8192 -p $((256 / n))
	ksft_test "$n ranks: some eager" at_least 0 eager 50
	ksft_test "$n ranks: some by READs" at_least 0 reads 50
	under_failures "$n" -o ring -p 32
	through_mrc_h "$n"
	under_failures "$n" -m ucx -q 64 -o all2all -p $((128 / n))
	# As in planes.sh: what is sent again after its message was acknowledged.
	ksft_test "$n ranks: nothing was counted that should not be" \
		mrc_expect_clean tx_errors rx_bad_icrc
	ksft_test "$n ranks: nothing is left" mrc_until 10 mrc_no_resources
}

ksft_plan
mrc_begin mrcctl mrc_nccl
section 2
[ "${MRC_HOSTS:-2}" -eq 2 ] || section "$MRC_HOSTS"
ksft_finish
