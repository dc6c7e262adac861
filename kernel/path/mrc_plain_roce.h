/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_plain_roce.h - remembers hosts that speak plain RoCEv2 and not MRC.
 *
 * MRC's management packets carry a mark (engine/wire/mrc_deth.h). A host whose latest management
 * packet had no mark runs another stack. Connection managers of both stacks understand each other,
 * but RC QPs do not, and a connection would time out. So RC QPs to such a host are refused.
 *
 * The table has a fixed size and no chains, so other hosts cannot exhaust memory. A host whose
 * entry was overwritten is recorded again by its next packet. Any context, no lock held.
 */
#ifndef MRC_PLAIN_ROCE_H
#define MRC_PLAIN_ROCE_H

#include "core/mrc_dev.h"

/* A valid management packet of @gid arrived; @marked: with MRC's mark. */
void mrc_plain_roce_rx(struct mrc_dev *dev, const union ib_gid *gid, bool marked);
/* Did the latest management packet of @gid have no mark? False if it is not known. */
bool mrc_plain_roce_is(struct mrc_dev *dev, const union ib_gid *gid);

#endif
