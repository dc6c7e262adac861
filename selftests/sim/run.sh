#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh - mrcsim: a swarm of seeds, and the same hashes each time; with MRC_FULL those of clang, too.
#
# Prints TAP 13. SEEDS="A..B" is the swarm among our own kind, STRANGE_SEEDS="A..B" the one in which a
# fifth of the seeds meets another implementation, HASH_SEEDS="A..B" what is hashed; their
# defaults are what CI has time for, more with MRC_FULL. SOAK=SECONDS goes on after B for so long. A
# failing seed is printed as the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")"

if [ -n "${MRC_FULL:-}" ]; then
	: "${SEEDS:=1..20000}" "${STRANGE_SEEDS:=1..5000}"
fi
: "${SEEDS:=1..4000}" "${STRANGE_SEEDS:=1..1000}" "${HASH_SEEDS:=1..200}" "${SOAK:=0}"
sim=../../tools/sim
out=../../build/sim
# shellcheck source=selftests/sim/tap.sh
. ./tap.sh
# shellcheck source=selftests/sim/model.sh
. ./model.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

swarm()
{
	local rc=0

	$out/gcc/mrcsim --seeds "$SEEDS" --set strangers=0 --jobs "$(nproc)" --for "$SOAK" >"$tmp/swarm" || rc=$?
	sed 's/^/# /' "$tmp/swarm"
	report $rc "seeds $SEEDS"
	rc=0
	$out/gcc/mrcsim --seeds "$STRANGE_SEEDS" --jobs "$(nproc)" >"$tmp/strange" || rc=$?
	sed 's/^/# /' "$tmp/strange"
	report $rc "seeds $STRANGE_SEEDS, with strangers"
}

# The engine's counters that some seed of the swarm must have moved.
coverage()
{
	local c rc=0

	for c in rtx_rack rtx_nack rtx_trim rtx_rto rtx_plane rtx_rnr timeouts probes_answered \
		 rx_dup rx_ooo rx_ecn rx_trimmed rx_rnr rx_no_slot rx_after_nak \
		 rx_place_failed naks_access naks_invalid no_path rtx_sleek rtx_spurious \
		 rx_held mpr_shrunk pens_sent pens_rcvd link_lost plane_lost not_trimmed \
		 shared_full ctrl_dropped ring_full batches_left turns_left put_off slept \
		 lossless coalesced foreign_pkts tcp_sent tcp_delivered; do
		if ! grep -q "^$c " "$tmp/swarm" "$tmp/strange"; then
			echo "# never counted: $c"
			rc=1
		fi
	done
	report $rc "the swarm reaches the corners"
}

# hashes COMPILER WHAT: its hashes are those of the first run.
hashes()
{
	local rc=0

	[ -e "$tmp/hashes" ] || $out/gcc/mrcsim --seeds "$HASH_SEEDS" --hashes >"$tmp/hashes" || true
	$out/"$1"/mrcsim --seeds "$HASH_SEEDS" --hashes | diff "$tmp/hashes" - >"$tmp/diff" || rc=$?
	sed 's/^/# /' "$tmp/diff"
	report $rc "$2"
}

echo "TAP version 13"
build "mrcsim builds [gcc]" -C $sim T=gcc
[ -z "${MRC_FULL:-}" ] || build "mrcsim builds [clang]" -C $sim T=clang
if good_so_far; then
	model
	clocks
	refusals
	promises
	swarm
	coverage
	hashes gcc "a second run has the same hashes: seeds $HASH_SEEDS"
	[ -z "${MRC_FULL:-}" ] || hashes clang "and so has clang's"
fi
finish
