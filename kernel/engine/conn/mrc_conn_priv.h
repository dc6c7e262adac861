/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn_priv.h - the state of one connection.
 *
 * Only files of the engine read or write the fields. Callers include this header because they embed
 * the struct. There is one struct per part; the comment above it names the file that owns it. Calls
 * between the files are in mrc_conn_calls.h.
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
	bool older;		/* there were copies before these two */
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
	u8 state : 7;		/* enum mrc_exec_state */
	u8 drop : 1;		/* taken before the references of who had it are gone */
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
	u8 back;		/* the plane to take, of a tail probe; MRC_PLANES_MAX: any */
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
	u16 range;		/* PSNs from una on that may be out now: what is told, and has records */
	u16 allowed;		/* that the peer takes in now */
	u16 mask;		/* of records: their number - 1 */
	u32 window;		/* PSNs that the peer takes in, as agreed */
	u32 next;		/* next new PSN */
	u32 una;		/* oldest not known as delivered */
	u32 acked;		/* transport ACK: highest PSN covered */
	u32 ar_psn;		/* latest packet that asked for an acknowledgement */
	u32 inflight;		/* bytes */
	u32 out;		/* packets in flight */
	u32 busy;		/* planes by which some of them left */
	u32 full;		/* planes with more than their part of them, when last looked */
	u32 first;		/* PSN */
	struct mrc_rec *rec;	/* by PSN (mrc_rec_mem.c) */
	struct mrc_list *sent;	/* MRC_PLANES_MAX: in flight, by plane, oldest send first */
	struct mrc_list lost, paced;
};

/* What several deliveries add up to. */
struct mrc_delivered {
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

/* The latest send known as delivered (mrc_last_delivered.c). */
struct mrc_last_delivered {
	u32 sent, psn;		/* tick and PSN */
	u32 late_ns : 31;	/* how much later than usual its delivery was learnt */
	u32 valid : 1;
};

/* Loss by time (RFC 8985), per plane (mrc_rack.c). */
struct mrc_rack {
	u64 at_ns;		/* nothing can be lost or late before; NEVER: nothing at all */
	u32 looked;		/* tick: when that was found */
	u32 min_rtt_ns;		/* of the connection (mrc_rtt.c); ~0: no sample yet */
};

/* What was resent lately (mrc_resent.c). */
struct mrc_resent {
	u32 undone;		/* bytes that were not lost after all, to be told the controller */
	u16 n;			/* a power of two, at most MRC_RESENDS */
	u8 shift;		/* of the hash, to a place in tab */
	u8 blamed;		/* evset.blamed, as far as its losses were given back */
	struct mrc_resend *tab;	/* by a hash of the PSN (mrc_rec_mem.c) */
};

/* SLEEK's recovery. */
struct mrc_sleek {
	u32 on : 1;
	u32 psn : 24;		/* ends when all before it is delivered */
	u32 at;			/* where the walk over the window goes on */
};

#define MRC_OWED_TAIL	1u	/* a probe that asks about data */
#define MRC_OWED_NO_ACKS	2u	/* one that says which plane brings no acknowledgements */
#define MRC_OWED_AGAIN	4u	/* what has arrived, for its ACK */

#define MRC_PTO_BURST_SHIFT	2	/* doublings of how many tail probes leave together in silence */

/* One that left: when, and by which EV. */
struct mrc_tail_sent {
	u32 tick;
	u16 ev;
};

/* The tail probe, when acknowledgements stop. */
struct mrc_pto {
	u64 at_ns;
	u8 owed;		/* MRC_OWED_* */
	u8 miss : 5;		/* MRC_OWED_NO_ACKS: of which plane */
	u8 more : 3;		/* MRC_OWED_TAIL: so many beside the one */
	u8 slept : 1;		/* the latest call of the timer came much too late */
	u8 plane : 7;		/* of the latest tail probe */
	u8 backoff;
	u16 id;			/* last sent */
	u16 out;		/* bit per entry of sent: not answered yet */
	struct mrc_tail_sent *sent;	/* MRC_TAIL_PROBES, by id */
};

/* The retry budget, and pauses for want of the peer's resources. */
struct mrc_budget {
	u64 rto_at_ns;		/* NEVER: nothing is waited for */
	u64 nack_until_ns;	/* when paced packets leave */
	u64 nack_charge_ns;	/* no NACK takes another retry before */
	u32 retries;		/* since progress */
	u8 nack_backoff;
	bool beyond;		/* silence took a packet: one may leave beyond the window */
};

/* The peer has no receive (mrc_rnr.c). */
struct mrc_rnr {
	u32 psn : 24;		/* una at the last try */
	u32 tries : 4;
	u32 on : 1;
	u32 over : 1;		/* the retries are used up: it is not asked any more */
	u32 first;		/* on: the lowest PSN that was refused, which asks */
	u16 room;		/* on: packets that may leave */
	u16 low;		/* on: no PSN before it (mod 2^16) waits to be resent */
};

/* What the peer says it received (SETH.rcvd_bytes), and how it reports (mrc_report.c). */
struct mrc_report {
	u32 seen : 24;		/* 256 B units */
	u32 ask_in : 8;		/* after so many packets one asks for a SACK */
	s32 credit;		/* bytes so known and not told to the controller; < 0: told before */
	u32 shown : 24;		/* PSN; up to here bitmaps have covered what is out */
	u32 valid : 1;		/* the peer counts bytes */
	u32 mute : 3;		/* SACKs in a row that reflected no stamp; not all are counted */
	u32 far : 1;		/* a bitmap began elsewhere than behind cack */
	u32 blind : 1;		/* the latest bitmap lacked what the peer has for sure */
};

/* The receive stream (mrc_rcv.c). */
struct mrc_rcv {
	u64 *bits;		/* ring bitmap, cfg.mpr_max * 128 bits: committed; see mrc_rcv_last() */
	u64 *hold;		/* likewise: held, to be placed in its turn; NULL unless cfg.strict */
	struct mrc_prng rand;	/* of the SACK threshold */
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
	u8 drops;		/* in use again, and references of before to be dropped */
	struct mrc_exec_rec *rec;
};

/* Deferred tails (mrc_defer.c). */
struct mrc_tails {
	u8 used;
	u8 first, last;		/* by PSN; MRC_TAIL_END: none */
	u8 free;
	struct mrc_tail_rec *slot;	/* cfg.tails */
};

/* The window offered, dynamic MPR (mrc_mpr.c). */
struct mrc_mpr {
	u8 live;		/* 128-PSN units: told with dynamic MPR */
	u8 cap;			/* it grows up to this */
	bool wait;		/* shrunk: what was allowed before is still on its way */
	u32 mark;		/* no further change of it before cack gets here */
};

#define MRC_VERIFY_ACKS	1u	/* acknowledgements left since the last one */
#define MRC_VERIFY_LONG	2u	/* a plane that is left out is to be measured (mrc_ecf.c) */

/* Control packets owed (mrc_ctl.c; what concerns SACKs, mrc_sack.c). */
struct mrc_ctl {
	union {
		struct {
			u8 sack_n, nack_n;
			bool ack_owed;
			u8 verify_owed;	/* MRC_VERIFY_*: why one of a plane may be due */
		};
		u32 any;	/* of these: asked before every packet */
	};
	bool sack_asked : 1;	/* of sack_n, one says more than an ACK of all that has come */
	bool sack_spared : 1;	/* the latest one that was owed did not leave, or none was owed */
	bool ack_again : 1;	/* only because a probe of an EV may have meant it */
	u8 answered : 3;	/* ACKs that did not leave since one did, an answer having said as much */
	u8 probes;		/* such probes since a message ended */
	u8 sack_first, nack_at;	/* first of sack_n in sack_q, of nack_n in nack_q */
	u8 sack_turn;		/* counts them: whether the next bitmap shows an edge, or rotates */
	u8 pen : 7;		/* rcv_cwnd_pen of the next SACKs */
	u8 restore : 1;
	u8 ack_plane;		/* by which the latest ACK left */
	u8 unanswered;		/* probes of EVs since the peer's latest SACK, 252 ... 255: many */
	u32 sack_at;		/* where the next bitmap begins that does not follow the trigger */
	struct mrc_owed_sack *sack_q;	/* MRC_OWED_SACKS */
	struct mrc_owed_nack *nack_q;	/* MRC_OWED_NACKS */
};

/* Has the peer's QP named itself to this one (mrc_confirm.c)? */
enum mrc_confirm_state {
	MRC_CONFIRM_DONE,
	MRC_CONFIRM_AWAITED,
	MRC_CONFIRM_MUTE,		/* awaited, and nothing but probes leaves before */
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
	bool small;		/* it has not all the room that cfg gives it (mrc_rec_mem.c), */
	bool crowded;		/* and some table was full, or nearly so */
	u8 confirm;		/* enum mrc_confirm_state */
	u32 rcv_mask;		/* of the receive window: cfg.mpr_max * 128 - 1 */
	struct mrc_rnr rnr;	/* here, as it fills a hole */
	struct mrc_ctl ctl;
	struct mrc_snd snd;
	struct mrc_msgs msgs;
	struct mrc_cc *cc;	/* shared, or own_cc; NULL: not sending */
	struct mrc_fixed_state *own_cc;
	u64 hold_until_ns;	/* the controller's word: no data before; 0: none */
	u64 rnr_until_ns;	/* the peer's, likewise */
	struct mrc_budget budget;
	struct mrc_pto pto;
	struct mrc_rx_cfg rx;	/* (also what is told to the peer) */
	struct mrc_report report;	/* here, as it fills a hole */
	struct mrc_tx_cfg tx;
	struct mrc_spray spray;

	struct mrc_rack rack;
	struct mrc_last_delivered last_delivered;
	struct mrc_clock rtt;	/* of all planes together */
	struct mrc_sleek sleek;
	struct mrc_resent resent;

	struct mrc_rcv rcv;
	struct mrc_arrivals arrivals;
	struct mrc_mpr mpr;
	struct mrc_tails tails;
	struct mrc_execs execs;

	struct mrc_conn_cfg cfg;
	struct mrc_stats stats;
};

#endif
