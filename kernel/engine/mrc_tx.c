// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_tx.c - the send stream: messages cut into packets, the window of
 * records, and completions in order.
 *
 * MRC 1.0 sections 2.1, 2.4, 4 (6.3, 7.4); design.md section 3. Messages of two
 * rings (send queue, responses to the peer's READs and ATOMICs) take turns, one
 * whole message after another, in one PSN space. Each PSN between psn_una and psn_next
 * has a record: in flight (sent list, oldest send first), waiting to be resent
 * (lost list), or delivered (free). Loss is decided in mrc_loss.c.
 */
#include "mrc_conn.h"

#define MRC_CWND_DEFAULT	(512u << 10)

enum mrc_undo_kind { MRC_UNDO_NEW = 1, MRC_UNDO_RTX };

/* ---- lists of records ---- */

void mrc_list_add_tail(struct mrc_conn *c, struct mrc_list *l, u16 slot)
{
	struct mrc_rec *r = &c->rec[slot];

	r->prev = l->tail;
	r->next = MRC_NONE16;
	if (l->tail == MRC_NONE16)
		l->head = slot;
	else
		c->rec[l->tail].next = slot;
	l->tail = slot;
	l->count++;
}

void mrc_list_add_head(struct mrc_conn *c, struct mrc_list *l, u16 slot)
{
	struct mrc_rec *r = &c->rec[slot];

	r->next = l->head;
	r->prev = MRC_NONE16;
	if (l->head == MRC_NONE16)
		l->tail = slot;
	else
		c->rec[l->head].prev = slot;
	l->head = slot;
	l->count++;
}

void mrc_list_del(struct mrc_conn *c, struct mrc_list *l, u16 slot)
{
	struct mrc_rec *r = &c->rec[slot];

	if (r->prev == MRC_NONE16)
		l->head = r->next;
	else
		c->rec[r->prev].next = r->next;
	if (r->next == MRC_NONE16)
		l->tail = r->prev;
	else
		c->rec[r->next].prev = r->prev;
	l->count--;
}

static void mrc_list_init(struct mrc_list *l)
{
	l->head = MRC_NONE16;
	l->tail = MRC_NONE16;
	l->count = 0;
}

void mrc_tx_reset(struct mrc_conn *c)
{
	c->tx_ready = false;
	c->psn_known = false;
	c->tx_stopped = false;
	c->cutting = false;
	memset(c->rec, 0, (c->rec_mask + 1) * sizeof(*c->rec));
	mrc_list_init(&c->sent);
	mrc_list_init(&c->lost);
	c->inflight_bytes = 0;
	c->sq_head = c->sq_acked = c->sq_seg = c->sq_tail = 0;
	c->sq_rd = 0;
	c->rs_head = c->rs_seg = c->rs_tail = 0;
	c->next_rqmsn = 0;
	c->rd_out = 0;
	c->rqm_out = 0;
}

static struct mrc_msg *mrc_sq_at(const struct mrc_conn *c, u32 i)
{
	return &c->sq[i & (c->cfg.sq_max - 1u)];
}

static struct mrc_msg *mrc_rs_at(const struct mrc_conn *c, u32 i)
{
	return &c->rs[i & (c->cfg.rd_max - 1u)];
}

static void mrc_tx_set_cc(struct mrc_conn *c)
{
	struct mrc_cc_cfg cc = { 0 };

	cc.window_bytes = c->tx.cwnd_bytes ? c->tx.cwnd_bytes : MRC_CWND_DEFAULT;
	cc.mtu = c->rx.mtu;
	mrc_cc_init(&c->cc, c->tx.cc ? c->tx.cc : &mrc_cc_fixed, &cc);
}

/* The stream begins at @psn. */
void mrc_tx_start(struct mrc_conn *c, u32 psn)
{
	c->psn_known = true;
	c->psn_first = psn;
	c->psn_next = psn;
	c->psn_una = psn;
	c->psn_acked = mrc_psn_add(psn, -1);
	if (!c->tx_ready) {	/* RTR: responses only, with what is safe to assume */
		memset(&c->tx, 0, sizeof(c->tx));
		c->tx_window = MRC_MPR_UNIT;
		mrc_tx_set_cc(c);
	}
}

int mrc_conn_set_tx(struct mrc_conn *c, const struct mrc_tx_cfg *cfg, u64 now_ns)
{
	u8 mpr = cfg->mpr ? cfg->mpr : c->cfg.mpr_max;

	if (!c->rx_ready || mpr > c->cfg.mpr_max || cfg->psn & ~MRC_PSN_MASK ||
	    cfg->rd_atomic > c->cfg.rd_max || cfg->wimm > c->cfg.rq_max ||
	    (c->psn_known && cfg->psn != c->psn_first))
		return -EINVAL;
	c->tx = *cfg;
	c->tx_window = mpr * MRC_MPR_UNIT;
	if (!c->tx.wimm)
		c->tx.wimm = c->cfg.rq_max;
	mrc_tx_set_cc(c);
	c->tx_ready = true;
	if (!c->psn_known)
		mrc_tx_start(c, cfg->psn);
	(void)now_ns;
	return 0;
}

/* ---- work requests ---- */

static bool mrc_op_is_rd(u8 op)
{
	return op == MRC_OP_READ || op == MRC_OP_CMP_SWAP || op == MRC_OP_FETCH_ADD;
}

static bool mrc_op_consumes_recv(u8 op)
{
	return op == MRC_OP_WRITE_IMM || op == MRC_OP_SEND || op == MRC_OP_SEND_IMM ||
	       op == MRC_OP_SEND_INV;
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

u32 mrc_tx_pkts(const struct mrc_conn *c, u32 len)
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
	if (c->sq_tail - c->sq_head >= c->cfg.sq_max)
		return -EAGAIN;
	m = mrc_sq_at(c, c->sq_tail);
	memset(m, 0, sizeof(*m));
	m->op = (u8)wr->op;
	m->flags = (u8)wr->flags;
	m->error = (u8)wr->error;
	m->msn = (u16)c->sq_tail;
	m->cookie = wr->cookie;
	m->len = wr->len;
	m->rkey = wr->rkey;
	m->va = wr->va;
	m->imm = wr->imm;
	m->swap_add = wr->swap_add;
	m->compare = wr->compare;
	if (m->op == MRC_OP_READ)
		m->resp_pkts = mrc_tx_pkts(c, wr->len);
	else if (mrc_op_is_rd(m->op))
		m->resp_pkts = 1;
	c->sq_tail++;
	return 0;
}

/* The request of ours that a response names, while it is unanswered. */
struct mrc_msg *mrc_tx_find_request(struct mrc_conn *c, u16 msn)
{
	u32 i = c->sq_head + (u16)(msn - (u16)c->sq_head);
	struct mrc_msg *m;

	if (i - c->sq_head >= c->sq_tail - c->sq_head)
		return NULL;
	m = mrc_sq_at(c, i);
	return mrc_op_is_rd(m->op) && m->started && m->resp_pkts ? m : NULL;
}

/*
 * Requests count as out up to the oldest unanswered one, so that the peer may
 * conclude from a request that the one rd_atomic before it has been answered
 * (mrc_exec_admit()).
 */
void mrc_tx_resp_arrived(struct mrc_conn *c, struct mrc_msg *m, u64 now_ns)
{
	/* The answer says that the request arrived; its slot may be reused soon. */
	mrc_loss_delivered(c, m->psn, now_ns);
	if (--m->resp_pkts)
		return;
	for (; c->sq_rd != c->sq_tail; c->sq_rd++) {
		m = mrc_sq_at(c, c->sq_rd);
		if (!mrc_op_is_rd(m->op))
			continue;
		if (!m->started || m->resp_pkts)
			return;
		c->rd_out--;
	}
}

/* ---- cutting messages into packets ---- */

/* Packets a message takes on the wire. */
static u32 mrc_msg_pkts(const struct mrc_conn *c, const struct mrc_msg *m)
{
	return mrc_op_is_rd(m->op) ? 1 : mrc_tx_pkts(c, m->len);
}

/* May this message of the send queue start now? */
static bool mrc_msg_may_start(struct mrc_conn *c, const struct mrc_msg *m)
{
	if (m->started)
		return true;	/* undone: its PSNs are taken */
	if (m->error)
		return false;	/* fails when it is the oldest */
	if (m->flags & MRC_WR_FENCE && c->rd_out)
		return false;
	if (mrc_op_is_rd(m->op) && c->rd_out >= c->tx.rd_atomic)
		return false;
	return !mrc_op_consumes_recv(m->op) || c->rqm_out < c->tx.wimm;
}

static void mrc_msg_start(struct mrc_conn *c, struct mrc_msg *m)
{
	m->started = true;
	m->psn = c->psn_next;
	m->npkts = mrc_msg_pkts(c, m);
	if (mrc_op_is_rd(m->op))
		c->rd_out++;
	if (mrc_op_consumes_recv(m->op)) {
		c->rqm_out++;
		m->rqmsn = c->next_rqmsn++;
	}
}

/* The message to cut from, choosing a new one if none is under way. */
static struct mrc_msg *mrc_tx_cut(struct mrc_conn *c)
{
	struct mrc_msg *m;

	if (c->cutting)
		return c->cutting_rs ? mrc_rs_at(c, c->rs_seg) : mrc_sq_at(c, c->sq_seg);
	if (c->rs_seg != c->rs_tail) {
		m = mrc_rs_at(c, c->rs_seg);
		c->cutting_rs = true;
	} else {
		/* MRC_OP_LOCAL takes its place in order, and no packet. */
		while (c->sq_seg != c->sq_tail && mrc_sq_at(c, c->sq_seg)->op == MRC_OP_LOCAL &&
		       !mrc_sq_at(c, c->sq_seg)->error) {
			c->sq_acked += c->sq_acked == c->sq_seg;
			c->sq_seg++;
		}
		if (c->sq_seg == c->sq_tail)
			return NULL;
		m = mrc_sq_at(c, c->sq_seg);
		if (!mrc_msg_may_start(c, m))
			return NULL;
		c->cutting_rs = false;
	}
	c->cutting = true;
	c->cut_off = 0;
	if (!m->started)
		mrc_msg_start(c, m);
	return m;
}

static const u8 mrc_opc_of[][4] = {	/* FIRST, MIDDLE, LAST, ONLY */
	[MRC_OP_WRITE] = { MRC_OPC_WRITE_FIRST, MRC_OPC_WRITE_MIDDLE,
			   MRC_OPC_WRITE_LAST, MRC_OPC_WRITE_ONLY },
	[MRC_OP_WRITE_IMM] = { MRC_OPC_WRITE_FIRST, MRC_OPC_WRITE_MIDDLE,
			       MRC_OPC_WRITE_LAST_IMM, MRC_OPC_WRITE_ONLY_IMM },
	[MRC_OP_SEND] = { MRC_OPC_SEND_FIRST, MRC_OPC_SEND_MIDDLE,
			  MRC_OPC_SEND_LAST, MRC_OPC_SEND_ONLY },
	[MRC_OP_SEND_IMM] = { MRC_OPC_SEND_FIRST, MRC_OPC_SEND_MIDDLE,
			      MRC_OPC_SEND_LAST_IMM, MRC_OPC_SEND_ONLY_IMM },
	[MRC_OP_SEND_INV] = { MRC_OPC_SEND_FIRST, MRC_OPC_SEND_MIDDLE,
			      MRC_OPC_SEND_LAST_INV, MRC_OPC_SEND_ONLY_INV },
	[MRC_OP_READ] = { 0, 0, 0, MRC_OPC_READ_REQ },
	[MRC_OP_CMP_SWAP] = { 0, 0, 0, MRC_OPC_CMP_SWAP },
	[MRC_OP_FETCH_ADD] = { 0, 0, 0, MRC_OPC_FETCH_ADD },
	[MRC_OP_READ_RESP] = { MRC_OPC_READ_RESP_FIRST, MRC_OPC_READ_RESP_MIDDLE,
			       MRC_OPC_READ_RESP_LAST, MRC_OPC_READ_RESP_ONLY },
	[MRC_OP_ATOMIC_RESP] = { 0, 0, 0, MRC_OPC_ATOMIC_ACK },
};

static u8 mrc_tx_opcode(const struct mrc_msg *m, u32 i)
{
	if (m->npkts == 1)
		return mrc_opc_of[m->op][3];
	if (i == 0)
		return mrc_opc_of[m->op][0];
	return mrc_opc_of[m->op][i == m->npkts - 1 ? 2 : 1];
}

static u32 mrc_msg_payload(const struct mrc_conn *c, const struct mrc_msg *m, u32 i)
{
	if (mrc_op_is_rd(m->op) || m->op == MRC_OP_ATOMIC_RESP)
		return 0;
	return min_t(u32, c->rx.mtu, m->len - i * c->rx.mtu);
}

struct mrc_msg *mrc_tx_rec_msg(struct mrc_conn *c, const struct mrc_rec *r)
{
	if (r->msg & MRC_REC_RESP)
		return &c->rs[r->msg & ~MRC_REC_RESP];
	return &c->sq[r->msg];
}

/* What a packet counts in flight. */
u32 mrc_tx_rec_bytes(const struct mrc_conn *c, u32 psn)
{
	const struct mrc_rec *r = &c->rec[psn & c->rec_mask];
	const struct mrc_msg *m = r->msg & MRC_REC_RESP ?
		&c->rs[r->msg & ~MRC_REC_RESP] : &c->sq[r->msg];

	return mrc_msg_payload(c, m, (u32)mrc_psn_diff(psn, m->psn)) + MRC_PKT_OVERHEAD;
}

/* Describe packet @psn of message @m. */
static void mrc_tx_describe(struct mrc_conn *c, const struct mrc_msg *m, u32 psn,
			    struct mrc_txop *op)
{
	u32 i = (u32)mrc_psn_diff(psn, m->psn);
	struct mrc_pkt *h = &op->hdr;
	bool resp = m->op == MRC_OP_READ_RESP || m->op == MRC_OP_ATOMIC_RESP;
	bool offset = resp || m->op == MRC_OP_SEND || m->op == MRC_OP_SEND_IMM ||
		      m->op == MRC_OP_SEND_INV;

	op->off = i * c->rx.mtu;
	op->len = mrc_msg_payload(c, m, i);
	op->src = !op->len ? MRC_SRC_NONE : resp ? MRC_SRC_RESP : MRC_SRC_SQ;
	op->cookie = m->cookie;
	h->opcode = mrc_tx_opcode(m, i);
	h->pad = (u8)(-op->len & 3);
	h->pkey = 0xffff;
	h->dqpn = c->rx.dqpn;
	h->psn = psn;
	h->rqmsn = m->rqmsn;
	h->msn = m->msn;
	h->va = offset ? op->off : m->va + op->off;
	h->rkey = offset ? 0 : m->rkey;
	h->dmalen = m->len;
	h->imm = m->imm;
	h->swap_add = m->swap_add;
	h->compare = m->compare;
	h->payload_len = (u16)op->len;
	h->se = m->flags & MRC_WR_SOLICITED && i == m->npkts - 1;
}

static void mrc_tx_pick(struct mrc_conn *c, struct mrc_txop *op, u16 idx)
{
	struct mrc_ev *ev = &c->evs->ev[idx];

	ev->tx_pkts++;
	op->ev_idx = idx;
	op->hdr.ev = ev->value;
	op->hdr.plane = ev->plane;
}

/* Record that @psn leaves now by op's EV. */
static void mrc_tx_record(struct mrc_conn *c, u32 psn, const struct mrc_txop *op, u64 now_ns)
{
	u16 slot = (u16)(psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];

	r->sent = mrc_tick(now_ns);
	r->ev = op->ev_idx;
	r->plane = op->hdr.plane;
	r->state = MRC_REC_SENT;
	if (r->tries < 255)
		r->tries++;
	mrc_list_add_tail(c, &c->sent, slot);
	c->inflight_bytes += mrc_tx_rec_bytes(c, psn);
	c->stats.tx_pkts++;
	c->stats.tx_bytes += op->len;
	mrc_loss_sent(c, now_ns);
}

static void mrc_tx_count_rtx(struct mrc_conn *c, u8 cause, s32 by)
{
	u64 *n;

	switch ((enum mrc_cause)cause) {
	case MRC_CAUSE_RACK:
		n = &c->stats.rtx_rack;
		break;
	case MRC_CAUSE_NACK:
		n = &c->stats.rtx_nack;
		break;
	case MRC_CAUSE_TRIM:
		n = &c->stats.rtx_trim;
		break;
	case MRC_CAUSE_PLANE:
		n = &c->stats.rtx_plane;
		break;
	case MRC_CAUSE_RNR:
		n = &c->stats.rtx_rnr;
		break;
	case MRC_CAUSE_RTO:
	default:
		n = &c->stats.rtx_rto;
		break;
	}
	*n += (u64)(s64)by;
}

static bool mrc_tx_room(const struct mrc_conn *c, u32 bytes)
{
	return !c->inflight_bytes || c->inflight_bytes + bytes <= c->cc.cwnd_bytes;
}

static u32 mrc_tx_slot_psn(const struct mrc_conn *c, u16 slot)
{
	return mrc_psn_add(c->psn_una, (s32)((slot - c->psn_una) & c->rec_mask));
}

/* Resend the first lost packet, on another EV than the one that lost it. */
static bool mrc_tx_resend(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u16 slot = c->lost.head, idx;
	u32 psn = mrc_tx_slot_psn(c, slot);
	struct mrc_rec *r = &c->rec[slot];

	if (!mrc_tx_room(c, mrc_tx_rec_bytes(c, psn)))
		return false;
	idx = mrc_rot_pick(&c->rot, c->evs, r->ev < c->evs->n ? r->ev : MRC_NONE16);
	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		return false;
	}
	mrc_tx_describe(c, mrc_tx_rec_msg(c, r), psn, op);
	mrc_tx_pick(c, op, idx);
	op->hdr.rtx = true;
	op->tclass = MRC_TC_RTX;
	op->undo.kind = MRC_UNDO_RTX;
	op->undo.slot = slot;
	mrc_list_del(c, &c->lost, slot);
	mrc_tx_count_rtx(c, r->cause, 1);
	mrc_tx_record(c, psn, op, now_ns);
	return true;
}

static bool mrc_tx_new(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	u32 psn = c->psn_next;
	struct mrc_msg *m;
	struct mrc_rec *r;
	u16 idx;

	if (c->tx_stopped || mrc_psn_diff(psn, c->psn_una) >= (s32)c->tx_window)
		return false;
	m = mrc_tx_cut(c);
	if (!m || !mrc_tx_room(c, mrc_msg_payload(c, m, c->cut_off) + MRC_PKT_OVERHEAD))
		return false;
	idx = mrc_rot_pick(&c->rot, c->evs, MRC_NONE16);
	if (idx == MRC_NONE16) {
		c->stats.no_path++;
		return false;
	}
	mrc_tx_describe(c, m, psn, op);
	mrc_tx_pick(c, op, idx);
	op->tclass = MRC_TC_DATA;
	op->undo.kind = MRC_UNDO_NEW;
	op->undo.slot = c->cutting_rs;
	r = &c->rec[psn & c->rec_mask];
	r->tries = 0;
	r->msg = c->cutting_rs ? (u16)((c->rs_seg & (c->cfg.rd_max - 1u)) | MRC_REC_RESP) :
				 (u16)(c->sq_seg & (c->cfg.sq_max - 1u));
	c->psn_next = mrc_psn_add(psn, 1);
	if (++c->cut_off == m->npkts) {
		c->cutting = false;
		if (c->cutting_rs)
			c->rs_seg++;
		else
			c->sq_seg++;
	}
	mrc_tx_record(c, psn, op, now_ns);
	return true;
}

bool mrc_tx_data_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (!c->psn_known || c->fail || now_ns < c->rnr_until_ns)
		return false;
	if (c->lost.count)
		return mrc_tx_resend(c, now_ns, op);
	return mrc_tx_new(c, now_ns, op);
}

void mrc_tx_data_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	u16 slot = (u16)(op->hdr.psn & c->rec_mask);
	struct mrc_rec *r = &c->rec[slot];
	bool rs = op->undo.slot;

	if (mrc_assert(r->state == MRC_REC_SENT))
		return;
	c->inflight_bytes -= mrc_tx_rec_bytes(c, op->hdr.psn);
	mrc_list_del(c, &c->sent, slot);
	c->evs->ev[op->ev_idx].tx_pkts--;
	c->stats.tx_pkts--;
	c->stats.tx_bytes -= op->len;
	r->tries--;
	if (op->undo.kind == MRC_UNDO_RTX) {
		r->state = MRC_REC_LOST;
		mrc_list_add_head(c, &c->lost, slot);
		mrc_tx_count_rtx(c, r->cause, -1);
		return;
	}
	r->state = MRC_REC_FREE;
	c->psn_next = op->hdr.psn;
	if (!c->cutting) {	/* it was the last of its message */
		c->cutting = true;
		c->cutting_rs = rs;
		if (rs)
			c->rs_seg--;
		else
			c->sq_seg--;
		c->cut_off = rs ? mrc_rs_at(c, c->rs_seg)->npkts :
				  mrc_sq_at(c, c->sq_seg)->npkts;
	}
	c->cut_off--;
}

/* ---- completions ---- */

/* Response messages whose packets are all delivered, whatever is missing before. */
void mrc_tx_responses_done(struct mrc_conn *c)
{
	while (c->rs_head != c->rs_seg) {
		struct mrc_msg *m = mrc_rs_at(c, c->rs_head);

		if (m->resp_pkts)
			return;
		mrc_exec_resp_done(c, (u16)m->cookie);
		c->rs_head++;
	}
}

/* The oldest response must have arrived, acknowledged or not. */
void mrc_tx_response_settle(struct mrc_conn *c, u64 now_ns)
{
	const struct mrc_msg *m = mrc_rs_at(c, c->rs_head);
	u32 psn, end;

	if (c->rs_head == c->rs_seg)
		return;		/* not even sent: the peer breaks its word */
	end = mrc_psn_add(m->psn, (s32)m->npkts);
	psn = mrc_psn_diff(m->psn, c->psn_una) < 0 ? c->psn_una : m->psn;
	for (; mrc_psn_diff(psn, end) < 0; psn = mrc_psn_add(psn, 1))
		mrc_loss_delivered(c, psn, now_ns);
}

/* Does the peer still owe us something. */
bool mrc_tx_waiting(const struct mrc_conn *c)
{
	if (!c->psn_known)
		return c->rs_head != c->rs_tail;
	return c->psn_una != c->psn_next || c->sq_acked != c->sq_seg || c->rd_out;
}

static bool mrc_msg_done(const struct mrc_conn *c, const struct mrc_msg *m)
{
	if (m->error)
		return false;
	if (m->op == MRC_OP_LOCAL)
		return c->sq_seg != c->sq_head;	/* it was passed over */
	return mrc_op_is_rd(m->op) ? m->started && !m->resp_pkts : m->acked;
}

bool mrc_tx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	struct mrc_msg *m;

	if (c->sq_head == c->sq_tail)
		return false;
	m = mrc_sq_at(c, c->sq_head);
	if (!c->fail && m->error)	/* its turn came: it takes the QP with it */
		mrc_conn_fail(c, (enum mrc_status)m->error, 0);
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
	c->sq_head++;
	if ((s32)(c->sq_acked - c->sq_head) < 0)
		c->sq_acked = c->sq_head;
	if ((s32)(c->sq_seg - c->sq_head) < 0)
		c->sq_seg = c->sq_head;
	if ((s32)(c->sq_rd - c->sq_head) < 0)
		c->sq_rd = c->sq_head;
	return true;
}
