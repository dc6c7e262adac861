/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_hold.h - strict placement: holds packets that arrived out of order. All under qp->lock.
 *
 * A packet is held as its skb, with the placement in the cb. It was acknowledged, so it is held
 * until it is placed or the QP fails. The window of each QP limits its packets. MRC_HOLD_MAX, less
 * on a host with little memory, limits those of all QPs of a device. A packet beyond a limit is
 * refused, and the peer retransmits it. The next packet in order is never held.
 */
#ifndef MRC_HOLD_H
#define MRC_HOLD_H

#include <linux/skbuff.h>
#include "data/mrc_qp.h"

#define MRC_HOLD_MAX	(512ull << 20)	/* bytes of packet buffers per device */

/*
 * Holds @skb, with a reference of its own, for MRC_DO_PLACE. @off: offset of its payload. NULL: done; else why the
 * packet is refused.
 */
const struct mrc_reject *mrc_hold_store(struct mrc_qp *qp, const struct mrc_rxop *op,
					struct sk_buff *skb, int off);
/* All packets before the one in @slot are placed: places it, and reports the result to the engine. */
void mrc_hold_place(struct mrc_qp *qp, u32 slot, u64 now);
/* Moves all held packets to @out; the caller frees them. */
void mrc_hold_take_all(struct mrc_qp *qp, struct sk_buff_head *out);

#endif
