/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_priv.h - shared by the files of the netlink family:
 *
 *	mrc_genl.c	family, policies, which device is meant, events
 *	mrc_genl_fill.c	objects into messages
 *	mrc_genl_dump.c	restartable dumps
 *	mrc_genl_set.c	changes of devices, planes, EV states
 *	mrc_genl_profile.c	EV profiles, both ways
 *	mrc_genl_cc.c	CC profiles and controllers, both ways
 *
 * Requests run under rtnl: devices and planes cannot come or go meanwhile.
 * Messages of events are built in any context and take no lock.
 */
#ifndef MRC_GENL_PRIV_H
#define MRC_GENL_PRIV_H

#include <net/genetlink.h>
#include "mrc_genl.h"
#include "mrc_path.h"
#include "mrc_qp.h"

#define MRC_CC_NAME_MAX	31

extern struct genl_family mrc_genl_family;
/* Grows with every change of what exists; makes interrupted dumps known. */
extern atomic_t mrc_genl_generation;

/* Nested policies; for nla_parse_nested() with their MRC_A_*_MAX. */
extern const struct nla_policy mrc_genl_dev_policy[];
extern const struct nla_policy mrc_genl_plane_policy[];
extern const struct nla_policy mrc_genl_profile_policy[];
extern const struct nla_policy mrc_genl_profile_ev_policy[];
extern const struct nla_policy mrc_genl_profile_key_policy[];
extern const struct nla_policy mrc_genl_gen_policy[];
extern const struct nla_policy mrc_genl_field_policy[];
extern const struct nla_policy mrc_genl_cc_policy[];
extern const struct nla_policy mrc_genl_cc_key_policy[];
extern const struct nla_policy mrc_genl_peer_policy[];
extern const struct nla_policy mrc_genl_ev_policy[];
extern const struct nla_policy mrc_genl_qp_policy[];

/* Under rtnl. The device of @net with the smallest ifindex >= @from, or NULL. */
struct mrc_dev *mrc_genl_next_dev(struct net *net, int from);
/* Under rtnl. By DEV_IFINDEX or DEV_NAME; ERR_PTR with extack. */
struct mrc_dev *mrc_genl_find_dev(struct net *net, struct nlattr **attrs,
				  struct netlink_ext_ack *extack);

/* mrc_genl_fill.c: 0 or -EMSGSIZE, with a half-made nest taken back. */
int mrc_genl_put_ids(struct sk_buff *skb, struct mrc_dev *dev);
int mrc_genl_put_dev(struct sk_buff *skb, struct mrc_dev *dev);
int mrc_genl_put_plane(struct sk_buff *skb, struct mrc_dev_plane *p);
/* The controller of a peer shown last; ops NULL: none yet. */
struct mrc_genl_cc_pos {
	u64 profile_id;
	const struct mrc_cc_ops *ops;
};
/*
 * @pos: with as many of its controllers as fit from there on (under path_lock); it moves.
 * Returns -EMSGSIZE with the message sound when some were put, unchanged when none was.
 */
int mrc_genl_put_peer(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos);
int mrc_genl_put_stats(struct sk_buff *skb, struct mrc_dev *dev);
int mrc_genl_put_qp(struct sk_buff *skb, struct mrc_qp *qp, struct mrc_conn_info *scratch);
int mrc_genl_put_cc(struct sk_buff *skb, const struct mrc_cc_profile *p);
int mrc_genl_put_peer_ccs(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos);
/* As many generators and EVs as fit, from *@idx on, which moves. 0: the last one is in. */
int mrc_genl_put_profile(struct sk_buff *skb, const struct mrc_profile *p, u32 *idx);
int mrc_genl_put_evs(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_pathset *ps,
		     u32 *idx);

/* mrc_genl_dump.c */
int mrc_genl_dump_start(struct netlink_callback *cb);
int mrc_genl_dump_done(struct netlink_callback *cb);
int mrc_genl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_plane_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_profile_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_ev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrc_genl_cc_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* mrc_genl_set.c */
typedef int (*mrc_change_fn)(struct mrc_dev *dev, struct genl_info *info);
/* @fn under rtnl on the device that the request names. */
int mrc_genl_change(struct genl_info *info, mrc_change_fn fn);
/* Parse the nest @attr of the request, which must be there and have @key inside. */
int mrc_genl_nest(struct genl_info *info, int attr, struct nlattr **tb, int max,
		  const struct nla_policy *policy, int key);
int mrc_genl_dev_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_plane_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_ev_set(struct sk_buff *skb, struct genl_info *info);
/* mrc_genl_profile.c */
int mrc_genl_profile_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_profile_del(struct sk_buff *skb, struct genl_info *info);
/* mrc_genl_cc.c */
int mrc_genl_cc_set(struct sk_buff *skb, struct genl_info *info);
int mrc_genl_cc_del(struct sk_buff *skb, struct genl_info *info);

#endif
