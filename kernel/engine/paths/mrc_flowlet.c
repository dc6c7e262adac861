// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_flowlet.c - see mrc_flowlet.h.
 */
#include "paths/mrc_flowlet.h"

/* A new set may have the address of an old one. That does no harm: its EV of the same index is used. */
static bool flowlet_goes_on(const struct mrc_flowlet *f, const struct mrc_evset *s, u64 now_ns,
			    u64 gap_ns)
{
	return f->planes && f->set == s && now_ns - f->last_ns < gap_ns &&
	       f->idx < mrc_evset_n(s) && mrc_ev_usable(s, f->idx);
}

/* An EV on none of @planes, and if possible on none of the previous flowlet. */
static u16 flowlet_off(const struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u16 avoid,
		       u32 planes)
{
	u32 all = planes | f->before;

	return mrc_spray_pick_off(r, s, avoid, s->in_use & ~all ? all : planes);
}

u16 mrc_flowlet_pick(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns,
		     u64 gap_ns)
{
	if (f->set)
		f->left = 0;	/* the previous datagram was sent: mrc_flowlet_leave() was not called */
	if (!flowlet_goes_on(f, s, now_ns, gap_ns)) {
		f->before = f->planes | f->left | f->copied;
		f->idx = flowlet_off(f, r, s, MRC_NONE16, f->planes | f->left);
		if (f->idx == MRC_NONE16) {
			f->planes = 0;
			return MRC_NONE16;
		}
		f->set = s;
		f->planes = 1u << mrc_evset_plane(s, f->idx);
		f->copied = 0;
		f->copy = MRC_NONE16;
		f->n = 0;
	}
	f->n = (u8)(f->n + (f->n <= MRC_FLOWLET_COPIES));
	f->last_ns = now_ns;
	return f->idx;
}

/* Has plane @p recently delivered a packet of a connection? */
static bool flowlet_proven(const struct mrc_evset *s, u8 p, u64 now_ns)
{
	return s->proven[p] != MRC_NONE16 && mrc_evset_proof_fresh(mrc_evset_proven_at(s, p), now_ns);
}

static bool flowlet_wants_copy(const struct mrc_flowlet *f, const struct mrc_evset *s, u8 p, u64 now_ns)
{
	return f->n <= MRC_FLOWLET_COPIES && s->in_use & ~(1u << p) && !flowlet_proven(s, p, now_ns);
}

u16 mrc_flowlet_copy(struct mrc_flowlet *f, struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool must)
{
	u8 p = mrc_evset_plane(s, f->idx);

	if (!must && !flowlet_wants_copy(f, s, p, now_ns))
		return MRC_NONE16;
	if (f->copy != MRC_NONE16 && mrc_ev_usable(s, f->copy))
		return f->copy;
	f->copy = flowlet_off(f, r, s, f->idx, 1u << p);
	if (f->copy == f->idx)
		f->copy = MRC_NONE16;
	else
		f->copied |= 1u << mrc_evset_plane(s, f->copy);
	return f->copy;
}

void mrc_flowlet_leave(struct mrc_flowlet *f)
{
	/* If the plane was left before, all planes were: start again. */
	f->left = f->left & f->planes ? f->planes : f->left | f->planes;
	f->set = NULL;
}
