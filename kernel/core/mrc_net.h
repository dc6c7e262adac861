/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_net.h - packets in and out: sockets, hooks, headers outside BTH, ICRC.
 *
 * Only the files behind this header know both the wire and skbs.
 *
 * Receive: netfilter hooks at PRE_ROUTING (first in line), IPv4 and IPv6, in every
 * namespace with a device: they see SRv6-encapsulated packets with the outer ECN
 * mark, and trimmed ones, before IP and UDP layers judge them. UDP sockets
 * on the ports are held so that nobody else gets them.
 * Transmit: headers in the linear part, user pages as fragments, ICRC as a tail
 * fragment; one EV per packet.
 */
#ifndef MRC_NET_H
#define MRC_NET_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include "engine/mrc_conn.h"
#include "mrc_dev.h"
#include "mrc_path.h"

struct mrc_qp;

/*
 * Per network namespace; made when its first device appears. Found through
 * mrc_net_of(), referenced by devices (mrc_dev.mnet), which may outlive the
 * namespace: then sockets and hooks are gone already.
 */
struct mrc_net {
	struct net *net;
	refcount_t users;		/* devices; under rtnl */
	bool running;			/* sockets and hooks exist; under rtnl */
	struct list_head devs;		/* RCU; changed under rtnl */
	struct xarray planes;		/* ifindex -> struct mrc_dev_plane; changed under rtnl */
	struct socket *sock[4];		/* v4, v6 x 4791, 4971 */
	struct nf_hook_ops hooks[2];	/* IPv6, IPv4 */
	atomic64_t rx_no_dev;		/* MRC packets for no device of ours */
	struct rcu_head rcu;
};

/* mrc_sock.c: under rtnl. ERR_PTR; -EADDRINUSE with a message naming the port. */
struct mrc_net *mrc_net_get(struct net *net, struct netlink_ext_ack *extack);
void mrc_net_put(struct mrc_net *mnet);
/* Under rtnl or RCU; NULL when the namespace has no device. */
struct mrc_net *mrc_net_of(const struct net *net);
int mrc_sock_init(void);	/* pernet operations; module init and exit */
void mrc_sock_exit(void);

/* mrc_rx.c: PRE_ROUTING hook, IPv4 and IPv6; @priv is the struct mrc_net. */
unsigned int mrc_rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *st);

/*
 * mrc_tx.c. Builds and sends what an engine txop asks for. The header part and
 * payload fragments come from mrc_qp's callbacks. May run with qp->lock held
 * (never path_lock). Return NULL when memory, route or the plane is missing: caller
 * does tx_undo.
 */
struct mrc_payload {		/* pages of one packet */
	struct { struct page *page; u32 off, len; } frag[18];
	u8 n;
	u32 len;
	const void *linear;	/* or bytes to copy (inline, atomic) */
};
struct sk_buff *mrc_tx_build(struct mrc_dev *dev, struct mrc_pathset *ps,
			     const union ib_gid *sgid, const union ib_gid *dgid,
			     const struct mrc_txop *op, const struct mrc_payload *pl);
/* Hand over to the plane. Consumes skb; counts; BH disabled; no engine lock held. */
void mrc_tx_xmit(struct sk_buff *skb);
/* A control packet to QP 2 of the peer, over any live plane; @avoid: over others if possible. */
int mrc_tx_endpoint(struct mrc_peer *peer, const struct mrc_pkt *pkt, u32 avoid);
/*
 * Ordinary IP from the mrc netdev, to one host. skb->data at the IP header, BH
 * disabled, under RCU. False: not sent, and skb is still the caller's.
 */
bool mrc_tx_ip(struct mrc_dev *dev, struct sk_buff *skb, const union ib_gid *gid, u8 tos);

/*
 * A SACK or NACK names EVs by 32 bits, in the engine port << 16 | flow label: the other
 * way around where the device has ev_port_low.
 */
static inline void mrc_ev_halves_swap(struct mrc_pkt *pkt)
{
	if (pkt->opcode == MRC_OPC_SACK)
		pkt->u.sack.ev = rol32(pkt->u.sack.ev, 16);
	else if (pkt->opcode == MRC_OPC_NACK)
		pkt->u.nack.ev = rol32(pkt->u.nack.ev, 16);
}

/* mrc_icrc.c: IBTA ICRC of a RoCEv2 packet whose network header is @l3 in @skb */
u32 mrc_icrc_skb(const struct sk_buff *skb, int l3_off, int end_off);
int mrc_icrc_init(void);
void mrc_icrc_exit(void);

/* mrc_netdev.c */
int mrc_netdev_init(void);
void mrc_netdev_exit(void);
struct mrc_dev *mrc_netdev_dev(const struct net_device *ndev);	/* NULL if not of kind mrc; RCU or rtnl */
void mrc_netdev_detach(struct mrc_dev *dev);	/* under rtnl: the netdev forgets the device */
void mrc_netdev_follow_mtu(struct mrc_dev *dev); /* under rtnl: planes' MTU changed */

#endif
