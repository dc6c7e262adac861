/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_plain_roce.h - who speaks plain RoCEv2, and no MRC.
 *
 * Management packets of ours are marked (engine/wire/mrc_deth.h). A host whose latest one came without
 * the mark is another stack: its connection manager and ours understand each other, its RC QPs and
 * ours do not, and a connection would die of silence. So RC QPs to it are refused.
 *
 * A small table without chains: it takes no memory however many hosts write to us, and who is
 * forgotten is known again by his next packet. Any context, no lock held.
 */
#ifndef MRC_PLAIN_ROCE_H
#define MRC_PLAIN_ROCE_H

#include "core/mrc_dev.h"

/* A sound management packet of @gid came. */
void mrc_plain_roce_rx(struct mrc_dev *dev, const union ib_gid *gid, bool marked);
bool mrc_plain_roce_is(struct mrc_dev *dev, const union ib_gid *gid);

#endif
