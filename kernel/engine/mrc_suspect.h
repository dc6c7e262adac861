/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_suspect.h - what every packet that is delivered or received tells the path set.
 *
 * Inline, as each packet says it: a few stores. What it means while something is wrong
 * with the set is behind one unlikely word (mrc_suspect.c).
 */
#ifndef MRC_SUSPECT_H
#define MRC_SUSPECT_H

#include "mrc_ev.h"

/* What deliveries mean while something is wrong with the set. */
void mrc_suspect_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns);

/* A packet sent at @tick by EV @idx (< n) of plane @p arrived. Clears the plane, proves the EV. */
static inline void mrc_evset_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	pl->arrived++;
	if (likely((s32)(tick - pl->ok_tick) > 0) || !pl->ok) {
		pl->ok_tick = tick;
		pl->ok = true;
	}
	if (unlikely(s->wrong | s->denied)) {
		mrc_suspect_delivered(s, p, idx, tick, now_ns);
		return;
	}
	s->proven[p] = idx;
	s->proven_at[p] = mrc_ev_proven_tick(now_ns);
}

/* Data of the peer came in by plane @p: the way back is likely alive, too. Pays for probes. */
static inline void mrc_evset_heard(struct mrc_evset *s, u8 p, u64 now_ns)
{
	u32 tick = mrc_ev_tick(now_ns);

	s->plane[p].heard_tick = tick;
	s->plane[p].heard_pkts = ++s->heard_pkts;
	s->heard_tick = tick;
	mrc_evset_earn(s, 1);
}

#endif
