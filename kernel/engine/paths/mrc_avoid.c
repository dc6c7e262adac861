// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_avoid.c - EVs that a controller avoids, because they cross a link that it considers faulty.
 *
 * A wrong or late request of a controller must not cost the last path, as DENIED could. So an
 * avoided EV is set aside: it is DENIED as long as enough other EVs are usable, and GOOD otherwise
 * (mrc_ev_lend()). Enough is the floor of usable EVs, reduced by the part of avoided EVs and suspect
 * planes; at least one. All avoided EVs of a set are set aside, or none.
 *
 * An EV that is set aside carries no data, no acknowledgements and no probes of the transport,
 * because the controller watches the link. Probes of controllers may use it.
 *
 * A controller may also deny an avoided EV. It stays DENIED when it is no longer avoided.
 */
#include "paths/mrc_ev.h"

/* Are enough EVs usable without those that are avoided? */
static bool mrc_avoid_enough(const struct mrc_evset *s)
{
	u32 left = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++)
		if (mrc_evset_plane_live(s, p) && !s->plane[p].suspect)
			left += (u32)(s->usable_on[p] - s->lent_on[p]);
	return left >= s->floor;
}

static void mrc_avoid_take(struct mrc_evset *s, struct mrc_ev *ev)
{
	mrc_ev_move(s, ev, MRC_EV_DENIED);
	s->avoid[ev - s->ev] |= MRC_AVOID_ASIDE;
	s->aside++;
	mrc_ev_notify(s, ev, MRC_EV_WHY_AVOIDED);
}

void mrc_avoid_settle(struct mrc_evset *s)
{
	u16 i;

	if (likely(!s->avoided))
		return;
	if (!mrc_avoid_enough(s)) {
		mrc_ev_lend(s);
		return;
	}
	s->lent = false;
	for (i = 0; i < s->n; i++)
		if (s->avoid[i] && s->ev[i].state != MRC_EV_DENIED)
			mrc_avoid_take(s, &s->ev[i]);
}

bool mrc_avoid_state(struct mrc_evset *s, u16 idx, u8 state)
{
	bool aside = s->avoid[idx] & MRC_AVOID_ASIDE;

	if (!s->avoid[idx] || s->lent)
		return false;
	if (state == MRC_EV_DENIED && aside) {
		s->avoid[idx] &= (u8)~MRC_AVOID_ASIDE;
		s->aside--;
	} else if (state == MRC_EV_GOOD && !aside) {
		s->avoid[idx] |= MRC_AVOID_ASIDE;
		s->aside++;
	}
	return true;
}

void mrc_evset_avoid(struct mrc_evset *s, u16 idx, bool avoid)
{
	struct mrc_ev *ev;
	u8 had;

	if (mrc_assert(idx < s->n))
		return;
	had = s->avoid[idx];
	if (avoid == (had != 0))
		return;
	ev = &s->ev[idx];
	s->avoided = (u16)(s->avoided + (avoid ? 1 : -1));
	s->avoid_on[ev->plane] = (u16)(s->avoid_on[ev->plane] + (avoid ? 1 : -1));
	if (ev->state <= MRC_EV_SKIP)
		s->lent_on[ev->plane] = (u16)(s->lent_on[ev->plane] + (avoid ? 1 : -1));
	s->avoid[idx] = avoid ? MRC_AVOID_WISH : 0;
	if (!(had & MRC_AVOID_ASIDE))
		return;
	s->aside--;
	mrc_ev_move(s, ev, MRC_EV_GOOD);
	mrc_ev_notify(s, ev, MRC_EV_WHY_AVOIDED);
	ev->flaps = 0;
}
