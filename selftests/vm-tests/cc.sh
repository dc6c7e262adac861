#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 500
# kernels: full
#
# Congestion control profiles: one controller per peer, shared by its QPs, made by
# the first and gone with the last of them; settings that cannot be are refused.
#
#	h1 mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

both() {
	local h
	for h in h1 h2; do
		mrcctl -n $h "$@" || return
	done
}

set1() { mrcctl -n h1 dev set dev mrc0 "$@"; }
cc1() { mrcctl -n h1 cc set dev mrc0 "$@"; }

# The controllers that h1 has towards h2, as jq sees them.
ccs() { mrcctl -n h1 -j peer show | jq -c "[.[].cc[]] | $1"; }
ccs_are() {	# JQ VALUE
	local got
	got=$(ccs "$1")
	echo "$1 is $got, expected $2"
	[ "$got" = "$2" ]
}
cwnd_at_most() { ccs_are "length == 1 and .[0].cwnd <= $1" true; }
cwnd_above() { ccs_are "length == 1 and .[0].cwnd > $1" true; }
rtt_measured() {
	mrcctl -n h1 -j qp show | jq -e 'any(.[]; .srtt_ns > 0 and .min_rtt_ns > 0)'
}

ksft_plan
mrc_begin mrcctl mrc_verify mrc_many ib_write_bw
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 2

# ------------------------------------------------------------ by default
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "by default there is no controller" ccs_are length 0
ksft_equal "but a window of each QP's own" '"fixed 0 true"' \
	"$(mrcctl -n h1 -j qp show | jq -c '.[0] | "\(.algorithm) \(.cc_profile) \(.cwnd <= 524288)"')"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# --------------------------------------------------------------- settings
ksft_test "an unknown algorithm" refused "unknown algorithm bbr" -- cc1 id 1 algorithm bbr
ksft_test "an algorithm's name that is too long" refused "" -- \
	cc1 id 1 algorithm aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbcccc
ksft_test "a parameter that fixed has not" refused "no parameters but window" -- \
	cc1 id 1 algorithm fixed gamma 0.5
ksft_test "it has trimming" both cc set dev mrc0 id 1 algorithm fixed trimming on
ksft_test "profile 0" refused "id" -- cc1 id 0 algorithm nscc
ksft_test "a default that does not exist" refused "no CC profile 7" -- set1 cc-profile 7
ksft_test "a profile" both cc set dev mrc0 id 1 algorithm nscc gamma 0.75 eta 100.5
ksft_equal "as it is shown" '"uet-1.0-nscc 0.75 100.5 true"' \
	"$(mrcctl -n h1 -j cc show | jq -c '.[] | "\(.algorithm) \(.gamma) \(.eta) \(.quick_adapt)"')"
ksft_equal "no fabric trims by default" false "$(mrcctl -n h1 -j cc show | jq '.[].trimming')"
ksft_test "one that does" both cc set dev mrc0 id 1 algorithm nscc trimming on gamma 0.75 eta 100.5
ksft_equal "is shown" '"true 0.75"' \
	"$(mrcctl -n h1 -j cc show | jq -c '.[] | "\(.trimming) \(.gamma)"')"
ksft_test "as the device's default" both dev set dev mrc0 cc-profile 1
ksft_test "which cannot be deleted" refused "default" -- mrcctl -n h1 cc del dev mrc0 id 1
ksft_test "a profile that is not there cannot either" refused "no CC profile 9" -- \
	mrcctl -n h1 cc del dev mrc0 id 9
ksft_test "trimmed data that looks like data" refused "data and trimmed must differ" -- \
	set1 dscp-trimmed 8
ksft_test "one mark for both places" refused "trimmed and trimmed-lasthop must differ" -- \
	set1 dscp-trimmed 20 dscp-trimmed-lasthop 20
ksft_test "control packets that look trimmed" refused "control and trimmed-lasthop" -- \
	set1 dscp-control 18
ksft_test "all classes moved at once" set1 dscp-data 1 dscp-rtx 2 dscp-control 3 \
	dscp-no-trim 4 dscp-trimmed 8 dscp-trimmed-lasthop 9
ksft_equal "and shown" "1 2 3 4 8 9" "$(mrcctl -n h1 -j dev show | jq -r '.[] |
	"\(.dscp_data) \(.dscp_rtx) \(.dscp_control) \(.dscp_no_trim) \(.dscp_trimmed) \(.dscp_trimmed_lasthop)"')"
ksft_test "and back" set1 dscp-data 8 dscp-rtx 12 dscp-control 46 dscp-no-trim 10 \
	dscp-trimmed 16 dscp-trimmed-lasthop 18

# ------------------------------------------------------------------- NSCC
ksft_test "NSCC: every byte arrives right" mrc_verify 90 -o mix -r -s 65536 -n 100
ksft_test "its controller is gone" ccs_are length 0
ksft_test "ib_write_bw with 4 QPs" mrc_perf 90 ib_write_bw -q 4 -s 65536 -n 100
# Until it is stopped: the clock of an emulated machine may run away from its work.
ksft_test "and once more" mrc_perf_start ib_write_bw -q 4 -s 65536 -D 3600 -u 18
ksft_test "over all planes" mrc_flows
ksft_test "one controller" mrc_until 10 ccs_are length 1
ksft_test "of four QPs" ccs_are '.[0].qps' 4
ksft_test "NSCC" ccs_are '.[0].algorithm' '"uet-1.0-nscc"'
ksft_equal "each QP shows it" "4 uet-1.0-nscc 1" "$(mrcctl -n h1 -j qp show |
	jq -r '[.[] | select(.state == "RTS")] | "\(length) \(.[0].algorithm) \(.[0].cc_profile)"')"
ksft_test "round trips are measured" mrc_until 30 rtt_measured
ksft_test "a limit set on the way" cc1 id 1 algorithm nscc max-cwnd 20000
ksft_test "is kept at once" mrc_until 30 cwnd_at_most 20000
# No delay of this machine is one for a path with such a round trip: nothing but growth.
ksft_test "lifted, with a long round trip to fill" cc1 id 1 algorithm nscc \
	base-rtt 16000000 target-delay 16000000 max-cwnd 1m
ksft_test "the window grows" mrc_until 60 cwnd_above 40000
mrc_kill client
mrc_kill server
ksft_test "killed: the controller is gone" mrc_until 30 ccs_are length 0

# ------------------------------------------------- a fixed window, shared
ksft_test "a fixed window for all QPs" both cc set dev mrc0 id 2 algorithm fixed window 65536
ksft_test "as the device's default" both dev set dev mrc0 cc-profile 2
ksft_test "the other one may go now" mrcctl -n h1 cc del dev mrc0 id 1
ksft_test "data flows" mrc_verify_start -o write -q 32 -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "the window is as set at most" ccs_are '.[0].cwnd <= 65536' true
ksft_test "and kept to" ccs_are '.[0].inflight <= 65536 + 8192' true
ksft_test "an unfitting profile cannot take its controller" cc1 id 2 algorithm nscc
ksft_test "it goes on" mrc_flows
ksft_test "with the old one" ccs_are '.[0].algorithm' '"fixed"'
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# ------------------------------------------------------ controllers in numbers
# More than fit into one netlink message: each profile's QP has one of its own.
many_ccs() {	# COUNT
	local i
	for ((i = 1; i <= $1; i++)); do
		cc1 id $i algorithm fixed window $((65536 + i)) trimming on || return
		set1 cc-profile $i || return
		echo more >&"${MANY[1]}"
		read -rt 100 -u "${MANY[0]}" || { echo "no answer"; return 1; }
		[ "$REPLY" = "$i" ] || { echo "$REPLY"; return 1; }
	done
}
fabric_host_addr 2
coproc MANY { nsenter --net=/run/netns/h1 -- mrc_many -d "${MRC_IBDEV[h1]}" "$REPLY" 2>&1; }
ksft_test "QPs under 200 profiles" many_ccs 200
# Ordinary IP may have made another peer, which has none.
peers_with_ccs() { mrcctl -n h1 -j peer show | jq '[.[] | select(.cc | length > 0)] | length'; }
ksft_test "of one peer" test "$(peers_with_ccs)" = 1
ksft_test "200 controllers, each once" ccs_are 'map(.cc_profile) == [range(1; 201)]' true
ksft_test "each with its window" ccs_are 'all(.cwnd == 65536 + .cc_profile)' true
eval "exec ${MANY[1]}>&-"
wait "$MANY_PID" || true
ksft_test "gone with their QPs" mrc_until 30 ccs_are length 0
ksft_test "off again" both dev set dev mrc0 cc-profile 0
ksft_test "and it works" mrc_verify 60 -o mix -n 20
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc tx_errors
ksft_finish
