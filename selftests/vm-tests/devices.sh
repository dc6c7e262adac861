#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: full
#
# Two devices of one host: both carry data at once, rdma_cm takes the one that an address is of, and programs
# on the two talk to each other. The latter without rdma_cm, which does not connect two addresses of one host that
# are on different netdevs, with rdma_rxe neither (Documentation/reference/compatibility.md).
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2
#	h1 (mrc3) eth2 ---- eth2 (mrc4) h2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/cm.sh"

second_cable() {
	local i
	fabric__cable h1 eth2 h2 eth2 | ip -b - || return
	for i in 1 2; do
		ip -n h$i -b - <<-BATCH || return
			link set eth2 up
			address add fd00:6d72:64::$i/64 dev eth2 nodad
			address add 10.78.0.$i/24 dev eth2
		BATCH
		fabric_in h$i rdma link add "mrc$((2 + i))" type mrc netdev eth2 || return
	done
	mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 fd00:6d72:64::2 &&
		mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 10.78.0.2
}

# gid_of DEVICE HALF: REPLY, the index of its RoCE v2 GID that ends so.
gid_of() {
	local i
	for i in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		[[ $(<"$i") != *"$2" ]] || [[ $(<"${i/gids/gid_attrs\/types}") != *v2 ]] && continue
		REPLY=${i##*/}
		return
	done
	echo "$1 has no GID of $2"
	return 1
}

# sent DEVICE: REPLY, bytes of its connections.
sent() { read -r REPLY <"/sys/class/infiniband/$1/ports/1/hw_counters/tx_bytes"; }

# moves DEVICE OTHER COMMAND...: its connections carried that, and not those of the other.
moves() {
	local device=$1 other=$2 was other_was
	shift 2
	sent "$other" && other_was=$REPLY && sent "$device" && was=$REPLY || return
	"$@" || return
	sent "$device"
	[ "$REPLY" -gt $((was + 4000)) ] || { echo "$device sent $((REPLY - was)) bytes"; return 1; }
	sent "$other"
	[ "$REPLY" -eq "$other_was" ] || { echo "$other sent $((REPLY - other_was)) bytes"; return 1; }
}

# bw NAME DEVICE DEVICE GID GID ADDRESS
bw() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start "server$1" h2 ib_write_bw -F -d "$3" -x "$5" -p $MRC_PORT -s 65536 -D 6 -u 18
	mrc_until 30 mrc_listens "server$1" $MRC_PORT || { echo "no server: $(mrc_out "server$1")"; return 1; }
	mrc_start "client$1" h1 ib_write_bw -F -d "$2" -x "$4" -p $MRC_PORT -s 65536 -D 6 -u 18 "$6"
}
both_at_once() {
	local g rc=0 name before3 before1
	local -a gids=()
	for g in mrc1:0000:0001 mrc2:0000:0002 mrc3:0000:0001 mrc4:0000:0002; do
		gid_of "${g%%:*}" "${g#*:}" || return
		gids+=("$REPLY")
	done
	sent mrc1 && before1=$REPLY && sent mrc3 && before3=$REPLY || return
	bw 1 mrc1 mrc2 "${gids[@]:0:2}" 10.77.0.2 && bw 2 mrc3 mrc4 "${gids[@]:2:2}" 10.78.0.2 || return
	for name in client1 client2 server1 server2; do
		mrc_wait $name 60 || { echo "$name: $(mrc_out $name)"; rc=1; }
	done
	sent mrc1 && echo "mrc1: $((REPLY - before1)) bytes" && [ "$REPLY" -gt $((before1 + 65536)) ] || rc=1
	sent mrc3 && echo "mrc3: $((REPLY - before3)) bytes" && [ "$REPLY" -gt $((before3 + 65536)) ] || rc=1
	return $rc
}

# A server in h2, a client in h1, both of which verify.
rping_to() {
	cm_pair 60 rping -s -a "$1" -p $((++CM_PORT)) -V -C 10 -S 4000 -- \
		rping -c -a "$1" -p $CM_PORT -V -C 10 -S 4000
}

# From mrc1 to mrc3, over lo.
pingpong() {
	local there
	gid_of mrc3 0000:0001 && there=$REPLY && gid_of mrc1 0000:0001 || return
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server h1 ibv_rc_pingpong -d mrc3 -g "$there" -p $MRC_PORT -c -e -n 100
	mrc_until 30 mrc_listens server $MRC_PORT || { echo "no server: $(mrc_out server)"; return 1; }
	mrc_start client h1 ibv_rc_pingpong -d mrc1 -g "$REPLY" -p $MRC_PORT -c -e -n 100 127.0.0.1
	mrc_pair_wait 60
}

ksft_plan
mrc_begin rping ib_write_bw ibv_rc_pingpong
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "a cable, and a device at each end" mrc_one_plane
ksft_test "a second one" second_cable
ksft_test "both carry data at once" both_at_once
for to in 10.77.0.2 fd00:6d72:63::2; do
	ksft_test "rdma_cm to $to: by mrc1" moves mrc1 mrc3 rping_to $to
done
for to in 10.78.0.2 fd00:6d72:64::2; do
	ksft_test "rdma_cm to $to: by mrc3" moves mrc3 mrc1 rping_to $to
done
ksft_test "from one to the other" moves mrc1 mrc2 pingpong
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_test "one goes" rdma link delete mrc3
ksft_test "the other works" rping_to 10.77.0.2
ksft_finish
