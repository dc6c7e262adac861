/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_dump.h - dumps that can continue in further messages. Callbacks of the family, process
 * context.
 */
#ifndef MRC_GENL_DUMP_H
#define MRC_GENL_DUMP_H

#include <linux/netlink.h>

int mrc_genl_dump_start(struct netlink_callback *cb);
int mrc_genl_dump_done(struct netlink_callback *cb);
int mrc_genl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_probe_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_avoid_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_plane_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_profile_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_ev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_cc_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_log_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
