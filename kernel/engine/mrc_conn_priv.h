/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn_priv.h - the state of one connection. Only files of the engine look
 * inside; callers see it because they embed it.
 *
 * One flat struct in three parts: receive stream (mrc_rx.c), send stream
 * (mrc_tx.c, mrc_loss.c), control packets owed to the peer (mrc_conn.c).
 */
#ifndef MRC_CONN_PRIV_H
#define MRC_CONN_PRIV_H

/* ---- send stream ---- */

enum mrc_rec_state {
	MRC_REC_FREE,		/* delivered, or not in the window */
	MRC_REC_SENT,		/* in flight; on the sent list, oldest send first */
	MRC_REC_LOST,		/* waits to be resent; on the lost list, FIFO */
};

/* One PSN between una and psn_next. 16 bytes; times in MRC_TICK_NS. */
#define MRC_TICK_SHIFT	6	/* 64 ns: wraps after 274 s */
struct mrc_rec {
	u32 sent;		/* tick of the latest send */
	u16 prev, next;		/* links: window slots */
	u16 ev;			/* index in the evset */
	u16 msg;		/* index in its ring; MRC_REC_RESP: of responses */
	u8 state;		/* enum mrc_rec_state */
	u8 tries;		/* sends so far, saturating */
	u8 cause;		/* enum mrc_cause of the loss */
	u8 plane;		/* of the latest send */
};
#define MRC_REC_RESP	0x8000u

enum mrc_cause {
	MRC_CAUSE_RACK, MRC_CAUSE_NACK, MRC_CAUSE_TRIM, MRC_CAUSE_RTO,
	MRC_CAUSE_PLANE, MRC_CAUSE_RNR,
};

/* A message of ours (SQ ring) or a response (response ring). */
struct mrc_msg {
	u8 op;			/* enum mrc_op */
	u8 flags;		/* MRC_WR_* */
	u8 error;		/* enum mrc_status */
	bool started;		/* has PSNs [psn, psn + npkts) */
	bool acked;		/* transport ACK covers it */
	u16 msn, rqmsn;
	u32 cookie;
	u32 len;
	u32 rkey;
	u32 imm;
	u64 va;
	u64 swap_add, compare;
	u32 psn, npkts;
	u32 resp_pkts;		/* READ, ATOMIC: response packets still missing;
				 * response: its packets not known as delivered */
	u32 resp_psn;		/* of the first response packet, once resp_seen */
	bool resp_seen;
};

struct mrc_list {
	u16 head, tail;
	u32 count;
};

/* ---- receive stream ---- */

/* A message that consumes a receive: known when its last packet arrived. */
struct mrc_rq_rec {
	bool used;
	bool solicited;
	u8 op;			/* enum mrc_op */
	u32 psn_last;
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
	bool used;
	u32 psn;		/* of the packet */
	u64 va;
	u32 rkey;
	u32 len;
};

/* ---- control packets owed ---- */

struct mrc_owed_sack {
	u32 psn;		/* that triggered; of no meaning if pr */
	u32 ev;
	u16 tx_ts, probe_id;
	u8 m;
	bool pr;
};

struct mrc_owed_nack {
	u32 psn, ev;
	u16 tx_ts;
	u8 reason, vendor_info;
};

#define MRC_OWED_SACKS	8
#define MRC_OWED_NACKS	16

#define MRC_TAIL_PROBES	16	/* remembered; a round trip may outlast several */

struct mrc_conn {
	struct mrc_conn_cfg cfg;
	struct mrc_evset *evs;
	struct mrc_rot rot;
	struct mrc_stats stats;
	u8 fail;		/* enum mrc_status; OK = alive */
	bool rx_ready, tx_ready;	/* RTR, RTS */
	bool failed_sent;	/* the failing status was given to a message */
#ifdef MRC_DEBUG
	bool in_call;
#endif

	/* receive */
	struct mrc_rx_cfg rx;
	u32 rx_window;		/* PSNs */
	u32 rx_cack;		/* all up to here has been committed */
	u32 rx_max;		/* highest PSN committed */
	u32 rx_held;		/* committed beyond cack: bits set */
	u64 *rx_bits;		/* ring bitmap, cfg.mpr_max * 128 bits: committed */
	u64 *rx_last;		/* likewise: ends a message */
	u32 rx_rcvd;		/* rcvd_bytes, nominal sizes, bytes (mod 2^32) */
	u32 sack_pkts, sack_bytes;	/* since the last SACK */
	struct mrc_rq_rec *rq;	/* by rq index mod rq_max */
	u32 rq_next;		/* next receive to complete */
	struct mrc_exec_rec *exec;
	struct mrc_tail_rec *tail;
	u8 tails_used;
	u8 exec_waiting;
	u16 nak;		/* enum mrc_nak of the refused packet, or NONE */
	u32 nak_psn;
	u32 done_msn;		/* completed messages of the peer, AETH.msn */
	bool nak_sent;

	/* send */
	struct mrc_tx_cfg tx;
	u32 tx_window;		/* PSNs */
	/*
	 * A QP in RTR answers READs and ATOMICs, but is told its first PSN at RTS
	 * only: until then it learns it from the peer's cack, by a probe.
	 */
	bool psn_known;
	u32 psn_first;
	u32 psn_next;		/* next new PSN */
	u32 psn_una;		/* oldest not known as delivered */
	u32 psn_acked;		/* transport ACK: highest PSN covered */
	struct mrc_rec *rec;	/* cfg.mpr_max * 128, by PSN */
	u32 rec_mask;
	struct mrc_list sent, lost;
	u32 inflight_bytes;
	struct mrc_cc cc;
	struct mrc_msg *sq;	/* ring of sq_max */
	u32 sq_head, sq_acked, sq_seg, sq_tail;	/* oldest, first without transport
					 * ACK, being cut, free; free-running */
	u32 sq_rd;		/* no READ or ATOMIC before it is unanswered */
	struct mrc_msg *rs;	/* ring of rd_max */
	u32 rs_head, rs_seg, rs_tail;
	bool cutting;		/* a message is being cut into packets ... */
	bool cutting_rs;	/* ... rs[rs_seg], else sq[sq_seg] */
	bool tx_stopped;	/* NAK received: nothing new leaves */
	u32 cut_off;		/* packets already cut off it */
	u16 next_rqmsn;
	u32 rd_out;		/* READs and ATOMICs from the oldest unanswered on */
	u32 rqm_out;		/* receive messages unacknowledged */

	/* loss and time */
	u64 srtt_ns, rttvar_ns, min_rtt_ns;
	u32 rack_sent, rack_psn;	/* tick and PSN: latest send known as delivered */
	bool rack_valid;
	u8 reo_mult;		/* widens the reordering window after false alarms */
	u64 rack_at_ns;		/* when to look again; NEVER */
	u64 probe_at_ns;	/* tail probe */
	u8 probe_backoff;
	u16 probe_id;		/* last sent */
	u32 probe_sent[MRC_TAIL_PROBES];	/* ticks, by probe_id */
	u16 probe_out;		/* bit per entry: not answered yet */
	bool probe_owed;
	bool verify_owed;	/* acknowledgements left since the last verification */
	u64 rto_at_ns;		/* NEVER: nothing is waited for */
	u32 retries;		/* of the budget, since progress */
	u32 rnr_tries, rnr_psn;
	u64 rnr_until_ns;

	/* owed */
	struct mrc_owed_sack sack_q[MRC_OWED_SACKS];
	struct mrc_owed_nack nack_q[MRC_OWED_NACKS];
	u8 sack_n, nack_n;
	bool ack_owed;
};

/* ---- between the engine's files ---- */

#define MRC_PKT_OVERHEAD	64	/* counted per packet in flight */
#define MRC_PROBE_ID_TAIL	0xf000u	/* | 12-bit count: probes of the connection */

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

/* mrc_rx.c */
void mrc_rx_reset(struct mrc_conn *c);
enum mrc_verdict mrc_rx_data(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns,
			     struct mrc_rxop *op);
void mrc_rx_refuse(struct mrc_conn *c, u32 psn, enum mrc_nak why);
bool mrc_rx_nak_due(const struct mrc_conn *c);
u32 mrc_rx_ack_edge(const struct mrc_conn *c);
u64 mrc_rx_bitmap(const struct mrc_conn *c, u32 base);
bool mrc_rx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);

/* mrc_exec.c */
bool mrc_exec_admit(struct mrc_conn *c, u32 psn, u64 now_ns, u16 *slot);
void mrc_exec_store(struct mrc_conn *c, u16 slot, const struct mrc_pkt *p);
bool mrc_exec_pending(const struct mrc_conn *c, u32 psn);
void mrc_exec_resp_done(struct mrc_conn *c, u16 slot);

/* mrc_tx.c */
void mrc_tx_reset(struct mrc_conn *c);
void mrc_tx_start(struct mrc_conn *c, u32 psn);
bool mrc_tx_data_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_tx_data_undo(struct mrc_conn *c, const struct mrc_txop *op);
u32 mrc_tx_pkts(const struct mrc_conn *c, u32 len);
u32 mrc_tx_rec_bytes(const struct mrc_conn *c, u32 psn);
struct mrc_msg *mrc_tx_rec_msg(struct mrc_conn *c, const struct mrc_rec *r);
bool mrc_tx_waiting(const struct mrc_conn *c);
struct mrc_msg *mrc_tx_find_request(struct mrc_conn *c, u16 msn);
void mrc_tx_resp_arrived(struct mrc_conn *c, struct mrc_msg *m, u64 now_ns);
bool mrc_tx_complete_next(struct mrc_conn *c, struct mrc_cpl *cpl);
void mrc_tx_responses_done(struct mrc_conn *c);
void mrc_tx_response_settle(struct mrc_conn *c, u64 now_ns);

/* mrc_list in mrc_tx.c: records by slot */
void mrc_list_add_tail(struct mrc_conn *c, struct mrc_list *l, u16 slot);
void mrc_list_add_head(struct mrc_conn *c, struct mrc_list *l, u16 slot);
void mrc_list_del(struct mrc_conn *c, struct mrc_list *l, u16 slot);

/* mrc_loss.c */
void mrc_loss_reset(struct mrc_conn *c);
void mrc_loss_sent(struct mrc_conn *c, u64 now_ns);
void mrc_loss_sack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_loss_nack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_loss_ack(struct mrc_conn *c, const struct mrc_pkt *p, u64 now_ns);
void mrc_loss_timer(struct mrc_conn *c, u64 now_ns);
u64 mrc_loss_deadline_ns(const struct mrc_conn *c);
void mrc_loss_mark(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns);
void mrc_loss_alive(struct mrc_conn *c, u64 now_ns);
void mrc_loss_delivered(struct mrc_conn *c, u32 psn, u64 now_ns);
u64 mrc_rnr_timer_ns(u8 code);

/* mrc_ctl.c: control packets owed */
void mrc_ctl_reset(struct mrc_conn *c);
void mrc_ctl_owe_sack(struct mrc_conn *c, const struct mrc_pkt *p);
void mrc_ctl_owe_nack(struct mrc_conn *c, const struct mrc_pkt *p, enum mrc_nack reason);
bool mrc_ctl_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
void mrc_ctl_undo(struct mrc_conn *c, const struct mrc_txop *op);
void mrc_ctl_owe_probe_answer(struct mrc_conn *c, const struct mrc_pkt *p);

static inline bool mrc_conn_can_post(const struct mrc_conn *c)
{
	return c->tx_ready && !c->fail && c->sq_tail - c->sq_head < c->cfg.sq_max;
}

#endif

