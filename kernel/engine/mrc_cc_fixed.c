// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_cc_fixed.c - the constant window: a controller that never changes its
 * mind. Good where the fabric has no contention, and the yardstick for others.
 */
#include "mrc_cc.h"

void mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_ops *ops,
		 const struct mrc_cc_cfg *cfg)
{
	memset(cc, 0, sizeof(*cc));
	cc->ops = ops;
	cc->cfg = *cfg;
	ops->init(cc);
}

static void mrc_cc_fixed_init(struct mrc_cc *cc)
{
	cc->cwnd_bytes = max_t(u32, cc->cfg.window_bytes, cc->cfg.mtu);
}

static void mrc_cc_fixed_ignore(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	(void)cc;
	(void)s;
}

const struct mrc_cc_ops mrc_cc_fixed = {
	.name = "fixed",
	.init = mrc_cc_fixed_init,
	.on_ack = mrc_cc_fixed_ignore,
	.on_nack = mrc_cc_fixed_ignore,
	.on_timeout = mrc_cc_fixed_ignore,
};
