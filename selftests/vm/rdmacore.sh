#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdmacore.sh - the newest rdma-core that Debian has, and the plug-in built for it.
#
#   rdmacore.sh get       Debian sid's libibverbs and programs, in a root file system of its own
#   rdmacore.sh --root    print that
#   rdmacore.sh plugin    build/rdmacore/libmrc-rdmav<its number>.so
#
# The root is ${MRC_CACHE:-~/.cache/mrc}/roots/sid: packages unpacked, about 150 MB. Its programs run by chroot, in a
# machine (vm-tests/rdmacore.sh).

set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
root=${MRC_CACHE:-$HOME/.cache/mrc}/roots/sid
# shellcheck disable=SC2034	# of unpack.sh
arch=amd64
sources=$root.apt/sources.list
lib=$root/usr/lib/x86_64-linux-gnu

# shellcheck source=selftests/vm/unpack.sh
. "$here/unpack.sh"

PACKAGES=(base-files base-passwd bash coreutils dash libc6 mawk libibverbs1 libibverbs-dev ibverbs-providers ibverbs-utils
	rdmacm-utils perftest)

get() {
	mkdir -p "$root.apt"
	exec 9>"$root.lock"
	flock 9
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main" >"$sources"
	pkg_root "${PACKAGES[@]}"
}

# Headers and library of the root, the compiler and C library of this machine: older ones, which run there.
plugin() {
	make -C "$top/tools/lib/ibverbs" OUT="$top/build/rdmacore" CFLAGS="-O2 -g -Wno-psabi -I$root/usr/include" \
		LDFLAGS="-L$lib -Wl,--allow-shlib-undefined" LIBIBVERBS="$lib/libibverbs.so.1"
}

case ${1:-} in
get) get;;
plugin) plugin;;
--root) echo "$root";;
*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2;;
esac
