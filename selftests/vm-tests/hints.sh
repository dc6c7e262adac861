#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: full uml
#
# Settings that differ between the ends: what can be agreed on works, and for the rest both hosts
# say what it may be, in the kernel's log, in counters and with the peer.
#
#	h1, h2 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

dev_set() { mrcctl -n "$1" dev set mrc0 "${@:2}"; }
# hints HOST: of the peer that it has QPs to, or had.
hints() { mrcctl -n "$1" -j peer show | jq -c '[.[].hints[]] | sort | unique | join(" ")' -r; }
hinted() { [[ " $(hints "$1") " = *" $2 "* ]]; }
# said TEXT...: since the last call of heard_nothing.
said() {
	local text
	for text; do
		dmesg | tail -n "+$((mark + 1))" | grep -qF -- "$text" || { dmesg | tail -n 5; return 1; }
	done
}
said_once() { [ "$(dmesg | tail -n "+$((mark + 1))" | grep -cF -- "$1")" -eq 1 ]; }
heard_nothing() { mark=$(dmesg | wc -l); }
not_said() { ! said "$@"; }
is_zero() { mrc_stat "$1" "$2" && [ "$REPLY" -eq 0 ]; }
counts() { mrc_stat "$1" "$2" && [ "$REPLY" -gt 0 ]; }
ends_badly() { mrc_fails client 250 && mrc_kill server; }
still() { kill -STOP "${MRC_PID[client]}" "${MRC_PID[server]}"; mrc_sleep 1; }
go_on() { kill -CONT "${MRC_PID[client]}" "${MRC_PID[server]}"; }
# inject I J: cases of mrc_inject.py from standard input, from host I to the QP of host J.
inject() {
	nsenter --net="/run/netns/h$1" -- /usr/bin/python3 -I -S "$here/../verbs/mrc_inject.py" \
		"fd00:6d72:63::$2" "fd00:6d72:63::$1" "$(mrc_qp_of "h$2" qpn)" "$(mrc_qp_of "h$2" rx_cack)" \
		"$(mrc_qp_of "h$2" psn_next)"
}
wrong() { printf 'icrc\n%.0s' {1..20} | inject 1 2; }
late() { echo noicrc | inject 2 1 | grep -x sent; }
works() { mrc_verify 60 -o mix -s 4096 -n 20; }

ksft_plan
mrc_begin mrcctl mrc_verify
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2
heard_nothing
ksft_test "alike" works
ksft_equal "no hint" "" "$(hints h1)$(hints h2)"

# ---------------------------------------------------------------------- ICRC
# Who has them off computes them for a peer that has them on. The client, h1, begins.
ksft_test "h1: no ICRC" dev_set h1 icrc off
ksft_test "who begins has none: it works" works
ksft_test "h2 dropped what came at first" counts h2 rx_bad_icrc
ksft_test "both: no ICRC" dev_set h2 icrc off
ksft_test "it works" works
ksft_test "h1: as before" dev_set h1 icrc on
ksft_test "who is asked has none: it works" works
ksft_test "h1 heard nothing wrong" is_zero h1 rx_bad_icrc
# shellcheck disable=SC2034
MRC_STALL=120	# it stands still for long
ksft_test "a connection" mrc_verify_start -o mix -s 4096 -t 600
ksft_test "that works" mrc_flows
ksft_test "h2: as before" dev_set h2 icrc on
ksft_test "data flows" mrc_flows 60
ksft_test "h1: none" dev_set h1 icrc off
ksft_test "data flows" mrc_flows 60
# A packet of before, when h2 sent none, comes when nothing else does: then h1 sends none, and h2 drops all.
still
ksft_test "one without comes late" late
go_on
ksft_test "data flows" mrc_flows 60
ksft_test "h2: none, too" dev_set h2 icrc off
ksft_test "data flows" mrc_flows 60
ksft_test "h2: as before" dev_set h2 icrc on
ksft_test "data flows" mrc_flows 60
ksft_test "h1: as before" dev_set h1 icrc on
ksft_test "data flows" mrc_flows 60
ksft_equal "there was nothing to be told" "" "$(hints h1)$(hints h2)"
ksft_test "nor in the log" not_said "the ICRC of each packet"

# What remains: somebody whose ICRCs are wrong, or who sends none whatever comes.
still
ksft_test "twenty packets with wrong ones" wrong
ksft_test "h2 sees whose ICRC is wrong" mrc_until 60 hinted h2 icrc
ksft_test "h2 says so" said "the ICRC of each packet from fd00:6d72:63::1 is wrong"
ksft_test "once" said_once "the ICRC of each packet from"
go_on
ksft_test "data flows" mrc_flows 60
ksft_equal "no hint is left" "" "$(hints h1)$(hints h2)"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 120

# ----------------------------------------------------------------- hop limit
heard_nothing
ksft_test "a connection" mrc_verify_start -o write -s 4096 -t 600
ksft_test "that works" mrc_flows
ksft_test "h1: a hop limit of 1" dev_set h1 hop-limit 1
ksft_test "h1 learns why nothing arrives" mrc_until 250 hinted h1 hop-limit
ksft_test "the connection fails" ends_badly
ksft_test "and says so" said "hop-limit 1 is too small"
ksft_test "a counter of it" counts h1 hops_exceeded
ksft_test "h1: as before" dev_set h1 hop-limit 64
ksft_test "that works" works
ksft_equal "no hint is left" "" "$(hints h1)"

# ------------------------------------------------------------------ UDP port
# TCP that lost its peer keeps the namespaces for minutes; the devices need not wait for them.
ip -n h1 link del mrc0
ip -n h2 link del mrc0
ksft_test "two hosts that have never heard of each other" mrc_fabric_by_hand 2 2 2 2
heard_nothing
ksft_test "h1: another UDP port" dev_set h1 udp-port 5000
ksft_test "is agreed upon" works
ksft_test "h2 says that it differs" said "sends to UDP port 5000"
ksft_test "a counter of it" counts h2 rx_other_port
ksft_equal "it works, so no hint is left" "" "$(hints h1)$(hints h2)"

# Both at the same port of theirs, and then one changes.
ip -n h1 link del mrc0
ip -n h2 link del mrc0
ksft_test "two hosts once more" mrc_fabric_by_hand 2 2 2 2
ksft_test "h1: UDP port 5000" dev_set h1 udp-port 5000
ksft_test "h2: too" dev_set h2 udp-port 5000
ksft_test "a connection" mrc_verify_start -o mix -s 4096 -t 600
ksft_test "that works" mrc_flows
ksft_test "h1: another one" dev_set h1 udp-port 6000
ksft_test "data flows" mrc_flows 60
ksft_test "h2: another one" dev_set h2 udp-port 7000
ksft_test "data flows" mrc_flows 60
ksft_test "h1: the standard's" dev_set h1 udp-port 4791
ksft_test "data flows" mrc_flows 60
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 120
ksft_finish
