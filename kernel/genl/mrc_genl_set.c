// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_set.c - changes by netlink: validate, then call one function of the object.
 *
 * Under rtnl. Every change is idempotent: repeating a request changes nothing and succeeds, so a
 * restarted controller may repeat its requests. A request that fails has changed nothing.
 */
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_event.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_peers.h"
#include "path/mrc_reach.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_port.h"
#include "device/mrc_dev_set.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_set.h"

/*
 * Sets the bad attribute of an error. The function that refused may know no attributes, or may have checked several
 * together. Then the nest of the object is reported.
 */
static void genl_blame(struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	int i;

	if (!extack || extack->bad_attr || extack->miss_type)
		return;
	for (i = MRC_A_DEV; i <= MRC_A_MAX && !extack->bad_attr; i++)
		NL_SET_BAD_ATTR(extack, info->attrs[i]);
}

/* rtnl is also held during validation, because the buffer for error texts relies on it. */
int mrc_genl_change(struct genl_info *info, mrc_change_fn fn)
{
	struct mrc_dev *dev;
	int err;

	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = IS_ERR(dev) ? PTR_ERR(dev) : fn(dev, info);
	rtnl_unlock();
	if (err && err != -ENOMEM)
		genl_blame(info);
	return err;
}

int mrc_genl_nest(struct genl_info *info, int attr, struct nlattr **tb, int max,
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

static void parse_bytes(struct nlattr **tb, struct mrc_dev_attr *a)
{
	const struct {
		int attr;
		u8 *to;
	} all[] = {
		{ MRC_A_DEV_DSCP_DATA, &a->dscp[MRC_TC_DATA] },
		{ MRC_A_DEV_DSCP_RTX, &a->dscp[MRC_TC_RTX] },
		{ MRC_A_DEV_DSCP_CONTROL, &a->dscp[MRC_TC_CONTROL] },
		{ MRC_A_DEV_DSCP_NO_TRIM, &a->dscp[MRC_TC_NO_TRIM] },
		{ MRC_A_DEV_DSCP_TRIMMED, &a->dscp_trimmed },
		{ MRC_A_DEV_DSCP_TRIMMED_LASTHOP, &a->dscp_trimmed_lasthop },
		{ MRC_A_DEV_MPR, &a->mpr },
		{ MRC_A_DEV_HOP_LIMIT, &a->hop_limit },
		{ MRC_A_DEV_EXP_CNT, &a->exp_cnt },
		{ MRC_A_DEV_BURST, &a->burst },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (tb[all[i].attr])
			*all[i].to = nla_get_u8(tb[all[i].attr]);
}

static void parse_switches(struct nlattr **tb, struct mrc_dev_attr *a)
{
	const struct {
		int attr;
		bool *to;
	} all[] = {
		{ MRC_A_DEV_ICRC, &a->icrc },
		{ MRC_A_DEV_TRIM_NACK, &a->trim_nack },
		{ MRC_A_DEV_TIMESTAMPS, &a->timestamps },
		{ MRC_A_DEV_DYN_MPR, &a->dyn_mpr },
		{ MRC_A_DEV_STRICT, &a->strict },
		{ MRC_A_DEV_SLEEK, &a->sleek },
		{ MRC_A_DEV_INCAST, &a->incast },
		{ MRC_A_DEV_OOR_NACK, &a->oor_nack },
		{ MRC_A_DEV_EV_PORT_LOW, &a->ev_port_low },
		{ MRC_A_DEV_MRC_PAD, &a->mrc_pad },
		{ MRC_A_DEV_EP_OP_HIGH, &a->ep_op_high },
		{ MRC_A_DEV_PORT_BIT_1, &a->port_bit_1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (tb[all[i].attr])
			*all[i].to = nla_get_u8(tb[all[i].attr]);
}

static int set_dev(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_DEV_MAX + 1];
	struct mrc_dev_attr a = dev->attr;
	int err;

	err = mrc_genl_nest(info, MRC_A_DEV, tb, MRC_A_DEV_MAX, mrc_genl_dev_policy, 0);
	if (err)
		return err;
	parse_bytes(tb, &a);
	parse_switches(tb, &a);
	if (tb[MRC_A_DEV_UDP_PORT])
		a.udp_port = nla_get_u16(tb[MRC_A_DEV_UDP_PORT]);
	if (tb[MRC_A_DEV_CWND])
		a.cwnd_bytes = nla_get_u32(tb[MRC_A_DEV_CWND]);
	if (tb[MRC_A_DEV_ACTIVE_EVS])
		a.active_evs = (u16)nla_get_u32(tb[MRC_A_DEV_ACTIVE_EVS]);
	if (tb[MRC_A_DEV_DAMP])
		a.damp_ms = nla_get_u32(tb[MRC_A_DEV_DAMP]);
	if (tb[MRC_A_DEV_PROFILE_ID])
		a.profile_id = nla_get_u64(tb[MRC_A_DEV_PROFILE_ID]);
	if (tb[MRC_A_DEV_CC_PROFILE_ID])
		a.cc_profile_id = nla_get_u64(tb[MRC_A_DEV_CC_PROFILE_ID]);
	return mrc_dev_set(dev, &a, info->extack);
}

int mrc_genl_dev_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, set_dev);
}

/* ---- plane ---- */

static int check_sid(const struct nlattr *attr, struct netlink_ext_ack *extack)
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
 * Senders read the SID without a lock. So clear the flag, wait for the senders, write the SID, and set the flag. Meanwhile
 * the plane uses no SID; loss recovery handles packets that cannot be sent.
 */
static bool plane_change_sid(struct mrc_dev_plane *p, const struct in6_addr *sid)
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

/* Assigns a port to plane number @num. Other settings need their own request: the number then means another port. */
static int plane_assign(struct mrc_dev *dev, u8 num, struct nlattr **tb,
			struct netlink_ext_ack *extack)
{
	if (tb[MRC_A_PLANE_SID] || tb[MRC_A_PLANE_ADMIN]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[MRC_A_PLANE_IFNAME],
				    "netdev alone, please; then the plane's other settings");
		return -EINVAL;
	}
	return mrc_dev_port_assign(dev, num, nla_data(tb[MRC_A_PLANE_IFNAME]), extack);
}

static int plane_set(struct mrc_dev *dev, struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr *tb[MRC_A_PLANE_MAX + 1];
	u32 was_up = dev->planes_up;
	bool changed = false, admin;
	struct mrc_dev_plane *p;
	struct in6_addr sid;
	u8 num;
	int err;

	err = mrc_genl_nest(info, MRC_A_PLANE, tb, MRC_A_PLANE_MAX, mrc_genl_plane_policy,
			    MRC_A_PLANE_NUMBER);
	if (err)
		return err;
	num = nla_get_u8(tb[MRC_A_PLANE_NUMBER]) - 1;
	if (tb[MRC_A_PLANE_IFNAME])
		return plane_assign(dev, num, tb, extack);
	p = rtnl_dereference(dev->plane[num]);
	if (!p) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_PLANE_NUMBER]);
		MRC_ERR_MSG(extack, "%s has no plane %u", dev->ndev->name, num + 1);
		return -ENOENT;
	}
	if (tb[MRC_A_PLANE_SID]) {
		err = check_sid(tb[MRC_A_PLANE_SID], extack);
		if (err)
			return err;
		sid = nla_get_in6_addr(tb[MRC_A_PLANE_SID]);
		err = ipv6_addr_any(&sid) ? mrc_reach_no_sid(dev, num, extack) : 0;
		if (err)
			return err;
		changed = plane_change_sid(p, &sid);
	}
	if (tb[MRC_A_PLANE_ADMIN]) {
		admin = nla_get_u8(tb[MRC_A_PLANE_ADMIN]);
		changed |= p->admin != admin;
		WRITE_ONCE(p->admin, admin);
	}
	if (!changed)
		return 0;
	mrc_carrier_changed(dev);	/* also drops cached routes and reports planes that went up or down */
	if (!((was_up ^ dev->planes_up) & (1u << num)))
		mrc_event_plane(dev, num);
	return 0;
}

int mrc_genl_plane_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, plane_set);
}

/* ---- EVs of a path set ---- */

/*
 * The request has an index from a dump, and the set may have been replaced since. If it also names the EV, the index must
 * still refer to that EV.
 */
static int check_same_ev(struct nlattr **tb, const struct mrc_pathset *ps, u32 idx,
			 struct netlink_ext_ack *extack)
{
	const struct nlattr *port = tb[MRC_A_EV_PORT], *value = tb[MRC_A_EV_VALUE];
	u8 now[MRC_EV_BYTES];

	if (!port && !value)
		return idx < mrc_evset_n(&ps->evs) ? 0 : -ERANGE;
	if (idx < mrc_evset_n(&ps->evs)) {
		mrc_pathset_value(ps, (u16)idx, now);
		if ((!port || nla_get_u8(port) == ps->path[idx].port) &&
		    (!value || !memcmp(nla_data(value), now, sizeof(now))))
			return 0;
	}
	NL_SET_BAD_ATTR(extack, value ?: port);
	MRC_ERR_MSG(extack, "EV %u is another one: the path set was replaced, list it again", idx);
	return -ESTALE;
}

static int parse_ev(const struct nlattr *a, const struct mrc_pathset *ps, u32 *idx, u32 *state,
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
	err = check_same_ev(tb, ps, *idx, extack);
	if (err == -ERANGE) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_INDEX]);
		MRC_ERR_MSG(extack, "EV %u: the path set has %u EVs", *idx,
			    mrc_evset_n(&ps->evs));
	}
	if (err)
		return err;
	if (*state != MRC_NL_EV_GOOD && *state != MRC_NL_EV_DENIED) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_STATE]);
		MRC_ERR_MSG(extack, "EV %u: the state can be set to GOOD or DENIED only", *idx);
		return -EINVAL;
	}
	return 0;
}

/*
 * Validates all EVs of the request before the first one changes. @denied: set of EVs that are denied after the request.
 */
static int check_evs(struct genl_info *info, const struct mrc_pathset *ps, unsigned long *denied)
{
	u32 idx, state, n = mrc_evset_n(&ps->evs);
	const struct nlattr *a;
	int err, rem;

	for (idx = 0; idx < n; idx++)
		__assign_bit(idx, denied, mrc_pathset_denied(ps, (u16)idx));
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != MRC_A_EV)
			continue;
		err = parse_ev(a, ps, &idx, &state, info->extack);
		if (err)
			return err;
		__assign_bit(idx, denied, state == MRC_NL_EV_DENIED);
	}
	return 0;
}

/* Fails if the set was replaced meanwhile, because changes of the old one would be lost. */
static int apply_evs(struct genl_info *info, struct mrc_pathset *ps, bool *changed)
{
	const struct nlattr *a;
	u32 idx, state;
	int rem;

	spin_lock_bh(&ps->peer->path_lock);
	if (!mrc_peer_paths_is(ps)) {
		spin_unlock_bh(&ps->peer->path_lock);
		NL_SET_ERR_MSG(info->extack, "the path set was just replaced: list it again");
		return -ESTALE;
	}
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(a) == MRC_A_EV && !parse_ev(a, ps, &idx, &state, NULL))
			mrc_evset_set_state(&ps->evs, (u16)idx, (u8)state, ktime_get_ns());
	*changed = mrc_evset_take_change(&ps->evs);
	mrc_peer_paths_log(ps->paths);
	spin_unlock_bh(&ps->peer->path_lock);
	return 0;
}

/* If the request names the path set that it is based on, that set must still be in use. */
static int check_paths(const struct nlattr *a, const struct mrc_pathset *ps,
		       struct netlink_ext_ack *extack)
{
	if (!a || nla_get_u64(a) == ps->id)
		return 0;
	NL_SET_BAD_ATTR(extack, a);
	MRC_ERR_MSG(extack, "path set %llu is not the peer's, which is %llu: list it again",
		    nla_get_u64(a), ps->id);
	return -ESTALE;
}

static int set_evs(struct genl_info *info, struct mrc_peer_paths *paths, const struct nlattr *id)
{
	struct mrc_pathset *ps = mrc_peer_paths_set(paths);
	DECLARE_BITMAP(denied, MRC_EVS_MAX);
	bool changed;
	int err;

	err = check_paths(id, ps, info->extack) ?: check_evs(info, ps, denied) ?:
	      mrc_reach_deny(ps, denied, info->extack) ?: apply_evs(info, ps, &changed);
	if (err)
		goto out;
	if (changed)
		mrc_event_peer(ps->peer, MRC_EVENT_EV);

	/* a QP without any usable EV waits for this */
	mrc_peer_users_notify(ps->peer, false);
out:
	mrc_pathset_put(ps);
	return err;
}

/* Changes EVs of the path set of the named profile, or of the default one. */
static int set_peer_evs(struct genl_info *info, struct mrc_peer *peer, struct nlattr **tb)
{
	const struct nlattr *a = tb[MRC_A_PEER_NAMED];
	u64 named = a ? nla_get_u64(a) : 0;
	struct mrc_peer_paths *paths = mrc_peer_paths_next(peer, named, true);
	int err;

	if (paths && paths->named == named) {
		err = set_evs(info, paths, tb[MRC_A_PEER_PATHS]);
	} else {
		NL_SET_BAD_ATTR(info->extack, a);
		MRC_ERR_MSG(info->extack, "no QP to %pI6c names EV profile %llu", peer->gid.raw, named);
		err = -ENOENT;
	}
	mrc_peer_paths_put(paths);
	return err;
}

static int ev_set(struct mrc_dev *dev, struct genl_info *info)
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
	err = set_peer_evs(info, peer, tb);
	mrc_peer_put(peer);
	return err;
}

int mrc_genl_ev_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, ev_set);
}
