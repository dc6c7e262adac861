/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn_priv.h - the state of one connection. Only files of the engine look
 * inside; callers see it because they embed it.
 *
 * One flat struct in three parts: receive stream (mrc_rx.c), send stream
 * (mrc_msg.c, mrc_tx.c, mrc_snd.c), control packets owed to the peer (mrc_conn.c).
 */
#ifndef MRC_CONN_PRIV_H
#define MRC_CONN_PRIV_H

/* ---- send stream ---- */

enum mrc_rec_state {
	MRC_REC_FREE,		/* delivered, or not in the window */
	MRC_REC_SENT,		/* in flight; on its plane's sent list, oldest send first */
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
	union {
		struct {
			u16 rqmsn, msn;
		};
		u32 meth;	/* both */
	};
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

/*
 * A packet that was resent, and both of its copies: the latest and the one before. If the
 * first turns out to have arrived, its loss was none. 32 bytes.
 */
struct mrc_resend {
	u32 psn;
	u32 first, second;	/* ticks */
	u32 bytes;		/* the controller was told of as lost; 0: nothing */
	u16 ev_first, ev_second;
	u8 plane_first, plane_second;
	u8 cause;		/* enum mrc_cause */
	bool used;
	bool first_came;	/* a stamp said so, or time */
	bool second_came;	/* a stamp said so */
	bool done;		/* delivered, at: */
	u32 done_tick;
};
#define MRC_RESENDS	64
#define MRC_RESEND_WAYS	4	/* places that a PSN may take */

/* One copy of a packet that was sent more than once. */
struct mrc_copy {
	u32 tick;
	u16 ev;
	u8 plane;
};

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
	u32 since;		/* that triggered the first one that this one stands for */
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

/* Rings, drained by the caller when full; powers of two. */
#define MRC_OWED_SACKS	16
#define MRC_OWED_NACKS	16

#define MRC_TAIL_PROBES	16	/* remembered; a round trip may outlast several */

/* ---- one struct for each part; the file that owns it is named ---- */

/* Sent packets: the window of records, and its edges (mrc_snd.c). */
struct mrc_snd {
	/*
	 * A QP in RTR answers READs and ATOMICs, but is told its first PSN at RTS
	 * only: until then it learns it from the peer's cack, by a probe.
	 */
	bool known;		/* the stream has begun */
	u16 range;		/* PSNs from una on that the peer takes in now */
	u32 window;		/* likewise, as agreed */
	u32 next;		/* next new PSN */
	u32 una;		/* oldest not known as delivered */
	u32 acked;		/* transport ACK: highest PSN covered */
	u32 ar_psn;		/* latest packet that asked for an acknowledgement */
	u32 inflight;		/* bytes */
	u32 out;		/* packets in flight */
	u32 busy;		/* planes by which some of them left */
	u32 full;		/* planes with more than their part of them, when last looked */
	struct mrc_rec *rec;	/* cfg.mpr_max * 128, by PSN */
	struct mrc_list *sent;	/* MRC_PLANES_MAX: in flight, by plane, oldest send first */
	struct mrc_list lost, paced;
	u32 first;		/* PSN */
};

/* What several deliveries add up to. */
struct mrc_landed {
	u32 inflight;		/* bytes newly delivered that were in flight */
	u32 late;		/* likewise, that had been given up */
	const struct mrc_rec *latest;	/* sent last of those sent once, or NULL */
	u32 psn;		/* its */
};

/* Messages of ours and responses, being cut into packets (mrc_msg.c). */
struct mrc_msgs {
	u16 cut;		/* message being cut, as in mrc_rec.msg; or NONE16 */
	bool cut_rs;		/* it, or the last one, is a response */
	bool stopped;		/* NAK received: nothing new leaves */
	u32 cut_off;		/* packets already cut off the message under way */
	u32 sq_seg, sq_tail;	/* message being cut, free; free-running, as all of sq and rs */
	u32 rs_seg, rs_tail;
	struct mrc_msg *sq;	/* ring of sq_max */
	u32 sq_head, sq_acked;	/* oldest, first without transport ACK */
	u32 rs_head;
	u32 sq_rd;		/* no READ or ATOMIC before it is unanswered */
	u32 rd_out;		/* READs and ATOMICs from the oldest unanswered on */
	u32 rqm_out;		/* receive messages unacknowledged */
	struct mrc_msg *rs;	/* ring of rd_max */
	u16 next_rqmsn;
};

/* Round trip of the connection, all planes together (RFC 6298). */
struct mrc_rtt {
	u32 srtt_ns, var_ns;
	u32 min_ns;		/* ~0: no sample yet */
};

/* Loss by time (RFC 8985), per plane (mrc_rack.c). */
struct mrc_rack {
	u64 at_ns;		/* nothing can be lost or late before; NEVER: nothing at all */
	u32 late_ns;		/* how much later than usual the latest delivery was learnt */
	u32 sent, psn;		/* tick and PSN: latest send known as delivered */
	bool valid;
	bool stale;		/* something was old enough, but not overtaken yet */
};

/* What was resent lately (mrc_resent.c). */
struct mrc_resent {
	u32 undone;		/* bytes that were not lost after all, to be told the controller */
	struct mrc_resend *tab;	/* MRC_RESENDS, by a hash of the PSN */
};

/* SLEEK's recovery. */
struct mrc_sleek {
	u32 on : 1;
	u32 psn : 24;		/* ends when all before it is delivered */
	u32 at;			/* where the walk over the window goes on */
};

/* The tail probe, when acknowledgements stop. */
struct mrc_pto {
	u64 at_ns;
	bool owed;
	bool slept;		/* the latest call of the timer came much too late */
	u8 backoff;
	u16 id;			/* last sent */
	u16 out;		/* bit per entry of sent: not answered yet */
	u32 *sent;		/* MRC_TAIL_PROBES ticks, by id */
};

/* The retry budget, and the pauses that the peer asked for. */
struct mrc_budget {
	u64 rto_at_ns;		/* NEVER: nothing is waited for */
	u64 rnr_until_ns;
	u64 nack_until_ns;	/* when paced packets leave */
	u64 nack_charge_ns;	/* no NACK takes another retry before */
	u32 retries;		/* since progress */
	u32 rnr_psn;
	u16 rnr_tries;
	u8 nack_backoff;
};

/* What the peer says it received (SETH.rcvd_bytes). */
struct mrc_told {
	u32 seen;		/* 256 B units */
	s32 credit;		/* bytes so known and not told to the controller; < 0: told before */
	bool valid;		/* the peer counts them */
};

/* The receive stream (mrc_rcv.c). */
struct mrc_rcv {
	u64 *bits;		/* ring bitmap, cfg.mpr_max * 128 bits: committed */
	u64 *last;		/* likewise: ends a message */
	u64 *hold;		/* likewise: held, to be placed in its turn; NULL unless cfg.strict */
	struct mrc_rand rand;	/* of the SACK threshold */
	u32 window;		/* PSNs that can be taken in */
	u32 cack;		/* all up to here has been committed (strict: placed) */
	u32 max;		/* highest PSN committed */
	u32 held;		/* committed beyond cack: bits set */
	u32 bytes;		/* rcvd_bytes, nominal sizes (mod 2^32) */
	u32 sack_pkts, sack_bytes;	/* since the last SACK */
	u32 rq_next;		/* next receive to complete */
	u32 done_msn;		/* completed messages of the peer, AETH.msn */
	u32 nak_psn;
	u16 agreed;		/* PSNs that the peer was told at RTR; not less */
	u16 rq_used;		/* entries of rq that wait for their turn */
	struct mrc_incast_note note;
	u8 nak;			/* enum mrc_nak of the refused packet, or NONE */
	bool nak_sent;
	bool ar;		/* an acknowledgement was asked for, with holes before it */
	bool early;		/* the next SACK leaves one packet before the threshold */
	struct mrc_rq_rec *rq;	/* by rq index mod rq_max */
};

/* READs and ATOMICs of the peer (mrc_exec.c). */
struct mrc_execs {
	u16 first;		/* lowest PSN that waits, if waiting */
	u8 waiting;		/* WAIT and RUN */
	u8 used, done;		/* not FREE; DONE */
	u8 hint;		/* where to look for a FREE one */
	struct mrc_exec_rec *rec;
};

/* Deferred tails (mrc_defer.c). */
struct mrc_tails {
	u8 used;
	u8 first, last;		/* by PSN; MRC_TAIL_END: none */
	u8 free;
	struct mrc_tail_rec *slot;
};

/* The window offered, dynamic MPR (mrc_mpr.c). */
struct mrc_mpr {
	u8 live;		/* 128-PSN units: told with dynamic MPR */
	u8 cap;			/* it grows up to this */
	bool wait;		/* shrunk: what was allowed before is still on its way */
	u32 mark;		/* no further change of it before cack gets here */
};

/* Control packets owed (mrc_ctl.c). */
struct mrc_ctl {
	union {
		struct {
			u8 sack_n, nack_n;
			bool ack_owed;
			bool verify_owed;	/* acknowledgements left since the last verification */
		};
		u32 any;	/* of these: asked before every packet */
	};
	bool ack_again;		/* only because a probe of an EV may have meant it */
	u8 probes;		/* such probes since a message ended */
	u8 sack_first, nack_at;	/* first of sack_n in sack_q, of nack_n in nack_q */
	u8 sack_turn;		/* counts them: whether the next bitmap shows an edge, or rotates */
	bool restore;
	u8 pen;			/* rcv_cwnd_pen of the next SACKs */
	u32 sack_at;		/* where the next bitmap begins that does not follow the trigger */
	struct mrc_owed_sack *sack_q;	/* MRC_OWED_SACKS */
	struct mrc_owed_nack *nack_q;	/* MRC_OWED_NACKS */
};

/*
 * Order: what every packet sent needs, what every acknowledgement needs, what every
 * packet received needs, then the rest; tables that are looked into now and then, and
 * queues, lie behind the struct (mrc_conn_layout()).
 */
struct mrc_conn {
	struct mrc_evset *evs;
	u8 fail;		/* enum mrc_status; OK = alive */
	u8 failing;		/* likewise: what it will fail with at the end of this call */
	bool rx_ready, tx_ready;	/* RTR, RTS */
	bool failed_sent;	/* the failing status was given to a message */
	u32 rec_mask;		/* of both windows: cfg.mpr_max * 128 - 1 */
	struct mrc_ctl ctl;
	struct mrc_snd snd;
	struct mrc_msgs msgs;
	struct mrc_cc *cc;	/* shared, or own_cc; NULL: not sending */
	struct mrc_cc *own_cc;
	u64 hold_until_ns;	/* the controller's word: no data before; 0: none */
	struct mrc_budget budget;
	struct mrc_pto pto;
	struct mrc_rx_cfg rx;	/* (also what is told to the peer) */
	struct mrc_tx_cfg tx;
	struct mrc_rot rot;

	struct mrc_rack rack;
	struct mrc_rtt rtt;
	struct mrc_told told;
	struct mrc_sleek sleek;
	struct mrc_resent resent;

	struct mrc_rcv rcv;
	struct mrc_mpr mpr;
	struct mrc_tails tails;
	struct mrc_execs execs;

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
#define MRC_TS_WRAP_NS	(1ull << (16 + MRC_TS_SHIFT))
#define MRC_RTT_INIT_NS	2000000u	/* before the first sample */

static inline u16 mrc_ts16(u64 ns)
{
	return (u16)(ns >> MRC_TS_SHIFT);
}

static inline u32 mrc_tick(u64 ns)
{
	return (u32)(ns >> MRC_TICK_SHIFT);
}

/* The stamp that a packet sent at @tick carried. */
static inline u16 mrc_tick_ts16(u32 tick)
{
	return (u16)(tick >> (MRC_TS_SHIFT - MRC_TICK_SHIFT));
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
	return mrc_psn_add(c->snd.una, (s32)((slot - c->snd.una) & c->rec_mask));
}

/* What a packet counts in flight. */
static inline u32 mrc_rec_bytes(const struct mrc_rec *r)
{
	return r->len + MRC_PKT_OVERHEAD;
}

/* How far @psn lies behind the newest one sent: any PSN, over the whole PSN space. */
static inline u32 mrc_psn_lag(const struct mrc_conn *c, u32 psn)
{
	return (c->snd.next - 1 - psn) & MRC_PSN_MASK;
}

/* Has @psn been sent, and is it not before una? */
static inline bool mrc_psn_out(const struct mrc_conn *c, u32 psn)
{
	return mrc_psn_lag(c, psn) < ((c->snd.next - c->snd.una) & MRC_PSN_MASK);
}

/* The only way in which bytes in flight change: the controller's sum follows. */
static inline void mrc_tx_inflight(struct mrc_conn *c, s32 delta)
{
	mrc_cc_account(c->cc, c->snd.inflight, delta);
	c->snd.inflight += (u32)delta;
}

#define MRC_PLANE_FEW	4	/* packets that a plane may hold whatever its part is */

/* @share: of the plane, of MRC_SHARE_FULL. A slow plane's part is its share of an even one. */
static inline bool mrc_snd_overfull(u32 count, u32 planes, u32 out, u32 share)
{
	return count > MRC_PLANE_FEW && (count * planes * (MRC_SHARE_FULL / 2) > out * share ||
					 4 * count > 3 * out);
}

/*
 * The packet of @r, in @slot, with @len bytes of payload, leaves now by EV @ev of plane @p. All do
 * this: inline.
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

/* The controller was told something: its pause is ours from now on. */
static inline void mrc_tx_hold(struct mrc_conn *c)
{
	c->hold_until_ns = c->cc->hold_until_ns;
}

/* Messages by free-running index, and as records name them. */
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

/* The message of the send queue under way: not yet among those before sq_seg. */
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
	return psn & c->rec_mask;	/* both rings have the same size */
}

/*
 * Which stretches of 64 PSNs (bit: PSN / 64 mod 64) hold packets out of order that no SACK may
 * have shown yet. Behind the ring: they are looked at when a SACK leaves.
 */
static inline u64 *mrc_rcv_news(const struct mrc_conn *c)
{
	return &c->rcv.bits[(c->rec_mask + 1) >> 6];
}

/* mrc_rx.c: data packets in */
enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op);
void mrc_rx_commit_plain(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns);
void mrc_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns);
void mrc_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op, const struct mrc_reject *why,
		   u64 now_ns);
bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);

/* mrc_defer.c: what waits for the left edge */
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
void mrc_exec_reset(struct mrc_conn *c);
bool mrc_exec_admit(struct mrc_conn *c, u32 psn, u64 now_ns, u16 *slot);
void mrc_exec_store(struct mrc_conn *c, u16 slot, const struct mrc_pkt *p);
bool mrc_exec_next(struct mrc_conn *c, struct mrc_exec *out);
void mrc_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns);
void mrc_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why);
bool mrc_exec_free_next(struct mrc_conn *c, u16 *slot);
bool mrc_exec_nak_ripe(const struct mrc_conn *c);
bool mrc_exec_running(const struct mrc_conn *c);
void mrc_exec_responses(struct mrc_conn *c);

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
enum mrc_status mrc_msg_failed(const struct mrc_conn *c);
bool mrc_msg_response_next(struct mrc_conn *c, u16 *slot);
void mrc_tx_response_settle(struct mrc_conn *c, u64 now_ns);

/* mrc_snd.c: sent packets */
void mrc_snd_reset(struct mrc_conn *c);
void mrc_snd_take_back(struct mrc_conn *c, u16 slot);
u32 mrc_snd_lose(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns);
void mrc_snd_tell_lost(struct mrc_conn *c, u32 bytes, u64 now_ns);
void mrc_snd_withdraw(struct mrc_conn *c);
void mrc_snd_unpace(struct mrc_conn *c);
u32 mrc_snd_deliver(struct mrc_conn *c, u32 psn, u64 now_ns);
u32 mrc_snd_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns);
void mrc_snd_delivered(struct mrc_conn *c, u32 psn, u64 now_ns);
u16 mrc_snd_oldest(const struct mrc_conn *c);
u32 mrc_snd_full(struct mrc_conn *c);
int mrc_snd_check(const struct mrc_conn *c);

/* mrc_rtt.c */
void mrc_rtt_reset(struct mrc_conn *c);
void mrc_rtt_sample(struct mrc_conn *c, u8 plane, u64 rtt_ns, u64 now_ns);
u64 mrc_rtt_patience_ns(const struct mrc_conn *c);
u64 mrc_rtt_of_stamp(u32 sent, u16 stamp, u64 now_ns);

/* mrc_resent.c */
void mrc_resent_reset(struct mrc_conn *c);
void mrc_resent_note(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u16 ev, u64 now_ns);
void mrc_resent_take_back(struct mrc_conn *c, u32 psn);
bool mrc_resent_trigger(struct mrc_conn *c, u32 psn, const struct mrc_rec *r,
			const struct mrc_sack *s, bool again, u64 now_ns);
bool mrc_resent_which(struct mrc_conn *c, u32 psn, const struct mrc_rec *r, u64 now_ns,
		      struct mrc_copy *copy);
void mrc_resent_queued(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u64 now_ns);
void mrc_resent_forget_evs(struct mrc_conn *c);

/* mrc_rack.c */
void mrc_rack_reset(struct mrc_conn *c);
void mrc_rack_learn(struct mrc_conn *c, u32 tick, u32 psn, u8 plane, u64 now_ns);
void mrc_rack_detect(struct mrc_conn *c, u64 now_ns);
void mrc_rack_look(struct mrc_conn *c, u64 now_ns);

/* mrc_pto.c: the tail probe, and all timers of the send stream */
void mrc_pto_reset(struct mrc_conn *c);
void mrc_pto_arm(struct mrc_conn *c, u64 now_ns);
void mrc_pto_rearm(struct mrc_conn *c, u64 now_ns, bool waiting, bool progress, bool delivered);
void mrc_pto_timer(struct mrc_conn *c, u64 now_ns);
u64 mrc_pto_deadline_ns(const struct mrc_conn *c);

/* mrc_budget.c: retries and timeouts */
void mrc_budget_reset(struct mrc_conn *c);
void mrc_budget_alive(struct mrc_conn *c, u64 now_ns);
void mrc_budget_trimmed(struct mrc_conn *c, u64 now_ns);
void mrc_budget_pace(struct mrc_conn *c, u64 now_ns);
void mrc_budget_rnr(struct mrc_conn *c, u8 code, u64 now_ns);
bool mrc_budget_timeout(struct mrc_conn *c, u64 now_ns);
u64 mrc_budget_rto_from(const struct mrc_conn *c, u64 now_ns);
u64 mrc_budget_rto_ns(const struct mrc_conn *c);
u64 mrc_rnr_timer_ns(u8 code);

/* Is it time for the NAK? */
static inline bool mrc_nak_due(const struct mrc_conn *c)
{
	return unlikely(c->rcv.nak != MRC_NAK_NONE) && mrc_exec_nak_ripe(c);
}

/* Does the peer still owe us something? */
static inline bool mrc_tx_waiting(const struct mrc_conn *c)
{
	if (!c->snd.known)
		return c->msgs.rs_head != c->msgs.rs_tail;
	return c->snd.una != c->snd.next || c->msgs.sq_acked != c->msgs.sq_seg || c->msgs.rd_out;
}

/*
 * The connection cannot go on. It fails when the public call under way ends (mrc_conn.c):
 * whoever finds out is in the midst of something.
 */
static inline void mrc_conn_failing(struct mrc_conn *c, enum mrc_status status)
{
	if (!c->failing)
		c->failing = (u8)status;
}

/* Was this sent before what is known as delivered? A batch carries one time. */
static inline bool mrc_rack_before(const struct mrc_conn *c, u32 tick, u32 psn)
{
	return (s32)(c->rack.sent - tick) > 0 ||
	       (tick == c->rack.sent && mrc_psn_diff(psn, c->rack.psn) < 0);
}

/* Something left. Not pushed out by sending: resending what is refused must not hide a loss. */
static inline void mrc_pto_sent(struct mrc_conn *c, u64 now_ns)
{
	if (c->budget.rto_at_ns == MRC_TIME_NEVER || c->pto.at_ns == MRC_TIME_NEVER)
		mrc_pto_arm(c, now_ns);
}

/* The left edge moves over what is delivered. */
static inline void mrc_snd_advance(struct mrc_conn *c)
{
	while (c->snd.una != c->snd.next &&
	       c->snd.rec[c->snd.una & c->rec_mask].state == MRC_REC_FREE)
		c->snd.una = mrc_psn_add(c->snd.una, 1);
}

/* Progress. */
static inline void mrc_budget_restore(struct mrc_conn *c)
{
	c->budget.retries = 0;
	c->budget.nack_backoff = 0;
	c->budget.nack_charge_ns = 0;
}

/* mrc_sleek.c */
void mrc_sleek_ooo(struct mrc_conn *c, u32 ooo, u64 now_ns);
void mrc_sleek_recover(struct mrc_conn *c, u64 now_ns);

/* mrc_ack.c */
void mrc_ack_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ack_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);

/* mrc_ctl.c: control packets owed */
void mrc_ctl_reset(struct mrc_conn *c);
u32 mrc_ctl_ack_edge(const struct mrc_conn *c);
void mrc_ctl_owe_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason,
		      u64 now_ns);
bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);

/* Is it worth to ask mrc_ctl_next()? */
static inline bool mrc_ctl_pending(const struct mrc_conn *c, u64 now_ns)
{
	return c->ctl.any | c->pto.owed || now_ns >= c->evs->next_probe_ns;
}

/* Likewise mrc_tx_data_next()? */
static inline bool mrc_tx_pending(const struct mrc_conn *c)
{
	return c->msgs.cut != MRC_NONE16 || c->msgs.sq_seg != c->msgs.sq_tail || c->msgs.rs_seg != c->msgs.rs_tail ||
	       c->snd.lost.count || c->snd.paced.count;
}

#endif

