/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_profile.h - netlink messages about EV profiles, in both directions.
 */
#ifndef MRC_GENL_PROFILE_H
#define MRC_GENL_PROFILE_H

#include <net/genetlink.h>
#include "path/mrc_profile.h"

/* Process context. */
int mrc_genl_profile_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_profile_del(struct sk_buff *skb, struct genl_info *info);
/*
 * Under dev->peer_lock. Adds as many generators and EVs from *@idx on as fit, and advances it. 0: all
 * are in.
 */
int mrc_genl_put_profile(struct sk_buff *skb, const struct mrc_profile *p, u32 *idx);

#endif
