// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_cc.c - the table of congestion control algorithms, one line per algorithm.
 *
 * Called by path/mrc_qpcc.c when a controller is created or its parameters change. Needs no lock.
 */
#include "cc/mrc_cc.h"

#define MRC_CC_MTU_DEFAULT	(4096 + 64)	/* nominal packet */

static const struct mrc_cc_ops *const mrc_cc_list[] = {
	&mrc_cc_fixed,
	&mrc_nscc,
};

/* The engine has no string.h beyond memory functions. */
static bool mrc_cc_same_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct mrc_cc_ops *mrc_cc_find(const char *name)
{
	size_t i;

	if (!name)
		return &mrc_cc_fixed;
	for (i = 0; i < sizeof(mrc_cc_list) / sizeof(mrc_cc_list[0]); i++)
		if (mrc_cc_same_name(mrc_cc_list[i]->name, name))
			return mrc_cc_list[i];
	return NULL;
}

void mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_ops *ops,
		 const struct mrc_cc_cfg *cfg, u64 now_ns)
{
	memset(cc, 0, ops->size);
	cc->ops = ops;
	cc->mtu = min_t(u32, cfg->mtu ? cfg->mtu : MRC_CC_MTU_DEFAULT, MRC_CC_MTU_MAX);
	ops->init(cc, cfg, now_ns);
	(void)mrc_assert(cc->cwnd_bytes >= cc->mtu);
}
