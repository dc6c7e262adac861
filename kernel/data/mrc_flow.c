// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_flow.c - one turn of a QP: rings -> engine -> completions and packets.
 *
 * The softirq scheduler (mrc_bh.c) runs it, under qp->lock. Packets are handed to the network after
 * the lock is dropped. The engine makes all protocol decisions; this file carries them out, within
 * budgets.
 */
#include <linux/ktime.h>
#include <rdma/ib_user_verbs.h>
#include "trace/mrc_trace.h"
#include "core/mrc_event.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "mem/mrc_inval.h"
#include "data/mrc_flow.h"
#include "data/mrc_hold.h"
#include "data/mrc_place.h"
#include "data/mrc_qp_done.h"
#include "data/mrc_qp_grow.h"
#include "data/mrc_qp_timer.h"
#include "data/mrc_tx.h"
#include "data/mrc_wqe.h"
#include "data/mrc_wqe_recv.h"

#define MRC_TX_BUDGET	32	/* packets per turn: room for all SACKs and NACKs that a QP may owe */
#define MRC_TX_BATCH	8	/* packets taken from the engine per hold of path_lock, which QPs to a peer share */
#define MRC_HOLD_BUDGET	64	/* held packets placed per turn */
#define MRC_SQ_BUDGET	64	/* send requests taken per turn */
#define MRC_FLUSH_BUDGET 256	/* requests flushed per turn: a program may refill its rings without end */
#define MRC_TX_RETRY_NS	(1 * NSEC_PER_MSEC)	/* after a packet could not be built */

/* Scratch memory of the current turn: per CPU, BH off. */
struct flow_work {
	struct mrc_txop op[MRC_TX_BATCH];
};

static DEFINE_PER_CPU(struct flow_work, flow_work);

/* ---- completions ---- */

static u8 wc_status(enum mrc_status st)
{
	switch (st) {
	case MRC_ST_OK:
		return IB_WC_SUCCESS;
	case MRC_ST_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	case MRC_ST_RETRY_EXC:
		return IB_WC_RETRY_EXC_ERR;
	case MRC_ST_RNR_EXC:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case MRC_ST_REM_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case MRC_ST_REM_INV_REQ:
		return IB_WC_REM_INV_REQ_ERR;
	case MRC_ST_REM_OP:
		return IB_WC_REM_OP_ERR;
	case MRC_ST_LOC_PROT:
		return IB_WC_LOC_PROT_ERR;
	case MRC_ST_LOC_LEN:
		return IB_WC_LOC_LEN_ERR;
	case MRC_ST_LOC_QP_OP:
		return IB_WC_LOC_QP_OP_ERR;
	case MRC_ST_BAD_RESP:
		return IB_WC_BAD_RESP_ERR;
	}
	return IB_WC_GENERAL_ERR;
}

static u8 wc_opcode(enum mrc_op op)
{
	switch (op) {
	case MRC_OP_WRITE:
	case MRC_OP_WRITE_IMM:
		return IB_WC_RDMA_WRITE;
	case MRC_OP_READ:
		return IB_WC_RDMA_READ;
	case MRC_OP_CMP_SWAP:
		return IB_WC_COMP_SWAP;
	case MRC_OP_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	default:
		return IB_WC_SEND;
	}
}

static u8 wc_opcode_local(u8 wr_opcode)
{
	switch (wr_opcode) {
	case IB_UVERBS_WR_BIND_MW:
		return IB_UVERBS_WC_BIND_MW;
	case IB_UVERBS_WR_LOCAL_INV:
		return IB_UVERBS_WC_LOCAL_INV;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	default:
		return IB_UVERBS_WC_SEND;
	}
}

/* The retries are used up. If the peer never acknowledged a packet, the cause is probably a setting, not a path. */
static noinline void hint_silent(struct mrc_qp *qp)
{
	struct mrc_conn_info info;

	mrc_conn_info(&qp->conn, &info);
	if (qp->peer && info.psn_una == qp->attr.sq_psn)
		mrc_peer_hint_silent(qp->peer, qp->qpn, &info);
}

static void complete_send(struct mrc_qp *qp, const struct mrc_cpl *cpl)
{
	struct mrc_swqe *w = mrc_wqe_send(qp, cpl->cookie);
	struct mrc_cqe cqe = {
		.wr_id = w->wr_id,
		.qpn = qp->qpn,
		.byte_len = cpl->len,
		.opcode = cpl->op == MRC_OP_LOCAL ? wc_opcode_local(w->opcode) : wc_opcode(cpl->op),
		.status = wc_status(cpl->status),
		.slot = w->slot,
	};

	if (unlikely(cpl->status == MRC_ST_RETRY_EXC))
		hint_silent(qp);
	if (cpl->op == MRC_OP_LOCAL && cpl->status == MRC_ST_LOC_PROT)
		cqe.status = IB_WC_MW_BIND_ERR;
	/* The QP failed because the memory of this request was invalidated: report the cause, not the flush. */
	if (cpl->status == MRC_ST_FLUSHED && w->gone)
		cqe.status = IB_WC_LOC_PROT_ERR;
	mrc_wqe_release(w);
	qp->sq_done++;
	mrc_qp_done_send(qp, cqe.status);
	if (qp->sq_sig_all || w->flags & IB_SEND_SIGNALED || cpl->status != MRC_ST_OK)
		mrc_cq_post(qp->scq, &cqe, cpl->status != MRC_ST_OK);
}

/* A receive whose message was refused completes with the reason (w->fail) in place of a flush. */
static void recv_done(struct mrc_qp *qp, struct mrc_rwqe *w, struct mrc_cqe *cqe, u8 status,
		      bool solicited)
{
	cqe->wr_id = w->wr_id;
	cqe->qpn = qp->qpn;
	cqe->status = status == IB_WC_WR_FLUSH_ERR && w->fail ? w->fail : status;
	mrc_qp_done_recv(qp, cqe->status);
	cqe->slot = mrc_wqe_recv_done(qp, w);
	mrc_cq_post(qp->rcq, cqe, solicited);
}

static void complete_recv(struct mrc_qp *qp, const struct mrc_cpl *cpl)
{
	u32 idx = qp->rq_base + cpl->rq_idx;
	struct mrc_rwqe *w = mrc_wqe_recv(qp, idx);
	struct mrc_cqe cqe = {
		.byte_len = cpl->len,
		.opcode = cpl->op == MRC_OP_WRITE_IMM ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
	};

	if (WARN_ON_ONCE(!w || idx != qp->rq_cons))
		return;
	if (cpl->op == MRC_OP_WRITE_IMM || cpl->op == MRC_OP_SEND_IMM) {
		cqe.imm_data = (__force u32)cpu_to_be32(cpl->imm);
		cqe.wc_flags = IB_WC_WITH_IMM;
	}
	if (cpl->op == MRC_OP_SEND_INV && cpl->status == MRC_ST_OK) {
		mrc_inval(qp->dev, qp->pdn, qp->qpn, cpl->imm);
		cqe.imm_data = cpl->imm;
		cqe.wc_flags = MRC_WC_WITH_INV;
	}
	recv_done(qp, w, &cqe, wc_status(cpl->status), cpl->solicited);
}

/* ---- work that became possible ---- */

/* If the next item is a bad request, the connection fails and leaves its congestion controller, under path_lock. */
static bool flow_next(struct mrc_qp *qp, struct mrc_todo *ev)
{
	bool any;

	if (likely(!qp->peer || !mrc_conn_next_fails(&qp->conn)))
		return mrc_conn_next(&qp->conn, ev);
	spin_lock(&qp->peer->path_lock);
	any = mrc_conn_next(&qp->conn, ev);
	spin_unlock(&qp->peer->path_lock);
	return any;
}

/* Does the work that the engine returns. True: the budget of held packets is used up, and there may be more. */
static bool flow_do(struct mrc_qp *qp, u64 now)
{
	int held = MRC_HOLD_BUDGET;
	struct mrc_todo ev;

	while (held && flow_next(qp, &ev)) {
		switch (ev.what) {
		case MRC_DO_PLACE:
			mrc_hold_place(qp, ev.hold, now);
			held--;
			break;
		case MRC_DO_TAIL:
			mrc_place_tail(qp, &ev.tail);
			break;
		case MRC_DO_FREE:
			mrc_place_exec_free(qp, ev.slot);
			break;
		case MRC_DO_EXEC:
			mrc_place_exec(qp, &ev.exec, now);
			break;
		case MRC_DO_COMPLETE:
			if (ev.cpl.kind == MRC_CPL_SEND)
				complete_send(qp, &ev.cpl);
			else
				complete_recv(qp, &ev.cpl);
			break;
		}
	}
	return !held;
}

/* ---- error ---- */

static bool flow_cq_overrun(const struct mrc_qp *qp)
{
	return unlikely(mrc_cq_overrun(qp->scq) || mrc_cq_overrun(qp->rcq));
}

static void flow_event(struct mrc_qp *qp, enum ib_event_type event)
{
	struct ib_event ev = { .event = event };

	if (!qp->ibqp || !qp->ibqp->event_handler)
		return;
	ev.device = qp->ibqp->device;
	ev.element.qp = qp->ibqp;
	qp->ibqp->event_handler(&ev, qp->ibqp->qp_context);
}

/* SQD: no more requests are taken from the ring. Reports, once, that all earlier ones have completed. */
static void flow_sq_drained(struct mrc_qp *qp)
{
	if (qp->sqd_raised || !mrc_qp_drained(qp))
		return;
	qp->sqd_raised = true;
	if (qp->sqd_notify)
		flow_event(qp, IB_EVENT_SQ_DRAINED);
}

/* All receives taken from the SRQ have completed, and no more are taken. */
static void flow_last_wqe(struct mrc_qp *qp)
{
	if (!qp->srq || qp->last_wqe_raised)
		return;
	qp->last_wqe_raised = true;
	flow_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* A failed request is reported by its completion. Failures without a completion are reported by an event. */
static void flow_error(struct mrc_qp *qp)
{
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
		return;
	mrc_qp_fail_conn(qp);
	qp->state = IB_QPS_ERR;
	if (flow_cq_overrun(qp))
		flow_event(qp, IB_EVENT_QP_FATAL);
	else if (mrc_conn_nak_sent(&qp->conn))
		flow_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/* Requests left in the rings complete as flushed. True: the budget is used up, and there may be more. */
static bool flow_flush(struct mrc_qp *qp)
{
	struct mrc_cqe cqe = { .status = IB_WC_WR_FLUSH_ERR };
	int budget = MRC_FLUSH_BUDGET;
	struct mrc_send_wqe k;
	struct mrc_rwqe *w;

	while (budget && mrc_ring_avail(&qp->sq, qp->sq_cons)) {
		budget--;
		memcpy(&k, mrc_ring_slot(&qp->sq, qp->sq_cons), sizeof(k));
		cqe.slot = qp->sq_cons++;
		cqe.wr_id = k.wr_id;
		cqe.qpn = qp->qpn;
		cqe.opcode = IB_WC_SEND;
		mrc_qp_done_send(qp, cqe.status);
		mrc_cq_post(qp->scq, &cqe, true);
	}
	smp_store_release(&qp->sq.hdr->cons, qp->sq_cons);
	cqe.opcode = IB_WC_RECV;
	while (budget && (w = mrc_wqe_recv_oldest(qp))) {
		budget--;
		recv_done(qp, w, &cqe, IB_WC_WR_FLUSH_ERR, true);
	}
	return !budget;
}

/* ---- requests in ---- */

/*
 * Takes send requests off the ring while the engine has room. True: the budget is used up, and there may be more.
 * *waits: the next request cannot be taken yet.
 */
static bool flow_pull(struct mrc_qp *qp, u64 now, bool *waits)
{
	struct mrc_wr wr;
	int n;

	for (n = 0; n < MRC_SQ_BUDGET && mrc_conn_can_post(&qp->conn); n++) {
		if (!mrc_ring_avail(&qp->sq, qp->sq_cons))
			break;
		*waits = !mrc_wqe_load(qp, qp->sq_cons, &wr);
		if (*waits)
			break;
		if (mrc_conn_post(&qp->conn, &wr, now)) {
			/* Invalid for this QP: it fails after earlier requests have completed. */
			wr.error = MRC_ST_LOC_QP_OP;
			if (WARN_ON_ONCE(mrc_conn_post(&qp->conn, &wr, now)))
				break;
		}
		qp->sq_posted++;
		qp->sq_cons++;
	}
	if (n)
		smp_store_release(&qp->sq.hdr->cons, qp->sq_cons);
	return n == MRC_SQ_BUDGET;
}

/*
 * The QP becomes idle: requests a doorbell, then checks the ring once more (mrc-abi.h). True: a request was posted in
 * between. Not called while requests wait for acknowledgements: the turn after the next one checks the ring, so
 * doorbells would be useless.
 */
static bool flow_idle(struct mrc_qp *qp)
{
	WRITE_ONCE(qp->sq.hdr->need_kick, 1);
	smp_mb();
	return mrc_ring_avail(&qp->sq, qp->sq_cons) && qp->state != IB_QPS_SQD &&
	       (mrc_conn_can_post(&qp->conn) || qp->state == IB_QPS_ERR);
}

/* If the peer has a new path set, because a profile was replaced, the QP changes to it. */
static void flow_refresh_path(struct mrc_qp *qp)
{
	struct mrc_pathset *ps;

	if (!qp->peer || likely(rcu_access_pointer(qp->paths->ps) == qp->ps))
		return;
	ps = mrc_peer_paths_set(qp->paths);
	spin_lock(&qp->peer->path_lock);
	mrc_conn_set_path(&qp->conn, &ps->evs);
	spin_unlock(&qp->peer->path_lock);
	mrc_pathset_put(qp->ps);
	qp->ps = ps;
}

/* ---- packets out ---- */

static struct sk_buff *flow_build(struct mrc_qp *qp, const struct mrc_txop *op)
{
	struct mrc_payload pl __uninitialized;	/* large: clearing it for each packet is expensive */

	if (!mrc_wqe_payload(qp, op, &pl))
		return NULL;
	return mrc_tx_build(qp->dev, qp->ps, &qp->sgid, &qp->dgid, op, &pl);
}

/*
 * @op, the first of @n packets, could not be built: no memory, no route, or its source memory was invalidated. Returns
 * all @n to the engine. If a response can no longer be read, the peer gets a NAK. If the memory of a request was
 * invalidated, the QP fails.
 */
static void flow_undo(struct mrc_qp *qp, const struct mrc_txop *op, u32 n, u64 now)
{
	spin_lock(&qp->peer->path_lock);
	while (n--)
		mrc_conn_tx_undo(&qp->conn, &op[n]);
	spin_unlock(&qp->peer->path_lock);
	if (op->src == MRC_SRC_RESP && !mrc_wqe_resp_ok(qp, op->cookie))
		mrc_conn_exec_revoke(&qp->conn, op->cookie, MRC_NAK_REM_ACCESS, now);
	else if (mrc_wqe_invalidated(qp, op))
		mrc_qp_fail_conn(qp);
}

/* Called after @op was built, so that packets that could not be built are not traced. */
static void flow_trace_tx(const struct mrc_qp *qp, const struct mrc_txop *op)
{
	const struct mrc_pkt *h = &op->hdr;

	mrc_trace(tx, qp->qpn, h->psn, h->opcode, h->ev, h->plane, op->len, h->rtx);
	if (trace_mrc_resend_enabled() && h->rtx)
		trace_mrc_resend(qp->qpn, h->psn, mrc_conn_rtx_cause(&qp->conn, op), h->ev,
				 h->plane, op->len);
}

/* The window after this turn. */
static void flow_trace_window(const struct mrc_qp *qp)
{
	struct mrc_conn_info i;

	mrc_conn_info(&qp->conn, &i);
	trace_mrc_window(qp->qpn, i.cwnd_bytes, i.inflight_bytes, i.srtt_ns, i.lost_queued);
}

/* Builds @n packets of w->op and queues them. False: one could not be built; that one and those after it are undone. */
static bool flow_tx_batch(struct mrc_qp *qp, struct flow_work *w, u32 n, u64 now,
			  struct sk_buff_head *out)
{
	struct sk_buff *skb;
	u32 i;

	for (i = 0; i < n; i++) {
		skb = flow_build(qp, &w->op[i]);
		if (unlikely(!skb)) {
			flow_undo(qp, &w->op[i], n - i, now);
			return false;
		}
		flow_trace_tx(qp, &w->op[i]);
		__skb_queue_tail(out, skb);
	}
	return true;
}

/* Builds packets into @out. True: the budget is used up, and there is more to send. *retry: one could not be built. */
static bool flow_tx(struct mrc_qp *qp, u64 now, struct sk_buff_head *out, bool *retry)
{
	struct flow_work *w = this_cpu_ptr(&flow_work);
	bool more = true;
	u32 n, left;

	for (left = MRC_TX_BUDGET; left && more; left -= n) {
		spin_lock(&qp->peer->path_lock);
		n = mrc_conn_tx_batch(&qp->conn, now, w->op, min_t(u32, left, MRC_TX_BATCH), &more);
		spin_unlock(&qp->peer->path_lock);
		*retry = !flow_tx_batch(qp, w, n, now, out);
		if (unlikely(*retry))
			return false;
	}
	return more;
}

/* ---- incast ---- */

/*
 * Reports arrivals since the last turn to the device. SACKs carry the device's penalty to the peer (MRC 1.0 section
 * 5.3).
 */
static void flow_incast(struct mrc_qp *qp, u64 now)
{
	struct mrc_dev *dev = qp->dev;
	struct mrc_incast_note note;
	bool restore;
	u8 pen;

	if (!mrc_conn_incast_note(&qp->conn, &note))
		return;
	spin_lock(&dev->incast_lock);
	pen = mrc_incast_update(&dev->incast, &qp->incast, &note, now, &restore);
	spin_unlock(&dev->incast_lock);
	mrc_conn_set_penalty(&qp->conn, pen, restore);
}

/* ---- the turn ---- */

static bool flow_error_turn(struct mrc_qp *qp)
{
	struct sk_buff_head held;

	__skb_queue_head_init(&held);
	mrc_hold_take_all(qp, &held);	/* these packets will never be placed */
	__skb_queue_purge(&held);
	mrc_qp_timer_deadline(qp, MRC_TIME_NEVER, 0);
	mrc_place_drop_responses(qp);
	/* Receives that are posted from here on ring a doorbell, so that they are flushed. */
	if (!qp->srq)
		WRITE_ONCE(qp->rq.hdr->need_kick, 1);
	smp_mb();	/* pairs with the barrier after prod is published: mrc_post_recv(), the plug-in */
	flow_do(qp, ktime_get_ns());
	if (flow_flush(qp))
		return true;
	flow_last_wqe(qp);
	return flow_idle(qp);
}

/* While the path set needs a QP's timer for its probes (mrc_evset_waits()), reading the deadline needs path_lock. */
static u64 flow_deadline_ns(struct mrc_qp *qp)
{
	u64 at;

	if (likely(!mrc_evset_waits(&qp->ps->evs)))
		return mrc_conn_deadline_ns(&qp->conn);
	spin_lock(&qp->peer->path_lock);
	at = mrc_conn_deadline_ns(&qp->conn);
	spin_unlock(&qp->peer->path_lock);
	return at;
}

static bool flow_turn(struct mrc_qp *qp, struct sk_buff_head *out)
{
	bool more, retry = false, waits = false;
	u64 now = ktime_get_ns(), at;

	if (!qp->ibqp || !qp->peer)
		return qp->ibqp && qp->state == IB_QPS_ERR && flow_error_turn(qp);
	flow_refresh_path(qp);
	spin_lock(&qp->peer->path_lock);
	mrc_conn_timer(&qp->conn, now);
	spin_unlock(&qp->peer->path_lock);
	more = flow_do(qp, now);
	flow_incast(qp, now);
	if (qp->state == IB_QPS_RTS)
		more |= flow_pull(qp, now, &waits);
	more |= flow_tx(qp, now, out, &retry);
	if (trace_mrc_window_enabled())
		flow_trace_window(qp);
	mrc_qp_grow_check(qp);
	more |= flow_do(qp, now);	/* completes requests that were bad when posted: no packet arrives for them */
	if (mrc_conn_failed(&qp->conn) || mrc_conn_nak_sent(&qp->conn) || flow_cq_overrun(qp))
		flow_error(qp);
	if (qp->state == IB_QPS_ERR)
		return flow_error_turn(qp);
	if (qp->state == IB_QPS_SQD)
		flow_sq_drained(qp);
	if (!more && !waits && !mrc_conn_tx_waits(&qp->conn))
		more = flow_idle(qp);
	at = flow_deadline_ns(qp);
	if (retry || waits)
		at = min_t(u64, at, now + MRC_TX_RETRY_NS);
	mrc_qp_timer_deadline(qp, at, now);
	return more;
}

/* Under qp->lock. The peer (referenced) whose EV states changed since the last event, or NULL. */
static struct mrc_peer *flow_ev_changed(struct mrc_qp *qp)
{
	struct mrc_pathset *ps = qp->ps;
	bool news;

	if (!ps || !qp->peer || likely(!mrc_evset_changed(&ps->evs)))
		return NULL;
	spin_lock(&qp->peer->path_lock);
	news = mrc_evset_take_change(&ps->evs);
	mrc_peer_paths_log(ps->paths);
	spin_unlock(&qp->peer->path_lock);
	if (!news)
		return NULL;
	kref_get(&qp->peer->ref);
	return qp->peer;
}

/* Under qp->lock. The peer (referenced) whose other QPs must run, or NULL. */
static struct mrc_peer *flow_ev_wake(struct mrc_qp *qp)
{
	struct mrc_pathset *ps = qp->ps;
	bool wake;

	if (!ps || !qp->peer || likely(!mrc_evset_wants_wake(&ps->evs)))
		return NULL;
	spin_lock(&qp->peer->path_lock);
	wake = mrc_evset_take_wake(&ps->evs);
	spin_unlock(&qp->peer->path_lock);
	if (!wake)
		return NULL;
	kref_get(&qp->peer->ref);
	return qp->peer;
}

bool mrc_flow_run(struct mrc_qp *qp, u32 *packets)
{
	struct mrc_peer *news, *wake;
	struct sk_buff_head out;
	bool more;

	__skb_queue_head_init(&out);
	rcu_read_lock();	/* from build to ICRC: see Documentation/developer/lifetimes.md */
	spin_lock(&qp->lock);
	more = flow_turn(qp, &out);
	news = flow_ev_changed(qp);
	wake = flow_ev_wake(qp);
	spin_unlock(&qp->lock);
	*packets += skb_queue_len(&out);
	mrc_tx_xmit_all(&out);
	rcu_read_unlock();
	if (unlikely(news)) {
		mrc_event_peer(news, MRC_EVENT_EV);
		mrc_peer_put(news);
	}
	if (unlikely(wake)) {
		mrc_peer_users_notify(wake, false);
		mrc_peer_put(wake);
	}
	return more;
}
