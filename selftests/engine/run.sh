#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# run.sh [test_name...] - build and run the engine tests.
#
# Prints TAP 13: one line per GoogleTest case and compiler, one per program
# that did not build or did not end well. Without names the gates (purity,
# arrows) run, too. COMPILERS="gcc clang" says by which compilers (default: gcc; with
# MRC_FULL both: ten minutes of a slow machine).
set -euo pipefail
cd "$(dirname "$0")"

[ -z "${MRC_FULL:-}" ] || : "${COMPILERS:=gcc clang}"
: "${COMPILERS:=gcc}"
out=../../build/engine
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

make_args=()
[ $# -gt 0 ] && make_args+=("TESTS=$*")

run_one()	# compiler test
{
	local bin=$out/$1/$2 rc=0 log=$out/$1/$2.log

	if [ -z "$made" ] && ! make -s "T=$1" "${make_args[@]}" "$bin" >"$log" 2>&1; then
		sed 's/^/# /' "$log"
		echo "not ok - $2 builds [$1]"
		return
	fi
	"$bin" >"$log" 2>"$log.err" || rc=$?
	sed -E "s/^((not )?ok - [^#]*[^# ])/\1 [$1]/" "$log"
	# 1: some test said "not ok" itself; anything else is a crash.
	if [ $rc -gt 1 ] || { [ $rc -eq 1 ] && ! grep -q '^not ok' "$log"; }; then
		sed 's/^/# /' "$log.err"
		echo "not ok - $2 exits cleanly (status $rc) [$1]"
	fi
}

run_all()
{
	local cc t made

	for cc in $COMPILERS; do
		# Compile in parallel first; run_one reports what failed.
		made=1
		make -s -k "-j$(nproc)" "T=$cc" "${make_args[@]}" >/dev/null 2>&1 || made=''
		for t in $(make -s "T=$cc" "${make_args[@]}" list); do
			run_one "$cc" "$t"
		done
	done
	if [ ${#make_args[@]} -eq 0 ]; then
		./test_purity.sh || true
		./test_arrows.py || true
	fi
}

echo "TAP version 13"
run_all | awk '
	/^ok - /     { sub(/^ok - /, "ok " ++n " - ") }
	/^not ok - / { sub(/^not ok - /, "not ok " ++n " - ") }
	{ print; fflush() }
	END { print "1.." n + 0 }' | tee "$lines"
! grep -q '^not ok' "$lines" && ! grep -qx '1\.\.0' "$lines"
