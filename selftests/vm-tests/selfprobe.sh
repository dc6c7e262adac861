#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: new uml
#
# Self-probes: a host sends packets to itself by source route. Which of five paths a plane are silent tells which cable drops
# packets, and in which direction; by whom they are set, what forged and repeated ones do, and how they end.
#
#	h1 mrc0 = 4 planes, each 2 T0 and 2 T1, SRv6	by hand
#
# Nothing is judged by how fast it came. A host that is slow makes probes void, not lost.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

planes=4
slow=(interval 100ms timeout 1s stall 400ms budget 10m)
patient=("${slow[@]}" expiry 3600)

# The paths of h1 by PLANE: T0 loop, loops of both T1s, up one and down the other. Appends to tests.
paths() {
	local p=$1 t0 other one two host REPLY
	fabric_usid_t0 "$p" 1; t0=$REPLY
	fabric_usid_t0 "$p" 2; other=$REPLY
	fabric_usid_t1 "$p" 1; one=$REPLY
	fabric_usid_t1 "$p" 2; two=$REPLY
	fabric_usid_host "$p" 1; host=$REPLY
	tests+=(test t0 "$p" "$FABRIC_BLOCK:$t0:$host::"
		test t1 "$p" "$FABRIC_BLOCK:$t0:$one:$t0:$host::"
		test t1 "$p" "$FABRIC_BLOCK:$t0:$two:$t0:$host::"
		test split "$p" "$FABRIC_BLOCK:$t0:$one:$other:$two:$t0:$host"
		test split "$p" "$FABRIC_BLOCK:$t0:$two:$other:$one:$t0:$host")
}
all_paths() {
	local p
	tests=()
	for ((p = 1; p <= planes; p++)); do
		paths $p
	done
}
set_probes() { mrcctl -n h1 selfprobe set dev mrc0 host on "$@" "${tests[@]}"; }
show() { mrcctl -n h1 -j selfprobe show dev mrc0; }
of_all() { show | jq -r ".[0].$1"; }
# sum COUNTER [FILTER]: of all tests.
sum() { show | jq "[.[1:][] | select(${2:-true}) | .$1] | add"; }
more() { local now; now=$(sum "$1"); echo "$1: $now, was $2"; [ "$now" -gt "$2" ]; }
mark() { show >"$MRC_DIR/before"; }
# pattern: of each plane. Since mark a path has lost three in a row (x), received three and none lost in a row now (.),
# or neither (?).
pattern() {
	show | jq -r --slurpfile was "$MRC_DIR/before" '
		[.[1:], $was[0][1:] | map(select(.plane))] as [$now, $old] | [range($now | length) as $i |
		if $now[$i].run >= 3 then "x" elif $now[$i].run == 0 and $now[$i].received >= $old[$i].received + 3 then "."
		else "?" end] | add | [match(".{5}"; "g").string] | join(" ")'
}
is() { local got; got=$(pattern); echo "paths of planes: $got"; [ "$got" = "$1" ]; }
finds() { mrc_until 60 is "$1" || is "$1"; }
well="..... ..... ..... ....."
# lasting NODE PORT: it knows its neighbour there for good. Else a cable that drops one way soon keeps the switch from sending
# the other way, too: nobody answers for the address any more.
lasting() { ip -n "$1" neigh change fe80::"$3" dev "$2" nud permanent; }
balanced() {
	show | jq -e 'all(.[1:][]; .sent - (.received + .lost + .corrupt + .other_plane + .void) | . >= 0 and . <= 16)'
}

ksft_plan
mrc_begin mrcctl python3
ksft_test "four planes by hand" mrc_fabric_by_hand 2 $planes 2 2
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
all_paths
ksft_equal "there are none at first" 0 "$(of_all tests)"

# ---------------------------------------------------------------- who may, and what is refused
as_user() { nsenter --net=/run/netns/h1 -- setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"; }
refused_user() { ! as_user "$(command -v mrcctl)" selfprobe set dev mrc0 host on; }
ksft_test "an ordinary user may not" refused_user
refused_words() { ! mrcctl -n h1 selfprobe set dev mrc0 "$@"; }
ksft_test "a path that is multicast is refused" refused_words test t0 1 ff02::1
ksft_test "an interval that the timeout outlasts is refused" refused_words interval 1ms timeout 100ms host on
ksft_equal "and nothing was set" 0 "$(of_all tests)"

# ------------------------------------------------------------------------------- all is well
ksft_test "five paths a plane, and the host" set_probes "${patient[@]}"
ksft_equal "are so many tests" $((5 * planes + 1)) "$(of_all tests)"
mark
ksft_test "all come back" finds "$well"
timed() { show | jq -e 'all(.[1:][]; .rtt_low_ns > 0 and .rtt_low_ns <= .rtt_ns and .rtt_ns <= .rtt_high_ns and (.rtt_hist | add) == .received)'; }
ksft_test "with their round trips" timed
ksft_test "each is counted once" balanced
host_well() { show | jq -e '.[1:][] | select(.kind == "host") | .received >= 3 and .other_plane == 0'; }
ksft_test "the host answers itself" mrc_until 30 host_well
hidden() { as_user "$(command -v mrcctl)" -j selfprobe show | jq -e 'length > 1 and all(.[]; has("path") | not)'; }
ksft_test "an ordinary user sees counters, and no path" hidden
sent=$(sum sent)
ksft_test "the same once more" set_probes "${patient[@]}"
ksft_test "changes nothing, and counters go on" test "$(sum sent)" -ge "$sent"

# ------------------------------------------------------------ one cable, in one direction
ksft_test "switches keep their neighbours" eval "lasting p3-t0-1 t1-2 2 && lasting p2-t1-1 t0-1 1"
mark
ksft_test "p3-t1-2 to p3-t0-1 drops" fabric_blackhole p3-t1-2 t0-1
ksft_test "on plane 3 T1 2, and what comes down it, is silent" finds "..... ..... ..xx. ....."
fabric_heal p3-t1-2 t0-1
mark
ksft_test "p2-t0-1 to p2-t1-1 drops" fabric_blackhole p2-t0-1 t1-1
ksft_test "on plane 2 T1 1, and what goes up it, is silent" finds "..... .x.x. ..... ....."
fabric_heal p2-t0-1 t1-1
mark
ksft_test "p4-t0-1 to h1 drops" fabric_blackhole p4-t0-1 h1
ksft_test "all of plane 4 is silent" finds "..... ..... ..... xxxxx"
fabric_heal p4-t0-1 h1
mark
ksft_test "all is well again" finds "$well"

# --------------------------------------------------------- what comes changed, twice, or elsewhere
corrupt=$(sum corrupt)
ksft_test "long ones" set_probes "${patient[@]}" size 4000
ksft_test "by a cable that flips bits" tc -n p1-t0-1 qdisc replace dev h1 root netem corrupt 100%
ksft_test "are found changed" mrc_until 60 more corrupt "${corrupt:-0}"
fabric_heal p1-t0-1 h1
ksft_test "one in one is as long as the MTU" set_probes "${patient[@]}" full-every 1
full() { show | jq -e '[.[1:][] | select(.kind != "host")] | all(.[]; .full_sent == .sent) and ([.[].sent] | add >= 20)'; }
ksft_test "all are" mrc_until 30 full
mark
ksft_test "and come back" finds "$well"
ksft_test "short ones again" set_probes "${patient[@]}"
again() { fabric_in p2-t0-1 /usr/bin/python3 -I -S "$here/../verbs/mrc_selfprobe.py" h1 "$@"; }
duplicate=$(sum duplicate)
ksft_test "ten are repeated on the way" again replay 10
ksft_test "which is counted" mrc_until 30 more duplicate "$duplicate"
forged=$(of_all forged)
ksft_test "ten are forged" again forge 10
is_forged() { [ "$(of_all forged)" -ge $((forged + 10)) ]; }
ksft_test "and dropped" mrc_until 30 is_forged
ksft_test "each is counted once" balanced

# p1-t0-1 hands what is for h1 to p2-t0-1: h1's cables might as well have changed places.
fabric_usid_host 1 1
sid=$FABRIC_BLOCK:$REPLY::/48
cross() {
	ip link add x0 netns p1-t0-1 mtu 9000 type veth peer name x0 netns p2-t0-1 mtu 9000 &&
		ip -n p1-t0-1 address add fe80::1/64 dev x0 nodad && ip -n p2-t0-1 address add fe80::2/64 dev x0 nodad &&
		ip -n p1-t0-1 link set x0 up && ip -n p2-t0-1 link set x0 up &&
		ip -n p2-t0-1 route replace "$sid" via fe80::1 dev h1 &&
		ip -n p1-t0-1 route replace "$sid" via fe80::2 dev x0
}
ksft_test "plane 1 ends at the port of plane 2" cross
ksft_test "which is found" mrc_until 60 more other_plane 0
only_1() { [ "$(sum other_plane '.plane != 1')" -eq 0 ]; }
ksft_test "and of plane 1 alone" only_1
ip -n p1-t0-1 route replace "$sid" via fe80::1 dev h1
mark
ksft_test "all is well again" finds "$well"

# ------------------------------------------------------------- planes and devices that leave
unsent=$(sum unsent)
ksft_test "plane 2 leaves" ip -n h1 link set eth2 nomaster
ksft_test "nothing is sent by it" mrc_until 30 more unsent "$unsent"
ksft_test "it comes back" ip -n h1 link set eth2 master mrc0
mark
ksft_test "and its probes" finds "$well"
fast=(interval 50ms timeout 500ms stall 10s expiry 3600)
ksft_test "fast" set_probes "${fast[@]}"
sent=$(sum sent)
ksft_test "they are sent" mrc_until 30 more sent "$sent"
ksft_test "under a small budget" set_probes "${fast[@]}" budget 2000
ksft_test "most are not" mrc_until 30 more over_budget 100

# ------------------------------------------------------------------------------- the end
ksft_test "nobody renews them" set_probes "${slow[@]}" expiry 1
expired() { [ "$(of_all left_ms)" -eq 0 ]; }
ksft_test "they stop" mrc_until 30 expired
logged() { mrcctl -n h1 -j log dev mrc0 | jq -se "flatten | any(.event == \"$1\" and .cause == \"expired\")"; }
ksft_test "the log says it" mrc_until 10 logged probes-paused
sent=$(sum sent)
mrc_sleep 0.5
ksft_equal "nothing is sent" "$sent" "$(sum sent)"
ksft_test "somebody does" set_probes "${fast[@]}"
ksft_test "the log says that, too" mrc_until 10 logged probes-resumed
ksft_test "they are sent" mrc_until 30 more sent "$sent"
ksft_test "the device is deleted meanwhile" ip -n h1 link del mrc0
ksft_test "and made anew" mrc_host_by_hand 1
ksft_equal "it has none" 0 "$(of_all tests)"
ksft_test "some" set_probes "${fast[@]}"
ksft_test "end" mrcctl -n h1 selfprobe del dev mrc0
ksft_equal "all" 0 "$(of_all tests)"
ksft_test "the last ones" set_probes "${fast[@]}"
ksft_test "end with the namespace" fabric_destroy
ksft_finish
