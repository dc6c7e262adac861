#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# What arrives proves the neighbour, as TCP's acknowledgements do (RFC 4861 section 7.3.1): where nobody answers
# Neighbour Solicitations any more, because a full queue drops them, say, a connection goes on.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

LOST_S=12	# so long after its last word a neighbour is lost, at most

# Doubted after 2 s (1 to 3, by chance), asked 3 s later, three times. What is known already would be believed longer.
impatient() {
	local host
	for host in h1 h2; do
		fabric_in $host sysctl -qw net.ipv6.neigh.eth1.base_reachable_time_ms=2000 \
			net.ipv6.neigh.eth1.delay_first_probe_time=3 || return
		ip -n $host -6 neigh flush dev eth1
	done
}

deaf() {
	local host
	for host in h1 h2; do
		fabric_in $host nft -f - <<-'RULES' || return
			table inet deaf {
				chain out {
					type filter hook output priority filter; policy accept;
					icmpv6 type nd-neighbor-solicit counter drop
				}
			}
		RULES
	done
}

# Not of link-local addresses: only solicitations and their answers go there, so one is lost where the kernel sent an
# answer just before nobody might ask any more.
states() {
	local host
	for host in h1 h2; do
		ip -n $host -6 -j neigh show dev eth1 | jq -r '.[] | select(.dst | startswith("fe80") | not).state[0]'
	done
}
# Each host knows the other: an empty list would say nothing.
none_lost() { states; [ "$(states | wc -l)" -ge 2 ] && ! states | grep -E 'FAILED|INCOMPLETE'; }
is_lost() { states; states | grep -E 'FAILED|INCOMPLETE'; }

ksft_plan
mrc_begin mrcctl mrc_verify nft
ksft_test "one plane" mrc_one_plane
ksft_test "whose neighbours are soon doubted" impatient
# shellcheck disable=SC2034
MRC_STALL=120
ksft_test "a connection" mrc_verify_start -u 21 -o mix -s 4096 -t 600
ksft_test "that works" mrc_flows 60
ksft_test "nobody answers solicitations any more" deaf
mrc_sleep $LOST_S
ksft_test "after $LOST_S seconds no neighbour is lost" none_lost
ksft_test "and data flows" mrc_flows 20
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
# Nothing proves it any more. Whoever asks for it loses it.
lost_for_ping() { fabric_in h1 ping -q -c 1 -W 1 fd00:6d72:63::2; is_lost; }
ksft_test "without a connection it is, so the test means something" mrc_until 60 lost_for_ping
ksft_finish
