// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_wqe_recv.c - receive requests: copied out of the QP's ring, or taken from its SRQ.
 *
 * The first packet of a message needs a receive, and it may arrive before packets of earlier
 * messages. Receives of an SRQ are nevertheless taken in message order. If a later message could
 * take the last receive, the earlier message would wait for another receive, and the program would
 * wait for a completion that follows the earlier one.
 */
#include "data/mrc_wqe_recv.h"

static struct mrc_rwqe *rwqe_at(const struct mrc_qp *qp, u32 idx)
{
	return &qp->rwqe[idx & (qp->rq_slots - 1)];
}

static void rwqe_ready(struct mrc_rwqe *w)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < w->num_sge; i++)
		sum += w->sge[i].length;
	w->len = min_t(u64, sum, U32_MAX);
	w->fail = IB_WC_SUCCESS;
	w->valid = true;
}

static bool rwqe_from_ring(struct mrc_qp *qp, u32 idx)
{
	struct mrc_rwqe *w = rwqe_at(qp, idx);
	struct mrc_recv_wqe k;
	const u8 *slot;

	/* rq_cons: the oldest receive that has not completed. Others up to idx must be posted, too. */
	if (mrc_ring_avail(&qp->rq, qp->rq_cons) <= idx - qp->rq_cons)
		return false;
	slot = mrc_ring_slot(&qp->rq, idx);
	memcpy(&k, slot, sizeof(k));
	w->wr_id = k.wr_id;
	w->num_sge = min_t(u32, k.num_sge, qp->recv_sge);
	memcpy(w->sge, slot + sizeof(k), w->num_sge * sizeof(*w->sge));
	rwqe_ready(w);
	return true;
}

/* Takes receives from the SRQ up to @idx. False: the SRQ has too few. */
static bool rwqe_from_srq(struct mrc_qp *qp, u32 idx)
{
	while ((s32)(idx - qp->rq_taken) >= 0) {
		struct mrc_rwqe *w = rwqe_at(qp, qp->rq_taken);
		struct mrc_srq_recv r = { .sge = w->sge };

		if (!mrc_srq_take(qp->srq, &r))
			return false;
		w->wr_id = r.wr_id;
		w->num_sge = r.num_sge;
		rwqe_ready(w);
		qp->rq_taken++;
	}
	return true;
}

struct mrc_rwqe *mrc_wqe_recv(struct mrc_qp *qp, u32 rq_idx)
{
	struct mrc_rwqe *w = rwqe_at(qp, rq_idx);

	if (rq_idx - qp->rq_cons >= qp->rq_slots)
		return NULL;	/* beyond the size of the ring */
	if (w->valid)
		return w;
	return (qp->srq ? rwqe_from_srq(qp, rq_idx) : rwqe_from_ring(qp, rq_idx)) ? w : NULL;
}

struct mrc_rwqe *mrc_wqe_recv_oldest(struct mrc_qp *qp)
{
	if (qp->srq && qp->rq_cons == qp->rq_taken)
		return NULL;	/* receives in the SRQ stay for other QPs */
	return mrc_wqe_recv(qp, qp->rq_cons);
}

u32 mrc_wqe_recv_done(struct mrc_qp *qp, struct mrc_rwqe *w)
{
	u32 idx = qp->rq_cons++;

	w->valid = false;
	if (!qp->srq)
		smp_store_release(&qp->rq.hdr->cons, qp->rq_cons);
	return idx;
}

void mrc_wqe_recv_drop_all(struct mrc_qp *qp)
{
	u32 i;

	/* The newest first: each becomes the next to be taken, which restores their order. */
	while (qp->srq && qp->rq_taken != qp->rq_cons) {
		struct mrc_rwqe *w = rwqe_at(qp, --qp->rq_taken);
		struct mrc_srq_recv r = {
			.wr_id = w->wr_id, .num_sge = w->num_sge, .sge = w->sge,
		};

		mrc_srq_give_back(qp->srq, &r);
	}
	for (i = 0; i < qp->rq_slots; i++)
		qp->rwqe[i].valid = false;
}
