# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lib.sh - kselftest conventions for bash: TAP 13, skip code 4, cleanup by trap.
#
#	. "$(dirname "$0")/../lib/lib.sh"
#	ksft_plan 2                  # or no number: the plan then comes last
#	at_exit ip netns del a       # newest first, also after a failure
#	ksft_test "it answers" ping -c 1 ::1
#	ksft_skip "it flies" "no wings"
#	ksft_finish
#
# A script that ends without ksft_finish, by "set -e" or by a signal, reports
# one more failed test: silence is never success.

[ -z "${KSFT_LIB:-}" ] || return 0
KSFT_LIB=1

readonly KSFT_PASS=0 KSFT_FAIL=1 KSFT_SKIP=4

MRC_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The kernel series of the virtual machine, or of this kernel.
MRC_KVER=${MRC_KVER:-$(uname -r | sed -nE 's/^([0-9]+\.[0-9]+).*/\1/p')}
# shellcheck disable=SC2034
MRC_BUILD=$MRC_TOP/build/$MRC_KVER

ksft_planned='' ksft_count=0 ksft_passed=0 ksft_failed=0 ksft_skipped=0
ksft_finished='' ksft_cleanups=() ksft_out=''

ksft_plan() {
	ksft_planned=${1:-}
	echo "TAP version 13"
	[ -z "$ksft_planned" ] || echo "1..$ksft_planned"
}

ksft_comment() {
	local line
	while IFS= read -r line; do
		echo "# $line"
	done <<<"$*"
}

ksft_pass() {
	ksft_passed=$((ksft_passed + 1))
	ksft_count=$((ksft_count + 1))
	echo "ok $ksft_count $1"
}

# ksft_relay: passes on the TAP lines of a program on stdin ("ok 3 NAME", "ok 3 - NAME") as our own
# tests, and its comments unchanged. A program that ends before its plan ("1..N") has failed.
ksft_relay() {
	local line name plan=''
	while IFS= read -r line; do
		name=${line#not }
		name=${name#ok * }
		case $line in
		"ok "*) ksft_pass "${name#- }";;
		"not ok "*) ksft_fail "${name#- }";;
		"# "*) echo "$line";;
		1..*) plan=1;;
		esac
	done
	[ -n "$plan" ] || ksft_fail "the program runs to its end"
}

# ksft_fail NAME [WHY]
ksft_fail() {
	ksft_failed=$((ksft_failed + 1))
	ksft_count=$((ksft_count + 1))
	echo "not ok $ksft_count $1"
	[ -z "${2:-}" ] || ksft_comment "$2"
}

# ksft_skip NAME REASON
ksft_skip() {
	ksft_skipped=$((ksft_skipped + 1))
	ksft_count=$((ksft_count + 1))
	echo "ok $ksft_count $1 # SKIP ${2:-}"
}

# Before any test has run: skips the whole script.
ksft_skip_all() {
	[ -n "$ksft_planned" ] || echo "TAP version 13"
	echo "1..0 # SKIP $*"
	ksft_finished=1
	exit "$KSFT_SKIP"
}

# ksft_test NAME CMD...: passes if CMD does; its output becomes the comment of a failure. CMD runs
# in this shell, so it may set variables, and under "set +e", as any condition does. One file serves
# all tests: on an emulated machine, one more process per test adds up to a minute.
ksft_test() {
	local name=$1 rc=0
	shift
	[ -n "$ksft_out" ] || ksft_out=$(mktemp)
	"$@" >"$ksft_out" 2>&1 || rc=$?
	if [ $rc -eq 0 ]; then
		ksft_pass "$name"
	else
		ksft_fail "$name" "'$*' returned $rc: $(tail -n 40 "$ksft_out")"
	fi
}

# ksft_equal NAME EXPECTED ACTUAL
ksft_equal() {
	if [ "$2" = "$3" ]; then
		ksft_pass "$1"
	else
		ksft_fail "$1" "expected '$2', got '$3'"
	fi
}

# Prints totals as the kernel's own selftests do, and exits with the status.
ksft_finish() {
	ksft_finished=1
	if [ -z "$ksft_planned" ]; then
		echo "1..$ksft_count"
	elif [ "$ksft_planned" -ne "$ksft_count" ]; then
		echo "# planned $ksft_planned tests, ran $ksft_count"
		ksft_failed=$((ksft_failed + 1))
	fi
	echo "# Totals: pass:$ksft_passed fail:$ksft_failed xfail:0 xpass:0" \
		"skip:$ksft_skipped error:0"
	[ "$ksft_failed" -eq 0 ] || exit "$KSFT_FAIL"
	exit "$KSFT_PASS"
}

# at_exit CMD...: runs CMD when the script ends, the newest first.
at_exit() {
	local IFS=' '
	ksft_cleanups+=("$(printf '%q ' "$@")")
}

ksft_on_exit() {
	local rc=$? i
	set +e
	if [ -z "$ksft_finished" ]; then
		[ $rc -ne 0 ] || rc=$KSFT_FAIL
		ksft_fail "the script runs to its end" "ended early, status $rc"
		[ -n "$ksft_planned" ] || echo "1..$ksft_count"
	fi
	for ((i = ${#ksft_cleanups[@]} - 1; i >= 0; i--)); do
		eval "${ksft_cleanups[i]}" >/dev/null 2>&1
	done
	[ -z "$ksft_out" ] || rm -f "$ksft_out"
	exit "$rc"
}
trap ksft_on_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Other machines share the processor, and this one may stand still for seconds. So each timeout of a
# test is multiplied by this.
KSFT_PATIENCE=5

# wait_until SECS CMD...: polls CMD until it succeeds; fails after SECS times KSFT_PATIENCE. Tests
# wait for conditions by it, and never for a guessed time.
wait_until() {
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * KSFT_PATIENCE * 1000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt $end ] || return 1
		sleep 0.05
	done
}

# refused TEXT... -- CMD...: succeeds if CMD fails and prints each TEXT.
refused() {
	local texts=() text said
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	! said=$("$@" 2>&1) || { echo "was not refused"; return 1; }
	for text in "${texts[@]}"; do
		[[ $said = *"$text"* ]] || { echo "does not say '$text': $said"; return 1; }
	done
}

# Loads the module that was built for the kernel of this virtual machine. insmod does not load the
# modules that it depends on.
load_mrc() {
	local ko=$MRC_BUILD/mrc.ko dependency
	[ ! -d /sys/module/mrc ] || return 0
	for dependency in $(modinfo -F depends "$ko" | tr ',' ' '); do
		modprobe "$dependency" || return
	done
	insmod "$ko" "$@"
}

# need_mrc [MODULE_PARAMETER...]
need_mrc() {
	[ -e "$MRC_BUILD/mrc.ko" ] || ksft_skip_all "needs $MRC_BUILD/mrc.ko"
	load_mrc "$@" || ksft_fail "load mrc.ko"
}

need_root() {
	[ "$(id -u)" -eq 0 ] || ksft_skip_all "needs root"
}

# need_cmd NAME...
need_cmd() {
	local cmd
	for cmd; do
		command -v "$cmd" >/dev/null || ksft_skip_all "needs $cmd"
	done
}
