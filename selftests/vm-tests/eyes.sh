#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 180
#
# What onlookers see (Documentation/reference/tracing.md) is what was counted: tracepoints, and what mrcctl
# draws of them, with a slow plane and one that loses, while every byte is checked.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand
#	plane 2: 20 ms each way; plane 3: loses

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

tracing=/sys/kernel/tracing
events=$tracing/events/mrc
causes="rack nack trim rto plane rnr sleek"

# both HOSTS COUNTER: REPLY, of both ends: they run in one kernel, and so does who looks on.
both() {
	local sum
	mrc_stat h1 "$1"
	sum=$REPLY
	mrc_stat h2 "$1"
	REPLY=$((sum + REPLY))
}

# seen EVENT [TEXT]: REPLY, how many in the buffer.
seen() { REPLY=$(grep -c " mrc_$1: .*${2:-}" "$MRC_DIR/trace" || :); }

seen_as_counted() {	# EVENT TEXT COUNTER...
	local event=$1 text=$2 counter sum=0
	shift 2
	for counter; do
		both "$counter"
		sum=$((sum + REPLY))
	done
	seen "$event" "$text"
	echo "$event $text: $REPLY seen, $sum counted"
	test "$REPLY" -eq $sum
}

seen_some() {		# AT-LEAST EVENT TEXT
	seen "$2" "$3"
	echo "$2 $3: $REPLY"
	test "$REPLY" -ge "$1"
}

record() {		# EVENT...: from now on, into an empty buffer
	local event
	echo >$tracing/trace
	for event; do echo 1 >$events/mrc_$event/enable; done
}

stop_recording() {
	echo 0 >$events/enable
	cat $tracing/trace >"$MRC_DIR/trace"
	! grep -q LOST "$MRC_DIR/trace"
}

# ---- mrcctl's programs in the kernel

looks_on() {		# NAME PROGRAMS: it has attached so many
	test "$(find "/proc/${MRC_PID[$1]}/fd" -lname '*perf_event*' | wc -l)" -eq "$2"
}

look_on() {
	mrc_start latency h1 mrcctl -j latency
	mrc_start recovery h1 mrcctl -j recovery
	mrc_start reorder h1 mrcctl -j reorder
	mrc_start drawn h1 mrcctl reorder
	mrc_start other h1 mrcctl -j latency qpn 5
	mrc_start kept h1 mrcctl histograms to "$MRC_DIR/kept.prom" interval 1s
	mrc_until 20 looks_on kept 4 && mrc_until 20 looks_on latency 1 && mrc_until 20 looks_on recovery 3 &&
		mrc_until 20 looks_on reorder 1 && mrc_until 20 looks_on drawn 1 &&
		mrc_until 20 looks_on other 1
}

stop_looking() {
	local name
	for name in latency recovery reorder drawn other kept; do
		kill -INT "${MRC_PID[$name]}"
		mrc_wait $name 20 || { mrc_out $name; return 1; }
	done
}

# keeps NAME VALUE: a series of the file.
keeps() { grep -qxF -- "$1 $2" "$MRC_DIR/kept.prom" || { echo "$1 $2"; cat "$MRC_DIR/kept.prom"; return 1; }; }

kept_as_told() {
	local plane samples
	while read -r plane samples; do
		keeps "mrc_rtt_seconds_count{plane=\"$plane\"}" "$samples" || return
	done < <(jq -r '.[] | "\(.plane // 0) \(.samples)"' "$MRC_DIR/latency.out")
	keeps "mrc_rtt_seconds_bucket{plane=\"2\",le=\"0.004194304\"}" 0 &&
		keeps mrc_recovery_seconds_count "$(jq '[.[].recovered] | add' "$MRC_DIR/recovery.out")"
}

# told NAME FILTER [ARG...]: jq -e of what it said.
told() {
	local name=$1 filter=$2
	shift 2
	jq -e "$@" "$filter" "$MRC_DIR/$name.out" || { cut -c 1-1500 "$MRC_DIR/$name.out"; return 1; }
}

remember() {		# counters, so that what comes is known
	local counter
	for counter in rx_pkts $(printf 'rtx_%s ' $causes); do
		both $counter
		before[$counter]=$REPLY
	done
}

since() { both "$1" && REPLY=$((REPLY - before[$1])); }

resent_as_counted() {
	since "rtx_$1"
	told recovery '([.[] | select(.cause == $why) | .resent] + [0])[0] == $n' \
		--arg why "$1" --argjson n "$REPLY"
}

nothing_left() {
	local file
	for file in $events/*/enable $events/enable; do
		[ "$(<"$file")" = 0 ] || { echo "$file: $(<"$file")"; return 1; }
	done
	[ -z "$(cat $tracing/set_event $tracing/kprobe_events $tracing/uprobe_events)" ] &&
		[ "$(</sys/module/mrc/refcnt)" = "$refs" ] && [ -z "$(ls /sys/fs/bpf)" ]
}

slow_and_lossy() {
	fabric_degrade p2-t0-1 h1 delay 20ms limit 20000
	fabric_degrade p2-t0-2 h2 delay 20ms limit 20000
	fabric_degrade p3-t0-2 h2 loss 4%
}

others_admin() {	# on|off: all planes but the slow one
	local plane
	for plane in 1 3 4; do
		mrcctl -n h1 plane set dev mrc0 plane "$plane" admin "$1" || return
	done
}

# A transfer that has the choice may leave the slow plane out.
slow_alone() {
	others_admin off && mrc_verify 90 -o write -s 65536 -n 4 && others_admin on
}

ksft_plan
mrc_begin mrcctl mrc_verify
[ -d $tracing/events ] || ksft_skip_all "needs tracefs"
at_exit eval "echo 0 >$events/enable"
echo 20000 >$tracing/buffer_size_kb
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "plane 2 is slow, plane 3 loses" slow_and_lossy

# ------------------------------------------------------------- tracepoints
record tx rx loss resend recovered rtt window ev planes completion
ksft_test "a transfer by the slow plane alone" slow_alone
ksft_test "a transfer, every byte checked" mrc_verify 90 -o mix -s 65536 -n 100
ksft_test "one EV is denied" mrcctl -n h1 ev set dev mrc0 peer fd00:6d72:63::2 index 0 state denied
ksft_test "a cable is cut" fabric_cut h1 eth4
ksft_test "the buffer holds all" stop_recording
mrc_sleep 0.1		# counters are current to 10 ms

ksft_test "tx: as many as were counted" seen_as_counted tx "" tx_pkts tx_ctrl_pkts
ksft_test "rx: at least what was counted as accepted" seen_as_counted rx placed rx_pkts
for cause in $causes; do
	ksft_test "resend: as many as were counted: $cause" \
		seen_as_counted resend "cause=$cause " rtx_$cause
done
ksft_test "losses were found" seen_some 1 loss "cause=rack plane=3"
ksft_test "and mended" seen_some 1 recovered "cause=rack"
for plane in 1 2 3 4; do
	ksft_test "round trips of plane $plane" seen_some 1 rtt "plane=$plane "
done
ksft_test "windows" seen_some 10 window "cwnd=[1-9][0-9]* in_flight=[1-9]"
ksft_test "completions" seen_some 100 completion "status=0 "
ksft_test "an EV that was denied" seen_some 1 ev "peer=fd00:6d72:63::2 .* -> denied"
ksft_test "a plane that went" seen_some 1 planes "peer=fd00:6d72:63::2 local_up=0x7 "
ksft_test "off: nothing is seen" mrc_verify 90 -o write -s 65536 -n 10
seen_off=$(grep -c " mrc_" $tracing/trace || :)
ksft_equal "off: no more than before" "$(grep -c " mrc_" "$MRC_DIR/trace")" "$seen_off"
ksft_test "the cable is mended" fabric_restore h1 eth4

# -------------------------------------------------------------- histograms
declare -A before=()
refs=$(</sys/module/mrc/refcnt)
ksft_test "mrcctl looks on" look_on
remember
ksft_test "a transfer by the slow plane alone" slow_alone
ksft_test "a transfer, every byte checked" mrc_verify 90 -o mix -s 65536 -n 100
ksft_test "and has seen enough" stop_looking
ksft_comment "$(jq -r '.[] | "plane \(.plane) round trips \(.samples) min \(.min_ns) median \(.median_ns)"' "$MRC_DIR/latency.out")"
ksft_test "latency: four planes" told latency '[.[].plane // empty] == [1, 2, 3, 4]'
ksft_test "latency: the slow plane lies above the others" told latency '
	[.[] | select(.plane == 2)][0] as $slow | $slow.min_ns >= 20000000 and
	all(.[]; .plane == 2 or .plane == null or .min_ns < $slow.min_ns)'
ksft_test "latency: every sample is in a step" \
	told latency 'all(.[]; .samples == ([.histogram[].count] | add))'
ksft_test "histograms in a file: as the others say" kept_as_told
ksft_test "latency: none of another QP" told other '. == []'
for cause in $causes; do
	ksft_test "recovery: resent as counted: $cause" resent_as_counted "$cause"
done
ksft_test "recovery: what was lost arrived, later than its loss was found" told recovery '
	[.[] | select(.cause == "rack")][0] | .lost > 0 and .recovered > 0 and .recovered <= .lost and
	.min_ns > 0 and .median_ns > .found_min_ns and
	.recovered == ([.histogram[].count] | add) and .lost == ([.found[].count] | add)'
since rx_pkts
ksft_test "reorder: every packet that was counted" \
	told reorder '([.[].packets] | add) == $n' --argjson n "$REPLY"
ksft_test "reorder: in order, and far ahead of a hole" told reorder '
	all(.[]; .in_order <= .packets and .packets == ([.histogram[].count] | add)) and
	([.[].in_order] | add) > 0 and ([.[].max] | max) > 3'
ksft_test "drawn for people" grep -q '[0-9] #' "$MRC_DIR/drawn.out"
ksft_test "nothing is left" nothing_left

nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups mrcctl latency seconds 1; }
# shellcheck disable=SC2016
no_tracefs() { unshare -m sh -c 'umount /sys/kernel/tracing; umount -l /sys/kernel/debug; mrcctl reorder seconds 1'; }
ksft_test "who may not is told what is needed" refused "needs root" CAP_PERFMON -- nobody
# shellcheck disable=SC2016
ksft_test "and nothing else" sh -c '! "$@" 2>&1 | grep CAP_NET_ADMIN' sh \
	setpriv --reuid=65534 --regid=65534 --clear-groups mrcctl latency seconds 1
ksft_test "without tracefs: how to mount it" refused "mount -t tracefs" -- no_tracefs
mrc_cleanup
ksft_test "the module can go" mrc_unload
ksft_test "without the module: that it is not loaded" \
	refused "mrc is not loaded" -- mrcctl recovery seconds 1
ksft_finish
