#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full uml
#
# An address goes from one host to the other, and back. Who has it is reached, by verbs and by ordinary IP,
# for all that the other one has just been talked to.
#
#	h1, h2: mrc0 over eth1 eth2, each T0 - T1 - T0, SRv6	by hand
#	on one of them, at first on h1: fd00:6d72:63::63 and 10.77.0.99

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# As if there were a host 99, for mrc_gid_index.
v6=fd00:6d72:63::63 v4=10.77.0.99

comes() { ip -n "$1" address add $v6/64 dev mrc0 nodad && ip -n "$1" address add $v4/24 dev mrc0; }
goes() { ip -n "$1" address del $v6/64 dev mrc0 && ip -n "$1" address del $v4/24 dev mrc0; }
# FROM TO: the address is behind host TO.
paths() {
	local p to evs=()
	for p in 1 2; do
		evs+=(ev "$p" "$(fabric_path "$1" "$2" $p 1)")
	done
	for to in $v6 $v4; do
		mrcctl -n "h$1" profile set dev mrc0 id $MRC_PROFILE dst $to fmt srv6 mode exp "${evs[@]}" || return
	done
}

# gid_at HOST v6|v4: REPLY, the address's on that host.
gid_at() { mrc_gid_index h99 "$2" && [ "${MRC_IBDEV[h99]}" = "${MRC_IBDEV[$1]}" ]; }

# start SERVER_HOST CLIENT_GID TCP_ADDRESS v6|v4 [ARG...]: from h1 to the address there.
start() {
	local at=$1 from=$2 tcp=$3 family=$4 to
	shift 4
	mrc_until 20 gid_at "$at" "$family" && to=$REPLY || return
	mrc_gid_index "$from" "$family" && from=$REPLY || return
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server "$at" mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[$at]}" -g "$to" -p $MRC_PORT
	mrc_until 30 mrc_listens server $MRC_PORT || { echo "no server: $(mrc_out server)"; return 1; }
	mrc_start client h1 mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -g "$from" -p $MRC_PORT "$@" "$tcp"
}
itself() { start h1 h99 127.0.0.1 "$@"; }
across() { start h2 h1 fd00:6d72:63::2 "$@"; }
whole() { "$@" -o mix -s 16384 -n 50 && mrc_pair_wait 60; }
answers() { mrc_until 30 fabric_in h1 ping -q -c 1 -W 2 "$1"; }
loops() { dmesg | grep -c "Dead loop" || :; }

ksft_plan
mrc_begin mrcctl mrc_verify ping
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
looped=$(loops)
ksft_test "h1 has one more address" comes h1
for family in v6 v4; do
	ksft_test "h1 to itself there, $family" whole itself $family
done

# ------------------------------------------------------------------- it goes
ksft_test "h1 no more" goes h1
ksft_test "h1 knows the way" paths 1 2
for to in $v6 $v4; do	# to nobody, from a netdev that may not be its own next hop
	fabric_in h1 ping -q -c 3 -i 0.2 -W 1 $to >/dev/null || true
done
ksft_test "h2 has it" comes h2
for to in $v6 $v4; do
	ksft_test "$to answers h1" answers $to
done
for family in v6 v4; do
	ksft_test "h1 to h2 there, $family" whole across $family
done

# --------------------------------------------------------------- it comes back
ksft_test "h2 no more" goes h2
ksft_test "h1 again" comes h1
for family in v6 v4; do
	ksft_test "h1 to itself there, $family" whole itself $family
done

# ------------------------------------------------------ under a connection, and back
# shellcheck disable=SC2034
MRC_STALL=200
ksft_test "retries for ever" mrcctl -n h1 dev set mrc0 exp-cnt 25
ksft_test "h1 to itself for long" itself v6 -o mix -s 16384 -t 600
ksft_test "data flows" mrc_until 30 mrc_receives h1
ksft_test "its address goes" ip -n h1 address del $v6/64 dev mrc0
mrc_sleep 1
ksft_test "and comes again" ip -n h1 address add $v6/64 dev mrc0 nodad
ksft_test "data flows again" mrc_until 60 mrc_receives h1
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_equal "nothing went around in circles" "$looped" "$(loops)"
ksft_finish
