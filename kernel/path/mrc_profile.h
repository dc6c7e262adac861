/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile.h - EV profiles: what the controller pushed, per device.
 *
 * A list of EVs (in full, or made once from fields: mode GEN) for one destination
 * or any, under an id. Immutable and refcounted: path sets refer to the EVs'
 * values here. Setting a profile anew replaces the object.
 *
 * Here is the device's list of them; who follows a change: path/mrc_path_change.h.
 */
#ifndef MRC_PROFILE_H
#define MRC_PROFILE_H

#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "engine/mrc_evgen.h"
#include "core/mrc_dev.h"

#define MRC_PROFILES_MAX 16384		/* per device: one for each of so many destinations */
#define MRC_GENS_MAX	MRC_PLANES_MAX	/* generators of a profile */
#define MRC_GEN_FIELDS	128		/* and fields of all of them */

struct mrc_profile_ev {
	u8 value[MRC_EV_BYTES];	/* as configured */
	u8 port;		/* 1-based */
	bool srh;		/* SRV6: value[16..31] is a segment */
};

/* EVs from fields, all on one port or (0) dealt over the ports in turn. */
struct mrc_profile_gen {
	u8 port;
	u8 n;
	struct mrc_ev_field field[MRC_EV_FIELDS_MAX];
};

struct mrc_profile {
	struct list_head link;		/* dev->profiles */
	struct hlist_node hash;		/* dev->profile_hash */
	u64 id;
	bool any_dst;
	union ib_gid dst;
	u32 fmt, mode;			/* MRC_FMT_*, MRC_MODE_* */
	u16 min_active;
	u16 want;			/* AUTO, GEN: how many; 0: as many as usual, all */
	u16 n;				/* EVs below */
	u8 n_fmt, n_gen;
	bool has_srh;		/* an EV with a segment */
	u8 fmt_width[MRC_EV_FIELDS_MAX];
	struct mrc_profile_gen *gen;	/* n_gen, or NULL */
	refcount_t ref;			/* mrc_profile_put() */
	struct rcu_head rcu;
	struct mrc_profile_ev ev[];
};

/* Process context. Zeroed, with room for @n EVs and @n_gen generators; or NULL. */
struct mrc_profile *mrc_profile_alloc(u32 n, u32 n_gen);
void mrc_profile_put(struct mrc_profile *p);

/*
 * Under rtnl. Takes over @p, which is sound (path/mrc_profile_check.h), also on error. 0 or
 * -errno with extack. *@changed: what a lookup finds may be another one now.
 */
int mrc_profile_set(struct mrc_dev *dev, struct mrc_profile *p, bool *changed,
		    struct netlink_ext_ack *extack);
/* Under rtnl. @dst NULL: the one for any destination. */
int mrc_profile_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst,
		    struct netlink_ext_ack *extack);

/* The profile for this destination (exact, then any), + ref, or NULL. Any context. */
struct mrc_profile *mrc_profile_lookup(struct mrc_dev *dev, const union ib_gid *dst);
/* Under rtnl, which keeps it. Exactly @dst; NULL: the one for any destination. */
const struct mrc_profile *mrc_profile_find(struct mrc_dev *dev, u64 id, const union ib_gid *dst);
/* Under rtnl. Is there one of this number, for whatever destination. */
bool mrc_profile_exists(struct mrc_dev *dev, u64 id);
void mrc_profile_destroy_all(struct mrc_dev *dev);

#endif
