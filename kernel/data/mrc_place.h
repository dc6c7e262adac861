/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_place.h - placement of packets, and execution of the peer's requests, in memory. Under
 * qp->lock.
 */
#ifndef MRC_PLACE_H
#define MRC_PLACE_H

#include "data/mrc_qp.h"

/*
 * Put the payload of @op, at @off in @skb, where it belongs. NULL: done; else why the
 * packet is refused.
 */
const struct mrc_reject *mrc_place(struct mrc_qp *qp, const struct mrc_rxop *op,
				   const struct sk_buff *skb, int off);
/* Write the deferred end of a message that is whole now. */
void mrc_place_tail(struct mrc_qp *qp, const struct mrc_tail *t);
/* Execute a READ or ATOMIC whose turn has come; free one that is answered. */
void mrc_place_exec(struct mrc_qp *qp, const struct mrc_exec *x, u64 now);
void mrc_place_exec_free(struct mrc_qp *qp, u16 slot);
/* The connection has failed: what it was answering is not read any more. */
void mrc_place_drop_answers(struct mrc_qp *qp);

#endif
