#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# captured.sh - mrc-conform judges what the engine sends in simulated clusters, under all kinds of faults.
#
# The kit shares no code with the engine. Captures from VMs show few faults, and those by chance.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
sim=$MRC_TOP/build/sim/gcc/mrcsim
kit=$MRC_TOP/tools/conform/mrc-conform
small='--set fabric.hosts=32 --set fabric.hosts_per_t0=8 --set fabric.t1s=8'

# broken FILE PLANES [OPTION]...: mrcsim's options. Prints the rules that a packet broke.
broken() {
	local file=$1 planes=$2
	shift 2
	rm -f "$tmp/all.pcapng"
	"$sim" run "$file" --pcap "$tmp/all.pcapng" --pcap-packets 9000 "$@" >&2 || return
	"$kit" --whole --planes "$planes" "$tmp/all.pcapng" >"$tmp/verdicts" || true
	cat "$tmp/verdicts" >&2
	grep -q "directions of QPs; .* kept," "$tmp/verdicts" || return
	sed -nE 's/^[A-Z][0-9]+ .* BROKEN .* of [0-9]+ +//p' "$tmp/verdicts"
}

kept() {
	local rules
	rules=$(broken "$@") || return
	[ -z "$rules" ]
}

# The first probes of a host may all be lost, and the capture does not show what arrived.
kept_but_for_lost_probes() {
	local rules
	rules=$(broken "$@") || return
	[ "$rules" = "probes are answered" ] || [ -z "$rules" ]
}

# Two ports fewer: a host that tells of the others breaks a rule.
told_apart() {
	local rules
	rules=$(broken "$MRC_TOP/tools/sim/scenarios/port-own-carrier.toml" 2) || return
	[ "$rules" = "port status of ports that there are [D5]" ]
}

ksft_plan
make -s -C "$MRC_TOP/tools/sim" >&2
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
ksft_test "paths-dead" kept_but_for_lost_probes "$here/../conformance/clusters/paths-dead.toml" 1
while read -r name planes options; do
	# shellcheck disable=SC2086
	ksft_test "$name" kept "$MRC_TOP/tools/sim/scenarios/$name.toml" "$planes" $options
done <<END
alltoall 1 $small
blackhole-spine 1 $small
hosts-busy 4
incast-shared-buffer 1 $small
links-of-10ms 1
loss-1-percent 4
pause-hosts 4
plane-dead-forward 4
port-loss 1 $small
port-own-carrier 4
ring-allreduce 1 $small
slow-spines-4 1 $small
END
ksft_test "a port beyond the planes is seen" told_apart
ksft_finish
