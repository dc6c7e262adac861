/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev.h - one MRC device: the RDMA device, the netdev that owns its GIDs, and its planes.
 *
 * There are two ways to create one: a netdev of kind "mrc" (device/mrc_netdev.c; the planes are its
 * lower devices), or `rdma link add NAME type mrc netdev eth0` (device/mrc_link.c; one plane, eth0
 * itself, whose addresses are the GIDs).
 *
 * Ownership: ib_core owns the memory (from ib_alloc_device() to ib_dealloc_device() after
 * dealloc_driver). The netdev side holds a pointer while the device is on the list of its
 * namespace; the packet path finds it there under RCU. Planes are pointers published under RCU and
 * changed under rtnl.
 *
 * Contexts and lock order: Documentation/developer/locking.md.
 */
#ifndef MRC_DEV_H
#define MRC_DEV_H

#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/rbtree.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/siphash.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "engine/peer/mrc_damp.h"
#include "engine/peer/mrc_dup.h"
#include "engine/peer/mrc_history.h"
#include "engine/peer/mrc_incast.h"
#include "engine/base/mrc_types.h"
#include "engine/base/mrc_stats.h"
#include "core/mrc_dev_attr.h"
#include "core/mrc_dev_stats.h"
#include "core/mrc_statset.h"

struct mrc_dev_plane;
struct mrc_avoids;
struct mrc_loop;
struct mrc_net;
struct mrc_ud;

#define MRC_PLAIN_ROCE_BUCKETS 64	/* path/mrc_plain_roce.h */

#define MRC_PROFILE_BUCKETS 1024	/* of at most 16,384 profiles */
#define MRC_MCAST_BUCKETS 256
#define MRC_PROFILE_LENS 129	/* prefix lengths 0 to 128 */

/*
 * A plane number without a plane may be reserved for a port: its identity, and the settings of its
 * plane. Under rtnl. core/mrc_dev_kept.h.
 */
struct mrc_dev_kept {
	bool used;
	char name[IFNAMSIZ];
	u8 perm_addr[MAX_ADDR_LEN];
	bool admin_off;
	bool has_sid;
	struct in6_addr sid;
};

struct mrc_dev {
	struct ib_device ibdev;		/* first: ib_alloc_device() */
	struct mrc_net *mnet;
	struct net *net;		/* of ndev at creation; fixed */
	struct net_device *ndev;	/* owner of the GIDs */
	bool own_netdev;		/* kind mrc (else: rdma link add) */
	struct mrc_dev __rcu **netdev_slot; /* the netdev's pointer to this device; rtnl */
	bool dead;			/* being torn down */
	bool down;			/* netdev of kind mrc is set down; changed under rtnl */
	struct device *parent;		/* the link "device" of the RDMA device; under rtnl */
	bool registered;
	struct rw_semaphore use;	/* read: keeps all parts, dead or not: mrc_dev_use() */
	struct list_head link;		/* mrc_net.devs, RCU */
	struct mrc_dev_attr attr;
	struct mrc_dev_plane __rcu *plane[MRC_PLANES_MAX];	/* by number */
	struct mrc_dev_kept kept[MRC_PLANES_MAX]; /* reservations of plane numbers; rtnl */
	u8 n_planes;			/* highest number in use */
	u32 planes_up;			/* mask; WRITE_ONCE under rtnl */
	atomic_t n_mtu[IB_MTU_4096 + 1]; /* connections by path MTU: mrc_dev_plane_mtu_get() */
	enum ib_mtu mtu_reported;		/* active_mtu as last reported to ib_core; rtnl */
	struct rhashtable peers;	/* by GID: path/mrc_peers.h */
	struct rb_root peers_sorted;	/* likewise, for dumps; under peer_lock */
	struct rhashtable claims;	/* path/mrc_claim.h, under claim_lock */
	spinlock_t claim_lock;		/* innermost, softirq-safe */
	struct rb_root profiles;	/* path/mrc_profiles.h */
	struct hlist_head profile_hash[MRC_PROFILE_BUCKETS];
	DECLARE_BITMAP(profile_lens, MRC_PROFILE_LENS);	/* prefix lengths in use; no lock to read */
	u32 n_profiles_len[MRC_PROFILE_LENS];	/* profiles per prefix length */
	struct list_head cc_profiles;	/* path/mrc_cc_profile.h */
	u32 n_profiles, n_cc_profiles;
	u32 n_profiles_srv6;		/* profiles with SRv6 EVs */
	u32 n_profiles_srh;		/* profiles with a segment in an EV */
	u32 n_profiles_own;		/* templates that copy bits of our own addresses */
	spinlock_t peer_lock;		/* peers' insertion and removal, profiles */
	struct mrc_incast incast;	/* arrivals of all QPs, under incast_lock */
	spinlock_t incast_lock;		/* inside qp->lock; once per turn of a QP */
	struct mrc_damp damp;		/* flap damping of our ports, under rtnl */
	struct delayed_work damp_work;
	atomic_t held_pkts;		/* packets held for strict placement, all QPs */
	atomic_long_t held_bytes;	/* their memory: truesize */
	atomic_t n_cqs, n_mrs, n_srqs, n_mws;
	struct mrc_dev_stats stats;
	spinlock_t qp_lock;		/* numbers of QPs, and QP 1 */
	u32 n_qps, n_program_qps;	/* QPs except QP 1; those of programs; under qp_lock */
	struct mrc_ud __rcu *gsi;	/* QP 1; changed under qp_lock */
	atomic_t n_avs;			/* address handles of programs */
	struct hlist_head mcast[MRC_MCAST_BUCKETS]; /* groups: data/mrc_mcast.h; RCU, rtnl */
	u32 n_mcast;			/* under rtnl */
	union ib_gid plain[MRC_PLAIN_ROCE_BUCKETS];	/* hosts that do not speak MRC; plain_roce_lock */
	spinlock_t plain_roce_lock;		/* innermost, softirq-safe */
	struct mrc_dup *dup;		/* duplicate filter: data/mrc_ud_dup.h; dup_lock */
	spinlock_t dup_lock;		/* likewise innermost */
	siphash_key_t dup_key;		/* secret */
	u32 hash_seed;			/* secret: for hash tables whose keys others choose */
	/* Counters of QPs that were reset or destroyed, under qp_lock: verbs/mrc_counters.c */
	struct mrc_statset gone, gone_seen;
	struct mutex sum_mutex;		/* one sum at a time */
	u64 sum_id;			/* of the latest sum; changed under sum_mutex and qp_lock */
	/* Counters of rdma(8), under sum_mutex: verbs/mrc_counters_qp.c */
	struct xarray counters;		/* struct mrc_counter by id; has a lock of its own */
	u32 counter_next;		/* where the search for the next id starts; changed under that lock */
	struct mrc_statset counted;	/* their part from QPs that were unbound */
	struct delayed_work register_work; /* registers; once dead: unregisters or frees */
	struct ida pdn_ida;

	netdevice_tracker ndev_tracker;
	char want_name[IB_DEVICE_NAME_MAX];
	int reg_err;			/* outcome of registration */
	struct delayed_work addr_work;	/* device/mrc_addr.h */
	struct work_struct carrier_work; /* examines carrier and MTU of the ports */
	struct delayed_work peer_gc;	/* drops unused peers */
	struct list_head idle_peers;	/* path/mrc_peer_idle.h, under peer_lock */
	u32 n_peers, n_idle_peers;	/* under peer_lock */
	struct delayed_work paths_again; /* path/mrc_path_change.h */
	struct mrc_avoids __rcu *avoids; /* path/mrc_avoids.h; NULL: nothing was ever avoided; rtnl */
	struct delayed_work avoid_work;	/* their expiry */
	struct mrc_loop *loop;		/* self-probes: data/mrc_loop.h */
	struct mrc_history log;		/* core/mrc_log.h, under log_lock */
	spinlock_t log_lock;		/* innermost, interrupts off */
	struct delayed_work log_work;	/* forwards records to netlink */
	struct ratelimit_state log_lines;
	u32 path_gen;			/* incremented when path sets must be examined again */
	atomic_t n_named;		/* mrc_peer_paths of profiles that QPs name */
};

static inline struct mrc_dev *to_mrc_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mrc_dev, ibdev);
}

/*
 * Any context. Is plane @num (0-based, or MRC_PLANE_NONE) down? A packet that arrived on it is a
 * stray.
 */
static inline bool mrc_dev_plane_strays(const struct mrc_dev *dev, u8 num)
{
	return num < MRC_PLANES_MAX && !(READ_ONCE(dev->planes_up) >> num & 1);
}

extern struct workqueue_struct *mrc_wq;		/* teardown, registration, walks of QPs; flushed at exit */

/*
 * Process context, without rtnl: for long operations on a device. Called under RCU, where @dev is
 * valid; leaves the RCU section and takes a reference. False: the device died meanwhile, and
 * nothing is held. Destruction waits for mrc_dev_unuse(), so the caller must not take rtnl before
 * that.
 */
bool mrc_dev_use(struct mrc_dev *dev);
void mrc_dev_unuse(struct mrc_dev *dev);
/* Likewise, for a dead device. Waits until the last user has called mrc_dev_unuse(). */
void mrc_dev_unused(struct mrc_dev *dev);

/* Under rtnl: the device whose GIDs @ndev owns, or NULL. */
struct mrc_dev *mrc_dev_of_owner(const struct net_device *ndev);
/* Any context. Is it a multicast address of either family? */
bool mrc_dev_addr_is_group(const struct in6_addr *a);
/* Under RCU. Does the address (v4-mapped for IPv4) belong to the device's netdev? */
bool mrc_dev_owns_addr(const struct mrc_dev *dev, const struct in6_addr *a);
/*
 * Any context. Our source address for @dst: of the netdev's addresses of the same family and scope
 * (link-local or not), the one with the longest common prefix; of several, the smallest. False:
 * there is none.
 */
bool mrc_dev_own_addr(const struct mrc_dev *dev, const struct in6_addr *dst, struct in6_addr *own);
/*
 * Any context. Is it an address of this host, on any netdev? An address in duplicate detection (DAD), or with a
 * duplicate, is not, because it may be a peer's. An optimistic address is.
 */
bool mrc_dev_addr_is_local(const struct mrc_dev *dev, const struct in6_addr *a);
/*
 * Any context. Is it in DAD, and local once DAD has found no duplicate? The end of DAD is not
 * reported, so the caller polls.
 */
bool mrc_dev_addr_may_be_local(const struct mrc_dev *dev, const struct in6_addr *a);

#endif
