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
	struct mrc_dev_plane *plane;	/* of arrival; NULL: lo, or a netdev that is no plane */
	u32 l3, l4, end;		/* offsets from skb->data: innermost IP header, header after it, end */
	bool lo;			/* arrived over the loopback device, so from this host */
	bool v4;			/* the innermost header is IPv4 */
	bool outer;			/* has an SRv6 header */
	bool cut;			/* the inner header announces more bytes than there are */
	bool stray;			/* sent to the locator of another plane of the device */
	u8 ds;				/* DS field of the outermost header */
	u8 inner_ds;
	u8 proto;			/* the innermost header's next header; 0xff: a fragment */
	u16 flow_label;			/* low 16 bits, of the innermost header */
	struct in6_addr src, dst;	/* of the innermost header; IPv4 is mapped */
};

/* The received ICRC; 0: there is none, or it is unreadable. */
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
 * The trim mark that a switch set by the DSCP, as a NACK reason; 0: none. It proves nothing: a DSCP may be rewritten
 * for other reasons, or be our DSCP for data.
 */
static inline u8 mrc_rx_trim_mark(const struct mrc_rx_pkt *p, const struct mrc_dev *dev)
{
	if (mrc_rx_has_dscp(p, READ_ONCE(dev->attr.dscp_trimmed_lasthop)))
		return MRC_NACK_TRIMMED_LASTHOP;
	return mrc_rx_has_dscp(p, READ_ONCE(dev->attr.dscp_trimmed)) ? MRC_NACK_TRIMMED : 0;
}

/* Has the packet a congestion mark (CE), in its outermost or innermost header? */
static inline bool mrc_rx_marked(const struct mrc_rx_pkt *p)
{
	return (p->ds & MRC_ECN_CE) == MRC_ECN_CE || (p->inner_ds & MRC_ECN_CE) == MRC_ECN_CE;
}

#endif
