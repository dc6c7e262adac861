#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# engine_instr.sh - instructions of the engine per data packet, by callgrind:
# exact, and the same on a busy machine.
#
#	engine_instr.sh ENGINE_BENCH
#
# Counted while the calls of one phase run (each copies a header, too), not while
# requests are posted and completed.
set -euo pipefail

bench=$1
rounds=200
burst=4

# collected SHAPE PHASE
collected() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
		--toggle-collect="bench::cluster::$2(bench::pair&)" \
		"$bench" --rounds $rounds "$1" 2>&1 | sed -n 's/.*Collected : *//p'
}

command -v valgrind >/dev/null || { echo "no valgrind: make deps"; exit 0; }
echo "# instructions per data packet, a SACK and an ACK every $burst packets"
echo "EVs window   tx     rx  SACK+ACK built  learnt   both ends a packet"
k=0
for name in "  1   1024" "128   1024" "256   1024" "128   4096" "256   4096"; do
	sum=0
	row=
	for phase in send receive answer learn; do
		n=$(collected $k $phase)
		sum=$((sum + n))
		row+=$(printf ' %6d' $((n / (rounds * burst))))
	done
	echo "$name $row $((sum / (rounds * burst)))"
	k=$((k + 1))
done
