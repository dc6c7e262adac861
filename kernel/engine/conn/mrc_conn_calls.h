/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn_calls.h - calls between the engine's files: inline queries of a connection's state, and
 * the functions of each file under its name.
 *
 * Not for callers of the engine, who use mrc_conn.h. Calls run one way:
 * Documentation/developer/engine.md, selftests/engine/test_arrows.py.
 */
#ifndef MRC_CONN_CALLS_H
#define MRC_CONN_CALLS_H

/*
 * Bytes that a packet adds to the bytes in flight beside its payload. As in rcvd_bytes (UDP length +
 * 40, section 8.3.1), so that bytes sent and bytes reported as received agree.
 */
#define MRC_PKT_OVERHEAD (8 + MRC_BTH_LEN + MRC_METH_LEN + MRC_TSETH_LEN + MRC_RETH_LEN + 4 + \
			  MRC_NOMINAL_HDR)
#define MRC_PROBE_ID_TAIL	0xf000u	/* | 12-bit count: probes of the connection */

/* TSETH and reflected timestamps: 16 bits of 128 ns (1.5). */
#define MRC_TS_WRAP_NS	(1ull << (16 + MRC_TS_SHIFT))

static inline u32 mrc_tick(u64 ns)
{
	return (u32)(ns >> MRC_TICK_SHIFT);
}

/* The timestamp that a packet sent at @tick carried. */
static inline u16 mrc_tick_ts16(u32 tick)
{
	return (u16)(tick >> (MRC_TS_SHIFT - MRC_TICK_SHIFT));
}

/* Age of a record in ns; correct up to 273 s. */
static inline u64 mrc_tick_age_ns(u64 now_ns, u32 tick)
{
	return mrc_ev_age_ns(now_ns, tick);
}

/*
 * The timestamp to reflect. If both ends agreed on it, the time since the packet arrived is added, so
 * that the sender measures the network's round trip alone.
 */
static inline u16 mrc_ts_reflect(const struct mrc_conn *c, u16 ts, bool is_ts, u32 came, u64 now_ns)
{
	if (!c->rx.svc_time || !is_ts)
		return ts;
	return (u16)(ts + (mrc_tick_age_ns(now_ns, came) >> MRC_TS_SHIFT));
}

static inline u64 mrc_time_after(u64 now_ns, u64 wait_ns)
{
	return wait_ns == MRC_TIME_NEVER ? wait_ns : now_ns + wait_ns;
}

/* The PSN whose record is in @slot. */
static inline u32 mrc_rec_psn(const struct mrc_conn *c, u16 slot)
{
	return mrc_psn_add(c->snd.una, (s32)((slot - c->snd.una) & c->snd.mask));
}

/* Bytes that a packet adds to the bytes in flight. */
static inline u32 mrc_rec_bytes(const struct mrc_rec *r)
{
	return r->len + MRC_PKT_OVERHEAD;
}

/* Distance of @psn behind the newest one sent, over the whole PSN space. */
static inline u32 mrc_psn_lag(const struct mrc_conn *c, u32 psn)
{
	return (c->snd.next - 1 - psn) & MRC_PSN_MASK;
}

/* Has @psn been sent, and is it not before una? */
static inline bool mrc_psn_out(const struct mrc_conn *c, u32 psn)
{
	return mrc_psn_lag(c, psn) < ((c->snd.next - c->snd.una) & MRC_PSN_MASK);
}

/* All changes of the bytes in flight pass here, so that the controller's sum stays equal. */
static inline void mrc_tx_inflight(struct mrc_conn *c, s32 delta)
{
	mrc_cc_account(c->cc, c->snd.inflight, delta);
	c->snd.inflight += (u32)delta;
}

#define MRC_PLANE_FEW	4	/* packets that every plane may hold */

/*
 * Does a plane hold too many (@count) of the @out packets in flight? More than twice its part, where an
 * even part is scaled by @share / MRC_SHARE_FULL; or more than three quarters of all.
 */
static inline bool mrc_snd_overfull(u32 count, u32 planes, u32 out, u32 share)
{
	return count > MRC_PLANE_FEW && (count * planes * (MRC_SHARE_FULL / 2) > out * share ||
					 4 * count > 3 * out);
}

/*
 * The packet of @r, in @slot, with @len bytes of payload, leaves now by EV @ev of plane @p. Inline,
 * because every packet does this.
 */
static inline void mrc_snd_sent(struct mrc_conn *c, struct mrc_rec *r, u16 slot, u32 len, u16 ev,
				u8 p, u64 now_ns)
{
	struct mrc_list *l = &c->snd.sent[p];

	mrc_list_add_tail(c->snd.rec, l, slot);
	r->sent = mrc_tick(now_ns);
	r->ev = ev;
	r->plane = p;
	c->snd.out++;
	c->snd.busy |= 1u << p;
	if (unlikely(mrc_snd_overfull(l->count, c->evs->n_planes, c->snd.out, c->evs->share[p])))
		c->snd.full |= 1u << p;
	mrc_tx_inflight(c, (s32)(len + MRC_PKT_OVERHEAD));
}

/* After a report to the controller: adopt the pause that it asks for. */
static inline void mrc_tx_hold(struct mrc_conn *c)
{
	c->hold_until_ns = c->cc->hold_until_ns;
}

/* Messages by free-running index, and by the index in mrc_rec.msg. */
static inline struct mrc_msg *mrc_sq_at(const struct mrc_conn *c, u32 i)
{
	return &c->msgs.sq[i & (c->cfg.sq_max - 1u)];
}

static inline struct mrc_msg *mrc_rs_at(const struct mrc_conn *c, u32 i)
{
	return &c->msgs.rs[i & (c->cfg.rd_max - 1u)];
}

static inline struct mrc_msg *mrc_msg_at(const struct mrc_conn *c, u16 i)
{
	return i & MRC_REC_RESP ? &c->msgs.rs[i & ~MRC_REC_RESP] : &c->msgs.sq[i];
}

/* Is a message of the send queue partly cut into packets? sq_seg still points to it. */
static inline bool mrc_sq_cutting(const struct mrc_conn *c)
{
	return c->msgs.cut != MRC_NONE16 && !c->msgs.cut_rs;
}

static inline bool mrc_op_is_rd(u8 op)
{
	return op == MRC_OP_READ || op == MRC_OP_CMP_SWAP || op == MRC_OP_FETCH_ADD;
}

/* mrc_rcv.c: the receive stream */
void mrc_rcv_reset(struct mrc_conn *c);
void mrc_rcv_mark(struct mrc_conn *c, const struct mrc_rxop *op);
void mrc_rcv_refuse(struct mrc_conn *c, u32 psn, enum mrc_nak why);
void mrc_rcv_advance(struct mrc_conn *c);
void mrc_rcv_sacked(struct mrc_conn *c);
int mrc_rcv_check(const struct mrc_conn *c);

static inline u32 mrc_rcv_slot(const struct mrc_conn *c, u32 psn)
{
	return psn & c->rcv_mask;
}

/*
 * Bit per block of 64 PSNs (PSN / 64 mod 64): it may hold packets out of order that no SACK has shown
 * yet. Stored behind the ring, because it is read only when a SACK leaves.
 */
static inline u64 *mrc_rcv_unreported(const struct mrc_conn *c)
{
	return &c->rcv.bits[(c->rcv_mask + 1) >> 6];
}

/* Ring bitmap like rcv.bits: received packets that are the last of their message. */
static inline u64 *mrc_rcv_last(const struct mrc_conn *c)
{
	return mrc_rcv_unreported(c) + 1;
}

/* mrc_rx.c: data packets in */
enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op);
void mrc_rx_commit_plain(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns);
void mrc_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns);
void mrc_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op, const struct mrc_reject *why,
		   u64 now_ns);
bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);

/* mrc_defer.c: payload that waits for the left edge */
void mrc_tail_reset(struct mrc_conn *c);
s16 mrc_tail_slot(const struct mrc_conn *c);
void mrc_tail_keep(struct mrc_conn *c, const struct mrc_rxop *op);
bool mrc_tail_next(struct mrc_conn *c, struct mrc_tail *out);
void mrc_hold_keep(struct mrc_conn *c, u32 psn);
bool mrc_hold_next(const struct mrc_conn *c, u32 *slot);
void mrc_hold_done(struct mrc_conn *c, enum mrc_nak nak);
int mrc_defer_check(const struct mrc_conn *c);

/* mrc_mpr.c */
void mrc_mpr_start(struct mrc_conn *c, u8 agreed);
void mrc_mpr_update(struct mrc_conn *c);

/* mrc_exec.c */
static inline bool mrc_exec_full(const struct mrc_conn *c)	/* no slot is free */
{
	return c->execs.used == c->cfg.rd_max;
}

void mrc_exec_reset(struct mrc_conn *c);
bool mrc_exec_admit(struct mrc_conn *c, u16 *slot, u64 now_ns);
void mrc_exec_store(struct mrc_conn *c, u16 slot, const struct mrc_pkt *p);
bool mrc_exec_next(struct mrc_conn *c, struct mrc_exec *out);
void mrc_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns);
void mrc_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why);
void mrc_exec_revoke(struct mrc_conn *c, u16 slot, enum mrc_nak why);
bool mrc_exec_free_next(struct mrc_conn *c, u16 *slot);
bool mrc_exec_nak_ripe(const struct mrc_conn *c);
bool mrc_exec_running(const struct mrc_conn *c);
void mrc_exec_responses(struct mrc_conn *c);
int mrc_exec_check(const struct mrc_conn *c);

/* mrc_tx.c */
void mrc_tx_reset(struct mrc_conn *c);
void mrc_tx_reset_loss(struct mrc_conn *c);
void mrc_tx_start(struct mrc_conn *c, u32 psn, u64 now_ns);
bool mrc_tx_data_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
bool mrc_tx_again_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_tx_data_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_tx_withdraw(struct mrc_conn *c);

/* mrc_msg.c */
bool mrc_msg_next(struct mrc_conn *c);
u32 mrc_msg_pkts_of(const struct mrc_conn *c, u32 len);
struct mrc_msg *mrc_msg_find_request(struct mrc_conn *c, u16 msn);
void mrc_msg_resp_arrived(struct mrc_conn *c, struct mrc_msg *m, u64 now_ns);
bool mrc_msg_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);
enum mrc_status mrc_msg_failed(const struct mrc_conn *c);
bool mrc_msg_response_next(struct mrc_conn *c, u16 *slot);
void mrc_msg_response_settle(struct mrc_conn *c, u64 now_ns);

/* mrc_snd.c: sent packets */
void mrc_snd_reset(struct mrc_conn *c);
void mrc_snd_take_back(struct mrc_conn *c, u16 slot);
bool mrc_cause_silent(enum mrc_cause cause);
void mrc_snd_queue(struct mrc_conn *c, u16 slot, bool head);
u32 mrc_snd_lose(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns);
void mrc_snd_report_lost(struct mrc_conn *c, u32 bytes, u64 now_ns);
void mrc_snd_withdraw(struct mrc_conn *c);
void mrc_snd_unpace(struct mrc_conn *c);
u32 mrc_snd_deliver(struct mrc_conn *c, u32 psn, u64 now_ns);
u32 mrc_snd_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns);
void mrc_snd_delivered(struct mrc_conn *c, u32 psn, u64 now_ns);
u16 mrc_snd_oldest(const struct mrc_conn *c);
u32 mrc_snd_full(struct mrc_conn *c);
bool mrc_snd_tight(const struct mrc_conn *c);
int mrc_snd_check(const struct mrc_conn *c);

/* mrc_rtt.c */
void mrc_rtt_reset(struct mrc_conn *c);
void mrc_rtt_sample(struct mrc_conn *c, u8 plane, u64 rtt_ns, u64 now_ns);
u64 mrc_rtt_patience_ns(const struct mrc_conn *c);
u64 mrc_rtt_of_stamp(u32 sent, u16 stamp, u64 now_ns);

/* mrc_rec_mem.c */
size_t mrc_rec_mem_bytes(const struct mrc_conn_cfg *cfg, bool small);
void mrc_rec_mem_take(struct mrc_conn *c, const struct mrc_conn_cfg *cfg, bool small, u8 *mem);

/* mrc_resent.c */
void mrc_resent_reset(struct mrc_conn *c);
void mrc_resent_size(struct mrc_conn *c, u16 n);
void mrc_resent_move(struct mrc_conn *c, const struct mrc_resend *old, u16 n);
void mrc_resent_note(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u16 ev, u64 now_ns);
void mrc_resent_take_back(struct mrc_conn *c, u32 psn);
bool mrc_resent_trigger(struct mrc_conn *c, u32 psn, const struct mrc_rec *r,
			const struct mrc_sack *s, bool again, u64 now_ns);
bool mrc_resent_which(struct mrc_conn *c, u32 psn, const struct mrc_rec *r, u64 now_ns,
		      struct mrc_copy *copy);
void mrc_resent_queued(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u64 now_ns);
void mrc_resent_forget_evs(struct mrc_conn *c);
void mrc_resent_excuse(struct mrc_conn *c, u64 now_ns);

/* mrc_report.c */
#define MRC_REPORT_FEW	4u	/* packets of the usual SACK threshold */
void mrc_report_start(struct mrc_conn *c);
void mrc_report_requested(struct mrc_conn *c);
bool mrc_report_slow(const struct mrc_conn *c, u32 psn, u64 now_ns);
void mrc_report_sack(struct mrc_conn *c, const struct mrc_sack *s);
bool mrc_report_stamps(const struct mrc_conn *c);

/* Would the peer have reported @psn if it had arrived? */
static inline bool mrc_report_shows(const struct mrc_conn *c, u32 psn)
{
	return c->report.far || mrc_psn_diff(psn, c->report.shown) <= 0;
}

/* mrc_last_delivered.c */
void mrc_last_delivered_reset(struct mrc_conn *c);
void mrc_last_delivered_learn(struct mrc_conn *c, u32 tick, u32 psn, u8 plane, u64 now_ns);

/* mrc_rack.c */
void mrc_rack_reset(struct mrc_conn *c);
void mrc_rack_detect(struct mrc_conn *c, u64 now_ns);
void mrc_rack_look(struct mrc_conn *c, u64 now_ns);

/* mrc_pto.c: the tail probe, and all timers of the send stream */
void mrc_pto_reset(struct mrc_conn *c);

/* Are so many packets in flight or lost that a burst of probes is small beside them? */
#define MRC_PTO_MANY	64u
static inline bool mrc_pto_many(const struct mrc_conn *c)
{
	return c->snd.out + c->snd.lost.count >= MRC_PTO_MANY;
}

/*
 * Did a tail probe leave after the packet that was sent at tick @sent? Then acknowledgements may have been lost, and
 * the time until one came says nothing about the path.
 */
static inline bool mrc_pto_since(const struct mrc_conn *c, u32 sent, u64 now_ns)
{
	const struct mrc_tail_sent *latest = &c->pto.sent[c->pto.id % MRC_TAIL_PROBES];

	return c->pto.id && mrc_tick_age_ns(now_ns, latest->tick) <= mrc_tick_age_ns(now_ns, sent);
}

void mrc_pto_arm(struct mrc_conn *c, u64 now_ns);
void mrc_pto_rearm(struct mrc_conn *c, u64 now_ns, bool waiting, bool progress, bool delivered);
void mrc_pto_timer(struct mrc_conn *c, u64 now_ns);
u64 mrc_pto_deadline_ns(const struct mrc_conn *c);

/* mrc_budget.c: retries and timeouts */
void mrc_budget_reset(struct mrc_conn *c);
void mrc_budget_alive(struct mrc_conn *c, u64 now_ns);
void mrc_budget_trimmed(struct mrc_conn *c, u64 now_ns);
void mrc_budget_pace(struct mrc_conn *c, u64 now_ns);
bool mrc_budget_timeout(struct mrc_conn *c, u64 now_ns);
u32 mrc_budget_lose(struct mrc_conn *c, u16 slot, u64 now_ns);
u64 mrc_budget_rto_from(const struct mrc_conn *c, u64 now_ns);
u64 mrc_budget_rto_ns(const struct mrc_conn *c);

/* mrc_rnr.c: the peer has no receive */
void mrc_rnr_reset(struct mrc_conn *c);
void mrc_rnr_refused(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns);
void mrc_rnr_taken(struct mrc_conn *c, u32 pkts);
void mrc_rnr_sent(struct mrc_conn *c);
bool mrc_rnr_pauses(const struct mrc_conn *c, u64 now_ns);
u16 mrc_rnr_next(struct mrc_conn *c, bool pause);
u64 mrc_rnr_timer_ns(u8 code);

/* Is a NAK pending, and have all requests before it been executed? */
static inline bool mrc_nak_due(const struct mrc_conn *c)
{
	return unlikely(c->rcv.nak != MRC_NAK_NONE) && mrc_exec_nak_ripe(c);
}

/* May mrc_tx_data_next() have a packet to send? */
static inline bool mrc_tx_pending(const struct mrc_conn *c)
{
	return c->msgs.cut != MRC_NONE16 || c->msgs.sq_seg != c->msgs.sq_tail || c->msgs.rs_seg != c->msgs.rs_tail ||
	       c->snd.lost.count || c->snd.paced.count;
}

/* Is a NACK, ACK or SACK pending? */
static inline bool mrc_ctl_owes(const struct mrc_conn *c)
{
	return c->ctl.nack_n || c->ctl.ack_owed || c->ctl.sack_n;
}

/* May only probes leave? */
static inline bool mrc_confirm_mute(const struct mrc_conn *c)
{
	return unlikely(c->confirm == MRC_CONFIRM_MUTE);
}

/* Is an answer of the peer outstanding? In state MRC_CONFIRM_MUTE: its first packet. */
static inline bool mrc_tx_waiting(const struct mrc_conn *c)
{
	if (mrc_confirm_mute(c))
		return mrc_tx_pending(c) || mrc_ctl_owes(c);
	if (!c->snd.known)
		return c->msgs.rs_head != c->msgs.rs_tail;
	return c->snd.una != c->snd.next || c->msgs.sq_acked != c->msgs.sq_seg || c->msgs.rd_out;
}

/*
 * The connection cannot continue. It fails only at the end of the current public call
 * (mrc_conn_settle()), because the caller of this function still works with its state.
 */
static inline void mrc_conn_failing(struct mrc_conn *c, enum mrc_status status)
{
	if (!c->failing)
		c->failing = (u8)status;
}

/* Was this sent before the latest packet known as delivered? A batch has one time: compare PSNs. */
static inline bool mrc_last_delivered_before(const struct mrc_conn *c, u32 tick, u32 psn)
{
	return (s32)(c->last_delivered.sent - tick) > 0 ||
	       (tick == c->last_delivered.sent && mrc_psn_diff(psn, c->last_delivered.psn) < 0);
}

/* A packet was sent. It does not postpone a running timer: retransmissions must not hide a loss. */
static inline void mrc_pto_sent(struct mrc_conn *c, u64 now_ns)
{
	if (c->budget.rto_at_ns == MRC_TIME_NEVER || c->pto.at_ns == MRC_TIME_NEVER)
		mrc_pto_arm(c, now_ns);
}

/* The peer accepts @psns PSNs from una on. */
static inline void mrc_snd_allow(struct mrc_conn *c, u32 psns)
{
	c->snd.allowed = (u16)psns;
	c->snd.range = (u16)min_t(u32, psns, c->snd.mask + 1u);
}

/* Advance the left edge over delivered packets. */
static inline void mrc_snd_advance(struct mrc_conn *c)
{
	while (c->snd.una != c->snd.next &&
	       c->snd.rec[c->snd.una & c->snd.mask].state == MRC_REC_FREE)
		c->snd.una = mrc_psn_add(c->snd.una, 1);
}

/* There was progress: the whole retry budget is available again. */
static inline void mrc_budget_restore(struct mrc_conn *c)
{
	c->budget.retries = 0;
	c->budget.nack_backoff = 0;
	c->budget.nack_charge_ns = 0;
	c->budget.beyond = false;
}

/* mrc_sleek.c */
void mrc_sleek_ooo(struct mrc_conn *c, u32 ooo, u64 now_ns);
void mrc_sleek_recover(struct mrc_conn *c, u64 now_ns);

/* mrc_ack.c */
void mrc_ack_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_answered(struct mrc_conn *c, u32 psn, u64 now_ns);
void mrc_ack_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);

/* mrc_confirm.c */
void mrc_confirm_probe(struct mrc_conn *c, u64 now_ns);
bool mrc_confirm_rx(struct mrc_conn *c, const struct mrc_pkt *p);

/* mrc_sack.c: SACKs owed */
void mrc_sack_owe(struct mrc_conn *c, const struct mrc_pkt *p, bool again, u64 now_ns);
void mrc_sack_spare(struct mrc_conn *c);
void mrc_sack_owe_again(struct mrc_conn *c);
void mrc_sack_owe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u8 back, u64 now_ns);
u8 mrc_sack_back(const struct mrc_conn *c);
void mrc_sack_build(struct mrc_conn *c, struct mrc_sack *s, u64 now_ns);

/* mrc_ctl.c: control packets owed */
void mrc_ctl_reset(struct mrc_conn *c);
bool mrc_ctl_answer_acks(const struct mrc_conn *c);
void mrc_ctl_answered(struct mrc_conn *c, const struct mrc_txop *op);
u32 mrc_ctl_ack_edge(const struct mrc_conn *c);
void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason,
		      u64 now_ns);
bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);

/* A SACK arrived: the peer's QP is alive and answers. */
static inline void mrc_ctl_sack_arrived(struct mrc_conn *c)
{
	c->ctl.unanswered = 0;
}

#define MRC_UNANSWERED	4	/* probes of EVs without any SACK */

/*
 * When this QP may send the next EV probe of the set. If its peer QP does not answer, it may have
 * failed although the paths work. Then other QPs that share the set probe first.
 */
static inline u64 mrc_ctl_ask_ns(const struct mrc_conn *c)
{
	u64 at = c->evs->next_probe_ns;

	return likely(c->ctl.unanswered < MRC_UNANSWERED) || at == MRC_TIME_NEVER ? at : at + c->evs->probe_ns;
}

/* The same for this QP's timer: NEVER if another QP of the set runs the timer. */
u64 mrc_ctl_ask_timer_ns(const struct mrc_conn *c);
/* This QP sends no more EV probes: another QP of the set must run the timer. */
void mrc_ctl_ask_resign(const struct mrc_conn *c);

/* May mrc_ctl_next() have a packet to send? */
static inline bool mrc_ctl_pending(const struct mrc_conn *c, u64 now_ns)
{
	return c->ctl.any | c->pto.owed || now_ns >= c->evs->next_probe_ns;
}

#endif

