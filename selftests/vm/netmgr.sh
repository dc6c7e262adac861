#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netmgr.sh - NetworkManager and ifupdown for vm-tests/boot.sh, unpacked beside the kernels and not installed: this host's own network
# is none of its business.
#
#	netmgr.sh get	fetch and unpack it, when it is not there
#	netmgr.sh	print its folder; nothing when it is not there

set -euo pipefail

dir=${MRC_CACHE:-$HOME/.cache/mrc}/netmgr
packages=(network-manager ifupdown libnm0 libndp0 libteamdctl0 libmm-glib0 libnewt0.52 libslang2 libbluetooth3 libjansson4
	libcurl3-gnutls libpsl5 libnss3 libnspr4 libpolkit-gobject-1-0 libpolkit-agent-1-0)

get() {
	local work
	[ ! -e "$dir/sbin/ifup" ] || return 0
	work=$(mktemp -d)
	(cd "$work" && apt-get -qq download "${packages[@]}" 2>/dev/null) || { rm -rf "$work"; return 1; }
	mkdir -p "$dir.new"
	for deb in "$work"/*.deb; do
		dpkg -x "$deb" "$dir.new"
	done
	rm -rf "$work" "$dir"
	mv "$dir.new" "$dir"
}

case ${1:-} in
get)	get;;
'')	[ ! -e "$dir/sbin/ifup" ] || echo "$dir";;
*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 1;;
esac
