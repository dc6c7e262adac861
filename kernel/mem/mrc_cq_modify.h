/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_cq_modify.h - a completion queue's size, and how often it tells. */
#ifndef MRC_CQ_MODIFY_H
#define MRC_CQ_MODIFY_H

#include <rdma/ib_verbs.h>

#define MRC_MAX_CQ_MODERATION	0xffff	/* completions, and microseconds */

/* Process context. */
int mrc_cq_resize(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int mrc_cq_moderate(struct ib_cq *ibcq, u16 count, u16 period);

#endif
