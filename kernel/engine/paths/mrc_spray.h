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

/* The place in the pass of one plane: of its active EVs, those behind `live` are aside. */
struct mrc_spray_pos {
	u16 pos, live;
	u16 debt;		/* turns owed to the plane, of MRC_SHARE_FULL */
};

struct mrc_spray {
	struct mrc_prng rand;
	u16 *order;		/* active indices, grouped by plane, shuffled in place */
	u32 gen;		/* of the set when last looked at; 0: not built yet */
	u32 ready;		/* planes with active EVs that are not aside, if `even` */
	u16 n_max;
	u16 quota;		/* active EVs of a plane that has as many */
	u8 plane;		/* the plane whose turn is next */
	u8 ack_plane;		/* likewise, of acknowledgements */
	bool ack_any;		/* the next one is not for a proven EV */
	bool even;		/* every plane has as many, and that is not none */
	struct mrc_spray_pos *at;	/* of each plane; behind order */
	u16 last;		/* the EV of the burst under way, */
	u8 again;		/* how many packets more take it, */
	u8 burst;		/* and how many do after the first */
};

/* What mrc_spray_init() needs room for, to spray over @n_max EVs. */
#define MRC_SPRAY_LEN(n_max) \
	((size_t)(n_max) + MRC_PLANES_MAX * (sizeof(struct mrc_spray_pos) / sizeof(u16)))

/* @order: MRC_SPRAY_LEN(@n_max) entries, owned by the caller. */
void mrc_spray_init(struct mrc_spray *r, u16 *order, u16 n_max, u64 seed);

#define MRC_BURST_MAX	16
#define MRC_BURST_BYTES	4096	/* to a queue, no more than one packet of the largest MTU is */

/* How many packets of @mtu bytes of payload one EV takes in a row. @wanted: so many; 0: MRC_BURST_BYTES of them. */
static inline u8 mrc_burst_of(u8 wanted, u32 mtu)
{
	return (u8)(wanted ? wanted : clamp_t(u32, MRC_BURST_BYTES / mtu, 1, MRC_BURST_MAX));
}

/* May a packet of @len bytes of payload be one of several that leave together? @wanted: as above. */
static inline bool mrc_burst_joins(u8 wanted, u32 len)
{
	return wanted ? wanted > 1 : len <= MRC_BURST_BYTES / 2;
}

/* From now on @n packets of new data take one EV, one after the other; 0 and 1: each another one. */
static inline void mrc_spray_set_burst(struct mrc_spray *r, u8 n)
{
	r->burst = (u8)(n ? n - 1 : 0);
	r->again = 0;
}

/*
 * The set is another one: what is known of the old one ends here, the burst too, whose EV the new one may not
 * have. Whatever is picked next draws the active set anew.
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

/* Likewise, on none of @planes (mask) if another has a usable EV. */
u16 mrc_spray_pick_off(struct mrc_spray *r, struct mrc_evset *s, u16 avoid, u32 planes);

/* Once built: the active EVs of plane p are order[start(p) ... start(p + 1)). */
u16 mrc_spray_start(const struct mrc_spray *r, const struct mrc_evset *s, u8 p);

/* Any usable EV of plane @p, active or not, other than @avoid; @avoid if there is none. */
u16 mrc_spray_any(struct mrc_spray *r, const struct mrc_evset *s, u8 p, u16 avoid);

/*
 * The EV for an acknowledgement. Successive ones leave by different planes, not always by the
 * same ones in turn: every fourth message's last one would meet the same plane. Planes that did
 * not answer their verification are left out, and those by which the peer was not heard while
 * it was by others, unless something was delivered by them lately. Every other time it is
 * the EV proven last on the plane, else as mrc_spray_pick(): if the proven one dies, the peer
 * still hears of every second. @sure: what is said once (NACK, NAK) takes the proven one.
 * No state of an EV changes: an acknowledgement learns nothing.
 */
u16 mrc_spray_pick_ack(struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool sure);

/* An EV of plane @p, if acknowledgements may leave by it: the one proven last, else any usable one; or MRC_NONE16. */
u16 mrc_spray_pick_by(struct mrc_spray *r, struct mrc_evset *s, u8 p, u64 now_ns);

/* ---- the usual pick, inline ---- */

/* One was met on the plane whose turn it is, and is not in the best of health. */
u16 mrc_spray_pick_met(struct mrc_spray *r, struct mrc_evset *s, u16 idx);

/* The next EV of a plane's pass, whose active ones are at @seg: one step of their shuffle. */
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
 * Does this mark count against its EV? Each packet of a burst may come back marked from the same queue, where
 * one by itself might have: one in as many counts, or EVs would be passed over so much more often.
 */
static inline bool mrc_spray_heeds(struct mrc_spray *r)
{
	return likely(!r->burst) || !mrc_prng_below(&r->rand, r->burst + 1u);
}

/* The EV of the burst under way, or of the next one. */
u16 mrc_spray_burst(struct mrc_spray *r, struct mrc_evset *s);

/*
 * mrc_spray_pick() with nothing to avoid: the way of nearly every packet. Most often the first
 * EV met on the plane whose turn it is will do.
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
