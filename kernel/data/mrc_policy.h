/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_policy.h - applies the host's IPsec (xfrm) policies to MRC packets.
 *
 * A packet that a policy blocks, or that needs protection without a key, is dropped and counted,
 * and its peer has a hint.
 */
#ifndef MRC_POLICY_H
#define MRC_POLICY_H

#include <linux/skbuff.h>
#include <linux/xfrm.h>
#include <net/net_namespace.h>
#include "core/mrc_dev.h"
#include "data/mrc_rx_pkt.h"

#ifdef CONFIG_XFRM

/* Is there a policy for sent packets, or a default policy that blocks? */
static inline bool mrc_policy_any(const struct net *net)
{
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) == XFRM_USERPOLICY_BLOCK;
}

/*
 * Under RCU, BH off. @skb has all headers, linear, and a route. @inner: offset of MRC's own IP header behind an outer one,
 * or 0. On return @skb may have another route, through IPsec. False: freed and counted.
 */
bool mrc_policy_out(struct mrc_dev *dev, struct sk_buff *skb, u32 inner);

/* At the hook, for an MRC packet. False: it must be dropped; counted, not freed. */
bool mrc_policy_in(const struct mrc_rx_pkt *p, struct mrc_dev *dev, struct sk_buff *skb);
/* Likewise for ordinary IP inside SRv6: checks the outer header only, because IP checks the rest. */
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
