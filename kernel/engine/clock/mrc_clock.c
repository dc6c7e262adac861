// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_clock.c - learning round trips (mrc_clock.h).
 *
 * Smoothed round trip and variation are those of RFC 6298, but for the variation: a SACK every few
 * packets makes many samples a round trip, and a gain of a quarter would remember no further than
 * that. It rises fast and falls slowly.
 *
 * A peer that pauses answers a whole window late, and none of these samples tells of the next one. So a
 * sample far beyond what is known is cut, and of those that were on their way when one was cut no other counts. A
 * route that became longer for good is learnt all the same: each of its round trips more than doubles what is known.
 */
#include "clock/mrc_clock.h"


/* What counts of a sample beyond twice what is due. */
static mrc_noinline u32 mrc_clock_cut(struct mrc_clock *k, u32 rtt, u32 most, u64 now_ns)
{
	u32 tick = (u32)(now_ns >> MRC_TICK_SHIFT);

	if (tick - k->cut_tick < rtt >> MRC_TICK_SHIFT)	/* sent before the latest cut */
		return 0;
	k->cut_tick = tick;
	return most;
}

static mrc_noinline u32 mrc_clock_first(struct mrc_clock *k, u32 rtt)
{
	k->srtt_ns = rtt;
	k->var_ns = rtt / 2;
	return rtt;
}

u32 mrc_clock_sample(struct mrc_clock *k, u64 rtt_ns, u64 now_ns)
{
	u32 rtt = (u32)clamp_t(u64, rtt_ns, 1, MRC_RTT_MAX_NS), err;
	u64 most = 2 * mrc_clock_due_ns(k);

	if (unlikely(!k->srtt_ns))
		return mrc_clock_first(k, rtt);
	if (unlikely(rtt > most)) {
		rtt = mrc_clock_cut(k, rtt, (u32)most, now_ns);
		if (!rtt)
			return 0;
	}
	err = rtt > k->srtt_ns ? rtt - k->srtt_ns : k->srtt_ns - rtt;
	if (err > k->var_ns)
		k->var_ns += (err - k->var_ns) / 4;
	else
		k->var_ns -= (k->var_ns - err) / 16;
	k->srtt_ns = (u32)((7ull * k->srtt_ns + rtt) / 8);	/* both at least 1 */
	return rtt;
}
