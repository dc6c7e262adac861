/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_cb.h - data about a packet in skb->cb, between building and hand-over.
 */
#ifndef MRC_TX_CB_H
#define MRC_TX_CB_H

#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "core/mrc_dev.h"

struct mrc_tx_cb {		/* in skb->cb */
	struct mrc_dev *dev;
	u8 *icrc;		/* where to store the ICRC; NULL: no ICRC */
	struct sk_buff *last;	/* last packet of the burst that this one heads; NULL: there are no others */
	u32 ev;
	u16 len;		/* bytes of the UDP payload */
	u8 l3_off;		/* offset of the innermost IP header */
	u8 plane;		/* 0-based; MRC_PLANE_NONE: lo */
	u8 tos;
	bool joins;		/* may be part of a burst */
	bool proven;		/* the neighbour is known to be reachable */
};

static inline struct mrc_tx_cb *mrc_tx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct mrc_tx_cb) > sizeof(skb->cb));
	return (struct mrc_tx_cb *)skb->cb;
}

/* The offset of the UDP payload of an IPv6 packet. */
static inline u32 mrc_tx_cb_body6(const struct mrc_tx_cb *cb)
{
	return cb->l3_off + (u32)(sizeof(struct ipv6hdr) + sizeof(struct udphdr));
}

#endif
