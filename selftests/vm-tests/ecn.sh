#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full
#
# One T1 of four is slow and marks what waits in it: it is left, the others take its share.
#
#	h1 mrc0 = 1 plane, T0 - 4 T1 - T0, SRv6		by hand
#	every T1's port to the receiver's T0 has a rate and marks above a few packets

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"

# All that is in flight (-q 4) fits into any of the queues: nothing is dropped.
FAST="rate 40000000 limit 1000000 ecn 24000"
SLOW="rate 5000000 limit 1000000 ecn 9000"

# passed: PASSED[n], KiB through T1 n since the last call; REPLY, of all. (Not packets: there
# are small ones that ask for the state of a path, just where it is bad.)
declare -A SEEN=() PASSED=()
passed() {
	local n
	REPLY=0
	for n in 1 2 3 4; do
		local all=$REPLY
		port_stat p1-t1-$n t0-2 data_bytes || return
		PASSED[$n]=$(((REPLY - ${SEEN[$n]:-0}) / 1024))
		SEEN[$n]=$REPLY
		REPLY=$((all + PASSED[$n]))
	done
}

# enough N: that many KiB have passed since the last call of passed.
enough() {
	local n sum=0
	for n in 1 2 3 4; do
		port_stat p1-t1-$n t0-2 data_bytes || return
		sum=$((sum + (REPLY - SEEN[$n]) / 1024))
	done
	[ $sum -ge "$1" ]
}

# share N: REPLY, per mille of what passed while COUNT did.
COUNT=8000
share() {
	passed
	mrc_until 120 enough $COUNT || return
	passed
	SHARES="${PASSED[1]} ${PASSED[2]} ${PASSED[3]} ${PASSED[4]}"
	REPLY=$((PASSED[$1] * 1000 / REPLY))
}

ksft_plan
mrc_begin mrcctl mrc_verify
port_begin
ksft_test "one plane, four T1, by hand" mrc_fabric_by_hand 2 1 2 4
for n in 1 2 3 4; do
	# shellcheck disable=SC2086
	port_set p1-t1-$n t0-2 $FAST
done
ksft_test "data flows" mrc_verify_start -o write_imm -q 4 -s 65536 -t 900
ksft_test "over the plane" mrc_flows
ksft_test "what passes is counted" share 1
before=$REPLY
ksft_test "T1 1 has its share ($before of 1000; $SHARES)" test "$before" -gt 150 -a "$before" -lt 350

# shellcheck disable=SC2086
ksft_test "T1 1 becomes slow" port_set p1-t1-1 t0-2 $SLOW
share 1		# until the marks have come round
ksft_test "data flows" share 1
ksft_test "T1 1 is left ($REPLY of 1000; $SHARES)" test "$REPLY" -lt $((before * 8 / 10))
for n in 2 3 4; do
	ksft_test "T1 $n has taken over from it" test "${PASSED[$n]}" -gt $((PASSED[1] * 5 / 4))
done
port_stat p1-t1-1 t0-2 marked
ksft_test "its packets were marked ($REPLY)" test "$REPLY" -gt 0
mrc_stat h2 rx_ecn
ksft_test "the receiver saw marks through SRv6 ($REPLY)" test "$REPLY" -gt 0
skip_seen() { mrc_evs_are h1 skip -gt 0; }
ksft_test "EVs are passed over" mrc_until 60 skip_seen
mrc_evs h1 assumed-bad	# its delay may be taken for a loss, which is another matter
ksft_comment "assumed bad: $REPLY"

# shellcheck disable=SC2086
ksft_test "T1 1 is fast again" port_set p1-t1-1 t0-2 $FAST
back() { share 1 && [ "$REPLY" -gt $((before * 7 / 10)) ]; }
ksft_test "and gets its share back" mrc_until 120 back
ksft_comment "of 1000: $REPLY; $SHARES"

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
mrc_stat h1 timeouts
ksft_comment "timeouts $REPLY, $(mrc_retransmitted h1; echo "retransmitted $REPLY")"
for n in 1 2 3 4; do
	ksft_comment "$(port_show p1-t1-$n t0-2)"
done
# A packet that waits here while another copy of it arrives may carry what the program wrote
# meanwhile.
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_finish
