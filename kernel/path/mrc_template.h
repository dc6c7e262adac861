/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_template.h - profiles that are templates: bits of the peer's address, and of ours, are copied
 * into their EVs when a path set is built. Documentation/guide/fabric.md.
 */
#ifndef MRC_TEMPLATE_H
#define MRC_TEMPLATE_H

#include "path/mrc_profile.h"

/* Any context. The addresses from which @prof, a template or not, copies for the peer @dst. */
void mrc_template_addrs(const struct mrc_dev *dev, const struct mrc_profile *prof,
			const union ib_gid *dst, struct mrc_ev_addrs *addrs);
/* EV @idx of @prof, a template or not, for these addresses. */
void mrc_template_ev(const struct mrc_profile *prof, u32 idx, const struct mrc_ev_addrs *addrs,
		     struct mrc_profile_ev *ev);

/*
 * Are the EVs of @prof valid for any peer address? 0, or -EINVAL with extack: for some address, an EV would be
 * no valid destination.
 */
int mrc_template_check(const struct mrc_profile *prof, struct netlink_ext_ack *extack);

#endif
