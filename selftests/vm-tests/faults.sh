#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
# kernels: full
#
# One fault after the other under verified traffic: each is named by the right sentence, or by none; traffic leaves the part
# and comes back; no QP is lost, every byte is right.
#
#	h1 ... h4: mrc0 = 4 planes, each 2 T0 and 2 T1, SRv6	by mrcd, mode act; data between h1 and h2
#
# The lines "# ..." say the seconds from fault to verdict (mrcd's clock), to avoidance and, from the end of the fault, to
# re-admission. Nothing is judged by them: a probe counts as lost after 4 s here, at the slow rate. Gray loss is 10 %, because
# of 1 % this rate loses a probe in 40 s. What one host cannot know alone is judged by "mrcctl fabric diagnose" of all hosts'
# results. A host that is paused is one whose mrcd is stopped: hosts here are namespaces, and their kernel is one.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"

file=$FABRIC_DIR/fabric.toml
hosts="h1 h2 h3 h4"

# acting HOST: its daemon anew, with probes.
acting() {
	mrc_kill "mrcd-$1"
	rm -f "$FABRIC_DIR/$1.ready"
	mrc_start "mrcd-$1" "$1" mrcd -c "$file" -n "$1" --ready-file "$FABRIC_DIR/$1.ready" --probe slow --probe-timeout 4000 \
		--probe-mode act --probe-file "$MRC_DIR/$1.jsonl" --event-file "$MRC_DIR/$1.events"
	mrc_until 60 mrc_mrcd_ready "$1"
}
received() {	# HOST NUMBER: by each path
	mrcctl -n "$1" -j selfprobe show dev mrc0 |
		jq -e --argjson n "$2" '[.[1:][] | select(.plane) | .received] | length >= 20 and min >= $n'
}

# -------------------------------------------------------------- what was said since a step began
declare -A MARK=()
# step NAME
step() {
	local host kind
	STEP=$1
	for host in $hosts; do
		for kind in events jsonl out; do
			MARK[$host.$kind]=$(wc -l 2>/dev/null <"$(path "$host" $kind)" || echo 0)
		done
	done
	AT=$EPOCHREALTIME
	softnet
	SOFTNET=$REPLY
}
path() { [ "$2" = out ] && echo "$MRC_DIR/mrcd-$1.out" || echo "$MRC_DIR/$1.$2"; }
new() { tail -n +$((MARK[$1.$2] + 1)) "$(path "$1" "$2")"; }	# HOST KIND
ended() { AT=$EPOCHREALTIME; }		# seconds count from the end of the fault
after() { awk -v a="$AT" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }
# said HOST PATTERN / logged HOST PATTERN
said() { new "$1" events | grep '"event":"verdict"' | grep -E "$2"; }
logged() { new "$1" out | grep -E "$2"; }
# either CHECK ARG...: soon; else it says why not.
either() { mrc_until 60 "$@" || "$@"; }
# waits SECS HOST CHECK PATTERN
waits() { mrc_until "$1" "$3" "$2" "$4" || { new "$2" events; new "$2" out | tail -n 6; return 1; }; }
# named HOST PATTERN: its mrcd says so; prints when.
named() {
	local text
	ksft_test "$STEP: $1 names it" waits 120 "$1" said "$2"
	text=$(said "$1" "$2" | jq -r --argjson at "$AT" '"\(.when - $at) \(.text)"' | head -n 1) || return 0
	ksft_comment "$STEP: verdict of $1 after ${text%% *} s: ${text#* }"
}
# diagnosed PATTERN: the files of all hosts say so.
says() {
	local host rc=0 args=()
	for host in $hosts; do
		new "$host" jsonl >"$MRC_DIR/$host.part"
		args+=(results "$MRC_DIR/$host.part")
	done
	DIAGNOSIS=$(mrcctl fabric diagnose "$file" "${args[@]}") || rc=$?
	echo "status $rc: $DIAGNOSIS"
	[ $rc -eq "$1" ] && grep -qE "$2" <<<"$DIAGNOSIS"
}
diagnosed() {
	ksft_test "$STEP: the files of all hosts say so" either says 1 "$1"
	ksft_comment "$STEP: files after $(after) s: $DIAGNOSIS"
}
avoided() {	# HOST PATTERN
	ksft_test "$STEP: $1 avoids it" waits 60 "$1" logged "$2 is avoided"
	ksft_comment "$STEP: avoided by $1 after $(after) s or earlier"
}
# admitted HOST PATTERN: after the end of the fault.
admitted() {
	ksft_test "$STEP: mended, $1 sends over it again" waits 200 "$1" logged "$2 is no longer avoided"
	ksft_comment "$STEP: admitted by $1 $(after) s after the end of the fault"
}
forgiven() {	# HOST PATTERN
	ksft_test "$STEP: mended, $1 blames it no longer" waits 200 "$1" logged "$2 is no longer blamed"
	ksft_comment "$STEP: forgiven by $1 $(after) s after the end of the fault"
}

# ------------------------------------------------------------------------------ where data goes
sent() {	# HOST SELECTION: packets by these EVs, and by all
	mrcctl -n "$1" -j ev show dev mrc0 fabric "$file" |
		jq -r "\"\\([.[] | select($2) | .tx_pkts] | add // 0) \\([.[].tx_pkts] | add // 0)\""
}
# share HOST SELECTION: REPLY of a thousand packets of data go by these EVs.
share() {
	local some all some_now all_now i
	read -r some all < <(sent "$1" "$2")
	for ((i = 0; i < 120; i++)); do
		mrc_sleep 1
		read -r some_now all_now < <(sent "$1" "$2")
		# EVs have gone, and what they sent with them.
		[ "$all_now" -ge "$all" ] && [ "$some_now" -ge "$some" ] || some=$some_now all=$all_now
		[ $((all_now - all)) -lt 300 ] || break
	done
	[ $((all_now - all)) -ge 300 ] || { echo "only $((all_now - all)) packets"; return 1; }
	REPLY=$((1000 * (some_now - some) / (all_now - all)))
	echo "$REPLY of 1000 packets of $1"
}
few() { share "$1" "$2" && [ "$REPLY" -le 20 ]; }
many() { share "$1" "$2" && [ "$REPLY" -ge 30 ]; }
left() { ksft_test "$STEP: traffic of $1 leaves it" either few "$1" "$2"; }
back() { ksft_test "$STEP: traffic of $1 comes back" either many "$1" "$2"; }
over() { echo "(.by // []) | index(\"$1\")"; }	# SWITCH
# link FROM TO: EVs that cross it in that direction
link() { echo "(.by // []) as \$b | [range(0; (\$b | length) - 1) | select(\$b[.] == \"$1\" and \$b[. + 1] == \"$2\")] | length > 0"; }

qps() { mrcctl -n "$1" -j qp show | jq '[.[] | select(.state | ascii_downcase == "rts")] | length'; }
# softnet: REPLY, packets that the kernel of the VM dropped because its processors were late.
softnet() {
	local dropped
	REPLY=0
	while read -r _ dropped _; do
		REPLY=$((REPLY + 16#$dropped))
	done </proc/net/softnet_stat
}
# only PATTERN: no host is sure of another fault. A sentence that says "it may as well be" is not sure, and is printed. So is
# that a host loses packets of all planes, if the kernel dropped some since the step began: all hosts are one kernel, whose backlog may be full.
only() {
	local host all doubt='it may as well be' rc=0
	softnet
	REPLY=$((REPLY - SOFTNET))
	[ "$REPLY" -eq 0 ] || doubt+='|^all planes: the NIC of .* drops 0\.[0-9]+ %'
	for host in $hosts; do
		all=$(new "$host" events | jq -r 'select(.event == "verdict" and .fault) | .text' | grep -vE "$1" || :)
		grep -E "$doubt" <<<"$all" | sed "s/^/# $STEP: $host is not sure ($REPLY dropped by softnet): /" || :
		! grep -vE "$doubt" <<<"$all" | grep . || { rc=1; echo "$REPLY dropped by softnet"; }
	done
	return $rc
}
over_with() {	# PATTERN
	ksft_test "$STEP: no host names anything else" only "$1"
	ksft_equal "$STEP: no QP was lost" "$QPS" "$(qps h1) $(qps h2)"
}
lasting() { ip -n "$1" neigh change fe80::"$3" dev "$2" nud permanent; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify awk
ksft_test "four planes by mrcd" mrc_fabric_mrcd 4 4 2 2
# shellcheck disable=SC2154  # of lib.sh
[ "$ksft_failed" -eq 0 ] || ksft_finish
for host in $hosts; do
	: >"$MRC_DIR/$host.events"
	ksft_test "$host probes and acts" acting $host
done
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 9000
ksft_test "over all planes" mrc_flows
for host in $hosts; do
	ksft_test "all of $host's probes come back" mrc_until 120 received $host 12
done
QPS="$(qps h1) $(qps h2)"
ksft_comment "QPs of h1 and h2 that send: $QPS"
fault_free() { ! cat "$MRC_DIR"/h?.events 2>/dev/null | grep '"event":"verdict"'; }
ksft_test "nobody says anything" fault_free

# ------------------------------------------------------------------------------------- gray loss
step "gray loss"
ksft_test "p1-t1-1 drops 10 % of what goes to p1-t0-2" fabric_degrade p1-t1-1 t0-2 loss 10%
named h2 'plane 1: p1-t1-1 to p1-t0-2 drops [0-9.]+ % of packets downwards'
diagnosed 'plane 1: p1-t1-1 to p1-t0-2 drops [0-9.]+ % of packets downwards'
ksft_test "gray loss: the files say what it cost traffic" either says 1 \
	'plane 1: p1-t1-1 to p1-t0-2 .*(traffic lost [0-9]+ of [0-9]+ packets by it|[0-9]+ % of the EVs over it are withdrawn)'
avoided h1 'plane 1: p1-t1-1 to p1-t0-2'
left h1 "$(link p1-t1-1 p1-t0-2)"
fabric_heal p1-t1-1 t0-2
ended
admitted h1 'plane 1: p1-t1-1 to p1-t0-2'
back h1 "$(link p1-t1-1 p1-t0-2)"
# Alone, a host sees uplinks of the other T0 by paths that cross two of them.
over_with 'plane 1: p1-t(0|1)-[12] to p1-t[01]-[12] '

# ---------------------------------------------------------------------------- a port that flaps
step "flapping port"
flap() {
	local i
	for ((i = 0; i < 8; i++)); do
		fabric_cut p2-t0-1 t1-2 && mrc_sleep 2 && fabric_restore p2-t0-1 t1-2 && mrc_sleep 2 || return
	done
}
ksft_test "p2-t0-1's port to p2-t1-2 goes down and up, eight times" flap
flapped=$(after)
named h1 'plane 2: (p2-t0-1 to p2-t1-2|p2-t1-2 to p2-t0-1) drops'
avoided h1 'plane 2: .*p2-t1-2.*'
once() { [ "$(new h1 out | grep -c 'is no longer avoided')" -eq 0 ] || { new h1 out; return 1; }; }
ksft_test "it is not admitted in between" once
ksft_comment "flapping port: for $flapped s"
diagnosed 'plane 2: (p2-t0-1 to p2-t1-2|p2-t1-2 to p2-t0-1) drops'
left h1 "$(link p2-t0-1 p2-t1-2)"
ended
admitted h1 'plane 2: .*p2-t1-2.*'
back h1 "$(link p2-t0-1 p2-t1-2)"
over_with 'plane 2: p2-t[01]-[12] to p2-t[01]-[12] '

# --------------------------------------------------------------------------- a T1 that reboots
step "T1 reboots"
goes_down() {
	mrc_kill mrcd-p3-t1-2
	ip -n p3-t1-2 link set t0-1 down && ip -n p3-t1-2 link set t0-2 down
	ip -n p3-t1-2 -6 route flush proto 217 || :
}
comes_up() { ip -n p3-t1-2 link set t0-1 up && ip -n p3-t1-2 link set t0-2 up && mrc_mrcd p3-t1-2 && mrc_until 60 mrc_mrcd_ready p3-t1-2; }
ksft_test "p3-t1-2 goes down, with all ports" goes_down
named h1 'plane 3: (switch p3-t1-2|p3-t0-1 to p3-t1-2|p3-t1-2 to p3-t0-1) drops (all|[0-9]+ % of) packets'
diagnosed 'plane 3: switch p3-t1-2 drops all packets'
avoided h1 'plane 3: .*p3-t1-2.*'
left h1 "$(over p3-t1-2)"
ksft_test "p3-t1-2 comes up" comes_up
ended
admitted h1 'plane 3: .*p3-t1-2.*'
back h1 "$(over p3-t1-2)"
over_with 'plane 3: (switch p3-t1-2|p3-t[01]-[12] to p3-t[01]-[12]) '

# ----------------------------------------------- two cables change places: at a T0, then of planes
step "exchanged cables"
# Whatever has the name h1 is the port that the file says.
exchange() {
	ip -n p4-t0-1 -b - <<-BATCH
		link set h1 down
		link set h3 down
		link set h1 name hx
		link set h3 name h1
		link set hx name h3
		link set h1 up
		link set h3 up
	BATCH
}
ksft_test "the cables of h1 and h3 change places at p4-t0-1" exchange
named h1 'plane 4: cable h1 to p4-t0-1 drops (all|[0-9]+ % of) packets'
named h3 'plane 4: cable h3 to p4-t0-1 drops (all|[0-9]+ % of) packets'
diagnosed "plane 4: cable h1 to p4-t0-1 is mis-cabled: h1 and h3 receive each other's packets"
left h2 '.port == 4'
ksft_test "they change back" exchange
ended
forgiven h1 'plane 4: cable h1 to p4-t0-1'
back h2 '.port == 4'
over_with 'plane 4: cable h[13] to p4-t0-1 '

step "mis-cabled"
fabric_load
fabric_usid_host 1 1
sid=$FABRIC_BLOCK:$REPLY::/48
# p1-t0-1 hands what is for h1 to p2-t0-1, so that it comes by another port of h1.
cross() {
	mrc_kill mrcd-p1-t0-1
	mrc_kill mrcd-p2-t0-1
	ip link add x0 netns p1-t0-1 mtu 9000 type veth peer name x0 netns p2-t0-1 mtu 9000 &&
		ip -n p1-t0-1 address add fe80::1/64 dev x0 nodad && ip -n p2-t0-1 address add fe80::2/64 dev x0 nodad &&
		ip -n p1-t0-1 link set x0 up && ip -n p2-t0-1 link set x0 up &&
		ip -n p2-t0-1 route replace "$sid" via fe80::1 dev h1 &&
		ip -n p1-t0-1 route del "$sid" &&
		ip -n p1-t0-1 route add "$sid" via fe80::2 dev x0
}
straight() {
	ip -n p2-t0-1 route del "$sid"
	ip -n p1-t0-1 link del x0
	mrc_mrcd p1-t0-1 && mrc_mrcd p2-t0-1 && mrc_until 60 mrc_mrcd_ready p1-t0-1 && mrc_until 60 mrc_mrcd_ready p2-t0-1
}
ksft_test "plane 1 ends at the port of plane 2" cross
named h1 'plane 1: cable h1 to p1-t0-1 is mis-cabled: answers come by another plane'
diagnosed 'plane 1: cable h1 to p1-t0-1 is mis-cabled: answers come by another plane'
left h2 '.port == 1'
ksft_test "it is as the file says again" straight
ended
forgiven h1 'plane 1: cable h1 to p1-t0-1'
back h2 '.port == 1'
over_with 'plane 1: cable h1 to p1-t0-1 '

# -------------------------------------------------------------------------- a wrong uSID route
step "wrong route"
fabric_usid_host 2 1
sid=$FABRIC_BLOCK:$REPLY::/48
misroute() {
	local route
	mrc_kill mrcd-p2-t0-1
	route=$(ip -n p2-t0-1 -6 route show "$sid") && echo "$route" && ip -n p2-t0-1 -6 route del "$sid" || return
	# shellcheck disable=SC2086  # words
	ip -n p2-t0-1 -6 route add ${route/dev h1/dev h3}
}
ksft_test "p2-t0-1 sends to h3 what is for h1" misroute
named h1 'plane 2: cable h1 to p2-t0-1 drops (all|[0-9]+ % of) packets'
diagnosed 'plane 2: cable h1 to p2-t0-1 is mis-configured: h3 receives what is for h1'
left h2 '.port == 2'
mends() { mrc_mrcd p2-t0-1 && mrc_until 60 mrc_mrcd_ready p2-t0-1; }
ksft_test "its mrcd begins anew, and mends the route" mends
ended
forgiven h1 'plane 2: cable h1 to p2-t0-1'
back h2 '.port == 2'
over_with 'plane 2: cable h1 to p2-t0-1 '

# ------------------------------------------------------------------------------ what is no fault
step "paused host"
ksft_test "mrcd of h1 is stopped" kill -STOP "${MRC_PID[mrcd-h1]}"
mrc_sleep 70		# its probes end after 60
ksft_test "data flows" share h1 true
ksft_test "it goes on" kill -CONT "${MRC_PID[mrcd-h1]}"
reports() { [ "$(new "$1" jsonl | wc -l)" -ge "$2" ]; }
ksft_test "and reports" mrc_until 60 reports h1 4
ksft_comment "paused host: $(new h1 out | tail -n 3)"
over_with '^$'

step "congestion"
bytes() { ip -n p3-t0-2 -s -j link show h2 | jq '.[0].stats64.tx.bytes'; }
if [ -e "$MRC_BUILD/mrc_port_qdisc.ko" ]; then
	port_begin
	was=$(bytes)
	mrc_sleep 4
	rate=$((($(bytes) - was) / 4))
	step "congestion"
	ksft_test "a quarter of the rate of p3-t0-2 to h2" port_set p3-t0-2 h2 rate $((rate * 2 + 40000)) limit 20000 trim 1 lasthop 1
	mrc_sleep 60
	ksft_comment "congestion: was $rate bytes/s; $(port_show p3-t0-2 h2)"
	trimmed() { port_stat p3-t0-2 h2 trimmed_pkts && [ "$REPLY" -gt 0 ]; }
	ksft_test "its queue is full" trimmed
	port_clear p3-t0-2 h2
	mrc_sleep 10
	ksft_comment "congestion: said $(for host in $hosts; do new $host events | jq -r 'select(.event == "verdict") | .text'; done)"
	over_with '^$'
else
	ksft_skip "congestion" "needs $MRC_BUILD/mrc_port_qdisc.ko"
fi

# ------------------------------------------------------------- mrcd is killed, and a fault comes
step "mrcd killed"
ksft_test "mrcd of h1 is killed" mrc_kill mrcd-h1
ksft_test "data flows" share h1 true
ksft_test "switches keep their neighbours" lasting p4-t1-1 t0-1 1
ksft_test "p4-t0-1 drops what goes to p4-t1-1" fabric_blackhole p4-t0-1 t1-1
ksft_test "h1's mrcd begins anew" acting h1
MARK[h1.out]=0
ended
named h1 'plane 4: p4-t0-1 to p4-t1-1 drops (all|[0-9]+ % of) packets upwards'
avoided h1 'plane 4: p4-t0-1 to p4-t1-1'
left h1 "$(link p4-t0-1 p4-t1-1)"
fabric_heal p4-t0-1 t1-1
ended
admitted h1 'plane 4: .*'
back h1 "$(link p4-t0-1 p4-t1-1)"
over_with 'plane 4: p4-t[01]-[12] to p4-t[01]-[12] '

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
