// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_log.c - see mrc_log.h.
 */
#include <linux/ktime.h>
#include <linux/ratelimit.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "engine/paths/mrc_ev.h"
#include "core/mrc_event.h"
#include "core/mrc_log.h"

#define LOG_INTERVAL	(10 * HZ)
#define LOG_BURST	(2 * MRC_PLANES_MAX)	/* all planes fail and come back */

static DEFINE_RATELIMIT_STATE(log_peer_lines, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

static const char *log_cause(enum mrc_log_cause cause)
{
	switch (cause) {
	case MRC_WHY_NEW:
		return "it is new";
	case MRC_WHY_DEV_DOWN:
		return "the device is down";
	case MRC_WHY_ADMIN:
		return "admin off";
	case MRC_WHY_PORT_DOWN:
		return "the port is set down";
	case MRC_WHY_NO_CARRIER:
		return "no carrier";
	case MRC_WHY_HELD:
		return "the link came and went too often";
	case MRC_WHY_SMALL:
		return "the MTU is too small";
	case MRC_WHY_GONE:
		return "the port left the device";
	default:
		return "unknown";
	}
}

/* ---- the ring ---- */

/*
 * Forwards new records as netlink events. A work item does that, because code that adds a record
 * may hold any lock.
 */
static void log_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, log_work);
	u64 now_ns = ktime_get_boottime_ns(), n, again_ns, lost;
	struct mrc_history_rec rec;
	unsigned long flags;
	bool more;

	for (;;) {
		spin_lock_irqsave(&dev->log_lock, flags);
		more = mrc_history_report(&dev->log, now_ns, &n, &again_ns);
		if (more)
			rec = *mrc_history_at(&dev->log, n);
		lost = dev->log.lost;
		spin_unlock_irqrestore(&dev->log_lock, flags);
		if (!more)
			break;
		mrc_event_record(dev, n, &rec, lost);
	}
	/* Records that were added meanwhile have queued the work themselves. */
	if (again_ns != MRC_TIME_NEVER && !READ_ONCE(dev->dead))
		queue_delayed_work(mrc_wq, &dev->log_work, nsecs_to_jiffies(again_ns - now_ns) + 1);
}

int mrc_log_init(struct mrc_dev *dev)
{
	void *mem = kvmalloc(mrc_history_mem_size(MRC_LOG_RECORDS), GFP_KERNEL_ACCOUNT);

	spin_lock_init(&dev->log_lock);
	INIT_DELAYED_WORK(&dev->log_work, log_work);
	ratelimit_state_init(&dev->log_lines, LOG_INTERVAL, LOG_BURST);
	if (!mem)
		return -ENOMEM;
	mrc_history_init(&dev->log, mem, MRC_LOG_RECORDS, ktime_get_boottime_ns());
	return 0;
}

void mrc_log_stop(struct mrc_dev *dev)
{
	cancel_delayed_work_sync(&dev->log_work);
}

void mrc_log_exit(struct mrc_dev *dev)
{
	kvfree(dev->log.rec);
}

static void log_add(struct mrc_dev *dev, const struct mrc_history_event *event)
{
	unsigned long flags;
	bool fresh;

	spin_lock_irqsave(&dev->log_lock, flags);
	fresh = mrc_history_add(&dev->log, event, ktime_get_boottime_ns(), ktime_get_real_ns());
	spin_unlock_irqrestore(&dev->log_lock, flags);
	if (READ_ONCE(dev->dead))
		return;
	if (fresh)
		mod_delayed_work(mrc_wq, &dev->log_work, 0);
	else if (!delayed_work_pending(&dev->log_work))
		queue_delayed_work(mrc_wq, &dev->log_work, HZ);
}

static void log_peer(struct mrc_dev *dev, const union ib_gid *gid, struct mrc_history_event *event)
{
	memcpy(event->peer, gid->raw, sizeof(event->peer));
	log_add(dev, event);
}

bool mrc_log_next(struct mrc_dev *dev, u64 *n, struct mrc_history_rec *rec, u64 *lost)
{
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&dev->log_lock, flags);
	*n = max(*n, mrc_history_first(&dev->log));
	found = *n < dev->log.next;
	if (found)
		*rec = *mrc_history_at(&dev->log, *n);
	*lost = dev->log.lost;
	spin_unlock_irqrestore(&dev->log_lock, flags);
	return found;
}

/* ---- planes ---- */

static void log_plane(const struct mrc_dev_plane *plane, enum mrc_log_kind kind, enum mrc_log_cause cause)
{
	log_add(plane->dev, &(struct mrc_history_event){
		.kind = kind, .cause = cause, .plane = plane->num, .ev = MRC_HISTORY_NO_EV, .count = 1,
	});
}

void mrc_log_plane(const struct mrc_dev_plane *plane, enum mrc_log_cause was)
{
	struct net_device *ndev = plane->dev->ndev;

	ASSERT_RTNL();
	/* Ports that are added before the device is set up are not logged. */
	if (was == MRC_WHY_NEW && plane->cause == MRC_WHY_DEV_DOWN)
		return;
	if (plane->cause == MRC_WHY_NONE)
		log_plane(plane, MRC_LOG_PLANE_UP, was);
	else
		log_plane(plane, MRC_LOG_PLANE_DOWN, plane->cause);
	if (!__ratelimit(&plane->dev->log_lines))
		return;
	if (plane->cause != MRC_WHY_NONE)
		netdev_info(ndev, "plane %u (%s) is %sdown: %s\n", plane->num + 1, plane->ndev->name,
			    was == MRC_WHY_NONE || was == MRC_WHY_NEW ? "" : "still ",
			    log_cause(plane->cause));
	else if (was == MRC_WHY_NEW)
		netdev_info(ndev, "plane %u (%s) is up\n", plane->num + 1, plane->ndev->name);
	else
		netdev_info(ndev, "plane %u (%s) is up (was down: %s)\n", plane->num + 1,
			    plane->ndev->name, log_cause(was));
}

void mrc_log_plane_gone(const struct mrc_dev_plane *plane)
{
	ASSERT_RTNL();
	log_plane(plane, MRC_LOG_PLANE_DOWN, MRC_WHY_GONE);
	if (__ratelimit(&plane->dev->log_lines))
		netdev_info(plane->dev->ndev, "plane %u (%s) is down: %s\n", plane->num + 1,
			    plane->ndev->name, log_cause(MRC_WHY_GONE));
}

void mrc_log_ports(struct mrc_dev *dev, const union ib_gid *gid, u32 mask, bool up)
{
	DECLARE_BITMAP(ports, 64);
	u32 left;

	for (left = mask; left; left &= left - 1)
		log_peer(dev, gid, &(struct mrc_history_event){
			.kind = up ? MRC_LOG_PORT_UP : MRC_LOG_PORT_DOWN, .cause = MRC_WHY_NOTICE,
			.plane = (u8)__ffs(left), .ev = MRC_HISTORY_NO_EV, .count = 1,
		});
	if (!mask || !__ratelimit(&log_peer_lines))
		return;
	bitmap_from_u64(ports, (u64)mask << 1);	/* users count planes from 1 */
	netdev_info(dev->ndev, "peer %pI6c announced its port of plane %*pbl as %s\n", gid->raw, 64, ports,
		    up ? "up again" : "down");
}

/* ---- EVs and hints ---- */

static enum mrc_log_cause log_ev_cause(enum mrc_ev_why why)
{
	switch (why) {
	case MRC_EV_WHY_LOST:
		return MRC_WHY_LOST;
	case MRC_EV_WHY_PEER:
		return MRC_WHY_PEER;
	case MRC_EV_WHY_CORRELATED:
		return MRC_WHY_COMPANY;
	case MRC_EV_WHY_CONTROLLER:
		return MRC_WHY_CONTROLLER;
	case MRC_EV_WHY_ANSWERED:
		return MRC_WHY_ANSWERED;
	case MRC_EV_WHY_LATE:
		return MRC_WHY_LATE;
	case MRC_EV_WHY_FORGIVEN:
		return MRC_WHY_FORGIVEN;
	case MRC_EV_WHY_PLANE_BACK:
		return MRC_WHY_PLANE_BACK;
	case MRC_EV_WHY_FLOOR:
		return MRC_WHY_FLOOR;
	case MRC_EV_WHY_AVOIDED:
		return MRC_WHY_AVOIDED;
	}
	return MRC_WHY_NONE;
}

void mrc_log_ev(struct mrc_dev *dev, const union ib_gid *gid, const struct mrc_ev_change *news)
{
	log_peer(dev, gid, &(struct mrc_history_event){
		.kind = news->state == MRC_EV_GOOD ? MRC_LOG_EV_GOOD :
			news->state == MRC_EV_DENIED ? MRC_LOG_EV_DENIED : MRC_LOG_EV_BAD,
		.cause = log_ev_cause(news->why), .plane = news->plane, .ev = news->idx,
		.value = news->value, .count = news->count,
	});
}

void mrc_log_hint(struct mrc_dev *dev, const union ib_gid *gid, enum mrc_hint hint)
{
	log_peer(dev, gid, &(struct mrc_history_event){
		.kind = MRC_LOG_HINT, .cause = (u8)(MRC_WHY_ICRC + __ffs(hint)),
		.plane = MRC_HISTORY_NO_PLANE, .ev = MRC_HISTORY_NO_EV, .count = 1,
	});
}

void mrc_log_probes(struct mrc_dev *dev, bool pause, enum mrc_log_cause cause)
{
	log_add(dev, &(struct mrc_history_event){
		.kind = pause ? MRC_LOG_PROBES_PAUSED : MRC_LOG_PROBES_RESUMED, .cause = cause,
		.plane = MRC_HISTORY_NO_PLANE, .ev = MRC_HISTORY_NO_EV, .count = 1,
	});
}
