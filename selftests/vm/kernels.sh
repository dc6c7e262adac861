#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernels.sh - stock Debian kernels for the virtual machine.
#
#   kernels.sh [SERIES]...      fill the cache (6.1 and 6.12, when none is named)
#   kernels.sh --kdir 6.1       print the build directory of the headers: installed, or in a root of suite.sh or arm64.sh
#   kernels.sh --dir 6.1        print the cache folder
#   kernels.sh --advise         how to build for the kernel that runs here, on stderr
#
# Each cache folder, ${MRC_CACHE:-~/.cache/mrc}/kernels/<name>, holds
#   version         kernel release, as uname -r prints it
#   package         package version; image and headers must be the same one,
#                   or modules are built for another kernel than the one booted
#   vmlinux         uncompressed: decompressing under emulation takes seconds
#   lib/modules/    likewise uncompressed, without what no test can need
# Nothing is installed, and nothing is done when the cache matches the headers. A series that this
# Debian has no headers of comes from a newer one (suite.sh), 6.12-arm64 and 6.12-arm64-16k from arm64.sh.

set -euo pipefail

cache=${MRC_CACHE:-$HOME/.cache/mrc}/kernels
here=$(dirname "$(readlink -f "$0")")
elsewhere=("$here/suite.sh" "$here/arm64.sh")

die() { echo "kernels: $*" >&2; exit 1; }

# Newest installed headers of a series. "6.1" must not match 6.12, nor the
# cloud and rt flavours.
kdir() {
	local dir other
	dir=$(find /usr/src -maxdepth 1 -name "linux-headers-$1*-amd64" |
		grep -E "/linux-headers-${1/./\\.}[.-][0-9.]+(-[0-9]+|\+deb[0-9]+)*(\+bpo)?-amd64$" |
		sort -V | tail -n 1) || true
	for other in "${elsewhere[@]}"; do
		[ -n "$dir" ] || dir=$("$other" --kdir "$1") || true
	done
	[ -n "$dir" ] || return 1
	echo "$dir"
}

# owner HEADERS: of these the script that has them, nothing when they are installed here.
owner() {
	local other
	for other in "${elsewhere[@]}"; do
		! "$other" --owns "$1" || echo "$other"
	done
}

# Our decompression of a bzImage: the payload starts at the magic of its format;
# what follows it is not of the format, hence the tolerated complaint.
extract_vmlinux() {
	local image=$1 out=$2 magic tool offset

	# An Image of arm64 is not compressed.
	if [ "$(dd if="$image" bs=1 skip=56 count=4 status=none)" = "ARMd" ]; then
		cp "$image" "$out"
		return
	fi
	while read -r magic tool; do
		offset=$(LC_ALL=C grep -obUaP -m 1 "$magic" "$image" | head -n 1 | cut -d : -f 1) || true
		[ -n "$offset" ] || continue
		tail -c +$((offset + 1)) "$image" | $tool >"$out" 2>/dev/null || true
		[ "$(head -c 4 "$out" | tail -c 3)" != ELF ] || return 0
	done <<-'FORMATS'
		\x28\xb5\x2f\xfd	zstd -dcq
		\xfd7zXZ\x00	xz -dcq --single-stream
		\x1f\x8b\x08	gzip -dcq
		\x02\x21\x4c\x18	lz4 -dcq
	FORMATS
	return 1
}

# Leaves a tree with boot/ and lib/modules/ of the image package in $1: the
# installed package where there is one (6.12 headers pull it in), else its .deb.
fetch() {
	local tree=$1 release=$2 version=$3 image=linux-image-$2 have

	# shellcheck disable=SC2016
	have=$(dpkg-query -W -f '${Version}' "$image" 2>/dev/null || true)
	if [ "$have" = "$version" ] && [ -r "/boot/vmlinuz-$release" ]; then
		mkdir -p "$tree/boot" "$tree/lib/modules"
		cp "/boot/vmlinuz-$release" "$tree/boot/"
		cp -a "/lib/modules/$release" "$tree/lib/modules/"
		return
	fi
	(
		cd "$tree"
		# World-readable for apt's download user, or it warns.
		chmod 755 .
		if ! apt-get -qq download "$image=$version" 2>apt.log; then
			cat apt.log >&2
			exit 1
		fi
		dpkg-deb -x ./*.deb .
		rm -f ./*.deb apt.log
	) || die "cannot download $image=$version (headers out of date? run: make deps)"
}

# Where modules and kernel lie differs by age: all as they lay first.
unify() {
	local tree=$1 release=$2
	mkdir -p "$tree/lib" "$tree/boot"
	[ -d "$tree/lib/modules" ] || mv "$tree/usr/lib/modules" "$tree/lib/"
	[ -e "$tree/boot/vmlinuz-$release" ] || mv "$tree/lib/modules/$release/vmlinuz" "$tree/boot/vmlinuz-$release"
}

# ready FOLDER VERSION: it has all of that package.
ready() { [ "$(cat "$1/package" 2>/dev/null)" = "$2" ] && [ -s "$1/vmlinux" ]; }

build() {
	local name=$1 dir=$cache/$1 headers release version tree owner

	headers=$(kdir "$name") || die "no headers for $name: make deps; for a series of a newer Debian" \
		"selftests/vm/suite.sh get $name, for arm64 selftests/vm/arm64.sh get $name"
	release=${headers##*/linux-headers-}
	owner=$(owner "$headers")
	if [ -n "$owner" ]; then
		version=$("$owner" --version "$release")
	else
		# shellcheck disable=SC2016
		version=$(dpkg-query -W -f '${Version}' "linux-headers-$release")
	fi
	! ready "$dir" "$version" || return 0
	# Who comes second would put its own in place of what a machine of the first runs from.
	mkdir -p "$cache"
	exec 9>"$cache/.$name.lock"
	flock 9
	! ready "$dir" "$version" || return 0

	echo "kernels: preparing $release ($version)" >&2
	tree=$(mktemp -d "$cache/.$name.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tree'" EXIT
	if [ -n "$owner" ]; then
		"$owner" image "$name" "$tree"
	else
		fetch "$tree" "$release" "$version"
	fi
	unify "$tree" "$release"

	extract_vmlinux "$tree/boot/vmlinuz-$release" "$tree/vmlinux" ||
		die "cannot extract vmlinux of $release"
	(
		cd "$tree/lib/modules/$release"
		rm -rf build source kernel/sound
		(cd kernel/drivers && rm -rf gpu media staging iio input hid usb mmc \
			leds mfd accessibility bluetooth isdn firewire video)
		(cd kernel/drivers/net && rm -rf wireless usb can ethernet)
		find . -name '*.ko.xz' -print0 | xargs -0r xz -d
	)
	# The list of the package names what was just removed: harmless.
	/sbin/depmod -b "$tree" "$release" 2>/dev/null
	rm -rf "${tree:?}"/{boot,usr,etc}
	echo "$release" >"$tree/version"
	echo "$version" >"$tree/package"
	chmod 755 "$tree"
	rm -rf "$dir"
	mv "$tree" "$dir"
	trap - EXIT
}

# "make install" made no module for the kernel that runs.
advise() {
	local release series
	release=$(uname -r)
	series=$(cut -d . -f 1,2 <<<"$release")
	cat >&2 <<-END
		No module was made for $release, which runs here. With its headers (linux-headers-$release):
		    make install KVERS=$series KDIR_$series=/lib/modules/$release/build
	END
}

main() {
	local name

	case ${1:-} in
	--kdir) kdir "$2"; return;;
	--dir) echo "$cache/$2"; return;;
	--advise) advise; return;;
	esac
	[ $# -gt 0 ] || set -- 6.1 6.12
	for name in "$@"; do
		case ${name%-arm64*} in
		*[!0-9.]*|''|.*|*.|*.*.*) die "no such kernel: $name; a series, such as 6.12";;
		*.*) build "$name";;
		*) die "no such kernel: $name; a series, such as 6.12";;
		esac
	done
}

main "$@"
