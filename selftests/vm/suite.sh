#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# suite.sh - kernels of a newer Debian than this one, with the compiler that they want.
#
#   suite.sh get 7.3 ...        headers of the newest kernel of each series, in a root file system of its own
#   suite.sh --kdir 7.3         print the build directory of these headers; nothing when there is none
#   suite.sh make KDIR ARG...   as "make ARG...", in that root file system, against the headers in KDIR
#   suite.sh --owns KDIR        is it one of ours?
#   suite.sh --version RELEASE  the version of the package that its headers are of
#   suite.sh image 7.3 DIR      unpack the kernel and its modules to DIR, the version of the headers
#   suite.sh add PACKAGE ...    install packages there, for tests that run programs of that Debian
#   suite.sh --root             print where it is
#
# The root is ${MRC_CACHE:-~/.cache/mrc}/roots/trixie: Debian 13 with its backports, by debootstrap, about 800 MB with
# two kernels. Headers of Linux 7 want gcc 14, which Debian 12 has not. Needs root or sudo.

set -euo pipefail

suite=trixie
mirror=http://deb.debian.org/debian
root=${MRC_CACHE:-$HOME/.cache/mrc}/roots/$suite

die() { echo "suite: $*" >&2; exit 1; }

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# inside COMMAND...: in the root, which has this project at its own place; what is mounted for that ends with it.
inside() {
	local top
	top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
	# shellcheck disable=SC2016
	as_root unshare -m sh -euc '
		root=$1 top=$2; shift 2
		mkdir -p "$root$top"
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		mount --bind "$top" "$root$top"
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive MAKEFLAGS="${MAKEFLAGS:-}" "$@"' sh "$root" "$top" "$@"
}

apt() { inside apt-get -qq -o DPkg::Use-Pty=0 "$@"; }

# The root, whole: debootstrap may have been interrupted.
base() {
	[ ! -e "$root/.complete" ] || return 0
	command -v debootstrap >/dev/null || as_root apt-get -qq install -y --no-install-recommends debootstrap >/dev/null
	as_root rm -rf "$root"
	mkdir -p "$root"
	echo "suite: making $root" >&2
	as_root debootstrap --variant=minbase --include=make,gcc-14,libelf1t64,ca-certificates \
		"$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; die "debootstrap failed: $root.log"; }
	echo "deb $mirror $suite-backports main" | as_root tee "$root/etc/apt/sources.list.d/backports.list" >/dev/null
	as_root cp /etc/resolv.conf "$root/etc/resolv.conf"
	apt update
	as_root touch "$root/.complete"
}

# newest SERIES: of the headers that apt offers there, the kernel's release.
newest() {
	inside apt-cache search --names-only "^linux-headers-$1[.][0-9.]+[+]deb[0-9]+-amd64\$" |
		sed 's/^linux-headers-//; s/ .*//' | sort -V | tail -n 1
}

kdir() {
	find "$root/usr/src" -maxdepth 1 -name "linux-headers-$1.*-amd64" 2>/dev/null | grep -v cloud | sort -V | tail -n 1
}

get() {
	local series release
	mkdir -p "${root%/*}"
	exec 9>"$root.lock"
	flock 9
	base
	for series; do
		[ -z "$(kdir "$series")" ] || continue
		release=$(newest "$series")
		[ -n "$release" ] || die "Debian $suite has no kernel $series"
		echo "suite: headers of $release" >&2
		apt install -y --no-install-recommends "linux-headers-$release" >"$root.log" 2>&1 ||
			{ tail -n 5 "$root.log" >&2; die "headers of $release: $root.log"; }
	done
}

# Services of the packages stay off: the root shares this machine's network.
add() {
	mkdir -p "${root%/*}"
	exec 9>"$root.lock"
	flock 9
	base
	# shellcheck disable=SC2016
	[ "$(inside dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | grep -cx installed)" -ne $# ] || return 0
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$root/usr/sbin/policy-rc.d" >/dev/null
	as_root chmod 755 "$root/usr/sbin/policy-rc.d"
	apt update
	apt install -y --no-install-recommends "$@" >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; die "$*: $root.log"; }
}

# The image is three packages since Linux 7: of them the kernel, and its modules.
image() {
	local release version package dir=$2
	release=$(kdir "$1")
	release=${release##*/linux-headers-}
	[ -n "$release" ] || die "no headers of $1: suite.sh get $1"
	# shellcheck disable=SC2016
	version=$(inside dpkg-query -W -f '${Version}' "linux-headers-$release")
	apt clean
	for package in "linux-image-$release" "linux-binary-$release" "linux-modules-$release"; do
		inside apt-cache show "$package=$version" >/dev/null 2>&1 || continue
		inside sh -c "cd /var/cache/apt/archives && apt-get -qq download '$package=$version'" 2>/dev/null ||
			die "cannot download $package=$version"
	done
	for package in "$root"/var/cache/apt/archives/linux-*.deb; do
		dpkg-deb -x "$package" "$dir"
	done
	apt clean
}

main() {
	local verb=${1:-}
	[ $# -lt 1 ] || shift
	case $verb in
	get) get "$@";;
	--kdir) kdir "$1";;
	--owns) [ "${1#"$root"/}" != "$1" ];;
	make) inside make "KDIR=${1#"$root"}" "${@:2}";;
	image) image "$@";;
	add) add "$@";;
	--root) echo "$root";;
	--version) inside dpkg-query -W -f '${Version}' "linux-headers-$1";;
	*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2;;
	esac
}

main "$@"
