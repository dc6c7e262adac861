/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_rx_pkt.h - a packet at the hook: where it came in and what its IP headers say. */
#ifndef MRC_RX_PKT_H
#define MRC_RX_PKT_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include "engine/wire/mrc_wire.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_net.h"
#include "data/mrc_icrc.h"

#define MRC_ECN_CE	3

struct mrc_rx_pkt {
	struct mrc_net *mnet;
	struct mrc_dev_plane *plane;	/* arrival; NULL: lo, or a netdev of no device */
	u32 l3, l4, end;		/* innermost IP: offsets from skb->data */
	bool lo;			/* came by the loopback device: from this host */
	bool v4;			/* innermost */
	bool outer;			/* was SRv6-encapsulated */
	bool cut;			/* the inner header promises more than is left */
	u8 ds;				/* DS field of the outermost header */
	u8 inner_ds;
	u8 proto;			/* of the innermost; 0xff: a fragment */
	u16 flow_label;			/* low 16 bits, innermost */
	struct in6_addr src, dst;	/* innermost; IPv4 mapped */
};

/* The ICRC as it came; 0: none. */
static inline u32 mrc_rx_icrc(const struct mrc_rx_pkt *p, const struct sk_buff *skb)
{
	__le32 buf, *icrc;

	icrc = skb_header_pointer(skb, (int)(p->end - MRC_ICRC_LEN), sizeof(buf), &buf);
	return icrc ? get_unaligned_le32(icrc) : 0;
}

static inline bool mrc_rx_icrc_ok(const struct mrc_rx_pkt *p, const struct sk_buff *skb)
{
	return mrc_rx_icrc(p, skb) ==
	       mrc_icrc_skb(skb, (int)p->l3, (int)(p->end - MRC_ICRC_LEN));
}

#endif
