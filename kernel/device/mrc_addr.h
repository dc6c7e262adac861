/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_addr.h - the host's addresses as news: peers that have one are over lo, and templates copy from the device's
 * (path/mrc_template.h).
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
