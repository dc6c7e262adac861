#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: new uml
#
# iproute2's rdma: counters of the port and of QPs, renaming, resources; and what node_exporter reads.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

# ---------------------------------------------------------------- what is read

# counted HOST COUNTER BY: it is that much more than the last time, or than 0.
declare -A COUNTED=()
counted() {
	local before=${COUNTED[$1/$2]:-0}
	mrc_stat "$1" "$2" || return
	COUNTED[$1/$2]=$REPLY
	echo "$2 of $1: $((REPLY - before)) more, expected $3"
	[ $((REPLY - before)) -eq "$3" ]
}

sysfs_all() {
	local file
	for file in "/sys/class/infiniband/$1/ports/1/hw_counters"/*; do
		[ "${file##*/}" = lifespan ] || echo "${file##*/} $(<"$file")"
	done | sort
}
tool_all() {
	rdma -j statistic show link "$1/1" |
		jq -r '.[0] | del(.ifindex, .ifname, .port) | to_entries[] | "\(.key) \(.value)"' | sort
}
genl_all() {
	mrcctl -n "$1" -d -j stats show | jq -r '.[].stats | to_entries[] | "\(.key) \(.value)"' | sort
}
# Names in the module's order.
in_order() {
	sed -n 's/^\tX(\([a-z0-9_]*\),.*/\1/p' "$MRC_TOP"/kernel/engine/base/mrc_stats.h "$MRC_TOP"/kernel/core/mrc_dev_stats.h
}
# Not all fit into rdma(8)'s message: the last are in sysfs only (where numbers must not lie unaligned some more).
agree() {
	local n left
	n=$(diff <(sysfs_all "$1") <(tool_all "$1") | tee /dev/stderr | grep -c '^>')
	[ "$n" -eq 0 ] && [ "$(tool_all "$1" | wc -l)" -gt 80 ] || return
	[ "$MRC_KVER" != uml ] || return 0
	left=$(diff <(sysfs_all "$1") <(tool_all "$1") | sed -n 's/^< \([^ ]*\) .*/\1/p' | sort)
	[ -z "$left" ] || diff <(in_order | tail -n "$(wc -l <<<"$left")" | sort) <(echo "$left")
}
# The port's own numbers with those of counters, as ib_core adds them up, and the module's sum.
# Nothing moves meanwhile, but for the first time that sysfs shows what it knows since 10 ms.
none_twice() {
	mrc_sleep 0.1
	mrc_stats "$1"
	mrc_sleep 0.1
	mrc_stats "$1"
	diff <(sort <<<"${REPLY%$'\n'}") <(genl_all "$1")
}

# --------------------------------------------------------- counters of QPs

LINK=mrc1/1
qps() { timeout 60 rdma -j statistic qp show link $LINK; }
# Of the only counter, or of none.
qp_of() { qps | jq -c "[.[] | select(.cntn)] | if length == 0 then null else .[0] | $1 end"; }
# Not in a pipe: its exit status counts.
count() { rdma statistic qp bind link $LINK lqpn "$@"; }
uncount() { rdma statistic qp unbind link $LINK cntn "$1" lqpn "$2"; }
grows() {	# COUNTER
	local before
	before=$(qp_of ".$1") || return
	mrc_until 20 eval "[ \"\$(qp_of .$1)\" -gt ${before:-0} ]"
}
qp_is() { echo "$(qps)"; [ "$(qp_of "$1")" = "$2" ]; }

# A QP without a connection, which waits for datagrams: ud_qpn.
ud_of() { rdma -j res show qp link $LINK | jq ".[] | select(.pid == ${MRC_PID[ud]} and .type == \"UD\").lqpn"; }
ud_waits() {
	mrc_gid_index h1 v6
	mrc_start ud h1 ibv_ud_pingpong -d mrc1 -g "$REPLY" -p 18556 -s 500
	mrc_until 20 eval '[ -n "$(ud_of)" ]' || { mrc_out ud; return 1; }
	ud_qpn=$(ud_of)
}

# Whatever is bound meanwhile, the port's counter does not go back, and it does go on.
total_rises() {
	local i last=0
	for ((i = 0; i < 12; i++)); do
		mrc_stat h1 tx_pkts
		[ "$REPLY" -ge $last ] || { echo "$REPLY after $last"; return 1; }
		last=$REPLY
		case $((i % 4)) in
		1) count "$qpn" || return;;
		3) uncount "$(qp_of .cntn)" "$qpn" || return;;
		esac
		mrc_sleep 0.05
	done
	mrc_stat h1 tx_pkts
	[ "$REPLY" -gt "$last" ] || mrc_flows
}

ksft_plan
mrc_begin mrcctl mrc_verify ib_write_bw ib_read_bw ib_atomic_bw ibv_srq_pingpong rping
ksft_test "one plane" mrc_one_plane

# --------------------------------------------------------------- the port's
for name in rx_write_requests rx_read_requests rx_atomic_requests out_of_buffer duplicate_request \
	rnr_nak_retry_err packet_seq_err local_ack_timeout_err resp_local_length_error \
	resp_cqe_error req_cqe_error req_remote_invalid_request req_remote_access_errors \
	resp_remote_access_errors resp_cqe_flush_error req_cqe_flush_error \
	req_transport_retries_exceeded req_rnr_retries_exceeded np_ecn_marked_roce_packets \
	rx_icrc_encapsulated; do
	[ -e "/sys/class/infiniband/mrc1/ports/1/hw_counters/$name" ] || missing+=" $name"
done
ksft_equal "names that mlx5 has for the same" "" "${missing:-}"
ksft_test "out of sequence is no error here: no such name" \
	test ! -e /sys/class/infiniband/mrc1/ports/1/hw_counters/out_of_sequence
ksft_test "100 WRITEs" mrc_perf 60 ib_write_bw -s 8192 -n 100
ksft_test "are 100 to the peer" counted h2 rx_write_requests 100
ksft_test "and none came back" counted h1 rx_write_requests 0
ksft_test "100 READs" mrc_perf 60 ib_read_bw -s 8192 -n 100
ksft_test "are 100 to the peer, who answers" counted h2 rx_read_requests 100
ksft_test "100 ATOMICs" mrc_perf 60 ib_atomic_bw -n 100
ksft_test "are 100 to the peer" counted h2 rx_atomic_requests 100
ksft_test "and no WRITE is" counted h2 rx_write_requests 0
ksft_test "h1: rdma statistic and sysfs agree" agree mrc1
ksft_test "h2: likewise" agree mrc2
ksft_test "h2: and mrcctl" none_twice h2

# ------------------------------------------------------------------- of QPs
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
qpn=$(mrc_qp_of h1 qpn)
ksft_equal "no counter is there" null "$(qp_of .)"
ksft_test "its QP is bound to one" count "$qpn"
ksft_test "which says so" qp_is .lqpn "[$qpn]"
ksft_test "and counts packets" grows tx_pkts
ksft_equal "but nothing of the device's" null "$(qp_of .rx_bad_icrc)"
ksft_test "bound twice: refused" refused -- count "$qpn"
ksft_test "a QP that is not there: refused" refused -- count 16777214
# ib_core keeps QP 1 by its port, too.
ksft_test "QP 1, which has no connection: refused" refused "Cannot allocate memory" -- count $((1 << 24 | 1))
ksft_test "a datagram QP" ud_waits
ksft_test "refused as well" refused "Cannot allocate memory" -- count "$ud_qpn"
mrc_kill ud
cntn=$(qp_of .cntn)
ksft_test "another counter's number: refused" refused -- uncount $((cntn + 7)) "$qpn"
ksft_test "unbound" uncount "$cntn" "$qpn"
ksft_equal "and it is gone" null "$(qp_of .)"
ksft_test "bound and unbound, the port's counters only rise" total_rises
ksft_test "bound once more" count "$qpn"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_equal "the counter went with its QP" null "$(qp_of .)"
ksft_test "nothing is counted twice, or lost" none_twice h1
ksft_test "rdma statistic and sysfs agree" agree mrc1

# --------------------------------------------------------- by themselves
auto() { rdma statistic qp set link $LINK auto "$@"; }
ksft_test "a counter for each program" auto type,pid on
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
ksft_test "is counted" grows tx_bytes
ksft_test "a datagram QP" ud_waits
ksft_equal "is not" "[${MRC_PID[client]}]" "$(qps | jq -c '[.[] | select(.cntn).pid]')"
mrc_kill ud
ksft_test "as of that program" qp_is .pid "${MRC_PID[client]}"
ksft_test "none by hand meanwhile" refused -- count "$(mrc_qp_of h1 qpn)"
ksft_test "the client is killed" mrc_kill client
mrc_kill server
ksft_test "and its counter gone" mrc_until 20 qp_is . null
ksft_test "90 QPs of one program" mrc_perf 120 ib_write_bw -s 4096 -n 5 -q 90 --report_gbits
ksft_test "nothing is counted twice, or lost" none_twice h1
ksft_test "80 to a counter, the log says" \
	sh -c 'dmesg | grep "counted by the port only: a counter takes at most 80 QPs"'
ksft_test "no counters any more" auto off

# ------------------------------------------------------------------ renaming
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 600
ksft_test "that works" mrc_flows
ksft_test "the device is renamed under it" rdma dev set mrc1 name blue
mrc_ibdev h1
ksft_test "data flows" mrc_flows
ksft_equal "mrcctl knows it" blue "$(mrcctl -n h1 -j dev show | jq -r '.[].ibdev')"
ksft_test "and rdma link" sh -c 'ip netns exec h1 rdma link show blue/1 | grep "netdev eth1"'
ksft_test "a name that is taken: refused" refused -- rdma dev set blue name mrc2
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_test "programs find the new name" mrc_verify 60 -o mix -s 8192 -n 20
ksft_test "and the old one again" rdma dev set blue name mrc1
mrc_ibdev h1

# ----------------------------------------------------------------- resources
# All that one program holds, and says so to whom it waits for.
mrc_gid_index h1 v6
mrc_start holder h1 ibv_srq_pingpong -d mrc1 -g "$REPLY" -p 18555
held() {	# TYPE NUMBER
	local n
	n=$(rdma -j res show "$1" | jq "[.[] |
		select(.ifname == \"mrc1\" and .pid == ${MRC_PID[holder]})] | length")
	echo "$n of $1: $(rdma res show "$1")"
	[ "$n" -eq "$2" ]
}
for what in "ctx 1" "pd 1" "mr 1" "cq 1" "srq 1" "qp 16"; do
	# shellcheck disable=SC2086
	ksft_test "rdma resource show ${what% *}: ${what#* }" mrc_until 20 held $what
done
mrc_kill holder
modprobe rdma_ucm
mrc_start holder h1 rping -s -a fd00:6d72:63::1 -p 9333
ksft_test "rdma resource show cm_id" mrc_until 20 held cm_id 1
ksft_equal "and where it listens" "LISTEN fd00:6d72:63::1:9333" "$(rdma -j res show cm_id |
	jq -r '[.[] | select(.ifname == "mrc1")][0] | "\(.state) \(."src-addr")"')"
mrc_kill holder
ksft_test "nothing is left" mrc_until 20 mrc_no_resources

# ------------------------------------------------------------ a peer that goes
# ib_write_bw has WRITEs under way all the time. mrc_verify may be waiting for what its peer sends: then it
# is the peer whose request is given up.
ksft_test "a connection" mrc_perf_start ib_write_bw -s 4096 -D 600 --report_gbits
ksft_test "that works" mrc_flows
mrc_stat h1 req_transport_retries_exceeded
ksft_equal "no request was given up" 0 "$REPLY"
ip -n h2 link set eth1 down
ksft_test "its peer is cut off: it fails" mrc_fails client 60
ip -n h2 link set eth1 up
mrc_stat h1 req_transport_retries_exceeded
ksft_equal "by one that was given up" 1 "$REPLY"
mrc_kill server

# ------------------------------------------------------------- node_exporter
# All that its infiniband collector takes from ports/1/counters (procfs, class_infiniband.go), and
# from beside them.
exported() {
	local name value
	cd "/sys/class/infiniband/mrc1/ports/1/counters" || return
	for name in VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery \
		local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets \
		port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets \
		port_rcv_remote_physical_errors port_rcv_switch_relay_errors \
		port_xmit_constraint_errors port_xmit_data port_xmit_discards port_xmit_packets \
		port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets; do
		read -r value <"$name" || return
		[[ $value =~ ^[0-9]+$ ]] || { echo "$name: $value"; return 1; }
	done
	[ -s ../../../board_id ] && [ -s ../../../hca_type ] && [[ $(<../state) =~ ^4:\ ACTIVE$ ]] && [[ $(<../phys_state) =~ ^5:\ LinkUp$ ]] &&
		[[ $(<../rate) =~ ^[0-9.]+\ Gb/sec\ \( ]] && [ -s ../../../fw_ver ]
}
ksft_test "the port is up" mrc_until 20 grep -q ACTIVE /sys/class/infiniband/mrc1/ports/1/state
ksft_test "node_exporter finds its files, and numbers in them" exported
ksft_test "nothing else was counted that should not be" mrc_expect_clean tx_errors rx_bad_icrc
ksft_finish
