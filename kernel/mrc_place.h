/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_place.h - packets and the peer's requests meet memory; under qp->lock. */
#ifndef MRC_PLACE_H
#define MRC_PLACE_H

#include "mrc_qp.h"

/*
 * Put the payload of @op, at @off in @skb, where it belongs. NULL: done; else why the
 * packet is refused.
 */
const struct mrc_reject *mrc_place(struct mrc_qp *qp, const struct mrc_rxop *op,
				   const struct sk_buff *skb, int off);
/* Write the deferred ends of messages that are whole now. */
void mrc_place_tails(struct mrc_qp *qp);
/* Execute READs and ATOMICs whose turn has come; free those answered. */
void mrc_place_execs(struct mrc_qp *qp, u64 now);

#endif
