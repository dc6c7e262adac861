// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_overrun.c - see mrc_qp_overrun.h.
 *
 * Runs in process context. A completion queue has no list of its QPs, and its lock is taken inside
 * theirs. So all QPs of the device are examined by number, with no lock held. A QP that is created
 * meanwhile detects the overrun in its first turn, a datagram QP also at its first datagram.
 */
#include <linux/sched.h>
#include "data/mrc_bh.h"
#include "data/mrc_qp.h"
#include "data/mrc_ud.h"
#include "data/mrc_qp_overrun.h"

/* The turn of a QP that was destroyed meanwhile must not be queued again. */
static void overrun_kick(struct mrc_ud *ud)
{
	spin_lock_bh(&ud->lock);
	if (ud->ibqp)
		mrc_ud_kick(ud);
	spin_unlock_bh(&ud->lock);
}

static void overrun_kick_uds(const struct mrc_cq *cq)
{
	struct mrc_ud *ud;
	u32 qpn = 0;

	while ((ud = mrc_ud_next(cq->dev, qpn)) != NULL) {
		if (ud->scq == cq || ud->rcq == cq)
			overrun_kick(ud);
		qpn = ud->qpn + 1;
		mrc_ud_put(ud);
		cond_resched();
	}
}

static void overrun_kick_qps(const struct mrc_cq *cq)
{
	struct mrc_qp *qp;
	u32 qpn = 0;

	while ((qp = mrc_qp_next(cq->dev, qpn)) != NULL) {
		if (qp->scq == cq || qp->rcq == cq)
			mrc_bh_kick(qp);
		qpn = qp->qpn + 1;
		mrc_qp_put(qp);
		cond_resched();
	}
	overrun_kick_uds(cq);
}

void mrc_qp_overrun_init(void)
{
	mrc_cq_on_overrun(overrun_kick_qps);
}
