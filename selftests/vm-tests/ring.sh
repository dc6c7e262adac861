#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full arm64
#
# libmrc's example mrc_ring: a ring all-reduce of ranks in namespaces through mrc.h, two QPs to each
# neighbour, WRITE and WRITE_WITH_IMM only, every element verified; a plane is cut under it, then a T1,
# then a T1 dies in silence.
#
#	h1 ... h2 (MRC_HOSTS=8: h8) mrc0 = 4 planes (8 hosts: 2), each 2 T0 - 2 T1, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ranks.sh"

# start RANKS ARG...: rank i in namespace h<i+1>.
start() {
	local i n=$1 hosts=()
	shift
	MRC_PORT=$((MRC_PORT + 1))
	for ((i = 1; i <= n; i++)); do
		fabric_host_addr $i
		hosts+=("$REPLY")
	done
	for ((i = 1; i <= n; i++)); do
		mrc_gid_index h$i v6 || return
		mrc_start rank$((i - 1)) h$i mrc_ring -d "${MRC_IBDEV[h$i]}" -g "$REPLY" -p $MRC_PORT \
			"${@}" -r $((i - 1)) "${hosts[@]}"
	done
}

# all_right RANKS SECS: each ends, and every element was right.
all_right() { ranks_right "$1" "$2" 'ok, .* every one right'; }
run() { start "$@" && all_right "$1" 120; }	# RANKS ARG...

rounds() { REPLY=$(grep -c '^round' "$MRC_DIR/rank0.out") || :; }
goes_on() { ranks_go_on "$1" rounds; }	# so many more
plane1_used() { mrc_plane_used rank0 1 tx; }
all_used() {
	local p
	for ((p = 1; p <= FABRIC_P; p++)); do
		mrc_plane_used rank0 $p tx || return
	done
}

# t1_2 COMMAND: with T1 number 2 of plane 1.
t1_2() { "$1" p1-t1-2 t0-1 && "$1" p1-t1-2 t0-2; }
# Its routes need both links.
t1_2_back() { ip -n p1-t1-2 link set t0-1 up && fabric_restore p1-t1-2 t0-2; }

# 8 EVs of each plane to each neighbour; some of those over the T1 that is gone are found out.
some_bad() { mrc_evs_are h1 assumed-bad -ge 2; }
none_bad() { mrc_evs_are h1 assumed-bad -eq 0; }

under_failures() {	# RANKS
	start "$1"
	ksft_test "$1 ranks: runs" goes_on 3
	ksft_test "$1 ranks: each plane carries it" mrc_until 20 all_used
	ksft_test "$1 ranks: plane 1 of h1 is cut" fabric_cut p1-t0-1 h1
	ksft_test "$1 ranks: goes on" goes_on 5
	ksft_test "$1 ranks: restored" fabric_restore p1-t0-1 h1
	ksft_test "$1 ranks: goes on" goes_on 3
	ksft_test "$1 ranks: plane 1 carries it again" mrc_until 30 plane1_used
	ksft_test "$1 ranks: a T1 of plane 1 is cut" t1_2 fabric_cut
	ksft_test "$1 ranks: its EVs are assumed bad" mrc_until 60 some_bad
	ksft_test "$1 ranks: goes on" goes_on 5
	ksft_test "$1 ranks: restored" t1_2_back
	ksft_test "$1 ranks: its EVs are good again" mrc_until 60 none_bad
	ksft_test "$1 ranks: a T1 of plane 1 swallows everything" t1_2 fabric_blackhole
	ksft_test "$1 ranks: its EVs are assumed bad" mrc_until 60 some_bad
	ksft_test "$1 ranks: goes on" goes_on 5
	t1_2 fabric_heal
	ksft_test "$1 ranks: goes on when it is mended" goes_on 3
	ksft_test "$1 ranks: every element was right" ranks_end "$1" 60 'ok, .* every one right'
}

section() {	# RANKS
	local n=$1 planes=4
	[ "$n" -eq 2 ] || planes=2
	ksft_test "$n hosts, $planes planes by hand" mrc_fabric_by_hand "$n" $planes 2 2
	ksft_test "$n ranks: a ring" run "$n" -n 20
	ksft_test "$n ranks: of one element" run "$n" -n 20 -e 1
	ksft_test "$n ranks: of chunks that are not alike" run "$n" -n 20 -e 10007
	under_failures "$n"
	# As in planes.sh: what is sent again after its message was acknowledged.
	ksft_test "$n ranks: nothing was counted that should not be" \
		mrc_expect_clean tx_errors rx_bad_icrc
	ksft_test "$n ranks: nothing is left" mrc_until 10 mrc_no_resources
}

ksft_plan
mrc_begin mrcctl mrc_ring
section 2
[ "${MRC_HOSTS:-2}" -eq 2 ] || section "$MRC_HOSTS"
ksft_finish
