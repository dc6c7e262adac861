/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_cq_modify.h - the size of a completion queue, and its event moderation.
 */
#ifndef MRC_CQ_MODIFY_H
#define MRC_CQ_MODIFY_H

#include <rdma/ib_verbs.h>
#include "compat/mrc_compat.h"

#define MRC_MAX_CQ_MODERATION	0xffff	/* completions, and microseconds */

/*
 * Called by ib_core in process context. Resize, for programs only: 0; -EINVAL: size out of range,
 * or the unconsumed completions do not fit; -EBUSY: the queue fills faster than it can be copied;
 * -EINTR, -ENOMEM. Moderate: an event waits for @count completions, or @period microseconds.
 */
int mrc_cq_resize(struct ib_cq *ibcq, mrc_resize_cq_arg cqe, struct ib_udata *udata);
int mrc_cq_moderate(struct ib_cq *ibcq, u16 count, u16 period);

#endif
