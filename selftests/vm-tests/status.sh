#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# mrcctl status and top: what is well, what a cut cable and a silent T1 make of it, and that a person may switch
# a plane off without a problem.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# says STATUS TEXT [OPTION]...: mrcctl status ends with STATUS and prints TEXT.
says() {
	local want=$1 text=$2 rc=0
	shift 2
	mrcctl -n h1 "$@" status >"$MRC_DIR/status" || rc=$?
	cat "$MRC_DIR/status"
	[ $rc -eq "$want" ] && grep -qE "$text" "$MRC_DIR/status"
}
# of FILTER: jq -e of its JSON. Status 1 is a problem.
of() { { mrcctl -n h1 -j status || [ $? -eq 1 ]; } | jq -e ".[0] | $1" >/dev/null; }
carries() { of "[.devices[0].planes[] | select(.state == \"up\" and .tx_bits_per_second > 0)] | length == $1"; }

# In a terminal of 100 columns and 20 rows: space, the order of peers, another size, the end.
live() {
	/usr/bin/python3 -I - "$MRC_DIR/top" <<-'EOF'
	import fcntl, os, pty, re, signal, struct, subprocess, sys, termios
	master, slave = pty.openpty()
	def size(rows, columns):
	    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
	size(20, 100)
	before = termios.tcgetattr(slave)
	top = subprocess.Popen(["mrcctl", "-n", "h1", "top", "interval", "100ms"], stdin=slave, stdout=slave,
	                       start_new_session=True)
	seen = b""
	def until(*words):
	    global seen
	    while not all(w in seen for w in words):
	        seen += os.read(master, 65536)
	    shown, seen = seen, b""
	    return shown
	until(b"planes up", b"q quits")
	os.write(master, b" ")
	until(b"paused")
	os.write(master, b" n")
	until(b"q quits")
	size(6, 30)
	top.send_signal(signal.SIGWINCH)
	shown = until(b"\x1b[6;1H")
	shown = shown[shown.rindex(b"\x1b[H", 0, shown.index(b"\x1b[6;1H")):] # earlier frames have the earlier size
	os.write(master, b"q")
	assert top.wait(60) in (0, 1), top.returncode
	assert termios.tcgetattr(slave) == before, "the terminal is not as it was"
	for line in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"\r\n", shown).split(b"\r\n"):
	    assert len(line) <= 30, line
	EOF
}

ksft_plan
mrc_begin mrcctl mrc_verify python3
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "well before anybody talks" says 0 '^well: 4 of 4 planes up'
ksft_test "mrcctl alone is mrcctl status" sh -c "mrcctl -n h1 | grep -q '^well: '"
ksft_test "data flows" mrc_verify_start -o write -s 65536 -t 600
ksft_test "over all planes" mrc_flows
ksft_test "all planes carry" mrc_until 30 carries 4
ksft_test "a person switches plane 4 off" mrcctl -n h1 plane set dev mrc0 plane 4 admin off
ksft_test "which is no problem" mrc_until 30 says 0 '4 +eth4 +off'
ksft_test "and on" mrcctl -n h1 plane set dev mrc0 plane 4 admin on
fabric_cut h1 eth2
ksft_test "a cut cable is one, in a sentence" mrc_until 30 says 1 'plane 2 \(eth2\) has no carrier'
ksft_test "with what to do" grep -q 'ip link show eth2' "$MRC_DIR/status"
ksft_test "in JSON" of '.verdict == "problem" and .problems[0].plane == 2'
ksft_test "three planes carry" mrc_until 30 carries 3
fabric_restore h1 eth2
ksft_test "mended" mrc_until 60 says 0 '^well: 4 of 4'
ksft_test "T1s of plane 3 swallow what leads to the peer" fabric_blackhole p3-t1-1 t0-2
ksft_test "silent paths are told, with their plane" mrc_until 60 says 1 'path.* on plane 3 lost packets'
fabric_heal p3-t1-1 t0-2
ksft_test "healed" mrc_until 60 says 0 '^well: 4 of 4'
ksft_test "live, in a terminal that changes its size" live
ksft_test "live, into a file" sh -c "mrcctl -n h1 top count 2 interval 100ms | grep -c 'planes up' | grep -qx 2"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
