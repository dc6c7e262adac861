#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
#
# The libibverbs plug-in without the kernel: it builds, its idea of the private
# ABI is the installed library's, its rings work, and libibverbs loads it.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

top=$here/../..
src=$top/tools/lib/ibverbs
abi=$(sed -n "s/^#define MRC_UVERBS_ABI_VERSION\t//p" "$top/uapi/rdma/mrc-abi.h")
oldest=$(sed -n "s/^#define MRC_UVERBS_ABI_OLDEST\t//p" "$top/uapi/rdma/mrc-abi.h")
work=$(mktemp -d)
at_exit rm -rf "$work"

# "name offset" of the library's own table of operations: its addresses are
# relocations, the names are local symbols of the same object. The static library
# has both and is built from the same source as the shared one.
library_layout() {
	(cd "$work" && ar x "$1" dummy_ops.c.o)
	nm "$work/dummy_ops.c.o" | awk '$2 == "t" { print $1, $3 }' >"$work/names"
	objdump -r -j .data.rel.ro.local "$work/dummy_ops.c.o" |
		sed -nE 's/^([0-9a-f]{16}) R_X86_64_64 +\.text(\+0x([0-9a-f]+))?$/\1 \3/p' |
		while read -r offset address; do
			printf '%s %016x\n' "$((16#$offset))" "$((16#${address:-0}))"
		done >"$work/table"
	awk 'NR == FNR { name[$1] = $2; next } { print name[$2], $1 }' \
		"$work/names" "$work/table"
}

# A device in an invented sysfs. libibverbs uses sysfs only without RDMA netlink,
# and wants a device node, for which a private /dev serves.
fake_device() {
	local sys=$work/sys
	mkdir -p "$sys/class/infiniband_verbs/uverbs0" "$sys/class/infiniband/anyname"
	echo 6 >"$sys/class/infiniband_verbs/abi_version"
	echo anyname >"$sys/class/infiniband_verbs/uverbs0/ibdev"
	echo 231:192 >"$sys/class/infiniband_verbs/uverbs0/dev"
	echo "$abi" >"$sys/class/infiniband_verbs/uverbs0/abi_version"
	echo 1: CA >"$sys/class/infiniband/anyname/node_type"
	echo 0002:0003:0004:0005 >"$sys/class/infiniband/anyname/node_guid"
	[ -z "$1" ] || echo "$1" >"$sys/class/infiniband/anyname/mrc_abi"
}

list_devices() {
	SYSFS_PATH=$work/sys IBV_SHOW_WARNINGS=1 IBV_DRIVERS=${1:-$work}/libmrc \
		unshare -rm sh -c 'mount -t tmpfs none /dev && mkdir /dev/infiniband &&
				   touch /dev/infiniband/uverbs0 && exec ibv_devices' 2>&1
}

# A plug-in as it is after the next change of the ABI: of this number and of one more.
next_plugin() {
	cp -r "$top/uapi" "$work/uapi"
	sed -i "s/^#define MRC_UVERBS_ABI_VERSION\t.*/#define MRC_UVERBS_ABI_VERSION\t$((abi + 1))/
		s/^#define MRC_UVERBS_ABI_OLDEST\t.*/#define MRC_UVERBS_ABI_OLDEST\t$abi/" "$work/uapi/rdma/mrc-abi.h"
	make -s -C "$src" OUT="$work/next" CFLAGS="-O0 -I$work/uapi"
}

# module_abi NUMBER [FOLDER]: the plug-in of FOLDER claims a device of a module of that ABI.
module_abi() {
	echo "$1" >"$work/sys/class/infiniband_verbs/uverbs0/abi_version"
	list_devices "${2:-}" | grep -q '^ *anyname'
}

export work
export -f list_devices module_abi
ksft_plan
need_cmd make gcc nm
[ -e /usr/include/infiniband/verbs.h ] || ksft_skip_all "no libibverbs-dev"

ksft_test "the plug-in builds without a warning" \
	make -s -C "$src" OUT="$work" CFLAGS="-O2 -Werror"
so=$(echo "$work"/libmrc-rdmav*.so)
ksft_equal "it exports nothing" "" "$(nm -D --defined-only "$so" | grep -v ' A ' || true)"

pabi=$(nm -D "$(gcc -print-file-name=libibverbs.so.1)" |
	sed -n 's/.* verbs_register_driver_\([0-9]*\)@.*/\1/p')
# shellcheck disable=SC2086
compile() {
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror $1 -DMRC_PABI="$pabi" \
		-I"$top/uapi" -I"$src" -o "$work/ring" "$here/test_plugin_ring.c" \
		"$src"/{verbs,pd,mr,lid,cq_create,cq,qp,qp_table,srq,post,wr,ring}.c -libverbs -lpthread
}
ksft_test "another private ABI is refused" bash -c "! gcc -DMRC_PABI=57 -fsyntax-only \
	-I'$top/uapi' -I'$src' '$src/provider.c' 2>/dev/null"
ksft_test "the ring test builds" compile "-fsanitize=address,undefined"

archive=$(gcc -print-file-name=libibverbs.a)
if [ -e "$archive" ] && [ "$(uname -m)" = x86_64 ]; then
	library_layout "$archive" >"$work/theirs"
	ASAN_OPTIONS=detect_leaks=0 "$work/ring" layout >"$work/ours"
	ksft_test "76 operations were found in the library" \
		test "$(wc -l <"$work/theirs")" -eq 76
	ksft_test "every operation is where the library has it" \
		diff "$work/theirs" "$work/ours"
else
	ksft_skip "every operation is where the library has it" "no x86-64 libibverbs.a"
fi

rc=0
ASAN_OPTIONS=detect_leaks=0 "$work/ring" >"$work/tap" 2>&1 || rc=$?
while read -r line; do
	case $line in
	"ok "*) ksft_pass "rings: $(cut -d' ' -f3- <<<"$line")";;
	"not ok "*) ksft_fail "rings: $(cut -d' ' -f4- <<<"$line")";;
	esac
done <"$work/tap"
ksft_test "the ring test ended well" test "$rc" -eq 0 || true
[ "$rc" -eq 0 ] || ksft_comment "$(grep -v '^ok' "$work/tap" | tail -n 20)"

if ! command -v ibv_devices >/dev/null || ! unshare -rm true 2>/dev/null; then
	ksft_skip "libibverbs loads it" "no ibv_devices or no user namespaces"
elif [ -d /sys/class/infiniband ]; then
	ksft_skip "libibverbs loads it" "RDMA netlink is here, sysfs is not asked"
else
	fake_device 1
	out=$(list_devices)
	ksft_test "libibverbs loads it and it claims a device of any name" \
		grep -q '^ *anyname' <<<"$out"
	ksft_test "without a warning of ours" bash -c "! grep -qiE 'mrc|warning' <<<'$out'"
	ksft_test "a module of the next ABI is refused" bash -c "! module_abi $((abi + 1))"
	ksft_test "a module before the oldest is refused" bash -c "! module_abi $((oldest - 1))"
	ksft_test "a plug-in of the next ABI builds" next_plugin
	ksft_test "it takes a module of its own" module_abi $((abi + 1)) "$work/next"
	ksft_test "and one of this number" module_abi "$abi" "$work/next"
	ksft_test "and no older one" bash -c "! module_abi $((abi - 1)) $work/next"
	rm -rf "$work/sys"
	fake_device ""
	out=$(list_devices)
	ksft_test "a device without mrc_abi is not ours" \
		bash -c "! grep -q '^ *anyname' <<<'$out'"
fi
ksft_finish
