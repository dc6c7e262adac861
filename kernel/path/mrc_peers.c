// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peers.c - see mrc_peers.h.
 *
 * dev->peer_lock protects membership in the table and in the ordered list, and the list of idle
 * peers. No other lock is taken inside. All calls are safe in softirq.
 */
#include <linux/rhashtable.h>
#include <net/ipv6.h>
#include "path/mrc_peer_idle.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_peers.h"

#define MRC_PEER_IDLE		(60 * HZ)
#define MRC_PEER_GC		(20 * HZ)

static const struct rhashtable_params peer_params = {
	.key_len = sizeof(union ib_gid),
	.key_offset = offsetof(struct mrc_peer, gid),
	.head_offset = offsetof(struct mrc_peer, node),
	.automatic_shrinking = true,
};

static void peer_free_work(struct work_struct *work)
{
	struct mrc_peer *peer = container_of(to_rcu_work(work), struct mrc_peer, free_work);
	struct mrc_dev *dev = peer->dev;

	mrc_peer_port_stop(peer);	/* first: the timer may queue users_work */
	mrc_peer_users_end(peer);
	mrc_peer_paths_end(peer);
	kfree(mrc_port_reqs(&peer->port));
	kfree(peer);
	put_device(&dev->ibdev.dev);
}

static void peer_release(struct kref *ref)
{
	struct mrc_peer *peer = container_of(ref, struct mrc_peer, ref);

	queue_rcu_work(mrc_wq, &peer->free_work);
}

void mrc_peer_put(struct mrc_peer *peer)
{
	if (peer)
		kref_put(&peer->ref, peer_release);
}

struct mrc_peer *mrc_peer_find(struct mrc_dev *dev, const union ib_gid *gid)
{
	struct mrc_peer *peer;

	rcu_read_lock();
	peer = rhashtable_lookup(&dev->peers, gid, peer_params);
	if (peer && !kref_get_unless_zero(&peer->ref))
		peer = NULL;
	rcu_read_unlock();
	return peer;
}

struct mrc_peer *mrc_peer_next(struct mrc_dev *dev, const union ib_gid *gid, bool same)
{
	struct mrc_peer *peer, *best = NULL;
	struct rb_node *node;
	int cmp;

	spin_lock_bh(&dev->peer_lock);
	node = dev->peers_sorted.rb_node;
	while (node) {
		peer = rb_entry(node, struct mrc_peer, sorted);
		cmp = memcmp(&peer->gid, gid, sizeof(*gid));
		if (cmp > 0 || (same && !cmp)) {
			best = peer;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	if (best)
		kref_get(&best->ref);	/* members leave under this lock */
	spin_unlock_bh(&dev->peer_lock);
	return best;
}

/* Under dev->peer_lock. Inserts @peer, whose GID is not in the tree. */
static void peer_sort(struct mrc_dev *dev, struct mrc_peer *peer)
{
	struct rb_node **at = &dev->peers_sorted.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = memcmp(&peer->gid, &rb_entry(parent, struct mrc_peer, sorted)->gid,
			    sizeof(peer->gid)) < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&peer->sorted, parent, at);
	rb_insert_color(&peer->sorted, &dev->peers_sorted);
}

static struct mrc_peer *peer_alloc(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	struct mrc_peer *peer = kzalloc(sizeof(*peer), gfp);

	if (!peer)
		return NULL;
	kref_init(&peer->ref);
	INIT_RCU_WORK(&peer->free_work, peer_free_work);
	peer->dev = dev;
	peer->gid = *gid;
	peer->v4 = ipv6_addr_v4mapped((const struct in6_addr *)gid);
	peer->group = mrc_dev_addr_is_group((const struct in6_addr *)gid);
	peer->local = mrc_dev_addr_is_local(dev, (const struct in6_addr *)gid);
	peer->for_qps = gfpflags_allow_blocking(gfp);
	spin_lock_init(&peer->lock);
	spin_lock_init(&peer->path_lock);
	mrc_peer_users_init(peer);
	INIT_LIST_HEAD(&peer->idle);
	INIT_LIST_HEAD(&peer->ccs);
	peer->last_used = jiffies;
	mrc_peer_port_init(peer);
	if (!mrc_peer_paths_init(peer, gfp)) {
		kfree(peer);
		return NULL;
	}
	get_device(&dev->ibdev.dev);
	return peer;
}

/* Under dev->peer_lock. Removes @peer, to which only the table had a reference. */
static void peer_leave(struct mrc_dev *dev, struct mrc_peer *peer)
{
	rhashtable_remove_fast(&dev->peers, &peer->node, peer_params);
	rb_erase(&peer->sorted, &dev->peers_sorted);
	mrc_peer_idle_del(peer);
	dev->n_peers--;
	peer_release(&peer->ref);
}

/* Under dev->peer_lock. @peer is new in the table. An idle peer may have to leave. */
static void peer_join(struct mrc_dev *dev, struct mrc_peer *peer)
{
	struct mrc_peer *victim;

	dev->n_peers++;
	peer_sort(dev, peer);
	mrc_peer_idle_add(peer);
	victim = mrc_peer_idle_victim(dev);
	if (victim)
		peer_leave(dev, victim);
}

/* Insert @peer, unless a concurrent call has inserted the same GID. Returns the one in the table, + ref. */
static struct mrc_peer *peer_insert(struct mrc_dev *dev, struct mrc_peer *peer)
{
	struct mrc_peer *old;

	spin_lock_bh(&dev->peer_lock);
	if (dev->dead) {
		old = ERR_PTR(-ENODEV);
	} else {
		kref_get(&peer->ref);	/* the table's */
		old = rhashtable_lookup_get_insert_fast(&dev->peers, &peer->node,
							peer_params);
		if (old)
			kref_put(&peer->ref, peer_release);
		else
			peer_join(dev, peer);
		/* Members leave under this lock, and only with their last reference. */
		if (!IS_ERR_OR_NULL(old))
			kref_get(&old->ref);
	}
	spin_unlock_bh(&dev->peer_lock);
	if (!old) {
		schedule_delayed_work(&dev->peer_gc, MRC_PEER_GC);
		return peer;
	}
	kref_put(&peer->ref, peer_release);
	return IS_ERR(old) ? NULL : old;
}

/*
 * Applies changes that happened while the peer was built. The peer is in the table first, and mrc_path_change.c changes
 * the state before it walks the table. So each change is seen here or there. mrc_peer_paths_refresh() does the same
 * for path sets.
 */
static void peer_joined(struct mrc_peer *peer)
{
	const struct in6_addr *a = (const struct in6_addr *)&peer->gid;

	smp_mb();
	mrc_peer_port_planes(peer);
	/* peer->local changes only under rtnl: the work does it. */
	if (unlikely(!peer->group && (mrc_dev_addr_is_local(peer->dev, a) != peer->local ||
				      mrc_dev_addr_may_be_local(peer->dev, a))))
		mod_delayed_work(mrc_wq, &peer->dev->addr_work, 0);
}

/* + ref, or NULL. */
static struct mrc_peer *peer_make(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	struct mrc_peer *peer;

	if (READ_ONCE(dev->dead) || READ_ONCE(dev->n_peers) >= MRC_PEERS_MAX)
		return NULL;
	peer = peer_alloc(dev, gid, gfp);
	if (peer)
		peer = peer_insert(dev, peer);
	if (peer)
		peer_joined(peer);
	return peer;
}

struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	struct mrc_peer *peer = mrc_peer_find(dev, gid);
	bool is_new = !peer;

	if (is_new)
		peer = peer_make(dev, gid, gfp);
	if (!peer)
		return NULL;
	mrc_peer_used(peer);
	if (gfpflags_allow_blocking(gfp)) {
		WRITE_ONCE(peer->for_qps, true);
		smp_mb();	/* see mrc_peer_paths_rebuild() */
	}
	if (is_new || gfpflags_allow_blocking(gfp))
		mrc_peer_paths_refresh(peer, gfp, is_new);
	return peer;
}

bool mrc_peers_any(struct mrc_dev *dev, bool (*fn)(struct mrc_peer *peer, void *arg), void *arg)
{
	struct rhashtable_iter it;
	struct mrc_peer *peer;
	bool any = false;

	rhashtable_walk_enter(&dev->peers, &it);
	rhashtable_walk_start(&it);
	while (!any && (peer = rhashtable_walk_next(&it))) {
		if (IS_ERR(peer))
			continue;	/* the table is being resized: some peers are returned twice */
		if (!kref_get_unless_zero(&peer->ref))
			continue;
		rhashtable_walk_stop(&it);
		any = fn(peer, arg);
		kref_put(&peer->ref, peer_release);
		cond_resched();
		rhashtable_walk_start(&it);	/* continues, or returns -EAGAIN after a resize */
	}
	rhashtable_walk_stop(&it);
	rhashtable_walk_exit(&it);
	return any;
}

struct peers_each {
	void (*fn)(struct mrc_peer *peer);
};

static bool peers_each_one(struct mrc_peer *peer, void *arg)
{
	((const struct peers_each *)arg)->fn(peer);
	return false;
}

void mrc_peers_for_each(struct mrc_dev *dev, void (*fn)(struct mrc_peer *peer))
{
	struct peers_each each = { fn };

	mrc_peers_any(dev, peers_each_one, &each);
}

/* Under RCU. Drops a peer that was idle for MRC_PEER_IDLE, if only the table has a reference. */
static void peer_gc_one(struct mrc_dev *dev, struct mrc_peer *peer)
{
	if (time_before(jiffies, READ_ONCE(peer->last_used) + MRC_PEER_IDLE))
		return;
	spin_lock_bh(&dev->peer_lock);
	if (refcount_dec_if_one(&peer->ref.refcount))
		peer_leave(dev, peer);
	spin_unlock_bh(&dev->peer_lock);
}

static void peer_gc_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, peer_gc);
	struct rhashtable_iter it;
	struct mrc_peer *peer;

	rhashtable_walk_enter(&dev->peers, &it);
	rhashtable_walk_start(&it);
	while ((peer = rhashtable_walk_next(&it)))
		if (!IS_ERR(peer))
			peer_gc_one(dev, peer);
	rhashtable_walk_stop(&it);
	rhashtable_walk_exit(&it);
	if (READ_ONCE(dev->n_peers) && !READ_ONCE(dev->dead))
		schedule_delayed_work(&dev->peer_gc, MRC_PEER_GC);
}

int mrc_peers_init(struct mrc_dev *dev)
{
	INIT_DELAYED_WORK(&dev->peer_gc, peer_gc_work);
	INIT_LIST_HEAD(&dev->idle_peers);
	dev->peers_sorted = RB_ROOT;
	return rhashtable_init(&dev->peers, &peer_params);
}

static void peer_destroy(void *ptr, void *arg)
{
	struct mrc_peer *peer = ptr;

	mrc_peer_port_stop(peer);
	kref_put(&peer->ref, peer_release);
}

void mrc_peers_destroy(struct mrc_dev *dev)
{
	cancel_delayed_work_sync(&dev->peer_gc);
	dev->peers_sorted = RB_ROOT;
	rhashtable_free_and_destroy(&dev->peers, peer_destroy, NULL);
}
