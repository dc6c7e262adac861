// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_avoids.c - see mrc_avoids.h.
 *
 * Both lists are in one RCU-protected block, which is replaced under rtnl. Its generation changes
 * with the links, not with their expiry. A path set of the same generation needs no update.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "path/mrc_avoids.h"
#include "path/mrc_peer.h"

#define AVOID_USIDS	12	/* per EV: two addresses, each with a block of 32 bits and six uSIDs */

struct mrc_avoids {
	struct rcu_head rcu;
	u32 gen;		/* never 0 */
	struct mrc_avoid_list list[MRC_AVOID_LISTS];
};

/* ---- the lists ---- */

/* A copy of the current lists, to be changed. NULL: no memory. */
static struct mrc_avoids *avoids_copy(const struct mrc_dev *dev)
{
	const struct mrc_avoids *old = rtnl_dereference(dev->avoids);
	struct mrc_avoids *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (a && old) {
		a->gen = old->gen;
		memcpy(a->list, old->list, sizeof(a->list));
	}
	return a;
}

static void avoids_replace(struct mrc_dev *dev, struct mrc_avoids *a, bool changed)
{
	struct mrc_avoids *old = rtnl_dereference(dev->avoids);

	if (changed && !++a->gen)
		a->gen = 1;
	rcu_assign_pointer(dev->avoids, a);
	if (old)
		kfree_rcu(old, rcu);
}

static bool same_links(const struct mrc_avoid_list *l, const struct mrc_avoid_link *links, u32 n)
{
	u32 i;

	for (i = 0; l->n == n && i < n; i++)
		if (l->link[i].plane != links[i].plane || l->link[i].from != links[i].from ||
		    l->link[i].to != links[i].to)
			return false;
	return l->n == n;
}

int mrc_avoids_set(struct mrc_dev *dev, enum mrc_avoid_by by, const struct mrc_avoid_link *links, u32 n, u32 expiry_s)
{
	struct mrc_avoids *a;
	bool changed;

	ASSERT_RTNL();
	a = avoids_copy(dev);
	if (!a)
		return -ENOMEM;
	changed = !a->gen || !same_links(&a->list[by], links, n);
	memcpy(a->list[by].link, links, n * sizeof(*links));
	a->list[by].n = n;
	a->list[by].expiry_s = expiry_s;
	a->list[by].until_ns = n && expiry_s ? ktime_get_ns() + expiry_s * (u64)NSEC_PER_SEC : 0;
	avoids_replace(dev, a, changed);
	return 0;
}

int mrc_avoids_expire(struct mrc_dev *dev)
{
	struct mrc_avoids *a;
	bool changed = false;
	u32 i;

	ASSERT_RTNL();
	a = avoids_copy(dev);
	if (!a)
		return -ENOMEM;
	for (i = 0; i < MRC_AVOID_LISTS; i++) {
		struct mrc_avoid_list *l = &a->list[i];

		if (!l->until_ns || ktime_get_ns() < l->until_ns)
			continue;
		l->n = 0;
		l->until_ns = 0;
		changed = true;
	}
	if (changed)
		avoids_replace(dev, a, true);
	else
		kfree(a);
	return 0;
}

bool mrc_avoids_left(struct mrc_dev *dev, u64 *left_ns)
{
	const struct mrc_avoids *a = rtnl_dereference(dev->avoids);
	u64 now = ktime_get_ns();
	bool any = false;
	u32 i;

	*left_ns = U64_MAX;
	for (i = 0; a && i < MRC_AVOID_LISTS; i++) {
		u64 until = a->list[i].until_ns;

		if (!until)
			continue;
		*left_ns = min(*left_ns, until > now ? until - now : 0);
		any = true;
	}
	return any;
}

const struct mrc_avoid_list *mrc_avoids_get(struct mrc_dev *dev, enum mrc_avoid_by by)
{
	const struct mrc_avoids *a = rcu_dereference(dev->avoids);

	return a ? &a->list[by] : NULL;
}

void mrc_avoids_exit(struct mrc_dev *dev)
{
	kfree(rcu_dereference_protected(dev->avoids, true));
	RCU_INIT_POINTER(dev->avoids, NULL);
}

/* ---- EVs that cross avoided links ---- */

/* The uSIDs of an EV in order. The destination has the first ones, the segment the rest. Returns their number. */
static u32 ev_usids(const u8 *value, u16 *usid)
{
	u32 n = 0, at, i;

	for (at = 0; at < 2 * sizeof(struct in6_addr); at += sizeof(struct in6_addr))
		for (i = 4; i < sizeof(struct in6_addr) && get_unaligned_be16(value + at + i); i += 2)
			usid[n++] = get_unaligned_be16(value + at + i);
	return n;
}

static bool crosses(const struct mrc_avoid_link *link, const u16 *usid, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (usid[i] == link->from && (!link->to || (i + 1 < n && usid[i + 1] == link->to)))
			return true;
	return false;
}

static bool ev_is_hit(const struct mrc_avoids *a, const struct mrc_pathset *ps, u16 idx)
{
	u8 plane = mrc_evset_plane(&ps->evs, idx);
	u16 usid[AVOID_USIDS];
	u32 n, l, i;

	n = ev_usids(mrc_pathset_ev(ps, &ps->path[idx])->value, usid);
	for (l = 0; l < MRC_AVOID_LISTS; l++)
		for (i = 0; i < a->list[l].n; i++)
			if (a->list[l].link[i].plane == plane && crosses(&a->list[l].link[i], usid, n))
				return true;
	return false;
}

bool mrc_avoids_look(const struct mrc_pathset *ps, unsigned long *hits, u32 *gen)
{
	const struct mrc_avoids *a;
	bool news;
	u16 i;

	rcu_read_lock();
	a = rcu_dereference(ps->peer->dev->avoids);
	news = a && a->gen != READ_ONCE(ps->avoid_gen);
	if (news) {
		*gen = a->gen;
		bitmap_zero(hits, MRC_EVS_MAX);
		for (i = 0; ps->srv6 && !ps->local && i < mrc_evset_n(&ps->evs); i++)
			if (ev_is_hit(a, ps, i))
				__set_bit(i, hits);
	}
	rcu_read_unlock();
	return news;
}

bool mrc_avoids_take(struct mrc_pathset *ps, const unsigned long *hits, u32 gen)
{
	u16 i;

	lockdep_assert_held(&ps->peer->path_lock);
	if (ps->avoid_gen && (s32)(gen - ps->avoid_gen) <= 0)
		return false;
	WRITE_ONCE(ps->avoid_gen, gen);
	for (i = 0; i < mrc_evset_n(&ps->evs); i++)
		mrc_evset_avoid(&ps->evs, i, test_bit(i, hits));
	mrc_evset_avoid_apply(&ps->evs, ktime_get_ns());
	return true;
}
