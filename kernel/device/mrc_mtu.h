/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mtu.h - planes whose MTU is smaller than connections were promised. All under rtnl.
 */
#ifndef MRC_MTU_H
#define MRC_MTU_H

#include "core/mrc_dev_plane.h"

/* Which planes are small, from their MTUs and what connections need, after either changed. */
void mrc_mtu_apply(struct mrc_dev *dev);
/* Would mrc_mtu_apply() find anything new? */
bool mrc_mtu_changed(struct mrc_dev *dev);
/*
 * Did the port's path MTU change since the last call? Programs that read the port's attributes again take the path MTU of
 * their next QPs from it.
 */
bool mrc_mtu_is_news(struct mrc_dev *dev);

#endif
