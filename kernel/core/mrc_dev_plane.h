/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_plane.h - a plane of a device: one NIC port and the fabric behind it.
 *
 * Planes are published under RCU in mrc_dev.plane[] and, by the ifindex of the port, in
 * mrc_net.planes. They are added, removed and changed under rtnl (device/mrc_dev_port.h,
 * device/mrc_carrier.h), and read from any context.
 */
#ifndef MRC_DEV_PLANE_H
#define MRC_DEV_PLANE_H

#include <linux/netdevice.h>
#include <linux/u64_stats_sync.h>
#include <rdma/ib_verbs.h>
#include "linux/mrc.h"
#include "core/mrc_dev.h"

/* Bytes around a full payload: IPv6, UDP, a WRITE with immediate and timestamp, ICRC */
#define MRC_OVERHEAD	(40 + 8 + 40 + 4)
#define MRC_SRH_LEN	24	/* SRv6 EVs with a segment: 8 and one segment */
#define MRC_OUTER_LEN	40	/* SRv6 EVs: the outer IPv6 header */

/* A plane. Flags and cause change under rtnl. */
struct mrc_dev_plane {
	struct mrc_dev *dev;
	struct net_device *ndev;	/* the port; referenced */
	netdevice_tracker tracker;
	u8 num;				/* 0-based; people count from 1 */
	bool admin;			/* not disabled by the controller */
	bool carrier;			/* link up and running */
	bool held;			/* not used: flap damping (mrc_damp.h) */
	bool small;			/* not used: full packets of connections do not fit */
	bool drops;			/* used, but drops full packets: no plane is larger */
	bool has_sid;
	enum mrc_log_cause cause;	/* as last logged */
	struct in6_addr sid;		/* our locator on this plane */
	u32 speed_mbps;			/* as last read from the port */
	struct mrc_dev_plane_stats __percpu *stats;
	struct rcu_head rcu;
};

struct mrc_dev_plane_stats {
	u64_stats_t tx_pkts, tx_bytes, rx_pkts, rx_bytes;
	struct u64_stats_sync sync;
};

static inline bool mrc_dev_plane_up(const struct mrc_dev_plane *p)
{
	return p->admin && p->carrier && !p->held && !p->small && !READ_ONCE(p->dev->down);
}

/* Under rtnl. The first cause that keeps the plane down; MRC_WHY_NONE: it is up. */
enum mrc_log_cause mrc_dev_plane_cause(const struct mrc_dev_plane *p);

/* Counters of a plane, summed over all CPUs. */
struct mrc_dev_plane_sum {
	u64 tx_pkts, tx_bytes, rx_pkts, rx_bytes;
};

/*
 * Under rtnl. From here on mrc_dev_plane_of() finds the plane (0 or -ENOMEM), or no longer finds
 * it.
 */
int mrc_dev_plane_publish(struct mrc_dev_plane *plane);
void mrc_dev_plane_withdraw(struct mrc_dev_plane *plane);
/* Under RCU or rtnl. The plane of any device whose port is @port; or NULL. */
struct mrc_dev_plane *mrc_dev_plane_of(const struct net_device *port);
/* Any context. Mask of all planes, up or not. */
u32 mrc_dev_plane_mask(const struct mrc_dev *dev);
/*
 * Any context. Sum of the speeds of the planes in @mask that are up; if there are none, of all
 * planes.
 */
u32 mrc_dev_plane_speed_mbps(const struct mrc_dev *dev, u32 mask);
/*
 * Any context. The largest IB MTU that fits through every plane, on EVs of any profile of the
 * device.
 */
enum ib_mtu mrc_dev_plane_ib_mtu(const struct mrc_dev *dev);
/* Likewise. The MTU that planes need for full packets of path MTU @mtu. */
u32 mrc_dev_plane_mtu_for(const struct mrc_dev *dev, enum ib_mtu mtu);
/*
 * Any context. Counts a connection of path MTU @mtu, or drops it again. While it is counted,
 * device/mrc_mtu.c watches for planes whose MTU is too small for it.
 */
void mrc_dev_plane_mtu_get(struct mrc_dev *dev, enum ib_mtu mtu);
void mrc_dev_plane_mtu_put(struct mrc_dev *dev, enum ib_mtu mtu);
/* Any context. The largest path MTU of connections; 0: there are none. */
enum ib_mtu mrc_dev_plane_mtu_used(const struct mrc_dev *dev);
/* BH off. @packets have @len bytes together. */
void mrc_dev_plane_count_tx(const struct mrc_dev_plane *plane, u32 packets, u32 len);
void mrc_dev_plane_count_rx(const struct mrc_dev_plane *plane, u32 len);
/* Any context. Sums the counters up. */
void mrc_dev_plane_sum_up(const struct mrc_dev_plane *plane, struct mrc_dev_plane_sum *sum);
/*
 * Any context. A packet found a port without carrier, which the notifier may not have reported yet.
 */
void mrc_dev_plane_no_carrier(const struct mrc_dev_plane *plane);

#endif
