#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# The newest rdma-core (vm/rdmacore.sh), its programs and its C library in a root of their own; the plug-in built for
# its provider ABI. Every byte is checked by mrc_verify, which runs there too.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

newest=$("$here/../vm/rdmacore.sh" --root)
plugin=$(echo "$MRC_TOP"/build/rdmacore/libmrc-rdmav*.so)

# Programs of the root, in this one's place: the tests' functions find them first.
enter() {
	local program dir bin=$MRC_DIR/newest
	mkdir -p "$bin" "$newest$MRC_TOP" "$newest/etc/libibverbs.d" "$newest/run"
	for dir in /dev /proc /sys /run "$MRC_TOP"; do
		mount --rbind "$dir" "$newest$dir" || return
		at_exit umount -l "$newest$dir"
	done
	cp "$plugin" "$newest"/usr/lib/*/libibverbs/ || return
	echo "driver mrc" >"$newest/etc/libibverbs.d/mrc.driver"
	for program in "$MRC_TOP/build/verbs/mrc_verify" /usr/bin/{ibv_devices,ib_write_bw,ib_send_lat}; do
		printf '#!/bin/sh\nexec chroot %q %q "$@"\n' "$newest" "$program" >"$bin/${program##*/}"
		chmod +x "$bin/${program##*/}"
	done
	PATH=$bin:$PATH
}

library_is_newer() {
	chroot "$newest" sh -c 'readlink -f /usr/lib/*/libibverbs.so.1' | tee /dev/stderr | grep -qv '\.44\.'
	[[ $plugin != *-rdmav34.so ]]
}

is_named() { fabric_in h1 ibv_devices | tee /dev/stderr | grep -w "$1"; }

ksft_plan
[ -e "$newest/.complete" ] && [ -e "$plugin" ] || ksft_skip_all "no newer rdma-core: selftests/vm/rdmacore.sh get; ... plugin"
mrc_begin
ksft_test "programs of the newest rdma-core" enter
ksft_test "its provider ABI is another than this Debian's (${plugin##*-})" library_is_newer
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
mrc_ibdev h1
ksft_test "ibv_devices names the device" is_named "$REPLY"
ksft_test "all operations, every byte verified" mrc_verify 60 -o mix -r -s 65536 -n 200
ksft_test "atomics" mrc_verify 60 -o atomic -n 100
ksft_test "ib_write_bw" mrc_perf 60 ib_write_bw -s 65536 -n 200
ksft_test "ib_send_lat, by events" mrc_perf 60 ib_send_lat -e -s 512 -n 200
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
