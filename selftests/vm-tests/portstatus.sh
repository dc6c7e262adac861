#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full
#
# Ports that go and come, as hosts tell each other: the peer leaves a plane whose cable it
# sees up, loses nothing on it, and knows what it was told even if telling was hard.
# (What cables do by themselves is in planes.sh.)
#
#	h1 mrc0 = 3 planes, each T0 - T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# knows HOST PORTS: what its peer announced, such as "1,3".
knows() {
	local got
	got=$(mrcctl -n "$1" -j peer show |
		jq -r '[.[] | select(.qps > 0) | .ports_up | select(. != null) | map(tostring) | join(",")] | unique | join(" ")')
	echo "$1 knows '$got'"
	[ "$got" = "$2" ]
}

admin() { mrcctl -n "$1" plane set dev mrc0 plane "$2" admin "$3"; }
unused() { mrc_until 20 mrc_plane_unused "$1" "$2" tx; }
used() { mrc_until 30 mrc_plane_used "$1" "$2" tx; }

# one_way HOST PEER SIDE PEER_SIDE PLANE: HOST disables a port; nothing happens to the cable.
one_way() {
	local before
	mrc_stat "$1" port_updates_sent
	before=$REPLY
	ksft_test "$1 disables port $5" admin "$1" "$5" off
	ksft_test "$1 leaves plane $5" unused "$3" "$5"
	ksft_test "$2 was told" mrc_until 10 knows "$2" "$(others "$5")"
	ksft_test "$2 leaves plane $5, too, for all that its own port is up" unused "$4" "$5"
	mrc_stat "$1" port_updates_sent
	ksft_test "$1 told it by Port Status Update" test "$REPLY" -gt "$before"
	ksft_test "$1 enables port $5" admin "$1" "$5" on
	ksft_test "$2 is told" mrc_until 10 knows "$2" 1,2,3
	ksft_test "$1 uses plane $5 again" used "$3" "$5"
	ksft_test "$2 uses plane $5 again" used "$4" "$5"
}

others() {
	case $1 in
	1) echo 2,3;;
	2) echo 1,3;;
	3) echo 1,2;;
	esac
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_many
ksft_test "three planes by hand" mrc_fabric_by_hand 2 3 2 1
ksft_test "data flows" mrc_verify_start -o mix -q 80 -s 4096 -t 900
ksft_test "over all planes" mrc_flows 60

# More than 64 QPs of a peer are told of its ports by a work item, fewer in softirq. A kprobe counts its walks.
tracing=/sys/kernel/tracing
[ -d $tracing/events ] || mount -t tracefs tracefs $tracing
watch() { echo p:mrc_walk mrc:users_work >$tracing/kprobe_events && echo 1 >$tracing/events/kprobes/mrc_walk/enable; }
walked() {
	local name hits
	read -r name hits _ <$tracing/kprobe_profile
	echo "$name: $hits"
	[ "$hits" -gt 0 ]
}
unwatch() { echo 0 >$tracing/events/kprobes/mrc_walk/enable && : >$tracing/kprobe_events; }
coproc MANY { nsenter --net=/run/netns/h2 -- mrc_many -d "${MRC_IBDEV[h2]}" fd00:6d72:63::1 2>&1; }
more() {
	local i
	for ((i = 0; i < 80; i++)); do
		echo >&"${MANY[1]}" && read -r REPLY <&"${MANY[0]}" || return
	done
	echo "$REPLY queue pairs"
}
fewer() {
	eval "exec ${MANY[1]}>&-"
	wait "$MANY_PID" || true
}
ksft_test "(walks are counted)" watch
ksft_test "h2 has eighty more QPs" more
ksft_test "h1 disables port 2" admin h1 2 off
ksft_test "a work item tells the QPs of h2" mrc_until 20 walked
ksft_test "h1 enables port 2" admin h1 2 on
ksft_test "the eighty end" fewer
ksft_test "(no longer)" unwatch

one_way h1 h2 client server 2
one_way h2 h1 server client 3

# Each side another port: only the third is left, in both directions.
ksft_test "h1 disables port 1" admin h1 1 off
ksft_test "h2 disables port 2" admin h2 2 off
for p in 1 2; do
	ksft_test "h1 leaves plane $p" unused client $p
	ksft_test "h2 leaves plane $p" unused server $p
done
ksft_test "plane 3 carries it" used client 3
ksft_test "h2 knows h1's" mrc_until 10 knows h2 2,3
ksft_test "h1 knows h2's" mrc_until 10 knows h1 1,3
ksft_test "h1 enables port 1" admin h1 1 on
ksft_test "h2 enables port 2" admin h2 2 on
for p in 1 2; do
	ksft_test "h1 uses plane $p" used client $p
	ksft_test "h2 uses plane $p" used server $p
done

# The cable between h2 and its switch goes: h2 sees it, h1 only what it is told.
ksft_test "h2's cable is cut" fabric_cut p2-t0-2 h2
ksft_test "h1 is told" mrc_until 10 knows h1 1,3
ksft_test "h1 leaves plane 2" unused client 2
ksft_test "h2's cable is restored" fabric_restore p2-t0-2 h2
ksft_test "h1 is told" mrc_until 20 knows h1 1,2,3
ksft_test "h1 uses plane 2 again" used client 2

# Telling is best effort, and repeated: half of what is told is lost.
for p in 1 2 3; do
	fabric_degrade p$p-t0-1 h1 loss 50%
done
ksft_test "h2 disables port 1, half is lost on the way" admin h2 1 off
ksft_test "h1 learns it" mrc_until 60 knows h1 2,3
for p in 1 2 3; do
	fabric_heal p$p-t0-1 h1
done
ksft_test "h2 enables port 1" admin h2 1 on
ksft_test "h1 learns it" mrc_until 60 knows h1 1,2,3

# What was told last counts.
flap() {
	local _
	for _ in 1 2 3 4 5; do
		admin h1 3 off && admin h1 3 on || return
	done
}
ksft_test "a port goes and comes five times" flap
ksft_test "h2 ends up knowing it up" mrc_until 120 knows h2 1,2,3
ksft_test "h1 uses plane 3" used client 3
ksft_test "h2 uses plane 3" used server 3
for host in h1 h2; do
	mrc_evs_are $host assumed-bad -eq 0 >/dev/null ||
		mrc_until 60 mrc_evs_are $host assumed-bad -eq 0 || true
	mrc_evs $host assumed-bad
	ksft_test "$host: no EV is assumed bad" test "$REPLY" -eq 0
done
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60

# All ports of the peer for a while: the QP waits, within its budget, and goes on.
all_ports() { admin h2 1 "$1" && admin h2 2 "$1" && admin h2 3 "$1"; }
quiet() {
	local rates
	mrc_plane_rates "$1" tx 0.5 || return
	read -ra rates <<<"$REPLY"
	[ "${rates[$2 - 1]}" -le $MRC_IDLE ]
}
# shellcheck disable=SC2034
MRC_STALL=60
ksft_test "data flows" mrc_verify_start -u 21 -o mix -s 16384 -t 900
ksft_test "over all planes" mrc_flows
ksft_test "h2 disables all ports" all_ports off
for p in 1 2 3; do
	ksft_test "h2 sends nothing on plane $p" mrc_until 20 quiet server $p
done
ksft_test "h2 enables them" all_ports on
ksft_test "data flows again on all planes" mrc_flows 30
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 120
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc

# Who begins anew. What h1 knows of h2 outlives h2's device, for h1 goes on talking to the host, and what h1
# told that device its next one does not know.
anew() {	# mrc0 of h2, all planes up
	local was=${MRC_IBDEV[h2]}
	ip -n h2 link del mrc0 && mrc_until 30 test ! -e "/sys/class/infiniband/$was" || return
	mrc_host_by_hand 2 && mrc_wait_devices
}
stop() {
	kill -INT "${MRC_PID[client]}" || true
	mrc_pair_wait 120
}
fabric_host_addr 2
mrc_start talk h1 ping -q -i 0.5 "$REPLY"
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 900
ksft_test "over all planes" mrc_flows
ksft_test "h2 disables port 2" admin h2 2 off
ksft_test "h1 is told" mrc_until 20 knows h1 1,3
ksft_test "every byte arrived right" stop
ksft_test "h2's device is made anew" anew
ksft_test "data flows" mrc_verify_start -u 21 -o mix -s 16384 -t 900
ksft_test "h1 learns that port 2 is up" mrc_until 20 knows h1 1,2,3
ksft_test "and uses plane 2" used client 2
ksft_test "h2 uses it, too" used server 2
ksft_test "h1 disables port 3" admin h1 3 off
ksft_test "h2 is told" mrc_until 20 knows h2 1,2
ksft_test "every byte arrived right" stop
ksft_test "h2's device is made anew once more" anew
ksft_test "data flows" mrc_verify_start -u 21 -o mix -s 16384 -t 900
ksft_test "this one is told as well" mrc_until 20 knows h2 1,2
ksft_test "and leaves plane 3" unused server 3
ksft_test "h1 enables port 3" admin h1 3 on
ksft_test "which it is told, too" mrc_until 20 knows h2 1,2,3
ksft_test "and uses plane 3" used server 3
ksft_test "every byte arrived right" stop
mrc_kill talk
ksft_finish
