#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh KDIR LOG COMMAND... - builds the module; errors on a kernel that was never tested become
# one line.
#
# compat/tested lists the tested kernel series. For these all errors of the compiler are shown. For
# a newer one only its first error is shown, and LOG has the rest. An error of probe.sh is shown as
# it is.
set -euo pipefail

kdir=$1 log=$2
shift 2
here=$(dirname "$0")
series=$(cut -d . -f 1,2 "$kdir/include/config/kernel.release")
newest=$(sort -V "$here/tested" | tail -n 1)
[ "$(printf '%s\n' "$series" "$newest" | sort -V | tail -n 1)" != "$newest" ] || exec "$@"

mkdir -p "$(dirname "$log")"
if "$@" 2>"$log"; then
	cat "$log" >&2
	exit
fi
if ! grep -o 'Linux .* is not supported yet: .*)' "$log" >&2; then
	echo "Linux $series is not supported yet: $(grep -m 1 'error: ' "$log") ($log)" >&2
fi
exit 1
