// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_loop_rx.c - see mrc_loop_rx.h.
 *
 * The source is our own address, which proves nothing. Secret and number prove that the probe is
 * ours and recent (engine/probe/mrc_selfprobe.h). No packet is sent in response.
 */
#include <linux/ktime.h>
#include <net/ipv6.h>
#include "engine/wire/mrc_selfmsg.h"
#include "data/mrc_loop.h"
#include "data/mrc_loop_rx.h"

bool mrc_loop_other_plane(const struct mrc_dev *dev, const struct in6_addr *sid)
{
	const struct mrc_dev_plane *plane;
	u32 i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rcu_dereference(dev->plane[i]);
		if (plane && smp_load_acquire(&plane->has_sid) && ipv6_addr_equal(sid, &plane->sid))
			return true;
	}
	return false;
}

/*
 * The number of bytes from BTH on, without the ICRC, which a trimmed packet has lost. 0: the lengths are inconsistent.
 */
static u32 loop_len(const struct mrc_rx_pkt *p, const struct sk_buff *skb, struct mrc_selfprobe_arrival *c)
{
	const struct udphdr *udp = (const struct udphdr *)(skb->data + p->l4);
	u32 have = p->end - p->l4, len = have - sizeof(*udp);

	c->trimmed = ntohs(udp->len) > have;
	if (c->trimmed)
		return len;
	return ntohs(udp->len) == have && len > MRC_ICRC_LEN ? len - MRC_ICRC_LEN : 0;
}

/* False: too short, or not a self-probe of this host. */
static bool loop_parse(const struct mrc_rx_pkt *p, const struct sk_buff *skb, struct mrc_selfprobe_arrival *c)
{
	u8 buf[MRC_SELFMSG_LEN];
	const void *bth = skb_header_pointer(skb, (int)(p->l4 + sizeof(struct udphdr)), sizeof(buf), buf);
	struct mrc_selfmsg m;

	if (!bth || !mrc_selfmsg_parse(bth, loop_len(p, skb, c), &m) || !ipv6_addr_equal(&p->src, &p->dst))
		return false;
	c->id = m.id;
	c->seq = m.seq;
	c->secret = m.secret;
	return true;
}

static enum mrc_selfprobe_verdict loop_judge(const struct mrc_rx_pkt *p, struct mrc_dev *dev,
					     const struct sk_buff *skb, struct mrc_selfprobe_arrival *c)
{
	struct mrc_loop *l = dev->loop;
	enum mrc_selfprobe_verdict verdict;

	c->plane = p->plane ? p->plane->num : MRC_PLANE_NONE;
	c->marked = mrc_rx_marked(p);
	if (!c->trimmed && !mrc_rx_icrc_ok(p, skb)) {
		/* A switch may correct UDP's length when it trims a packet: only the mark and the ICRC show it. */
		c->trimmed = mrc_rx_trim_mark(p, dev);
		c->corrupt = !c->trimmed;
	}
	spin_lock(&l->lock);
	verdict = mrc_prober_rx(&l->prober, c, ktime_get_ns());
	spin_unlock(&l->lock);
	return verdict;
}

bool mrc_loop_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, const struct sk_buff *skb)
{
	struct mrc_selfprobe_arrival c = {};

	if (skb->data[p->l4 + sizeof(struct udphdr)] != MRC_OPC_SELF)
		return false;
	if (!loop_parse(p, skb, &c)) {
		mrc_dev_count(dev, rx_malformed);
		return true;
	}
	switch (loop_judge(p, dev, skb, &c)) {
	case MRC_SELFPROBE_TAKEN:
	case MRC_SELFPROBE_LATE:
		mrc_dev_count(dev, self_probes_rcvd);
		break;
	case MRC_SELFPROBE_DUPLICATE:
	case MRC_SELFPROBE_FORGED:
		mrc_dev_count(dev, self_probes_refused);
		break;
	}
	return true;
}
