// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_restrack.c - see mrc_restrack.h.
 *
 * A QP's counters are in `mrcctl qp show`; here stands what tells a queue that works from one
 * that is stuck. Keys are not shown: whoever may know them gets them from ib_core.
 */
#include <rdma/restrack.h>
#include <rdma/rdma_netlink.h>
#include "mem/mrc_cq.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_srq.h"
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"
#include "verbs/mrc_qp_kind.h"
#include "verbs/mrc_restrack.h"

struct fact {
	const char *name;
	u32 value;
};

static int put_facts(struct sk_buff *msg, const struct fact *f, u32 n)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < n; i++) {
		if (rdma_nl_put_driver_u32(msg, f[i].name, f[i].value)) {
			nla_nest_cancel(msg, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int restrack_ud(struct sk_buff *msg, struct mrc_ud *ud)
{
	struct fact f[2];
	u32 n = 0;

	spin_lock_bh(&ud->lock);
	f[n++] = (struct fact){ "sq_waiting", mrc_ring_avail(&ud->sq, ud->sq_cons) };
	if (!ud->srq)
		f[n++] = (struct fact){ "rq_posted", mrc_ring_avail(&ud->rq, ud->rq_cons) };
	spin_unlock_bh(&ud->lock);
	return put_facts(msg, f, n);
}

int mrc_restrack_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);
	struct mrc_qp *qp = shell->qp;
	struct fact f[7];
	u32 n = 0;

	if (mrc_qp_kind_is_ud(ibqp->qp_type))
		return restrack_ud(msg, shell->ud);
	spin_lock_bh(&qp->lock);
	f[n++] = (struct fact){ "sq_waiting", mrc_ring_avail(&qp->sq, qp->sq_cons) };
	f[n++] = (struct fact){ "sq_in_flight", qp->sq_posted - qp->sq_done };
	if (qp->srq)
		f[n++] = (struct fact){ "srq_taken", qp->rq_taken - qp->rq_cons };
	else
		f[n++] = (struct fact){ "rq_posted", mrc_ring_avail(&qp->rq, qp->rq_cons) };
	f[n++] = (struct fact){ "packets_in_flight", mrc_conn_in_flight(&qp->conn) };
	f[n++] = (struct fact){ "window", qp->mpr * MRC_MPR_UNIT };
	f[n++] = (struct fact){ "strict", qp->strict };
	f[n++] = (struct fact){ "bytes", qp->mem_bytes };
	spin_unlock_bh(&qp->lock);
	return put_facts(msg, f, n);
}

int mrc_restrack_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct mrc_cq *cq = mrc_cq_of(ibcq);
	struct fact f[5];
	u32 n = 0;

	spin_lock_bh(&cq->lock);
	f[n++] = (struct fact){ "completions", cq->prod };
	f[n++] = (struct fact){ "unpolled", cq->prod - READ_ONCE(cq->ring.hdr->cons) };
	f[n++] = (struct fact){ "overrun", cq->overrun };
	f[n++] = (struct fact){ "moderation_count", cq->mod_count };
	f[n++] = (struct fact){ "moderation_us", cq->mod_period };
	spin_unlock_bh(&cq->lock);
	return put_facts(msg, f, n);
}

int mrc_restrack_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct mrc_mr *mr;
	struct fact f[3];
	u32 n = 0;

	rcu_read_lock();	/* it may be registered again meanwhile */
	mr = READ_ONCE(container_of(ibmr, struct mrc_ibmr, ibmr)->mr);
	f[n++] = (struct fact){ "access", mr->access };
	f[n++] = (struct fact){ "pages", mr->n_pages };
	f[n++] = (struct fact){ "users", kref_read(&mr->ref) - 1 };
	rcu_read_unlock();
	return put_facts(msg, f, n);
}

int mrc_restrack_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct mrc_srq *srq = mrc_srq_of(ibsrq);
	struct fact f[3];
	u32 n = 0;

	spin_lock_bh(&srq->lock);
	f[n++] = (struct fact){ "entries", srq->ring.entries };
	f[n++] = (struct fact){ "posted", mrc_ring_avail(&srq->ring, srq->cons) };
	f[n++] = (struct fact){ "limit", srq->limit };
	spin_unlock_bh(&srq->lock);
	return put_facts(msg, f, n);
}
