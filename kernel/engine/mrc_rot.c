// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rot.c - the walk of a QP over its active set (mrc_rot.h).
 *
 * A shuffle costs one random number and one swap per pick (Fisher-Yates, one
 * step at a time), so a pass never repeats an EV and needs no second array.
 */
#include "mrc_ev.h"

#define MRC_ROT_LOOK		16	/* EVs of the reserve looked at per step */
#define MRC_PROVEN_RTTS		16	/* a path proven so long ago is trusted */
#define MRC_PROVEN_NS		1000000ull

void mrc_rot_init(struct mrc_rot *r, u16 *order, u16 n_max, u64 seed)
{
	memset(r, 0, sizeof(*r));
	r->order = order;
	r->n_max = n_max;
	r->rand.state = seed;
}

static u16 mrc_plane_len(const struct mrc_evset *s, u8 p)
{
	return (u16)(s->start[p + 1] - s->start[p]);
}

static u16 mrc_rot_len(const struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	return likely(r->even) ? r->quota : min_t(u16, mrc_plane_len(s, p), r->quota);
}

/*
 * Computed, not kept: 32 planes' worth of it in every QP is a cache line or two
 * per packet. Few sets are uneven.
 */
u16 mrc_rot_start(const struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	u16 at = 0;
	u8 i;

	if (likely(r->even))
		return (u16)(p * r->quota);
	for (i = 0; i < p; i++)
		at = (u16)(at + mrc_rot_len(r, s, i));
	return at;
}

static u16 *mrc_rot_seg(const struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	return r->order + mrc_rot_start(r, s, p);
}

/* ---- the active set ---- */

/* EVs per plane: as many as fit, the same for all; planes with fewer give all. */
static u16 mrc_rot_quota(const struct mrc_rot *r, const struct mrc_evset *s)
{
	u16 lo = 0, hi = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++)
		hi = max_t(u16, hi, mrc_plane_len(s, p));
	while (lo < hi) {
		u16 mid = (u16)((lo + hi + 1) / 2);
		u32 sum = 0;

		for (p = 0; p < s->n_planes; p++)
			sum += min_t(u32, mrc_plane_len(s, p), mid);
		if (sum <= r->n_max)
			lo = mid;
		else
			hi = (u16)(mid - 1);
	}
	return lo;
}

/* Draw @take of plane p's EVs, each set of them equally likely (reservoir sampling). */
static void mrc_rot_draw(struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	u16 take = mrc_rot_len(r, s, p);
	u16 *seg = mrc_rot_seg(r, s, p);
	u16 len = mrc_plane_len(s, p), i;

	for (i = 0; i < take; i++)
		seg[i] = (u16)(s->start[p] + i);
	for (; take && i < len; i++) {
		u32 j = mrc_rand_below(&r->rand, i + 1u);

		if (j < take)
			seg[j] = (u16)(s->start[p] + i);
	}
}

static void mrc_rot_build(struct mrc_rot *r, const struct mrc_evset *s)
{
	u8 p;

	r->quota = mrc_rot_quota(r, s);
	r->even = r->quota;
	for (p = 0; p < s->n_planes; p++)
		r->even &= mrc_plane_len(s, p) >= r->quota;
	for (p = 0; p < s->n_planes; p++) {
		mrc_rot_draw(r, s, p);
		r->pos[p] = 0;
	}
	r->gen = s->gen;
	r->plane = (u8)mrc_rand_below(&r->rand, s->n_planes);
	r->ack_plane = (u8)mrc_rand_below(&r->rand, s->n_planes);
}

/* ---- the reserve ---- */

static bool mrc_rot_has(const struct mrc_rot *r, const struct mrc_evset *s, u8 p, u16 idx)
{
	const u16 *seg = mrc_rot_seg(r, s, p);
	u16 i;

	for (i = mrc_rot_len(r, s, p); i; i--)
		if (seg[i - 1] == idx)
			return true;
	return false;
}

/*
 * A usable EV of plane p that is not active. Looks at a few only, from a random
 * place: what is not found now is found when the walk meets the next bad one.
 */
static u16 mrc_rot_reserve(struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	u16 len = mrc_plane_len(s, p), at, n;

	if (len == mrc_rot_len(r, s, p))
		return MRC_NONE16;
	at = (u16)mrc_rand_below(&r->rand, len);
	for (n = min_t(u16, len, MRC_ROT_LOOK); n; n--) {
		u16 idx = (u16)(s->start[p] + at);

		if (s->ev[idx].state <= MRC_EV_SKIP && !mrc_rot_has(r, s, p, idx))
			return idx;
		at = (u16)(at + 1 < len ? at + 1 : 0);
	}
	return MRC_NONE16;
}

/* Any usable EV of plane p, active or not, other than @avoid. */
static u16 mrc_rot_search(struct mrc_rot *r, const struct mrc_evset *s, u8 p, u16 avoid)
{
	u16 len = mrc_plane_len(s, p), at, n;

	at = (u16)mrc_rand_below(&r->rand, len);
	for (n = len; n; n--) {
		u16 idx = (u16)(s->start[p] + at);

		if (s->ev[idx].state <= MRC_EV_SKIP && idx != avoid)
			return idx;
		at = (u16)(at + 1 < len ? at + 1 : 0);
	}
	return MRC_NONE16;
}

/* ---- the walk ---- */

/* The next EV of plane p's pass, which has @len at @seg: one step of their shuffle. */
static inline u16 mrc_rot_shuffle(struct mrc_rot *r, u8 p, u16 *seg, u32 len)
{
	u32 i = r->pos[p];
	u16 *at = seg + i, *from = at + mrc_rand_below(&r->rand, len - i);
	u16 idx = *from;

	*from = *at;
	*at = idx;
	r->pos[p] = (u16)(i + 1 < len ? i + 1 : 0);
	return idx;
}

static u16 mrc_rot_step(struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	return mrc_rot_shuffle(r, p, mrc_rot_seg(r, s, p), mrc_rot_len(r, s, p));
}

/* The EV just met is bad: one of the reserve takes its place. */
static u16 mrc_rot_replace(struct mrc_rot *r, const struct mrc_evset *s, u8 p)
{
	u16 idx = mrc_rot_reserve(r, s, p), len = mrc_rot_len(r, s, p);

	if (idx != MRC_NONE16)
		mrc_rot_seg(r, s, p)[(r->pos[p] ? r->pos[p] : len) - 1] = idx;
	return idx;
}

/*
 * One usable EV of plane p, which has one. @idx: the first met, already known not to be the
 * one, or MRC_NONE16. Two passes suffice: the first may turn one SKIP into
 * GOOD behind the walk, the second meets it.
 */
static u16 mrc_rot_pick_on(struct mrc_rot *r, struct mrc_evset *s, u8 p, u16 avoid,
			   bool *lifted, u16 idx)
{
	u32 n = 2u * mrc_rot_len(r, s, p);
	u16 last = MRC_NONE16;		/* to settle for */

	if (n && idx == MRC_NONE16)
		idx = mrc_rot_step(r, s, p);
	for (; n; n--, idx = mrc_rot_step(r, s, p)) {
		if (s->ev[idx].state > MRC_EV_SKIP) {
			idx = mrc_rot_replace(r, s, p);
			if (idx == MRC_NONE16)
				continue;
		}
		if (s->ev[idx].state == MRC_EV_GOOD && idx != avoid) {
			mrc_ev_taken(&s->ev[idx]);
			return idx;
		}
		if (s->ev[idx].state == MRC_EV_SKIP &&
		    mrc_ev_pass_over(s, &s->ev[idx], !*lifted)) {
			*lifted = true;
			last = idx;
		}
		if (last == MRC_NONE16 || last == avoid)
			last = idx;
	}
	if (last == MRC_NONE16 || last == avoid)
		last = mrc_rot_search(r, s, p, avoid);
	return last != MRC_NONE16 ? last : avoid;
}

static bool mrc_rot_plane_ok(const struct mrc_evset *s, u8 p)
{
	return mrc_evset_plane_live(s, p) && s->usable_on[p];
}

static u8 mrc_rot_next_plane(const struct mrc_evset *s, u8 p)
{
	return (u8)(p + 1 < s->n_planes ? p + 1 : 0);
}

/* As it says in the header; @idx: already met on plane r->plane, or MRC_NONE16. */
static mrc_noinline u16 mrc_rot_pick_any(struct mrc_rot *r, struct mrc_evset *s, u16 avoid, u16 idx)
{
	bool lifted = false;
	u8 tries;

	if (r->gen != s->gen)
		mrc_rot_build(r, s);
	if (!s->usable)
		return MRC_NONE16;
	for (tries = 0; tries < s->n_planes; tries++, idx = MRC_NONE16) {
		u8 p = r->plane;

		r->plane = mrc_rot_next_plane(s, p);
		if (!mrc_rot_plane_ok(s, p))
			continue;
		idx = mrc_rot_pick_on(r, s, p, avoid, &lifted, idx);
		if (idx != avoid)
			return idx;
	}
	return avoid;
}

/* Most often the first EV met on the plane whose turn it is will do. */
u16 mrc_rot_pick(struct mrc_rot *r, struct mrc_evset *s, u16 avoid)
{
	u8 p = r->plane;
	u16 idx;

	if (unlikely(r->gen != s->gen || !r->even || !mrc_evset_plane_live(s, p)))
		return mrc_rot_pick_any(r, s, avoid, MRC_NONE16);
	idx = mrc_rot_shuffle(r, p, r->order + (u32)p * r->quota, r->quota);
	if (unlikely(s->ev[idx].state != MRC_EV_GOOD || idx == avoid))
		return mrc_rot_pick_any(r, s, avoid, idx);
	mrc_ev_taken(&s->ev[idx]);
	r->plane = mrc_rot_next_plane(s, p);
	return idx;
}

static bool mrc_rot_proven(const struct mrc_evset *s, u8 p, u64 now_ns)
{
	u64 age = (u64)(u32)(mrc_ev_proven_tick(now_ns) - s->proven_at[p]) << 16;

	return s->proven[p] != MRC_NONE16 &&
	       age <= max_t(u64, MRC_PROVEN_RTTS * s->probe_rtt_ns, MRC_PROVEN_NS);
}

u16 mrc_rot_pick_ack(struct mrc_rot *r, struct mrc_evset *s, u64 now_ns, bool sure)
{
	u16 len, idx;
	u8 tries;

	if (unlikely(r->gen != s->gen))
		mrc_rot_build(r, s);
	for (tries = 0; tries < s->n_planes; tries++) {
		u8 p = r->ack_plane;

		bool any = r->ack_any;

		r->ack_plane = mrc_rot_next_plane(s, p);
		r->ack_any ^= r->ack_plane <= p;	/* all planes had their turn */
		if (!mrc_rot_plane_ok(s, p))
			continue;
		if ((sure || !any) && mrc_rot_proven(s, p, now_ns))
			return s->proven[p];
		len = mrc_rot_len(r, s, p);
		idx = len ? mrc_rot_seg(r, s, p)[mrc_rand_below(&r->rand, len)] : MRC_NONE16;
		if (len && s->ev[idx].state == MRC_EV_GOOD)
			return idx;
		return mrc_rot_search(r, s, p, MRC_NONE16);
	}
	return MRC_NONE16;
}
