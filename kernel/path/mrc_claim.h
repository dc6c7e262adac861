/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_claim.h - prevents that two users of this host connect QPs to the same QP of a peer.
 *
 * A data packet does not name its sender, so the sending host must separate its users. When the
 * peer's QP has confirmed the connection (mrc_conn_confirmed()), the local QP holds a claim on it
 * in the name of its user. No other user's QP is connected to that QP meanwhile. Naming a QP
 * without its confirmation holds nothing, so a claim cannot be made in advance.
 *
 * A user with CAP_NET_RAW can send any packet. Its QPs are trusted: they need no confirmation and
 * are never refused. The key of a claim is the three numbers by which a receiver knows its peer.
 * dev->claim_lock protects the claims.
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
	u32 users;		/* QPs that hold it; 0: none yet */
};

/* Process context. Identifies the caller as the owner of a QP of @dev; @kernel: the owner is the kernel. */
void mrc_claim_owner(const struct mrc_dev *dev, bool kernel, struct mrc_claim_owner *owner);
/* Process context. May the caller see all details of @owner's objects? Only the owner and CAP_NET_ADMIN may. */
bool mrc_claim_owner_sees(const struct mrc_claim_owner *owner);
/* Process context. A claim that is not held yet; NULL: no memory. */
struct mrc_claim *mrc_claim_new(const struct mrc_claim_key *key, const struct mrc_claim_owner *owner);
/* Any context. Does another owner hold a claim on the same QP? */
bool mrc_claim_foreign(struct mrc_dev *dev, const struct mrc_claim *claim);
/*
 * Any context. Takes over @claim. Returns the held claim: @claim, or an existing one of the same owner; NULL: another owner
 * holds a claim on that QP.
 */
struct mrc_claim *mrc_claim_take(struct mrc_dev *dev, struct mrc_claim *claim);
/* Any context. Drops one QP's hold, or frees a claim that was never held. @claim may be NULL. */
void mrc_claim_put(struct mrc_dev *dev, struct mrc_claim *claim);

int mrc_claim_init(struct mrc_dev *dev);
void mrc_claim_exit(struct mrc_dev *dev);	/* no QP is left */

#endif
