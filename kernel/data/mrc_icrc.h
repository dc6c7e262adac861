/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_icrc.h - the invariant CRC of RoCEv2 (IBTA A17.3.3), which MRC keeps.
 */
#ifndef MRC_ICRC_H
#define MRC_ICRC_H

#include <linux/skbuff.h>

/*
 * Any context up to softirq. @l3_off: the innermost IP header; @end_off: the end of the padding, where the ICRC is or
 * will be; both from skb->data. The headers up to the end of BTH are linear. Returns the value for
 * put_unaligned_le32().
 */
u32 mrc_icrc_skb(const struct sk_buff *skb, int l3_off, int end_off);
/* The method, for display: our own code, the name of a crypto driver, or the kernel's library. */
const char *mrc_icrc_by(void);
int mrc_icrc_init(void);	/* module start. Returns 0 */
void mrc_icrc_exit(void);

#endif
