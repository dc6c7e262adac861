#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# secrets.sh [KERNEL] - what IPsec and MACsec cost, as ratios, in an emulated machine.
#
# WRITEs of 64 KiB between two hosts over one plane: in clear, with ESP in transport mode, upon MACsec; AES-GCM with
# 128 bits. Three rounds. The ratios hold for a processor without instructions for AES; one with them does better.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
[ "${1:-}" = inside ] || exec "$top/selftests/vm/runvm" -k "${1:-7.3}" -t 1800 "$here/secrets.sh" inside
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ipsec.sh"

# rate: REPLY, MB/s on average.
rate() {
	mrc_perf 300 ib_write_bw -e -s 65536 -n 100 || { REPLY=0; return; }
	REPLY=$(awk '$1 == 65536 { print $4 }' "$MRC_DIR/client.out")
}
clear_plane() { mrc_one_plane; }
esp_plane() { mrc_one_plane && ipsec_on h1 v6 && ipsec_on h2 v6; }

mrc_begin ib_write_bw ip
modprobe -a esp6 xfrm_user macsec
for round in 1 2 3; do
	for kind in clear esp macsec; do
		"${kind}_plane" && rate
		[ $kind != clear ] || base=$REPLY
		echo "round $round, $kind: $REPLY MB/s, $(awk -v a="$REPLY" -v b="$base" 'BEGIN { print a / b }') of clear"
	done
done
