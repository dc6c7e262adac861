// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_prober.c - see mrc_prober.h.
 */
#include "wire/mrc_wire.h"
#include "probe/mrc_prober.h"

/* ---- the heap: the test with the earliest event is at its top ---- */

static void heap_put(struct mrc_prober *p, u32 place, struct mrc_selfprobe *t)
{
	p->t.heap[place] = t;
	t->place = place;
}

static void heap_up(struct mrc_prober *p, struct mrc_selfprobe *t)
{
	u32 at = t->place;

	for (; at && p->t.heap[(at - 1) / 2]->key_ns > t->key_ns; at = (at - 1) / 2)
		heap_put(p, at, p->t.heap[(at - 1) / 2]);
	heap_put(p, at, t);
}

static void heap_down(struct mrc_prober *p, struct mrc_selfprobe *t)
{
	u32 at = t->place, child;

	while ((child = 2 * at + 1) < p->t.n) {
		if (child + 1 < p->t.n && p->t.heap[child + 1]->key_ns < p->t.heap[child]->key_ns)
			child++;
		if (p->t.heap[child]->key_ns >= t->key_ns)
			break;
		heap_put(p, at, p->t.heap[child]);
		at = child;
	}
	heap_put(p, at, t);
}

/* ---- when to look at a test ---- */

static u64 prober_key(const struct mrc_prober *p, const struct mrc_selfprobe *t)
{
	u64 oldest_ns = mrc_selfprobe_oldest_ns(t), due_ns = p->expired ? MRC_TIME_NEVER : t->due_ns;

	return oldest_ns == MRC_TIME_NEVER ? due_ns : min_t(u64, due_ns, oldest_ns + p->cfg.timeout_ns);
}

static void prober_rekey(struct mrc_prober *p, struct mrc_selfprobe *t)
{
	t->key_ns = prober_key(p, t);
	heap_up(p, t);
	heap_down(p, t);
}

static void prober_rekey_all(struct mrc_prober *p)
{
	u32 i, n = p->t.n;

	for (i = 0; i < n; i++) {
		p->t.test[i]->key_ns = prober_key(p, p->t.test[i]);
		p->t.n = i + 1;	/* so far */
		heap_put(p, i, p->t.test[i]);
		heap_up(p, p->t.test[i]);
	}
}

/* Up to 10 % earlier or later, so that many hosts do not synchronise. Missed probes are not made up for. */
static void prober_postpone(struct mrc_prober *p, struct mrc_selfprobe *t, u64 now_ns)
{
	u32 us = t->cfg.interval_us, tenth = us / 10;
	u64 by_ns = ((u64)us - tenth + mrc_prng_below(&p->rand, 2 * tenth + 1)) * 1000;

	t->due_ns += by_ns;
	if (t->due_ns <= now_ns)
		t->due_ns = now_ns + by_ns;
}

/* ---- the set of tests ---- */

void mrc_prober_init(struct mrc_prober *p, u64 seed, u32 least)
{
	memset(p, 0, sizeof(*p));
	p->rand.state = seed;
	p->least = least;
	p->tick_ns = MRC_TIME_NEVER;
}

/* A random phase spreads tests that were set together. */
static void prober_begin(struct mrc_prober *p, struct mrc_selfprobe *t, u64 now_ns)
{
	t->due_ns = now_ns + (u64)mrc_prng_below(&p->rand, t->cfg.interval_us) * 1000;
}

/* Exchange tests of @t that equal an existing one for the existing one, which keeps its state. */
static void prober_keep(struct mrc_prober *p, struct mrc_prober_table *t)
{
	struct mrc_selfprobe *old;
	u32 i = 0, k = 0;

	while (i < t->n && k < p->t.n) {
		old = p->t.test[k];
		if (old->cfg.id == t->test[i]->cfg.id) {
			if (!memcmp(&old->cfg, &t->test[i]->cfg, sizeof(old->cfg))) {
				p->t.test[k] = t->test[i];
				t->test[i] = old;
			}
			i++;
			k++;
		} else if (old->cfg.id < t->test[i]->cfg.id) {
			k++;
		} else {
			i++;
		}
	}
}

static struct mrc_selfprobe *prober_host(const struct mrc_prober *p)
{
	u32 i;

	for (i = 0; i < p->t.n; i++)
		if (p->t.test[i]->cfg.plane == MRC_PLANE_NONE)
			return p->t.test[i];
	return NULL;
}

enum mrc_prober_news mrc_prober_replace(struct mrc_prober *p, const struct mrc_prober_cfg *cfg,
					struct mrc_prober_table *t, u64 now_ns)
{
	bool renewed = p->expired;
	struct mrc_prober_table old;
	u32 i;

	prober_keep(p, t);
	old = p->t;
	p->t = *t;
	*t = old;
	p->cfg = *cfg;
	p->until_ns = now_ns + cfg->expiry_ns;
	p->expired = false;
	p->host = prober_host(p);
	for (i = 0; i < p->t.n; i++)
		if (!p->t.test[i]->due_ns || renewed)
			prober_begin(p, p->t.test[i], now_ns);
	prober_rekey_all(p);
	return renewed && p->t.n ? MRC_PROBER_RENEWED : MRC_PROBER_NOTHING;
}

/* Index of the first test with an id >= @id. */
static u32 prober_place(const struct mrc_prober *p, u64 id)
{
	u32 lo = 0, hi = p->t.n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (p->t.test[mid]->cfg.id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct mrc_selfprobe *mrc_prober_from(const struct mrc_prober *p, u64 id)
{
	u32 at = prober_place(p, id);

	return at < p->t.n ? p->t.test[at] : NULL;
}

static struct mrc_selfprobe *prober_find(const struct mrc_prober *p, u32 id)
{
	struct mrc_selfprobe *t = mrc_prober_from(p, id);

	return t && t->cfg.id == id ? t : NULL;
}

u64 mrc_prober_left_ns(const struct mrc_prober *p, u64 now_ns)
{
	return p->t.n && !p->expired && now_ns < p->until_ns ? p->until_ns - now_ns : 0;
}

/* ---- is the host fit to measure ---- */

static void prober_stall(struct mrc_prober *p, u64 now_ns)
{
	u32 i;

	for (i = 0; i < p->t.n; i++)
		mrc_selfprobe_void(p->t.test[i]);
	prober_rekey_all(p);
	p->calm = 0;
	if (p->paused)
		return;
	p->paused = true;
	p->paused_ns = now_ns;
	p->count.stalls++;
}

/* Has the probe through the host's own stack waited for stall_ns or longer? */
static bool prober_host_waits(const struct mrc_prober *p, u64 now_ns)
{
	u64 oldest_ns = p->host ? mrc_selfprobe_oldest_ns(p->host) : MRC_TIME_NEVER;

	return oldest_ns != MRC_TIME_NEVER && now_ns >= oldest_ns + p->cfg.stall_ns;
}

/* A run of the timer while the host is starved. @late: it still is. */
static enum mrc_prober_news prober_calm(struct mrc_prober *p, bool late, u64 now_ns)
{
	bool told = p->told;

	p->calm = late ? 0 : p->calm + 1;
	if (p->calm < MRC_PROBER_CALM) {
		if (told || now_ns < p->paused_ns + MRC_PROBER_TOLD_NS)
			return MRC_PROBER_NOTHING;
		p->told = true;
		return MRC_PROBER_STARVED;
	}
	p->paused = false;
	p->told = false;
	return told ? MRC_PROBER_FED : MRC_PROBER_NOTHING;
}

static enum mrc_prober_news prober_expire(struct mrc_prober *p)
{
	p->expired = true;
	prober_rekey_all(p);
	return MRC_PROBER_EXPIRED;
}

enum mrc_prober_news mrc_prober_tick(struct mrc_prober *p, u64 now_ns)
{
	u64 lag_ns = now_ns > p->tick_ns ? now_ns - p->tick_ns : 0;
	bool late = lag_ns >= p->cfg.stall_ns || p->slow || prober_host_waits(p, now_ns);

	p->began_ns = now_ns;
	p->slow = false;
	p->tick_ns = MRC_TIME_NEVER;
	p->count.lag_high_ns = max_t(u64, p->count.lag_high_ns, lag_ns);
	p->count.lag_hist[mrc_selfprobe_bucket(lag_ns)]++;
	if (late)
		prober_stall(p, now_ns);
	if (p->t.n && !p->expired && now_ns >= p->until_ns)
		return prober_expire(p);
	return p->paused ? prober_calm(p, late, now_ns) : MRC_PROBER_NOTHING;
}

/* ---- the budget of a plane ---- */

void mrc_prober_plane(struct mrc_prober *p, u8 num, u32 mtu, u64 rate)
{
	p->plane[num].mtu = mtu;
	p->plane[num].rate = min_t(u64, rate, MRC_PROBER_BUDGET_MAX);
}

static bool prober_pay(struct mrc_prober_plane *pl, u32 bytes, u64 now_ns)
{
	const u32 second = 1000000000u;
	u64 most = max_t(u64, pl->rate, MRC_PROBER_PURSE), since_ns = now_ns - pl->purse_ns;
	u64 earned = div_u64(min_t(u64, since_ns, second) * pl->rate, second);

	/* Keep the time if it has not earned a whole byte yet. */
	if (since_ns >= second || earned) {
		pl->purse = min_t(u64, most, since_ns >= second && !pl->purse_ns ? most : pl->purse + earned);
		pl->purse_ns = now_ns;
	}
	if (pl->purse < bytes + MRC_PROBER_FRAME)
		return false;
	pl->purse -= bytes + MRC_PROBER_FRAME;
	return true;
}

/* ---- the next probe ---- */

static bool prober_is_full(const struct mrc_prober *p, const struct mrc_selfprobe *t)
{
	return p->cfg.full_every && t->cfg.plane != MRC_PLANE_NONE && !((t->next + 1) % p->cfg.full_every);
}

/* May @t send now? Then *size is the size of the packet. */
static bool prober_may(struct mrc_prober *p, struct mrc_selfprobe *t, bool full, u64 now_ns, u32 *size)
{
	struct mrc_prober_plane *pl;

	*size = max_t(u32, t->cfg.size, p->least);
	if (t->cfg.plane == MRC_PLANE_NONE)
		return true;
	if (p->paused)
		return false;
	pl = &p->plane[t->cfg.plane];
	if (!pl->mtu) {
		t->count.unsent++;
		return false;
	}
	*size = full ? pl->mtu : min_t(u32, *size, pl->mtu);
	if (prober_pay(pl, *size, now_ns))
		return true;
	t->count.over_budget++;
	return false;
}

/* @t is due. False: nothing is sent. */
static bool prober_send(struct mrc_prober *p, struct mrc_selfprobe *t, u64 now_ns, struct mrc_prober_op *op)
{
	bool full = prober_is_full(p, t);

	prober_postpone(p, t, now_ns);
	if (!prober_may(p, t, full, now_ns, &op->size))
		return false;
	op->cfg = t->cfg;
	op->secret = t->secret;
	op->seq = mrc_selfprobe_send(t, full, now_ns);
	return true;
}

bool mrc_prober_next(struct mrc_prober *p, u64 now_ns, struct mrc_prober_op *op)
{
	struct mrc_selfprobe *t;
	bool sends;
	u32 i;

	for (i = 0; i < MRC_PROBER_LOOK && p->t.n; i++) {
		t = p->t.heap[0];
		if (t->key_ns > now_ns)
			return false;
		if (now_ns >= p->cfg.timeout_ns)
			mrc_selfprobe_expire(t, now_ns - p->cfg.timeout_ns, now_ns);
		sends = !p->expired && t->due_ns <= now_ns && prober_send(p, t, now_ns, op);
		prober_rekey(p, t);
		if (sends)
			return true;
	}
	return false;
}

void mrc_prober_undo(struct mrc_prober *p, const struct mrc_prober_op *op)
{
	struct mrc_selfprobe *t = prober_find(p, op->cfg.id);

	if (!t || t->secret != op->secret)
		return;
	mrc_selfprobe_undo(t, op->seq);
	prober_rekey(p, t);
}

/* Duration of the timer's run so far. */
static u64 prober_spent(const struct mrc_prober *p, u64 now_ns)
{
	return p->began_ns && now_ns > p->began_ns ? min_t(u64, now_ns - p->began_ns, MRC_PROBER_TOLD_NS) : 0;
}

u64 mrc_prober_arm(struct mrc_prober *p, u64 now_ns)
{
	u64 at_ns = p->t.n ? p->t.heap[0]->key_ns : MRC_TIME_NEVER;

	if (p->t.n && !p->expired)
		at_ns = min_t(u64, at_ns, p->until_ns);
	if (p->t.n && p->paused)
		at_ns = min_t(u64, at_ns, now_ns + MRC_PROBER_IDLE_NS);
	if (at_ns != MRC_TIME_NEVER)
		at_ns = max_t(u64, at_ns, now_ns + max_t(u64, MRC_PROBER_TICK_NS, prober_spent(p, now_ns) * MRC_PROBER_REST));
	p->began_ns = 0;
	p->tick_ns = at_ns;
	return at_ns;
}

/* ---- probes that return ---- */

enum mrc_selfprobe_verdict mrc_prober_rx(struct mrc_prober *p, const struct mrc_selfprobe_arrival *c, u64 now_ns)
{
	struct mrc_selfprobe *t = prober_find(p, c->id);
	enum mrc_selfprobe_verdict verdict = MRC_SELFPROBE_FORGED;
	u64 rtt_ns = 0;

	if (t)
		verdict = mrc_selfprobe_rx(t, c, now_ns, &rtt_ns);
	if (verdict == MRC_SELFPROBE_FORGED) {
		p->count.forged++;
		return verdict;
	}
	prober_rekey(p, t);
	if (t == p->host && rtt_ns >= p->cfg.stall_ns)
		p->slow = true;
	return verdict;
}
