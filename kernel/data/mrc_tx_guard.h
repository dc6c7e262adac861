/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_guard.h - drops MRC packets that local programs send through ordinary sockets.
 */
#ifndef MRC_TX_GUARD_H
#define MRC_TX_GUARD_H

#include <linux/netfilter.h>

/*
 * Under RCU. The hook at LOCAL_OUT, which packets built by this module do not pass. For IPv4 and IPv6. @priv: the
 * struct mrc_net.
 */
unsigned int mrc_tx_guard(void *priv, struct sk_buff *skb, const struct nf_hook_state *st);

#endif
