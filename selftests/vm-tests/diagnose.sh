#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full uml
#
# mrcd probes, judges and says one sentence: a T1 that drops downwards, a cable that drops upwards, a NIC cable. "mrcctl fabric
# diagnose" says the same of both hosts' files, and nothing is said while all is well.
#
#	h1, h2: mrc0 = 4 planes, each 2 T0 and 2 T1, SRv6	by mrcd
#
# Nothing is judged by how fast it came. A host that is slow makes probes void, not lost.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

file=$FABRIC_DIR/fabric.toml

# probing HOST: its daemon anew, with probes.
probing() {
	mrc_kill "mrcd-$1"
	rm -f "$FABRIC_DIR/$1.ready"
	mrc_start "mrcd-$1" "$1" mrcd -c "$file" -n "$1" --ready-file "$FABRIC_DIR/$1.ready" --probe slow --probe-timeout 4000 \
		--probe-mode advise --probe-file "$MRC_DIR/$1.jsonl" --event-file "$MRC_DIR/$1.events"
	mrc_until 60 mrc_mrcd_ready "$1"
}
# said HOST PATTERN: a verdict of its mrcd fits.
said() { grep -E "$2" "$MRC_DIR/mrcd-$1.out" || { mrc_out "mrcd-$1" 12; return 1; }; }
# finds HOST PATTERN
finds() { mrc_until 120 said "$@" || said "$@"; }
# verdicts HOST: how many its mrcd has said, be they of faults or of their end.
verdicts() { cat "$MRC_DIR/$1.events" 2>/dev/null | grep -c '"event":"verdict"' || :; }
received() {
	mrcctl -n "$1" -j selfprobe show dev mrc0 |
		jq -e --argjson n "$2" '[.[1:][] | select(.plane) | .received] | length >= 20 and min >= $n'
}
# says STATUS PATTERN: of the files of both hosts.
says() {
	local rc=0 text
	text=$(mrcctl fabric diagnose "$file" results "$MRC_DIR/h1.jsonl" results "$MRC_DIR/h2.jsonl") || rc=$?
	echo "status $rc: $text"
	[ $rc -eq "$1" ] && grep -qE "$2" <<<"$text"
}
lasting() { ip -n "$1" neigh change fe80::"$3" dev "$2" nud permanent; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "four planes by mrcd" mrc_fabric_mrcd 2 4 2 2
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 900
ksft_test "over all planes" mrc_flows
for host in h1 h2; do
	ksft_test "$host probes" probing $host
done
for host in h1 h2; do
	ksft_test "all of $host's probes come back" mrc_until 120 received $host 12
done
ksft_equal "h1 says nothing" 0 "$(verdicts h1)"
ksft_equal "nor does h2" 0 "$(verdicts h2)"
ksft_test "the files of both are well" mrc_until 60 says 0 "2 hosts"

ksft_test "switches keep their neighbours" eval "lasting p3-t0-1 t1-2 2 && lasting p2-t1-1 t0-1 1"
ksft_test "p3-t1-2 drops what goes to p3-t0-1" fabric_blackhole p3-t1-2 t0-1
ksft_test "h1 names the uplink, and the direction" finds h1 'plane 3: p3-t1-2 to p3-t0-1 .*downwards'
ksft_test "so do the files of both" mrc_until 60 says 1 'plane 3: p3-t1-2 to p3-t0-1 .*downwards'
fabric_heal p3-t1-2 t0-1
ksft_test "mended, it is good again, after a minute" mrc_until 300 said h1 'p3-t1-2 to p3-t0-1 is no longer blamed'
ksft_test "p2-t0-1 drops what goes to p2-t1-1" fabric_blackhole p2-t0-1 t1-1
ksft_test "h1 names the uplink, and the direction" finds h1 'plane 2: p2-t0-1 to p2-t1-1 .*upwards'
fabric_heal p2-t0-1 t1-1
ksft_test "p4-t0-1 drops what goes to h1" fabric_blackhole p4-t0-1 h1
ksft_test "h1 names its cable" finds h1 'plane 4: .*h1.*p4-t0-1|plane 4: .*p4-t0-1.*h1'
ksft_test "with a line to type" said h1 'Advice: mrcctl plane set dev mrc0 plane 4 admin off'
fabric_heal p4-t0-1 h1
# Probes of h2 go up one T1, to h1's T0, and down another: it may see both uplinks, and nothing else.
elsewhere() { ! grep '"event":"verdict"' "$MRC_DIR/h2.events" | grep -vE 'p[23]-t(0-1|1-[12]) to p[23]-t(0-1|1-[12])'; }
ksft_test "h2 blames these uplinks at most" elsewhere
ksft_comment "h2: $(mrc_out mrcd-h2 4 | tr '\n' ' ')"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
