// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_flowlet.c - see mrc_flowlet.h.
 */
#include "paths/mrc_flowlet.h"

/* Another set may lie where the last one did: then its EV of that number will do. */
static bool flowlet_goes_on(const struct mrc_flowlet *f, const struct mrc_evset *s, u64 now_ns,
			    u64 gap_ns)
{
	return f->planes && f->set == s && now_ns - f->last_ns < gap_ns &&
	       f->idx < mrc_evset_n(s) && mrc_ev_usable(s, f->idx);
}

u16 mrc_flowlet_pick(struct mrc_flowlet *f, struct mrc_rot *r, struct mrc_evset *s, u64 now_ns,
		     u64 gap_ns)
{
	if (f->set)
		f->left = 0;	/* the last one was not left: it was sent */
	if (!flowlet_goes_on(f, s, now_ns, gap_ns)) {
		f->idx = mrc_rot_pick_off(r, s, MRC_NONE16, f->planes | f->left);
		if (f->idx == MRC_NONE16) {
			f->planes = 0;
			return MRC_NONE16;
		}
		f->set = s;
		f->planes = 1u << mrc_evset_plane(s, f->idx);
	}
	f->last_ns = now_ns;
	return f->idx;
}

void mrc_flowlet_leave(struct mrc_flowlet *f)
{
	/* Was it left before? Then all were, and it begins again. */
	f->left = f->left & f->planes ? f->planes : f->left | f->planes;
	f->set = NULL;
}
