#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
#
# test_mrcctl.sh - mrcctl without a kernel module: the unit tests of its parts
# under ASan and UBSan, then exit codes and outputs of the program itself.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

for pkg in libnl-3.0 fmt; do
	pkg-config --exists "$pkg" || ksft_skip_all "needs $pkg"
done

ksft_plan ""
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"

t=$top/tools/mrcctl
san="-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
read -ra flags <<<"$san $(pkg-config --cflags libnl-3.0 fmt)"
read -ra libs <<<"$(pkg-config --libs libnl-3.0 fmt)"
# The tests and mrcctl's own objects side by side.
g++ -std=c++20 -Wall -Wextra "${flags[@]}" -I"$top/uapi" -c -o "$tmp/test.o" "$here/test_mrcctl.cc" &
objs=("$tmp"/obj/mrcctl/{grammar,values,printer,records,gather,nl/attr,nl/request,nl/socket,nl/genl}.o)
CXXFLAGS=$san make -s "-j$(nproc)" -C "$t" OUT="$tmp" "${objs[@]}"
wait $!
g++ "${flags[@]}" -o "$tmp/test" "$tmp/test.o" "${objs[@]}" "${libs[@]}"
rc=0
"$tmp/test" >"$tmp/out" 2>&1 || rc=$?
while IFS= read -r line; do
	case $line in
	"ok "*)		ksft_pass "${line#ok * }" ;;
	"not ok "*)	ksft_fail "${line#not ok * }" ;;
	*)		echo "# ${line#\# }" ;;
	esac
done <"$tmp/out"
if ! grep -q '^# end ' "$tmp/out"; then
	ksft_fail "the unit tests run to their end" "status $rc"
fi

make -s -C "$t" >"$tmp/make" 2>&1 || ksft_fail "mrcctl builds" "$(cat "$tmp/make")"
mrcctl=$top/build/tools/mrcctl

# status NAME WANT WORD...: exit status of mrcctl WORD...
status()
{
	local name=$1 want=$2 rc=0
	shift 2
	"$mrcctl" "$@" >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
	if [ "$rc" -eq "$want" ]; then
		ksft_pass "$name"
	else
		ksft_fail "$name" "status $rc, want $want: $(cat "$tmp/stderr")"
	fi
}

status "help succeeds" 0 help
status "version succeeds" 0 -V
status "unknown object: usage" 1 route show
status "unknown option: usage" 1 -x dev show
status "bad value: usage" 1 plane set dev mrc0 plane 33 admin on
ksft_test "bad value is named" grep -q 'plane: 33 is not in 1 ... 32' "$tmp/stderr"
status "EV out of format: usage" 1 profile set dev mrc0 id 1 fmt udp ev 1 fcbb::
status "netns that is not there: refused" 2 -n no-such-netns dev show
status "errors with -j" 1 -j plane set dev mrc0 plane 33 admin on
ksft_test "errors with -j are JSON" python3 -m json.tool "$tmp/stderr"
status "completion" 0 __complete plane s
ksft_test "completion answers" grep -qx show "$tmp/stdout"
if [ ! -e /sys/module/mrc ]; then
	status "no module: refused" 2 dev show
fi
ksft_finish
