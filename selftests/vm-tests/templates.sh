#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full uml
#
# Two templates are all profiles of a host: one for its own T0's prefix, with the path
# block:T0:host, one for everybody else, block:T0:T1:T0:host. Each peer gets its EVs of them when it
# is first talked to.
#
#	h1 h3 - T0 1 \       / T0 2 - h2 h4	times two planes
#	              T1 1, 2
#
# Host i at T0 n is fd00:6d72:63:0:n::i, so bits 72 to 79 are the T0, 120 to 127 the host.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

PEERS=${MRC_N:-4096}

# In the place of the libraries': addresses that paths follow from, and no profile per pair.
fabric_host_addr() {
	fabric_host_t0 "$1"
	printf -v REPLY 'fd00:6d72:63:0:%x::%x' "$REPLY" "$1"
}
mrc_profiles_by_hand() { :; }
mrc_gid_index() {	# HOST v6|v4
	local want file gid dev t0
	fabric_host_t0 "${1#h}"
	t0=$REPLY
	case $2 in
	v6) printf -v want 'fd00:6d72:0063:0000:%04x:0000:0000:%04x' "$t0" "${1#h}";;
	v4) printf -v want '0000:0000:0000:0000:0000:ffff:0a4d:%04x' "${1#h}";;
	esac
	for dev in /sys/class/infiniband/*; do
		for file in "$dev"/ports/1/gids/{0..9}; do
			read -r gid 2>/dev/null <"$file" || continue
			[ "$gid" = "$want" ] || continue
			MRC_IBDEV[$1]=${dev##*/}
			REPLY=${file##*/}
			return
		done
	done
	return 1
}

block=$((16#${FABRIC_BLOCK/:/}))

# profile HOST ARG...: number 1.
profile() {
	local host=$1
	shift
	mrcctl -n "$host" profile set dev mrc0 id 1 "$@"
}

# long HOST FIRST_T1 LAST_T1: for everybody.
long() {
	local p gens=()
	for p in 1 2; do
		gens+=(gen "$p" field "32,$block" field "16,0x${p}000" field "16,0x${p}100,0xf,$2,$3"
			field "16,0x${p}000" field "16,0x${p}200"
			copy src:72:8:40 copy dst:72:8:72 copy dst:120:8:88)
	done
	profile "$1" fmt srv6 mode gen "${gens[@]}"
}
# short HOST [ARG...]: for those at its T0.
short() {
	local p gens=() host=$1 REPLY
	fabric_host_t0 "${1#h}"
	shift
	for p in 1 2; do
		gens+=(gen "$p" field "32,$block" field "16,0x${p}000" field "16,0x${p}200"
			copy src:72:8:40 copy dst:120:8:56)
	done
	profile "$host" dst "fd00:6d72:63:0:$REPLY::/80" fmt srv6 mode gen "${gens[@]}" "$@"
}
templates() { long "h$1" 1 2 && short "h$1"; }

# evs HOST JQ: over the EVs that h1 has towards it.
evs() {
	local REPLY
	fabric_host_addr "$1"
	mrcctl -n h1 -j ev show peer "$REPLY" | jq -c "$2"
}
# paths_are HOST PATH...
paths_are() {
	local host=$1 got want
	shift
	got=$(evs "$host" 'map(.value) | join(" ")')
	want="\"$*\""
	echo "EVs to h$host are $got, expected $want"
	[ "$got" = "$want" ]
}
all_paths() {	# HOST: of the fabric, as it is
	local p t paths=()
	for p in 1 2; do
		for t in 1 2; do
			paths+=("$(fabric_path 1 "$1" $p $t)")
			[ "$1" != 3 ] || break
		done
	done
	paths_are "$1" "${paths[@]}"
}

# verify_with HOST: between h1 and it.
verify_with() {
	local REPLY
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server "h$1" mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h$1]}" -p $MRC_PORT
	mrc_until 30 mrc_listens server $MRC_PORT || return
	fabric_host_addr "$1"
	mrc_start client h1 mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT \
		-o mix -s 16384 -n 40 "$REPLY"
	mrc_pair_wait 60
}
all_used() {	# HOST
	echo "$(evs "$1" 'map(.tx_pkts)')"
	[ "$(evs "$1" 'all(.tx_pkts > 0)')" = true ]
}
# Peers that nobody talks to are forgotten after a minute, which a slow machine needs.
talk() {	# HOST
	local REPLY
	fabric_host_addr "$1"
	mrc_start "talk$1" h1 ping -q -i 5 "$REPLY"
}
refuse() {	# TEXT ARG...
	local text=$1
	shift
	refused "$text" -- profile h1 "$@"
}

management() {
	local i
	# shellcheck disable=SC2034
	MRC_PERF_TO=10.99.0.2
	ip link add mgmt netns h1 type veth peer name mgmt netns h2 || return
	for i in 1 2; do
		ip -n h$i addr add 10.99.0.$i/24 dev mgmt
		ip -n h$i link set mgmt up || return
	done
}

ksft_plan
mrc_begin mrcctl mrc_verify ib_write_bw
ksft_test "a fabric of four hosts" mrc_fabric_by_hand 4 2 2 2
for i in 1 2 3 4; do
	ksft_test "h$i: two templates" templates $i
done

# ------------------------------------------------------------- what they make
ksft_test "another T0: every byte arrives right" verify_with 2
ksft_test "another T0: the fabric's paths" all_paths 2
ksft_test "another T0: all are used" all_used 2
ksft_test "a cable for perftest's own TCP, which knows IPv4 only" management
ksft_test "ib_write_bw over them" mrc_perf 60 ib_write_bw -s 65536 -n 200
ksft_test "ib_write_bw, 8 QPs, both ways" mrc_perf 60 ib_write_bw -b -q 8 -s 16384 -n 50
talk 2
ksft_test "our T0: every byte arrives right" verify_with 3
ksft_test "our T0: the short paths" all_paths 3
ksft_test "our T0: all are used" all_used 3
ksft_test "a third: every byte arrives right" verify_with 4
talk 4
ksft_test "a third: its own paths" all_paths 4
ksft_test "they are shown as they were set" grep -q \
	'dst fd00:6d72:63:0:1::/80 .* gen 2 field 32,0xfcbbbb00 field 16,0x2000 field 16,0x2200 copy src:72:8:40 copy dst:120:8:56' \
	<(mrcctl -n h1 -d profile show)
ksft_test "by words that make them again" mrc_profiles_again h1
ksft_equal "and in JSON" '{"from":"src","bit":72,"width":8,"at":40}' \
	"$(mrcctl -n h1 -j profile show | jq -c '.[0].gen[0].copies[0] | {from,bit,width,at}')"

# ------------------------------------------------------------ who comes first
fabric_host_addr 2
h2=$REPLY
ksft_test "one for h2 alone" profile h1 dst "$h2" fmt srv6 ev 1 "$(fabric_path 1 2 1 2)"
ksft_test "it wins" paths_are 2 "$(fabric_path 1 2 1 2)"
ksft_test "and no other peer has it" all_paths 4
ksft_test "one for h2's T0" profile h1 dst fd00:6d72:63:0:2::/80 fmt srv6 ev 2 "$(fabric_path 1 4 2 1)"
ksft_test "changes nothing for h2" paths_are 2 "$(fabric_path 1 2 1 2)"
ksft_test "but for h4" paths_are 4 "$(fabric_path 1 4 2 1)"
ksft_test "without it" mrcctl -n h1 profile del dev mrc0 id 1 dst fd00:6d72:63:0:2::/80
ksft_test "h4 has the template's" all_paths 4
ksft_test "that for h2 goes" mrcctl -n h1 profile del dev mrc0 id 1 dst "$h2"
ksft_test "h2 has the template's" all_paths 2
ksft_test "one that is not there" refused "no profile 1 for fd00:6d72:63:0:2::/80" -- \
	mrcctl -n h1 profile del dev mrc0 id 1 dst fd00:6d72:63:0:2::/80

# --------------------------------------------------------------- our address
# The one that is most like the peer's: 3 is nearer to 2 than 1 is.
other=fd00:6d72:63:0:3::1
ours_is() {	# T0
	[ "$(evs 2 ".[0].value | test(\":100$1:1101:\")")" = true ]
}
ksft_test "an address more" ip -n h1 addr add $other/64 dev mrc0 nodad
ksft_test "EVs are copied from it" mrc_until 10 ours_is 3
ksft_test "it goes" ip -n h1 addr del $other/64 dev mrc0
ksft_test "and they are as they were" mrc_until 10 all_paths 2
mrc_kill talk2
mrc_kill talk4

# ------------------------------------------------------------- under traffic
denied() { [ "$(evs 2 'map(select(.state == "denied") | .index)')" = '[1]' ]; }
ksft_test "a connection to h2" mrc_verify_start -o write -s 16384 -t 600
ksft_test "that works" mrc_flows
ksft_test "an EV is denied" mrcctl -n h1 ev set dev mrc0 peer "$h2" index 1 state denied
ksft_test "our T0's template is replaced" short h1 min-active 1
ksft_test "what was learnt of h2's paths stays" denied
ksft_test "the other one is set to the same" long h1 1 2
ksft_test "which changes nothing" denied
ksft_test "it is replaced" long h1 2 2
ksft_test "h2's paths are" paths_are 2 "$(fabric_path 1 2 1 2)" "$(fabric_path 1 2 2 2)"
ksft_test "and carry the connection" mrc_flows
ksft_test "a template that leads nowhere" refused "no path left" -- \
	profile h1 fmt srv6 mode gen gen 1 field 32,0xfc000000 field 16,0 copy dst:120:8:40
ksft_test "all that keep it alive may not go" refused "no path left" -- \
	profile h1 dst "$h2" fmt srv6 ev 1 fc00:dead::
ksft_test "it is replaced again" long h1 1 2
ksft_test "h2's paths are all there" all_paths 2
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# ---------------------------------------------------------------- refusals
before=$(mrcctl -n h1 -d -j profile show)
gen=(fmt srv6 mode gen gen 1 field "32,$block" field "16,0x1001")
ksft_test "bits beyond an address" refuse "gen 0 copy 0: 16 bits from bit 113, an address has 128" \
	"${gen[@]}" copy dst:113:16:32
ksft_test "bits beyond an EV" refuse "gen 0 copy 1: 16 bits at bit 241, an EV has 256" \
	"${gen[@]}" copy dst:0:16:32 copy dst:0:16:241
ksft_test "bits beyond a UDP port" refuse "gen 0 copy 0: 8 bits at bit 9, an EV has 16" \
	fmt udp mode gen field 16,0xc000 copy dst:0:8:9
nine=()
for ((i = 0; i < 9; i++)); do
	nine+=(copy "dst:$i:1:40")
done
ksft_test "nine copies" refuse "gen 0: more than 8 copies" "${gen[@]}" "${nine[@]}"
ksft_test "a destination that may be multicast" refuse \
	"EV 0: copies can make it fffb:bb00:1001::, no unicast" \
	fmt srv6 mode gen gen 1 field "32,0x00fbbb00" field 16,0x1001 copy dst:0:8:0
ksft_test "one that may be nothing" refuse "EV 0: copies can make it ::, no unicast" \
	fmt srv6 mode gen gen 1 field 32,0xfc000000 copy dst:0:32:0
ksft_test "a segment that may be none" refuse "EV 0: copies can make its segment ::" \
	"${gen[@]}" copy dst:112:16:144
ksft_test "a prefix with bits behind it" refuse "has bits beyond its length: fd00::/16?" \
	dst fd00::1/16 fmt udp ev 1 7
ksft_test "a prefix of no bits" refuse "dst length" dst ::/0 fmt udp ev 1 7
request() { fabric_in h1 /usr/bin/python3 -I -S "$here/../verbs/mrc_netlink.py" "$1" mrc0 "${@:2}"; }
ksft_test "the kernel says that, too" refused "dst has bits beyond its /16: fd00::?" -- \
	request prefix fd00::1 16
# As an ISATAP address, the end of which is printed as one of IPv4: no text is longer, and it is whole.
isatap=fd11:2222:3333:4444:200:5efe:255.255.255
ksft_test "of the longest prefix that there is" refused "dst has bits beyond its /127: $isatap.254?" -- \
	request prefix $isatap.255 127
netlink() { request copy "$@"; }
ksft_test "a copy of what is no address" refused "gen 0 copy 0: from 2 is neither dst (0) nor src (1)" -- \
	netlink 2 0 1 0
ksft_test "a copy of no bits" refused "gen 0 copy 0: width 0 is not in 1 to 32" -- netlink 0 0 0 0
ksft_test "of more bits than a field" refused "gen 0 copy 0: width 33 is not in 1 to 32" -- \
	netlink 0 0 33 0
ksft_test "a copy of no address" refuse "copy" "${gen[@]}" copy me:0:1:32
ksft_equal "no refused one left a trace" "$before" "$(mrcctl -n h1 -d -j profile show)"

# ---------------------------------------------------------------- many peers
# N datagrams to N hosts that nobody is: their path sets come of one template.
datagrams() {
	fabric_in h1 /usr/bin/python3 -I -S -c '
import socket, sys
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for n in range(int(sys.argv[1])):
    udp.sendto(b"hello", (f"fd00:6d72:63:0:{2 + n // 200:x}::{n:x}", 9))
' "$1"
}
free_kib() { sync; awk '/^MemFree/ { print $2 }' /proc/meminfo; }
peers() { mrcctl -n h1 -j peer show | jq length; }
many_are() { [ "$(peers)" -ge $((PEERS - 64)) ]; }
timed() {	# TEXT CMD...: REPLY is how long it took, in ms
	local start=${EPOCHREALTIME/[.,]/}
	shift
	"$@" || return
	REPLY=$(((${EPOCHREALTIME/[.,]/} - start) / 1000))
}
free=$(free_kib)
ksft_test "datagrams to $PEERS hosts" datagrams "$PEERS"
ksft_test "peers of all of them" many_are
ksft_comment "memory per peer: $(((free - $(free_kib)) * 1024 / PEERS)) bytes, with everything that they brought"
host=fd00:6d72:63:0:5::2ff
asked_for() { fabric_in h1 ping -6 -q -c 1 -W 1 $host >/dev/null 2>&1 || :; }	# nobody answers
asked_for
ksft_equal "one of them has its own paths" '"fcbb:bb00:1001:1101:1005:12ff::"' \
	"$(mrcctl -n h1 -j ev show peer $host | jq '.[0].value')"
asked_for
REPLY=
timed "" long h1 2 2 && ksft_comment "the template replaced, all paths made anew: $REPLY ms (a request, RTNL held)"
ksft_equal "it has new ones" '"fcbb:bb00:1001:1102:1005:12ff::"' \
	"$(mrcctl -n h1 -j ev show peer $host | jq '.[0].value')"
timed "" short h1 && ksft_comment "another replaced, which concerns one peer: $REPLY ms"
timed "" peers && ksft_comment "all peers shown: $REPLY ms"
ksft_test "h2 works among them" verify_with 2
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "cleaned up" mrc_clear
ksft_finish
