// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_event.c - see mrc_genl_event.h. Event messages are built in any context and take no
 * lock.
 */
#include "core/mrc_dev_plane.h"
#include "core/mrc_event.h"
#include "path/mrc_peer.h"
#include "genl/mrc_genl_ep.h"
#include "genl/mrc_genl_event.h"
#include "genl/mrc_genl_fill.h"
#include "genl/mrc_genl_msg.h"

/*
 * Starts a message. NULL: no event must be sent, because there is no listener or no memory, or the device
 * is dead. QPs of a dead device may outlive its namespace, if the port was moved out of it.
 * Under rtnl or RCU, or with BH off: the namespace of a dead device waits for these before it ends.
 */
static struct sk_buff *event_begin(struct mrc_dev *dev, enum mrc_event type, void **hdr)
{
	struct sk_buff *skb;

	if (READ_ONCE(dev->dead))
		return NULL;
	if (!genl_has_listeners(&mrc_genl_family, dev->net, MRC_GENL_MCGRP))
		return NULL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return NULL;
	*hdr = genlmsg_put(skb, 0, 0, &mrc_genl_family, 0, MRC_CMD_EVENT);
	if (!*hdr || nla_put_u32(skb, MRC_A_EVENT_TYPE, type) || mrc_genl_put_ids(skb, dev)) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static void event_send(struct mrc_dev *dev, struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&mrc_genl_family, dev->net, skb, 0, MRC_GENL_MCGRP,
				GFP_ATOMIC);
}

static void event_dev(struct mrc_dev *dev, enum mrc_event type)
{
	struct sk_buff *skb;
	void *hdr;

	atomic_inc(&mrc_genl_generation);
	rcu_read_lock();
	skb = event_begin(dev, type, &hdr);
	if (skb)
		event_send(dev, skb, hdr, mrc_genl_put_dev(skb, dev));
	rcu_read_unlock();
}

/* A plane that was removed is reported only by its number and MRC_A_PLANE_UP 0. */
static int event_put_plane(struct sk_buff *skb, struct mrc_dev *dev, u8 num)
{
	struct mrc_dev_plane *p;
	struct nlattr *nest;
	int err;

	rcu_read_lock();
	p = rcu_dereference(dev->plane[num]);
	err = p ? mrc_genl_put_plane(skb, p) : -ENOENT;
	rcu_read_unlock();
	if (err != -ENOENT)
		return err;

	nest = nla_nest_start(skb, MRC_A_PLANE);
	if (!nest || nla_put_u8(skb, MRC_A_PLANE_NUMBER, num + 1) ||
	    nla_put_u8(skb, MRC_A_PLANE_UP, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static void event_plane(struct mrc_dev *dev, u8 num)
{
	struct sk_buff *skb;
	void *hdr;

	if (WARN_ON_ONCE(num >= MRC_PLANES_MAX))
		return;
	atomic_inc(&mrc_genl_generation);
	skb = event_begin(dev, MRC_EVENT_PLANE, &hdr);
	if (skb)
		event_send(dev, skb, hdr, event_put_plane(skb, dev, num));
}

static void event_peer(struct mrc_peer *peer, enum mrc_event type)
{
	struct sk_buff *skb;
	void *hdr;

	skb = event_begin(peer->dev, type, &hdr);
	if (skb)
		event_send(peer->dev, skb, hdr, mrc_genl_put_peer(skb, peer, NULL));
}

static void event_record(struct mrc_dev *dev, u64 n, const struct mrc_history_rec *rec, u64 lost)
{
	struct sk_buff *skb;
	void *hdr;

	if (READ_ONCE(dev->dead) ||
	    !genl_has_listeners(&mrc_genl_family, dev->net, MRC_GENL_MCGRP_RECORDS))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &mrc_genl_family, 0, MRC_CMD_LOG);
	if (!hdr || mrc_genl_put_ids(skb, dev) || mrc_genl_put_record(skb, n, rec, lost, true)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&mrc_genl_family, dev->net, skb, 0, MRC_GENL_MCGRP_RECORDS, GFP_ATOMIC);
}

static const struct mrc_event_ops event_ops = {
	.dev = event_dev,
	.plane = event_plane,
	.peer = event_peer,
	.answer = mrc_genl_ep_answer,
	.record = event_record,
};

void mrc_genl_event_start(void)
{
	mrc_event_listen(&event_ops);
}

void mrc_genl_event_stop(void)
{
	mrc_event_listen(NULL);
}
