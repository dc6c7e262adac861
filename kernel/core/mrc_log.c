// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_log.c - see mrc_log.h.
 */
#include <linux/ratelimit.h>
#include <linux/rtnetlink.h>
#include "core/mrc_log.h"

#define LOG_INTERVAL	(10 * HZ)
#define LOG_BURST	(2 * MRC_PLANES_MAX)	/* all planes go, and come back */

static DEFINE_RATELIMIT_STATE(log_peer_lines, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

static const char *log_cause(enum mrc_plane_cause cause)
{
	switch (cause) {
	case MRC_PLANE_UP:
		return "none";
	case MRC_PLANE_NEW:
		return "it is new";
	case MRC_PLANE_DEV_DOWN:
		return "the device is down";
	case MRC_PLANE_ADMIN:
		return "admin off";
	case MRC_PLANE_PORT_DOWN:
		return "the port is set down";
	case MRC_PLANE_NO_CARRIER:
		return "no carrier";
	case MRC_PLANE_HELD:
		return "the link came and went too often";
	case MRC_PLANE_SMALL:
		return "the MTU is too small";
	}
	return "unknown";
}

void mrc_log_init(struct mrc_dev *dev)
{
	ratelimit_state_init(&dev->log_lines, LOG_INTERVAL, LOG_BURST);
}

void mrc_log_plane(const struct mrc_dev_plane *plane, enum mrc_plane_cause was)
{
	struct net_device *ndev = plane->dev->ndev;

	ASSERT_RTNL();
	/* Ports come before the device is set up: no news. */
	if (was == MRC_PLANE_NEW && plane->cause == MRC_PLANE_DEV_DOWN)
		return;
	if (!__ratelimit(&plane->dev->log_lines))
		return;
	if (plane->cause != MRC_PLANE_UP)
		netdev_info(ndev, "plane %u (%s) is %sdown: %s\n", plane->num + 1, plane->ndev->name,
			    was == MRC_PLANE_UP || was == MRC_PLANE_NEW ? "" : "still ",
			    log_cause(plane->cause));
	else if (was == MRC_PLANE_NEW)
		netdev_info(ndev, "plane %u (%s) is up\n", plane->num + 1, plane->ndev->name);
	else
		netdev_info(ndev, "plane %u (%s) is up; before: %s\n", plane->num + 1,
			    plane->ndev->name, log_cause(was));
}

void mrc_log_plane_gone(const struct mrc_dev_plane *plane)
{
	ASSERT_RTNL();
	if (__ratelimit(&plane->dev->log_lines))
		netdev_info(plane->dev->ndev, "plane %u (%s) is down: the port left the device\n",
			    plane->num + 1, plane->ndev->name);
}

void mrc_log_ports(struct mrc_dev *dev, const union ib_gid *gid, u32 mask, bool up)
{
	DECLARE_BITMAP(ports, 64);

	if (!mask || !__ratelimit(&log_peer_lines))
		return;
	bitmap_from_u64(ports, (u64)mask << 1);	/* people count from 1 */
	netdev_info(dev->ndev, "%pI6c says that its port of plane %*pbl is %s\n", gid->raw, 64, ports,
		    up ? "up again" : "down");
}
