// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_spray.c - EV selection of a QP (mrc_spray.h).
 *
 * Shuffling costs one random number and one swap per packet (Fisher-Yates, one step at a time). So
 * no EV repeats within a pass, and no second array is needed.
 */
#include "paths/mrc_ev.h"

#define MRC_SPRAY_LOOK		16	/* EVs of the reserve examined per step */
#define MRC_GUESS_LOOK		64	/* EVs examined for the one that the peer names */
#define MRC_PROVEN_RTTS		16	/* an EV counts as proven for so many round trips */
#define MRC_PROVEN_NS		1000000ull	/* or for this time */
#define MRC_RECEIVED_RTTS		4	/* a plane is quiet after so many round trips, */
#define MRC_RECEIVED_NS		100000ull	/* at least this time, */
#define MRC_RECEIVED_TURNS		4	/* and so many packets per plane by other planes */

void mrc_spray_init(struct mrc_spray *r, u16 *order, u16 n_max, u64 seed)
{
	memset(r, 0, sizeof(*r));
	r->order = order;
	r->at = (struct mrc_spray_pos *)(order + n_max);
	memset(r->at, 0, MRC_PLANES_MAX * sizeof(*r->at));
	r->n_max = n_max;
	r->rand.state = seed;
}

static u16 mrc_plane_len(const struct mrc_evset *s, u8 p)
{
	return (u16)(s->start[p + 1] - s->start[p]);
}

static u16 mrc_spray_len(const struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	return likely(r->even) ? r->quota : min_t(u16, mrc_plane_len(s, p), r->quota);
}

/*
 * Computed, not stored: a table for 32 planes in every QP would cost a cache line or two per packet. Most sets are
 * even.
 */
u16 mrc_spray_start(const struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	u16 at = 0;
	u8 i;

	if (likely(r->even))
		return (u16)(p * r->quota);
	for (i = 0; i < p; i++)
		at = (u16)(at + mrc_spray_len(r, s, i));
	return at;
}

static u16 *mrc_spray_seg(const struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	return r->order + mrc_spray_start(r, s, p);
}

/* ---- the active set ---- */

/* Active EVs per plane: as many as fit, the same number for all. Smaller planes contribute all EVs. */
static u16 mrc_spray_quota(const struct mrc_spray *r, const struct mrc_evset *s)
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

/* Draw a random subset of plane p's EVs (reservoir sampling). */
static void mrc_spray_draw(struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	u16 take = mrc_spray_len(r, s, p);
	u16 *seg = mrc_spray_seg(r, s, p);
	u16 len = mrc_plane_len(s, p), i;

	for (i = 0; i < take; i++)
		seg[i] = (u16)(s->start[p] + i);
	for (; take && i < len; i++) {
		u32 j = mrc_prng_below(&r->rand, i + 1u);

		if (j < take)
			seg[j] = (u16)(s->start[p] + i);
	}
}

/*
 * QPs that share a set must not all skip a slow plane at the same turn, which would leave its port idle. They start
 * with evenly spread phases: 0, 1/2, 1/4, 3/4, 1/8, ... of a turn (van der Corput sequence).
 */
static void mrc_spray_phase(struct mrc_spray *r, struct mrc_evset *s)
{
	u16 phase = 0, bit;
	u8 p;

	for (bit = 1; bit < MRC_SHARE_FULL; bit <<= 1)
		if (s->walks & bit)
			phase |= MRC_SHARE_FULL / 2 / bit;
	s->walks++;
	for (p = 0; p < s->n_planes; p++)
		r->at[p].debt = phase;
}

static void mrc_spray_build(struct mrc_spray *r, struct mrc_evset *s)
{
	u8 p;

	mrc_spray_phase(r, s);
	r->quota = mrc_spray_quota(r, s);
	r->even = r->quota;
	for (p = 0; p < s->n_planes; p++)
		r->even &= mrc_plane_len(s, p) >= r->quota;
	for (p = 0; p < s->n_planes; p++) {
		mrc_spray_draw(r, s, p);
		r->at[p].pos = 0;
	}
	r->plane = (u8)mrc_prng_below(&r->rand, s->n_planes);
	r->ack_plane = (u8)mrc_prng_below(&r->rand, s->n_planes);
}

/*
 * EVs of the set became usable since the last look, perhaps some that were put aside here. Those are behind the
 * others, so the current pass meets them.
 */
static mrc_noinline void mrc_spray_look(struct mrc_spray *r, struct mrc_evset *s)
{
	u8 p;

	if (!r->gen)
		mrc_spray_build(r, s);
	for (p = 0; p < s->n_planes; p++)
		r->at[p].live = mrc_spray_len(r, s, p);
	r->ready = r->even ? ~0u : 0;
	r->gen = s->gen;
}

/* ---- the reserve ---- */

static bool mrc_spray_has(const struct mrc_spray *r, const struct mrc_evset *s, u8 p, u16 idx)
{
	const u16 *seg = mrc_spray_seg(r, s, p);
	u16 i;

	for (i = mrc_spray_len(r, s, p); i; i--)
		if (seg[i - 1] == idx)
			return true;
	return false;
}

/*
 * A usable EV of plane p that is not active. Examines only a few, from a random position. If it finds none, the
 * next bad EV causes another search.
 */
static u16 mrc_spray_reserve(struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	u16 len = mrc_plane_len(s, p), at, n;

	if (len == mrc_spray_len(r, s, p))
		return MRC_NONE16;
	at = (u16)mrc_prng_below(&r->rand, len);
	for (n = min_t(u16, len, MRC_SPRAY_LOOK); n; n--) {
		u16 idx = (u16)(s->start[p] + at);

		if (s->ev[idx].state <= MRC_EV_SKIP && !mrc_spray_has(r, s, p, idx))
			return idx;
		at = (u16)(at + 1 < len ? at + 1 : 0);
	}
	return MRC_NONE16;
}

u16 mrc_spray_any(struct mrc_spray *r, const struct mrc_evset *s, u8 p, u16 avoid)
{
	u16 len = mrc_plane_len(s, p), at, n;

	if (!len)
		return avoid;
	at = (u16)mrc_prng_below(&r->rand, len);
	for (n = len; n; n--) {
		u16 idx = (u16)(s->start[p] + at);

		if (s->ev[idx].state <= MRC_EV_SKIP && idx != avoid)
			return idx;
		at = (u16)(at + 1 < len ? at + 1 : 0);
	}
	return avoid;
}

/* ---- selection ---- */

static u16 mrc_spray_step(struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	return mrc_spray_shuffle(r, &r->at[p], mrc_spray_seg(r, s, p));
}

/*
 * The EV just met is bad: replace it by one of the reserve. If there is none, put it aside, behind the EVs that
 * remain.
 */
static u16 mrc_spray_replace(struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	u16 idx = mrc_spray_reserve(r, s, p), *seg = mrc_spray_seg(r, s, p), here, bad;
	struct mrc_spray_pos *at = &r->at[p];

	here = (u16)((at->pos ? at->pos : at->live) - 1);
	if (idx != MRC_NONE16) {
		seg[here] = idx;
		return idx;
	}
	if (!--at->live)
		r->ready &= ~(1u << p);
	bad = seg[here];
	seg[here] = seg[at->live];
	seg[at->live] = bad;
	at->pos = here < at->live ? here : 0;
	return MRC_NONE16;
}

/* Any usable EV of plane p. If all active ones are put aside, it becomes active in place of the first. */
static u16 mrc_spray_revive(struct mrc_spray *r, const struct mrc_evset *s, u8 p, u16 avoid)
{
	u16 idx = mrc_spray_any(r, s, p, avoid);

	if (idx == avoid || r->at[p].live || !mrc_spray_len(r, s, p) || mrc_spray_has(r, s, p, idx))
		return idx;
	mrc_spray_seg(r, s, p)[0] = idx;
	r->at[p].live = 1;
	r->at[p].pos = 0;
	r->ready |= r->even ? 1u << p : 0;
	return idx;
}

/*
 * A usable EV of plane p, which has one. @idx: the EV just met, if any. Two passes suffice: the first may turn a
 * SKIP EV into GOOD, and the second meets it.
 */
static u16 mrc_spray_pick_on(struct mrc_spray *r, struct mrc_evset *s, u8 p, u16 avoid,
			     bool *lifted, u16 idx)
{
	u32 n = 2u * r->at[p].live;
	u16 last = MRC_NONE16;		/* second choice */

	for (; n && r->at[p].live; n--, idx = MRC_NONE16) {
		if (idx == MRC_NONE16)
			idx = mrc_spray_step(r, s, p);
		if (s->ev[idx].state > MRC_EV_SKIP) {
			idx = mrc_spray_replace(r, s, p);
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
		last = mrc_spray_revive(r, s, p, avoid);
	return last;
}

/* Does plane p's share include this turn? */
static bool mrc_spray_turn(struct mrc_spray *r, const struct mrc_evset *s, u8 p)
{
	u32 debt = r->at[p].debt + (u32)s->share[p];

	r->at[p].debt = (u16)(debt % MRC_SHARE_FULL);
	return debt >= MRC_SHARE_FULL;
}

/*
 * See mrc_spray_pick_off(). @idx: EV already met on plane r->plane, or MRC_NONE16. *lifted: a SKIP EV already became
 * GOOD for this packet. The second round ignores the shares of planes.
 */
static mrc_noinline u16 mrc_spray_pick_of(struct mrc_spray *r, struct mrc_evset *s, u16 avoid,
					  u32 planes, u16 idx, bool *lifted)
{
	u16 tries, got;

	if (!s->usable)
		return MRC_NONE16;
	for (tries = 0; tries < 2u * s->n_planes; tries++, idx = MRC_NONE16) {
		u8 p = r->plane;

		r->plane = mrc_spray_next_plane(s, p);
		if (!mrc_evset_plane_in_use(s, p) || planes >> p & 1)
			continue;
		if (idx == MRC_NONE16 && tries < s->n_planes && !mrc_spray_turn(r, s, p))
			continue;
		got = mrc_spray_pick_on(r, s, p, avoid, lifted, idx);
		if (got != avoid)
			return got;
	}
	return avoid;
}

static u16 mrc_spray_pick_any(struct mrc_spray *r, struct mrc_evset *s, u16 avoid, u16 idx)
{
	bool lifted = false;

	return mrc_spray_pick_of(r, s, avoid, 0, idx, &lifted);
}

u16 mrc_spray_pick_met(struct mrc_spray *r, struct mrc_evset *s, u16 idx)
{
	if (s->ev[idx].state != MRC_EV_GOOD)
		return mrc_spray_pick_any(r, s, MRC_NONE16, idx);
	mrc_ev_taken(&s->ev[idx]);
	r->plane = mrc_spray_next_plane(s, r->plane);
	return idx;
}

u16 mrc_spray_pick(struct mrc_spray *r, struct mrc_evset *s, u16 avoid)
{
	u8 p = r->plane;
	u16 idx;

	if (unlikely(r->gen != s->gen)) {
		mrc_spray_look(r, s);
		p = r->plane;
	}
	if (!((s->full & r->ready) >> p & 1))
		return mrc_spray_pick_any(r, s, avoid, MRC_NONE16);
	idx = mrc_spray_shuffle(r, &r->at[p], r->order + (u32)p * r->quota);
	if (idx == avoid || s->ev[idx].state != MRC_EV_GOOD)
		return mrc_spray_pick_any(r, s, avoid, idx);
	return mrc_spray_pick_met(r, s, idx);
}

/* Does the burst continue? Not if its EV is no longer GOOD, or shows congestion. */
static bool mrc_spray_goes_on(const struct mrc_spray *r, const struct mrc_evset *s)
{
	const struct mrc_ev *ev = &s->ev[r->last];

	return r->again && ev->state == MRC_EV_GOOD && !ev->level &&
	       mrc_evset_plane_in_use(s, ev->plane);
}

u16 mrc_spray_burst(struct mrc_spray *r, struct mrc_evset *s)
{
	if (mrc_spray_goes_on(r, s)) {
		r->again--;
		return r->last;
	}
	r->last = mrc_spray_one(r, s);
	r->again = r->last != MRC_NONE16 ? r->burst : 0;
	return r->last;
}

u16 mrc_spray_pick_off(struct mrc_spray *r, struct mrc_evset *s, u16 avoid, u32 planes)
{
	bool lifted = false;
	u16 idx;

	if (!(s->in_use & ~planes) || !planes)
		return mrc_spray_pick(r, s, avoid);
	if (unlikely(r->gen != s->gen))
		mrc_spray_look(r, s);
	idx = mrc_spray_pick_of(r, s, avoid, planes, MRC_NONE16, &lifted);
	return idx != avoid ? idx : mrc_spray_pick_of(r, s, avoid, 0, MRC_NONE16, &lifted);
}

/* ---- acknowledgements ---- */

void mrc_evset_guess(struct mrc_evset *s, u8 plane, u32 value, u64 now_ns)
{
	u16 len, n;

	if (!mrc_evset_plane_has_evs(s, plane) || s->proven[plane] != MRC_NONE16)
		return;
	len = mrc_plane_len(s, plane);
	for (n = min_t(u16, len, MRC_GUESS_LOOK); n; n--) {
		u16 idx = (u16)(s->start[plane] + s->guess_pos % len);

		s->guess_pos++;
		if (s->ev[idx].value != value || s->ev[idx].state > MRC_EV_SKIP)
			continue;
		s->proven[plane] = idx;
		s->proven_at[plane] = mrc_ev_proven_tick(now_ns);
		return;
	}
}

static mrc_inline bool mrc_spray_proven(const struct mrc_evset *s, u8 p, u64 now_ns)
{
	u64 age = (u64)(u32)(mrc_ev_proven_tick(now_ns) - s->proven_at[p]) << 16;

	return s->proven[p] != MRC_NONE16 &&
	       age <= max_t(u64, (u64)MRC_PROVEN_RTTS * s->plane[p].srtt_ns, MRC_PROVEN_NS);
}

/*
 * Did the peer's packets arrive by plane p about as recently as by others? The packet count allows for a peer that
 * sends rarely and cannot use all planes at once.
 */
static mrc_inline bool mrc_spray_received(const struct mrc_evset *s, u8 p)
{
	u64 quiet = (u64)(u32)(s->rx_tick - s->plane[p].rx_tick) << MRC_TICK_SHIFT;

	return s->rx_pkts - s->plane[p].rx_pkts <= MRC_RECEIVED_TURNS * (u32)s->n_planes ||
	       quiet <= max_t(u64, MRC_RECEIVED_RTTS * (u64)s->plane[p].srtt_ns, MRC_RECEIVED_NS);
}

static mrc_inline bool mrc_spray_ack_plane(const struct mrc_evset *s, u8 p, u64 now_ns)
{
	return (s->in_use & ~s->muted & ~s->longer) >> p & 1 && s->plane[p].doubt_ev == MRC_NONE16 &&
	       (mrc_spray_received(s, p) || mrc_spray_proven(s, p, now_ns));
}

/* The next plane or the one after it, at random. With two planes, now and then the same one again. */
static mrc_inline u8 mrc_spray_stride(const struct mrc_spray *r, const struct mrc_evset *s, u32 rand)
{
	u8 p = r->ack_plane;

	if ((rand & (s->n_planes > 2 ? 1 : 7)) == 0)
		p = mrc_spray_next_plane(s, p);
	return mrc_spray_next_plane(s, p);
}

/* A usable EV of plane p. @proven: prefer the one that was proven recently. */
static mrc_inline u16 mrc_spray_ack_ev(struct mrc_spray *r, const struct mrc_evset *s, u8 p, u64 now_ns,
			  bool proven, u32 rand)
{
	u16 len = r->at[p].live, idx;

	if (proven && mrc_spray_proven(s, p, now_ns))
		return s->proven[p];
	idx = len ? mrc_spray_seg(r, s, p)[(u64)rand * len >> 32] : MRC_NONE16;
	if (len && s->ev[idx].state == MRC_EV_GOOD)
		return idx;
	return mrc_spray_any(r, s, p, MRC_NONE16);
}

static mrc_noinline u16 mrc_spray_ack_walk(struct mrc_spray *r, struct mrc_evset *s, u64 now_ns,
					   bool sure, u64 rand)
{
	u8 tries, p;

	if (unlikely(r->gen != s->gen))
		mrc_spray_look(r, s);
	if (!s->usable)
		return MRC_NONE16;
	p = mrc_spray_stride(r, s, (u32)rand);
	r->ack_any = !r->ack_any;
	for (tries = 0; tries < 2u * s->n_planes; tries++, p = mrc_spray_next_plane(s, p)) {
		if (!mrc_evset_plane_in_use(s, p) ||
		    (tries < s->n_planes && !mrc_spray_ack_plane(s, p, now_ns)))
			continue;
		r->ack_plane = p;
		return mrc_spray_ack_ev(r, s, p, now_ns, sure || r->ack_any, (u32)(rand >> 32));
	}
	return MRC_NONE16;
}

/* Fast path: the first plane is usable. */
u16 mrc_spray_pick_ack(struct mrc_spray *r, struct mrc_evset *s, u64 now_ns, bool sure)
{
	u64 rand = mrc_prng_u64(&r->rand);
	u8 p = mrc_spray_stride(r, s, (u32)rand);

	if (unlikely(r->gen != s->gen || !mrc_spray_ack_plane(s, p, now_ns)))
		return mrc_spray_ack_walk(r, s, now_ns, sure, rand);
	r->ack_any = !r->ack_any;
	r->ack_plane = p;
	return mrc_spray_ack_ev(r, s, p, now_ns, sure || r->ack_any, (u32)(rand >> 32));
}

u16 mrc_spray_pick_by(struct mrc_spray *r, struct mrc_evset *s, u8 p, u64 now_ns)
{
	if (p >= s->n_planes || !((s->in_use & ~s->muted) >> p & 1) || s->plane[p].doubt_ev != MRC_NONE16)
		return MRC_NONE16;
	if (unlikely(r->gen != s->gen))
		mrc_spray_look(r, s);
	return mrc_spray_ack_ev(r, s, p, now_ns, true, (u32)mrc_prng_u64(&r->rand));
}
