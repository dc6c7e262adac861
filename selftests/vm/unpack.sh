# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# unpack.sh - a root file system of packages that are unpacked, not installed: for what does not run here, or shall not
# meddle with this machine. No rights are needed.
#
#	root=FOLDER arch=amd64 sources=FILE	sources: of apt, '' for this machine's
#	pkg_update
#	pkg_unpack DIR PACKAGE[=VERSION]...	these alone
#	pkg_root PACKAGE...			$root, with what they depend on; nothing when it is there

pkg_die() { echo "${0##*/}: $*" >&2; exit 1; }

# apt for another architecture or suite, with lists of its own.
pkg_apt() {
	local options=(-o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State::Lists=$root.apt/lists"
		-o Dir::State::status=/dev/null -o "Dir::Cache=$root.apt" -o APT::Sandbox::User=)
	[ -z "$sources" ] || options+=(-o "Dir::Etc::SourceList=$sources" -o Dir::Etc::SourceParts=-)
	mkdir -p "$root.apt/lists/partial" "$root.apt/archives/partial"
	"$@" -qq "${options[@]}"
}

pkg_update() { pkg_apt apt-get update 2>"$root.log" || pkg_die "cannot reach Debian's packages: $(tail -n 1 "$root.log")"; }

# pkg_tar DIR: the packages in $root.apt/archives.
pkg_tar() {
	local deb
	for deb in "$root.apt"/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$1"
		rm -f "$deb"
	done
}

pkg_unpack() {
	local dir=$1
	shift
	(cd "$root.apt/archives" && pkg_apt apt-get download "$@" 2>"$root.log") ||
		pkg_die "cannot fetch $*: $(tail -n 1 "$root.log")"
	pkg_tar "$dir"
}

# pkg_configure DIR: what the packages' scripts would have done, as far as a test needs it.
pkg_configure() {
	local dir=$1
	cp "$dir/usr/share/base-passwd/passwd.master" "$dir/etc/passwd"
	cp "$dir/usr/share/base-passwd/group.master" "$dir/etc/group"
	ln -sf mawk "$dir/usr/bin/awk"
	ln -sf nc.openbsd "$dir/usr/bin/nc"
	mkdir -p "$dir"/{proc,sys,dev,run,tmp,root,work,home}
	chmod 755 "$dir"
}

# What was interrupted is not there.
pkg_root() {
	local dir part sum
	sum=$(printf '%s\n' "$@" | cksum)
	[ "$(cat "$root/.complete" 2>/dev/null)" != "$sum" ] || return 0
	echo "${0##*/}: making $root" >&2
	pkg_update
	rm -f "$root.apt"/archives/*.deb
	pkg_apt apt-get install -y --no-install-recommends --download-only "$@" >"$root.log" 2>&1 ||
		pkg_die "cannot fetch the packages of the root: $(tail -n 1 "$root.log")"
	dir=$(mktemp -d "$root.XXXXXX")
	for part in bin sbin lib lib64; do
		mkdir -p "$dir/usr/$part"
		ln -s "usr/$part" "$dir/$part"
	done
	pkg_tar "$dir"
	pkg_configure "$dir"
	[ ! -d "$root/usr/src" ] || mv "$root/usr/src" "$dir/usr/"
	echo "$sum" >"$dir/.complete"
	rm -rf "$root"
	mv "$dir" "$root"
}
