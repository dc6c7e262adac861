// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_damp.c - flap damping (mrc_damp.h).
 *
 * Decay without exp(): exact at whole half-lives and linear between them, at most 6.2 % above the
 * curve. The time at which a penalty will have decayed is solved from the same lines, so deadline
 * and poll cannot disagree. Time counts in units of 1,024 ns, so half-lives up to 1 h fit 32 bits.
 */
#include "peer/mrc_damp.h"

#define MRC_DAMP_SHIFT		10
#define MRC_DAMP_HALF_DEFAULT	2000000000ull
#define MRC_DAMP_HALF_MIN	(1ull << MRC_DAMP_SHIFT)
#define MRC_DAMP_HALF_MAX	3600000000000ull
#define MRC_DAMP_MAX_HALVES	4
#define MRC_DAMP_SUPPRESS	2500
#define MRC_DAMP_REUSE		1000
#define MRC_DAMP_THRESHOLD_MAX	(1u << 24)
#define MRC_DAMP_PENALTY_MAX	(1u << 30)

static u32 mrc_damp_half(const struct mrc_damp *d)
{
	return (u32)(d->cfg.half_life_ns >> MRC_DAMP_SHIFT);
}

/* The value of penalty @p after @ns. */
static u32 mrc_damp_decay(const struct mrc_damp *d, u32 p, u64 ns)
{
	u32 half = mrc_damp_half(d);
	u64 t = ns >> MRC_DAMP_SHIFT, halves = div_u64(t, half);

	if (halves > 31)
		return 0;
	p >>= halves;
	return p - (u32)div_u64((u64)p * (u32)(t - halves * half), half) / 2;
}

/* Time until penalty @p has decayed to the reuse threshold. */
static u64 mrc_damp_wait(const struct mrc_damp *d, u32 p)
{
	u32 half = mrc_damp_half(d), reuse = d->cfg.reuse;
	u64 t = 0;

	/* Compared as p / 2 > reuse without losing the odd bit. */
	for (; p > 2 * (u64)reuse; p = p / 2 + (p & 1))
		t += half;
	/* The rest of the line: p - p * x / (2 half) = reuse. */
	if (p > reuse)
		t += div_u64(2 * (u64)(p - reuse) * half + p - 1, p);
	return min_t(u64, t << MRC_DAMP_SHIFT, d->cfg.max_ns);
}

static u64 mrc_damp_release_ns(const struct mrc_damp *d, u8 port)
{
	u64 at = d->at_ns[port] + mrc_damp_wait(d, d->penalty[port]);

	return at < d->at_ns[port] ? MRC_TIME_NEVER - 1 : at;
}

/* The maximum penalty: it takes max_ns to decay to the reuse threshold. */
static u32 mrc_damp_ceiling(const struct mrc_damp *d)
{
	u32 half = mrc_damp_half(d);
	u64 t = d->cfg.max_ns >> MRC_DAMP_SHIFT, halves = div_u64(t, half);
	u64 p = div_u64((u64)d->cfg.reuse * half, half - (u32)(t - halves * half) / 2);

	if (halves > 30 || p << halves > MRC_DAMP_PENALTY_MAX)
		return MRC_DAMP_PENALTY_MAX;
	return max_t(u32, (u32)(p << halves), d->cfg.suppress + 1);
}

void mrc_damp_init(struct mrc_damp *d, const struct mrc_damp_cfg *cfg, u32 up)
{
	struct mrc_damp_cfg *k = &d->cfg;

	memset(d, 0, sizeof(*d));
	*k = *cfg;
	k->half_life_ns = k->half_life_ns ? clamp_t(u64, k->half_life_ns, MRC_DAMP_HALF_MIN,
						    MRC_DAMP_HALF_MAX) :
					    MRC_DAMP_HALF_DEFAULT;
	k->suppress = clamp_t(u32, k->suppress ? k->suppress : MRC_DAMP_SUPPRESS,
			      MRC_DAMP_FAILURE, MRC_DAMP_THRESHOLD_MAX);
	k->reuse = min_t(u32, k->reuse ? k->reuse : MRC_DAMP_REUSE, k->suppress);
	if (!k->max_ns)
		k->max_ns = MRC_DAMP_MAX_HALVES * k->half_life_ns;
	d->ceiling = mrc_damp_ceiling(d);
	d->up = up;
}

static void mrc_damp_failed(struct mrc_damp *d, u8 port, u64 now_ns)
{
	u64 since = now_ns > d->at_ns[port] ? now_ns - d->at_ns[port] : 0;
	u32 p = mrc_damp_decay(d, d->penalty[port], since) + MRC_DAMP_FAILURE;

	d->penalty[port] = min_t(u32, p, d->ceiling);
	d->at_ns[port] = now_ns;
	if (d->penalty[port] > d->cfg.suppress && !d->cfg.off)
		d->held |= 1u << port;
}

u32 mrc_damp_set(struct mrc_damp *d, u32 up, u64 now_ns)
{
	u32 down = d->up & ~up;

	/* First release the ports whose penalty has decayed by now. */
	mrc_damp_poll(d, now_ns);
	d->up = up;
	for (; down; down &= down - 1)
		mrc_damp_failed(d, (u8)mrc_ffs64(down), now_ns);
	return d->up & ~d->held;
}

void mrc_damp_forgive(struct mrc_damp *d, u8 port)
{
	d->penalty[port] -= min_t(u32, d->penalty[port], MRC_DAMP_FAILURE);
}

u32 mrc_damp_poll(struct mrc_damp *d, u64 now_ns)
{
	u32 held = d->held;

	for (; held; held &= held - 1) {
		u8 port = (u8)mrc_ffs64(held);

		if (now_ns >= mrc_damp_release_ns(d, port))
			d->held &= ~(1u << port);
	}
	return d->up & ~d->held;
}

u32 mrc_damp_suppressed(const struct mrc_damp *d, u32 usable)
{
	u32 held = mrc_damp_held(d);

	return usable & ~held ? held : held & ~usable;
}

u64 mrc_damp_deadline_ns(const struct mrc_damp *d)
{
	u32 held = mrc_damp_held(d);
	u64 at = MRC_TIME_NEVER;

	for (; held; held &= held - 1)
		at = min_t(u64, at, mrc_damp_release_ns(d, (u8)mrc_ffs64(held)));
	return at;
}
