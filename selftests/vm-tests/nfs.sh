#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 600
#
# NFS over RDMA: nfsd in h2, mounted in h1; a source tree is copied there and read back, and again
# while a plane is cut.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6 = mrc0 h2		by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

EXPORT=/run/nfs-export
MNT=/run/nfs-mnt
TREE=$MRC_TOP/kernel

in_server() { nsenter --net=/run/netns/h2 "$@"; }

# nfsd belongs to a namespace, its file system shows that of who mounted it.
serve() {
	mkdir -p $EXPORT $MNT /var/lib/nfs
	mount -t tmpfs -o size=128m tmpfs $EXPORT
	modprobe nfsd
	modprobe rpcrdma
	umount /proc/fs/nfsd 2>/dev/null || :
	in_server mount -t nfsd nfsd /proc/fs/nfsd
	at_exit give_up
	in_server exportfs -o rw,insecure,no_root_squash,no_subtree_check,fsid=0 "*:$EXPORT"
	echo 5 >/proc/fs/nfsd/nfsv4leasetime
	echo 5 >/proc/fs/nfsd/nfsv4gracetime
	mrc_start mountd h2 rpc.mountd -F -N 3
	in_server rpc.nfsd -N 3 -U 4 || return
	# The program's own option wants an address family that is up: say it to the kernel.
	in_server sh -c 'echo "rdma 20049" >/proc/fs/nfsd/portlist'
	grep -q rdma /proc/fs/nfsd/portlist
}

mounted() {
	nsenter --net=/run/netns/h1 mount -t nfs -o proto=rdma6,port=20049,vers=4.2,soft,timeo=1200 \
		"[fd00:6d72:63::2]:/" $MNT || return
	grep " $MNT .*proto=rdma" /proc/mounts
}
unmounted() { umount $MNT; }

# By fast registration: replies and data lie in regions of the client's.
has_regions() {
	local n
	n=$(rdma -j res show mr | jq length)
	echo "$n regions"
	[ "$n" -gt 1 ]
}

sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

same() {		# NAME: on the server's disk, and as the client reads it anew
	sums "$TREE" >"$MRC_DIR/was"
	sums "$EXPORT/$1" | cmp "$MRC_DIR/was" - || return
	unmounted && mounted >/dev/null || return
	sums "$MNT/$1" | cmp "$MRC_DIR/was" -
}

copied() {		# NAME
	cp -r "$TREE" "$MNT/$1" && same "$1"
}

# Large READs and WRITEs, not through the cache.
large() {
	local sum
	head -c 24M /dev/urandom >"$MRC_DIR/large"
	dd if="$MRC_DIR/large" of=$MNT/large bs=1M oflag=direct status=none || return
	sum=$(dd if=$MNT/large bs=1M iflag=direct status=none | sha256sum)
	[ "$sum" = "$(sha256sum <"$MRC_DIR/large")" ]
}

begin_copies() {
	(for n in 1 2 3 4 5 6; do cp -r "$TREE" $MNT/cut$n || exit; done) &
	COPY=$!
	mrc_until 60 test -e $MNT/cut1
}
end_copies() {
	local n
	wait $COPY || return
	for n in 1 2 3 4 5 6; do
		sums "$EXPORT/cut$n" | cmp "$MRC_DIR/was" - || return
	done
	same cut6
}
at_work() { kill -0 $COPY; }

# shellcheck disable=SC2317  # at_exit
give_up() {
	umount -f -l $MNT 2>/dev/null || :
	in_server rpc.nfsd 0 2>/dev/null || :
}

stopped() {
	unmounted || return
	in_server rpc.nfsd 0
	mrc_kill mountd
	umount /proc/fs/nfsd $EXPORT
}

ksft_plan
mrc_begin rpc.nfsd rpc.mountd exportfs mount.nfs
modprobe -n rpcrdma && modprobe -n nfsd || ksft_skip_all "needs rpcrdma and nfsd"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "nfsd listens" serve
ksft_test "mounted" mounted
ksft_test "by fast registration" has_regions
ksft_test "a source tree, copied and compared" copied one
ksft_test "large and direct" large
ksft_test "copies are under way" begin_copies
ksft_test "plane 2 is cut at h1" fabric_cut h1 eth2
ksft_test "they go on" at_work
ksft_test "large and direct" large
ksft_test "restored" fabric_restore h1 eth2
ksft_test "every copy is as the tree" end_copies
ksft_test "unmounted, and nfsd ends" stopped
ksft_test "nothing is left" mrc_until 60 mrc_no_resources
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
