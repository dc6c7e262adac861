// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_blame.c - attributes a loss: to the plane, to the EV, or to nobody.
 *
 * Where the fabric trims, congestion is reported, so a silent loss is a failed path. Elsewhere a
 * silent loss is congestion until proven otherwise. So an EV is demoted after a number of losses in
 * a row: one where the fabric trims, two elsewhere, five while the plane shows a queue. Packets
 * found lost at the same moment count as one loss. If the first probe of a demoted EV is answered,
 * the loss was congestion: the number rises, at most to four, and falls again with time.
 *
 * Counting "in a row" costs nothing per delivery while no EV has a loss: the set counts such EVs.
 *
 * A loss proves nothing while nothing that was sent later has arrived. It is recorded, and the next
 * one may decide. Losses on a suspect plane are attributed to the plane.
 *
 * The floor of usable EVs protects against wrong conclusions. An EV that continues to lose packets
 * while others deliver is dead, and is demoted below the floor, too.
 */
#include "paths/mrc_ev.h"

#define MRC_BLAME_EXTRA_MAX	3
#define MRC_BLAME_EVERYWHERE	64	/* losses are everywhere if one EV in 64 has one */
#define MRC_BLAME_QUEUE_NS	2000u	/* a shorter delay is no queue */
#define MRC_BLAME_CONGESTED	5u	/* losses in a row before a demotion, if a queue explains them */
#define MRC_BLAME_CHANCE	4u	/* single plane: losses in a row, if another EV has survived one */
#define MRC_BLAME_SPREAD	2u	/* single plane: so many EVs with a loss, and one in 64 */
#define MRC_BLAME_KEEP_RTTS	64
#define MRC_BLAME_KEEP_NS	10000000ull
#define MRC_BLAME_ALARM_RTTS	16	/* false alarms further apart are unrelated */
#define MRC_BLAME_SURE		2u	/* so many losses more than needed for a demotion: surely dead */
#define MRC_BLAME_LOSSES_MAX	7	/* of 3 bits */
#define MRC_MOMENT_MIN_NS	10000ull

/*
 * Do many EVs of other planes have a loss, too? Then paths of plane @p are not the cause, and two losses of one EV
 * may be chance.
 */
static bool mrc_blame_everywhere(const struct mrc_evset *s, u8 p)
{
	u32 others = (u32)(s->n - (s->start[p + 1] - s->start[p]));
	u32 open = (u32)(s->open - s->open_on[p]);

	return open >= 2 && open * MRC_BLAME_EVERYWHERE >= others;
}

/*
 * Are losses on plane @p due to congestion? A switch without trimming drops packets of all paths that share the full
 * queue; at the last hop, of all paths. Then other planes lose packets as well, and the plane's round trips
 * show a queue. With a single plane, many EVs with a loss are a sign, too, because the base may already
 * contain a queue.
 */
static bool mrc_blame_congested(const struct mrc_evset *s, u8 p)
{
	u32 base_ns = mrc_evset_base_ns(s, p);

	if (s->n_planes > 1 && !mrc_blame_everywhere(s, p))
		return false;
	if (s->n_planes == 1 && s->open >= MRC_BLAME_SPREAD && s->open * MRC_BLAME_EVERYWHERE >= s->n)
		return true;
	return base_ns && s->plane[p].srtt_ns > base_ns + max_t(u32, base_ns / 4, MRC_BLAME_QUEUE_NS);
}

/*
 * Single plane: did another EV lose a packet recently, and deliver since? Then that loss was chance or congestion, and
 * so may be two losses of this one. A base that already contains the queue does not show it.
 */
static bool mrc_blame_chance(const struct mrc_evset *s, u16 idx, u64 now_ns)
{
	return s->n_planes == 1 && s->chance_tick && s->chance_ev != idx &&
	       mrc_ev_age_ns(now_ns, s->chance_tick) <= MRC_BLAME_KEEP_RTTS * (u64)s->plane[0].srtt_ns;
}

/* Number of losses in a row that demote EV @idx. */
static u32 mrc_blame_need(struct mrc_evset *s, u8 p, u16 idx, bool trims, u64 now_ns)
{
	u64 keep = max_t(u64, (u64)MRC_BLAME_KEEP_RTTS * s->plane[p].srtt_ns, MRC_BLAME_KEEP_NS);
	u32 need = 2;

	if (trims)
		need = 1;
	else if (mrc_blame_congested(s, p))
		need = MRC_BLAME_CONGESTED;
	else if (mrc_blame_chance(s, idx, now_ns))
		need = MRC_BLAME_CHANCE;
	else if (mrc_blame_everywhere(s, p))
		need = 3;
	while (s->extra && now_ns >= s->extra_ns + keep) {
		s->extra--;
		s->extra_ns += keep;
	}
	return min_t(u32, need + s->extra, max_t(u32, need, 1 + MRC_BLAME_EXTRA_MAX));
}

/* An EV that was demoted for losses answered its first probe: demand more losses from now on. */
void mrc_blame_refuted(struct mrc_evset *s, u64 now_ns)
{
	if (s->extra < MRC_BLAME_EXTRA_MAX)
		s->extra++;
	s->extra_ns = now_ns;
}

/* Losses found within half a round trip belong to one moment. Returns its number, modulo 8. */
static u32 mrc_blame_moment(struct mrc_evset *s, u8 p, u64 now_ns)
{
	if (now_ns >= s->moment_ns + max_t(u64, s->plane[p].srtt_ns / 2, MRC_MOMENT_MIN_NS)) {
		s->moment++;
		s->moment_ns = now_ns;
	}
	return s->moment & 7;
}

void mrc_evset_lost(struct mrc_evset *s, u16 idx, u32 tick, bool trims, u64 now_ns)
{
	struct mrc_ev *ev = &s->ev[idx];
	u8 p = (u8)ev->plane;
	bool known, suspect, company = false;
	u32 moment, need;

	if (s->count)
		s->count[idx].lost_pkts++;
	s->plane[p].signs++;
	if (!mrc_evset_plane_live(s, p))
		return;
	suspect = mrc_suspect_lost(s, p, idx, tick, now_ns);
	mrc_ev_unprove(s, ev);
	moment = mrc_blame_moment(s, p, now_ns);
	if (ev->state > MRC_EV_SKIP || (ev->losses && ev->moment == moment))
		return;
	known = mrc_suspect_others(s, MRC_PLANES_MAX, tick, now_ns);
	need = mrc_blame_need(s, p, idx, trims, now_ns);
	s->need = (u8)need;
	if (!ev->losses) {
		s->open++;
		s->open_on[p]++;
		company = mrc_correlate_lost(s, p, now_ns);
	}
	if (ev->losses < MRC_BLAME_LOSSES_MAX)
		ev->losses = (ev->losses + 1u) & 7;
	ev->moment = moment & 7;
	if (!suspect && ev->losses >= need && (known || ev->losses > 1))
		mrc_ev_blame(s, ev, known && ev->losses >= need + MRC_BLAME_SURE, now_ns);
	if (company && !suspect && !s->extra && need < MRC_BLAME_CONGESTED &&
	    mrc_suspect_others(s, p, tick, now_ns))
		mrc_correlate_judge(s, p, now_ns);
}

/*
 * Is one path slow, not the whole plane? A packet sent at @tick was late, while one that left by the same plane half a
 * round trip later has arrived, and no other EV had a false alarm recently. Then the plane's reordering
 * window stays as it is.
 */
static bool mrc_blame_slow_path(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	bool same = pl->alarm_ev == idx || pl->alarm_ev == MRC_NONE16 ||
		    mrc_ev_age_ns(now_ns, pl->alarm_tick) > MRC_BLAME_ALARM_RTTS * (u64)pl->srtt_ns;

	if (idx >= s->n || s->usable_on[p] + (u32)s->bad_on[p] < 2)
		return false;
	pl->alarm_ev = idx;
	pl->alarm_tick = mrc_ev_tick(now_ns);
	return same && (s32)(pl->ok_tick - tick) > (s32)(pl->srtt_ns >> (MRC_TICK_SHIFT + 1));
}

bool mrc_evset_false_alarm(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 late_ns, u64 now_ns)
{
	bool path = mrc_blame_slow_path(s, p, idx, tick, now_ns);

	if (!path)
		mrc_plane_allow(&s->plane[p], late_ns, now_ns);
	if (s->watched >> p & 1)
		mrc_suspect_refuted(s, p, tick);
	mrc_correlate_refuted(s, p);
	if (idx < s->n)
		mrc_evset_sign(s, idx, MRC_SIGN_SPURIOUS, now_ns);
	return path;
}
