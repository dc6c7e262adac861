// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_msg.c - messages of the send stream: posted, segmented into packets, completed in order.
 *
 * MRC 1.0 sections 2.1, 5.1. Messages of two rings (send queue, and responses to the peer's READs
 * and ATOMICs) take turns, one whole message at a time. mrc_tx.c decides which packet leaves when.
 */
#include "conn/mrc_conn.h"

/* ---- work requests ---- */

static bool mrc_op_is_send(u8 op)
{
	return op == MRC_OP_SEND || op == MRC_OP_SEND_IMM || op == MRC_OP_SEND_INV;
}

static bool mrc_op_consumes_recv(u8 op)
{
	return op == MRC_OP_WRITE_IMM || mrc_op_is_send(op);
}

static bool mrc_wr_valid(const struct mrc_conn *c, const struct mrc_wr *wr)
{
	if (wr->op >= MRC_OP_READ_RESP && wr->op != MRC_OP_LOCAL)
		return false;
	if (c->rx.mrc_only && wr->op != MRC_OP_WRITE && wr->op != MRC_OP_WRITE_IMM)
		return false;
	if (mrc_op_is_rd((u8)wr->op) && !c->tx.rd_atomic)
		return false;
	if ((wr->op == MRC_OP_CMP_SWAP || wr->op == MRC_OP_FETCH_ADD) && wr->len != 8)
		return false;
	return wr->len <= 0x80000000u;
}

u32 mrc_msg_pkts_of(const struct mrc_conn *c, u32 len)
{
	return len ? (len - 1) / c->rx.mtu + 1 : 1;
}

int mrc_conn_post(struct mrc_conn *c, const struct mrc_wr *wr, u64 now_ns)
{
	struct mrc_msg *m;

	(void)now_ns;
	if (!c->tx_ready || c->fail)
		return -ENOENT;
	if (!wr->error && !mrc_wr_valid(c, wr))
		return -EINVAL;
	if (c->msgs.sq_tail - c->msgs.sq_head >= c->cfg.sq_max)
		return -EAGAIN;
	m = mrc_sq_at(c, c->msgs.sq_tail);
	memset(m, 0, sizeof(*m));
	m->op = (u8)wr->op;
	m->flags = (u8)wr->flags;
	m->error = (u8)wr->error;
	m->msn = (u16)c->msgs.sq_tail;
	m->cookie = wr->cookie;
	m->len = wr->len;
	m->src = wr->len && !mrc_op_is_rd(m->op) ? MRC_SRC_SQ : MRC_SRC_NONE;
	if (!mrc_op_is_send(m->op)) {
		m->rkey = wr->rkey;
		m->va = wr->va;
	}
	m->swap_add = wr->swap_add;
	if (m->op == MRC_OP_CMP_SWAP)
		m->compare = wr->compare;
	else
		m->imm = wr->imm;
	if (m->op == MRC_OP_READ)
		m->resp_pkts = mrc_msg_pkts_of(c, wr->len);
	else if (mrc_op_is_rd(m->op))
		m->resp_pkts = 1;
	c->msgs.sq_tail++;
	return 0;
}

/* The own READ or ATOMIC that a response names, or NULL if it is not outstanding. */
struct mrc_msg *mrc_msg_find_request(struct mrc_conn *c, u16 msn)
{
	u32 i = c->msgs.sq_head + (u16)(msn - (u16)c->msgs.sq_head);
	struct mrc_msg *m;

	if (i - c->msgs.sq_head >= c->msgs.sq_tail - c->msgs.sq_head ||
	    (mrc_sq_cutting(c) && i == c->msgs.sq_seg))	/* has not left */
		return NULL;
	m = mrc_sq_at(c, i);
	return mrc_op_is_rd(m->op) && m->started && m->resp_pkts ? m : NULL;
}

/* rd_out counts requests from the oldest unanswered one on: later answers free no place before. */
static void mrc_msg_resp_complete(struct mrc_conn *c)
{
	const struct mrc_msg *m;

	for (; c->msgs.sq_rd != c->msgs.sq_tail; c->msgs.sq_rd++) {
		m = mrc_sq_at(c, c->msgs.sq_rd);
		if (!mrc_op_is_rd(m->op))
			continue;
		if (!m->started || m->resp_pkts)
			return;
		c->msgs.rd_out--;
	}
}

/*
 * A packet of a response arrived. The last packet answers its request. Places for further requests become
 * free in order, so the peer may conclude from a request that the one rd_atomic before it has been
 * answered (mrc_exec_admit()). If only responses are outstanding, each packet is progress, and the last
 * one counts as a delivery. Otherwise it only shows that the peer is alive.
 */
void mrc_msg_resp_arrived(struct mrc_conn *c, struct mrc_msg *m, u64 now_ns)
{
	bool complete = !--m->resp_pkts;

	if (complete)
		mrc_msg_resp_complete(c);
	if (c->snd.una == c->snd.next && c->msgs.sq_acked == c->msgs.sq_seg)
		mrc_pto_rearm(c, now_ns, c->msgs.rd_out, true, complete);
	else if (c->msgs.rd_out)
		mrc_budget_alive(c, now_ns);
}

/* ---- cutting messages into packets ---- */

/* Packets of a message on the wire. */
static u32 mrc_msg_pkts(const struct mrc_conn *c, const struct mrc_msg *m)
{
	return mrc_op_is_rd(m->op) ? 1 : mrc_msg_pkts_of(c, m->len);
}

/* May this message of the send queue start now? */
static bool mrc_msg_may_start(struct mrc_conn *c, const struct mrc_msg *m)
{
	if (m->started)
		return true;	/* its packets were undone, but it keeps its PSNs */
	if (m->error)
		return false;	/* fails when it is the oldest */
	if (m->flags & MRC_WR_FENCE && c->msgs.rd_out)
		return false;
	if (mrc_op_is_rd(m->op) && c->msgs.rd_out >= c->tx.rd_atomic)
		return false;
	return !mrc_op_consumes_recv(m->op) || c->msgs.rqm_out < c->tx.wimm;
}

static void mrc_msg_start(struct mrc_conn *c, struct mrc_msg *m)
{
	m->started = true;
	m->psn = c->snd.next;
	m->npkts = mrc_msg_pkts(c, m);
	if (mrc_op_is_rd(m->op))
		c->msgs.rd_out++;
	if (mrc_op_consumes_recv(m->op)) {
		c->msgs.rqm_out++;
		m->rqmsn = c->msgs.next_rqmsn++;
	}
}

/* The next message of the send queue, if it may start now. */
static struct mrc_msg *mrc_msg_of_sq(struct mrc_conn *c)
{
	struct mrc_msg *m;

	/* MRC_OP_LOCAL completes in order, but has no packet. */
	while (c->msgs.sq_seg != c->msgs.sq_tail && mrc_sq_at(c, c->msgs.sq_seg)->op == MRC_OP_LOCAL &&
	       !mrc_sq_at(c, c->msgs.sq_seg)->error) {
		c->msgs.sq_acked += c->msgs.sq_acked == c->msgs.sq_seg;
		c->msgs.sq_seg++;
	}
	if (c->msgs.sq_seg == c->msgs.sq_tail)
		return NULL;
	m = mrc_sq_at(c, c->msgs.sq_seg);
	return mrc_msg_may_start(c, m) ? m : NULL;
}

/* Choose the next message to cut into packets. False: none may start now. */
bool mrc_msg_next(struct mrc_conn *c)
{
	struct mrc_msg *m;

	/* The rings take turns, so that a peer's READs cannot starve own requests. */
	m = c->msgs.cut_rs || c->msgs.rs_seg == c->msgs.rs_tail ? mrc_msg_of_sq(c) : NULL;
	if (!m && c->msgs.rs_seg == c->msgs.rs_tail)
		return false;
	c->msgs.cut_rs = !m;
	if (!m)
		m = mrc_rs_at(c, c->msgs.rs_seg);
	c->msgs.cut = (u16)(c->msgs.cut_rs ? (c->msgs.rs_seg & (c->cfg.rd_max - 1u)) | MRC_REC_RESP :
				   c->msgs.sq_seg & (c->cfg.sq_max - 1u));
	c->msgs.cut_off = 0;
	if (!m->started)
		mrc_msg_start(c, m);
	return true;
}

/* ---- completions ---- */

/*
 * The exec slot of the oldest response, if all of its packets are delivered. Called until false
 * (mrc_exec_responses()).
 */
bool mrc_msg_response_next(struct mrc_conn *c, u16 *slot)
{
	struct mrc_msg *m = mrc_rs_at(c, c->msgs.rs_head);

	if (c->msgs.rs_head == c->msgs.rs_seg || m->resp_pkts)
		return false;
	*slot = (u16)m->cookie;
	c->msgs.rs_head++;
	return true;
}

/* Mark the oldest response as delivered, although no acknowledgement has arrived (mrc_exec_admit()). */
void mrc_msg_response_settle(struct mrc_conn *c, u64 now_ns)
{
	const struct mrc_msg *m = mrc_rs_at(c, c->msgs.rs_head);
	u32 psn, end;

	if (c->msgs.rs_head == c->msgs.rs_seg)
		return;		/* not even sent: the peer violates the limit */
	end = mrc_psn_add(m->psn, (s32)m->npkts);
	psn = mrc_psn_diff(m->psn, c->snd.una) < 0 ? c->snd.una : m->psn;
	for (; mrc_psn_diff(psn, end) < 0; psn = mrc_psn_add(psn, 1))
		mrc_snd_delivered(c, psn, now_ns);
}

static bool mrc_msg_done(const struct mrc_conn *c, const struct mrc_msg *m)
{
	if (m->error)
		return false;
	if (m->op == MRC_OP_LOCAL)
		return c->msgs.sq_seg != c->msgs.sq_head;	/* mrc_msg_of_sq() has passed it */
	return mrc_op_is_rd(m->op) ? m->started && !m->resp_pkts : m->acked;
}

/* Why the oldest message failed, or MRC_ST_OK. */
enum mrc_status mrc_msg_failed(const struct mrc_conn *c)
{
	return c->msgs.sq_head == c->msgs.sq_tail ? MRC_ST_OK :
	       (enum mrc_status)mrc_sq_at(c, c->msgs.sq_head)->error;
}

bool mrc_msg_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	struct mrc_msg *m;

	if (c->msgs.sq_head == c->msgs.sq_tail)
		return false;
	m = mrc_sq_at(c, c->msgs.sq_head);
	memset(cpl, 0, sizeof(*cpl));
	cpl->kind = MRC_CPL_SEND;
	cpl->op = (enum mrc_op)m->op;
	cpl->cookie = m->cookie;
	cpl->len = m->len;
	if (mrc_msg_done(c, m) && !c->failed_sent) {
		cpl->status = MRC_ST_OK;
	} else if (c->fail) {
		cpl->status = c->failed_sent ? MRC_ST_FLUSHED : (enum mrc_status)c->fail;
		c->failed_sent = true;
	} else {
		return false;
	}
	c->msgs.sq_head++;
	if ((s32)(c->msgs.sq_acked - c->msgs.sq_head) < 0)
		c->msgs.sq_acked = c->msgs.sq_head;
	if ((s32)(c->msgs.sq_seg - c->msgs.sq_head) < 0)
		c->msgs.sq_seg = c->msgs.sq_head;
	if ((s32)(c->msgs.sq_rd - c->msgs.sq_head) < 0)
		c->msgs.sq_rd = c->msgs.sq_head;
	return true;
}
