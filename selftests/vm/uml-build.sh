#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# uml-build.sh - a User-Mode Linux with every checker on, and our module for it.
#
#   uml-build.sh           build the kernel if it is not cached, then the module
#   uml-build.sh kernel    only the kernel: 11 minutes of processor time, once
#   uml-build.sh module    only the module, into build/uml/mrc.ko: seconds
#   uml-build.sh --kdir    print the build tree of the cached kernel
#
# The kernel is Debian's linux-source-6.12 with uml.config, under
# ${MRC_CACHE:-~/.cache/mrc}/uml:
#   source/     unpacked sources, with uml-xstate.patch
#   build/      build tree; build/linux is the kernel, an ordinary program
#   root/       lib/modules
#   stamp       what it was made of: package version and uml.config
# It is built at low priority, with MRC_UML_JOBS jobs (number of processors).
#
# With MRC_UML=plain all of that is of another kernel, without the checkers and with
# what a debugger wants (uml-plain.config), for measuring: 7 minutes, in uml-plain and
# build/uml-plain. The sources are shared.
#
# Exit status: 0; 4 (skip) when it cannot be built here, which is said loudly.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
flavour=${MRC_UML:-debug}
sources=${MRC_CACHE:-$HOME/.cache/mrc}/uml
case $flavour in
debug) name=uml what='searched for memory errors, lock order and leaks';;
plain) name=uml-plain what='measured in virtual time';;
*) echo "uml-build: MRC_UML is debug or plain, not $flavour" >&2; exit 2;;
esac
cache=${MRC_CACHE:-$HOME/.cache/mrc}/$name
package=linux-source-6.12
jobs=${MRC_UML_JOBS:-$(nproc)}

skip() {
	cat >&2 <<-TEXT
		*** SKIPPED: no User-Mode Linux kernel ($flavour), so the module is NOT being
		*** $what.
		*** Why: $*
	TEXT
	exit 4
}

um() { make -C "$sources/source" ARCH=um O="$cache/build" "$@"; }

# The options, one file for both: the plain kernel's are the base of the other one's
# and a few of its own.
options() {
	if [ "$flavour" = debug ]; then
		cat "$here/uml.config"
	else
		sed '/^# what searches/,$d; /^CONFIG_LOCALVERSION=/d' "$here/uml.config"
		cat "$here/uml-plain.config"
	fi
}

# What the kernel is made of, for the stamp.
recipe() { { options; cat "$here/uml-xstate.patch"; } | cksum; }

version() { apt-cache policy "$package" 2>/dev/null | sed -n 's/^  Candidate: //p'; }

# Made of this configuration. A newer source package is no reason to build anew.
current() {
	[ -x "$cache/build/linux" ] && [ -s "$cache/stamp" ] &&
		[ "$(tail -n 1 "$cache/stamp")" = "$(recipe)" ]
}

need_tools() {
	local tool lacking=''
	for tool in gcc make flex bison bc perl xz kmod patch; do
		command -v $tool >/dev/null || lacking+=" $tool"
	done
	[ -z "$lacking" ] || {
		echo "uml-build: installing$lacking" >&2
		# shellcheck disable=SC2086
		apt-get -qq install -y --no-install-recommends $lacking >/dev/null 2>&1 ||
			skip "cannot install:$lacking"
	}
}

unpack() {
	local work
	exec 8>"$sources/source.lock"
	flock 8		# the other kernel may be unpacking them
	[ ! -e "$sources/source/.mrc" ] || return 0
	work=$(mktemp -d "$sources/.source.XXXXXX")
	chmod 755 "$work"
	(cd "$work" && apt-get -qq download "$package" 2>/dev/null) || {
		rm -rf "$work"
		skip "cannot download $package"
	}
	dpkg-deb -x "$work"/*.deb "$work/deb"
	tar -C "$work" -xf "$work"/deb/usr/src/$package.tar.*
	patch -d "$work/$package" -p1 -s <"$here/uml-xstate.patch" ||
		skip "uml-xstate.patch does not apply"
	touch "$work/$package/.mrc"
	rm -rf "$sources/source"
	mv "$work/$package" "$sources/source"
	rm -rf "$work"
}

configure() {
	local missed
	mkdir -p "$cache/build"
	options >"$cache/config"
	um KCONFIG_ALLCONFIG="$cache/config" allnoconfig >"$cache/log" 2>&1 ||
		skip "make allnoconfig failed, see $cache/log"
	missed=$(grep '^CONFIG_' "$cache/config" | grep -vxFf "$cache/build/.config" || true)
	[ -z "$missed" ] || skip "the kernel does not know or not want: ${missed//$'\n'/ }"
}

build_kernel() {
	local free
	current && return
	[ "$(uname -m)" = x86_64 ] || skip "only on x86_64"
	mkdir -p "$cache" "$sources"
	exec 9>"$cache/lock"
	flock 9		# another one may be building it
	current && return
	need_tools
	free=$(df --output=avail -BG "$cache" | tail -n 1 | tr -dc 0-9)
	[ "$free" -ge 4 ] || skip "needs 4 GB in $cache, there are $free"
	unpack
	rm -f "$cache/stamp"
	configure
	echo "uml-build: building a kernel in $cache, which takes a while (once)" >&2
	um -j"$jobs" >>"$cache/log" 2>&1 || {
		tail -n 20 "$cache/log" >&2
		skip "the build failed, see $cache/log"
	}
	rm -rf "$cache/root"
	um INSTALL_MOD_PATH="$cache/root" modules_install >>"$cache/log" 2>&1 ||
		skip "modules_install failed, see $cache/log"
	{ version; recipe; } >"$cache/stamp"
	exec 9>&-
}

# build_in FOLDER KO
build_in() {
	make -C "$dir/$1" KDIR="$cache/build" ARCH=um -j"$jobs" >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		exit 1
	}
	grep -E 'warning:' "$dir/log" >&2 || true
	cp "$dir/$1/$2" "$dir/$2"
}

# And the tests' user of it, and their switch port.
build_module() {
	local dir=$top/build/$name
	current || skip "there is no kernel in $cache: MRC_UML=$flavour selftests/vm/uml-build.sh kernel"
	mkdir -p "$dir"
	# Built anew when the kernel was.
	cmp -s "$cache/stamp" "$dir/stamp" || rm -rf "$dir/kernel" "$dir/kuser" "$dir/qdisc" "$dir/exporter"
	rsync -rlpc --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod' --exclude='*.mod.c' \
		--exclude='.*' --exclude='mrc_have.h*' --exclude=Module.symvers \
		--exclude=modules.order "$top/kernel" "$top/uapi" "$top/selftests/kuser" "$top/selftests/qdisc" \
		"$top/selftests/exporter" "$dir/"
	build_in kernel mrc.ko
	build_in kuser mrc_kuser.ko
	build_in qdisc mrc_port_qdisc.ko
	build_in exporter mrc_exporter.ko
	cp "$cache/stamp" "$dir/stamp"
}

case ${1:-all} in
--kdir) current || skip "not built"; echo "$cache/build";;
kernel) build_kernel;;
module) build_module;;
all) build_kernel; build_module;;
*) sed -n '3,/^set /{/^# \{0,1\}/!d; s/^# \{0,1\}//; p}' "$0" >&2; exit 2;;
esac
