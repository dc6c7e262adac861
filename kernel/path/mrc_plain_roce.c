// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_plain_roce.c - see mrc_plain_roce.h.
 */
#include <linux/jhash.h>
#include "path/mrc_plain_roce.h"

static union ib_gid *plain_bucket(struct mrc_dev *dev, const union ib_gid *gid)
{
	return &dev->plain[jhash(gid, sizeof(*gid), dev->hash_seed) % MRC_PLAIN_ROCE_BUCKETS];
}

void mrc_plain_roce_rx(struct mrc_dev *dev, const union ib_gid *gid, bool marked)
{
	union ib_gid *at = plain_bucket(dev, gid);

	spin_lock_bh(&dev->plain_roce_lock);
	if (!marked)
		*at = *gid;
	else if (!memcmp(at, gid, sizeof(*gid)))
		memset(at, 0, sizeof(*at));
	spin_unlock_bh(&dev->plain_roce_lock);
}

bool mrc_plain_roce_is(struct mrc_dev *dev, const union ib_gid *gid)
{
	bool is;

	spin_lock_bh(&dev->plain_roce_lock);
	is = !memcmp(plain_bucket(dev, gid), gid, sizeof(*gid));
	spin_unlock_bh(&dev->plain_roce_lock);
	return is;
}
