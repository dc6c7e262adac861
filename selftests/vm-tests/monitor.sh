#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new
# timeout: 180
#
# What mrcd tells monitoring systems and browsers about a host (--metrics), and mrcctl metrics beside it: rates of
# planes, a cable that is cut, a module that goes; and that another site's page may not ask.
#
#	h1 (alpha) eth1 ==== eth1 h2 (beta)	plane 1
#	           eth2 ==== eth2		plane 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

at=127.0.0.1:9791
declare -A NAME=([h1]=alpha [h2]=beta)
file=$MRC_DIR/fabric.toml

cables() {
	mrc_nodes h1 h2 && ip -n h1 link set lo up &&
		printf 'link add eth%u netns h1 type veth peer name eth%u netns h2\n' 1 1 2 2 | ip -b -
}
daemon() {	# HOST OPTION...
	local host=$1
	shift
	rm -f "$FABRIC_DIR/$host.ready"
	mrc_start "mrcd-$host" "$host" mrcd -c "$file" -n "${NAME[$host]}" --ready-file "$FABRIC_DIR/$host.ready" "$@"
}
both_up() {
	daemon h1 --metrics "$at" && daemon h2 && mrc_until 60 mrc_mrcd_ready h1 && mrc_until 60 mrc_mrcd_ready h2 && mrc_wait_devices
}

# get PATH [HEADER VALUE]: by a client that nobody here wrote. Prints the status, then the body.
get() {
	fabric_in h1 /usr/bin/python3 -I - "$@" <<-EOF
	import http.client, sys
	c = http.client.HTTPConnection("$at", timeout=60)
	c.request("GET", sys.argv[1], headers=dict([sys.argv[2:4]] if len(sys.argv) > 2 else []))
	r = c.getresponse()
	print(r.status)
	print(r.read().decode())
	EOF
}
tells() { get /metrics >"$MRC_DIR/told" && grep -qxE -- "$1" "$MRC_DIR/told" || { grep -v '^#' "$MRC_DIR/told"; return 1; }; }
soon() { mrc_until 30 tells "$1"; }
families() { sed -n 's/^# TYPE //p' | grep -v '^mrcd_\|^mrc_check_' | sort; }
# Each of both planes carries, as their counters say a second apart.
both_carry() {
	local n before
	before=$(get /metrics | grep ^mrc_plane_transmit_bytes_total)
	mrc_sleep 1.2
	for n in 1 2; do
		[ "$(grep "plane=\"$n\"" <<<"$before")" != "$(get /metrics | grep "^mrc_plane_transmit_bytes_total.*plane=\"$n\"")" ] || return
	done
}
# The first two events that the page would hear, as JSON.
events() {
	fabric_in h1 /usr/bin/python3 -I - <<-EOF
	import http.client, json
	c = http.client.HTTPConnection("$at", timeout=60)
	c.request("GET", "/events", headers={"Accept": "text/event-stream"})
	r = c.getresponse()
	assert r.status == 200 and r.getheader("Content-Type") == "text/event-stream", r.status
	got = []
	while len(got) < 2:
	    line = r.readline().decode()
	    if line.startswith("data: "):
	        got.append(json.loads(line[6:]))
	assert got[1]["ms"] > got[0]["ms"], got
	print(json.dumps(got[1]))
	EOF
}
page_says() { events | jq -e "$1" >/dev/null; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify python3 jq
awk '/^```toml/ { on = 1; next } /^```/ { exit } on' "$MRC_TOP/Documentation/guide/two-hosts.md" >"$file"
ksft_test "two hosts, two cables" cables
ksft_test "mrcd on both, one with metrics" both_up
ksft_test "all of the file is in place" soon 'mrcd_ready 1'
ksft_test "both planes are up" soon 'mrc_plane_up\{device="mrc0",plane="2",port="eth2"\} 1'
ksft_test "mrcctl metrics" sh -c "mrcctl -n h1 metrics >$MRC_DIR/ctl"
ksft_equal "tells the same" "$(families <"$MRC_DIR/told")" "$(families <"$MRC_DIR/ctl")"
ksft_test "into a file, at once or not at all" mrcctl -n h1 metrics to "$MRC_DIR/mrc.prom"
ksft_equal "of the same names" "$(families <"$MRC_DIR/ctl")" "$(families <"$MRC_DIR/mrc.prom")"
ksft_equal "and nothing beside it" 1 "$(find "$MRC_DIR" -name 'mrc.prom*' | wc -l)"
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "by both planes, as metrics say" mrc_until 30 both_carry
ksft_test "QPs are told" soon 'mrc_qps [1-9][0-9]*'
ksft_test "all is well" page_says '.verdict == "well" and (.planes | length) == 2 and .node == "alpha"'
ip -n h2 link set eth2 down
ksft_test "a cable is cut" soon 'mrc_plane_up\{device="mrc0",plane="2",port="eth2"\} 0'
ksft_test "which is a problem" soon 'mrc_problems 1'
ksft_test "in a sentence" page_says '.verdict == "problem" and (.problems[0].text | test("plane 2 .eth2. has no carrier"))'
ip -n h2 link set eth2 up
ksft_test "it is mended" soon 'mrc_problems 0'
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30
ksft_equal "a page, that loads nothing" 200 "$(get / | head -n 1)"
ksft_equal "another site's page may not ask" 421 "$(get /metrics Host evil.example | head -n 1)"
elsewhere() { ! fabric_in h2 timeout 5 bash -c ': </dev/tcp/10.77.0.1/9791'; }
ksft_test "nor may another host" elsewhere
ksft_equal "nobody knows other paths" 404 "$(get /../etc/passwd | head -n 1)"
gone() { mrc_kill mrcd-h2 && ip -n h2 link del mrc0 && ip -n h1 link del mrc0 && mrc_until 60 rmmod mrc; }
kill -STOP "${MRC_PID[mrcd-h1]}"
ksft_test "the module goes" gone
kill -CONT "${MRC_PID[mrcd-h1]}"
ksft_test "which is unknown, not well" soon 'mrc_measured 0'
ksft_test "mrcd is not ready then" soon 'mrcd_ready 0'
ksft_finish
