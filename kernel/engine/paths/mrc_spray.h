/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_spray.h - EV selection (packet spraying): which EV the next packet takes. One object per QP.
 *
 * MRC 1.0 sections 2.7, 3.2 (11.2.2). A QP sprays over an active set, which is drawn at random from
 * the path set, the same number from each plane. It visits the active EVs in shuffled order, one
 * pass after another. Planes take turns by their shares (mrc_share.c). The other EVs are the
 * reserve. When the selection meets an EV that is ASSUMED_BAD or DENIED, a usable EV of the same
 * plane replaces it. Without a replacement, the bad EV is put aside until some EV of the set
 * becomes usable. So each bad EV is met once, and a selection takes the same time however many are
 * bad.
 *
 * If bursts are configured, several packets in a row take one EV while it is GOOD and uncongested.
 *
 * Called when a packet leaves; the caller serialises the calls together with those on the path set.
 */
#ifndef MRC_SPRAY_H
#define MRC_SPRAY_H

#include "paths/mrc_ev.h"

/* Position in the pass over one plane's active EVs. Those from `live` on are put aside. */
struct mrc_spray_pos {
	u16 pos, live;
	u16 debt;		/* fraction of a turn carried over, of MRC_SHARE_FULL */
};

struct mrc_spray {
	struct mrc_prng rand;
	u16 *order;		/* active indices, grouped by plane, shuffled in place */
	u32 gen;		/* mrc_evset.gen at the last look; 0: the active set is not drawn yet */
	u32 ready;		/* if `even`: mask of planes with active EVs that are not aside */
	u16 n_max;
	u16 quota;		/* active EVs per plane, if the plane has so many */
	u8 plane;		/* plane of the next turn */
	u8 ack_plane;		/* plane of the latest acknowledgement */
	bool ack_any;		/* toggles: the latest acknowledgement took the proven EV */
	bool even;		/* every plane has `quota` EVs, and quota is not 0 */
	struct mrc_spray_pos *at;	/* per plane; stored behind order */
	u16 last;		/* EV of the current burst */
	u8 again;		/* packets of the burst still to come */
	u8 burst;		/* packets of a burst after the first */
};

/* u16 entries that mrc_spray_init() needs for @n_max active EVs. */
#define MRC_SPRAY_LEN(n_max) \
	((size_t)(n_max) + MRC_PLANES_MAX * (sizeof(struct mrc_spray_pos) / sizeof(u16)))

/* @order: MRC_SPRAY_LEN(@n_max) entries, owned by the caller. */
void mrc_spray_init(struct mrc_spray *r, u16 *order, u16 n_max, u64 seed);

#define MRC_BURST_MAX	16
#define MRC_BURST_BYTES	4096	/* one packet of the largest MTU */

/* Packets in a row for one EV. @wanted: the configured number; 0: as many as fit MRC_BURST_BYTES. */
static inline u8 mrc_burst_of(u8 wanted, u32 mtu)
{
	return (u8)(wanted ? wanted : clamp_t(u32, MRC_BURST_BYTES / mtu, 1, MRC_BURST_MAX));
}

/* May a packet of @len bytes of payload be part of a burst? @wanted: as above. */
static inline bool mrc_burst_joins(u8 wanted, u32 len)
{
	return wanted ? wanted > 1 : len <= MRC_BURST_BYTES / 2;
}

/* From now on @n packets of new data in a row take one EV; 0 or 1: no bursts. */
static inline void mrc_spray_set_burst(struct mrc_spray *r, u8 n)
{
	r->burst = (u8)(n ? n - 1 : 0);
	r->again = 0;
}

/*
 * The path set is replaced: forget all about the old one, also the burst, whose EV the new set may not have.
 * The next pick draws a new active set.
 */
static inline void mrc_spray_forget(struct mrc_spray *r)
{
	r->gen = 0;
	r->again = 0;
}

/**
 * mrc_spray_pick - the EV for the next packet
 * @avoid: an index not to use if there is another choice, or MRC_NONE16
 *
 * Planes take turns by their shares; within a plane each EV once per pass, reshuffled
 * between passes; a SKIP EV met on the way becomes GOOD, at most one per packet.
 * Return: index, or MRC_NONE16 when no EV is usable.
 */
u16 mrc_spray_pick(struct mrc_spray *r, struct mrc_evset *s, u16 avoid);

/* The same, but on none of @planes (mask) if another plane has a usable EV. */
u16 mrc_spray_pick_off(struct mrc_spray *r, struct mrc_evset *s, u16 avoid, u32 planes);

/* The active EVs of plane p are order[start(p) ... start(p + 1)), once they are drawn. */
u16 mrc_spray_start(const struct mrc_spray *r, const struct mrc_evset *s, u8 p);

/* Any usable EV of plane @p, active or not, other than @avoid; @avoid if there is none. */
u16 mrc_spray_any(struct mrc_spray *r, const struct mrc_evset *s, u8 p, u16 avoid);

/*
 * The EV for an acknowledgement. Successive ones leave by different planes, at random strides: in strict
 * rotation, the last ACK of every n-th message would always meet the same plane. Left out are planes
 * that did not answer their verification, and planes by which nothing arrived while others did, unless
 * they delivered recently. Every other time the choice is the EV proven last on the plane, else any
 * usable one: if the proven one dies, half of the acknowledgements still arrive. @sure: packets that
 * are not repeated (NACK, NAK) always take the proven one. No EV changes its state.
 */
u16 mrc_spray_pick_ack(struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool sure);

/* An EV of plane @p: the one proven last, else any usable one. MRC_NONE16: acknowledgements may not use it. */
u16 mrc_spray_pick_by(struct mrc_spray *r, struct mrc_evset *s, u8 p, u64 now_ns);

/* ---- the fast path ---- */

/* mrc_spray_pick() continued, after EV @idx of the plane in turn was met: it is not GOOD, or has a level. */
u16 mrc_spray_pick_met(struct mrc_spray *r, struct mrc_evset *s, u16 idx);

/* The next EV of a plane's pass: one step of the shuffle of its active EVs at @seg. */
static inline u16 mrc_spray_shuffle(struct mrc_spray *r, struct mrc_spray_pos *at, u16 *seg)
{
	u32 i = at->pos, len = at->live;
	u16 *to = seg + i, *from = to + mrc_prng_below(&r->rand, len - i);
	u16 idx = *from;

	*from = *to;
	*to = idx;
	at->pos = (u16)(i + 1 < len ? i + 1 : 0);
	return idx;
}

static inline u8 mrc_spray_next_plane(const struct mrc_evset *s, u8 p)
{
	return (u8)(p + 1 < s->n_planes ? p + 1 : 0);
}

/*
 * Does this ECN mark count against its EV? All packets of a burst may be marked by the same queue. One in a
 * burst's length counts, so that bursts do not make EVs skip more often than single packets.
 */
static inline bool mrc_spray_heeds(struct mrc_spray *r)
{
	return likely(!r->burst) || !mrc_prng_below(&r->rand, r->burst + 1u);
}

/* The EV of the current burst, or of a new one. */
u16 mrc_spray_burst(struct mrc_spray *r, struct mrc_evset *s);

/*
 * mrc_spray_pick() with nothing to avoid, for nearly every packet. Most often the first EV of the plane in
 * turn is usable.
 */
static inline u16 mrc_spray_one(struct mrc_spray *r, struct mrc_evset *s)
{
	u8 p = r->plane;
	u16 idx;

	if (unlikely(r->gen != s->gen || !((s->full & r->ready) >> p & 1)))
		return mrc_spray_pick(r, s, MRC_NONE16);
	idx = mrc_spray_shuffle(r, &r->at[p], r->order + (u32)p * r->quota);
	if (unlikely(s->ev[idx].state != MRC_EV_GOOD || s->ev[idx].level))
		return mrc_spray_pick_met(r, s, idx);
	r->plane = mrc_spray_next_plane(s, p);
	return idx;
}

static inline u16 mrc_spray_next(struct mrc_spray *r, struct mrc_evset *s)
{
	return likely(!r->burst) ? mrc_spray_one(r, s) : mrc_spray_burst(r, s);
}

#endif
