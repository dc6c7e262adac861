#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# distro.sh - a user's Debian: systemd, a kernel and its headers, compilers, nothing of this project.
#
#   distro.sh root SUITE             make it if need be, print where it is; nobody writes there
#   distro.sh debs SUITE DIR [-v V]  make the packages as on that Debian, in DIR
#   distro.sh in ROOT COMMAND...     run COMMAND in a root file system; what is mounted for that ends with it
#
# SUITE is bookworm or trixie. Roots are ${MRC_CACHE:-~/.cache/mrc}/roots/user-SUITE and build-SUITE, by
# debootstrap, 2 GB each; a machine that runs SUITE itself needs no build-SUITE. Compilers in the roots go by
# ccache, also what DKMS builds. Needs root.

set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
roots=${MRC_CACHE:-$HOME/.cache/mrc}/roots
mirror=http://deb.debian.org/debian

USER_HAS=systemd,systemd-sysv,dbus,udev,kmod,iproute2,ca-certificates,gcc,make,dkms,linux-headers-amd64,linux-image-amd64
USER_HAS+=,perftest,ibverbs-utils,rdma-core,iputils-ping,procps,ccache
BUILD_HAS=debhelper,dh-dkms,dpkg-dev,g++,clang,pkg-config,libibverbs-dev,libnl-3-dev,libnl-genl-3-dev,libnl-route-3-dev
BUILD_HAS+=,libbpf-dev,libtomlplusplus-dev,nlohmann-json3-dev,libfmt-dev,libcli11-dev,rsync,git,ccache

die() { echo "distro: $*" >&2; exit 1; }

inside() {
	# shellcheck disable=SC2016
	unshare -m sh -euc '
		root=$1; shift
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		[ -z "$MRC_SOURCE" ] || mount --bind "$MRC_SOURCE" "$root/src"
		exec chroot "$root" env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
			CCACHE_DIR=/var/cache/ccache DEBIAN_KERNEL_USE_CCACHE=1 DEBIAN_FRONTEND=noninteractive "$@"' sh "$@"
}
export MRC_SOURCE=''

# make_root DIR SUITE PACKAGES: whole, or not at all.
make_root() {
	local dir=$1
	[ ! -e "$dir/.complete" ] || return 0
	command -v debootstrap >/dev/null || die "debootstrap is missing"
	echo "distro: making $dir" >&2
	rm -rf "$dir"
	mkdir -p "$dir"
	debootstrap --variant=minbase --include="$3" "$2" "$dir" "$mirror" >"$dir.log" 2>&1 ||
		{ tail -n 5 "$dir.log" >&2; die "debootstrap failed: $dir.log"; }
	cp /etc/resolv.conf "$dir/etc/resolv.conf"
	rm -f "$dir"/var/cache/apt/archives/*.deb
	mkdir -p "$dir/src"
	touch "$dir/.complete"
}

debs() {
	local suite=$1 out=$2 boost=libboost-dev
	shift 2
	if [ "$suite" = "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" ]; then
		"$top/tools/deb.sh" -o "$out" "$@"
		return
	fi
	[ "$suite" != bookworm ] || boost=libboost1.81-dev
	make_root "$roots/build-$suite" "$suite" "$BUILD_HAS,$boost"
	mkdir -p "$out"
	MRC_SOURCE=$top inside "$roots/build-$suite" sh -euc '
		rm -rf /tmp/debs
		git config --global --replace-all safe.directory "*"
		/src/tools/deb.sh -o /tmp/debs "$@"' sh "$@"
	cp "$roots/build-$suite"/tmp/debs/*.deb "$out/"
}

main() {
	local verb=${1:-}
	[ $# -lt 1 ] || shift
	case $verb in
	root)
		make_root "$roots/user-$1" "$1" "$USER_HAS"
		echo "$roots/user-$1"
		;;
	debs) debs "$@";;
	in) inside "$@";;
	*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2;;
	esac
}

main "$@"
