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
read -ra libs <<<"-ltomlplusplus $(pkg-config --libs libnl-3.0 fmt)"
# The tests, of which all but one compile as one: doctor.h has another "check". mrcctl's own objects side by side.
printf '#include "%s.cc"\n' "$here"/test_mrcctl{,_log,_names,_report,_status} >"$tmp/tests.cc"
for file in "$tmp/tests.cc" "$here/test_mrcctl_host.cc"; do
	g++ -std=c++20 -Wall -Wextra "${flags[@]}" -I"$top/uapi" -c -o "$tmp/$(basename "$file" .cc).o" "$file" &
done
objs=("$tmp"/obj/mrcctl/{line,host,words/counters,lib/fabric,lib/health,lib/nl}.o)
CXXFLAGS=$san make -s "-j$(nproc)" -C "$t" OUT="$tmp" "${objs[@]}"
wait
g++ "${flags[@]}" -o "$tmp/test" "$tmp/tests.o" "$tmp/test_mrcctl_host.o" "${objs[@]}" "${libs[@]}"
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

# The module's lists, read without the build's sed.
counters_explained()
{
	python3 - "$tmp/stdout" "$top"/kernel/engine/base/mrc_stats.h "$top"/kernel/core/mrc_dev_stats.h <<'EOF'
import json, re, sys
shown = [w["name"] for w in json.load(open(sys.argv[1])) if w["kind"].startswith("counter")]
module = [n for path in sys.argv[2:] for n in re.findall(r"\bX\((\w+),", open(path).read()) if n != "name"]
assert shown == module, set(shown) ^ set(module)
EOF
}

status "help succeeds" 0 help
status "version succeeds" 0 -V
status "unknown object: usage" 1 route show
status "unknown option: usage" 1 -x dev show
status "bad value: usage" 1 plane set dev mrc0 plane 33 admin on
ksft_test "bad value is named" grep -q 'plane: 33 is not in 1 ... 32' "$tmp/stderr"
status "EV out of format: usage" 1 profile set dev mrc0 id 1 fmt udp ev 1 fcbb::
status "options in one word: the last one is wrong" 1 -jx dev show
status "options in one word" 0 -jV
status "unknown verb: usage" 1 profile add
ksft_test "and which there are" grep -q 'show, set, del; see mrcctl profile help' "$tmp/stderr"
status "completion of files" 0 __complete fabric check file "$tmp/obj/"
ksft_test "names them" grep -qx "$tmp/obj/mrcctl/" "$tmp/stdout"
status "netns that is not there: refused" 2 -n no-such-netns dev show
status "names of a file that is not there: refused" 2 log fabric "$tmp/none.toml"
ksft_test "by its name" grep -q 'none.toml' "$tmp/stderr"
status "also for events" 2 event timeout 1ms fabric "$tmp/none.toml"
status "errors with -j" 1 -j plane set dev mrc0 plane 33 admin on
ksft_test "errors with -j are JSON" python3 -m json.tool "$tmp/stderr"
status "onlookers: no such QP number" 1 latency qpn 0
status "onlookers: for how long" 1 recovery seconds soon
status "histograms want a file" 1 histograms
status "histograms: how often" 1 histograms to "$tmp/h.prom" interval 2h
status "histograms are no JSON" 1 -j histograms to "$tmp/h.prom"
status "completion" 0 __complete plane s
ksft_test "completion answers" grep -qx show "$tmp/stdout"

status "explain" 0 explain rx-bad-icrc
ksft_test "says what to do" grep -q 'do    set icrc alike at both ends' "$tmp/stdout"
status "explain what is none" 2 explain rx_bad
ksft_test "names what is near" grep -q 'did you mean.* rx_bad_icrc' "$tmp/stderr"
status "explain all" 0 -j explain
ksft_test "has every counter of the module, once" counters_explained
status "explain as a page" 0 explain as page
ksft_test "Documentation/reference/counters.md is it (mrcctl explain as page)" \
	diff "$tmp/stdout" "$top/Documentation/reference/counters.md"
ksft_test "the manual pages are as the table (make man)" "$top/tools/man/pages.py" --check "$mrcctl" "$top/Documentation/reference/man"
mkdir "$tmp/man"
cp "$top"/Documentation/reference/man/mrcctl*.8 "$tmp/man"
sed -i 's/^.B mrcctl dev set$/.B mrcctl dev put/' "$tmp/man/mrcctl-dev.8"
rm "$tmp/man/mrcctl-log.8"
touch "$tmp/man/mrcctl-dew.8"
ksft_equal "(a page that differs, one too few and one too many are found)" \
	"mrcctl-dew.8 is of no object mrcctl-dev.8 differs from mrcctl's table: make man mrcctl-log.8 is missing" \
	"$("$top/tools/man/pages.py" --check "$mrcctl" "$tmp/man" | tr '\n' ' ' | sed 's/ $//')"

cat >"$tmp/rule.toml" <<'EOF'
[fabric]
block = "fcbb:bb00::/31"
prefix = "fd00:6d72:63::/64"
[planes]
count = 2
[profile]
id = 1
evs_per_plane = 2
[topology]
t0s = 3
t1s = 2
hosts_per_t0 = 2
EOF
status "fabric check" 0 fabric check "$tmp/rule.toml"
ksft_test "follows EVs" grep -q 'astray 0 unreached 0' "$tmp/stdout"
status "fabric generate, one node" 0 -j fabric generate "$tmp/rule.toml" node h2-1
ksft_test "is JSON with a template" grep -q 'fd00:6d72:63::/64 fmt srv6 mode gen' "$tmp/stdout"
ksft_test "that Python reads" python3 -m json.tool "$tmp/stdout"
status "fabric generate, a node that is not there" 2 fabric generate "$tmp/rule.toml" node h9-9
status "fabric generate, lists" 0 fabric generate "$tmp/rule.toml"
cp "$tmp/stdout" "$tmp/lists.toml"
status "which are a fabric as well" 0 fabric check "$tmp/lists.toml"
status "fabric show" 0 fabric show "$tmp/rule.toml" plane 2
ksft_test "draws it" grep -q 'p2-t0-3 4003' "$tmp/stdout"
status "fabric show as SVG" 0 fabric show "$tmp/rule.toml" as svg
ksft_test "which is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/stdout"
status "no such plane: usage" 1 fabric show "$tmp/rule.toml" plane 3
probed() { # HOST FAILED: a line of results
	echo '{"mrc_probes":1,"host":"'"$1"'","from":1000,"to":1001,"sent":[[100,50,50],[100,50,50]],"failed":['"$2"']}'
}
lost() { # T0 and T1 in turn: all probes that go there
	local path
	path=$(printf ',"p2-%s"' "$@")
	echo '{"plane":2,"path":['"${path:1}"'],"sent":25,"lost":25,"first":1000,"last":1000.9}'
}
{ for h in h1-1 h1-2 h2-1 h2-2 h3-1 h3-2; do probed $h ''; done; } >"$tmp/well.jsonl"
status "fabric diagnose, all is well" 0 fabric diagnose "$tmp/rule.toml" results "$tmp/well.jsonl"
ksft_test "which is said" grep -q '^well: 6 of 6 hosts reported, 6 lines' "$tmp/stdout"
{
	probed h1-1 "$(lost t0-1 t1-2 t0-1),$(lost t0-1 t1-2 t0-3 t1-1 t0-1)"
	probed h1-2 "$(lost t0-1 t1-2 t0-1),$(lost t0-1 t1-2 t0-2 t1-1 t0-1)"
	probed h2-1 ''
	probed h2-2 "$(lost t0-2 t1-1 t0-1 t1-2 t0-2)"
	probed h3-1 "$(lost t0-3 t1-1 t0-1 t1-2 t0-3)"
	probed h3-2 ''
	echo '{'
	probed h9-9 ''
	probed h1-1 ''
} >"$tmp/bad.jsonl"
status "a problem" 1 fabric diagnose "$tmp/rule.toml" results "$tmp/bad.jsonl"
ksft_test "is named" grep -q '^plane 2: p2-t0-1 to p2-t1-2 drops all packets upwards' "$tmp/stdout"
ksft_test "with what was refused" grep -q '1 malformed, 1 not-of-this-fabric, 1 duplicate' "$tmp/stdout"
status "in JSON" 1 -j fabric diagnose "$tmp/rule.toml" results "$tmp/bad.jsonl"
ksft_test "that Python reads" python3 -m json.tool "$tmp/stdout"
probed h1-1 "$(lost t0-1 t1-2 t0-1)" >"$tmp/odd.jsonl"
status "losses that fit no part: unknown" 2 fabric diagnose "$tmp/rule.toml" results "$tmp/odd.jsonl"
status "nobody reported: unknown" 2 fabric diagnose "$tmp/rule.toml" results /dev/null
status "no such results: unknown" 2 fabric diagnose "$tmp/rule.toml" results "$tmp/none"
sed 's/^t0s = 3/t0s = 1/; s/^hosts_per_t0 = 2/hosts_per_t0 = 1/' "$tmp/rule.toml" >"$tmp/one.toml"
status "one host alone: nothing is checked" 2 fabric check "$tmp/one.toml"
ksft_test "which is said" grep -q 'nothing was checked' "$tmp/stderr"
sed '/^\[\[switch.link/,/^$/d; /^link/d' "$tmp/lists.toml" >"$tmp/alone.toml"
status "T0s without cables to T1s: a problem" 2 fabric check "$tmp/alone.toml"
ksft_test "whose cause is named" grep -q 'p1-t0-1 has no cable to any T1: on plane 1 its 2 hosts' "$tmp/stderr"
sed -i 's/^t0s = 3/t0s = 0/' "$tmp/rule.toml"
status "a bad file: refused" 2 fabric check "$tmp/rule.toml"
ksft_test "with the place" grep -q 'rule.toml:10:7: topology.t0s: 0 is out of range' "$tmp/stderr"
status "no file: usage" 1 fabric check

if [ ! -e /sys/module/mrc ]; then
	status "no module: refused" 2 dev show
	status "no module: not known, which is not well" 2
	status "as JSON" 2 -j status
	status "live" 2 top count 1
	ksft_test "and what to do" grep -qx 'mrcctl: .*is not loaded: modprobe mrc' "$tmp/stderr"
	status "doctor finds it" 1 doctor
	ksft_test "with a line to paste" grep -qE '^    # (apt install|modprobe|dkms|mokutil)' "$tmp/stdout"
	status "doctor as JSON" 1 -j doctor
	ksft_test "which Python reads" python3 -m json.tool "$tmp/stdout"
	ksft_test "-V says so, too" sh -c "'$mrcctl' -V | grep -qF 'not loaded (modprobe mrc)'"
fi
ksft_finish
