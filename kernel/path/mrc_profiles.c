// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profiles.c - see mrc_profiles.h.
 *
 * A tree (ordered, for dumps) and a hash table (for packets), both changed under rtnl and
 * dev->peer_lock. Packets look up the table under RCU, once per prefix length in use, longest
 * first. A reader that keeps the result takes a reference.
 */
#include <linux/bitmap.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_profiles.h"

static struct hlist_head *profile_bucket(struct mrc_dev *dev, const struct mrc_profile_key *key)
{
	u32 hash = jhash_3words((u32)key->id, (u32)(key->id >> 32), key->len,
				dev->hash_seed);

	hash = jhash(&key->dst, sizeof(key->dst), hash);
	return &dev->profile_hash[hash % MRC_PROFILE_BUCKETS];
}

/* Under RCU or dev->peer_lock. */
static struct mrc_profile *profile_find(struct mrc_dev *dev, const struct mrc_profile_key *key)
{
	struct mrc_profile *p;

	hlist_for_each_entry_rcu(p, profile_bucket(dev, key), hash,
				 lockdep_is_held(&dev->peer_lock))
		if (!mrc_profile_cmp(&p->key, key))
			return p;
	return NULL;
}

/*
 * Under RCU. A prefix length that is added or removed meanwhile may be missed or found empty. Then path_gen changes, and the
 * caller looks again.
 */
static struct mrc_profile *profile_match(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
					 const struct mrc_profile *without)
{
	unsigned long len, end = MRC_PROFILE_LENS;
	struct mrc_profile_key key = { .id = id };
	struct mrc_profile *p;

	while ((len = find_last_bit(dev->profile_lens, end)) < end) {
		key.len = (u8)len;
		ipv6_addr_prefix((struct in6_addr *)&key.dst, (const struct in6_addr *)dst,
				 (int)len);
		p = profile_find(dev, &key);
		if (p && p != without)
			return p;
		end = len;
	}
	return NULL;
}

const struct mrc_profile *mrc_profiles_find(struct mrc_dev *dev, const struct mrc_profile_key *key)
{
	const struct mrc_profile *p;

	ASSERT_RTNL();
	rcu_read_lock();
	p = profile_find(dev, key);
	rcu_read_unlock();
	return p;
}

const struct mrc_profile *mrc_profiles_match(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
					     const struct mrc_profile *without)
{
	const struct mrc_profile *p;

	ASSERT_RTNL();
	rcu_read_lock();
	p = profile_match(dev, id, dst, without);
	rcu_read_unlock();
	return p;
}

struct mrc_profile *mrc_profiles_lookup(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	struct mrc_profile *p;

	rcu_read_lock();
	p = profile_match(dev, id ?: READ_ONCE(dev->attr.profile_id), dst, NULL);
	if (p && !refcount_inc_not_zero(&p->ref))
		p = NULL;	/* just replaced: path_gen makes the caller look again */
	rcu_read_unlock();
	return p;
}

const struct mrc_profile *mrc_profiles_next(struct mrc_dev *dev, const struct mrc_profile_key *key,
					    bool same)
{
	const struct mrc_profile *p, *best = NULL;
	struct rb_node *node = dev->profiles.rb_node;

	lockdep_assert_held(&dev->peer_lock);
	while (node) {
		int cmp;

		p = rb_entry(node, struct mrc_profile, node);
		cmp = mrc_profile_cmp(&p->key, key);
		if (cmp > 0 || (same && cmp == 0)) {
			best = p;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return best;
}

bool mrc_profiles_exist(struct mrc_dev *dev, u64 id)
{
	const struct mrc_profile_key first = { .id = id };
	const struct mrc_profile *p;
	bool exist;

	spin_lock_bh(&dev->peer_lock);
	p = mrc_profiles_next(dev, &first, true);
	exist = p && p->key.id == id;
	spin_unlock_bh(&dev->peer_lock);
	return exist;
}

/* ---- changes ---- */

static bool profile_has_srh(const struct mrc_profile *p)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->ev[i].srh)
			return true;
	return false;
}

/* Under dev->peer_lock. @p is added (@by 1) or removed (-1). */
static void profile_count(struct mrc_dev *dev, const struct mrc_profile *p, int by)
{
	u32 *of_len = &dev->n_profiles_len[p->key.len];

	dev->n_profiles += by;
	*of_len += by;
	if (*of_len)
		set_bit(p->key.len, dev->profile_lens);
	else
		clear_bit(p->key.len, dev->profile_lens);
	if (p->fmt == MRC_FMT_SRV6)
		WRITE_ONCE(dev->n_profiles_srv6, dev->n_profiles_srv6 + by);
	if (p->has_srh)
		WRITE_ONCE(dev->n_profiles_srh, dev->n_profiles_srh + by);
	if (p->from_own)
		WRITE_ONCE(dev->n_profiles_own, dev->n_profiles_own + by);
}

/* Under dev->peer_lock. @p is in no tree, and no other profile has its key. */
static void profile_insert(struct mrc_dev *dev, struct mrc_profile *p)
{
	struct rb_node **at = &dev->profiles.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = mrc_profile_cmp(&p->key, &rb_entry(parent, struct mrc_profile, node)->key) < 0 ?
		     &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&p->node, parent, at);
	rb_insert_color(&p->node, &dev->profiles);
	hlist_add_head_rcu(&p->hash, profile_bucket(dev, &p->key));
}

/*
 * Under dev->peer_lock. Inserts @p. *out must be put: the profile that it replaced, or NULL; or @p itself, if an equal one
 * exists or there are too many (-ENOSPC).
 */
static int profile_place(struct mrc_dev *dev, struct mrc_profile *p, struct mrc_profile **out)
{
	struct mrc_profile *old = profile_find(dev, &p->key);

	*out = p;
	if (!old && dev->n_profiles >= MRC_PROFILES_MAX)
		return -ENOSPC;
	if (old && mrc_profile_same(old, p)) {
		mrc_profile_deny_as(old, p);
		return 0;
	}
	*out = old;
	profile_count(dev, p, 1);	/* first, so that its length is never missing */
	if (old) {
		rb_replace_node(&old->node, &p->node, &dev->profiles);
		hlist_replace_rcu(&old->hash, &p->hash);
		profile_count(dev, old, -1);
	} else {
		profile_insert(dev, p);
	}
	return 0;
}

int mrc_profiles_set(struct mrc_dev *dev, struct mrc_profile *p, bool *changed,
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
			MRC_ERR_MSG(extack, "profile %llu: there are %u already", p->key.id,
				    MRC_PROFILES_MAX);
	}
	*changed = out != p;
	mrc_profile_put(out);
	return err;
}

int mrc_profiles_del(struct mrc_dev *dev, const struct mrc_profile_key *key,
		     struct netlink_ext_ack *extack)
{
	struct mrc_profile *p;

	ASSERT_RTNL();
	spin_lock_bh(&dev->peer_lock);
	p = profile_find(dev, key);
	if (p) {
		rb_erase(&p->node, &dev->profiles);
		hlist_del_rcu(&p->hash);
		profile_count(dev, p, -1);
	}
	spin_unlock_bh(&dev->peer_lock);
	if (p) {
		mrc_profile_put(p);
		return 0;
	}
	if (key->len == MRC_PROFILE_ONE)
		MRC_ERR_MSG(extack, "no profile %llu for %pI6c", key->id, &key->dst);
	else if (key->len)
		MRC_ERR_MSG(extack, "no profile %llu for %pI6c/%u", key->id, &key->dst, key->len);
	else
		MRC_ERR_MSG(extack, "no profile %llu for any destination", key->id);
	return -ENOENT;
}

void mrc_profiles_destroy(struct mrc_dev *dev)
{
	struct mrc_profile *p, *next;

	rbtree_postorder_for_each_entry_safe(p, next, &dev->profiles, node) {
		hlist_del_rcu(&p->hash);
		mrc_profile_put(p);
	}
	dev->profiles = RB_ROOT;
}
