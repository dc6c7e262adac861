#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# probing_uml.sh ROUNDS - see probing.sh. h1 probes, h2 does not; 4 planes, each 2 T0 and 2 T1, by mrcd.
#
# One processor is host and fabric at once, so a probe's cost has that of the three to seven switches that forward it. That
# of the host is less. "Idle" is what a program that counts gets of the processor while nothing else happens.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/ratio.sh"

SECONDS_EACH=3

now() { REPLY=${EPOCHREALTIME/[.,]/}; }

# probing RATE: h1's daemon anew.
probing() {
	mrc_kill mrcd-h1
	rm -f "$FABRIC_DIR/h1.ready"
	mrc_start mrcd-h1 h1 mrcd -c "$FABRIC_DIR/fabric.toml" -n h1 --ready-file "$FABRIC_DIR/h1.ready" --probe "$1" \
		--probe-timeout 1000
	mrc_until 60 mrc_mrcd_ready h1
}

# Probes sent so far, and those that had no answer.
probes() {
	REPLY=$(mrcctl -n h1 -j selfprobe show dev mrc0 |
		jq -r '[.[1:][] | select(.plane)] | "\(map(.sent) | add // 0) \(map(.lost) | add // 0) \(map(.void) | add // 0)"')
}

# used: REPLY, nanoseconds of processor that mrcd took, in ticks of 10 ms.
used() { REPLY=$(awk '{ printf "%d", ($14 + $15) * 10000000 }' "/proc/${MRC_PID[mrcd-h1]}/stat"); }

# The program that counts, at the lowest priority: it takes what is left.
spin() {
	REPLY=$(nice -n 19 python3 - $SECONDS_EACH <<-'END'
		import sys, time
		rounds, end = 0, time.monotonic() + int(sys.argv[1])
		while time.monotonic() < end:
		    rounds += sum(1 for _ in range(1000))
		print(rounds // 1000)
	END
	)
}

stream() {
	local server client
	mrc_gid_index h1 v6 && client=$REPLY
	mrc_gid_index h2 v6 && server=$REPLY
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair_start $MRC_PORT ib_write_bw -F -d "${MRC_IBDEV[h2]}" -x "$server" -p $MRC_PORT -s 65536 --run_infinitely -- \
		ib_write_bw -F -d "${MRC_IBDEV[h1]}" -x "$client" -p $MRC_PORT -s 65536 --run_infinitely "$MRC_PERF_TO"
	mrc_flows
}
unstream() {
	kill -INT "${MRC_PID[client]}" "${MRC_PID[server]}" 2>/dev/null || true
	mrc_wait client 20 || true
	mrc_wait server 20 || true
}
# traffic: REPLY, packets of data a second.
traffic() {
	local from n
	mrc_stat h1 tx_pkts; n=$REPLY
	now; from=$REPLY
	mrc_sleep $SECONDS_EACH
	mrc_stat h1 tx_pkts; n=$((REPLY - n))
	now
	REPLY=$((n * 1000000 / (REPLY - from)))
}

under() {	# RATE
	local rate=$1 from lost void n cpu rss
	probing "$rate"
	mrc_sleep 2
	probes; read -r n lost void <<<"$REPLY"
	used; cpu=$REPLY
	now; from=$REPLY
	spin; note "$rate.idle" "$REPLY"
	local counted=$REPLY
	now; from=$((REPLY - from))
	used; cpu=$(((REPLY - cpu) / (from / 10)))		# hundredths of a percent
	probes; set -- $REPLY
	n=$((($1 - n) * 1000000 / from))
	rss=$(awk '/^VmRSS/ { print $2 }' "/proc/${MRC_PID[mrcd-h1]}/status")
	note "$rate.probes" $n
	note "$rate.mrcd" $cpu
	note "$rate.rss" "$rss"
	stream
	traffic; note "$rate.traffic" "$REPLY"
	unstream
	echo "$rate: $REPLY packets of data a second; idle: $n probes a second, $(($2 - lost)) lost, $(($3 - void)) void," \
		"$counted rounds counted, mrcd $cpu/10000 of a processor and $rss KiB"
}

mean() { awk -v a="${ALL[$1.$2]}" -v by="${3:-1}" 'BEGIN { n = split(a, x); for (i in x) s += x[i]; printf "%.4g", s / n / by }'; }

rounds=$1
mrc_begin mrcd mrcctl ib_write_bw awk
mrc_fabric_mrcd 2 4 2 2
for ((round = 1; round <= rounds; round++)); do
	rates="off slow normal fast"
	((round % 2)) || rates="fast normal slow off"
	for rate in $rates; do
		under $rate
	done
done
echo "self-probes of one host, 4 planes, against none:"
for rate in slow normal fast; do
	echo "  $rate: $(mean $rate probes) probes a second, $(mean $rate probes 791) Mb/s of 158 bytes each;" \
		"traffic $(of $rate.traffic off.traffic); processor left when idle $(of $rate.idle off.idle);" \
		"mrcd $(mean $rate mrcd 100) % (off: $(mean off mrcd 100) %), $(mean $rate rss 1024) MiB (off: $(mean off rss 1024))"
done
trap - EXIT	# the machine goes, and all with it
