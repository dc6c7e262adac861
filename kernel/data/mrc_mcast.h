/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mcast.h - multicast groups of a device: which datagram QPs are attached to which group.
 *
 * A group is an IP multicast address. While a QP is attached, the netdev of each plane is a member
 * of the IP group: the NIC accepts its packets, snooping switches learn the port, and packets that
 * this host sends to the group come back. Groups belong to the device, not to its planes.
 *
 * All changes are made under rtnl, which joining on a netdev requires. The packet path reads under
 * RCU.
 */
#ifndef MRC_MCAST_H
#define MRC_MCAST_H

#include <rdma/ib_verbs.h>
#include "core/mrc_dev_plane.h"
#include "data/mrc_ud.h"

#define MRC_MAX_MCAST_GRP	1024	/* per device */
#define MRC_MAX_MCAST_QP	64	/* per group: limits the copies of one packet in softirq */

struct mrc_mcast {
	struct hlist_node node;		/* dev->mcast */
	struct rcu_head rcu;
	union ib_gid gid;
	struct list_head members;	/* RCU */
	u32 n;				/* number of members */
	u32 joined;			/* mask: planes whose netdev is a member of the IP group */
};

struct mrc_mcast_member {
	struct list_head link;
	struct rcu_head rcu;
	struct mrc_ud *ud;		/* referenced until detached; readers use kref_get_unless_zero() */
};

/* Any context. Is @a a group whose datagrams may leave the host? Those of some IPv6 scopes never do. */
bool mrc_mcast_leaves_host(const struct in6_addr *a);
/* Under RCU or rtnl. NULL: no QP of @dev is attached to the group. */
struct mrc_mcast *mrc_mcast_find(const struct mrc_dev *dev, const union ib_gid *gid);
/*
 * Process context; take rtnl. 0; -EINVAL: the group does not leave the host, or the QP is not attached; -EEXIST:
 * attached already; -ENOSPC: a limit above; -ENOMEM; -ENODEV: the device is dead. A QP must be detached before it is
 * destroyed; ib_core ensures that.
 */
int mrc_mcast_attach(struct mrc_ud *ud, const union ib_gid *gid);
int mrc_mcast_detach(struct mrc_ud *ud, const union ib_gid *gid);
/* Under rtnl. A plane that was added joins the groups; a plane that is removed leaves them. */
void mrc_mcast_plane_on(const struct mrc_dev_plane *plane);
void mrc_mcast_plane_off(const struct mrc_dev_plane *plane);
/*
 * Under rtnl, from a notifier that runs after those of IP. IP may have been turned off on the plane's netdev, for
 * example because of a small MTU, which ends all memberships; or it may be on again. Joins groups that could not be
 * joined before.
 */
void mrc_mcast_plane_rejoin(const struct mrc_dev_plane *plane);

#endif
