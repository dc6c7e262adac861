#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: new
#
# Debian's perftest, unchanged, over four planes, which checks no data: verify.sh does; with QPs of
# mrc.h made for it (libmrc's example mrc_shim, nccl.sh has data compared), and the example mrc_bw.
#
#	h1 mrc0 = 4 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin ib_write_bw mrc_bw mrcctl
ksft_test "four planes by hand" mrc_fabric_by_hand 2 4 2 2
ksft_test "ib_write_bw" mrc_perf 60 ib_write_bw -s 65536 -n 200
ksft_test "ib_write_bw, both ways" mrc_perf 60 ib_write_bw -b -s 65536 -n 100
ksft_test "ib_write_bw, 8 QPs" mrc_perf 60 ib_write_bw -q 8 -s 16384 -n 50
ksft_test "ib_write_bw, 100 QPs" mrc_perf 60 ib_write_bw -q 100 -s 4096 -n 5 -t 5
ksft_test "ib_read_bw, both ways, 4 QPs" mrc_perf 60 ib_read_bw -b -q 4 -s 16384 -n 20
ksft_test "ib_send_bw, both ways" mrc_perf 60 ib_send_bw -b -e -s 16384 -n 50
ksft_test "ib_read_bw" mrc_perf 60 ib_read_bw -e -s 65536 -n 100
ksft_test "ib_send_bw" mrc_perf 60 ib_send_bw -e -s 65536 -n 200
ksft_test "ib_atomic_bw" mrc_perf 60 ib_atomic_bw -e -n 200
ksft_test "ib_write_lat" mrc_perf 60 ib_write_lat -s 64 -n 200
ksft_test "ib_read_lat" mrc_perf 60 ib_read_lat -e -s 64 -n 200
# ib_send_lat -e takes the event of a received message for that of its send, if the answer overtakes the acknowledgement. Of
# the first message it then reads a completion that it never got, whose status is what lay in memory (perftest 4.5,
# run_iter_lat_send(): s_wc). So it gets another chance when it complains of a status that does not exist.
# Later messages leave their completions unread: see cq_entries().
no_such_status() { grep -Eh 'Failed status (-|[0-9]{3})' "$MRC_DIR"/{client,server}.out; }
send_lat() {
	for _ in 1 2 3; do
		if mrc_perf 60 ib_send_lat -e -s 64 -n 1000; then
			return 0
		fi
		no_such_status || return
	done
	return 1
}
ksft_test "ib_send_lat" send_lat
ksft_test "ib_atomic_lat" mrc_perf 60 ib_atomic_lat -e -n 200

# Unchanged, and with QPs of mrc.h; a CC profile that only those can name shows it.
shim=$MRC_DIR/shim_write_bw
cat >"$shim" <<END
#!/bin/sh
exec env MRC_DEBUG=1 MRC_QP_CC_PROFILE_ID=5 LD_PRELOAD=$MRC_TOP/build/verbs/mrc_shim.so ib_write_bw --use_old_post_send "\$@"
END
chmod +x "$shim"
for host in h1 h2; do
	ksft_test "a CC profile on $host" mrcctl -n $host cc set dev mrc0 id 5 algorithm nscc
done
of_mrc_h() {
	mrcctl -n h1 -j qp show |
		jq -e '[.[] | select(.state == "RTS")] | length == 4 and all(.[]; .cc_profile == 5)' >/dev/null
}
shim_runs() {
	mrc_perf_start "$shim" -q 4 -s 65536 -D 30 && mrc_until 30 of_mrc_h && mrc_pair_wait 60
}
counted() {
	mrc_out server 40
	mrc_out "$1" 40 | grep -q 'mrc_shim: 4 queue pairs were of mrc.h'
}
ksft_test "ib_write_bw with 4 QPs of mrc.h and the CC profile they name" shim_runs
ksft_test "its client's QPs were" counted client
ksft_test "its server's QPs were" counted server

# The same through mrc.h; its receiver compares every byte.
sweep() {	# [ARG...]
	local server
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h2 v6 && server=$REPLY && mrc_gid_index h1 v6 || return
	mrc_pair 60 $MRC_PORT mrc_bw -e -d "${MRC_IBDEV[h2]}" -g "$server" -p $MRC_PORT "$@" -- \
		mrc_bw -e -d "${MRC_IBDEV[h1]}" -g "$REPLY" -p $MRC_PORT "$@" 10.77.0.2 || return
	mrc_out client
	mrc_out server | grep -q "every byte is right"
}
planes_used() { mrcctl -n h1 -j plane show | jq -c '[.[].tx_pkts]'; }
before=$(planes_used)
ksft_test "mrc_bw, 1 byte to 256 KiB" sweep -S 262144 -n 30
ksft_test "over all planes" jq -en --argjson a "$before" --argjson b "$(planes_used)" \
	'[$a, $b] | transpose | length == 4 and all(.[]; .[1] - .[0] > 500)'
ksft_test "nothing was counted that should not be" mrc_expect_clean
ksft_finish
