#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh - Debian packages, in build/deb.
#
#   deb.sh [-A] [-q] [-v VERSION] [-o DIR]
#
#   -v VERSION   of module, tools and packages, instead of kernel/version.mk's; for tests of upgrades
#   -o DIR       packages go to DIR
#   -A           only the module's source, mrc-dkms, which needs no compiler
#   -q           quick: with the objects that "make" left here, which lack Debian's flags; for tests of contents
#
# The tree is copied without what git does not know, and tools/debian becomes debian/ there. It does not lie
# at the top, which has a fixed list of folders; a distribution puts a debian/ of its own in place
# anyway. The changelog of the package is made from CHANGELOG.md, so that a version stands in one place.
# Debian 12 and 13: "apt-get build-dep" of the copy says what is missing; so does make deps.

set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
out=$top/build/deb
version=$(sed -n 's/^MRC_VERSION := //p' "$top/kernel/version.mk")

die() { echo "deb: $*" >&2; exit 1; }

# What git knows; of a tree without git, what no build makes.
copy_tree() {
	if git -C "$top" rev-parse >/dev/null 2>&1; then
		git -C "$top" ls-files -z --cached --others --exclude-standard | (cd "$top" && xargs -0 ls -d 2>/dev/null) |
			rsync -a --delete --files-from=- "$top/" "$1/"
	else
		rsync -a --delete --exclude=/build --exclude=/out "$top/" "$1/"
	fi
}

# Objects of this tree, newer than their sources, as if they had been made in the copy.
copy_objects() {
	rsync -a --exclude='*.so*' --exclude=/daemon/mrcd --exclude=/tools/mrcctl "$top"/build/./{daemon,tools,lib} "$1/build/"
}

# The date is the changelog's own, so that the same tree makes the same packages.
changelog() {
	local date
	date=$(git -C "$top" log -1 --format=%cD -- CHANGELOG.md 2>/dev/null || true)
	[ -n "$date" ] || date=$(date -R -r "$top/CHANGELOG.md")
	printf 'mrc (%s) unstable; urgency=medium\n\n  * /usr/share/doc/mrc/CHANGELOG.md.gz says what is new.\n\n' "$version"
	printf ' -- MRC for Linux maintainers <mrc@localhost>  %s\n' "$date"
}

main() {
	local option missing quick='' kind=-b
	while getopts Aqv:o: option; do
		case $option in
		A) kind=-A;;
		q) quick=1;;
		v) version=$OPTARG;;
		o) out=$(mkdir -p "$OPTARG" && cd "$OPTARG" && pwd);;
		*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || die "debhelper is missing: make deps"
	mkdir -p "$out"
	exec 9>"$out/.lock"
	flock 9
	rm -rf "$out/mrc" "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
	mkdir "$out/mrc"
	copy_tree "$out/mrc"
	if [ -n "$quick" ]; then
		copy_objects "$out/mrc"
		export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
	fi
	cd "$out/mrc"
	mv tools/debian debian
	sed -i "s/^MRC_VERSION := .*/MRC_VERSION := $version/" kernel/version.mk
	changelog >debian/changelog
	missing=$(dpkg-checkbuilddeps 2>&1) || die "${missing##*: }: apt-get build-dep $out/mrc"
	dpkg-buildpackage "$kind" -us -uc "-j$(nproc)" >"$out/log" 2>&1 || { tail -n 30 "$out/log" >&2; die "failed: $out/log"; }
	cd "$out"
	rm -rf mrc
	ls ./*.deb
}

main "$@"
