/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_hold.h - strict placement: packets that came before their turn. All under
 * qp->lock.
 *
 * A held packet is the skb itself, with what to do with it in its cb. It is acknowledged
 * already, so it is kept until it is placed or the QP fails. Bounded by the
 * window of each QP, and over all QPs of a device by MRC_HOLD_MAX, or by what is right for a
 * host with little memory; a packet beyond that is refused and sent again. The one that is
 * next in order is never held.
 */
#ifndef MRC_HOLD_H
#define MRC_HOLD_H

#include <linux/skbuff.h>
#include "data/mrc_qp.h"

#define MRC_HOLD_MAX	(512ull << 20)	/* bytes of packet buffers per device */

/* Keep @skb (its own reference) for MRC_DO_PLACE. NULL: done; else why it is refused. */
const struct mrc_reject *mrc_hold_store(struct mrc_qp *qp, const struct mrc_rxop *op,
					struct sk_buff *skb, int off);
/* The packet in @slot has its turn. */
void mrc_hold_place(struct mrc_qp *qp, u32 slot, u64 now);
/* What will never be placed, for the caller to free. */
void mrc_hold_take_all(struct mrc_qp *qp, struct sk_buff_head *out);

#endif
