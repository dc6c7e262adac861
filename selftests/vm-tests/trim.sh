#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: old
#
# Switch ports that trim: nothing waits for a timeout, every byte arrives right.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	slow ports with small queues, of a T1 or of the receiver's T0 (the last hop)
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2		one plane, without SRv6

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"

# Some packets of 4 KiB fit; what is in flight does not.
SLOW="rate 40000000 limit 30000 trim 1"

# What the ports PORTS ("NS DEV" each) count: REPLY is the sum.
ports_sum() {	# NAME
	local port sum=0
	for port in "${PORTS[@]}"; do
		# shellcheck disable=SC2086
		port_stat $port "$1" || return
		sum=$((sum + REPLY))
	done
	REPLY=$sum
}

ports_do() {	# FUNCTION [ARG...]
	local port fn=$1
	shift
	for port in "${PORTS[@]}"; do
		# shellcheck disable=SC2086
		"$fn" $port "$@" || return
	done
}

trimmed_more_than() { ports_sum trimmed_pkts && [ "$REPLY" -gt "$1" ]; }
# EVs that were good and are passed over since the last skips_clear: REPLY. Only signs of congestion do
# that; an EV that lost packets comes back by way of SKIP, too, but was not good before.
tracing=/sys/kernel/tracing
skips_clear() { echo >$tracing/trace; }
skips() { REPLY=$(grep -c 'mrc_ev: .* good -> skip' $tracing/trace || :); }
skips_seen() { skips && [ "$REPLY" -gt 0 ]; }

# rose HOST COUNTER: REPLY, since mark.
declare -A MARK=()
mark() {
	local host name
	for host in h1 h2; do
		for name in rx_trimmed nacks_sent nacks_rcvd rtx_trim timeouts rx_ecn rtx_rack rtx_rto; do
			mrc_stat $host $name
			MARK[$host.$name]=$REPLY
		done
	done
}
rose() { mrc_stat "$1" "$2" && REPLY=$((REPLY - ${MARK[$1.$2]})); }

# After a run that the ports trimmed: who counted what. A cut packet may itself be lost
# in a full queue, one that had arrived before in another copy counts as that, and not more than
# some NACKs wait at a time. An emulated machine may stand still for longer than a timeout.
judge() {	# NAME
	local cut seen
	ports_sum trimmed_pkts; cut=$REPLY
	rose h2 rx_trimmed; seen=$REPLY
	ksft_test "$1: the receiver saw them trimmed ($seen of $cut)" \
		test "$seen" -gt $((cut / 4)) -a "$seen" -le "$cut"
	rose h2 nacks_sent
	ksft_test "$1: and answered with NACKs ($REPLY)" test "$REPLY" -ge $((seen / 5))
	rose h1 rtx_trim
	ksft_test "$1: which made the sender resend ($REPLY)" test "$REPLY" -ge $((seen / 8))
	rose h1 timeouts
	ksft_test "$1: nothing waited for a timeout ($REPLY)" test "$REPLY" -le $((seen / 10 + 10))
	for port in "${PORTS[@]}"; do
		# shellcheck disable=SC2086
		ksft_comment "$(port_show $port)"
	done
}

# The window to the peer may have learned to stay below the queues; of several QPs at once nobody knows.
# several_until COUNTER VERIFY: it has moved at PORTS, or does so in the next try.
several_until() {
	ports_sum "$1"
	[ "$REPLY" -gt 0 ] || { "$2" 150 -o write -s 65536 -q 8 -n 8; return 1; }
}
some_cut() { several_until trimmed_pkts "$1"; }

# load NAME SECS: traffic until the ports cut a good number of packets.
load() {
	ksft_test "$1: data flows" mrc_verify_start -o mix -s 65536 -t 600
	ksft_test "$1: packets are cut" mrc_until "$2" trimmed_more_than 100
}

finish() {	# NAME
	kill -INT "${MRC_PID[client]}" || true
	ksft_test "$1: every byte arrived right" mrc_pair_wait 60
}

[ -d $tracing/events ] || ksft_skip_all "needs tracefs"
ksft_plan
mrc_begin mrcctl mrc_verify ethtool
port_begin
at_exit eval "echo 0 >$tracing/events/enable"
echo 1 >$tracing/events/mrc/mrc_ev/enable
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2

# ------------------------------------------------------- one T1 of each plane
PORTS=("p1-t1-1 t0-2" "p2-t1-1 t0-2")
mark
skips_clear
# shellcheck disable=SC2086
ksft_test "slow ports at a T1" ports_do port_set $SLOW
load "T1" 120
ksft_test "T1: TRIMMED puts EVs to skip" mrc_until 90 skips_seen
ports_sum rtx_pkts
ksft_test "T1: what was resent has the DSCP of retransmissions ($REPLY)" test "$REPLY" -gt 0
finish "T1"
judge "T1"
ports_do port_clear

# ------------------------------------------------------------- the last hop
PORTS=("p1-t0-2 h2" "p2-t0-2 h2")
mark
skips_clear
# shellcheck disable=SC2086
ksft_test "slow last hops" ports_do port_set $SLOW lasthop 1
load "last hop" 120
skips
ksft_test "last hop: TRIMMED_LASTHOP puts none to skip ($REPLY)" test "$REPLY" -eq 0
finish "last hop"
judge "last hop"
ports_do port_clear

# -------------------------------------- switches that rewrite more than they must
for extra in "inner 1" "inner 1 udplen 1" "inner 1 pad 50" "pad 50"; do
	mark
	# shellcheck disable=SC2086
	ksft_test "last hops that write $extra" ports_do port_set $SLOW lasthop 1 $extra
	ksft_test "$extra: all operations" mrc_verify 150 -o mix -r -s 65536 -n 100
	ksft_test "$extra: packets are cut" mrc_until 120 some_cut mrc_verify
	judge "$extra"
	ports_do port_clear
done

# Without trimming the same ports drop: slower, but all arrives.
# shellcheck disable=SC2086
ksft_test "last hops that drop" ports_do port_set $SLOW trim 0
ksft_test "drop: all operations" mrc_verify 150 -o mix -r -s 65536 -n 50
lost_some() { several_until data_dropped mrc_verify; }
ksft_test "drop: packets were lost" mrc_until 120 lost_some
ports_do port_clear
# On a slow machine the queue behind a veth runs full, which is an error for the sender, and
# a packet waits until the program has written something else to its memory.
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc

# --------------------------------------------------- no SRv6: IPv6 and IPv4
mrc_verify_v4() {
	local secs=$1
	shift
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair "$secs" $MRC_PORT \
		mrc_verify -e -4 -T $MRC_STALL -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		mrc_verify -e -4 -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT "$@" 10.77.0.2
}

ksft_test "one plane" mrc_one_plane
PORTS=("h1 eth1")
mark
# shellcheck disable=SC2086
ksft_test "a slow port" ports_do port_set $SLOW lasthop 1
ksft_test "IPv6: all operations" mrc_verify 150 -o mix -r -s 65536 -n 100
ksft_test "IPv6: packets are cut" mrc_until 120 some_cut mrc_verify
judge "IPv6"
ports_do port_clear
mark
# shellcheck disable=SC2086
ksft_test "a slow port" ports_do port_set $SLOW lasthop 1
ksft_test "IPv4: all operations" mrc_verify_v4 150 -o mix -r -s 65536 -n 100
ksft_test "IPv4: packets are cut" mrc_until 120 some_cut mrc_verify_v4
judge "IPv4"
ports_do port_clear

# Generic receive offload looks at UDP packets before we do.
gro() { fabric_in "$1" ethtool -K eth1 gro on rx-udp-gro-forwarding on; }
mark
# shellcheck disable=SC2086
ksft_test "a slow port" ports_do port_set $SLOW lasthop 1
ksft_test "receive offload on" gro h2
ksft_test "receive offload: all operations" mrc_verify 150 -o mix -r -s 65536 -n 100
ksft_test "receive offload: packets are cut" mrc_until 120 some_cut mrc_verify
judge "receive offload"
ports_do port_clear
# The slow port is h1's own device: what it drops has failed to be sent.
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_finish
