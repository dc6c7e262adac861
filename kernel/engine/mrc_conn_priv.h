/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn_priv.h - the state of one connection. Only files of the engine look
 * inside; callers see it because they embed it.
 *
 * One flat struct in three parts: receive stream (mrc_rx.c), send stream
 * (mrc_msg.c, mrc_tx.c, mrc_loss.c), control packets owed to the peer (mrc_conn.c).
 */
#ifndef MRC_CONN_PRIV_H
#define MRC_CONN_PRIV_H

/* ---- send stream ---- */

enum mrc_rec_state {
	MRC_REC_FREE,		/* delivered, or not in the window */
	MRC_REC_SENT,		/* in flight; on the sent list, oldest send first */
	MRC_REC_LOST,		/* waits to be resent; on the lost list, FIFO */
	MRC_REC_PACED,		/* refused for want of resources: not before nack_until_ns */
};

enum mrc_cause {
	MRC_CAUSE_RACK, MRC_CAUSE_NACK, MRC_CAUSE_TRIM, MRC_CAUSE_RTO,
	MRC_CAUSE_PLANE, MRC_CAUSE_RNR, MRC_CAUSE_SLEEK,
};

/* A message of ours (SQ ring) or a response (response ring). 56 bytes. */
struct mrc_msg {
	u8 op;			/* enum mrc_op */
	u8 flags;		/* MRC_WR_* */
	u8 error;		/* enum mrc_status */
	u8 src : 2;		/* enum mrc_tx_src; NONE: its packets have no payload */
	bool started : 1;	/* has PSNs [psn, psn + npkts) */
	bool acked : 1;		/* transport ACK covers it */
	bool resp_seen : 1;
	u16 rqmsn, msn;
	u32 cookie;
	u32 rkey;
	u32 len;
	u32 psn, npkts;
	u32 resp_pkts;		/* READ, ATOMIC: response packets still missing;
				 * response: its packets not known as delivered */
	u64 va;			/* of the first packet: 0 where packets carry offsets */
	u64 swap_add;
	union {
		u64 compare;	/* CMP_SWAP */
		struct {
			u32 imm;	/* *_IMM, *_INV */
			u32 resp_psn;	/* READ: of the first response packet, once resp_seen */
		};
	};
};

/* An EV that was blamed for a loss, until it turns out to have been none. */
struct mrc_blame {
	u32 psn;
	u16 ev;
};
#define MRC_BLAMES	8

/* ---- receive stream ---- */

/* A message that consumes a receive. 16 bytes. */
struct mrc_rq_rec {
	u32 pieces : 25;	/* SEND: packets of it that came, in any order */
	u32 op : 5;		/* enum mrc_op; known when the last packet came */
	u32 solicited : 1;
	u32 used : 1;		/* the last packet came */
	u32 psn_last;		/* SEND: known from its first piece on, as is len */
	u32 len;
	u32 imm;
};

enum mrc_exec_state {
	MRC_EXEC_FREE, MRC_EXEC_WAIT, MRC_EXEC_RUN, MRC_EXEC_RESP, MRC_EXEC_DONE,
};

/* A READ or ATOMIC of the peer. */
struct mrc_exec_rec {
	u8 state;		/* enum mrc_exec_state */
	u8 op;
	u16 msn;
	u32 psn;
	u64 va;
	u32 rkey;
	u32 len;
	u64 swap_add, compare;
};

struct mrc_tail_rec {
	u8 prev, next;		/* slots, by PSN; next also links the free ones */
	u32 psn;		/* of the packet */
	u64 va;
	u32 rkey;
	u32 len;
};

/* ---- control packets owed ---- */

struct mrc_owed_sack {
	u32 psn;		/* that triggered; of no meaning if pr */
	u32 ev;
	u32 came;		/* tick: for the service time */
	u16 tx_ts, probe_id;
	u8 m;
	bool pr;
	bool ts;		/* tx_ts is one */
};

struct mrc_owed_nack {
	u32 psn, ev;
	u32 came;
	u16 tx_ts;
	u8 reason, vendor_info;
	bool ts;
};

#define MRC_TAIL_END	0xff

#define MRC_OWED_SACKS	8
#define MRC_OWED_NACKS	16	/* a ring, drained by the caller when full */

#define MRC_TAIL_PROBES	16	/* remembered; a round trip may outlast several */

/*
 * Order: what every packet sent needs, what every acknowledgement needs, what every
 * packet received needs, then the rest; tables that are looked into now and then, and
 * queues, lie behind the struct (mrc_conn_layout()).
 */
struct mrc_conn {
	/* any packet */
	struct mrc_evset *evs;
	u8 fail;		/* enum mrc_status; OK = alive */
	bool rx_ready, tx_ready;	/* RTR, RTS */
	bool failed_sent;	/* the failing status was given to a message */
	u8 sack_n, nack_n;	/* owed, and next: a transport ACK or NAK, a tail probe, ... */
	bool ack_owed, probe_owed;
	bool verify_owed;	/* ... acknowledgements left since the last verification */

	/* send: every packet */
	/*
	 * A QP in RTR answers READs and ATOMICs, but is told its first PSN at RTS
	 * only: until then it learns it from the peer's cack, by a probe.
	 */
	bool psn_known;
	u16 cut;		/* message being cut into packets, as in mrc_rec.msg; or NONE16 */
	bool cut_rs;		/* it, or the last one, is a response */
	bool tx_stopped;	/* NAK received: nothing new leaves */
	u16 tx_range;		/* PSNs from una on that the peer takes in now */
	u32 tx_window;		/* likewise, as agreed */
	u32 psn_next;		/* next new PSN */
	u32 psn_una;		/* oldest not known as delivered */
	u32 psn_acked;		/* transport ACK: highest PSN covered */
	u32 ar_psn;		/* latest packet that asked for an acknowledgement */
	u32 rec_mask;
	u32 cut_off;		/* packets already cut off the message under way */
	u32 sq_seg, sq_tail;	/* message being cut, free; free-running, as all of sq and rs */
	u32 inflight_bytes;
	struct mrc_rec *rec;	/* cfg.mpr_max * 128, by PSN */
	struct mrc_msg *sq;	/* ring of sq_max */
	struct mrc_cc *cc;	/* shared, or own_cc; NULL: not sending */
	struct mrc_cc *own_cc;
	struct mrc_list sent, lost, paced;
	u32 rs_seg, rs_tail;
	u64 rnr_until_ns;
	u64 hold_until_ns;	/* the controller's word: no data before; 0: none */
	u64 rto_at_ns;		/* NEVER: nothing is waited for */
	u64 probe_at_ns;	/* tail probe */
	struct mrc_rx_cfg rx;	/* (also what is told to the peer) */
	struct mrc_tx_cfg tx;
	struct mrc_rot rot;

	/* send: every acknowledgement */
	u64 rack_at_ns;		/* when to look again; NEVER */
	u32 srtt_ns, rttvar_ns;
	u32 min_rtt_ns;		/* ~0: no sample yet */
	u32 rack_rtt_ns;	/* age of the latest delivered send when that was learnt */
	u32 rack_sent, rack_psn;	/* tick and PSN: latest send known as delivered */
	u32 reo_tick;
	u32 rcvd_seen;		/* SETH.rcvd_bytes last seen, 256 B units */
	s32 rcvd_credit;	/* bytes so known and not told to the controller; < 0: told before */
	u32 sq_head, sq_acked;	/* oldest, first without transport ACK */
	u32 rs_head;
	u32 sq_rd;		/* no READ or ATOMIC before it is unanswered */
	u32 rd_out;		/* READs and ATOMICs from the oldest unanswered on */
	u32 rqm_out;		/* receive messages unacknowledged */
	u32 retries;		/* of the budget, since progress */
	u64 nack_until_ns;	/* when paced packets leave */
	u64 nack_charge_ns;	/* no NACK takes another retry before */
	u8 nack_backoff;
	u8 probe_backoff;
	bool rack_valid;
	bool rcvd_valid;	/* the peer counts rcvd_bytes */
	u8 blame_n;		/* next entry of the ring of MRC_BLAMES */
	bool sleek;		/* in recovery */
	u16 next_rqmsn;
	u16 probe_id;		/* last sent */
	u16 probe_out;		/* bit per entry of probe_sent: not answered yet */
	u16 rnr_tries;
	u8 reo_mult;		/* reordering window in quarters of a round trip: grows with
				 * false alarms (the last one at reo_tick), and decays */
	u8 nack_at;		/* first of nack_n in nack_q */
	u32 rnr_psn;
	u32 sleek_psn;		/* recovery ends when all before it is delivered */
	u32 psn_first;
	struct mrc_blame *blame;
	u32 *probe_sent;	/* MRC_TAIL_PROBES ticks, by probe_id */

	/* receive */
	u64 *rx_bits;		/* ring bitmap, cfg.mpr_max * 128 bits: committed */
	u64 *rx_last;		/* likewise: ends a message */
	u32 rx_window;		/* PSNs that can be taken in */
	u32 rx_cack;		/* all up to here has been committed (strict: placed) */
	u32 rx_max;		/* highest PSN committed */
	u32 rx_held;		/* committed beyond cack: bits set */
	u32 rx_rcvd;		/* rcvd_bytes, nominal sizes, bytes (mod 2^32) */
	u32 sack_pkts, sack_bytes;	/* since the last SACK */
	u32 rq_next;		/* next receive to complete */
	u32 rq_used;		/* entries of rq that wait for their turn */
	u32 done_msn;		/* completed messages of the peer, AETH.msn */
	u32 nak_psn;
	u32 sack_at;		/* where the next bitmap begins that does not follow the trigger */
	struct mrc_incast_note rx_note;
	u16 nak;		/* enum mrc_nak of the refused packet, or NONE */
	u16 exec_first;		/* lowest PSN that waits, if exec_waiting */
	bool nak_sent;
	bool rx_ar;		/* an acknowledgement was asked for, with holes before it */
	bool sack_turn;		/* the next bitmap follows the trigger, or rotates */
	bool rx_restore;
	u8 rx_pen;		/* rcv_cwnd_pen of the next SACKs */
	u8 rx_mpr;		/* live window, 128-PSN units: told with dynamic MPR */
	u8 rx_mpr_cap;		/* it grows up to this */
	bool rx_mpr_wait;	/* shrunk: what was allowed before is still on its way */
	u8 tails_used;
	u8 tail_first, tail_last;	/* by PSN; MRC_TAIL_END: none */
	u8 tail_free;
	u8 exec_waiting;	/* of exec: WAIT and RUN */
	u8 exec_used, exec_done;	/* not FREE; DONE */
	u8 exec_hint;		/* where to look for a FREE one */
	u32 rx_mpr_mark;	/* no further change of it before cack gets here */
	u32 rx_agreed;		/* PSNs that the peer was told at RTR; not less */
	u64 *rx_hold;		/* as rx_bits: held, to be placed in its turn; NULL unless cfg.strict */
	struct mrc_rq_rec *rq;	/* by rq index mod rq_max */
	struct mrc_exec_rec *exec;
	struct mrc_tail_rec *tail;
	struct mrc_msg *rs;	/* ring of rd_max */
	struct mrc_owed_sack *sack_q;	/* MRC_OWED_SACKS */
	struct mrc_owed_nack *nack_q;	/* MRC_OWED_NACKS */

	struct mrc_conn_cfg cfg;
	struct mrc_stats stats;
};

/* ---- between the engine's files ---- */

/*
 * What a packet counts in flight beside its payload: as in rcvd_bytes (UDP length + 40,
 * 8.3.1), so that bytes sent and bytes told as received are the same bytes.
 */
#define MRC_PKT_OVERHEAD (8 + MRC_BTH_LEN + MRC_METH_LEN + MRC_TSETH_LEN + MRC_RETH_LEN + 4 + \
			  MRC_NOMINAL_HDR)
#define MRC_PROBE_ID_TAIL	0xf000u	/* | 12-bit count: probes of the connection */

/* TSETH and reflected timestamps: 16 bits of 128 ns (1.5). */
#define MRC_TS_SHIFT	7
static inline u16 mrc_ts16(u64 ns)
{
	return (u16)(ns >> MRC_TS_SHIFT);
}

static inline u32 mrc_tick(u64 ns)
{
	return (u32)(ns >> MRC_TICK_SHIFT);
}

/* Age of a record in ns, right up to 137 s. */
static inline u64 mrc_tick_age_ns(u64 now_ns, u32 tick)
{
	s32 d = (s32)(mrc_tick(now_ns) - tick);

	return d > 0 ? (u64)d << MRC_TICK_SHIFT : 0;
}

static inline u64 mrc_time_after(u64 now_ns, u64 wait_ns)
{
	return wait_ns == MRC_TIME_NEVER ? wait_ns : now_ns + wait_ns;
}

/* The PSN whose record is in @slot. */
static inline u32 mrc_rec_psn(const struct mrc_conn *c, u16 slot)
{
	return mrc_psn_add(c->psn_una, (s32)((slot - c->psn_una) & c->rec_mask));
}

/* What a packet counts in flight. */
static inline u32 mrc_rec_bytes(const struct mrc_rec *r)
{
	return r->len + MRC_PKT_OVERHEAD;
}

/* How far @psn lies behind the newest one sent: any PSN, over the whole PSN space. */
static inline u32 mrc_psn_lag(const struct mrc_conn *c, u32 psn)
{
	return (c->psn_next - 1 - psn) & MRC_PSN_MASK;
}

/* Has @psn been sent, and is it not before una? */
static inline bool mrc_psn_out(const struct mrc_conn *c, u32 psn)
{
	return mrc_psn_lag(c, psn) < ((c->psn_next - c->psn_una) & MRC_PSN_MASK);
}

/* The only way in which bytes in flight change: the controller's sum follows. */
static inline void mrc_tx_inflight(struct mrc_conn *c, s32 delta)
{
	mrc_cc_account(c->cc, c->inflight_bytes, delta);
	c->inflight_bytes += (u32)delta;
}

/* The controller was told something: its pause is ours from now on. */
static inline void mrc_tx_hold(struct mrc_conn *c)
{
	c->hold_until_ns = c->cc->hold_until_ns;
}

/* Messages by free-running index, and as records name them. */
static inline struct mrc_msg *mrc_sq_at(const struct mrc_conn *c, u32 i)
{
	return &c->sq[i & (c->cfg.sq_max - 1u)];
}

static inline struct mrc_msg *mrc_rs_at(const struct mrc_conn *c, u32 i)
{
	return &c->rs[i & (c->cfg.rd_max - 1u)];
}

static inline struct mrc_msg *mrc_msg_at(const struct mrc_conn *c, u16 i)
{
	return i & MRC_REC_RESP ? &c->rs[i & ~MRC_REC_RESP] : &c->sq[i];
}

/* The message of the send queue under way: not yet among those before sq_seg. */
static inline bool mrc_sq_cutting(const struct mrc_conn *c)
{
	return c->cut != MRC_NONE16 && !c->cut_rs;
}

static inline bool mrc_op_is_rd(u8 op)
{
	return op == MRC_OP_READ || op == MRC_OP_CMP_SWAP || op == MRC_OP_FETCH_ADD;
}

/* mrc_rx.c */
void mrc_rx_reset(struct mrc_conn *c);
enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op);
void mrc_rx_refuse(struct mrc_conn *c, u32 psn, enum mrc_nak why);
void mrc_rx_advance(struct mrc_conn *c);
u32 mrc_rx_slot(const struct mrc_conn *c, u32 psn);
bool mrc_rx_nak_ripe(const struct mrc_conn *c);
bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);

/* mrc_defer.c: what waits for the left edge */
void mrc_tail_reset(struct mrc_conn *c);
s16 mrc_tail_slot(const struct mrc_conn *c);
void mrc_tail_keep(struct mrc_conn *c, const struct mrc_rxop *op);
void mrc_hold_keep(struct mrc_conn *c, u32 psn);
int mrc_defer_check(const struct mrc_conn *c);

/* mrc_mpr.c */
void mrc_mpr_start(struct mrc_conn *c, u8 agreed);
void mrc_mpr_update(struct mrc_conn *c);

/* mrc_exec.c */
void mrc_exec_reset(struct mrc_conn *c);
bool mrc_exec_admit(struct mrc_conn *c, u32 psn, u64 now_ns, u16 *slot);
void mrc_exec_store(struct mrc_conn *c, u16 slot, const struct mrc_pkt *p);
bool mrc_exec_pending(const struct mrc_conn *c, u32 psn);
void mrc_exec_resp_done(struct mrc_conn *c, u16 slot);

/* mrc_tx.c */
void mrc_tx_reset(struct mrc_conn *c);
void mrc_tx_start(struct mrc_conn *c, u32 psn, u64 now_ns);
bool mrc_tx_data_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_tx_data_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_tx_withdraw(struct mrc_conn *c);

/* mrc_msg.c */
bool mrc_msg_next(struct mrc_conn *c);
u32 mrc_tx_pkts(const struct mrc_conn *c, u32 len);
struct mrc_msg *mrc_tx_find_request(struct mrc_conn *c, u16 msn);
void mrc_tx_resp_arrived(struct mrc_conn *c, struct mrc_msg *m, u64 now_ns);
bool mrc_tx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);
void mrc_tx_responses_done(struct mrc_conn *c);
void mrc_tx_response_settle(struct mrc_conn *c, u64 now_ns);

/* mrc_loss.c */
void mrc_loss_reset(struct mrc_conn *c);
void mrc_loss_arm(struct mrc_conn *c, u64 now_ns);
void mrc_loss_timer(struct mrc_conn *c, u64 now_ns);
u64 mrc_loss_deadline_ns(const struct mrc_conn *c);
u32 mrc_loss_mark(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns);
void mrc_loss_alive(struct mrc_conn *c, u64 now_ns);
void mrc_loss_delivered(struct mrc_conn *c, u32 psn, u64 now_ns);
u32 mrc_loss_deliver(struct mrc_conn *c, u32 psn, u64 now_ns);
u32 mrc_loss_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns);
void mrc_loss_advance_una(struct mrc_conn *c);
void mrc_loss_detect(struct mrc_conn *c, u64 now_ns);
void mrc_loss_rearm(struct mrc_conn *c, u64 now_ns, bool progress, bool delivered);
void mrc_loss_rtt(struct mrc_conn *c, u64 rtt_ns);
void mrc_loss_rack(struct mrc_conn *c, u32 tick, u32 psn, u64 now_ns);
void mrc_loss_spurious(struct mrc_conn *c, u32 psn, u64 late_ns, u64 now_ns);
void mrc_loss_forget_evs(struct mrc_conn *c);
void mrc_loss_tell(struct mrc_conn *c, u32 bytes, u64 now_ns);
void mrc_loss_unpace(struct mrc_conn *c);
bool mrc_loss_pace(struct mrc_conn *c, u64 now_ns);
u64 mrc_loss_rto_ns(const struct mrc_conn *c);

static inline bool mrc_rx_nak_due(const struct mrc_conn *c)
{
	return unlikely(c->nak != MRC_NAK_NONE) && mrc_rx_nak_ripe(c);
}

/* Does the peer still owe us something? */
static inline bool mrc_tx_waiting(const struct mrc_conn *c)
{
	if (!c->psn_known)
		return c->rs_head != c->rs_tail;
	return c->psn_una != c->psn_next || c->sq_acked != c->sq_seg || c->rd_out;
}

/* Was this sent before what is known as delivered? A batch carries one time. */
static inline bool mrc_rack_before(const struct mrc_conn *c, u32 tick, u32 psn)
{
	return (s32)(c->rack_sent - tick) > 0 ||
	       (tick == c->rack_sent && mrc_psn_diff(psn, c->rack_psn) < 0);
}

/* Something left. Not pushed out by sending: resending what is refused must not hide a loss. */
static inline void mrc_loss_sent(struct mrc_conn *c, u64 now_ns)
{
	if (c->rto_at_ns == MRC_TIME_NEVER || c->probe_at_ns == MRC_TIME_NEVER)
		mrc_loss_arm(c, now_ns);
}

/* mrc_sleek.c */
void mrc_sleek_ooo(struct mrc_conn *c, u32 ooo, u64 now_ns);
void mrc_sleek_recover(struct mrc_conn *c, u64 now_ns);

/* mrc_ack.c */
void mrc_ack_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
u64 mrc_rnr_timer_ns(u8 code);

/* mrc_ctl.c: control packets owed */
void mrc_ctl_reset(struct mrc_conn *c);
u32 mrc_ctl_ack_edge(const struct mrc_conn *c);
void mrc_ctl_owe_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason,
		      u64 now_ns);
bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_ctl_owe_word(struct mrc_conn *c);
void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);

/*
 * Not one more NACK can be owed. A caller that takes packets in by batches lets packets
 * leave (mrc_conn_tx_next()) before it goes on: what is not NACKed looks like a dead path.
 */
static inline bool mrc_conn_nacks_full(const struct mrc_conn *c)
{
	return c->nack_n == MRC_OWED_NACKS;
}

/* Is it worth to ask mrc_ctl_next()? */
static inline bool mrc_ctl_pending(const struct mrc_conn *c, u64 now_ns)
{
	return c->ack_owed || c->probe_owed || c->verify_owed || c->sack_n || c->nack_n ||
	       now_ns >= c->evs->next_probe_ns;
}

/* Likewise mrc_tx_data_next()? */
static inline bool mrc_tx_pending(const struct mrc_conn *c)
{
	return c->cut != MRC_NONE16 || c->sq_seg != c->sq_tail || c->rs_seg != c->rs_tail ||
	       c->lost.count || c->paced.count;
}

static inline bool mrc_conn_can_post(const struct mrc_conn *c)
{
	return c->tx_ready && !c->fail && c->sq_tail - c->sq_head < c->cfg.sq_max;
}

#endif

