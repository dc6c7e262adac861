#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sources that are compiled in groups (tools/lib/unity.mk; the module's: kernel/Kbuild) also compile alone: each includes
# what it needs. And no name of a C++ source changes what a name of another means.
#
# timeout: 3600
# lane: 2
# kernels: full

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

# of FOLDER: its groups, and the compiler's flags there.
of() {
	flags=()
	cd "$MRC_TOP/$1" || return
	mapfile -t groups < <(make -s unity-lists)
	[ ${#groups[@]} -gt 0 ] || return
	eval "flags=($(make -s unity-flags))"
	# These write files.
	for i in "${!flags[@]}"; do
		case ${flags[i]} in -MMD | -MP) unset "flags[$i]" ;; esac
	done
}
# Those that another folder has as well are compiled once.
compiles() {
	of "$1" || return
	sed -n 's/^#include "\(.*\)"/\1/p' "${groups[@]}" | sed 's/^[./]*//' | sort -u | grep -vxFf "$work/done" >"$work/now"
	cat "$work/now" >>"$work/done"
	sed "s|^|$MRC_TOP/|" "$work/now" | xargs -P "$(nproc)" -r -n 1 g++ "${flags[@]}" -Werror -fsyntax-only
}
means_the_same() {
	of "$1" || return
	"$here/alone.py" "${groups[@]}" -- "${flags[@]}"
}
# module KDIR: each of its files by itself.
module() {
	cp -r "$MRC_TOP/kernel" "$MRC_TOP/uapi" "$work/"
	make -s "-j$(nproc)" -C "$work/kernel" KDIR="$1" MRC_SINGLE=1 KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES=
}
# A name that hides a header's: not to find it is not to look.
finds() {
	echo 'namespace n { inline constexpr int bits = 14; }' >"$work/bits.h"
	echo 'namespace n { namespace { constexpr int bits = 16; int first() { return bits; } } int a() { return first(); } }' >"$work/a.cc"
	printf '%s\n' '#include "bits.h"' 'namespace n { namespace { int second() { return bits; } } int b() { return second(); } }' >"$work/b.cc"
	printf '#include "%s.cc"\n' a b >"$work/both.cc"
	g++ -fsyntax-only "$work/both.cc"
	! "$here/alone.py" "$work/both.cc" -- -std=c++20 >"$work/said" || return
	grep -F "bits is $work/a.cc:1 in" "$work/said"
}

ksft_plan
need_cmd g++ make python3
work=$(mktemp -d)
at_exit rm -rf "$work"
folders=(daemon tools/mrcctl tools/sim/cluster selftests/daemon selftests/verdict)
echo none >"$work/done"
for folder in "${folders[@]}"; do
	ksft_test "$folder: each source compiles alone" compiles "$folder"
done
if kdir=$("$here/../vm/kernels.sh" --kdir 6.12); then
	ksft_test "the module: each source compiles alone" module "$kdir"
else
	ksft_skip "the module: each source compiles alone" "no headers of Linux 6.12"
fi
if python3 -c 'import clang.cindex' 2>/dev/null; then
	ksft_test "a name that hides another is found" finds
	for folder in "${folders[@]}"; do
		ksft_test "$folder: names mean the same in groups" means_the_same "$folder"
	done
else
	ksft_skip "names mean the same in groups" "no python3-clang"
fi
ksft_finish
