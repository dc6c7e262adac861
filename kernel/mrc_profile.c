// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile.c - EV profiles: what the controller pushed, per device.
 *
 * A profile lists the EVs towards one destination (or any) under an id. The
 * device's default id chooses among them: an exact destination first, then
 * "any"; with neither, mrc_path.c makes EVs up (AUTO). Profiles are
 * immutable: setting one anew replaces it, and every path set built from the old one
 * is rebuilt.
 *
 * The list changes under dev->peer_lock and is read under RCU; a reader that
 * goes on takes a reference.
 */
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "linux/mrc.h"
#include "mrc_compat_net.h"
#include "mrc_path.h"

void mrc_profile_put(struct mrc_profile *p)
{
	if (p && refcount_dec_and_test(&p->ref))
		kfree_rcu(p, rcu);
}

static bool profile_is(const struct mrc_profile *p, u64 id, const union ib_gid *dst)
{
	if (p->id != id || p->any_dst != !dst)
		return false;
	return !dst || !memcmp(&p->dst, dst, sizeof(*dst));
}

/* Under RCU or dev->peer_lock. @dst NULL: the one for any destination. */
static struct mrc_profile *profile_find(struct mrc_dev *dev, u64 id, const union ib_gid *dst)
{
	struct mrc_profile *p;

	list_for_each_entry_rcu(p, &dev->profiles, link, lockdep_is_held(&dev->peer_lock))
		if (profile_is(p, id, dst))
			return p;
	return NULL;
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

/* ---- validation ---- */

static int check_port(struct mrc_dev *dev, u32 idx, u8 port, struct netlink_ext_ack *extack)
{
	bool exists;

	if (!port || port > MRC_PLANES_MAX) {
		MRC_ERR_MSG(extack, "EV %u: port %u is not in 1 to %u", idx, port,
			    MRC_PLANES_MAX);
		return -EINVAL;
	}
	exists = rcu_access_pointer(dev->plane[port - 1]);
	if (!exists) {
		MRC_ERR_MSG(extack, "EV %u: %s has no port %u", idx, dev->ndev->name, port);
		return -ENODEV;
	}
	return 0;
}

static int check_srv6(u32 idx, const struct mrc_ev_path *ev, struct netlink_ext_ack *extack)
{
	struct in6_addr dst, seg;

	memcpy(&dst, ev->value, sizeof(dst));
	memcpy(&seg, ev->value + 16, sizeof(seg));
	if (!(ipv6_addr_type(&dst) & IPV6_ADDR_UNICAST) || ipv6_addr_loopback(&dst) ||
	    ipv6_addr_v4mapped(&dst)) {
		MRC_ERR_MSG(extack, "EV %u: %pI6c is no SRv6 destination", idx, &dst);
		return -EINVAL;
	}
	if (ipv6_addr_is_multicast(&seg)) {
		MRC_ERR_MSG(extack, "EV %u: %pI6c is no SRv6 segment", idx, &seg);
		return -EINVAL;
	}
	return 0;
}

/* Bytes of the value that go on the wire as entropy. */
static u32 entropy_len(u32 fmt)
{
	return fmt == MRC_FMT_STEV ? 4 : 2;
}

static int check_entropy(const struct mrc_profile *p, u32 idx, struct netlink_ext_ack *extack)
{
	const struct mrc_ev_path *ev = &p->ev[idx];
	u32 len = entropy_len(p->fmt), i;

	if (!ev->value[0] && !ev->value[1]) {
		MRC_ERR_MSG(extack, "EV %u: UDP source port 0", idx);
		return -EINVAL;
	}
	/* Two of the same on one port: their answers could not be told apart. */
	for (i = 0; i < idx; i++) {
		if (p->ev[i].port == ev->port && !memcmp(p->ev[i].value, ev->value, len)) {
			MRC_ERR_MSG(extack, "EV %u is the same as EV %u", idx, i);
			return -EEXIST;
		}
	}
	return 0;
}

static int check_evs(struct mrc_dev *dev, const struct mrc_profile *p,
		     struct netlink_ext_ack *extack)
{
	u32 i;
	int err;

	for (i = 0; i < p->n; i++) {
		err = check_port(dev, i, p->ev[i].port, extack);
		if (!err && p->fmt == MRC_FMT_SRV6)
			err = check_srv6(i, &p->ev[i], extack);
		else if (!err)
			err = check_entropy(p, i, extack);
		if (err)
			return err;
	}
	return 0;
}

static int check_mode(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	switch (p->mode) {
	case MRC_MODE_EXP:
		if (p->n)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: no EVs in explicit mode", p->id);
		return -EINVAL;
	case MRC_MODE_AUTO:
		if (p->fmt != MRC_FMT_SRV6)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: SRv6 EVs cannot be made up (mode AUTO)",
			    p->id);
		return -EINVAL;
	case MRC_MODE_GEN:
		MRC_ERR_MSG(extack, "profile %llu: mode GEN is not supported: expand it into explicit EVs",
			    p->id);
		return -EOPNOTSUPP;
	}
	MRC_ERR_MSG(extack, "profile %llu: unknown mode %u", p->id, p->mode);
	return -EINVAL;
}

static int check_profile(struct mrc_dev *dev, const struct mrc_profile *p,
			 struct netlink_ext_ack *extack)
{
	int err;

	if (!p->id) {
		MRC_ERR_MSG(extack, "profile id 0 means AUTO and cannot be set");
		return -EINVAL;
	}
	if (p->fmt != MRC_FMT_STEV && p->fmt != MRC_FMT_SRV6 && p->fmt != MRC_FMT_UDP) {
		MRC_ERR_MSG(extack, "profile %llu: unknown EV format %u", p->id, p->fmt);
		return -EINVAL;
	}
	if (p->n > MRC_PS_EVS_MAX) {
		MRC_ERR_MSG(extack, "profile %llu: %u EVs, at most %u", p->id, p->n,
			    MRC_PS_EVS_MAX);
		return -E2BIG;
	}
	err = check_mode(p, extack);
	if (err)
		return err;
	if (p->n && p->min_active > p->n) {
		MRC_ERR_MSG(extack, "profile %llu: min-active %u of %u EVs", p->id,
			    p->min_active, p->n);
		return -EINVAL;
	}
	return p->mode == MRC_MODE_EXP ? check_evs(dev, p, extack) : 0;
}

/* ---- changes ---- */

static struct mrc_profile *profile_copy(const struct mrc_profile *p)
{
	/* EVs made up by AUTO depend on the peer; a count is all it takes from here. */
	u16 n = p->mode == MRC_MODE_EXP ? p->n : 0;
	struct mrc_profile *new = kzalloc(struct_size(new, ev, n), GFP_KERNEL);
	u32 i;

	if (!new)
		return NULL;
	new->id = p->id;
	new->any_dst = p->any_dst;
	new->dst = p->dst;
	new->fmt = p->fmt;
	new->mode = p->mode;
	new->min_active = p->min_active;
	new->n = p->n;
	refcount_set(&new->ref, 1);
	for (i = 0; i < n; i++) {
		memcpy(new->ev[i].value, p->ev[i].value, sizeof(new->ev[i].value));
		new->ev[i].port = p->ev[i].port;
		new->ev[i].srv6 = p->fmt == MRC_FMT_SRV6;
		new->ev[i].srh = new->ev[i].srv6 && memchr_inv(p->ev[i].value + 16, 0, 16);
	}
	return new;
}

int mrc_profile_set(struct mrc_dev *dev, const struct mrc_profile *p,
		    struct netlink_ext_ack *extack)
{
	struct mrc_profile *new, *old;
	int err;

	err = check_profile(dev, p, extack);
	if (err)
		return err;
	new = profile_copy(p);
	if (!new)
		return -ENOMEM;
	spin_lock_bh(&dev->peer_lock);
	if (dev->dead) {
		spin_unlock_bh(&dev->peer_lock);
		mrc_profile_put(new);
		return -ENODEV;
	}
	old = profile_find(dev, new->id, new->any_dst ? NULL : &new->dst);
	if (old)
		list_replace_rcu(&old->link, &new->link);
	else
		list_add_tail_rcu(&new->link, &dev->profiles);
	spin_unlock_bh(&dev->peer_lock);
	mrc_profile_put(old);
	mrc_peers_profiles_changed(dev);
	return 0;
}

int mrc_profile_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst_or_null,
		    struct netlink_ext_ack *extack)
{
	struct mrc_profile *p;

	spin_lock_bh(&dev->peer_lock);
	p = profile_find(dev, id, dst_or_null);
	if (p)
		list_del_rcu(&p->link);
	spin_unlock_bh(&dev->peer_lock);
	if (!p) {
		if (dst_or_null)
			MRC_ERR_MSG(extack, "no profile %llu for %pI6c", id, dst_or_null);
		else
			MRC_ERR_MSG(extack, "no profile %llu for any destination", id);
		return -ENOENT;
	}
	mrc_profile_put(p);
	mrc_peers_profiles_changed(dev);
	return 0;
}

void mrc_profiles_destroy(struct mrc_dev *dev)
{
	struct mrc_profile *p, *next;

	list_for_each_entry_safe(p, next, &dev->profiles, link) {
		list_del_rcu(&p->link);
		mrc_profile_put(p);
	}
}

/* ---- EVs of a path set ---- */

/*
 * Entropy that nobody configured: source ports from the dynamic range, in an order of
 * the peer's own (an odd step visits all 2^14 before it repeats), and the index as
 * flow label, which makes values unique. IPv4 has no flow label to echo.
 */
static u32 auto_entropy(const struct mrc_evplan *plan, u32 idx, bool flow_label)
{
	u32 sport = 0xc000 | ((plan->sport_base + idx * plan->sport_step) & 0x3fff);

	return sport << 16 | (flow_label ? idx & 0xffff : 0);
}

static void plan_auto(struct mrc_evplan *plan, struct mrc_pathset *ps, u16 n, bool flow_label)
{
	u32 planes = ps->planes ? ps->planes : 1, mask = planes;
	u16 i;

	for (i = 0; i < n; i++) {
		if (!mask)
			mask = planes;
		plan->plane[i] = (u8)__ffs(mask);
		mask &= mask - 1;
		plan->value[i] = auto_entropy(plan, i, flow_label);
		ps->path[i].port = plan->plane[i] + 1;
		put_unaligned_be32(plan->value[i], ps->path[i].value);
	}
	plan->n_planes = (u8)fls(planes);
}

static void plan_explicit(struct mrc_evplan *plan, struct mrc_pathset *ps,
			  const struct mrc_profile *prof, bool v4)
{
	u8 n_planes = max_t(u8, READ_ONCE(ps->peer->dev->n_planes), 1);
	const u8 *value;
	u16 i;

	for (i = 0; i < prof->n; i++) {
		ps->path[i] = prof->ev[i];
		value = prof->ev[i].value;
		plan->plane[i] = prof->ev[i].port - 1;
		n_planes = max(n_planes, prof->ev[i].port);
		if (prof->fmt == MRC_FMT_STEV)
			plan->value[i] = get_unaligned_be32(value) & (v4 ? 0xffff0000 : ~0u);
		else if (prof->fmt == MRC_FMT_UDP)
			plan->value[i] = (u32)get_unaligned_be16(value) << 16;
		else
			plan->value[i] = auto_entropy(plan, i, !v4);
	}
	plan->n_planes = n_planes;
}

void mrc_evplan_make(struct mrc_evplan *plan, struct mrc_pathset *ps,
		     const struct mrc_profile *prof, u16 n, u64 seed)
{
	bool v4 = ps->peer->v4;

	plan->sport_base = (u32)seed;
	plan->sport_step = (u32)(seed >> 32) | 1;
	if (ps->is_auto)
		plan_auto(plan, ps, n, !v4 && !(prof && prof->fmt == MRC_FMT_UDP));
	else
		plan_explicit(plan, ps, prof, v4);
}
