// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_kind.c - see mrc_qp_kind.h.
 */
#include <linux/rcupdate.h>
#include "verbs/mrc_qp_create.h"
#include "verbs/mrc_qp_kind.h"
#include "verbs/mrc_qp_modify.h"
#include "verbs/mrc_ud_create.h"
#include "verbs/mrc_ud_modify.h"

bool mrc_qp_kind_is_ud(enum ib_qp_type type)
{
	return type == IB_QPT_UD || type == IB_QPT_GSI;
}

int mrc_qp_kind_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	if (mrc_qp_kind_is_ud(init->qp_type))
		return mrc_ud_create(ibqp, init, udata);
	return mrc_qp_create(ibqp, init, udata);
}

int mrc_qp_kind_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	return mrc_qp_kind_is_ud(ibqp->qp_type) ? mrc_ud_destroy(ibqp) : mrc_qp_destroy(ibqp, udata);
}

int mrc_qp_kind_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata)
{
	if (mrc_qp_kind_is_ud(ibqp->qp_type))
		return mrc_ud_modify(ibqp, attr, mask);
	return mrc_qp_modify(ibqp, attr, mask, udata);
}

int mrc_qp_kind_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init)
{
	int err;

	/* rdma(8) may query a QP that is being destroyed; -EAGAIN leaves it out of the dump. */
	rcu_read_lock();
	if (mrc_qp_kind_is_ud(ibqp->qp_type))
		err = mrc_ud_query(ibqp, attr, init);
	else
		err = mrc_qp_query(ibqp, attr, mask, init);
	rcu_read_unlock();
	return err;
}
