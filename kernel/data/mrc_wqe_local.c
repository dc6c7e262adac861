// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_wqe_local.c - see mrc_wqe_local.h.
 *
 * Local requests are executed in queue order, before any packet of a later request leaves. Earlier
 * requests may still be in flight; the engine completes all in order. An invalidation waits for
 * earlier requests that use local memory by the same key, because kernel users post both at once
 * and rely on the order.
 */
#include <rdma/ib_user_verbs.h>
#include "mem/mrc_fr.h"
#include "mem/mrc_inval.h"
#include "mem/mrc_mw.h"
#include "data/mrc_wqe_local.h"

static bool local_bind(struct mrc_qp *qp, const struct mrc_send_wqe *k)
{
	const struct mrc_mw_bind b = {
		.rkey = k->rkey, .lkey = k->imm_data, .addr = k->remote_addr,
		.length = k->compare_add, .access = (int)k->swap,
		.pdn = qp->pdn, .qpn = qp->qpn,
	};

	return k->swap <= INT_MAX && mrc_mw_bind(qp->dev, &b);
}

static int local_register(struct mrc_qp *qp, const struct mrc_send_wqe *k)
{
	const struct mrc_fr_reg r = {
		.key = k->rkey, .pdn = qp->pdn, .iova = k->remote_addr,
		.length = k->compare_add, .access = (int)k->swap,
	};

	return mrc_fr_register(qp->dev, &r);
}

static bool swqe_uses_key(const struct mrc_swqe *w, u32 key)
{
	u8 i;

	for (i = 0; i < w->num_sge; i++)
		if (w->mr[i] && w->mr[i]->fast && w->mr[i]->key == key)
			return true;
	return false;
}

/*
 * Does an earlier request that has not completed use the key for its local memory? False for programs: they have no
 * such regions, and searching a full queue for each request would be slow.
 */
static bool local_in_use(struct mrc_qp *qp, u32 key)
{
	u32 i;

	if (qp->ibqp->uobject)
		return false;
	for (i = qp->sq_done; i != qp->sq_posted; i++)
		if (swqe_uses_key(&qp->swqe[i & (qp->sq_slots - 1)], key))
			return true;
	return false;
}

int mrc_wqe_local(struct mrc_qp *qp, const struct mrc_send_wqe *k)
{
	bool ok;
	int err;

	switch (k->opcode) {
	case IB_UVERBS_WR_LOCAL_INV:
		if (local_in_use(qp, k->imm_data))
			return -EAGAIN;
		ok = mrc_inval(qp->dev, qp->pdn, qp->qpn, k->imm_data);
		break;
	case IB_WR_REG_MR:
		err = local_register(qp, k);
		if (err == -EAGAIN)
			return err;
		ok = !err;
		break;
	default:
		ok = local_bind(qp, k);
		break;
	}
	return ok ? MRC_ST_OK : MRC_ST_LOC_PROT;
}
