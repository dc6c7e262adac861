// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_entropy.c - see mrc_entropy.h.
 *
 * Generated source ports are in the dynamic range. An odd step per set visits all 2^14 ports before
 * it repeats.
 */
#include "wire/mrc_entropy.h"

#define MRC_ENTROPY_PORT_FIRST	0xc000u
#define MRC_ENTROPY_PORT_MASK	0x3fffu

void mrc_entropy_init(struct mrc_entropy *e, u64 seed, bool v4, bool port_low)
{
	e->base = (u32)seed;
	e->step = (u32)(seed >> 32) | 1;
	e->v4 = v4;
	e->port_low = port_low;
}

u32 mrc_entropy_auto(const struct mrc_entropy *e, u32 i, bool label)
{
	u32 port = MRC_ENTROPY_PORT_FIRST | ((e->base + i * e->step) & MRC_ENTROPY_PORT_MASK);

	return port << 16 | (label && !e->v4 ? i & 0xffff : 0);
}

static u32 mrc_entropy_port(u32 configured)
{
	return configured ? configured : MRC_ENTROPY_PORT_0;
}

u32 mrc_entropy_of(const struct mrc_entropy *e, enum mrc_ev_fmt fmt,
		   const u8 value[MRC_EV_BYTES], u32 i)
{
	u32 first = (u32)value[0] << 8 | value[1], second = (u32)value[2] << 8 | value[3];

	switch (fmt) {
	case MRC_EV_FMT_STEV:
		if (e->port_low)
			return mrc_entropy_port(second) << 16 | (e->v4 ? 0 : first);
		return mrc_entropy_port(first) << 16 | (e->v4 ? 0 : second);
	case MRC_EV_FMT_UDP:
		return mrc_entropy_port(first) << 16;
	case MRC_EV_FMT_SRV6:
		break;		/* it is the outer destination: the entropy is free */
	}
	return mrc_entropy_auto(e, i, true);
}
