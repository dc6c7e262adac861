#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# kernels: old arm64
#
# What a device shows of itself, and devices that cannot be.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	by "rdma link add"
#	n1: mrc0 over a1 a2			by "ip link"

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# rdma(8) has no way to show a message of the kernel: it is in the log.
log_says() {
	local text=$1 mark=mrc-test-$RANDOM
	shift
	echo "$mark" >/dev/kmsg
	! "$@" || { echo "was not refused"; return 1; }
	dmesg | sed -n "/$mark/,\$p" | grep "$text"
}

at_least() { [ "$(sed -nE "s/^\s*$1:\s+([0-9]+).*/\1/p" "$MRC_DIR/devinfo")" -ge "$2" ]; }

# What the processor can, or what the crypto API has of its own instructions, or else shifts and XORs. On arm64 the
# kernel's library goes by instructions itself.
icrc_by() {
	local by want=sparse
	modprobe crc32-pclmul 2>/dev/null && want=crc32-pclmul
	! grep -q '^driver *: crc32-lib$' /proc/crypto || want=crc32-lib	# since 6.14; it knows the processor
	case $(grep -m1 ^flags /proc/cpuinfo)\  in
	*' pclmulqdq '*' avx '*' avx2 '*' avx512f '*' avx512_bf16 '*' vpclmulqdq '*) want=vpclmulqdq-avx512;;
	*' pclmulqdq '*' avx '*' avx2 '*' vpclmulqdq '*) want=vpclmulqdq-avx2;;
	*' pclmulqdq '*' avx '*) want=pclmulqdq-avx;;
	esac
	! grep -q '^Features.* crc32' /proc/cpuinfo || want=crc32-arm64
	by=$(mrcctl -n h1 -d -j dev show | jq -r '.[].icrc_by')
	echo "computed by $by, expected $want"
	[ "$by" = "$want" ]
}

ksft_plan
mrc_begin ibv_devinfo
ksft_test "rdma link add on both ends of a cable" mrc_one_plane

# ------------------------------------------------- what others see of it
ibv_devinfo -v -d mrc1 >"$MRC_DIR/devinfo" 2>&1 || true
for line in 'transport:\s+InfiniBand' 'state:\s+PORT_ACTIVE' 'link_layer:\s+Ethernet' \
	'active_mtu:\s+4096' 'phys_port_cnt:\s+1' 'GID.*fd00:6d72:63::1, RoCE v2' \
	'atomic_cap:\s+ATOMIC_HCA'; do
	ksft_test "ibv_devinfo: ${line//\\s+/ }" grep -E "$line" "$MRC_DIR/devinfo"
done
ksft_test "max_cqe for libfabric" at_least max_cqe $((1 << 18))
ksft_test "max_qp_wr" at_least max_qp_wr 16384
ksft_test "max_sge" at_least max_sge 16
ksft_equal "max_sge_rd, which NFS takes for the depth of a registration" 16 \
	"$(sed -nE 's/^\s*max_sge_rd:\s+//p' "$MRC_DIR/devinfo")"
ksft_test "rdma link show" grep -E 'mrc1/1 state ACTIVE .*netdev eth1' \
	<(ip netns exec h1 rdma link show mrc1/1)
ksft_test "rdma res show" grep mrc1 <(rdma res show mrc1)
ksft_test "rdma statistic shows the counters" grep 'tx_pkts 0 .*rx_bad_icrc 0' \
	<(rdma statistic show link mrc1/1)
ksft_test "the plug-in's mark in sysfs" grep -x '[0-9]*' /sys/class/infiniband/mrc1/mrc_abi
ksft_equal "parent in sysfs" eth1 "$(cat /sys/class/infiniband/mrc1/parent)"
ksft_equal "mrcctl: the device of the namespace and of no other" mrc1 \
	"$(mrcctl -n h1 -j dev show | jq -r '.[].ibdev')"
mrc_stats h1
ksft_equal "mrcctl shows the counters that sysfs shows" "$(sort <<<"${REPLY%$'\n'}")" \
	"$(mrcctl -n h1 -d -j stats show | jq -r '.[].stats | to_entries[] | "\(.key) \(.value)"' | sort)"
qp_bytes=$(mrcctl -n h1 -d -j dev show | jq '.[].qp_bytes')
ksft_test "memory of an idle QP: $qp_bytes bytes" test "$qp_bytes" -lt 53248
ksft_test "mrcctl dev show -d: what computes ICRCs" icrc_by
ksft_test "nobody may look at planes" fabric_in h1 setpriv --reuid 65534 --clear-groups \
	"$(command -v mrcctl)" plane show
ksft_test "nobody may not change them" refused "not permitted" -- fabric_in h1 \
	setpriv --reuid 65534 --clear-groups "$(command -v mrcctl)" \
	plane set dev eth1 plane 1 admin off
ksft_test "a netdev that is another device's" refused eth1 already -- sh -c '
	ip -n h1 link add mrc9 type mrc && ip -n h1 link set eth1 master mrc9'
ip -n h1 link del mrc9

# ------------------------------------------------------------ rdma link add
ksft_test "an unknown netdev" refused -- rdma link add mrc7 type mrc netdev nosuch0
ksft_test "a second device on one netdev" log_says "eth1.*MRC device already" \
	fabric_in h1 rdma link add mrc7 type mrc netdev eth1
ksft_test "a name that is taken" refused -- fabric_in h1 rdma link add mrc2 type mrc netdev lo
ksft_test "loopback" refused -- fabric_in h1 rdma link add mrc7 type mrc netdev lo
ksft_test "rdma link delete" rdma link delete mrc1
ksft_test "made again" fabric_in h1 rdma link add mrc1 type mrc netdev eth1
ksft_test "with its GIDs" mrc_wait_devices
ksft_test "the netdev goes and takes the devices with it" ip -n h1 link del eth1
no_devices() { ! ls -d /sys/class/infiniband/mrc*; }
ksft_test "both of them: a cable has two ends" mrc_until 10 no_devices

# ------------------------------------------------------------- port in use
ip netns add n1
at_exit ip netns del n1
ip -n n1 -b - <<-BATCH
	link set lo up
	link add a1 type veth peer name b1
	link add a2 type veth peer name b2
BATCH
mrc_start thief n1 socat UDP6-RECVFROM:4791 STDOUT
taken() { grep -q ':12B7 ' "/proc/${MRC_PID[thief]}/net/udp6"; }
mrc_until 10 taken
ksft_test "ip link: port 4791 taken" refused 4791 "in use" -- ip -n n1 link add mrc0 type mrc
ksft_test "rdma link: port 4791 taken" log_says "port 4791" \
	fabric_in n1 rdma link add mrc7 type mrc netdev a1
mrc_kill thief

# ----------------------------------------------------------------- by hand
ksft_test "ip link add" ip -n n1 link add mrc0 type mrc
ksft_test "a first plane" ip -n n1 link set a1 master mrc0
ksft_test "a second plane" ip -n n1 link set a2 master mrc0
ksft_equal "planes are numbered as they come" "1 a1 2 a2" \
	"$(mrcctl -n n1 -j plane show | jq -r '[.[] | "\(.plane) \(.ifname)"] | join(" ")')"
ksft_test "loopback is no plane" refused lo loopback -- ip -n n1 link set lo master mrc0
ksft_test "the device is not its own plane" refused mrc0 -- ip -n n1 link set mrc0 master mrc0
ip -n n1 link add mrc1 type mrc
ksft_test "a plane moves to another device" ip -n n1 link set a1 master mrc1
ksft_equal "where it is the first" "1 a1 mrc1 2 a2 mrc0" \
	"$(mrcctl -n n1 -j plane show | jq -r '[.[] | "\(.plane) \(.ifname) \(.dev)"] | sort | join(" ")')"
ksft_test "no SID that is no unicast address" refused SID unicast -- \
	mrcctl -n n1 plane set dev mrc0 plane 2 sid ff02::1
ksft_test "a plane that does not exist" refused "no plane" -- \
	mrcctl -n n1 plane set dev mrc0 plane 7 admin off
ksft_test "it leaves" ip -n n1 link set a1 nomaster
ksft_test "and comes back" ip -n n1 link set a1 master mrc0
ksft_equal "with the lowest number" 1 "$(mrcctl -n n1 -j plane show | jq '.[] | select(.ifname == "a1").plane')"
ksft_test "deleted" ip -n n1 link del mrc0
ksft_test "a namespace goes with its device" ip netns del n1
ksft_test "no device is left" mrc_until 10 no_devices
ksft_finish
