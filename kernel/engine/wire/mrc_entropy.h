/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_entropy.h - an EV on the wire: UDP source port << 16 | flow label [15:0].
 *
 * MRC 1.0 section 1.11 and Table 9-1; Documentation/reference/protocol.md. A configured EV gives
 * all or a part of these bits; the rest is generated. IPv4 has no flow label, so none is generated
 * that the peer could not echo.
 *
 * UDP source port 0 means none (RFC 768), and some networks drop it. A configured port 0 is sent as
 * MRC_ENTROPY_PORT_0. There is no mapping back, and none is needed: a set keeps the value on the
 * wire beside each EV, and echoes are looked up there. Two EVs of one plane with port 0 and
 * MRC_ENTROPY_PORT_0 and equal labels are one path, like an EV that is listed twice.
 */
#ifndef MRC_ENTROPY_H
#define MRC_ENTROPY_H

#include "wire/mrc_evgen.h"

#define MRC_ENTROPY_PORT_0	0xffffu

struct mrc_entropy {
	u32 base, step;		/* of generated source ports */
	bool v4;
	bool port_low;		/* a configured STEV has its port in the low half */
};

void mrc_entropy_init(struct mrc_entropy *e, u64 seed, bool v4, bool port_low);

/* EV number @i of a set without configuration (AUTO), with a flow label if @label. */
u32 mrc_entropy_auto(const struct mrc_entropy *e, u32 i, bool label);

/* EV number @i of a set, configured as @value in format @fmt. */
u32 mrc_entropy_of(const struct mrc_entropy *e, enum mrc_ev_fmt fmt,
		   const u8 value[MRC_EV_BYTES], u32 i);

#endif
