// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_down_check.c - see mrc_down_check.h.
 */
#include "peer/mrc_down_check.h"

#define MRC_DOWN_CHECK_SHIFT	5	/* a plane's bits in an id */

/* Bit 15 is clear: controllers' probes have it set (MRC_EP_REQ_PROBE). */
static u16 mrc_down_check_id(const struct mrc_down_check *c, u8 plane)
{
	return (u16)(c->gen[plane] << MRC_DOWN_CHECK_SHIFT | plane);
}

void mrc_down_check_start(struct mrc_down_check *c, u32 planes, u64 now_ns)
{
	u32 left;

	BUILD_BUG_ON(MRC_PLANES_MAX != 1 << MRC_DOWN_CHECK_SHIFT);
	if (!planes)
		return;
	for (left = planes; left; left &= left - 1)
		c->gen[mrc_ffs64(left)]++;
	c->open |= planes;
	c->due = 0;
	c->tries = 0;
	c->next_ns = now_ns;
}

void mrc_down_check_end(struct mrc_down_check *c, u32 planes)
{
	c->open &= ~planes;
	c->due &= ~planes;
}

static void mrc_down_check_round(struct mrc_down_check *c, u32 usable, u64 now_ns)
{
	if (c->tries == MRC_DOWN_CHECK_TRIES) {
		c->open = 0;
		return;
	}
	c->due = c->open & usable;
	c->next_ns = now_ns + (MRC_DOWN_CHECK_WAIT_NS << c->tries);
	c->tries++;
}

bool mrc_down_check_next(struct mrc_down_check *c, u32 usable, u64 now_ns, u8 *plane, u16 *id)
{
	if (c->open && !c->due && now_ns >= c->next_ns)
		mrc_down_check_round(c, usable, now_ns);
	if (!c->due)
		return false;
	*plane = (u8)mrc_ffs64(c->due);
	*id = mrc_down_check_id(c, *plane);
	c->due &= c->due - 1;
	return true;
}

u32 mrc_down_check_rx(struct mrc_down_check *c, u16 id)
{
	u8 plane = id & (MRC_PLANES_MAX - 1);
	u32 bit = 1u << plane;

	if (!(c->open & bit) || id != mrc_down_check_id(c, plane))
		return 0;
	mrc_down_check_end(c, bit);
	return bit;
}

u64 mrc_down_check_deadline_ns(const struct mrc_down_check *c)
{
	return c->open ? c->next_ns : MRC_TIME_NEVER;
}
