/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_event.h - events for user space.
 *
 * Any part of the module reports events here. The netlink family, which is above all of them,
 * registers as the listener.
 */
#ifndef MRC_EVENT_H
#define MRC_EVENT_H

#include <linux/types.h>
#include "linux/mrc.h"

struct mrc_dev;
struct mrc_peer;
struct mrc_ep_rsp;
struct mrc_history_rec;

struct mrc_event_ops {		/* any context, under RCU; none may sleep */
	void (*dev)(struct mrc_dev *dev, enum mrc_event type);
	void (*plane)(struct mrc_dev *dev, u8 num);
	void (*peer)(struct mrc_peer *peer, enum mrc_event type);
	void (*answer)(struct mrc_peer *peer, const struct mrc_ep_rsp *answer);
	void (*record)(struct mrc_dev *dev, u64 n, const struct mrc_history_rec *rec, u64 lost);
};

/*
 * Process context. Sets the listener. NULL removes it, and waits until no event is being delivered.
 */
void mrc_event_listen(const struct mrc_event_ops *ops);

/* Any context, under any lock. Without a listener the event is dropped. */
void mrc_event_dev(struct mrc_dev *dev, enum mrc_event type);
void mrc_event_plane(struct mrc_dev *dev, u8 num);
void mrc_event_peer(struct mrc_peer *peer, enum mrc_event type);
/*
 * Likewise. The response to a request of a controller (engine/peer/mrc_ep_req.h); only that
 * controller gets it.
 */
void mrc_event_answer(struct mrc_peer *peer, const struct mrc_ep_rsp *answer);
/*
 * Likewise. A copy of record @n of the event log (core/mrc_log.h); @lost: events without a record
 * so far.
 */
void mrc_event_record(struct mrc_dev *dev, u64 n, const struct mrc_history_rec *rec, u64 lost);

#endif
