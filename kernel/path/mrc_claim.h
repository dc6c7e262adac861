/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_claim.h - whose connection leads to a QP of a peer.
 *
 * A data packet does not name its sender, so users of one host are kept apart here. A QP that its peer's QP has
 * spoken to (mrc_conn_confirmed()) holds a claim on that QP, in the name of who made it. Nobody else's QP is connected
 * to it meanwhile. Who names QPs that never speak to him holds nothing, so no claim is made in advance.
 *
 * A user with CAP_NET_RAW can send any packet. His QPs are trusted: they need no proof and are never refused.
 * Claims are found by the three numbers that a receiver knows its peer by; dev->claim_lock guards them.
 */
#ifndef MRC_CLAIM_H
#define MRC_CLAIM_H

#include <linux/rhashtable.h>
#include <linux/uidgid.h>
#include <rdma/ib_verbs.h>
#include "core/mrc_dev.h"

struct mrc_claim_owner {
	kuid_t uid;
	u64 net;		/* cookie of the namespace; 0: the kernel */
	bool trusted;
};

struct mrc_claim_key {
	union ib_gid sgid, dgid;
	u32 dqpn;
};

struct mrc_claim {
	struct rhash_head node;
	struct rcu_head rcu;
	struct mrc_claim_key key;
	struct mrc_claim_owner owner;
	u32 users;		/* QPs; 0: nobody holds it yet */
};

/* Process context. The caller, who makes a QP of @dev; @kernel: for the kernel itself. */
void mrc_claim_owner(const struct mrc_dev *dev, bool kernel, struct mrc_claim_owner *owner);
/* Process context. May the caller know all of what @owner made? Whoever made it, and CAP_NET_ADMIN. */
bool mrc_claim_owner_sees(const struct mrc_claim_owner *owner);
/* Process context. One that is not held yet; NULL: no memory. */
struct mrc_claim *mrc_claim_new(const struct mrc_claim_key *key, const struct mrc_claim_owner *owner);
/* Any context. Does somebody else hold one on the same QP? */
bool mrc_claim_foreign(struct mrc_dev *dev, const struct mrc_claim *claim);
/* Any context. @claim becomes held, or is freed: the result is the same owner's, or NULL if somebody else holds one. */
struct mrc_claim *mrc_claim_take(struct mrc_dev *dev, struct mrc_claim *claim);
/* Any context. Held by one QP less, or never held; @claim may be NULL. */
void mrc_claim_put(struct mrc_dev *dev, struct mrc_claim *claim);

int mrc_claim_init(struct mrc_dev *dev);
void mrc_claim_exit(struct mrc_dev *dev);	/* no QP is left */

#endif
