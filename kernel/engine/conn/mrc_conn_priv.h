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
	MRC_REC_LOST,		/* waits for retransmission; on the lost list, FIFO */
	MRC_REC_PACED,		/* refused for lack of resources: retransmit after nack_until_ns */
};

/* An own message (SQ ring) or a response (response ring). 56 bytes. */
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
 * A retransmitted packet and its two latest copies. If the first of the two turns out to have
 * arrived, the loss was spurious. 32 bytes.
 */
struct mrc_resend {
	u32 psn;
	u32 first, second;	/* ticks */
	u32 bytes;		/* reported to the controller as lost; 0: none */
	u16 ev_first, ev_second;
	u8 plane_first, plane_second;
	u8 cause;		/* enum mrc_cause */
	bool used;
	bool first_arrived;	/* a SACK (by EV or timestamp) or the time of the answer has shown it */
	bool second_arrived;	/* a SACK (by EV or timestamp) has shown it */
	bool older;		/* there were copies before these two */
	bool done;		/* delivered, at done_tick */
	u32 done_tick;
};
#define MRC_RESENDS	64
#define MRC_RESEND_WAYS	4	/* associativity of the hash table */

/* One copy of a packet that was sent more than once. */
struct mrc_copy {
	u32 tick;
	u16 ev;
	u8 plane;
};

/* ---- receive stream ---- */

/* A message that consumes a receive. 16 bytes. */
struct mrc_rq_rec {
	u32 pieces : 25;	/* SEND: packets received, in any order */
	u32 op : 5;		/* enum mrc_op; known when the last packet has arrived */
	u32 solicited : 1;
	u32 used : 1;		/* the last packet has arrived */
	u32 psn_last;		/* SEND: like len, known from the first packet that arrives */
	u32 len;
	u32 imm;
};

enum mrc_exec_state {
	MRC_EXEC_FREE, MRC_EXEC_WAIT, MRC_EXEC_RUN, MRC_EXEC_RESP, MRC_EXEC_DONE,
};

/* A READ or ATOMIC of the peer. */
struct mrc_exec_rec {
	u8 state : 7;		/* enum mrc_exec_state */
	u8 drop : 1;		/* reused before MRC_DO_FREE of its previous request */
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
	u32 psn;		/* of the packet that triggered the SACK; unused if pr */
	u32 since;		/* of the trigger of the first SACK that was merged into this one */
	u32 ev;
	u32 came;		/* tick of arrival, for the service time */
	u16 tx_ts, probe_id;
	u8 m;
	bool pr;
	bool ts;		/* tx_ts is valid */
	u8 back;		/* answer to a tail probe: plane to use; MRC_PLANES_MAX: any */
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

#define MRC_TAIL_PROBES	16	/* remembered: several may leave within a round trip */

/* ---- one struct for each part; the file that owns it is named ---- */

/* Sent packets: the window of records, and its edges (mrc_snd.c). */
struct mrc_snd {
	/*
	 * False until the first PSN is known. The caller gives it at RTS. A QP in RTR
	 * already answers READs and ATOMICs: it probes and learns it from the peer's cack.
	 */
	bool known;
	u16 range;		/* PSNs from una on that may be in flight: allowed, and have records */
	u16 allowed;		/* PSNs from una on that the peer accepts now */
	u16 mask;		/* number of records - 1 */
	u32 window;		/* PSNs that the peer accepts at most, as agreed */
	u32 next;		/* next new PSN */
	u32 una;		/* oldest not known as delivered */
	u32 acked;		/* transport ACK: highest PSN covered */
	u32 ar_psn;		/* latest packet that asked for an acknowledgement */
	u32 inflight;		/* bytes */
	u32 out;		/* packets in flight */
	u32 busy;		/* bit per plane: carries some of them */
	u32 full;		/* bit per plane: carried more than its part at the last check */
	u32 first;		/* PSN */
	struct mrc_rec *rec;	/* by PSN (mrc_rec_mem.c) */
	struct mrc_list *sent;	/* MRC_PLANES_MAX: in flight, by plane, oldest send first */
	struct mrc_list lost, paced;
};

/* Sum over the packets that one acknowledgement reports as delivered. */
struct mrc_delivered {
	u32 inflight;		/* bytes newly delivered that were in flight */
	u32 late;		/* bytes newly delivered that had been declared lost */
	const struct mrc_rec *latest;	/* the last one sent of those sent once, or NULL */
	u32 psn;		/* of latest */
};

/* Own messages and responses, being cut into packets (mrc_msg.c). */
struct mrc_msgs {
	u16 cut;		/* message being cut, as in mrc_rec.msg; or NONE16 */
	bool cut_rs;		/* it, or the last one, is a response */
	bool stopped;		/* NAK received: nothing new leaves */
	u32 cut_off;		/* packets already cut off the message under way */
	u32 sq_seg, sq_tail;	/* message being cut, first free; all sq_ and rs_ indices run freely */
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
	u32 late_ns : 31;	/* how much later than usual its acknowledgement arrived */
	u32 valid : 1;
};

/* Loss by time (RFC 8985), per plane (mrc_rack.c). */
#define MRC_RACK_NO_RTT	0x7fffffffu
struct mrc_rack {
	u64 at_ns;		/* no packet can be lost or late before this; NEVER: none can be */
	u32 looked;		/* tick at which at_ns was computed */
	u32 min_rtt_ns : 31;	/* of the connection (mrc_rtt.c); MRC_RACK_NO_RTT: no sample yet */
	u32 idle : 1;		/* nothing happens at at_ns, but a later delivery must look: no timer */
};

/* Recently retransmitted packets (mrc_resent.c). */
struct mrc_resent {
	u32 undone;		/* bytes of spurious losses, not yet reported to the controller */
	u16 n;			/* a power of two, at most MRC_RESENDS */
	u8 shift;		/* turns the hash into an index of tab */
	u8 blamed;		/* evset.blamed when its losses were last given back */
	struct mrc_resend *tab;	/* by a hash of the PSN (mrc_rec_mem.c) */
};

/* SLEEK's recovery. */
struct mrc_sleek {
	u32 on : 1;
	u32 psn : 24;		/* recovery ends when all PSNs before it are delivered */
	u32 at;			/* PSN at which the walk over the window continues */
};

#define MRC_OWED_TAIL	1u	/* tail probe: asks for the state of the receive stream */
#define MRC_OWED_NO_ACKS	2u	/* probe that reports a plane without acknowledgements */
#define MRC_OWED_AGAIN	4u	/* repeat a delivered packet, because its ACK was lost */

#define MRC_PTO_BURST_SHIFT	2	/* during silence, up to 1 << this tail probes leave together, */
#define MRC_PTO_MANY_SHIFT	3	/* or 1 << this, if many packets wait and the round trip is known */

/* A tail probe that was sent: when, and by which EV. */
struct mrc_tail_sent {
	u32 tick;
	u16 ev;
};

/* The tail probe, when acknowledgements stop. */
struct mrc_pto {
	u64 at_ns;
	u8 owed;		/* MRC_OWED_* */
	u8 miss : 5;		/* MRC_OWED_NO_ACKS: the plane */
	u8 more : 3;		/* MRC_OWED_TAIL: probes to send in addition to the first */
	u8 slept : 1;		/* the latest timer call came much too late: the host paused */
	u8 plane : 7;		/* of the latest tail probe */
	u8 backoff;
	u16 id;			/* of the latest tail probe */
	u16 out;		/* bit per entry of sent: not answered yet */
	struct mrc_tail_sent *sent;	/* MRC_TAIL_PROBES, by id */
};

/* The retry budget, and pauses while the peer lacks resources. */
struct mrc_budget {
	u64 rto_at_ns;		/* NEVER: nothing is outstanding */
	u64 nack_until_ns;	/* when paced packets leave */
	u64 nack_charge_ns;	/* NACKs before this time cost no further retry */
	u32 retries;		/* since the last progress */
	u8 nack_backoff;
	bool beyond;		/* after a timeout or tail probes: one packet may leave beyond the window */
	u8 unsure;		/* timeouts since the last round-trip sample, saturating */
};

/* The peer has no receive (mrc_rnr.c). */
struct mrc_rnr {
	u32 psn : 24;		/* una at the last try */
	u32 tries : 4;
	u32 on : 1;
	u32 over : 1;		/* the retries are used up: no more attempts */
	u32 first;		/* on: the lowest PSN that was refused; its retransmission asks again */
	u16 room;		/* on: packets that may leave */
	u16 low;		/* on: no PSN before it (mod 2^16) waits for retransmission */
};

/* The peer's count of received bytes (SETH.rcvd_bytes), and its way of reporting (mrc_report.c). */
struct mrc_report {
	u32 seen : 24;		/* latest rcvd_bytes, in units of 256 B */
	u32 ask_in : 8;		/* packets until one asks for a SACK */
	s32 credit;		/* bytes not yet reported to the controller; < 0: reported early */
	u32 shown : 24;		/* PSN up to which bitmaps have covered what is in flight */
	u32 valid : 1;		/* the peer counts bytes */
	u32 mute : 3;		/* SACKs in a row without a reflected timestamp, saturating */
	u32 far : 1;		/* a bitmap has started elsewhere than right after cack */
	u32 blind : 1;		/* the latest bitmap omitted a packet that the peer surely has */
	u32 answers : 1;	/* it has answered a probe */
};

/* The receive stream (mrc_rcv.c). */
struct mrc_rcv {
	u64 *bits;		/* ring bitmap of committed PSNs, cfg.mpr_max * 128 bits; see mrc_rcv_last() */
	u64 *hold;		/* ring bitmap of held packets, not yet placed; NULL unless cfg.strict */
	struct mrc_prng rand;	/* randomises the SACK threshold */
	u32 window;		/* PSNs after cack that can be accepted */
	u32 cack;		/* all PSNs up to it are committed (strict: placed) */
	u32 max;		/* highest PSN committed */
	u32 held;		/* committed beyond cack: bits set */
	u32 bytes;		/* rcvd_bytes, nominal sizes (mod 2^32) */
	u32 sack_pkts, sack_bytes;	/* since the last SACK */
	u32 rq_next;		/* next receive to complete */
	u32 done_msn;		/* completed messages of the peer, AETH.msn */
	u32 nak_psn;
	u16 agreed;		/* window in PSNs that the peer was promised at RTR; >= window */
	u16 rq_used;		/* entries of rq that wait for their turn */
	struct mrc_incast_note note;
	u8 nak;			/* enum mrc_nak of the refused packet, or NONE */
	bool nak_sent : 1;
	u8 probed : 7;		/* a hash of bytes, when the peer's latest tail probe came */
	bool ar;		/* a packet with AckReq arrived while earlier ones were missing */
	bool early;		/* the next SACK leaves one packet before the threshold */
	struct mrc_rq_rec *rq;	/* by rq index mod rq_max */
};

/* READs and ATOMICs of the peer (mrc_exec.c). */
struct mrc_execs {
	u16 first;		/* slot with the lowest PSN that waits, if waiting */
	u8 waiting;		/* number in WAIT or RUN */
	u8 used, done;		/* number not FREE; number DONE */
	u8 hint;		/* where to look for a FREE one */
	u8 drops;		/* number with drop set */
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
	u8 live;		/* window in SACKs, units of 128 PSNs */
	u8 cap;			/* upper limit of live */
	bool wait;		/* shrunk: packets of the earlier window may be under way */
	u32 mark;		/* PSN that cack must reach before live may change again */
};

#define MRC_VERIFY_ACKS	1u	/* acknowledgements have left since the last verification */
#define MRC_VERIFY_LONG	2u	/* a plane that carries no data must be measured (mrc_ecf.c) */

/* Pending control packets (mrc_ctl.c; SACKs: mrc_sack.c). */
struct mrc_ctl {
	union {
		struct {
			u8 sack_n, nack_n;
			bool ack_owed;
			u8 verify_owed;	/* MRC_VERIFY_*: why a verification probe may be due */
		};
		u32 any;	/* all four at once: tested before every packet */
	};
	bool sack_needed : 1;	/* a pending SACK carries more than an ACK of everything would */
	bool sack_spared : 1;	/* the latest pending SACK was replaced by an ACK, or none was pending */
	bool ack_again : 1;	/* the ACK is pending only because an EV probe may ask for it */
	u8 answered : 3;	/* ACKs replaced by a response since the last ACK was sent */
	u8 copies : 2;		/* of the answer to a tail probe, that still leave */
	u8 probes;		/* EV probes since the last message ended */
	u8 sack_first, nack_at;	/* index of the oldest in sack_q, in nack_q */
	u8 sack_turn;		/* chooses the next bitmap: mrc_sack_base() */
	u8 pen : 7;		/* rcv_cwnd_pen of the next SACKs */
	u8 restore : 1;
	u8 ack_plane;		/* plane of the latest ACK */
	u8 unanswered;		/* EV probes since the peer's latest SACK; 252 ... 255: many */
	u32 sack_at;		/* PSN at which the next rotating bitmap starts */
	struct mrc_owed_sack *sack_q;	/* MRC_OWED_SACKS */
	struct mrc_owed_nack *nack_q;	/* MRC_OWED_NACKS */
};

/* Has a packet of the peer's QP arrived (mrc_confirm.c)? */
enum mrc_confirm_state {
	MRC_CONFIRM_DONE,
	MRC_CONFIRM_AWAITED,
	MRC_CONFIRM_MUTE,		/* not yet, and only probes may leave before */
};

/*
 * Sorted for the cache: fields of every sent packet, of every acknowledgement, of every received
 * packet, then the rest. Rarely used tables and the queues lie behind the struct
 * (mrc_conn_layout()).
 */
struct mrc_conn {
	struct mrc_evset *evs;
	u8 fail;		/* enum mrc_status; OK = alive */
	u8 failing;		/* enum mrc_status: fail with it at the end of this call */
	bool rx_ready, tx_ready;	/* RTR, RTS */
	bool failed_sent;	/* the failing status was given to a message */
	bool small;		/* does not have all memory of cfg yet (mrc_rec_mem.c) */
	bool crowded;		/* small, and some table was full or nearly full */
	u8 confirm;		/* enum mrc_confirm_state */
	u32 rcv_mask;		/* of the receive window: cfg.mpr_max * 128 - 1 */
	struct mrc_rnr rnr;	/* here to fill a gap */
	struct mrc_ctl ctl;
	struct mrc_snd snd;
	struct mrc_msgs msgs;
	struct mrc_cc *cc;	/* shared, or own_cc; NULL: not sending */
	struct mrc_fixed_state *own_cc;
	u64 hold_until_ns;	/* the controller allows no data before; 0: no limit */
	u64 rnr_until_ns;	/* the peer's RNR pause ends; 0: none */
	struct mrc_budget budget;
	struct mrc_pto pto;
	struct mrc_rx_cfg rx;	/* sending also needs dqpn and mtu */
	struct mrc_report report;	/* here to fill a gap */
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
