// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_conn.c - combines the parts of the engine into one connection (mrc_conn.h): memory layout, life
 * cycle, and the calls that concern both directions.
 */
#include "conn/mrc_conn.h"
#include "paths/mrc_no_acks.h"

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
 * The arrays behind the struct. Small arrays that most packets touch come first, to share pages; then
 * the arrays of which a packet touches one entry.
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
	MRC_TAKE(ctl.sack_q, MRC_OWED_SACKS);
	MRC_TAKE(snd.sent, MRC_PLANES_MAX);
	MRC_TAKE(spray.order, MRC_SPRAY_LEN(cfg->ev_active));
	MRC_TAKE(rcv.bits, psns / 64 + 1 + psns / 64);	/* and mrc_rcv_unreported(), mrc_rcv_last() */
	if (cfg->strict)
		MRC_TAKE(rcv.hold, psns / 64);
	MRC_TAKE(msgs.sq, cfg->sq_max);
	MRC_TAKE(msgs.rs, cfg->rd_max);
	MRC_TAKE(execs.rec, cfg->rd_max);
	MRC_TAKE(tails.slot, cfg->tails);
	MRC_TAKE(ctl.nack_q, MRC_OWED_NACKS);
	MRC_TAKE(pto.sent, MRC_TAIL_PROBES);
	MRC_TAKE(rcv.rq, cfg->rq_max);
#undef MRC_TAKE
	if (mem)
		mrc_rec_mem_take(c, cfg, cfg->small, mem + at);
	return at + mrc_rec_mem_bytes(cfg, cfg->small);
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
	c->rcv_mask = (u32)c->cfg.mpr_max * MRC_MPR_UNIT - 1;
	mrc_conn_layout(c, &c->cfg, (u8 *)mem);
	mrc_spray_init(&c->spray, c->spray.order, c->cfg.ev_active, c->cfg.seed);
	mrc_conn_reset(c);
	return 0;
}

static void mrc_conn_reset_parts(struct mrc_conn *c)
{
	c->rx_ready = false;
	c->confirm = MRC_CONFIRM_DONE;
	mrc_rcv_reset(c);
	c->arrivals = (struct mrc_arrivals){ 0 };
	mrc_exec_reset(c);
	mrc_tail_reset(c);
	mrc_tx_reset(c);
	mrc_tx_reset_loss(c);
	mrc_ctl_reset(c);
}

void mrc_conn_reset(struct mrc_conn *c)
{
	mrc_ctl_ask_resign(c);
	c->fail = MRC_ST_OK;
	c->failing = MRC_ST_OK;
	c->failed_sent = false;
	c->crowded = false;
	mrc_conn_reset_parts(c);
}

/* Report the planes of arrived data to the path set, which other QPs to this peer share. */
static inline void mrc_conn_report_arrivals(struct mrc_conn *c, u64 now_ns)
{
	if (c->arrivals.pkts | c->arrivals.doubt)
		mrc_evset_arrived(c->evs, &c->arrivals, now_ns);
}

void mrc_conn_set_path(struct mrc_conn *c, struct mrc_evset *evs)
{
	u32 i;

	if (c->evs == evs)
		return;
	mrc_ctl_ask_resign(c);
	/* Records name EVs by their index in the old set. */
	for (i = 0; i <= c->snd.mask; i++)
		c->snd.rec[i].ev = MRC_NONE16;
	for (i = 0; i < MRC_TAIL_PROBES; i++)
		c->pto.sent[i].ev = MRC_NONE16;
	mrc_resent_forget_evs(c);
	c->evs = evs;
	c->arrivals = (struct mrc_arrivals){ 0 };
	c->snd.full = 0;	/* planes of the old set */
	mrc_spray_forget(&c->spray);
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
	    cfg->wimm > MRC_WIMM_MAX)
		return -EINVAL;
	mrc_conn_reset_parts(c);
	c->rx = *cfg;
	if (!c->rx.wimm)
		c->rx.wimm = c->cfg.rq_max;
	if (!c->rx.sack_pkts)
		c->rx.sack_pkts = 16;
	if (!c->rx.sack_bytes)
		c->rx.sack_bytes = 16 << 10;
	mrc_mpr_start(c, mpr);
	c->rcv.cack = mrc_psn_add(cfg->psn, -1);
	c->rcv.max = c->rcv.cack;
	c->confirm = cfg->mute ? MRC_CONFIRM_MUTE : MRC_CONFIRM_AWAITED;
	c->rx_ready = true;
	return 0;
}

void mrc_conn_set_rnr_timer(struct mrc_conn *c, u8 min_rnr_timer)
{
	c->rx.min_rnr_timer = min_rnr_timer & 31;
}

/* ---- both directions ---- */

/*
 * The end of a public call. If it found that the connection cannot continue, the connection fails now.
 * If everything before a refused packet has been delivered and answered, the NAK becomes due.
 */
static inline void mrc_conn_settle(struct mrc_conn *c, u64 now_ns)
{
	if (mrc_nak_due(c) && !c->rcv.nak_sent)
		c->ctl.ack_owed = true;
	if (unlikely(c->failing))
		mrc_conn_fail(c, (enum mrc_status)c->failing, now_ns);
}

/*
 * Does a QP that is not ready or has failed process @p? Only to repeat a NAK, which may have been lost:
 * for data, or for a probe, which the peer sends if it has no data left to retransmit.
 */
static bool mrc_conn_listens(struct mrc_conn *c, const struct mrc_pkt *p)
{
	if (c->rx_ready && mrc_nak_due(c)) {
		if (mrc_opc_is_data(p->opcode))
			return true;
		c->ctl.ack_owed |= p->opcode == MRC_OPC_PROBE;
	}
	c->stats.rx_not_ready++;
	return false;
}

/* A SACK, NACK or ACK arrived by plane @p. Report a plane by which none arrives (mrc_no_acks.h). */
static mrc_inline void mrc_conn_said(struct mrc_conn *c, u8 p, u64 now_ns)
{
	u8 missed;

	if (unlikely(!c->evs || p >= c->evs->n_planes))
		return;
	missed = mrc_evset_acked_by(c->evs, p, now_ns);
	if (likely(missed == MRC_PLANES_MAX))
		return;
	c->pto.owed |= MRC_OWED_NO_ACKS;
	c->pto.miss = missed & (MRC_PLANES_MAX - 1u);
}

static mrc_noinline enum mrc_verdict
mrc_conn_rx_ctrl(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns)
{
	c->stats.rx_ctrl_pkts++;
	if (unlikely(c->confirm) && !mrc_confirm_rx(c, p))
		return MRC_V_DROP;
	mrc_conn_report_arrivals(c, now_ns);
	if (likely(p->opcode != MRC_OPC_PROBE))
		mrc_conn_said(c, p->plane, now_ns);
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
	enum mrc_verdict v;

	if (unlikely(!c->rx_ready || c->fail) && !mrc_conn_listens(c, p))
		return MRC_V_DROP;
	if (likely(mrc_opc_is_data(p->opcode))) {
		if (likely(c->evs && p->plane < c->evs->n_planes))	/* even if it is dropped below */
			mrc_arrivals_add(&c->arrivals, p->plane);
		v = mrc_rx_data(c, p, now_ns, op);
		if (likely(v == MRC_V_PLACE))
			return v;	/* commit and reject call mrc_conn_settle() */
	} else {
		v = mrc_conn_rx_ctrl(c, p, now_ns);
	}
	mrc_conn_settle(c, now_ns);
	return v;
}

void mrc_conn_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns)
{
	if (likely(op->plain)) {
		mrc_rx_commit_plain(c, op, now_ns);
		return;
	}
	mrc_rx_commit(c, op, now_ns);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op,
			const struct mrc_reject *why, u64 now_ns)
{
	mrc_rx_reject(c, op, why, now_ns);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_rx_drop(struct mrc_conn *c, const struct mrc_rxop *op)
{
	(void)op;
	c->stats.rx_place_failed++;
}

void mrc_conn_hold_done(struct mrc_conn *c, enum mrc_nak nak, u64 now_ns)
{
	mrc_hold_done(c, nak);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_hold_reject(struct mrc_conn *c, const struct mrc_reject *why, u64 now_ns)
{
	mrc_conn_hold_done(c, why && why->nak != MRC_NAK_NONE ? why->nak : MRC_NAK_REM_OP, now_ns);
}

void mrc_conn_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns)
{
	mrc_exec_done(c, slot, orig, now_ns);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why, u64 now_ns)
{
	mrc_exec_fail(c, slot, why);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_exec_revoke(struct mrc_conn *c, u16 slot, enum mrc_nak why, u64 now_ns)
{
	mrc_exec_revoke(c, slot, why);
	mrc_conn_settle(c, now_ns);
}

static mrc_noinline bool mrc_conn_tx_any(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	mrc_conn_report_arrivals(c, now_ns);	/* first: the plane of an answer depends on it */
	if (unlikely(mrc_tx_again_next(c, now_ns, op)))
		return true;
	if (mrc_ctl_answer_acks(c) && mrc_tx_data_next(c, now_ns, op)) {
		mrc_ctl_answered(c, op);
		return true;
	}
	return mrc_ctl_next(c, now_ns, op) ||
	       (mrc_tx_pending(c) && mrc_tx_data_next(c, now_ns, op));
}

/* No packet of the peer's QP has arrived yet: send only probes. */
static mrc_noinline bool mrc_conn_tx_mute(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	mrc_conn_report_arrivals(c, now_ns);
	mrc_confirm_probe(c, now_ns);
	return mrc_ctl_next(c, now_ns, op);
}

bool mrc_conn_owes(struct mrc_conn *c, u64 now_ns)
{
	if (!c->evs || mrc_confirm_mute(c))
		return false;
	mrc_conn_report_arrivals(c, now_ns);
	return mrc_ctl_owes(c);
}

bool mrc_conn_tx_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op)
{
	if (!c->evs)
		return false;
	if (mrc_confirm_mute(c))
		return mrc_conn_tx_mute(c, now_ns, op);
	if (mrc_ctl_pending(c, now_ns) || c->arrivals.pkts)
		return mrc_conn_tx_any(c, now_ns, op);
	return mrc_tx_data_next(c, now_ns, op);
}

/*
 * A batch ends with its message: mrc_tx_data_undo() of a last packet makes its message the one being
 * cut again, so no packet of the next message may have been cut.
 */
u32 mrc_conn_tx_batch(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, u32 max, bool *more)
{
	u32 n;

	*more = true;
	for (n = 0; n < max; n++) {
		if (!mrc_conn_tx_next(c, now_ns, &op[n])) {
			*more = false;
			break;
		}
		if (mrc_opc_is_last(op[n].hdr.opcode) && !op[n].hdr.rtx)
			return n + 1;
	}
	return n;
}

void mrc_conn_tx_undo(struct mrc_conn *c, const struct mrc_txop *op)
{
	if (!mrc_opc_is_data(op->hdr.opcode)) {
		mrc_ctl_undo(c, op);
		return;
	}
	mrc_tx_data_undo(c, op);
	if (mrc_opc_has(op->hdr.opcode, MRC_OPF_READ_RESP | MRC_OPF_ATOMACK))
		c->ctl.ack_owed = true;		/* the response may have replaced an ACK */
}

static bool mrc_conn_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl)
{
	if (mrc_rx_complete_next(c, cpl))
		return true;
	mrc_conn_settle(c, 0);	/* mrc_rx_complete_next() may have refused an incomplete message */
	if (!c->fail && mrc_msg_failed(c))	/* a failed request reached the head: the QP fails */
		mrc_conn_fail(c, mrc_msg_failed(c), 0);
	return mrc_msg_complete_next(c, cpl);
}

bool mrc_conn_next_fails(const struct mrc_conn *c)
{
	return c->failing || mrc_msg_failed(c);
}

/*
 * Order of work. Payload comes first, in PSN order, so that requests find it in memory. Slots are freed
 * before requests, so that a reused slot holds no old references. Completions come last: the data
 * is in memory, and earlier READs of it have been executed.
 */
bool mrc_conn_next(struct mrc_conn *c, struct mrc_todo *ev)
{
	if (mrc_hold_next(c, &ev->hold))
		ev->what = MRC_DO_PLACE;
	else if (mrc_tail_next(c, &ev->tail))
		ev->what = MRC_DO_TAIL;
	else if (mrc_exec_free_next(c, &ev->slot))
		ev->what = MRC_DO_FREE;
	else if (mrc_exec_running(c))
		return false;	/* until mrc_conn_exec_done() or mrc_conn_exec_fail() */
	else if (mrc_exec_next(c, &ev->exec))
		ev->what = MRC_DO_EXEC;
	else if (mrc_conn_complete_next(c, &ev->cpl))
		ev->what = MRC_DO_COMPLETE;
	else
		return false;
	return true;
}

u64 mrc_conn_deadline_ns(const struct mrc_conn *c)
{
	u64 at;

	if (!c->rx_ready || c->fail)
		return MRC_TIME_NEVER;
	at = mrc_pto_deadline_ns(c);
	/* EV probes continue on an idle QP: else a repaired EV is still bad at the next message. */
	return c->evs ? min_t(u64, at, mrc_ctl_ask_timer_ns(c)) : at;
}

bool mrc_deadline_moves(u64 armed_ns, u64 at_ns, u64 now_ns)
{
	if (at_ns == MRC_TIME_NEVER)
		return false;
	if (at_ns < armed_ns || armed_ns < now_ns)
		return true;
	return armed_ns - now_ns < (at_ns - now_ns) / 2;
}

void mrc_conn_timer(struct mrc_conn *c, u64 now_ns)
{
	if (!c->rx_ready || c->fail)
		return;
	mrc_conn_report_arrivals(c, now_ns);
	mrc_pto_timer(c, now_ns);
	mrc_conn_settle(c, now_ns);
}

void mrc_conn_plane_event(struct mrc_conn *c, u64 now_ns)
{
	if (!c->evs || c->fail)
		return;
	mrc_rack_look(c, now_ns);
}

void mrc_conn_fail(struct mrc_conn *c, enum mrc_status status, u64 now_ns)
{
	(void)now_ns;
	if (c->fail)
		return;
	c->fail = (u8)status;
	mrc_ctl_ask_resign(c);
	mrc_tx_withdraw(c);
}

enum mrc_status mrc_conn_failed(const struct mrc_conn *c)
{
	return (enum mrc_status)c->fail;
}

bool mrc_conn_confirmed(const struct mrc_conn *c)
{
	return c->rx_ready && c->confirm == MRC_CONFIRM_DONE;
}

bool mrc_conn_nak_sent(const struct mrc_conn *c)
{
	return c->rcv.nak_sent;
}

bool mrc_conn_idle(const struct mrc_conn *c)
{
	return !c->ctl.nack_n && !c->ctl.ack_owed && !c->ctl.sack_n && !c->pto.owed &&
	       (c->fail || (c->msgs.sq_head == c->msgs.sq_tail && c->msgs.rs_head == c->msgs.rs_tail &&
			    !mrc_tx_waiting(c)));
}

/* ---- invariants ---- */

static int mrc_check_rx(const struct mrc_conn *c)
{
	int rc = mrc_rcv_check(c);

	if (!rc)
		rc = mrc_defer_check(c);
	return rc ? rc : mrc_exec_check(c);
}

int mrc_conn_check(const struct mrc_conn *c)
{
	int rc;

	if (c->rx_ready) {
		rc = mrc_check_rx(c);
		if (rc)
			return rc;
	}
	if (!c->snd.known)
		return 0;
	if (c->msgs.sq_tail - c->msgs.sq_head > c->cfg.sq_max ||
	    c->msgs.sq_seg - c->msgs.sq_head > c->msgs.sq_tail - c->msgs.sq_head ||
	    c->msgs.sq_acked - c->msgs.sq_head > c->msgs.sq_seg - c->msgs.sq_head)
		return __LINE__;
	if (c->msgs.rd_out > c->tx.rd_atomic || c->msgs.rqm_out > c->tx.wimm)
		return __LINE__;
	return mrc_snd_check(c);
}

void mrc_conn_info(const struct mrc_conn *c, struct mrc_conn_info *i)
{
	memset(i, 0, sizeof(*i));
	i->psn_next = c->snd.next;
	i->psn_una = c->snd.una;
	i->rx_cack = c->rcv.cack;
	i->inflight_bytes = c->snd.inflight;
	i->cwnd_bytes = c->cc ? c->cc->cwnd_bytes : 0;
	i->timeout_ns = c->tx.timeout_ns;
	i->srtt_ns = c->rtt.srtt_ns;
	i->rttvar_ns = c->rtt.var_ns;
	i->min_rtt_ns = c->rack.min_rtt_ns == MRC_RACK_NO_RTT ? 0 : c->rack.min_rtt_ns;
	i->retries = c->budget.retries;
	i->lost_queued = c->snd.lost.count + c->snd.paced.count;
	i->sq_posted = c->msgs.sq_tail;
	i->rq_delivered = c->rcv.rq_next;
	i->stats = c->stats;
}
