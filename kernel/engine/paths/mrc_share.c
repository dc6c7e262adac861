// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_share.c - the share of each plane: how often it is chosen.
 *
 * Planes take turns, and each carries the same load if it can. A plane with a quarter of the rate
 * would hold all others back, because the window waits in its queue. So the share has two parts.
 *
 *	turns	A plane that was congested for a round trip while another was not loses an eighth, until a round
 *		trip passes without congestion. This moves a chance queue to a plane without one and then stops.
 *	weight	If congestion lasts, the weight falls by an eighth. Each round trip without congestion returns
 *		1/32 of the whole. Alone it would react too late, and load would oscillate between planes.
 *
 * A queue that became shorter since the last look costs no weight: many QPs with one packet each
 * make queues that need many round trips to drain. Signs of congestion are marks, trims, losses, or
 * round trips that all exceed the base by half and by much more than on other planes. If all planes
 * are congested, the window has to react, not the shares. A mark does not count if a recent sample
 * of another plane shows as much delay, because some switches mark packets that did not wait.
 *
 * A plane that lost a packet and is being probed has the smallest share until it answers. Otherwise
 * single messages would be lost on it. It is still used if no other plane offers an EV
 * (mrc_spray_pick_of()).
 *
 * The share is the weight. If more than half of a plane's EVs are bad, it is multiplied by
 * 2 * good / all, so that the few good ones do not carry the load of all. Shares are relative to the
 * largest one, so the next plane with a full share is always near.
 */
#include "paths/mrc_ev.h"

#define MRC_WEIGHT_MIN		16u	/* of MRC_SHARE_FULL */
#define MRC_WEIGHT_UP		8u
#define MRC_SIGNS_PART		8u	/* signs for one packet in 8: congested */
#define MRC_DELAY_MIN_NS	5000u	/* a shorter delay is no queue */
#define MRC_SHARE_NO_DELAY_NS	1000u	/* a smaller difference does not confirm marks */
#define MRC_DELAY_RATIO		3u	/* a queue is so many times the shortest of the others */
#define MRC_SHARE_FRESH		2u	/* a sample of another plane is valid for so many round trips */

/* Is a plane other than @p in use, with round trips known, and not congested? */
static bool mrc_share_other(const struct mrc_evset *s, u8 p)
{
	u8 q;

	for (q = 0; q < s->n_planes; q++)
		if (q != p && mrc_evset_plane_in_use(s, q) && s->plane[q].srtt_ns && !s->plane[q].slow)
			return true;
	return false;
}

static u32 mrc_share_raw(const struct mrc_evset *s, u8 p)
{
	u32 ok = s->usable_on[p], all = ok + s->bad_on[p], w = s->plane[p].weight;

	if (unlikely(s->querying >> p & 1))
		return 1;
	if (unlikely(s->plane[p].slow) && mrc_share_other(s, p))
		w -= w / 8;
	return max_t(u32, 2 * ok >= all ? w : w * 2 * ok / all, 1);
}

void mrc_share_update(struct mrc_evset *s)
{
	u32 most = 0;
	u8 p;

	s->full = 0;
	for (p = 0; p < s->n_planes; p++)
		if (mrc_evset_plane_in_use(s, p))
			most = max_t(u32, most, mrc_share_raw(s, p));
	for (p = 0; p < s->n_planes; p++) {
		if (!mrc_evset_plane_in_use(s, p)) {
			s->share[p] = 0;
			continue;
		}
		s->share[p] = (u16)max_t(u32, mrc_share_raw(s, p) * MRC_SHARE_FULL / most, 1);
		if (s->share[p] == MRC_SHARE_FULL)
			s->full |= 1u << p;
	}
}

/* By how much @rtt_ns exceeds the plane's base. */
static u32 mrc_plane_excess(const struct mrc_evplane *pl, u32 rtt_ns)
{
	return pl->base_ns != ~0u && rtt_ns > pl->base_ns ? rtt_ns - pl->base_ns : 0;
}

/* The smallest excess over its base of any other plane with a recent sample; ~0: there is none. */
static u32 mrc_plane_least(const struct mrc_evset *s, const struct mrc_evplane *pl, u64 now_ns)
{
	const struct mrc_evplane *other;
	u32 least = ~0u, rtt_ns;
	u8 q;

	for (q = 0; q < s->n_planes; q++) {
		other = &s->plane[q];
		if (other == pl || !other->srtt_ns || !mrc_evset_plane_in_use(s, q) ||
		    mrc_ev_age_ns(now_ns, other->rtt_tick) > MRC_SHARE_FRESH * (u64)pl->srtt_ns)
			continue;
		rtt_ns = max_t(u32, other->srtt_ns, other->rtt_ns);
		least = min_t(u32, least, mrc_plane_excess(other, rtt_ns));
	}
	return least;
}

/*
 * Is the standing queue of @pl much longer than on the other planes? Busy hosts delay all planes from time to time,
 * while the queue of a slow plane is many times as long as the others'. So the shortest of several round
 * trips counts, which only a standing queue increases (CoDel, RFC 8289). It is compared with recent
 * samples of the other planes: old or smoothed ones would miss a queue that grows on all planes.
 */
static mrc_noinline bool mrc_plane_contrast(const struct mrc_evset *s,
					    const struct mrc_evplane *pl, u64 now_ns)
{
	u32 least = mrc_plane_least(s, pl, now_ns);

	return least != ~0u && mrc_plane_excess(pl, pl->low_ns) / MRC_DELAY_RATIO > least;
}

/* Do ECN marks indicate a queue? Not if another plane's round trip exceeds its base by as much. */
static mrc_noinline bool mrc_plane_marked(const struct mrc_evset *s, const struct mrc_evplane *pl, u64 now_ns)
{
	u32 least = mrc_plane_least(s, pl, now_ns), more;

	more = max_t(u32, MRC_SHARE_NO_DELAY_NS, mrc_evset_base_ns(s, (u8)(pl - s->plane)) / 16);
	return least == ~0u || mrc_plane_excess(pl, pl->srtt_ns) > least + more;
}

/* Were there signs of congestion for at least one packet in MRC_SIGNS_PART? */
static bool mrc_share_signs(const struct mrc_evset *s, const struct mrc_evplane *pl, u64 now_ns)
{
	u32 signs = pl->signs;

	if (unlikely(pl->marks) && mrc_plane_marked(s, pl, now_ns))
		signs += pl->marks;
	return unlikely(signs) && signs * MRC_SIGNS_PART >= pl->arrived;
}

/* Look for a standing queue, once per MRC_SHARE_SAMPLES samples. True: there was a look. */
static bool mrc_share_look(const struct mrc_evset *s, struct mrc_evplane *pl, u64 now_ns)
{
	if (pl->samples < MRC_SHARE_SAMPLES)
		return false;
	pl->queue = unlikely(mrc_plane_excess(pl, pl->low_ns) >
			     max_t(u32, pl->base_ns / 2, MRC_DELAY_MIN_NS)) &&
		    mrc_plane_contrast(s, pl, now_ns);
	mrc_ecf_look(pl, pl->low_ns);
	pl->stood_ns = mrc_plane_excess(pl, pl->low_ns);
	pl->low_ns = ~0u;
	pl->samples = 0;
	return true;
}

/*
 * May the plane lose weight? A full weight only falls if the plane was congested in the previous round trip, too
 * (@again): an accidental queue ends by the lost turns alone.
 */
static bool mrc_share_falls(const struct mrc_evset *s, const struct mrc_evplane *pl, bool again)
{
	return pl->slow && (again || pl->weight != MRC_SHARE_FULL) &&
	       mrc_share_other(s, (u8)(pl - s->plane));
}

/* Adjust the weight. It falls only if there is new evidence (@news). */
static mrc_noinline void mrc_share_weigh(struct mrc_evset *s, struct mrc_evplane *pl, bool news,
					 bool again)
{
	u32 w = pl->weight;

	if (news && mrc_share_falls(s, pl, again))
		w = max_t(u32, w - w / 8, MRC_WEIGHT_MIN);
	else if (!pl->slow)
		w = min_t(u32, w + MRC_WEIGHT_UP, MRC_SHARE_FULL);
	if (w == pl->weight && pl->slow == again)
		return;
	pl->weight = (u16)w;
	mrc_share_update(s);
}

/* A round trip of plane @pl is over. In most cases the plane is not congested and has its full weight. */
void mrc_share_round(struct mrc_evset *s, struct mrc_evplane *pl, u64 now_ns)
{
	bool signs = mrc_share_signs(s, pl, now_ns);
	u32 stood_ns = pl->stood_ns;
	bool news = mrc_share_look(s, pl, now_ns), again = pl->slow;

	pl->slow = signs || pl->queue;
	pl->arrived = 0;
	pl->signs = 0;
	pl->marks = 0;
	pl->round_tick = mrc_ev_tick(now_ns);
	if (unlikely(pl->slow || again || pl->weight != MRC_SHARE_FULL))
		mrc_share_weigh(s, pl, signs || (news && pl->stood_ns >= stood_ns), again);
}

u32 mrc_share_of(const struct mrc_evset *s, u8 p)
{
	return mrc_share_other(s, p) ? s->plane[p].weight : MRC_SHARE_FULL;
}
