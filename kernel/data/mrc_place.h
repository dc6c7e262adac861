/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_place.h - placement of packets in memory, and execution of the peer's READs and ATOMICs. All
 * in softirq, under qp->lock.
 */
#ifndef MRC_PLACE_H
#define MRC_PLACE_H

#include "data/mrc_qp.h"

/* Copies the payload of @op, at offset @off of @skb, into memory. NULL: done; else why the packet is refused. */
const struct mrc_reject *mrc_place(struct mrc_qp *qp, const struct mrc_rxop *op,
				   const struct sk_buff *skb, int off);
/* Writes the deferred last bytes of a WRITE. All earlier packets have arrived. */
void mrc_place_tail(struct mrc_qp *qp, const struct mrc_tail *t);
/* Executes a READ or ATOMIC; all earlier requests are executed. Reports the result to the engine. */
void mrc_place_exec(struct mrc_qp *qp, const struct mrc_exec *x, u64 now);
/* The READ of exec slot @slot is answered: drops the reference to its memory. */
void mrc_place_exec_free(struct mrc_qp *qp, u16 slot);
/* The connection has failed: drops the references of all READs that were being answered. */
void mrc_place_drop_responses(struct mrc_qp *qp);

#endif
