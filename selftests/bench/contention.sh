#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# contention.sh [KERNEL] - which locks of the module packets wait for, in the virtual machine with two processors.
#
# Two hosts, four SRv6 planes, WRITEs of 64 KiB by 1, 4, 16 and 64 QPs. The kernel's receive packet steering spreads
# each QP's packets over both processors by their flow labels, as a NIC with a queue for each does
# (contention_vm.sh). A lock that is not free at once goes to native_queued_spin_lock_slowpath(): a probe there counts by
# call chain, in the kernel. The tracepoints lock:contention_* would not do, nor perf lock, which reads
# them: where two processors are all there are, who waits is the first in the queue, and that way of the
# slow path has none.
#
# What is counted are waits, not their time: in an emulated machine that would be the emulator's.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
kernel=${1:-6.12}
module=$top/build/$kernel/mrc.ko

# place FUNCTION+OFFSET: REPLY, the line that took the lock. What returns there is one byte further.
place() {
	local function=${1%+*} offset=${1#*+} base
	base=$(nm "$module" | awk -v f="$function" '$3 == f { at = $1 } END { print at }')
	REPLY=$(addr2line -j .text -i -e "$module" "$(printf '%#x' $((16#${base:-0} + offset - 1)))" |
		awk -F / -v at="$function:0" '!found && $NF ~ /^mrc_/ { at = $NF; found = 1 } END { sub(/ .*/, "", at); print at }')
	line "$REPLY"
}

# line FILE:NUMBER: REPLY, with what stands there.
line() {
	local file
	file=$(find "$top/kernel" -name "${1%:*}" -print -quit)
	REPLY="$1 $(sed -n "${1#*:}{s/^[ \t]*//;p}" "${file:-/dev/null}")"
}

# Lines "QPS packets N BY-CPU-0 BY-CPU-1" and "QPS PLACE WAITS".
show() {
	local qps place waits a b packets=1
	while read -r qps place waits a b; do
		if [ "$place" = packets ]; then
			packets=$waits
			echo "$qps QPs, $packets data packets; of all packets CPU 0 took $((100 * a / (a + b))) %." \
				"Waits for each thousand:"
			continue
		fi
		REPLY=$place
		[ "$place" = others ] || place "$place"
		awk -v n="$waits" -v p="$packets" -v what="$REPLY" 'BEGIN { printf "  %8.2f  %s\n", 1000 * n / p, what }'
	done <"$1"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s -C "$top" "$module" tools/lib/ibverbs tools/mrcctl KVERS="$kernel"
"$top/selftests/vm/runvm" -k "$kernel" -t 1500 -o "$work" -- "$here/contention_vm.sh"
show "$work/waits"
