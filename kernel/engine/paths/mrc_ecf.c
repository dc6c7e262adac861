// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ecf.c - longer planes, and which packets may use them: earliest completion first.
 *
 * Lim et al., "ECF: An MPTCP Path Scheduler to Manage Heterogeneous Paths", 2017. A packet on a
 * longer plane arrives later than its neighbours. Meanwhile its message waits, its PSN holds the
 * left edge, and its bytes occupy the window. So it takes the longer plane only if the shorter
 * planes are busy until it arrives:
 *	they need that long for the rest of the message and of the PSN window, and
 *	there are bytes to spare: the window has room, or each shorter plane has a queue.
 * Otherwise the plane is left out, and probes measure it occasionally (mrc_verify.c). If such a
 * probe returns in less than half of the extra time, the plane became shorter, or it is slow and
 * not long. Then it carries data for a second or two, and its share answers (mrc_share.c).
 */
#include "paths/mrc_ev.h"

#define MRC_ECF_MIN_NS		5000u	/* a smaller difference does not count */
#define MRC_ECF_LOOKS		16
#define MRC_ECF_LOOK_TRIPS	16	/* round trips of the plane between two measurements */
#define MRC_ECF_LOOK_MIN_NS	500000u

/*
 * The length of a plane: the shortest recent round trip, whether distance or a standing queue determines it. It falls
 * at once, and rises after MRC_ECF_LOOKS looks (mrc_share.c). Before the first look it is the shortest round
 * trip of data, or without data the mean of probes. 0: not known.
 */
static u32 mrc_ecf_length(const struct mrc_evplane *pl)
{
	if (pl->len_ns != ~0u)
		return pl->len_ns;
	return pl->base_ns != ~0u ? pl->base_ns : pl->srtt_ns;
}

void mrc_ecf_look(struct mrc_evplane *pl, u32 least_ns)
{
	pl->len_next_ns = min_t(u32, pl->len_next_ns, least_ns);
	if (++pl->len_looks < MRC_ECF_LOOKS && pl->len_ns != ~0u)
		return;
	pl->len_ns = pl->len_next_ns;
	pl->len_next_ns = ~0u;
	pl->len_looks = 0;
}

/* The shortest plane in use whose length is known, or NULL. */
static const struct mrc_evplane *mrc_ecf_shortest(const struct mrc_evset *s)
{
	const struct mrc_evplane *least = NULL;
	u32 left;

	for (left = s->in_use; left; left &= left - 1) {
		const struct mrc_evplane *pl = &s->plane[mrc_ffs64(left)];

		if (mrc_ecf_length(pl) && (!least || mrc_ecf_length(pl) < mrc_ecf_length(least)))
			least = pl;
	}
	return least;
}

/*
 * Is a plane longer? Its length must exceed the shortest by half; before the first look, when a few packets may have
 * met a queue, eight times. It must also exceed the time after which packets of the shortest plane are
 * late: the minimum of few samples is above that of many, on slow hosts by more than any factor.
 */
static bool mrc_ecf_is_longer(const struct mrc_evplane *pl, const struct mrc_evplane *shortest)
{
	u32 least = mrc_ecf_length(shortest), len = mrc_ecf_length(pl);
	u32 most = pl->len_ns != ~0u ? least + max_t(u32, least / 2, MRC_ECF_MIN_NS) : 8 * least;

	return len > most && len > mrc_clock_late_ns(&shortest->clock) && !pl->narrow;
}

void mrc_ecf_update(struct mrc_evset *s)
{
	const struct mrc_evplane *shortest = mrc_ecf_shortest(s);
	u32 left, stood = ~0u;

	s->longer = 0;
	for (left = shortest ? s->in_use : 0; left; left &= left - 1) {
		u8 p = (u8)mrc_ffs64(left);
		const struct mrc_evplane *pl = &s->plane[p];

		if (mrc_ecf_is_longer(pl, shortest))
			s->longer |= 1u << p;
		else if (pl->base_ns != ~0u)
			stood = min_t(u32, stood, pl->stood_ns);
	}
	s->short_ns = shortest ? mrc_ecf_length(shortest) : ~0u;
	s->stood_ns = stood != ~0u ? stood : 0;
}

/*
 * Is at least a third of the round trip on each shorter plane queue? Then these queues do not run empty while some
 * packets use the longer plane.
 */
static bool mrc_ecf_queued(const struct mrc_evset *s)
{
	return s->stood_ns >= s->short_ns / 3;
}

u32 mrc_ecf_off(const struct mrc_evset *s, u32 more, u32 held, bool spare)
{
	u64 work = (u64)more * s->short_ns;
	u32 left, off = s->longer;

	for (left = spare || mrc_ecf_queued(s) ? off : 0; left; left &= left - 1) {
		u8 p = (u8)mrc_ffs64(left);
		u32 late = mrc_ecf_length(&s->plane[p]) - s->short_ns;

		if ((u64)late * held <= work)
			off &= ~(1u << p);
	}
	return off;
}

bool mrc_ecf_left_out(struct mrc_evset *s, u32 off, u64 now_ns)
{
	bool first = !s->measure_ns;
	u32 left, most = 0;

	if (now_ns < s->measure_ns || !off)
		return false;
	for (left = off; left; left &= left - 1)
		most = max_t(u32, most, mrc_ecf_length(&s->plane[mrc_ffs64(left)]));
	s->measure_ns = now_ns + max_t(u64, MRC_ECF_LOOK_TRIPS * (u64)most, MRC_ECF_LOOK_MIN_NS);
	s->measure = first ? 0 : off;
	return !first;
}

bool mrc_ecf_shrank(const struct mrc_evset *s, u8 p, u32 rtt_ns)
{
	u32 len = mrc_ecf_length(&s->plane[p]);

	return s->longer >> p & 1 && s->plane[p].base_ns != ~0u && rtt_ns < s->short_ns + (len - s->short_ns) / 2;
}

bool mrc_ecf_idle(const struct mrc_evset *s, u8 p)
{
	u32 latest, left;

	if (!(s->longer >> p & 1))
		return false;
	latest = s->plane[p].ok_tick;
	for (left = s->in_use & ~s->longer; left; left &= left - 1) {
		const struct mrc_evplane *pl = &s->plane[mrc_ffs64(left)];

		if (pl->ok && (s32)(pl->ok_tick - latest) > 0)
			latest = pl->ok_tick;
	}
	return (u64)(latest - s->plane[p].ok_tick) << MRC_TICK_SHIFT > 2ull * mrc_ecf_length(&s->plane[p]);
}
