// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_rx.c - see mrc_qp_rx.h.
 */
#include <linux/ktime.h>
#include "trace/mrc_trace.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_port.h"
#include "data/mrc_bh.h"
#include "data/mrc_flow.h"
#include "data/mrc_hold.h"
#include "data/mrc_place.h"
#include "data/mrc_qp_done.h"
#include "data/mrc_qp_rx.h"

/* Requests of the peer concern only this QP, so they do not need path_lock, which all QPs to a peer share. */
static enum mrc_verdict qp_rx_begin(struct mrc_qp *qp, const struct mrc_pkt *pkt, u64 now,
				    struct mrc_rxop *op)
{
	enum mrc_verdict v;

	if (likely(!mrc_conn_rx_shares(&qp->conn, pkt)))
		return mrc_conn_rx_begin(&qp->conn, pkt, now, op);
	spin_lock(&qp->peer->path_lock);
	v = mrc_conn_rx_begin(&qp->conn, pkt, now, op);
	spin_unlock(&qp->peer->path_lock);
	return v;
}

static void qp_rx_commit(struct mrc_qp *qp, const struct mrc_rxop *op, u64 now)
{
	if (likely(!mrc_conn_rx_shares(&qp->conn, op->pkt))) {
		mrc_conn_rx_commit(&qp->conn, op, now);
		return;
	}
	spin_lock(&qp->peer->path_lock);
	mrc_conn_rx_commit(&qp->conn, op, now);
	spin_unlock(&qp->peer->path_lock);
}

static void qp_rx_done(struct mrc_qp *qp, const struct mrc_rxop *op,
		       const struct mrc_reject *why, u64 now)
{
	if (why) {
		mrc_conn_rx_reject(&qp->conn, op, why, now);
		return;
	}
	mrc_qp_done_packet(qp, op->pkt->opcode, mrc_conn_rx_ahead(&qp->conn, op));
	qp_rx_commit(qp, op, now);
}

static void qp_rx_one(struct mrc_qp *qp, const struct mrc_arrival *a, u64 now)
{
	const struct mrc_pkt *pkt = &a->pkt;
	const struct mrc_reject *why;
	enum mrc_verdict v;
	struct mrc_rxop op __uninitialized;

	if (likely(!pkt->trimmed))	/* trimmed packets have no ICRC */
		mrc_peer_note_rx(qp->peer, &a->how);
	if (unlikely(mrc_dev_plane_strays(qp->dev, pkt->plane)))
		mrc_peer_port_stray(qp->peer, pkt->plane);
	v = qp_rx_begin(qp, pkt, now, &op);
	mrc_trace(rx, qp->qpn, pkt->psn, pkt->opcode, pkt->ev, pkt->plane, pkt->payload_len, v,
		  v == MRC_V_PLACE ? mrc_conn_rx_ahead(&qp->conn, &op) : 0, pkt->ecn_ce,
		  pkt->trimmed);
	if (v != MRC_V_PLACE)
		return;
	if (unlikely(op.hold))
		why = mrc_hold_store(qp, &op, a->skb, a->off);
	else
		why = mrc_place(qp, &op, a->skb, a->off);
	qp_rx_done(qp, &op, why, now);
}

static void qp_rx_unready(struct mrc_qp *qp, u32 n)
{
	while (n--) {
		if (qp->ibqp)
			mrc_conn_count_not_ready(&qp->conn);
		else	/* destroyed: its counters were added to the device's already */
			mrc_dev_count(qp->dev, rx_unknown_qp);
	}
}

/*
 * The peer's QP has confirmed the connection, so this QP takes its claim (path/mrc_claim.h). If a QP of another user
 * holds it, this QP fails: an accomplice on the peer's host may have confirmed, with a QP whose number has the same
 * low half.
 */
static noinline void qp_rx_claim(struct mrc_qp *qp)
{
	qp->claims = false;
	qp->claim = mrc_claim_take(qp->dev, qp->claim);
	if (qp->claim || qp->owner.trusted)
		return;
	mrc_peer_hint_claimed(qp->peer, qp->attr.dest_qp_num);
	mrc_qp_fail_conn(qp);
}

/* Under qp->lock. Processes one packet, and more while the engine can record their answers. Returns how many. */
static u32 qp_rx_some(struct mrc_qp *qp, const struct mrc_arrival *a, u32 n)
{
	u64 now = ktime_get_ns();
	u32 i = 0;

	do {
		qp_rx_one(qp, &a[i], now);
	} while (++i < n && !mrc_conn_answers_full(&qp->conn));
	if (unlikely(qp->claims) && mrc_conn_confirmed(&qp->conn))
		qp_rx_claim(qp);
	return i;
}

void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_arrival *a, u32 n)
{
	u32 packets = 0;	/* not used: NAPI has its own budget */
	u32 done;
	bool full;

	do {
		spin_lock(&qp->lock);
		if (unlikely(!qp->peer || !qp->ibqp)) {
			qp_rx_unready(qp, n);
			spin_unlock(&qp->lock);
			return;
		}
		done = qp_rx_some(qp, a, n);
		full = mrc_conn_answers_full(&qp->conn);
		spin_unlock(&qp->lock);
		/* Each trimmed or marked packet needs an answer. The turn sends the recorded ones, which makes room. */
		if (unlikely(full))
			mrc_flow_run(qp, &packets);
		a += done;
		n -= done;
	} while (unlikely(n));
	mrc_bh_kick(qp);
}
