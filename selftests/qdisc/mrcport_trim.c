// SPDX-License-Identifier: GPL-2.0
/*
 * mrcport_trim.c - cut a packet as an MRC switch does.
 *
 * What is left: everything up to BTH, METH and TSETH if BTH.TS says that there is
 * one; no payload, no ICRC. The outermost IP header gets the DSCP that names the cut
 * and the length of what is left. The UDP length stays: it tells the
 * receiver how long the packet was.
 *
 * A switch forwards on the outermost header and changes that one alone. With SRv6
 * the inner IP header therefore keeps its DSCP and a length that is no longer true,
 * and the receiver has to cope. Some pipelines parse deeper and mend the inner
 * header, or even write the UDP length: "inner" and "udplen" do these.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "mrcport.h"

#define BTH_LEN		12
#define METH_LEN	4
#define TSETH_LEN	4
#define BTH_FLAGS	8	/* byte of BTH */
#define BTH_TS		0x10
#define MIN_GAIN	64	/* bytes; below that a cut relieves nobody */

struct cut {
	u32 ip[2];		/* offsets of IP headers, outermost first */
	bool v4[2];
	u8 n;
	u32 udp;
	u32 keep;		/* bytes from skb->data */
};

int mrcport_dscp(const struct sk_buff *skb)
{
	u8 buf[2], *b = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf), buf);

	if (!b)
		return -1;
	if (skb->protocol == htons(ETH_P_IP))
		return b[1] >> 2;
	if (skb->protocol == htons(ETH_P_IPV6))
		return (b[0] << 2 & 0x3c) | b[1] >> 6;
	return -1;
}

/* The header at @off; advances it. Return: what follows; -1: nothing known. */
static int ip4_next(const struct sk_buff *skb, u32 *off)
{
	struct iphdr buf, *ip = skb_header_pointer(skb, *off, sizeof(buf), &buf);

	if (!ip || ip->version != 4 || ip->ihl < 5 || ip_is_fragment(ip))
		return -1;
	*off += ip->ihl * 4;
	return ip->protocol;
}

static int ip6_next(const struct sk_buff *skb, u32 *off)
{
	struct ipv6hdr buf, *ip6 = skb_header_pointer(skb, *off, sizeof(buf), &buf);
	u8 rbuf[2], *rh;

	if (!ip6 || ip6->version != 6)
		return -1;
	*off += sizeof(*ip6);
	if (ip6->nexthdr != NEXTHDR_ROUTING)
		return ip6->nexthdr;
	rh = skb_header_pointer(skb, *off, sizeof(rbuf), rbuf);
	if (!rh)
		return -1;
	*off += 8 + rh[1] * 8;
	return rh[0];
}

/* Find the IP headers and UDP. False: something else. */
static bool find_udp(const struct sk_buff *skb, struct cut *c)
{
	bool v4 = skb->protocol == htons(ETH_P_IP);
	u32 off = skb_network_offset(skb);
	int next;

	for (c->n = 0; c->n < ARRAY_SIZE(c->ip);) {
		c->ip[c->n] = off;
		c->v4[c->n++] = v4;
		next = v4 ? ip4_next(skb, &off) : ip6_next(skb, &off);
		if (next == IPPROTO_UDP) {
			c->udp = off;
			return true;
		}
		if (next != IPPROTO_IPV6 && next != IPPROTO_IPIP)
			return false;
		v4 = next == IPPROTO_IPIP;
	}
	return false;
}

static bool find_cut(const struct sk_buff *skb, struct cut *c)
{
	u8 buf[BTH_LEN], *bth;

	if (!find_udp(skb, c))
		return false;
	c->keep = c->udp + sizeof(struct udphdr);
	bth = skb_header_pointer(skb, c->keep, sizeof(buf), buf);
	if (!bth)
		return false;
	c->keep += BTH_LEN + METH_LEN + (bth[BTH_FLAGS] & BTH_TS ? TSETH_LEN : 0);
	return c->keep + MIN_GAIN <= skb->len;
}

static void mend_ip(struct sk_buff *skb, u32 off, bool v4, u8 dscp)
{
	if (v4) {
		struct iphdr *ip = (struct iphdr *)(skb->data + off);

		ip->tot_len = htons(skb->len - off);
		ip->tos = dscp << 2 | (ip->tos & INET_ECN_MASK);
		ip_send_check(ip);
	} else {
		struct ipv6hdr *ip6 = (struct ipv6hdr *)(skb->data + off);

		ip6->payload_len = htons(skb->len - off - sizeof(*ip6));
		ipv6_change_dsfield(ip6, INET_ECN_MASK, dscp << 2);
	}
}

bool mrcport_trim(struct sk_buff *skb, const struct mrcport_params *p)
{
	u8 dscp = p->lasthop ? p->trimmed_lasthop : p->trimmed;
	struct cut c;

	if (!find_cut(skb, &c) || pskb_trim(skb, c.keep) || skb_ensure_writable(skb, c.keep))
		return false;
	skb->ip_summed = CHECKSUM_NONE;
	mend_ip(skb, c.ip[0], c.v4[0], dscp);
	if (c.n > 1 && p->inner)
		mend_ip(skb, c.ip[1], c.v4[1], dscp);
	if (p->udplen)
		((struct udphdr *)(skb->data + c.udp))->len = htons(skb->len - c.udp);
	/* No frame is shorter than 60 bytes. */
	return !__skb_put_padto(skb, max_t(u32, ETH_ZLEN, skb->len + p->pad), false);
}
