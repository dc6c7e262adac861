#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# promtool.sh - Prometheus' promtool for host/monitoring.sh, unpacked and not installed: no server is started on this host.
#
#	promtool.sh get	fetch and unpack it, when it is not there
#	promtool.sh	print its path; nothing when it is not there

set -euo pipefail

tool=${MRC_CACHE:-$HOME/.cache/mrc}/promtool

get() {
	local work
	[ ! -x "$tool" ] || return 0
	work=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	(cd "$work" && apt-get -qq download prometheus 2>/dev/null) || return 1
	dpkg --fsys-tarfile "$work"/prometheus_*.deb | tar -xO ./usr/bin/promtool >"$work/promtool"
	chmod +x "$work/promtool"
	mkdir -p "${tool%/*}"
	mv "$work/promtool" "$tool"
}

case ${1:-} in
get)	get;;
'')	[ ! -x "$tool" ] || echo "$tool";;
*)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 1;;
esac
