#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full uml
# timeout: 180
#
# Links to avoid: EVs that cross one carry nothing while others are usable, and all come back where nothing else is. The
# list of a person, its expiry, and who may set it.
#
#	h1 mrc0 = 2 planes, each 2 T0 and 2 T1, SRv6	by hand
#
# Nothing is judged by how fast it came: what has to happen is waited for.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

avoid() { mrcctl -n h1 avoid "$@"; }
# evs FILTER: a number, made of the EVs of h1.
evs() { mrcctl -n h1 -j ev show dev mrc0 | jq "$1"; }
avoided() { evs '[.[] | select(.avoided)] | length'; }
avoids() { local n; n=$(avoided); echo "$n EVs are avoided"; test "$n" "$@"; }
# Of those that cross the link: how many there are, and what they sent.
of_link="[.[] | select(.port == 1 and (.value | contains(\":LINK\")))]"
crossing() { evs "${of_link/LINK/$link} | length"; }
sent() { evs "${of_link/LINK/$link} | map(.tx_pkts) | add"; }
all_sent() { evs 'map(.tx_pkts) | add'; }
more() { local now; now=$("$1"); echo "$1: $now, was $2"; [ "$now" -gt "$2" ]; }
as_user() { nsenter --net=/run/netns/h1 -- setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"; }
refused_user() { ! as_user "$(command -v mrcctl)" avoid clear dev mrc0; }
hidden() { as_user "$(command -v mrcctl)" -j avoid show dev mrc0 | jq -e 'length == 1 and (.[0] | .plane == 1 and (has("from") | not))'; }
listed() { mrcctl -n h1 -j avoid show dev mrc0 | jq -e "length == $1"; }

ksft_plan
mrc_begin mrcctl mrc_verify
# shellcheck disable=SC2034
MRC_FOR_ANY=1
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2
fabric_usid_t0 1 1; t0=$REPLY
fabric_usid_t0 2 1; t0_2=$REPLY
fabric_usid_t1 1 1; t1=$REPLY
link=$t0:$t1:
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "nothing is avoided" avoids -eq 0
n=$(crossing)
ksft_test "EVs cross the link" test "$n" -gt 0

# ------------------------------------------------------------------------------- a link
ksft_test "it is avoided" avoid set dev mrc0 link 1 "$t0" "$t1"
ksft_test "by each EV that crosses it" mrc_until 30 avoids -eq "$n"
ksft_equal "and by no other" "$n" "$(evs "${of_link/LINK/$link} | map(select(.avoided)) | length")"
ksft_test "an ordinary user sees the plane, not the link" hidden
ksft_test "and may not change it" refused_user
mrc_sleep 1		# what was under way
was=$(sent) all=$(all_sent)
ksft_test "data still flows" mrc_until 60 more all_sent $((all + 500))
ksft_equal "and none over the link" "$was" "$(sent)"
ksft_test "over all planes" mrc_flows
ksft_test "the list of mrcd is another one" avoid clear dev mrc0 by mrcd
ksft_test "so the link stays avoided" avoids -eq "$n"

# --------------------------------------------------------------------- nothing else is left
ksft_test "both T0s are avoided: every path" avoid set dev mrc0 switch 1 "$t0" switch 2 "$t0_2"
ksft_test "so all EVs are in use" mrc_until 30 avoids -eq 0
ksft_test "data flows" mrc_flows
ksft_test "one plane is avoided" avoid set dev mrc0 switch 1 "$t0"
ksft_test "its EVs are set aside" mrc_until 30 avoids -gt "$n"
all=$(all_sent)
ksft_test "data flows by the other" mrc_until 60 more all_sent $((all + 500))

# ------------------------------------------------------------------------------------ the end
ksft_test "a list with an expiry" avoid set dev mrc0 link 1 "$t0" "$t1" expiry 1s
ksft_test "is empty after it" mrc_until 60 listed 0
ksft_test "its EVs are in use again" mrc_until 30 avoids -eq 0
was=$(sent)
ksft_test "and carry data" mrc_until 60 more sent "$was"
ksft_test "avoided again" avoid set dev mrc0 link 1 "$t0" "$t1"
ksft_test "and cleared" avoid clear dev mrc0
ksft_test "nothing is avoided" mrc_until 30 avoids -eq 0
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
