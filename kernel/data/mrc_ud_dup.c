// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud_dup.c - see mrc_ud_dup.h.
 *
 * The digest is SipHash with a key of the device, so no sender can compute two datagrams with the
 * same digest.
 */
#include <linux/ktime.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include "core/mrc_random.h"
#include "data/mrc_ud_dup.h"

#define DUP_CHUNK	256	/* bytes hashed at once: the size of a management packet */

int mrc_ud_dup_init(struct mrc_dev *dev)
{
	spin_lock_init(&dev->dup_lock);
	dev->dup_key.key[0] = mrc_random_u64();
	dev->dup_key.key[1] = mrc_random_u64();
	dev->dup = kvzalloc(sizeof(*dev->dup), GFP_KERNEL_ACCOUNT);
	return dev->dup ? 0 : -ENOMEM;
}

void mrc_ud_dup_exit(struct mrc_dev *dev)
{
	kvfree(dev->dup);
}

/* Hashes @len bytes at @off of @skb, chunk by chunk, each together with the hash so far, @sum. */
static u64 dup_chunks(const struct mrc_dev *dev, const struct sk_buff *skb, int off, u32 len, u64 sum)
{
	u64 buf[1 + DUP_CHUNK / sizeof(u64)];
	u32 n;

	for (; len; len -= n, off += (int)n) {
		n = min_t(u32, len, DUP_CHUNK);
		buf[0] = sum;
		if (skb_copy_bits(skb, off, buf + 1, (int)n))
			break;	/* cannot happen: the ICRC check has read all bytes */
		sum = siphash(buf, sizeof(buf[0]) + n, &dev->dup_key);
	}
	return sum;
}

u64 mrc_ud_dup_digest(const struct mrc_dev *dev, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
		      const struct sk_buff *skb)
{
	u32 off = p->l4 + sizeof(struct udphdr);
	struct {
		struct in6_addr src;
		u8 bth[MRC_BTH_LEN];
		u32 len;
	} __packed head = { .src = p->src, .len = d->hdr_len + d->payload_len };

	memcpy(head.bth, skb->data + off, MRC_BTH_LEN);
	mrc_deth_alike(head.bth);
	return dup_chunks(dev, skb, (int)(off + MRC_BTH_LEN), head.len - MRC_BTH_LEN,
			  siphash(&head, sizeof(head), &dev->dup_key));
}

bool mrc_ud_dup_take(struct mrc_dev *dev, u64 digest, bool copy)
{
	bool taken;

	spin_lock(&dev->dup_lock);
	taken = mrc_dup_take(dev->dup, digest, copy, ktime_get_ns());
	spin_unlock(&dev->dup_lock);
	return taken;
}

void mrc_ud_dup_untake(struct mrc_dev *dev, u64 digest)
{
	spin_lock(&dev->dup_lock);
	mrc_dup_untake(dev->dup, digest);
	spin_unlock(&dev->dup_lock);
}
