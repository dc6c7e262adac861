// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_clock.c - learns round trips (mrc_clock.h). Times in ns.
 *
 * Smoothed round trip and variation follow RFC 6298, with one difference. A SACK every few packets
 * gives many samples per round trip; a gain of 1/4 for the variation would forget all before that.
 * So the variation rises fast and falls slowly.
 *
 * A peer that pauses answers a whole window late, but these samples do not predict the next round
 * trip. A sample far beyond the estimate is capped, and other capped samples of the same flight do
 * not count. The estimate still follows a route that became longer for good: each round trip more
 * than doubles it.
 */
#include "clock/mrc_clock.h"


/* The value for a sample beyond twice the due time; 0: ignore it. */
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
