// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile.c - the EV profiles of a device.
 *
 * The device's default id chooses among them: an exact destination first, then
 * "any"; with neither, EVs are made up (AUTO). Profiles are
 * immutable: setting one anew replaces it, and every path set built from the old one
 * is rebuilt.
 *
 * List and hash table change under rtnl and dev->peer_lock. Packets look profiles up in the
 * table, under RCU; a reader that goes on takes a reference.
 */
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile.h"

struct mrc_profile *mrc_profile_alloc(u32 n, u32 n_gen)
{
	struct mrc_profile *p = kvzalloc(struct_size(p, ev, n), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	refcount_set(&p->ref, 1);
	INIT_LIST_HEAD(&p->link);
	if (!n_gen)
		return p;
	p->gen = kvcalloc(n_gen, sizeof(*p->gen), GFP_KERNEL_ACCOUNT);
	if (!p->gen) {
		kvfree(p);
		return NULL;
	}
	return p;
}

static void profile_free_rcu(struct rcu_head *rcu)
{
	struct mrc_profile *p = container_of(rcu, struct mrc_profile, rcu);

	kvfree(p->gen);
	kvfree(p);
}

void mrc_profile_put(struct mrc_profile *p)
{
	if (p && refcount_dec_and_test(&p->ref))
		call_rcu(&p->rcu, profile_free_rcu);
}

static bool profile_is(const struct mrc_profile *p, u64 id, const union ib_gid *dst)
{
	if (p->id != id || p->any_dst != !dst)
		return false;
	return !dst || !memcmp(&p->dst, dst, sizeof(*dst));
}

static struct hlist_head *profile_bucket(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	u32 hash = jhash_2words((u32)id, (u32)(id >> 32), 0);

	if (dst)
		hash = jhash(dst, sizeof(*dst), hash);
	return &dev->profile_hash[hash % MRC_PROFILE_BUCKETS];
}

/* Under RCU or dev->peer_lock. @dst NULL: the one for any destination. */
static struct mrc_profile *profile_find(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	struct mrc_profile *p;

	hlist_for_each_entry_rcu(p, profile_bucket(dev, id, dst), hash,
				 lockdep_is_held(&dev->peer_lock))
		if (profile_is(p, id, dst))
			return p;
	return NULL;
}

const struct mrc_profile *mrc_profile_find(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	const struct mrc_profile *p;

	ASSERT_RTNL();
	rcu_read_lock();
	p = profile_find(dev, id, dst);
	rcu_read_unlock();
	return p;
}

bool mrc_profile_exists(struct mrc_dev *dev, u64 id)
{
	const struct mrc_profile *p;

	ASSERT_RTNL();
	list_for_each_entry(p, &dev->profiles, link)
		if (p->id == id)
			return true;
	return false;
}

struct mrc_profile *mrc_profile_lookup(struct mrc_dev *dev, const union ib_gid *dst)
{
	u64 id = READ_ONCE(dev->attr.profile_id);
	struct mrc_profile *p;

	rcu_read_lock();
	p = profile_find(dev, id, dst);
	if (!p)
		p = profile_find(dev, id, NULL);
	if (p && !refcount_inc_not_zero(&p->ref))
		p = NULL;	/* just replaced: path_gen makes the caller look again */
	rcu_read_unlock();
	return p;
}

/* ---- changes ---- */

static bool profile_same(const struct mrc_profile *a, const struct mrc_profile *b)
{
	if (a->fmt != b->fmt || a->mode != b->mode || a->min_active != b->min_active ||
	    a->want != b->want || a->n != b->n || a->n_fmt != b->n_fmt || a->n_gen != b->n_gen)
		return false;
	if (memcmp(a->fmt_width, b->fmt_width, sizeof(a->fmt_width)))
		return false;
	if (a->n_gen && memcmp(a->gen, b->gen, a->n_gen * sizeof(*a->gen)))
		return false;
	return !memcmp(a->ev, b->ev, a->n * sizeof(*a->ev));
}

static bool profile_has_srh(const struct mrc_profile *p)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->ev[i].srh)
			return true;
	return false;
}

/* Under dev->peer_lock. @p comes (1) or goes (-1). */
static void profile_count(struct mrc_dev *dev, const struct mrc_profile *p, int by)
{
	dev->n_profiles += by;
	if (p->fmt == MRC_FMT_SRV6)
		WRITE_ONCE(dev->n_profiles_srv6, dev->n_profiles_srv6 + by);
	if (p->has_srh)
		WRITE_ONCE(dev->n_profiles_srh, dev->n_profiles_srh + by);
}

/*
 * Under dev->peer_lock. Put @p in the list; *out has to go: what it replaced, NULL, or
 * @p itself, which says nothing new (or is one too many: -ENOSPC).
 */
static int profile_place(struct mrc_dev *dev, struct mrc_profile *p, struct mrc_profile **out)
{
	const union ib_gid *dst = p->any_dst ? NULL : &p->dst;
	struct mrc_profile *old = profile_find(dev, p->id, dst);

	*out = p;
	if (!old && dev->n_profiles >= MRC_PROFILES_MAX)
		return -ENOSPC;
	if (old && profile_same(old, p))
		return 0;
	*out = old;
	if (old) {
		list_replace(&old->link, &p->link);
		hlist_replace_rcu(&old->hash, &p->hash);
		profile_count(dev, old, -1);
	} else {
		list_add_tail(&p->link, &dev->profiles);
		hlist_add_head_rcu(&p->hash, profile_bucket(dev, p->id, dst));
	}
	profile_count(dev, p, 1);
	return 0;
}

int mrc_profile_set(struct mrc_dev *dev, struct mrc_profile *p, bool *changed,
		    struct netlink_ext_ack *extack)
{
	struct mrc_profile *out = p;
	int err = -ENODEV;

	ASSERT_RTNL();
	p->has_srh = profile_has_srh(p);
	if (!dev->dead) {
		spin_lock_bh(&dev->peer_lock);
		err = profile_place(dev, p, &out);
		spin_unlock_bh(&dev->peer_lock);
		if (err)
			MRC_ERR_MSG(extack, "profile %llu: there are %u already", p->id,
				    MRC_PROFILES_MAX);
	}
	*changed = out != p;
	mrc_profile_put(out);
	return err;
}

int mrc_profile_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
		    struct netlink_ext_ack *extack)
{
	struct mrc_profile *p;

	spin_lock_bh(&dev->peer_lock);
	p = profile_find(dev, id, dst);
	if (p) {
		list_del(&p->link);
		hlist_del_rcu(&p->hash);
		profile_count(dev, p, -1);
	}
	spin_unlock_bh(&dev->peer_lock);
	if (!p) {
		if (dst)
			MRC_ERR_MSG(extack, "no profile %llu for %pI6c", id, dst);
		else
			MRC_ERR_MSG(extack, "no profile %llu for any destination", id);
		return -ENOENT;
	}
	mrc_profile_put(p);
	return 0;
}

void mrc_profile_destroy_all(struct mrc_dev *dev)
{
	struct mrc_profile *p, *next;

	list_for_each_entry_safe(p, next, &dev->profiles, link) {
		list_del(&p->link);
		hlist_del_rcu(&p->hash);
		mrc_profile_put(p);
	}
}
