/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_sge.h - copies bytes to and from a list of SGEs, for messages that are copied as a whole.
 *
 * Softirq, with BH off from lookup to copy; deregistration waits for that. False: this protection
 * domain may not access some of the memory.
 */
#ifndef MRC_SGE_H
#define MRC_SGE_H

#include <linux/types.h>
#include "rdma/mrc-abi.h"

struct mrc_dev;
struct sk_buff;

/* The owner of an SGE list. */
struct mrc_sge_list {
	struct mrc_dev *dev;
	u32 pdn;
	u32 num;
	struct mrc_sge sge[MRC_MAX_SGE];
};

/*
 * Copies @num SGEs, at most @max, from a request in a ring. Returns the sum of their lengths in
 * bytes.
 */
u64 mrc_sge_load(struct mrc_sge_list *l, const void *from, u32 num, u32 max);
u64 mrc_sge_sum(const struct mrc_sge_list *l);	/* bytes */
/* Copies the bytes of all SGEs to @to. */
bool mrc_sge_read(const struct mrc_sge_list *l, void *to);
/* Copies @len bytes to offset @off of the list: from @src, or from @skb at @skb_off. */
bool mrc_sge_write(const struct mrc_sge_list *l, u32 off, const void *src, u32 len);
bool mrc_sge_write_skb(const struct mrc_sge_list *l, u32 off, const struct sk_buff *skb,
		       int skb_off, u32 len);

#endif
