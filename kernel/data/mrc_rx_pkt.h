/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_rx_pkt.h - a packet at the hook: its plane, and the contents of its IP headers.
 */
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
	bool lo;			/* arrived by the loopback device: from this host */
	bool v4;			/* innermost */
	bool outer;			/* was SRv6-encapsulated */
	bool cut;			/* the inner header promises more than is left */
	bool stray;			/* for another plane's locator */
	u8 ds;				/* DS field of the outermost header */
	u8 inner_ds;
	u8 proto;			/* of the innermost; 0xff: a fragment */
	u16 flow_label;			/* low 16 bits, innermost */
	struct in6_addr src, dst;	/* innermost; IPv4 mapped */
};

/* The received ICRC; 0: none. */
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

static inline bool mrc_rx_has_dscp(const struct mrc_rx_pkt *p, u8 dscp)
{
	return p->ds >> 2 == dscp || p->inner_ds >> 2 == dscp;
}

/*
 * The mark that a trimming switch set by the DSCP; 0: none. Not a proof: a DSCP may be rewritten for other reasons, or be
 * our DSCP for data.
 */
static inline u8 mrc_rx_trim_mark(const struct mrc_rx_pkt *p, const struct mrc_dev *dev)
{
	if (mrc_rx_has_dscp(p, READ_ONCE(dev->attr.dscp_trimmed_lasthop)))
		return MRC_NACK_TRIMMED_LASTHOP;
	return mrc_rx_has_dscp(p, READ_ONCE(dev->attr.dscp_trimmed)) ? MRC_NACK_TRIMMED : 0;
}

/* Somebody on the way was congested. */
static inline bool mrc_rx_marked(const struct mrc_rx_pkt *p)
{
	return (p->ds & MRC_ECN_CE) == MRC_ECN_CE || (p->inner_ds & MRC_ECN_CE) == MRC_ECN_CE;
}

#endif
