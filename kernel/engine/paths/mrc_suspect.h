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

/* mrc_evset_delivered() continued, while the set is not in order. */
void mrc_suspect_delivered(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns);

#define MRC_OK_STALE	(1u << 30)	/* ticks, 69 s: longer than any packet is in flight (mrc_pto.c) */

/*
 * Is ok_tick too old to compare? Ticks wrap: after 137 s (half of their range) without a delivery, a new delivery
 * would look older than ok_tick and would be ignored.
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
 * Data packets received by a connection since its last report to the path set. Many connections share the set, so
 * each reports a batch once per turn, not every packet.
 */
struct mrc_arrivals {
	u32 planes;		/* mask of planes by which packets arrived */
	u16 pkts;
	bool doubt;		/* mrc_evset_doubt() is due */
};

/* A packet arrived by plane @p. */
static inline void mrc_arrivals_add(struct mrc_arrivals *h, u8 p)
{
	h->pkts++;
	h->planes |= 1u << p;
}

/*
 * Report arrivals, and empty @h. Planes that bring data are probably alive in the other direction, too. The packets
 * earn credit for probes.
 */
void mrc_evset_arrived(struct mrc_evset *s, struct mrc_arrivals *h, u64 now_ns);

#endif
