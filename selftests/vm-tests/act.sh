#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full uml
#
# mrcd acts: a cable swallows packets, the verdict comes, no EV crosses it any more, data goes on; mrcd is killed, and its
# list expires; mended, nothing is avoided.
#
#	h1, h2: mrc0 = 2 planes, each 2 T0 and 2 T1, SRv6	by mrcd
#
# Nothing is judged by how fast it came: what has to happen is waited for.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

file=$FABRIC_DIR/fabric.toml

# acting EXPIRY: the daemon of h1 anew, with probes.
acting() {
	mrc_kill mrcd-h1
	rm -f "$FABRIC_DIR/h1.ready"
	mrc_start mrcd-h1 h1 mrcd -c "$file" -n h1 --ready-file "$FABRIC_DIR/h1.ready" --probe slow --probe-timeout 4000 \
		--probe-mode act --avoid-expiry "$1"
	mrc_until 60 mrc_mrcd_ready h1
}
# The same by the fabric file's [probe].
acting_by_file() {
	mrc_kill mrcd-h1
	rm -f "$FABRIC_DIR/h1.ready"
	{ cat "$file"; printf '\n[probe]\nrate = "slow"\nmode = "act"\ntimeout_ms = 4000\navoid_expiry_s = %u\n' "$1"; } >"$FABRIC_DIR/h1.toml"
	mrc_start mrcd-h1 h1 mrcd -c "$FABRIC_DIR/h1.toml" -n h1 --ready-file "$FABRIC_DIR/h1.ready"
	mrc_until 60 mrc_mrcd_ready h1
}
said() { grep -E "$1" "$MRC_DIR/mrcd-h1.out" || { mrc_out mrcd-h1 12; return 1; }; }
list() { mrcctl -n h1 -j avoid show dev mrc0; }
listed() { list | jq -e "length $1"; }
avoided() { mrcctl -n h1 -j ev show dev mrc0 | jq '[.[] | select(.avoided)] | length'; }
avoids() { local n; n=$(avoided); echo "$n EVs are avoided"; test "$n" "$@"; }
sent() { mrcctl -n h1 -j ev show dev mrc0 | jq "[.[] | $1 | .tx_pkts] | add"; }
more() { local now; now=$(sent .); echo "sent $now, was $1"; [ "$now" -gt "$1" ]; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "two planes by mrcd" mrc_fabric_mrcd 2 2 2 2
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 900
ksft_test "over all planes" mrc_flows
ksft_test "mrcd acts" acting 600
ksft_test "a switch keeps its neighbour" ip -n p2-t1-1 neigh change fe80::1 dev t0-1 nud permanent
ksft_test "p2-t0-1 drops what goes to p2-t1-1" fabric_blackhole p2-t0-1 t1-1
ksft_test "mrcd names the uplink" mrc_until 200 said 'plane 2: p2-t0-1 to p2-t1-1 .*upwards'
ksft_test "and avoids it" mrc_until 30 said 'plane 2: p2-t0-1 to p2-t1-1 is avoided'
ksft_test "the module has it" listed ">= 1"
ksft_test "EVs are set aside" mrc_until 30 avoids -gt 0
mrc_sleep 1		# what was under way
# The same EVs twice: a verdict may grow to both ways of a cable, and then more are avoided.
these=$(mrcctl -n h1 -j ev show dev mrc0 | jq -c '[.[] | select(.avoided) | [.peer, .index]]')
mine="select([.peer, .index] as \$ev | $these | index([\$ev]))"
was=$(sent "$mine") all=$(sent .)
ksft_test "data still flows" mrc_until 60 more $((all + 300))
none() { local now; now=$(sent "$mine"); echo "sent $now, was $was"; [ "$now" -eq "$was" ]; }
ksft_test "and none by them" none
ksft_test "mrcd begins anew with a short list, by its file" acting_by_file 5
ksft_test "and avoids it again" mrc_until 200 said 'is avoided'
ksft_test "it is renewed" mrc_until 30 listed ">= 1"
ksft_test "mrcd is killed" mrc_kill mrcd-h1
ksft_test "its list expires" mrc_until 60 listed "== 0"
ksft_test "no EV is set aside" mrc_until 30 avoids -eq 0
fabric_heal p2-t0-1 t1-1
ksft_test "mended, data flows over all planes" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
