// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_cc_fixed.c - the constant window: a controller that never changes its
 * mind. Good where the fabric has no contention, and the yardstick for others.
 */
#include "mrc_cc.h"

static void mrc_cc_fixed_set_cfg(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	(void)now_ns;
	if (cfg->mtu)
		cc->mtu = min_t(u32, cfg->mtu, MRC_CC_MTU_MAX);
	cc->cwnd_bytes = clamp_t(u32, cfg->window_bytes, cc->mtu, MRC_CC_WND_MAX);
}

static void mrc_cc_fixed_ignore(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	(void)cc;
	(void)s;
}

const struct mrc_cc_ops mrc_cc_fixed = {
	.name = "fixed",
	.size = sizeof(struct mrc_cc),
	.init = mrc_cc_fixed_set_cfg,
	.set_cfg = mrc_cc_fixed_set_cfg,
	.on_ack = mrc_cc_fixed_ignore,
	.on_nack = mrc_cc_fixed_ignore,
	.on_loss = mrc_cc_fixed_ignore,
	.on_timeout = mrc_cc_fixed_ignore,
	.on_spurious = mrc_cc_fixed_ignore,
};
