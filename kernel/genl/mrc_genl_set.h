/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_set.h - changes of devices, planes and EV states. Process context.
 */
#ifndef MRC_GENL_SET_H
#define MRC_GENL_SET_H

#include <net/genetlink.h>
#include "core/mrc_dev.h"

typedef int (*mrc_change_fn)(struct mrc_dev *dev, struct genl_info *info);
/* Calls @fn under rtnl with the device that the request names. */
int mrc_genl_change(struct genl_info *info, mrc_change_fn fn);
/* Parse the nest @attr of the request, which must be there and have @key inside. */
int mrc_genl_nest(struct genl_info *info, int attr, struct nlattr **tb, int max,
		  const struct nla_policy *policy, int key);
int mrc_genl_dev_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_plane_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_ev_set(struct sk_buff *skb, struct genl_info *info);

#endif
