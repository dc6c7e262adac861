// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ev_over.c - see mrc_ev_over.h.
 *
 * The EVs of a template lack the bits that are copied from addresses: T0 and host. The T1 is among the other bits, so a pass
 * over the bare EVs finds it. The T0 is the same in all EVs of a plane, so one complete EV shows it. A peer can request this
 * search with each packet: it costs one pass over the profile.
 */
#include "path/mrc_ev_over.h"
#include "path/mrc_peer.h"
#include "path/mrc_template.h"

#define USID_FIRST	4u	/* bytes of the block, before the uSIDs of an address */

static bool ev_crosses(const struct mrc_profile_ev *ev, u16 usid)
{
	u32 at, i;

	for (at = 0; at < 2 * sizeof(struct in6_addr); at += sizeof(struct in6_addr))
		for (i = USID_FIRST; i < sizeof(struct in6_addr); i += sizeof(usid))
			if (get_unaligned_be16(ev->value + at + i) == usid)
				return true;
	return false;
}

bool mrc_ev_over(const struct mrc_pathset *ps, u8 plane, u16 usid, struct mrc_profile_ev *ev)
{
	const struct mrc_profile *prof = ps->prof;
	struct mrc_ev_addrs addrs;
	bool first = true;
	u16 i;

	if (!ps->srv6)
		return false;
	mrc_template_addrs(ps->peer->dev, prof, &ps->peer->gid, &addrs);
	for (i = 0; i < prof->n; i++) {
		if (prof->ev[i].port != plane + 1 || (!first && !ev_crosses(&prof->ev[i], usid)))
			continue;
		first = false;
		mrc_template_ev(prof, i, &addrs, ev);
		if (ev_crosses(ev, usid))
			return true;
	}
	return false;
}
