// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl.c - the generic netlink family "mrc": its operations.
 *
 * A command accepts exactly the attributes in its policy. Attributes that are only reported are in
 * no policy. The family uses plain struct genl_ops, because 6.1 has no split ones.
 * Documentation/netlink/specs/mrc.yaml defines the attributes.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "genl/mrc_genl.h"
#include "genl/mrc_genl_avoid.h"
#include "genl/mrc_genl_cc.h"
#include "genl/mrc_genl_dump.h"
#include "genl/mrc_genl_ep.h"
#include "genl/mrc_genl_event.h"
#include "genl/mrc_genl_fill.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_probe.h"
#include "genl/mrc_genl_profile.h"
#include "genl/mrc_genl_set.h"

/* ---- policies of the commands ---- */

#define MRC_POLICY_DEV							\
	[MRC_A_DEV_IFINDEX]	= NLA_POLICY_MIN(NLA_U32, 1),		\
	[MRC_A_DEV_NAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 }

static const struct nla_policy mrc_get_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
};

static const struct nla_policy mrc_peer_get_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PEER] = NLA_POLICY_NESTED(mrc_genl_peer_key_policy),
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

static const struct nla_policy mrc_ep_send_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_EP] = NLA_POLICY_NESTED(mrc_genl_ep_policy),
};

static const struct nla_policy mrc_probe_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_PROBES] = NLA_POLICY_NESTED(mrc_genl_probes_policy),
	[MRC_A_PROBE] = NLA_POLICY_NESTED(mrc_genl_probe_policy),
};

static const struct nla_policy mrc_avoid_set_policy[MRC_A_MAX + 1] = {
	MRC_POLICY_DEV,
	[MRC_A_AVOIDS] = NLA_POLICY_NESTED(mrc_genl_avoids_policy),
	[MRC_A_AVOID] = NLA_POLICY_NESTED(mrc_genl_avoid_policy),
};

static int genl_dev_get(struct sk_buff *req, struct genl_info *info)
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
		.doit = genl_dev_get,
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
	MRC_DUMP(MRC_CMD_LOG_GET, mrc_genl_log_dump, mrc_get_policy),
	MRC_DO(MRC_CMD_EP_SEND, mrc_genl_ep_send, mrc_ep_send_policy),
	MRC_DO(MRC_CMD_PROBE_SET, mrc_genl_probe_set, mrc_probe_set_policy),
	MRC_DUMP(MRC_CMD_PROBE_GET, mrc_genl_probe_dump, mrc_get_policy),
	MRC_DO(MRC_CMD_AVOID_SET, mrc_genl_avoid_set, mrc_avoid_set_policy),
	MRC_DUMP(MRC_CMD_AVOID_GET, mrc_genl_avoid_dump, mrc_get_policy),
};

int __init mrc_genl_init(void)
{
	int err;

	mrc_genl_family.ops = mrc_genl_ops;
	mrc_genl_family.n_ops = ARRAY_SIZE(mrc_genl_ops);
	err = genl_register_family(&mrc_genl_family);
	if (!err)
		mrc_genl_event_start();
	return err;
}

void mrc_genl_exit(void)
{
	mrc_genl_event_stop();
	genl_unregister_family(&mrc_genl_family);
}
