#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: old new uml
#
# Regions of dma-bufs: verbs/mrc_dmabuf.c, with those of exporter/mrc_exporter.c, which moves them, and of udmabuf and the
# system's heap, where the kernel has these. NCCL's ring in udmabufs.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/ranks.sh"

# Whatever let go of a buffer too late or not at all would keep it.
exporter_goes() { mrc_until 10 rmmod mrc_exporter; }
# NCCL's ring, its memory dma-bufs.
ring() {
	local i world=$MRC_DIR/world
	mkdir -p "$world"
	for i in 0 1; do
		mrc_start rank$i h$((i + 1)) mrc_nccl -d "${MRC_IBDEV[h$((i + 1))]}" -T 240 -x "$world" -r $i -n 2 -o ring -p 16 -b
	done
	ranks_right 2 120 ok
}
said() { dmesg | grep -q 'dma-buf of mrc_exporter cannot be mapped'; }

ksft_plan
mrc_begin mrc_dmabuf mrc_nccl
ko=$MRC_BUILD/mrc_exporter.ko
[ -e "$ko" ] || ksft_skip_all "needs $ko"
ksft_test "one plane" mrc_one_plane
ksft_test "an exporter" insmod "$ko"
export MRC_TEST_EXPORTER
for MRC_TEST_EXPORTER in exporter udmabuf heap; do
	case $MRC_TEST_EXPORTER in
	exporter) dev=/dev/mrc_exporter;;
	udmabuf) dev=/dev/udmabuf;;
	heap) dev=/dev/dma_heap/system;;
	esac
	if [ -e $dev ]; then
		mrc_harness h1 dmabuf-$MRC_TEST_EXPORTER mrc_dmabuf
	else
		ksft_comment "this kernel has no $dev"
	fi
done
[ ! -e /dev/udmabuf ] || ksft_test "a ring as NCCL, through dma-bufs" ring
ksft_test "the log says what cannot be mapped" said
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_test "the exporter has its buffers back" exporter_goes
ksft_finish
