// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_no_acks.c - finds planes on which the peer's acknowledgements stopped (mrc_no_acks.h).
 */
#include "paths/mrc_no_acks.h"

/*
 * Does plane @q deliver our packets? If not, its losses will soon make it suspect, and missing acknowledgements do not
 * matter.
 */
static bool mrc_no_acks_way_there(const struct mrc_evset *s, u8 q)
{
	const struct mrc_evplane *pl = &s->plane[q];

	return mrc_evset_plane_in_use(s, q) && pl->ok && pl->lost_ev == MRC_NONE16;
}

/* Forget reports of planes that have acknowledgements again, and all reports after some round trips. */
static void mrc_no_acks_forget(struct mrc_evset *s, u32 silent)
{
	s32 age = (s32)(s->rx_tick - s->no_acks_tick);
	u8 q;

	s->no_acks_reported &= silent;
	if (!s->no_acks_reported || age <= 0)
		return;
	q = (u8)mrc_ffs64(s->no_acks_reported);
	if ((u64)age << MRC_TICK_SHIFT > (u64)MRC_NO_ACKS_AGAIN_RTTS * s->plane[q].srtt_ns)
		s->no_acks_reported = 0;
}

/* Is the period shorter than half of a round trip? */
static bool mrc_no_acks_short(const struct mrc_evset *s, u32 tick)
{
	return (u64)(u32)(tick - s->acks_tick) << MRC_TICK_SHIFT < s->plane[s->ack_by].srtt_ns / 2;
}

u8 mrc_no_acks_look(struct mrc_evset *s, u64 now_ns)
{
	u32 tick = mrc_ev_tick(now_ns);
	u32 silent = s->in_use & ~s->ack_planes & ~s->longer;
	u8 q;

	s->ack_turns_left = (u8)(MRC_NO_ACKS_TURNS * s->n_planes);
	if (mrc_no_acks_short(s, tick))
		return MRC_PLANES_MAX;
	mrc_no_acks_forget(s, silent);
	s->ack_planes = 0;
	s->acks_tick = tick;
	for (silent &= ~s->no_acks_reported; silent; silent &= silent - 1) {
		q = (u8)mrc_ffs64(silent);
		if (mrc_no_acks_way_there(s, q))
			return q;
	}
	return MRC_PLANES_MAX;
}

u16 mrc_evset_no_acks_reported(struct mrc_evset *s, struct mrc_spray *r, u8 q, u64 now_ns)
{
	if (!mrc_no_acks_way_there(s, q) || !mrc_credit_has(s, MRC_PROBE_SPARE, now_ns))
		return MRC_NONE16;
	s->no_acks_reported |= 1u << q;
	s->no_acks_tick = mrc_ev_tick(now_ns);
	mrc_credit_spend(s);
	s->stats.misses++;
	return mrc_spray_any(r, s, q, MRC_NONE16);
}
