/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_stats.h - counters of a device that belong to no connection. Any context, no lock.
 */
#ifndef MRC_DEV_STATS_H
#define MRC_DEV_STATS_H

#include <linux/atomic.h>

/*
 * Counters of the device: drops that no connection can count, datagrams, probes. Packets that name
 * no device of ours are counted by the namespace (mrc_net.rx_no_dev). X(name, help), as MRC_STATS.
 */
#define MRC_DEV_STATS(X)						\
	X(rx_malformed, "packets too short, too long or of unknown type") \
	X(rx_bad_icrc, "packets with a wrong ICRC")			\
	X(rx_unknown_qp, "packets for a QP that does not exist")	\
	X(rx_wrong_source, "packets whose source is not the QP's peer")	\
	X(rx_down, "packets dropped: the device is down")		\
	X(rx_no_plane, "packets that arrived by none of the device's planes") \
	X(rx_policy, "packets dropped: an IPsec policy requires protection, or blocks them") \
	X(rx_other_port, "packets of a peer for a QP, at a UDP port that is not listened on") \
	X(hops_exceeded, "packets sent whose hop limit ended on the way") \
	X(port_unreach, "packets sent to a UDP port without a listener") \
	X(never_answered, "QPs that gave up a peer which never acknowledged anything") \
	X(rx_bad_sid, "SRv6 packets for a locator that is not ours")	\
	X(rx_bad_pkey, "packets with a wrong P_Key")			\
	X(rx_endpoint, "endpoint requests and responses received")	\
	X(rx_decap, "ordinary IP packets received through SRv6")	\
	X(rx_dgrams, "datagrams received (UD and management packets)")	\
	X(rx_dgram_no_recv, "datagrams dropped: no receive was posted")	\
	X(rx_dgram_qkey, "datagrams dropped: wrong Q_Key")		\
	X(rx_dgram_too_long, "datagrams dropped: longer than the receive posted") \
	X(rx_dgram_copies, "copies of datagrams dropped: the other copy has arrived, or may have") \
	X(rx_mcast_unknown, "datagrams to a group that no QP is attached to") \
	X(tx_dgrams, "datagrams sent")					\
	X(tx_dgram_copies, "copies of datagrams sent by another plane")	\
	X(tx_dgram_dropped, "datagrams not sent: no path, route or memory") \
	X(plain_refused, "RC QPs refused because the peer speaks no MRC")	\
	X(link_local_refused, "RC QPs refused: no plane leads to a link-local address of the peer's device") \
	X(claims_refused, "RC QPs refused: another user's QP is connected to the one that they name") \
	X(tx_not_ours, "datagrams to an MRC port that a local program tried to send") \
	X(tx_policy, "packets not sent: an IPsec policy blocks them, or requires protection and there is no key") \
	X(tx_no_route, "packets not sent: no route on the plane")	\
	X(tx_down, "packets not sent: the device is down")		\
	X(tx_no_mem, "packets not sent: no memory")			\
	X(tx_errors, "packets refused by the lower device")		\
	X(tx_too_long, "packets not sent: longer than the MTU of the plane")	\
	X(tx_ip, "ordinary IP packets sent over a plane")		\
	X(tx_ip_dropped, "ordinary IP packets dropped: no plane up or too long") \
	X(grow_no_mem, "times that a busy QP needed a larger window and there was no memory") \
	X(paths_no_mem, "times that paths to a peer had to be rebuilt and there was no memory") \
	X(tails_dropped, "ends of WRITEs not placed: their memory region was gone") \
	X(hold_full, "packets dropped: too many are held for strict placement") \
	X(planes_held, "times that a plane was up again but not used, because it failed too often")	\
	X(cq_overruns, "completion queues overrun")			\
	X(port_updates_sent, "Port Status Updates sent")		\
	X(port_updates_rcvd, "Port Status Updates received")		\
	X(port_updates_refused, "Port Status Updates refused: by a plane that does not lead to that peer, or without a port in common") \
	X(port_updates_denied, "Port Status Updates dropped: the peer answered by a port that they reported as down") \
	X(self_probes_sent, "self-probes sent")				\
	X(self_probes_rcvd, "self-probes that returned, late and changed ones too") \
	X(self_probes_refused, "self-probes dropped: not sent by us recently, or received twice") \
	X(self_probe_stalls, "times that self-probes paused because this host was starved") \
	X(ep_asked, "requests of controllers sent to peers' endpoints")	\
	X(ep_answers, "requests of controllers answered by peers' endpoints")					\
	X(ep_answers_lost, "responses to requests of controllers that were not read in time")	\
	X(ep_unasked, "endpoint responses that match no request")	\
	X(ep_withheld, "EV probes not answered: they arrived by a port that was announced as down")

struct mrc_dev_stats {
#define X(name, help) atomic64_t name;	/* not for paths of every packet */
	MRC_DEV_STATS(X)
#undef X
};

#define mrc_dev_count(dev, name) atomic64_inc(&(dev)->stats.name)

#endif
