// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_path.c - peers: their table, their ports, and which path set they have.
 *
 * A peer is made when a QP (or an ordinary IP packet) first needs it. The table
 * holds one reference; peer_gc drops it when nobody else has one and no QP nor
 * ordinary packet used the peer for a minute. A path set is replaced, never changed, when
 * the profile changes or (AUTO) planes come and go: dev->path_gen says that sets built
 * before must be looked at again, also those whose making raced with the change.
 *
 * Locks: dev->peer_lock guards the table's membership; peer->lock the
 * port objects, the ps pointer and the list of QPs; peer->path_lock evsets,
 * cached routes and controllers. None is held while another of them or a QP's lock is
 * taken, except peer_lock around table operations. QPs are told of changes through
 * references taken in small batches. All softirq-safe; changes of planes and profiles come
 * under rtnl and may sleep.
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
#include "mrc_qpcc.h"

#define MRC_PEER_IDLE		(60 * HZ)
#define MRC_PEER_GC		(20 * HZ)
#define MRC_QP_BATCH		16
#define MRC_PORT_SURE		2	/* announcements by ports that were up before */
#define MRC_PORT_DELAY_NS	(2 * NSEC_PER_MSEC)	/* a new peer's QP is linked by then */

static const struct rhashtable_params mrc_peer_params = {
	.key_len = sizeof(union ib_gid),
	.key_offset = offsetof(struct mrc_peer, gid),
	.head_offset = offsetof(struct mrc_peer, node),
	.automatic_shrinking = true,
};

/* ---- QPs of a peer ---- */

static void qp_plane_event(struct mrc_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->peer) {
		spin_lock(&qp->peer->path_lock);
		mrc_conn_plane_event(&qp->conn, ktime_get_ns());
		spin_unlock(&qp->peer->path_lock);
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

void mrc_peer_wake_qps(struct mrc_peer *peer)
{
	peer_tell_qps(peer, false);
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

/* The set in use learns which of the peer's ports are up. */
static void peer_apply_ports(struct mrc_peer *peer)
{
	struct mrc_pathset *ps = mrc_peer_pathset(peer);

	spin_lock_bh(&peer->path_lock);
	mrc_evset_remote_planes(&ps->evs, READ_ONCE(peer->ports_up), ktime_get_ns());
	if (!peer->local)
		mrc_evset_local_planes(&ps->evs, READ_ONCE(peer->dev->planes_up), ktime_get_ns());
	spin_unlock_bh(&peer->path_lock);
	mrc_pathset_put(ps);
}

/* Planes up at both ends changed: EVs, the rate for controllers, then the QPs. */
static void peer_ports_changed(struct mrc_peer *peer)
{
	peer_apply_ports(peer);
	mrc_qpcc_refresh(peer);
	peer_tell_qps(peer, true);
	mrc_genl_event_peer(peer, MRC_EVENT_PEER_PORTS);
}

/*
 * Under peer->lock. Which of its ports are believed to be up, all that it announced if
 * damping would leave none; true: that changed.
 */
static bool peer_believe(struct mrc_peer *peer, u32 up)
{
	if (!up)
		up = peer->port.remote_up;
	if (up == peer->ports_up)
		return false;
	WRITE_ONCE(peer->ports_up, up);
	return true;
}

static void peer_arm(struct mrc_peer *peer, u64 now_ns)
{
	u64 at_ns = mrc_damp_deadline_ns(&peer->damp);

	if (peer->local)
		return;
	if (!list_empty(&peer->qps))
		at_ns = min(at_ns, mrc_port_deadline_ns(&peer->port));
	if (at_ns != MRC_TIME_NEVER && !READ_ONCE(peer->dev->dead))
		hrtimer_start(&peer->port_timer,
			      ns_to_ktime(at_ns > now_ns ? at_ns - now_ns : 0),
			      HRTIMER_MODE_REL_SOFT);
}

/*
 * Under peer->lock. That a port is up is told over another one first: its own routes,
 * and the switch behind it, may be ready only a little later. Repeats go anywhere.
 */
static u32 peer_port_avoid(const struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	if (pkt->opcode != MRC_OPC_EP_REQ || peer->port.tries > MRC_PORT_SURE)
		return 0;
	return peer->ports_fresh;
}

static void peer_port_run(struct mrc_peer *peer)
{
	u64 now_ns = ktime_get_ns();
	struct mrc_pkt pkt;
	u32 avoid = 0;
	bool due;

	do {
		spin_lock_bh(&peer->lock);
		due = peer_port_due(peer, now_ns, &pkt);
		if (due)
			avoid = peer_port_avoid(peer, &pkt);
		else
			peer_arm(peer, now_ns);
		spin_unlock_bh(&peer->lock);
		if (due && !mrc_tx_endpoint(peer, &pkt, avoid) && pkt.opcode == MRC_OPC_EP_REQ)
			mrc_dev_count(peer->dev, port_updates_sent);
	} while (due);
}

static enum hrtimer_restart peer_port_timer(struct hrtimer *t)
{
	struct mrc_peer *peer = container_of(t, struct mrc_peer, port_timer);
	bool changed;

	spin_lock_bh(&peer->lock);
	changed = peer_believe(peer, mrc_damp_poll(&peer->damp, ktime_get_ns()));
	spin_unlock_bh(&peer->lock);
	if (changed)
		peer_ports_changed(peer);
	peer_port_run(peer);
	return HRTIMER_NORESTART;	/* armed anew inside when needed */
}

void mrc_peer_note_local(struct mrc_peer *peer, const struct in6_addr *addr)
{
	spin_lock_bh(&peer->lock);
	memcpy(&peer->local_gid, addr, sizeof(*addr));
	spin_unlock_bh(&peer->lock);
}

void mrc_peer_rx_endpoint(struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	u64 now_ns = ktime_get_ns();
	bool changed;

	if (pkt->opcode == MRC_OPC_EP_REQ && pkt->u.ep.op == MRC_EP_PORT_STATUS)
		mrc_dev_count(peer->dev, port_updates_rcvd);
	spin_lock_bh(&peer->lock);
	changed = mrc_port_rx(&peer->port, pkt, now_ns);
	if (changed)
		changed = peer_believe(peer, mrc_damp_set(&peer->damp, peer->port.remote_up,
							  now_ns));
	spin_unlock_bh(&peer->lock);
	if (changed)
		peer_ports_changed(peer);
	peer_port_run(peer);
}

static void peer_damp_init(struct mrc_peer *peer, u32 up)
{
	struct mrc_damp_cfg cfg;

	mrc_dev_damp_cfg(peer->dev, &cfg);
	mrc_damp_init(&peer->damp, &cfg, up);
}

static void peer_damp_changed(struct mrc_peer *peer)
{
	bool changed;

	spin_lock_bh(&peer->lock);
	peer_damp_init(peer, peer->port.remote_up);
	changed = peer_believe(peer, peer->port.remote_up);
	spin_unlock_bh(&peer->lock);
	if (changed)
		peer_ports_changed(peer);
}

void mrc_peers_damp_changed(struct mrc_dev *dev)
{
	mrc_peers_for_each(dev, peer_damp_changed);
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
	if (peer)
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
static void peer_rebuild_once(struct mrc_peer *peer, gfp_t gfp)
{
	struct mrc_pathset *new = mrc_pathset_build(peer, gfp), *old;

	if (!new)
		return;
	mrc_evset_remote_planes(&new->evs, READ_ONCE(peer->ports_up), ktime_get_ns());
	spin_lock_bh(&peer->lock);
	old = rcu_dereference_protected(peer->ps, lockdep_is_held(&peer->lock));
	/* A part, made in softirq or too early, never takes the place of the whole. */
	if ((s32)(new->gen - old->gen) > 0 || (new->gen == old->gen && (!new->part || old->part)))
		rcu_assign_pointer(peer->ps, new);
	else
		old = new;
	spin_unlock_bh(&peer->lock);
	mrc_pathset_put(old);
	peer_apply_ports(peer);		/* they may have changed before it was seen */
}

/* Once more when a QP came just then, which may have seen that the old set was whole. */
static void peer_rebuild(struct mrc_peer *peer, gfp_t gfp)
{
	bool for_qps = READ_ONCE(peer->for_qps);

	peer_rebuild_once(peer, gfp);
	smp_mb();	/* the set, then for_qps; mrc_peer_get() the other way round */
	if (!for_qps && READ_ONCE(peer->for_qps) && gfpflags_allow_blocking(gfp))
		peer_rebuild_once(peer, gfp);
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
	peer->for_qps = gfpflags_allow_blocking(gfp);
	spin_lock_init(&peer->lock);
	spin_lock_init(&peer->path_lock);
	INIT_LIST_HEAD(&peer->qps);
	INIT_LIST_HEAD(&peer->ccs);
	peer->last_used = jiffies;
	mrc_hrtimer_setup(&peer->port_timer, peer_port_timer, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
	/* A peer takes all ports for up until it hears otherwise. */
	up = READ_ONCE(dev->planes_up);
	mrc_port_init(&peer->port, mrc_planes_mask(dev));
	peer->ports_up = peer->port.remote_up;
	peer_damp_init(peer, peer->ports_up);
	if (up != peer->port.up)
		mrc_port_set(&peer->port, up, ktime_get_ns());
	ps = mrc_pathset_build(peer, gfp);
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

/*
 * Profiles or planes may have changed before it could be found; and what was made
 * in softirq may have a part of the EVs only.
 */
static void peer_fresh_paths(struct mrc_peer *peer, gfp_t gfp, bool is_new)
{
	struct mrc_pathset *ps = mrc_peer_pathset(peer);
	bool stale = is_new && ps->gen != READ_ONCE(peer->dev->path_gen);

	if (stale || (ps->part && gfpflags_allow_blocking(gfp)))
		peer_rebuild(peer, gfp);
	mrc_pathset_put(ps);
}

struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp)
{
	u32 max = gfpflags_allow_blocking(gfp) ? MRC_PEERS_MAX : MRC_IP_PEERS_MAX;
	struct mrc_peer *peer;
	bool is_new;

	peer = mrc_peer_find(dev, gid);
	is_new = !peer;
	if (is_new) {
		if (READ_ONCE(dev->dead) || READ_ONCE(dev->n_peers) >= max)
			return NULL;
		peer = peer_alloc(dev, gid, gfp);
		if (!peer)
			return NULL;
		peer = peer_insert(dev, peer);
		if (!peer)
			return NULL;
	}
	mrc_peer_used(peer);
	if (gfpflags_allow_blocking(gfp)) {
		WRITE_ONCE(peer->for_qps, true);
		smp_mb();	/* see peer_rebuild() */
	}
	if (is_new || gfpflags_allow_blocking(gfp))
		peer_fresh_paths(peer, gfp, is_new);
	/* For a QP: if planes are down, the peer should hear it once the QP is linked. */
	if (gfpflags_allow_blocking(gfp) && READ_ONCE(peer->port.announcing))
		hrtimer_start(&peer->port_timer, ns_to_ktime(MRC_PORT_DELAY_NS),
			      HRTIMER_MODE_REL_SOFT);
	return peer;
}

/* ---- all peers of a device ---- */

void mrc_peers_for_each(struct mrc_dev *dev, void (*fn)(struct mrc_peer *peer))
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
		rhashtable_walk_stop(&it);
		fn(peer);
		kref_put(&peer->ref, peer_release);
		cond_resched();
		rhashtable_walk_start(&it);	/* where it was, or it says -EAGAIN */
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

	spin_lock_bh(&peer->path_lock);
	mrc_pathset_drop_routes(ps);	/* a locator or the port behind a number may be new */
	if (!peer->local)
		mrc_evset_local_planes(&ps->evs, up, ktime_get_ns());
	spin_unlock_bh(&peer->path_lock);
	if (!peer->local && !dev->dead) {
		if (ps->is_auto && ps->planes != mrc_planes_mask(dev))
			peer_rebuild(peer, GFP_KERNEL);
		spin_lock_bh(&peer->lock);
		if (peer->port.up != up) {
			peer->ports_fresh = up & ~peer->port.up;
			mrc_port_set(&peer->port, up, ktime_get_ns());
		}
		spin_unlock_bh(&peer->lock);
	}
	mrc_pathset_put(ps);
	mrc_qpcc_refresh(peer);
	peer_tell_qps(peer, true);
	peer_port_run(peer);
}

void mrc_peers_planes_changed(struct mrc_dev *dev)
{
	path_gen_bump(dev);
	mrc_peers_for_each(dev, peer_planes_changed);
}

/* States of EVs are learnt at a price: peers whose profile stayed keep their set. */
static bool peer_profile_stays(struct mrc_peer *peer)
{
	struct mrc_profile *prof = mrc_profile_lookup(peer->dev, &peer->gid);
	struct mrc_pathset *ps = mrc_peer_pathset(peer);
	bool stays = ps->prof == prof;

	mrc_pathset_put(ps);
	mrc_profile_put(prof);
	return stays;
}

static void peer_profiles_changed(struct mrc_peer *peer)
{
	if (peer->local || peer_profile_stays(peer))
		return;
	peer_rebuild(peer, GFP_KERNEL);
	peer_tell_qps(peer, false);
}

void mrc_peers_profiles_changed(struct mrc_dev *dev)
{
	path_gen_bump(dev);
	mrc_peers_for_each(dev, peer_profiles_changed);
}

/* Under RCU. Only the table's reference is left: nobody can get another any more. */
static void peer_gc_one(struct mrc_dev *dev, struct mrc_peer *peer)
{
	if (time_before(jiffies, READ_ONCE(peer->last_used) + MRC_PEER_IDLE))
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
