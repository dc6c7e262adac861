// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_idle.c - see mrc_peer_idle.h.
 *
 * The list is in order of arrival. If the first peer was used recently, it moves to the end (second
 * chance). Packets only write last_used, not the list.
 */
#include <linux/jiffies.h>
#include "path/mrc_peer_idle.h"

#define IDLE_LOOK	8	/* peers examined for one to remove */
#define IDLE_LATELY	HZ

void mrc_peer_idle_add(struct mrc_peer *peer)
{
	lockdep_assert_held(&peer->dev->peer_lock);
	if (!list_empty(&peer->idle))
		return;
	list_add_tail(&peer->idle, &peer->dev->idle_peers);
	peer->dev->n_idle_peers++;
}

void mrc_peer_idle_del(struct mrc_peer *peer)
{
	lockdep_assert_held(&peer->dev->peer_lock);
	if (list_empty(&peer->idle))
		return;
	list_del_init(&peer->idle);
	peer->dev->n_idle_peers--;
}

struct mrc_peer *mrc_peer_idle_victim(struct mrc_dev *dev)
{
	struct mrc_peer *peer;
	int i;

	lockdep_assert_held(&dev->peer_lock);
	if (dev->n_idle_peers <= MRC_PEERS_IDLE_MAX)
		return NULL;
	for (i = 0; i < 2 * IDLE_LOOK; i++) {
		peer = list_first_entry(&dev->idle_peers, struct mrc_peer, idle);
		list_move_tail(&peer->idle, &dev->idle_peers);
		/* If all were used recently, remove one anyway. */
		if (i < IDLE_LOOK &&
		    time_before(jiffies, READ_ONCE(peer->last_used) + IDLE_LATELY))
			continue;
		if (refcount_dec_if_one(&peer->ref.refcount))
			return peer;
	}
	return NULL;
}
