// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl.c - the generic-netlink family "mrc": policies, operations, events.
 *
 * A command accepts exactly the attributes its policy lists, and what a get
 * reports but nobody may set is in no policy. Plain struct genl_ops, because 6.1
 * has no split ones. What the attributes mean: Documentation/netlink/specs/mrc.yaml.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "mrc_compat_net.h"
#include "mrc_genl_priv.h"
#include "mrc_net.h"

#define MRC_CWND_MIN	4096	/* one packet */

atomic_t mrc_genl_generation = ATOMIC_INIT(1);

/* 6.1 wants these not const */
static struct netlink_range_validation mrc_cwnd_range = {
	.min = MRC_CWND_MIN,
	.max = 1u << 30,
};

static struct netlink_range_validation mrc_id_range = {
	.min = 1,
	.max = U64_MAX,
};

/* ---- nested policies ---- */

static struct netlink_range_validation mrc_window_range = {
	.max = 1u << 30,
};

static struct netlink_range_validation mrc_ratio_range = {
	.max = 1u << 16,	/* 1.0 in 16.16 */
};

static struct netlink_range_validation mrc_damp_range = {
	.max = 3600 * 1000,	/* an hour */
};

const struct nla_policy mrc_genl_dev_policy[MRC_A_DEV_MAX + 1] = {
	[MRC_A_DEV_UDP_PORT]	= NLA_POLICY_MIN(NLA_U16, 1),
	[MRC_A_DEV_ICRC]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_CWND]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_cwnd_range),
	[MRC_A_DEV_MPR]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_MPR_MAX),
	[MRC_A_DEV_HOP_LIMIT]	= NLA_POLICY_MIN(NLA_U8, 1),
	[MRC_A_DEV_DSCP_DATA]	= NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_RTX]	= NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_CONTROL] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_PROFILE_ID]	= { .type = NLA_U64 },
	[MRC_A_DEV_DSCP_NO_TRIM] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_TRIMMED] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_TRIMMED_LASTHOP] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_TRIM_NACK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_ACTIVE_EVS]	= NLA_POLICY_RANGE(NLA_U32, 1, MRC_EVS_MAX),
	[MRC_A_DEV_CC_PROFILE_ID] = { .type = NLA_U64 },
	[MRC_A_DEV_TIMESTAMPS]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_DYN_MPR]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_STRICT]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_SLEEK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_INCAST]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_OOR_NACK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_EXP_CNT]	= NLA_POLICY_MAX(NLA_U8, MRC_EXP_FOREVER),
	[MRC_A_DEV_EV_PORT_LOW]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_MRC_PAD]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_DAMP]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_damp_range),
};

const struct nla_policy mrc_genl_plane_policy[MRC_A_PLANE_MAX + 1] = {
	[MRC_A_PLANE_NUMBER]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_PLANE_ADMIN]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_PLANE_SID]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
};

/* An EV of a profile */
const struct nla_policy mrc_genl_profile_ev_policy[MRC_A_EV_MAX + 1] = {
	[MRC_A_EV_VALUE]	= NLA_POLICY_EXACT_LEN(32),
	[MRC_A_EV_PORT]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
};

const struct nla_policy mrc_genl_field_policy[MRC_A_FIELD_MAX + 1] = {
	[MRC_A_FIELD_WIDTH]	= NLA_POLICY_RANGE(NLA_U32, 1, 32),
	[MRC_A_FIELD_INIT]	= { .type = NLA_U32 },
	[MRC_A_FIELD_FIRST]	= { .type = NLA_U32 },
	[MRC_A_FIELD_LAST]	= { .type = NLA_U32 },
	[MRC_A_FIELD_MASK]	= { .type = NLA_U32 },
};

const struct nla_policy mrc_genl_gen_policy[MRC_A_GEN_MAX + 1] = {
	[MRC_A_GEN_PORT]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_GEN_FIELD]	= NLA_POLICY_NESTED(mrc_genl_field_policy),
};

const struct nla_policy mrc_genl_profile_policy[MRC_A_PROFILE_MAX + 1] = {
	[MRC_A_PROFILE_ID]	= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_PROFILE_DST]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_PROFILE_FMT]	= { .type = NLA_U32 },
	[MRC_A_PROFILE_MODE]	= { .type = NLA_U32 },
	[MRC_A_PROFILE_MIN_ACTIVE] = NLA_POLICY_MAX(NLA_U32, MRC_EVS_MAX),
	[MRC_A_PROFILE_EV]	= NLA_POLICY_NESTED(mrc_genl_profile_ev_policy),
	[MRC_A_PROFILE_COUNT]	= NLA_POLICY_RANGE(NLA_U32, 1, MRC_EVS_MAX),
	[MRC_A_PROFILE_FMT_WIDTHS] = NLA_POLICY_RANGE(NLA_BINARY, 1, MRC_EV_FIELDS_MAX),
	[MRC_A_PROFILE_GEN]	= NLA_POLICY_NESTED(mrc_genl_gen_policy),
};

const struct nla_policy mrc_genl_profile_key_policy[MRC_A_PROFILE_MAX + 1] = {
	[MRC_A_PROFILE_ID]	= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_PROFILE_DST]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
};

const struct nla_policy mrc_genl_cc_policy[MRC_A_CC_MAX + 1] = {
	[MRC_A_CC_ID]		= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_CC_ALGORITHM]	= { .type = NLA_NUL_STRING, .len = MRC_CC_NAME_MAX },
	[MRC_A_CC_WINDOW]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_window_range),
	[MRC_A_CC_DISABLE_QA]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_CC_QA_GATE]	= NLA_POLICY_MAX(NLA_U8, 31),
	[MRC_A_CC_QA_THRESHOLD]	= { .type = NLA_U32 },
	[MRC_A_CC_TARGET_DELAY]	= { .type = NLA_U32 },
	[MRC_A_CC_BASE_RTT]	= { .type = NLA_U32 },
	[MRC_A_CC_MAX_CWND]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_window_range),
	[MRC_A_CC_ADJUST_BYTES]	= { .type = NLA_U32 },
	[MRC_A_CC_ADJUST_PERIOD] = { .type = NLA_U32 },
	[MRC_A_CC_ETA]		= { .type = NLA_U32 },
	[MRC_A_CC_FI]		= { .type = NLA_U32 },
	[MRC_A_CC_FI_SCALE]	= { .type = NLA_U32 },
	[MRC_A_CC_GAMMA]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_ratio_range),
	[MRC_A_CC_MAX_MD_JUMP]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_ratio_range),
	[MRC_A_CC_TRIMMING]	= NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy mrc_genl_cc_key_policy[MRC_A_CC_MAX + 1] = {
	[MRC_A_CC_ID]		= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
};

const struct nla_policy mrc_genl_peer_policy[MRC_A_PEER_MAX + 1] = {
	[MRC_A_PEER_GID]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
};

/* An EV of a path set */
const struct nla_policy mrc_genl_ev_policy[MRC_A_EV_MAX + 1] = {
	[MRC_A_EV_INDEX]	= NLA_POLICY_MAX(NLA_U32, MRC_EVS_MAX - 1),
	[MRC_A_EV_STATE]	= NLA_POLICY_MAX(NLA_U32, MRC_NL_EV_DENIED),
};

const struct nla_policy mrc_genl_qp_policy[MRC_A_QP_MAX + 1] = {
	[MRC_A_QP_NUM]		= { .type = NLA_U32 },
};

/* ---- policies of the commands ---- */

#define MRC_POLICY_DEV							\
	[MRC_A_DEV_IFINDEX]	= NLA_POLICY_MIN(NLA_U32, 1),		\
	[MRC_A_DEV_NAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 }

static const struct nla_policy mrc_get_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
};

static const struct nla_policy mrc_peer_get_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PEER] = NLA_POLICY_NESTED(mrc_genl_peer_policy),
};

static const struct nla_policy mrc_qp_get_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_QP] = NLA_POLICY_NESTED(mrc_genl_qp_policy),
};

static const struct nla_policy mrc_dev_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_DEV] = NLA_POLICY_NESTED(mrc_genl_dev_policy),
};

static const struct nla_policy mrc_plane_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PLANE] = NLA_POLICY_NESTED(mrc_genl_plane_policy),
};

static const struct nla_policy mrc_profile_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PROFILE] = NLA_POLICY_NESTED(mrc_genl_profile_policy),
	[MRC_A_EV] = NLA_POLICY_NESTED(mrc_genl_profile_ev_policy),
};

static const struct nla_policy mrc_profile_del_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PROFILE] = NLA_POLICY_NESTED(mrc_genl_profile_key_policy),
};

static const struct nla_policy mrc_ev_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PEER] = NLA_POLICY_NESTED(mrc_genl_peer_policy),
	[MRC_A_EV] = NLA_POLICY_NESTED(mrc_genl_ev_policy),
};

static const struct nla_policy mrc_cc_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_CC] = NLA_POLICY_NESTED(mrc_genl_cc_policy),
};

static const struct nla_policy mrc_cc_del_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_CC] = NLA_POLICY_NESTED(mrc_genl_cc_key_policy),
};

/* ---- which device ---- */

static struct mrc_dev *mrc_genl_dev_of(struct net *net, const struct net_device *ndev)
{
	struct mrc_net *mnet = mrc_net_of(net);
	struct mrc_dev *dev;

	if (!mnet)
		return NULL;
	list_for_each_entry(dev, &mnet->devs, link)
		if (dev->ndev == ndev && !dev->dead)
			return dev;
	return NULL;
}

struct mrc_dev *mrc_genl_next_dev(struct net *net, int from)
{
	struct mrc_net *mnet = mrc_net_of(net);
	struct mrc_dev *dev, *best = NULL;

	ASSERT_RTNL();
	if (!mnet)
		return NULL;
	list_for_each_entry(dev, &mnet->devs, link) {
		if (dev->dead || dev->ndev->ifindex < from)
			continue;
		if (!best || dev->ndev->ifindex < best->ndev->ifindex)
			best = dev;
	}
	return best;
}

struct mrc_dev *mrc_genl_find_dev(struct net *net, struct nlattr **attrs,
				  struct netlink_ext_ack *extack)
{
	struct nlattr *idx = attrs[MRC_A_DEV_IFINDEX], *name = attrs[MRC_A_DEV_NAME];
	struct net_device *ndev = NULL;
	struct mrc_dev *dev;

	ASSERT_RTNL();
	if (!idx && !name) {
		NL_SET_ERR_MSG(extack, "which device? ifindex or name is needed");
		return ERR_PTR(-EINVAL);
	}
	if (idx)
		ndev = __dev_get_by_index(net, nla_get_u32(idx));
	else
		ndev = __dev_get_by_name(net, nla_data(name));
	if (!ndev) {
		NL_SET_BAD_ATTR(extack, idx ?: name);
		if (idx)
			MRC_ERR_MSG(extack, "no network device with ifindex %u here",
				    nla_get_u32(idx));
		else
			MRC_ERR_MSG(extack, "no network device %s here",
				    (const char *)nla_data(name));
		return ERR_PTR(-ENODEV);
	}
	if (idx && name && strcmp(ndev->name, nla_data(name))) {
		NL_SET_BAD_ATTR(extack, name);
		MRC_ERR_MSG(extack, "ifindex %u is %s, not %s", ndev->ifindex, ndev->name,
			    (const char *)nla_data(name));
		return ERR_PTR(-EINVAL);
	}
	dev = mrc_genl_dev_of(net, ndev);
	if (!dev) {
		NL_SET_BAD_ATTR(extack, idx ?: name);
		MRC_ERR_MSG(extack, "%s is not an MRC device", ndev->name);
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static int mrc_genl_dev_get(struct sk_buff *req, struct genl_info *info)
{
	struct sk_buff *skb;
	struct mrc_dev *dev;
	void *hdr;
	int err;

	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	rtnl_lock();
	dev = mrc_genl_find_dev(genl_info_net(info), info->attrs, info->extack);
	err = PTR_ERR_OR_ZERO(dev);
	if (err)
		goto out;
	err = -EMSGSIZE;
	hdr = genlmsg_put_reply(skb, info, &mrc_genl_family, 0, MRC_CMD_DEV_GET);
	if (!hdr || mrc_genl_put_ids(skb, dev) || mrc_genl_put_dev(skb, dev))
		goto out;
	genlmsg_end(skb, hdr);
	err = 0;
out:
	rtnl_unlock();
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return genlmsg_reply(skb, info);
}

/* ---- the family ---- */

#define MRC_DUMP(_cmd, _dump, _policy)					\
	{ .cmd = (_cmd), .start = mrc_genl_dump_start, .dumpit = (_dump), \
	  .done = mrc_genl_dump_done, .policy = (_policy), .maxattr = MRC_A_MAX }
#define MRC_DO(_cmd, _do, _policy)					\
	{ .cmd = (_cmd), .doit = (_do), .flags = GENL_UNS_ADMIN_PERM,	\
	  .policy = (_policy), .maxattr = MRC_A_MAX }

static const struct genl_ops mrc_genl_ops[] = {
	{
		.cmd = MRC_CMD_DEV_GET,
		.doit = mrc_genl_dev_get,
		.start = mrc_genl_dump_start,
		.dumpit = mrc_genl_dev_dump,
		.done = mrc_genl_dump_done,
		.policy = mrc_get_policy,
		.maxattr = MRC_A_MAX,
	},
	MRC_DO(MRC_CMD_DEV_SET, mrc_genl_dev_set, mrc_dev_set_policy),
	MRC_DUMP(MRC_CMD_PLANE_GET, mrc_genl_plane_dump, mrc_get_policy),
	MRC_DO(MRC_CMD_PLANE_SET, mrc_genl_plane_set, mrc_plane_set_policy),
	MRC_DUMP(MRC_CMD_PROFILE_GET, mrc_genl_profile_dump, mrc_get_policy),
	MRC_DO(MRC_CMD_PROFILE_SET, mrc_genl_profile_set, mrc_profile_set_policy),
	MRC_DO(MRC_CMD_PROFILE_DEL, mrc_genl_profile_del, mrc_profile_del_policy),
	MRC_DUMP(MRC_CMD_PEER_GET, mrc_genl_peer_dump, mrc_peer_get_policy),
	MRC_DUMP(MRC_CMD_EV_GET, mrc_genl_ev_dump, mrc_peer_get_policy),
	MRC_DO(MRC_CMD_EV_SET, mrc_genl_ev_set, mrc_ev_set_policy),
	MRC_DUMP(MRC_CMD_QP_GET, mrc_genl_qp_dump, mrc_qp_get_policy),
	MRC_DUMP(MRC_CMD_STATS_GET, mrc_genl_stats_dump, mrc_get_policy),
	MRC_DUMP(MRC_CMD_CC_GET, mrc_genl_cc_dump, mrc_get_policy),
	MRC_DO(MRC_CMD_CC_SET, mrc_genl_cc_set, mrc_cc_set_policy),
	MRC_DO(MRC_CMD_CC_DEL, mrc_genl_cc_del, mrc_cc_del_policy),
};

enum { MRC_MCGRP_EVENTS };

static const struct genl_multicast_group mrc_genl_mcgrps[] = {
	[MRC_MCGRP_EVENTS] = { .name = MRC_GENL_MCGRP_EVENTS },
};

struct genl_family mrc_genl_family __ro_after_init = {
	.name		= MRC_GENL_NAME,
	.version	= MRC_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,		/* rtnl serialises what must be */
	.module		= THIS_MODULE,
	.ops		= mrc_genl_ops,
	.n_ops		= ARRAY_SIZE(mrc_genl_ops),
	.resv_start_op	= MRC_CMD_UNSPEC + 1,	/* a new family: strict from the start */
	.mcgrps		= mrc_genl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(mrc_genl_mcgrps),
};

int __init mrc_genl_init(void)
{
	return genl_register_family(&mrc_genl_family);
}

void mrc_genl_exit(void)
{
	genl_unregister_family(&mrc_genl_family);
}

/* ---- events ---- */

/*
 * NULL: nobody listens, or no memory; then there is nothing to tell. Nor is there of a
 * dead device, whose QPs may outlive its namespace when the port was moved out of it.
 * Under rtnl or RCU, or with BH off: the namespace waits for that once the device died.
 */
static struct sk_buff *mrc_event_begin(struct mrc_dev *dev, enum mrc_event type, void **hdr)
{
	struct sk_buff *skb;

	if (READ_ONCE(dev->dead))
		return NULL;
	if (!genl_has_listeners(&mrc_genl_family, dev->net, MRC_MCGRP_EVENTS))
		return NULL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return NULL;
	*hdr = genlmsg_put(skb, 0, 0, &mrc_genl_family, 0, MRC_CMD_EVENT);
	if (!*hdr || nla_put_u32(skb, MRC_A_EVENT_TYPE, type) || mrc_genl_put_ids(skb, dev)) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static void mrc_event_send(struct mrc_dev *dev, struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&mrc_genl_family, dev->net, skb, 0, MRC_MCGRP_EVENTS,
				GFP_ATOMIC);
}

void mrc_genl_event_dev(struct mrc_dev *dev, enum mrc_event type)
{
	struct sk_buff *skb;
	void *hdr;

	atomic_inc(&mrc_genl_generation);
	rcu_read_lock();
	skb = mrc_event_begin(dev, type, &hdr);
	if (skb)
		mrc_event_send(dev, skb, hdr, mrc_genl_put_dev(skb, dev));
	rcu_read_unlock();
}

/* A plane that is gone is told by its number and MRC_A_PLANE_UP 0 alone. */
static int mrc_event_put_plane(struct sk_buff *skb, struct mrc_dev *dev, u8 num)
{
	struct mrc_dev_plane *p;
	struct nlattr *nest;
	int err;

	rcu_read_lock();
	p = rcu_dereference(dev->plane[num]);
	err = p ? mrc_genl_put_plane(skb, p) : -ENOENT;
	rcu_read_unlock();
	if (err != -ENOENT)
		return err;

	nest = nla_nest_start(skb, MRC_A_PLANE);
	if (!nest || nla_put_u8(skb, MRC_A_PLANE_NUMBER, num + 1) ||
	    nla_put_u8(skb, MRC_A_PLANE_UP, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

void mrc_genl_event_plane(struct mrc_dev *dev, u8 num)
{
	struct sk_buff *skb;
	void *hdr;

	if (WARN_ON_ONCE(num >= MRC_PLANES_MAX))
		return;
	atomic_inc(&mrc_genl_generation);
	skb = mrc_event_begin(dev, MRC_EVENT_PLANE, &hdr);
	if (skb)
		mrc_event_send(dev, skb, hdr, mrc_event_put_plane(skb, dev, num));
}

void mrc_genl_event_peer(struct mrc_peer *peer, enum mrc_event type)
{
	struct sk_buff *skb;
	void *hdr;

	skb = mrc_event_begin(peer->dev, type, &hdr);
	if (skb)
		mrc_event_send(peer->dev, skb, hdr, mrc_genl_put_peer(skb, peer, NULL));
}
