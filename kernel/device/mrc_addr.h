/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_addr.h - follows changes of the host's addresses, on which paths depend.
 *
 * A peer with an address of this host is reached over lo. Templates copy bits of the device's own
 * address (path/mrc_template.h).
 */
#ifndef MRC_ADDR_H
#define MRC_ADDR_H

#include "core/mrc_dev.h"

void mrc_addr_init(struct mrc_dev *dev);	/* for a new device */
/* Process context, without rtnl. The device is dead: its work ends. */
void mrc_addr_stop(struct mrc_dev *dev);
/* Process context; module start and end. 0 or -errno. */
int mrc_addr_start(void);
void mrc_addr_end(void);

#endif
