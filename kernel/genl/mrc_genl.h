/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_genl.h - the generic-netlink family "mrc" (uapi/linux/mrc.h). */
#ifndef MRC_GENL_H
#define MRC_GENL_H

#include "linux/mrc.h"
#include "mrc_dev.h"

struct mrc_peer;

int mrc_genl_init(void);
void mrc_genl_exit(void);

/* Notifications; any context, dropped silently when nobody listens. */
void mrc_genl_event_dev(struct mrc_dev *dev, enum mrc_event type);
void mrc_genl_event_plane(struct mrc_dev *dev, u8 num);
void mrc_genl_event_peer(struct mrc_peer *peer, enum mrc_event type);

#endif
