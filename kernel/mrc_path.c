// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_path.c - peers and their path sets.
 *
 * A peer is made when a QP (or an ordinary IP packet) first needs it. The table
 * holds one reference; peer_gc drops it when nobody else has one and
 * the peer was idle for a minute. A path set is replaced, never changed, when the
 * profile changes or (AUTO) planes come and go: dev->path_gen says that sets built
 * before must be looked at again, also those whose making raced with the change.
 *
 * Locks: dev->peer_lock guards the table's membership; peer->lock the
 * port object, the ps pointer and the list of QPs; ps->lock the evset and cached
 * routes. None is held while another of them or a QP's lock is taken, except
 * peer_lock around table operations. QPs are told of changes through references taken in
 * small batches. All softirq-safe.
 */
#include <linux/rhashtable.h>
#include <net/addrconf.h>
#include <net/route.h>
#include "linux/mrc.h"
#include "mrc_compat.h"
#include "mrc_genl.h"
#include "mrc_net.h"
#include "mrc_path.h"
#include "mrc_qp.h"

#define MRC_AUTO_PER_PLANE	16
#define MRC_PEER_IDLE		(60 * HZ)
#define MRC_PEER_GC		(20 * HZ)
#define MRC_QP_BATCH		16
#define MRC_PORT_DELAY_NS	(2 * NSEC_PER_MSEC)	/* a new peer's QP is linked by then */

static const struct rhashtable_params mrc_peer_params = {
	.key_len = sizeof(union ib_gid),
	.key_offset = offsetof(struct mrc_peer, gid),
	.head_offset = offsetof(struct mrc_peer, node),
	.automatic_shrinking = true,
};

static u32 mrc_planes_mask(const struct mrc_dev *dev)
{
	u32 mask = 0, i;

	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (rcu_access_pointer(dev->plane[i]))
			mask |= 1u << i;
	return mask;
}

/* ---- path sets: making ---- */

static void pathset_free_rcu(struct rcu_head *rcu)
{
	struct mrc_pathset *ps = container_of(rcu, struct mrc_pathset, rcu);

	kfree(ps->path);
	kfree(ps->ip_order);
	kfree(ps->evs_mem);
	kfree(ps);
}

static void pathset_drop_routes(struct mrc_pathset *ps)
{
	u16 i;

	for (i = 0; i < ps->evs.n; i++) {
		dst_release(ps->path[i].dst);
		ps->path[i].dst = NULL;
	}
}

static void pathset_release(struct kref *ref)
{
	struct mrc_pathset *ps = container_of(ref, struct mrc_pathset, ref);

	pathset_drop_routes(ps);
	call_rcu(&ps->rcu, pathset_free_rcu);
}

void mrc_pathset_put(struct mrc_pathset *ps)
{
	if (ps)
		kref_put(&ps->ref, pathset_release);
}

static struct mrc_pathset *pathset_alloc(struct mrc_peer *peer, u16 n, gfp_t gfp)
{
	struct mrc_pathset *ps = kzalloc(sizeof(*ps), gfp);

	if (!ps)
		return NULL;
	kref_init(&ps->ref);
	spin_lock_init(&ps->lock);
	ps->peer = peer;
	ps->path = kcalloc(n, sizeof(*ps->path), gfp | __GFP_NOWARN);
	ps->evs_mem = kzalloc(mrc_evset_mem_size(n), gfp | __GFP_NOWARN);
	ps->ip_order = kcalloc(n, sizeof(*ps->ip_order), gfp | __GFP_NOWARN);
	if (ps->path && ps->evs_mem && ps->ip_order)
		return ps;
	pathset_free_rcu(&ps->rcu);	/* nobody has seen it */
	return NULL;
}

static u16 auto_count(const struct mrc_profile *prof, u32 planes)
{
	u32 k = max_t(u32, hweight32(planes), 1);

	if (prof && prof->n)
		return max_t(u16, prof->n, (u16)k);
	return (u16)min_t(u32, MRC_AUTO_PER_PLANE * k, MRC_PS_EVS_MAX / k * k);
}

static int pathset_fill(struct mrc_pathset *ps, const struct mrc_profile *prof, u16 n,
			struct mrc_evplan *plan)
{
	struct mrc_peer *peer = ps->peer;
	struct mrc_evset_cfg cfg = { .n = n };
	u64 seed = get_random_u64();

	mrc_evplan_make(plan, ps, prof, n, seed);
	cfg.n_planes = plan->n_planes;
	cfg.min_active = prof ? prof->min_active : 0;
	cfg.planes_up = peer->local ? ~0u : READ_ONCE(peer->dev->planes_up);
	mrc_rot_init(&ps->ip_rot, ps->ip_order, n, seed);
	return mrc_evset_init(&ps->evs, ps->evs_mem, &cfg, plan->value, plan->plane);
}

static struct mrc_pathset *pathset_build(struct mrc_peer *peer, gfp_t gfp)
{
	/* Before anything that it stands for is read; pairs with path_gen_bump(). */
	u32 gen = smp_load_acquire(&peer->dev->path_gen);
	u32 planes = peer->local ? 1 : mrc_planes_mask(peer->dev);
	struct mrc_profile *prof = NULL;
	struct mrc_pathset *ps = NULL;
	struct mrc_evplan *plan;
	bool is_auto;
	u16 n;

	plan = kmalloc(sizeof(*plan), gfp);
	if (!plan)
		return NULL;
	if (!peer->local)
		prof = mrc_profile_lookup(peer->dev, &peer->gid);
	is_auto = !prof || prof->mode == MRC_MODE_AUTO;
	n = is_auto ? auto_count(prof, planes) : prof->n;
	ps = pathset_alloc(peer, n, gfp);
	if (!ps)
		goto out;
	ps->gen = gen;
	ps->planes = planes;
	ps->is_auto = is_auto;
	ps->profile_id = prof ? prof->id : 0;
	if (WARN_ON_ONCE(pathset_fill(ps, prof, n, plan))) {
		pathset_free_rcu(&ps->rcu);
		ps = NULL;
	}
out:
	mrc_profile_put(prof);
	kfree(plan);
	return ps;
}

/* ---- QPs of a peer ---- */

static void qp_plane_event(struct mrc_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->ps) {
		spin_lock(&qp->ps->lock);
		mrc_conn_plane_event(&qp->conn, ktime_get_ns());
		spin_unlock(&qp->ps->lock);
	}
	spin_unlock_bh(&qp->lock);
}

/*
 * Tell all QPs: @planes: what was in flight on dead planes must be resent. A
 * QP linked or unlinked meanwhile may be met twice or, being new, not at all.
 */
static void peer_tell_qps(struct mrc_peer *peer, bool planes)
{
	struct mrc_qp *batch[MRC_QP_BATCH], *qp;
	u32 done = 0, seen, n, i;

	do {
		n = 0;
		seen = 0;
		spin_lock_bh(&peer->lock);
		list_for_each_entry(qp, &peer->qps, peer_link) {
			if (seen++ < done)
				continue;
			done++;
			if (kref_get_unless_zero(&qp->ref))
				batch[n++] = qp;
			if (n == MRC_QP_BATCH)
				break;
		}
		spin_unlock_bh(&peer->lock);
		for (i = 0; i < n; i++) {
			qp = batch[i];
			if (planes)
				qp_plane_event(qp);
			mrc_bh_kick(qp);
			mrc_qp_put(qp);
		}
	} while (n == MRC_QP_BATCH);
}

/* ---- peers: port status ---- */

/* Under peer->lock. Nothing is announced to a host that no QP of ours talks to. */
static bool peer_port_due(struct mrc_peer *peer, u64 now_ns, struct mrc_pkt *pkt)
{
	if (READ_ONCE(peer->dev->dead) || peer->local)
		return false;
	if (list_empty(&peer->qps) && !peer->port.rsp_owed)
		return false;
	return mrc_port_tx_next(&peer->port, now_ns, pkt);
}

static void peer_port_run(struct mrc_peer *peer)
{
	u64 now_ns = ktime_get_ns(), at_ns;
	struct mrc_pkt pkt;
	bool due;

	do {
		spin_lock_bh(&peer->lock);
		due = peer_port_due(peer, now_ns, &pkt);
		at_ns = mrc_port_deadline_ns(&peer->port);
		if (!due && at_ns != MRC_TIME_NEVER && !list_empty(&peer->qps) &&
		    !READ_ONCE(peer->dev->dead))
			hrtimer_start(&peer->port_timer,
				      ns_to_ktime(at_ns > now_ns ? at_ns - now_ns : 0),
				      HRTIMER_MODE_REL_SOFT);
		spin_unlock_bh(&peer->lock);
		if (due && !mrc_tx_endpoint(peer, &pkt) && pkt.opcode == MRC_OPC_EP_REQ)
			mrc_dev_count(peer->dev, port_updates_sent);
	} while (due);
}

static enum hrtimer_restart peer_port_timer(struct hrtimer *t)
{
	peer_port_run(container_of(t, struct mrc_peer, port_timer));
	return HRTIMER_NORESTART;	/* armed anew inside when needed */
}

void mrc_peer_note_local(struct mrc_peer *peer, const struct in6_addr *addr)
{
	spin_lock_bh(&peer->lock);
	memcpy(&peer->local_gid, addr, sizeof(*addr));
	spin_unlock_bh(&peer->lock);
}

static void peer_remote_planes(struct mrc_peer *peer, struct mrc_pathset *ps, u32 up)
{
	spin_lock_bh(&ps->lock);
	mrc_evset_remote_planes(&ps->evs, up, ktime_get_ns());
	spin_unlock_bh(&ps->lock);
}

void mrc_peer_rx_endpoint(struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	struct mrc_pathset *ps;
	bool changed;
	u32 up;

	if (pkt->opcode == MRC_OPC_EP_REQ && pkt->u.ep.op == MRC_EP_PORT_STATUS)
		mrc_dev_count(peer->dev, port_updates_rcvd);
	spin_lock_bh(&peer->lock);
	changed = mrc_port_rx(&peer->port, pkt, ktime_get_ns());
	up = peer->port.remote_up;
	spin_unlock_bh(&peer->lock);
	if (changed) {
		ps = mrc_peer_pathset(peer);
		peer_remote_planes(peer, ps, up);
		mrc_pathset_put(ps);
		peer_tell_qps(peer, true);
		mrc_genl_event_peer(peer, MRC_EVENT_PEER_PORTS);
	}
	peer_port_run(peer);
}

/* ---- peers: life ---- */

static void peer_free_work(struct work_struct *work)
{
	struct mrc_peer *peer = container_of(to_rcu_work(work), struct mrc_peer, free_work);
	struct mrc_dev *dev = peer->dev;

	hrtimer_cancel(&peer->port_timer);
	mrc_pathset_put(rcu_dereference_protected(peer->ps, true));
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
	if (!peer)
		return;
	WRITE_ONCE(peer->last_ip, jiffies);
	kref_put(&peer->ref, peer_release);
}

struct mrc_peer *mrc_peer_find(struct mrc_dev *dev, const union ib_gid *gid)
{
	struct mrc_peer *peer;

	rcu_read_lock();
	peer = rhashtable_lookup(&dev->peers, gid, mrc_peer_params);
	if (peer && !kref_get_unless_zero(&peer->ref))
		peer = NULL;
	rcu_read_unlock();
	return peer;
}

struct mrc_pathset *mrc_peer_pathset(struct mrc_peer *peer)
{
	struct mrc_pathset *ps;

	rcu_read_lock();
	do {
		ps = rcu_dereference(peer->ps);
	} while (!kref_get_unless_zero(&ps->ref));
	rcu_read_unlock();
	return ps;
}

/*
 * Give the peer a set built from the current state, unless a newer one is there.
 * Without memory the old one stays: paths that went away are still masked by planes_up.
 */
static void peer_rebuild(struct mrc_peer *peer, gfp_t gfp)
{
	struct mrc_pathset *new = pathset_build(peer, gfp), *old;
	u32 remote_up;

	if (!new)
		return;
	spin_lock_bh(&peer->lock);
	remote_up = peer->port.remote_up;
	spin_unlock_bh(&peer->lock);
	peer_remote_planes(peer, new, remote_up);
	spin_lock_bh(&peer->lock);
	old = rcu_dereference_protected(peer->ps, lockdep_is_held(&peer->lock));
	if ((s32)(new->gen - old->gen) >= 0)
		rcu_assign_pointer(peer->ps, new);
	else
		old = new;
	spin_unlock_bh(&peer->lock);
	mrc_pathset_put(old);
}

static bool mrc_addr_is_local(struct mrc_dev *dev, const union ib_gid *gid)
{
	const struct in6_addr *a = (const struct in6_addr *)gid;
	bool local;

	rcu_read_lock();	/* the namespace outlasts readers that saw the device alive */
	if (READ_ONCE(dev->dead))
		local = false;
	else if (ipv6_addr_v4mapped(a))
		local = inet_addr_type(dev->net, a->s6_addr32[3]) == RTN_LOCAL;
	else if (ipv6_addr_type(a) & IPV6_ADDR_LINKLOCAL)
		local = ipv6_chk_addr(dev->net, a, dev->ndev, 1);
	else
		local = ipv6_chk_addr(dev->net, a, NULL, 0);
	rcu_read_unlock();
	return local;
}

static struct mrc_peer *peer_alloc(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	struct mrc_peer *peer = kzalloc(sizeof(*peer), gfp);
	struct mrc_pathset *ps;
	u32 up;

	if (!peer)
		return NULL;
	kref_init(&peer->ref);
	INIT_RCU_WORK(&peer->free_work, peer_free_work);
	peer->dev = dev;
	peer->gid = *gid;
	peer->v4 = ipv6_addr_v4mapped((const struct in6_addr *)gid);
	peer->local = mrc_addr_is_local(dev, gid);
	spin_lock_init(&peer->lock);
	INIT_LIST_HEAD(&peer->qps);
	peer->last_ip = jiffies;
	mrc_hrtimer_setup(&peer->port_timer, peer_port_timer, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
	/* A peer takes all ports for up until it hears otherwise. */
	up = READ_ONCE(dev->planes_up);
	mrc_port_init(&peer->port, mrc_planes_mask(dev));
	if (up != peer->port.up)
		mrc_port_set(&peer->port, up, ktime_get_ns());
	ps = pathset_build(peer, gfp);
	if (!ps) {
		kfree(peer);
		return NULL;
	}
	RCU_INIT_POINTER(peer->ps, ps);
	get_device(&dev->ibdev.dev);
	return peer;
}

/* Put @peer in the table, or find that another was quicker. The result has a reference. */
static struct mrc_peer *peer_insert(struct mrc_dev *dev, struct mrc_peer *peer)
{
	struct mrc_peer *old;

	spin_lock_bh(&dev->peer_lock);
	if (dev->dead) {
		old = ERR_PTR(-ENODEV);
	} else {
		kref_get(&peer->ref);	/* the table's */
		old = rhashtable_lookup_get_insert_fast(&dev->peers, &peer->node,
							mrc_peer_params);
		if (old)
			kref_put(&peer->ref, peer_release);
		else
			dev->n_peers++;
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

struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	u32 max = gfpflags_allow_blocking(gfp) ? MRC_PEERS_MAX : MRC_IP_PEERS_MAX;
	struct mrc_peer *peer;
	struct mrc_pathset *ps;

	peer = mrc_peer_find(dev, gid);
	if (!peer) {
		if (READ_ONCE(dev->dead) || READ_ONCE(dev->n_peers) >= max)
			return NULL;
		peer = peer_alloc(dev, gid, gfp);
		if (!peer)
			return NULL;
		peer = peer_insert(dev, peer);
		if (!peer)
			return NULL;
		/* Profiles or planes may have changed before it could be found. */
		ps = mrc_peer_pathset(peer);
		if (ps->gen != READ_ONCE(dev->path_gen))
			peer_rebuild(peer, gfp);
		mrc_pathset_put(ps);
	}
	/* For a QP: if planes are down, the peer should hear it once the QP is linked. */
	if (gfpflags_allow_blocking(gfp) && READ_ONCE(peer->port.announcing))
		hrtimer_start(&peer->port_timer, ns_to_ktime(MRC_PORT_DELAY_NS),
			      HRTIMER_MODE_REL_SOFT);
	return peer;
}

/* ---- all peers of a device ---- */

static void peers_for_each(struct mrc_dev *dev, void (*fn)(struct mrc_peer *peer))
{
	struct rhashtable_iter it;
	struct mrc_peer *peer;

	rhashtable_walk_enter(&dev->peers, &it);
	rhashtable_walk_start(&it);
	while ((peer = rhashtable_walk_next(&it))) {
		if (IS_ERR(peer))
			continue;	/* resized: some come twice */
		if (!kref_get_unless_zero(&peer->ref))
			continue;
		fn(peer);
		kref_put(&peer->ref, peer_release);
	}
	rhashtable_walk_stop(&it);
	rhashtable_walk_exit(&it);
}

static void path_gen_bump(struct mrc_dev *dev)
{
	spin_lock_bh(&dev->peer_lock);
	smp_store_release(&dev->path_gen, dev->path_gen + 1);
	spin_unlock_bh(&dev->peer_lock);
}

static void peer_planes_changed(struct mrc_peer *peer)
{
	struct mrc_dev *dev = peer->dev;
	u32 up = READ_ONCE(dev->planes_up);
	struct mrc_pathset *ps = mrc_peer_pathset(peer);

	spin_lock_bh(&ps->lock);
	pathset_drop_routes(ps);	/* a locator or the port behind a number may be new */
	if (!peer->local)
		mrc_evset_local_planes(&ps->evs, up, ktime_get_ns());
	spin_unlock_bh(&ps->lock);
	if (!peer->local && !dev->dead) {
		if (ps->is_auto && ps->planes != mrc_planes_mask(dev))
			peer_rebuild(peer, GFP_ATOMIC);
		spin_lock_bh(&peer->lock);
		if (peer->port.up != up)
			mrc_port_set(&peer->port, up, ktime_get_ns());
		spin_unlock_bh(&peer->lock);
	}
	mrc_pathset_put(ps);
	peer_tell_qps(peer, true);
	peer_port_run(peer);
}

void mrc_peers_planes_changed(struct mrc_dev *dev)
{
	path_gen_bump(dev);
	peers_for_each(dev, peer_planes_changed);
}

static void peer_profiles_changed(struct mrc_peer *peer)
{
	if (peer->local)
		return;
	peer_rebuild(peer, GFP_ATOMIC);
	peer_tell_qps(peer, false);
}

void mrc_peers_profiles_changed(struct mrc_dev *dev)
{
	path_gen_bump(dev);
	peers_for_each(dev, peer_profiles_changed);
}

/* Under RCU. Only the table's reference is left: nobody can get another any more. */
static void peer_gc_one(struct mrc_dev *dev, struct mrc_peer *peer)
{
	if (time_before(jiffies, READ_ONCE(peer->last_ip) + MRC_PEER_IDLE))
		return;
	spin_lock_bh(&dev->peer_lock);
	if (refcount_dec_if_one(&peer->ref.refcount)) {
		rhashtable_remove_fast(&dev->peers, &peer->node, mrc_peer_params);
		dev->n_peers--;
		peer_release(&peer->ref);
	}
	spin_unlock_bh(&dev->peer_lock);
}

static void mrc_peer_gc_work(struct work_struct *work)
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
	INIT_DELAYED_WORK(&dev->peer_gc, mrc_peer_gc_work);
	return rhashtable_init(&dev->peers, &mrc_peer_params);
}

static void peer_destroy(void *ptr, void *arg)
{
	struct mrc_peer *peer = ptr;

	hrtimer_cancel(&peer->port_timer);
	kref_put(&peer->ref, peer_release);
}

void mrc_peers_destroy(struct mrc_dev *dev)
{
	cancel_delayed_work_sync(&dev->peer_gc);
	rhashtable_free_and_destroy(&dev->peers, peer_destroy, NULL);
}
