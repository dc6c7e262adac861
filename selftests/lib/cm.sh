# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# cm.sh - runs rdma_cm's own programs: server in h2, client in h1.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/cm.sh"
#	cm_rping v6			# CM_ROUNDS (10) of its messages
#	cm_pair 60 SERVER... -- CLIENT...

CM_PORT=7300
CM_ROUNDS=10

# cm_addr v4|v6: sets REPLY to the address of h2.
cm_addr() { [ "$1" = v6 ] && REPLY=fd00:6d72:63::2 || REPLY=10.77.0.2; }

# Does a program listen by rdma_cm? Its id is visible then.
cm_listens() {
	rdma -j res show cm_id |
		jq -e "any(.[]; .pid == ${MRC_PID[$1]} and .state == \"LISTEN\")"
}

# A program that listens on all addresses has no id that a device shows. It listens if it waits for an event.
cm_awaits() { [ "$(<"/proc/${MRC_PID[$1]}/wchan")" = ucma_get_event ]; }

# cm_pair SECS SERVER... -- CLIENT...: as mrc_pair, for programs that listen by rdma_cm.
cm_pair() {
	local secs=$1 server=()
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	mrc_start server h2 "${server[@]}"
	if ! mrc_until 30 cm_listens server; then
		echo "the server does not listen: $(mrc_out server)"
		return 1
	fi
	mrc_start client h1 "$@"
	cm_wait "$secs"
}
cm_wait() { mrc_pair_wait "$1"; }

# Each with FAMILY.
cm_rping() {
	cm_addr "$1"
	cm_pair 60 rping -s -a "$REPLY" -p $((++CM_PORT)) -V -C $CM_ROUNDS -S 4000 -- \
		rping -c -a "$REPLY" -p $CM_PORT -V -C $CM_ROUNDS -S 4000
}
cm_ucmatose() {
	cm_addr "$1"
	cm_pair 60 ucmatose -b "$REPLY" -p $((++CM_PORT)) -c 4 -C $CM_ROUNDS -S 2000 -- \
		ucmatose -s "$REPLY" -p $CM_PORT -c 4 -C $CM_ROUNDS -S 2000
}
# Its datagrams may be lost, and udaddy does not retransmit. So few of them, whatever CM_ROUNDS says. (It has
# one port.)
cm_udaddy() {
	cm_addr "$1"
	cm_pair 60 udaddy -b "$REPLY" -c 2 -C 8 -S 512 -- udaddy -s "$REPLY" -c 2 -C 8 -S 512
}
cm_rstream() {		# sockets over RDMA; every byte is verified
	cm_addr "$1"
	cm_pair 90 rstream -b "$REPLY" -p $((++CM_PORT)) -T v -S 65536 -I 4 -C $CM_ROUNDS -- \
		rstream -s "$REPLY" -p $CM_PORT -T v -S 65536 -I 4 -C $CM_ROUNDS
}
cm_riostream() {	# the same, written into the peer's buffers
	cm_addr "$1"
	cm_pair 90 riostream -b "$REPLY" -p $((++CM_PORT)) -T v -S 65536 -I 4 -C $CM_ROUNDS -- \
		riostream -s "$REPLY" -p $CM_PORT -T v -S 65536 -I 4 -C $CM_ROUNDS
}
