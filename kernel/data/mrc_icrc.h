/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_icrc.h - the invariant CRC of RoCEv2 (IBTA A17.3.3), which MRC keeps.
 */
#ifndef MRC_ICRC_H
#define MRC_ICRC_H

#include <linux/skbuff.h>

/* Any context up to softirq. The ICRC of a packet whose network header is at @l3_off in @skb. */
u32 mrc_icrc_skb(const struct sk_buff *skb, int l3_off, int end_off);
/* The method, for display: our own code, the name of a crypto driver, or the kernel's library. */
const char *mrc_icrc_by(void);
int mrc_icrc_init(void);
void mrc_icrc_exit(void);

#endif
