// { "since": "6.5", "what": "net/gso.h, where __skb_gso_segment() is", "used_by": "compat/mrc_compat_net.h" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <net/gso.h>

struct sk_buff *mrc_probe(struct sk_buff *skb)
{
	return __skb_gso_segment(skb, 0, false);
}
