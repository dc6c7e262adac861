/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_cc.h - netlink messages about congestion control profiles and controllers, in both
 * directions.
 */
#ifndef MRC_GENL_CC_H
#define MRC_GENL_CC_H

#include <net/genetlink.h>
#include "path/mrc_cc_profile.h"
#include "path/mrc_peer.h"

/* The controller of a peer shown last; ops NULL: none yet. */
struct mrc_genl_cc_pos {
	u64 profile_id;
	const struct mrc_cc_ops *ops;
};

/* Process context. */
int mrc_genl_cc_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_cc_del(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_put_cc(struct sk_buff *skb, const struct mrc_cc_profile *p);
/* Takes path_lock. Adds as many controllers of @peer after @pos as fit, and advances @pos. */
int mrc_genl_put_peer_ccs(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos);

#endif
