// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_cc_fixed.c - the constant window, and the yardstick for other controllers. It
 * gives way to one thing only.
 *
 * MRC 1.0 section 4 (7.4): what a switch trimmed is sent again at once. Where several send to
 * one, more than the port can carry in headers alone, it is trimmed again, and again:
 * the port carries nothing but headers, and nothing arrives. So a packet that is trimmed for
 * the second time halves the window, once for as much feedback as a window is, and
 * what arrives restores it. A packet trimmed once, the ordinary incast, does not.
 */
#include "cc/mrc_cc.h"

/* What arrives gives back this part of itself, so that a window takes some round trips to be whole. */
#define MRC_FIXED_GROW_SHIFT	3

static struct mrc_fixed_state *mrc_fixed_of(struct mrc_cc *cc)
{
	return (struct mrc_fixed_state *)cc;
}

static void mrc_cc_fixed_set_cfg(struct mrc_cc *cc, const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	(void)now_ns;
	if (cfg->mtu)
		cc->mtu = min_t(u32, cfg->mtu, MRC_CC_MTU_MAX);
	f->window = clamp_t(u32, cfg->window_bytes, cc->mtu, MRC_CC_WND_MAX);
	f->spared = 0;
	cc->cwnd_bytes = f->window;
}

static void mrc_cc_fixed_on_ack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	if (likely(cc->cwnd_bytes >= f->window))
		return;
	cc->cwnd_bytes += min_t(u32, s->acked_bytes >> MRC_FIXED_GROW_SHIFT, f->window - cc->cwnd_bytes);
	f->spared -= min_t(u32, s->acked_bytes, f->spared);
}

static void mrc_cc_fixed_on_nack(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	struct mrc_fixed_state *f = mrc_fixed_of(cc);

	if (!s->trimmed_again)
		return;
	if (f->spared > s->lost_bytes) {
		f->spared -= s->lost_bytes;
		return;
	}
	f->spared = cc->cwnd_bytes;
	cc->cwnd_bytes = max_t(u32, cc->cwnd_bytes / 2, cc->mtu);
}

static void mrc_cc_fixed_ignore(struct mrc_cc *cc, const struct mrc_cc_sample *s)
{
	(void)cc;
	(void)s;
}

const struct mrc_cc_ops mrc_cc_fixed = {
	.name = "fixed",
	.size = sizeof(struct mrc_fixed_state),
	.init = mrc_cc_fixed_set_cfg,
	.set_cfg = mrc_cc_fixed_set_cfg,
	.on_ack = mrc_cc_fixed_on_ack,
	.on_nack = mrc_cc_fixed_on_nack,
	.on_loss = mrc_cc_fixed_ignore,
	.on_timeout = mrc_cc_fixed_ignore,
	.on_spurious = mrc_cc_fixed_ignore,
};
