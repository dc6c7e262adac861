#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: new uml
#
# Packets that nobody should send, accesses that are not allowed, settings that
# cannot be: each is refused, counted once, and nothing else happens.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane
#	h1 mrc0 over eth1 eth2			by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# The two programs stand still, so that every counter does.
freeze() { kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"; }
thaw() { kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"; }

# inject CASE [COUNTER]: h2 sends it; exactly one counter of h1 goes up by one,
# beside those of what arrived at all.
inject() {
	local what=$1 counter=${2:-} before answer
	mrc_stats h1
	before=$REPLY
	echo "$what" >&"${INJECT[1]}"
	read -rt 100 -u "${INJECT[0]}" answer || { echo "no answer"; return 1; }
	[ "$answer" = sent ] || { echo "$answer"; return 1; }
	mrc_sleep 0.2
	mrc_stats h1
	mrc_stats_diff "$before" "$REPLY"
	echo "changed: $REPLY"
	REPLY=${REPLY/rx_ctrl_pkts+1 sacks_rcvd+1/}
	REPLY=${REPLY/port_updates_rcvd+1 /}
	REPLY=${REPLY/rx_endpoint+1/}
	REPLY=${REPLY% }
	[ "$REPLY" = "${counter:+$counter+1}" ]
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_bad python3

# ----------------------------------------------------------------- packets
ksft_test "one plane" mrc_one_plane
# shellcheck disable=SC2034
MRC_STALL=120	# it stands still for long
ksft_test "a connection" mrc_verify_start -o mix -q 4 -s 4096 -t 600
ksft_test "that works" mrc_flows 60
freeze
ksft_test "frozen: no counter moves" mrc_until 20 mrc_still h1

# An address that is nobody's leads to h1, too.
ip -n h2 neigh add fd00:6d72:63::e15e dev eth1 \
	lladdr "$(ip -n h1 -j link show eth1 | jq -r '.[0].address')"
fabric_host_addr 1
coproc INJECT { nsenter --net=/run/netns/h2 -- /usr/bin/python3 -I -S \
	"$here/../verbs/mrc_inject.py" "$REPLY" fd00:6d72:63::2 "$(mrc_qp_of h1 qpn)" \
	"$(mrc_qp_of h1 rx_cack)" "$(mrc_qp_of h1 psn_next)" 2>&1; }
ksft_test "a UDP payload shorter than BTH" inject short rx_malformed
ksft_test "an empty UDP payload" inject empty rx_malformed
ksft_test "BTH and ICRC alone" inject headless rx_malformed
ksft_test "an unknown opcode" inject opcode rx_malformed
ksft_test "an IBTA opcode, as rxe sends" inject ibta rx_malformed
ksft_test "another transport version" inject version rx_malformed
ksft_test "more padding than payload" inject padding rx_malformed
ksft_test "a SACK that goes on too long" inject longsack rx_malformed
ksft_test "a SACK that is too short" inject shortsack rx_malformed
ksft_test "UDP shorter than it says below IP" inject udpshort rx_malformed
ksft_test "a wrong ICRC" inject icrc rx_bad_icrc
ksft_test "one bit of the payload flipped" inject bitflip rx_bad_icrc
ksft_test "a QP that does not exist" inject qp rx_unknown_qp
ksft_test "QP 0" inject qp0 rx_unknown_qp
ksft_test "a source that is not the peer" inject source rx_wrong_source
ksft_test "an endpoint packet from a stranger" inject endpoint rx_wrong_source
ksft_test "the peer's word, forged, that it has no port" inject ports port_updates_refused
ksft_test "a wrong P_Key" inject pkey rx_bad_pkey
ksft_test "a PSN beyond the window" inject psn rx_oor
ksft_test "a SACK for what was never sent" inject sack rx_bad_ack
ksft_test "what only passes by is not looked at" inject transit
ksft_test "UDP to another port is not ours, and a hint" inject port rx_other_port
eval "exec ${INJECT[1]}>&-"

thaw
ksft_test "the connection has not noticed" mrc_flows
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# ------------------------------------------------------------------ access
mrc_gid_index h1 v6
mrc_start victim h1 mrc_bad -d "${MRC_IBDEV[h1]}"
mrc_until 30 mrc_listens victim 18516
fabric_host_addr 1
mrc_start offender h2 mrc_bad -d "${MRC_IBDEV[h2]}" "$REPLY"
ksft_test "accesses that are not allowed" mrc_wait offender 90
ksft_test "their victim is unharmed" mrc_wait victim 10
grep -E -A 1 '^(not )?ok ' "$MRC_DIR/offender.out" >"$MRC_DIR/cases" || true
while read -r verdict _ name; do
	case $verdict in
	ok) ksft_pass "$name";;
	not) ksft_fail "${name#* }";;
	\#) ksft_comment "$name";;
	esac
done <"$MRC_DIR/cases"
# rose HOST COUNTER -eq|-ge NUMBER: since the device was made.
rose() {
	mrc_stat "$1" "$2" || return
	echo "$2 of $1: $REPLY, expected $3 $4"
	test "$REPLY" "$3" "$4"
}
ksft_test "h2 counts requests refused for their access" rose h2 req_remote_access_errors -ge 15
ksft_test "as h1 does that refused them" rose h1 resp_remote_access_errors -ge 15
ksft_test "one that was too long" rose h2 req_remote_invalid_request -eq 1
ksft_test "for the receive of h1" rose h1 resp_local_length_error -eq 1
ksft_test "all of them as failed" rose h2 req_cqe_error -ge 20
ksft_test "what was flushed behind them" rose h2 req_cqe_flush_error -ge 15
# Three cases end with three receives each; in two of them the first has an error of its own.
ksft_test "and receives of h1" rose h1 resp_cqe_flush_error -eq 7
ksft_test "of nine that failed" rose h1 resp_cqe_error -eq 9

# ---------------------------------------------------------------- settings
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
mrcctl="mrcctl -n h1"
before=$($mrcctl -d -j profile show)
profile() { $mrcctl profile set dev mrc0 id 1 dst fd00:6d72:63::2 "$@"; }
ksft_test "an EV on a port that does not exist" refused 9 -- \
	profile fmt srv6 ev 9 fcbb:bb00:1001:1202::
ksft_test "one such EV among good ones" refused 3 -- profile fmt srv6 \
	ev 1 fcbb:bb00:1001:1101:1002:1202:: ev 3 fcbb:bb00:2001:2101:2002:2202::
ksft_test "an SRv6 EV that is no unicast address" refused ff02::1 -- \
	profile fmt srv6 ev 1 ff02::1
ksft_test "a profile without EVs" refused "EVs" -- profile fmt srv6
ksft_test "profile 0" refused "" -- $mrcctl profile set dev mrc0 id 0 fmt udp ev 1 7
ksft_test "more EVs demanded than there are" refused "5 of 1" -- \
	profile fmt srv6 min-active 5 ev 1 fcbb:bb00:1001:1101:1002:1202::
ksft_test "a device that does not exist" refused nosuch0 -- \
	$mrcctl plane set dev nosuch0 plane 1 admin off
ksft_test "a netdev that is no MRC device" refused eth1 -- \
	$mrcctl plane set dev eth1 plane 1 admin off
ksft_equal "no refused profile left a trace" "$before" "$($mrcctl -d -j profile show)"
ksft_test "and the paths work" mrc_verify 60 -o mix -n 20

# ------------------------------------------------------------------ floods
netlink() {
	nsenter --net=/run/netns/h1 -- /usr/bin/python3 -I -S "$here/../verbs/mrc_netlink.py" "$@"
}
full() {	# TEXT WHAT: requests until one is refused with TEXT
	local said
	said=$(netlink "$2" mrc0) || { echo "$said"; return 1; }
	echo "$said"
	[[ $said = *"$1"* ]]
}
ksft_test "refusals keep apart who asked for what" netlink race mrc0
ksft_test "CC profiles without end" full "there are 256 already" ccs
ksft_equal "there are so many" 256 "$(mrcctl -n h1 -j cc show | jq length)"
ksft_test "EV profiles without end" full "there are 16384 already" profiles
ksft_test "one more is refused" refused 16384 -- \
	$mrcctl profile set dev mrc0 id 99999 fmt udp ev 1 50000
ksft_test "one that is there may change" $mrcctl profile set dev mrc0 id 77 fmt udp ev 1 50007
ksft_test "or leave" $mrcctl profile del dev mrc0 id 78
ksft_test "which makes room" $mrcctl profile set dev mrc0 id 99999 fmt udp ev 1 50000
ksft_test "and the paths work still" mrc_verify 60 -o mix -n 20
ksft_finish
