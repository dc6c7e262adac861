/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev.h - one MRC device: the RDMA device, the netdev that owns its GIDs,
 * and its planes.
 *
 * Two ways to be made: a netdev of kind "mrc" (mrc_netdev.c; planes are its
 * lower devices), or `rdma link add NAME type mrc netdev eth0` (mrc_main.c;
 * one plane, eth0 itself, whose addresses are the GIDs).
 *
 * Ownership: ib_core owns the memory (ib_alloc_device .. ib_dealloc_device
 * after dealloc_driver). The netdev side holds a pointer while the device is
 * on its namespace's list; readers on the packet path find it under RCU.
 * Planes are RCU-published pointers, changed under rtnl.
 *
 * Contexts and lock order: Documentation/locking.md.
 */
#ifndef MRC_DEV_H
#define MRC_DEV_H

#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/u64_stats_sync.h>
#include <rdma/ib_verbs.h>
#include "engine/mrc_damp.h"
#include "engine/mrc_incast.h"
#include "engine/mrc_types.h"
#include "engine/mrc_stats.h"

struct mrc_net;

/* One NIC port and the fabric behind it. */
struct mrc_dev_plane {
	struct mrc_dev *dev;
	struct net_device *ndev;	/* the port; referenced */
	netdevice_tracker tracker;
	u8 num;				/* 0-based; people count from 1 */
	bool admin;			/* enabled by the controller */
	bool carrier;			/* link up and running */
	bool held;			/* but kept out: it came and went too often */
	bool has_sid;
	struct in6_addr sid;		/* our locator on this plane */
	u32 speed_mbps;			/* as the port said last; refreshed under rtnl */
	struct mrc_plane_stats __percpu *stats;
	struct rcu_head rcu;
};

struct mrc_plane_stats {
	u64_stats_t tx_pkts, tx_bytes, rx_pkts, rx_bytes;
	struct u64_stats_sync sync;
};

static inline bool mrc_plane_up(const struct mrc_dev_plane *p)
{
	return p->admin && p->carrier && !p->held;
}

/*
 * Drops that no connection can count, per device (or per namespace when the
 * packet names no device of ours). X(name, help), as MRC_STATS.
 */
#define MRC_DEV_STATS(X)						\
	X(rx_malformed, "packets too short, too long or of unknown type") \
	X(rx_bad_icrc, "packets with a wrong ICRC")			\
	X(rx_unknown_qp, "packets for a QP that does not exist")	\
	X(rx_wrong_source, "packets whose source is not the QP's peer")	\
	X(rx_bad_sid, "SRv6 packets for a locator that is not ours")	\
	X(rx_bad_pkey, "packets with a wrong P_Key")			\
	X(rx_endpoint, "endpoint requests and responses received")	\
	X(rx_decap, "ordinary IP packets received through SRv6")	\
	X(tx_no_route, "packets not sent: no route on the plane")	\
	X(tx_no_mem, "packets not sent: no memory")			\
	X(tx_errors, "packets refused by the lower device")		\
	X(tx_ip, "ordinary IP packets sent over a plane")		\
	X(tx_ip_dropped, "ordinary IP packets dropped: no plane up or too long") \
	X(tails_dropped, "ends of WRITEs not placed: their memory region was gone") \
	X(hold_full, "packets dropped: too many are held for strict placement") \
	X(planes_held, "times that a plane came back and was not believed")	\
	X(cq_overruns, "completion queues overrun")			\
	X(port_updates_sent, "Port Status Updates sent")		\
	X(port_updates_rcvd, "Port Status Updates received")

struct mrc_dev_stats {
#define X(name, help) atomic64_t name;	/* cold paths only */
	MRC_DEV_STATS(X)
#undef X
};

/* What mrcctl and mrcd may set (mrc_dev_attr.c); read locklessly. */
struct mrc_dev_attr {
	u16 udp_port;
	bool icrc;
	u32 cwnd_bytes;		/* fixed window of QPs without a CC profile */
	u8 mpr;
	u8 hop_limit;
	u8 dscp[MRC_TCLASSES];	/* by enum mrc_tclass */
	u8 dscp_trimmed, dscp_trimmed_lasthop;	/* set by switches that trim */
	u16 active_evs;		/* that a new QP sprays over */
	u64 profile_id;		/* default EV profile */
	u64 cc_profile_id;	/* default CC profile; 0: none */
	u32 damp_ms;		/* half-life of flap damping; 0: off */
	bool trim_nack;		/* trimmed packets are NACKed: data is trimmable */
	bool timestamps;	/* in data packets */
	bool dyn_mpr;		/* both ends must agree */
	bool strict;		/* place in PSN order */
	bool sleek;		/* loss by counting, not by time */
	bool incast;		/* senders are asked to slow down */
	bool oor_nack;		/* PSNs beyond the window are NACKed */
	bool ev_port_low;	/* on the wire the low half of an EV is the port; both ends */
	bool mrc_pad;		/* mrc.h QPs pad to four bytes */
	u8 exp_cnt;		/* retries with doubling timeouts; MRC_EXP_FOREVER */
};

struct mrc_dev {
	struct ib_device ibdev;		/* first: ib_alloc_device() */
	struct mrc_net *mnet;
	struct net *net;		/* of ndev at creation; fixed */
	struct net_device *ndev;	/* owner of the GIDs */
	bool own_netdev;		/* kind mrc (else: rdma link add) */
	bool dead;			/* being torn down */
	bool registered;
	struct list_head link;		/* mrc_net.devs, RCU */
	struct mrc_dev_attr attr;
	struct mrc_dev_plane __rcu *plane[MRC_PLANES_MAX];	/* by number */
	u8 n_planes;			/* highest number in use */
	u32 planes_up;			/* mask; WRITE_ONCE under rtnl */
	struct rhashtable peers;	/* by GID: mrc_path.h */
	struct list_head profiles;	/* mrc_profile.h */
	struct list_head cc_profiles;	/* mrc_qpcc.h */
	u32 n_profiles, n_cc_profiles;
	spinlock_t peer_lock;		/* peers' insertion and removal, profiles */
	struct mrc_incast incast;	/* what all QPs receive, under incast_lock */
	spinlock_t incast_lock;		/* inside qp->lock; once per turn of a QP */
	struct mrc_damp damp;		/* of our ports, under rtnl */
	struct delayed_work damp_work;
	atomic_t held_pkts;		/* kept for strict placement, all QPs */
	struct mrc_dev_stats stats;
	struct mrc_stats gone;		/* counters of destroyed QPs, under qp_lock */
	spinlock_t qp_lock;
	struct list_head qps;		/* mrc_qp.dev_link, under qp_lock */
	u32 n_qps;
	struct work_struct register_work; /* registers; once dead: unregisters or frees */
	struct ida pdn_ida;

	netdevice_tracker ndev_tracker;
	char want_name[IB_DEVICE_NAME_MAX];
	int reg_err;			/* outcome of registration */
	struct work_struct carrier_work; /* a packet met a port without carrier */
	struct delayed_work peer_gc;	/* ages out peers that nobody uses */
	u32 n_peers;			/* under peer_lock */
	u32 path_gen;			/* bumped when path sets must be looked at again */
};

static inline struct mrc_dev *to_mrc_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mrc_dev, ibdev);
}

#define mrc_dev_count(dev, name) atomic64_inc(&(dev)->stats.name)

/* mrc_dev.c: process context, rtnl held where said */
/*
 * Under rtnl. ERR_PTR on failure. The device is on no list yet: mrc_dev_attach(), then
 * planes, then mrc_dev_register_later(); mrc_dev_remove() undoes it at any point.
 */
struct mrc_dev *mrc_dev_alloc(struct net_device *ndev, bool own_netdev,
			      struct netlink_ext_ack *extack);
void mrc_dev_attach(struct mrc_dev *dev);
/* Under rtnl, by work: ib_core takes rtnl itself. @name is tried first, then mrc%d (NULL: only that). */
void mrc_dev_register_later(struct mrc_dev *dev, const char *name, bool exact);
/* No rtnl; the caller holds get_device(&dev->ibdev.dev). */
int mrc_dev_register_wait(struct mrc_dev *dev);
void mrc_dev_remove(struct mrc_dev *dev);	/* under rtnl: planes off, then unregister by work */
void mrc_dev_dealloc(struct ib_device *ibdev);	/* ib_device_ops.dealloc_driver; set by mrc_dev_alloc() */
/* Under rtnl: the device whose GIDs @ndev owns, or NULL. */
struct mrc_dev *mrc_dev_of_owner(const struct net_device *ndev);
/* @number 1..32, or 0 for the lowest free. Under rtnl. */
int mrc_dev_add_plane(struct mrc_dev *dev, struct net_device *port, u8 number,
		      struct netlink_ext_ack *extack);
int mrc_dev_del_plane(struct mrc_dev *dev, struct net_device *port);
/* The device of which @port is a plane, and that plane; under RCU. */
struct mrc_dev_plane *mrc_plane_of(const struct net_device *port);
/* Does this address (v4-mapped for IPv4) belong to the device's netdev; RCU. */
bool mrc_dev_owns_addr(const struct mrc_dev *dev, const struct in6_addr *a);

/* mrc_carrier.c: which planes are up */
void mrc_carrier_init(struct mrc_dev *dev);
void mrc_carrier_stop(struct mrc_dev *dev);	/* process context, no rtnl: its works end */
/* Under rtnl, from the netdevice notifier. @going_down: carrier counts as lost already. */
void mrc_dev_port_event(struct mrc_dev_plane *plane, bool going_down);
/* Recompute planes_up; tells peers, path sets, QPs, ib_core (port event), genl. Under rtnl. */
void mrc_dev_planes_changed(struct mrc_dev *dev);
/* Under rtnl: the port behind a number is another one; what the old one did is forgotten. */
void mrc_carrier_forget(struct mrc_dev *dev, u8 num);
/* Under rtnl: attr.damp_ms changed. */
void mrc_dev_damp_changed(struct mrc_dev *dev);
void mrc_dev_damp_cfg(const struct mrc_dev *dev, struct mrc_damp_cfg *cfg);
/* Sum over the planes up here and in @mask; over all when none is. */
u32 mrc_dev_speed_mbps(const struct mrc_dev *dev, u32 mask);
u32 mrc_netdev_speed(struct net_device *port);	/* Mb/s; under rtnl */

/* mrc_dev_attr.c */
extern const struct mrc_dev_attr mrc_attr_default;
/* Under rtnl: all of @new or nothing, with extack. */
int mrc_dev_attr_set(struct mrc_dev *dev, const struct mrc_dev_attr *new,
		     struct netlink_ext_ack *extack);

extern struct workqueue_struct *mrc_wq;		/* teardown and registration; flushed at exit */

/* mrc_verbs.c */
extern const struct ib_device_ops mrc_dev_ops;
/* Before ib_register_device(): ops, command mask, node type, ports, vectors. Not the GUID. */
void mrc_verbs_setup(struct ib_device *ibdev);
/* Largest IB MTU that fits through every plane. */
enum ib_mtu mrc_dev_ib_mtu(const struct mrc_dev *dev);

/* mrc_stats.c: sums over the QPs and the gone */
void mrc_dev_sum_stats(struct mrc_dev *dev, struct mrc_stats *sum);
void mrc_stats_add(struct mrc_stats *sum, const struct mrc_stats *s);
struct rdma_hw_stats *mrc_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int mrc_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif
