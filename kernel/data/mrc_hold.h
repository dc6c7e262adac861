/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_hold.h - strict placement: keeps packets that arrived before their turn. All under qp->lock.
 *
 * A held packet is its skb, with the placement in the cb. It has been acknowledged, so it is kept
 * until it is placed or the QP fails. The window of each QP is a limit, and so is MRC_HOLD_MAX over
 * all QPs of a device, or less on a host with little memory. A packet beyond the limit is refused
 * and retransmitted. The next packet in order is never held.
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
/* Returns packets that will never be placed; the caller frees them. */
void mrc_hold_take_all(struct mrc_qp *qp, struct sk_buff_head *out);

#endif
