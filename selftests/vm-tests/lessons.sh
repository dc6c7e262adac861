#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lessons of Documentation/tutorial, line by line: each command is run, and what the lesson says
# that it prints is what it prints.
#
# timeout: 900
# kernels: full

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1

lessons=("$MRC_TOP"/Documentation/tutorial/[1-9]-*.md)
work=$(mktemp -d)
at_exit rm -rf "$work"
lesson() { python3 "$here/../text/lesson.py" "$@"; }

ksft_plan
need_root
need_cmd python3 ibv_rc_pingpong rdma
ksft_test "the lessons have commands" lesson commands "${lessons[@]}"
lesson commands "${lessons[@]}" >"$work/commands"
MRC_LAB=none "$here/../demo/lab_vm.sh" "$work/commands" >"$work/transcript" 2>&1 || true
cp "$work/transcript" "${VMOUT:-$work}/lessons" 2>/dev/null || true
ksft_relay < <(lesson check "$work/transcript" "${lessons[@]}")
wait_until 20 rmmod mrc || true
ksft_finish
