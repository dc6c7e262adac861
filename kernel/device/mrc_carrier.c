// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_carrier.c - decides which planes are up: carrier, admin state, flap damping.
 *
 * A link failure takes effect at once. A plane that fails too often stays down, here and in
 * announcements to peers, until the engine's flap damping (engine/peer/mrc_damp.h) releases it. A
 * delayed work item checks at that time. Changes of the admin state by a controller do not count as
 * flaps.
 */
#include <linux/ethtool.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include "core/mrc_event.h"
#include "core/mrc_log.h"
#include "path/mrc_path_change.h"
#include "device/mrc_carrier.h"
#include "device/mrc_mtu.h"

#define MRC_SPEED_UNKNOWN	10000	/* Mb/s, for ports that report none (veth, virtio) */

/* ---- speed ---- */

u32 mrc_carrier_speed(struct net_device *port)
{
	struct ethtool_link_ksettings ks;

	if (__ethtool_get_link_ksettings(port, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return MRC_SPEED_UNKNOWN;
	return ks.base.speed;
}

/* ---- damping ---- */

static u32 carrier_mask(struct mrc_dev *dev)
{
	struct mrc_dev_plane *plane;
	u32 mask = 0, i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && plane->carrier)
			mask |= 1u << i;
	}
	return mask;
}

/* Applies the engine's damping decision to the planes, and schedules the next check. */
static void damp_apply(struct mrc_dev *dev)
{
	u64 now_ns = ktime_get_ns(), at_ns = mrc_damp_deadline_ns(&dev->damp);
	struct mrc_dev_plane *plane;
	u32 usable = 0, suppressed, i;
	bool held;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && plane->carrier && plane->admin)
			usable |= 1u << i;
	}
	suppressed = mrc_damp_suppressed(&dev->damp, usable);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (!plane)
			continue;
		held = plane->carrier && suppressed & (1u << i);
		if (held && !plane->held)
			mrc_dev_count(dev, planes_held);
		WRITE_ONCE(plane->held, held);
	}
	if (at_ns != MRC_TIME_NEVER && !dev->dead)
		mod_delayed_work(mrc_wq, &dev->damp_work,
				 at_ns > now_ns ? nsecs_to_jiffies(at_ns - now_ns) + 1 : 1);
}

static void damp_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(to_delayed_work(work), struct mrc_dev, damp_work);

	rtnl_lock();
	if (!dev->dead)
		mrc_carrier_changed(dev);
	rtnl_unlock();
}

void mrc_carrier_damp(struct mrc_dev *dev)
{
	struct mrc_damp_cfg cfg;

	ASSERT_RTNL();
	mrc_dev_attr_damp(&dev->attr, &cfg);
	mrc_damp_init(&dev->damp, &cfg, carrier_mask(dev));
	mrc_carrier_changed(dev);
	mrc_path_change_damp(dev);
}

void mrc_carrier_forget(struct mrc_dev *dev, u8 num)
{
	ASSERT_RTNL();
	mrc_damp_set(&dev->damp, carrier_mask(dev), ktime_get_ns());
	mrc_damp_forget(&dev->damp, num);
}

/* ---- planes ---- */

static void dev_port_state(struct mrc_dev *dev, bool active)
{
	struct ib_event ev = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	if (READ_ONCE(dev->registered) && !dev->dead)
		ib_dispatch_event(&ev);
}

/* Logs each plane whose state has another cause than before. */
static void carrier_log(struct mrc_dev *dev)
{
	enum mrc_log_cause was, now;
	struct mrc_dev_plane *plane;
	int i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (!plane)
			continue;
		was = plane->cause;
		now = mrc_dev_plane_cause(plane);
		if (now == was)
			continue;
		plane->cause = now;
		mrc_log_plane(plane, was);
	}
}

void mrc_carrier_changed(struct mrc_dev *dev)
{
	u32 old = dev->planes_up, up = 0, diff;
	struct mrc_dev_plane *plane;
	bool news;
	u8 i;

	ASSERT_RTNL();
	mrc_damp_set(&dev->damp, carrier_mask(dev), ktime_get_ns());
	mrc_damp_poll(&dev->damp, ktime_get_ns());
	damp_apply(dev);
	mrc_mtu_apply(dev);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && mrc_dev_plane_up(plane))
			up |= 1u << i;
	}
	WRITE_ONCE(dev->planes_up, up);
	carrier_log(dev);
	mrc_path_change_planes(dev);
	news = mrc_mtu_active_changed(dev);
	if (!old != !up || (up && news))
		dev_port_state(dev, up);
	for (diff = old ^ up; diff; diff &= diff - 1)
		if (rtnl_dereference(dev->plane[__ffs(diff)]))
			mrc_event_plane(dev, (u8)__ffs(diff));
}

void mrc_carrier_admin(struct mrc_dev *dev, bool up)
{
	ASSERT_RTNL();
	if (dev->down == !up)
		return;
	WRITE_ONCE(dev->down, !up);
	mrc_carrier_changed(dev);
}

void mrc_carrier_port(struct mrc_dev_plane *plane, bool going_down)
{
	bool carrier = !going_down && netif_running(plane->ndev) &&
		       netif_carrier_ok(plane->ndev);

	ASSERT_RTNL();
	if (carrier)
		WRITE_ONCE(plane->speed_mbps, mrc_carrier_speed(plane->ndev));
	if (plane->carrier == carrier)
		return;
	WRITE_ONCE(plane->carrier, carrier);
	mrc_carrier_changed(plane->dev);
	if (plane->held)	/* a damped plane stays down, so mrc_carrier_changed() did not report it */
		mrc_event_plane(plane->dev, plane->num);
}

void mrc_carrier_mtu(struct mrc_dev *dev)
{
	u32 was = dev->planes_up, i;

	ASSERT_RTNL();
	mrc_carrier_changed(dev);	/* also drops cached routes, which contain the MTU */
	for (i = 0; i < MRC_PLANES_MAX; i++)	/* planes that went up or down were reported there */
		if (rtnl_dereference(dev->plane[i]) && !((was ^ dev->planes_up) & (1u << i)))
			mrc_event_plane(dev, (u8)i);
}

/*
 * linkwatch limits the rate of notifications, so a lost carrier may be reported up to a second late. A packet that
 * finds a port without carrier queues this check (mrc_dev_plane_no_carrier()).
 */
static void dev_carrier_work(struct work_struct *work)
{
	struct mrc_dev *dev = container_of(work, struct mrc_dev, carrier_work);
	struct mrc_dev_plane *plane;
	int i;

	rtnl_lock();
	for (i = 0; i < MRC_PLANES_MAX && !dev->dead; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane)
			mrc_carrier_port(plane, false);
	}
	if (mrc_mtu_changed(dev) && !dev->dead)
		mrc_carrier_mtu(dev);
	rtnl_unlock();
}

void mrc_carrier_init(struct mrc_dev *dev)
{
	struct mrc_damp_cfg damp;

	INIT_WORK(&dev->carrier_work, dev_carrier_work);
	INIT_DELAYED_WORK(&dev->damp_work, damp_work);
	mrc_dev_attr_damp(&dev->attr, &damp);
	mrc_damp_init(&dev->damp, &damp, 0);
}

void mrc_carrier_stop(struct mrc_dev *dev)
{
	cancel_work_sync(&dev->carrier_work);
	cancel_delayed_work_sync(&dev->damp_work);
}
