#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new
# timeout: 240
#
# A peer that is not MRC: rdma_rxe. Datagrams and connection managers understand each other; an RC
# connection cannot be, and is refused with a reason at once, whoever asks for it.
#
#	h1 (mrc1) eth1 ---- x0 (rxe1) this namespace	rxe hears in the initial one only
#
# Then a host without RoCEv2: its module is not loaded, or it has siw, which speaks TCP (Debian's kernel has none).

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

two_stacks() {
	mrc_clear || return
	mkdir -p "$FABRIC_DIR"
	echo h1 >"$FABRIC_DIR/nodes"
	echo "1 1 1 1" >"$FABRIC_DIR/size"
	fabric_load
	ip netns add h1 && fabric__no_dad h1 || return
	ip link add x0 type veth peer name eth1 netns h1
	ip -b - <<-BATCH || return
		link set x0 up
		address add 10.77.0.2/24 dev x0
		address add fd00:6d72:63::2/64 dev x0 nodad
	BATCH
	ip -n h1 -b - <<-BATCH || return
		link set lo up
		link set eth1 up
		address add 10.77.0.1/24 dev eth1
		address add fd00:6d72:63::1/64 dev eth1 nodad
	BATCH
	fabric_in h1 rdma link add mrc1 type mrc netdev eth1 &&
		rdma link add rxe1 type rxe netdev x0 &&
		mrc_wait_devices && mrc_until 20 gid_of rxe1 &&
		mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 10.77.0.2 &&
		mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 fd00:6d72:63::2
}

# gid_of DEV: REPLY is the index of its IPv4 GID.
gid_of() {
	local file gid
	for file in /sys/class/infiniband/"$1"/ports/1/gids/{0..9}; do
		read -r gid 2>/dev/null <"$file" || continue
		[[ $gid = *:ffff:0a4d:* ]] || continue
		REPLY=${file##*/}
		return
	done
	return 1
}

start_in() {		# NAME NS CMD...
	local name=$1 ns=$2
	shift 2
	if [ "$ns" = h1 ]; then
		mrc_start "$name" h1 "$@"
	else
		: >"$MRC_DIR/$name.out"
		"$@" >"$MRC_DIR/$name.out" 2>&1 </dev/null &
		MRC_PID[$name]=$!
	fi
}
cm_listens() {
	rdma -j res show cm_id |
		jq -e "any(.[]; .pid == ${MRC_PID[server]} and .state == \"LISTEN\")"
}

ud_both() {
	local mrc rxe
	gid_of mrc1 && mrc=$REPLY && gid_of rxe1 && rxe=$REPLY || return
	MRC_PORT=$((MRC_PORT + 1))
	start_in server here ibv_ud_pingpong -d rxe1 -g "$rxe" -p $MRC_PORT -n 50 -s 700 -c
	mrc_until 30 mrc_listens server $MRC_PORT || return
	start_in client h1 ibv_ud_pingpong -d mrc1 -g "$mrc" -p $MRC_PORT -n 50 -s 700 -c 10.77.0.2
	mrc_pair_wait 60
}

udaddy_both() {		# SERVER_NS ADDRESS CLIENT_NS
	start_in server "$1" udaddy -b "$2" -c 1 -C 4 -S 256
	mrc_until 30 cm_listens || return
	start_in client "$3" udaddy -s "$2" -c 1 -C 4 -S 256
	mrc_pair_wait 60
}

# The receiver ends when it has all datagrams of the group.
group_both() {		# RECEIVER_NS ADDRESS NETDEV SENDER_NS CMD...
	start_in server "$1" stdbuf -oL mckey -m 239.77.2.1 -b "$2" -C 50 -S 500
	mrc_until 20 joined "$1" "$3" || { mrc_out server; return 1; }
	# That was rdma_cm; it attaches then, and says so.
	mrc_until 20 grep "joined dgid" "$MRC_DIR/server.out" || { mrc_out server; return 1; }
	start_in client "${@:4}"
	mrc_pair_wait 30
}
joined() {		# NS NETDEV
	[ "$1" = here ] && REPLY='' || REPLY="-n $1"
	# shellcheck disable=SC2086
	[[ $(ip $REPLY maddress show dev "$2") = *239.77.2.1* ]]
}

# Its client ends badly, by itself, and long before a connection gives up.
refused() {		# SERVER_NS ADDRESS CLIENT_NS
	local rc=0
	start_in server "$1" rping -s -a "$2" -p $((++port)) -C 2
	mrc_until 30 cm_listens || return
	start_in client "$3" rping -c -a "$2" -p $port -C 2
	mrc_wait client 20 || rc=$?
	mrc_kill server
	echo "client: status $rc: $(mrc_out client)"
	[ $rc -ne 0 ] && [ $rc -ne 124 ]
}
port=7400

counted() { mrc_stat h1 plain_refused && echo "plain_refused $REPLY" && [ "$REPLY" -ge "$1" ]; }
# hint ADDRESS: REPLY, what mrcctl says of the peer.
hinted() { mrcctl -n h1 -j peer show | jq -e 'any(.[]; .hints | index("plain"))'; }

ksft_plan
mrc_begin rping udaddy mckey ibv_ud_pingpong mrcctl mrc_group stdbuf
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
modprobe rdma_rxe || ksft_skip_all "needs rdma_rxe"
at_exit ip link del x0
ksft_test "mrc1 in a namespace, rxe1 here" two_stacks
ksft_test "ibv_ud_pingpong between them" ud_both
ksft_test "udaddy, mrc1 to rxe1" udaddy_both here 10.77.0.2 h1
ksft_test "udaddy, rxe1 to mrc1, IPv6" udaddy_both h1 fd00:6d72:63::1 here
ksft_test "mckey, mrc1 to a group of rxe1" group_both here 10.77.0.2 x0 \
	h1 mckey -m 239.77.2.1 -b 10.77.0.1 -C 50 -S 500 -s
# mckey ends before rdma_rxe has sent what it posted, which then is never sent.
ksft_test "mckey hears rxe1, in a group of mrc1" group_both h1 10.77.0.1 eth1 \
	here mrc_group rxe1 239.77.2.1 50 500
ksft_test "rping from mrc1 to rxe1 is refused" refused here 10.77.0.2 h1
ksft_test "counted" counted 1
ksft_test "mrcctl peer show says why" hinted
said() { dmesg | grep -q "its connection manager speaks plain RoCEv2"; }
ksft_test "and the kernel's log" said
ksft_test "rping from rxe1 to mrc1 is refused" refused h1 fd00:6d72:63::1 here
ksft_test "counted" counted 2
ksft_test "nothing was counted that should not be" mrc_expect_clean

# ---- without RoCEv2

# rdma_cm asks for long; why that is in vain is told at once.
rxe_leaves() { rdma link del rxe1 && mrc_until 10 rmmod rdma_rxe; }
asks() {		# ADDRESS
	local before rc=0
	mrc_stat h1 port_unreach && before=$REPLY
	start_in client h1 rping -c -a "$1" -p 7500 -C 2
	mrc_until 20 unreached "$before" || rc=$?
	mrc_kill client
	return $rc
}
asks_in_vain() {	# ADDRESS
	local rc=0
	start_in client h1 rping -c -a "$1" -p 7500 -C 2
	mrc_until 40 nobody_there "$1" || rc=$?
	mrc_kill client
	return $rc
}
unreached() { mrc_stat h1 port_unreach && [ "$REPLY" -gt "$1" ]; }
nobody_there() {	# ADDRESS
	mrcctl -n h1 -j peer show | jq -e --arg at "$1" 'any(.[]; .peer == $at and (.hints | index("nobody")))'
}
said_nobody() { dmesg | grep -q "10.77.0.2 reports that UDP port 4791 is closed: no RoCEv2 device has this address"; }

ksft_test "rdma_rxe leaves" rxe_leaves
ksft_test "rping asks over IPv4: told that nobody hears" asks 10.77.0.2
ksft_test "mrcctl peer show says so" nobody_there ::ffff:10.77.0.2
ksft_test "and the kernel's log" said_nobody
ksft_test "over IPv6, without an ICMP: mrcctl peer show says so" asks_in_vain fd00:6d72:63::2
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
