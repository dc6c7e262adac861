// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_event.c - see mrc_event.h.
 */
#include <linux/rcupdate.h>
#include "core/mrc_event.h"

static const struct mrc_event_ops __rcu *event_ops;

void mrc_event_listen(const struct mrc_event_ops *ops)
{
	rcu_assign_pointer(event_ops, ops);
	if (!ops)
		synchronize_rcu();
}

void mrc_event_dev(struct mrc_dev *dev, enum mrc_event type)
{
	const struct mrc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->dev(dev, type);
	rcu_read_unlock();
}

void mrc_event_plane(struct mrc_dev *dev, u8 num)
{
	const struct mrc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->plane(dev, num);
	rcu_read_unlock();
}

void mrc_event_peer(struct mrc_peer *peer, enum mrc_event type)
{
	const struct mrc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->peer(peer, type);
	rcu_read_unlock();
}

void mrc_event_answer(struct mrc_peer *peer, const struct mrc_ep_rsp *answer)
{
	const struct mrc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->answer(peer, answer);
	rcu_read_unlock();
}

void mrc_event_record(struct mrc_dev *dev, u64 n, const struct mrc_history_rec *rec, u64 lost)
{
	const struct mrc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->record(dev, n, rec, lost);
	rcu_read_unlock();
}
