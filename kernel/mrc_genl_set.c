// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_set.c - changes by netlink: check, then one function of the object.
 *
 * Under rtnl. Every change is idempotent: the same request again changes
 * nothing and succeeds, so a restarted controller may repeat itself. A request
 * that is refused has changed nothing.
 */
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "mrc_compat_net.h"
#include "mrc_genl_priv.h"

typedef int (*mrc_change_fn)(struct mrc_dev *dev, struct genl_info *info);

/* Under rtnl, also while words are checked: texts of refusals rely on it. */
static int mrc_genl_change(struct genl_info *info, mrc_change_fn fn)
{
	struct mrc_dev *dev;
	int err;

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = IS_ERR(dev) ? PTR_ERR(dev) : fn(dev, info);
	rtnl_unlock();
	return err;
}

/* Parse the nest @attr of the request, which must be there and have @key inside. */
static int mrc_genl_nest(struct genl_info *info, int attr, struct nlattr **tb, int max,
			 const struct nla_policy *policy, int key)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr *nest = info->attrs[attr];
	int err;

	if (!nest) {
		NL_SET_ERR_ATTR_MISS(extack, NULL, attr);
		NL_SET_ERR_MSG(extack, "the object to change is missing");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, max, nest, policy, extack);
	if (err)
		return err;
	if (key && !tb[key]) {
		NL_SET_ERR_ATTR_MISS(extack, nest, key);
		NL_SET_ERR_MSG(extack, "the object to change is not named");
		return -EINVAL;
	}
	return 0;
}

/* ---- device ---- */

static int mrc_dev_set(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_DEV_MAX + 1];
	struct mrc_dev_attr *a = &dev->attr;
	u64 id = a->profile_id;
	int err;

	err = mrc_genl_nest(info, MRC_A_DEV, tb, MRC_A_DEV_MAX, mrc_genl_dev_policy, 0);
	if (err)
		return err;
	if (tb[MRC_A_DEV_UDP_PORT])
		WRITE_ONCE(a->udp_port, nla_get_u16(tb[MRC_A_DEV_UDP_PORT]));
	if (tb[MRC_A_DEV_ICRC])
		WRITE_ONCE(a->icrc, nla_get_u8(tb[MRC_A_DEV_ICRC]));
	if (tb[MRC_A_DEV_CWND])
		WRITE_ONCE(a->cwnd_bytes, nla_get_u32(tb[MRC_A_DEV_CWND]));
	if (tb[MRC_A_DEV_MPR])
		WRITE_ONCE(a->mpr, nla_get_u8(tb[MRC_A_DEV_MPR]));
	if (tb[MRC_A_DEV_HOP_LIMIT])
		WRITE_ONCE(a->hop_limit, nla_get_u8(tb[MRC_A_DEV_HOP_LIMIT]));
	if (tb[MRC_A_DEV_DSCP_DATA])
		WRITE_ONCE(a->dscp_data, nla_get_u8(tb[MRC_A_DEV_DSCP_DATA]));
	if (tb[MRC_A_DEV_DSCP_RTX])
		WRITE_ONCE(a->dscp_rtx, nla_get_u8(tb[MRC_A_DEV_DSCP_RTX]));
	if (tb[MRC_A_DEV_DSCP_CONTROL])
		WRITE_ONCE(a->dscp_control, nla_get_u8(tb[MRC_A_DEV_DSCP_CONTROL]));
	if (tb[MRC_A_DEV_PROFILE_ID])
		id = nla_get_u64(tb[MRC_A_DEV_PROFILE_ID]);
	if (a->profile_id != id) {
		WRITE_ONCE(a->profile_id, id);
		mrc_peers_profiles_changed(dev);
	}
	return 0;
}

int mrc_genl_dev_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, mrc_dev_set);
}

/* ---- plane ---- */

static int mrc_check_sid(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct in6_addr sid = nla_get_in6_addr(attr);

	if (!ipv6_addr_is_multicast(&sid) && !ipv6_addr_loopback(&sid) &&
	    !ipv6_addr_v4mapped(&sid) && !(ipv6_addr_type(&sid) & IPV6_ADDR_LINKLOCAL))
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	MRC_ERR_MSG(extack, "SID %pI6c is no routable IPv6 unicast address", &sid);
	return -EINVAL;
}

/*
 * Packets read the SID without a lock: withdraw it, wait for them, write,
 * publish. For that moment the plane sends nothing over SRv6; loss recovery copes.
 */
static bool mrc_plane_change_sid(struct mrc_plane *p, const struct in6_addr *sid)
{
	bool any = !ipv6_addr_any(sid);

	if (p->has_sid == any && (!any || ipv6_addr_equal(&p->sid, sid)))
		return false;
	if (p->has_sid) {
		WRITE_ONCE(p->has_sid, false);
		synchronize_net();
	}
	p->sid = *sid;
	smp_store_release(&p->has_sid, any);	/* the SID before the flag */
	return true;
}

static int mrc_plane_set(struct mrc_dev *dev, struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr *tb[MRC_A_PLANE_MAX + 1];
	u32 was_up = dev->planes_up;
	bool changed = false, admin;
	struct mrc_plane *p;
	struct in6_addr sid;
	u8 num;
	int err;

	err = mrc_genl_nest(info, MRC_A_PLANE, tb, MRC_A_PLANE_MAX, mrc_genl_plane_policy,
			    MRC_A_PLANE_NUMBER);
	if (err)
		return err;
	num = nla_get_u8(tb[MRC_A_PLANE_NUMBER]) - 1;
	p = rtnl_dereference(dev->plane[num]);
	if (!p) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_PLANE_NUMBER]);
		MRC_ERR_MSG(extack, "%s has no plane %u", dev->ndev->name, num + 1);
		return -ENOENT;
	}
	if (tb[MRC_A_PLANE_SID]) {
		err = mrc_check_sid(tb[MRC_A_PLANE_SID], extack);
		if (err)
			return err;
		sid = nla_get_in6_addr(tb[MRC_A_PLANE_SID]);
		changed = mrc_plane_change_sid(p, &sid);
	}
	if (tb[MRC_A_PLANE_ADMIN]) {
		admin = nla_get_u8(tb[MRC_A_PLANE_ADMIN]);
		changed |= p->admin != admin;
		WRITE_ONCE(p->admin, admin);
	}
	if (!changed)
		return 0;
	mrc_dev_planes_changed(dev);	/* cached routes, too; tells of planes up or down */
	if (!((was_up ^ dev->planes_up) & (1u << num)))
		mrc_genl_event_plane(dev, num);
	return 0;
}

int mrc_genl_plane_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, mrc_plane_set);
}

/* ---- profiles ---- */

/* EVs stand in MRC_A_PROFILE, or beside it where 64 KiB do not bind them. */
static bool mrc_is_profile_ev(const struct nlattr *a, bool nested)
{
	return nla_type(a) == (nested ? MRC_A_PROFILE_EV : MRC_A_EV);
}

static u32 mrc_count_profile_evs(struct genl_info *info)
{
	const struct nlattr *a;
	u32 n = 0;
	int rem;

	nla_for_each_nested(a, info->attrs[MRC_A_PROFILE], rem)
		n += mrc_is_profile_ev(a, true);
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		n += mrc_is_profile_ev(a, false);
	return n;
}

/* Bytes of the value that its format uses; mrc_profile_set() judges their worth. */
static u32 mrc_ev_len(u32 fmt)
{
	switch (fmt) {
	case MRC_FMT_UDP:
		return 2;
	case MRC_FMT_STEV:
		return 4;
	}
	return 32;
}

static int mrc_parse_profile_ev(struct mrc_profile *p, const struct nlattr *a,
				struct netlink_ext_ack *extack)
{
	struct mrc_ev_path *ev = &p->ev[p->n];
	struct nlattr *tb[MRC_A_EV_MAX + 1];
	u32 len = mrc_ev_len(p->fmt);
	int err;

	err = nla_parse_nested(tb, MRC_A_EV_MAX, a, mrc_genl_profile_ev_policy, extack);
	if (err)
		return err;
	if (!tb[MRC_A_EV_VALUE] || !tb[MRC_A_EV_PORT]) {
		NL_SET_BAD_ATTR(extack, a);
		MRC_ERR_MSG(extack, "EV %u: needs a value and a port", p->n);
		return -EINVAL;
	}
	memcpy(ev->value, nla_data(tb[MRC_A_EV_VALUE]), sizeof(ev->value));
	if (memchr_inv(ev->value + len, 0, sizeof(ev->value) - len)) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_VALUE]);
		MRC_ERR_MSG(extack, "EV %u: the value is longer than %u bytes", p->n, len);
		return -EINVAL;
	}
	ev->port = nla_get_u8(tb[MRC_A_EV_PORT]);
	ev->srv6 = p->fmt == MRC_FMT_SRV6;
	ev->srh = ev->srv6 && memchr_inv(ev->value + 16, 0, 16);
	p->n++;
	return 0;
}

static int mrc_parse_profile_evs(struct mrc_profile *p, struct genl_info *info)
{
	const struct nlattr *a;
	int err, rem;

	nla_for_each_nested(a, info->attrs[MRC_A_PROFILE], rem) {
		if (!mrc_is_profile_ev(a, true))
			continue;
		err = mrc_parse_profile_ev(p, a, info->extack);
		if (err)
			return err;
	}
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (!mrc_is_profile_ev(a, false))
			continue;
		err = mrc_parse_profile_ev(p, a, info->extack);
		if (err)
			return err;
	}
	return 0;
}

static int mrc_parse_profile(struct mrc_profile *p, struct nlattr **tb, struct genl_info *info)
{
	const struct nlattr *a;

	p->id = nla_get_u64(tb[MRC_A_PROFILE_ID]);
	p->any_dst = !tb[MRC_A_PROFILE_DST];
	if (!p->any_dst)
		nla_memcpy(&p->dst, tb[MRC_A_PROFILE_DST], sizeof(p->dst));
	a = tb[MRC_A_PROFILE_MODE];
	p->mode = a ? nla_get_u32(a) : MRC_MODE_EXP;
	a = tb[MRC_A_PROFILE_FMT];
	if (!a && p->mode != MRC_MODE_AUTO) {
		NL_SET_ERR_ATTR_MISS(info->extack, info->attrs[MRC_A_PROFILE], MRC_A_PROFILE_FMT);
		MRC_ERR_MSG(info->extack, "profile %llu: the EVs' format is missing", p->id);
		return -EINVAL;
	}
	p->fmt = a ? nla_get_u32(a) : MRC_FMT_UDP;
	a = tb[MRC_A_PROFILE_MIN_ACTIVE];
	p->min_active = a ? nla_get_u32(a) : 0;
	return mrc_parse_profile_evs(p, info);
}

static int mrc_profile_change(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	struct mrc_profile *p;
	u32 n;
	int err;

	err = mrc_genl_nest(info, MRC_A_PROFILE, tb, MRC_A_PROFILE_MAX,
			    mrc_genl_profile_policy, MRC_A_PROFILE_ID);
	if (err)
		return err;
	n = mrc_count_profile_evs(info);
	if (n > MRC_EVS_MAX) {
		MRC_ERR_MSG(info->extack, "profile: %u EVs, at most %u", n, MRC_EVS_MAX);
		return -E2BIG;
	}
	p = kvzalloc(struct_size(p, ev, n), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	err = mrc_parse_profile(p, tb, info);
	if (!err && p->mode == MRC_MODE_AUTO && p->n) {
		MRC_ERR_MSG(info->extack, "profile %llu: mode AUTO takes no EVs", p->id);
		err = -EINVAL;
	}
	if (!err)
		err = mrc_profile_set(dev, p, info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	kvfree(p);
	return err;
}

static int mrc_profile_remove(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	union ib_gid dst;
	int err;

	err = mrc_genl_nest(info, MRC_A_PROFILE, tb, MRC_A_PROFILE_MAX,
			    mrc_genl_profile_key_policy, MRC_A_PROFILE_ID);
	if (err)
		return err;
	if (tb[MRC_A_PROFILE_DST])
		nla_memcpy(&dst, tb[MRC_A_PROFILE_DST], sizeof(dst));
	err = mrc_profile_del(dev, nla_get_u64(tb[MRC_A_PROFILE_ID]),
			      tb[MRC_A_PROFILE_DST] ? &dst : NULL, info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	return err;
}

int mrc_genl_profile_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, mrc_profile_change);
}

int mrc_genl_profile_del(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, mrc_profile_remove);
}

/* ---- EVs of a path set ---- */

static int mrc_parse_ev(const struct nlattr *a, u32 n, u32 *idx, u32 *state,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRC_A_EV_MAX + 1];
	int err;

	err = nla_parse_nested(tb, MRC_A_EV_MAX, a, mrc_genl_ev_policy, extack);
	if (err)
		return err;
	if (!tb[MRC_A_EV_INDEX] || !tb[MRC_A_EV_STATE]) {
		NL_SET_ERR_MSG_ATTR(extack, a, "EV needs an index and a state");
		return -EINVAL;
	}
	*idx = nla_get_u32(tb[MRC_A_EV_INDEX]);
	*state = nla_get_u32(tb[MRC_A_EV_STATE]);
	if (*idx >= n) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_INDEX]);
		MRC_ERR_MSG(extack, "EV %u: the path set has %u EVs", *idx, n);
		return -ERANGE;
	}
	if (*state != MRC_NL_EV_GOOD && *state != MRC_NL_EV_DENIED) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_STATE]);
		MRC_ERR_MSG(extack, "EV %u: the state can be set to GOOD or DENIED only", *idx);
		return -EINVAL;
	}
	return 0;
}

/* All EVs of the request are sound before the first is changed. */
static int mrc_check_evs(struct genl_info *info, u32 n)
{
	const struct nlattr *a;
	u32 idx, state;
	int err, rem;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != MRC_A_EV)
			continue;
		err = mrc_parse_ev(a, n, &idx, &state, info->extack);
		if (err)
			return err;
	}
	return 0;
}

static bool mrc_apply_evs(struct genl_info *info, struct mrc_pathset *ps)
{
	const struct nlattr *a;
	u32 idx, state;
	bool changed;
	int rem;

	spin_lock_bh(&ps->lock);
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(a) == MRC_A_EV &&
		    !mrc_parse_ev(a, ps->evs.n, &idx, &state, NULL))
			mrc_evset_set_state(&ps->evs, (u16)idx, (u8)state, ktime_get_ns());
	changed = mrc_evset_take_change(&ps->evs);
	spin_unlock_bh(&ps->lock);
	return changed;
}

static int mrc_set_peer_evs(struct genl_info *info, struct mrc_peer *peer)
{
	struct mrc_pathset *ps = mrc_peer_pathset(peer);
	struct mrc_qp *qp;
	int err;

	err = mrc_check_evs(info, ps->evs.n);
	if (err)
		goto out;
	if (mrc_apply_evs(info, ps))
		mrc_genl_event_peer(peer, MRC_EVENT_EV);

	/* a QP without any usable EV waits for this */
	spin_lock_bh(&peer->lock);
	list_for_each_entry(qp, &peer->qps, peer_link)
		mrc_bh_kick(qp);
	spin_unlock_bh(&peer->lock);
out:
	mrc_pathset_put(ps);
	return err;
}

static int mrc_ev_set(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PEER_MAX + 1];
	struct mrc_peer *peer;
	union ib_gid gid;
	int err;

	err = mrc_genl_nest(info, MRC_A_PEER, tb, MRC_A_PEER_MAX, mrc_genl_peer_policy,
			    MRC_A_PEER_GID);
	if (err)
		return err;
	if (!info->attrs[MRC_A_EV]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, MRC_A_EV);
		NL_SET_ERR_MSG(info->extack, "which EV? index and state are needed");
		return -EINVAL;
	}
	nla_memcpy(&gid, tb[MRC_A_PEER_GID], sizeof(gid));
	peer = mrc_peer_find(dev, &gid);
	if (!peer) {
		NL_SET_BAD_ATTR(info->extack, tb[MRC_A_PEER_GID]);
		MRC_ERR_MSG(info->extack, "%s has no peer %pI6c", dev->ndev->name, gid.raw);
		return -ENOENT;
	}
	err = mrc_set_peer_evs(info, peer);
	mrc_peer_put(peer);
	return err;
}

int mrc_genl_ev_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, mrc_ev_set);
}
