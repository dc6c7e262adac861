/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_path.h - peers and path sets.
 *
 * Peer: (device, remote GID), refcounted by its QPs and by the ordinary traffic to
 * it. Path set: the engine's evset for one (peer, profile) plus, per EV, where its
 * packets leave (cached dst). A profile that is replaced gives its peers a new path
 * set; QPs pick it up at their next run, packets in flight keep the old one alive.
 *
 * Lock: peer->path_lock around every engine call that may touch an evset of the peer or
 * a congestion controller towards it (mrc_qpcc.h); order qp->lock > path_lock.
 * One lock for both, because QPs change path sets one by one while they share
 * a controller all the time.
 */
#ifndef MRC_PATH_H
#define MRC_PATH_H

#include <linux/kref.h>
#include <linux/rhashtable.h>
#include <net/dst.h>
#include "engine/mrc_damp.h"
#include "engine/mrc_ev.h"
#include "engine/mrc_port.h"
#include "mrc_dev.h"
#include "mrc_profile.h"

#define MRC_PEERS_MAX	65536	/* per device */
#define MRC_IP_PEERS_MAX 4096	/* beyond so many, ordinary IP makes no new ones */
#define MRC_ROT_MAX	128	/* EVs that ordinary IP and endpoint packets rotate over */

struct mrc_ev_path {		/* one EV's way out: 16 bytes, there may be 4,096 */
	struct dst_entry *dst;	/* cached route of the outermost destination; under path_lock */
	u32 dst_cookie;
	u16 src;		/* place in the profile's list */
	u8 port;		/* 1-based */
};

struct mrc_pathset {
	struct kref ref;
	struct rcu_head rcu;
	struct mrc_peer *peer;		/* back pointer, referenced by the peer's users */
	struct mrc_profile *prof;	/* referenced; NULL: AUTO by default */
	u64 profile_id;			/* 0: AUTO */
	u32 gen;			/* dev->path_gen when built */
	u32 planes;			/* mask of planes that existed when built */
	bool is_auto;			/* EVs made up here: rebuilt when planes come or go */
	bool srv6;			/* values are outer destinations */
	bool part;			/* for ordinary IP, a part of the EVs: not for QPs */
	struct mrc_evset evs;
	struct mrc_rot ip_rot;		/* rotation of ordinary IP packets and endpoint packets */
	void *mem;			/* of all below, and the evset's */
	struct mrc_ev_path *path;	/* evs.n, in the order of the evset */
	struct in6_addr *saddr;		/* by plane: outer source where there is no SID */
	u16 *ip_order;
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
	u8 heard;			/* at which UDP ports of ours: MRC_HEARD_* */
	u8 port_tries;			/* of one that was never heard: which port is tried next */
	bool for_qps;			/* a QP asked for it: whole path sets from then on */
	spinlock_t lock;		/* port, damp, ps pointer, qps list */
	spinlock_t path_lock;		/* evsets, cached routes, controllers */
	struct mrc_pathset __rcu *ps;
	struct mrc_port port;
	struct mrc_damp damp;		/* its ports as announced */
	u32 ports_up;			/* and as believed */
	u32 ports_fresh;		/* ours that came up with the last announcement */
	struct hrtimer port_timer;	/* repeats Port Status Updates; end of damping */
	struct list_head qps;		/* mrc_qp.peer_link */
	struct list_head ccs;		/* mrc_qpcc.link, under path_lock */
	u32 n_qps;
	unsigned long last_used;	/* jiffies: QP or ordinary traffic */
};

/* UDP ports that a peer's packets came to; a peer speaks and listens at the same one. */
#define MRC_HEARD_DEFAULT	1
#define MRC_HEARD_ALT		2
#define MRC_HEARD_OTHER		4	/* the device's own setting */

static inline u8 mrc_port_bit(u16 port)
{
	return port == MRC_UDP_PORT ? MRC_HEARD_DEFAULT :
	       port == MRC_UDP_PORT_ALT ? MRC_HEARD_ALT : MRC_HEARD_OTHER;
}

/* A sound packet of the peer came to @port. */
static inline void mrc_peer_heard(struct mrc_peer *peer, u16 port)
{
	u8 bit = mrc_port_bit(port), heard = READ_ONCE(peer->heard);

	if (unlikely(!(heard & bit)))
		WRITE_ONCE(peer->heard, heard | bit);
}

/* mrc_path.c. Any context unless said; peers are created on demand. */
struct mrc_peer *mrc_peer_get(struct mrc_dev *dev, const union ib_gid *gid, gfp_t gfp);
struct mrc_peer *mrc_peer_find(struct mrc_dev *dev, const union ib_gid *gid); /* + ref, or NULL */
void mrc_peer_put(struct mrc_peer *peer);
/* Keeps it from being aged out for another while. */
static inline void mrc_peer_used(struct mrc_peer *peer)
{
	if (READ_ONCE(peer->last_used) != jiffies)
		WRITE_ONCE(peer->last_used, jiffies);
}
struct mrc_pathset *mrc_peer_pathset(struct mrc_peer *peer);	/* + ref; never NULL */
void mrc_pathset_put(struct mrc_pathset *ps);

/* Under rtnl. Calls @fn, which may sleep, with each peer (+ ref) of the device. */
void mrc_peer_wake_qps(struct mrc_peer *peer);	/* a probe may be theirs to send */
void mrc_peers_for_each(struct mrc_dev *dev, void (*fn)(struct mrc_peer *peer));
/* Under rtnl. Local planes changed: all path sets, then QPs are kicked. */
void mrc_peers_planes_changed(struct mrc_dev *dev);
/* Under rtnl. EV profiles changed: path sets are rebuilt, QPs kicked. */
void mrc_peers_profiles_changed(struct mrc_dev *dev);
/* Under rtnl. Damping of announced ports is set anew. */
void mrc_peers_damp_changed(struct mrc_dev *dev);
/* An endpoint packet (QP 2) arrived from this peer; softirq. */
void mrc_peer_rx_endpoint(struct mrc_peer *peer, const struct mrc_pkt *pkt);
/* Address of ours that an endpoint packet was sent to: the answer's source. */
void mrc_peer_note_local(struct mrc_peer *peer, const struct in6_addr *addr);
int mrc_peers_init(struct mrc_dev *dev);
void mrc_peers_destroy(struct mrc_dev *dev);	/* process context; no packet path left */

/*
 * mrc_pathset.c: + ref, not visible to anybody. A part of many EVs when made in softirq,
 * and for a peer that no QP has asked for.
 */
struct mrc_pathset *mrc_pathset_build(struct mrc_peer *peer, gfp_t gfp);
/* Under path_lock. */
void mrc_pathset_drop_routes(struct mrc_pathset *ps);
/* EV @idx as configured, MRC_EV_BYTES; made up ones as their entropy. */
void mrc_pathset_value(const struct mrc_pathset *ps, u16 idx, u8 value[MRC_EV_BYTES]);
u32 mrc_planes_mask(const struct mrc_dev *dev);

/* The outer destination (16 bytes) and segment of an SRv6 EV. */
static inline const struct mrc_profile_ev *mrc_path_ev(const struct mrc_pathset *ps,
						       const struct mrc_ev_path *path)
{
	return &ps->prof->ev[path->src];
}

#endif
