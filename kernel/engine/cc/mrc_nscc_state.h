/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_nscc_state.h - the state of "uet-1.0-nscc".
 *
 * Private to three files: mrc_nscc.c decides the window, mrc_nscc_base.c measures the base round
 * trip, mrc_nscc_cfg.c derives the parameters.
 */
#ifndef MRC_NSCC_STATE_H
#define MRC_NSCC_STATE_H

#include "cc/mrc_cc.h"

/* Parameters that are configured; the others follow from rate, base RTT and MTU. */
enum mrc_nscc_given {
	MRC_NSCC_TARGET = 1 << 0,
	MRC_NSCC_QA_THRESHOLD = 1 << 1,
	MRC_NSCC_MAX_CWND = 1 << 2,
	MRC_NSCC_ADJUST_BYTES = 1 << 3,
	MRC_NSCC_ADJUST_PERIOD = 1 << 4,
	MRC_NSCC_ETA = 1 << 5,
	MRC_NSCC_FI = 1 << 6,
	MRC_NSCC_FI_SCALE = 1 << 7,
	MRC_NSCC_BASE_RTT = 1 << 8,
};

/* The current round: by how much its round trips exceed the recent minimum. */
struct mrc_nscc_round {
	u64 until_ns;		/* the round ends then, if it has enough samples */
	u64 sum_ns;
	u32 least_ns;
	u32 samples;
	u32 inflight;		/* maximum of bytes in flight */
	bool signs;		/* there were signs of congestion */
};

struct mrc_nscc_state {
	struct mrc_cc cc;
	struct mrc_nscc_cfg p;		/* effective values: none is zero */
	u32 alpha_q16;			/* bytes per ns below target, 16.16 */
	u32 rate_mbps;
	u16 given;			/* enum mrc_nscc_given */
	bool trimming;
	bool measured;			/* p.base_rtt_ns is measured */
	bool by_planes;			/* p.base_rtt_ns is the mean of planes */
	bool fast;			/* fast increase is on */
	bool queue;			/* standing queue: even the fastest packet of the latest round waited */
	u32 least_ns;			/* recent shortest round trip; the base is that plus the jitter */
	u32 jitter_ns, hidden_ns;	/* delay that is no queue: visible in round trips, and hidden */
	struct mrc_nscc_round round;

	u64 avg_q8;			/* average delay, ns, 28.8 */
	u32 adjust_acked;
	u32 spare;			/* bytes of losses that a reduction already covers */
	u64 inc_q8;			/* bytes x bytes, 24.8: window += inc / window */
	u64 adjust_at_ns, eta_at_ns, md_at_ns, way_at_ns, qa_at_ns, floor_at_ns;
	u32 floor;			/* trims before the last hop reduce no further in this round trip */
	u64 burst_at_ns;		/* the latest trim of a burst of trims before the last hop */
	u64 no_burst_ns;		/* no new burst begins before */
	u32 burst_wnd, burst_lost;	/* bytes in flight before the burst, 0: none; bytes trimmed in it */
	u32 achieved, qa_lost, qa_trimmed;	/* in this quick-adapt period: delivered, lost, trimmed */
	u32 to_ignore;			/* bytes of an old flight whose marks and trims do not count */
	u32 fast_acked;			/* bytes acknowledged without delay, in a row */
	u32 saved_wnd;			/* window before the first trim or penalty; 0: none */
	u32 pace_ns;			/* at the floor: time per packet; 0: no pacing */
	u32 taken;			/* taken from the window for losses; restored if they were spurious */
	u32 undo_wnd, undo_lost;	/* window before the latest deep cut, and losses that caused it */
};

static inline u32 mrc_nscc_sat(u64 v)
{
	return v > ~0u ? ~0u : (u32)v;
}

static inline u32 mrc_nscc_add(u32 a, u32 b)
{
	return mrc_nscc_sat((u64)a + b);
}

static inline void mrc_nscc_set_wnd(struct mrc_nscc_state *n, u64 wnd)
{
	n->cc.cwnd_bytes = (u32)clamp_t(u64, wnd, n->cc.mtu, n->p.max_cwnd);
}

static inline void mrc_nscc_shrink(struct mrc_nscc_state *n, u32 bytes)
{
	mrc_nscc_set_wnd(n, n->cc.cwnd_bytes > bytes ? n->cc.cwnd_bytes - bytes : 0);
}

/* Take parameters from @cfg; those that are zero follow from rate, base RTT and MTU. */
void mrc_nscc_take_cfg(struct mrc_nscc_state *n, const struct mrc_cc_cfg *cfg);

/* Clamp a round trip to plausible values that cannot overflow the arithmetic. */
u32 mrc_nscc_rtt(u64 ns);

/* Compute all parameters that follow from rate, base round trip and MTU. */
void mrc_nscc_derive(struct mrc_nscc_state *n);

/* mrc_nscc_base.c: update the base round trip; return the queueing delay of @s; note congestion. */
void mrc_nscc_base_rtt(struct mrc_nscc_state *n, const struct mrc_cc_sample *s);
u32 mrc_nscc_base_delay(struct mrc_nscc_state *n, const struct mrc_cc_sample *s);
void mrc_nscc_base_sign(struct mrc_nscc_state *n);

#endif
