/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_dup.h - drops the second copy of a datagram that was sent twice (engine/peer/mrc_dup.h).
 *
 * The sender marks such datagrams, so datagrams of other stacks are never dropped here.
 */
#ifndef MRC_UD_DUP_H
#define MRC_UD_DUP_H

#include "engine/wire/mrc_deth.h"
#include "data/mrc_rx_pkt.h"

/* Process context, once per device. 0 or -ENOMEM. */
int mrc_ud_dup_init(struct mrc_dev *dev);
void mrc_ud_dup_exit(struct mrc_dev *dev);	/* no packet is processed for the device any more */

/* Any context. May @d be one of two copies? */
static inline bool mrc_ud_dup_possible(const struct mrc_dgram *d)
{
	return d->marked || d->copy;
}

/* BH off. The digest of @d, whose packet is @skb. */
u64 mrc_ud_dup_digest(const struct mrc_dev *dev, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
		      const struct sk_buff *skb);
/*
 * BH off. True: it is the first of the two, and may be delivered. If that fails, the caller calls mrc_ud_dup_untake().
 */
bool mrc_ud_dup_take(struct mrc_dev *dev, u64 digest, bool copy);
void mrc_ud_dup_untake(struct mrc_dev *dev, u64 digest);

#endif
