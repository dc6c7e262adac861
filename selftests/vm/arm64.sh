#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# arm64.sh - Debian's kernels for arm64, a root file system for them, and this project built for it.
#
#   arm64.sh get 6.12-arm64 6.12-arm64-16k   headers of that flavour (4 KiB, 16 KiB pages) and the root
#   arm64.sh tree             build user space and tests in a copy of this tree, build/arm64
#   arm64.sh --root           print the root file system
#   arm64.sh --kdir NAME      print the build directory of these headers; nothing when there is none
#   arm64.sh --owns KDIR      is it one of ours?
#   arm64.sh --version RELEASE  the version of the package that its headers are of
#   arm64.sh image NAME DIR   unpack the kernel and its modules to DIR, the version of the headers
#
# Everything is of the release of Debian that runs here, for compiler, C library and kernel headers must match:
# the cross compiler uses this machine's own headers, and the libraries of the root. The version of a kernel is that of
# this machine's headers of the series. The root is ${MRC_CACHE:-~/.cache/mrc}/roots/arm64: packages unpacked, not
# installed, since no program of arm64 runs here. No rights are needed, but to install the cross compiler and QEMU.

set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
root=${MRC_CACHE:-$HOME/.cache/mrc}/roots/arm64
triple=aarch64-linux-gnu
# shellcheck disable=SC2034	# of unpack.sh
arch=arm64 sources=

TOOLS=("gcc-$triple" "g++-$triple" qemu-system-arm)
PACKAGES=(
	base-files base-passwd bash coreutils dash debianutils diffutils findutils grep gzip hostname libc-bin login mawk
	mount ncurses-base procps psmisc sed tar util-linux busybox-static kmod
	iproute2 iputils-ping ethtool jq netcat-openbsd nftables python3 socat tcpdump
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest python3-pyverbs qperf
	# what is linked with
	libibverbs-dev librdmacm-dev libnl-3-dev libnl-genl-3-dev libnl-route-3-dev libbpf-dev libfmt-dev
	libtomlplusplus-dev
)

die() { pkg_die "$@"; }

# shellcheck source=selftests/vm/unpack.sh
. "$here/unpack.sh"

tools() {
	local tool sudo=()
	# shellcheck disable=SC2016
	for tool in "${TOOLS[@]}"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$tool" 2>/dev/null)" != installed ] || continue
		[ "$(id -u)" -eq 0 ] || sudo=(sudo)
		"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y \
			--no-install-recommends "${TOOLS[@]}" >/dev/null
		return
	done
}

# The cross compiler has its own C library: this one names files below /.
base() {
	pkg_root "${PACKAGES[@]}"
	rm -f "$root/usr/lib/$triple"/libc.{so,a}
}

# release NAME: of 6.12-arm64-16k what uname -r would say, as this machine's headers of 6.12 have it.
release() {
	local series=${1%%-*} mine
	mine=$("$here/kernels.sh" --kdir "$series") || return 1
	mine=${mine##*/linux-headers-}
	echo "${mine%-amd64}-${1#*-}"
}

version() {
	local mine=${1%-arm64*}-amd64
	# shellcheck disable=SC2016
	dpkg-query -W -f '${Version}' "linux-headers-$mine"
}

kdir() {
	local release
	case $1 in *-arm64|*-arm64-16k) ;; *) return 1;; esac
	release=$(release "$1") && [ -e "$root/usr/src/linux-headers-$release/Module.symvers" ] || return 1
	echo "$root/usr/src/linux-headers-$release"
}

# The headers' scripts are this machine's: linux-kbuild is one package for all architectures.
get() {
	local name release kbuild
	mkdir -p "${root%/*}"
	exec 9>"$root.lock"
	flock 9
	tools
	base
	for name; do
		! kdir "$name" >/dev/null || continue
		release=$(release "$name") || die "no headers of ${name%%-*} on this machine: make deps"
		echo "arm64: headers of $release" >&2
		pkg_update
		pkg_unpack "$root" "linux-headers-$release=$(version "$release")"
		kbuild=linux-kbuild-${release%-arm64*}
		[ -d "/usr/lib/$kbuild" ] || die "no /usr/lib/$kbuild here"
		ln -sfn "/usr/lib/$kbuild" "$root/usr/lib/$kbuild"
	done
}

image() {
	local release
	release=$(release "$1") || die "no headers of $1: arm64.sh get $1"
	pkg_unpack "$2" "linux-image-$release=$(version "$release")"
}

# User space, in a copy of the tree that the machine has in this one's place.
tree() {
	local copy=$top/build/arm64
	mkdir -p "$copy/build"
	rsync -rlpc --delete --exclude=/build --exclude=/out --exclude=/.git "$top/" "$copy/"
	rsync -a --prune-empty-dirs --include='/*-arm64*/' --include='/*-arm64*/*.ko' --exclude='*' "$top/build/" "$copy/build/"
	# Clang, for BPF, looks for no headers of another architecture.
	C_INCLUDE_PATH=/usr/$triple/include "${MAKE:-make}" -C "$copy" CC=$triple-gcc CXX=$triple-g++ NM=$triple-nm \
		LIBIBVERBS="$root/usr/lib/$triple/libibverbs.so.1" \
		LDFLAGS="-L$root/usr/lib/$triple -Wl,-rpath-link,$root/usr/lib/$triple" user-space
}

main() {
	local verb=${1:-}
	[ $# -lt 1 ] || shift
	case $verb in
	get) get "$@";;
	tree) tree;;
	image) image "$@";;
	--root) echo "$root";;
	--kdir) kdir "$1";;
	--owns) [ "${1#"$root"/}" != "$1" ];;
	--version) version "$1";;
	*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2;;
	esac
}

main "$@"
