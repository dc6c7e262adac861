#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new
# timeout: 300
#
# Containers: what may not lie upon mrc0 is refused with the reason, and guide/containers.md's ways, by podman if it is here.
#
#	the machine mrc0 = eth1, eth2 ==== eth1, eth2 = mrc0 of h2	by mrcd, [flat]

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

file=$MRC_DIR/fabric.toml

cables() {
	local i
	mrc_nodes h2 || return
	for i in 1 2; do
		ip link add eth$i type veth peer name eth$i netns h2 || return
		at_exit ip link del eth$i
	done
	printf '[flat]\nhosts = ["host", "h2"]\nports = ["eth1", "eth2"]\nipv4 = "10.77.0.0/24"\n' >"$file"
	at_exit ip link del mrc0
	mrcd -c "$file" -n host --once && fabric_in h2 mrcd -c "$file" -n h2 --once
}
refused_because() {	# TEXT CMD...
	local text=$1 said
	shift
	said=$("$@" 2>&1) && { echo "was taken"; return 1; }
	echo "$said"
	[[ $said = *"$text"* ]]
}
gids() { grep -hv '0000:0000:0000:0000:0000:0000:0000:0000' /sys/class/infiniband/*/ports/1/gids/* 2>/dev/null | sort; }
device() {	# ADDRESS_END: REPLY is the RDMA device with that GID, and INDEX its index
	local at
	at=$(grep -l "^fd00:6d72:0063:0000:0000:0000:0000:000$1\$" /sys/class/infiniband/*/ports/1/gids/*) || return
	REPLY=$(cut -d / -f 5 <<<"$at") INDEX=${at##*/}
}

ksft_plan
mrc_begin mrcd ib_write_bw
ksft_test "two hosts" cables
ksft_test "their devices" mrc_until 30 device 1
ksft_test "both" mrc_until 30 device 2
ksft_test "IP between them" mrc_until 30 ping -q -c 1 -W 2 10.77.0.2

# ------------------------------------------------------------------- refusals
modprobe -a rdma_ucm ipvlan macvlan bridge bonding dummy vrf 2>/dev/null || :
before=$(gids)
for kind in "ipvlan mode l2" "ipvlan mode l3" "macvlan mode bridge" "macvlan mode private"; do
	ksft_test "$kind upon mrc0 is refused with the reason" \
		refused_because "no ${kind%% *} upon mrc0, which carries IP of its own addresses only" \
		ip link add up0 link mrc0 type $kind
	ksft_test "and nothing of it stays" refused_because "does not exist" ip link show up0
done
ip link add br0 type bridge && at_exit ip link del br0
ksft_test "so is a bridge" refused_because "" ip link set mrc0 master br0
ksft_equal "no GID came" "$before" "$(gids)"
ip link add d0 type dummy && at_exit ip link del d0
ksft_test "ipvlan upon another netdev is none of ours" ip link add up1 link d0 type ipvlan mode l3
vrf() { ip link add v0 type vrf table 10 && ip link set mrc0 master v0 && ip link set mrc0 nomaster && ip link del v0; }
ksft_test "a VRF may have mrc0" vrf
mrcd -c "$file" -n host --once	# addresses that went with the VRF
ksft_test "IP between them again" mrc_until 30 ping -q -c 1 -W 2 10.77.0.2

# ----------------------------------------------------------------- containers
tag=mrc-test
storage=/run/podman-test
run() {	# NETWORK CMD...
	local network=$1
	shift
	podman --root $storage/root --runroot $storage/run --storage-driver vfs --cgroup-manager cgroupfs --runtime crun \
		run --rm --cgroups=disabled --network "$network" --ulimit memlock=-1 --security-opt label=disable \
		--device "/dev/infiniband/$uverbs" --device /dev/infiniband/rdma_cm $tag "$@"
}
# An image of the programs and what they load.
image() {
	at_exit rm -rf $storage
	local root=$storage/image file
	mkdir -p $root/{bin,etc,tmp,dev,proc,sys}
	cp -a /etc/libibverbs.d $root/etc/ &&
		for file in /usr/bin/ib_write_bw /usr/bin/ibv_devinfo /bin/busybox "$MRC_TOP"/build/lib/libmrc-rdmav*.so; do
			ldd "$file" 2>/dev/null | grep -o '/[^ ]*'
			echo "$file"
		done | sort -u | while read -r file; do
			install -D "$(readlink -f "$file")" "$root/$file"
		done
	for file in "$MRC_TOP"/build/lib/libmrc-rdmav*.so; do
		install -D "$file" "$root/usr/lib/$(uname -m)-linux-gnu/libibverbs/${file##*/}"
	done
	tar -C $root -c . | podman --root $storage/root --runroot $storage/run --storage-driver vfs import - $tag
}
write_bw() {	# of the container in NETWORK, to h2
	MRC_PORT=$((MRC_PORT + 1))
	device 2
	mrc_start server h2 ib_write_bw -F -u 18 -d "$REPLY" -x "$INDEX" -p $MRC_PORT -s 65536 -n 100
	mrc_until 30 mrc_listens server $MRC_PORT || return
	device 1
	run "$1" ib_write_bw -F -u 18 -d "$REPLY" -x "$INDEX" -p $MRC_PORT -s 65536 -n 100 10.77.0.2 || return
	mrc_wait server 30
}
if ! command -v podman crun >/dev/null; then
	ksft_skip "containers" "no podman and crun here"
	ksft_finish
fi
device 1
uverbs=$(basename "$(dirname "$(grep -lx "$REPLY" /sys/class/infiniband_verbs/*/ibdev)")")
ksft_test "an image" image
ksft_test "the host's network: ib_write_bw" write_bw host
ksft_test "a network of its own, and the host's GIDs" run none ibv_devinfo -v -d "$REPLY"
ksft_finish
