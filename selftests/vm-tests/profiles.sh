#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full
#
# EV profiles: every format and mode carries traffic over the EVs that it says, on all
# planes; what cannot be is refused with the field and the value.
#
#	h1 eth1 ---- eth1 h2	two plain cables, mrc0 over both: UDP and STEV
#	h1 eth2 ---- eth2 h2
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0: SRv6, with and without SRH

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

# profile HOST ARG...: number 1, towards everybody.
profile() {
	local host=$1
	shift
	mrcctl -n "$host" profile set dev mrc0 id 1 "$@"
}

both() { profile h1 "$@" && profile h2 "$@"; }
off() { mrcctl -n h1 profile del dev mrc0 id 1 && mrcctl -n h2 profile del dev mrc0 id 1; }
refuse() {	# TEXT ARG...
	local text=$1
	shift
	refused "$text" -- profile h1 "$@"
}

# evs JQ: over the EVs that h1 has towards h2's IPv6 address.
evs() { mrcctl -n h1 -j ev show peer fd00:6d72:63::2 | jq -c "$1"; }
evs_are() {	# JQ VALUE
	local got
	got=$(evs "$1")
	echo "$1 is $got, expected $2"
	[ "$got" = "$2" ]
}

# Every EV of the QP's set was used, none lost anything, and each plane got its share: of a
# host that stands still under one of them that one gets less, so it may try again.
all_used() { evs_are 'map(select(.tx_pkts == 0)) | length' 0; }
both_planes() {
	evs_are 'group_by(.port) | map(map(.tx_pkts) | add) |
		length == 2 and (min * 3 > max)' true
}
both_planes_at_last() {
	local i
	for i in 1 2 3 4; do
		both_planes && return
		mrc_verify 60 -o mix -s 16384 -n 60 >/dev/null || return
	done
	both_planes
}
traffic() {	# NAME
	ksft_test "$1: every byte arrives right" mrc_verify 60 -o mix -s 16384 -n 60
	ksft_test "$1: over both planes" both_planes_at_last
	ksft_test "$1: shown by words that make it again" mrc_profiles_again h1
}

# Full packets of 4,096 bytes are 4,188 long, in an outer header 4,228, with a segment 4,252.
plane_mtu() {	# MTU: of both planes, at both ends
	local h p
	for h in h1 h2; do
		for p in 1 2; do
			ip -n $h link set eth$p mtu "$1" || return
		done
	done
}
path_mtu() { ibv_devinfo -d "${MRC_IBDEV[h1]}" | awk '/active_mtu/ { print $2 }'; }
path_mtu_is() {	# PLANES_MTU PATH_MTU
	local got
	plane_mtu "$1" && got=$(path_mtu) && echo "path MTU $got over $1" && [ "$got" = "$2" ]
}
full_packets() { mrc_verify 60 -o write -s 65536 -n 16; }

ksft_plan
mrc_begin mrcctl mrc_verify mrc_many ibv_rc_pingpong ping

# ------------------------------------------------------------- plain cables
ksft_test "two plain cables" mrc_flat
traffic "automatic EVs"
ksft_test "automatic EVs: 16 per plane" evs_are 'group_by(.port) | map(length)' '[16,16]'
ksft_test "automatic EVs over IPv4" mrc_pingpong 60 v4 -c -n 50
ksft_test "planes of 4187 are too small for 4096 bytes" path_mtu_is 4187 2048
ksft_test "planes of 4188 are not" path_mtu_is 4188 4096
ksft_test "full packets" full_packets
ksft_test "as it was" path_mtu_is 9000 4096

ksft_test "AUTO with a count" both mode auto fmt udp count 10
traffic "AUTO with a count"
ksft_test "AUTO with a count: 10" evs_are 'length' 10
ksft_test "AUTO, UDP: no flow label" evs_are 'all(.entropy % 65536 == 0)' true

udp=()
for i in 1 2 3 4; do
	udp+=(ev 1 $((50000 + i)) ev 2 $((51000 + i)))
done
ksft_test "explicit UDP, one EV twice" both fmt udp "${udp[@]}" ev 1 50001
traffic "explicit UDP"
ksft_test "explicit UDP: by port, the one twice" evs_are 'map(.entropy / 65536)' \
	'[50001,50002,50003,50004,50001,51001,51002,51003,51004]'
ksft_test "explicit UDP: all are used" all_used
ksft_test "explicit UDP over IPv4" mrc_pingpong 60 v4 -c -n 50

ksft_test "explicit STEV" both fmt stev ev 1 0xc0010001 ev 2 0xc0020002 ev 1 0xc0010003
traffic "explicit STEV"
ksft_test "explicit STEV: source port and flow label" evs_are 'map(.entropy)' \
	"[$((0xc0010001)),$((0xc0010003)),$((0xc0020002))]"
ksft_test "explicit STEV: all are used" all_used
ksft_test "explicit STEV over IPv4" mrc_pingpong 60 v4 -c -n 50

# A source port of 0 is none on the wire: another one stands for it.
ksft_test "values from 0" both fmt stev ev 1 0x00000000 ev 1 0x00010001 ev 2 0x00000005
traffic "values from 0"
ksft_test "values from 0: as they are on the wire" evs_are 'map(.entropy)' \
	"[$((0xffff0000)),$((0x00010001)),$((0xffff0005))]"
ksft_test "values from 0: all are used" all_used

ksft_test "UDP from a field" both fmt udp mode gen gen 0 field 16,0xc000,0x3fff,0,31
traffic "UDP from a field"
ksft_test "UDP from a field: 32, the planes in turn" evs_are \
	'[length, (map(select(.port == 1).entropy / 65536) | [.[0], .[1]])]' '[32,[49152,49154]]'
ksft_test "UDP from a field: all are used" all_used
ksft_test "each value on each port" both fmt udp mode gen count 8 field 16,0xc000,3,0,3
ksft_test "each value on each port: once" evs_are 'map([.entropy / 65536 - 49152, .port]) | sort | tostring' \
	'"[[0,1],[0,2],[1,1],[1,2],[2,1],[2,2],[3,1],[3,2]]"'
ksft_test "some values on both ports" both fmt udp mode gen count 6 field 16,0xc000,3,0,3
ksft_test "some values on both ports: the first" evs_are 'map([.entropy / 65536 - 49152, .port]) | sort | tostring' \
	'"[[0,1],[0,2],[1,1],[1,2],[2,1],[3,2]]"'

# The mask takes the bits apart: 0b11 goes to 0x8000 and 0x0001.
ksft_test "STEV from fields" both fmt stev mode gen \
	gen 1 field 16,0x4000,0x8001,0,3 field 8,7 widths 16,16 \
	gen 2 field 16,0xc002 field 8,0,0xf0,1,2
traffic "STEV from fields"
ksft_test "STEV from fields: as expanded" evs_are 'map(.entropy)' \
	"[$((0x40000007)),$((0x40010007)),$((0xc0000007)),$((0xc0010007)),$((0xc0020010)),$((0xc0020020))]"
ksft_test "a profile shows its fields" grep -q 'gen 2 field 16,0xc002 field 8,0x0,0xf0,1,2 evs 6' \
	<(mrcctl -n h1 profile show)

ksft_test "QPs that spray over 4096" mrcctl -n h1 dev set dev mrc0 active-evs 4096
ksft_test "4,096 of four million EVs" both fmt stev mode gen count 4096 \
	gen 0 field 16,0xc000,0x3fff,0,16383 field 16,0,0xff,0,255
traffic "4,096 EVs"
ksft_test "4,096 EVs: a thousand packets" mrc_verify 60 -o write -s 65536 -n 64
ksft_test "4,096 EVs: half on each plane" evs_are 'group_by(.port) | map(length)' '[2048,2048]'
ksft_test "4,096 EVs: most are used ($(evs 'map(select(.tx_pkts > 0)) | length'))" \
	test "$(evs 'map(select(.tx_pkts > 0)) | length')" -gt 512
many=()
for ((i = 0; i < 4096; i++)); do
	many+=(ev $((i % 2 + 1)) $((40000 + i)))
done
ksft_test "4,096 explicit EVs" both fmt udp "${many[@]}"
traffic "4,096 explicit EVs"
ksft_equal "4,096 explicit EVs: all are shown, in order" 40000,44095 \
	"$(mrcctl -n h1 -j profile show | jq -r '.[0].ev | "\(.[0].value),\(.[4095].value)"')"

# ---------------------------------------------------------------- refusals
before=$(mrcctl -n h1 -d -j profile show)
ksft_test "one EV too many" refuse "4097 EVs, at most 4096" fmt udp "${many[@]}" ev 1 7
ksft_test "no fields in mode GEN" refuse "no fields in mode GEN" fmt udp mode gen
ksft_test "EVs in mode GEN" refuse "no fields in mode GEN" fmt udp mode gen ev 1 7
ksft_test "fields alone in explicit mode" refuse "no EVs in explicit mode" fmt udp gen 0 field 16,1
ksft_test "a count in explicit mode" refuse "a count of EVs" fmt udp count 2 ev 1 7
ksft_test "EVs in mode AUTO" refuse "AUTO takes no EVs" fmt udp mode auto ev 1 7
ksft_test "a field wider than the format's" refuse "gen 0 field 0: width 16, the format's field has 8" \
	fmt udp mode gen widths 8 field 16,1
ksft_test "more fields than the format has" refuse "gen 0: 2 fields, the format has 1" \
	fmt udp mode gen widths 16 field 8,1 field 8,1
ksft_test "a format wider than an EV" refuse "format: 32 bits, an EV has at most 16" \
	fmt udp mode gen widths 16,16 field 16,1
ksft_test "an initial value that does not fit" refuse "gen 0 field 0: init 0x10000 does not fit 16" \
	fmt udp mode gen field 16,0x10000
ksft_test "a mask that does not fit" refuse "gen 1 field 0: mask 0x1ff does not fit 8" \
	fmt stev mode gen gen 1 field 8,0 gen 2 field 8,0,0x1ff,0,1
ksft_test "a range the wrong way round" refuse "gen 0 field 0: min 5, max 4" \
	fmt udp mode gen field 16,0xc000,0xff,5,4
ksft_test "a range that the mask does not hold" refuse "gen 0 field 0: min 0, max 4, mask has 2 bits" \
	fmt udp mode gen field 16,0xc000,0x3,0,4
ksft_test "too many described, without a count" refuse "the fields make 16384 EVs, at most 4096" \
	fmt udp mode gen field 16,0xc000,0x3fff,0,16383
ksft_test "a count of more than described" refuse "count 17, the fields make 16 EVs" \
	fmt udp mode gen count 17 field 16,0xc000,7,0,7
ksft_test "and on one port" refuse "count 9, the fields make 8 EVs" \
	fmt udp mode gen count 9 gen 1 field 16,0xc000,7,0,7
ksft_test "a port that does not exist" refuse "gen 0: mrc0 has no port 9" \
	fmt udp mode gen gen 9 field 16,0xc000
ksft_test "more demanded than there are" refuse "min-active 3 of 2" \
	fmt udp mode gen min-active 3 field 16,0xc000,1,0,1
ksft_test "a field of no bits" refused "" -- profile h1 fmt udp mode gen field 0,0
ksft_equal "no refused profile left a trace" "$before" "$(mrcctl -n h1 -d -j profile show)"
ksft_test "away with them" off
traffic "automatic EVs again"
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc

# -------------------------------------------------------------------- SRv6
# shellcheck disable=SC2034
MRC_EVS=4
ksft_test "SRv6: two planes by hand, explicit EVs, some twice" mrc_fabric_by_hand 2 2 2 2
traffic "explicit SRv6"
ksft_test "explicit SRv6: all are used" all_used

# ------------------------------------------------ a peer of ordinary IP alone
# 150 EVs on each plane: an IP peer needs a part of so many, whoever asks.
peer_evs_are() {	# PEER NUMBER
	local got
	got=$(mrcctl -n h1 -j peer show peer "$1" | jq '.[0].evs')
	echo "$1 has $got EVs, expected $2"
	[ "$got" = "$2" ]
}
long_list() {	# DST COUNT
	local evs=() i a b hex
	a=$(fabric_path 1 2 1 1) b=$(fabric_path 1 2 2 1)
	for ((i = 1; i <= $2; i++)); do
		printf -v hex %x $i
		evs+=(ev 1 "${a%::}:$hex::" ev 2 "${b%::}:$hex::")
	done
	mrcctl -n h1 profile set dev mrc0 id 1 dst "$1" fmt srv6 "${evs[@]}"
}
nobody=fd00:6d72:63::55
say_to() { ip netns exec h1 ping -6 -c 1 -W 1 "$1" || true; }	# nobody answers
ksft_test "ordinary IP: 300 EVs" long_list $nobody 150
ksft_test "ordinary IP: a packet" say_to $nobody
ksft_test "ordinary IP: it takes 128 of them" mrc_until 5 peer_evs_are $nobody 128
ksft_test "ordinary IP: 400 EVs" long_list $nobody 200
ksft_test "ordinary IP: 128 of them, too" peer_evs_are $nobody 128
# What a controller denied of the part is denied of the whole: the same EVs, at other places.
denied() { mrcctl -n h1 -j ev show peer $nobody state denied | jq -c "map($1)"; }
# ev_is_meant PLACE OF: is the EV that stands at place OF denied at PLACE?
ev_is_meant() {
	local value port
	say_to $nobody >/dev/null 2>&1	# a minute without, and it is forgotten
	read -r value port < <(mrcctl -n h1 -j ev show peer $nobody | jq -r ".[$2] | \"\(.value) \(.port)\"")
	fabric_in h1 /usr/bin/python3 -I -S "$here/../verbs/mrc_netlink.py" deny mrc0 $nobody "$1" "$value" "$port"
}
another_ev() {	# PLACE OF
	local said
	! said=$(ev_is_meant "$1" "$2") || return
	echo "$said"
	[ "$said" = "116 EV $1 is another one: the path set was replaced, list it again" ]
}
deny() {
	ev_is_meant 7 7 && mrcctl -n h1 ev set dev mrc0 peer $nobody index 100 state denied &&
		was=$(denied .value) && at=$(denied .index)
}
denied_still() {
	local now place
	now=$(denied .value) place=$(denied .index)
	echo "denied: $was at $at, now $now at $place"
	[ "$(jq length <<<"$was")" = 2 ] && [ "$now" = "$was" ] && [ "$place" != "$at" ]
}
ksft_test "not another EV than is meant" another_ev 7 8
ksft_test "nor one of another plane" another_ev 7 70
ksft_test "nor one beyond the end" another_ev 128 0
ksft_test "two are denied" deny
say_to $nobody >/dev/null 2>&1
coproc MANY { nsenter --net=/run/netns/h1 -- mrc_many -d "${MRC_IBDEV[h1]}" $nobody 2>&1; }
many() { echo more >&"${MANY[1]}" && read -rt 120 -u "${MANY[0]}" && echo "$REPLY" && [ "$REPLY" = "$1" ]; }
ksft_test "a QP to that peer" many 1
ksft_test "ordinary IP no more: all of them" peer_evs_are $nobody 400
ksft_test "the same two are denied" denied_still
ksft_test "and after the next change" long_list $nobody 150
ksft_test "(all of them)" peer_evs_are $nobody 300
eval "exec ${MANY[1]}>&-"
wait "$MANY_PID" || true
# What went to nobody by EVs of which the end is made up came to a host that is not meant; nothing does from here on.
mrc_stat h2 rx_bad_sid
strays=$REPLY
no_more_strays() { mrc_stat h2 rx_bad_sid && echo "$strays, now $REPLY" && [ "$REPLY" -eq "$strays" ]; }

# gen_of FROM TO SRH: one generator per plane; the T1 is the field that varies. With a
# routing header, the way to the T1 is in the destination, the rest in the segment.
block=$((16#${FABRIC_BLOCK/:/}))
gen_of() {
	local p REPLY dst a b h t rest=() gens=()
	fabric_host_addr "$2"
	dst=$REPLY
	[ -z "$3" ] || rest=(field "32,0" field "32,0" field "32,$block")
	for p in 1 2; do
		fabric_usid_t0 $p "$1"; a=$REPLY
		fabric_usid_t0 $p "$2"; b=$REPLY
		fabric_usid_t1 $p 0; t=$REPLY
		fabric_usid_host $p "$2"; h=$REPLY
		gens+=(gen "$p" field "32,$block" field "16,0x$a" field "16,0x$t,0xf,1,2"
			"${rest[@]}" field "16,0x$b" field "16,0x$h")
	done
	mrcctl -n "h$1" profile set dev mrc0 id 1 dst "$dst" fmt srv6 mode gen "${gens[@]}"
}
srv6_gen() { gen_of "$1" "$2" ''; }
srh_gen() { gen_of "$1" "$2" srh; }
gen_both() { "$1" 1 2 && "$1" 2 1; }
ksft_test "SRv6 from fields" gen_both srv6_gen
traffic "SRv6 from fields"
ksft_test "SRv6 from fields: all are used" all_used
ksft_test "SRv6 from fields: the paths of the fabric" evs_are '[.[0].value, .[3].value]' \
	"[\"$(fabric_path 1 2 1 1)\",\"$(fabric_path 1 2 2 2)\"]"
ksft_test "SRv6 with SRH, from fields" gen_both srh_gen
traffic "SRv6 with SRH"
ksft_test "SRv6 with SRH: all are used" all_used
ksft_test "SRv6 with SRH: a segment each" evs_are \
	'all(.value | test("^fcbb:bb00:.*,fcbb:bb00:.*")) and length == 4' true
ksft_test "SRv6: a destination that is no unicast address" refuse "EV 0: ff02::1 is no SRv6 destination" \
	fmt srv6 mode gen field 32,0xff020000 field 32,0 field 32,0 field 32,1
ksft_test "SRv6: cannot be made up" refuse "cannot be made up" fmt srv6 mode auto
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc rx_bad_sid
ksft_test "none came to the wrong host" no_more_strays

# --------------------------------------------------------------------- MTU
ksft_test "SRH: 4251 is too small" path_mtu_is 4251 2048
ksft_test "SRH: what is said fits" full_packets
ksft_test "SRH: 4252 is enough" path_mtu_is 4252 4096
ksft_test "SRH: it is" full_packets
ksft_test "profiles without SRH" gen_both srv6_gen
ksft_test "SRv6: 4227 is too small" path_mtu_is 4227 2048
ksft_test "SRv6: 4228 is enough" path_mtu_is 4228 4096
ksft_test "SRv6: it is" full_packets
ksft_test "no packet was too long" mrc_expect_clean rx_bad_icrc rx_bad_sid
ksft_test "nor came to the wrong host" no_more_strays
ksft_test "as it was" path_mtu_is 9000 4096
ksft_test "SRH again" gen_both srh_gen

# ------------------------------------------------------ EVs keep their states
deny() { mrcctl -n h1 ev set dev mrc0 peer fd00:6d72:63::2 index 1 state denied; }
denied() { evs_are 'map(select(.state == "denied") | .index)' '[1]'; }
ksft_test "a connection" mrc_verify_start -o write -s 16384 -t 600
ksft_test "that works" mrc_flows
ksft_test "an EV is denied" deny
ksft_test "and stays so when another peer's profile changes" mrcctl -n h1 profile set \
	dev mrc0 id 1 dst fd00:6d72:63::77 fmt srv6 ev 1 "$(fabric_path 1 2 1 1)"
ksft_test "(it is)" denied
ksft_test "and when its own is set to the same" srh_gen 1 2
ksft_test "(it is)" denied
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_finish
