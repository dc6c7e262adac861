// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_updown.c - explicit changes of paths: a plane goes down or comes up, here or at the peer, and
 * a controller denies EVs or avoids them.
 *
 * MRC 1.0 sections 3.1, 3.6. These changes are known, not inferred. What was inferred about a plane
 * before it went down is dropped when it returns, and the floor of usable EVs is filled from the
 * remaining ones.
 */
#include "paths/mrc_ev.h"

/* Planes came back: their EVs were bad because of the port. */
static void mrc_evset_forgive(struct mrc_evset *s, u32 planes)
{
	u16 i;

	for (i = 0; i < s->n; i++)
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD && planes & (1u << s->ev[i].plane)) {
			mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD);
			mrc_ev_notify(s, &s->ev[i], MRC_EV_WHY_PLANE_BACK);
		}
}

/*
 * If a plane that went down or a controller left fewer usable EVs than the floor, make bad ones GOOD, one of each
 * plane in turn: a bad path is better than none.
 */
static void mrc_evset_fill(struct mrc_evset *s)
{
	u16 k, i;
	u8 p;

	for (k = 0; k < s->n && s->bad && s->usable < s->floor; k++)
		for (p = 0; p < s->n_planes && s->usable < s->floor; p++) {
			i = (u16)(s->start[p] + k);
			if (i < s->start[p + 1] && s->ev[i].state == MRC_EV_ASSUMED_BAD &&
			    mrc_evset_plane_live(s, p)) {
				mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD);
				mrc_ev_notify(s, &s->ev[i], MRC_EV_WHY_FLOOR);
			}
		}
}

/* Forget suspicions about planes that went down or came back, and all unanswered verifications. */
static void mrc_evset_fresh(struct mrc_evset *s, u32 planes)
{
	u8 p;

	for (p = 0; p < s->n_planes; p++) {
		mrc_verify_closed(s, p);
		if (!(planes >> p & 1))
			continue;
		mrc_suspect_clear(s, p);
		s->plane[p].over_ns = 0;
	}
}

static void mrc_evset_planes(struct mrc_evset *s, u32 *mask, u32 up, u64 now_ns)
{
	u32 before = s->local_up & s->remote_up, after;

	if (*mask == up)
		return;
	*mask = up;
	after = s->local_up & s->remote_up;
	s->changed = true;
	mrc_trace(planes, s->peer, s->local_up, s->remote_up, mrc_evset_suspects(s));
	if (after & ~before)
		mrc_evset_forgive(s, after & ~before);
	mrc_evset_fresh(s, (after & ~before) | ~after);
	mrc_evset_recount(s);
	mrc_avoid_settle(s);
	mrc_evset_fill(s);
	s->verify_ns = 0;
	s->verify_from_ns = 0;
	mrc_evset_reschedule(s, now_ns);
}

void mrc_evset_local_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns)
{
	mrc_evset_planes(s, &s->local_up, up_mask, now_ns);
}

void mrc_evset_remote_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns)
{
	mrc_evset_planes(s, &s->remote_up, up_mask, now_ns);
}

int mrc_evset_set_state(struct mrc_evset *s, u16 idx, u8 state, u64 now_ns)
{
	bool news;

	if (idx >= s->n || (state != MRC_EV_GOOD && state != MRC_EV_DENIED))
		return -EINVAL;
	if (mrc_avoid_state(s, idx, state))
		return 0;
	news = s->ev[idx].state != state && (state != MRC_EV_GOOD || s->ev[idx].state != MRC_EV_SKIP);
	mrc_ev_move(s, &s->ev[idx], state);
	if (news)
		mrc_ev_notify(s, &s->ev[idx], MRC_EV_WHY_CONTROLLER);
	s->ev[idx].flaps = 0;
	mrc_avoid_settle(s);
	/* A controller may go below the floor, but then no EV may stay out because of losses. */
	mrc_evset_fill(s);
	mrc_evset_reschedule(s, now_ns);
	return 0;
}

void mrc_evset_avoid_apply(struct mrc_evset *s, u64 now_ns)
{
	if (!s->avoided)
		s->lent = false;
	mrc_evset_recount(s);	/* the floor depends on how many are avoided */
	mrc_avoid_settle(s);
	mrc_evset_fill(s);
	mrc_evset_reschedule(s, now_ns);
}
