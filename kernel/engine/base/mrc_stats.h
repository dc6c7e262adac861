/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_stats.h - all counters of one connection, as an X-macro: X(name, help).
 *
 * The list produces the struct, the names in rdma statistic, mrcctl and netlink, and the reference
 * page of counters. Each counter is a plain u64, protected by the lock of the connection.
 */
#ifndef MRC_STATS_H
#define MRC_STATS_H

#include "base/mrc_types.h"

#define MRC_STATS(X)							\
	X(tx_pkts, "data packets sent, retransmissions included")	\
	X(tx_bytes, "payload bytes sent, retransmissions included")	\
	X(tx_ctrl_pkts, "control packets sent")				\
	X(rx_pkts, "data packets accepted")				\
	X(rx_bytes, "payload bytes accepted")				\
	X(rx_ctrl_pkts, "control packets received")			\
	X(rtx_rack, "retransmitted: a later-sent packet was delivered")	\
	X(rtx_nack, "retransmitted: NACK other than trimming")		\
	X(rtx_trim, "retransmitted: NACK for a trimmed packet")		\
	X(rtx_rto, "retransmitted: acknowledgement timeout")		\
	X(rtx_plane, "retransmitted: its plane went down")		\
	X(rtx_rnr, "retransmitted: receiver had no receive posted")	\
	X(rtx_sleek, "retransmitted: too many packets out of order")	\
	X(rtx_spurious, "retransmitted although the first copy arrived")	\
	X(timeouts, "acknowledgement timeouts")				\
	X(probes_sent, "reliability probes sent")			\
	X(probes_answered, "reliability probes answered to the peer")	\
	X(sacks_sent, "SACKs sent")					\
	X(sacks_rcvd, "SACKs received")					\
	X(acks_sent, "transport ACKs and NAKs sent")			\
	X(acks_rcvd, "transport ACKs and NAKs received")		\
	X(nacks_sent, "NACKs sent")					\
	X(nacks_rcvd, "NACKs received")					\
	X(rx_dup, "data packets received again")			\
	X(rx_ooo, "data packets ahead of a hole")			\
	X(rx_oor, "data packets outside the window, dropped")		\
	X(rx_ecn, "data packets received with ECN CE")			\
	X(rx_trimmed, "trimmed packets received")			\
	X(rx_rnr, "messages refused for want of a posted receive")	\
	X(rx_no_slot, "packets refused: too many messages or requests in flight") \
	X(rx_bad_resp, "responses to nothing that was asked")		\
	X(rx_bad_ack, "SACK, NACK or ACK for a PSN never sent")		\
	X(rx_after_nak, "packets behind a refused one, dropped")	\
	X(rx_not_ready, "packets in a QP state that cannot take them")	\
	X(rx_place_failed, "packets whose payload could not be placed, dropped") \
	X(naks_access, "remote access errors answered")			\
	X(naks_invalid, "invalid requests answered")			\
	X(rx_held, "packets held for strict placement")			\
	X(mpr_shrunk, "times that the window offered was made smaller")	\
	X(rx_no_bitmap, "packets refused: ahead of what the bitmap tracks")	\
	X(rx_trim_dropped, "trimmed packets dropped: the peer takes no NACK for them") \
	X(owed_full, "NACKs, marks and probe answers not sent: too many owed at once") \
	X(pens_sent, "SACKs that asked the peer to slow down")		\
	X(pens_rcvd, "SACKs that asked us to slow down")		\
	X(no_path, "times that no EV was usable")

struct mrc_stats {
#define X(name, help) u64 name;
	MRC_STATS(X)
#undef X
};

#endif
