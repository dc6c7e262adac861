#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new
#
# The fabric without mrcd and without the module: SRv6 packets cross it along the
# path they name, and every kind of failure does what its name says.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"

# An inner address to ping, behind End.DT6 in place of the module.
INNER=fd0b::

# terminate HOST: deliver what arrives for any of its uSIDs.
terminate() {
	local p REPLY
	ip -n "h$1" address add "$INNER$1/128" dev lo nodad
	for ((p = 1; p <= FABRIC_P; p++)); do
		fabric_usid_host $p "$1"
		ip -n "h$1" -6 route add "$FABRIC_BLOCK:$REPLY::/48" \
			encap seg6local action End.DT6 table 255 dev "eth$p"
	done
}

# direct FROM TO PLANE T1
direct() {
	ip -n "h$1" -6 route replace "$INNER$2/128" src "$INNER$1" encap seg6 \
		mode encap.red segs "$(fabric_path "$1" "$2" "$3" "$4")" dev "eth$3"
}

reaches() { fabric_in h1 ping -q -c "${2:-1}" -i 0.01 -W 10 "$INNER$1"; }
not() { ! "$@"; }
received() { ip -n "$1" -j -s link show dev "$2" | jq '.[0].stats64.rx.packets'; }
no_carrier() { ip -n "$1" -j link show dev "$2" | jq -e '.[0].flags | index("NO-CARRIER")'; }

# The packets of a ping really come by the switch port named.
passes() {	# NS IF
	local before
	before=$(received "$1" "$2")
	reaches 2 20 && [ $(($(received "$1" "$2") - before)) -ge 20 ]
}

ksft_plan
need_root
need_cmd ip tc jq ping nsenter
at_exit fabric_destroy

ksft_test "build 3 hosts, 2 planes, 2 T0, 2 T1" fabric_build 3 2 2 2
ksft_test "program it by hand" fabric_program_static
for h in 1 2 3; do terminate $h; done
direct 2 1 1 1
direct 3 1 2 1

for p in 1 2; do
	for t in 1 2; do
		direct 1 2 $p $t
		ksft_test "plane $p crosses T1 $t" passes "p$p-t1-$t" t0-1
	done
done
direct 1 3 1 0
ksft_test "hosts at one T0 need no T1" reaches 3

direct 1 2 1 2
fabric_blackhole p1-t1-2 t0-2
ksft_test "a black hole swallows" not reaches 2
direct 1 2 1 1
ksft_test "the other T1 still works" reaches 2
fabric_heal p1-t1-2 t0-2
direct 1 2 1 2
ksft_test "healed" reaches 2

fabric_degrade p1-t0-2 h2 delay 30ms
rtt=$(fabric_in h1 ping -q -c 2 -i 0.1 "${INNER}2" | sed -nE 's/^rtt.* = ([0-9]+).*/\1/p')
ksft_test "a degraded cable is slow: $rtt ms" test "$rtt" -ge 30
fabric_heal p1-t0-2 h2

fabric_cut p1-t0-1 t1-2
ksft_test "the far end of a cut cable sees it" wait_until 5 no_carrier p1-t1-2 t0-1
ksft_test "a cut cable carries nothing" not reaches 2
direct 1 2 1 1
ksft_test "a cut uplink leaves the switch's own SID" reaches 2
fabric_restore p1-t0-1 t1-2
direct 1 2 1 2
ksft_test "restored" wait_until 5 reaches 2

ksft_test "the description names every port" \
	test "$(fabric_toml 3 2 2 2 | grep -c '^\[\[host.port\]\]')" -eq 6
if python3 -c 'import tomllib' 2>/dev/null; then
	ksft_test "the description is TOML" \
		python3 -c 'import sys, tomllib; tomllib.load(sys.stdin.buffer)' < <(fabric_toml 3 2 2 2)
else
	ksft_skip "the description is TOML" "python3 has no tomllib"
fi
ksft_test "destroy" fabric_destroy
ksft_finish
