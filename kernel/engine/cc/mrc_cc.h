/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_cc.h - congestion control: the interface of all algorithms, and the engine's only table of
 * functions.
 *
 * MRC 1.0 section 5 (8.1-8.7). A controller (QPCC) belongs to one destination. All connections to
 * that destination share it. It receives samples and answers with one window, in bytes.
 *
 * To add an algorithm, write one more file with:
 *	- a state that begins with struct mrc_cc, has a constant size and holds no pointers;
 *	- init(), which sets cwnd_bytes >= mtu. struct mrc_cc is filled in, the rest is zero;
 *	- one function per event, none missing. Each looks at the sample and at the state only. Each
 *	  leaves cwnd_bytes within [mtu, MRC_CC_WND_MAX] for any sample, because the peer chooses
 *	  RTT, marks, counts and penalties. No division per acknowledgement, no clock other than
 *	  now_ns, no floating point;
 *	- one const struct mrc_cc_ops with its name, declared here and listed in mrc_cc.c. The file is
 *	  listed in files.mk. No other place knows the algorithms.
 * test_cc.cc contains a small algorithm, which it passes to mrc_cc_init() directly.
 *
 * How connections share a window: a connection may send while the sum in flight is below the
 * window, or while its own bytes in flight are below its equal share. A connection with nothing in
 * flight may always send one packet. So a connection that may not send has packets in flight, and
 * their answer or timeout runs it again: nobody starves, and no connection has to wake another. A
 * connection above its share waits until the sum fits, so shares become equal. The sum may exceed
 * the window by one packet per connection and, until the older connections have given way, by cwnd
 * (1/2 + 1/3 + ... + 1/n).
 *
 * The caller serialises all calls on a controller and on the connections that share it. The caller
 * owns its memory (ops->size bytes) and frees it after the last of them.
 */
#ifndef MRC_CC_H
#define MRC_CC_H

#include "base/mrc_types.h"

/* Largest window; with 1/2 + 1/3 + ... the sum over 100,000 connections fits 32 bits. */
#define MRC_CC_WND_MAX	(1u << 28)
#define MRC_CC_MTU_MAX	(1u << 17)

struct mrc_cc_sample {
	u64 now_ns;
	u32 acked_bytes;	/* newly known as delivered, nominal sizes */
	u32 lost_bytes;		/* newly known as lost or trimmed */
	u32 inflight_bytes;	/* of the controller, before this event */
	u64 rtt_ns;		/* without service time; 0: no unambiguous sample */
	u32 base_ns;		/* recent shortest round trip of the packet's plane; 0: unknown */
	u32 mean_base_ns;	/* mean of all planes in use, weighted by share; 0: no update */
	bool ecn;		/* the answered packet was marked */
	bool trimmed;		/* on_nack: by congestion, not for lack of resources */
	bool trimmed_again;	/* on_nack: the previous copy was trimmed, too */
	bool last_hop;		/* on_nack: trimmed at the last hop, where no other path helps */
	u8 rcv_cwnd_pen;	/* the receiver's penalty, section 5.3 */
	bool restore_cwnd;
};

/* Parameters of "uet-1.0-nscc" (struct mrc_ctl_cc_nscc_cfg). 0: derived from rate, RTT and MTU. */
struct mrc_nscc_cfg {
	bool disable_qa;
	u8 qa_gate;		/* quick adapt when achieved < max_cwnd >> qa_gate */
	u32 qa_threshold_ns;
	u32 target_delay_ns;
	u32 base_rtt_ns;	/* 0: measured */
	u32 max_cwnd;		/* bytes */
	u32 adjust_bytes, adjust_period_ns;
	u32 eta_q8;		/* bytes per period, 24.8 */
	u32 fi_q8;		/* bytes, 24.8 */
	u32 fi_scale_q16;	/* ratios, 16.16 */
	u32 gamma_q16;
	u32 max_md_jump_q16;
};

struct mrc_cc_cfg {
	u32 mtu;		/* nominal packet size: floor of the window; 0: 4 KiB + headers */
	u32 window_bytes;	/* fixed: the window. NSCC: the first one, 0: largest */
	u32 rate_mbps;		/* of the planes that are up; 0: unknown, then 100 Gb/s */
	bool trimming;		/* the fabric trims: shorter target delay */
	struct mrc_nscc_cfg nscc;
};

struct mrc_cc;

struct mrc_cc_ops {
	const char *name;	/* as in mrc_ctl_cc_profile_attr.algorithm */
	size_t size;		/* bytes of the state, struct mrc_cc included */
	void (*init)(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns);
	/* The rate or the parameters changed while the controller is in use. */
	void (*set_cfg)(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns);
	void (*on_ack)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
	void (*on_nack)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
	void (*on_loss)(struct mrc_cc *cc, const struct mrc_cc_sample *s);	/* inferred, no timeout */
	void (*on_timeout)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
	/* lost_bytes that were reported to on_loss or on_timeout had arrived after all. */
	void (*on_spurious)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
};

struct mrc_cc {
	const struct mrc_cc_ops *ops;
	u32 cwnd_bytes;
	u32 inflight_bytes;	/* sum over the connections */
	u32 n_active;		/* connections with something in flight */
	u32 mtu;
	/*
	 * Pacing, if the window would be below one packet: after an ACK, NACK or loss, a
	 * connection sends no data before this time. 0 or past: at once.
	 */
	u64 hold_until_ns;
};

/* The state of "fixed". Public, because a connection without a profile embeds its own controller. */
#define MRC_FIXED_NO_SAMPLE	(~0u)
struct mrc_fixed_state {
	struct mrc_cc cc;
	u32 window;		/* configured window, the upper limit; bytes */
	u32 start_to;		/* slow start: the window doubles each round trip up to here */
	u32 spared;		/* bytes of feedback before the next reduction */
	u32 flight, gone;	/* bytes in flight at the latest reduction, and those lost of them */
	u32 round, lost;	/* bytes of feedback left in this round trip, and bytes lost in it */
	u32 low_ns;		/* shortest delay in it, or MRC_FIXED_NO_SAMPLE */
	u32 rtt_ns, base_ns;	/* smoothed round trip; base without queues */
	u32 pace_ns;		/* at the floor: time per packet; 0: no pacing */
	u32 undo_wnd, undo_lost;	/* window before the latest reduction, and losses that caused it */
	bool trimming;		/* the fabric trims */
	bool queue;		/* the previous round trip had a queue */
	bool calm;		/* the previous round trip had neither queue nor loss */
	bool seen;		/* there was a queue at the latest reduction */
};

/* All controllers, by the name of a CC profile; NULL if unknown. NULL @name: fixed. */
const struct mrc_cc_ops *mrc_cc_find(const char *name);

/* @cc: ops->size bytes. */
void mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_ops *ops,
		 const struct mrc_cc_cfg *cfg, u64 now_ns);

/* The rate or the parameters changed while the controller is in use. */
static inline void mrc_cc_set_cfg(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	if (cc->ops->set_cfg)
		cc->ops->set_cfg(cc, cfg, now_ns);
}

/* An algorithm's name in CC profiles, and the bytes that mrc_cc_init() needs. */
static inline const char *mrc_cc_name(const struct mrc_cc_ops *ops)
{
	return ops->name;
}

static inline size_t mrc_cc_mem_size(const struct mrc_cc_ops *ops)
{
	return ops->size;
}

/* For mrcctl. */
static inline u32 mrc_cc_cwnd_bytes(const struct mrc_cc *cc)
{
	return cc->cwnd_bytes;
}

static inline u32 mrc_cc_inflight_bytes(const struct mrc_cc *cc)
{
	return cc->inflight_bytes;
}

/* May a connection with @own bytes in flight send @bytes more? */
static inline bool mrc_cc_room(const struct mrc_cc *cc, u32 own, u32 bytes)
{
	if (likely(cc->inflight_bytes + bytes <= cc->cwnd_bytes) || !own)
		return true;
	return cc->n_active > 1 && (u64)(own + bytes) * cc->n_active <= cc->cwnd_bytes;
}

/* Would that exceed the connection's equal share of a shared window? */
static inline bool mrc_cc_beyond_part(const struct mrc_cc *cc, u32 own, u32 bytes)
{
	return unlikely(cc->n_active > 1) && (u64)(own + bytes) * cc->n_active > cc->cwnd_bytes;
}

/* A connection's bytes in flight change from @own to @own + @delta. */
static inline void mrc_cc_account(struct mrc_cc *cc, u32 own, s32 delta)
{
	cc->inflight_bytes += (u32)delta;
	if (!own && delta)
		cc->n_active++;
	else if (own && own + (u32)delta == 0)
		cc->n_active--;
}

extern const struct mrc_cc_ops mrc_cc_fixed;
extern const struct mrc_cc_ops mrc_nscc;

#endif
