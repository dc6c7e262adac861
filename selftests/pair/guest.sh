#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh SIDE - what one of two machines does (host/pair.sh). Side 1 is the client and says what
# it found, as TAP.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"

# shellcheck disable=SC2120  # by connects
write_bw() {
	local index
	for index in {0..15}; do
		! grep -q ^fd00: "/sys/class/infiniband/mrc0/ports/1/gids/$index" || break
	done
	ib_write_bw -F -d mrc0 -x "$index" -p 18516 -s 65536 -n 200 "$@"
}
verify() { command mrc_verify -e -T 120 -d mrc0 "$@"; }

adapter() { REPLY=$(dirname "$(readlink -e "/sys/class/net/cable$1/device")"); }	# its PCI device
lies_with() {	# PLANE
	local is
	adapter "$1"
	is=$(readlink -e /sys/class/infiniband/mrc0/device)
	echo "$is, expected $REPLY"
	[ "$is" = "$REPLY" ]
}
unplug() { adapter "$1" && echo 1 >"$REPLY/remove"; }

# ---------------------------------------------------------------- the sides

serve() {
	ksft_plan
	while [ ! -e "$VMOUT/stop" ]; do
		verify -p 18515 || :
	done &
	while [ ! -e "$VMOUT/stop" ]; do
		write_bw || :
	done &
	until [ -e "$VMOUT/stop" ]; do
		mrc_sleep 0.5
	done
	pkill -x 'mrc_verify|ib_write_bw' || :
	wait
	ksft_pass "told to stop"
	ksft_finish
}

client() {
	local peer
	address "$PEER"; peer=$REPLY
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	ksft_test "ordinary IP reaches the other" mrc_until 60 ping -c 1 -W 2 "$peer"
	mark
	ksft_test "every byte arrives right" connects verify -p 18515 -o mix -s 65536 -n 200 "$peer"
	ksft_test "by all cables" each_used
	ksft_test "ib_write_bw" connects write_bw 10.77.0.$PEER
	connects verify -p 18515 -o mix -s 65536 -t 600 -u 19 "$peer" >"$VMOUT/client.out" 2>&1 &
	ksft_test "a connection" all_used
	ksft_test "a cable is pulled" cable pull 2
	ksft_test "which is seen" mrc_until 60 planes_up 3
	ksft_test "the others carry it" mrc_until 60 used 3
	ksft_test "it is plugged in" cable plug 2
	ksft_test "which is seen" mrc_until 60 planes_up 4
	ksft_test "it is used again" mrc_until 120 used 2
	ksft_test "mrc0 lies with the first adapter" lies_with 1
	ksft_test "which is unplugged under the connection" unplug 1
	ksft_test "mrc0 lies with the second" lies_with 2
	ksft_test "three planes are left" mrc_until 60 planes_up 3
	mark
	ksft_test "which carry it" mrc_until 60 used 3
	pkill -INT -x mrc_verify
	ksft_test "every byte arrived right" mrc_until 60 grep PASS "$VMOUT/client.out"
	sed 's/^/# /' "$VMOUT/client.out"
	ksft_finish
}

pair_begin "$1" mrc_verify ib_write_bw
# The programs' own TCP is no plane's business, and the other side does not see that cable 1 leads nowhere any more.
address "$PEER"
ip -6 route add "$REPLY/128" via fe80::$PEER dev cable4 metric 1000
case $SIDE in
1) client;;
2) serve;;
esac
