#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - build mrcd and its tests, run them: the unit tests under sanitizers,
# then mrcd itself with files of any size (size.sh) and in network namespaces of
# this machine (live.sh). TAP.

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# build NAME DIR: "ok" or the compiler's complaint.
build() {
	if make -s -j2 -C "$2" >"$log/make" 2>&1; then
		echo "ok - $1 builds"
	else
		sed 's/^/# /' "$log/make"
		echo "not ok - $1 builds"
	fi
}

# program CMD...: the lines of a test program, and one more if it crashed.
program() {
	local rc=0
	"$@" >"$log/out" 2>"$log/err" || rc=$?
	sed -E '/^(TAP version|1\.\.|# Totals)/d; s/^((not )?ok) [0-9]+ /\1 - /' "$log/out"
	if [ $rc -ne 0 ] && ! grep -q '^not ok' "$log/out" && ! grep -q '^1\.\.0 # SKIP' "$log/out"; then
		sed 's/^/# /' "$log/err"
		echo "not ok - ${1##*/} exits cleanly (status $rc)"
	fi
	sed -nE 's/^1\.\.0 # SKIP (.*)/ok - '"${1##*/}"' # SKIP \1/p' "$log/out"
}

all() {
	build mrcd ../../daemon
	build "unit tests" .
	program ../../build/daemon-test/mrcd_tests
	program ./size.sh
	program ./live.sh
}

echo "TAP version 13"
all | awk '
	/^ok - /     { sub(/^ok - /, "ok " ++n " - ") }
	/^not ok - / { sub(/^not ok - /, "not ok " ++n " - "); bad = 1 }
	{ print; fflush() }
	END { print "1.." n + 0; exit bad }'
