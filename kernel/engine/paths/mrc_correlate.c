// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_correlate.c - correlated losses: several EVs of one plane fail at the same time.
 *
 * When several T1 switches of a plane fail, some of its EVs are dead and the others work. To find
 * each dead EV by its own losses takes one pass over the plane per loss that mrc_blame.c requires.
 * So when several EVs of one plane lose packets within a round trip, losses are a large part of
 * what the plane reports in that time, and no other plane lost anything recently, its EVs must
 * prove themselves. EVs with a loss are demoted. EVs without a delivery since the first of these
 * losses are put aside, and each is probed at once.
 *
 * With a single plane, congestion looks the same, so nothing is concluded.
 *
 * A wrong conclusion costs little. One delivery or one answer restores an EV that was put aside,
 * and one false alarm of the plane restores all of them.
 */
#include "paths/mrc_ev.h"

#define MRC_CORRELATE_EVS		3	/* EVs with a loss */
#define MRC_CORRELATE_PART	4	/* losses are one in 4 of all reports */
#define MRC_CORRELATE_ALONE	8	/* round trips in which no other plane lost a packet */
#define MRC_CORRELATE_MIN_NS	10000ull
#define MRC_CORRELATE_RUN		4	/* answers in a row that restore other EVs */
#define MRC_CORRELATE_POOR_NS	100000000ull	/* EVs not probed by then lack credit */

static u64 mrc_correlate_span_ns(const struct mrc_evplane *pl)
{
	return max_t(u64, pl->srtt_ns, MRC_CORRELATE_MIN_NS);
}

/* Did another plane lose packets recently, too? Then congestion or noise is the cause, not paths. */
static bool mrc_correlate_elsewhere(const struct mrc_evset *s, u8 p, u64 now_ns)
{
	u64 lately = MRC_CORRELATE_ALONE * mrc_correlate_span_ns(&s->plane[p]);
	u8 q;

	for (q = 0; q < s->n_planes; q++)
		if (q != p && s->plane[q].fell_tick &&
		    mrc_ev_age_ns(now_ns, s->plane[q].fell_tick) <= lately)
			return true;
	return false;
}

/* An EV of plane @p has its first loss. True: losses of the plane are correlated. */
bool mrc_correlate_lost(struct mrc_evset *s, u8 p, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];

	if (!pl->fell || mrc_ev_age_ns(now_ns, pl->fell_tick) > mrc_correlate_span_ns(pl)) {
		pl->fell_tick = mrc_ev_tick(now_ns) | 1;
		pl->fell = 0;
		pl->proved = 0;
	}
	if (pl->fell < MRC_NONE16)
		pl->fell++;
	return pl->fell >= MRC_CORRELATE_EVS && pl->proved &&
	       mrc_ev_age_ns(now_ns, pl->fell_tick) >= mrc_correlate_span_ns(pl) / 2 &&
	       (MRC_CORRELATE_PART - 1u) * pl->fell >= pl->proved &&
	       !mrc_correlate_elsewhere(s, p, now_ns);
}

/* Has @ev delivered a packet since the first of these losses was found? */
static bool mrc_correlate_proven(const struct mrc_evset *s, const struct mrc_ev *ev, u64 now_ns)
{
	u32 proven = mrc_ev_past_of(s, ev)->proven;

	return proven && mrc_ev_age_ns(now_ns, proven) <=
			 mrc_ev_age_ns(now_ns, s->plane[ev->plane].fell_tick);
}

/* May another EV be demoted? The floor must be kept, and the plane keeps one EV. */
static bool mrc_correlate_spares(const struct mrc_evset *s, u8 p)
{
	return s->usable > s->floor && s->usable_on[p] > 1;
}

/* Demote EVs of plane @p. O(EVs of the plane), at most once per round trip, as counting restarts. */
void mrc_correlate_judge(struct mrc_evset *s, u8 p, u64 now_ns)
{
	u16 i;

	for (i = s->start[p]; i < s->start[p + 1] && mrc_correlate_spares(s, p); i++) {
		struct mrc_ev *ev = &s->ev[i];

		if (ev->state > MRC_EV_SKIP)
			continue;
		if (ev->losses)
			mrc_ev_blame(s, ev, false, now_ns);
		else if (!mrc_correlate_proven(s, ev, now_ns))
			mrc_ev_put_aside(s, ev, now_ns);
	}
	s->plane[p].fell = 0;
}

static bool mrc_correlate_aside(const struct mrc_ev *ev)
{
	return ev->state == MRC_EV_ASSUMED_BAD && ev->picked;
}

/* EV @idx delivered a packet, while the set is not in order. */
void mrc_correlate_delivered(struct mrc_evset *s, u16 idx)
{
	struct mrc_ev *ev = &s->ev[idx];
	struct mrc_evplane *pl = &s->plane[ev->plane];

	if (pl->fell && pl->proved < MRC_NONE16)
		pl->proved++;
	if (mrc_correlate_aside(ev))
		mrc_ev_forgive(s, ev);
}

/* Restore EVs of plane @p that were put aside: all, or only those not probed yet. */
static void mrc_correlate_restore(struct mrc_evset *s, u8 p, bool all)
{
	u16 i;

	for (i = s->start[p]; s->bad_on[p] && i < s->start[p + 1]; i++)
		if (mrc_correlate_aside(&s->ev[i]) && (all || !s->ev[i].out))
			mrc_ev_forgive(s, &s->ev[i]);
}

/*
 * EV @idx answered a probe. False: it was not put aside, so one answer does not restore it. While traffic pays for
 * probes, an answer restores no other EV, which might be dead. Without traffic, each probe takes a tenth
 * of a second, so on a large plane a run of answers restores the EVs that were not probed yet.
 */
bool mrc_correlate_answered(struct mrc_evset *s, u16 idx, u64 now_ns)
{
	u8 p = (u8)s->ev[idx].plane;

	if (!mrc_correlate_aside(&s->ev[idx]))
		return false;
	mrc_ev_forgive(s, &s->ev[idx]);
	if (mrc_ev_age_ns(now_ns, s->plane[p].fell_tick) < MRC_CORRELATE_POOR_NS)
		return true;
	if (++s->plane[p].spoke >= MRC_CORRELATE_RUN) {
		s->plane[p].spoke = 0;
		mrc_correlate_restore(s, p, false);
	}
	return true;
}

/* A loss on plane @p was spurious. */
void mrc_correlate_refuted(struct mrc_evset *s, u8 p)
{
	mrc_correlate_restore(s, p, true);
}
