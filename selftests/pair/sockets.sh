#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sockets.sh SIDE - RDS and SMC-R between two machines (host/sockets.sh): blocks there, digests back (stream.py),
# with a cable pulled under them.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"

ADDR=10.77.0		# RDS's and SMC's sockets are of IPv4

stream() { python3 "$here/stream.py" "$@"; }
qps() { rdma -j res show qp | jq '[.[] | select(.type == "RC")] | length'; }
has_qp() { REPLY=$(qps); echo "$REPLY RC queue pairs"; [ "$REPLY" -gt 0 ]; }
no_qp() { ! has_qp; }

serve() {
	ksft_plan
	python3 "$here/stream.py" rds serve $ADDR.2 &
	python3 "$here/stream.py" smc serve $ADDR.2 &
	until told_to_stop; do
		mrc_sleep 0.5
	done
	kill %1 %2 || :
	wait || :
	ksft_test "RDS goes" mrc_until 30 modprobe -r rds_rdma rds
	ksft_test "SMC goes" mrc_until 30 modprobe -r smc
	ksft_test "with their queue pairs" mrc_until 60 no_qp
	ksft_finish
}

runs() {	# KIND
	ksft_test "$1: blocks go and are confirmed" connects stream "$1" send $ADDR.1 $ADDR.2 0
	stream "$1" send $ADDR.1 $ADDR.2 ${2:-180} >"$VMOUT/$1.out" 2>&1 &
	STREAM=$!
	ksft_test "$1: by all cables" all_used
	ksft_test "$1: by queue pairs" has_qp
	ksft_test "$1: a cable is pulled" cable pull 2
	ksft_test "$1: which is seen" mrc_until 60 planes_up 3
	ksft_test "$1: the others carry it" mrc_until 60 used 3
	ksft_test "$1: it is plugged in" cable plug 2
	ksft_test "$1: it is used again" mrc_until 120 used 2
	ksft_test "$1: every block was confirmed" wait $STREAM
	ksft_comment "$(cat "$VMOUT/$1.out")"
}

client() {
	ksft_plan
	ksft_test "four planes" mrc_until 60 planes_up 4
	runs rds
	ksft_test "RDS goes" mrc_until 30 modprobe -r rds_rdma rds
	ksft_test "with its queue pairs" mrc_until 60 no_qp
	runs smc
	ksft_test "SMC goes" mrc_until 30 modprobe -r smc
	ksft_test "with its queue pairs" mrc_until 60 no_qp
	ksft_finish
}

pair_begin "$1" rdma python3
ip route add $ADDR.$PEER/32 dev mrc0 metric 100
modprobe -a rds rds_rdma smc
stream smc pnet cable1 mrc0
case $SIDE in
1)	client;;
2)	serve;;
esac
