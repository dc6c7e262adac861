/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_suspect.h - what deliveries and received packets report to the path set.
 *
 * Each delivery is reported inline, by a few stores; the consequences are behind one unlikely
 * branch (mrc_suspect.c). A connection collects what it receives and reports it once per turn.
 */
#ifndef MRC_SUSPECT_H
#define MRC_SUSPECT_H

#include "paths/mrc_ev.h"

/* What deliveries mean while something is wrong with the set. */
void mrc_suspect_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns);

#define MRC_OK_STALE	(1u << 30)	/* ticks, 69 s: longer than anything is out (mrc_pto.c) */

/*
 * Ticks wrap. Of a plane that delivered nothing for more than half of that, 137 s, what is delivered next would seem to
 * be older, and nothing would count until the wrap.
 */
static inline bool mrc_evplane_stale(const struct mrc_evplane *pl, u64 now_ns)
{
	return mrc_ev_tick(now_ns) - pl->ok_tick > MRC_OK_STALE;
}

/* A packet sent at @tick by EV @idx (< n) of plane @p arrived. Clears the plane, proves the EV. */
static inline void mrc_evset_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	pl->arrived++;
	if (likely((s32)(tick - pl->ok_tick) >= 0) || !pl->ok || mrc_evplane_stale(pl, now_ns)) {
		pl->ok_tick = tick;
		pl->ok = true;
	}
	if (unlikely(s->abnormal | s->denied)) {
		mrc_suspect_delivered(s, p, idx, tick, now_ns);
		return;
	}
	s->proven[p] = idx;
	s->proven_at[p] = mrc_ev_proven_tick(now_ns);
}

/*
 * Data of the peer that came in since the set was told last: it is many connections', and each tells it
 * of a batch of packets, in the turn that follows, not of every packet.
 */
struct mrc_arrivals {
	u32 planes;		/* that brought some, as a mask */
	u16 pkts;
	bool doubt;		/* mrc_evset_doubt() is due */
};

/* One came in by plane @p. */
static inline void mrc_arrivals_add(struct mrc_arrivals *h, u8 p)
{
	h->pkts++;
	h->planes |= 1u << p;
}

/* The way back of planes that bring data is likely alive, too. Pays for probes. Empties @h. */
void mrc_evset_arrived(struct mrc_evset *s, struct mrc_arrivals *h, u64 now_ns);

#endif
