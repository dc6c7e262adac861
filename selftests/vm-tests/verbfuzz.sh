#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: new uml arm64
#
# Commands of verbs in any order, right, wrong and damaged, through both interfaces of uverbs, rings
# scribbled over (verbs/mrc_fuzz.c), and forged packets meanwhile (verbs/mrc_forge.c). A connection beside
# them must not notice; nothing is left, and no splat (runvm looks for those). MRC_FUZZ_SECS=600 for longer,
# MRC_FUZZ_SEED for the seeds of a find.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

secs=${MRC_FUZZ_SECS:-$([ -n "${MRC_FULL:-}" ] && echo 60 || echo 20)}
seed=${MRC_FUZZ_SEED:-$EPOCHSECONDS}

resources() { rdma resource show | grep -E '^[0-9]+: mrc1:'; }
as_before() { [ "$(resources)" = "$before" ] || { resources; return 1; }; }

fuzzed() {
	local rc=0
	mrc_wait fuzz $((secs * 3 + 300)) || rc=$?
	echo "status $rc: $(mrc_out fuzz 30)"
	[ $rc -eq 0 ]
}

# sum NAME KEY AT_LEAST: of what a program counted.
sum() {
	REPLY=$(sed -nE "s/(.*[ ^]|^)$2=([0-9]+).*/\2/p" "$MRC_DIR/$1.out" | tail -n 1)
	echo "$2=$REPLY, expected $3 or more: $(mrc_out "$1")"
	[ "${REPLY:-0}" -ge "$3" ]
}

# Each of the walls that forged packets met has counted some.
walls() {
	local counter
	for counter in rx_malformed rx_bad_icrc rx_unknown_qp rx_wrong_source; do
		mrc_stat h1 $counter
		echo "$counter $REPLY"
		[ "$REPLY" -gt 0 ] || return
	done
}

ksft_plan
mrc_begin mrcctl mrc_fuzz mrc_forge mrc_verify
ksft_comment "seed $seed, $secs s"
ksft_test "one plane" mrc_one_plane
before=$(resources)
# shellcheck disable=SC2034
MRC_STALL=240
ksft_test "a connection" mrc_verify_start -u 21 -o mix -q 4 -s 4096 -t 6000
ksft_test "that works" mrc_flows 60
qpn=$(mrc_qp_of h1 qpn)
mrc_start fuzz h1 mrc_fuzz -d "${MRC_IBDEV[h1]}" -t "$secs" -s "$seed"
mrc_start forge h2 mrc_forge -t "$secs" -s "$seed" -d fd00:6d72:63::1 -f fd00:6d72:63::2 \
	-q "$qpn" -x "$qpn"
ksft_test "commands in any order are answered as the manual pages say" fuzzed
ksft_comment "$(mrc_out fuzz 1)"
ksft_test "forged packets were sent" mrc_wait forge 300
ksft_comment "$(mrc_out forge 1)"
ksft_test "objects were made" sum fuzz made 100
ksft_test "bad ones refused" sum fuzz refused 100
ksft_test "what others need was busy" sum fuzz busy 10
ksft_test "requests completed" sum fuzz completed 50
ksft_test "damaged commands went to the kernel" sum fuzz damaged 50
ksft_test "the walls have counted forged packets" walls
ksft_test "the connection beside has not noticed" mrc_flows 60
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "nothing is left" mrc_until 30 as_before
ksft_test "and a new connection works" mrc_verify 60 -o mix -n 50
ksft_finish
