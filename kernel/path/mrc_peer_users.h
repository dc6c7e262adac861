/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_peer_users.h - the users of a peer (QPs), which are notified when its paths change.
 *
 * The user struct is embedded in the QP. A user is notified with a reference held and without
 * locks.
 */
#ifndef MRC_PEER_USERS_H
#define MRC_PEER_USERS_H

#include <rdma/ib_verbs.h>
#include "path/mrc_peer.h"

struct mrc_peer_user;

struct mrc_peer_user_ops {
	bool (*get)(struct mrc_peer_user *u);	/* under peer->lock; false: the user is ending */
	void (*put)(struct mrc_peer_user *u);	/* any context */
	/* Any context. @planes: planes changed; packets in flight on planes that went down must be retransmitted. */
	void (*changed)(struct mrc_peer_user *u, bool planes);
};

struct mrc_peer_user {
	const struct mrc_peer_user_ops *ops;	/* NULL: the mark of a walk */
	struct list_head link;		/* peer->users, under peer->lock */
	union ib_gid local;		/* its local address */
};

/* Any context, no lock held. True: it is the first user. */
bool mrc_peer_user_add(struct mrc_peer *peer, struct mrc_peer_user *u);
void mrc_peer_user_del(struct mrc_peer *peer, struct mrc_peer_user *u);
/* Any context, no lock held. Notifies each user once. Users that are added or removed meanwhile may be missed. */
void mrc_peer_users_notify(struct mrc_peer *peer, bool planes);
/* The same for plane changes, from softirq: a work item notifies many users. The caller references @peer. */
void mrc_peer_users_notify_bounded(struct mrc_peer *peer);
void mrc_peer_users_init(struct mrc_peer *peer);
/* Process context. Waits for the work item, which must not be queued any more. */
void mrc_peer_users_end(struct mrc_peer *peer);
/* Any context, no lock held. The local address that the peer knows; all zero: none yet. */
void mrc_peer_users_local(struct mrc_peer *peer, union ib_gid *gid);

#endif
