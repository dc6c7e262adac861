#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# captures.sh FOLDER - judge what vm-tests/conformance.sh has captured: of each case
# CASE-HOST-INTERFACE.pcap, and in CASE.judge the arguments for check.py, one in a line.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

# check CASE FOLDER
check() {
	local args
	mapfile -t args <"$2/$1.judge"
	/usr/bin/python3 -I "$here/check.py" "${args[@]}" "$2/$1"-h*.pcap >"$2/$1.checked" 2>&1 || true
}

# told CASE FOLDER: its verdicts as our own, each with the comments behind it.
told() {
	local line name='' why='' bad='' plan=''
	while read -r line; do
		case $line in
		"ok "* | "not ok "* | 1..*)
			verdict "$1: $name" "$bad" "$why"
			name=${line#*- } why='' bad=''
			case $line in
			"not "*) bad=1;;
			1..*) name='' plan=1;;
			esac;;
		"# seen"*) ksft_comment "$1: ${line#\# }";;
		"# "*) why+="${line#\# }"$'\n';;
		esac
	done <"$2/$1.checked"
	[ -n "$plan" ] || ksft_fail "$1: check.py ran to its end" "$(tail -n 8 "$2/$1.checked")"
}

verdict() {	# NAME BAD WHY
	case $1,$2 in
	*": ",*) ;;
	*,1) ksft_fail "$1" "$3";;
	*) ksft_pass "$1";;
	esac
}

ksft_plan
need_cmd tshark
shopt -s nullglob
cases=("$1"/*.judge)
ksft_test "something was captured" test ${#cases[@]} -gt 0
for judge in "${cases[@]}"; do
	check "$(basename "$judge" .judge)" "$1" &
done
wait
for judge in "${cases[@]}"; do
	told "$(basename "$judge" .judge)" "$1"
done
ksft_finish
