/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_cq_modify.h - the size of a completion queue, and its event moderation.
 */
#ifndef MRC_CQ_MODIFY_H
#define MRC_CQ_MODIFY_H

#include <rdma/ib_verbs.h>
#include "compat/mrc_compat.h"

#define MRC_MAX_CQ_MODERATION	0xffff	/* completions, and microseconds */

/* Process context. */
int mrc_cq_resize(struct ib_cq *ibcq, mrc_resize_cq_arg cqe, struct ib_udata *udata);
int mrc_cq_moderate(struct ib_cq *ibcq, u16 count, u16 period);

#endif
