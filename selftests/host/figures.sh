#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 300
#
# mrcsim reproduce and mrcsim sweep: a small figure, the same bytes whatever runs the jobs, and the page of figures.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
sim=$MRC_TOP/build/sim/gcc/mrcsim
scripts=$MRC_TOP/tools/sim/reproduce

small() {
	"$sim" reproduce "$here/../sim/small.toml" --out "$tmp/small" --work "$tmp/small/runs" &&
		[ "$(wc -l <"$tmp/small/small.csv")" -eq 10 ] && ! grep '^ours.*nan' "$tmp/small/small.csv"
}

# Drawn from the CSV alone, the picture is the same.
drawn() {
	cp "$tmp/small/small.svg" "$tmp/small/first.svg" &&
		"$sim" reproduce "$here/../sim/small.toml" --out "$tmp/small" --draw &&
		cmp "$tmp/small/first.svg" "$tmp/small/small.svg"
}

# swept WORKERS
swept() {
	"$sim" sweep "$here/../sim/sweep.toml" --out "$tmp/by-$1" --run -j "$1"
}

# The printed lines, the last first, and one of them twice.
by_hand() {
	"$sim" sweep "$here/../sim/sweep.toml" --out "$tmp/by-hand" >"$tmp/jobs" &&
		[ "$(wc -l <"$tmp/jobs")" -eq 8 ] && { tac "$tmp/jobs" && head -n 1 "$tmp/jobs"; } | sh &&
		"$sim" sweep "$here/../sim/sweep.toml" --out "$tmp/by-hand" --merge && cmp "$tmp"/by-{1,hand}/result.csv
}

# As a task of an array job: the line of its number.
array() {
	"$sim" sweep "$here/../sim/sweep.toml" --out "$tmp/array" --slurm >"$tmp/array.sh" || return
	local task
	for task in 3 1 2 5 4 8 7 6; do
		SLURM_ARRAY_TASK_ID=$task sh "$tmp/array.sh" || return
	done
	"$sim" sweep "$here/../sim/sweep.toml" --out "$tmp/array" --merge && cmp "$tmp"/{by-1,array}/result.csv
}

# What is there already does not run again, and what is missing does.
interrupted() {
	rm "$tmp/by-2/00003.json" && touch "$tmp/before" && swept 2 && cmp "$tmp"/by-{1,2}/result.csv &&
		[ "$(find "$tmp/by-2" -name '*.json' -newer "$tmp/before")" = "$tmp/by-2/00003.json" ]
}

# refused STATUS WORDS COMMAND...
refused() {
	local rc=0 said
	said=$("$sim" "${@:3}" 2>&1) || rc=$?
	echo "$said"
	[ $rc -eq "$1" ] && [[ $said == *"$2"* && $said != *Traceback* ]]
}

ksft_plan
make -s -C "$MRC_TOP/tools/sim" >&2
ksft_test "the scripts' units" python3 "$here/../sim/test_reproduce.py"
ksft_test "a small figure" small
ksft_test "drawn from its CSV" drawn
ksft_test "a sweep by one worker" swept 1
ksft_test "a sweep by two" swept 2
ksft_test "the same bytes by one and by two" cmp "$tmp"/by-{1,2}/result.csv
ksft_test "the same bytes by printed jobs, in another order" by_hand
ksft_test "the same bytes as an array job" array
ksft_test "an interrupted sweep runs what is missing" interrupted
ksft_test "a figure that is none" refused 2 "no such figure" reproduce nothing
ksft_test "a sweep without a file" refused 2 "nothing.toml" sweep "$tmp/nothing.toml"
printf '[scenario.fabric]\nhosts = 0\n' >"$tmp/bad.toml"
ksft_test "a job that fails" refused 2 "fabric.hosts: 0 is not within" sweep "$tmp/bad.toml" --out "$tmp/bad" --run
ksft_test "page and pictures are as make figures makes them" python3 "$scripts/page.py" --check "$MRC_TOP"
ksft_finish
