// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_msg.c - see mrc_genl_msg.h.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_net.h"
#include "genl/mrc_genl_msg.h"

atomic_t mrc_genl_generation = ATOMIC_INIT(1);

static const struct genl_multicast_group genl_mcgrps[] = {
	[MRC_GENL_MCGRP] = { .name = MRC_GENL_MCGRP_EVENTS },
	[MRC_GENL_MCGRP_RECORDS] = { .name = MRC_GENL_MCGRP_LOG, .flags = MRC_MCAST_ADMIN },
};

/* mrc_genl_init() sets its operations. */
struct genl_family mrc_genl_family __ro_after_init = {
	.name		= MRC_GENL_NAME,
	.version	= MRC_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,		/* rtnl serialises changes */
	.module		= THIS_MODULE,
	.resv_start_op	= MRC_CMD_UNSPEC + 1,	/* a new family: strict from the start */
	.mcgrps		= genl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(genl_mcgrps),
};

static struct mrc_dev *genl_dev_of(struct net *net, const struct net_device *ndev)
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

	if (!mnet)
		return NULL;
	list_for_each_entry_rcu(dev, &mnet->devs, link) {
		if (READ_ONCE(dev->dead) || dev->ndev->ifindex < from)
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
		NL_SET_ERR_ATTR_MISS(extack, NULL, MRC_A_DEV_IFINDEX);
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
	dev = genl_dev_of(net, ndev);
	if (!dev) {
		NL_SET_BAD_ATTR(extack, idx ?: name);
		MRC_ERR_MSG(extack, "%s is not an MRC device", ndev->name);
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

int mrc_genl_put_ids(struct sk_buff *skb, struct mrc_dev *dev)
{
	char ib[IB_DEVICE_NAME_MAX];

	if (nla_put_u32(skb, MRC_A_DEV_IFINDEX, dev->ndev->ifindex) ||
	    nla_put_string(skb, MRC_A_DEV_NAME, dev->ndev->name))
		return -EMSGSIZE;
	if (!READ_ONCE(dev->registered))
		return 0;
	/* the device may be renamed concurrently: the copy is always terminated */
	strscpy(ib, dev->ibdev.name, sizeof(ib));
	return nla_put_string(skb, MRC_A_IBDEV_NAME, ib);
}
