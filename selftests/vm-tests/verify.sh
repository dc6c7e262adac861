#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: new arm64
#
# Every operation in many sizes, every byte checked, over four planes that mrcd
# configured.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "four planes by mrcd" mrc_fabric_mrcd 2 4 2 2
for op in write write_imm send read; do
	for size in "1 64" "64 200" "4096 200" "65536 64" "1048576 8"; do
		read -r bytes n <<<"$size"
		ksft_test "$op of $bytes bytes" mrc_verify 60 -o $op -s "$bytes" -n "$n"
	done
done
ksft_test "atomics" mrc_verify 60 -o atomic -n 200
ksft_test "all operations, sizes from 0 to 64 KiB" mrc_verify 60 -o mix -r -s 65536 -n 300
ksft_test "all operations, inline where it fits" mrc_verify 60 -o mix -r -i -s 256 -n 300
ksft_test "one message at a time" mrc_verify 60 -o mix -q 1 -r -s 8192 -n 60

# As the profile says: an equal share for each plane. A busy machine that stands still under one gives that one less.
for host in h1 h2; do
	shares=$(mrcctl -n $host -j plane show | jq -r '[.[].tx_pkts] | "\(min) \(max)"')
	read -r min max <<<"$shares"
	ksft_test "$host: equal shares of the planes ($min to $max packets)" \
		test $((max - min)) -le $((max / 4))
done
mrc_lost h1 h2
ksft_test "no packet of h1 was lost ($REPLY resent, not seen twice)" test "$REPLY" -le 32
mrc_lost h2 h1
ksft_test "no packet of h2 was lost ($REPLY resent, not seen twice)" test "$REPLY" -le 32
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc

# 1024 packets at once: more than some queues on the way hold.
ksft_test "small MTU" mrc_verify 60 -o mix -r -m 256 -s 16384 -n 50
ksft_finish
