#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full
#
# Eight hosts write to one at once, through one port that trims: all end, every byte right.
#
#	h1 <- h2 ... h9, 1 plane, 2 T0 - 2 T1, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/port.sh"

SENDERS="2 3 4 5 6 7 8 9"
# shellcheck disable=SC2034
MRC_EVS=4
PORT=18700

# Only from and to the receiver.
eval "$(declare -f mrc_profiles_by_hand | sed '1s/^mrc_profiles_by_hand/profiles_by_hand/')"
mrc_profiles_by_hand() { [ "$1" -ne 1 ] && [ "$2" -ne 1 ] || profiles_by_hand "$@"; }

verify_server() {	# HOST
	mrc_start "server-$1" h1 mrc_verify -e -T 120 -d "${MRC_IBDEV[h1]}" -p $((PORT + $1))
	mrc_until 60 mrc_listens "server-$1" $((PORT + $1))
}

verify_client() {	# HOST [ARG...]
	local i=$1 REPLY
	shift
	fabric_host_addr 1
	mrc_start "client-$i" "h$i" mrc_verify -e -T 120 -d "${MRC_IBDEV[h$i]}" -p $((PORT + i)) \
		"$@" "$REPLY"
}

# all_send [ARG...]: the same to all; each of both ends must succeed.
all_send() {
	local i rc=0
	for i in $SENDERS; do
		verify_server "$i" || return
	done
	for i in $SENDERS; do
		verify_client "$i" "$@" || return
	done
	for i in $SENDERS; do
		mrc_wait "client-$i" 300 && mrc_wait "server-$i" 30 && continue
		echo "h$i: $(mrc_out "client-$i" 3) $(mrc_out "server-$i" 3)"
		rc=1
	done
	PORT=$((PORT + 16))
	return $rc
}

ksft_plan
mrc_begin mrcctl mrc_verify
port_begin
ksft_test "nine hosts by hand" mrc_fabric_by_hand 9 1 2 2

ksft_test "the last hop trims" port_set p1-t0-1 h1 rate 80000000 limit 60000 trim 1 lasthop 1
ksft_test "8:1 WRITE with immediate" all_send -o write_imm -s 65536 -n 16
port_stat p1-t0-1 h1 trimmed_pkts
ksft_test "packets were cut ($REPLY)" test "$REPLY" -gt 50
trims=$REPLY
mrc_stat h1 rx_trimmed
ksft_test "the receiver saw them trimmed ($REPLY)" test "$REPLY" -gt $((trims / 4))
timeouts=0
for i in $SENDERS; do
	mrc_stat "h$i" timeouts
	timeouts=$((timeouts + REPLY))
done
ksft_test "nothing waited for a timeout ($timeouts)" test $timeouts -le $((trims / 20 + 8))
ksft_comment "$(port_show p1-t0-1 h1)"

ksft_test "8:1 of everything" all_send -o mix -r -s 32768 -n 40
ksft_test "without trimming" port_set p1-t0-1 h1 trim 0
ksft_test "8:1 of everything" all_send -o mix -r -s 32768 -n 20
ksft_comment "$(port_show p1-t0-1 h1)"
ksft_test "no QP, CQ, MR is left" mrc_until 20 mrc_no_resources
ksft_test "nothing was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_finish
