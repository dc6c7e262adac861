// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud_modify.c - the states of a datagram queue pair.
 *
 *   RESET -> INIT -> RTR -> RTS, SQE -> RTS, any -> ERR, any -> RESET
 *
 * ib_core's table defines which attributes a transition requires and allows. The softirq side moves
 * a QP to SQE or ERR by itself.
 */
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"
#include "verbs/mrc_ud_modify.h"

#define UD_PSN_MASK	0xffffff

static int ud_check(const struct mrc_ud *ud, enum ib_qp_state cur, enum ib_qp_state next,
		    const struct ib_qp_attr *a, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || next == IB_QPS_SQD || next == IB_QPS_SQE)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && a->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, ud->init.qp_type, mask))
		return -EINVAL;
	if ((mask & IB_QP_PORT && a->port_num != 1) ||
	    (mask & IB_QP_PKEY_INDEX && a->pkey_index) ||
	    (mask & IB_QP_SQ_PSN && a->sq_psn > UD_PSN_MASK))
		return -EINVAL;
	return 0;
}

/* Under ud->lock. */
static void ud_keep_attr(struct mrc_ud *ud, const struct ib_qp_attr *a, int mask)
{
	if (mask & IB_QP_PORT)
		ud->attr.port_num = a->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		ud->attr.pkey_index = a->pkey_index;
	if (mask & IB_QP_QKEY)
		ud->qkey = a->qkey;
	if (mask & IB_QP_SQ_PSN)
		ud->psn = a->sq_psn;
}

/* Under ud->lock. Discards requests that are posted and not taken yet; indices continue. */
static void ud_reset(struct mrc_ud *ud)
{
	ud->sq_cons = READ_ONCE(ud->sq.hdr->prod);
	smp_store_release(&ud->sq.hdr->cons, ud->sq_cons);
	WRITE_ONCE(ud->sq.hdr->need_kick, 1);
	if (!ud->srq) {
		ud->rq_cons = READ_ONCE(ud->rq.hdr->prod);
		smp_store_release(&ud->rq.hdr->cons, ud->rq_cons);
		WRITE_ONCE(ud->rq.hdr->need_kick, 0);
	}
	ud->last_wqe_raised = false;
	memset(&ud->attr, 0, sizeof(ud->attr));
	ud->qkey = 0;
}

int mrc_ud_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask)
{
	struct mrc_ud *ud = container_of(ibqp, struct mrc_ibqp, ibqp)->ud;
	enum ib_qp_state cur, next;
	int err;

	mutex_lock(&ud->mutex);
	spin_lock_bh(&ud->lock);
	cur = ud->state;
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = ud_check(ud, cur, next, attr, mask);
	if (!err) {
		ud_keep_attr(ud, attr, mask);
		ud->state = next;
		if (next == IB_QPS_RESET)
			ud_reset(ud);
	}
	spin_unlock_bh(&ud->lock);
	if (!err && (next == IB_QPS_RTS || next == IB_QPS_ERR))
		mrc_ud_kick(ud);	/* requests may have been posted already */
	mutex_unlock(&ud->mutex);
	return err;
}

int mrc_ud_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, struct ib_qp_init_attr *init)
{
	struct mrc_ud *ud = READ_ONCE(container_of(ibqp, struct mrc_ibqp, ibqp)->ud);

	if (!ud)
		return -EAGAIN;
	spin_lock_bh(&ud->lock);
	*attr = ud->attr;
	attr->qp_state = ud->state;
	attr->qkey = ud->qkey;
	attr->sq_psn = ud->psn & UD_PSN_MASK;
	spin_unlock_bh(&ud->lock);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = ud->init.cap;
	*init = ud->init;
	return 0;
}
