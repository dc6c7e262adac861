// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mtu.c - finds planes whose MTU is too small for connections.
 *
 * The MTU of a plane may be reduced after connections chose their path MTU. Such a plane would lose
 * every full packet, and its port might refuse those of peers. So it is not used, and peers are
 * informed, as long as another plane is large enough. If none is, all planes are used, and packets
 * that do not fit are dropped and counted (tx_too_long).
 */
#include <linux/rtnetlink.h>
#include "device/mrc_mtu.h"

static bool mtu_fits(const struct mrc_dev_plane *plane, u32 need)
{
	return READ_ONCE(plane->ndev->mtu) >= need;
}

static bool mtu_fits_any(struct mrc_dev *dev, u32 need)
{
	struct mrc_dev_plane *plane;
	u32 i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && plane->admin && plane->carrier && !plane->held &&
		    mtu_fits(plane, need))
			return true;
	}
	return false;
}

static void mtu_log(const struct mrc_dev_plane *plane, enum ib_mtu mtu, u32 need)
{
	const char *what = plane->small ? "it is not used" :
			   plane->drops ? "full packets are dropped" : "it is used again";

	if (!net_ratelimit())
		return;
	if (mtu)
		netdev_warn(plane->dev->ndev,
			    "plane %u (%s) has MTU %u, connections of path MTU %d need %u: %s\n",
			    plane->num + 1, plane->ndev->name, plane->ndev->mtu,
			    ib_mtu_enum_to_int(mtu), need, what);
	else
		netdev_info(plane->dev->ndev, "plane %u (%s) has MTU %u: %s\n", plane->num + 1,
			    plane->ndev->name, plane->ndev->mtu, what);
}

void mrc_mtu_apply(struct mrc_dev *dev)
{
	struct mrc_dev_plane *plane;
	u32 i, need = 0;
	enum ib_mtu mtu;
	bool any, fits;

	smp_mb();	/* the netdev's MTU was written before. See mrc_dev_plane_mtu_get() */
	mtu = mrc_dev_plane_mtu_used(dev);
	if (mtu)
		need = mrc_dev_plane_mtu_for(dev, mtu);
	any = mtu_fits_any(dev, need);
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (!plane)
			continue;
		fits = mtu_fits(plane, need);
		if (plane->small == (!fits && any) && plane->drops == (!fits && !any))
			continue;
		WRITE_ONCE(plane->small, !fits && any);
		plane->drops = !fits && !any;
		if (!dev->dead)
			mtu_log(plane, mtu, need);
	}
}

bool mrc_mtu_changed(struct mrc_dev *dev)
{
	enum ib_mtu mtu = mrc_dev_plane_mtu_used(dev);
	u32 i, need = mtu ? mrc_dev_plane_mtu_for(dev, mtu) : 0;
	struct mrc_dev_plane *plane;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rtnl_dereference(dev->plane[i]);
		if (plane && mtu_fits(plane, need) == (plane->small || plane->drops))
			return true;
	}
	return false;
}

bool mrc_mtu_active_changed(struct mrc_dev *dev)
{
	enum ib_mtu mtu = mrc_dev_plane_ib_mtu(dev);
	bool news = dev->mtu_reported != mtu;

	dev->mtu_reported = mtu;
	return news;
}
