// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_restrack.c - see mrc_restrack.h.
 *
 * Counters of a QP are in `mrcctl qp show`. This file shows the facts that distinguish a working
 * queue from a stuck one. Keys are not shown: ib_core shows them to those who may know them.
 *
 * ib_core without rdma_restrack_begin_del() destroys a queue before it removes it from its list. So
 * a dump may call this file with the verbs object of a destroyed queue. Such an object contains
 * NULL, and pointers that were found in it remain valid under RCU.
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
	struct nlattr *nest;
	u32 i;

	if (!n)
		return 0;	/* the object was destroyed */
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
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

/*
 * Under RCU, as the three below. Fills @f and returns the number of facts; 0: the object was
 * destroyed.
 */
static u32 facts_of_ud(struct mrc_ud *ud, struct fact *f)
{
	u32 n = 0;

	if (!ud)
		return 0;
	spin_lock_bh(&ud->lock);
	f[n++] = (struct fact){ "sq_waiting", mrc_ring_avail(&ud->sq, ud->sq_cons) };
	if (!ud->srq)
		f[n++] = (struct fact){ "rq_posted", mrc_ring_avail(&ud->rq, ud->rq_cons) };
	spin_unlock_bh(&ud->lock);
	return n;
}

static u32 facts_of_qp(struct mrc_qp *qp, struct fact *f)
{
	u32 n = 0;

	if (!qp)
		return 0;
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
	return n;
}

static u32 facts_of_cq(struct mrc_cq *cq, struct fact *f)
{
	u32 n = 0;

	if (!cq)
		return 0;
	spin_lock_bh(&cq->lock);
	f[n++] = (struct fact){ "completions", cq->prod };
	f[n++] = (struct fact){ "unpolled", cq->prod - READ_ONCE(cq->ring.hdr->cons) };
	f[n++] = (struct fact){ "overrun", cq->overrun };
	f[n++] = (struct fact){ "moderation_count", cq->mod_count };
	f[n++] = (struct fact){ "moderation_us", cq->mod_period };
	spin_unlock_bh(&cq->lock);
	return n;
}

static u32 facts_of_srq(struct mrc_srq *srq, struct fact *f)
{
	u32 n = 0;

	if (!srq)
		return 0;
	spin_lock_bh(&srq->lock);
	f[n++] = (struct fact){ "entries", srq->ring.entries };
	f[n++] = (struct fact){ "posted", mrc_ring_avail(&srq->ring, srq->cons) };
	f[n++] = (struct fact){ "limit", srq->limit };
	spin_unlock_bh(&srq->lock);
	return n;
}

int mrc_restrack_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct mrc_ibqp *shell = container_of(ibqp, struct mrc_ibqp, ibqp);
	struct fact f[7];
	u32 n;

	rcu_read_lock();
	if (mrc_qp_kind_is_ud(ibqp->qp_type))
		n = facts_of_ud(READ_ONCE(shell->ud), f);
	else
		n = facts_of_qp(READ_ONCE(shell->qp), f);
	rcu_read_unlock();
	return put_facts(msg, f, n);
}

int mrc_restrack_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct fact f[5];
	u32 n;

	rcu_read_lock();
	n = facts_of_cq(READ_ONCE(container_of(ibcq, struct mrc_ibcq, ibcq)->cq), f);
	rcu_read_unlock();
	return put_facts(msg, f, n);
}

int mrc_restrack_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct fact f[3];
	u32 n;

	rcu_read_lock();
	n = facts_of_srq(READ_ONCE(container_of(ibsrq, struct mrc_ibsrq, ibsrq)->srq), f);
	rcu_read_unlock();
	return put_facts(msg, f, n);
}

int mrc_restrack_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct mrc_mr *mr;
	struct fact f[3];
	u32 n = 0;

	rcu_read_lock();	/* a re-registration may replace the region */
	mr = READ_ONCE(container_of(ibmr, struct mrc_ibmr, ibmr)->mr);
	f[n++] = (struct fact){ "access", mr->access };
	f[n++] = (struct fact){ "pages", mr->n_pages };
	f[n++] = (struct fact){ "users", kref_read(&mr->ref) - 1 };
	rcu_read_unlock();
	return put_facts(msg, f, n);
}
