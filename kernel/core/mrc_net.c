// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_net.c - see mrc_net.h.
 */
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include "core/mrc_net.h"

unsigned int mrc_net_id;

struct mrc_net *mrc_net_of(const struct net *net)
{
	struct mrc_net_slot *slot = net_generic(net, mrc_net_id);

	return rcu_dereference_rtnl(slot->mnet);
}
