#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# What a device is told for peers that read the specification otherwise: each setting
# is kept and shown, and what then leaves on the wire is what it says.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane; filters of tc count and drop

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

set_dev() { local host=$1; shift; mrcctl -n "$host" dev set dev eth1 "$@"; }
set_both() { set_dev h1 "$@" && set_dev h2 "$@"; }

shows() {	# HOST VALUES
	local got
	got=$(mrcctl -n "$1" -j dev show | jq -c \
		'.[0] | [.oor_nack, .exp_cnt, .ev_port_low, .mrc_pad, .udp_port, .ep_op_high, .port_bit_1]')
	echo "$got, expected $2"
	[ "$got" = "$2" ]
}

# Offsets from the IPv6 header: UDP port 42, BTH 48, SETH 60, its entropy 64.
# filter HOST PREF ACTION MATCH...: of the UDP that it receives.
filter() {
	local host=$1 pref=$2 action=$3
	shift 3
	tc -n "$host" filter add dev eth1 ingress pref "$pref" protocol ipv6 u32 \
		match u8 17 0xff at 6 "$@" action "$action"
}

# filtered HOST PREF: REPLY, packets that met it.
filtered() {
	REPLY=$(tc -n "$1" -j -s filter show dev eth1 ingress pref "$2" |
		jq '[.[].options.actions[]?.stats.packets] | add // 0')
}

filtered_is() {	# HOST PREF -eq|-gt NUMBER
	filtered "$1" "$2"
	echo "$REPLY packets, expected $3 $4"
	test "$REPLY" "$3" "$4"
}

# Acknowledgements come. (Packets alone may be those by which the programs meet.)
acked() {
	local before
	mrc_stat h1 sacks_rcvd
	before=$REPLY
	mrc_sleep 0.3
	mrc_stat h1 sacks_rcvd
	[ $((REPLY - before)) -gt 3 ]
}
works() { mrc_until 60 acked; }

end_well() {
	kill -INT "${MRC_PID[client]}" || true
	mrc_pair_wait 30
}

ksft_plan
mrc_begin mrcctl mrc_verify python3

# ---------------------------------------------------------------- settings
ksft_test "one plane" mrc_one_plane
ksft_test "what is set at first" shows h1 '[false,0,false,false,4791,false,false]'
ksft_test "all set otherwise" set_dev h1 oor-nack on exp-cnt 25 ev-port-low on mrc-pad on \
	udp-port 4971 ep-op-high on port-bit-1 on
ksft_test "is shown" shows h1 '[true,25,true,true,4971,true,true]'
ksft_test "one alone set back" set_dev h1 ev-port-low off
ksft_test "leaves the others" shows h1 '[true,25,false,true,4971,true,true]'
ksft_test "more doublings than there are" refused "26 is not in 0 ... 25" -- set_dev h1 exp-cnt 26
ksft_test "a switch that is neither" refused "mrc-pad" -- set_dev h1 mrc-pad 2
ksft_test "left no trace" shows h1 '[true,25,false,true,4971,true,true]'
ksft_test "and back" set_dev h1 oor-nack off exp-cnt 0 mrc-pad off udp-port 4791 ep-op-high off port-bit-1 off
ksft_test "it is as at first" shows h1 '[false,0,false,false,4791,false,false]'

# ---------------------------------------------------------------- oor-nack
beyond() {	# COUNTERS: a PSN beyond h1's window; what moves there
	local before
	kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"
	mrc_sleep 1
	mrc_stats h1
	before=$REPLY
	fabric_host_addr 1
	echo psn | nsenter --net=/run/netns/h2 -- /usr/bin/python3 -I -S \
		"$here/../verbs/mrc_inject.py" "$REPLY" fd00:6d72:63::2 "$(mrc_qp_of h1 qpn)" \
		"$(mrc_qp_of h1 rx_cack)" "$(mrc_qp_of h1 psn_next)"
	mrc_sleep 0.3
	mrc_stats h1
	mrc_stats_diff "$before" "$REPLY"
	kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"
	echo "changed: $REPLY"
	[[ " $REPLY " = *" rx_oor+1 "* ]] || return
	case $1 in
	nack)	[[ " $REPLY " = *" nacks_sent+1 "* ]];;
	silent)	[[ $REPLY != *nacks_sent* ]];;
	esac
}
# shellcheck disable=SC2034
MRC_STALL=60
for how in silent nack; do
	[ $how = silent ] || ksft_test "oor-nack on" set_both oor-nack on
	ksft_test "oor-nack, $how: a connection" mrc_verify_start -o mix -q 4 -s 4096 -t 600
	ksft_test "oor-nack, $how: works" works
	ksft_test "oor-nack, $how: a PSN beyond the window" beyond $how
	ksft_test "oor-nack, $how: every byte arrived right" end_well
done

# ----------------------------------------------------------------- exp-cnt
# Eight timeouts of 67 ms are 0.5 s, of 268 ms 2; seven more that double, of 67 ms, 17 s.
silence() { fabric_blackhole h1 eth1; mrc_sleep 4; fabric_heal h1 eth1; }
broke() { mrc_fails client 60; }
ksft_test "exp-cnt 0: a connection" mrc_verify_start -o write -s 4096 -t 600 -u 16
ksft_test "exp-cnt 0: works" works
ksft_test "exp-cnt 0: silence" fabric_blackhole h1 eth1
ksft_test "exp-cnt 0: breaks it" broke
fabric_heal h1 eth1
mrc_kill server
ksft_test "exp-cnt 7" set_both exp-cnt 7
ksft_test "exp-cnt 7: a connection" mrc_verify_start -o write -s 4096 -t 600 -u 14
ksft_test "exp-cnt 7: works" works
ksft_test "exp-cnt 7: 4 s of silence" silence
ksft_test "exp-cnt 7: are survived" works
ksft_test "exp-cnt 7: every byte arrived right" end_well

# ------------------------------------------------------------- ev-port-low
stev() {	# HOST EV...: configured STEVs
	local host=$1 ev evs=()
	shift
	for ev; do evs+=(ev 1 "$ev"); done
	mrcctl -n "$host" profile set dev eth1 id 1 fmt stev "${evs[@]}" &&
		set_dev "$host" profile 1
}
entropy_is() {	# VALUES
	local got
	got=$(mrcctl -n h1 -j ev show peer fd00:6d72:63::2 | jq -c '[.[].entropy] | sort')
	echo "$got, expected $1"
	[ "$got" = "$1" ]
}
# SACKs that h1 receives: EVs with the port in the upper half, in the lower half.
count_sacks() {
	tc -n h1 qdisc add dev eth1 clsact &&
		filter h1 10 ok match u8 0xdc 0xff at 48 match u32 0xc0000000 0xf0000000 at 64 &&
		filter h1 20 ok match u8 0xdc 0xff at 48 match u32 0x0000c000 0x0000f000 at 64
}
uncount() { tc -n h1 qdisc del dev eth1 clsact; }
ports="[$((0xc0010001)),$((0xc0020002))]"
ksft_test "port first: two STEVs" stev h1 0xc0010001 0xc0020002
ksft_test "port first: counters" count_sacks
ksft_test "port first: data flows" mrc_verify 60 -o mix -n 50
ksft_test "port first: the EVs" entropy_is "$ports"
ksft_test "port first: SACKs name them so" filtered_is h1 10 -gt 0
ksft_test "port first: and no other way" filtered_is h1 20 -eq 0
ksft_test "port first: end" uncount
ksft_test "port last" set_both ev-port-low on
ksft_test "port last: the same two STEVs" stev h1 0x0001c001 0x0002c002
ksft_test "port last: counters" count_sacks
ksft_test "port last: data flows" mrc_verify 60 -o mix -n 50
ksft_test "port last: the EVs" entropy_is "$ports"
ksft_test "port last: SACKs name them so" filtered_is h1 20 -gt 0
ksft_test "port last: and no other way" filtered_is h1 10 -eq 0
ksft_test "port last: each EV was proven" mrc_evs_are h1 good -eq 2

# ---------------------------------------------------------------- UDP port
# A host that neither listens nor speaks at 4791.
only_4971() {
	set_dev h2 udp-port 4971 && tc -n h2 qdisc add dev eth1 clsact &&
		filter h2 10 drop match u16 4791 0xffff at 42
}
quiet() {
	local before
	filtered h2 10
	before=$REPLY
	works && filtered_is h2 10 -eq "$before"
}
ksft_test "4971: one plane" mrc_one_plane
ksft_test "4971: a host that knows no other port" only_4971
ksft_test "4971: a connection" mrc_verify_start -o mix -s 4096 -t 600
ksft_test "4971: works" works
ksft_test "4971: and nothing is sent elsewhere" quiet
ksft_test "4971: every byte arrived right" end_well

# Only its SACKs are heard, so nothing before it was found.
mute() {
	tc -n h1 qdisc add dev eth1 clsact && filter h1 10 ok match u8 0xdc 0xff at 48 &&
		filter h1 20 drop match u16 4971 0xffff at 42
}
heard() { filtered_is h1 10 -gt 0; }
ksft_test "4971, mute: one plane" mrc_one_plane
ksft_test "4971, mute: a host that knows no other port" only_4971
ksft_test "4971, mute: and does not speak first" mute
ksft_test "4971, mute: a connection" mrc_verify_start -o write -s 4096 -t 600 -u 20
ksft_test "4971, mute: is found" mrc_until 60 heard
ksft_test "4971, mute: after packets to 4791" filtered_is h2 10 -gt 0
ksft_test "4971, mute: it may speak" tc -n h1 qdisc del dev eth1 clsact
ksft_test "4971, mute: works" works
ksft_test "4971, mute: and nothing is sent elsewhere" quiet
ksft_test "4971, mute: every byte arrived right" end_well
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_finish
