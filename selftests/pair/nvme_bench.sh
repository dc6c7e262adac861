#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme_bench.sh SIDE - nvme-rdma over mrc and over rdma_rxe, in turns (bench/nvme.sh): one cable, then four as planes.
# MRC_ROUNDS (2) times; fio for MRC_SECS (6) seconds each. Prints what each brought, and times rdma_rxe of the same round.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/nvme_lib.sh"
trap - EXIT

ROUNDS=${MRC_ROUNDS:-2}
SECS=${MRC_SECS:-6}
JOBS="randread:4k:16 randwrite:4k:16 read:128k:4 write:128k:4"
declare -A GOT=()

# ------------------------------------------------------------------ devices

# The modules cannot be loaded at once: both want UDP port 4791.
rxe_up() {
	address "$SIDE"
	ip addr add "$REPLY/64" dev cable1 nodad
	modprobe rdma_rxe
	rdma link add rxe0 type rxe netdev cable1
}
rxe_down() {
	rdma link delete rxe0
	address "$SIDE"
	ip addr del "$REPLY/64" dev cable1
	wait_until 20 rmmod rdma_rxe
}
mrc_up() {	# CABLES
	# shellcheck disable=SC2034	# up's
	CABLES=$1
	load_mrc
	up
	address "$PEER"
	ip -6 route replace "$REPLY/128" dev mrc0 metric 100
}
mrc_down() { ip link del mrc0 && mrc_until 60 mrc_no_devices && wait_until 20 rmmod mrc; }
mrc1_up() { mrc_up 1; }
mrc4_up() { mrc_up 4; }
mrc1_down() { mrc_down; }
mrc4_down() { mrc_down; }

# Both sides are as far. By the bare cable, which all of them leave as it is.
meet() {
	case $SIDE in
	1)	until socat -u OPEN:/dev/null "TCP6:[fe80::2%cable1]:4700" 2>/dev/null; do mrc_sleep 0.5; done;;
	2)	socat -u TCP6-LISTEN:4700,reuseaddr OPEN:/dev/null;;
	esac
}

# ------------------------------------------------------------- measurements

# measure JOB: REPLY, MiB/s.
measure() {
	local rw bs depth
	IFS=: read -r rw bs depth <<<"$1"
	disk_of
	fio --name=disk --filename="$REPLY" --direct=1 --ioengine=libaio --rw="$rw" --bs="$bs" --iodepth="$depth" \
		--size=48m --time_based --runtime="$SECS" --output-format=json >"$MRC_DIR/fio.json" || return
	REPLY=$(jq '[.jobs[0].read.bw, .jobs[0].write.bw] | add / 1024 * 100 | round / 100' "$MRC_DIR/fio.json")
}

use() {	# KIND
	local job
	modprobe nvme-rdma
	connects connect && mrc_until 30 disk_of
	for job in $JOBS; do
		measure "$job" || REPLY=-
		echo "$1 $job: $REPLY MiB/s"
		GOT[$1.$job]+=" $REPLY"
	done
	nvme disconnect -n $NQN >/dev/null
	modprobe -r nvme-rdma
}

serve() { offer; meet; meet; withdraw; }
client() { meet; use "$1"; meet; }

table() {
	local job kind
	for job in $JOBS; do
		for kind in mrc1 mrc4; do
			awk -v name="$job $kind" -v mine="${GOT[$kind.$job]}" -v rxe="${GOT[rxe.$job]}" 'BEGIN {
				n = split(mine, m); split(rxe, r); printf "%-22s", name
				for (i = 1; i <= n; i++) if (r[i] + 0) printf " %8.1f/%-8.1f %5.2fx", m[i], r[i], m[i] / r[i]
				print "" }'
		done
	done
	echo "MiB/s of mrc, of rdma_rxe in the same round, and the ratio."
}

SIDE=$1
PEER=$((3 - SIDE))
need_root
need_cmd rdma fio nvme socat jq
mkdir -p "$MRC_DIR"
[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
mrc_setup_plugin
modprobe -a virtio_net configfs ib_uverbs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
rename
ip link set cable1 mtu 9000 up
ip addr add fe80::$SIDE/64 dev cable1 nodad
[ $SIDE = 1 ] || disk
for ((round = 1; round <= ROUNDS; round++)); do
	for kind in rxe mrc1 mrc4; do
		${kind}_up
		mrc_until 60 grep -q ACTIVE /sys/class/infiniband/*/ports/1/state
		case $SIDE in
		1)	client $kind;;
		2)	serve;;
		esac
		${kind}_down
		meet
	done
done
case $SIDE in
1)	table;;
2)	mrc_until 60 told_to_stop || true;;	# who ends sooner takes the other along
esac
