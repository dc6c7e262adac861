/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx.h - received packets: from the hook at PRE_ROUTING to the QP.
 */
#ifndef MRC_RX_H
#define MRC_RX_H

#include <linux/netfilter.h>

struct mrc_net;

/* Under RCU; softirq, or the context of an NFQUEUE verdict. For IPv4 and IPv6. @priv: the struct mrc_net. */
unsigned int mrc_rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *st);
/* Under RCU. Does the namespace receive MRC on this UDP port? */
bool mrc_rx_is_port(const struct mrc_net *mnet, u16 port);

#endif
