// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ev.c - EV states of a path set.
 *
 * MRC 1.0 section 3.1 (9.3.1). All state changes go through mrc_ev_move(), which
 * keeps the counts. Probing is in mrc_probe.c, the walk of a QP in mrc_rot.c.
 *
 * Flaps: an EV that is lost again soon after its readmission was not well. Each
 * readmission counts one flap, and each flap doubles the answers it takes to
 * come back; a flap is forgotten after MRC_EV_CALM longest probe intervals of good
 * service. Since when an EV is good is kept where a bad one keeps its next
 * probe, so it costs no memory; the stamp wraps, and is looked at only while there are flaps to
 * forget. An EV without traffic for many minutes may by chance be taken for flappy once:
 * a few probes more.
 */
#include "mrc_ev.h"

#define MRC_PROBE_NS_DEFAULT	100000ull
#define MRC_PROBE_MAX_DEFAULT	100000000ull
#define MRC_PROBE_MAX_LIMIT	200000000ull	/* well within half the wrap of a tick */
#define MRC_READMIT_DEFAULT	2
#define MRC_READMIT_MAX		15
#define MRC_EV_CALM		10
#define MRC_EV_FLAPS_MAX	3
#define MRC_EV_LEVEL_TRIM	2	/* at least */

/* Times that an EV is passed over, by level; about twice as often at the last. */
static const signed char mrc_ev_passes[MRC_EV_LEVEL_MAX + 1] = { 0, 1, 4, 15 };

size_t mrc_evset_mem_size(u16 n, bool counts)
{
	BUILD_BUG_ON(sizeof(struct mrc_ev) != 8);
	return n * (sizeof(struct mrc_ev) + (counts ? sizeof(struct mrc_ev_count) : 0));
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

static u16 mrc_ev_calm_tick(u64 now_ns)
{
	return (u16)(now_ns >> MRC_EV_CALM_SHIFT);
}

/* Forget flaps for the time that it was good. */
static void mrc_ev_calm(const struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	u64 good = (u64)(u16)(mrc_ev_calm_tick(now_ns) - ev->tick) << MRC_EV_CALM_SHIFT;
	u64 one = MRC_EV_CALM * s->probe_max_ns;

	if (!ev->flaps || good < one)
		return;
	for (; ev->flaps && good >= one; good -= one)
		ev->flaps--;
	ev->tick = mrc_ev_calm_tick(now_ns);
}

static void mrc_ev_unprove(struct mrc_evset *s, const struct mrc_ev *ev)
{
	if (s->proven[ev->plane] == ev - s->ev)
		s->proven[ev->plane] = MRC_NONE16;
}

/* The one place where a state changes. */
static void mrc_ev_move(struct mrc_evset *s, struct mrc_ev *ev, u8 state, u64 now_ns)
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
		if (is)
			ev->tick = mrc_ev_calm_tick(now_ns);
		else
			mrc_ev_unprove(s, ev);
		s->changed = true;
	}
	s->skip_on[ev->plane] = (u16)(s->skip_on[ev->plane] + (state == MRC_EV_SKIP) -
				      (ev->state == MRC_EV_SKIP));
	ev->state = state & 3u;
	ev->by_loss = 0;
	ev->asked = 0;
	ev->run = 0;
}

/* Passed over for as long as @level says. */
static void mrc_ev_skip(struct mrc_evset *s, struct mrc_ev *ev, u8 level, u64 now_ns)
{
	mrc_ev_move(s, ev, MRC_EV_SKIP, now_ns);
	mrc_ev_set_level(ev, level);
	ev->run = mrc_ev_passes[level] & 15;
}

static void mrc_evset_defaults(struct mrc_evset *s, const struct mrc_evset_cfg *cfg)
{
	s->n = cfg->n;
	s->n_planes = cfg->n_planes;
	s->min_active = cfg->min_active ? cfg->min_active : max_t(u16, cfg->n / 4, 1);
	s->readmit = cfg->readmit ? min_t(u8, cfg->readmit, MRC_READMIT_MAX) :
				    MRC_READMIT_DEFAULT;
	s->probe_max_ns = cfg->probe_max_ns ? min_t(u64, cfg->probe_max_ns, MRC_PROBE_MAX_LIMIT) :
					      MRC_PROBE_MAX_DEFAULT;
	s->probe_ns = min_t(u64, cfg->probe_ns ? cfg->probe_ns : MRC_PROBE_NS_DEFAULT,
			    s->probe_max_ns);
	s->next_probe_ns = MRC_TIME_NEVER;
	s->gen = 1;
	s->local_up = cfg->planes_up;
	s->remote_up = ~0u;
	memset(s->proven, 0xff, sizeof(s->proven));
}

int mrc_evset_init(struct mrc_evset *s, void *mem, const struct mrc_evset_cfg *cfg,
		   const u32 *values, const u8 *planes)
{
	u16 i, p;

	if (!cfg->n || cfg->n > MRC_EVS_MAX || !cfg->n_planes ||
	    cfg->n_planes > MRC_PLANES_MAX || cfg->min_active > cfg->n)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	mrc_evset_defaults(s, cfg);
	memset(mem, 0, mrc_evset_mem_size(s->n, cfg->counts));
	s->ev = (struct mrc_ev *)mem;
	s->count = cfg->counts ? (struct mrc_ev_count *)(s->ev + s->n) : NULL;

	for (i = 0; i < s->n; i++) {
		if (planes[i] >= s->n_planes || (i && planes[i] < planes[i - 1]))
			return -EINVAL;
		s->ev[i].value = values[i];
		s->ev[i].plane = planes[i] & (MRC_PLANES_MAX - 1u);
		s->ev[i].state = MRC_EV_GOOD;
		s->usable_on[planes[i]]++;
	}
	for (p = 0; p < s->n_planes; p++)
		s->start[p + 1] = (u16)(s->start[p] + s->usable_on[p]);
	s->usable = mrc_evset_count_usable(s);
	return 0;
}

/* Planes that came back: their EVs were bad because of the port. */
static void mrc_evset_forgive(struct mrc_evset *s, u32 planes, u64 now_ns)
{
	u16 i;

	for (i = 0; i < s->n; i++)
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD && planes & (1u << s->ev[i].plane))
			mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD, now_ns);
}

/*
 * Fewer usable EVs than the floor are left, for a plane that went or by the
 * controller's word: a bad path beats none. One of each plane in turn.
 */
static void mrc_evset_fill(struct mrc_evset *s, u64 now_ns)
{
	u16 k, i;
	u8 p;

	for (k = 0; k < s->n && s->bad && s->usable < s->min_active; k++)
		for (p = 0; p < s->n_planes && s->usable < s->min_active; p++) {
			i = (u16)(s->start[p] + k);
			if (i < s->start[p + 1] && s->ev[i].state == MRC_EV_ASSUMED_BAD &&
			    mrc_evset_plane_live(s, p))
				mrc_ev_move(s, &s->ev[i], MRC_EV_GOOD, now_ns);
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
	if (after & ~before)
		mrc_evset_forgive(s, after & ~before, now_ns);
	s->usable = mrc_evset_count_usable(s);
	mrc_evset_fill(s, now_ns);
	s->verify_out = false;
	mrc_evset_verify_soon(s);
	s->verify_run = 0;
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

/* Withdraw a path, unless that would leave fewer than the floor. */
static void mrc_ev_demote(struct mrc_evset *s, struct mrc_ev *ev, bool by_loss, u64 now_ns)
{
	if (mrc_evset_plane_live(s, ev->plane) && s->usable <= s->min_active) {
		s->stats.floor_hits++;
		return;
	}
	mrc_ev_calm(s, ev, now_ns);
	mrc_ev_move(s, ev, MRC_EV_ASSUMED_BAD, now_ns);
	s->stats.demotions++;
	ev->by_loss = by_loss;
	mrc_ev_probe_at(s, ev, now_ns + s->probe_ns);
}

/*
 * More proof against one that is bad. Packets found lost at the same moment are
 * one loss: a delay that looks like one takes all that was on its way.
 */
static void mrc_ev_worse(const struct mrc_evset *s, struct mrc_ev *ev, bool by_loss,
			 u64 now_ns)
{
	if (!by_loss || ev->asked || ev->run || ev->tick != mrc_ev_tick_up(now_ns + s->probe_ns))
		ev->by_loss = 0;
}

static void mrc_ev_bad(struct mrc_evset *s, struct mrc_ev *ev, bool by_loss, u64 now_ns)
{
	mrc_ev_unprove(s, ev);
	if (ev->state <= MRC_EV_SKIP)
		mrc_ev_demote(s, ev, by_loss, now_ns);
	else if (ev->state == MRC_EV_ASSUMED_BAD)
		mrc_ev_worse(s, ev, by_loss, now_ns);
}

static void mrc_ev_delivered(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state > MRC_EV_SKIP)
		return;		/* sent long ago; its probes have the word */
	s->proven[ev->plane] = (u16)(ev - s->ev);
	s->proven_at[ev->plane] = mrc_ev_proven_tick(now_ns);
	if (unlikely(ev->flaps))
		mrc_ev_calm(s, ev, now_ns);
}

static void mrc_ev_readmit(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state != MRC_EV_ASSUMED_BAD)
		return;
	mrc_ev_skip(s, ev, MRC_EV_LEVEL_MAX, now_ns);
	if (ev->flaps < MRC_EV_FLAPS_MAX)
		ev->flaps++;
	s->stats.readmissions++;
	mrc_ev_delivered(s, ev, now_ns);
}

/* What was called lost came late: the path is slow, not dead. */
static void mrc_ev_spurious(struct mrc_evset *s, struct mrc_ev *ev, u64 now_ns)
{
	if (ev->state != MRC_EV_ASSUMED_BAD || !ev->by_loss)
		return;
	mrc_ev_skip(s, ev, MRC_EV_LEVEL_MAX, now_ns);
	s->stats.spurious++;
}

/*
 * A sign says more the second time, if it is about what was sent since the first: one
 * that is GOOD but was not picked since is marked for what had been sent before. A trim
 * says more than a mark: the queue is full, not filling.
 */
static void mrc_ev_congested(struct mrc_evset *s, struct mrc_ev *ev, bool trimmed, u64 now_ns)
{
	u8 level = mrc_ev_level(ev);

	if (ev->state != MRC_EV_GOOD)
		return;
	if (!level || (ev->run && level < MRC_EV_LEVEL_MAX))
		level++;
	if (trimmed && (ev->run || !mrc_ev_level(ev)))
		level = max_t(u8, level, MRC_EV_LEVEL_TRIM);
	mrc_ev_skip(s, ev, level, now_ns);
	s->stats.skips++;
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
		mrc_ev_congested(s, ev, sign == MRC_SIGN_TRIMMED, now_ns);
		break;
	case MRC_SIGN_LOST:
		if (s->count)
			s->count[idx].lost_pkts++;
		mrc_ev_bad(s, ev, true, now_ns);
		break;
	case MRC_SIGN_SPURIOUS:
		if (s->count)
			s->count[idx].lost_pkts--;
		mrc_ev_spurious(s, ev, now_ns);
		break;
	case MRC_SIGN_BAD:
	case MRC_SIGN_PROBE_LOST:
		mrc_ev_bad(s, ev, false, now_ns);
		break;
	case MRC_SIGN_PROBE_OK:
		mrc_ev_readmit(s, ev, now_ns);
		break;
	case MRC_SIGN_DELIVERED:
		mrc_ev_delivered(s, ev, now_ns);
		break;
	}
}

int mrc_evset_set_state(struct mrc_evset *s, u16 idx, u8 state, u64 now_ns)
{
	if (idx >= s->n || (state != MRC_EV_GOOD && state != MRC_EV_DENIED))
		return -EINVAL;
	mrc_ev_move(s, &s->ev[idx], state, now_ns);
	s->ev[idx].flaps = 0;
	/* The controller may go below the floor, losses may not have a part in it. */
	mrc_evset_fill(s, now_ns);
	mrc_evset_reschedule(s, now_ns);
	return 0;
}

bool mrc_evset_take_change(struct mrc_evset *s)
{
	bool changed = s->changed;

	s->changed = false;
	return changed;
}

static int mrc_ev_check(const struct mrc_evset *s, u16 i)
{
	const struct mrc_ev *ev = &s->ev[i];

	if (ev->plane >= s->n_planes || i < s->start[ev->plane] || i >= s->start[ev->plane + 1])
		return __LINE__;
	if (ev->state == MRC_EV_DENIED && (ev->by_loss || ev->asked || ev->run))
		return __LINE__;
	if (ev->state == MRC_EV_GOOD && (ev->run < 0 || ev->run > (mrc_ev_level(ev) > 0)))
		return __LINE__;
	if (ev->state == MRC_EV_SKIP && (ev->run < 1 || ev->run > mrc_ev_passes[mrc_ev_level(ev)]))
		return __LINE__;
	if (ev->state == MRC_EV_ASSUMED_BAD && ev->by_loss && ev->run < 0)
		return __LINE__;
	/* Each that is bad will be probed. */
	if (ev->state == MRC_EV_ASSUMED_BAD && mrc_evset_plane_live(s, ev->plane) &&
	    s->next_probe_ns == MRC_TIME_NEVER)
		return __LINE__;
	return 0;
}

int mrc_evset_check(const struct mrc_evset *s)
{
	u16 on[MRC_PLANES_MAX] = { 0 }, skip[MRC_PLANES_MAX] = { 0 }, bad = 0, i;
	int err;

	for (i = 0; i < s->n; i++) {
		err = mrc_ev_check(s, i);
		if (err)
			return err;
		if (s->ev[i].state <= MRC_EV_SKIP)
			on[s->ev[i].plane]++;
		if (s->ev[i].state == MRC_EV_SKIP)
			skip[s->ev[i].plane]++;
		if (s->ev[i].state == MRC_EV_ASSUMED_BAD)
			bad++;
	}
	for (i = 0; i < s->n_planes; i++) {
		if (on[i] != s->usable_on[i] || skip[i] != s->skip_on[i])
			return __LINE__;
		if (s->proven[i] == MRC_NONE16)
			continue;
		if (s->proven[i] < s->start[i] || s->proven[i] >= s->start[i + 1] ||
		    s->ev[s->proven[i]].state > MRC_EV_SKIP)
			return __LINE__;
	}
	if (bad != s->bad || mrc_evset_count_usable(s) != s->usable)
		return __LINE__;
	return 0;
}
