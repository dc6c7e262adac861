#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full uml
#
# EV probes: a controller asks a peer by each EV, and sees which paths are alive. What must not be answered,
# what must not be asked, and what becomes of questions whose asker is gone.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# Status 1 of mrcctl probe: some path is silent.
asks() { mrcctl -n h1 "$@" || [ $? -eq 1 ]; }
probe() { asks -j probe dev mrc0 peer "$peer" "$@" >"$MRC_DIR/probe.json"; }
# of WHAT: a word of jq over all paths, which must be true.
of() { jq -e "[.[] | .plane as \$p | .evs[] | . + {plane: \$p}] | $1" <"$MRC_DIR/probe.json" >/dev/null; }
# Four planes of two T1s: the profile names each path more than once, which is asked once.
all_answer() { probe && of 'length == 8 and all(.answered and .rtt_ns > 0 and .answer_port >= 1)'; }
shows() { asks probe dev mrc0 peer "$peer" | grep -q "plane $1 paths $2 "; }
# prober STATUS PLANE DRAWN: libmrc's example, by mrc_ctl.h.
prober() {
	local rc=0
	mrc_start prober h1 env MRC_DEBUG=1 mrc_prober -d "${MRC_IBDEV[h1]}" -t 500 "$peer"
	mrc_wait prober 60 || rc=$?
	mrc_out prober 40
	[ $rc -eq "$1" ] && grep -q "^port $2  $3  " "$MRC_DIR/prober.out"
}
count() { mrc_stat h1 "$1" && echo "$REPLY"; }
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
# ask CASE PLANE EV [PREFIX...]: a program of our own says by netlink what mrcctl does not.
ask() {
	local what=$1 plane=$2 value=$3
	shift 3
	nsenter --net=/run/netns/h1 -- "$@" /usr/bin/python3 -I -S "$here/../verbs/mrc_probe.py" "$what" \
		mrc0 "$peer" "$plane" "$value"
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_prober python3 setpriv
# shellcheck disable=SC2034
MRC_FOR_ANY=1
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
by_1=$(fabric_path 1 2 1 1)
hole=$(fabric_path 1 2 3 2)

stranger=fd00:6d72:63::77
ksft_test "whom this host does not know it does not ask" \
	refused "no peer $stranger" -- mrcctl -n h1 probe dev mrc0 peer $stranger
ksft_test "by a named EV neither" \
	refused "no peer $stranger" -- mrcctl -n h1 probe dev mrc0 peer $stranger ev 1 "$by_1"

ksft_test "data flows" mrc_verify_start -o write -s 4096 -t 600
ksft_test "over all planes" mrc_flows
peer=$(mrcctl -n h1 -j peer show | jq -r '[.[] | select(.qps > 0)][0].peer')
own=$(mrcctl -n h2 -j peer show | jq -r '[.[] | select(.qps > 0)][0].peer')
ksft_test "all paths to $peer answer" mrc_until 20 all_answer
ksft_test "and are drawn plane by path" mrc_until 20 shows 3 '++'
ksft_test "drawn by mrc_prober, too" mrc_until 20 prober 0 3 '++'
ksft_test "one that is named, in another class" mrcctl -n h1 probe dev mrc0 peer "$peer" ev 1 "$by_1" tc 32
ksft_test "an address alone will do" mrcctl -n h1 probe "$peer"
ksft_test "our own is told from a peer's" refused "is this host" -- mrcctl -n h1 probe "$own"
# A way back is named for each path, and the peer confirms it.
back() { probe && of 'all(.both_ways)'; }
ksft_test "answers return over the switches of their probes" mrc_until 20 back
ksft_test "or by any path, if one wants that" probe return any
ksft_test "and then no peer says that they do" of 'all(.answered and (.both_ways | not))'
ksft_test "nothing was unasked" test "$(count ep_unasked)" = 0

# ------------------------------------------------------------------- faults
ksft_test "a T1 of plane 3 swallows what leads to the peer" fabric_blackhole p3-t1-2 t0-2
status_is() {
	local rc=0
	mrcctl -n h1 probe "$peer" || rc=$?
	[ $rc -eq "$1" ]
}
only_hole() { probe timeout 300 && of "all(.answered == (.value != \"$hole\"))"; }
ksft_test "exactly its path does not answer ($hole)" mrc_until 20 only_hole
ksft_test "the status tells" mrc_until 20 status_is 1
ksft_test "drawn" mrc_until 20 shows 3 '\(+-\|-+\)'
ksft_test "drawn by mrc_prober" mrc_until 20 prober 1 3 '\(+-\|-+\)'
ksft_test "64 questions are under way, and no more" ask flood 3 "$hole"
ksft_test "others are asked again when these are old" mrc_until 20 only_hole
fabric_heal p3-t1-2 t0-2
ksft_test "healed: all answer" mrc_until 20 all_answer

fabric_cut h1 eth2
down() { probe timeout 300 && of 'all(.answered == (.plane != 2)) and all(.answered or .why == "plane is down")'; }
ksft_test "a plane is cut: nothing is asked by it, the others answer" mrc_until 20 down
ksft_test "drawn" mrc_until 20 shows 2 '!!'
fabric_restore h1 eth2
ksft_test "restored: all answer" mrc_until 30 all_answer

# The peer's T0 swallows what it should send up to one T1: the probes arrive, and only the answers by this path are lost. One
# try each, so an answer by another path would show.
back_hole=$(fabric_path 1 2 2 1)
once() { probe timeout 2000 tries 1; }
one_way() { once && of "all(.answered == (.value != \"$back_hole\"))" && of '[.[] | select(.answered | not) | .why] == ["no answer by this path"]'; }
fabric_blackhole p2-t0-2 t1-1
ksft_test "a dead way back: exactly its path does not answer ($back_hole)" mrc_until 60 one_way
for i in 1 2 3; do
	ksft_test "again, $i" one_way
done
fabric_heal p2-t0-2 t1-1
ksft_test "healed: all answer" mrc_until 20 all_answer

# ----------------------------------------------------------------- refusals
ksft_test "each malformed question is refused, in words" ask refused 1 "$by_1"
ksft_test "what keeps one from being sent is told by its id" mrc_until 10 ask errors 1 "$by_1"
ksft_test "without privilege: EPERM" test "$(ask perm 1 "$by_1" "${nobody[@]}")" = 1
ksft_test "mrcctl says so" refused "not permitted: this needs CAP_NET_ADMIN" -- \
	nsenter --net=/run/netns/h1 -- "${nobody[@]}" mrcctl probe dev mrc0 peer "$peer"

# ---------------------------------------------------- askers and strangers
lost=$(count ep_answers_lost)
fabric_degrade p1-t1-1 t0-2 delay 3000ms limit 10000	# it ends sooner than the first answer comes
ksft_test "an asker that ends before its answers" ask gone 1 "$by_1"
lost_more() { [ "$(count ep_answers_lost)" -gt "$lost" ]; }
ksft_test "they are counted as lost" mrc_until 20 lost_more
fabric_heal p1-t1-1 t0-2
ksft_test "and take no place from others" mrc_until 20 all_answer
strangers() {
	local before
	before=$(count ep_unasked)
	echo unasked | nsenter --net=/run/netns/h2 -- /usr/bin/python3 -I -S "$here/../verbs/mrc_inject.py" \
		fd00:6d72:63::1 fd00:6d72:63::2 2 0 0
	answers_counted() { [ "$(count ep_unasked)" = $((before + 2)) ]; }
	mrc_until 10 answers_counted
}
ksft_test "answers to nothing that was asked are counted" strangers

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_comment "asked $(count ep_asked), answered $(count ep_answers), lost $(count ep_answers_lost), unasked $(count ep_unasked)"
ksft_finish
