/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_entropy.h - what an EV is on the wire: UDP source port << 16 | flow label [15:0].
 *
 * MRC 1.0 section 1.11 and Table 9-1; Documentation/reference/protocol.md. A configured EV says it, or a
 * part of it; what nobody configured is made up. IPv4 carries no flow label, so none is
 * made up there that the peer could not echo.
 *
 * A UDP source port of 0 means none (RFC 768), and some networks drop it. A configured port of 0 is
 * MRC_ENTROPY_PORT_0 on the wire. There is no way back from the wire, and none is needed: a set
 * keeps what is on the wire beside each EV, and what a peer echoes is looked up there. EVs of
 * one plane that say 0 and MRC_ENTROPY_PORT_0 beside the same label are one path, as an EV that is listed
 * twice.
 */
#ifndef MRC_ENTROPY_H
#define MRC_ENTROPY_H

#include "wire/mrc_evgen.h"

#define MRC_ENTROPY_PORT_0	0xffffu

struct mrc_entropy {
	u32 base, step;		/* of the source ports that are made up */
	bool v4;
	bool port_low;		/* a configured STEV has its port in the low half */
};

void mrc_entropy_init(struct mrc_entropy *e, u64 seed, bool v4, bool port_low);

/* EV number @i of a set that nobody configured (AUTO), with a flow label if @label. */
u32 mrc_entropy_auto(const struct mrc_entropy *e, u32 i, bool label);

/* EV number @i of a set, configured as @value in format @fmt. */
u32 mrc_entropy_of(const struct mrc_entropy *e, enum mrc_ev_fmt fmt,
		   const u8 value[MRC_EV_BYTES], u32 i);

#endif
