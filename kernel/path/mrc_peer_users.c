// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_users.c - see mrc_peer_users.h.
 */
#include "path/mrc_peer_idle.h"
#include "path/mrc_peer_users.h"

#define USERS_BATCH	16
#define USERS_AT_ONCE	64	/* up to so many are notified in softirq, more by a work item */

/* Under peer->lock. */
static void users_idle(struct mrc_peer *peer, bool idle)
{
	spin_lock(&peer->dev->peer_lock);
	if (idle)
		mrc_peer_idle_add(peer);
	else
		mrc_peer_idle_del(peer);
	spin_unlock(&peer->dev->peer_lock);
}

bool mrc_peer_user_add(struct mrc_peer *peer, struct mrc_peer_user *u)
{
	bool first;

	spin_lock_bh(&peer->lock);
	list_add_tail(&u->link, &peer->users);
	first = !peer->n_users++;
	if (first)
		users_idle(peer, false);
	spin_unlock_bh(&peer->lock);
	return first;
}

void mrc_peer_user_del(struct mrc_peer *peer, struct mrc_peer_user *u)
{
	spin_lock_bh(&peer->lock);
	list_del_init(&u->link);
	if (!--peer->n_users) {
		mrc_crc_forget(&peer->crc);	/* two hosts with icrc off may send ICRCs to each other: mrc_crc.h */
		users_idle(peer, true);
	}
	spin_unlock_bh(&peer->lock);
}

/* Is it a mark of a walk? Marks have no ops. */
static bool is_mark(const struct mrc_peer_user *u)
{
	return !u->ops;
}

/* The next users between the two marks of a walk, referenced. @at moves behind them. */
static u32 users_batch(struct mrc_peer *peer, struct mrc_peer_user *at,
		       const struct mrc_peer_user *end, struct mrc_peer_user **batch)
{
	struct mrc_peer_user *u;
	u32 n = 0;

	spin_lock_bh(&peer->lock);
	while (n < USERS_BATCH && (u = list_next_entry(at, link)) != end) {
		list_move(&at->link, &u->link);
		if (!is_mark(u) && u->ops->get(u))
			batch[n++] = u;
	}
	spin_unlock_bh(&peer->lock);
	return n;
}

/*
 * A walk puts two marks into the list: its position, and the end of the list at the start of the walk. So it visits each
 * user once and ends, even if users are added or removed meanwhile.
 */
static void users_walk(struct mrc_peer *peer, bool planes, bool may_sleep)
{
	struct mrc_peer_user *batch[USERS_BATCH], at = {}, end = {};
	u32 n, i;

	spin_lock_bh(&peer->lock);
	list_add(&at.link, &peer->users);
	list_add_tail(&end.link, &peer->users);
	spin_unlock_bh(&peer->lock);
	while ((n = users_batch(peer, &at, &end, batch))) {
		for (i = 0; i < n; i++) {
			batch[i]->ops->changed(batch[i], planes);
			batch[i]->ops->put(batch[i]);
		}
		if (may_sleep)
			cond_resched();
	}
	spin_lock_bh(&peer->lock);
	list_del(&at.link);
	list_del(&end.link);
	spin_unlock_bh(&peer->lock);
}

void mrc_peer_users_notify(struct mrc_peer *peer, bool planes)
{
	users_walk(peer, planes, false);
}

/* The work item reads the state at the time when it runs, so any number of changes meanwhile cost one further walk. */
void mrc_peer_users_notify_bounded(struct mrc_peer *peer)
{
	if (READ_ONCE(peer->n_users) <= USERS_AT_ONCE)
		mrc_peer_users_notify(peer, true);
	else
		queue_work(mrc_wq, &peer->users_work);
}

static void users_work(struct work_struct *work)
{
	users_walk(container_of(work, struct mrc_peer, users_work), true, true);
}

void mrc_peer_users_init(struct mrc_peer *peer)
{
	INIT_LIST_HEAD(&peer->users);
	INIT_WORK(&peer->users_work, users_work);
}

void mrc_peer_users_end(struct mrc_peer *peer)
{
	cancel_work_sync(&peer->users_work);
}

void mrc_peer_users_local(struct mrc_peer *peer, union ib_gid *gid)
{
	struct mrc_peer_user *u;

	spin_lock_bh(&peer->lock);
	*gid = peer->local_gid;
	list_for_each_entry(u, &peer->users, link)
		if (!is_mark(u)) {
			*gid = u->local;
			break;
		}
	spin_unlock_bh(&peer->lock);
}
