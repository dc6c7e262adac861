#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# secrets.sh [KERNEL] - what IPsec and MACsec cost, as ratios, in an emulated machine.
#
# 400 WRITEs of 64 KiB between two hosts over one plane: in clear, with ESP in transport mode, upon MACsec; AES-GCM with
# 128 bits. What a program needs to begin and to end is subtracted: a run with fewer. Three rounds.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
[ "${1:-}" = inside ] || exec "$top/selftests/vm/runvm" -k "${1:-7.3}" -t 1800 "$here/secrets.sh" inside
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ipsec.sh"
trap - EXIT

# took N: REPLY, milliseconds for so many WRITEs.
took() {
	local began=${EPOCHREALTIME/[.,]/}
	mrc_verify 300 -u 20 -o write -q 1 -s 65536 -n "$1" || return
	REPLY=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
}
clear_plane() { mrc_one_plane; }
esp_plane() { mrc_one_plane && ipsec_on h1 v6 && ipsec_on h2 v6; }

mrc_begin mrc_verify ip
modprobe -a esp6 xfrm_user macsec
for round in 1 2 3; do
	for kind in clear esp macsec; do
		"${kind}_plane"
		took 20
		few=$REPLY
		took 420
		ms=$((REPLY - few))
		[ $kind != clear ] || base=$ms
		echo "round $round, $kind: $ms ms, $((ms * 100 / base)) % of clear"
	done
done
