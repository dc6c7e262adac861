/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_srq_modify.h - changes the limit and the size of an SRQ.
 */
#ifndef MRC_SRQ_MODIFY_H
#define MRC_SRQ_MODIFY_H

#include <rdma/ib_verbs.h>

/*
 * Called by ib_core in process context; sleeps. -EINVAL: out of range, or the posted receives do
 * not fit.
 */
int mrc_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata);

#endif
