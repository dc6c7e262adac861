#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: old uml
#
# States of a queue pair: verbs/mrc_states.c; what is promised of requests: verbs/mrc_requests.c; and what rdma(8) shows of queues.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/starve.sh"

shows() {	# OBJECT WORD
	rdma -dd resource show "$1" >"$MRC_DIR/resource"
	grep -qF "$2" "$MRC_DIR/resource" || { cat "$MRC_DIR/resource"; return 1; }
}

ksft_plan
mrc_begin mrc_states mrc_requests mrc_verify mrcctl
ksft_test "one plane" mrc_one_plane
mrc_harness h1 states mrc_states
mrc_harness h1 requests mrc_requests

ksft_test "a connection" mrc_verify_start -o mix -q 2 -s 4096 -t 600
ksft_test "that works" mrc_flows 60
ksft_test "rdma shows requests in flight" shows qp sq_in_flight
ksft_test "and receives that are posted" shows qp rq_posted
ksft_test "completions that were not polled" shows cq unpolled
ksft_test "pages of regions" shows mr pages
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 30

# A QP is made small (Documentation/operations/limits.md): 4 KiB packets seldom want more, a quarter of that does.
grown() {
	read -r sends receives < <(rdma -ddj resource show qp | jq -r '
		[.[] | select(.type == "RC") | { (.ifname): .drv_bytes }] | add | "\(.mrc1 // 0) \(.mrc2 // 0)"')
	echo "$sends bytes of who sends, $receives of who receives"
	[ "$sends" -ge $((receives + 16384)) ]
}
grow_fails() { mrc_stat h1 grow_no_mem && [ "$REPLY" -gt 0 ]; }
not_grown() { ! grown; }

without_memory() {
	ksft_test "memory to grow is refused" starve_pages qp_grow_work 100
	ksft_test "much to send in small packets" mrc_verify_start -o write -m 1024 -q 8 -s 262144 -t 600
	ksft_test "that works" mrc_flows 60
	ksft_test "it was asked for, and that is counted" mrc_until 30 grow_fails
	ksft_test "nobody has taken more memory" not_grown
	ksft_test "and data flow" mrc_flows 60
	ksft_test "there is memory again" starve_pages qp_grow_work 0
	ksft_test "it is asked for again, and taken" mrc_until 30 grown
	kill -INT "${MRC_PID[client]}" || true
	ksft_test "every byte arrived right, before and after" mrc_pair_wait 30
}
! can_starve || without_memory

ksft_test "much to send in small packets" mrc_verify_start -o write -m 1024 -q 8 -s 262144 -t 600
ksft_test "that works, too" mrc_flows 60
ksft_test "who sends has taken more memory" mrc_until 30 grown
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right, before and after" mrc_pair_wait 30
ksft_finish
