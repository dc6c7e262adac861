// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_plane.c - round trips of planes, and their reordering windows (mrc_plane.h).
 *
 * The base is the shortest round trip of the last one to two seconds, so a route that became longer
 * does not count as congested for ever.
 *
 * The reordering window: a packet is late when later packets have arrived and the round trip of its
 * plane has passed. It is lost when the window has passed too. A false alarm grows the window to
 * the time that the packet took. After 16 round trips without one it shrinks by a quarter of a
 * round trip.
 */
#include "paths/mrc_ev.h"

#define MRC_BASE_NS		1000000000u	/* half the window of the minimum */
#define MRC_REO_MAX		32
#define MRC_REO_STEP		2
#define MRC_REO_KEEP_RTTS	16

static mrc_inline void mrc_plane_base(struct mrc_evplane *pl, u32 rtt, u64 now_ns)
{
	if (unlikely(mrc_ev_age_ns(now_ns, pl->base_tick) >= MRC_BASE_NS)) {
		pl->base_ns = pl->base_next_ns;
		pl->base_next_ns = rtt;
		pl->base_tick = mrc_ev_tick(now_ns);
		pl->narrow = false;
	}
	pl->base_ns = min_t(u32, pl->base_ns, rtt);
	pl->base_next_ns = min_t(u32, pl->base_next_ns, rtt);
}

static void mrc_plane_calm(struct mrc_evplane *pl, u64 now_ns)
{
	if (likely(pl->reo == MRC_REO_MIN) || mrc_ev_age_ns(now_ns, pl->reo_tick) <
					      (u64)MRC_REO_KEEP_RTTS * pl->srtt_ns)
		return;
	pl->reo -= min_t(u8, MRC_REO_STEP, (u8)(pl->reo - MRC_REO_MIN));
	pl->reo_tick = mrc_ev_tick(now_ns);
}

static inline void mrc_plane_patient(struct mrc_evset *s, const struct mrc_evplane *pl)
{
	if (unlikely(mrc_clock_due_ns(&pl->clock) > s->patience_most_ns))
		s->patience_most_ns = mrc_clock_due_ns(&pl->clock);
}

void mrc_evset_probe_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns)
{
	u32 rtt = (u32)clamp_t(u64, rtt_ns, 1, MRC_RTT_MAX_NS);
	struct mrc_evplane *pl = &s->plane[p];

	if (!pl->srtt_ns)
		pl->round_tick = mrc_ev_tick(now_ns);
	mrc_clock_sample(&pl->clock, rtt_ns, now_ns);
	mrc_plane_patient(s, pl);
	pl->narrow |= mrc_ecf_shrank(s, p, rtt);
	if (pl->narrow || pl->base_ns == ~0u)
		mrc_ecf_update(s);
}

/*
 * Takes a sample. True: a round trip of the plane is over, so its share is due. Not inline: otherwise the compiler
 * computes the address of the array element again for each field.
 */
static mrc_noinline bool mrc_plane_learn(struct mrc_evplane *pl, u64 rtt_ns, u64 now_ns)
{
	bool first = pl->base_ns == ~0u;
	u32 rtt;

	if (unlikely(first))	/* drop samples of probes: data waits in queues that probes do not meet */
		memset(&pl->clock, 0, sizeof(pl->clock));
	rtt = mrc_clock_sample(&pl->clock, rtt_ns, now_ns);
	if (unlikely(!rtt))
		return false;
	mrc_plane_base(pl, rtt, now_ns);
	if (pl->len_ns != ~0u)
		pl->len_ns = min_t(u32, pl->len_ns, rtt);
	if (unlikely(first)) {
		pl->round_tick = mrc_ev_tick(now_ns);
		return false;
	}
	mrc_plane_calm(pl, now_ns);
	pl->rtt_ns = rtt;
	pl->rtt_tick = mrc_ev_tick(now_ns);
	pl->low_ns = min_t(u32, pl->low_ns, rtt);
	if (pl->samples < MRC_SHARE_SAMPLES)
		pl->samples++;
	return mrc_ev_age_ns(now_ns, pl->round_tick) >= pl->srtt_ns;
}

void mrc_evset_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns)
{
	struct mrc_evplane *pl = &s->plane[p];
	u32 len = pl->len_ns, base = pl->base_ns;
	bool narrow = pl->narrow;
	bool over = mrc_plane_learn(pl, rtt_ns, now_ns);

	mrc_plane_patient(s, pl);
	if (over)
		mrc_share_round(s, pl, now_ns);
	if (unlikely(pl->len_ns != len || pl->base_ns != base || pl->narrow != narrow ||
		     (over && s->longer)))
		mrc_ecf_update(s);
}

u32 mrc_evset_mean_base_ns(const struct mrc_evset *s)
{
	u64 sum = 0;
	u32 n = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++) {
		if (!mrc_evset_base_ns(s, p) || !mrc_evset_plane_in_use(s, p) || mrc_ecf_idle(s, p))
			continue;
		sum += (u64)mrc_evset_base_ns(s, p) * s->share[p];
		n += s->share[p];
	}
	return n ? (u32)div_u64(sum, n) : 0;
}

u64 mrc_evset_late_ns(const struct mrc_evset *s, u8 p)
{
	return mrc_clock_late_ns(&s->plane[p].clock);
}

u64 mrc_evset_lost_ns(const struct mrc_evset *s, u8 p)
{
	const struct mrc_evplane *pl = &s->plane[p];
	u64 reo = max_t(u64, 4ull * pl->var_ns, (u64)pl->reo * (pl->srtt_ns / 8));

	/* Of the packets in flight, most arrive if the plane just went down, and few if it is suspect. */
	if (unlikely(!mrc_evset_plane_live(s, p)))
		reo = pl->srtt_ns / 8;
	else if (unlikely(pl->suspect))
		reo = pl->srtt_ns / 4;
	return mrc_clock_lost_ns(&pl->clock, reo);
}

u64 mrc_evset_patience_ns(struct mrc_evset *s)
{
	u64 most = 0, ns;
	u8 p;

	s->patience_most_ns = 0;
	for (p = 0; p < s->n_planes; p++) {
		ns = mrc_clock_due_ns(&s->plane[p].clock);
		s->patience_most_ns = max_t(u64, s->patience_most_ns, ns);
		if (mrc_evset_plane_in_use(s, p))
			most = max_t(u64, most, ns);
	}
	return most;
}

/* A packet declared lost arrived @late_ns after its send (0: unknown): widen the reordering window to that. */
void mrc_plane_allow(struct mrc_evplane *pl, u64 late_ns, u64 now_ns)
{
	u32 eighth = max_t(u32, pl->srtt_ns / 8, 1);
	u64 need = late_ns > pl->srtt_ns ? div_u64(late_ns - pl->srtt_ns, eighth) + 1 : 0;

	need = max_t(u64, need, (u32)pl->reo + MRC_REO_STEP);
	pl->reo = (u8)min_t(u64, need, MRC_REO_MAX);
	pl->reo_tick = mrc_ev_tick(now_ns);
}
