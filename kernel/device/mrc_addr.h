/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_addr.h - follows changes of the host's addresses.
 *
 * A peer with an address of this host is reached over lo, and templates copy bits of the device's
 * own address (path/mrc_template.h).
 */
#ifndef MRC_ADDR_H
#define MRC_ADDR_H

#include "core/mrc_dev.h"

void mrc_addr_init(struct mrc_dev *dev);
/* Process context, no rtnl; nobody sees the device alive. */
void mrc_addr_stop(struct mrc_dev *dev);
/* Module start and end. Process context. */
int mrc_addr_start(void);
void mrc_addr_end(void);

#endif
