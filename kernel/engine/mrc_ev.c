// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ev.c - EV states of a path set, and the rotation that QPs walk.
 *
 * MRC 1.0 sections 3.1 and 3.2 (9.3.1, 11.2.2). All state changes go through
 * mrc_ev_move(), which keeps the counts; probing is in mrc_probe.c.
 */
#include "mrc_ev.h"

#define MRC_PROBE_NS_DEFAULT	100000ull
#define MRC_PROBE_MAX_DEFAULT	100000000ull
#define MRC_READMIT_DEFAULT	2

static u32 mrc_ev_hash_size(u16 n)
{
	u32 size = 4;

	while (size < 2u * n)
		size <<= 1;
	return size;
}

size_t mrc_evset_mem_size(u16 n)
{
	return n * sizeof(struct mrc_ev) + mrc_ev_hash_size(n) * sizeof(u16);
}

static u32 mrc_ev_hash(u32 value)
{
	return (value * 0x9e3779b1u) >> 16;
}

static void mrc_evset_hash_add(struct mrc_evset *s, u16 idx)
{
	u32 h = mrc_ev_hash(s->ev[idx].value) & s->hash_mask;

	while (s->hash[h] != MRC_NONE16)
		h = (h + 1) & s->hash_mask;
	s->hash[h] = idx;
}

u16 mrc_evset_find(const struct mrc_evset *s, u32 value)
{
	u32 h = mrc_ev_hash(value) & s->hash_mask;

	/* At most half full, so an empty slot ends every search. */
	while (s->hash[h] != MRC_NONE16) {
		if (s->ev[s->hash[h]].value == value)
			return s->hash[h];
		h = (h + 1) & s->hash_mask;
	}
	return MRC_NONE16;
}

/* Usable EVs on planes that are up at both ends. */
static u16 mrc_evset_count_usable(const struct mrc_evset *s)
{
	u32 n = 0;
	u8 p;

	for (p = 0; p < s->n_planes; p++)
		if (mrc_evset_plane_live(s, p))
			n += s->usable_on[p];
	return (u16)n;
}

/* The one place where a state changes. */
static void mrc_ev_move(struct mrc_evset *s, struct mrc_ev *ev, u8 state)
{
	bool was = ev->state <= MRC_EV_SKIP, is = state <= MRC_EV_SKIP;

	if (ev->state == state)
		return;
	if (ev->state == MRC_EV_ASSUMED_BAD)
		s->bad--;
	if (state == MRC_EV_ASSUMED_BAD)
		s->bad++;
	if (was != is) {
		s->usable_on[ev->plane] = (u16)(s->usable_on[ev->plane] + (is ? 1 : -1));
		if (mrc_evset_plane_live(s, ev->plane))
			s->usable = (u16)(s->usable + (is ? 1 : -1));
		s->changed = true;
	}
	ev->state = state;
}

int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes)
{
	u16 i;

	if (!cfg->n || cfg->n > MRC_EVS_MAX || !cfg->n_planes ||
	    cfg->n_planes > MRC_PLANES_MAX || cfg->min_active > cfg->n)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	s->n = cfg->n;
	s->n_planes = cfg->n_planes;
	s->min_active = cfg->min_active ? cfg->min_active : max_t(u16, cfg->n / 4, 1);
	s->readmit = cfg->readmit ? cfg->readmit : MRC_READMIT_DEFAULT;
	s->probe_ns = cfg->probe_ns ? cfg->probe_ns : MRC_PROBE_NS_DEFAULT;
	s->probe_max_ns = cfg->probe_max_ns ? cfg->probe_max_ns : MRC_PROBE_MAX_DEFAULT;
	s->next_probe_ns = MRC_TIME_NEVER;
	s->gen = 1;
	s->local_up = cfg->planes_up;
	s->remote_up = ~0u;
	s->ev = (struct mrc_ev *)mem;
	s->hash = (u16 *)(s->ev + s->n);
	s->hash_mask = mrc_ev_hash_size(s->n) - 1;
	memset(s->hash, 0xff, (s->hash_mask + 1) * sizeof(u16));

	for (i = 0; i < s->n; i++) {
		if (planes[i] >= s->n_planes)
			return -EINVAL;
		memset(&s->ev[i], 0, sizeof(s->ev[i]));
		s->ev[i].value = values[i];
		s->ev[i].plane = planes[i];
		s->ev[i].state = MRC_EV_GOOD;
		s->usable_on[planes[i]]++;
		mrc_evset_hash_add(s, i);
	}
	s->usable = mrc_evset_count_usable(s);
	return 0;
}

/* Planes that came back: their EVs were bad because of the port. */
static void mrc_evset_forgive(struct mrc_evset *s, u32 planes)
{
	u16 i;

	for (i = 0; i < s->n; i++)
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD && planes & (1u << s->ev[i].plane))
			mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD);
}

/* A plane went and left fewer usable EVs than the floor: a bad path beats none. */
static void mrc_evset_fill(struct mrc_evset *s)
{
	u16 i;

	for (i = 0; i < s->n && s->usable < s->min_active; i++)
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD &&
		    mrc_evset_plane_live(s, s->ev[i].plane))
			mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD);
}

static void mrc_evset_planes(struct mrc_evset *s, u32 *mask, u32 up, u64 now_ns)
{
	u32 before = s->local_up & s->remote_up, after;

	(void)now_ns;
	if (*mask == up)
		return;
	*mask = up;
	after = s->local_up & s->remote_up;
	s->changed = true;
	if (after & ~before)
		mrc_evset_forgive(s, after & ~before);
	s->usable = mrc_evset_count_usable(s);
	mrc_evset_fill(s);
	s->verify_out = false;
	/* A bad EV on a plane that was down had no deadline; look again at once. */
	if (s->bad)
		s->next_probe_ns = 0;
}

void mrc_evset_local_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns)
{
	mrc_evset_planes(s, &s->local_up, up_mask, now_ns);
}

void mrc_evset_remote_planes(struct mrc_evset *s, u32 up_mask, u64 now_ns)
{
	mrc_evset_planes(s, &s->remote_up, up_mask, now_ns);
}

/* Withdraw a path, unless that would leave fewer than the floor. */
static void mrc_ev_demote(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state > MRC_EV_SKIP)
		return;
	if (mrc_evset_plane_live(s, ev->plane) && s->usable <= s->min_active) {
		s->stats.floor_hits++;
		return;
	}
	mrc_ev_move(s, ev, MRC_EV_ASSUMED_BAD);
	s->stats.demotions++;
	ev->answers = 0;
	ev->backoff = 0;
	ev->probe_at_ns = now_ns + s->probe_ns;
	if (ev->probe_at_ns < s->next_probe_ns)
		s->next_probe_ns = ev->probe_at_ns;
}

void mrc_evset_sign(struct mrc_evset *s, u16 idx, enum mrc_ev_sign sign, u64 now_ns)
{
	struct mrc_ev *ev;

	if (mrc_assert(idx < s->n))
		return;
	ev = &s->ev[idx];
	switch (sign) {
	case MRC_SIGN_ECN:
	case MRC_SIGN_TRIMMED:
		if (ev->state == MRC_EV_GOOD) {
			mrc_ev_move(s, ev, MRC_EV_SKIP);
			s->stats.skips++;
		}
		break;
	case MRC_SIGN_LOST:
		ev->lost_pkts++;
		mrc_ev_demote(s, ev, now_ns);
		break;
	case MRC_SIGN_BAD:
	case MRC_SIGN_PROBE_LOST:
		mrc_ev_demote(s, ev, now_ns);
		break;
	case MRC_SIGN_PROBE_OK:
		if (ev->state == MRC_EV_ASSUMED_BAD) {
			mrc_ev_move(s, ev, MRC_EV_GOOD);
			s->stats.readmissions++;
		}
		break;
	case MRC_SIGN_DELIVERED:
		break;
	}
}

int mrc_evset_set_state(struct mrc_evset *s, u16 idx, u8 state, u64 now_ns)
{
	(void)now_ns;
	if (idx >= s->n || (state != MRC_EV_GOOD && state != MRC_EV_DENIED))
		return -EINVAL;
	mrc_ev_move(s, &s->ev[idx], state);
	return 0;
}

bool mrc_evset_take_change(struct mrc_evset *s)
{
	bool changed = s->changed;

	s->changed = false;
	return changed;
}

int mrc_evset_check(const struct mrc_evset *s)
{
	u16 on[MRC_PLANES_MAX] = { 0 }, bad = 0, i;

	for (i = 0; i < s->n; i++) {
		if (s->ev[i].state >= MRC_EV_STATES || s->ev[i].plane >= s->n_planes)
			return __LINE__;
		if (s->ev[i].state <= MRC_EV_SKIP)
			on[s->ev[i].plane]++;
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD)
			bad++;
	}
	for (i = 0; i < s->n_planes; i++)
		if (on[i] != s->usable_on[i])
			return __LINE__;
	if (bad != s->bad)
		return __LINE__;
	if (mrc_evset_count_usable(s) != s->usable)
		return __LINE__;
	return 0;
}

/* ---- rotation ---- */

void mrc_rot_init(struct mrc_rot *r, u16 *order, u16 n_max, u64 seed)
{
	memset(r, 0, sizeof(*r));
	r->order = order;
	r->n_max = n_max;
	r->rand.state = seed;
}

/* Group the set's indices by plane. A set larger than n_max is used in part. */
static void mrc_rot_build(struct mrc_rot *r, const struct mrc_evset *s)
{
	u16 used = 0, p, i;

	for (p = 0; p < s->n_planes; p++) {
		u16 share = (u16)((r->n_max - used) / (s->n_planes - p));
		u16 got = 0;

		r->start[p] = used;
		r->pos[p] = 0;
		for (i = 0; i < s->n && (s->n <= r->n_max || got < share); i++) {
			if (s->ev[i].plane != p)
				continue;
			r->order[used++] = i;
			got++;
		}
	}
	r->start[s->n_planes] = used;
	r->gen = s->gen;
	r->plane = (u8)mrc_rand_below(&r->rand, s->n_planes);
}

/* The next EV of plane p's pass: Fisher-Yates, one swap per step. */
static u16 mrc_rot_step(struct mrc_rot *r, u8 p)
{
	u16 *seg = r->order + r->start[p];
	u16 len = (u16)(r->start[p + 1] - r->start[p]);
	u16 i = r->pos[p], j, idx;

	j = (u16)(i + mrc_rand_below(&r->rand, (u32)(len - i)));
	idx = seg[j];
	seg[j] = seg[i];
	seg[i] = idx;
	r->pos[p] = (u16)(i + 1 < len ? i + 1 : 0);
	return idx;
}

/*
 * One usable EV of plane p. Two passes suffice: the first may turn one SKIP
 * into GOOD behind the walk, the second meets it. `last` is what to settle for.
 */
static u16 mrc_rot_pick_on(struct mrc_rot *r, struct mrc_evset *s, u8 p, u16 avoid,
			   bool *skipped)
{
	u16 len = (u16)(r->start[p + 1] - r->start[p]), last = MRC_NONE16;
	u32 n;

	for (n = 0; n < 2u * len; n++) {
		u16 idx = mrc_rot_step(r, p);
		struct mrc_ev *ev = &s->ev[idx];

		if (ev->state == MRC_EV_SKIP) {
			if (!*skipped)
				mrc_ev_move(s, ev, MRC_EV_GOOD);
			*skipped = true;
			last = idx;
			continue;
		}
		if (ev->state != MRC_EV_GOOD)
			continue;
		if (idx != avoid)
			return idx;
		last = idx;
	}
	return last;
}

u16 mrc_rot_pick(struct mrc_rot *r, struct mrc_evset *s, u16 avoid)
{
	u16 fallback = MRC_NONE16;
	bool skipped = false;
	u8 tries;

	if (unlikely(r->gen != s->gen))
		mrc_rot_build(r, s);
	if (!s->usable)
		return MRC_NONE16;
	for (tries = 0; tries < s->n_planes; tries++) {
		u8 p = r->plane;
		u16 idx;

		r->plane = (u8)(p + 1 < s->n_planes ? p + 1 : 0);
		if (!mrc_evset_plane_live(s, p) || !s->usable_on[p])
			continue;
		idx = mrc_rot_pick_on(r, s, p, avoid, &skipped);
		if (idx == MRC_NONE16)
			continue;
		if (idx != avoid)
			return idx;
		fallback = idx;
	}
	return fallback;
}
