/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer.h - a peer: (device, remote GID), and its users.
 *
 * QPs and ordinary traffic to the peer hold references (path/mrc_peers.h). Its ports are in
 * path/mrc_peer_port.h, its path sets in path/mrc_peer_paths.h.
 *
 * peer->lock protects the port objects, the list of path sets, and the list of users.
 * peer->path_lock is held around every engine call that may use an evset of the peer or a
 * congestion controller for it (path/mrc_qpcc.h). One lock serves both, because QPs share a
 * controller while they move to a new path set one by one. Lock order: qp->lock > path_lock, and
 * path_lock > lock when a path set is replaced. No other nesting.
 */
#ifndef MRC_PEER_H
#define MRC_PEER_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "engine/peer/mrc_crc.h"
#include "engine/peer/mrc_damp.h"
#include "engine/paths/mrc_ev.h"
#include "engine/peer/mrc_port.h"
#include "engine/peer/mrc_udp.h"
#include "core/mrc_dev.h"

struct mrc_pathset;

#define MRC_PEER_NAMED_MAX	16	/* EV profiles that QPs to one peer name */

/* The paths to a peer by one EV profile. Paths of a profile that QPs name exist as long as those QPs. */
struct mrc_peer_paths {
	struct kref ref;		/* not used for the default's paths */
	struct list_head link;		/* peer->named, by number; under lock */
	struct mrc_peer *peer;		/* back pointer; the holder of this struct references the peer */
	struct mrc_pathset __rcu *ps;	/* changes under path_lock and lock */
	struct mrc_ev_turns turns;	/* changes of EV states, over all its sets; under path_lock */
	u64 named;			/* the profile; 0: the device's default */
};

struct mrc_peer {
	struct rhash_head node;
	struct rb_node sorted;		/* dev->peers_sorted, by GID, while in the table */
	struct kref ref;		/* the table holds one */
	struct rcu_work free_work;
	struct mrc_dev *dev;		/* its ib_device is referenced */
	union ib_gid gid;
	union ib_gid local_gid;		/* address the peer last wrote to; under lock */
	bool v4;			/* gid is an IPv4-mapped address */
	bool group;			/* gid is a multicast address: plain, on each plane */
	bool local;			/* gid is an address of this namespace: over lo; changed under rtnl */
	struct mrc_udp udp;		/* the peer's UDP port; no lock */
	struct mrc_crc crc;		/* whether ICRCs are computed for it; no lock */
	bool heard;			/* a valid packet of it arrived; no lock */
	bool greets;			/* announce our ports after its next packet: mrc_peer_port_meet(); no lock to read */
	u8 asked;			/* management packets sent since one arrived; no lock */
	unsigned long asked_at;		/* jiffies: the latest time; no lock */
	u64 requested_planes;		/* planes by which they left, bit n: plane n; no lock */
	atomic_t bad_icrcs;		/* consecutive packets with a wrong ICRC */
	unsigned long hints;		/* MRC_HINT_*: path/mrc_peer_hint.h */
	bool for_qps;			/* a QP uses it: complete path sets from then on */
	spinlock_t lock;		/* port, damp, named, users */
	spinlock_t path_lock;		/* evsets, cached routes, controllers */
	struct mrc_peer_paths paths;	/* by the default profile; also for ordinary IP and endpoint packets */
	struct list_head named;		/* mrc_peer_paths of profiles that QPs name */
	u32 n_named;
	struct mrc_port port;		/* its request table is ours, set once, under lock, at a controller's first request */
	struct mrc_damp damp;		/* its ports as announced */
	u32 ports_up;			/* after damping and checks */
	u32 ports_fresh;		/* ours that came up with the last announcement */
	struct hrtimer port_timer;	/* repeats Port Status Updates; end of damping */
	struct list_head users;		/* QPs, and cursors of walks; under lock */
	struct list_head idle;		/* dev->idle_peers, while it has no users */
	struct list_head ccs;		/* mrc_qpcc.link, under path_lock */
	u32 n_users;			/* under lock */
	struct work_struct users_work;	/* notifies many of them of plane changes */
	unsigned long last_used;	/* jiffies: QP or ordinary traffic */
};

/* Restarts its aging. Any context. */
static inline void mrc_peer_used(struct mrc_peer *peer)
{
	if (READ_ONCE(peer->last_used) != jiffies)
		WRITE_ONCE(peer->last_used, jiffies);
}

#endif
