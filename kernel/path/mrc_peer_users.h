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
	bool (*get)(struct mrc_peer_user *u);	/* under peer->lock; false: it is going */
	void (*put)(struct mrc_peer_user *u);	/* any context */
	/* Any context. @planes: what is in flight on planes that went must be resent. */
	void (*changed)(struct mrc_peer_user *u, bool planes);
};

struct mrc_peer_user {
	const struct mrc_peer_user_ops *ops;	/* NULL: the mark of a walk */
	struct list_head link;		/* peer->users, under peer->lock */
	union ib_gid local;		/* the address of ours that it talks from */
};

/* Any context, no lock held. True: there was none. */
bool mrc_peer_user_add(struct mrc_peer *peer, struct mrc_peer_user *u);
void mrc_peer_user_del(struct mrc_peer *peer, struct mrc_peer_user *u);
/* Each once; one unlinked or linked meanwhile perhaps not. */
void mrc_peer_users_notify(struct mrc_peer *peer, bool planes);
/* Likewise, for plane changes, from softirq: many users are notified by a work item. The caller references @peer. */
void mrc_peer_users_notify_bounded(struct mrc_peer *peer);
void mrc_peer_users_init(struct mrc_peer *peer);
/* The work item has ended; nobody begins another. Process context. */
void mrc_peer_users_end(struct mrc_peer *peer);
/* The address of ours that the peer knows; all zero: none yet. */
void mrc_peer_users_local(struct mrc_peer *peer, union ib_gid *gid);

#endif
