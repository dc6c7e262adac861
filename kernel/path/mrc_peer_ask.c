// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_ask.c - see mrc_peer_ask.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "core/mrc_seed.h"
#include "path/mrc_peer_ask.h"

/* One of two that come at the same time is for nothing. */
static int ask_memory(struct mrc_peer *peer)
{
	struct mrc_ask *ask;

	if (mrc_port_asks(&peer->port))
		return 0;
	ask = kmalloc(sizeof(*ask), GFP_KERNEL_ACCOUNT);
	if (!ask)
		return -ENOMEM;
	mrc_ask_init(ask, mrc_seed_u32());
	spin_lock_bh(&peer->lock);
	if (!mrc_port_asks(&peer->port)) {
		mrc_port_set_ask(&peer->port, ask);
		ask = NULL;
	}
	spin_unlock_bh(&peer->lock);
	kfree(ask);
	return 0;
}

int mrc_peer_ask(struct mrc_peer *peer, const struct mrc_question *q, struct mrc_pkt *pkt)
{
	int err;

	if (peer->local || peer->group)
		return -EINVAL;
	err = ask_memory(peer);
	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	if (q->op == MRC_EP_PORT_STATUS && !peer->n_users)
		err = -ENOTCONN;
	else
		err = mrc_port_ask(&peer->port, q, ktime_get_ns(), pkt);
	spin_unlock_bh(&peer->lock);
	return err;
}

void mrc_peer_ask_undo(struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	spin_lock_bh(&peer->lock);
	mrc_port_ask_undo(&peer->port, pkt);
	spin_unlock_bh(&peer->lock);
}
