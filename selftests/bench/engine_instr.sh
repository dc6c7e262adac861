#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# engine_instr.sh - instructions of the engine per data packet, by callgrind:
# exact, and the same on a busy machine.
#
#	engine_instr.sh ENGINE_BENCH
#
# Counted is what the engine executes in the calls of one phase: not the bench's own
# loop around them (engine_pair.h), nor what posts and completes requests. Headers are not
# put into bytes and back: "wire" is what that would add.
set -euo pipefail

bench=$1
rounds=200
burst=4
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# counted SHAPE PHASE
counted() {
	valgrind --tool=callgrind --callgrind-out-file="$out" --collect-atstart=no \
		--toggle-collect="bench::cluster::$2(bench::pair&)" \
		"$bench" --rounds $rounds "$1" >/dev/null 2>&1
	callgrind_annotate --auto=no --threshold=100 "$out" 2>/dev/null | awk '
		/PROGRAM TOTALS/ { gsub(",", "", $1); n += $1 }
		/engine_pair\.h:/ { gsub(",", "", $1); n -= $1 }
		END { print n }'
}

command -v valgrind >/dev/null || { echo "no valgrind: make deps"; exit 0; }
echo "# instructions per data packet, a SACK every $burst packets, an ACK every WRITE"
echo "EVs window   WRITE      tx     rx SACK,ACK learnt  both ends   wire"
k=0
for name in "  1   1024  64 KiB" "128   1024  64 KiB" "256   1024  64 KiB" \
	    "128   4096  64 KiB" "256   4096  64 KiB" "128   1024  16 KiB"; do
	sum=0
	row=
	for phase in send receive answer learn; do
		n=$(counted $k $phase)
		sum=$((sum + n))
		row+=$(printf ' %6d' $((n / (rounds * burst))))
	done
	sum=$((sum / (rounds * burst)))
	echo "$name $row     $(printf '%6d %6d' $sum $(($(counted $k wire) / (rounds * burst))))"
	k=$((k + 1))
done
