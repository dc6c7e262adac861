/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile.h - EV profiles: what the controller pushed, per device.
 *
 * A list of EVs (in full, or made once from fields: mode GEN) for one destination
 * or any, under an id. Immutable and refcounted: path sets refer to the EVs'
 * values here. Setting a profile anew replaces the object.
 *
 * mrc_profile.c	the device's list of them
 * mrc_profile_check.c	validation, generation
 */
#ifndef MRC_PROFILE_H
#define MRC_PROFILE_H

#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "engine/mrc_evgen.h"
#include "mrc_dev.h"

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
	u64 id;
	bool any_dst;
	union ib_gid dst;
	u32 fmt, mode;			/* MRC_FMT_*, MRC_MODE_* */
	u16 min_active;
	u16 want;			/* AUTO, GEN: how many; 0: as many as usual, all */
	u16 n;				/* EVs below */
	u8 n_fmt, n_gen;
	u8 fmt_width[MRC_EV_FIELDS_MAX];
	struct mrc_profile_gen *gen;	/* n_gen, or NULL */
	refcount_t ref;			/* private to mrc_profile.c */
	struct rcu_head rcu;
	struct mrc_profile_ev ev[];
};

/* Process context. Zeroed, with room for @n EVs and @n_gen generators; or NULL. */
struct mrc_profile *mrc_profile_alloc(u32 n, u32 n_gen);
void mrc_profile_put(struct mrc_profile *p);

/*
 * Under rtnl. Takes over @p, also on error. 0 or -errno with extack naming the
 * value. The same once more changes nothing.
 */
int mrc_profile_set(struct mrc_dev *dev, struct mrc_profile *p, struct netlink_ext_ack *extack);
int mrc_profile_del(struct mrc_dev *dev, u64 id, const union ib_gid *dst_or_null,
		    struct netlink_ext_ack *extack);

/* The profile for this destination (exact, then any), + ref, or NULL. Any context. */
struct mrc_profile *mrc_profile_lookup(struct mrc_dev *dev, const union ib_gid *dst);
void mrc_profiles_destroy(struct mrc_dev *dev);

/* mrc_profile_check.c: under rtnl. */
int mrc_profile_check(struct mrc_dev *dev, const struct mrc_profile *p,
		      struct netlink_ext_ack *extack);
/* How many EVs @p's generators make; 0 with extack: not valid. */
u32 mrc_profile_gen_count(const struct mrc_profile *p, struct netlink_ext_ack *extack);
/* Fill @p->ev, whose room is mrc_profile_gen_count(). */
int mrc_profile_gen_fill(struct mrc_dev *dev, struct mrc_profile *p,
			 struct netlink_ext_ack *extack);

#endif
