#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 90
# kernels: new
#
# Anybody may ask for dumps without end, so no dump takes the RTNL lock: ftrace counts. And a device may go while
# somebody looks at it.
#
#	h1 mrc0 = 2 planes, cables alone	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

tracing=/sys/kernel/tracing

# takes_rtnl CMD...: REPLY, how often this process took it.
takes_rtnl() {
	echo >$tracing/trace
	# shellcheck disable=SC2016
	sh -c 'echo $$ >'$tracing'/set_ftrace_pid && exec "$@"' sh "$@" || return
	REPLY=$(grep -c ' rtnl_lock <-' $tracing/trace || :)
}
counts() {
	takes_rtnl mrcctl -n h1 -j qp show dev mrc0
	echo "$REPLY"
	[ "$REPLY" -gt 0 ]
}
without() {		# OBJECT
	takes_rtnl mrcctl -n h1 -j "$1" show || return
	[ "$REPLY" -eq 0 ] || { grep ' rtnl_lock <-' $tracing/trace; return 1; }
}
looks() {
	while :; do
		for what in dev plane stats peer qp; do
			mrcctl -n h1 -j $what show || :
		done
	done >/dev/null 2>&1
}
comes_and_goes() {
	for _ in 1 2 3 4 5; do
		fabric_in h1 ip -b - <<-BATCH || return
			link add mrc9 type mrc
			link set mrc9 up
			link del mrc9
		BATCH
	done
	mrc_until 20 only_one
}
only_one() { [ "$(mrcctl -n h1 -j dev show | jq length)" -eq 1 ]; }

ksft_plan
mrc_begin mrcctl
[ -e $tracing/set_ftrace_filter ] || ksft_skip_all "needs ftrace's function tracer"
ksft_test "two hosts" mrc_flat
ksft_test "a peer is known" mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 fd00:6d72:63::2
echo rtnl_lock >$tracing/set_ftrace_filter
echo function >$tracing/current_tracer
ksft_test "to find a device by name takes it, and is counted" counts
for what in dev plane stats peer ev profile cc qp; do
	ksft_test "a dump does not take it: $what" without $what
done
echo nop >$tracing/current_tracer
looks &
ksft_test "devices come and go while somebody looks" comes_and_goes
kill %1
ksft_finish
