// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_kept.c - see mrc_dev_kept.h.
 */
#include <linux/rtnetlink.h>
#include "core/mrc_dev_kept.h"

static bool kept_for(const struct mrc_dev_kept *k, const struct net_device *port)
{
	return k->used && !strcmp(k->name, port->name) &&
	       !memcmp(k->perm_addr, port->perm_addr, sizeof(k->perm_addr));
}

static void kept_name(struct mrc_dev_kept *k, const struct net_device *port)
{
	k->used = true;
	strscpy(k->name, port->name, sizeof(k->name));
	memcpy(k->perm_addr, port->perm_addr, sizeof(k->perm_addr));
}

void mrc_dev_kept_save(const struct mrc_dev_plane *plane)
{
	struct mrc_dev_kept *k = &plane->dev->kept[plane->num];

	ASSERT_RTNL();
	kept_name(k, plane->ndev);
	k->admin_off = !plane->admin;
	k->has_sid = plane->has_sid;
	k->sid = plane->sid;
}

int mrc_dev_kept_number(const struct mrc_dev *dev, const struct net_device *port)
{
	int i, unkept = -1, free = -1;

	ASSERT_RTNL();
	for (i = MRC_PLANES_MAX - 1; i >= 0; i--) {
		if (rtnl_dereference(dev->plane[i]))
			continue;
		if (kept_for(&dev->kept[i], port))
			return i;
		free = i;
		if (!dev->kept[i].used)
			unkept = i;
	}
	return unkept >= 0 ? unkept : free;
}

bool mrc_dev_kept_take(struct mrc_dev_plane *plane)
{
	struct mrc_dev_kept *k = &plane->dev->kept[plane->num];
	bool same = kept_for(k, plane->ndev);

	ASSERT_RTNL();
	if (same) {
		plane->admin = !k->admin_off;
		plane->has_sid = k->has_sid;
		plane->sid = k->sid;
	}
	memset(k, 0, sizeof(*k));
	return same;
}

void mrc_dev_kept_assign(struct mrc_dev *dev, u8 num, const struct net_device *port)
{
	int i;

	ASSERT_RTNL();
	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (i != num && kept_for(&dev->kept[i], port))
			memset(&dev->kept[i], 0, sizeof(dev->kept[i]));
	kept_name(&dev->kept[num], port);
}

const char *mrc_dev_kept_for(const struct mrc_dev *dev, u8 num)
{
	ASSERT_RTNL();
	return dev->kept[num].used ? dev->kept[num].name : NULL;
}
