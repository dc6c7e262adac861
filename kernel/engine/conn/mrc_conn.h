/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_conn.h - one connection (QP): the interface between the engine and its callers.
 *
 * A connection has a send stream and a receive stream, each with its own PSN space and SACK
 * reliability (MRC 1.0 sections 2.2, 4, 6.3, 7.4, 7.5). The caller passes events and the time in,
 * and pulls work out; the engine never calls back. The caller owns locks, memory, packets, clocks
 * and timers. It serialises all calls on one connection, and on the path set (struct mrc_evset) and
 * the controller that it uses. Any context; no call sleeps; the work per call is bounded.
 *
 * Life: mrc_conn_init() at creation, mrc_conn_set_rx() when the QP enters RTR, mrc_conn_set_tx()
 * when it enters RTS, mrc_conn_reset() at any time.
 *
 * Sending: mrc_conn_post() adds a work request. While mrc_conn_tx_next() returns true, the caller
 * builds the packet that it describes; mrc_conn_tx_batch() describes several. Both commit: the
 * state says "sent" before the peer can answer. mrc_conn_tx_undo() takes the last packet back.
 *
 * Receiving: mrc_conn_rx_begin() classifies a packet. For MRC_V_PLACE the caller copies the payload
 * to the place in the op. It then calls mrc_conn_rx_commit(), or mrc_conn_rx_reject() with the
 * reason (the peer gets a NAK), or mrc_conn_rx_drop() for a local problem (no memory, ICRC found
 * bad late): then the peer retransmits. Only committed packets are acknowledged. After a batch, the
 * caller executes what mrc_conn_next() returns until it returns nothing, and then sends.
 *
 * Time: there is one deadline. The caller runs mrc_conn_timer() at that time or later. Early, late
 * and repeated calls are harmless.
 */
#ifndef MRC_CONN_H
#define MRC_CONN_H

#include "base/mrc_types.h"
#include "base/mrc_psn.h"
#include "wire/mrc_wire.h"
#include "paths/mrc_ev.h"
#include "cc/mrc_cc.h"
#include "paths/mrc_suspect.h"
#include "base/mrc_stats.h"
#include "base/mrc_list.h"

/* Sizes, fixed at creation. Zero means the default in brackets. */
struct mrc_conn_cfg {
	u8 mpr_max;		/* [8] window, units of 128 PSNs, both directions */
	u16 sq_max;		/* [128] own messages in flight, power of two */
	u16 rd_max;		/* [16] READs/ATOMICs in flight, each way, power of two */
	u16 rq_max;		/* [256] receives that messages in flight may have, power of two */
	u16 ev_active;		/* [128] EVs this QP sprays over; the others are its reserve */
	u8 tails;		/* [32] deferred message tails (last byte last), max 255 */
	bool strict;		/* may be used with mrc_rx_cfg.strict */
	bool small;		/* starts with small tables: mrc_conn_grow() */
	u64 seed;
};

/* RTR: what is needed to receive (and to acknowledge). */
struct mrc_rx_cfg {
	u32 psn;		/* first expected */
	u32 dqpn;
	u16 mtu;		/* payload bytes per packet: 256 ... 4096 */
	u8 mpr;			/* window, units of 128; 0: mpr_max */
	u16 wimm;		/* messages with a receive that the peer may have in flight; 0: rq_max.
				 * Those beyond rq_max are answered as if no receive were posted */
	u8 rd_atomic;		/* requests the peer may have in flight; 0: none */
	u8 min_rnr_timer;	/* IBTA code sent in NACK NO_RESOURCE */
	u16 sack_pkts;		/* SACK at least every so many packets; 0: 16 */
	u32 sack_bytes;		/* or bytes, a packet counting 1 KiB at least; 0: 16 KiB */
	u32 sqpn;		/* number of this QP, for the context id fields */
	bool mrc_only;		/* QP of the mrc.h API: only WRITE and WRITE_IMM, no RNR, no SE bit */
	bool oor_nack;		/* NACK PSNs beyond the window instead of dropping */
	bool no_trim_nack;	/* trimmed packets are dropped: the peer cannot take the NACK */
	bool dyn_mpr;		/* both sides do dynamic MPR: SACKs carry the live window, 2.4 */
	bool svc_time;		/* the time spent in this host is added to reflected timestamps */
	bool strict;		/* place in PSN order: packets ahead of a hole are held */
	bool mute;		/* send only probes until a packet of the peer's QP has arrived */
};

/* RTS: what is needed to send. */
struct mrc_tx_cfg {
	u32 psn;		/* first to send */
	u8 mpr;			/* the peer's window; 0: mpr_max */
	u8 burst;		/* packets of new data in a row by one EV; 0: 1; at most MRC_BURST_MAX */
	u16 wimm;		/* messages with a receive that the peer accepts in flight; 0: rq_max */
	u64 timeout_ns;		/* acknowledgement timeout; 0: no timeout */
	u8 rd_atomic;		/* READs and ATOMICs in flight allowed */
	u8 linear_cnt, exp_cnt;	/* retries at timeout_ns, then doubling; 25: without limit */
	u8 rnr_retry;		/* 7: without limit */
	bool timestamps;	/* TSETH in every data packet, 1.5 */
	bool trim_nack;		/* the peer NACKs trimmed packets: data is trimmable */
	bool dyn_mpr;		/* both sides do dynamic MPR */
	bool unpadded;		/* mrc_only: payload is not padded to four bytes, PadCnt is 0 */
	bool sleek;		/* infer loss from the peer's count of packets out of order, not by time */
	u32 cwnd_bytes;		/* 0: 512 KiB */
	struct mrc_cc *cc;	/* shared controller; NULL: own fixed window of cwnd_bytes */
};

/* ---- work requests and completions ---- */

#define MRC_WR_FENCE	(1u << 0)	/* wait for earlier READs and ATOMICs */
#define MRC_WR_SOLICITED (1u << 1)

struct mrc_wr {
	enum mrc_op op;
	u32 flags;
	u32 cookie;		/* handed back; names the caller's WQE */
	u32 len;		/* payload; READ: bytes to read; ATOMIC: 8 */
	u32 rkey;
	u64 va;			/* remote */
	u32 imm;		/* immediate, or R_Key for SEND_INV; host order */
	u64 swap_add, compare;
	enum mrc_status error;	/* not OK: the caller found an error; the request fails in its turn */
};

enum mrc_cpl_kind { MRC_CPL_SEND, MRC_CPL_RECV };

struct mrc_cpl {
	enum mrc_cpl_kind kind;
	enum mrc_status status;
	enum mrc_op op;		/* RECV: WRITE_IMM, SEND, SEND_IMM or SEND_INV */
	u32 cookie;		/* SEND: of the work request */
	u32 rq_idx;		/* RECV: 0, 1, 2 ... since RTR, in order */
	u32 len;
	u32 imm;
	bool solicited;
};

/* ---- packets out ---- */

enum mrc_tx_src { MRC_SRC_NONE, MRC_SRC_SQ, MRC_SRC_RESP };

struct mrc_txop {
	struct mrc_pkt hdr;	/* for mrc_wire_build(); hdr.ev and hdr.plane are set */
	enum mrc_tclass tclass;
	u16 ev_idx;		/* in the evset */
	enum mrc_tx_src src;	/* where payload bytes come from */
	u32 cookie;		/* SQ: work request; RESP: exec slot */
	u32 off, len;		/* payload: bytes [off, off + len) of the message */
	struct {		/* for mrc_conn_tx_undo() */
		u8 kind, plane, tries;
		bool cut_rs;
		u16 ev;
		bool beyond;
		u32 sent;
	} undo;
};

/* ---- packets in ---- */

enum mrc_verdict {
	MRC_V_DROP,		/* not accepted; counted */
	MRC_V_DONE,		/* accepted; nothing to place */
	MRC_V_PLACE,		/* place, then commit, reject or drop */
};

enum mrc_place {
	MRC_PLACE_NONE,		/* nothing to copy (request); commit at once */
	MRC_PLACE_WRITE,	/* len bytes at va under rkey, remote write access */
	MRC_PLACE_RECV,		/* into receive rq_idx at off; whole message is msg_len */
	MRC_PLACE_RESP,		/* into the local SGEs of request `cookie` at off */
};

struct mrc_rxop {
	enum mrc_place place;
	u64 va;
	u32 rkey;
	u32 off;
	u32 len;		/* payload bytes of this packet */
	u32 msg_len;
	u32 rq_idx;		/* receive to use, when needs_rq */
	bool needs_rq;		/* reject with MRC_NACK_NO_RESOURCE if not posted */
	u32 cookie;		/* RESP: of the READ or ATOMIC */
	/*
	 * Not negative: the packet ends a WRITE, and earlier packets are still missing.
	 * Keep its last min(len, MRC_TAIL_LEN) bytes in tail slot `tail` instead of
	 * placing them. MRC_DO_TAIL says when to place them.
	 */
	s16 tail;
	u64 atomic_orig;	/* RESP to an ATOMIC: the value, payload len 0 */
	/*
	 * Strict placement, true: earlier packets have not been placed yet. Keep the
	 * packet (slot psn & (window - 1), with a window of cfg.mpr_max * 128) and commit
	 * it. MRC_DO_PLACE says when to place it. Check needs_rq first: a held packet is
	 * acknowledged, so a later refusal is fatal.
	 */
	bool hold;
	/* private to the engine */
	bool plain;		/* in order and without side effects: mrc_rx_commit_plain() */
	u32 psn;
	const struct mrc_pkt *pkt;
	u16 slot;
};

/* Why a packet is refused: exactly one of the two. */
struct mrc_reject {
	enum mrc_nack nack;	/* 0; NO_RESOURCE (no receive posted), NO_PKT_BUFFER (cannot be
				 * held): the peer retransmits */
	enum mrc_nak nak;	/* MRC_NAK_NONE, or fatal for both ends */
};

/* A deferred tail that may be placed now: all earlier packets are in memory. */
struct mrc_tail {
	u8 slot;
	u64 va;			/* of the tail's first byte */
	u32 rkey;
	u32 len;
};

/* A READ or ATOMIC to execute now. */
struct mrc_exec {
	enum mrc_op op;		/* READ, CMP_SWAP, FETCH_ADD */
	u16 slot;		/* becomes the cookie of MRC_SRC_RESP packets */
	u64 va;
	u32 rkey;
	u32 len;
	u64 swap_add, compare;
};

struct mrc_conn;

/**
 * mrc_conn_mem_size - bytes mrc_conn_init() needs as @mem
 * Return: size, or 0 when @cfg is out of range.
 */
size_t mrc_conn_mem_size(const struct mrc_conn_cfg *cfg);

/* @mem: 8-byte aligned, need not be zeroed; the caller owns it and frees it last. 0 or -EINVAL. */
int mrc_conn_init(struct mrc_conn *c, const struct mrc_conn_cfg *cfg, void *mem);
/* Back to the state after mrc_conn_init(); path set, memory and counters stay. */
void mrc_conn_reset(struct mrc_conn *c);

/*
 * A connection created with cfg.small accepts @mem of mrc_conn_grow_size() bytes once, at any time.
 * @mem need not be zeroed; the caller owns it. mrc_conn_wants_mem(): small tables delay packets now.
 * They limit only what this side sends, never the window offered to the peer.
 */
bool mrc_conn_wants_mem(const struct mrc_conn *c);
size_t mrc_conn_grow_size(const struct mrc_conn *c);	/* 0: it has all memory */
void mrc_conn_grow(struct mrc_conn *c, void *mem);

/*
 * The set of paths to the peer. It must stay valid until it is replaced; it may be replaced at any
 * time. While it is NULL, the caller may only fetch completions. A connection without a timeout
 * and without a usable EV has no deadline: the caller must call mrc_conn_tx_next() when EVs return.
 */
void mrc_conn_set_path(struct mrc_conn *c, struct mrc_evset *evs);
/* RTR: starts the receive stream, drops the send stream. 0, or -EINVAL: no path set, or @cfg out of range. */
int mrc_conn_set_rx(struct mrc_conn *c, const struct mrc_rx_cfg *cfg, u64 now_ns);
/* In RTR or later: the RNR timer (IBTA code) that NACKs carry from now on. */
void mrc_conn_set_rnr_timer(struct mrc_conn *c, u8 min_rnr_timer);
/* RTS, or new parameters later. 0, or -EINVAL: before RTR, @cfg out of range, or another first PSN than at RTS. */
int mrc_conn_set_tx(struct mrc_conn *c, const struct mrc_tx_cfg *cfg, u64 now_ns);

/**
 * mrc_conn_post - take one work request
 * Return: 0; -EAGAIN when sq_max messages are in flight (post again after a
 * completion); -EINVAL when malformed for this QP; -ENOENT when it cannot send
 * (not RTS, or failed).
 */
int mrc_conn_post(struct mrc_conn *c, const struct mrc_wr *wr, u64 now_ns);

/*
 * Is an ACK, NACK or SACK due? A caller whose connections wait for their turns may call mrc_conn_tx_next() at once
 * then: it is the first that leaves. Reports what has arrived, as mrc_conn_tx_next() does.
 */
bool mrc_conn_owes(struct mrc_conn *c, u64 now_ns);
/* Next packet to send, or false. Control packets first. */
bool mrc_conn_tx_next(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op);
/*
 * Describes up to @max packets in @op, to save lock round trips. Return: how many. *@more: there may
 * be more packets. A batch ends at the end of a message, so that all of it can be undone.
 */
u32 mrc_conn_tx_batch(struct mrc_conn *c, u64 now_ns, struct mrc_txop *op, u32 max, bool *more);
/*
 * Takes back the packet of the latest mrc_conn_tx_next(), which could not be built or sent. Of a
 * batch: any number of packets, last one first, with no other call on the connection before.
 */
void mrc_conn_tx_undo(struct mrc_conn *c, const struct mrc_txop *op);

/**
 * mrc_conn_rx_begin - classify a parsed packet
 * @p: from mrc_wire_parse(), with ev, plane, ecn_ce, trimmed, udp_len filled in;
 *	must stay valid until commit, reject or drop
 *
 * Processes control packets completely. After MRC_V_PLACE, exactly one of the three
 * calls below must follow before any other call on this connection.
 */
enum mrc_verdict mrc_conn_rx_begin(struct mrc_conn *c, const struct mrc_pkt *p,
				   u64 now_ns, struct mrc_rxop *op);
void mrc_conn_rx_commit(struct mrc_conn *c, const struct mrc_rxop *op, u64 now_ns);
void mrc_conn_rx_reject(struct mrc_conn *c, const struct mrc_rxop *op,
			const struct mrc_reject *why, u64 now_ns);
void mrc_conn_rx_drop(struct mrc_conn *c, const struct mrc_rxop *op);

/* Work for the caller, returned by mrc_conn_next() one item at a time. */
enum mrc_do {
	MRC_DO_PLACE,		/* strict: the packet held in slot `hold` */
	MRC_DO_TAIL,		/* write the deferred `tail` */
	MRC_DO_FREE,		/* the response of exec `slot` is delivered: drop its references */
	MRC_DO_EXEC,		/* execute the request `exec` */
	MRC_DO_COMPLETE,	/* report the completion `cpl` to the program */
};

struct mrc_todo {
	enum mrc_do what;
	union {
		u32 hold;
		struct mrc_tail tail;
		u16 slot;
		struct mrc_exec exec;
		struct mrc_cpl cpl;
	};
};

/* The next mrc_conn_next() may fail the connection. */
bool mrc_conn_next_fails(const struct mrc_conn *c);
/**
 * mrc_conn_next - next work item for packets that arrived, were acknowledged or failed
 *
 * The engine decides the order, so the caller may call this at any time and repeatedly.
 * MRC_DO_PLACE: place the packet as its struct mrc_rxop said, then call mrc_conn_hold_done();
 * until then the same item is returned. MRC_DO_EXEC: execute, then call exactly one of
 * mrc_conn_exec_done() and mrc_conn_exec_fail(); until then no other request and no completion
 * is returned. After a failure or reset the caller drops the packets that it holds.
 *
 * If mrc_conn_next_fails() is true, this call may fail the connection, which detaches it from
 * its controller. Serialise it like every call that touches tx_cfg.cc.
 */
bool mrc_conn_next(struct mrc_conn *c, struct mrc_todo *ev);

/* @nak: MRC_NAK_NONE if the held packet was placed; then the left edge advances. */
void mrc_conn_hold_done(struct mrc_conn *c, enum mrc_nak nak, u64 now_ns);
/*
 * The held packet cannot be placed. @why: as for mrc_conn_rx_reject(), or NULL if the packet is gone.
 * It was acknowledged, so the peer will not retransmit it: even a temporary reason is fatal.
 */
void mrc_conn_hold_reject(struct mrc_conn *c, const struct mrc_reject *why, u64 now_ns);
void mrc_conn_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns);
void mrc_conn_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why, u64 now_ns);
/*
 * The rest of a response can no longer be read. Call it after mrc_conn_exec_done(), and after
 * mrc_conn_tx_undo() of the packet that could not be built. The peer gets a NAK for its request once
 * earlier requests are answered. Repeated calls for one slot are harmless.
 */
void mrc_conn_exec_revoke(struct mrc_conn *c, u16 slot, enum mrc_nak why, u64 now_ns);

/*
 * Dynamic MPR (section 2.4): the window offered from now on, in units of 128 PSNs, at most the one
 * of RTR. PSNs allowed earlier are still accepted. The engine shrinks the window further while
 * slots for messages and tails run short. No effect without mrc_rx_cfg.dyn_mpr.
 */
void mrc_conn_set_mpr(struct mrc_conn *c, u8 mpr);

/*
 * Receiver-side incast control (mrc_incast.h): arrivals since the last call, for
 * mrc_incast_update(). mrc_conn_set_penalty() puts its result into the next SACKs.
 */
struct mrc_incast_note {
	u32 bytes;		/* nominal, accepted */
	u16 trims;		/* trimmed at the last hop */
	u16 marks;		/* ECN CE */
};
bool mrc_conn_incast_note(struct mrc_conn *c, struct mrc_incast_note *note);
void mrc_conn_set_penalty(struct mrc_conn *c, u8 rcv_cwnd_pen, bool restore);

/* When mrc_conn_timer() must run; MRC_TIME_NEVER: not by itself. */
u64 mrc_conn_deadline_ns(const struct mrc_conn *c);

/*
 * Must a timer armed for @armed_ns (MRC_TIME_NEVER: not armed) be re-armed for the deadline @at_ns? At
 * once if the deadline is earlier. A later deadline, which each packet brings, re-arms it only when
 * the remaining time is less than half of the wanted time: rearming for each packet is expensive.
 */
bool mrc_deadline_moves(u64 armed_ns, u64 at_ns, u64 now_ns);
void mrc_conn_timer(struct mrc_conn *c, u64 now_ns);

/*
 * Planes of the path set changed (after mrc_evset_*_planes()). Packets in flight on a plane that is
 * not live are retransmitted on others, after the time that they need to arrive.
 */
void mrc_conn_plane_event(struct mrc_conn *c, u64 now_ns);

/* The caller moves the QP to error: posted requests complete as flushed. */
void mrc_conn_fail(struct mrc_conn *c, enum mrc_status status, u64 now_ns);

/* Why the connection failed; MRC_ST_OK while it has not. */
enum mrc_status mrc_conn_failed(const struct mrc_conn *c);

/* A packet of the peer's QP has arrived since RTR, so the two QPs belong together. */
bool mrc_conn_confirmed(const struct mrc_conn *c);

/* A NAK of ours was sent: the caller moves the QP to error (mrc_conn_fail). */
bool mrc_conn_nak_sent(const struct mrc_conn *c);

/* Nothing to send and nothing to wait for. */
bool mrc_conn_idle(const struct mrc_conn *c);

/* Checks the connection's invariants. 0, or the line number of the check that failed. */
int mrc_conn_check(const struct mrc_conn *c);

/* State for mrcctl. */
struct mrc_conn_info {
	u32 psn_next, psn_una, rx_cack;
	u32 inflight_bytes, cwnd_bytes;
	u32 srtt_ns, rttvar_ns, min_rtt_ns;
	u32 retries;
	u64 timeout_ns;		/* as configured */
	u32 lost_queued;
	u32 sq_posted, rq_delivered;
	struct mrc_stats stats;
};
void mrc_conn_info(const struct mrc_conn *c, struct mrc_conn_info *i);

#include "conn/mrc_conn_priv.h"
#include "conn/mrc_conn_calls.h"

/* Would mrc_conn_post() take one more request? */
static inline bool mrc_conn_can_post(const struct mrc_conn *c)
{
	return c->tx_ready && !c->fail && c->msgs.sq_tail - c->msgs.sq_head < c->cfg.sq_max;
}

/*
 * Do begin and commit of @p touch state that connections to one peer share (path set, controllers)?
 * If not, the caller need not take the peer's lock. Requests of the peer do not. Responses do, since
 * they also acknowledge; so does a READ or ATOMIC request while all slots are in use
 * (mrc_exec_admit()). Reject and drop never do.
 */
static inline bool mrc_conn_rx_shares(const struct mrc_conn *c, const struct mrc_pkt *p)
{
	if (!mrc_opc_is_data(p->opcode) || mrc_opc_has(p->opcode, MRC_OPF_READ_RESP | MRC_OPF_ATOMACK))
		return true;
	return !mrc_opc_has(p->opcode, MRC_OPF_SEND | MRC_OPF_WRITE) && mrc_exec_full(c);
}

/*
 * Earlier requests wait to be sent, and a request that is posted now leaves after them. Packets are
 * in flight, so an acknowledgement or a timer is certain to continue.
 */
static inline bool mrc_conn_tx_waits(const struct mrc_conn *c)
{
	return c->snd.out && c->msgs.sq_seg != c->msgs.sq_tail && !c->fail;
}

/* Why the retransmitted packet @op, of the latest mrc_conn_tx_next() or batch, was declared lost. */
static inline u8 mrc_conn_rtx_cause(const struct mrc_conn *c, const struct mrc_txop *op)
{
	return c->snd.rec[op->hdr.psn & c->snd.mask].cause;
}

/* Data packets in flight. May be called without the lock where a stale value does no harm. */
static inline u32 mrc_conn_in_flight(const struct mrc_conn *c)
{
	return READ_ONCE(c->snd.out);
}

/*
 * No room for another pending NACK or SACK. A caller that processes a batch must then call
 * mrc_conn_tx_next() before it continues. A lost packet without its NACK looks like a dead path, and an
 * ECN mark that is not reported does not slow the sender down.
 */
static inline bool mrc_conn_answers_full(const struct mrc_conn *c)
{
	return c->ctl.nack_n == MRC_OWED_NACKS || c->ctl.sack_n == MRC_OWED_SACKS;
}

/* Strict placement: the number of slots for held packets, and the slot of @op's packet. */
static inline u32 mrc_conn_hold_slots(const struct mrc_conn *c)
{
	return c->cfg.mpr_max * MRC_MPR_UNIT;
}

static inline u32 mrc_conn_hold_slot(const struct mrc_conn *c, const struct mrc_rxop *op)
{
	return op->psn & (mrc_conn_hold_slots(c) - 1);
}

/* Name of its congestion controller; NULL before RTS. */
static inline const char *mrc_conn_cc_name(const struct mrc_conn *c)
{
	return c->cc ? mrc_cc_name(c->cc->ops) : NULL;
}

/*
 * Between mrc_conn_rx_begin() and commit: distance in PSNs to the first missing packet, 0 if this is
 * that packet. Paths of different length reorder packets, so a distance is no error.
 */
static inline u32 mrc_conn_rx_ahead(const struct mrc_conn *c, const struct mrc_rxop *op)
{
	return (u32)mrc_psn_diff(op->psn, c->rcv.cack) - 1;
}

/* The caller dropped a packet because the QP is not connected. */
static inline void mrc_conn_count_not_ready(struct mrc_conn *c)
{
	c->stats.rx_not_ready++;
}

/* The caller has added the counters to its own totals: start again at zero. */
static inline void mrc_conn_clear_stats(struct mrc_conn *c)
{
	memset(&c->stats, 0, sizeof(c->stats));
}

#endif
