// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_users.c - see mrc_peer_users.h.
 */
#include "path/mrc_peer_users.h"

#define USERS_BATCH	16

void mrc_peer_user_add(struct mrc_peer *peer, struct mrc_peer_user *u)
{
	spin_lock_bh(&peer->lock);
	list_add_tail(&u->link, &peer->users);
	peer->n_users++;
	spin_unlock_bh(&peer->lock);
}

void mrc_peer_user_del(struct mrc_peer *peer, struct mrc_peer_user *u)
{
	spin_lock_bh(&peer->lock);
	list_del_init(&u->link);
	peer->n_users--;
	spin_unlock_bh(&peer->lock);
}

/* The users behind the first *@done of the list, referenced. Return: how many. */
static u32 users_batch(struct mrc_peer *peer, u32 *done, struct mrc_peer_user **batch)
{
	struct mrc_peer_user *u;
	u32 seen = 0, n = 0;

	spin_lock_bh(&peer->lock);
	list_for_each_entry(u, &peer->users, link) {
		if (seen++ < *done)
			continue;
		(*done)++;
		if (u->ops->get(u))
			batch[n++] = u;
		if (n == USERS_BATCH)
			break;
	}
	spin_unlock_bh(&peer->lock);
	return n;
}

void mrc_peer_users_tell(struct mrc_peer *peer, bool planes)
{
	struct mrc_peer_user *batch[USERS_BATCH];
	u32 done = 0, n, i;

	do {
		n = users_batch(peer, &done, batch);
		for (i = 0; i < n; i++) {
			batch[i]->ops->changed(batch[i], planes);
			batch[i]->ops->put(batch[i]);
		}
	} while (n == USERS_BATCH);
}

void mrc_peer_users_local(struct mrc_peer *peer, union ib_gid *gid)
{
	struct mrc_peer_user *u;

	spin_lock_bh(&peer->lock);
	u = list_first_entry_or_null(&peer->users, struct mrc_peer_user, link);
	*gid = u ? u->local : peer->local_gid;
	spin_unlock_bh(&peer->lock);
}
