// { "what": "rtnl_link_ops.newlink takes a namespace, a netdev and attributes, where newlink_params is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <net/rtnetlink.h>

static int probe(struct net *src, struct net_device *ndev, struct nlattr *tb[], struct nlattr *data[],
		 struct netlink_ext_ack *extack)
{
	return 0;
}

const struct rtnl_link_ops mrc_probe_ops = { .newlink = probe };
