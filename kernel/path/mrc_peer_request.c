// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_request.c - see mrc_peer_request.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "core/mrc_random.h"
#include "path/mrc_peer_request.h"

/* Of two concurrent calls, one frees its memory again. */
static int ask_memory(struct mrc_peer *peer)
{
	struct mrc_ep_req_table *ask;

	if (mrc_port_reqs(&peer->port))
		return 0;
	ask = kmalloc(sizeof(*ask), GFP_KERNEL_ACCOUNT);
	if (!ask)
		return -ENOMEM;
	mrc_ep_req_init(ask, mrc_random_u32());
	spin_lock_bh(&peer->lock);
	if (!mrc_port_reqs(&peer->port)) {
		mrc_port_set_reqs(&peer->port, ask);
		ask = NULL;
	}
	spin_unlock_bh(&peer->lock);
	kfree(ask);
	return 0;
}

int mrc_peer_request(struct mrc_peer *peer, const struct mrc_ep_req *q, struct mrc_pkt *pkt)
{
	int err;

	if (peer->local || peer->group)
		return -EINVAL;
	if (q->via && peer->v4)
		return -EOPNOTSUPP;
	err = ask_memory(peer);
	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	if (q->op == MRC_EP_PORT_STATUS && !peer->n_users)
		err = -ENOTCONN;
	else
		err = mrc_port_request(&peer->port, q, ktime_get_ns(), pkt);
	spin_unlock_bh(&peer->lock);
	return err;
}

void mrc_peer_request_undo(struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	spin_lock_bh(&peer->lock);
	mrc_port_request_undo(&peer->port, pkt);
	spin_unlock_bh(&peer->lock);
}
