// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_conn.c - composition of the engine's parts into one connection: memory,
 * life, and the calls that touch both directions. See mrc_conn.h.
 */
#include "mrc_conn.h"

/* ---- memory ---- */

static bool mrc_pow2(u32 n)
{
	return n && !(n & (n - 1));
}

static struct mrc_conn_cfg mrc_cfg_defaults(const struct mrc_conn_cfg *in)
{
	struct mrc_conn_cfg cfg = *in;

	if (!cfg.mpr_max)
		cfg.mpr_max = 8;
	if (!cfg.sq_max)
		cfg.sq_max = 128;
	if (!cfg.rd_max)
		cfg.rd_max = 16;
	if (!cfg.rq_max)
		cfg.rq_max = 256;
	if (!cfg.ev_active)
		cfg.ev_active = 128;
	if (!cfg.tails)
		cfg.tails = 32;
	return cfg;
}

static bool mrc_cfg_ok(const struct mrc_conn_cfg *cfg)
{
	return mrc_pow2(cfg->mpr_max) && cfg->mpr_max <= MRC_MPR_MAX &&
	       mrc_pow2(cfg->sq_max) && cfg->sq_max <= 0x4000 &&
	       mrc_pow2(cfg->rd_max) && cfg->rd_max <= MRC_RD_MAX &&
	       mrc_pow2(cfg->rq_max) && cfg->rq_max <= MRC_WIMM_MAX &&
	       cfg->ev_active <= MRC_EVS_MAX;
}

/*
 * The arrays behind the struct: small ones first that most packets touch, so that they
 * share pages, then those of which a packet touches one entry.
 */
static size_t mrc_conn_layout(struct mrc_conn *c, const struct mrc_conn_cfg *cfg, u8 *mem)
{
	u32 psns = (u32)cfg->mpr_max * MRC_MPR_UNIT;
	size_t at = 0;

#define MRC_TAKE(field, n) do {						\
	if (mem)							\
		c->field = (__typeof__(c->field))(void *)(mem + at);	\
	at += ((size_t)(n) * sizeof(*c->field) + 7) & ~(size_t)7;	\
} while (0)
	MRC_TAKE(own_cc, 1);
	MRC_TAKE(sack_q, MRC_OWED_SACKS);
	MRC_TAKE(rot.order, cfg->ev_active);
	MRC_TAKE(rx_bits, psns / 64);
	MRC_TAKE(rx_last, psns / 64);
	if (cfg->strict)
		MRC_TAKE(rx_hold, psns / 64);
	MRC_TAKE(sq, cfg->sq_max);
	MRC_TAKE(rs, cfg->rd_max);
	MRC_TAKE(exec, cfg->rd_max);
	MRC_TAKE(tail, cfg->tails);
	MRC_TAKE(rec, psns);
	MRC_TAKE(blame, MRC_BLAMES);
	MRC_TAKE(nack_q, MRC_OWED_NACKS);
	MRC_TAKE(probe_sent, MRC_TAIL_PROBES);
	MRC_TAKE(rq, cfg->rq_max);
#undef MRC_TAKE
	return at;
}

size_t mrc_conn_mem_size(const struct mrc_conn_cfg *in)
{
	struct mrc_conn_cfg cfg = mrc_cfg_defaults(in);

	return mrc_cfg_ok(&cfg) ? mrc_conn_layout(NULL, &cfg, NULL) : 0;
}

int mrc_conn_init(struct mrc_conn *c, const struct mrc_conn_cfg *in, void *mem)
{
	BUILD_BUG_ON(sizeof(struct mrc_rec) != 16);
	BUILD_BUG_ON(sizeof(struct mrc_msg) != 56);
	BUILD_BUG_ON(sizeof(void *) == 8 && sizeof(struct mrc_conn) > 1024);
	BUILD_BUG_ON(MRC_WINDOW_MAX > (MRC_PSN_MASK + 1) / 4);

	memset(c, 0, sizeof(*c));
	c->cfg = mrc_cfg_defaults(in);
	if (!mrc_cfg_ok(&c->cfg))
		return -EINVAL;
	c->rec_mask = (u32)c->cfg.mpr_max * MRC_MPR_UNIT - 1;
	mrc_conn_layout(c, &c->cfg, (u8 *)mem);
	mrc_rot_init(&c->rot, c->rot.order, c->cfg.ev_active, c->cfg.seed);
	mrc_conn_reset(c);
	return 0;
}

void mrc_conn_reset(struct mrc_conn *c)
{
	c->fail = MRC_ST_OK;
	c->failed_sent = false;
	mrc_rx_reset(c);
	mrc_tx_reset(c);
	mrc_loss_reset(c);
	mrc_ctl_reset(c);
}

void mrc_conn_set_path(struct mrc_conn *c, struct mrc_evset *evs)
{
	u32 i;

	if (c->evs == evs)
		return;
	/* Records name EVs by index: those of another set mean nothing. */
	for (i = 0; i <= c->rec_mask; i++)
		c->rec[i].ev = MRC_NONE16;
	mrc_loss_forget_evs(c);
	c->evs = evs;
	c->rot.gen = 0;
	if (!evs)
		mrc_tx_withdraw(c);
}

int mrc_conn_set_rx(struct mrc_conn *c, const struct mrc_rx_cfg *cfg, u64 now_ns)
{
	u8 mpr = cfg->mpr ? cfg->mpr : c->cfg.mpr_max;

	(void)now_ns;
	if (!c->evs || mpr > MRC_MPR_MAX || cfg->psn & ~MRC_PSN_MASK ||
	    (cfg->strict && !c->cfg.strict) ||
	    cfg->mtu < 256 || cfg->mtu > 4096 || cfg->rd_atomic > c->cfg.rd_max ||
	    cfg->wimm > c->cfg.rq_max)
		return -EINVAL;
	mrc_rx_reset(c);
	mrc_tx_reset(c);
	mrc_loss_reset(c);
	mrc_ctl_reset(c);
	c->rx = *cfg;
	if (!c->rx.wimm)
		c->rx.wimm = c->cfg.rq_max;
	if (!c->rx.sack_pkts)
		c->rx.sack_pkts = 16;
	if (!c->rx.sack_bytes)
		c->rx.sack_bytes = 16 << 10;
	mrc_mpr_start(c, mpr);
	c->rx_cack = mrc_psn_add(cfg->psn, -1);
	c->rx_max = c->rx_cack;
	c->rx_ready = true;
	return 0;
}

/* ---- both directions ---- */

/*
 * Not ready, or failed: a failed QP still says why it refused. The NAK may be lost, and
 * all it answers acknowledged: then a probe asks for it.
 */
static bool mrc_conn_listens(struct mrc_conn *c, const struct mrc_pkt *p)
{
	if (c->rx_ready && mrc_rx_nak_due(c)) {
		if (mrc_opc_is_data(p->opcode))
			return true;
		c->ack_owed |= p->opcode == MRC_OPC_PROBE;
	}
	c->stats.rx_not_ready++;
	return false;
}

static enum mrc_verdict mrc_conn_rx_ctrl(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	c->stats.rx_ctrl_pkts++;
	switch (p->opcode) {
	case MRC_OPC_SACK:
		mrc_ack_sack(c, p, now_ns);
		return MRC_V_DONE;
	case MRC_OPC_NACK:
		mrc_ack_nack(c, p, now_ns);
		return MRC_V_DONE;
	case MRC_OPC_ACK:
		mrc_ack_ack(c, p, now_ns);
		return MRC_V_DONE;
	case MRC_OPC_PROBE:
		mrc_ctl_owe_probe_answer(c, p, now_ns);
		return MRC_V_DONE;
	default:
		c->stats.rx_not_ready++;
		return MRC_V_DROP;
	}
}

enum mrc_verdict mrc_conn_rx_begin(struct mrc_conn *c, const struct mrc_pkt *p,
				   u64 now_ns, struct mrc_rxop *op)
{
	if (unlikely(!c->rx_ready || c->fail) && !mrc_conn_listens(c, p))
		return MRC_V_DROP;
	if (mrc_opc_is_data(p->opcode))
		return mrc_rx_data(c, p, now_ns, op);
	return mrc_conn_rx_ctrl(c, p, now_ns);
}

static mrc_noinline bool mrc_conn_tx_any(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	return mrc_ctl_next(c, now_ns, op) ||
	       (mrc_tx_pending(c) && mrc_tx_data_next(c, now_ns, op));
}

bool mrc_conn_tx_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (!c->evs)
		return false;
	if (mrc_ctl_pending(c, now_ns))
		return mrc_conn_tx_any(c, now_ns, op);
	return mrc_tx_data_next(c, now_ns, op);
}

void mrc_conn_tx_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	if (mrc_opc_is_data(op->hdr.opcode))
		mrc_tx_data_undo(c, op);
	else
		mrc_ctl_undo(c, op);
}

bool mrc_conn_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	return mrc_rx_complete_next(c, cpl) || mrc_tx_complete_next(c, cpl);
}

u64 mrc_conn_deadline_ns(const struct mrc_conn *c)
{
	u64 at;

	if (!c->rx_ready || c->fail)
		return MRC_TIME_NEVER;
	at = mrc_loss_deadline_ns(c);
	if (c->evs && at != MRC_TIME_NEVER)
		at = min_t(u64, at, c->evs->next_probe_ns);
	return at;
}

void mrc_conn_timer(struct mrc_conn *c, u64 now_ns)
{
	if (c->rx_ready && !c->fail)
		mrc_loss_timer(c, now_ns);
}

void mrc_conn_plane_event(struct mrc_conn *c, u64 now_ns)
{
	u16 slot = c->sent.head, next;
	u32 lost = 0;

	if (!c->evs || c->fail)
		return;
	for (; slot != MRC_NONE16; slot = next) {
		struct mrc_rec *r = &c->rec[slot];
		u32 psn = mrc_rec_psn(c, slot);

		next = r->next;
		if (r->ev < c->evs->n && !mrc_evset_plane_live(c->evs, c->evs->ev[r->ev].plane))
			lost += mrc_loss_mark(c, psn, MRC_CAUSE_PLANE, now_ns);
	}
	mrc_loss_tell(c, lost, now_ns);
}

void mrc_conn_fail(struct mrc_conn *c, enum mrc_status status, u64 now_ns)
{
	(void)now_ns;
	if (c->fail)
		return;
	c->fail = (u8)status;
	mrc_tx_withdraw(c);
}

enum mrc_status mrc_conn_failed(const struct mrc_conn *c)
{
	return (enum mrc_status)c->fail;
}

bool mrc_conn_nak_sent(const struct mrc_conn *c)
{
	return c->nak_sent;
}

bool mrc_conn_idle(const struct mrc_conn *c)
{
	return !c->nack_n && !c->ack_owed && !c->sack_n && !c->probe_owed &&
	       (c->fail || (c->sq_head == c->sq_tail && c->rs_head == c->rs_tail &&
			    !mrc_tx_waiting(c)));
}

/* ---- invariants ---- */

/* What this connection has in flight is what its controller has of it. */
static int mrc_check_cc(const struct mrc_conn *c)
{
	if (c->cc == c->own_cc)
		return c->cc->inflight_bytes == c->inflight_bytes &&
		       c->cc->n_active == !!c->inflight_bytes ? 0 : __LINE__;
	if (c->fail && c->inflight_bytes)
		return __LINE__;
	return c->cc->inflight_bytes >= c->inflight_bytes &&
	       c->cc->n_active >= !!c->inflight_bytes ? 0 : __LINE__;
}

static int mrc_check_window(const struct mrc_conn *c)
{
	u32 n = (u32)mrc_psn_diff(c->psn_next, c->psn_una), bytes = 0, i;
	u32 count[MRC_REC_PACED + 1] = { 0 };

	if (n > c->tx_window)
		return __LINE__;
	for (i = 0; i < n; i++) {
		const struct mrc_rec *r = &c->rec[mrc_psn_add(c->psn_una, (s32)i) & c->rec_mask];

		count[r->state]++;
		if (r->state == MRC_REC_SENT)
			bytes += mrc_rec_bytes(r);
		else if (r->state == MRC_REC_FREE && i == 0)
			return __LINE__;	/* una should have moved */
	}
	if (count[MRC_REC_SENT] != c->sent.count || count[MRC_REC_LOST] != c->lost.count ||
	    count[MRC_REC_PACED] != c->paced.count)
		return __LINE__;
	if (bytes != c->inflight_bytes)
		return __LINE__;
	return mrc_check_cc(c);
}

static int mrc_check_rx(const struct mrc_conn *c)
{
	u32 held = 0, i;

	for (i = 0; i <= c->rec_mask >> 6; i++)
		held += (u32)hweight64(c->rx_bits[i]);
	if (held != c->rx_held)
		return __LINE__;
	if (held && mrc_psn_diff(c->rx_max, c->rx_cack) <= 0)
		return __LINE__;
	if (mrc_psn_diff(c->rx_max, c->rx_cack) > (s32)c->rx_window)
		return __LINE__;
	return mrc_defer_check(c);
}

int mrc_conn_check(const struct mrc_conn *c)
{
	int rc;

	if (c->rx_ready) {
		rc = mrc_check_rx(c);
		if (rc)
			return rc;
	}
	if (!c->psn_known)
		return 0;
	if (c->sq_tail - c->sq_head > c->cfg.sq_max ||
	    c->sq_seg - c->sq_head > c->sq_tail - c->sq_head ||
	    c->sq_acked - c->sq_head > c->sq_seg - c->sq_head)
		return __LINE__;
	if (c->rd_out > c->tx.rd_atomic || c->rqm_out > c->tx.wimm)
		return __LINE__;
	return mrc_check_window(c);
}

void mrc_conn_info(const struct mrc_conn *c, struct mrc_conn_info *i)
{
	memset(i, 0, sizeof(*i));
	i->psn_next = c->psn_next;
	i->psn_una = c->psn_una;
	i->rx_cack = c->rx_cack;
	i->inflight_bytes = c->inflight_bytes;
	i->cwnd_bytes = c->cc ? c->cc->cwnd_bytes : 0;
	i->srtt_ns = c->srtt_ns;
	i->rttvar_ns = c->rttvar_ns;
	i->min_rtt_ns = c->min_rtt_ns == ~0u ? 0 : c->min_rtt_ns;
	i->retries = c->retries;
	i->lost_queued = c->lost.count + c->paced.count;
	i->sq_posted = c->sq_tail;
	i->rq_delivered = c->rq_next;
	i->stats = c->stats;
}
