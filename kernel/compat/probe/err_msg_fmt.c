// { "since": "6.2", "what": "NL_SET_ERR_MSG_FMT: extack messages with values in them", "used_by": "path device genl" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/netlink.h>

void mrc_probe(struct netlink_ext_ack *extack, int i)
{
	NL_SET_ERR_MSG_FMT(extack, "%d", i);
}
