/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_avoid.h - netlink messages about links that a device avoids, in both directions. Process
 * context.
 */
#ifndef MRC_GENL_AVOID_H
#define MRC_GENL_AVOID_H

#include <net/genetlink.h>
#include "path/mrc_avoids.h"

int mrc_genl_avoid_set(struct sk_buff *skb, struct genl_info *info);
/* Adds the list of @by; @whole: with its uSIDs. 0 or -EMSGSIZE. */
int mrc_genl_put_avoids(struct sk_buff *skb, struct mrc_dev *dev, enum mrc_avoid_by by, bool whole);

#endif
