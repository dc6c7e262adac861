#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# coverage.sh [--missing] - how much of kernel/engine the user-space tests reach.
#
# Unit tests, the corpora of the fuzz targets and SEEDS (1..300) of the simulator run
# on an engine compiled by clang with source-based coverage; count.py adds up.
# Fails under 95 % of lines or 90 % of branches. --missing also lists what no test reaches.
set -euo pipefail
cd "$(dirname "$0")"

: "${SEEDS:=1..300}"
engine=$(realpath "${ENGINE:-../../kernel/engine}")
out=$(realpath -m "${OUT:-../../build/coverage}")
instrument="-fprofile-instr-generate -fcoverage-mapping"
jobs=-j$(nproc)

# quietly LOG COMMAND...: its output only if it fails.
quietly()
{
	local log=$out/$1.log
	shift
	"$@" >"$log" 2>&1 && return
	tail -n 20 "$log" | cut -c 1-200 >&2
	echo "coverage: failed: $* (whole output: $log)" >&2
	return 1
}

# Engine objects with counters, everything else without a map of its own.
make_in()	# folder make-arguments...
{
	local dir=$1
	shift
	CFLAGS="$instrument" CXXFLAGS="-fprofile-instr-generate" \
		make -s -C "$dir" "$jobs" ENGINE="$engine" "$@"
}

# A program that fails ends it all, unless KEEP_GOING=1.
run()	# log program args...
{
	local log=$1
	shift
	# Not for ever, and no log that fills the disk.
	(ulimit -f 20000; LLVM_PROFILE_FILE="$out/raw/%m-%p.profraw" quietly "$log" timeout 900 "$@") ||
		[ -n "${KEEP_GOING:-}" ]
}

unit_tests()
{
	local t
	quietly build-units make_in ../engine T=clang OUT="$out/units" SAN=
	for t in "$out"/units/clang/test_*; do
		[ ! -x "$t" ] || run "${t##*/}" "$t"
	done
}

corpora()
{
	local t
	quietly build-fuzz make_in ../fuzz OUT="$out/fuzz" REPLAY=1
	for t in "$out"/fuzz/fuzz_*; do
		[ ! -x "$t" ] || run "${t##*/}" "$t" ../fuzz/corpus/"${t##*/fuzz_}"/*
	done
}

simulations()
{
	quietly build-sim make_in ../../tools/sim T=clang B="$out/sim" "$out/sim/mrcsim"
	run sim "$out/sim/mrcsim" --seeds "$SEEDS"
}

# One file with every engine object, so that what nothing calls counts too.
everything()
{
	local o objs=()
	# shellcheck disable=SC2016 # $(...) is for make
	for o in $(printf 'include %s/files.mk\nall:;@echo $(MRC_ENGINE_OBJS:.o=)\n' "$engine" | make -s -f -); do
		objs+=("$engine/$o.c")
	done
	# shellcheck disable=SC2086 # several flags
	quietly build-all clang -std=gnu11 -g -O1 -fPIC -shared $instrument "-I$engine" \
		-o "$out/engine.so" "${objs[@]}"
}

rm -rf "$out/raw"
mkdir -p "$out/raw"
everything
unit_tests
corpora
simulations
quietly merge llvm-profdata merge -sparse "$out"/raw/*.profraw -o "$out/all.profdata"
for format in text lcov; do
	llvm-cov export "$out/engine.so" "-instr-profile=$out/all.profdata" "-format=$format" >"$out/all.$format"
done
exec ./count.py "$@" "$engine" "$out/all.text" "$out/all.lcov"
