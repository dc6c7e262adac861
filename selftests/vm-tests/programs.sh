#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: new
#
# Programs of the patterns that are published for mrc.h and mrc_ctl.h (libmrc/prog_*.c), unchanged command lines and
# masks included; every byte compared, and each once more with a plane cut under it. The controller's
# profiles carry the plug-in. And what a device shows of itself: its parent, and a GID by index 3.
#
#	h1 eth1 ---- eth1 h2	mrc0 over both, UDP
#	h1 eth2 ---- eth2 h2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/flat.sh"

SHIM=$MRC_TOP/build/verbs/mrc_shim.so
before=()	# words before the program's name

# run ROUNDS PROGRAM [ARG...]: receiver in h2, sender in h1; the GID index is the published default.
run() {
	local rounds=$1 program=$2
	shift 2
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair_start $MRC_PORT "${before[@]}" "$program" -d "${MRC_IBDEV[h2]}" -p $MRC_PORT "$@" -- \
		"${before[@]}" "$program" -d "${MRC_IBDEV[h1]}" -p $MRC_PORT -n "$rounds" "$@" 10.77.0.2
}
every_byte() { grep -q 'every byte right' "$MRC_DIR/client.out" || { mrc_out client; mrc_out server; return 1; }; }
short() { run 18 "$@" && mrc_pair_wait 60 && every_byte; }
rounds_are() { REPLY=$(grep -c '^round' "$MRC_DIR/client.out") || :; [ "$REPLY" -ge "$1" ]; }
goes_on() { rounds_are 0; mrc_until 60 rounds_are $((REPLY + $1)) || { mrc_out client; return 1; }; }
ends() { kill -INT "${MRC_PID[client]}" && mrc_pair_wait 60 && every_byte; }

# pattern WHAT PROGRAM [ARG...]
pattern() {
	local what=$1
	shift
	ksft_test "$what" short "$@"
	ksft_test "$what: runs until it is stopped" run 0 "$@"
	ksft_test "$what: data flows" goes_on 3
	ksft_test "$what: a plane is cut" fabric_cut h1 eth2
	ksft_test "$what: goes on" goes_on 9
	ksft_test "$what: the plane is back" fabric_restore h1 eth2
	ksft_test "$what: every byte was right" ends
}

# A GID by index 3, on both hosts: the third address of a device, see guide/mrc-programs.md.
third_address() {
	local i p
	for i in 1 2; do
		ip -n h$i addr add 10.77.1.$i/24 dev mrc0
		for p in 1 2; do
			ip -n h$i route add 10.77.1.$((3 - i))/32 via 192.168.$p.$((3 - i)) dev eth$p metric $((1000 + p))
		done
		mrc_until 10 has_gid "${MRC_IBDEV[h$i]}" 3 || return
	done
}
has_gid() {	# DEVICE INDEX: a RoCE v2 one
	grep -q 'RoCE v2' "/sys/class/infiniband/$1/ports/1/gid_attrs/types/$2" 2>/dev/null
}

parent_is() {	# HOST PATTERN: the device's parent, and that it can be read
	local dev=/sys/class/infiniband/${MRC_IBDEV[$1]}/device real
	real=$(readlink -e "$dev") || { echo "$dev leads nowhere"; return 1; }
	echo "$real, node $(<"$dev/numa_node")"
	# shellcheck disable=SC2053
	[[ $real == $2 ]]
}

of_profile() {	# ID: both QPs of h1 go by its EVs, and not by that which is denied
	mrcctl -n h1 -j qp show | jq -e "[.[] | select(.ev_profile == $1 and .state == \"RTS\")] | length == 2" >/dev/null
	mrcctl -n h1 -j ev show dev mrc0 peer "$peer" named "$1" |
		jq -ce 'map(select(.state == "denied")) | length == 1 and .[0].tx_pkts == 0'
}
says() { grep -q "$2" "$MRC_DIR/$1.out" || { mrc_out "$1"; return 1; }; }
make_profiles() { fabric_in "$1" env MRC_DEBUG=1 prog_ctl "${MRC_IBDEV[$1]}" make; }
on_the_wire() {	# ID FIRST: its EVs as mrcctl shows them
	mrcctl -n h1 -j profile show | jq -ce ".[] | select(.id == $1) | [.ev[].value] | sort | .[0]" | grep -q "$2"
}

ksft_plan
mrc_begin mrcctl prog_bench prog_plugin prog_verbs prog_ctl
ksft_test "two plain cables" mrc_flat
ksft_test "a device without a PCI device has a parent all the same" parent_is h1 '/sys/devices/platform/mrc'
ksft_test "a third address has GID index 3" third_address

pattern "the benchmark, masks of 0" prog_bench
pattern "the plug-in, with a thread for events" prog_plugin
ksft_test "its fatal event was counted where it said" says server "counted in the QP's context"
before=(env MRC_DEBUG=1)
pattern "through a shim, by dlopen" prog_verbs -l "$SHIM"
ksft_test "its QP was of mrc.h" says server 'mrc_shim: 1 queue pairs were of mrc.h'
before=(env MRC_DEBUG=1 LD_PRELOAD="$SHIM")
pattern "through a shim, preloaded" prog_verbs
ksft_test "its QP was of mrc.h, too" says server 'mrc_shim: 1 queue pairs were of mrc.h'

peer=10.77.1.2
for host in h1 h2; do
	ksft_test "the controller's profiles, $host" make_profiles $host
done
ksft_test "EVs from 0 are as they were said" on_the_wire 21 '0x00000000\|0$\|"0'
ksft_test "EVs with fields are whole on the wire" on_the_wire 22 0100020f
mrc_start controller h1 prog_ctl "${MRC_IBDEV[h1]}" events 1
for id in 21 22 23; do
	before=(env "MRC_QP_EV_PROFILE_ID=$id")
	ksft_test "profile $id carries it" run 0 prog_plugin
	ksft_test "profile $id: data flows" goes_on 9
	ksft_test "profile $id: its EVs, but the denied one" of_profile $id
	ksft_test "profile $id: a plane is cut" fabric_cut h1 eth2
	ksft_test "profile $id: goes on" goes_on 9
	ksft_test "profile $id: the plane is back" fabric_restore h1 eth2
	ksft_test "profile $id: every byte was right" ends
done
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
