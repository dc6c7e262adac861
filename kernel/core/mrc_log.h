/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_log.h - what happened to planes, in the kernel's log: a line each, with the cause.
 *
 * Lines are rate-limited: those of a device's own planes by device, those of peers all together,
 * because any peer can cause them.
 */
#ifndef MRC_LOG_H
#define MRC_LOG_H

#include "core/mrc_dev_plane.h"

void mrc_log_init(struct mrc_dev *dev);
/* Under rtnl. @plane is up or down now, as its cause says; @was: the cause before. */
void mrc_log_plane(const struct mrc_dev_plane *plane, enum mrc_plane_cause was);
/* Under rtnl. @plane leaves the device. */
void mrc_log_plane_gone(const struct mrc_dev_plane *plane);
/* Any context. Peer @gid announced that its ports of planes @mask are up, or down. */
void mrc_log_ports(struct mrc_dev *dev, const union ib_gid *gid, u32 mask, bool up);

#endif
