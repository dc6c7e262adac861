// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_pathset.c - builds path sets: EVs of a profile, or generated ones (AUTO), grouped by plane
 * for the engine.
 *
 * The values stay in the profile, and the set refers to it. EVs of a template are computed for the
 * peer and belong to the set (35 bytes each). Apart from that, a set takes 41 bytes per EV. A set
 * that is built in softirq for ordinary IP cannot wait for memory and rotates over few EVs: it
 * takes MRC_PS_EVS_PART of many EVs, evenly from each plane. The first QP replaces it by a complete
 * set.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include "engine/wire/mrc_entropy.h"
#include "linux/mrc.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_random.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer.h"
#include "path/mrc_template.h"

#define MRC_PS_EVS_PART	128
#define MRC_AUTO_PER_PLANE	16

/* A set under construction. The arrays are indexed by EV of the set. */
struct ps_plan {
	struct mrc_entropy entropy;
	u32 *value;		/* entropy */
	u8 *plane;		/* 0-based */
	u16 *src;		/* index in the profile */
	u16 n;
	u8 n_planes;
	bool local;
};

/* ---- life ---- */

static void pathset_free(struct mrc_pathset *ps)
{
	kvfree(ps->of_template);
	kvfree(ps->path);
	kvfree(ps->mem);
	kfree(ps);
}

static void pathset_free_rcu(struct rcu_head *rcu)
{
	struct mrc_pathset *ps = container_of(rcu, struct mrc_pathset, rcu);

	mrc_profile_put(ps->prof);
	pathset_free(ps);
}

void mrc_pathset_drop_route(struct mrc_ev_path *path)
{
	struct dst_entry *dst = rcu_dereference_protected(path->dst, true);

	RCU_INIT_POINTER(path->dst, NULL);
	dst_release(dst);
}

void mrc_pathset_drop_routes(struct mrc_pathset *ps)
{
	u16 i;

	for (i = 0; i < mrc_evset_n(&ps->evs); i++)
		mrc_pathset_drop_route(&ps->path[i]);
	memset(ps->saddr, 0, mrc_evset_n_planes(&ps->evs) * sizeof(*ps->saddr));
}

static void pathset_release(struct kref *ref)
{
	struct mrc_pathset *ps = container_of(ref, struct mrc_pathset, ref);

	mrc_pathset_drop_routes(ps);
	call_rcu(&ps->rcu, pathset_free_rcu);
}

void mrc_pathset_put(struct mrc_pathset *ps)
{
	if (ps)
		kref_put(&ps->ref, pathset_release);
}

void mrc_pathset_value(const struct mrc_pathset *ps, u16 idx, u8 value[MRC_EV_BYTES])
{
	if (!ps->is_auto) {
		memcpy(value, mrc_pathset_ev(ps, &ps->path[idx])->value, MRC_EV_BYTES);
		return;
	}
	memset(value, 0, MRC_EV_BYTES);
	put_unaligned_be32(mrc_evset_value(&ps->evs, idx), value);
}

bool mrc_pathset_denied(const struct mrc_pathset *ps, u16 idx)
{
	struct mrc_ev_info info;

	spin_lock_bh(&ps->peer->path_lock);
	mrc_evset_info(&ps->evs, idx, &info);
	spin_unlock_bh(&ps->peer->path_lock);
	return info.state == MRC_EV_DENIED && !info.aside;
}

/* Do two EVs, of sets of one profile, have the same port and value? */
static bool same_ev(const struct mrc_pathset *a, u16 i, const struct mrc_pathset *b, u16 k)
{
	return a->path[i].port == b->path[k].port &&
	       !memcmp(mrc_pathset_ev(a, &a->path[i])->value, mrc_pathset_ev(b, &b->path[k])->value,
		       MRC_EV_BYTES);
}

/*
 * Both sets have their EVs in the profile's order, plane by plane, and the shorter one is a subsequence of the longer
 * one, so a single walk over both suffices. Generated EVs (AUTO) differ in each set.
 */
void mrc_pathset_keep_denied(struct mrc_pathset *new, const struct mrc_pathset *old)
{
	u16 i = 0, k = 0, n_old = mrc_evset_n(&old->evs), n = mrc_evset_n(&new->evs);
	struct mrc_ev_info info;

	if (!old->prof || old->prof != new->prof || old->is_auto ||
	    memcmp(old->own, new->own, sizeof(new->own)))
		return;
	while (i < n_old && k < n) {
		if (!same_ev(old, i, new, k)) {
			if (n_old > n)
				i++;
			else
				k++;
			continue;
		}
		mrc_evset_info(&old->evs, i++, &info);
		if (info.state == MRC_EV_DENIED && !info.aside)
			mrc_evset_set_state(&new->evs, k, MRC_EV_DENIED, ktime_get_ns());
		k++;
	}
}

bool mrc_pathset_is_of(const struct mrc_pathset *ps, const struct mrc_profile *prof)
{
	struct mrc_ev_addrs addrs;

	if (ps->prof != prof)
		return false;
	if (!prof || !prof->from_own)
		return true;
	mrc_template_addrs(ps->peer->dev, prof, &ps->peer->gid, &addrs);
	return !memcmp(ps->own, addrs.src, sizeof(ps->own));
}

/* ---- which EVs ---- */

static u16 auto_count(const struct mrc_profile *prof, u32 k)
{
	if (prof && prof->want)
		return max_t(u16, prof->want, (u16)k);
	return (u16)(MRC_AUTO_PER_PLANE * k);
}

/* Equal numbers per plane; the first planes get the remainder. */
static void plan_auto(struct ps_plan *plan, u32 planes, bool flow_label)
{
	u32 k = hweight32(planes), each = plan->n / k, over = plan->n % k;
	u32 mask, count, i = 0;

	for (mask = planes; mask; mask &= mask - 1) {
		count = each;
		if (over) {
			count++;
			over--;
		}
		for (; count; count--, i++) {
			plan->plane[i] = (u8)__ffs(mask);
			plan->value[i] = mrc_entropy_auto(&plan->entropy, i, flow_label);
		}
	}
	plan->n_planes = (u8)fls(planes);
}

struct ps_counts {
	unsigned long *out;		/* denied EVs, which a partial set leaves out; NULL: none */
	u32 have[MRC_PLANES_MAX];	/* number of other EVs, per plane */
	u32 take[MRC_PLANES_MAX];	/* number of EVs in the set, per plane */
	u32 n;				/* sum of take */
};

/* False: no memory. A partial set prefers EVs that are not denied. */
static bool count_evs(const struct mrc_profile *prof, u32 limit, struct ps_counts *c, gfp_t gfp)
{
	u32 planes = 0, quota, i;

	memset(c, 0, sizeof(*c));
	if (prof->n > limit) {
		c->out = bitmap_zalloc(prof->n, gfp | __GFP_NOWARN);
		if (!c->out)
			return false;
	}
	for (i = 0; i < prof->n; i++)
		if (c->out && READ_ONCE(prof->ev[i].denied))
			__set_bit(i, c->out);
		else
			planes += !c->have[prof->ev[i].port - 1]++;
	quota = max(limit / max(planes, 1u), 1u);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		c->take[i] = prof->n > limit ? min(c->have[i], quota) : c->have[i];
		c->n += c->take[i];
	}
	return true;
}

/* Sorted by plane, in the profile's order. A partial set takes EVs at even distances. */
static void plan_explicit(struct ps_plan *plan, const struct mrc_profile *prof,
			  const struct ps_counts *c, u8 n_planes)
{
	u32 at[MRC_PLANES_MAX], seen[MRC_PLANES_MAX] = {}, sum = 0, src, i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		at[i] = sum;
		sum += c->take[i];
		if (c->take[i])
			n_planes = max_t(u8, n_planes, (u8)(i + 1));
	}
	for (src = 0; src < prof->n; src++) {
		u32 p = prof->ev[src].port - 1, k;

		if (c->out && test_bit((int)src, c->out))
			continue;
		k = seen[p]++;
		if (k * c->take[p] / c->have[p] == (k + 1) * c->take[p] / c->have[p])
			continue;
		i = at[p]++;
		plan->plane[i] = (u8)p;
		plan->src[i] = (u16)src;
	}
	plan->n_planes = n_planes;
}

/* ---- building ---- */

static bool plan_alloc(struct ps_plan *plan, const struct mrc_peer *peer, u16 n, gfp_t gfp)
{
	u8 *mem;

	mrc_entropy_init(&plan->entropy, mrc_random_u64(), peer->v4,
			 READ_ONCE(peer->dev->attr.ev_port_low));
	mem = kvzalloc(n * (sizeof(*plan->value) + sizeof(*plan->src) + sizeof(*plan->plane)),
		       gfp | __GFP_NOWARN);
	if (!mem)
		return false;
	plan->n = n;
	plan->value = (u32 *)mem;
	plan->src = (u16 *)(plan->value + n);
	plan->plane = (u8 *)(plan->src + n);
	return true;
}

static void plan_free(const struct ps_plan *plan)
{
	kvfree(plan->value);
}

/*
 * Memory that grows with the EVs is in two blocks: 100 KiB and 64 KiB for 4,096 EVs, because one block would be
 * rounded up to 256. NULL: no memory.
 */
static struct mrc_pathset *pathset_alloc(const struct ps_plan *plan, gfp_t gfp)
{
	size_t evs = ALIGN(mrc_evset_mem_size(plan->n, true), 8);
	size_t saddr = plan->n_planes * sizeof(struct in6_addr);
	u16 rot = min_t(u16, plan->n, MRC_SPRAY_MAX);
	struct mrc_pathset *ps = kzalloc(sizeof(*ps), gfp);

	if (!ps)
		return NULL;
	ps->mem = kvzalloc(evs + saddr + MRC_SPRAY_LEN(rot) * sizeof(*ps->ip_order),
			   gfp | __GFP_NOWARN);
	ps->path = kvcalloc(plan->n, sizeof(*ps->path), gfp | __GFP_NOWARN);
	if (!ps->mem || !ps->path) {
		pathset_free(ps);
		return NULL;
	}
	kref_init(&ps->ref);
	ps->saddr = (struct in6_addr *)((u8 *)ps->mem + evs);
	ps->ip_order = (u16 *)((u8 *)ps->saddr + saddr);
	mrc_spray_init(&ps->ip_rot, ps->ip_order, rot, mrc_random_u64());
	return ps;
}

/* The set takes over the reference to @prof. NULL: no memory. */
static struct mrc_pathset *pathset_make(struct mrc_peer_paths *paths, const struct ps_plan *plan,
					struct mrc_profile *prof, gfp_t gfp)
{
	struct mrc_peer *peer = paths->peer;
	struct mrc_evset_cfg cfg = {
		.n = plan->n,
		.n_planes = plan->n_planes,
		.counts = true,
		.peer = peer->gid.raw,
		.turns = &paths->turns,
		.planes_up = plan->local ? ~0u : READ_ONCE(peer->dev->planes_up),
	};
	struct mrc_pathset *ps = pathset_alloc(plan, gfp);
	u16 i;

	if (!ps)
		return NULL;
	if (prof)
		cfg.min_active = min(prof->min_active, plan->n);
	if (WARN_ON_ONCE(mrc_evset_init(&ps->evs, ps->mem, &cfg, plan->value, plan->plane))) {
		pathset_free(ps);
		return NULL;
	}
	for (i = 0; i < plan->n; i++) {
		ps->path[i].src = plan->src[i];
		ps->path[i].port = plan->plane[i] + 1;
	}
	ps->peer = peer;
	ps->paths = paths;
	ps->prof = prof;
	ps->profile_id = prof ? prof->key.id : 0;
	ps->local = plan->local;
	return ps;
}

static u16 ps_limit(struct mrc_peer *peer, gfp_t gfp)
{
	return gfpflags_allow_blocking(gfp) && READ_ONCE(peer->for_qps) ? MRC_EVS_MAX :
									  MRC_PS_EVS_PART;
}

static struct mrc_pathset *build_auto(struct mrc_peer_paths *paths, struct mrc_profile *prof,
				      u32 planes, bool local, gfp_t gfp)
{
	bool flow_label = !(prof && prof->fmt == MRC_FMT_UDP);
	u16 n = auto_count(prof, hweight32(planes));
	struct mrc_peer *peer = paths->peer;
	struct ps_plan plan = { .local = local };
	struct mrc_pathset *ps;

	n = min_t(u16, n, ps_limit(peer, gfp));
	if (!plan_alloc(&plan, peer, n, gfp))
		return NULL;
	plan_auto(&plan, planes, flow_label);
	ps = pathset_make(paths, &plan, prof, gfp);
	plan_free(&plan);
	if (ps) {
		ps->is_auto = true;
		ps->part = n < auto_count(prof, hweight32(planes));
	}
	return ps;
}

/* Compute the entropy of the set's EVs from @ev, the profile's EVs or those of plan_template(). */
static void plan_values(struct ps_plan *plan, u32 fmt, const struct mrc_profile_ev *ev)
{
	u16 i;

	for (i = 0; i < plan->n; i++)
		plan->value[i] = mrc_entropy_of(&plan->entropy, (enum mrc_ev_fmt)fmt,
						ev[plan->src[i]].value, i);
}

/*
 * The EVs of a template that the plan selects, in its order. Only these, so a peer of ordinary IP costs
 * no more than with another profile. NULL: no memory.
 */
static struct mrc_profile_ev *plan_template(struct ps_plan *plan, const struct mrc_profile *prof,
					    const struct mrc_ev_addrs *addrs, gfp_t gfp)
{
	struct mrc_profile_ev *ev = kvcalloc(plan->n, sizeof(*ev), gfp | __GFP_NOWARN);
	u16 i;

	for (i = 0; ev && i < plan->n; i++) {
		mrc_template_ev(prof, plan->src[i], addrs, &ev[i]);
		plan->src[i] = i;
	}
	return ev;
}

/* Applies the denied EVs of the profile. The set is not yet published. */
static void deny_evs(struct mrc_pathset *ps, const struct mrc_profile_ev *ev)
{
	u16 i;

	for (i = 0; i < mrc_evset_n(&ps->evs); i++)
		if (READ_ONCE(ev[ps->path[i].src].denied))
			mrc_evset_set_state(&ps->evs, i, MRC_EV_DENIED, ktime_get_ns());
	mrc_evset_take_change(&ps->evs);	/* no event for these changes */
}

static struct mrc_pathset *build_explicit(struct mrc_peer_paths *paths, struct mrc_profile *prof,
					  gfp_t gfp)
{
	struct mrc_peer *peer = paths->peer;
	u8 n_planes = max_t(u8, READ_ONCE(peer->dev->n_planes), 1);
	struct mrc_profile_ev *made = NULL;
	struct mrc_pathset *ps = NULL;
	struct mrc_ev_addrs addrs;
	struct ps_plan plan = {};
	struct ps_counts c;

	if (!count_evs(prof, ps_limit(peer, gfp), &c, gfp) ||
	    !plan_alloc(&plan, peer, (u16)c.n, gfp)) {
		bitmap_free(c.out);
		return NULL;
	}
	plan_explicit(&plan, prof, &c, n_planes);
	bitmap_free(c.out);
	mrc_template_addrs(peer->dev, prof, &peer->gid, &addrs);
	if (prof->is_template)
		made = plan_template(&plan, prof, &addrs, gfp);
	if (made || !prof->is_template) {
		plan_values(&plan, prof->fmt, made ?: prof->ev);
		ps = pathset_make(paths, &plan, prof, gfp);
	}
	plan_free(&plan);
	if (!ps) {
		kvfree(made);
		return NULL;
	}
	ps->ev = made ?: prof->ev;
	deny_evs(ps, ps->ev);
	ps->of_template = made;
	memcpy(ps->own, addrs.src, sizeof(ps->own));
	ps->srv6 = prof->fmt == MRC_FMT_SRV6;
	ps->part = c.n < prof->n;
	return ps;
}

static atomic64_t pathset_ids = ATOMIC64_INIT(0);

struct mrc_pathset *mrc_pathset_build(struct mrc_peer_paths *paths, gfp_t gfp)
{
	struct mrc_peer *peer = paths->peer;
	/* Read before the state that it stands for; pairs with change_gen(). */
	u32 gen = smp_load_acquire(&peer->dev->path_gen);
	bool local = READ_ONCE(peer->local);
	u32 planes = local ? 1 : mrc_dev_plane_mask(peer->dev);
	struct mrc_profile *prof = NULL;
	struct mrc_pathset *ps;

	if (!local && !peer->group)
		prof = mrc_profiles_lookup(peer->dev, paths->named, &peer->gid);
	if (prof && prof->mode != MRC_MODE_AUTO)
		ps = build_explicit(paths, prof, gfp);
	else
		ps = build_auto(paths, prof, planes ?: 1, local, gfp);
	if (!ps) {
		mrc_profile_put(prof);
		return NULL;
	}
	ps->id = ps->first_id = (u64)atomic64_inc_return(&pathset_ids);
	ps->gen = gen;
	ps->planes = planes;
	return ps;
}
