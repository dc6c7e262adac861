// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_inval.c - see mrc_inval.h. The table of keys says which of the two kinds a key belongs to.
 */
#include "mem/mrc_fr.h"
#include "mem/mrc_inval.h"
#include "mem/mrc_mw.h"

bool mrc_inval_allowed(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key)
{
	return mrc_mw_may_invalidate(dev, pdn, qpn, key) || mrc_fr_may_invalidate(dev, pdn, key);
}

bool mrc_inval(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key)
{
	return mrc_mw_invalidate(dev, pdn, qpn, key) || mrc_fr_invalidate(dev, pdn, key);
}
