#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme_bench.sh SIDE - nvme-rdma over mrc and over rdma_rxe, in turns (bench/nvme.sh): one cable, then four as planes.
# MRC_ROUNDS (2) times; fio for MRC_SECS (6) seconds each. Prints what each brought, and times rdma_rxe of the same round.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/nvme_lib.sh"
. "$here/nvme_kinds.sh"
trap - EXIT

ROUNDS=${MRC_ROUNDS:-2}
SECS=${MRC_SECS:-6}
JOBS="randread:4k:16 randwrite:4k:16 read:128k:4 write:128k:4"
declare -A GOT=()

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
# shellcheck disable=SC2034	# lib.sh's
PEER=$((3 - SIDE))
need_root
need_cmd rdma fio nvme socat jq
modprobe virtio_net
bare
for ((round = 1; round <= ROUNDS; round++)); do
	for kind in rxe mrc1 mrc4; do
		kind_up $kind
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
