// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_dump.c - dumps that can continue in further messages.
 *
 * Between two messages of a dump, objects may appear, disappear or move in their list. So the
 * position is never a pointer or a count. It is the key of the last object shown (ifindex; plane
 * number; profile id, prefix length and destination; GID; QPN), and the next object is the one with
 * the smallest greater key. Profiles and peers are kept in that order, so it is found in a few
 * steps. A profile or path set whose EVs do not fit continues at an index in the next message,
 * under the same key (for a path set, the profile that its QPs name is part of the key). A peer
 * continues after the last controller shown.
 *
 * Any user may dump at any rate, and sums take long. So rtnl is held only to find the device.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "core/mrc_log.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "path/mrc_profiles.h"
#include "genl/mrc_genl_cc.h"
#include "genl/mrc_genl_avoid.h"
#include "genl/mrc_genl_dump.h"
#include "genl/mrc_genl_fill.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_probe.h"
#include "genl/mrc_genl_profile.h"

struct dump {
	/* filters */
	bool parsed, only_gid, only_qpn;
	int only_ifindex;		/* 0: all devices */
	union ib_gid want_gid;
	u32 want_qpn;

	/* position: device, and within it */
	bool done;
	int ifindex;
	u32 idx;			/* plane, EV, or next QPN */
	bool has_key;			/* key below is valid */
	union ib_gid gid;		/* peer last shown */
	u64 named;			/* profile of its path set last shown; 0: default */
	bool again;			/* that path set is not complete yet */
	struct mrc_profile_key profile;	/* EV profile last shown */
	u64 cc_id;			/* CC profile last shown */
	u64 record;			/* next record of the log, smallest self-probe id, or next avoid list */
	struct mrc_genl_cc_pos cc;	/* idx > 0: controllers of the peer shown so far */
	/* the requester */
	kuid_t uid;			/* INVALID_UID: another user created the socket */
	bool admin;

	bool counters_named;		/* a QP with all of its counters was shown */

	struct mrc_conn_info info;
	struct mrc_selfprobe probe;
};

typedef int (*mrc_dump_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			   struct mrc_dev *dev, struct dump *d);

static struct dump *dump_of(struct netlink_callback *cb)
{
	return (struct dump *)cb->args[0];
}

int mrc_genl_dump_start(struct netlink_callback *cb)
{
	struct dump *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->ifindex = 1;
	d->uid = uid_eq(NETLINK_CB(cb->skb).sk->sk_uid, current_uid()) ? current_uid() : INVALID_UID;
	d->admin = netlink_ns_capable(cb->skb, sock_net(cb->skb->sk)->user_ns, CAP_NET_ADMIN);
	cb->args[0] = (long)d;
	return 0;
}

int mrc_genl_dump_done(struct netlink_callback *cb)
{
	kfree(dump_of(cb));
	return 0;
}

static int dump_find_dev(struct netlink_callback *cb, struct nlattr **attrs, struct dump *d)
{
	struct mrc_dev *dev;

	rtnl_lock();
	dev = mrc_genl_find_dev(sock_net(cb->skb->sk), attrs, cb->extack);
	if (!IS_ERR(dev)) {
		d->only_ifindex = dev->ndev->ifindex;
		d->ifindex = d->only_ifindex;
	}
	rtnl_unlock();
	return PTR_ERR_OR_ZERO(dev);
}

/* Types were checked by the command's policy; nests are parsed again here. */
static int dump_parse(struct netlink_callback *cb, struct dump *d)
{
	struct nlattr *attrs[MRC_A_MAX + 1], *qp[MRC_A_QP_MAX + 1], *peer[MRC_A_PEER_MAX + 1];
	int err;

	err = genlmsg_parse_deprecated(cb->nlh, &mrc_genl_family, attrs, MRC_A_MAX, NULL,
				       cb->extack);
	if (err)
		return err;
	if (attrs[MRC_A_DEV_IFINDEX] || attrs[MRC_A_DEV_NAME]) {
		err = dump_find_dev(cb, attrs, d);
		if (err)
			return err;
	}
	if (attrs[MRC_A_PEER]) {
		err = nla_parse_nested(peer, MRC_A_PEER_MAX, attrs[MRC_A_PEER],
				       mrc_genl_peer_key_policy, cb->extack);
		if (err)
			return err;
		d->only_gid = peer[MRC_A_PEER_GID];
		if (d->only_gid)
			nla_memcpy(&d->want_gid, peer[MRC_A_PEER_GID], sizeof(d->want_gid));
	}
	if (attrs[MRC_A_QP]) {
		err = nla_parse_nested(qp, MRC_A_QP_MAX, attrs[MRC_A_QP],
				       mrc_genl_qp_policy, cb->extack);
		if (err)
			return err;
		d->only_qpn = qp[MRC_A_QP_NUM];
		if (d->only_qpn)
			d->want_qpn = nla_get_u32(qp[MRC_A_QP_NUM]);
	}
	d->parsed = true;
	return 0;
}

static void dump_next_dev(struct dump *d, int ifindex)
{
	d->ifindex = ifindex;
	d->idx = 0;
	d->has_key = false;
	d->again = false;
	d->record = 0;
}

/* The device with the next ifindex >= d->ifindex, referenced; NULL: there is none. */
static struct mrc_dev *dump_use_dev(struct net *net, const struct dump *d)
{
	struct mrc_dev *dev;

	do {
		rcu_read_lock();
		dev = mrc_genl_next_dev(net, d->ifindex);
		if (!dev || (d->only_ifindex && dev->ndev->ifindex != d->only_ifindex)) {
			rcu_read_unlock();
			return NULL;
		}
	} while (!mrc_dev_use(dev));
	return dev;
}

/* Call @fn for each device until the message is full. */
static int dump(struct sk_buff *skb, struct netlink_callback *cb, mrc_dump_fn fn)
{
	struct net *net = sock_net(cb->skb->sk);
	struct dump *d = dump_of(cb);
	struct mrc_dev *dev;
	int err = 0;

	cb->seq = (u32)atomic_read(&mrc_genl_generation) ?: 1;
	if (!d->parsed)
		err = dump_parse(cb, d);
	while (!err && !d->done) {
		dev = dump_use_dev(net, d);
		if (!dev) {
			d->done = true;
			break;
		}
		if (dev->ndev->ifindex != d->ifindex)
			dump_next_dev(d, dev->ndev->ifindex);
		err = fn(skb, cb, dev, d);
		mrc_dev_unuse(dev);
		if (err)
			break;
		if (d->ifindex == INT_MAX || d->only_ifindex)
			d->done = true;
		else
			dump_next_dev(d, d->ifindex + 1);
	}
	return skb->len ?: err;
}

static void *dump_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			struct mrc_dev *dev)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&mrc_genl_family, NLM_F_MULTI, cmd);

	if (!hdr)
		return NULL;
	genl_dump_check_consistent(cb, hdr);
	if (mrc_genl_put_ids(skb, dev)) {
		genlmsg_cancel(skb, hdr);
		return NULL;
	}
	return hdr;
}

static int dump_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/* ---- devices, counters, planes ---- */

static int dump_dev(struct sk_buff *skb, struct netlink_callback *cb,
		    struct mrc_dev *dev, struct dump *d)
{
	void *hdr = dump_begin(skb, cb, MRC_CMD_DEV_GET, dev);

	if (!hdr)
		return -EMSGSIZE;
	return dump_end(skb, hdr, mrc_genl_put_dev(skb, dev));
}

static int dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
		      struct mrc_dev *dev, struct dump *d)
{
	void *hdr = dump_begin(skb, cb, MRC_CMD_STATS_GET, dev);

	if (!hdr)
		return -EMSGSIZE;
	return dump_end(skb, hdr, mrc_genl_put_stats(skb, dev));
}

static int dump_log(struct sk_buff *skb, struct netlink_callback *cb, struct mrc_dev *dev, struct dump *d)
{
	struct mrc_history_rec rec;
	u64 lost;
	void *hdr;
	int err = 0;

	for (; !err && mrc_log_next(dev, &d->record, &rec, &lost); d->record += !err) {
		hdr = dump_begin(skb, cb, MRC_CMD_LOG_GET, dev);
		if (!hdr)
			return -EMSGSIZE;
		err = dump_end(skb, hdr, mrc_genl_put_record(skb, d->record, &rec, lost, d->admin));
	}
	return err;
}

/* The common part, then one self-probe after the other. d->record is the smallest id not shown yet. */
static int dump_probes(struct sk_buff *skb, struct netlink_callback *cb, struct mrc_dev *dev, struct dump *d)
{
	int err = 0;
	void *hdr;

	while (!err && (!d->has_key || mrc_loop_get_test(dev, d->record, &d->probe))) {
		hdr = dump_begin(skb, cb, MRC_CMD_PROBE_GET, dev);
		if (!hdr)
			return -EMSGSIZE;
		err = d->has_key ? mrc_genl_put_probe(skb, &d->probe, d->admin) : mrc_genl_put_probes(skb, dev);
		if (dump_end(skb, hdr, err))
			break;
		d->record = d->has_key ? d->probe.cfg.id + 1ull : 0;
		d->has_key = true;
	}
	return err;
}

/* The daemon's list, then the administrator's. d->record is the next one. */
static int dump_avoids(struct sk_buff *skb, struct netlink_callback *cb, struct mrc_dev *dev, struct dump *d)
{
	int err = 0;
	void *hdr;

	for (; !err && d->record < MRC_AVOID_LISTS; d->record += !err) {
		hdr = dump_begin(skb, cb, MRC_CMD_AVOID_GET, dev);
		if (!hdr)
			return -EMSGSIZE;
		err = dump_end(skb, hdr, mrc_genl_put_avoids(skb, dev, (enum mrc_avoid_by)d->record, d->admin));
	}
	return err;
}

/* Under RCU. */
static int dump_plane(struct sk_buff *skb, struct netlink_callback *cb, struct mrc_dev *dev,
		      struct mrc_dev_plane *p)
{
	void *hdr = dump_begin(skb, cb, MRC_CMD_PLANE_GET, dev);

	return hdr ? dump_end(skb, hdr, mrc_genl_put_plane(skb, p)) : -EMSGSIZE;
}

static int dump_planes(struct sk_buff *skb, struct netlink_callback *cb,
		       struct mrc_dev *dev, struct dump *d)
{
	struct mrc_dev_plane *p;
	int err = 0;

	rcu_read_lock();
	for (; d->idx < MRC_PLANES_MAX; d->idx++) {
		p = rcu_dereference(dev->plane[d->idx]);
		if (p)
			err = dump_plane(skb, cb, dev, p);
		if (err)
			break;
	}
	rcu_read_unlock();
	return err;
}

int mrc_genl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_dev);
}

int mrc_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_stats);
}

int mrc_genl_log_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_log);
}

int mrc_genl_probe_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_probes);
}

int mrc_genl_avoid_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_avoids);
}

int mrc_genl_plane_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_planes);
}

/* ---- profiles ---- */

/* Under peer_lock. The next profile; an incomplete one (idx > 0) is returned again. */
static const struct mrc_profile *dump_next_profile(struct mrc_dev *dev, const struct dump *d)
{
	if (!d->has_key)
		return mrc_profiles_next(dev, &(struct mrc_profile_key){}, true);
	return mrc_profiles_next(dev, &d->profile, d->idx);
}

static int dump_profile(struct sk_buff *skb, struct netlink_callback *cb,
			struct mrc_dev *dev, struct dump *d,
			const struct mrc_profile *p)
{
	bool same = d->has_key && !mrc_profile_cmp(&p->key, &d->profile);
	u32 first = same ? d->idx : 0, idx = first;
	void *hdr;
	int err;

	hdr = dump_begin(skb, cb, MRC_CMD_PROFILE_GET, dev);
	if (!hdr)
		return -EMSGSIZE;
	err = mrc_genl_put_profile(skb, p, &idx);
	if (err && idx == first) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	d->has_key = true;
	d->profile = p->key;
	d->idx = err ? idx : 0;
	return err;
}

static int dump_profiles(struct sk_buff *skb, struct netlink_callback *cb,
			 struct mrc_dev *dev, struct dump *d)
{
	const struct mrc_profile *p;
	int err = 0;

	spin_lock_bh(&dev->peer_lock);
	while (!err) {
		p = dump_next_profile(dev, d);
		if (!p)
			break;
		err = dump_profile(skb, cb, dev, d, p);
	}
	spin_unlock_bh(&dev->peer_lock);
	return err;
}

int mrc_genl_profile_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_profiles);
}

/* ---- CC profiles ---- */

static int dump_ccs(struct sk_buff *skb, struct netlink_callback *cb,
		    struct mrc_dev *dev, struct dump *d)
{
	u64 from = d->has_key ? d->cc_id + 1 : 0;
	struct mrc_cc_profile p;
	void *hdr;
	int err = 0;

	while (!err && (from || !d->has_key) && mrc_cc_profile_next(dev, from, &p)) {
		hdr = dump_begin(skb, cb, MRC_CMD_CC_GET, dev);
		if (!hdr)
			return -EMSGSIZE;
		err = dump_end(skb, hdr, mrc_genl_put_cc(skb, &p));
		if (err)
			break;
		d->has_key = true;
		d->cc_id = p.id;
		from = p.id + 1;	/* 0 after the largest possible id: end */
	}
	return err;
}

int mrc_genl_cc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_ccs);
}

/* ---- peers and EVs ---- */

/* The next peer by GID, referenced; or NULL. An incomplete one is returned again. */
static struct mrc_peer *next_peer(struct mrc_dev *dev, const struct dump *d)
{
	if (!d->only_gid)
		return d->has_key ? mrc_peer_next(dev, &d->gid, d->again) :
				    mrc_peer_next(dev, &(union ib_gid){}, true);
	return d->has_key && !d->again ? NULL : mrc_peer_find(dev, &d->want_gid);
}

typedef int (*mrc_dump_peer_fn)(struct sk_buff *skb, struct netlink_callback *cb,
				struct mrc_dev *dev, struct dump *d,
				struct mrc_peer *peer);

static int dump_peers(struct sk_buff *skb, struct netlink_callback *cb,
		      struct mrc_dev *dev, struct dump *d, mrc_dump_peer_fn fn)
{
	struct mrc_peer *peer;
	int err = 0;

	while (!err && (peer = next_peer(dev, d)) != NULL) {
		err = fn(skb, cb, dev, d, peer);
		mrc_peer_put(peer);
	}
	return err;
}

/* Did the previous message contain a part of @peer? */
static bool dump_again(const struct dump *d, const struct mrc_peer *peer)
{
	return d->again && d->has_key && !memcmp(&peer->gid, &d->gid, sizeof(d->gid));
}

static int dump_peer(struct sk_buff *skb, struct netlink_callback *cb,
		     struct mrc_dev *dev, struct dump *d, struct mrc_peer *peer)
{
	bool same = dump_again(d, peer);
	void *hdr = dump_begin(skb, cb, MRC_CMD_PEER_GET, dev);
	struct mrc_genl_cc_pos first = {}, pos;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	if (same)
		first = d->cc;
	pos = first;
	err = mrc_genl_put_peer(skb, peer, &pos);
	if (err && pos.profile_id == first.profile_id && pos.ops == first.ops) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	d->has_key = true;
	d->gid = peer->gid;
	d->cc = pos;
	d->again = err;
	return err;
}

/* EVs of @paths from *@idx on, as many as fit. */
static int dump_evs(struct sk_buff *skb, struct netlink_callback *cb, struct mrc_dev *dev,
		    struct mrc_peer_paths *paths, u32 *idx)
{
	void *hdr = dump_begin(skb, cb, MRC_CMD_EV_GET, dev);
	struct mrc_pathset *ps;
	u32 first = *idx;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	ps = mrc_peer_paths_set(paths);
	err = mrc_genl_put_evs(skb, ps, idx);
	mrc_pathset_put(ps);
	if (err && *idx == first)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/* All path sets of @peer, in the order of their profile numbers. */
static int dump_peer_evs(struct sk_buff *skb, struct netlink_callback *cb,
			 struct mrc_dev *dev, struct dump *d, struct mrc_peer *peer)
{
	bool same = dump_again(d, peer);
	struct mrc_peer_paths *paths = mrc_peer_paths_next(peer, same ? d->named : 0, true);
	int err = 0;
	u32 idx;

	d->again = false;
	while (paths) {
		idx = same && paths->named == d->named ? d->idx : 0;
		err = dump_evs(skb, cb, dev, paths, &idx);
		d->named = paths->named;
		d->idx = idx;
		mrc_peer_paths_put(paths);
		if (err)
			break;
		same = false;
		paths = mrc_peer_paths_next(peer, d->named, false);
	}
	d->has_key = true;
	d->gid = peer->gid;
	d->again = err;
	return err;
}

static int dump_all_peers(struct sk_buff *skb, struct netlink_callback *cb,
			  struct mrc_dev *dev, struct dump *d)
{
	return dump_peers(skb, cb, dev, d, dump_peer);
}

static int dump_all_evs(struct sk_buff *skb, struct netlink_callback *cb,
			struct mrc_dev *dev, struct dump *d)
{
	return dump_peers(skb, cb, dev, d, dump_peer_evs);
}

int mrc_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_all_peers);
}

int mrc_genl_ev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_all_evs);
}

/* ---- QPs ---- */

/* The next QP by number from d->idx on, referenced; or NULL. */
static struct mrc_qp *next_qp(struct mrc_dev *dev, const struct dump *d)
{
	struct mrc_qp *qp;

	if (!d->only_qpn)
		return mrc_qp_next(dev, d->idx);
	if (d->want_qpn < d->idx)
		return NULL;
	qp = mrc_qp_find(d->want_qpn);
	if (!qp || qp->dev == dev)
		return qp;
	mrc_qp_put(qp);
	return NULL;
}

/* May the requester see all attributes of @qp? */
static bool dump_secrets(const struct dump *d, const struct mrc_qp *qp)
{
	return d->admin || (uid_valid(d->uid) && uid_eq(d->uid, qp->owner.uid));
}

static int dump_qp(struct sk_buff *skb, struct netlink_callback *cb,
		   struct mrc_dev *dev, struct dump *d, struct mrc_qp *qp)
{
	void *hdr = dump_begin(skb, cb, MRC_CMD_QP_GET, dev);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = dump_end(skb, hdr, mrc_genl_put_qp(skb, qp, &d->info, !d->counters_named,
						 dump_secrets(d, qp)));
	if (err)
		return err;
	d->counters_named = true;
	d->idx = qp->qpn + 1;
	return 0;
}

static int dump_qps(struct sk_buff *skb, struct netlink_callback *cb,
		    struct mrc_dev *dev, struct dump *d)
{
	struct mrc_qp *qp;
	int err = 0;

	while (!err && (qp = next_qp(dev, d)) != NULL) {
		err = dump_qp(skb, cb, dev, d, qp);
		mrc_qp_put(qp);
	}
	return err;
}

int mrc_genl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_qps);
}
