// { "since": "after 6.12, by 7.2", "what": "rtnl_link_ops.newlink takes struct rtnl_newlink_params *", "used_by": "device/mrc_netdev.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <net/rtnetlink.h>

static int probe(struct net_device *ndev, struct rtnl_newlink_params *params,
		 struct netlink_ext_ack *extack)
{
	return params->src_net && params->tb ? 0 : -EINVAL;
}

const struct rtnl_link_ops mrc_probe_ops = { .newlink = probe };
