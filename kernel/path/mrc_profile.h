/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_profile.h - an EV profile, as the controller configured it.
 *
 * A list of EVs under an id (explicit, or expanded once from fields: mode GEN), for one
 * destination, a prefix, or any destination. Refcounted and immutable, except for the EVs that a
 * controller denies. Path sets refer to the EVs here; a new set starts with these EVs DENIED.
 *
 * The profiles of a device are in path/mrc_profiles.h. A template computes EVs per peer:
 * path/mrc_template.h.
 */
#ifndef MRC_PROFILE_H
#define MRC_PROFILE_H

#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "engine/wire/mrc_evgen.h"
#include "core/mrc_dev.h"

#define MRC_GENS_MAX	MRC_PLANES_MAX	/* generators of a profile */
#define MRC_GEN_FIELDS	128		/* and fields of all of them */

struct mrc_profile_ev {
	u8 value[MRC_EV_BYTES];	/* as configured */
	u8 port;		/* 1-based */
	u8 gen;			/* GEN: index of its generator */
	bool srh;		/* SRV6: value[16..31] is a segment */
	bool denied;		/* by a controller; under rtnl, read anywhere */
};

/*
 * EVs from fields, all on one port or (0) distributed over the ports in turn. An EXP profile has at most one; its fields
 * define how controllers name the EVs (engine/wire/mrc_evgen.h).
 */
struct mrc_profile_gen {
	u8 port;
	u8 n, n_copy;
	struct mrc_ev_field field[MRC_EV_FIELDS_MAX];
	struct mrc_ev_copy copy[MRC_EV_COPIES_MAX];	/* a template's */
};

/* Bits of dst beyond len are 0; len 0 is any destination, MRC_PROFILE_ONE a single one. */
#define MRC_PROFILE_ONE		128

struct mrc_profile_key {
	u64 id;
	union ib_gid dst;
	u8 len;
};

struct mrc_profile {
	struct rb_node node;		/* dev->profiles */
	struct hlist_node hash;		/* dev->profile_hash */
	struct mrc_profile_key key;
	u32 fmt, mode;			/* MRC_FMT_*, MRC_MODE_* */
	u16 min_active;
	u16 want;			/* configured number of EVs; 0: the default number (AUTO), all (GEN) */
	u16 n;				/* entries of ev */
	u8 n_fmt, n_gen;
	bool has_srh;		/* an EV has a segment */
	bool is_template;	/* a generator copies address bits, which are missing in ev */
	bool from_own;		/* some of them are of the own address */
	u8 fmt_width[MRC_EV_FIELDS_MAX];
	struct mrc_profile_gen *gen;	/* n_gen entries, or NULL */
	refcount_t ref;			/* mrc_profile_put() */
	struct rcu_head rcu;
	struct mrc_profile_ev ev[];
};

/* Process context. Zeroed, with room for @n EVs and @n_gen generators; or NULL. */
struct mrc_profile *mrc_profile_alloc(u32 n, u32 n_gen);
void mrc_profile_put(struct mrc_profile *p);

/* By id, then by length, then by destination: <0, 0, >0. */
int mrc_profile_cmp(const struct mrc_profile_key *a, const struct mrc_profile_key *b);
/* Does the key's prefix cover @dst? Ignores the id. */
bool mrc_profile_covers(const struct mrc_profile_key *key, const union ib_gid *dst);
/* 0, or -EINVAL with extack: invalid prefix length, or bits of dst beyond it. */
int mrc_profile_check_key(const struct mrc_profile_key *key, struct netlink_ext_ack *extack);
/* Are they equal, except for keys and denied EVs? */
bool mrc_profile_same(const struct mrc_profile *a, const struct mrc_profile *b);
/* Under rtnl. For equal profiles: @to denies the EVs that @from denies. */
void mrc_profile_deny_as(struct mrc_profile *to, const struct mrc_profile *from);

#endif
