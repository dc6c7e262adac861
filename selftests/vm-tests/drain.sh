#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full uml
# timeout: 240
#
# Planned work under traffic: precheck, both hosts drain a T1, its own ports count nothing any more, it is rebooted, and
# comes back. What cannot be drained is said.
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
fabric() { local host=$1 verb=$2; shift 2; mrcctl -n "$host" fabric "$verb" "$@" file "$file"; }
refused() {	# TEXT HOST VERB ARG...
	local text=$1 out
	shift
	! out=$(fabric "$@" 2>&1) && echo "$out" && [[ $out = *"$text"* ]]
}
# Bytes that came to the T1. Neighbour discovery is some hundred of these.
came() {
	REPLY=$(($(ip -n p1-t1-1 -s -j link show t0-1 | jq '.[0].stats64.rx.bytes') + $(ip -n p1-t1-1 -s -j link show t0-2 | jq '.[0].stats64.rx.bytes')))
}
in_secs() { local was; came; was=$REPLY; mrc_sleep "$1"; came; REPLY=$((REPLY - was)); echo "$REPLY bytes"; }
comes() { in_secs 1; [ "$REPLY" -gt 20000 ]; }
silent() { in_secs 3; [ "$REPLY" -lt 1000 ]; }
each() { ip -n p1-t1-1 link set t0-1 "$1"; ip -n p1-t1-1 link set t0-2 "$1"; }
retries() { local n; mrc_stat h1 timeouts; n=$REPLY; mrc_stat h2 timeouts; echo $((n + REPLY)); }
well() { local out; out=$(fabric "$1" precheck "${@:2}") || true; grep -c ' well planes' <<<"$out" || { echo "$out"; return 1; }; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify jq
ksft_test "two planes by mrcd" mrc_fabric_mrcd 2 2 2 2
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
ksft_equal "precheck of all, before anybody talked: one other host" 1 "$(well h1 all)"
ksft_test "of one by name" well h2 h1
ksft_test "of none" refused "did you mean" h1 precheck h3
ksft_test "of a switch" refused "is a switch" h1 precheck p1-t0-1
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 900
ksft_test "over all planes" mrc_flows
ksft_test "by the T1, too" mrc_until 60 comes

# ------------------------------------------------------------------------ one T1
ksft_test "h1 drains it" fabric h1 drain p1-t1-1
ksft_test "once more is no error" fabric h1 drain p1-t1-1
ksft_test "h2 drains it" fabric h2 drain p1-t1-1
ksft_test "no packet of MRC comes to it" silent
was=$(retries)
ksft_test "it is switched off" each down
ksft_test "data flows over all planes" mrc_flows
ksft_equal "and no timeout was needed" "$was" "$(retries)"
ksft_test "precheck sees what is missing" refused "PATHS MISSING" h1 precheck h2
ksft_test "it is back" each up
ksft_test "and answers" mrc_until 120 well h1 h2
for host in h1 h2; do
	ksft_test "$host sends over it again" fabric $host undrain p1-t1-1
done
ksft_test "so it has packets" mrc_until 60 comes
ksft_test "what is not drained" refused "is not drained" h1 undrain p1-t1-1

# -------------------------------------------------------------- cables, and too much
ksft_test "a cable, from either end" fabric h1 drain p1-t1-2 to p1-t0-1
ksft_test "two links are avoided" eval 'mrcctl -n h1 -j avoid show dev mrc0 | jq -e "length == 2"'
named() {	# OBJECT WANTED: JSON of show by the file's names has it
	mrcctl -n h1 -j "$1" show dev mrc0 fabric "$file" | tee "$MRC_DIR/named" | grep -qF "$2" || { head -c 600 "$MRC_DIR/named"; return 1; }
}
ksft_test "by the names of the file" named avoid '"name":"p1-t1-2 to p1-t0-1"'
ksft_test "as EVs have them" named ev '"by":["p2-t0-1","p2-t1-2","p2-t0-2"]'
ksft_test "and are not, from the other" fabric h1 undrain p1-t0-1 to p1-t1-2
ksft_test "no cable" refused "no cable joins" h1 drain p1-t0-1 to p2-t1-1
ksft_test "a host" refused "is a host" h1 drain h2
ksft_test "a mistyped switch" refused "did you mean" h1 drain p1-t1-11
ksft_test "h1 drains its T0 of a plane" fabric h1 drain p1-t0-1
ksft_test "of both it cannot" refused "still sends over p2-t0-1" h1 drain p2-t0-1 timeout 3
ksft_test "that ends" fabric h1 undrain p2-t0-1
ksft_test "and the other" fabric h1 undrain p1-t0-1
ksft_test "data flows over all planes" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
