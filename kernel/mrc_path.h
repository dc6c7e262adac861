/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_path.h - peers, EV profiles and path sets.
 *
 * Profile: what the controller pushed: a list of EVs for one destination (or
 * any) under an id. Peer: (device, remote GID), refcounted by its QPs and by
 * the ordinary traffic to it. Path set: the engine's evset for one (peer,
 * profile) plus, per EV, what its packets look like outside UDP and where they leave
 * (cached dst). A profile that is replaced gives its peers a new path set; QPs
 * pick it up at their next run, packets in flight keep the old one alive.
 *
 * Lock: pathset->lock around every engine call that may touch the evset; order
 * qp->lock > pathset->lock.
 */
#ifndef MRC_PATH_H
#define MRC_PATH_H

#include <linux/kref.h>
#include <linux/rhashtable.h>
#include <net/dst.h>
#include "engine/mrc_ev.h"
#include "engine/mrc_port.h"
#include "mrc_dev.h"

#define MRC_PS_EVS_MAX	256	/* EVs of a path set = default ev_max of a connection */
#define MRC_PEERS_MAX	65536	/* per device */
#define MRC_IP_PEERS_MAX 4096	/* beyond so many, ordinary IP makes no new ones */

struct mrc_ev_path {		/* one EV's way out */
	u8 value[32];		/* as configured */
	u8 port;		/* 1-based */
	bool srv6;		/* value[0..15] is the outer destination */
	bool srh;		/* value[16..31] is a segment */
	struct dst_entry *dst;	/* cached route of the outermost destination; under ps->lock */
	u32 dst_cookie;
	struct in6_addr saddr;	/* outer source when srv6; valid with dst */
};

struct mrc_profile {
	struct list_head link;		/* dev->profiles */
	u64 id;
	bool any_dst;
	union ib_gid dst;
	u32 fmt, mode;			/* MRC_FMT_*, MRC_MODE_* */
	u16 min_active;
	u16 n;			/* AUTO: 0 = as many as usual */
	refcount_t ref;		/* private to mrc_profile.c */
	struct rcu_head rcu;
	struct mrc_ev_path ev[];
};

struct mrc_pathset {
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t lock;
	struct mrc_peer *peer;		/* back pointer, referenced by the peer's users */
	u64 profile_id;			/* 0: AUTO */
	u32 gen;			/* dev->path_gen when built */
	u32 planes;			/* mask of planes that existed when built */
	bool is_auto;			/* EVs made up here: rebuilt when planes come or go */
	struct mrc_evset evs;
	void *evs_mem;
	struct mrc_rot ip_rot;		/* rotation of ordinary IP packets and endpoint packets */
	u16 *ip_order;
	struct mrc_ev_path *path;	/* evs.n */
};

struct mrc_peer {
	struct rhash_head node;
	struct kref ref;		/* the table holds one */
	struct rcu_work free_work;
	struct mrc_dev *dev;		/* its ib_device is referenced */
	union ib_gid gid;
	union ib_gid local_gid;		/* address the peer last wrote to; under lock */
	bool v4;			/* gid is an IPv4-mapped address */
	bool local;			/* gid is an address of this namespace: over lo */
	spinlock_t lock;		/* port, ps pointer, qps list */
	struct mrc_pathset __rcu *ps;
	struct mrc_port port;
	struct hrtimer port_timer;	/* repeats Port Status Updates */
	struct list_head qps;		/* mrc_qp.peer_link */
	u32 n_qps;
	unsigned long last_ip;		/* jiffies of the last use */
};

/* mrc_path.c. Any context unless said; peers are created on demand. */
struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp);
struct mrc_peer *mrc_peer_find(struct mrc_dev *dev, const union ib_gid *gid); /* + ref, or NULL */
void mrc_peer_put(struct mrc_peer *peer);
struct mrc_pathset *mrc_peer_pathset(struct mrc_peer *peer);	/* + ref; never NULL */
void mrc_pathset_put(struct mrc_pathset *ps);

/* Process context; copies @p. 0 or -errno with extack naming the value. */
int mrc_profile_set(struct mrc_dev *dev, const struct mrc_profile *p,
		    struct netlink_ext_ack *extack);
int mrc_profile_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst_or_null,
		    struct netlink_ext_ack *extack);

/* Local planes changed (mrc_dev_planes_changed): all path sets, then QPs are kicked. */
void mrc_peers_planes_changed(struct mrc_dev *dev);
/* An endpoint packet (QP 2) arrived from this peer; softirq. */
void mrc_peer_rx_endpoint(struct mrc_peer *peer, const struct mrc_pkt *pkt);
/* Address of ours that an endpoint packet was sent to: the answer's source. */
void mrc_peer_note_local(struct mrc_peer *peer, const struct in6_addr *addr);
int mrc_peers_init(struct mrc_dev *dev);
void mrc_peers_destroy(struct mrc_dev *dev);	/* process context; no packet path left */

/* mrc_path.c: EV profiles changed: path sets are rebuilt, QPs kicked. */
void mrc_peers_profiles_changed(struct mrc_dev *dev);

/* mrc_profile.c: the profile for this destination (exact, then any), + ref, or NULL. */
struct mrc_profile *mrc_profile_lookup(struct mrc_dev *dev, const union ib_gid *dst);
void mrc_profile_put(struct mrc_profile *p);
void mrc_profiles_destroy(struct mrc_dev *dev);

/* mrc_profile.c: the EVs of a path set while it is made: mrc_evset_init()'s input. */
struct mrc_evplan {
	u32 value[MRC_PS_EVS_MAX];
	u8 plane[MRC_PS_EVS_MAX];
	u32 sport_base, sport_step;
	u8 n_planes;
};
/* Fills @plan and ps->path for @n EVs; @prof NULL: AUTO. */
void mrc_evplan_make(struct mrc_evplan *plan, struct mrc_pathset *ps,
		     const struct mrc_profile *prof, u16 n, u64 seed);

#endif
