/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_tx_ip.h - ordinary IP of the mrc netdev: sent over the paths of MRC, one EV per flow, so that
 * TCP is not reordered.
 */
#ifndef MRC_TX_IP_H
#define MRC_TX_IP_H

#include <linux/skbuff.h>
#include "core/mrc_dev.h"

/*
 * BH off, under RCU; skb->data at the IP header, whose destination is @gid. False: not sent,
 * and @skb is still the caller's.
 */
bool mrc_tx_ip(struct mrc_dev *dev, struct sk_buff *skb, const union ib_gid *gid, u8 tos);

#endif
