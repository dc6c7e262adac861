#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 400
#
# mrcd's page in a headless Chromium while a cable is cut: on a desk and on a phone, in light and dark. Pictures go
# to MRC_PICTURES, if that is set.
#
#	h1 (alpha) eth1 ==== eth1 h2 (beta)	plane 1
#	           eth2 ==== eth2		plane 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

at=127.0.0.1:9791
file=$MRC_DIR/fabric.toml
pictures=${MRC_PICTURES:-$MRC_DIR}

cables() {
	mrc_nodes h1 h2 && ip -n h1 link set lo up &&
		printf 'link add eth%u netns h1 type veth peer name eth%u netns h2\n' 1 1 2 2 | ip -b -
}
both_up() {
	mrc_start mrcd-h1 h1 mrcd -c "$file" -n alpha --ready-file "$FABRIC_DIR/h1.ready" --metrics "$at"
	mrc_start mrcd-h2 h2 mrcd -c "$file" -n beta --ready-file "$FABRIC_DIR/h2.ready"
	mrc_until 60 mrc_mrcd_ready h1 && mrc_until 60 mrc_mrcd_ready h2 && mrc_wait_devices
}

# look WIDTH HEIGHT SCHEME NAME: until the page says that all is well, then cut a cable, and mend it.
look() {
	fabric_in h1 env HOME="$MRC_DIR" PYTHONPATH="$here/../lib" /usr/bin/python3 - "$at" "$pictures/$4" "$@" <<-'EOF'
	import subprocess, sys, time
	from browser import Browser
	at, picture, width, height, scheme = sys.argv[1:6]
	browser = Browser(int(width), int(height))
	browser.scheme(scheme == "dark")
	browser.open(f"http://{at}/")

	def until(expression):
	    end = time.monotonic() + 150  # a net, not a limit
	    while not browser.evaluate(expression):
	        assert time.monotonic() < end, (expression, browser.evaluate("document.body.innerText"))
	        time.sleep(.2)

	verdict = "document.getElementById('verdict')."
	until(verdict + "className == 'well'")
	until("[...document.querySelectorAll('#planes tr')].filter(r => / [GMk]?b\\/s/.test(r.cells[3].textContent)).length == 2")
	browser.picture(picture + "-well.png")
	subprocess.run(["ip", "link", "set", "eth2", "down"], check=True)
	until(verdict + "className == 'problem'")
	until("document.getElementById('problems').textContent.includes('plane 2 (eth2)')")
	until("document.getElementById('events').textContent.includes('plane 2 (eth2) of mrc0: ')")
	until("document.querySelectorAll('#matrix td.none').length >= 1")
	browser.picture(picture + "-cut.png")
	subprocess.run(["ip", "link", "set", "eth2", "up"], check=True)
	until(verdict + "className == 'well'")
	until("document.getElementById('events').textContent.includes('plane 2 (eth2) of mrc0: up')")
	assert browser.evaluate("document.documentElement.scrollWidth") <= int(width), "it is wider than the screen"
	assert browser.evaluate("document.title") == "well · alpha"
	assert not browser.complaints, browser.complaints
	assert set(browser.requests) == {f"http://{at}/", f"http://{at}/events"}, browser.requests
	browser.close()
	EOF
}
ksft_plan
mrc_begin mrcd mrcctl mrc_verify chromium python3
awk '/^```toml/ { on = 1; next } /^```/ { exit } on' "$MRC_TOP/Documentation/guide/two-hosts.md" >"$file"
ksft_test "two hosts, two cables" cables
ksft_test "mrcd on both, one with a page" both_up
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 900
ksft_test "by both planes" mrc_flows
ksft_test "on a desk" look 1000 900 light desk
ksft_test "on a phone, in the dark" look 390 1100 dark phone
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
