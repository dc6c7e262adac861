#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# abi.sh - what programs that were compiled against libmrc rely on: symbols with their versions, and
# the types that they reach, as libmrc.abi has them.
#
#   abi.sh dump LIBRARY         prints that of a library with debug information
#   abi.sh check LIBRARY [ABI]  has it changed? Says what, by abidiff; 4 and more if so
#
# A change that is meant: abi.sh dump build/lib/libmrc.so >selftests/libmrc/libmrc.abi, and the change
# log says why. What is taken away or moved needs another soname.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

# Nothing of where it was built or what it was linked with.
dump() {
	abidw --headers-dir "$here/../../tools/lib/mrc/include" --drop-private-types \
		--exported-interfaces-only --suppressions "$here/abi.suppr" --drop-undefined-syms \
		--no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
		--no-parameter-names --type-id-style hash "$1"
	echo '<!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->' # abidiff wants the corpus first
}

# Two dumps: of a library abidiff would not know which types are its own.
check() {
	local now rc=0
	now=$(mktemp --suffix=.abi)
	dump "$1" >"$now"
	abidiff "${2:-$here/libmrc.abi}" "$now" || rc=$?
	rm -f "$now"
	return $rc
}

case ${1:-} in
dump) dump "$2";;
check) check "$2" "${3:-}";;
*) sed -n 's/^# \{0,1\}//; 4,13p' "$0" >&2; exit 2;;
esac
