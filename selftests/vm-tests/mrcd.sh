#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: old arm64
# timeout: 240
#
# mrcd in the kernel's company: it does everything once, touches nothing else, and
# may die.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

dry_run() { fabric_in "$1" mrcd -c "$FABRIC_DIR/fabric.toml" -n "$1" --dry-run; }
nothing_to_do() {
	local what
	what=$(dry_run "$1") && [ -z "$what" ] || { echo "$what"; return 1; }
}

# What mrcd manages of a node, without what changes by itself.
state() {
	ip -n "$1" -6 route show table all | grep -v 'fe80\|ff00' | sed 's/ expires .*//' | sort
	ip -n "$1" -o addr show | sed 's/^[0-9]*: //; s/valid_lft.*//' | sort
	[[ $1 != h* ]] || mrcctl -n "$1" -d -j profile show | jq -c '.[]' | sort
}

# refuses NAME WRONG TEXT...: with the sed(1) command WRONG applied to the file.
refuses() {
	local name=$1 wrong=$2 said text
	shift 2
	sed "$wrong" "$FABRIC_DIR/fabric.toml" >"$MRC_DIR/wrong.toml"
	if said=$(fabric_in h1 mrcd -c "$MRC_DIR/wrong.toml" -n h1 --once 2>&1); then
		ksft_fail "wrong file: $name" "was not refused"
		return
	fi
	for text; do
		[[ $said = *"$text"* ]] && continue
		ksft_fail "wrong file: $name" "does not say '$text': $said"
		return
	done
	ksft_pass "wrong file: $name"
}

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "four planes by mrcd" mrc_fabric_mrcd 2 4 2 2
for node in h1 p1-t0-1 p1-t1-1; do
	ksft_test "nothing is left to do on $node" nothing_to_do $node
done
ksft_equal "h1: an EV profile for each address of h2" 2 \
	"$(mrcctl -n h1 -j profile show | jq length)"
ksft_equal "h1: $MRC_EVS EVs per plane in each" "$((8 * MRC_EVS))" \
	"$(mrcctl -n h1 -d -j profile show | jq '[.[].ev[]] | length')"
ksft_test "ordinary IPv6 over mrc0" fabric_in h1 ping -q -c 3 -i 0.1 -W 5 fd00:6d72:63::2
ksft_test "ordinary IPv4 over mrc0" fabric_in h1 ping -q -c 3 -i 0.1 -W 5 10.77.0.2

# --------------------------------------------------- killed while data flows
ip -n h1 -6 route add 2001:db8:77::/48 dev eth1 proto static
ip -n p1-t0-1 -6 route add 2001:db8:77::/48 dev t1-1 proto static
ksft_test "data flows" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "over all planes" mrc_flows
before=$(state h1)
mrc_kill mrcd-h1
ksft_test "mrcd of h1 killed: data flows" mrc_flows
ksft_equal "nothing went with it" "$before" "$(state h1)"

# What the restarted one changes, if anything, is seen here.
ip -n h1 -o monitor route link address >"$MRC_DIR/monitor" 2>&1 &
monitor=$!
mrcctl -n h1 monitor >"$MRC_DIR/mrc-monitor" 2>&1 &
mrc_monitor=$!
at_exit kill $monitor $mrc_monitor
# Both look: what is done before shows.
seen() {
	ip -n h1 -6 route replace 2001:db8:78::/48 dev eth1 && ip -n h1 -6 route del 2001:db8:78::/48 &&
		mrcctl -n h1 dev set dev mrc0 hop-limit 63 && mrcctl -n h1 dev set dev mrc0 hop-limit 64 &&
		grep 2001:db8:78 "$MRC_DIR/monitor" && grep dev-set "$MRC_DIR/mrc-monitor"
}
ksft_test "somebody looks" mrc_until 30 seen
looked=$(wc -l <"$MRC_DIR/mrc-monitor")
mrc_mrcd h1
ksft_test "started again" mrc_until 30 mrc_mrcd_ready h1
ksft_test "data flows" mrc_flows
kill $monitor $mrc_monitor
ksft_equal "it changed nothing" "$before" "$(state h1)"
ksft_equal "not even for a moment" "" \
	"$(grep -vE 'fe80|ff00|2001:db8:78|REACHABLE|STALE|DELAY|PROBE' "$MRC_DIR/monitor" | head -n 5)"
ksft_equal "nor in the module" "" \
	"$(tail -n +$((looked + 1)) "$MRC_DIR/mrc-monitor" | grep -vE 'peer|event ev' | head -n 5)"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
mrc_lost h1 h2
ksft_test "no packet of h1 was lost ($REPLY resent, not seen twice)" test "$REPLY" -le 32
mrc_lost h2 h1
ksft_test "no packet of h2 was lost ($REPLY resent, not seen twice)" test "$REPLY" -le 32
mrc_stats h1
ksft_comment "$(grep -E 'rtx|timeouts|no_path|rx_dup' <<<"$REPLY" | grep -v ' 0$')"

# ------------------------------------------------------ it repairs and cleans
ip -n h1 -6 route del fcbb:bb00:2001::/48
route_back() { ip -n h1 -6 route show fcbb:bb00:2001::/48 | grep fcbb; }
ksft_test "a route that somebody deleted comes back" mrc_until 10 route_back
mrc_kill mrcd-h1	# or it is back before anybody looks
mrcctl -n h1 profile del dev mrc0 id 1 dst 10.77.0.2
ksft_test "a dry run says what is missing" grep 'profile.*10.77.0.2' <(dry_run h1)
mrc_mrcd h1
ksft_test "a profile that somebody deleted comes back" mrc_until 30 mrc_mrcd_ready h1
ksft_test "nothing is left to do" nothing_to_do h1
ksft_test "a foreign route is left alone, on a host" \
	grep static <(ip -n h1 -6 route show 2001:db8:77::/48)
ksft_test "a foreign route is left alone, on a switch" \
	grep static <(ip -n p1-t0-1 -6 route show 2001:db8:77::/48)

# As its systemd unit runs it: root's files, and one capability.
mrc_kill mrcd-h1
ip -n h1 link del mrc0
fabric_in h1 sysctl -qw net.ipv6.conf.eth1.seg6_enabled=0
ksft_test "CAP_NET_ADMIN alone is enough for all of it" fabric_in h1 setpriv \
	--bounding-set=-all,+net_admin -- mrcd -c "$FABRIC_DIR/fabric.toml" -n h1 --once
ksft_test "nothing is left to do then" nothing_to_do h1

# -------------------------------------------------------------- wrong files
refuses "a plane that does not exist" '0,/^plane = 1$/s//plane = 9/' "9"
refuses "an unknown switch" '0,/switch = "p1-t0-1"/s//switch = "p1-t0-77"/' "p1-t0-77"
refuses "a bad prefix" 's/^block = .*/block = "fcbb:bb00::\/33"/' "fcbb:bb00::/33"
refuses "an unknown key" 's/^count = .*/&\ncolour = 7/' "colour"
refuses "text that is no TOML" 's/^\[planes\]/[planes/' "wrong.toml"
ksft_test "a node that is not in the file" grep nobody <(fabric_in h1 mrcd \
	-c "$FABRIC_DIR/fabric.toml" -n nobody --once 2>&1 || true)
ksft_finish
