/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_policy.h - applies the host's IPsec (xfrm) policies to MRC packets.
 *
 * A packet is dropped and counted if a policy blocks it, or if it needs protection and there is no
 * key. Its peer gets a hint (path/mrc_peer_hint.h).
 */
#ifndef MRC_POLICY_H
#define MRC_POLICY_H

#include <linux/skbuff.h>
#include <linux/xfrm.h>
#include <net/net_namespace.h>
#include "core/mrc_dev.h"
#include "data/mrc_rx_pkt.h"

#ifdef CONFIG_XFRM

/* Any context. Is there a policy for sent packets, or a default policy that blocks them? */
static inline bool mrc_policy_any(const struct net *net)
{
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) == XFRM_USERPOLICY_BLOCK;
}

/*
 * Under RCU, BH off. @skb has a route and all headers, which are linear. @inner: offset of MRC's own IP header behind
 * an outer one, or 0. True: @skb may leave, perhaps by another route, through IPsec. False: it was freed and counted.
 */
bool mrc_policy_out(struct mrc_dev *dev, struct sk_buff *skb, u32 inner);

/* In the receive hook, for an MRC packet. False: the caller must drop it; it was counted, not freed. */
bool mrc_policy_in(const struct mrc_rx_pkt *p, struct mrc_dev *dev, struct sk_buff *skb);
/* The same for ordinary IP inside SRv6. Checks only the outer header, because IP checks the inner packet later. */
bool mrc_policy_in_outer(struct mrc_dev *dev, struct sk_buff *skb);

#else

static inline bool mrc_policy_any(const struct net *net)
{
	return false;
}

static inline bool mrc_policy_out(struct mrc_dev *dev, struct sk_buff *skb, u32 inner)
{
	return true;
}

static inline bool mrc_policy_in(const struct mrc_rx_pkt *p, struct mrc_dev *dev, struct sk_buff *skb)
{
	return true;
}

static inline bool mrc_policy_in_outer(struct mrc_dev *dev, struct sk_buff *skb)
{
	return true;
}

#endif
#endif
