/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mcast.h - multicast groups of a device: which datagram QPs are attached to which group.
 *
 * A group is an IP multicast address. While a QP is attached, the netdev of each plane is a member
 * of the IP group: the NIC accepts its packets, snooping switches learn the port, and packets that
 * this host sends to the group come back. Groups belong to the device; planes may come and go.
 *
 * All changes run under rtnl, which joining a netdev requires. Packets read under RCU.
 */
#ifndef MRC_MCAST_H
#define MRC_MCAST_H

#include <rdma/ib_verbs.h>
#include "core/mrc_dev_plane.h"
#include "data/mrc_ud.h"

#define MRC_MAX_MCAST_GRP	1024	/* per device */
#define MRC_MAX_MCAST_QP	64	/* per group: so many copies one packet makes in softirq */

struct mrc_mcast {
	struct hlist_node node;		/* dev->mcast */
	struct rcu_head rcu;
	union ib_gid gid;
	struct list_head members;	/* RCU */
	u32 n;				/* of them */
	u32 joined;			/* mask: planes whose netdev is a member */
};

struct mrc_mcast_member {
	struct list_head link;
	struct rcu_head rcu;
	struct mrc_ud *ud;		/* referenced until it is detached: after that, try */
};

/* Any context. A group of which something can be sent: IPv6 has scopes that never leave a host. */
bool mrc_mcast_leaves_host(const struct in6_addr *a);
/* Under RCU or rtnl. NULL: nobody of @dev is attached to it. */
struct mrc_mcast *mrc_mcast_find(const struct mrc_dev *dev, const union ib_gid *gid);
/*
 * Process context; they take rtnl. 0; -EINVAL: the group does not leave the host, or the QP is not attached;
 * -EEXIST: attached already; -ENOSPC, -ENOMEM, -ENODEV. A QP must be detached before it is destroyed (ib_core ensures
 * that).
 */
int mrc_mcast_attach(struct mrc_ud *ud, const union ib_gid *gid);
int mrc_mcast_detach(struct mrc_ud *ud, const union ib_gid *gid);
/* Under rtnl. A plane that was added joins the groups; a plane that is removed leaves them. */
void mrc_mcast_plane_on(const struct mrc_dev_plane *plane);
void mrc_mcast_plane_off(const struct mrc_dev_plane *plane);
/*
 * Likewise, from a notifier that runs after those of IP. IP may have gone from the plane's netdev,
 * with all groups, as it does when the MTU is too small for it, or may be there once more. Groups
 * that could not be joined are tried again.
 */
void mrc_mcast_plane_again(const struct mrc_dev_plane *plane);

#endif
