/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_clock.h - smoothed round trips, and the timeouts that follow from them.
 *
 * Each plane has a clock (mrc_plane.h). Each connection has one for all planes together
 * (mrc_rtt.c). Every wait of the engine comes from one of three functions of a clock:
 *	late	later packets were answered and this one was not: time to probe
 *	lost	late, and the reordering window has passed too: time to retransmit
 *	due	the answer should be here, including the delay that either end may add
 */
#ifndef MRC_CLOCK_H
#define MRC_CLOCK_H

#include "base/mrc_types.h"

#define MRC_TICK_SHIFT	6	/* 64 ns: wraps after 274 s */

#define MRC_RTT_MAX_NS	1000000000u
#define MRC_CLOCK_FIRST_NS	200000u	/* due time before the first sample */
#define MRC_CLOCK_LEAST_NS	1000u	/* minimum variation, because of timers and batches */

struct mrc_clock {
	u32 srtt_ns, var_ns;	/* 0: no sample yet */
	u32 cut_tick;		/* when a sample was last cut */
};

/* Add a sample. Returns the value that was used: outliers are capped; 0: ignored. */
u32 mrc_clock_sample(struct mrc_clock *k, u64 rtt_ns, u64 now_ns);

/* All three functions return 0 before the first sample. */
static inline u64 mrc_clock_late_ns(const struct mrc_clock *k)
{
	u64 slack = max_t(u64, 4ull * k->var_ns, max_t(u32, k->srtt_ns / 4, MRC_CLOCK_LEAST_NS));

	return k->srtt_ns ? k->srtt_ns + slack : 0;
}

/* @reo_ns: the reordering window. */
static inline u64 mrc_clock_lost_ns(const struct mrc_clock *k, u64 reo_ns)
{
	return k->srtt_ns ? k->srtt_ns + max_t(u64, reo_ns, MRC_CLOCK_LEAST_NS) : 0;
}

static inline u64 mrc_clock_due_ns(const struct mrc_clock *k)
{
	return 2ull * k->srtt_ns + 4ull * k->var_ns;
}

#endif
