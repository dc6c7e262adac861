# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# model.sh - what run.sh asks of the simulator itself: each way in which hosts and paths
# may differ does what it says, and values that make no sense are refused.
#
# One incast of three hosts over two planes, in which nothing is lost; each row changes
# one thing of it.

even()		# NAME=VALUE...
{
	local s args=()

	for s in hosts=4 per_t0=2 t1s=2 planes=2 evs=4 ev_active=0 qps=3 mtu=1024 rate_mbps=10000 \
		 down_pct=100 delay_ns=1000 skew_ns=0 jitter_ns=0 queue_bytes=0 ecn_bytes=0 trim=1 \
		 rx_delay_ns=0 coalesce_ns=0 coalesce_host=0 tcp_flows=0 strangers=0 mrc_only=0 odd_planes=0 odd_vary=0 odd_delay_ns=0 odd_rate_pct=100 \
		 odd_queue_pct=100 odd_loss_ppm=0 odd_trim=0 link_delay_ns=0 link_rate_pct=100 \
		 link_queue_pct=100 link_loss_ppm=0 link_notrim_ppm=0 switch_bytes=0 fifo=0 \
		 clock_off_ns=0 drift_ppm=0 slack_ns=0 rx_cost_ns=0 tx_cost_ns=0 batch=0 ring_pkts=0 \
		 min_active=0 probe_ns=0 mpr=4 mpr_b=4 sq_max=128 sack_pkts=0 tails=255 rq_max=256 wimm=0 rd_max=16 nscc=0 cwnd_bytes=0 incast=0 sleek=0 timestamps=1 \
		 trim_nack=1 dyn_mpr=0 strict=0 timeout_ns=4000000 linear_cnt=7 exp_cnt=25 \
		 ops=1 msgs=200 bytes=1000000 len_max=16384 one_way=1 fan_in=1 post_burst=64 \
		 post_gap_ns=1000 lone_msgs=0 fault_ns=2000000 loss_ppm=0 burst_ppm=0 dup_ppm=0 \
		 corrupt_ppm=0 trim_ppm=0 ecn_ppm=0 reorder_ppm=0 dead_links=0 dead_cables=0 \
		 reboots=0 flaps=0 slow_ports=0 holes=0 stalls=0 clogs=0 pauses=0 undo_ppm=0 \
		 rx_drop_ppm=0 late_ppm=0 fatal=0 "$@"; do
		args+=(--set "$s")
	done
	"$out"/gcc/mrcsim --seed 1 "${args[@]}" >"$tmp/even"
}

# In microseconds, of the latest run.
makespan()
{
	local us

	us=$(sed -n 's/^events.* simulated \([0-9]*\)\.\([0-9]*\) ms.*/\1\2/p' "$tmp/even")
	echo "$((10#${us:-0}))"
}

# A counter that must have moved, and did not in the run where all is alike.
moves()		# counter NAME=VALUE...
{
	local counter=$1

	shift
	if ! even "$@" || ! grep -q "^$counter " "$tmp/even" || grep -q "^$counter " "$tmp/alike"; then
		echo "# $counter with $*"
		rc=1
	fi
}

# Time that the run must take at least.
takes()		# microseconds NAME=VALUE...
{
	local least=$1

	shift
	if ! even "$@" || [ "$(makespan)" -lt "$least" ]; then
		echo "# $(makespan) us with $*, expected $least at least"
		rc=1
	fi
}

model()
{
	local rc=0 alike

	even
	mv "$tmp/even" "$tmp/alike"
	cp "$tmp/alike" "$tmp/even"
	alike=$(makespan)
	echo "# all alike: $alike us"
	takes $((alike + 2000)) odd_planes=3 odd_delay_ns=2000000
	takes $((alike * 5)) odd_planes=3 odd_rate_pct=10
	takes $((alike * 3 / 2)) odd_planes=1 odd_rate_pct=10
	takes $((alike + 200)) link_delay_ns=1000000
	takes $((alike * 5 / 4)) link_rate_pct=20
	takes $((alike * 2)) rx_cost_ns=4000
	takes $((alike + 150)) coalesce_ns=200000 coalesce_host=1
	takes $((alike + 150)) coalesce_ns=200000 coalesce_host=2
	takes $((alike + 150)) jitter_ns=1000000
	takes $((alike + 50)) tcp_flows=8 queue_bytes=100000
	takes $((alike * 2)) tx_cost_ns=8000
	takes 5000 lone_msgs=5 lone_gap_ns=10000000
	moves plane_lost odd_planes=1 odd_loss_ppm=100000
	moves plane_lost odd_planes=1 odd_vary=1 odd_loss_ppm=100000 odd_loss_dir=2
	moves link_lost link_loss_ppm=100000
	moves not_trimmed queue_bytes=20000 odd_planes=1 odd_trim=1
	moves not_trimmed queue_bytes=20000 link_notrim_ppm=500000
	moves rtx_trim queue_bytes=400000 odd_planes=1 odd_queue_pct=5
	moves rtx_trim queue_bytes=120000 link_queue_pct=5
	moves shared_full switch_bytes=20000
	moves ctrl_dropped switch_bytes=20000 fifo=1 one_way=0
	moves ring_full batch=64 ring_pkts=64 rx_cost_ns=4000
	moves batches_left batch=16 rx_cost_ns=4000
	moves turns_left batch=16
	moves put_off rx_cost_ns=1000
	moves coalesced coalesce_ns=50000
	moves foreign_pkts strangers=1 mrc_only=1
	moves foreign_pkts strangers=2 mrc_only=1
	moves tcp_sent tcp_flows=1
	moves tcp_delivered tcp_flows=1
	moves slept pauses=3 pause_ns=100000000 fault_ns=1000000
	takes 5000 pauses=3 pause_ns=100000000 fault_ns=1000000
	report $rc "paths and hosts that are not alike: each does what it says"
}

# Stamps of another host's clock say nothing: what the engine does must not depend on them.
clocks()
{
	local rc=0 hash

	hash=$(tail -n 1 "$tmp/alike")
	for set in clock_off_ns=100000000000 drift_ppm=200; do
		even "$set"
		if [ "$(tail -n 1 "$tmp/even")" = "$hash" ] || grep -qE '^(rtx_|timeouts)' "$tmp/even"; then
			echo "# $set"
			rc=1
		fi
	done
	report $rc "clocks that differ change stamps, and resend nothing"
}

refused()	# text arguments...
{
	local said status=0 text=$1

	shift
	said=$("$out"/gcc/mrcsim --seed 1 "$@" 2>&1 >/dev/null) || status=$?
	if [ $status -ne 2 ] || [[ $said != *"$text"* ]]; then
		echo "# $*: status $status, $said"
		rc=1
	fi
}

refusals()
{
	local rc=0

	refused "no such option: speed" --set speed=1
	refused "NAME=VALUE wanted" --set batch
	refused "not a number: batch=" --set batch=
	refused "not a number: batch=-1" --set batch=-1
	refused "not a number: batch=64k" --set batch=64k
	refused "not a number: bytes=99999999999999999999" --set bytes=99999999999999999999
	refused "odd_rate_pct is 0, must be 1 to 100" --set odd_rate_pct=0
	refused "link_loss_ppm is 1000001, must be 0 to 1000000" --set link_loss_ppm=1000001
	refused "strangers speak MRC 1.0 only" --set strangers=1 --set mrc_only=0
	refused "tcp_flows is 65, must be 0 to 64" --set tcp_flows=65
	refused "coalesce_host is 3, must be 0 to 2" --set coalesce_host=3
	refused "drift_ppm is 1001, must be 0 to 1000" --set drift_ppm=1001
	refused "pause_ns is 20000000000, must be 1 to 10000000000" --set pause_ns=20000000000
	refused "odd_planes names a plane that there is not" --set odd_planes=0x100000
	refused "ring_pkts needs batch" --set batch=0 --set ring_pkts=64
	refused "economy is 32, must be 0 to 31" --set economy=32
	refused "--economy wants probes, tails, heal, resends, trips, all or none" --economy cheap
	report $rc "values that make no sense are refused"
}

# Each check of economy is shown what it must object to: none is met when nothing is allowed.
broken()	# text NAME=VALUE...
{
	local text=$1

	shift
	even "$@" economy=0 || rc=1
	if even "$@" || ! grep -q "FAIL seed 1: economy: .*$text" "$tmp/even"; then
		echo "# $*: \"$text\" expected"
		tail -n 1 "$tmp/even" | sed 's/^/# /'
		rc=1
	fi
}

promises()
{
	local rc=0

	broken "probes of . towards" economy=1 probe_burst=0 loss_ppm=300000
	broken "not usable 0.000 ms after the last fault" economy=2 heal_ns=1 loss_ppm=600000 \
		fault_ns=1000000
	broken "tail probes beside" economy=16 probe_burst=0 slack_ns=1000000 rx_cost_ns=100000 msgs=10
	broken "resent though none was lost" economy=4 resend_burst=0 sleek=1 odd_planes=1 \
		odd_delay_ns=2000000
	even economy=31
	grep -q '^lossless ' "$tmp/even" || rc=1
	report $rc "promises of economy are held against what happens"
}
