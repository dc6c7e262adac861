/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_probe.h - netlink messages about self-probes, in both directions. Process context.
 */
#ifndef MRC_GENL_PROBE_H
#define MRC_GENL_PROBE_H

#include <net/genetlink.h>
#include "data/mrc_loop.h"

int mrc_genl_probe_set(struct sk_buff *skb, struct genl_info *info);
/* The common part of all self-probes of a device. 0, or -EMSGSIZE after removing an incomplete nest. */
int mrc_genl_put_probes(struct sk_buff *skb, struct mrc_dev *dev);
/* The same for one test; @whole: with its path. */
int mrc_genl_put_probe(struct sk_buff *skb, const struct mrc_selfprobe *t, bool whole);

#endif
