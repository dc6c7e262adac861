#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [target...] - replay the committed corpora, then fuzz: without targets what packets and fabric files reach first,
# with MRC_FULL all.
#
# Prints TAP 13: per target one line for the replay and one for the fuzzing.
# FUZZ_SECONDS (default 10, with MRC_FULL 40; 0: replay only) is the time for wire, rx and tx, the others
# take a fifth of it; one on each processor. FUZZ_SEED (default 1, so that what make check
# finds it finds again; 0: another one each time) begins the mutations. New inputs go to
# build/fuzz/found ("make merge" takes the best of them into the corpus). What fails is
# printed as the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")"

[ -z "${MRC_FULL:-}" ] || : "${FUZZ_SECONDS:=40}"
: "${FUZZ_SECONDS:=10}" "${FUZZ_SEED:=1}"
out=$(realpath -m ../../build/fuzz)
n=0
bad=0

report()	# status name [log]
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
		return
	fi
	bad=1
	[ -z "${3:-}" ] || explain "$3"
	echo "not ok $n - $2"
}

# Why it failed, and how to see it again: TRACE=1 before it tells the story.
explain()
{
	local input

	grep -E '^[a-z_]+\.(h|cc):|^too much|assertion failed|runtime error|ERROR: |^ +#[0-9]+ .* in mrc_' "$1" |
		head -n 20 | sed 's/^/# /' || true
	input=$(sed -n 's/.*Test unit written to //p' "$1" | tail -n 1)
	if [ -n "$input" ]; then
		echo "# repeat: base64 -d <<<'$(base64 -w 0 "$input")' >$input && TRACE=1 $(head -n 1 "$1") $input"
	else
		echo "# log: $1"
	fi
}

# A target's own libFuzzer run: log's first line is the program.
libfuzzer()	# target log args...
{
	local bin=$out/fuzz_$1 log=$2
	shift 2
	echo "$bin" >"$log"
	nice "$bin" -timeout=120 -rss_limit_mb=1024 "-artifact_prefix=$out/crash-" "$@" >>"$log" 2>&1
}

replay()
{
	local rc=0

	libfuzzer "$1" "$out/$1.replay" -runs=0 "corpus/$1" || rc=$?
	report $rc "fuzz $1: $(find "corpus/$1" -type f | wc -l) inputs of the corpus" "$out/$1.replay"
}

seconds_of()	# target
{
	case $1 in
	wire | rx | tx) echo "$FUZZ_SECONDS";;
	*) echo $(((FUZZ_SECONDS + 4) / 5));;
	esac
}

# fuzz TARGET: in the background; its status to TARGET.status.
fuzz()
{
	local t=$1 dict=()

	[ ! -e "$t.dict" ] || dict=("-dict=$t.dict")
	mkdir -p "$out/found/$t"
	rm -f "$out/$t.status"
	{
		local rc=0
		libfuzzer "$t" "$out/$t.log" "-max_total_time=$(seconds_of "$t")" "-seed=$FUZZ_SEED" -max_len=600 \
			"${dict[@]}" "$out/found/$t" "corpus/$t" || rc=$?
		echo $rc >"$out/$t.status"
	} &
}

fuzzed()	# target
{
	report "$(cat "$out/$1.status" 2>/dev/null || echo 1)" "fuzz $1: $(seconds_of "$1") s ($(
		sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$out/$1.log") inputs)" "$out/$1.log"
}

targets=("$@")
[ $# -gt 0 ] || targets=(wire tx rx prober fabric)
# The long ones first: the short ones then fill what is left.
[ $# -gt 0 ] || [ -z "${MRC_FULL:-}" ] || mapfile -t targets < <(make -s list | tr ' ' '\n' | sed 's/^fuzz_//' |
	while read -r t; do echo "$(seconds_of "$t") $t"; done | sort -rn | cut -d ' ' -f 2)

echo "TAP version 13"
rc=0
mkdir -p "$out"
make -s "-j$(nproc)" "${targets[@]/#/../../build/fuzz/fuzz_}" >"$out/build.log" 2>&1 || rc=$?
[ $rc -eq 0 ] || sed 's/^/# /' "$out/build.log"
report $rc "fuzz targets build"
if [ $rc -eq 0 ]; then
	for t in "${targets[@]}"; do
		replay "$t"
	done
	[ "$FUZZ_SECONDS" -gt 0 ] || targets=()
	running=0
	for t in "${targets[@]}"; do
		[ $running -lt "$(nproc)" ] || { wait -n; running=$((running - 1)); }
		fuzz "$t"
		running=$((running + 1))
	done
	wait
	for t in "${targets[@]}"; do
		fuzzed "$t"
	done
fi
echo "1..$n"
exit $bad
