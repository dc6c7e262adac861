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
#include "mrc_genl_priv.h"

static int mrc_genl_need(struct genl_info *info, int attr)
{
	if (info->attrs[attr])
		return 0;
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, attr);
	NL_SET_ERR_MSG_MOD(info->extack, "the object to change is missing");
	return -EINVAL;
}

/* ---- device ---- */

int mrc_genl_dev_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_DEV_MAX + 1];
	struct mrc_dev_attr *a;
	struct mrc_dev *dev;
	int err;

	err = mrc_genl_need(info, MRC_A_DEV);
	if (err)
		return err;
	err = nla_parse_nested(tb, MRC_A_DEV_MAX, info->attrs[MRC_A_DEV], mrc_genl_dev_policy,
			       info->extack);
	if (err)
		return err;

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	a = &dev->attr;
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
		WRITE_ONCE(a->profile_id, nla_get_u64(tb[MRC_A_DEV_PROFILE_ID]));
out:
	rtnl_unlock();
	return err;
}

/* ---- plane ---- */

static int mrc_check_sid(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct in6_addr sid = nla_get_in6_addr(attr);

	if (ipv6_addr_is_multicast(&sid) || ipv6_addr_loopback(&sid) ||
	    ipv6_addr_v4mapped(&sid) || (ipv6_addr_type(&sid) & IPV6_ADDR_LINKLOCAL)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "mrc: SID must be a routable IPv6 unicast address, or :: for none");
		return -EINVAL;
	}
	return 0;
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
	smp_store_release(&p->has_sid, any);	/* pairs with readers: SID before flag */
	return true;
}

int mrc_genl_plane_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PLANE_MAX + 1];
	struct netlink_ext_ack *extack = info->extack;
	struct mrc_plane *p;
	struct in6_addr sid;
	struct mrc_dev *dev;
	bool admin;
	u8 num;
	int err;

	err = mrc_genl_need(info, MRC_A_PLANE);
	if (err)
		return err;
	err = nla_parse_nested(tb, MRC_A_PLANE_MAX, info->attrs[MRC_A_PLANE],
			       mrc_genl_plane_policy, extack);
	if (err)
		return err;
	if (!tb[MRC_A_PLANE_NUMBER]) {
		NL_SET_ERR_ATTR_MISS(extack, info->attrs[MRC_A_PLANE], MRC_A_PLANE_NUMBER);
		NL_SET_ERR_MSG_MOD(extack, "the plane's number is missing");
		return -EINVAL;
	}
	if (tb[MRC_A_PLANE_SID]) {
		err = mrc_check_sid(tb[MRC_A_PLANE_SID], extack);
		if (err)
			return err;
		sid = nla_get_in6_addr(tb[MRC_A_PLANE_SID]);
	}

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	num = nla_get_u8(tb[MRC_A_PLANE_NUMBER]) - 1;
	p = rtnl_dereference(dev->plane[num]);
	if (!p) {
		NL_SET_ERR_MSG_ATTR(extack, tb[MRC_A_PLANE_NUMBER],
				    "mrc: the device has no plane of this number");
		err = -ENOENT;
		goto out;
	}
	if (tb[MRC_A_PLANE_SID] && mrc_plane_change_sid(p, &sid))
		mrc_genl_event_plane(dev, num);
	if (tb[MRC_A_PLANE_ADMIN]) {
		admin = nla_get_u8(tb[MRC_A_PLANE_ADMIN]);
		if (p->admin != admin) {
			WRITE_ONCE(p->admin, admin);
			mrc_dev_planes_changed(dev);	/* sends the event, too */
		}
	}
out:
	rtnl_unlock();
	return err;
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

static int mrc_check_ev_value(u32 fmt, const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	const u8 *v = nla_data(attr);
	struct in6_addr a, seg;

	switch (fmt) {
	case MRC_FMT_UDP:
		if (memchr_inv(v + 2, 0, 30)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "mrc: EV value of format UDP has more than 2 bytes");
			return -EINVAL;
		}
		return 0;
	case MRC_FMT_STEV:
		if (memchr_inv(v + 4, 0, 28)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "mrc: EV value of format STEV has more than 4 bytes");
			return -EINVAL;
		}
		return 0;
	}
	memcpy(&a, v, sizeof(a));
	memcpy(&seg, v + sizeof(a), sizeof(seg));
	if (ipv6_addr_any(&a) || ipv6_addr_is_multicast(&a) || ipv6_addr_loopback(&a) ||
	    ipv6_addr_is_multicast(&seg)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "mrc: EV value of format SRV6 is no IPv6 unicast destination");
		return -EINVAL;
	}
	return 0;
}

static int mrc_parse_profile_ev(struct mrc_profile *p, const struct nlattr *a,
				struct netlink_ext_ack *extack)
{
	struct mrc_ev_path *ev = &p->ev[p->n];
	struct nlattr *tb[MRC_A_EV_MAX + 1];
	int err;

	err = nla_parse_nested(tb, MRC_A_EV_MAX, a, mrc_genl_profile_ev_policy, extack);
	if (err)
		return err;
	if (!tb[MRC_A_EV_VALUE] || !tb[MRC_A_EV_PORT]) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: EV needs a value and a port");
		return -EINVAL;
	}
	err = mrc_check_ev_value(p->fmt, tb[MRC_A_EV_VALUE], extack);
	if (err)
		return err;
	memcpy(ev->value, nla_data(tb[MRC_A_EV_VALUE]), sizeof(ev->value));
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

/* Everything but the EVs; @n of them will follow. */
static int mrc_parse_profile_head(struct mrc_profile *p, struct nlattr **tb, u32 n,
				  struct netlink_ext_ack *extack)
{
	const struct nlattr *a;

	a = tb[MRC_A_PROFILE_MODE];
	p->mode = a ? nla_get_u32(a) : MRC_MODE_EXP;
	if (p->mode == MRC_MODE_GEN) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: profile mode GEN is not supported");
		return -EOPNOTSUPP;
	}
	if (p->mode != MRC_MODE_AUTO && p->mode != MRC_MODE_EXP) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: profile mode is none of AUTO, EXP");
		return -EINVAL;
	}
	if (p->mode == MRC_MODE_EXP && (n < 1 || n > MRC_EVS_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "a profile of mode EXP has 1 to 4096 EVs");
		return -EINVAL;
	}
	if (p->mode == MRC_MODE_AUTO && n) {
		NL_SET_ERR_MSG_MOD(extack, "a profile of mode AUTO lists no EVs");
		return -EINVAL;
	}

	a = tb[MRC_A_PROFILE_FMT];
	p->fmt = a ? nla_get_u32(a) : MRC_FMT_UDP;
	if ((!a && p->mode == MRC_MODE_EXP) ||
	    (p->fmt != MRC_FMT_STEV && p->fmt != MRC_FMT_SRV6 && p->fmt != MRC_FMT_UDP)) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: profile format is none of STEV, SRV6, UDP");
		return -EINVAL;
	}
	if (p->mode == MRC_MODE_AUTO && p->fmt == MRC_FMT_SRV6) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: SRV6 EVs cannot be made by mode AUTO");
		return -EINVAL;
	}

	a = tb[MRC_A_PROFILE_MIN_ACTIVE];
	p->min_active = a ? nla_get_u32(a) : 0;
	if (p->mode == MRC_MODE_EXP && p->min_active > n) {
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: min_active is more than the profile's EVs");
		return -EINVAL;
	}
	return 0;
}

/* The nest's attributes with id and destination, which both commands need. */
static int mrc_parse_profile_key(struct genl_info *info, struct nlattr **tb,
				 const struct nla_policy *policy)
{
	int err = mrc_genl_need(info, MRC_A_PROFILE);

	if (err)
		return err;
	err = nla_parse_nested(tb, MRC_A_PROFILE_MAX, info->attrs[MRC_A_PROFILE], policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[MRC_A_PROFILE_ID]) {
		NL_SET_ERR_ATTR_MISS(info->extack, info->attrs[MRC_A_PROFILE], MRC_A_PROFILE_ID);
		NL_SET_ERR_MSG_MOD(info->extack, "the profile's id is missing");
		return -EINVAL;
	}
	return 0;
}

int mrc_genl_profile_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	struct mrc_profile *p;
	struct mrc_dev *dev;
	u32 n;
	int err;

	err = mrc_parse_profile_key(info, tb, mrc_genl_profile_policy);
	if (err)
		return err;
	n = mrc_count_profile_evs(info);
	p = kvzalloc(struct_size(p, ev, min_t(u32, n, MRC_EVS_MAX)), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->id = nla_get_u64(tb[MRC_A_PROFILE_ID]);
	p->any_dst = !tb[MRC_A_PROFILE_DST];
	if (!p->any_dst)
		nla_memcpy(&p->dst, tb[MRC_A_PROFILE_DST], sizeof(p->dst));
	err = mrc_parse_profile_head(p, tb, n, info->extack);
	if (!err)
		err = mrc_parse_profile_evs(p, info);
	if (err)
		goto free;

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (!err)
		err = mrc_profile_set(dev, p, info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	rtnl_unlock();
free:
	kvfree(p);
	return err;
}

int mrc_genl_profile_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	union ib_gid dst;
	struct mrc_dev *dev;
	int err;

	err = mrc_parse_profile_key(info, tb, mrc_genl_profile_key_policy);
	if (err)
		return err;
	if (tb[MRC_A_PROFILE_DST])
		nla_memcpy(&dst, tb[MRC_A_PROFILE_DST], sizeof(dst));

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (!err)
		err = mrc_profile_del(dev, nla_get_u64(tb[MRC_A_PROFILE_ID]),
				      tb[MRC_A_PROFILE_DST] ? &dst : NULL, info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	rtnl_unlock();
	return err;
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
		NL_SET_ERR_MSG_ATTR(extack, a, "mrc: EV needs an index and a state");
		return -EINVAL;
	}
	*idx = nla_get_u32(tb[MRC_A_EV_INDEX]);
	*state = nla_get_u32(tb[MRC_A_EV_STATE]);
	if (*idx >= n) {
		NL_SET_ERR_MSG_ATTR(extack, tb[MRC_A_EV_INDEX],
				    "mrc: EV index is beyond the path set");
		return -ERANGE;
	}
	if (*state != MRC_NL_EV_GOOD && *state != MRC_NL_EV_DENIED) {
		NL_SET_ERR_MSG_ATTR(extack, tb[MRC_A_EV_STATE],
				    "mrc: EV state can only be set to GOOD or DENIED");
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

static void mrc_apply_evs(struct genl_info *info, struct mrc_pathset *ps)
{
	const struct nlattr *a;
	u32 idx, state;
	int rem;

	spin_lock_bh(&ps->lock);
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(a) == MRC_A_EV &&
		    !mrc_parse_ev(a, ps->evs.n, &idx, &state, NULL))
			mrc_evset_set_state(&ps->evs, idx, state, ktime_get_ns());
	mrc_evset_take_change(&ps->evs);	/* told below */
	spin_unlock_bh(&ps->lock);
}

static int mrc_set_peer_evs(struct genl_info *info, struct mrc_peer *peer)
{
	struct mrc_pathset *ps = mrc_peer_pathset(peer);
	struct mrc_qp *qp;
	int err;

	err = mrc_check_evs(info, ps->evs.n);
	if (err)
		goto out;
	mrc_apply_evs(info, ps);
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

int mrc_genl_ev_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PEER_MAX + 1];
	struct mrc_peer *peer;
	union ib_gid gid;
	struct mrc_dev *dev;
	int err;

	err = mrc_genl_need(info, MRC_A_PEER) ?: mrc_genl_need(info, MRC_A_EV);
	if (err)
		return err;
	err = nla_parse_nested(tb, MRC_A_PEER_MAX, info->attrs[MRC_A_PEER],
			       mrc_genl_peer_policy, info->extack);
	if (err)
		return err;
	if (!tb[MRC_A_PEER_GID]) {
		NL_SET_ERR_ATTR_MISS(info->extack, info->attrs[MRC_A_PEER], MRC_A_PEER_GID);
		NL_SET_ERR_MSG_MOD(info->extack, "the peer's GID is missing");
		return -EINVAL;
	}
	nla_memcpy(&gid, tb[MRC_A_PEER_GID], sizeof(gid));

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	peer = mrc_peer_find(dev, &gid);
	if (!peer) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[MRC_A_PEER_GID],
				    "mrc: the device has no peer of this GID");
		err = -ENOENT;
		goto out;
	}
	err = mrc_set_peer_evs(info, peer);
	mrc_peer_put(peer);
out:
	rtnl_unlock();
	return err;
}
